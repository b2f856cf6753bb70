"""Pure: the findings of a search as the aggregator reads them: answers over numbered facts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from drift.model.graph import Chunk
from drift.model.limits import is_in_vain
from drift.model.tree import (
    MERGED,
    NO_EVIDENCE,
    SKIPPED_BUDGET,
    SKIPPED_DEADLINE,
    SKIPPED_ENOUGH,
    SKIPPED_UNPROVEN,
    Citation,
    Fact,
    Node,
)
from drift.prompting.elements import place_of, short_name
from drift.prompting.markup import element, on_line

_IN_VAIN = "looked for in vain"
_UNANSWERED = {
    NO_EVIDENCE: _IN_VAIN,
    SKIPPED_BUDGET: "not asked",
    SKIPPED_DEADLINE: "no time was left",
}


def parents_first(nodes: Sequence[Node]) -> Iterator[Node]:
    """Yield follow-ups with those that they proposed right behind them, in the order asked."""
    children: dict[int | None, list[Node]] = {}
    known = {node.question.id for node in nodes}
    for node in nodes:
        parent = node.question.parent if node.question.parent in known else None
        children.setdefault(parent, []).append(node)

    waiting = children.get(None, [])[::-1]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += children.get(node.question.id, [])[::-1]


def proven(nodes: Sequence[Node]) -> list[Node]:
    """Return the follow-ups whose answer stands on evidence, without a first try in vain."""
    standing = [node for node in nodes if node.answer and node.answer.citations]
    found = with_finds(nodes)
    answered = {node.question.text for node in found}
    return [node for node in standing if node in found or node.question.text not in answered]


def with_finds(nodes: Sequence[Node]) -> list[Node]:
    """Return the follow-ups that found something on evidence that holds, in their order."""
    return [node for node in nodes if node.answer and not is_in_vain(node.answer)]


def surest_first(nodes: Sequence[Node]) -> list[Node]:
    """Return the follow-ups whose answer stands on evidence, the surest first."""
    return sorted(proven(nodes), key=lambda node: -node.answer.confidence if node.answer else 0.0)


def numbered_facts(nodes: Sequence[Node], retrieved: Mapping[str, Chunk]) -> tuple[Fact, ...]:
    """Return the cited facts, each wording once, from 1, as sure as its surest answer."""
    found: dict[tuple[str, str], tuple[Citation, float]] = {}
    for node in parents_first(nodes):
        if node.answer is None:
            continue
        for citation in node.answer.citations:
            key = _wording(citation)
            _, before = found.get(key, (citation, 0.0))
            found[key] = citation, max(before, node.answer.confidence)

    places = {chunk_id: place_of(chunk) for chunk_id, chunk in retrieved.items()}
    return tuple(
        Fact(number, citation, confidence, places.get(citation.chunk_id, ""))
        for number, (citation, confidence) in enumerate(found.values(), start=1)
    )


def _wording(citation: Citation) -> tuple[str, str]:
    """Return the key of a fact: the same words of one document, also in chunks that overlap."""
    return citation.document, " ".join(citation.span.split()).casefold()


def finding_elements(
    nodes: Sequence[Node], facts: Sequence[Fact], names: Mapping[str, str]
) -> list[str]:
    """Return each proven answer with its facts; one that stands further up is only named again.

    `names` are those of the documents by their keys.
    """
    by_key = {_wording(fact.citation): fact for fact in facts}
    told: set[int] = set()

    rows = []
    for node in parents_first(proven(nodes)):
        if node.answer is None:
            continue

        lines = [on_line(node.question.text), f"Answer: {on_line(node.answer.text)}"]
        for citation in node.answer.citations:
            fact = by_key[_wording(citation)]
            name = short_name(names[citation.document])
            where = ", ".join(filter(None, (name, fact.place)))
            said = f"{on_line(fact.citation.span)} ({on_line(where)})"
            lines.append(f"[{fact.number}] {'as above' if fact.number in told else said}")
            told.add(fact.number)

        rows.append(
            element(
                "finding",
                "\n".join(lines),
                verdict=node.answer.verdict.replace("_", " "),
                confidence=round(node.answer.confidence, 2),
                depth=node.question.depth,
            )
        )

    return rows


def unanswered_lines(nodes: Sequence[Node]) -> list[str]:
    """Return the questions, asked or not, without an answer that stands on evidence."""
    lines = []
    for node in nodes:
        if node.state in {MERGED, SKIPPED_ENOUGH, SKIPPED_UNPROVEN} or (
            node.answer and node.answer.citations
        ):
            continue
        why = _IN_VAIN if node.answer else _UNANSWERED.get(node.state, "it failed")
        lines.append(f"{on_line(node.question.text)} ({why})")

    return list(dict.fromkeys(lines))[:10]
