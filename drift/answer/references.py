"""Pure: the passages that an answer stands on, numbered, each with how sure it is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress
from operator import not_

from drift.answer.conclusion import Conclusion
from drift.answer.signals import (
    ENOUGH,
    NO_REFERENCE,
    NOTHING_THERE,
    ONLY_IN_PART,
    age_days,
    citations,
    confidence,
    freshness,
    limits_of,
    similarity,
)
from drift.contracts.answer import ReferenceOut, ReferencesOut, SignalsOut
from drift.core.names import without_name
from drift.core.sentence_ends import STOPS
from drift.evidence.answer_statements import Statement
from drift.evidence.near_duplicates import near_duplicates
from drift.evidence.verdict import MOST_OF_PARTLY
from drift.model.found_nodes import ScoreThreshold
from drift.model.graph import Chunk
from drift.model.passages import MOST_WITNESSES, Passage
from drift.model.tree import Citation
from drift.prompting.elements import document_names, place_of
from drift.prompting.tokens import cut

Key = tuple[str, str]  # a chunk and a span of it: what is one reference


@dataclass(frozen=True, slots=True)
class Known:
    """The signals of the cited passages, read at `now`, in milliseconds since 1970.

    `threshold` is the project's, where it holds for the vectors that were compared; `unread` says
    in sentences which signals could not be read.
    """

    passages: Mapping[str, Passage] = field(default_factory=dict)
    threshold: ScoreThreshold | None = None
    now: int = 0
    unread: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reference:
    """A distinct citation of the answer, by its number, and how sure the model was of it."""

    number: int
    citation: Citation
    model: float


def numbered(statements: Iterable[Statement]) -> dict[Key, Reference]:
    """Return the distinct citations in the order of the answer, from 1."""
    found: dict[Key, Reference] = {}
    for statement in statements:
        for fact in statement.facts:
            key = fact.citation.key
            known = found.setdefault(key, Reference(len(found) + 1, fact.citation, fact.confidence))
            found[key] = replace(known, model=max(known.model, fact.confidence))
    return found


def numbers_of(statement: Statement, found: Mapping[Key, Reference]) -> list[int]:
    """Return the numbers of a statement's references, ascending, each once."""
    return sorted({found[fact.citation.key].number for fact in statement.facts})


def cited_chunks(statements: Iterable[Statement]) -> tuple[str, ...]:
    """Return the ids of the chunks that the answer cites, each once, in its order."""
    return tuple(dict.fromkeys(chunk_id for chunk_id, _ in numbered(statements)))


def build_references(
    concluded: Conclusion, retrieved: Mapping[str, Chunk], known: Known
) -> ReferencesOut:
    """Return the references of an answer; of one without any, its limits."""
    found = numbered(concluded.statements)
    if not found:
        return without_references(concluded.text, known.unread)

    signals = _signals(concluded.statements, found, retrieved, known)
    sure = _confidence(concluded, signals)
    limits = [] if concluded.verdict == "answered" else [ONLY_IN_PART]
    if sure < ENOUGH:
        documents = {one.citation.document for one in found.values()}
        limits += limits_of(list(signals.values()), len(documents), _newest(found, known))

    limits += known.unread

    names = document_names(one.citation for one in found.values())
    items = [_item(one, retrieved, signals[key], names) for key, one in found.items()]
    marked = [(one.ends, numbers_of(one, found)) for one in concluded.statements]
    listed = "\n".join(["References:", *map(line_of, items)])
    text = "\n\n".join(
        filter(None, (with_numbers(concluded.text, marked), listed, _limiting(limits)))
    )

    return ReferencesOut(answer=text, items=items, confidence=sure, limits=limits)


def without_references(text: str, unread: Sequence[str] = ()) -> ReferencesOut:
    """Return the references of an answer that has none; an empty text is that of no data."""
    limits = [NO_REFERENCE if text else NOTHING_THERE, *unread]
    answer = "\n\n".join(filter(None, (text, _limiting(limits))))
    return ReferencesOut(answer=answer, items=[], confidence=0.0, limits=limits)


def with_numbers(text: str, marked: Iterable[tuple[int, Sequence[int]]]) -> str:
    """Return a text with numbers as `[1,3]` behind the sentences that end at these characters.

    They stand before the stop of the sentence, inside the last cell of a row, and below code.
    """
    written, at = [], 0
    for ends, numbers in sorted(marked, key=lambda one: one[0]):
        if not numbers or not 0 <= ends <= len(text):
            continue
        words = _before_the_stop(text[at:ends])
        written += [words, _gap(words), f"[{','.join(map(str, numbers))}]"]
        at += len(words)

    return "".join(written) + text[at:]


def _before_the_stop(sentence: str) -> str:
    words = sentence.rstrip(f"{STOPS}:\uff1a")
    row = words.rstrip(" \t")
    return row[:-1].rstrip(" \t") if row.endswith("|") and words == sentence else words


def _gap(words: str) -> str:
    """Return the gap that keeps a number out of an address or the end of a block of code."""
    line = words.rpartition("\n")[2].strip()
    if line.startswith(("```", "~~~")) and not line.strip("`~"):
        return "\n\n"
    # Readers of Markdown make a link of an address and of all that follows up to a blank.
    last = "".join(words.rsplit(None, 1)[-1:])
    return " " if re.search(r"(?:https?|ftp)://|www\.", last, re.IGNORECASE) else ""


