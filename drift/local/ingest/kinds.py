"""Which kinds of files are read, and why others are not looked at."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from pathlib import PurePosixPath

from drift.indexing.documents import FORMATS, Skipped, ending_of, text_of
from drift.local.ingest import formats
from drift.local.ingest.code.languages import LANGUAGES, NEEDS, is_installed
from drift.local.ingest.formats.secrets import HIDDEN, may_be_secret, without_secrets
from drift.local.ingest.formats.tool_configurations import NAMES as TOOLS

READ = FORMATS.keys() | formats.ENDINGS
"""Endings of documents that are read; source code has its own."""

MEDIA_TYPES = {
    ".htm": "text/html",
    ".html": "text/html",
    ".xhtml": "application/xhtml+xml",
    ".txt": "text/plain",
    **formats.MEDIA_TYPES,
}
"""The media types of files; others have that of their text."""

ENDINGS = ", ".join(sorted({*READ, *LANGUAGES} - {""}))

_WITHOUT_SECRETS = {"head_lines", "json_yaml", "xml_files"}
"""Modules that read files without what looks like a secret."""

_PACKAGES = {"node_modules", "bower_components", "site-packages", "dist-packages", "__pycache__"}
_OF_OTHERS = {"vendor", "third_party", "third-party", "thirdparty"}
"""Folders whose source code is somebody else's; documents may well stand in them."""
_HALF_HIDDEN = {".cursor", ".vscode", ".github"}
"""Hidden folders of which the configuration of tools and workflows are read, and nothing else."""
_WORKFLOWS = {"workflows", ".gitlab-ci.yml"}
_OTHER_ENDING = "nothing reads files that end so"
_HIDDEN = "their names begin with a dot"
_OF_PACKAGES = "folders of packages hold no documents of yours"
_VENDORED = "source code of others (vendor, third_party) is not yours"
MINIFIED = "minified or bundled scripts are made of others"
GENERATED = "programs wrote this source code: it says so"
_MACHINERY = (
    (
        (
            r".+\.lock(?:file)?|go\.sum|npm-shrinkwrap\.json"
            r"|(?:package|packages|pnpm|composer|conda|bun)[-.]lock\.(?:json|ya?ml)"
        ),
        "lock files list versions, and say nothing",
    ),
    (r".+\.meta\.json", "they tell of documents that are not there"),
    (r".+\.(?:css|[cm]?js|json)\.map", "source maps are made of scripts"),
    (r".+[.-]min\.(?:css|[cm]?js)", MINIFIED),
)
"""Names of files that programs make of others, and why they are no documents."""

_SCRIPTS = frozenset({".js", ".mjs", ".cjs"})
_LONG_LINES = 300
"""Characters of a line, as the mean of a script: nobody writes such lines."""
_COMMENTS = re.compile(r"^[ \t]*(?:#|//|/?\*|<!--|--|;|\"\"\").*", re.MULTILINE)
_SAYS_GENERATED = re.compile(
    r"@generated\b|<auto-?generated|\bgenerated\b.*\bdo not (?:edit|modify)\b"
    r"|\bdo not (?:edit|modify)\b.*\bgenerated\b|\bwebpackbootstrap\b"
)


@dataclass(frozen=True, slots=True)
class Ignored:
    """How many files or folders of one kind, such as `.doc`, were not looked at, and why."""

    kind: str
    count: int
    reason: str


def hides_secrets(name: str, content: bytes) -> bool:
    """Tell whether a file's document lacks secrets that the file itself has."""
    if PurePosixPath(name).name in TOOLS:
        return True
    ending = formats.canonical_ending(name)
    if formats.module_of(ending) not in _WITHOUT_SECRETS:
        return False
    found = text_of(content, name)
    if isinstance(found, Skipped) or without_secrets(found[0]) != found[0]:
        return True
    try:
        read = formats.reader_of(ending)(content)
    except formats.NoDocumentError:
        return True
    # What was laid out anew may hide by names that its file writes in another way.
    return not read.has_lines and HIDDEN in read.text


def is_passed_over(name: str) -> bool:
    """Tell whether files and folders of this name are not read."""
    return (name.startswith(".") and name not in {*TOOLS, *_WORKFLOWS}) or name in _PACKAGES


def is_read_in(folder: str, name: str) -> bool:
    """Tell whether a folder of that name, empty for the source itself, has such an entry read."""
    if folder in _HALF_HIDDEN:
        return name in TOOLS or name in _WORKFLOWS
    return name in _HALF_HIDDEN or not is_passed_over(name)


def why_ignored(path: str, *, is_wanted: bool = False) -> tuple[str, str] | None:
    """Return the kind of a file by its path below a source, and why it is not looked at.

    One that `is_wanted` may be machinery.
    """
    for folder, name in pairwise(["", *path.split("/")]):
        if not is_read_in(folder, name):
            return (name, _OF_PACKAGES) if name in _PACKAGES else ("hidden", _HIDDEN)
    reason = (not is_wanted and _why_machinery(path)) or why_not(path)
    return (formats.canonical_ending(path), reason) if reason else None


def _why_machinery(path: str) -> str:
    """Return why a file of this path is none of a person's, or an empty string."""
    *folders, name = path.split("/")
    if ending_of(name) in LANGUAGES and not _OF_OTHERS.isdisjoint(folders):
        return _VENDORED
    return next((why for made, why in _MACHINERY if re.fullmatch(made, name)), "")


def why_machine_made(name: str, content: bytes) -> str:
    """Return why source code with this content was written by no person, or an empty string."""
    ending = ending_of(name)
    if ending not in LANGUAGES:
        return ""
    if ending in _SCRIPTS and len(content) > _LONG_LINES * (3 + content.count(b"\n")):
        return MINIFIED
    head = content[:2_000].decode("latin-1").lower()
    said = " ".join(_COMMENTS.findall(head))
    return GENERATED if _SAYS_GENERATED.search(said) else ""


def why_not(path: str) -> str:
    """Return why a file with this name and ending is not read, or an empty string."""
    suffix = formats.canonical_ending(path)
    if PurePosixPath(path).name in TOOLS:
        return ""
    if may_be_secret(path):
        return formats.NO_SECRETS
    if suffix in LANGUAGES:
        return "" if is_installed(suffix) else NEEDS
    return "" if suffix in READ else formats.NOT_TAKEN.get(suffix, _OTHER_ENDING)


def lacks_a_package(path: str) -> bool:
    """Tell whether a file with this ending would be read if a package were installed."""
    return why_not(path) == NEEDS


def ranked(ignored: Counter[tuple[str, str]]) -> tuple[Ignored, ...]:
    """Return the counts of ignored files, by kind and reason, the largest first."""
    items = sorted(ignored.items(), key=lambda item: (-item[1], item[0]))
    return tuple(Ignored(kind, count, reason) for (kind, reason), count in items)
