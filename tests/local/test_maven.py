"""Resolution with the real jgo against a small Maven repository on the loopback address."""

from __future__ import annotations

import hashlib
import http.server
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from drift.core.errors import LocalStackError
from drift.local.stack.loopback import free_port
from drift.local.stack.neo4j import maven

POM = """<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>{group}</groupId><artifactId>{name}</artifactId><version>1.0</version><dependencies>{needs}</dependencies></project>"""
NEED = (
    "<dependency><groupId>org.other</groupId><artifactId>part</artifactId><version>1.0</version>"
    "</dependency>"
)


class Central:
    """A repository with one server of two jars.

    It counts requests and can damage the next answers to a path.
    """

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.asked: list[str] = []
        self.damaged: dict[str, int] = {}
        self.broken: dict[str, int] = {}
        self._add("org.neo4j", "neo4j", NEED, b"the server")
        self._add("org.other", "part", "", b"a part of it")
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _add(self, group: str, name: str, needs: str, jar: bytes) -> None:
        base = f"/{group.replace('.', '/')}/{name}/1.0/{name}-1.0"
        for path, content in (
            (f"{base}.pom", POM.format(group=group, name=name, needs=needs).encode()),
            (f"{base}.jar", jar),
        ):
            self.files[path] = content
            self.files[f"{path}.sha1"] = hashlib.sha1(content).hexdigest().encode()  # noqa: S324 - Maven's choice

    def answer(self, path: str) -> tuple[int, bytes]:
        self.asked.append(path)
        if self.broken.get(path, 0):
            self.broken[path] -= 1
            return 503, b""
        content = self.files.get(path)
        if content is not None and self.damaged.get(path, 0):
            self.damaged[path] -= 1
            content = b"x" * len(content)
        return (404, b"") if content is None else (200, content)

    def _handler(self) -> type[http.server.BaseHTTPRequestHandler]:
        central = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                status, content = central.answer(self.path)
                self.send_response(status)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: object) -> None:
                pass

        return Handler


@pytest.fixture
def central() -> Iterator[Central]:
    repository = Central()
    yield repository
    repository.close()


def resolve(central: str, cache: Path, version: str = "1.0") -> list[Path]:
    return maven.resolve(version, cache, lambda *_: None, threading.Event(), central=central)


JAR = "/org/other/part/1.0/part-1.0.jar"


def test_all_jars_arrive_whole_and_the_progress_ends_at_all(
    central: Central, tmp_path: Path
) -> None:
    seen: list[tuple[int, int, int]] = []
    found = maven.resolve(
        "1.0",
        tmp_path,
        lambda *counts: seen.append(counts),
        threading.Event(),
        central=central.url,
    )
    assert [jar.read_bytes() for jar in found] == [b"the server", b"a part of it"]
    assert seen[-1][:2] == (2, 2)
    assert [path.suffix for path in tmp_path.rglob("*") if path.is_file()].count(".jar") == 2


def test_what_is_there_is_not_fetched_again(central: Central, tmp_path: Path) -> None:
    first = resolve(central.url, tmp_path)
    asked = len(central.asked)
    assert resolve(central.url, tmp_path) == first
    assert len(central.asked) == asked


def test_one_damaged_transfer_is_repeated(central: Central, tmp_path: Path) -> None:
    central.damaged[JAR] = 1
    assert resolve(central.url, tmp_path)[1].read_bytes() == b"a part of it"


def test_one_failed_request_is_repeated(central: Central, tmp_path: Path) -> None:
    central.broken[JAR] = 1
    assert resolve(central.url, tmp_path)[1].read_bytes() == b"a part of it"


def test_lasting_damage_is_reported_and_leaves_no_file(central: Central, tmp_path: Path) -> None:
    central.damaged[JAR] = 9
    with pytest.raises(LocalStackError, match=r"part-1\.0\.jar arrived damaged"):
        resolve(central.url, tmp_path)
    assert not list(tmp_path.rglob("part*.jar"))
    assert not list(tmp_path.rglob(".part-*"))


def test_a_file_of_which_the_server_has_no_checksum_is_not_taken(
    central: Central, tmp_path: Path
) -> None:
    del central.files[f"{JAR}.sha1"]
    with pytest.raises(LocalStackError, match=r"404.*part-1\.0\.jar\.sha1"):
        resolve(central.url, tmp_path)
    assert not list(tmp_path.rglob("part*.jar"))


SERVER = "/org/neo4j/neo4j/1.0/neo4j-1.0.jar"


def test_a_listed_version_is_its_listed_files_alone_whatever_the_server_says(
    central: Central, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = {
        path.removeprefix("/"): hashlib.sha256(central.files[path]).hexdigest()
        for path in (JAR, SERVER)
    }
    monkeypatch.setattr(maven, "locked_jars", lambda _: listed)
    found = resolve(central.url, tmp_path)
    assert [jar.read_bytes() for jar in found] == [b"a part of it", b"the server"]
    assert sorted(central.asked) == sorted([JAR, SERVER]), "what it consists of is not asked"
    resolve(central.url, tmp_path)
    assert len(central.asked) == 2

    other = b"another part"
    central.files[JAR] = other
    central.files[f"{JAR}.sha1"] = hashlib.sha1(other).hexdigest().encode()  # noqa: S324 - Maven's choice
    found[0].write_bytes(other)
    with pytest.raises(LocalStackError, match=r"part-1\.0\.jar arrived damaged"):
        resolve(central.url, tmp_path)


def test_an_unknown_version_is_named_at_once(central: Central, tmp_path: Path) -> None:
    with pytest.raises(LocalStackError, match=r"no Neo4j 9\.9: ask for 2026, 5\.26"):
        resolve(central.url, tmp_path, "9.9")
    assert len(central.asked) == 1


def test_no_network_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(LocalStackError, match="cannot be reached: connect to the network"):
        resolve(f"http://127.0.0.1:{free_port()}", tmp_path)


def test_drafts_of_a_killed_fetch_are_removed(central: Central, tmp_path: Path) -> None:
    draft = tmp_path / "org" / ".part-x"
    draft.parent.mkdir()
    draft.touch()
    resolve(central.url, tmp_path)
    assert not draft.exists()


def test_a_cancelled_fetch_says_so_and_leaves_no_half_file(
    central: Central, tmp_path: Path
) -> None:
    cancelled = threading.Event()
    cancelled.set()
    with pytest.raises(LocalStackError, match="broken off"):
        maven.resolve("1.0", tmp_path, lambda *_: None, cancelled, central=central.url)
    assert len(central.asked) == 1
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
