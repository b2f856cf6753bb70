"""Pure: citations that hold. Ids must have been retrieved, spans are made verbatim or dropped."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, compress, islice

from drift.contracts.answer import CitationOut
from drift.contracts.replies import CitationReply
from drift.core.folding import UNSPACED
from drift.core.logs import log
from drift.evidence.contradiction import uncontradicted
from drift.evidence.numbered_text import NumberedText, Run, named, runs
from drift.evidence.text import form, places_of
from drift.model.graph import Chunk
from drift.model.tree import Citation, CitationCounts, DroppedCitation


def check(
    replies: Sequence[CitationReply],
    answer: str,
    ids: Sequence[str | None],
    retrieved: Mapping[str, Chunk],
) -> tuple[tuple[Citation, ...], CitationCounts]:
    """Return the citations that hold, and the counts of all of them.

    `ids` are the chunk ids that the replies mean, in order; None where a reply names no chunk of
    the prompt. `retrieved` are all retrieved chunks, also those outside of the prompt. A
    reply that names neither sentences nor words gets the sentence that is closest to `answer`; one
    that names sentences apart from each other becomes a citation for each. One whose figures
    contradict the answer's is dropped.
    """
    each, counts = check_each(replies, answer, ids, retrieved)
    kept: dict[tuple[str, str], Citation] = {}
    for citation in chain.from_iterable(each):
        kept.setdefault(citation.key, citation)

    standing = uncontradicted(answer, [span for _, span in kept])
    held = set(compress(kept, standing))
    lost = [one[0] for one in each if one and held.isdisjoint(c.key for c in one)]
    if lost:
        log.warning("citation_validation_contradicted", extra={"citations": len(lost)})
        which = tuple(DroppedCitation("contradicted", c.chunk_id, c.span[:80]) for c in lost)
        counts += CitationCounts(kept=-len(lost), dropped={"contradicted": len(lost)}, which=which)
    return tuple(compress(kept.values(), standing)), counts


def check_each(
    replies: Sequence[CitationReply],
    answer: str,
    ids: Sequence[str | None],
    retrieved: Mapping[str, Chunk],
) -> tuple[list[tuple[Citation, ...]], CitationCounts]:
    """Return the citations of each reply, none where it does not hold; the rest as `check`."""
    evidence = _CitedEvidence(answer, retrieved)
    each: list[tuple[Citation, ...]] = [() for _ in replies]
    dropped: list[DroppedCitation] = []
    repaired = 0

    def drop(event: str) -> None:
        words = reply.words[:80]
        reason = event.removeprefix("citation_validation_")
        named = chunk_id or reply.chunk_id
        dropped.append(DroppedCitation(reason, named if named in retrieved else "", words))
        seen = {"citation_index": index, "chunk_id": reply.chunk_id, "span": words}
        log.warning(event, extra=seen)

    for index, (reply, chunk_id) in enumerate(zip(replies, ids, strict=True)):
        if not reply.chunk_id:
            drop("citation_validation_null_chunk_id")
            continue

        chunk = retrieved.get(chunk_id or reply.chunk_id)
        if chunk is None:
            drop("citation_validation_unmatched_chunk_id")
            continue

        found = evidence.of(reply, chunk)
        if found.is_unknown:
            drop("citation_validation_unknown_sentence")
        elif not found.citations:
            drop("citation_validation_span_mismatch")

        repaired += found.is_repaired
        each[index] = found.citations

    valid = len(replies) - len(dropped)
    log.info(
        "citation_validation_summary",
        extra={"total": len(replies), "valid": valid, "filtered": len(dropped)},
    )

    by_reason = Counter(one.reason for one in dropped)
    return each, CitationCounts(len(replies), valid, repaired, dict(by_reason), tuple(dropped))


def standing(
    replies: Sequence[CitationReply], ids: Sequence[str | None], retrieved: Mapping[str, Chunk]
) -> list[tuple[Citation, ...]]:
    """Return the citations of `check_each` for a reply that is still written, uncounted."""
    evidence = _CitedEvidence("", retrieved)
    chunks = [retrieved.get(at or reply.chunk_id) for reply, at in zip(replies, ids, strict=True)]
    return [
        evidence.of(reply, chunk).citations if chunk else ()
        for reply, chunk in zip(replies, chunks, strict=True)
    ]


@dataclass(frozen=True, slots=True)
class _FoundSpan:
    citations: tuple[Citation, ...] = ()
    is_repaired: bool = False
    is_unknown: bool = False


@dataclass(frozen=True, slots=True)
class _CitedEvidence:
    """The evidence for the replies to one question; a chunk's sentences are numbered once."""

    answer: str
    retrieved: Mapping[str, Chunk]
    _numbered: dict[str, NumberedText] = field(default_factory=dict)

    def of(self, reply: CitationReply, chunk: Chunk) -> _FoundSpan:
        """Return the citations that a reply makes of a chunk."""
        words = reply.words if form(reply.words) else ""
        if wanted := runs(reply.sentences, reply.chunk_id):
            return self._by_number(wanted, words, chunk)

        text = self._text(chunk)
        # Longer ones are taken for a whole span, and not for the beginning of a sentence.
        first = (said for said in _readings(words) if not _is_enough(said, 7, 19))
        begun = (n for said in first if _is_enough(said) for n in text.begun_by(said))
        if number := next(begun, 0):
            span = text.part(number, number)
        elif words:
            span = next(filter(None, map(text.verbatim, _readings(words))), "")
        else:
            span = text.closest(self.answer)

        if not span:
            return _FoundSpan()
        return _FoundSpan((_slice(chunk, text, span),), is_repaired=span != reply.words)

    def _by_number(self, wanted: tuple[Run, ...], words: str, chunk: Chunk) -> _FoundSpan:
        text = self._text(chunk)
        known = [Run(run.first, min(run.last, text.last)) for run in wanted]
        known = [run for run in known if 0 < run.first <= text.last]
        if not words:
            found = _FoundSpan(tuple(_cited(chunk, text, run, run.first) for run in known))
            return found if known else _FoundSpan(is_unknown=True)

        copied = next(text.begun_by(words, wanted[0].first), 0)
        as_written = (text.is_written, text.is_spelt)
        is_copy = copied and text.is_written(words, copied, whole=True)
        if is_copy and _is_enough(words) and not _fitting(words, known, as_written):
            return _FoundSpan((_cited(chunk, text, Run(copied, copied), copied),), is_repaired=True)
        if number := _fitting(words, known, (text.begins, text.holds)):
            return _FoundSpan(tuple(_cited(chunk, text, run, number) for run in known))
        if moved := self._moved(words, wanted[0].first, chunk):
            return _FoundSpan((moved,), is_repaired=True)
        if number := _fitting(words, known, (text.is_spelt, text.resembles)):
            return _FoundSpan(tuple(_cited(chunk, text, run, number) for run in known))

        span = text.verbatim(words) if _is_enough(words) else ""
        return _FoundSpan((_slice(chunk, text, span),), is_repaired=True) if span else _FoundSpan()

    def _moved(self, words: str, number: int, chunk: Chunk) -> Citation | None:
        """Return the sentence of which these are the words, when that number is not its own."""
        text = self._text(chunk)
        for said in _readings(words):
            if not _is_enough(said):
                continue
            if there := text.nearest(said, number):
                return _cited(chunk, text, Run(there, there), there)
            if elsewhere := self._elsewhere(said, chunk):
                return elsewhere

        return None

    def _elsewhere(self, words: str, chunk: Chunk) -> Citation | None:
        """Return the only sentence of the other chunks that begins with these words."""
        if not _is_enough(words, 4, 8):
            return None

        others = (other for other in self.retrieved.values() if other.id != chunk.id)
        begun = ((other, n) for other in others for n in self._text(other).begun_by(words))
        match list(islice(begun, 2)):
            case [(other, number)]:
                return _cited(other, self._text(other), Run(number, number), number)
            case _:
                return None

    def _text(self, chunk: Chunk) -> NumberedText:
        if chunk.id not in self._numbered:
            self._numbered[chunk.id] = NumberedText.of(chunk.text)
        return self._numbered[chunk.id]


