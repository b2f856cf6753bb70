"""Pure: the answer to a caller, made of the model's last reply and the tree of follow-ups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from drift.answer.conclusion import Conclusion
from drift.answer.references import numbered, numbers_of, page_of, without_references
from drift.contracts.answer import (
    CitationCountsOut,
    CitationOut,
    DepthOut,
    EndedBy,
    KeyFact,
    ReferencesOut,
    RetrieveResponse,
    TraceNode,
    TraceOut,
    VerdictOut,
)
from drift.contracts.replies import PrimerReply
from drift.contracts.request import Include
from drift.evidence.answer_statements import Statement
from drift.model.graph import Chunk, PrimerEvidence
from drift.model.tree import SKIPPED_DEADLINE, Citation, Node, Tree, cited_by
from drift.prompting.elements import place_of


@dataclass(frozen=True, slots=True)
class Searched:
    """The course of a search; `first` and `found` are the primer's and stay empty for one look."""

    depth: DepthOut
    tree: Tree = field(default_factory=Tree)
    first: PrimerReply = field(default_factory=PrimerReply.empty)
    found: PrimerEvidence = field(default_factory=PrimerEvidence)


def build_response(
    concluded: Conclusion, searched: Searched, include: Sequence[Include]
) -> RetrieveResponse:
    """Return the answer: facts with citations, doubts, and the parts that the caller asked for."""
    located = searched.tree.retrieved if "locations" in include else {}
    uncertainty = [*concluded.uncertainty, *caveats(searched.tree.in_order(), concluded.left_out)]
    return RetrieveResponse(
        final_answer=concluded.text,
        key_facts=key_facts(concluded.statements, located),
        residual_uncertainty=" ".join(uncertainty).strip(),
        verdict=_verdict(concluded, include, located),
        trace=_trace(searched) if "trace" in include else None,
    )


def with_references(
    answered: RetrieveResponse, concluded: Conclusion, references: ReferencesOut
) -> RetrieveResponse:
    """Return an answer with its references, and each sentence with the numbers of its own."""
    found = numbered(concluded.statements)
    pairs = zip(answered.key_facts, concluded.statements, strict=True)
    facts = [
        fact.model_copy(update={"references": numbers_of(statement, found)})
        for fact, statement in pairs
    ]

    return answered.model_copy(update={"key_facts": facts, "references": references})


def cut_short(answered: RetrieveResponse, limit: EndedBy) -> RetrieveResponse:
    """Return an answer that says which limit of its request ended the search."""
    note = f"The limit {limit} of this request ended the search."
    said = f"{answered.residual_uncertainty} {note}".strip()
    return answered.model_copy(update={"residual_uncertainty": said, "ended_by": limit})


def nothing_found(searched: Searched, include: Sequence[Include]) -> RetrieveResponse:
    """Return the answer about a project that holds nothing for the question."""
    return RetrieveResponse(
        final_answer="",
        key_facts=[],
        residual_uncertainty="",
        no_data_found=True,
        verdict=_verdict(Conclusion(), include, {}),
        trace=_trace(searched) if "trace" in include else None,
        references=without_references("") if "references" in include else None,
    )


def _verdict(
    concluded: Conclusion, include: Sequence[Include], located: Mapping[str, Chunk]
) -> VerdictOut | None:
    if "verdict" not in include:
        return None
    return VerdictOut(
        verdict=concluded.verdict,
        confidence=round(concluded.confidence, 2),
        near=[_cited(citation, located) for citation in concluded.near],
    )


def key_facts(statements: Sequence[Statement], located: Mapping[str, Chunk]) -> list[KeyFact]:
    """Return each sentence with the facts that bear it out, located where the chunks are given."""
    return [
        KeyFact(fact=one.text, citations=[_cited(fact.citation, located) for fact in one.facts])
        for one in statements
    ]


def _cited(citation: Citation, located: Mapping[str, Chunk]) -> CitationOut:
    cited = CitationOut(
        chunk_id=citation.chunk_id, span=citation.span, document_name=citation.document_name
    )
    if not (chunk := located.get(citation.chunk_id)):
        return cited

    begins = None if chunk.start is None else chunk.start + citation.at
    return cited.model_copy(
        update={
            "document_id": chunk.document_id or None,
            "page": page_of(citation, chunk),
            "heading": chunk.heading or None,
            "place": place_of(chunk) or None,
            "start": begins,
            "end": None if begins is None else begins + len(citation.span),
            "source_uri": chunk.source_uri or None,
        }
    )


def caveats(nodes: Sequence[Node], left_out: int) -> list[str]:
    """Name the limits of an answer: follow-ups cut short or failed, statements left out."""
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
    if left_out:
        said.append(f"{left_out} statement(s) without any evidence were left out.")
    if not any(cited_by(nodes)):
        said.append("No statement could be backed by a citation.")

    return said


def _trace(searched: Searched) -> TraceOut:
    return TraceOut(
        depth=searched.depth,
        initial_answer=searched.first.initial_answer,
        rationale=searched.first.rationale,
        communities=[community.id for community in searched.found.communities],
        followups=[traced(node) for node in searched.tree.in_order()],
        citations=CitationCountsOut.model_validate(searched.tree.counts, from_attributes=True),
    )


def traced(node: Node) -> TraceNode:
    """Return a follow-up as the trace tells it."""
    question = node.question
    return TraceNode(
        id=question.id,
        parent=question.parent,
        question=question.text,
        target_communities=list(question.communities),
        pass_=question.depth,
        verdict=node.answer.verdict if node.answer else None,
        confidence=node.answer.confidence if node.answer else None,
        state=str(node.state),
        chunk_ids=list(node.chunk_ids),
        seconds=node.seconds,
    )
