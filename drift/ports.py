"""The servers and listeners around the core, as protocols that adapters and fakes implement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from pydantic import BaseModel

from drift.auth.caller import Caller, Project
from drift.contracts.answer import KeyFact, TraceNode
from drift.contracts.attributes import FilterKey
from drift.contracts.evidence import Surroundings
from drift.contracts.filter import Filter
from drift.contracts.progress import CHANNEL
from drift.contracts.rag import SourceOut
from drift.contracts.reading import (
    ChunkItem,
    ChunkRead,
    CommunityOut,
    DocumentOut,
    EntityRead,
    HeldDocument,
    ProjectOut,
)
from drift.core.deadline import Deadline
from drift.model.allowed import Allowed
from drift.model.calls import ChatReply, Embeddings, Prompt, Relevances, TextCallback
from drift.model.graph import (
    Candidates,
    Community,
    FollowupQuery,
    PrimerQuery,
    WholeEvidence,
    WholeQuery,
)
from drift.model.health import GraphHealth, Readiness
from drift.model.passages import Passages, PassagesQuery
from drift.model.reading import AboutProject, Page, PageQuery
from drift.model.vectors import VectorRow

Kept = TypeVar("Kept", bound=BaseModel)


class GraphStore(Protocol):
    """Reads of one project at a time; a method is one round trip or two; no result has a vector.

    Every method raises GraphUnavailableError, GraphTimeoutError or GraphMisconfiguredError; what is
    not found is an empty value.
    """

    def within(self, allowed: Allowed) -> GraphStore:
        """Return the same graph, of which only these documents are read, and what they make."""

    async def primer(self, query: PrimerQuery, deadline: Deadline) -> tuple[Community, ...]:
        """Return the best communities, highest level first, with the voters that they hold."""

    async def has_topics(self, project_id: str, deadline: Deadline) -> bool:
        """Tell whether the project's communities are topics, clusters of its chunks' vectors."""

    async def topics(self, query: PrimerQuery, deadline: Deadline) -> tuple[Community, ...]:
        """Return the topics that hold the voters, highest level first; none where none are."""

    async def followup(self, query: FollowupQuery, deadline: Deadline) -> Candidates:
        """Return the best chunks for a follow-up and their neighbourhood, every list bounded."""

    async def health(self) -> GraphHealth:
        """Return the server's agent and the state of the configured indexes."""


class PassageReader(Protocol):
    """Reads of cited chunks and of their project, a round trip each.

    Errors as for GraphStore. A chunk that the project does not hold is left out.
    """

    def within(self, allowed: Allowed) -> PassageReader:
        """Return what reads these documents alone, and what is made of them alone."""

    async def about(self, project_id: str, deadline: Deadline) -> AboutProject:
        """Return the project about itself, bounded."""

    async def whole(self, query: WholeQuery, deadline: Deadline) -> WholeEvidence:
        """Return the topics of the project, bounded, each with its nearest chunks."""

    async def passages(self, query: PassagesQuery, deadline: Deadline) -> Passages:
        """Return how near each is to the question, how old, and which documents say the same."""

    async def around(self, query: PassagesQuery, deadline: Deadline) -> Surroundings:
        """Return the entities that most of the chunks mention, and the communities they are in."""


class GraphReader(Protocol):
    """Reads of a project without a search; each method is one round trip.

    A missing thing is None, zero or empty, whoever else holds it. Errors as for GraphStore.
    """

    async def allowed(self, project_id: str, asked_for: Filter, deadline: Deadline) -> Allowed:
        """Return what a filter leaves of a project.

        Raises:
            InvalidRequestError: the documents of this graph say nothing that can be asked for.
        """

    def within(self, allowed: Allowed) -> GraphReader:
        """Return what reads these documents alone, and what is made of them alone."""

    async def projects(self, caller: Caller, page: PageQuery, deadline: Deadline) -> Page[str]:
        """Return a page of the ids that the caller may read; short, also while more follow."""

    async def sizes(
        self, project_ids: Sequence[str], deadline: Deadline
    ) -> Mapping[str, tuple[int, int]]:
        """Return the documents and chunks of projects, of those where that is quickly counted."""

    async def overview(self, project: Project, deadline: Deadline) -> ProjectOut:
        """Return the counts of a project."""

    async def largest(self, project: Project, deadline: Deadline) -> list[str]:
        """Return what the communities that are in no other are about, the largest first."""

    async def filter_keys(self, project: Project, deadline: Deadline) -> tuple[FilterKey, ...]:
        """Return what a filter may ask for in a project, with the commonest values of each."""

    async def version(self, project: Project, deadline: Deadline) -> str | None:
        """Return a version that changes with every write of the project; None where unknown."""

    async def documents(
        self, project: Project, page: PageQuery, deadline: Deadline
    ) -> Page[DocumentOut]:
        """Return a page of the project's documents, by id."""

    async def communities(
        self, project: Project, level: int | None, page: PageQuery, deadline: Deadline
    ) -> Page[CommunityOut]:
        """Return a page of the project's communities, by id; of one level, or of all for None."""

    async def document(
        self, project: Project, document_id: str, page: PageQuery, deadline: Deadline
    ) -> tuple[HeldDocument, Page[ChunkItem]] | None:
        """Return a document with a page of its chunks, in their order."""

    async def chunk(self, project: Project, chunk_id: str, deadline: Deadline) -> ChunkRead | None:
        """Return a chunk with its text, its document, and what stands before and after it."""

    async def entity(
        self, project: Project, entity_id: str, limit: int, deadline: Deadline
    ) -> EntityRead | None:
        """Return an entity with up to `limit` relations, and as many chunks that mention it."""


