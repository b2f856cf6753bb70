"""Where a text stands in a graph: the passages, of any project, that say it."""

from __future__ import annotations

from dataclasses import dataclass

from drift.core.errors import GraphMisconfiguredError
from drift.evidence.text import tokens
from drift.graph.connection import READ_TIMEOUT_S, Connection
from drift.graph.text_query import wanted_words
from drift.local.retrieval.document_search import passages_saying

NEARLY = 0.8
"""The share of a text's words that a passage has which says it, or nearly."""


@dataclass(frozen=True, slots=True)
class HeldPassage:
    """A passage as the graph holds it."""

    project: str
    id: str
    text: str
    is_off: bool
    has_vector: bool


async def saying(
    text: str, project: str, connection: Connection, fulltext_index: str
) -> list[HeldPassage]:
    """Return the passages that say a text, or nearly; none where it, or the graph, has no word.

    Raises:
        UpstreamError: the graph cannot be read.
    """
    words = set(tokens(text[:4000]))
    if not (terms := wanted_words(text[:4000], has_headings=False)):
        return []
    asked = {"terms": terms, "project_id": project, "fulltext_index": fulltext_index}
    try:
        found = await connection.read(passages_saying(), asked, READ_TIMEOUT_S)
    except GraphMisconfiguredError:  # without the index of words no passage is found by one
        return []
    held = [HeldPassage(**row) for row in found.records]
    return [one for one in held if len(words & set(tokens(one.text))) >= NEARLY * len(words)]
