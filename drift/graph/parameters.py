"""The values beside the text of a search: what the question brings, and bounds of every list."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from drift.core import source_uri
from drift.core.hyperlinks import MOST_OF_A_CHUNK
from drift.core.names import document_key, linking_keys, name_parts, title_keys
from drift.evidence.text import pairs, similarity
from drift.graph.cypher.schema import Schema
from drift.graph.indexes import NAMES_INDEX, project_key
from drift.graph.inventory import Inventory
from drift.graph.rows import anchors_of_named
from drift.graph.text_query import lone_words, lucene
from drift.model.allowed import Allowed
from drift.model.graph import Candidates, Chunk, FollowupQuery, PrimerQuery
from drift.model.reading import Key
from drift.search.ranking import MIN_MASS, SHORT_HIT, fuse
from drift.search.title_links import linked

EDITION_MARKS = {"beginning": ["*** START OF TH"], "end": ["*** END OF TH"]}
"""What parts the text of an electronic edition from the words around it."""

SEARCHED_ROWS = 100
"""Rows asked of an index that filters by project, and scored exactly; more than are kept, since an
index looks further the more it is asked for."""

BOUNDS: Mapping[str, int | float] = {
    # The legs: the nearest chunks by vector, by words and by the walk; of all of them, what is
    # sent.
    "pool": 60,
    "rescored": SEARCHED_ROWS,
    "text_pool": 40,
    "text_rows": 40,
    # A word alone is rare in fewer chunks; so many of the rarest are told.
    "few_rows": 10,
    "most_rare": 4,
    "graph_pool": 40,
    "keep": 48,
    # The primer: the highest communities whose vectors are looked at first.
    "first_looked_at": 30,
    # The likeliest chunks of which one under so many characters brings the next. What is said to
    # stand further back in its document has no place.
    "most_followed": 10,
    "most_chunks": 1_000_000,
    "short": SHORT_HIT,
    # The walk.
    "most_named": 50,
    # Rows of the index of titles for a part of one, and the words of a title for each of the part.
    "names_seen": 20,
    "words_for_one": 3,
    "most_seeds": 12,
    "damping": 0.85,
    "least_mass": MIN_MASS,
    "most_walked": 300,
    # What candidates share; an entity with more relations than `fan` is a hub, and says nothing of
    # what a chunk is about.
    "mentions_each": 40,
    "most_shared": 200,
    "fan": 100,
    # The nearest chunks of the documents that a question names.
    "most_of_named": 30,
    # Documents whose titles stand in the question or in the best chunks, so many chunks of each
    # that are compared, and the nearest of these.
    "most_titled": 20,
    "compared_of_titled": 500,
    "most_of_titled": 2,
    # Links that are stored beside a chunk.
    "most_links": MOST_OF_A_CHUNK,
    # Positions: chunks of each, and a document's outermost chunks in which a mark is looked for.
    "most_pinned": 2,
    "outermost": 60,
    # Characters of a document's metadata that are worth sending for its file's name.
    "longest_metadata": 10_000,
    "longest_page": 32,
    "longest_uri": source_uri.MOST_CHARACTERS,
    # Nothing leads over an entity in more than this share of the project's chunks, as far as they
    # were counted, unless it is in few.
    "few_mentions": 5,
    "common_share": 0.2,
    # The neighbourhood of so many chunks.
    "rooted": 10,
    "most_entities": 20,
    "relations_seen": 200,
    "relations_each": 8,
    "most_relations": 30,
}
"""How much each step of a statement takes, by the names of its parameters."""


@dataclass(frozen=True, slots=True)
class StatementParameters:
    """Makes the values of a search's statements, for one graph store, of which they are bounds."""

    schema: Schema
    hard: bool = False
    exact_limit: int | None = None
    allowed: Allowed | None = None

    def within(self, allowed: Allowed) -> StatementParameters:
        """Return what makes the values of statements that read these documents alone."""
        return replace(self, schema=self.schema.filtered, allowed=allowed)

    def seen(self, schema: Schema) -> Schema:
        """Return a schema that is filtered as this one is."""
        return replace(schema, is_filtered=self.schema.is_filtered)

    def bounded(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values of any statement, with the documents that may be read."""
        return dict(values) if self.allowed is None else self.allowed.bounding(values)

    def primer(self, query: PrimerQuery) -> dict[str, Any]:
        """Return what the statements of the primer and of topics are given."""
        voters = [{"id": one, "ids": stored_ids(one)} for one in query.voters]
        return {
            **BOUNDS,
            "asked": {"project_id": query.project_id, "voters": voters},
            "vector": list(query.vector),
            "dimensions": len(query.vector),
            "top_k": query.top_k,
            "enough": (query.top_k + 1) // 2,
        }

    def followup(self, query: FollowupQuery, inventory: Inventory) -> dict[str, Any]:
        """Return what a follow-up's statement is given."""
        exact_limit = self.exact(len(query.vector), searches=bool(inventory.search_index))
        project_id = query.project_id if self.schema.has_projects else None
        words = f"{query.question} {query.position.document if query.position else ''}"
        return {
            **BOUNDS,
            "vector": list(query.vector),
            "dimensions": len(query.vector),
            "exact_limit": exact_limit,
            "chunk_index": inventory.asked.chunk,
            "fulltext_index": inventory.asked.fulltext,
            "names_index": NAMES_INDEX,
            "asked": {
                "project_id": query.project_id,
                "located": query.located,
                "communities": list(query.communities),
                "lucene": lucene(words, project_id, self.schema.text)
                if not inventory.text_problem
                else "",
                "words": lone_words(query.question, project_id, self.schema.text)
                if not inventory.text_problem
                else [],
                "title_keys": [key for key in title_keys(query.question) if _can_be_sent(key)],
                "name_parts": _asked_names(query.question, project_id)
                if inventory.covers_names
                else [],
            },
            # Of an index that other projects share, some rows are theirs.
            "fetch": SEARCHED_ROWS if inventory.search_index else 500,
            "hard": self.hard and bool(query.communities),
            # The count says how rare an entity is.
            "count_limit": max(2000, exact_limit + 1),
        }

    def positions(
        self, query: FollowupQuery, wishes: Sequence[Mapping[str, Any]]
    ) -> dict[str, Any]:
        """Return what the statement of positions is given."""
        return {
            **BOUNDS,
            "asked": {
                "project_id": query.project_id,
                "located": query.located,
                "communities": list(query.communities),
                "wishes": wishes,
            },
            "hard": self.hard and bool(query.communities),
            "dimensions": len(query.vector),
        }

    def named(
        self, query: FollowupQuery, found: Candidates, inventory: Inventory
    ) -> dict[str, Any] | None:
        """Return what the statement of named documents is given, None where nothing names any.

        That is a chunk of each, its title, or the id to which a link leads.
        """
        anchors = [key for one in anchors_of_named(query, found) for key in stored_ids(one)]
        named: dict[str, list[Any]] = {"anchors": anchors, "titles": [], "linked": []}
        if inventory.finds_titles or self.schema.has_projects:
            asked, best = title_keys(query.question), fuse(found.chunks, 3)
            if inventory.finds_titles:
                named["titles"] = _titles_to_look_up(asked, best)
            if self.schema.has_projects:
                named["linked"] = _documents_to_look_up(asked, best, found)
        if not any(named.values()):
            return None
        values = self.positions(query, [])
        return values | {"vector": list(query.vector), "asked": values["asked"] | named}

    def exact(self, dimensions: int, *, searches: bool) -> int:
        """Return the nodes of one label up to which all are scored.

        An index that filters by project finds as much for a small one, and is as fast from there
        on. Beside its floats a node costs as much as a hundred more.
        """
        if self.exact_limit is not None:
            return self.exact_limit
        return (300_000 if searches else 650_000) // (dimensions + 100)


def _asked_names(question: str, project_id: str | None) -> list[dict[str, str]]:
    """Return the parts of titles that the question may name, each with its full-text query."""
    project = f"+project_key:{project_key(project_id)}^0 " if project_id is not None else ""
    return [
        {"key": part, "lucene": f"{project}+title_key:({_all_of(part)})"}
        for part in name_parts(question)
        if _can_be_sent(part)
    ]


def _all_of(part: str) -> str:
    """Return the words as terms that must all be there; in quotes nothing is syntax."""
    words = part.replace('"', "").replace("\\", "").split()
    return " ".join(f'+"{word}"' for word in words)


def _titles_to_look_up(asked: Iterable[str], best: Iterable[Chunk]) -> list[str]:
    """Return the titles, as keys, that the question and the texts of the best chunks may name."""
    keys = (key for chunk in best for key in linking_keys(chunk.text, 150))
    return list(filter(_can_be_sent, dict.fromkeys((*asked, *keys))))


def _documents_to_look_up(
    asked: Collection[str], best: Iterable[Chunk], found: Candidates
) -> list[str]:
    """Return the ids, at most twenty, to which the best chunks link, and those that are named."""
    most = 20
    named = [c.chunk for c in found.chunks if document_key(c.chunk.document_name) in asked]
    ids = (id_ for chunk in (*best, *named[:4]) for _, id_ in linked(chunk))
    return list(filter(_can_be_sent, dict.fromkeys(ids)))[:most]


def wished(query: FollowupQuery, found: Candidates) -> list[dict[str, Any]]:
    """Return up to eleven wishes of a query for the statement of positions; mostly none.

    A document is told by a chunk of it that was found: the best one, unless another's document has
    a name that is a little like the one wished for.
    """
    # Similarity (0..1, see drift.evidence.text) from which a document may be the one named.
    like_a_name = 0.3
    beside = [wish for wish in query.beside if _can_be_sent(wish.chunk_id)][:8]
    wishes: list[dict[str, Any]] = [
        {"ids": stored_ids(wish.chunk_id), "direction": wish.direction, "marks": []}
        for wish in beside
    ]

    position = query.position
    if position and found.chunks:
        best_first = fuse(found.chunks, len(found.chunks))
        anchors = best_first[:3]  # any of them may tell the event whose sides are asked for
        if position.at in EDITION_MARKS:
            name = pairs(position.document)
            likeness = [similarity(name, pairs(chunk.document_name)) for chunk in best_first]
            closest = likeness.index(max(likeness)) if max(likeness) >= like_a_name else 0
            anchors = best_first[closest : closest + 1]

        marks = EDITION_MARKS.get(position.at, [])
        wishes += [
            {"ids": stored_ids(chunk.id), "direction": position.at, "marks": marks}
            for chunk in anchors
        ]

    return wishes


def stored_ids(id_: str) -> list[Key]:
    """Return the keys that are told as this id: some graphs number their nodes."""
    keys: list[Key] = [id_]
    for number in (int, float):
        with suppress(ValueError, OverflowError):
            keys += [key for key in (number(id_),) if str(key) == id_ and abs(key) < 2**63]
    return keys


def _can_be_sent(word: str) -> bool:
    # Half of a surrogate pair is no character and cannot be sent.
    return word.isascii() or not any("\ud800" <= character <= "\udfff" for character in word)
