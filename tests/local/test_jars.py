"""The jar cache: whole or not at all, one fetch at a time, clear refusals."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from drift.core.errors import LocalStackError
from drift.local.stack.neo4j import jars
from drift.local.stack.neo4j.maven import locked_jars
from tests.local.processes import runs, script, until

FETCHER = """
import sys, time
from pathlib import Path
from drift.local.stack.neo4j import jars
cache, tally = Path(sys.argv[1]), Path(sys.argv[2])

def resolve():
    with tally.open("a") as file:
        file.write("resolved\\n")
    Path(sys.argv[3]).touch()
    while not Path(sys.argv[4]).exists():
        time.sleep(0.01)
    jar = cache / "repository" / "a.jar"
    jar.parent.mkdir(parents=True, exist_ok=True)
    jar.write_bytes(b"jar")
    return [jar]

print(len(jars.fetch("1.0", cache, resolve, say=lambda _: (cache / "waiting").touch())), flush=True)
"""


def put(cache: Path, name: str, content: bytes = b"jar") -> Path:
    jar = cache / "repository" / name
    jar.parent.mkdir(parents=True, exist_ok=True)
    jar.write_bytes(content)
    return jar


def test_aliases_stand_for_tried_versions() -> None:
    assert jars.exact_version("5.26") == "5.26.30"
    assert jars.exact_version("2026") == jars.DEFAULT_VERSION == "2026.08.1"
    assert jars.exact_version("2026.07.0") == "2026.07.0"


def test_every_version_that_is_tried_has_its_list() -> None:
    for version in jars.ALIASES.values():
        listed = locked_jars(version)
        assert f"org/neo4j/neo4j/{version}/neo4j-{version}.jar" in listed, "run `make jars`"
        assert {len(digest) for digest in listed.values()} == {64}
    assert locked_jars("../neo4j-1.0") == {}


def test_a_kept_version_is_found_in_its_order(tmp_path: Path) -> None:
    kept = [put(tmp_path, "org/b.jar"), put(tmp_path, "org/a.jar")]
    jars.keep_listing("1.0", tmp_path, kept)
    assert jars.find_jars("1.0", tmp_path) == tuple(kept)
    assert jars.find_jars("1.1", tmp_path) is None


@pytest.mark.parametrize(
    "damage", [lambda jar: jar.unlink(), lambda jar: jar.write_bytes(b"j")], ids=["gone", "cut"]
)
def test_a_damaged_version_is_fetched_again(
    tmp_path: Path, damage: Callable[[Path], object]
) -> None:
    jar = put(tmp_path, "org/a.jar")
    jars.keep_listing("1.0", tmp_path, [jar])
    damage(jar)
    assert jars.find_jars("1.0", tmp_path) is None

    def resolve() -> list[Path]:
        assert not jar.exists()  # a resolver takes what is there for good
        return [put(tmp_path, "org/a.jar")]

    assert jars.fetch("1.0", tmp_path, resolve) == (jar,)


def test_a_full_disk_is_refused_before_the_fetch(tmp_path: Path) -> None:
    with pytest.raises(LocalStackError, match=r"has 12 MB left.*needs 400 MB"):
        jars.ensure_jars("9.9", tmp_path, say=lambda _: None, free_bytes=lambda _: 12_000_000)


def test_a_cache_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(LocalStackError, match="cannot be made"):
        jars.ensure_jars("9.9", tmp_path / "file" / "cache", say=lambda _: None)


@pytest.mark.slow
def test_two_fetches_at_once_resolve_once(tmp_path: Path) -> None:
    begun, go = tmp_path / "begun", tmp_path / "go"
    arguments = (tmp_path / "cache", tmp_path / "tally", begun, go)
    with script(FETCHER, *arguments) as first, script(FETCHER, *arguments) as second:
        assert until(lambda: begun.exists() and (tmp_path / "cache" / "waiting").exists())
        go.touch()
        assert first.stdout
        assert second.stdout
        assert [first.stdout.readline(), second.stdout.readline()] == ["1\n", "1\n"]
    assert (tmp_path / "tally").read_text() == "resolved\n"


@pytest.mark.slow
def test_a_killed_fetch_leaves_no_half_file_and_no_lock(tmp_path: Path) -> None:
    cache, begun = tmp_path / "cache", tmp_path / "begun"
    with script(FETCHER, cache, tmp_path / "tally", begun, tmp_path / "never") as process:
        assert until(begun.exists)
        process.kill()
        assert until(lambda: not runs(process.pid))
    assert jars.find_jars("1.0", cache) is None
    jar = cache / "repository" / "a.jar"
    assert jars.fetch("1.0", cache, lambda: [put(cache, "a.jar")]) == (jar,)
