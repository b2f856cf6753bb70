"""Pure: the answer as it is delivered: sentences that stand on checked facts, and a verdict."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from drift.answering.marks import without_marks
from drift.answering.statements import Statement, from_answers, proven
from drift.answering.unmarked import repaired
from drift.answering.verdict import judged
from drift.contracts.replies import AggregateReply
from drift.values.tree import Fact, Node, Verdict

NOT_FOUND = "The documents do not answer this question."


@dataclass(frozen=True, slots=True)
class Conclusion:
    """The final answer, the sentences that it is made of, and whether it answers.

    `left_out` counts sentences that no fact bears out.
    """

    text: str = NOT_FOUND
    statements: tuple[Statement, ...] = ()
    left_out: int = 0
    verdict: Verdict = "not_found"
    confidence: float = 0.0
    uncertainty: tuple[str, ...] = ()


def concluded(
    question: str,
    reply: AggregateReply,
    facts: Sequence[Fact],
    nodes: Sequence[Node],
    shown: Iterable[str],
) -> Conclusion:
    """Return what a reply says, as far as the facts bear it out; `shown` are all texts shown.

    A reply that names no fact at all keeps the sentences whose words stand in one; when nothing is
    left of an answer, the follow-ups' own answers stand for it.
    """
    made = proven(reply.final_answer, facts)
    if not made.statements:
        made = repaired(reply.final_answer, facts)
    if not made.statements and reply.verdict != "not_found":
        made = from_answers(nodes, facts)

    still_open = without_marks(reply.residual_uncertainty, {fact.number for fact in facts})
    verdict = judged(question, reply.verdict, made.statements, shown)
    return Conclusion(
        made.text if made.statements else NOT_FOUND,
        made.statements,
        len(made.left_out) if made.statements else 0,
        verdict.verdict,
        verdict.confidence,
        tuple(filter(None, (still_open, verdict.overruled))),
    )
