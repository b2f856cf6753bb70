"""Pure: whether a question was answered, as a program reads it: the model's word, and code's."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from drift.evidence.answer_statements import Statement
from drift.evidence.missing_names import unseen_name
from drift.model.tree import Verdict

MOST_OF_PARTLY = 0.5  # confidence of a question that is answered in part, at most
NOT_IN_THE_CONTEXT = 0.3  # an answer with less said itself that the context does not hold it


@dataclass(frozen=True, slots=True)
class Judged:
    """The verdict, 0..1 how well, and why code overruled the model, as a sentence, else empty."""

    verdict: Verdict
    confidence: float
    overruled: str = ""


def judged(
    question: str, said: Verdict, statements: Sequence[Statement], shown: Iterable[str]
) -> Judged:
    """Return the verdict on a final answer of which these statements were kept.

    `shown` is every text that a model was shown for the question: chunks with their headings and
    document names, and summaries. A `not_found` stands here, whatever the statements say: they tell
    what was found instead. Where follow-ups found something all the same, `conclude` says `partly`.
    """
    if said == "not_found":
        return Judged("not_found", 0.0)
    if not statements:
        reason = "No sentence of the answer could be backed by a document, so it is not found."
        return Judged("not_found", 0.0, reason)
    if name := unseen_name(question, shown):
        reason = f"Nothing that was found mentions {name[:100]}."
        return Judged("not_found", 0.0, reason)

    best = max(fact.confidence for statement in statements for fact in statement.facts)
    if said == "answered" and best < NOT_IN_THE_CONTEXT:
        reason = "The answer stands only on passages that do not answer the question directly."
        return Judged("partly", confidence_of(statements), reason)

    confidence = confidence_of(statements)
    return Judged(said, confidence if said == "answered" else min(confidence, MOST_OF_PARTLY))


def confidence_of(statements: Sequence[Statement]) -> float:
    """Return how sure the evidence is: the mean over statements of their facts' mean confidence."""
    if not statements:
        return 0.0
    means = [sum(fact.confidence for fact in one.facts) / len(one.facts) for one in statements]
    return round(sum(means) / len(means), 2)
