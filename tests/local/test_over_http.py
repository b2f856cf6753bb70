"""A whole question over Neo4j's Query API, to a server whose language is Cypher 25 by default."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from drift.core.errors import GraphMisconfiguredError, GraphUnavailableError
from drift.graph.connection import Connection
from drift.local.stack.loopback import free_port
from drift.local.stack.neo4j.server import Neo4jServer
from tests.command_line import PATIENCE_S, command
from tests.contract.foreign_graphs import add_ferries
from tests.local.test_commands_on_foreign_graphs import LENGTH, LONGER, NO_REDIS, model_of
from tests.model_server_fixture import ModelServerControl
from tests.servers import NEWER, OLDER, QUICK

pytestmark = [pytest.mark.neo4j, pytest.mark.deep, pytest.mark.timeout(4 * PATIENCE_S)]


@dataclass(frozen=True, slots=True)
class Served:
    """A server that is asked at `uri`, and its Bolt port."""

    uri: str
    server: Neo4jServer

    def connection(self, uri: str = "", password: str = "", database: str = "neo4j") -> Connection:
        login = password or self.server.password
        return Connection(uri or self.uri, self.server.user, login, database)


@pytest.fixture(scope="module", params=[NEWER, OLDER])
def served(request: pytest.FixtureRequest) -> Iterator[Served]:
    port = free_port()
    settings = {
        "server.http.enabled": "true",
        "server.http.listen_address": f"127.0.0.1:{port}",
        **({"db.query.default_language": "CYPHER_25"} if request.param == NEWER else {}),
    }
    with Neo4jServer(request.param, java_flags=QUICK, settings=settings) as server:
        yield Served(f"http://127.0.0.1:{port}", server)


def test_prepare_ask_and_doctor_work_over_http(
    served: Served, model_server: ModelServerControl, tmp_path: Path
) -> None:
    async def lay_out() -> None:
        async with served.connection() as database:
            await add_ferries(database, "north")
            await database.write(LONGER, {})

    asyncio.run(lay_out())
    environment = {
        **served.server.env,
        **LENGTH,
        **model_of(model_server),
        "NEO4J_URI": served.uri,
        "REDIS_URL": NO_REDIS,
    }
    at = ("--data-dir", str(tmp_path / "none"))
    prepared = command("prepare", *at, **environment)
    assert prepared.returncode == 0, prepared.stderr
    question = ("When does ferry 1 leave?", "-p", "north", "--json")
    asked = command("ask", *question, *at, **environment)
    assert asked.returncode == 0, asked.stderr
    assert json.loads(asked.stdout)["key_facts"][0]["citations"]
    looked = command("doctor", *at, **environment)
    assert (looked.returncode, "Received notification" in looked.stderr) == (0, False), looked


async def test_what_is_wrong_over_http_is_told_as_over_bolt(served: Served) -> None:
    wrong = [
        ({"password": "wrong"}, "check NEO4J_USERNAME and NEO4J_PASSWORD"),
        ({"database": "nowhere"}, "check NEO4J_DATABASE"),
        ({"uri": served.server.uri.replace("bolt", "http")}, "is not Neo4j's Query API"),
    ]
    for change, says in wrong:
        async with served.connection(**change) as connection:
            with pytest.raises(GraphMisconfiguredError, match=says):
                await connection.read("RETURN 1", {})

    async with served.connection("http://127.0.0.1:1") as connection:
        with pytest.raises(GraphUnavailableError):
            await connection.read("RETURN 1", {})
