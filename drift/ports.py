"""What the core needs from the outside, as protocols, which adapters and fakes implement."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from pydantic import BaseModel

from drift.auth.caller import Caller, Project
from drift.contracts.answer import KeyFact, TraceNode
from drift.contracts.progress import CHANNEL
from drift.contracts.rag import SourceOut
from drift.contracts.reading import (
    ChunkItem,
    ChunkRead,
    CommunityOut,
    DocumentOut,
    EntityRead,
    ProjectOut,
)
from drift.core.deadline import Deadline
from drift.model.calls import ChatReply, Embeddings, Prompt, TextCallback
from drift.model.found_nodes import FoundNodes, NodesQuery, Sampled
from drift.model.graph import (
    Candidates,
    FollowupQuery,
    PrimerEvidence,
    PrimerQuery,
    Topic,
    TopicsQuery,
)
from drift.model.health import GraphHealth, Readiness
from drift.model.nodes import Embedded, LabelledNode, OwnNode, StoredNode, Taking
from drift.model.passages import Passages, PassagesQuery
from drift.model.reading import AboutProject, Page, PageQuery

Kept = TypeVar("Kept", bound=BaseModel)


class GraphStore(Protocol):
    """Reads of one project at a time; each method is one round trip; no result holds an embedding.

    Every method raises GraphUnavailableError, GraphTimeoutError or GraphMisconfiguredError; what is
    not found is an empty value.
    """

    async def primer(self, query: PrimerQuery, deadline: Deadline) -> PrimerEvidence:
        """Return the best communities, highest level first, with samples; else the best chunks."""

    async def has_topics(self, project_id: str, deadline: Deadline) -> bool:
        """Tell whether the project's communities are topics, clusters of its chunks' vectors."""

    async def topics(self, query: TopicsQuery, deadline: Deadline) -> tuple[Topic, ...]:
        """Return the topics that hold the best chunks, highest level first; none where none are."""

    async def followup(self, query: FollowupQuery, deadline: Deadline) -> Candidates:
        """Return the best chunks for a follow-up and their neighbourhood, every list bounded."""

    async def health(self) -> GraphHealth:
        """Return the server's agent and the state of the configured indexes."""


class PassageReader(Protocol):
    """What is known of chunks that an answer cites, and of their project, in a round trip each.

    Errors as for GraphStore. A chunk that the project does not hold is left out.
    """

    async def about(self, project_id: str, deadline: Deadline) -> AboutProject:
        """Return what the project knows of itself, bounded."""

    async def passages(self, query: PassagesQuery, deadline: Deadline) -> Passages:
        """Return how near each is to the question, how old, and which documents say the same."""


class NodeFinder(Protocol):
    """Nodes of any kind, of one project at a time, a round trip each; errors as for GraphStore."""

    async def nearest_nodes(self, query: NodesQuery, deadline: Deadline) -> FoundNodes:
        """Return the nodes nearest to a vector, each with the three most important around it."""

    async def sample(
        self,
        project_id: str,
        dimensions: int,
        pairs: Sequence[Sequence[float]],
        least: int,
        deadline: Deadline,
    ) -> Sampled:
        """Return the cosines of pairs of the project's texts with vectors of this length.

        A pair is two places among the texts, as shares of their number. Of fewer texts than `least`
        there is no cosine.
        """


class GraphReader(Protocol):
    """What a project holds, read as it is and not searched; each method is one round trip.

    What a project does not hold is None, zero or empty, whoever else holds it. Errors as for
    GraphStore.
    """

    async def projects(self, caller: Caller, page: PageQuery, deadline: Deadline) -> Page[str]:
        """Return a page of the ids that the caller may read; short, also while more follow."""

    async def overview(self, project: Project, deadline: Deadline) -> ProjectOut:
        """Return what the project holds, counted."""

    async def version(self, project: Project, deadline: Deadline) -> str | None:
        """Return what changes with every write of the project; None where that cannot be told."""

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
    ) -> tuple[DocumentOut, Page[ChunkItem]] | None:
        """Return a document with a page of its chunks, in their order."""

    async def chunk(self, project: Project, chunk_id: str, deadline: Deadline) -> ChunkRead | None:
        """Return a chunk with its text, its document, and what stands before and after it."""

    async def entity(
        self, project: Project, entity_id: str, limit: int, deadline: Deadline
    ) -> EntityRead | None:
        """Return an entity with up to `limit` relations, and as many chunks that mention it."""


