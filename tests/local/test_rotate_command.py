"""`drift rotate`: a real graph answers through all of it, and no secret stands in an argument.

`az` and the function's smoke test are stood in for.
"""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from drift.core.errors import GraphMisconfiguredError, LocalStackError
from drift.graph.connection import Connection
from drift.local.cli.app import app
from drift.local.cli.key_files import new_entry, new_key, value_of
from drift.local.infra.rotation import DeployedFunction, of_graph
from drift.local.stack.neo4j.server import Neo4jServer

OLD, NEW, CANARY = "drift-a", "drift-b", "canary-secret-71f0"
AZ = """#!/bin/sh
echo "$*" >> asked
for last in "$@"; do :; done
case "$*" in
  *"appsettings list"*NEO4J_USERNAME*) cat user ;;
  *"appsettings list"*OAI_KEY*) ;;
  *"appsettings list"*) echo "(SecretUri=https://kv-x.vault.azure.net/secrets/one)" ;;
  *"appsettings set"*) echo "${last#NEO4J_USERNAME=}" > user ;;
  "keyvault secret set"*) cp "$last" secret ;;
  rest*) touch reread ;;
esac
"""
SMOKE = '#!/bin/sh\necho "smoke $SMOKE_KEY" >> asked\nexit "${SMOKE_ENDS:-0}"\n'


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder: a clone, and an Azure that has one function."""
    (tmp_path / "infra/hooks").mkdir(parents=True)
    for name, text in (("az", AZ), ("infra/hooks/smoke.sh", SMOKE)):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    (tmp_path / "user").write_text(OLD)
    monkeypatch.chdir(tmp_path)
    given = {"PATH": f"{tmp_path}:/usr/bin:/bin", "NEO4J_PASSWORD": CANARY, "OAI_KEY": CANARY}
    given |= {"AZURE_RESOURCE_GROUP": "rg", "AZURE_FUNCTION_NAME": "func", "SMOKE_KEY": "of-a"}
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    return tmp_path


def rotate(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["rotate", *arguments])


class RollingFunction:
    """Asks the graph without a pause; told to, it signs in anew, and ends what runs as it was."""

    def __init__(self, server: Neo4jServer) -> None:
        self.server, self.answered = server, 0
        self.failed: list[Exception] = []
        self.graph = self.signed_in()

    def signed_in(self) -> Connection:
        user, password = (Path(name).read_text().strip() for name in ("user", "secret"))
        return Connection(self.server.uri, user, password, self.server.database)

    async def ask(self) -> None:
        while True:
            try:
                await self.graph.read("RETURN 1 AS one", {})
                self.answered += 1
            except Exception as error:  # noqa: BLE001 - each one counts
                self.failed.append(error)

    async def reread(self) -> None:
        while not Path("reread").exists():  # noqa: ASYNC110, ASYNC240 - a file has no event
            await asyncio.sleep(0.01)
        before, self.graph = self.graph, self.signed_in()
        await asyncio.sleep(0.5)
        await before.close()


@pytest.mark.neo4j
@pytest.mark.slow
async def test_another_user_of_the_graph_takes_over_without_a_failed_request(
    here: Path, neo4j_2026: Neo4jServer
) -> None:
    server = neo4j_2026
    (here / "secret").write_text(CANARY)
    made = {"name": OLD, "password": CANARY}
    async with Connection(server.uri, server.user, server.password, "system") as admin:
        await admin.write("CREATE USER $name SET PASSWORD $password CHANGE NOT REQUIRED", made)
        function = RollingFunction(server)
        *changes, (_, drop) = await of_graph(DeployedFunction(os.environ, here, 2), admin, NEW)
        works = [function.reread(), *(function.ask() for _ in range(6))]
        tasks = [asyncio.create_task(work) for work in works]
        await asyncio.sleep(0.2)
        with pytest.raises(LocalStackError, match="drift-a is connected, and stays"):
            await drop()
        for _, make in changes:
            await make()
        await drop()
        at_last = function.answered
        await asyncio.sleep(0.2)
        assert 0 < at_last < function.answered
        for task in tasks:
            task.cancel()
        assert function.failed == []
        with pytest.raises(LocalStackError, match="has a user drift-b already"):
            await changes[0][1]()
        async with Connection(server.uri, OLD, CANARY, server.database) as old:
            with pytest.raises(GraphMisconfiguredError):
                await old.read("RETURN 1", {})
        with suppress(asyncio.CancelledError):
            await asyncio.gather(*tasks)
        await function.graph.close()
        await admin.write("DROP USER $name", {"name": NEW})
    assert (here / "user").read_text().strip() == NEW
    assert (here / "secret").read_text() not in (here / "asked").read_text()


def test_a_dry_run_says_each_step_in_order_and_changes_nothing(here: Path) -> None:
    done = rotate("NEO4J_PASSWORD", "--user", NEW, "--dry-run")
    told = [line.partition(". ")[2] for line in done.stderr.splitlines() if line[:1].isdigit()]
    steps = "In the graph: make|In the vault kv-x|In the function: set NEO4J_USERNAME=drift-b"
    steps += "|Wait 240 s|Ask it|In the graph: drop drift-a"
    assert all(one.startswith(step) for one, step in zip(told, steps.split("|"), strict=True))
    asked = (here / "asked").read_text().splitlines()
    assert all("appsettings list" in line for line in asked)
    assert CANARY not in done.output


def test_keys_are_written_whole_and_the_function_is_asked_with_a_new_one(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    value = value_of([new_entry(new_key(), "team", ["a"]) for _ in range(2)])
    ends = []
    for keys, smoke_ends in ((value, "0"), ("[]", "0"), (value, "1")):
        (here / "keys.json").write_text(keys)
        monkeypatch.setenv("SMOKE_ENDS", smoke_ends)
        ends.append(rotate("PROJECT_KEYS", "--file", "keys.json").exit_code)
        assert (here / "secret").read_text() == value
    assert ends == [0, 1, 1]
    assert (here / "asked").read_text().endswith("smoke of-a\n")


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("NEO4J_PASSWORD",), 2, "--user goes with NEO4J_PASSWORD"),
        (("ANTHROPIC_KEY", "--file", "f"), 2, "--file goes with PROJECT_KEYS"),
        (("ANTHROPIC_KEY",), 1, "ANTHROPIC_KEY is not set in this shell"),
        (("OAI_KEY",), 1, "OAI_KEY of the function names no secret of Key Vault"),
    ],
)
def test_what_is_missing_is_said_before_anything_is_changed(
    here: Path, arguments: tuple[str, ...], code: int, said: str
) -> None:
    done = rotate(*arguments)
    assert (done.exit_code, (here / "secret").exists()) == (code, False)
    assert said in " ".join(done.stderr.replace("│", " ").split())
