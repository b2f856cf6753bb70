"""The servers as one request sees them: each call carries its deadline, and its cost is counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from drift.core.deadline import Deadline, Turns
from drift.core.errors import UnusableReplyError
from drift.model.calls import ChatReply, Embeddings, Hear, Prompt
from drift.model.graph import Candidates, Chunk, FollowupQuery, PrimerEvidence, PrimerQuery
from drift.model.passages import Passages, PassagesQuery
from drift.ports import ChatModel, Embedder, GraphStore, PassageReader, Ports
from drift.telemetry import parts


@dataclass(frozen=True, slots=True)
class GraphCalls:
    """GraphStore within one request."""

    port: GraphStore
    deadline: Deadline
    turns: Turns

    async def primer(self, query: PrimerQuery) -> PrimerEvidence:
        """Ask the primer's statement; errors as for GraphStore."""
        with parts.waiting() as cost:
            cost.graph_round_trips += 1
            found = await self.port.primer(query, self.deadline)
        await self.turns.mine()  # what is made of it takes milliseconds
        return found

    async def followup(self, query: FollowupQuery) -> Candidates:
        """Ask a follow-up's statement; errors as for GraphStore."""
        with parts.waiting() as cost:
            cost.graph_round_trips += 1
            found = await self.port.followup(query, self.deadline)
        await self.turns.mine()
        return found


@dataclass(frozen=True, slots=True)
class ChatCalls:
    """ChatModel within one request."""

    port: ChatModel
    deadline: Deadline

    async def complete(self, prompt: Prompt, hear: Hear | None = None) -> ChatReply:
        """Return the model's reply, and tell of it as it grows; errors as for ChatModel.

        A reply that cannot be used is a call too, whose tokens are not known.
        """
        with parts.waiting() as cost:
            try:
                reply = await self.port.complete(prompt, self.deadline, hear)
            except UnusableReplyError:
                cost.chat_calls += 1
                raise

            cost.chat_calls += 1
            cost.replied(reply)
            return reply


@dataclass(frozen=True, slots=True)
class EmbedderCalls:
    """Embedder within one request."""

    port: Embedder
    deadline: Deadline

    async def embed(self, texts: Sequence[str]) -> Embeddings:
        """Return one vector a text, in order; errors as for Embedder."""
        with parts.waiting() as cost:
            embeddings = await self.port.embed(texts, self.deadline)
            cost.embedding_calls += not embeddings.is_cached
            cost.replied(embeddings)
            return embeddings


@dataclass(frozen=True, slots=True)
class PassageCalls:
    """PassageReader within one request."""

    port: PassageReader | None
    deadline: Deadline

    async def passages(self, query: PassagesQuery) -> Passages:
        """Ask the statement about cited chunks; errors as for PassageReader.

        A graph that only searches knows nothing of them.
        """
        if self.port is None:
            return Passages()
        with parts.waiting() as cost:
            cost.graph_round_trips += 1
            return await self.port.passages(query, self.deadline)

    async def about(self, project_id: str) -> Chunk | None:
        """Return what the project knows of itself, as a chunk; None of a graph that only searches.

        Errors as for PassageReader.
        """
        if self.port is None:
            return None
        with parts.waiting() as cost:
            cost.graph_round_trips += 1
            return (await self.port.about(project_id, self.deadline)).chunk()


@dataclass(frozen=True, slots=True)
class Calls:
    """The servers of one request."""

    graph: GraphCalls
    chat: ChatCalls
    embedder: EmbedderCalls
    passages: PassageCalls

    @classmethod
    def within(cls, deadline: Deadline, ports: Ports, turns: Turns) -> Calls:
        """Bind the servers to a request's deadline; all requests share the turns."""
        return cls(
            GraphCalls(ports.graph, deadline, turns),
            ChatCalls(ports.chat, deadline),
            EmbedderCalls(ports.embedder, deadline),
            PassageCalls(ports.passages, deadline),
        )
