"""`drift rotate`: a real graph answers through all of it, and no secret stands in an argument.

`az` and the function's smoke test are stood in for.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
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

OLD, NEW, FIRST = "drift-a", "drift-b", "first-password-81"
CANARY = "sk-canary-71f0"
AZ = """\
#!/bin/sh
echo "$*" >> "$HERE/asked"
for last in "$@"; do :; done
case "$*" in
  *"appsettings list"*NEO4J_USERNAME*) cat "$HERE/user" ;;
  *"appsettings list"*OAI_KEY*) ;;
  *"appsettings list"*KEYS_SECRET*) echo https://kv-x.vault.azure.net/secrets/project-keys ;;
  *"appsettings list"*)
    echo "@Microsoft.KeyVault(SecretUri=https://kv-x.vault.azure.net/secrets/one)" ;;
  *"appsettings set"*) echo "${last#NEO4J_USERNAME=}" > "$HERE/user" ;;
  "keyvault secret set"*) cp "$last" "$HERE/secret" ;;
  "functionapp show"*) echo /subscriptions/s/sites/f ;;
  rest*) touch "$HERE/reread" ;;
esac
"""
SMOKE = '#!/bin/sh\necho "smoke $SMOKE_KEY" >> "$HERE/asked"\nexit "${SMOKE_ENDS:-0}"\n'
WHERE = {"AZURE_RESOURCE_GROUP": "rg", "AZURE_FUNCTION_NAME": "func"}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder: a clone beside an Azure that has one function."""
    (tmp_path / "infra/hooks").mkdir(parents=True)
    for name, text in (("az", AZ), ("infra/hooks/smoke.sh", SMOKE)):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HERE", str(tmp_path))
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    for name, value in WHERE.items():
        monkeypatch.setenv(name, value)
    return tmp_path


def rotate(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["rotate", *arguments])


def asked(here: Path) -> list[str]:
    return (here / "asked").read_text().splitlines()


class RollingFunction:
    """Asks the graph without a pause; told to, it signs in anew, and ends what runs as it was."""

    def __init__(self, server: Neo4jServer, here: Path) -> None:
        self.server, self.here = server, here
        self.graph = self.signed_in()
        self.answered, self.failed = 0, list[BaseException]()

    def signed_in(self) -> Connection:
        user, password = ((self.here / name).read_text().strip() for name in ("user", "secret"))
        return Connection(self.server.uri, user, password, self.server.database)

    async def ask(self) -> None:
        while True:
            try:
                await self.graph.read("RETURN 1 AS one", {})
                self.answered += 1
            except Exception as error:  # noqa: BLE001 - each one counts
                self.failed.append(error)
            await asyncio.sleep(0.001)

    async def reread(self) -> None:
        while not (self.here / "reread").exists():  # noqa: ASYNC110 - a file has no event
            await asyncio.sleep(0.01)
        before, self.graph = self.graph, self.signed_in()
        await asyncio.sleep(0.5)
        await before.close()


@contextmanager
def at_work(function: RollingFunction) -> Iterator[None]:
    tasks = [asyncio.create_task(function.ask()) for _ in range(6)]
    tasks.append(asyncio.create_task(function.reread()))
    yield
    for task in tasks:
        task.cancel()


@pytest.mark.neo4j
@pytest.mark.slow
async def test_another_user_of_the_graph_takes_over_without_a_failed_request(
    here: Path, neo4j_2026: Neo4jServer
) -> None:
    server = neo4j_2026
    (here / "user").write_text(OLD)
    (here / "secret").write_text(FIRST)
    made = {"name": OLD, "password": FIRST}
    async with Connection(server.uri, server.user, server.password, "system") as admin:
        await admin.write("CREATE USER $name SET PASSWORD $password CHANGE NOT REQUIRED", made)
        function = RollingFunction(server, here)
        *changes, (_, drop) = await of_graph(
            DeployedFunction(dict(os.environ), here, wait_s=2), admin, NEW
        )
        with at_work(function):
            await asyncio.sleep(0.2)
            before = function.answered
            with pytest.raises(LocalStackError, match="drift-a is connected, and stays"):
                await drop()
            for _, make in changes:
                await make()
            await drop()
            at_last = function.answered
            await asyncio.sleep(0.2)
        assert before < at_last < function.answered
        assert function.failed == []
        with pytest.raises(LocalStackError, match="has a user drift-b already"):
            await changes[0][1]()
        async with Connection(server.uri, OLD, FIRST, server.database) as old:
            with pytest.raises(GraphMisconfiguredError):
                await old.read("RETURN 1", {})
        await function.graph.close()
        await admin.write("DROP USER $name", {"name": NEW})
    assert (here / "user").read_text().strip() == NEW
    assert (here / "secret").read_text() not in "\n".join(asked(here))


def test_a_dry_run_says_each_step_in_order_and_changes_nothing(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "user").write_text(OLD)
    monkeypatch.setenv("NEO4J_PASSWORD", CANARY)
    done = rotate("NEO4J_PASSWORD", "--user", NEW, "--dry-run")
    assert done.exit_code == 0
    told = [line.partition(". ")[2] for line in done.stderr.splitlines() if line[:1].isdigit()]
    begins = [
        *("In the graph: make the user drift-b with the roles of drift-a", "In the vault kv-x"),
        *("In the function: set NEO4J_USERNAME=drift-b", "Wait 240 s", "Ask it"),
        "In the graph: drop drift-a",
    ]
    assert [line.startswith(begin) for line, begin in zip(told, begins, strict=True)] == [True] * 6
    assert all("appsettings list" in line for line in asked(here))
    assert CANARY not in done.output


def test_keys_are_written_whole_and_the_function_is_asked_with_a_new_one(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = [new_key(), new_key()]
    value = value_of([new_entry(key, "team", ["a"]) for key in keys])
    (here / "keys.json").write_text(value)
    monkeypatch.setenv("SMOKE_KEY", CANARY)
    assert rotate("PROJECT_KEYS", "--file", "keys.json").exit_code == 0
    assert json.loads((here / "secret").read_text()) == json.loads(value)
    assert asked(here)[-1] == f"smoke {CANARY}"

    (here / "keys.json").write_text("[]")
    assert rotate("PROJECT_KEYS", "--file", "keys.json").exit_code == 1
    assert json.loads((here / "secret").read_text()) == json.loads(value)

    (here / "keys.json").write_text(value)
    monkeypatch.setenv("SMOKE_ENDS", "1")
    done = rotate("PROJECT_KEYS", "--file", "keys.json")
    assert done.exit_code == 1
    assert "smoke.sh failed" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("NEO4J_PASSWORD",), 2, "--user goes with NEO4J_PASSWORD"),
        (("ANTHROPIC_KEY", "--user", "u"), 2, "--user goes with NEO4J_PASSWORD"),
        (("ANTHROPIC_KEY", "--file", "f"), 2, "--file goes with PROJECT_KEYS"),
        (("ANTHROPIC_KEY",), 1, "ANTHROPIC_KEY is not set in this shell"),
        (("OAI_KEY",), 1, "OAI_KEY of the function names no secret of Key Vault"),
    ],
)
def test_what_is_missing_is_said_before_anything_is_changed(
    here: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    code: int,
    said: str,
) -> None:
    monkeypatch.setenv("OAI_KEY", CANARY)
    done = rotate(*arguments)
    assert done.exit_code == code
    assert said in " ".join(done.stderr.replace("│", " ").split())
    assert not (here / "secret").exists()
