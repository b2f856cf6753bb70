"""Reading a project outside of a search: pages of lists, and the project about itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from drift.core.names import shortened
from drift.model.graph import Chunk

Key = str | int | float
"""The key of a node, in its stored type: ids of some graphs are numbers."""

Position = tuple[Key | None, ...]
"""The start of a page: the keys of the last row before it."""

_Row_co = TypeVar("_Row_co", covariant=True)


@dataclass(frozen=True, slots=True)
class PageQuery:
    """Which page of a list: up to `limit` rows behind a position, from the beginning for None.

    Of documents only those whose name or id holds these `words`.
    """

    limit: int
    after: Position | None = None
    words: str = ""


@dataclass(frozen=True, slots=True)
class Page(Generic[_Row_co]):
    """Rows in the order of their keys, and the position of the last; None where the list ends."""

    rows: tuple[_Row_co, ...] = ()
    last: Position | None = None


ABOUT_PROJECT = "About this project"
"""The document name in citations of a project's own facts, which no graph holds."""
MOST_NAMED = 100
"""Documents that it names."""
MOST_TOLD = 12
"""The largest communities that are named of a project."""
MOST_KINDS = 300
"""Pairs of a folder and an ending, beyond which documents are counted by neither."""
_LINE_CHARACTERS = 190
"""Of a line at most: it is cited as one sentence, and three in a row fit into one span."""


def about_id(project_id: str) -> str:
    """Return the reserved id of the chunk in which a project tells about itself."""
    return f"project:{project_id}"


@dataclass(frozen=True, slots=True)
class AboutProject:
    """A project about itself: its counts, and names of documents.

    `names` are up to MOST_NAMED of its documents'. `kinds` counts the documents of each first
    folder (or host) and ending of their ids, with an empty one where there is none. `behind` counts
    documents that changed since knowledge was derived, unless a filter hides some.
    """

    id: str
    documents: int = 0
    chunks: int = 0
    entities: int = 0
    communities: int = 0
    names: tuple[str, ...] = ()
    kinds: tuple[tuple[str, str, int], ...] = ()
    behind: int = 0

    def chunk(self) -> Chunk | None:
        """Return its counts and names as a chunk that can be cited; None where it holds nothing.

        What communities are about is a summary, and no evidence: it stands nowhere in it.
        """
        if not self.chunks:
            return None
        lines = "\n".join(f"- {line}" for line in (*self._by_kind(), *self._documents()))
        return Chunk(about_id(self.id), f"{self._counted()}\n\n{lines}".strip(), ABOUT_PROJECT)

    def _counted(self) -> str:
        held = (
            _number(self.documents, "document", "documents"),
            _number(self.chunks, "passage", "passages"),
            _number(self.entities, "entity", "entities"),
            _number(self.communities, "community", "communities"),
        )
        return f"This project as a whole holds {', '.join(filter(None, held))}."

    def _documents(self) -> Iterator[str]:
        """Yield lines of a few names each, and one that tells how many are not named."""
        names = sorted((shortened(name, 80) for name in self.names), key=str.casefold)
        whole, first = self.documents, 1
        for group in _packed(names):
            last = first + len(group) - 1
            which = f"Documents {first} to {last}" if last > first else f"Document {first}"
            yield f"{which} of {whole}: {'; '.join(group)}"
            first = last + 1

        if whole > len(names):
            yield f"Documents that are not named here: {whole - len(names)} of {whole}"

    def _by_kind(self) -> Iterator[str]:
        """Yield a line for the folders, or hosts, of documents, and one for their endings."""
        if len(self.kinds) < MOST_KINDS:
            for place, what in enumerate(("folder", "ending")):
                counts: Counter[str] = Counter()
                for *names, documents in self.kinds:
                    counts[names[place]] += documents
                if counts.keys() - {""}:
                    each = [
                        f"{n} {shortened(name, 40) or f'without {what}'}"
                        for name, n in counts.items()
                    ]
                    for group in _packed(each):
                        yield f"Documents by {what}: {', '.join(group)}"


def _packed(names: Sequence[str]) -> Iterator[list[str]]:
    """Yield as many names at a time as a line has room for."""
    group: list[str] = []
    for name in names:
        if group and sum(map(len, group)) + 2 * len(group) + len(name) > _LINE_CHARACTERS - 40:
            yield group
            group = []
        group.append(name)

    if group:
        yield group


def _number(count: int, one: str, several: str) -> str:
    return f"{count} {one if count == 1 else several}" if count else ""
