"""Pure: the answer as it is delivered: sentences that stand on checked facts, and a verdict."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from drift.contracts.final_replies import AggregateReply, SentenceReply
from drift.contracts.marked_prose import without_marks
from drift.core.logs import log
from drift.core.sentence_ends import split_sentences
from drift.evidence.answer_statements import Proven, Statement, proven
from drift.evidence.text import form, is_same_question
from drift.evidence.verdict import NOT_IN_THE_CONTEXT, judged
from drift.model.tree import Citation, Fact, Node, Verdict, cited_by
from drift.prompting.findings import numbered_facts, surest_first, with_finds
from drift.prompting.tokens import cut

NOT_FOUND = "The documents do not answer this question."
FINDINGS_STAND = (
    "The last reading saw no answer in this; what the follow-up questions found stands."
)
NOT_PUT_TOGETHER = (
    "The final answer could not be written because of a failure; what the follow-up questions"
    " found stands for it."
)


@dataclass(frozen=True, slots=True)
class Conclusion:
    """The final answer, the sentences that it is made of, and whether it answers.

    `left_out` counts sentences that no fact bears out. An answer that was not found has no
    sentences; `near` are the passages that came nearest to one.
    """

    text: str = NOT_FOUND
    statements: tuple[Statement, ...] = ()
    left_out: int = 0
    verdict: Verdict = "not_found"
    confidence: float = 0.0
    uncertainty: tuple[str, ...] = ()
    near: tuple[Citation, ...] = ()


def conclude(
    question: str,
    reply: AggregateReply,
    facts: Sequence[Fact],
    nodes: Sequence[Node],
    shown: Iterable[str],
) -> Conclusion:
    """Return a reply as far as the facts bear it out; `shown` are all texts that a model saw.

    When nothing is left of an answer, the follow-ups' own answers stand for it. So they do, in
    part, when the reply has found nothing and they have (`_voided`).
    """
    _tell_unmatched(reply.sentences, facts)
    made = proven(reply.sentences, facts)
    if not made.statements and reply.verdict != "not_found":
        made = from_answers(nodes, facts)

    still_open = _news(without_marks(reply.residual_uncertainty), question)
    if reply.verdict != "not_found":
        return _judged(question, reply.verdict, made, nodes, shown, still_open)
    if found := _voided(question, nodes, is_explained=bool(made.statements)):
        standing = joined_answers(found, numbered_facts(found, {}))
        return _judged(question, "partly", standing, nodes, shown, still_open, FINDINGS_STAND)

    nearest = " ".join(statement.text for statement in made.statements)
    said = f"What comes nearest: {cut(nearest, 600)}" if nearest else ""
    return _judged(question, "not_found", made, nodes, shown, still_open, said)


def _tell_unmatched(sentences: Iterable[SentenceReply], facts: Sequence[Fact]) -> None:
    """Log the numbers of an answer that lead to no fact, and so to no chunk."""
    known = {fact.number for fact in facts}
    unmatched = dict.fromkeys(n for one in sentences for n in one.facts if n not in known)
    if unmatched:
        named = ", ".join(map(str, list(unmatched)[:10]))
        about = {"facts": named, "unmatched": len(unmatched), "known": len(known)}
        log.warning("citation_enrichment_unmatched_chunk_id", extra=about)


def _news(still_open: str, question: str) -> str:
    """Return the open points, without a sentence that only repeats the question."""
    asked = form(question)
    if not asked or asked not in form(still_open):
        return still_open
    return " ".join(
        said
        for said in split_sentences(still_open)
        # So few letters tell nothing beside it: "The text found does not answer: …".
        if asked not in form(said) or len(form(said)) > len(asked) + 40
    )


def without_last_call(question: str, nodes: Sequence[Node], shown: Iterable[str]) -> Conclusion:
    """Return the follow-ups' own answers where the last reply is unusable: in part at most."""
    found = with_finds(nodes)
    standing = joined_answers(found, numbered_facts(found, {}))
    said: Verdict = "partly" if found else "not_found"
    return _judged(question, said, standing, nodes, shown, NOT_PUT_TOGETHER)


def _judged(
    question: str,
    said: Verdict,
    made: Proven,
    nodes: Sequence[Node],
    shown: Iterable[str],
    *uncertain: str,
) -> Conclusion:
    verdict = judged(question, said, made.statements, shown)
    uncertainty = tuple(filter(None, (*uncertain, verdict.overruled)))
    if verdict.verdict == "not_found":
        named = (fact.citation for statement in made.statements for fact in statement.facts)
        near = tuple(dict.fromkeys(named)) or tuple(dict.fromkeys(cited_by(surest_first(nodes))))
        return Conclusion(uncertainty=uncertainty, near=near[:8])

    return Conclusion(
        made.text,
        made.statements,
        len(made.left_out),
        verdict.verdict,
        verdict.confidence,
        uncertainty,
    )


def _voided(question: str, nodes: Sequence[Node], *, is_explained: bool) -> list[Node]:
    """Return the findings that stand although the last reply says `not_found`.

    A follow-up that settles a part, or that asks the question itself, has found some of what is
    asked. Others may be links before the last one of a chain: of these the reply is believed when
    it names the facts that it found too little. So it is where each finding is so unsure that it
    says itself that its evidence does not answer: to a weak model every sentence settles a part.
    What one look has said (depth 0) stands in any case.
    """
    found = with_finds(nodes)
    sure = [
        (node, node.answer)
        for node in found
        if node.answer and (node.answer.confidence >= NOT_IN_THE_CONTEXT or not node.question.depth)
    ]
    settles = (
        answer.verdict == "partly" or is_same_question(node.question.text, question)
        for node, answer in sure
    )

    return found if sure and (any(settles) or not is_explained) else []


# ----------------------------------------------------------------- the follow-ups' own answers


def from_answers(nodes: Sequence[Node], facts: Sequence[Fact]) -> Proven:
    """Return a final answer made of the follow-ups' own answers that have checked citations.

    Answers in part stand in it when there are no others; none that found nothing does.
    """
    for verdict in ("answered", "partly"):
        some = [node for node in nodes if node.answer and node.answer.verdict == verdict]
        if (made := joined_answers(some, facts)).statements:
            return made
    return Proven()


def joined_answers(nodes: Iterable[Node], facts: Sequence[Fact]) -> Proven:
    """Return the answers of these follow-ups that bring citations of their own, as paragraphs."""
    by_span = {fact.citation.key: fact for fact in reversed(facts)}
    told: set[Fact] = set()
    statements: dict[str, Statement] = {}
    again: list[Statement] = []
    for answer in (node.answer for node in nodes if node.answer and node.answer.text.strip()):
        cited = dict.fromkeys(one.key for one in answer.citations)
        said = Statement(answer.text.strip(), tuple(by_span[s] for s in cited if s in by_span))
        if said.text in statements:
            again.append(said)
        elif not told.issuperset(said.facts):
            told.update(said.facts)
            statements[said.text] = said

    for said in again:
        first = statements[said.text]
        more = tuple(fact for fact in said.facts if fact not in told)
        told.update(more)
        statements[said.text] = replace(first, facts=first.facts + more)

    return _paragraphs(statements.values())


def _paragraphs(statements: Iterable[Statement]) -> Proven:
    text = ""
    placed = []
    for statement in statements:
        text += f"\n\n{statement.text}" if text else statement.text
        placed.append(replace(statement, ends=len(text)))
    return Proven(text, tuple(placed))
