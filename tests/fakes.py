"""Small stand-ins for the servers behind a search; each implements a port of drift/ports.py."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from drift.auth.caller import EVERYBODY, Project
from drift.contracts.answer import KeyFact, TraceNode
from drift.contracts.evidence import Surroundings
from drift.contracts.progress import CHANNEL
from drift.contracts.request import ProjectRequest
from drift.core.deadline import Deadline
from drift.llm.growing import GrowingText
from drift.model.calls import ChatReply, Embeddings, Prompt, TextCallback, Tokens
from drift.model.graph import (
    Candidate,
    Candidates,
    Chunk,
    Community,
    Evidence,
    FollowupQuery,
    PrimerEvidence,
    PrimerQuery,
    Vector,
    WholeEvidence,
    WholeQuery,
)
from drift.model.health import GraphHealth, Readiness
from drift.model.passages import Passages, PassagesQuery
from drift.model.reading import AboutProject
from drift.ports import Ports
from drift.telemetry import parts

PIECE = 4
"""Characters that a scripted model writes at a time, for who listens."""

Answering = Callable[[Prompt], Any]
Script = Answering | Mapping[str, Any]


class ScriptedChat:
    """ChatModel: a script answers by the prompt's name.

    An answer is a text, a value sent as JSON, an error, or a coroutine.
    """

    longest_prompt: int | None = None

    def __init__(self, script: Script) -> None:
        self.script = script
        self.prompts: list[Prompt] = []

    async def complete(
        self, prompt: Prompt, deadline: Deadline, hear: TextCallback | None = None
    ) -> ChatReply:
        with parts.chatting() as cost:
            deadline.require()
            reply = await self._reply(prompt, hear)
            cost.answered(reply.tokens)
            cost.replied(reply)
        return reply

    async def _reply(self, prompt: Prompt, hear: TextCallback | None) -> ChatReply:
        self.prompts.append(prompt)
        answer = self.script(prompt) if callable(self.script) else self.script[prompt.name]
        if callable(answer):
            answer = answer(prompt)
        if isinstance(answer, Awaitable):
            answer = await answer
        if isinstance(answer, Exception):
            raise answer
        text = answer if isinstance(answer, str) else json.dumps(answer)
        if hear is not None:
            await self._tell(text, hear)
        return ChatReply(text, Tokens(prompt=10, completion=2, cached=1))

    async def _tell(self, text: str, hear: TextCallback) -> None:
        growing = GrowingText(hear)
        for at in range(0, len(text), PIECE):
            growing.add(text[at : at + PIECE])
            await asyncio.sleep(0)
        hear(text)

    async def health(self) -> Readiness:
        return Readiness.ok()

    def named(self, name: str) -> list[Prompt]:
        """Return the prompts of that name, in order."""
        return [p for p in self.prompts if p.name == name]


class HashingEmbedder:
    """Embedder: four floats from the text's digest; `calls` holds the texts of each call."""

    def __init__(
        self, failure: Callable[[Sequence[str]], Exception | None] = lambda _texts: None
    ) -> None:
        self.failure = failure
        self.calls: list[tuple[str, ...]] = []

    async def embed(self, texts: Sequence[str], deadline: Deadline) -> Embeddings:
        deadline.require()
        self.calls.append(tuple(texts))
        await asyncio.sleep(0)
        if error := self.failure(texts):
            raise error
        with parts.waiting() as cost:
            made = Embeddings(tuple(vector_of(text) for text in texts), Tokens(prompt=len(texts)))
            cost.embedding_calls += 1
            cost.answered(made.tokens)
        return made


def vector_of(text: str) -> Vector:
    """Return the vector that HashingEmbedder gives a text."""
    return tuple(byte / 255 for byte in hashlib.sha256(text.encode()).digest()[:4])


class Heard:
    """Listener that puts together what it is told."""

    def __init__(self) -> None:
        self.messages: list[str] = []
        self.text = ""
        self.deltas = 0
        self.replaced = 0
        self.facts: list[KeyFact] = []
        self.followups: list[TraceNode] = []

    def progress(self, message: str) -> None:
        self.messages.append(message)

    def answer_delta(self, text: str) -> None:
        assert text
        self.deltas += 1
        self.text += text

    def answer_replaced(self, text: str) -> None:
        self.replaced += 1
        self.text = text

    def followup(self, node: TraceNode) -> None:
        self.followups.append(node)

    def citations(self, key_facts: Sequence[KeyFact]) -> None:
        assert not self.facts
        self.facts += key_facts


