"""What explains an answer: where its time went, what was found, and what became of each passage.

It tells of passages that the caller may read alone, and holds no text of them beside the first
characters of citations that were dropped.
"""

from __future__ import annotations

import operator
from typing import Literal

from pydantic import BaseModel, Field

from drift.contracts.body import is_unknown
from drift.model.graph import Via
from drift.model.tree import DroppedCitation

MOST_LOOKS, MOST_PASSAGES, MOST_CALLS, MOST_DROPPED = 40, 60, 200, 50
"""Bounds of what is told: searches, passages of each, calls, and citations that were dropped."""

CallKind = Literal["chat", "embedder", "reranker", "graph", "passages"]
"""Which server was asked; `passages` are reads of the graph besides its searches."""
Fate = Literal["cited", "noted", "shown", "unread", "budget", "place", "duplicate", "pool"]
"""What became of a passage: the answer cites it, or is it where evidence alone is asked for; a
follow-up alone cites it; a prompt shows it; a prompt has place for it, and no call read it; it did
not fit into the prompt; it stands behind the passages that a prompt takes; it repeats a better one;
it was not kept of what was found."""


class CallOut(BaseModel):
    """A call to a server, by the prompt's name or what was asked of it, with its retries.

    `error` is the code of a call that failed. Tokens are as the provider reported them.
    """

    kind: CallKind
    name: str
    seconds: float
    model: str = Field(default="", exclude_if=operator.not_)
    prompt_tokens: int = Field(default=0, exclude_if=operator.not_)
    completion_tokens: int = Field(default=0, exclude_if=operator.not_)
    retries: int = Field(default=0, exclude_if=operator.not_)
    error: str = Field(default="", exclude_if=operator.not_)


class WayOut(BaseModel):
    """The rank of a passage among what was found, by one way, from 1, and its score there."""

    way: Literal["vector", "text", "walk", "reranker"]
    rank: int
    score: float | None = Field(default=None, exclude_if=is_unknown)


class FoundPassage(BaseModel):
    """A passage as one search found it; `rank` is that of all ways together, if it has one.

    A vector's score is the cosine, a walk's the mass that it brought, and a
    reranker's on its own scale.
    """

    chunk_id: str
    document_name: str
    rank: int | None
    fate: Fate
    via: tuple[Via, ...]
    ways: tuple[WayOut, ...]


class LookOut(BaseModel):
    """One search: its question, the words of it that were looked for, and what was found.

    `names` are the parts of titles that it may name, `unread_words` the words that might decide
    alone, of which few passages have one and none that was shown has any of these.
    """

    question: str
    words: tuple[str, ...]
    names: tuple[str, ...]
    unread_words: tuple[str, ...]
    passages: tuple[FoundPassage, ...]


class HeldOut(BaseModel):
    """What of the project the request could read, and the documents changed since its topics.

    With a filter, changes are not counted.
    """

    documents: int
    chunks: int
    is_filtered: bool
    behind: int


class ExplainOut(BaseModel):
    """What an answer came from.

    `bounds` are the settings of this search, and `lost` the steps without which it went on. `held`
    is null where it cannot be read.
    """

    seconds: float
    phases: dict[str, float]
    calls: list[CallOut]
    looks: list[LookOut]
    dropped: list[DroppedCitation]
    lost: list[str]
    bounds: dict[str, int]
    held: HeldOut | None
