"""Pure: names that answers bring to light, and whether a name stands in a text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from drift.core.names import proper_names
from drift.core.sentence_ends import language_of
from drift.core.stop_words import MONTHS_AND_DAYS, STOP_WORDS
from drift.evidence.text import KnownWords, folded
from drift.model.graph import Chunk, texts_of
from drift.model.tree import LocalAnswer, Node

_WORD = re.compile(r"\w+")


def names_found(nodes: Sequence[Node], question: str) -> tuple[str, ...]:
    """Return at most twelve names that answers have found, those of the surest answer first.

    A name counts when it stands in an answer and in a span that it cites, and neither in the user's
    `question` nor in the one that was asked: so it is new, and it is proven.
    """
    sure: dict[str, float] = {}
    times: dict[str, int] = {}
    for node in nodes:
        if not node.answer or node.answer.is_of_another:
            continue
        for name in _found_by(node.answer, (question, node.question.text)):
            sure[name] = max(sure.get(name, 0.0), node.answer.confidence)
            times[name] = times.get(name, 0) + 1

    best = sorted(sure, key=lambda name: (-sure[name], -times[name]))
    return tuple(best[:12])


def names_any(question: str, chunks: Iterable[Chunk]) -> bool:
    """Tell whether a chunk has a word of the question's names; true where it names nothing.

    In German nouns are written like names: there it is true too.
    """
    if language_of(question) == "de":
        return True
    asked = [folded(word) for name in proper_names(question) for word in name.split()]
    known = KnownWords(word for text in texts_of(chunks) for word in _WORD.findall(folded(text)))
    return not asked or any(map(known.has, asked))


def stands_in(name: str, texts: Iterable[str]) -> bool:
    """Tell whether a name stands in one of the texts, as whole words and in the same case."""
    words = r"\s+".join(re.escape(word) for word in name.split())
    whole = re.compile(rf"(?<!\w){words}(?!\w)")
    return any(whole.search(text) for text in texts)


def is_date_or_number(name: str) -> bool:
    """Tell whether words are months, days and digits alone."""
    return MONTHS_AND_DAYS.issuperset(re.findall(r"[^\W\d_]+", name.casefold()))


def _found_by(answer: LocalAnswer, asked: Iterable[str]) -> Iterator[str]:
    spans = [citation.span for citation in answer.citations]
    asked = [text.casefold() for text in asked]
    for part in proper_names(answer.text):
        before = answer.text[: max(0, answer.text.find(f" {part}"))].rpartition(" ")[2]
        # A word that is common elsewhere may begin a name: Des Moines.
        is_name = before.istitle() and before.isalpha() and before.casefold() not in STOP_WORDS
        whole = f"{before} {part}" if is_name else part
        name = whole if stands_in(whole, spans) else part
        is_new = stands_in(name, spans) and not stands_in(name.casefold(), asked)
        if is_new and not is_date_or_number(name):
            yield name
