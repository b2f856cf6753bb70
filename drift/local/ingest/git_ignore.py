"""What `.gitignore` files leave out."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from pathspec import GitIgnoreSpec

from drift.local.ingest.files import open_at_once

BY_GIT = ".gitignore leaves them out"

_MAX_RULES_BYTES = 1_000_000


@dataclass(slots=True)
class GitIgnore:
    """What the `.gitignore` files in a folder, and in those below it, leave out.

    `unusable` is told of such a file that cannot be read, and why: then it leaves out nothing.
    """

    root: Path
    unusable: Callable[[Path, str], None]
    _rules: dict[Path, tuple[tuple[Path, GitIgnoreSpec], ...]] = field(default_factory=dict)

    def hides(self, place: Path, *, is_folder: bool) -> bool:
        """Tell whether a place is left out; of several rules the one nearest to it decides."""
        for folder, rules in self._of(place.parent):
            name = place.relative_to(folder).as_posix()
            told = rules.check_file(f"{name}/" if is_folder else name).include
            if told is not None:
                return told
        return False

    def hides_above(self, place: Path) -> bool:
        """Tell whether a folder that a place is in is left out."""
        above = [one for one in reversed(place.parents) if self.root in one.parents]
        return any(self.hides(one, is_folder=True) for one in above)

    def _of(self, folder: Path) -> tuple[tuple[Path, GitIgnoreSpec], ...]:
        """Return the rules for what is in a folder, the nearest first."""
        if folder not in self._rules:
            above = () if folder == self.root else self._of(folder.parent)
            own = self._read(folder / ".gitignore")
            self._rules[folder] = ((folder, own), *above) if own else above
        return self._rules[folder]

    def _read(self, file: Path) -> GitIgnoreSpec | None:
        try:
            if not os.path.lexists(file) or file.is_symlink() or not file.is_file():
                return None
            with open(file, "rb", opener=open_at_once) as opened:
                text = opened.read(_MAX_RULES_BYTES).decode()
            return GitIgnoreSpec.from_lines(text.splitlines())
        except (OSError, ValueError) as error:
            self.unusable(file, f"cannot be understood, and leaves out nothing: {error}")
            return None
