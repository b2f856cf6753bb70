"""Which kinds of files are read, and why others are not looked at."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from pathlib import PurePosixPath

from drift.indexing.documents import FORMATS
from drift.local.ingest import formats
from drift.local.ingest.code.languages import LANGUAGES, NEEDS, is_installed
from drift.local.ingest.formats.secrets import may_be_secret
from drift.local.ingest.formats.tools import NAMES as TOOLS

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

_PACKAGES = {"node_modules", "__pycache__"}
_HALF_HIDDEN = {".cursor", ".vscode", ".github"}
"""Hidden folders of which the configuration of tools and workflows are read, and nothing else."""
_WORKFLOWS = {"workflows", ".gitlab-ci.yml"}
_OTHER_ENDING = "nothing reads files that end so"
_HIDDEN = "their names begin with a dot"
_OF_PACKAGES = "folders of packages hold no documents of yours"


@dataclass(frozen=True, slots=True)
class Ignored:
    """How many files or folders of one kind, such as `.doc`, were not looked at, and why."""

    kind: str
    count: int
    reason: str


def is_passed_over(name: str) -> bool:
    """Tell whether files and folders of this name are not read."""
    return (name.startswith(".") and name not in {*TOOLS, *_WORKFLOWS}) or name in _PACKAGES


def is_read_in(folder: str, name: str) -> bool:
    """Tell whether a folder of that name, empty for the source itself, has such an entry read."""
    if folder in _HALF_HIDDEN:
        return name in TOOLS or name in _WORKFLOWS
    return name in _HALF_HIDDEN or not is_passed_over(name)


def why_ignored(path: str) -> tuple[str, str] | None:
    """Return the kind of a file by its path below a source, and why it is not looked at."""
    for folder, name in pairwise(["", *path.split("/")]):
        if not is_read_in(folder, name):
            return (name, _OF_PACKAGES) if name in _PACKAGES else ("hidden", _HIDDEN)
    suffix, reason = formats.kind_of(path), why_not(path)
    return (suffix, reason) if reason else None


def why_not(path: str) -> str:
    """Return why a file with this name and ending is not read, or an empty string."""
    suffix = formats.kind_of(path)
    if PurePosixPath(path).name in TOOLS:
        return ""
    if may_be_secret(path):
        return formats.MAY_HOLD_SECRETS
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
