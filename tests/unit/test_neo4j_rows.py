"""Rows are read whatever a graph holds: what no property can be is no concern, all else is."""

from __future__ import annotations

import datetime as dt
from typing import Any
from unittest.mock import Mock

from hypothesis import given
from hypothesis import strategies as st
from neo4j import EagerResult
from neo4j.spatial import CartesianPoint
from neo4j.time import Date, Duration

from drift.core.deadline import Deadline
from drift.core.errors import GraphVectorsError
from drift.graph.careful import CAREFUL_S, CarefulReads
from drift.graph.connection import Connection
from drift.graph.rows import anchors_of_named, candidates, communities
from drift.model.graph import Candidate, Candidates, Chunk, FollowupQuery
from drift.search.ranking import ranked

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(),
    st.text(max_size=5),
    st.binary(max_size=5),
    st.sampled_from([Date(2020, 1, 1), Duration(days=1), CartesianPoint((1, 2)), dt.timedelta(1)]),
)
STORED = SCALARS | st.lists(SCALARS, max_size=3)
NUMBERS = st.floats(0, 1)
PLACES = st.lists(st.integers(0, 2), max_size=3, unique=True)
CHUNK = {
    "id": STORED,
    "text": STORED,
    "heading": STORED,
    "ordinal": STORED,
    "pages": st.lists(st.text(max_size=5) | st.integers(-(2**63), 2**63 - 1), max_size=3),
    "starts": st.lists(st.integers(-(2**63), 2**63 - 1), max_size=3),
    "lines": st.lists(st.integers(-(2**63), 2**63 - 1), max_size=1),
    "document": st.none()
    | st.fixed_dictionaries(
        {
            "title": STORED,
            "id": STORED,
            "metadata": STORED,
            "chunks": STORED,
            "uris": st.lists(STORED, max_size=3),
        }
    ),
}
CHUNKS = st.lists(st.fixed_dictionaries({**CHUNK, "score": NUMBERS}), max_size=3)
COMMUNITIES = st.lists(
    st.fixed_dictionaries(
        {
            "id": STORED,
            "level": st.none() | st.integers(-(2**63), 2**63 - 1),
            "summary": STORED,
            "title": STORED,
            "members": st.lists(STORED, max_size=3),
            "samples": CHUNKS,
        }
    ),
    max_size=3,
)
CANDIDATES = st.lists(
    st.fixed_dictionaries(
        {
            **CHUNK,
            "similarity": st.none() | NUMBERS,
            "bm25": NUMBERS,
            "graph": NUMBERS,
            "in_scope": st.booleans(),
        }
    ),
    max_size=3,
)
FOLLOWUPS = st.fixed_dictionaries(
    {
        "candidates": CANDIDATES,
        "shared": st.just([]),
        "following": st.lists(
            st.fixed_dictionaries(
                {"place": st.integers(0, 3), "chunk": st.fixed_dictionaries(CHUNK)}
            ),
            max_size=3,
        ),
        "relationships": st.lists(
            st.fixed_dictionaries(
                {
                    "source": STORED,
                    "target": STORED,
                    "description": STORED,
                    "places": PLACES,
                    "chunk_id": STORED,
                }
            ),
            max_size=3,
        ),
        "rare": st.lists(st.lists(STORED, max_size=3), max_size=3),
    }
)


@given(COMMUNITIES)
def test_communities_are_read_whatever_stands_there(rows: list[dict[str, Any]]) -> None:
    found = communities({"communities": rows})
    chunks = [chunk for one in found for chunk in one.samples]
    words = [value for c in chunks for value in (c.id, c.text, c.document_name, c.heading)]
    assert {type(word) for word in words} <= {str}
    assert all(c.place is None or 1 <= c.place <= (c.places or 0) for c in chunks)
    assert {type(c.id) for c in found} <= {str, int}
    assert {type(c.summary) for c in found} <= {str}


@given(FOLLOWUPS)
def test_a_follow_up_is_read_whatever_stands_there(row: dict[str, Any]) -> None:
    found = ranked(candidates(row), "")
    words = [text for c in found.chunks for text in (c.id, c.text, c.document_name, c.heading)]
    words += [value for r in found.relationships for value in (r.source, r.target, r.description)]
    words += [value for r in found.relationships for value in r.chunk_ids]
    assert {type(word) for word in words} <= {str}


class Uneven(Connection):
    """A graph with a vector that fails each statement without care."""

    def __init__(self) -> None:
        super().__init__("", "", "", None)
        self.careful: list[bool] = []

    async def read(self, _text: str, parameters: Any, _timeout_s: float = 0.0) -> EagerResult:
        self.careful.append(parameters["careful"])
        if not parameters["careful"]:
            raise GraphVectorsError("a vector")
        return EagerResult([], Mock(), [])


async def test_care_is_taken_of_one_project_for_a_while() -> None:
    now, graph = 0.0, Uneven()
    reads = CarefulReads(graph, lambda: now)

    async def taken(project: str) -> list[bool]:
        graph.careful.clear()
        await reads.read("", {"asked": {"project_id": project}}, Deadline.after(10))
        return list(graph.careful)

    assert [await taken("a"), await taken("a"), await taken("b")] == [
        [False, True],
        [True],
        [False, True],
    ]
    now = CAREFUL_S
    assert await taken("a") == [False, True]


def test_two_documents_of_one_title_are_both_named_by_it() -> None:
    chunks = [Chunk(id_, "", "Handbook.md", document_id=id_[0]) for id_ in ("a1", "a2", "b1")]
    found = Candidates(tuple(Candidate(chunk, None) for chunk in chunks))
    query = FollowupQuery("p", "What does the Handbook say?", (), ())
    assert anchors_of_named(query, found) == ["a1", "b1"]
