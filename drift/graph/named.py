"""Pure: the documents that a question calls by their titles, which are searched whole."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from drift.evidence.names import stands_in
from drift.model.graph import Candidate, Candidates, FollowupQuery

MOST_NAMED = 2
_SHORTEST_TITLE = 4


def anchors_of_named(query: FollowupQuery, found: Candidates) -> list[str]:
    """Return a chunk's id for each document found whose title stands in the question verbatim.

    Full text finds some of its chunks by the words of the title. At most two, of the longest ones.
    """
    anchors: dict[str, str] = {}
    for candidate in found.chunks:
        title = re.sub(r"\.\w{1,9}$", "", candidate.chunk.document_name)
        anchors.setdefault(title, candidate.chunk.id)

    longest = sorted(anchors, key=lambda title: (-len(title), title))
    asked = [query.question]
    named = (t for t in longest if len(t) >= _SHORTEST_TITLE and stands_in(t, asked))
    return [anchors[title] for title in named][:MOST_NAMED]


def with_named(found: Candidates, named: Sequence[Candidate]) -> Candidates:
    """Return what was found with the chunks of named documents, which are inside the scope."""
    ids = {candidate.chunk.id for candidate in named}
    known = {candidate.chunk.id for candidate in found.chunks}
    chunks = [replace(c, in_scope=c.in_scope or c.chunk.id in ids) for c in found.chunks]
    further = (candidate for candidate in named if candidate.chunk.id not in known)
    return replace(found, chunks=(*chunks, *further))