def _fitting(
    words: str, known: Sequence[Run], tests: Sequence[Callable[[str, int], bool]]
) -> int | None:
    """Return which of the named sentences the words are of, by the first test that one passes."""
    numbers = [number for run in known for number in range(run.first, run.last + 1)]
    for fits in tests:
        for said in _readings(words):
            if number := next((number for number in numbers if fits(said, number)), None):
                return number
    return None


def _slice(chunk: Chunk, text: NumberedText, span: str) -> Citation:
    at = next(places_of(span, chunk.text, whole=True), max(chunk.text.find(span), 0))
    return _citation(chunk, span, text.numbers_of(at, at + len(span)), at)


def _cited(chunk: Chunk, text: NumberedText, run: Run, best: int) -> Citation:
    """Cite a run of sentences; of one that is too long, the best of them, or else its first."""
    span = text.part(run.first, run.last)
    if not span:
        alone = best if run.first <= best <= run.last else run.first
        run = Run(alone, alone)
        span = text.part(alone, alone)

    return _citation(chunk, span, named(run.first, run.last), text.spans[run.first - 1][0])


def _citation(chunk: Chunk, span: str, sentences: str, at: int) -> Citation:
    return Citation(chunk.id, span, chunk.document_name, sentences, at, chunk.document_id)


def _readings(words: str) -> Iterator[str]:
    """Yield the words, and without the number that may have been copied with them."""
    yield words
    # The number of a sentence, as a prompt shows it before its words.
    number = re.match(r"\W*\d{1,4}(?:[\])}.:|]+\s+|\s+(?![a-z]))", words)
    if number and form(words[number.end() :]):
        yield words[number.end() :]


def _is_enough(words: str, least: int = 2, least_letters: int = 6) -> bool:
    """Tell whether there are so many words, or letters where nothing stands between these.

    By themselves they are enough to tell another sentence of a chunk.
    """
    parts = len(words.split())
    if parts == 1 or re.search(f"[{UNSPACED}]", words):
        return len(form(words)) >= least_letters
    return parts >= least


def document_names(citations: Iterable[Citation | CitationOut | str]) -> list[str]:
    """Return the distinct document names in order; plain strings name no document."""
    return list(dict.fromkeys(c.document_name for c in citations if not isinstance(c, str)))
