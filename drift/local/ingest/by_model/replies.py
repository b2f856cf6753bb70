"""What a model replied, kept so that nothing is paid twice.

A reply stands under what asked for it (its kind), the model, and the texts that it was made of.
It is kept while most of these texts are in the project.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence

from drift.graph.writing.records import ModelReply

STAYS = 0.8
"""The share of its texts with which a reply still holds."""

Keep = Callable[[Sequence[ModelReply]], Awaitable[None]]


def part_of(text: str) -> str:
    """Return what names a text among those that a reply was made of."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


class Replies:
    """The replies that a project has; those of `model`, or of any where no model is asked."""

    def __init__(self, held: Iterable[ModelReply], keep: Keep, model: str | None) -> None:
        """Know the replies; `keep` stores a new one."""
        self._keep = keep
        self._model = model
        self._of_texts: dict[tuple[str, frozenset[str]], ModelReply] = {}
        self._known: list[ModelReply] = []
        self._by_part: dict[tuple[str, str], list[int]] = {}
        for reply in held:
            if model in {None, reply.model}:
                self._know(reply)

    def _know(self, reply: ModelReply) -> None:
        self._of_texts[reply.kind, frozenset(reply.parts)] = reply
        for part in reply.parts:
            self._by_part.setdefault((reply.kind, part), []).append(len(self._known))
        self._known.append(reply)

    def find(self, kind: str, parts: Iterable[str]) -> str | None:
        """Return the reply that was made of these texts, or of nearly the same."""
        wanted = frozenset(parts)
        if exact := self._of_texts.get((kind, wanted)):
            return exact.text

        shared: Counter[int] = Counter()
        for part in wanted:
            shared.update(self._by_part.get((kind, part), ()))
        for number, same in shared.most_common(1):
            reply = self._known[number]
            if same >= STAYS * max(len(wanted), len(reply.parts)):
                return reply.text

        return None

    async def add(self, kind: str, texts: Iterable[tuple[Iterable[str], str]], tokens: int) -> None:
        """Keep what one call said of these texts, and the tokens that it took, with the first."""
        new: list[ModelReply] = []
        for parts, text in texts:
            named = tuple(sorted(set(parts)))
            new.append(ModelReply(kind, self._model or "", named, text, 0 if new else tokens))
        await self._keep(new)
        for reply in new:
            self._know(reply)


def outdated(
    held: Iterable[ModelReply], kinds: Collection[str], parts: Iterable[str]
) -> tuple[str, ...]:
    """Return the keys of replies of which the texts are gone, or that are of none of the kinds."""
    there = frozenset(parts)
    return tuple(
        reply.key
        for reply in held
        if reply.kind not in kinds
        or sum(part in there for part in reply.parts) < STAYS * len(reply.parts)
    )