def _signals(
    statements: Sequence[Statement],
    found: Mapping[Key, Reference],
    retrieved: Mapping[str, Chunk],
    known: Known,
) -> dict[Key, SignalsOut]:
    beside: dict[Key, dict[str, str]] = {key: {} for key in found}
    for statement in statements:
        said = {fact.citation.document: fact.citation.chunk_id for fact in statement.facts}
        for fact in statement.facts:
            beside[fact.citation.key] |= said

    signals = {}
    for key, one in found.items():
        passage = known.passages.get(one.citation.chunk_id, Passage(one.citation.chunk_id))
        others = _others(one.citation, beside[key], retrieved)
        # The graph knows other documents that say the same, and so does the same sentence.
        is_counted = passage.witnesses is not None or others
        witnesses = min(MOST_WITNESSES, len(others.union(passage.witnesses or ())))
        signals[key] = SignalsOut(
            similarity=similarity(passage.similarity, known.threshold),
            freshness=freshness(passage.updated_at, known.now),
            citations=citations(witnesses if is_counted else None),
            model=round(min(1.0, max(0.0, one.model)), 2),
        )

    return signals


def _others(one: Citation, beside: Mapping[str, str], retrieved: Mapping[str, Chunk]) -> set[str]:
    """Return the other documents with a citation beside one, each of which says it anew."""
    chunks = {document: id_ for document, id_ in beside.items() if document != one.document}
    ids = (one.chunk_id, *chunks.values())
    texts = [retrieved[id_].text if id_ in retrieved else id_ for id_ in ids]
    _, *copies = near_duplicates(texts)
    return set(compress(chunks, map(not_, copies)))


def _confidence(concluded: Conclusion, signals: Mapping[Key, SignalsOut]) -> float:
    """Return the mean over sentences of their surest reference, as far as the verdict lets it."""
    surest = [
        max(confidence(signals[fact.citation.key]) for fact in statement.facts)
        for statement in concluded.statements
    ]
    mean = round(sum(surest) / len(surest), 2)
    return mean if concluded.verdict == "answered" else min(mean, MOST_OF_PARTLY)


def _newest(found: Mapping[Key, Reference], known: Known) -> float | None:
    passages = (known.passages.get(chunk_id) for chunk_id, _ in found)
    ages = [
        age_days(one.updated_at, known.now)
        for one in passages
        if one and one.updated_at is not None and freshness(one.updated_at, known.now) is not None
    ]

    return min(ages, default=None)


def _item(
    one: Reference,
    retrieved: Mapping[str, Chunk],
    signals: SignalsOut,
    names: Mapping[str, str],
) -> ReferenceOut:
    chunk = retrieved.get(one.citation.chunk_id)
    lines = lines_of(one.citation, chunk) if chunk else None
    return ReferenceOut(
        number=one.number,
        label=label_of(one.citation, chunk, names[one.citation.document]),
        chunk_id=one.citation.chunk_id,
        document_name=one.citation.document_name,
        span=one.citation.span.replace("\f", "\n"),
        first_line=lines[0] if lines else None,
        last_line=lines[1] if lines else None,
        page=page_of(one.citation, chunk) if chunk else None,
        source_uri=(chunk.source_uri or None) if chunk else None,
        match=signals.similarity,
        confidence=confidence(signals),
        signals=signals,
    )


def line_of(item: ReferenceOut) -> str:
    """Return a reference as a line, `[1] src/db/client.py:45-52 (95% match)`."""
    match = "" if item.match is None else f" ({item.match:.0%} match)"
    return f"[{item.number}] {item.label}{match}"


def _limiting(limits: Sequence[str]) -> str:
    return "\n".join(["Limits:", *(f"- {limit}" for limit in limits)]) if limits else ""


MAX_NAME_CHARACTERS = 200


def lines_of(citation: Citation, chunk: Chunk) -> tuple[int, int] | None:
    """Return the first and last line of the span in the file, from 1; None where unknown."""
    if chunk.first_line is None or not chunk.text.startswith(citation.span, citation.at):
        return None
    first = chunk.first_line + chunk.text.count("\n", 0, citation.at)
    return first, first + citation.span.rstrip("\n").count("\n")


def page_of(citation: Citation, chunk: Chunk) -> int | str | None:
    """Return the page on which the span begins; None where unknown."""
    if not isinstance(chunk.page, int):
        return chunk.page
    # A chunk may go on over a page; where it does, there is a form feed.
    return chunk.page + chunk.text.count("\f", 0, citation.at)


def label_of(citation: Citation, chunk: Chunk | None, name: str = "") -> str:
    """Return `path:first-last`, else `document, page 7`, else heading or place, else its name.

    A `name` tells the document from others of the same. A newer version stands behind.
    """
    label = _label(citation, chunk, _on_line(name or citation.document_name, MAX_NAME_CHARACTERS))
    newer = _on_line(chunk.superseded_by, MAX_NAME_CHARACTERS) if chunk else ""
    return f"{label} (superseded by {newer})" if newer else label


def _label(citation: Citation, chunk: Chunk | None, name: str) -> str:
    if chunk is None:
        return name

    if lines := lines_of(citation, chunk):
        path = _on_line(chunk.document_id, MAX_NAME_CHARACTERS) or name
        first, last = lines
        return f"{path}:{first}" if first == last else f"{path}:{first}-{last}"

    if (page := page_of(citation, chunk)) is not None:
        return f"{name}, page {_on_line(str(page), MAX_NAME_CHARACTERS)}"

    heading = without_name(chunk.heading, citation.document_name)
    where = _on_line(heading, 120) or place_of(chunk)
    return f"{name}, {where}" if where else name


def _on_line(text: str, most: int) -> str:
    return cut(" ".join(text.split()), most).strip()
