"""Every statement compiles on both servers.

And no plan reads nodes of all projects, multiplies rows or holds them back.

Plans are read twice: those made while the database is empty, and profiles of real runs on a project
of some size beside another.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from drift.core.errors import GraphMisconfiguredError
from drift.graph.connection import Connection
from drift.graph.cypher.legs import EARLIER, PERSONAL
from drift.local.stack.neo4j.server import Neo4jServer
from tests.contract.statements.catalogue import (
    OF_EARLIER_RELEASE,
    STATEMENTS,
    compiles_on,
    is_about_all,
    is_schema,
    is_search,
)
from tests.contract.statements.plans import Plan, eagers, operators, products, scans
from tests.contract.statements.profiling import Measured, measure, planned
from tests.servers import on_whole_servers_of_both_versions

pytestmark = [
    pytest.mark.neo4j,
    pytest.mark.deep,
    pytest.mark.timeout(300, func_only=True),
]

WITHOUT_TENANTS = (":__Chunk__", ":__Community__", ":FROM_DOCUMENT]->(d)")
"""Where the whole database is one project, its chunks and communities are found by their labels,
its documents, which have none, by their edges, and nothing else is."""

SCANNED = (f":{EARLIER}", f"&!{PERSONAL}")
"""How the details of a scan end that looks for own nodes of an earlier release."""

_DELETES = "what it deletes is what it matched, and the server collects all of it first"
_LABELS = "the label that it takes away is the one that it matched"
_PROPERTIES = "what it changes of a node is what it matched it by"
_MAPS = "the names of properties are known with each row alone, and a statement has at most 2,000"
EAGER = {
    **dict.fromkeys(
        (
            "knowledge.KEEP_REPLIES",
            "knowledge.PUT_ENTITIES",
            "knowledge.PUT_RELATIONS",
            "write.STAGE_CHUNKS",
        ),
        _MAPS,
    ),
    **dict.fromkeys(
        (
            "knowledge.FRESHEN",
            *(
                f"knowledge.{does} __{kind}__"
                for does in ("retire", "reinstate")
                for kind in ("Entity", "Community")
            ),
        ),
        _PROPERTIES,
    ),
    "knowledge.PUT_COMMUNITIES": "vectors are stored when the properties of all rows are, and a "
    "statement has 250",
    "write.PUT_DOCUMENTS": "it asks for titles and topics that it changes; it has the documents of "
    "one batch",
    "write.PUT_DOCUMENT_VECTORS": "it takes a document's vectors away before it makes them; it has "
    "the documents of one batch",
    "write.SWITCH_OFF": _LABELS,
    "write.SWITCH_ON": _LABELS,
    "write.DROP_STALE_CHUNKS": _DELETES,
    "write.REMOVE_DOCUMENTS": _DELETES,
    "write.UNSTAGE": _DELETES,
    "knowledge.DROP_REPLIES": _DELETES,
    "lease.FORGET": _DELETES,
    "write.PUT_CHUNKS": "vectors are stored when the properties of all rows are, and a "
    "statement has 250",
    "write.JOIN_TOPICS": "the edges that it makes are of the kind that it asks for; it has the "
    "chunks of one document",
    "write.REVEAL_STAGED": _LABELS,
    "write.ADOPT_STAGED": _DELETES,
    "knowledge.drop_other_generations __Entity__": _DELETES,
    "knowledge.drop_other_generations __Community__": _DELETES,
    **dict.fromkeys(
        ("exchange.DROP_MEMBERS", "exchange.DROP_OFF", "exchange.DROP_ORPHANS", "exchange.FORGET"),
        _DELETES,
    ),
    **dict.fromkeys(("exchange.hide __Document__", "exchange.hide __Chunk__"), _LABELS),
    "exchange.REVEAL": _LABELS,
    "exchange.PUT_NODES": "labels are known with each row alone, and a statement has 250",
    "exchange.PUT_EDGES": "types are known with each row alone, and a statement has 2,000",
}
"""Statements that may hold all their rows back, and why they must; none of them only reads."""

PLANNED = [name for name, text in STATEMENTS.items() if not is_schema(text)]
EMPTY = [name for name in PLANNED if not is_search(name)]
SCOPED = [name for name in PLANNED if not is_about_all(name)]


@pytest.fixture(scope="module")
def measured(whole_server: Neo4jServer) -> Measured:
    """What each server says about the statements, before any test's time begins."""
    return asyncio.run(measure(whole_server))


def allowed(name: str) -> tuple[str, ...]:
    """Return the ends of the details of scans that the statement may do."""
    if name == "exchange.DROP_OFF":
        return (":__StagedChunk__",)  # of which there are few, in any project
    if name.endswith(" v1"):
        return WITHOUT_TENANTS
    return SCANNED if name in OF_EARLIER_RELEASE else ()


