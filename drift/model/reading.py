"""What is read of a project outside of a search, and the pages that lists come in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from drift.model.graph import Chunk, CommunityId

Key = str | int | float
"""What a node is found by, in its stored type: ids of some graphs are numbers."""

Position = tuple[Key | None, ...]
"""Behind what a page begins: the keys of the last row before it."""

_Row_co = TypeVar("_Row_co", covariant=True)


@dataclass(frozen=True, slots=True)
class PageQuery:
    """Which page of a list: up to `limit` rows behind a position, from the beginning for None."""

    limit: int
    after: Position | None = None


@dataclass(frozen=True, slots=True)
class Page(Generic[_Row_co]):
    """Rows in the order of their keys, and the position of the last; None where the list ends."""

    rows: tuple[_Row_co, ...] = ()
    last: Position | None = None


@dataclass(frozen=True, slots=True)
class ProjectOverview:
    """What a project holds, counted.

    `embedding_models` made its vectors, and `written_at` is when it was last written, in ISO 8601;
    a graph from elsewhere says neither.
    """

    id: str
    documents: int = 0
    chunks: int = 0
    entities: int = 0
    communities: int = 0
    embedding_models: tuple[str, ...] = ()
    written_at: str | None = None


@dataclass(frozen=True, slots=True)
class DocumentRow:
    """A document in a list; `name` is how citations call it, `chunks` how many it has.

    `source_uri` is its address, where it has one to show.
    """

    id: str
    name: str
    source_uri: str
    chunks: int


@dataclass(frozen=True, slots=True)
class CommunityRow:
    """A community in a list.

    `members` counts the entities, chunks and communities directly in it, `parents` are the
    communities that it is directly in.
    """

    id: CommunityId
    level: int | None
    title: str
    summary: str
    members: int
    parents: tuple[CommunityId, ...] = ()


@dataclass(frozen=True, slots=True)
class ChunkRow:
    """Where a chunk stands: the `place`th of its document's `places`, from 1; None for unknown."""

    id: str
    heading: str = ""
    place: int | None = None
    places: int | None = None


@dataclass(frozen=True, slots=True)
class DocumentRead:
    """A document with a page of its chunks, in their order."""

    document: DocumentRow
    chunks: Page[ChunkRow]


@dataclass(frozen=True, slots=True)
class Neighbour:
    """The chunk before or after another one in its document, with its text."""

    chunk: ChunkRow
    text: str


@dataclass(frozen=True, slots=True)
class CommunityTold:
    """A community that something is directly in, as it is told beside it."""

    id: CommunityId
    level: int | None
    title: str
    summary: str


@dataclass(frozen=True, slots=True)
class EntityMentioned:
    """An entity that a chunk mentions, and the communities that it is directly in."""

    id: str
    title: str
    communities: tuple[CommunityTold, ...] = ()


@dataclass(frozen=True, slots=True)
class ChunkRead:
    """A chunk with its text, its document (None for none) and its neighbours.

    `entities` are those that it mentions, `communities` those that it is directly in itself.
    """

    chunk: ChunkRow
    text: str
    document_id: str | None = None
    document_name: str = "unknown"
    before: Neighbour | None = None
    after: Neighbour | None = None
    entities: tuple[EntityMentioned, ...] = ()
    communities: tuple[CommunityTold, ...] = ()
    has_more_entities: bool = False

    @classmethod
    def of_project(cls, about: AboutProject) -> ChunkRead | None:
        """Return what a project knows of itself; None of one that holds nothing."""
        chunk = about.chunk()
        return cls(ChunkRow(chunk.id), chunk.text) if chunk else None


@dataclass(frozen=True, slots=True)
class RelationRead:
    """A relation of an entity to another one; `is_outgoing` says that it begins here."""

    entity_id: str
    title: str
    description: str
    weight: float
    is_outgoing: bool


@dataclass(frozen=True, slots=True)
class MentionRead:
    """A chunk that mentions an entity, with its beginning."""

    chunk: ChunkRow
    document_name: str
    beginning: str


@dataclass(frozen=True, slots=True)
class EntityRead:
    """An entity with its weightiest relations, and chunks that mention it.

    `has_more_...` says that there is more than is told.
    """

    id: str
    title: str
    description: str
    relations: tuple[RelationRead, ...] = ()
    chunks: tuple[MentionRead, ...] = ()
    has_more_relations: bool = False
    has_more_chunks: bool = False


ABOUT_PROJECT = "About this project"
"""How citations call the document of what a project knows of itself, which no graph holds."""
MOST_NAMED = 100
"""Documents that it names, and the largest communities that it tells of."""
MOST_TOLD = 12
_LINE_CHARACTERS = 190
"""Of a line at most: it is cited as one sentence, and three in a row fit into one span."""
_NAME_CHARACTERS = 80


def about_id(project_id: str) -> str:
    """Return the reserved id of the chunk that tells what a project knows of itself."""
    return f"project:{project_id}"


@dataclass(frozen=True, slots=True)
class AboutProject:
    """What a project knows of itself: its counts, names of documents, its largest communities.

    `names` are up to MOST_NAMED of its documents', `communities` up to MOST_TOLD that are in no
    other, the largest first.
    """

    overview: ProjectOverview
    names: tuple[str, ...] = ()
    communities: tuple[CommunityRow, ...] = ()

    def chunk(self) -> Chunk | None:
        """Return it as a chunk that can be cited; None of a project that holds nothing."""
        if not self.overview.chunks:
            return None
        lines = "\n".join(f"- {line}" for line in (*self._documents(), *self._largest()))
        return Chunk(
            about_id(self.overview.id), f"{self._counted()}\n\n{lines}".strip(), ABOUT_PROJECT
        )

    def _counted(self) -> str:
        of = self.overview
        held = (
            _number(of.documents, "document", "documents"),
            _number(of.chunks, "passage", "passages"),
            _number(of.entities, "entity", "entities"),
            _number(of.communities, "community", "communities"),
        )
        return f"This project as a whole holds {', '.join(filter(None, held))}."

    def _documents(self) -> Iterator[str]:
        """Yield lines of a few names each, and one that tells how many are not named."""
        names = sorted((_short(name, _NAME_CHARACTERS) for name in self.names), key=str.casefold)
        whole, first = self.overview.documents, 1
        for group in _packed(names):
            last = first + len(group) - 1
            which = f"Documents {first} to {last}" if last > first else f"Document {first}"
            yield f"{which} of {whole}: {'; '.join(group)}"
            first = last + 1
        if whole > len(names):
            yield f"Documents that are not named here: {whole - len(names)} of {whole}"

    def _largest(self) -> Iterator[str]:
        for one in self.communities:
            head, _, rest = one.summary.strip().partition("\n")
            told = (one.title or head, rest if one.title in {"", head} else one.summary)
            if about := ": ".join(filter(None, map(str.strip, told))):
                yield _short(f"One of the largest communities is about {about}", _LINE_CHARACTERS)


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


def _short(text: str, most: int) -> str:
    """Return a text on one line, and of a long one the beginning, cut behind a word if it can."""
    line = " ".join(text.split())
    if len(line) <= most:
        return line
    space = line.rfind(" ", most // 2, most)
    return f"{line[: space if space > 0 else most - 1]}…"


def _number(count: int, one: str, several: str) -> str:
    return f"{count} {one if count == 1 else several}" if count else ""
