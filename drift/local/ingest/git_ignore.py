"""What patterns leave out: those of Git, and in `.driftignore` files those for documents alone."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from pathspec.pattern import RegexPattern
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

from drift.indexing.documents import Skipped, text_of
from drift.indexing.reading_process import words_of
from drift.local.ingest.files import open_at_once
from drift.local.ingest.formats.encodings import decoded

BY_PATTERNS = "patterns leave them out (.gitignore, .git/info/exclude, .driftignore)"

_MAX_RULES_BYTES = 1_000_000
_FOLDER = "ps_d"
"""The group by which a pattern says that it matched a folder: a place, or one that it is in."""

_LINE_END = re.compile("\r?\n")
_FOLDERS_BELOW = re.compile(r"(?<=[^/])/\*\*/\s*$")

_Rules = tuple[tuple[Path, tuple[RegexPattern, ...]], ...]
"""Patterns, the last of which decides, with the folder that they are about, the nearest first."""


@dataclass(slots=True)
class GitIgnore:
    """The files that patterns leave out of a folder: in it, below, and above in its repository.

    `unusable` is told of a file of rules that cannot be read, and why: then it leaves out nothing.
    """

    root: Path
    unusable: Callable[[Path, str], None]
    _rules: dict[Path, _Rules] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Read the rules above the folder, but not those by which it is ignored: it was named."""
        above: _Rules = ()
        for folder, below in pairwise((*_above_in_repository(self.root), self.root)):
            above = (*self._read_all(folder), *above)
            if _hides(above, below, is_folder=True):
                above = tuple(
                    (about, tuple(one for one in patterns if not _is_about(one, about, below)))
                    for about, patterns in above
                )
        self._rules[self.root.parent] = above

    def hides(self, place: Path, *, is_folder: bool) -> bool | None:
        """Tell whether a place is left out; None where no pattern is about it.

        The folders that it is in are not left out.
        """
        return _hides(self._of(place.parent), place, is_folder=is_folder)

    def hides_above(self, place: Path) -> bool:
        """Tell whether a folder that a place is in is left out."""
        above = [one for one in reversed(place.parents) if self.root in one.parents]
        return any(self.hides(one, is_folder=True) for one in above)

    def _of(self, folder: Path) -> _Rules:
        """Return the rules for the contents of a folder, the nearest first."""
        if folder not in self._rules:
            self._rules[folder] = (*self._read_all(folder), *self._of(folder.parent))
        return self._rules[folder]

    def _read_all(self, folder: Path) -> Iterator[tuple[Path, tuple[RegexPattern, ...]]]:
        for file in (folder / ".driftignore", folder / ".gitignore", *_excluding(folder)):
            if patterns := self._read(file):
                yield folder, patterns

    def _read(self, file: Path) -> tuple[RegexPattern, ...]:
        try:
            if not os.path.lexists(file):
                return ()
            with open(file, "rb", opener=open_at_once) as opened:
                content = opened.read(_MAX_RULES_BYTES + 1)
        except OSError as error:
            self.unusable(file, f"leaves out nothing, since it cannot be read: {words_of(error)}")
            return ()

        read = text_of(content, file.name, decoded)
        if not isinstance(read, Skipped) and len(content) <= _MAX_RULES_BYTES:
            return tuple(self._patterns(file, read[0]))
        why = read.reason if isinstance(read, Skipped) else f"is over {_MAX_RULES_BYTES:,} bytes"
        self.unusable(file, f"leaves out nothing, since it {why}")
        return ()

    def _patterns(self, file: Path, text: str) -> Iterator[RegexPattern]:
        for number, line in enumerate(_LINE_END.split(text), 1):
            try:
                # The package takes folders below one for the one itself.
                yield GitIgnoreSpecPattern(_FOLDERS_BELOW.sub("/**/*/", line))
            except ValueError as error:
                self.unusable(file, f"line {number:,} cannot be understood: {error}")


def _hides(rules: _Rules, place: Path, *, is_folder: bool) -> bool | None:
    """Tell what the nearest rule about a place says; None where there is none."""
    for folder, patterns in rules:
        for pattern in reversed(patterns):
            if _is_about(pattern, folder, place, is_folder=is_folder):
                return bool(pattern.include)
    return None


def _is_about(pattern: RegexPattern, folder: Path, place: Path, *, is_folder: bool = True) -> bool:
    """Tell whether a pattern is about a place itself, and not about a folder that it is in."""
    name = place.relative_to(folder).as_posix()
    if pattern.regex is None:
        return False
    if not str(pattern.pattern).rstrip().endswith("/"):
        found = pattern.regex.search(name)
        if found and not found.groupdict().get(_FOLDER):
            return True
    name += "/"
    is_of_folders = is_folder and _FOLDER in pattern.regex.groupindex
    return is_of_folders and any(
        found.end(_FOLDER) == len(name) for found in pattern.regex.finditer(name)
    )


def _above_in_repository(root: Path) -> list[Path]:
    """Return the folders above one, from that of its repository on; none where it is none."""
    for place, folder in enumerate((root, *root.parents)):
        if os.path.lexists(folder / ".git"):
            return list(reversed(root.parents[:place]))
    return []


def _excluding(folder: Path) -> Iterator[Path]:
    """Yield the file of rules that a repository keeps for itself, where one is in the folder."""
    own = folder / ".git"
    with suppress(OSError, ValueError):
        if own.is_file():  # of a worktree or a submodule
            own = folder / own.read_text().removeprefix("gitdir:").strip()
            common = own / "commondir"
            own = own / common.read_text().strip() if common.is_file() else own
        yield own / "info" / "exclude"
