"""Pure: the relations that a prompt gains by, each a way from a name that is known to a new one.

What a shown chunk says is not said again. A relation with its sentence is shown by that; one of a
graph from elsewhere only where its description says more than that there is a relation.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain, zip_longest

from drift.evidence.found_names import stands_in
from drift.evidence.text import content_words
from drift.model.graph import Chunk, Evidence, Relationship
from drift.prompting.elements import short_name
from drift.prompting.markup import on_line
from drift.prompting.tokens import cut

MAX_LINES = 6
MAX_CHARACTERS = 240
SEVERAL = 3
"""Relations that say the same of other names are filled in by a template from so many on."""
_FEWEST_WORDS = 2
_FEWEST_LETTERS = 8
"""Of a description beside its names, where it has fewer words: some languages have no spaces."""


def graph_lines(
    evidence: Sequence[Evidence], shown: Sequence[Chunk], known: Sequence[str]
) -> list[str]:
    """Return at most six lines; `known` are the questions and the names that were found so far."""
    relations = _in_turns(map(_ranked, evidence))
    templates = Counter(_beside_names(one) for one in dict.fromkeys(relations))
    known = [text.casefold() for text in known]
    texts = [_spaced(chunk.text) for chunk in shown]
    ids = {chunk.id for chunk in shown}

    lines: dict[frozenset[str], str] = {}
    for one in relations:
        said = _beside_names(one)
        is_told = bool(one.chunk_id) or (templates[said] < SEVERAL and _is_telling(said))
        if is_told and _leads_on(one, known) and not _is_shown(one, ids, texts):
            lines.setdefault(frozenset((one.source, one.target)), _line(one))

    return list(lines.values())[:MAX_LINES]


def _in_turns(columns: Iterable[Sequence[Relationship]]) -> list[Relationship]:
    """Return the first of each column, then the second."""
    return [one for one in chain.from_iterable(zip_longest(*columns)) if one]


def _ranked(found: Evidence) -> list[Relationship]:
    """Return relations by the rank of the chunk that says them, those without their chunk last."""
    ranks = {chunk.id: rank for rank, chunk in enumerate(found.chunks)}

    def place(one: Relationship) -> tuple[bool, int]:
        said_in = (one.chunk_id,) if one.chunk_id else one.chunk_ids
        known = [ranks[chunk_id] for chunk_id in said_in if chunk_id in ranks]
        return one.chunk_id not in ranks, min(known, default=len(ranks))

    return sorted(found.relationships, key=place)


def _leads_on(one: Relationship, known: Sequence[str]) -> bool:
    """Whether one end is known and the other is not."""
    ends = [_spaced(end) for end in (one.source, one.target)]
    return all(ends) and stands_in(ends[0], known) != stands_in(ends[1], known)


def _is_shown(one: Relationship, ids: set[str], texts: Sequence[str]) -> bool:
    """Whether a shown chunk says it; without its sentence, whether one mentions both ends."""
    said_in = (one.chunk_id,) if one.chunk_id else one.chunk_ids
    said = _spaced(one.description)
    return not ids.isdisjoint(said_in) or any(said in text for text in texts)


def _beside_names(one: Relationship) -> str:
    """Return a description without its names; of a list, the words before the colon."""
    said = _spaced(one.description)
    for name in sorted((one.source, one.target), key=len, reverse=True):
        if end := _spaced(name):
            said = re.sub(rf"(?<!\w){re.escape(end)}(?!\w)", " ", said)
    return _spaced(said.partition(":")[0])


def _is_telling(said: str) -> bool:
    words = re.findall(r"[^\W\d_]+", said)
    is_long = len(words) >= _FEWEST_WORDS or sum(map(len, words)) >= _FEWEST_LETTERS
    return is_long and bool(content_words(said) - {"both"}) and "_" not in said


def _spaced(text: str) -> str:
    return " ".join(text.split()).casefold()


def _line(one: Relationship) -> str:
    said = on_line(cut(one.description, MAX_CHARACTERS))
    where = f" ({on_line(short_name(one.document))})" if one.document else ""
    return f"{on_line(one.source)} - {on_line(one.target)}: {said}{where}"
