"""Pure: the sentences of a paragraph, where `sentencex` sees their ends."""

from __future__ import annotations

import re
from collections.abc import Iterator

import sentencex

from drift.core.folding import parted_words
from drift.core.sentence_ends import RUN_IN_HEADING, Span, end_of_space
from drift.evidence.figure_text import any_of
from drift.evidence.figure_words import MONTHS

MAX_SPAN_CHARACTERS = 600  # characters of a unit at most; a longer sentence is cut between words


def cut_point(part: str) -> int:
    """Return where a part that is too long is cut: behind its last line, else its last word."""
    line = part.rfind("\n", len(part) // 2)
    if line < 0:
        line = max(part.rfind(space, 1) for space in (" ", "\n", "\t", "\u3000"))
    return line if line > 0 else MAX_SPAN_CHARACTERS


def prose(text: str, span: Span, language: str) -> Iterator[Span]:
    """Yield the sentences of a paragraph, looking at a window of it at a time."""
    pending: Span | None = None
    start = span.start
    while start < span.end:
        # Prose that is looked at at once: the splitter's time grows with the square of a long one.
        window = text[start : min(start + 1_500, span.end)]
        pieces = _pieces(window, language)
        if start + len(window) < span.end:
            # The window's end may have cut its last sentence.
            pieces = pieces[:-1] or [window[: cut_point(window[: MAX_SPAN_CHARACTERS + 1])]]

        for piece in pieces:
            here = Span(end_of_space(text, start), start + len(piece.rstrip()))
            start += len(piece)
            if here.end <= here.start:
                continue

            if pending and _belongs(text, pending, here, language):
                pending = Span(pending.start, here.end)
                continue
            if pending:
                yield pending

            pending = here

        start = end_of_space(text, start)

    if pending:
        yield pending


def _pieces(window: str, language: str) -> list[str]:
    """Return the sentences of a window, each with the white space behind it."""
    # Half a surrogate pair cannot be encoded; its replacement has the same length.
    sound = window.encode("utf-8", "replace").decode()
    found = sentencex.segment(language, sound)
    lengths = [len(piece) for piece in found]
    if sum(lengths) != len(window):
        return [window]

    pieces: list[str] = []
    start = 0
    for length in lengths:
        piece = window[start : start + length]
        # A variable's name at the end of a sentence is no initial of a name.
        is_english = language == "en"
        pieces += re.split(r"(?<=\s[abd-uw-z]\.\s)(?=[A-Z])", piece) if is_english else [piece]
        start += length

    return pieces


_GAP = "\0"  # stands for what is between two sentences
_GOES_ON = re.compile(
    r"\b(?:(?i:vol|approx|ca|cap|chap|art|sect?|pt|par|abs|nr|bd|eqn?s?|thm|figs|refs|suppl|núm|págs?)"
    rf"|Alg|App|Ch|Cor|Def|Ed|Ex|Lem|Phys|Prop|Ser|Tab)\.{_GAP}\d"
    r"|\b(?:Abt|Avd?a?|Dña|Dras?|Dres|Fa|Ft|Hrsg|Ing|Inh|Messrs|Pr|Sras?|Sres|Srtas?)"
    rf"\.{_GAP}[^\W\d_]"
    rf"|([A-Z])\1\.{_GAP}([A-Z])\2\b"  # EE. UU.
    rf"|\b\d\d?\.{_GAP}(?i:{any_of(MONTHS)})\b"
)


def _belongs(text: str, before: Span, here: Span, language: str) -> bool:
    """Tell whether a sentence goes on behind a full stop: `Eq. 5`, `Sra. Ruiz`, `Gesch.-Führer`.

    A name in code does as well: `self._rules`, `tuple[str, ...]:`; and a word that is parted. So
    does what stands behind a label: `**Ada.** She ...`.
    """
    if here.end - before.start > MAX_SPAN_CHARACTERS:
        return False
    near = parted_words(text, max(before.start, before.end - 60), here.start + 60)
    label = RUN_IN_HEADING.match(text, before.start)
    if (label and here.start <= label.end()) or any(a < here.start < z for a, z in near):
        return True
    if text[before.end - 1] != ".":
        return False

    at_once = text[here.start : here.start + 2] if here.start == before.end else ""
    if text[here.start].islower() or re.match(r"[_\]}-]\S", at_once):
        return True

    end = text[max(before.start, before.end - 8) : before.end]
    if _GOES_ON.search(f"{end}{_GAP}{text[here.start : here.start + 12]}"):
        return True
    return language == "de" and re.search(r"(?<!\d)\d{1,2}\.$", end) is not None
