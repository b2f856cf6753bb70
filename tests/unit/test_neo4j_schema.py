"""Which indexes serve, stand in the way or are awaited.

What a server rarely shows, played by rows of SHOW INDEXES.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from types import SimpleNamespace
from typing import Any

import pytest

from drift.core.errors import (
    DriftError,
    GraphMisconfiguredError,
    GraphTimeoutError,
    GraphUnavailableError,
)
from drift.graph.cypher.schema import DEFAULT
from drift.graph.indexes import IndexNames, WantedIndex
from drift.local.ingest.neo4j import schema as neo4j_schema
from drift.local.ingest.neo4j.ddl import wanted_indexes
from drift.local.ingest.neo4j.ensure import former_texts
from drift.local.ingest.neo4j.schema import missing, obstacles, wait_until_online, warnings
from drift.model.health import Index

WANTED = wanted_indexes(DEFAULT, IndexNames("communities", "chunks", "texts"))


def stored(wanted: WantedIndex) -> Index:
    """The index as the server lists it after creating what is wanted."""
    is_vector = wanted.kind == "vector"
    return Index(
        wanted.name,
        "range" if wanted.kind == "constraint" else wanted.kind,
        (wanted.label,),
        wanted.properties,
        is_unique=wanted.kind == "constraint",
        dimensions=4 if is_vector else None,
        similarity="COSINE" if is_vector else None,
    )


ALL = tuple(stored(w) for w in WANTED)


def but(name: str, /, **changes: Any) -> tuple[Index, ...]:
    """All of them, one changed."""
    return tuple(replace(s, **changes) if s.name == name else s for s in ALL)


class Listed:
    """What a connection returns for SHOW INDEXES."""

    def __init__(self, records: list[dict[str, Any]]) -> None:
        self.records = records
        self.summary = SimpleNamespace(server=SimpleNamespace(agent="Neo4j/played"))


@dataclass
class Listing:
    """A connection that lists these indexes, one after the other, or fails; the last for good."""

    looks: list[tuple[Index, ...] | DriftError]

    async def read(self, text: str, parameters: Mapping[str, Any], timeout_s: float) -> Any:
        del text, parameters, timeout_s
        shown = self.looks.pop(0) if len(self.looks) > 1 else self.looks[0]
        if isinstance(shown, DriftError):
            raise shown
        return Listed([asdict(index) for index in shown])


def test_what_was_created_serves_and_nothing_stands_in_the_way() -> None:
    assert missing(WANTED, ALL) == ()
    assert obstacles(WANTED, ALL, 4) == ()
    assert warnings(WANTED, ALL, can_filter=True) == ()
    assert missing(WANTED, ()) == WANTED


def test_a_key_or_range_index_of_another_name_serves() -> None:
    assert missing(WANTED, but("drift_chunk_project", name="theirs")) == ()
    assert missing(WANTED, but("drift_chunk_key", name="theirs")) == ()
    assert obstacles(WANTED, but("drift_chunk_key", name="theirs"), 4) == ()


def test_an_index_that_failed_is_named() -> None:
    for name in ("texts", "chunks", "drift_entity_title"):
        (said,) = obstacles(WANTED, but(name, state="FAILED"), 4)
        assert said.startswith(f"{name} (")
        assert said.endswith(
            f"is in state FAILED and will never answer: drop it (`DROP INDEX {name}`), then run "
            "`python -m drift prepare`."
        )


def test_a_vector_index_without_the_filter_is_said_only_where_the_server_could_have_it() -> None:
    plain = but("chunks", properties=("embedding",))
    assert missing(WANTED, plain) == ()
    assert warnings(WANTED, plain, can_filter=False) == ()
    assert (
        "chunks was made without `project_id` as a filter"
        in warnings(WANTED, plain, can_filter=True)[0]
    )


async def test_an_index_that_is_not_online_in_time_is_named_with_how_far_it_is() -> None:
    building = but("chunks", state="POPULATING", percent=43.2)
    with pytest.raises(
        GraphMisconfiguredError,
        match=r"Not online after 0 s: chunks \(43 %\)\. .*again later.*--wait",
    ):
        await wait_until_online(Listing([building]), WANTED, 4, 0)


async def test_a_server_that_is_silent_while_it_builds_is_asked_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    building, silent = but("chunks", state="POPULATING", percent=99.0), GraphTimeoutError("silent")
    monkeypatch.setattr(neo4j_schema, "READ_TIMEOUT_S", 0.0)  # every failure took that long
    assert await wait_until_online(Listing([building, silent, silent, ALL]), WANTED, 4, 60) == ALL
    with pytest.raises(GraphTimeoutError):
        await wait_until_online(Listing([building, silent]), WANTED, 4, 0.2)


@pytest.mark.parametrize(
    "before", [[], [but("chunks", state="POPULATING")]], ids=["at first", "later"]
)
async def test_a_server_that_refuses_at_once_is_not_waited_for(
    before: list[tuple[Index, ...]],
) -> None:
    gone = GraphUnavailableError("gone")
    with pytest.raises(GraphUnavailableError):
        await wait_until_online(Listing([*before, gone]), WANTED, 4, 60)


async def test_an_index_that_fails_or_goes_while_it_is_awaited_is_named() -> None:
    building = but("chunks", state="POPULATING", percent=43.2)
    with pytest.raises(GraphMisconfiguredError, match=r"chunks \(.*is in state FAILED"):
        await wait_until_online(Listing([building, but("chunks", state="FAILED")]), WANTED, 4, 60)
    with pytest.raises(GraphMisconfiguredError, match=r"texts should be there and is not"):
        await wait_until_online(
            Listing([tuple(s for s in ALL if s.name != "texts")]), WANTED, 4, 60
        )


def test_another_project_s_indexes_are_no_concern() -> None:
    other = Index("other", "range", ("Other",), ("name",), "FAILED", 3.0)
    assert obstacles(WANTED, (*ALL, other), 4) == ()


@pytest.mark.parametrize(
    ("properties", "is_former"),
    [
        (("text", "project_key", "heading"), True),
        (("text", "project_key", "heading", "name_words"), False),
        (("text", "project_key"), False),
    ],
)
def test_only_the_full_text_index_of_an_earlier_version_is_made_anew(
    properties: tuple[str, ...], is_former: bool
) -> None:
    assert former_texts(WANTED, but("texts", properties=properties)) == ["texts"] * is_former
    assert not former_texts(WANTED, but("texts", properties=properties, name="of others"))
