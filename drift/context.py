"""Pure: what was found as rows of a prompt, with short handles in place of ids."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import Any, Generic, TypeVar

from drift.tokens import cut
from drift.values.graph import Chunk, Community, Evidence, Relationship
from drift.values.tree import Answer, Node, Question

MAX_SUMMARIES_CHARACTERS = 24_000
"""Summaries in one prompt: many communities get shorter ones."""
MAX_SUMMARY_CHARACTERS = 1_500
MAX_NEIGHBORHOOD_ITEMS = 6
MAX_DESCRIPTION_CHARACTERS = 240
MAX_HEADING_CHARACTERS = 200
MAX_SETTLED_CHARACTERS = 300
MAX_LOWER_COMMUNITIES = 4
MAX_LOWER_SUMMARY_CHARACTERS = 500

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
        """Return the key that a model meant by a handle or by the real id; None without one."""
        name = text.strip().strip("[]").strip()
        prefix, number = name[: len(self.prefix)], name[len(self.prefix) :]
        if prefix.upper() == self.prefix and number.isascii() and number.isdigit():
            position = int(number[:9]) - 1
            if 0 <= position < len(self.keys):
                return self.keys[position]
        return next((key for key in self.keys if str(key) in {name, text}), None)

    def resolved(self, names: Iterable[str]) -> tuple[Key, ...]:
        """Return the distinct keys that these names mean, in order, without names of no key."""
        keys = (self.resolve(name) for name in names)
        return tuple(dict.fromkeys(key for key in keys if key is not None))


def community_rows(
    communities: Sequence[Community],
    handles: Handles[int | str],
    characters: int = MAX_SUMMARY_CHARACTERS,
) -> list[dict[str, Any]]:
    """Return communities as prompt rows `{id, level, summary}`; many get shorter summaries."""
    most = min(characters, MAX_SUMMARIES_CHARACTERS // max(1, len(communities)))
    return [
        {"id": handles.short(c.id), "level": c.level, "summary": cut(c.summary, most)}
        for c in communities
    ]


def samples(
    communities: Sequence[Community], chunks: Sequence[Chunk], handles: Handles[int | str]
) -> dict[str, tuple[Chunk, str | None]]:
    """Return sample chunks by their id, each with the handle of its community.

    The communities take turns, so that each of them has a sample before one has two. Chunks of no
    community come last.
    """
    placed: dict[str, tuple[Chunk, str | None]] = {}
    columns = [[(s, handles.short(c.id)) for s in c.samples] for c in communities]
    for turn in chain.from_iterable(zip_longest(*columns)):
        if turn:
            placed.setdefault(turn[0].id, turn)
    for chunk in chunks:
        placed.setdefault(chunk.id, (chunk, None))
    return placed


def sample_rows(
    shown: Sequence[Chunk], placed: Mapping[str, tuple[Chunk, str | None]]
) -> list[dict[str, Any]]:
    """Return samples as prompt rows `{id, community, document, heading, place, text}`."""
    return [
        {"id": f"K{number}", "community": placed[chunk.id][1], **_shown(chunk)}
        for number, chunk in enumerate(shown, start=1)
    ]


def chunk_rows(chunks: Sequence[Chunk], handles: Handles[str]) -> list[dict[str, Any]]:
    """Return chunks as prompt rows `{id, document, heading, place, text}`.

    A chunk without headings, or of no known place, has no such field.
    """
    return [{"id": handles.short(c.id), **_shown(c)} for c in chunks]


def _shown(chunk: Chunk) -> dict[str, Any]:
    row = {"document": chunk.document_name}
    if chunk.heading:
        row["heading"] = cut(chunk.heading, MAX_HEADING_CHARACTERS)
    if chunk.place and chunk.places:
        row["place"] = f"{chunk.place} of {chunk.places}"
    return row | {"text": chunk.text}


def in_reading_order(chunks: Sequence[Chunk]) -> tuple[Chunk, ...]:
    """Return chunks, given best first, so that those of one document stand in its order.

    Documents follow each other by their best chunk. Chunks of no known place stay as they are.
    """
    # Two documents may have one name; most of them differ in how many chunks they have.
    documents = list(dict.fromkeys((chunk.document_name, chunk.places) for chunk in chunks))

    def place(chunk: Chunk) -> tuple[int, int]:
        return documents.index((chunk.document_name, chunk.places)), chunk.place or 0

    return tuple(sorted(chunks, key=place))


def neighbourhood(evidence: Sequence[Evidence]) -> dict[str, Any]:
    """Return the entities and relationships that have a description, as plain values, bounded.

    Of several follow-ups, the first one's come first. Two entities have one relationship, the first
    of those that the graph found.
    """
    found = {e.id: e for one in evidence for e in one.entities if e.description.strip()}
    entities = list(found.values())
    pairs: dict[frozenset[str], Relationship] = {}
    for relation in chain.from_iterable(one.relationships for one in evidence):
        if relation.description.strip():
            pairs.setdefault(frozenset((relation.source, relation.target)), relation)
    return {
        "entities": [
            {"title": e.title, "description": cut(e.description, MAX_DESCRIPTION_CHARACTERS)}
            for e in entities[:MAX_NEIGHBORHOOD_ITEMS]
        ],
        "relationships": [
            {
                "source": r.source,
                "target": r.target,
                "description": cut(r.description, MAX_DESCRIPTION_CHARACTERS),
            }
            for r in list(pairs.values())[:MAX_NEIGHBORHOOD_ITEMS]
        ],
    }


def communities_of(evidence: Sequence[Evidence]) -> tuple[Community, ...]:
    """Return the lower communities of several follow-ups, each once, theirs in turns, bounded."""
    turns = chain.from_iterable(zip_longest(*(one.communities for one in evidence)))
    distinct = {community.id: community for community in turns if community}
    return tuple(distinct.values())[:MAX_LOWER_COMMUNITIES]


def settled_rows(nodes: Sequence[Node], handles: Handles[str]) -> list[dict[str, Any]]:
    """Return follow-ups that are answered as prompt rows `{question, answer, citations}`."""
    return [
        {
            "question": node.question.text,
            "answer": cut(node.answer.text, MAX_SETTLED_CHARACTERS),
            "citations": _citation_rows(node.answer, handles),
        }
        for node in nodes
        if node.answer
    ]


def tree(initial_answer: str, nodes: Sequence[Node], handles: Handles[str]) -> dict[str, Any]:
    """Return the answered follow-ups as the aggregator gets them, best confidence first."""
    answered = [(node.question, node.answer) for node in nodes if node.answer]
    answered.sort(key=lambda pair: (-pair[1].confidence, pair[0].id))
    return {
        "initial_answer": initial_answer,
        "followups": [_answered_row(question, answer, handles) for question, answer in answered],
    }


def _answered_row(question: Question, answer: Answer, handles: Handles[str]) -> dict[str, Any]:
    return {
        "question": question.text,
        "answer": answer.text,
        "confidence": round(answer.confidence, 2),
        "citations": _citation_rows(answer, handles),
    }


def _citation_rows(answer: Answer, handles: Handles[str]) -> list[dict[str, str]]:
    return [{"chunk_id": handles.short(c.chunk_id), "span": c.span} for c in answer.citations]
