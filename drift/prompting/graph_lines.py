"""Pure: the relations that a prompt gains by, each a way from a name that is known to a new one.

What a shown chunk says is not said again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, zip_longest

from drift.evidence.found_names import is_date_or_number, stands_in
from drift.model.graph import Chunk, Evidence, Relationship
from drift.prompting.markup import on_line
from drift.prompting.tokens import cut


def graph_lines(
    evidence: Sequence[Evidence], shown: Sequence[Chunk], known: Sequence[str]
) -> list[str]:
    """Return at most six lines; `known` are the questions and the names that were found so far."""
    known = [text.casefold() for text in known]
    texts = [_spaced(chunk.text) for chunk in shown]
    ids = {chunk.id for chunk in shown}

    lines: dict[frozenset[str], str] = {}
    for one in _in_turns(map(_ranked, evidence)):
        if _leads_on(one, known) and not _is_shown(one, ids, texts):
            lines.setdefault(frozenset((one.source, one.target)), _line(one))

    return list(lines.values())[:6]


def _in_turns(columns: Iterable[Sequence[Relationship]]) -> list[Relationship]:
    """Return the first of each column, then the second."""
    return [one for one in chain.from_iterable(zip_longest(*columns)) if one]


def _ranked(found: Evidence) -> list[Relationship]:
    """Return relations by the rank of the best chunk that says them."""
    ranks = {chunk.id: rank for rank, chunk in enumerate(found.chunks)}
    last = len(ranks)
    return sorted(
        found.relationships,
        key=lambda one: min((ranks.get(id_, last) for id_ in one.chunk_ids), default=last),
    )


def _leads_on(one: Relationship, known: Sequence[str]) -> bool:
    """Whether one end is known and the other is not, and is a name."""
    ends = [_spaced(end) for end in (one.source, one.target)]
    is_first, is_last = (stands_in(end, known) for end in ends)
    return all(ends) and is_first != is_last and not is_date_or_number(ends[is_first])


def _is_shown(one: Relationship, ids: set[str], texts: Sequence[str]) -> bool:
    """Whether a shown chunk mentions both ends, or has its words."""
    said = _spaced(one.description)
    return not ids.isdisjoint(one.chunk_ids) or any(said in text for text in texts)


def _spaced(text: str) -> str:
    return " ".join(text.split()).casefold()


def _line(one: Relationship) -> str:
    said = on_line(cut(one.description, 240))
    return f"{on_line(one.source)} - {on_line(one.target)}: {said}"