@on_whole_servers_of_both_versions
def test_a_statement_compiles_and_scans_nothing_even_in_an_empty_database(
    measured: Measured,
) -> None:
    for name in EMPTY:
        assert name in measured.planned, measured.refused[name]
        goes_by_label = name.startswith("reading.") and name.endswith(" v1")
        found = scans(measured.planned[name], allowed(name))
        assert is_about_all(name) or goes_by_label or not found, name


@on_whole_servers_of_both_versions
async def test_the_searching_forms_compile_only_where_the_server_has_them(
    measured: Measured, whole_server: Neo4jServer, database: Connection
) -> None:
    del measured  # is made in the same database, before
    for text in STATEMENTS.values():
        if not compiles_on(text, whole_server.version) and not is_schema(text):
            with pytest.raises(GraphMisconfiguredError):
                await planned(database, text)


@on_whole_servers_of_both_versions
def test_a_profile_has_no_scan_and_no_product_and_holds_no_rows_back(
    measured: Measured, whole_server: Neo4jServer
) -> None:
    holding = set()
    for name in SCOPED:
        profiles = measured.profiled.get(name, [])
        assert bool(profiles) == compiles_on(STATEMENTS[name], whole_server.version), (
            f"the adapters never sent {name}"
        )
        for profile in profiles:
            assert not scans(profile, allowed(name)), name
            assert not products(profile), name
            if name not in EAGER and eagers(profile):
                holding.add(name)
    assert not holding, ", ".join(sorted(holding))


@on_whole_servers_of_both_versions
def test_what_looks_at_the_whole_database_does_so_once_and_not_for_each_row(
    measured: Measured,
) -> None:
    for name in filter(is_about_all, measured.profiled):
        for profile in measured.profiled[name]:
            assert not [str(o) for o in operators(profile) if o.is_scan and o.runs != 1], name


@on_whole_servers_of_both_versions
def test_what_may_scan_for_nodes_of_an_earlier_release_does(measured: Measured) -> None:
    for name in OF_EARLIER_RELEASE:
        assert any(map(scans, measured.profiled[name])), f"{name}: a reason too many"


@on_whole_servers_of_both_versions
def test_the_adapters_send_nothing_that_is_not_in_the_catalogue(measured: Measured) -> None:
    assert measured.sent <= set(STATEMENTS.values())


@on_whole_servers_of_both_versions
def test_a_statement_that_may_hold_rows_back_does(measured: Measured) -> None:
    assert [name for name in EAGER if not any(map(eagers, measured.profiled[name]))] == [], (
        "a reason too many"
    )


@pytest.mark.parametrize("name", ["primer.primer", "search.followup"])
@on_whole_servers_of_both_versions
def test_an_exact_search_costs_the_same_when_the_tenant_beside_grows_tenfold(
    measured: Measured, name: str
) -> None:
    (form,) = (
        form for form in measured.growth if form.startswith(name)
    )  # the one that the server's indexes allow
    assert len(measured.growth[form]) >= 2
    for before, after in measured.growth[form]:
        assert before > 500
        # The statistics have changed, so the plan may have. A step that read the other tenant would
        # cost its 3,000 chunks.
        assert after < 1.2 * before


@pytest.mark.parametrize(
    ("text", "find"),
    [
        ("MATCH (n:__Planted__) RETURN count(n.text)", scans),
        ("MATCH (a:__Planted__), (b:__Planted__) RETURN a.of, b.of", products),
        (
            """UNWIND [1, 2] AS x
            CALL (x) { MATCH (a:__Planted__), (b:__Planted__) RETURN a.of + b.of + x AS sum }
            RETURN sum""",
            products,
        ),
        ("MATCH (n:__Planted__) SET n.of = 7 WITH n MATCH (m {of: n.of}) SET m.of = 8", eagers),
    ],
)
async def test_a_planted_fault_is_seen(
    database: Connection, text: str, find: Callable[[Plan], list[str]]
) -> None:
    await database.write("UNWIND range(1, 3) AS i CREATE (:__Planted__ {of: i})-[:PLANTED]->()", {})
    result = await database.write(f"PROFILE {text}", {})
    assert result.summary.profile is not None
    assert find(result.summary.profile)


def test_only_the_named_label_is_excused_for_a_scan() -> None:
    labelled = {"operatorType": "NodeByLabelScan@neo4j", "args": {"Details": "ch:__Chunk__"}}
    assert scans(labelled)
    assert not scans(labelled, WITHOUT_TENANTS)
    assert scans(labelled | {"args": {"Details": "e:__Entity__"}}, WITHOUT_TENANTS)
