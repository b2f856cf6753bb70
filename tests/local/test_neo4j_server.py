"""A real Neo4j: its data and password survive, and every refusal says what to do."""

from __future__ import annotations

import json
import socket
import stat
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import neo4j
import pytest

from drift.core.errors import LocalStackError
from drift.local.stack.neo4j.home import PUBLISHED_PASSWORD, Neo4jHome
from drift.local.stack.neo4j.jars import exact_version
from drift.local.stack.neo4j.server import Neo4jServer
from tests.local.processes import runs, script, until
from tests.servers import QUICK

PARENT = """
import sys, time
from pathlib import Path
from drift.local.stack.neo4j.server import Neo4jServer
from drift.local.stack.valkey_server import ValkeyServer
from tests.servers import QUICK
neo4j = Neo4jServer(folder=Path(sys.argv[1]), java_flags=QUICK).start()
valkey = ValkeyServer().start()
print(neo4j.pid, valkey.pid, neo4j.uri, neo4j.password, flush=True)
time.sleep(600)
"""


def ask(uri: str, password: str, text: str) -> list[Any]:
    with neo4j.GraphDatabase.driver(uri, auth=("neo4j", password)) as driver:
        return [record[0] for record in driver.execute_query(text, database_="neo4j").records]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A folder that looks as if Neo4j 2026.08.1 had run in it."""
    (tmp_path / "data" / "databases").mkdir(parents=True)
    (tmp_path / "server.json").write_text(
        json.dumps({"version": "2026.08.1", "password": "remembered"})
    )
    return tmp_path


@pytest.fixture
def _has_jars(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("drift.local.stack.neo4j.server.ensure_jars", lambda *_, **__: ())


@pytest.fixture
def taken_port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


@pytest.mark.neo4j
@pytest.mark.slow
def test_the_lts_version_runs_on_the_same_java(neo4j_5: Neo4jServer) -> None:
    versions = ask(
        neo4j_5.uri, neo4j_5.password, "CALL dbms.components() YIELD versions RETURN versions[0]"
    )
    assert versions == ["5.26.30"]


@pytest.mark.neo4j
@pytest.mark.deep
@pytest.mark.timeout(300)
def test_servers_end_with_a_killed_parent_and_the_data_is_there_at_the_next_start(
    tmp_path: Path, neo4j_2026: Neo4jServer
) -> None:
    assert neo4j_2026.port  # its jars are there
    with script(PARENT, tmp_path) as parent:
        assert parent.stdout
        *pids, uri, password = parent.stdout.readline().split()
        ask(uri, password, "CREATE (:Kept {name: 'Ada'})")
        assert all(runs(int(pid)) for pid in pids)
        parent.kill()
        assert until(lambda: not any(runs(int(pid)) for pid in pids))
    log = (tmp_path / "logs" / "debug.log").read_text()
    assert 'Checkpoint triggered by \\"Database shutdown\\"' in log  # it could end in order
    assert stat.S_IMODE((tmp_path / "login.json").stat().st_mode) == 0o600
    with Neo4jServer(folder=tmp_path, java_flags=QUICK) as second:
        assert second.password == password
        assert ask(second.uri, password, "MATCH (n:Kept) RETURN n.name") == ["Ada"]


@pytest.mark.neo4j
@pytest.mark.slow
def test_a_wrong_password_is_named_with_the_folder(neo4j_2026: Neo4jServer, tmp_path: Path) -> None:
    impostor = Neo4jServer(folder=tmp_path, password="not-the-password")
    with pytest.raises(LocalStackError, match=f"{tmp_path} was made with another password"):
        impostor._login_fails(neo4j_2026.port)


@pytest.mark.neo4j
@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_folder_with_the_published_password_gets_one_of_its_own_and_keeps_its_data(
    tmp_path: Path, neo4j_2026: Neo4jServer
) -> None:
    assert neo4j_2026.port  # its jars are there
    with Neo4jServer(folder=tmp_path, password=PUBLISHED_PASSWORD, java_flags=QUICK) as before:
        ask(before.uri, PUBLISHED_PASSWORD, "CREATE (:Kept {name: 'Ada'})")
    (tmp_path / "login.json").rename(tmp_path / "server.json")
    said: list[str] = []
    with Neo4jServer(folder=tmp_path, java_flags=QUICK, say=said.append) as second:
        assert second.password not in {PUBLISHED_PASSWORD, neo4j_2026.password}
        assert json.loads((tmp_path / "login.json").read_text())["password"] == second.password
        assert ask(second.uri, second.password, "MATCH (n:Kept) RETURN n.name") == ["Ada"]
        with pytest.raises(neo4j.exceptions.AuthError):
            ask(second.uri, PUBLISHED_PASSWORD, "RETURN 1")
    assert said == [f"{tmp_path} had the password that everybody knows."]
    assert Neo4jHome(tmp_path).prepare("2026.08.1", None) == second.password, "and no other"


@pytest.mark.usefixtures("_has_jars")
def test_a_port_that_is_taken_is_named(home: Path, taken_port: int) -> None:
    with pytest.raises(LocalStackError, match=f"Port {taken_port} .* is taken"):
        Neo4jServer(folder=home, port=taken_port).start()


@pytest.mark.parametrize("content", [b"no archive", b""])
def test_a_broken_jar_is_named_with_what_to_do(
    home: Path, tmp_path: Path, content: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    jar = tmp_path / "neo4j-2026.08.1.jar"
    if content:
        jar.write_bytes(content)
    else:
        zipfile.ZipFile(jar, "w").close()
    monkeypatch.setattr("drift.local.stack.neo4j.server.ensure_jars", lambda *_, **__: (jar,))
    with pytest.raises(LocalStackError, match=f"{jar} is broken .*: delete it and start again"):
        Neo4jServer("2026.08.1", folder=home).start()


@pytest.mark.usefixtures("_has_jars")
def test_a_lost_password_is_named(home: Path) -> None:
    (home / "server.json").unlink()
    with pytest.raises(LocalStackError, match=r"login\.json with its password is missing"):
        Neo4jServer(folder=home).start()


@pytest.mark.parametrize(
    ("written_by", "asked"),
    [("2026.08.1", "5.26"), ("5.26.30", "2026"), ("2026.09.0", "2026.08.1")],
)
def test_data_of_a_version_that_does_not_fit_is_refused(
    home: Path, written_by: str, asked: str
) -> None:
    (home / "server.json").write_text(json.dumps({"version": written_by, "password": "remembered"}))
    with pytest.raises(LocalStackError, match=f"was written by Neo4j {written_by}"):
        Neo4jHome(home).prepare(exact_version(asked), None)


def test_data_of_an_older_version_of_the_same_line_is_opened(home: Path) -> None:
    assert Neo4jHome(home).prepare("2026.09.0", None) == "remembered"
    assert json.loads((home / "login.json").read_text())["version"] == "2026.09.0"


def test_a_folder_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(LocalStackError, match="cannot be used"):
        _ = Neo4jServer(folder=tmp_path / "file" / "data").folder
