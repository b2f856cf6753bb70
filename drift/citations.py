"""Pure: citations that hold. Ids must have been retrieved, spans are made verbatim or dropped.

The prompt is layer 1 of these checks and the reply's shape (contracts/replies.py) layer 2. Here are
layer 3 (ids), layer 4 (spans), and the spans and document names for the ids of the final answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice, pairwise

from drift.contracts.answer import CitationOut
from drift.contracts.replies import CitationReply
from drift.sentences import sentences
from drift.telemetry.logs import log
from drift.values.graph import Chunk
from drift.values.tree import Citation, CitationCounts

CLOSE_ENOUGH = 0.75
"""Similarity (0..1, see `closest_sentence`) from which a sentence stands in for a span."""
MAX_SENTENCES_COMPARED = 200

_QUOTES = str.maketrans(
    "\u201c\u201d\u201e\u00ab\u00bb\u2018\u2019\u201a`\u00b4", "\"\"\"\"\"'''''"
)
"""Typographic quotes to plain ones."""


def check(
    replies: Sequence[CitationReply],
    answer: str,
    ids: Sequence[str | None],
    retrieved: Mapping[str, Chunk],
) -> tuple[tuple[Citation, ...], CitationCounts]:
    """Return the citations that hold, and what became of all of them.

    `ids` are the chunk ids that the replies mean, in order; None where a reply names no chunk of
    the prompt. `retrieved` is all that was retrieved, also what did not fit into the prompt. A
    reply without a span gets the sentence of its chunk that is closest to `answer`.
    """
    kept: dict[tuple[str, str], Citation] = {}
    dropped: Counter[str] = Counter()
    repaired = 0
    for index, (reply, chunk_id) in enumerate(zip(replies, ids, strict=True)):
        seen = {"citation_index": index, "chunk_id": reply.chunk_id, "span": reply.words[:80]}
        if not reply.chunk_id:
            dropped["null_chunk_id"] += 1
            log.warning("citation_validation_null_chunk_id", extra=seen)
            continue

        chunk = retrieved.get(chunk_id or reply.chunk_id)
        if chunk is None:
            dropped["unmatched_chunk_id"] += 1
            log.warning("citation_validation_unmatched_chunk_id", extra=seen)
            continue

        if reply.words:
            span = verbatim(reply.words, chunk.text)
        else:
            span = closest_sentence(answer, chunk.text)
        if not span:
            dropped["span_mismatch"] += 1
            log.warning("citation_validation_span_mismatch", extra=seen)
            continue

        repaired += span != reply.words
        kept.setdefault((chunk.id, span), Citation(chunk.id, span, chunk.document_name))

    filtered = dropped.total()
    log.info(
        "citation_validation_summary",
        extra={"total": len(replies), "valid": len(replies) - filtered, "filtered": filtered},
    )
    return tuple(kept.values()), CitationCounts(
        len(replies), len(replies) - filtered, repaired, dict(dropped)
    )


def verbatim(span: str, text: str) -> str:
    """Return the text's own words for a span; empty when nothing in the text is close enough.

    A span that stands in the text is returned as it is. Else white space, case and quotes may
    differ, and else the closest sentence is returned.
    """
    if span.strip() and span in text:
        return span
    return _equal_up_to_form(span, text) or closest_sentence(span, text, CLOSE_ENOUGH)


def _equal_up_to_form(span: str, text: str) -> str:
    wanted, _ = _plain(span)
    if not wanted:
        return ""
    flat, origin = _plain(text)
    start = flat.find(wanted)
    if start < 0:
        return ""
    return text[origin[start] : origin[start + len(wanted) - 1] + 1]


def _plain(text: str) -> tuple[str, list[int]]:
    """Return the text without case, quote styles and runs of white space.

    Beside it, return where each of its characters stands in the text.
    """
    characters: list[str] = []
    origin: list[int] = []
    for position, character in enumerate(text.translate(_QUOTES)):
        if character.isspace():
            if characters and characters[-1] != " ":
                characters.append(" ")
                origin.append(position)
            continue
        for folded in character.casefold():
            characters.append(folded)
            origin.append(position)
    while characters and characters[-1] == " ":
        characters.pop()
        origin.pop()
    return "".join(characters), origin


def closest_sentence(wanted: str, text: str, at_least: float = 0.0) -> str:
    """Return the sentence of the text most similar to `wanted`; empty when none reaches `at_least`.

    Similarity is the Sørensen-Dice coefficient of the character pairs (Dice 1945), white space and
    case apart. Unlike an alignment, it takes time in proportion to the text, whatever the text is.
    """
    target = _pairs(wanted)
    best, best_score = "", at_least
    for sentence in islice(sentences(text), MAX_SENTENCES_COMPARED):
        score = _similarity(_pairs(sentence), target)
        if score > best_score or (score == best_score and not best):
            best, best_score = sentence, score
    return best


def _pairs(text: str) -> Counter[tuple[str, str]]:
    plain = f" {' '.join(text.casefold().split())} "
    return Counter(pairwise(plain))


def _similarity(one: Counter[tuple[str, str]], other: Counter[tuple[str, str]]) -> float:
    return 2 * (one & other).total() / (one.total() + other.total())


def enrich(
    fact: str,
    ids: Sequence[tuple[str, str | None]],
    checked: Iterable[Citation],
    retrieved: Mapping[str, Chunk],
) -> list[CitationOut | str]:
    """Return a fact's citations: an object for each retrieved chunk, other strings as they came.

    `ids` are pairs of what the model wrote and the chunk id it means. A span is verbatim: that of
    the chunk's checked citation which is closest to the fact, else the chunk's closest sentence.
    """
    spans: dict[str, list[Citation]] = {}
    for citation in checked:
        spans.setdefault(citation.chunk_id, []).append(citation)

    enriched: dict[str, CitationOut | str] = {}
    for written, chunk_id in ids:
        chunk = retrieved.get(chunk_id or written)
        if chunk is None:
            log.warning(
                "citation_enrichment_unmatched_chunk_id",
                extra={"chunk_id": written, "fact": fact[:80]},
            )
            enriched.setdefault(written, written)
        elif chunk.id not in enriched:
            span = _closest([c.span for c in spans.get(chunk.id, ())], fact) or closest_sentence(
                fact, chunk.text
            )
            enriched[chunk.id] = CitationOut(
                chunk_id=chunk.id, span=span, document_name=chunk.document_name
            )
    return list(enriched.values())


def _closest(spans: Sequence[str], fact: str) -> str:
    target = _pairs(fact)
    return max(spans, key=lambda span: _similarity(_pairs(span), target), default="")


def document_names(citations: Iterable[Citation | CitationOut | str]) -> list[str]:
    """Return the distinct document names in order; plain strings name no document."""
    return list(dict.fromkeys(c.document_name for c in citations if not isinstance(c, str)))