class NodeStore(Protocol):
    """Writes people's own nodes, each with its vector in one write.

    Every method raises ProjectHeldError while an ingest holds the project, ConflictError for an id
    of ingestion's own, NotFoundError for a node that is not there, and errors as for GraphStore.
    """

    async def find_node(self, project: Project, node_id: str, deadline: Deadline) -> StoredNode:
        """Return what stands under an id."""

    async def create_node(
        self, project: Project, node: OwnNode, embedded: Embedded | None, deadline: Deadline
    ) -> None:
        """Make a node; ConflictError when the id is known."""

    async def replace_node(
        self,
        project: Project,
        node: OwnNode,
        embedded: Embedded | None,
        kept: str,
        deadline: Deadline,
    ) -> bool:
        """Give a node these properties and no others; tell whether it was written.

        Where `kept` is a hash, the vector of this hash stays, and nothing is written where the node
        has it no longer.
        """

    async def remove_node(self, project: Project, node_id: str, deadline: Deadline) -> None:
        """Remove a node with its vector and its edges."""


class LabelledNodes(Protocol):
    """People's own nodes of a label, and their vectors; errors as for GraphStore.

    Nothing is written to a node that is not marked as theirs, but for the mark.
    """

    async def prepare(self, dimensions: int) -> None:
        """Create the key and the vector index of people's nodes; mark those of earlier releases."""

    async def projects(self, label: str) -> list[str]:
        """Return the projects that have nodes of a label of people's own, by id."""

    def labelled(self, project_id: str, label: str, taking: Taking) -> AsyncGenerator[LabelledNode]:
        """Yield the project's nodes of a label that are to be looked at."""

    async def require_free(self, project_id: str) -> None:
        """Raise ProjectHeldError while an ingest holds the project."""

    async def put(
        self,
        project_id: str,
        nodes: Sequence[tuple[LabelledNode, Embedded | None]],
        deadline: Deadline,
    ) -> int:
        """Give nodes their vectors, or take away what is of no text; return how many it were.

        A node that has changed meanwhile is left as it is. Raises ProjectHeldError.
        """


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


class Listener(Protocol):
    """Who follows one request while it runs; no method waits or raises."""

    def progress(self, message: str) -> None:
        """Take one progress message, as JSON."""

    def answer_delta(self, text: str) -> None:
        """Take what comes next of the final answer."""

    def answer_replaced(self, text: str) -> None:
        """Take the answer so far, in place of all that was told of it."""

    def followup(self, node: TraceNode) -> None:
        """Take a follow-up as it begins, in the state `asked`, and as it has ended."""

    def citations(self, key_facts: Sequence[KeyFact]) -> None:
        """Take the sentences of the answer, which is all told, with their citations."""

    def sources(self, sources: Sequence[SourceOut]) -> None:
        """Take the nodes that the answer, which is all told, was written from."""


class AnswerSlot(Protocol):
    """Where the answer to one request is kept, and may stand already; no method raises."""

    async def recall(self, shape: type[Kept], deadline: Deadline) -> Kept | None:
        """Return the answer that stands there, a new object each time; None where there is none."""

    def keep(self, answer: BaseModel) -> None:
        """Keep an answer, of the project as it was when `recall` was asked; never waits."""


class ProgressSink(Protocol):
    """Where progress messages go."""

    def send(self, message: str, *, last: bool, channel: str = CHANNEL) -> None:
        """Take one JSON message for a channel, in the order of the calls; never waits or raises.

        `last` is the last one of its request: it is kept when others must go.
        """

    async def delivered(self) -> None:
        """Return when all that was sent has arrived, or when it cannot arrive soon."""

    async def health(self) -> Readiness:
        """Return ok when messages arrive now, and otherwise why they do not; never raises."""


@dataclass(frozen=True, slots=True)
class Ports:
    """The servers that a search asks; without `passages` references have only the model's word."""

    graph: GraphStore
    chat: ChatModel
    embedder: Embedder
    passages: PassageReader | None = None
