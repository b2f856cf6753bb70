"""Which files of a source are read, where whoever ingests it names patterns."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Self

from pathspec import GitIgnoreSpec

NOT_INCLUDED, EXCLUDED = "--include does not name them", "--exclude names them"


@dataclass(frozen=True, slots=True)
class Selection:
    """Patterns as in a `.gitignore` at the root of a source, for paths below it.

    Where there are any, files that `include` names are read alone; those of `exclude` are not. Of
    `newest` a date in the name tells the version.
    """

    include: GitIgnoreSpec = field(default_factory=lambda: GitIgnoreSpec(()))
    exclude: GitIgnoreSpec = field(default_factory=lambda: GitIgnoreSpec(()))
    newest: GitIgnoreSpec = field(default_factory=lambda: GitIgnoreSpec(()))

    @classmethod
    def of(cls, include: Iterable[str], exclude: Iterable[str], newest: Iterable[str] = ()) -> Self:
        """Return it of these patterns; ValueError for one that cannot be understood."""
        return cls(*map(GitIgnoreSpec.from_lines, (include, exclude, newest)))

    def why_not(self, path: str, *, is_folder: bool = False) -> str:
        """Return why what is at a path is left out, or an empty string."""
        if self.exclude.match_file(f"{path}/" if is_folder else path):
            return EXCLUDED
        is_read = is_folder or not self.include or self.wants(path)
        return "" if is_read else NOT_INCLUDED

    def wants(self, path: str) -> bool:
        """Tell whether a pattern asks for a file, whatever it looks like."""
        return self.include.match_file(path)


EVERYTHING = Selection()
