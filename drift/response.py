"""Pure: the answer to a caller, made of the model's last reply and the tree of follow-ups."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from drift.citations import enrich
from drift.context import Handles
from drift.contracts.answer import CitationCountsOut, KeyFact, TraceNode, TraceOut
from drift.contracts.replies import FactReply
from drift.values.graph import Chunk, PrimerEvidence
from drift.values.tree import SKIPPED_DEADLINE, Citation, CitationCounts, Node


def checked_citations(nodes: Sequence[Node]) -> Iterator[Citation]:
    """Yield the citations that the follow-ups' answers hold, in the order of the tree."""
    for node in nodes:
        if node.answer:
            yield from node.answer.citations


def cited_chunks(nodes: Sequence[Node]) -> Handles[str]:
    """Number the chunks that hold checked citations, in the order of the tree."""
    return Handles.of("K", (citation.chunk_id for citation in checked_citations(nodes)))


def key_facts(
    facts: Sequence[FactReply], nodes: Sequence[Node], retrieved: Mapping[str, Chunk]
) -> list[KeyFact]:
    """Return the facts with their citations, without those that cite nothing."""
    handles = cited_chunks(nodes)
    checked = list(checked_citations(nodes))

    kept = []
    for fact in facts:
        ids = [(written, handles.resolve(written)) for written in fact.citations if written.strip()]
        enriched = enrich(fact.fact, ids, checked, retrieved)
        if enriched and fact.fact:
            kept.append(KeyFact(fact=fact.fact, citations=enriched))
    return kept


def caveats(nodes: Sequence[Node], uncited: int) -> list[str]:
    """Say what a reader of the answer must know: what was cut short, what failed, what is unproved.

    `uncited` is the number of facts that were left out because they cite nothing.
    """
    states = [node.state for node in nodes]
    late = states.count(SKIPPED_DEADLINE)
    failed = sum(state.kind == "failed" for state in states)

    said = []
    if late:
        said.append(
            f"The time limit ended the search before {late} follow-up question(s) were answered."
        )
    if failed:
        said.append(f"{failed} follow-up question(s) could not be answered because of a failure.")
    if uncited:
        said.append(f"{uncited} statement(s) without any evidence were left out.")
    if not any(checked_citations(nodes)):
        said.append("No statement could be backed by a citation.")
    return said


def trace_of(
    initial_answer: str, found: PrimerEvidence, nodes: Sequence[Node], counts: CitationCounts
) -> TraceOut:
    """Return how the answer came about."""
    return TraceOut(
        initial_answer=initial_answer,
        communities=[community.id for community in found.communities],
        followups=[_traced(node) for node in nodes],
        citations=CitationCountsOut(
            total=counts.total,
            kept=counts.kept,
            repaired=counts.repaired,
            dropped=dict(counts.dropped),
        ),
    )


def _traced(node: Node) -> TraceNode:
    question = node.question
    return TraceNode(
        id=question.id,
        parent=question.parent,
        question=question.text,
        target_communities=list(question.communities),
        pass_=question.depth,
        confidence=node.answer.confidence if node.answer else None,
        state=str(node.state),
        chunk_ids=list(node.chunk_ids),
        seconds=node.seconds,
    )
