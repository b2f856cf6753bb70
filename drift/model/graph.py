"""Searches: the questions to the graph, and its results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from drift.core.hyperlinks import Link

CommunityId = int | str
"""A community's own key, in its native type: an integer in GraphRAG data, a string elsewhere."""
Vector = tuple[float, ...]

Via = Literal["vector", "text", "walk", "title", "link", "next"]
"""How a search came to a chunk: a leg of its own, the title of its document in the question, a link
or a title in another chunk, or the short chunk before it."""

MAX_SAMPLES = 5
"""Candidates that a primer shows whole; they hold most of what a question's first answers cite."""
NAMELESS = "unknown"
"""What a document is called of which the graph says no name, and a chunk without a document."""


class LocalVector(Vector):
    """A vector by the local model, which answers while the provider fails."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a document as it was retrieved.

    `text` is verbatim, `score` the rank it came with (higher is better), `heading` the path of
    headings above it. It is the `place`th of the `places` chunks of its document, from 1, stands on
    its `page`, a number or a label, and begins at character `start` of the document's text, from 0.
    `source_uri` is where the document is from, and `document_id` its id. `first_line` is the line
    of the document's file at which the chunk begins, from 1, and `links` those of which the text
    has the words alone. A newer version of the document is at `superseded_by`. What the graph does
    not say is None, or empty. `via` says how the search came to it, and is no part of what it is.
    """

    id: str
    text: str
    document_name: str
    score: float = 0.0
    heading: str = ""
    place: int | None = None
    places: int | None = None
    page: int | str | None = None
    start: int | None = None
    source_uri: str = ""
    first_line: int | None = None
    document_id: str = ""
    links: tuple[Link, ...] = ()
    superseded_by: str = ""
    via: tuple[Via, ...] = field(default=(), compare=False)


def document_of(chunk: Chunk) -> str:
    """Return the key of a chunk's document: its id, else its name."""
    return chunk.document_id or chunk.document_name


@dataclass(frozen=True, slots=True)
class Community:
    """A community with its summary, of which only a question about the whole has sample chunks."""

    id: CommunityId
    level: int | None
    summary: str
    title: str = ""
    members: frozenset[str] = frozenset()
    """The chunks below it, as far as they were looked at."""
    samples: tuple[Chunk, ...] = ()


@dataclass(frozen=True, slots=True)
class Relationship:
    """A RELATED edge between two entities, by their titles.

    Where its description is a sentence of a chunk, `chunk_ids` has that one, else the candidates
    that mention both.
    """

    source: str
    target: str
    description: str = ""
    chunk_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PrimerQuery:
    """The primer's question to the graph; `voters` are the ids of its best chunks, best first."""

    project_id: str
    voters: tuple[str, ...]
    vector: Vector
    top_k: int


@dataclass(frozen=True, slots=True)
class WholeQuery:
    """A question about all documents together, as a vector."""

    project_id: str
    vector: Vector
    located: bool = False


@dataclass(frozen=True, slots=True)
class WholeEvidence:
    """The lowest communities of a project, the nearest to the question first.

    Each has the nearest chunks below it as samples, the best first. `known` counts all of them,
    also those that are too many to be told.
    """

    topics: tuple[Community, ...] = ()
    known: int = 0


@dataclass(frozen=True, slots=True)
class PrimerEvidence:
    """The primer's finds: communities, and the chunks that the question itself finds, best first.

    These `candidates` are there to choose from; the first of them, `samples`, are shown whole.
    """

    communities: tuple[Community, ...] = ()
    candidates: tuple[Chunk, ...] = ()

    @property
    def samples(self) -> tuple[Chunk, ...]:
        """The candidates that best show what may be asked."""
        return self.candidates[:MAX_SAMPLES]

    @property
    def is_empty(self) -> bool:
        """True when the project holds nothing to answer from."""
        return not self.communities and not self.candidates

    def without_weak(self) -> PrimerEvidence:
        """Return it without communities that hold no sample, unless none of them holds any."""
        best = {chunk.id for chunk in self.samples}
        strong = tuple(one for one in self.communities if best & one.members)
        return replace(self, communities=strong or self.communities)


Direction = Literal["before", "after"]


@dataclass(frozen=True, slots=True)
class Beside:
    """A wish for the chunk before or after another one in its document, if the project holds it."""

    chunk_id: str
    direction: Direction


@dataclass(frozen=True, slots=True)
class Position:
    """A wish for a document's first or last chunks, or for what precedes or follows the best.

    Of the documents found, it is the one with a name like this, or else that of the best chunk.
    """

    at: Literal["beginning", "end", "before", "after"]
    document: str = ""


@dataclass(frozen=True, slots=True)
class FollowupQuery:
    """A follow-up's question to the graph; no `communities` means the whole project."""

    project_id: str
    question: str
    vector: Vector
    communities: tuple[CommunityId, ...]
    beside: tuple[Beside, ...] = ()
    located: bool = False
    position: Position | None = None


@dataclass(frozen=True, slots=True)
class Mention:
    """An entity that several candidates mention.

    `entity` numbers it among the candidates, `rarity` is its inverse document frequency, and
    `about` (0..1) the share of what this candidate mentions that the entity has a relation to.
    """

    entity: int
    rarity: float
    about: float


@dataclass(frozen=True, slots=True)
class Candidate:
    """A chunk that some leg of the search found, with each leg's own score.

    `similarity` is the cosine mapped to 0..1 (None: the chunk has no vector), `text` a BM25 score,
    `graph` the mass that the walk brought; 0 where a leg did not find the chunk. `following` is
    what stands behind a short chunk in its document.
    """

    chunk: Chunk
    similarity: float | None
    text: float = 0.0
    graph: float = 0.0
    in_scope: bool = False
    mentions: tuple[Mention, ...] = ()
    following: Chunk | None = None


@dataclass(frozen=True, slots=True)
class Candidates:
    """The results of a follow-up, before the ranking.

    The chunks are in no order; the neighbourhood is that of the likeliest of them. `pinned` stand
    where the query wished, the nearest first; most queries wish for none. `rare` has the ids of all
    chunks with a word of the question that few hold, the rarest word first. `is_partial` says that
    an index of words could not be asked, or the documents named not be read.
    """

    chunks: tuple[Candidate, ...] = ()
    relationships: tuple[Relationship, ...] = ()
    pinned: tuple[Chunk, ...] = ()
    rare: tuple[frozenset[str], ...] = ()
    is_partial: bool = False


@dataclass(frozen=True, slots=True)
class Evidence:
    """The finds of one follow-up: `chunks` best first, and their bounded neighbourhood.

    `further` are those that stand behind them.
    """

    chunks: tuple[Chunk, ...] = ()
    relationships: tuple[Relationship, ...] = ()
    further: tuple[Chunk, ...] = ()

    @property
    def candidates(self) -> tuple[Chunk, ...]:
        """All chunks that were found, best first."""
        return (*self.chunks, *self.further)

    def led_by(self, leads: Sequence[Chunk]) -> Evidence:
        """Return the evidence with these chunks before all others."""
        first = {chunk.id: chunk for chunk in leads}
        behind = (chunk for chunk in self.chunks if chunk.id not in first)
        return replace(self, chunks=(*first.values(), *behind))


def texts_of(chunks: Iterable[Chunk]) -> Iterator[str]:
    """Yield every text of chunks in which a name of the question may stand."""
    for chunk in chunks:
        yield from (chunk.document_name, chunk.heading, chunk.text)
