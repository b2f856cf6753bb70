"""`drift ingest` twice at once over one project, as processes: one writer, and nothing is lost.

What runs alone afterwards runs in this process.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from neo4j import Driver, GraphDatabase

from drift.local.stack.neo4j.server import Neo4jServer
from tests.command_line import NO_SERVERS_GIVEN, PATIENCE_S, ROOT, command
from tests.contract.known_names import OWN_LABEL
from tests.model_server_fixture import ModelServerControl

pytestmark = [pytest.mark.neo4j, pytest.mark.slow, pytest.mark.timeout(600, func_only=True)]

FILES = 30
COUNTS = f"""
MATCH (n {{project_id: $p}}) WHERE NOT n:__Project__
RETURN {OWN_LABEL} AS thing, count(*) AS number,
  count(DISTINCT n.generation) AS generations
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for n in range(FILES):
        sections = (
            f"## Part {s}\n\nThe `pump_{n % 7}` feeds the Control Panel {s} in hall {n}.\n"
            for s in range(5)
        )
        (tmp_path / f"{n:02}.md").write_text(f"# Manual {n}\n\n" + "\n".join(sections))
    return tmp_path


@pytest.fixture
def graph(neo4j_2026: Neo4jServer) -> Iterator[Driver]:
    login = (neo4j_2026.user, neo4j_2026.password)
    with GraphDatabase.driver(neo4j_2026.uri, auth=login) as driver:
        yield driver


class Runs:
    """Starts runs over one project and looks into the graph."""

    def __init__(
        self, folder: Path, environment: dict[str, str], graph: Driver, project: str
    ) -> None:
        self.project = project
        self._arguments = ("ingest", str(folder), "--json", "-p", project)
        self._environment = environment
        self._graph = graph

    def start(self) -> subprocess.Popen[str]:
        return subprocess.Popen(  # noqa: S603 - our own command
            [sys.executable, "-m", "drift", *self._arguments],
            cwd=ROOT,
            env={**NO_SERVERS_GIVEN, **self._environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def alone(self, *options: str) -> tuple[int, dict[str, Any], str]:
        """Return the exit code, the report and the remarks of a run in this process."""
        done = command(*self._arguments, *options, **self._environment)
        return done.returncode, json.loads(done.stdout or "{}"), done.stderr

    def rows(self, text: str) -> list[dict[str, Any]]:
        return [dict(r) for r in self._graph.execute_query(text, p=self.project).records]

    def counts(self) -> dict[str, int]:
        rows = self.rows(COUNTS)
        assert all(r["generations"] <= 1 for r in rows)
        return {r["thing"]: r["number"] for r in rows}

    def until(self, holds: Callable[[], bool]) -> None:
        give_up = time.monotonic() + PATIENCE_S
        while not holds():
            assert time.monotonic() < give_up
            time.sleep(0.02)

    def is_held(self) -> bool:
        return self.rows("MATCH (p:__Project__ {id: $p}) RETURN p.writer IS NOT NULL AS held") == [
            {"held": True}
        ]

    def let_the_lease_end(self) -> None:
        """Do what the time would do on the server's clock."""
        self.rows("MATCH (p:__Project__ {id: $p}) SET p.writer_until = 0 RETURN p.id")


@pytest.fixture
def runs(
    folder: Path,
    neo4j_2026: Neo4jServer,
    model_server: ModelServerControl,
    graph: Driver,
    request: pytest.FixtureRequest,
) -> Runs:
    model = {"OAI_BASE_URL": model_server.url, "OAI_MODEL": "drift-extractive", "OAI_KEY": "local"}
    vectors = {"OAI_EMBED_MODEL_NAME": "wordllama-256", "VECTOR_INDEX_DIMENSIONS": "256"}
    unused = {"REDIS_URL": "redis://127.0.0.1:1/0"}
    return Runs(folder, {**neo4j_2026.env, **model, **vectors, **unused}, graph, request.node.name)


def ended(process: subprocess.Popen[str]) -> tuple[int, dict[str, Any], str]:
    """Return the same of a process."""
    out, remarks = process.communicate(timeout=PATIENCE_S)
    return process.returncode, json.loads(out or "{}"), remarks


def test_two_runs_at_once_leave_one_whole_graph_and_a_third_finds_nothing_to_do(runs: Runs) -> None:
    both = [ended(process) for process in [runs.start(), runs.start()]]
    assert [code for code, _, _ in both] == [0, 0], both
    first, second = sorted((report for _, report, _ in both), key=lambda report: -report["chunks"])
    assert (len(first["added"]), second["unchanged"], second["wrote"]) == (
        FILES,
        first["added"],
        False,
    )
    assert ["waiting until that has ended" in remarks for _, _, remarks in both].count(True) == 1
    counts = runs.counts()
    assert (counts["__Document__"], counts["__Chunk__"]) == (FILES, first["chunks"])
    assert first["held_chunks"] == second["held_chunks"] == first["chunks"]
    assert counts["__Community__"] == sum(first["communities"].values())

    code, third, remarks = runs.alone()
    assert (code, third["wrote"], third["held_chunks"]) == (0, False, counts["__Chunk__"])
    assert "nothing has changed" in remarks
    code, anew, _ = runs.alone("--force")
    assert (code, len(anew["changed"]), runs.counts()) == (0, FILES, counts)


def test_a_killed_run_hands_over_and_one_that_wakes_up_late_may_write_nothing(runs: Runs) -> None:
    killed = runs.start()
    runs.until(runs.is_held)
    killed.kill()
    killed.communicate()
    code, _, remarks = runs.alone("--wait", "0")
    assert code == 1
    assert f"process {killed.pid} since" in remarks

    runs.let_the_lease_end()
    late = runs.start()
    runs.until(
        lambda: (
            runs.rows("MATCH (d:__Document__ {project_id: $p}) RETURN count(d) AS n") != [{"n": 0}]
        )
    )
    os.kill(late.pid, signal.SIGSTOP)
    try:
        runs.let_the_lease_end()
        code, report, _ = runs.alone()
        assert (code, report["held_documents"]) == (0, FILES)
        counts = runs.counts()
    finally:
        os.kill(late.pid, signal.SIGCONT)
    code, _, remarks = ended(late)
    assert code == 1
    assert "so it no longer holds project" in remarks
    assert "run it again" in remarks
    assert runs.counts() == counts


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_run_gives_the_project_back_at_once(runs: Runs, stop: signal.Signals) -> None:
    stopped = runs.start()
    runs.until(runs.is_held)
    stopped.send_signal(stop)
    assert ended(stopped)[0] == 130
    assert not runs.is_held()
    assert runs.alone("--wait", "0")[0] == 0