class ListSink:
    """ProgressSink that keeps the messages, decoded."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []
        self.channels: list[str] = []
        self.lasts: list[bool] = []

    def send(self, message: str, *, last: bool, channel: str = CHANNEL) -> None:
        self.messages.append(json.loads(message))
        self.channels.append(channel)
        self.lasts.append(last)

    async def delivered(self) -> None:
        assert self.messages

    async def health(self) -> Readiness:
        return Readiness.ok()

    @property
    def phases(self) -> list[str]:
        """The phases in order."""
        return [m["phase"] for m in self.messages]


class StubGraph:
    """GraphStore that returns what it is given; an error in place of a value is raised.

    Queries are kept.
    """

    def __init__(
        self,
        primer: PrimerEvidence | Exception,
        followup: Callable[[FollowupQuery], Evidence | Exception] | Evidence = Evidence(),  # noqa: B008 - frozen
    ) -> None:
        self._primer = primer
        self._followup = followup
        self.primers: list[PrimerQuery] = []
        self.followups: list[FollowupQuery] = []

    async def primer(self, query: PrimerQuery, deadline: Deadline) -> tuple[Community, ...]:
        deadline.require()
        self.primers.append(query)
        with parts.round_trip():
            return _value(self._primer).communities

    async def has_topics(self, _project_id: str, deadline: Deadline) -> bool:
        deadline.require()
        return False

    async def topics(self, _query: PrimerQuery, deadline: Deadline) -> tuple[Community, ...]:
        deadline.require()
        return ()

    async def followup(self, query: FollowupQuery, deadline: Deadline) -> Candidates:
        deadline.require()
        self.followups.append(query)
        with parts.round_trip():
            found = self._followup(query) if callable(self._followup) else self._followup
            return unranked(_value(found))

    async def health(self) -> GraphHealth:
        return GraphHealth("stub", ())


class NoPassages:
    """PassageReader that knows of nothing."""

    async def about(self, project_id: str, deadline: Deadline) -> AboutProject:
        deadline.require()
        return AboutProject(project_id)

    async def whole(self, _query: WholeQuery, deadline: Deadline) -> WholeEvidence:
        deadline.require()
        return WholeEvidence()

    async def passages(self, _query: PassagesQuery, deadline: Deadline) -> Passages:
        deadline.require()
        return Passages()

    async def around(self, _query: PassagesQuery, deadline: Deadline) -> Surroundings:
        deadline.require()
        return Surroundings()


def unranked(evidence: Evidence) -> Candidates:
    """Return the candidates that are ranked to this evidence."""
    chunks = tuple(Candidate(c, 1 - place / 1000) for place, c in enumerate(evidence.chunks))
    return Candidates(chunks, evidence.relationships)


def _value(given: Any) -> Any:
    if isinstance(given, Exception):
        raise given
    return given


def chunk(name: str, text: str = "", document: str = "doc") -> Chunk:
    """Return a chunk; its text names it when none is given."""
    return Chunk(
        name, text or f"This is the text of {name}. It says a thing about {name}.", document
    )


def community(name: int | str, *members: Chunk, level: int = 1) -> Community:
    """Return a community with a summary that names it."""
    held = frozenset(chunk.id for chunk in members)
    return Community(name, level, f"Summary of {name}", members=held)


def request(query: str = "What is asked?", project_id: str = "p", **fields: Any) -> ProjectRequest:
    """Return a valid request."""
    return ProjectRequest(query=query, project_id=project_id, **fields)


def allowed(project_id: str = "p") -> Project:
    """Return a project as a caller gets it who may use every one."""
    return EVERYBODY.project(project_id)


def ports(graph: Any, chat: Any, embedder: Any = None) -> Ports:
    """Return the fakes as the search takes them."""
    return Ports(graph, chat, embedder or HashingEmbedder(), NoPassages())