class VectorStore(Protocol):
    """A copy of the graph's vectors: every find here is only a candidate.

    A `space` is the property of the vectors in the graph. Every method raises VectorStoreError,
    also when it took longer than `timeout_s` seconds.
    """

    @property
    def settles_s(self) -> float:
        """Return how many seconds a search may lag behind what was written."""

    async def place(self, space: str, timeout_s: float) -> str:
        """Return the identity of this store, which a store made anew does not share."""

    async def search(  # noqa: PLR0913, PLR0917 - one search
        self,
        space: str,
        project_id: str,
        vector: Sequence[float],
        kinds: Sequence[str],
        limit: int,
        timeout_s: float,
    ) -> list[tuple[str, str]]:
        """Return kind and id of the project's nodes of these kinds, the nearest first."""

    async def upsert(self, space: str, rows: Sequence[VectorRow], timeout_s: float) -> None:
        """Write up to 1,000 rows, each in the place of the one with its key."""

    async def delete(self, space: str, keys: Sequence[str], timeout_s: float) -> None:
        """Remove the rows of these keys; one that is not there is no error."""

    async def digests(self, space: str, project_id: str, timeout_s: float) -> dict[str, str]:
        """Return the digest of each row of a project, by its key."""

    async def check(self, space: str, timeout_s: float) -> None:
        """Look whether the store answers, and fits the vectors."""

    async def close(self) -> None:
        """Close all connections."""


class ChatModel(Protocol):
    """One chat call with retries inside the deadline."""

    @property
    def longest_prompt(self) -> int | None:
        """The most tokens that the models were seen to read of a prompt; None for no bound."""

    async def complete(
        self, prompt: Prompt, deadline: Deadline, hear: TextCallback | None = None
    ) -> ChatReply:
        """Return the model's reply; with `hear`, tell of it while the model writes, or at the end.

        Cancelling the call ends the model's own.

        Raises:
            ModelUnavailableError: after the last attempt that fits into the deadline.
            ModelMisconfiguredError: when the server refuses the key, the deployment or the model.
            UnusableReplyError: when the reply is refused, filtered, cut or empty.
        """

    async def health(self) -> Readiness:
        """Return whether the models answer, by an earlier answer most of the time; never raises."""


class Embedder(Protocol):
    """Texts to vectors, many in one call."""

    async def embed(self, texts: Sequence[str], deadline: Deadline) -> Embeddings:
        """Return one vector a text, in order; errors of the model as for chat."""


class Reranker(Protocol):
    """Texts by how well they answer a question; a search keeps its own order without it."""

    async def rerank(self, question: str, texts: Sequence[str], deadline: Deadline) -> Relevances:
        """Return one finite score a text, in the order of the texts; waits a few seconds at most.

        Raises:
            DriftError: as the chat model's; also at once, while the server fails.
        """

    async def health(self) -> Readiness:
        """Return whether it answers, by an earlier answer most of the time; never raises."""


class Listener(Protocol):
    """Who follows one request while it runs; no method waits or raises."""

    def progress(self, message: str) -> None:
        """Take one progress message, as JSON."""

    def answer_delta(self, text: str) -> None:
        """Take the next piece of the final answer."""

    def answer_replaced(self, text: str) -> None:
        """Take the answer so far, in place of all earlier pieces."""

    def followup(self, node: TraceNode) -> None:
        """Take a follow-up as it begins, in the state `asked`, and as it has ended."""

    def citations(self, key_facts: Sequence[KeyFact]) -> None:
        """Take the sentences of the answer, which is all told, with their citations."""

    def sources(self, sources: Sequence[SourceOut]) -> None:
        """Take the nodes that the answer, which is all told, was written from."""


class AnswerSlot(Protocol):
    """The place of one request's answer in the cache; no method raises."""

    async def recall(self, shape: type[Kept], deadline: Deadline) -> Kept | None:
        """Return the cached answer, a new object each time; None where there is none."""

    def keep(self, answer: BaseModel) -> None:
        """Keep an answer, of the project as it was when `recall` was asked; never waits."""


class ProgressSink(Protocol):
    """The receiver of progress messages."""

    def send(self, message: str, *, last: bool, channel: str = CHANNEL) -> None:
        """Take one JSON message for a channel, in the order of the calls; never waits or raises.

        `last` is the last one of its request: it is kept when others must go.
        """

    async def delivered(self) -> None:
        """Return when all that was sent has arrived, or when it cannot arrive soon."""

    async def health(self) -> Readiness:
        """Return ok while messages arrive, else the reason; never raises."""


@dataclass(frozen=True, slots=True)
class Ports:
    """The servers that a search asks."""

    graph: GraphStore
    chat: ChatModel
    embedder: Embedder
    passages: PassageReader
    reranker: Reranker | None = None
