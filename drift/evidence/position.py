"""Pure: which place of a document a question asks about, and what of it gets a seat.

A question may ask for the beginning or the end of a document, for a numbered part of it, or for
what stands before or after an event. The patterns are narrow: what they miss is searched like any
other question, what they take by mistake costs seats.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeVar

from drift.evidence.numbered_parts import CARDINALS, ORDINALS, SAME_LABELS, Part, number_of
from drift.model.graph import Chunk, Direction, Placed

Edge = Literal["beginning", "end"]
_Kind = TypeVar("_Kind")

MAX_SEATS = 3
"""Chunks of a place that are sure to stand right behind the best one."""

EDGE_MARKS = {"beginning": ("*** START OF TH",), "end": ("*** END OF TH",), "": ()}
"""What parts the text of an electronic edition from the words around it."""

_TEXT = (
    r"(?:(?:short |whole |entire |first |second |same )?(?:story|tale|book|novel|novella|narrative|"
    r"plot|document|report|article|paper|essay|text|poem|transcript|conversation|interview|speech|"
    r"letter|memoir|manuscript|chronicle|fairy tale|script|play|episode))"
)
_TEXT_DE = (
    r"(?:Geschichte|Buch(?:e?s)?|Roman(?:e?s)?|Novelle|Erzählung|Text(?:e?s)?|Dokument(?:e?s)?|"
    r"Bericht(?:e?s)?|Märchens?|Stück(?:e?s)?|Handlung)"
)
_STOP = r"(?=\s*(?:[?.!,;:]|$))"
_OF_TEXT = rf" of (?:the |this |that |his |her |its |their )?{_TEXT}\b"
_HOW = r"\bhow (?:does|do) [^?.]*?"
_GOES_ON = rf"(?:{_STOP}| for | and | with )"
_AT = r"\b(?:at|in|by|from|near|towards?) the (?:very )?"
_PIECE = r"(?:scene|chapter|stave|canto|paragraph|sentence|page|line|verse)s?\b"

_EDGES: tuple[tuple[Edge, tuple[str, ...]], ...] = (
    (
        "end",
        (
            rf"{_HOW} (?:end(?: up)?|finish|conclude|close|turn out)\b{_GOES_ON}",
            rf"\bhow did (?:the |this |that ){_TEXT} (?:end|finish|conclude|close)\b",
            rf"{_AT} (?:end|close|ending|conclusion)(?:{_STOP}|{_OF_TEXT})",
            r"\bwhat (?:happens|is happening) (?:at|in|near) the (?:very )?end\b",
            rf"\b(?:the|its|their) (?:end|ending|conclusion|finale){_OF_TEXT}",
            rf"\b(?:last|final|closing|concluding) {_PIECE}",
            rf"\b(?:last|final|closing|concluding) (?:part|section|act|words?|pages?){_OF_TEXT}",
            rf"\bepilogue\b(?={_STOP}|{_OF_TEXT})",
            rf"\bwie (?:endet|schließt)\b|\bwie (?:geht|ging) .*\b(?:aus|zu Ende){_STOP}",
            rf"\b(?:am|zum) (?:Ende|Schluss)(?:{_STOP}| (?:der|des|dieser|dieses) {_TEXT_DE}\b)",
            r"\b(?:letzte[nrsm]?|abschließende[nrsm]?) (?:Kapitel|Szene|Absatz|Satz|Seite)\b",
        ),
    ),
    (
        "beginning",
        (
            rf"{_HOW} (?:begin|start|open|commence)\b{_GOES_ON}",
            rf"\bhow did (?:the |this |that ){_TEXT} (?:begin|start|open)\b",
            rf"{_AT} (?:beginning|start|outset|opening)(?:{_STOP}|{_OF_TEXT})",
            r"\bwhat (?:happens|is happening) (?:at|in) the (?:very )?(?:beginning|start)\b",
            rf"\b(?:the|its|their) (?:beginning|opening|start){_OF_TEXT}",
            rf"\b(?:opening|initial) {_PIECE}",
            rf"\bfirst (?:paragraph|sentence|page|line)s?(?:{_STOP}|{_OF_TEXT})",
            rf"\bprologue\b(?={_STOP}|{_OF_TEXT})",
            rf"\bwie (?:beginnt|startet)\b|\bwie fängt\b.*\ban{_STOP}",
            rf"\b(?:am|zu) (?:Anfang|Beginn)(?:{_STOP}| (?:der|des|dieser|dieses) {_TEXT_DE}\b)",
        ),
    ),
)

_EVENT = r"(?:happens|happened|occurs|occurred|takes place|took place|goes on|went on|was going on)"
_CLOSE = r"(?:right|just|immediately|directly|shortly|soon|straight)"
_CLAUSE = (
    r"(?-i:(?:he|she|it|they|the team|the group)\s+\w+|"
    r"(?:[A-Z][\w'’-]*\s+){1,3}(?:has|have|had|is|was|were|\w+(?:ed|s)|"
    r"saw|found|came|went|left|told|met|took|gave|looked|woke|spoke|ran|heard|got|made|said)\b)"
)

_SIDES: tuple[tuple[Direction, tuple[str, ...]], ...] = (
    (
        "after",
        (
            rf"\bwhat (?:else )?{_EVENT}\b[^?]*\b(?:after|following|once)\b",
            r"\bwhat (?:happens|comes|follows|happened|came) next\b",
            r"\bwhat (?:follows|followed)\b",
            rf"\b{_CLOSE} after\b",
            r"\b(?:does|do) [^?]*\bafter (?!all\b)",
            r"\bafter (?:he|she|it|they)\b",
            rf"\bafter {_CLAUSE}",
            r"\bwas (?:geschieht|passiert|geschah|passierte)\b[^?]*\b(?:nach|nachdem|danach)\b",
            r"\b(?:kurz|direkt|unmittelbar|gleich) (?:nach|danach|nachdem)\b",
        ),
    ),
    (
        "before",
        (
            rf"\bwhat (?:else )?{_EVENT}\b[^?]*\b(?:before|prior to|leading up to)\b",
            r"\bwhat (?:precedes|preceded|leads up to|led up to|comes before|came before)\b",
            rf"\b{_CLOSE} before\b",
            r"\b(?:does|do) [^?]*\bbefore\b",
            r"\bbefore (?:he|she|it|they)\b",
            rf"\bbefore {_CLAUSE}",
            r"\bwas (?:geschieht|passiert|geschah|passierte)\b[^?]*\b(?:vor|bevor|davor)\b",
            r"\b(?:kurz|direkt|unmittelbar) (?:vor|bevor|davor)\b",
        ),
    ),
)

_LABEL = "|".join([*SAME_LABELS, "canto", "book", "volume", "episode", "lesson", "appendix"])
_ORDERED_LABEL = r"chapter|stave|canto|scene|Kapitel|Szene|Akt|Abschnitt"
_NUMBER = rf"\d{{1,3}}|[IVXLC]+|(?i:{'|'.join(CARDINALS)})"

_PARTS = (
    rf"\b(?P<label>(?i:{_LABEL}))\s+(?:(?i:number|no\.?|nr\.?)\s+)?(?P<number>{_NUMBER})\b(?![.,]\d)",
    rf"\b(?P<number>(?i:{'|'.join(ORDINALS)}))\s+(?P<label>(?i:{_ORDERED_LABEL}))\b",
    rf"\b(?P<number>\d{{1,3}})(?:st|nd|rd|th|\.)\s+(?P<label>(?i:{_ORDERED_LABEL}))\b",
)


@dataclass(frozen=True, slots=True)
class Place:
    """What a question asks about; a `part` with an `edge` is the beginning or end of that part."""

    edge: Edge | None = None
    part: Part | None = None
    side: Direction | None = None

    def parts(self) -> tuple[Part, ...]:
        """Return the parts whose headings are looked for; one ends where the next one begins."""
        if self.part is None:
            return ()
        return (self.part, self.part.following()) if self.edge == "end" else (self.part,)


NOWHERE = Place()


def asked_place(question: str) -> Place:
    """Return the place that the question asks about, NOWHERE for most questions."""
    text = " ".join(question.split())
    part = _part(text)
    edge = _first(_EDGE_PATTERNS, text)
    if part or edge:
        return Place(edge, part)
    return Place(side=_first(_SIDE_PATTERNS, text))


def _compiled(
    table: Iterable[tuple[_Kind, tuple[str, ...]]],
) -> list[tuple[_Kind, re.Pattern[str]]]:
    return [
        (kind, re.compile(pattern, re.IGNORECASE))
        for kind, patterns in table
        for pattern in patterns
    ]


_EDGE_PATTERNS = _compiled(_EDGES)
_SIDE_PATTERNS = _compiled(_SIDES)
_PART_PATTERNS = [re.compile(pattern) for pattern in _PARTS]


def _first(patterns: Iterable[tuple[_Kind, re.Pattern[str]]], text: str) -> _Kind | None:
    return next((kind for kind, pattern in patterns if pattern.search(text)), None)


def _part(text: str) -> Part | None:
    for pattern in _PART_PATTERNS:
        for found in pattern.finditer(text):
            label, written = found["label"], found["number"]
            if written == "I" and label.islower():
                continue  # "the part I played"
            if number := number_of(written):
                name = label.casefold()
                return Part(SAME_LABELS.get(name, (name,)), number)
    return None


def at_place(place: Place, found: Sequence[Placed]) -> tuple[Placed, ...]:
    """Return what stands at the place, of what a graph found there roughly, each chunk once.

    Of what mentions a numbered part the chunks with its heading stay, with what belongs to it
    beside them; a part's end is where the next part begins.
    """
    begins = {row.anchor: _begun(place, row.chunk) for row in found if _is_heading(row)}
    has_end = place.edge == "end" and place.part and place.part.following() in begins.values()
    wanted, step = (place.part.following(), -1) if has_end and place.part else (place.part, 1)
    kept = [
        row
        for row in found
        if row.why != "part"
        or (begins.get(row.anchor) == wanted and wanted and row.step in {0, step})
    ]
    first: dict[str, Placed] = {}
    for row in sorted(kept, key=lambda row: row.why != "beside"):
        first.setdefault(row.chunk.id, row)
    return tuple(first.values())


def _is_heading(row: Placed) -> bool:
    return row.why == "part" and row.step == 0


def _begun(place: Place, chunk: Chunk) -> Part | None:
    parts = (part for part in place.parts() if part.begins_in(chunk.text, chunk.heading))
    return next(parts, None)


def seated(ranked: Sequence[Chunk], placed: Sequence[Placed]) -> tuple[Chunk, ...]:
    """Return the ranked chunks, best first, with those of the place right behind the best one.

    At most MAX_SEATS of them, and what was wished for by id comes first. What stands beside a
    better chunk comes first, then what is nearer; a chunk that is among them anyway takes no place
    of another. Each has the score of the best one.
    """
    if not ranked:
        return tuple(row.chunk for row in placed[:MAX_SEATS])
    best = ranked[0]
    ranks = {chunk.id: rank for rank, chunk in enumerate(ranked)}
    documents: dict[str, int] = {}
    for chunk in ranked:
        documents.setdefault(chunk.document_name, len(documents))

    def order(row: Placed) -> tuple[bool, int, int, int]:
        document = documents.get(row.chunk.document_name, len(documents))
        rank = 0 if row.why == "part" else ranks.get(row.anchor, len(ranks))
        return (row.why != "beside", document if row.why != "event" else 0, rank, abs(row.step))

    chosen = sorted(placed, key=order)
    seats = [row.chunk for row in chosen if row.chunk.id != best.id][:MAX_SEATS]
    taken = {best.id, *(chunk.id for chunk in seats)}
    rest = (chunk for chunk in ranked if chunk.id not in taken)
    return (best, *(replace(chunk, score=best.score) for chunk in seats), *rest)
