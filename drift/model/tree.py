"""The tree of follow-ups: questions, their answers with checked citations, and how each ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from drift.core.errors import DriftError, OutOfTokensError
from drift.model.graph import Beside, Chunk, CommunityId, Position

Verdict = Literal["answered", "partly", "not_found"]
"""Whether the evidence answers a question."""


class Proposal(NamedTuple):
    """A question as a model proposes it; `hint` are words to search with beside its own.

    `leads` are the chunks that are read for it before what it finds.
    """

    question: str
    communities: tuple[CommunityId, ...] = ()
    beside: tuple[Beside, ...] = ()
    hint: str = ""
    position: Position | None = None
    leads: tuple[Chunk, ...] = ()


@dataclass(frozen=True, slots=True)
class Question:
    """A follow-up question; `parent` is the follow-up that proposed it, None the primer."""

    id: int
    text: str
    communities: tuple[CommunityId, ...] = ()
    parent: int | None = None
    depth: int = 1
    beside: tuple[Beside, ...] = ()
    hint: str = ""
    position: Position | None = None
    leads: tuple[Chunk, ...] = ()


@dataclass(frozen=True, slots=True)
class Citation:
    """Evidence for a statement: `span` is verbatim text of the chunk.

    `sentences` are the numbers of the sentences in it, "4" or "4-5"; none if it is part of one.
    `at` is where the span begins in the chunk's text, in characters. Two citations of the same
    words of a chunk are one. `document_id` is empty where the graph does not say it.
    """

    chunk_id: str
    span: str
    document_name: str
    sentences: str = ""
    at: int = field(default=0, compare=False)
    document_id: str = field(default="", compare=False)

    @property
    def key(self) -> tuple[str, str]:
        """The identity of a citation: its chunk and its words."""
        return self.chunk_id, self.span

    @property
    def document(self) -> str:
        """The key of its document: its id, else its name."""
        return self.document_id or self.document_name


@dataclass(frozen=True, slots=True)
class Fact:
    """A checked citation with its number, how sure the answer was, and its place (`12 of 42`)."""

    number: int
    citation: Citation
    confidence: float = 0.0
    place: str = ""


@dataclass(frozen=True, slots=True)
class DroppedCitation:
    """A citation that does not hold: why, the chunk that it names, and its first characters."""

    reason: str
    chunk_id: str
    span: str


@dataclass(frozen=True, slots=True)
class CitationCounts:
    """Citations by result: kept, repaired to verbatim text, or dropped, by reason.

    `which` are the dropped ones, in order.
    """

    total: int = 0
    kept: int = 0
    repaired: int = 0
    dropped: Mapping[str, int] = field(default_factory=dict)
    which: tuple[DroppedCitation, ...] = field(default=(), compare=False)

    def __add__(self, other: CitationCounts) -> CitationCounts:
        """Sum of both."""
        return CitationCounts(
            self.total + other.total,
            self.kept + other.kept,
            self.repaired + other.repaired,
            Counter(self.dropped) + Counter(other.dropped),
            (*self.which, *other.which),
        )


@dataclass(frozen=True, slots=True)
class LocalAnswer:
    """A follow-up's answer with checked citations; the rest is the model's own judgement.

    It `is_of_another` where its evidence has only a part of a name that is asked for.
    """

    text: str
    citations: tuple[Citation, ...]
    confidence: float
    followups: tuple[Proposal, ...] = ()
    verdict: Verdict = "answered"
    is_of_another: bool = False


@dataclass(frozen=True, slots=True)
class FollowupState:
    """How a follow-up ended, or that it is asked; `reason` says why it was skipped or failed."""

    kind: Literal["asked", "answered", "no_evidence", "merged", "skipped", "failed"]
    reason: str = ""

    def __str__(self) -> str:
        """Return it as callers read it, `skipped: deadline`."""
        return f"{self.kind}: {self.reason}" if self.reason else self.kind

    @classmethod
    def failed_by(cls, error: DriftError) -> FollowupState:
        """Return the end of a question whose evidence could not be searched or read."""
        is_refused = isinstance(error, OutOfTokensError)
        return SKIPPED_TOKENS if is_refused else cls("failed", error.code)

    @property
    def is_cut_short(self) -> bool:
        """True where a failure or the deadline left the question unanswered."""
        return self.kind == "failed" or self == SKIPPED_DEADLINE


ASKED = FollowupState("asked")
"""Told while it is looked into; no node of the tree, which holds what has ended, is in it."""
ANSWERED = FollowupState("answered")
NO_EVIDENCE = FollowupState("no_evidence")
MERGED = FollowupState("merged")
SKIPPED_ENOUGH = FollowupState("skipped", "enough")
SKIPPED_UNPROVEN = FollowupState("skipped", "unproven")
"""Proposed by an answer that cites nothing, or is about somebody else."""
SKIPPED_BUDGET = FollowupState("skipped", "budget")
SKIPPED_DEADLINE = FollowupState("skipped", "deadline")
SKIPPED_TOKENS = FollowupState("skipped", "tokens")
"""The caller's own tokens leave room for the last call alone."""


@dataclass(frozen=True, slots=True)
class Node:
    """One follow-up of the tree as it ended, `seconds` after it could be asked."""

    question: Question
    state: FollowupState
    answer: LocalAnswer | None = None
    chunk_ids: tuple[str, ...] = ()
    seconds: float = 0.0


@dataclass(slots=True)
class Tree:
    """The finds of one request; `nodes` are the follow-ups that have ended, by their numbers."""

    nodes: dict[int, Node] = field(default_factory=dict)
    retrieved: dict[str, Chunk] = field(default_factory=dict)
    counts: CitationCounts = field(default_factory=CitationCounts)

    def take(
        self, node: Node, chunks: Iterable[Chunk], counts: CitationCounts | None = None
    ) -> None:
        """Take in a follow-up that has ended, with the chunks that it found."""
        self.nodes[node.question.id] = node
        self.keep(chunks)
        if counts:
            self.counts += counts

    def keep(self, chunks: Iterable[Chunk]) -> None:
        """Keep chunks as they were found last."""
        self.retrieved.update((chunk.id, chunk) for chunk in chunks)

    def in_order(self) -> list[Node]:
        """Return the follow-ups in the order in which they were proposed."""
        return [self.nodes[number] for number in sorted(self.nodes)]

    def citations(self) -> Iterator[Citation]:
        """Yield the checked citations of all answers, in the same order."""
        return cited_by(self.in_order())

    def longest_chain_s(self) -> float:
        """Return the seconds of the slowest follow-up together with those that led to it."""
        chains: dict[int | None, float] = {None: 0.0}
        for node in self.in_order():
            before = chains.get(node.question.parent, 0.0)
            chains[node.question.id] = before + node.seconds
        return max(chains.values())


def cited_by(nodes: Iterable[Node]) -> Iterator[Citation]:
    """Yield the checked citations that these follow-ups' answers hold, in their order."""
    for node in nodes:
        if node.answer:
            yield from node.answer.citations
