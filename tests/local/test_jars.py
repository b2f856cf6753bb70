"""The jars of a server: the listed files or none, one fetch at a time, clear refusals."""

from __future__ import annotations

import hashlib
import http.server
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import pytest

from drift.core.errors import LocalStackError
from drift.local.stack.locks import try_lock, unlock
from drift.local.stack.loopback import free_port
from drift.local.stack.neo4j import jars
from tests.local.processes import script, until

FILES = {"/org/a/server.jar": b"the server", "/org/b/part.jar": b"a part of it"}
PART = "/org/b/part.jar"

FETCH = """
import sys, threading
from pathlib import Path
from drift.local.stack.neo4j.download import Download
folder, central, path, sha256 = sys.argv[1:]
Download(Path(folder) / "repository", central, threading.Event()).fetch({path: sha256}, "it")
"""


class Central(http.server.ThreadingHTTPServer):
    """A repository that notes what it was asked for, and can spoil its next answers to a path."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.files = dict(FILES)
        self.asked: list[str] = []
        self.broken: dict[str, int] = {}
        self.damaged: dict[str, int] = {}
        self.slow: set[str] = set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Answer(http.server.BaseHTTPRequestHandler):
    server: Central

    def do_GET(self) -> None:
        central, path = self.server, self.path
        central.asked.append(path)
        content = central.files[path]
        status = 200
        if central.broken.get(path, 0):
            central.broken[path] -= 1
            status = 503
        elif central.damaged.get(path, 0):
            central.damaged[path] -= 1
            content = b"x" * len(content)
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[:1])
        while path in central.slow:
            time.sleep(0.02)
        with suppress(OSError):  # nobody reads it any more
            self.wfile.write(content[1:])

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def central(monkeypatch: pytest.MonkeyPatch) -> Iterator[Central]:
    listed = {path[1:]: hashlib.sha256(content).hexdigest() for path, content in FILES.items()}
    monkeypatch.setattr(jars, "listed_jars", lambda _: listed)
    with Central() as repository:
        threading.Thread(target=repository.serve_forever, args=(0.01,), daemon=True).start()
        yield repository
        repository.shutdown()


def ensured(
    central: str, cache: Path, cancelled: threading.Event | None = None
) -> tuple[Path, ...]:
    return jars.ensure_jars("1.0", cache, say=lambda _: None, central=central, cancelled=cancelled)


def kept(cache: Path) -> list[str]:
    return sorted(path.name for path in (cache / "repository").rglob("*") if path.is_file())


def test_aliases_stand_for_versions_that_have_their_list() -> None:
    assert jars.exact_version("5.26") == "5.26.30"
    assert jars.exact_version("2026") == jars.DEFAULT_VERSION
    for version in jars.ALIASES.values():
        listed = jars.listed_jars(version)
        assert f"org/neo4j/neo4j/{version}/neo4j-{version}.jar" in listed, "run `make jars`"
        assert {len(digest) for digest in listed.values()} == {64}
    with pytest.raises(LocalStackError, match=r"no list of the jars of Neo4j 9\.9: ask for 2026"):
        jars.exact_version("9.9")


def test_the_listed_jars_arrive_in_their_order_and_are_not_fetched_again(
    central: Central, tmp_path: Path
) -> None:
    found = ensured(central.url, tmp_path)
    assert [jar.read_bytes() for jar in found] == list(FILES.values())
    assert kept(tmp_path) == ["part.jar", "server.jar"]
    assert ensured(central.url, tmp_path) == found
    assert sorted(central.asked) == sorted(FILES)


@pytest.mark.parametrize("damage", [Path.unlink, lambda jar: jar.write_bytes(b"another jar!")])
def test_a_jar_that_is_gone_or_is_another_one_is_fetched_again_alone(
    central: Central, tmp_path: Path, damage: Callable[[Path], object]
) -> None:
    damaged = ensured(central.url, tmp_path)[1]
    damage(damaged)
    assert list(jars.missing_jars("1.0", tmp_path)) == [PART[1:]]
    assert ensured(central.url, tmp_path)[1].read_bytes() == FILES[PART]
    assert len(central.asked) == 3


@pytest.mark.parametrize("fault", ["broken", "damaged"])
def test_one_failed_transfer_is_repeated(central: Central, tmp_path: Path, fault: str) -> None:
    getattr(central, fault)[PART] = 1
    assert ensured(central.url, tmp_path)[1].read_bytes() == FILES[PART]


def test_a_file_with_another_digest_is_not_taken_whatever_the_server_says(
    central: Central, tmp_path: Path
) -> None:
    central.files[PART] = b"another part"
    with pytest.raises(LocalStackError, match=r"part\.jar arrived damaged"):
        ensured(central.url, tmp_path)
    assert kept(tmp_path) == ["server.jar"]


@pytest.mark.usefixtures("central")
def test_no_network_says_what_to_do(tmp_path: Path) -> None:
    nowhere = f"http://127.0.0.1:{free_port()}"
    with pytest.raises(LocalStackError, match="cannot be reached: connect to the network"):
        ensured(nowhere, tmp_path)


def test_a_cancelled_fetch_says_so_and_leaves_no_half_file(
    central: Central, tmp_path: Path
) -> None:
    cancelled = threading.Event()
    cancelled.set()
    with pytest.raises(LocalStackError, match="broken off"):
        ensured(central.url, tmp_path, cancelled=cancelled)
    assert kept(tmp_path) == []


def test_a_killed_fetch_leaves_no_half_file_that_is_taken(central: Central, tmp_path: Path) -> None:
    central.slow.add(PART)
    digest = hashlib.sha256(FILES[PART]).hexdigest()
    with script(FETCH, tmp_path, central.url, PART[1:], digest) as process:
        assert until(lambda: kept(tmp_path) == ["part.part"])
        process.kill()
    central.slow.clear()
    assert ensured(central.url, tmp_path)[1].read_bytes() == FILES[PART]
    assert kept(tmp_path) == ["part.jar", "server.jar"]


def test_a_full_disk_and_a_cache_that_cannot_be_made_are_refused_before_the_fetch(
    central: Central, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(LocalStackError, match="cannot be made"):
        ensured(central.url, tmp_path / "file" / "cache")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=12_000_000))
    with pytest.raises(LocalStackError, match=r"has 12 MB left.*needs 400 MB"):
        ensured(central.url, tmp_path)
    assert central.asked == []


def test_who_comes_second_waits_and_fetches_nothing_again(central: Central, tmp_path: Path) -> None:
    first = try_lock(tmp_path / ".lock")
    said: list[str] = []
    second = threading.Thread(
        target=lambda: jars.ensure_jars("1.0", tmp_path, say=said.append, central=central.url)
    )
    second.start()
    assert until(lambda: said == [f"Another process is fetching into {tmp_path}: waiting for it."])
    for path, content in FILES.items():
        place = tmp_path / "repository" / path[1:]
        place.parent.mkdir(parents=True)
        place.write_bytes(content)
    unlock(first)
    second.join()
    assert (central.asked, len(said)) == ([], 1)
