"""A secret of a deployed function is changed while it answers.

The new one works before the function is told, and the old one until the function has let go of it.
"""

from __future__ import annotations

import asyncio
import re
import secrets
import tempfile
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from drift.core.errors import LocalStackError
from drift.graph.connection import Connection

Change = tuple[str, Callable[[], Awaitable[object]]]
"""One thing that a rotation does: in words, and the doing."""

_SECRET = re.compile(r"https://([\w-]+)\.[^/\s]+/secrets/([\w-]+)")
_CREATE = "CREATE USER $name SET PASSWORD $password CHANGE NOT REQUIRED"
_REFRESH = "/config/configreferences/appsettings/refresh?api-version=2022-03-01"


@dataclass(frozen=True, slots=True)
class DeployedFunction:
    """A function on Azure, by this shell's variables and azd's, and the clone that it is of.

    The longest request, and the longest life of a connection to the graph, end before `wait_s`.
    """

    environment: Mapping[str, str]
    root: Path
    wait_s: float = 240

    async def setting(self, name: str) -> str:
        """Return a setting as it was written: a reference is not resolved."""
        query = f"[?name=='{name}'].value | [0]"
        return await self._az("functionapp config appsettings list", "--query", query)

    async def replacing(self, setting: str, value: str) -> Change:
        """Return how the secret is replaced that a setting leads to."""
        place = _SECRET.search(await self.setting(setting))
        if place is None:
            raise LocalStackError(f"{setting} of the function names no secret of Key Vault.")

        async def write() -> None:
            # arguments of a process are seen by others, and this file is not
            with tempfile.NamedTemporaryFile("w", encoding="utf-8") as file:
                file.write(value)
                file.flush()
                where = ("--vault-name", place[1], "--name", place[2], "--output", "none")
                await _run("az", "keyvault", "secret", "set", *where, "--file", file.name)

        return f"In the vault {place[1]}: write the secret {place[2]}.", write

    def rereading(self, *settings: str) -> list[Change]:
        """Return how the function takes settings and secrets, and lets go of the old ones."""

        async def tell() -> None:
            if settings:
                await self._az("functionapp config appsettings set", "--settings", *settings)
            site = await self._az("functionapp show", "--query", "id")
            await _run("az", "rest", "--method", "post", "--url", f"{site}{_REFRESH}")

        told = "".join(f"set {one}, and " for one in settings)
        until = f"Wait {self.wait_s:g} s, until what ran before has ended."
        return [
            (f"In the function: {told}have secrets read again.", tell),
            (until, lambda: asyncio.sleep(self.wait_s)),
        ]

    def asking(self) -> Change:
        """Return how the function is asked whether it works."""
        smoke = self.root / "infra/hooks/smoke.sh"
        return f"Ask it whether it works ({smoke}).", lambda: _run(str(smoke), env=self.environment)

    async def _az(self, words: str, *more: str) -> str:
        group, name = map(self.environment.get, ("AZURE_RESOURCE_GROUP", "AZURE_FUNCTION_NAME"))
        if not (group and name):
            raise LocalStackError(
                "AZURE_RESOURCE_GROUP or AZURE_FUNCTION_NAME is not set: azd has both as outputs."
            )
        place = ("--resource-group", group, "--name", name, "--output", "tsv")
        return await _run("az", *words.split(), *place, *more)


async def of_secret(function: DeployedFunction, setting: str, value: str) -> list[Change]:
    """Return how another secret takes its place; keys are read each minute without being told."""
    if setting == "PROJECT_KEYS":
        return [await function.replacing("PROJECT_KEYS_SECRET", value), function.asking()]
    return [await function.replacing(setting, value), *function.rereading(), function.asking()]


async def of_graph(function: DeployedFunction, admin: Connection, new: str) -> list[Change]:
    """Return how the function gets another user of the graph, whom `admin` may make."""
    old = await function.setting("NEO4J_USERNAME") or "neo4j"
    password = secrets.token_urlsafe(32)

    async def create() -> None:
        users = await admin.rows("SHOW USERS YIELD user, roles")
        if any(row["user"] == new for row in users):
            raise LocalStackError(f"The graph has a user {new} already: name another one.")
        await admin.write(_CREATE, {"name": new, "password": password})
        roles = [row["roles"] or [] for row in users if row["user"] == old]
        for role in set(chain(*roles)) - {"PUBLIC"}:
            await admin.write("GRANT ROLE $role TO $name", {"role": role, "name": new})

    async def drop() -> None:
        connected = await admin.rows("CALL dbms.listConnections() YIELD username")
        if any(row["username"] == old for row in connected):
            raise LocalStackError(f"{old} is connected, and stays: drop it when nobody needs it.")
        await admin.write("DROP USER $name", {"name": old})

    return [
        (f"In the graph: make the user {new} with the roles of {old}.", create),
        await function.replacing("NEO4J_PASSWORD", password),
        *function.rereading(f"NEO4J_USERNAME={new}"),
        function.asking(),
        (f"In the graph: drop {old}. A next deployment needs NEO4J_USERNAME={new}.", drop),
    ]


async def _run(*words: str, env: Mapping[str, str] | None = None) -> str:
    """Return what a program prints; LocalStackError with its own words where it fails."""
    pipe, nothing = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
    process = await asyncio.create_subprocess_exec(
        *words, stdin=nothing, stdout=pipe, stderr=pipe, env=env
    )
    printed, said = await process.communicate()
    if process.returncode:
        raise LocalStackError(f"{' '.join(words[:4])} failed: {said.decode().strip()}")
    return printed.decode().strip()
