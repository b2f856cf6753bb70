"""The calls of an ingestion to its models: how many a minute, and what they took.

The command makes every call, on however many workers: one clock in it is the limit of them all. A
call that a model's client repeats after a refusal is not counted again.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from drift.core.deadline import Deadline
from drift.core.errors import UnusableReplyError
from drift.local.ingest.by_model.asking import Asked
from drift.local.ingest.by_model.estimate import CHARACTERS_A_TOKEN
from drift.model.calls import ChatReply, Embeddings, ModelName, Prompt, Spending, Tokens
from drift.nodes.embedding_calls import TEXTS_A_CALL
from drift.ports import Embedder


@dataclass(slots=True)
class Pace:
    """Lets so much through a minute, evenly; 0 for all of it at once."""

    a_minute: int = 0
    _next: float = field(default=0.0, init=False)

    def begin(self, amount: int) -> float:
        """Return when what takes this much may begin, by the monotonic clock."""
        if not self.a_minute:
            return 0.0
        begin = max(time.monotonic(), self._next)
        self._next = begin + amount * 60 / self.a_minute
        return begin


@dataclass(frozen=True, slots=True)
class Paced:
    """An embedder and a chat model whose calls wait for their turn, within both paces.

    Tokens are guessed by characters; what the provider counts beyond that makes the next ones wait.
    `spent` adds up what it counts, under the names of the chat model and of the embedding model.
    """

    chat: Asked
    embedder: Embedder
    calls: Pace = field(default_factory=Pace)
    tokens: Pace = field(default_factory=Pace)
    names: tuple[str, str] = ("", "")
    spent: Spending = field(default_factory=Spending)

    async def embed(self, texts: Sequence[str], deadline: Deadline) -> Embeddings:
        """Return one vector a text, in order; errors as for the port."""
        guessed = sum(map(len, texts)) // CHARACTERS_A_TOKEN
        calls = -(-len(texts) // TEXTS_A_CALL)
        made = await self.embedder.embed(texts, await self._turn(calls, guessed, deadline))
        self._count(self.names[1], made.tokens, guessed)
        return made

    async def complete(self, prompt: Prompt, deadline: Deadline) -> ChatReply:
        """Return the model's reply; errors as for the port."""
        guessed = (len(prompt.system) + len(prompt.user)) // CHARACTERS_A_TOKEN
        turn = await self._turn(1, guessed, deadline)
        try:
            reply = await self.chat.complete(prompt, turn)
        except UnusableReplyError:
            self.spent.uncounted += 1
            raise
        self._count(self.names[0], reply.tokens, guessed)
        return reply

    def _count(self, name: str, tokens: Tokens, guessed: int) -> None:
        self.spent.answered(ModelName("", name), tokens)
        self.tokens.begin(max(0, tokens.prompt + tokens.completion - guessed))

    async def _turn(self, calls: int, tokens: int, deadline: Deadline) -> Deadline:
        """Wait for a turn, which is no part of the call's own time."""
        begin = max(self.calls.begin(calls), self.tokens.begin(tokens))
        await asyncio.sleep(begin - time.monotonic())
        return Deadline.after(deadline.total_s)
