"""Neo4j's own Browser: its files come from the official jar, its page leads to this database."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path
from urllib.parse import parse_qs, urljoin, urlsplit

import httpx2
import pytest

from drift.core.errors import LocalStackError
from drift.local.hosts import browser
from drift.local.hosts.browser import browsing
from drift.local.stack.neo4j.jars import default_cache
from tests.local.processes import PROJECT

pytestmark = pytest.mark.slow

URI = "bolt://127.0.0.1:17687"


@pytest.fixture(scope="module")
def cache() -> Path:
    """The usual cache, with the jar in it: fetched in a process that may reach beyond loopback."""
    cache = str(default_cache())
    fetching = f"from drift.local.hosts.browser import fetch; fetch(Path({cache!r}), print)"
    command = [sys.executable, "-c", f"from pathlib import Path; {fetching}"]
    subprocess.run(command, check=True, cwd=PROJECT)  # noqa: S603 - our own code
    return default_cache()


@pytest.mark.timeout(func_only=True)
async def test_the_page_and_what_it_asks_for_are_served_and_it_leads_to_the_database(
    cache: Path,
) -> None:
    async with browsing(URI, "neo4j", "graph", cache, print) as page:
        assert parse_qs(urlsplit(page).query) == {
            "dbms": ["bolt://neo4j@127.0.0.1:17687"],
            "db": ["graph"],
        }
        async with httpx2.AsyncClient(base_url=urljoin(page, "/"), trust_env=False) as client:
            answer = await client.get(page)
            assert (answer.status_code, answer.headers["content-type"]) == (
                200,
                "text/html; charset=utf-8",
            )
            assert "<title>Neo4j Browser</title>" in answer.text
            script = await client.get("/browser/manifest.json")
            assert script.headers["content-type"] == "application/json"
            assert (await client.get("/", headers={"accept": "application/json"})).json() == {
                "bolt_direct": URI
            }
            to_people = await client.get("/", headers={"accept": "text/html,*/*;q=0.8"})
            assert to_people.headers["location"] == "/browser/"
            assert (await client.get("/browser/../META-INF/MANIFEST.MF")).status_code == 404
            assert (await client.get("/browser/nothing")).status_code == 404
            assert (await client.get(page, headers={"host": "evil.example"})).status_code == 403


async def test_a_damaged_jar_is_named(tmp_path: Path) -> None:
    group, artifact, version = browser.BROWSER.split(":")
    jar = tmp_path.joinpath(
        "repository", *group.split("."), artifact, version, f"{artifact}-{version}.jar"
    )
    jar.parent.mkdir(parents=True)
    jar.write_bytes(b"half of it")
    assert not zipfile.is_zipfile(jar)
    with pytest.raises(LocalStackError, match="is damaged: delete it"):
        async with browsing(URI, "neo4j", "neo4j", tmp_path, print):
            pass
