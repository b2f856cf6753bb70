"""One pass over a folder: which files in it are read, and why the others are not."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise, starmap
from pathlib import Path

from drift.indexing.documents import Skipped, ending_of
from drift.indexing.reading_process import words_of
from drift.local.ingest.files import printable
from drift.local.ingest.git_ignore import BY_PATTERNS, GitIgnore
from drift.local.ingest.kinds import is_read_in, why_ignored, why_not
from drift.local.ingest.selection import EVERYTHING, Selection
from drift.local.ingest.sidecars import document_beside
from drift.local.ingest.site_files import OF_SITES, generated_in


@dataclass(slots=True)
class Walk:
    """One pass over a folder: the files to read, what is skipped, and counts of the rest."""

    root: Path
    selection: Selection = EVERYTHING
    files: list[Path] = field(default_factory=list)
    wanted: set[Path] = field(default_factory=set)
    skipped: list[Skipped] = field(default_factory=list)
    ignored: Counter[tuple[str, str]] = field(default_factory=Counter)
    _git: GitIgnore = field(init=False)
    _generated: dict[Path, frozenset[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._git = GitIgnore(self.root, self._skip)

    def run(self, begin: Path | None = None) -> None:
        """Look at all folders, without recursion, because they may be nested very deep."""
        waiting = [begin or self.root]
        while waiting:
            folder = waiting.pop()
            try:
                with os.scandir(folder) as entries:
                    found = sorted(entries, key=lambda entry: entry.name)
                waiting += [Path(entry.path) for entry in found if self._is_folder_to_read(entry)]
            except OSError as error:
                self._skip(folder, f"cannot be read: {words_of(error)}", unreadable=True)

    def look(self, place: Path) -> None:
        """Look at one file, or at all in one folder, as if it had been found on the way."""
        if not os.path.lexists(place):
            return
        above = pairwise(("", *place.relative_to(self.root).parts[:-1]))
        folders = [one for one in place.parents if self.root in one.parents]
        if not all(starmap(is_read_in, above)) or self._git.hides_above(place):
            return
        if any(self._why_left_out(one, is_folder=True) for one in folders):
            return
        with os.scandir(place.parent) as entries:
            entry = next((one for one in entries if one.name == place.name), None)
        if entry is not None and self._is_folder_to_read(entry):
            self.run(place)

    def _is_folder_to_read(self, entry: os.DirEntry[str]) -> bool:
        """Sort one entry in, and tell whether it is a folder to look at."""
        path = Path(entry.path)
        folder = "" if path.parent == self.root else path.parent.name
        is_read = is_read_in(folder, entry.name)
        is_folder = entry.is_dir(follow_symlinks=False)
        reason = self._why_left_out(path, is_folder=is_folder) if is_read else ""
        if reason:
            self.ignored["folder" if is_folder else printable(ending_of(path.name)), reason] += 1
        elif is_read and is_folder:
            return True
        elif is_read and document_beside(path) is not None:
            pass  # it is read with its document
        elif (
            is_read and entry.is_symlink() and (not why_not(entry.name) or _leads_to_folder(entry))
        ):
            self._skip(path, _about_link(path, self.root))
        elif kind := why_ignored(
            printable(path.relative_to(self.root).as_posix()), is_wanted=path in self.wanted
        ):
            self.ignored[kind] += 1
        else:
            self.files.append(path)

        return False

    def _why_left_out(self, path: Path, *, is_folder: bool) -> str:
        """Return why a pattern or its neighbours leave something out, or an empty string.

        What a pattern asks for is wanted, whatever it looks like.
        """
        name = path.relative_to(self.root).as_posix()
        if reason := self.selection.why_not(name, is_folder=is_folder):
            return reason
        is_hidden = self._git.hides(path, is_folder=is_folder)
        if is_hidden is False or (not is_folder and self.selection.wants(name)):
            self.wanted.add(path)
        if is_hidden:
            return BY_PATTERNS
        return OF_SITES if path not in self.wanted and self._is_generated(path) else ""

    def _is_generated(self, path: Path) -> bool:
        if path.parent not in self._generated:
            self._generated[path.parent] = generated_in(one.name for one in path.parent.iterdir())
        return path.name in self._generated[path.parent]

    def _skip(self, path: Path, reason: str, *, unreadable: bool = False) -> None:
        is_inside = self.root in (path, *path.parents)
        name = printable((path.relative_to(self.root) if is_inside else path).as_posix())
        self.skipped.append(Skipped(name, reason, unreadable))


def _leads_to_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _about_link(link: Path, root: Path) -> str:
    try:
        target = link.resolve(strict=True)
    except (OSError, RuntimeError):
        return "is a link that leads nowhere or to itself"

    inside = target == root or root in target.parents
    return (
        "is a link within the folder: what it names is read in its own place"
        if inside
        else "is a link that leaves the folder"
    )
