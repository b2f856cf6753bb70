"""What fits into a prompt: bounded chunks, the neighbourhood as plain values, and short handles in place of ids."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from drift.values.graph import Chunk, Community, Evidence
from drift.values.tree import Node

MAX_PROMPT_CHARACTERS = 24_000
"""Retrieved text in one prompt, about 6,000 tokens."""
MAX_SUMMARY_CHARACTERS = 1_500
MAX_NEIGHBOR_CHUNKS = 3
MAX_NEIGHBOR_CHARACTERS = 6_000
MAX_NEIGHBORHOOD_ITEMS = 20
MAX_DESCRIPTION_CHARACTERS = 500

Key = TypeVar("Key", int, str, int | str)


@dataclass(frozen=True, slots=True)
class Handles(Generic[Key]):
    """Short names for ids within one prompt (`C1`, `K1`, ...), and the way back."""

    prefix: str
    keys: tuple[Key, ...]

    @classmethod
    def of(cls, prefix: str, keys: Iterable[Key]) -> Handles[Key]:
        """Number the distinct keys in order."""
        return cls(prefix, tuple(dict.fromkeys(keys)))

    def short(self, key: Key) -> str:
        """Return the handle of a key that is among them."""
        return f"{self.prefix}{self.keys.index(key) + 1}"

    def all_short(self) -> list[str]:
        """Return every handle in order."""
        return [f"{self.prefix}{number}" for number in range(1, len(self.keys) + 1)]

    def resolve(self, text: str) -> Key | None:
        """Return the key that a model meant by a handle or by the real id.

        None when there is no such key.
        """
        name = text.strip().strip("[]").strip()
        number = name[len(self.prefix) :]
        if (
            name[: len(self.prefix)].upper() == self.prefix
            and number.isascii()
            and number.isdigit()
        ):
            position = int(number[:9]) - 1
            if 0 <= position < len(self.keys):
                return self.keys[position]
        return next((key for key in self.keys if str(key) in {name, text}), None)

    def resolved(self, names: Iterable[str]) -> tuple[Key, ...]:
        """Return the distinct keys that these names mean, in order.

        A name that means none is left out.
        """
        keys = (self.resolve(name) for name in names)
        return tuple(dict.fromkeys(key for key in keys if key is not None))


def fit(
    chunks: Sequence[Chunk], most: int, characters: int = MAX_PROMPT_CHARACTERS
) -> tuple[Chunk, ...]:
    """Return the leading chunks that fit.

    At most `most`, at most `characters` of text in all, at least one, cut if it must be.
    """
    taken: list[Chunk] = []
    for chunk in chunks[:most]:
        if len(chunk.text) > characters:
            if not taken:
                taken.append(
                    Chunk(chunk.id, chunk.text[:characters], chunk.document_name, chunk.score)
                )
            break
        characters -= len(chunk.text)
        taken.append(chunk)
    return tuple(taken)


def community_rows(
    communities: Sequence[Community], handles: Handles[int | str]
) -> list[dict[str, Any]]:
    """Return communities as prompt rows `{id, level, summary}`.

    The more there are, the shorter each summary.
    """
    most = min(MAX_SUMMARY_CHARACTERS, MAX_PROMPT_CHARACTERS // max(1, len(communities)))
    return [
        {"id": handles.short(c.id), "level": c.level, "summary": c.summary[:most]}
        for c in communities
    ]


def sample_rows(
    communities: Sequence[Community], chunks: Sequence[Chunk], handles: Handles[int | str]
) -> list[dict[str, Any]]:
    """Return sample chunks as prompt rows `{id, community, document, text}`.

    Each chunk once, numbered in order.
    """
    placed = {
        s.id: (s, handles.short(c.id)) for c in reversed(communities) for s in reversed(c.samples)
    }
    rows = [
        *reversed(placed.values()),
        *((chunk, None) for chunk in chunks if chunk.id not in placed),
    ]
    shown = fit([chunk for chunk, _ in rows], len(rows))
    return [
        {
            "id": f"K{number}",
            "community": community,
            "document": chunk.document_name,
            "text": chunk.text,
        }
        for number, (chunk, (_, community)) in enumerate(zip(shown, rows, strict=False), start=1)
    ]


def chunk_rows(chunks: Sequence[Chunk], handles: Handles[str]) -> list[dict[str, Any]]:
    """Return chunks as prompt rows `{id, document, text}`."""
    return [
        {"id": handles.short(c.id), "document": c.document_name, "text": c.text} for c in chunks
    ]


def neighbourhood(
    evidence: Evidence, handles: Handles[str], neighbors: Sequence[Chunk]
) -> dict[str, Any]:
    """Return entities, relationships and neighbour chunks as plain values, bounded."""
    return {
        "entities": [
            {"title": e.title, "description": e.description[:MAX_DESCRIPTION_CHARACTERS]}
            for e in evidence.entities[:MAX_NEIGHBORHOOD_ITEMS]
        ],
        "relationships": [
            {
                "source": r.source,
                "target": r.target,
                "description": r.description[:MAX_DESCRIPTION_CHARACTERS],
            }
            for r in evidence.relationships[:MAX_NEIGHBORHOOD_ITEMS]
        ],
        "chunks": chunk_rows(neighbors, handles),
    }


def tree(initial_answer: str, nodes: Sequence[Node], handles: Handles[str]) -> dict[str, Any]:
    """Return the answered part of the Q/A tree as the aggregator gets it, best confidence first."""
    answered = sorted(
        (n for n in nodes if n.answer),
        key=lambda n: (-(n.answer.confidence if n.answer else 0), n.question.id),
    )
    return {
        "initial_answer": initial_answer,
        "followups": [
            {
                "question": node.question.text,
                "answer": node.answer.text,
                "confidence": round(node.answer.confidence, 2),
                "citations": [
                    {"chunk_id": handles.short(c.chunk_id), "span": c.span}
                    for c in node.answer.citations
                ],
            }
            for node in answered
            if node.answer
        ],
    }
