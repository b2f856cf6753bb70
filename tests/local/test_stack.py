"""The stack: what is given is not started, what runs is shared, what dies comes back, and nothing
outlives its last user.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import neo4j
import psutil
import pytest
import redis

from drift.core.errors import LocalStackError
from drift.local.stack.locks import is_unlocked, try_lock, unlock
from drift.local.stack.neo4j.server import Neo4jServer
from drift.local.stack.record import lock_of, read_record, users_of
from drift.local.stack.stack import MOST_LOG_BYTES, VARIABLES, Stack, StackOptions
from drift.local.stack.valkey_server import ValkeyServer
from tests.local.processes import runs, script, until

pytestmark = pytest.mark.slow

GIVEN = {
    "NEO4J_URI": "bolt://graph.test:7687",
    "NEO4J_PASSWORD": "given-password",
    "OAI_BASE_URL": "http://model.test",
    "OAI_MODEL": "given-model",
}
"""With these, Valkey alone is started, which takes a moment."""
ALL_BUT_THE_MODEL = {
    "NEO4J_URI": "bolt://graph.test:7687",
    "REDIS_URL": "redis://progress.test",
}
"""With these, the model alone is started, which takes some seconds."""

COMMAND = """
import json, sys, time
from pathlib import Path
from drift.local.stack.stack import Stack, StackOptions
stack = Stack(StackOptions(data_dir=Path(sys.argv[1]), given=json.loads(sys.argv[2]))).start()
print(stack.pids["valkey"], flush=True)
time.sleep(600)
"""


class Lines(list[str]):
    """Keeps what was said."""

    def holding(self, text: str) -> list[str]:
        return [line for line in self if text in line]


@pytest.fixture
def said() -> Lines:
    return Lines()


@pytest.fixture
def options(tmp_path: Path, said: Lines) -> StackOptions:
    return StackOptions(data_dir=tmp_path / "data", given=GIVEN, say=said.append)


@pytest.fixture
def killed(options: StackOptions) -> Iterator[tuple[Stack, int]]:
    """A stack whose Valkey was just killed, and its pid."""
    with Stack(options) as stack:
        pid = stack.pids["valkey"]
        assert pid
        os.kill(pid, signal.SIGKILL)
        yield stack, pid


@pytest.fixture
def held(options: StackOptions) -> Iterator[int]:
    """The lock of a keeper that starts or ends servers, with its process in it."""
    lock = try_lock(lock_of(options.data_dir))
    assert lock is not None
    os.write(lock, str(os.getpid()).encode())
    yield lock
    with suppress(OSError):  # it was let go
        unlock(lock)


@pytest.fixture
def command(options: StackOptions) -> Iterator[psutil.Process]:
    """Another command, which owns the servers."""
    with script(COMMAND, options.data_dir, json.dumps(GIVEN)) as process:
        assert process.stdout
        assert process.stdout.readline().strip().isdigit()
        yield psutil.Process(process.pid)


def answers(stack: Stack) -> bool:
    try:
        return bool(redis.Redis.from_url(stack.env["REDIS_URL"]).ping())
    except redis.ConnectionError:
        return False


def is_free(options: StackOptions) -> bool:
    return is_unlocked(lock_of(options.data_dir))


def kept(options: StackOptions) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((options.data_dir / "stack.json").read_text())
    return document


@pytest.mark.neo4j
@pytest.mark.deep
@pytest.mark.timeout(600)
def test_the_whole_stack_answers_and_a_killed_database_comes_back(
    tmp_path: Path, said: Lines, neo4j_2026: Neo4jServer
) -> None:
    assert neo4j_2026.port  # its jars are there
    with Stack(StackOptions(data_dir=tmp_path / "data", say=said.append)) as stack:
        assert set(stack.env) >= {first for first, *_ in VARIABLES.values()}
        assert stack.env["VECTOR_INDEX_DIMENSIONS"] == "256"
        assert all(runs(pid) for pid in stack.pids.values() if pid)
        assert None not in stack.pids.values()
        login = (stack.env["NEO4J_URI"], (stack.env["NEO4J_USERNAME"], stack.env["NEO4J_PASSWORD"]))
        with neo4j.GraphDatabase.driver(login[0], auth=login[1]) as driver:
            driver.execute_query("CREATE (:Kept)", database_="neo4j")
        before = stack.pids["neo4j"]
        assert before
        os.kill(before, signal.SIGKILL)
        assert until(lambda: bool(said.holding("neo4j server answers again")), 180)
        with neo4j.GraphDatabase.driver(login[0], auth=login[1]) as driver:
            assert (
                len(driver.execute_query("MATCH (n:Kept) RETURN n", database_="neo4j").records) == 1
            )
        pids = dict(stack.pids)
    assert pids["neo4j"] != before
    assert not any(runs(pid) for pid in pids.values() if pid)
    assert is_unlocked(lock_of(tmp_path / "data"))


def test_what_is_given_is_used_and_neither_started_nor_kept(options: StackOptions) -> None:
    with Stack(replace(options, neo4j_version="of the given server")) as stack:
        assert {name: stack.env[name] for name in GIVEN} == GIVEN
        assert "OAI_KEY" not in stack.env
        assert stack.pids["neo4j"] is None
        assert stack.pids["model"] is None
        assert answers(stack)
        record = options.data_dir / "stack.json"
        assert "given-password" not in record.read_text()
        assert stat.S_IMODE(record.stat().st_mode) == 0o600
        assert stat.S_IMODE(options.data_dir.stat().st_mode) == 0o700


def test_nothing_is_started_when_all_is_given(tmp_path: Path) -> None:
    given = {**GIVEN, "REDIS_URL": "redis://progress.test"}
    with Stack(StackOptions(data_dir=tmp_path / "data", given=given)) as stack:
        assert set(stack.pids.values()) == {None}
        assert stack.env == given
    assert not (tmp_path / "data").exists()


def test_a_second_command_attaches_and_leaves_the_servers_running(options: StackOptions) -> None:
    with Stack(options) as first:
        assert not first.attached
        with Stack(options) as second:
            assert second.attached
            assert second.env == first.env
            assert second.pids == first.pids
        assert runs(first.pids["valkey"] or 0)
        pid = first.pids["valkey"] or 0
    assert kept(options)["env"] == {}
    assert not runs(pid)
    with Stack(options) as later:
        assert later.env == first.env, "at the same ports as the last time"


def test_a_part_the_running_stack_lacks_is_named(options: StackOptions) -> None:
    needs_all = StackOptions(data_dir=options.data_dir, say=options.say)
    with (
        Stack(options),
        pytest.raises(
            LocalStackError, match=r"no neo4j and no model server.*NEO4J_URI, OAI_BASE_URL"
        ),
    ):
        Stack(needs_all).start()


def test_a_server_that_died_is_named_and_started_again(
    killed: tuple[Stack, int], options: StackOptions, said: Lines
) -> None:
    stack, pid = killed
    url = stack.env["REDIS_URL"]
    assert until(lambda: bool(said.holding("answers again")))
    assert said.holding(f"valkey server (pid {pid}) ended with signal SIGKILL")
    assert said.holding("valkey.log")
    assert redis.Redis.from_url(url).ping()
    assert until(lambda: kept(options)["pids"] == {"valkey": stack.pids["valkey"]})


async def test_a_server_that_dies_again_and_again_is_given_up(
    options: StackOptions, said: Lines
) -> None:
    async with Stack(options) as stack:
        for killed in range(4):
            assert await asyncio.to_thread(
                until, lambda n=killed: len(said.holding("answers again")) == n
            )
            os.kill(stack.pids["valkey"] or 0, signal.SIGKILL)
        with pytest.raises(LocalStackError, match="fourth time within 60 s: it is given up"):
            await stack.wait()


def test_one_failed_start_ends_the_others_and_is_the_one_that_is_reported(
    options: StackOptions, valkey: ValkeyServer
) -> None:
    both = {name: value for name, value in GIVEN.items() if not name.startswith("OAI")}
    stack = Stack(replace(options, given=both, ports={"valkey": valkey.port}))
    with pytest.raises(LocalStackError, match=f"Port {valkey.port} .* is taken"):
        stack.start()
    assert stack.pids == dict.fromkeys(VARIABLES)
    assert is_free(options)


async def test_a_start_that_is_broken_off_leaves_nothing(options: StackOptions) -> None:
    stack = Stack(replace(options, given=ALL_BUT_THE_MODEL))
    starting = asyncio.create_task(stack.__aenter__())
    log = options.data_dir / "model" / "model.log"
    assert await asyncio.to_thread(until, log.exists)
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    assert is_free(options)
    with Stack(options):
        pass  # the folder is free again


async def test_a_command_that_only_waits_is_broken_off_at_once(
    options: StackOptions, said: Lines, held: int
) -> None:
    starting = asyncio.create_task(Stack(options).__aenter__())
    waits = f"Process {os.getpid()} is starting or ending the local stack in {options.data_dir}"
    assert await asyncio.to_thread(until, lambda: bool(said.holding(waits)))
    starting.cancel()
    done, _ = await asyncio.wait([starting], timeout=10)
    unlock(held)
    assert done == {starting}


def test_a_command_that_waits_goes_on_when_the_start_of_another_one_fails(
    options: StackOptions, said: Lines, held: int
) -> None:
    stack = Stack(options)
    starting = threading.Thread(target=stack.start)
    starting.start()
    assert until(lambda: bool(said.holding("wait for it")))
    with (options.data_dir / "stack.log").open("ab") as log:
        log.write(b'{"failed": "it was told to end", "keeper": 1}\n5\nnull\n\xff\n{"say": "on"}\n')
    assert until(lambda: "on" in said)
    unlock(held)
    starting.join()
    assert (stack.attached, answers(stack)) == (False, True)
    stack.stop()


def test_a_long_log_begins_anew_where_nobody_else_uses_the_servers(options: StackOptions) -> None:
    log, older = options.data_dir / "stack.log", options.data_dir / "stack.log.1"
    options.data_dir.mkdir()
    log.write_bytes(b"x" * MOST_LOG_BYTES)
    with Stack(options):
        assert log.stat().st_size > MOST_LOG_BYTES, "it is read while somebody uses the servers"
        with Stack(options):
            assert not older.exists()
    older.write_text("the one before")
    with Stack(options) as stack:
        assert answers(stack)
        assert older.stat().st_size > MOST_LOG_BYTES
        assert "answers" in log.read_text()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="it stands for a full disk")
def test_a_keeper_that_can_say_nothing_keeps_the_servers(options: StackOptions) -> None:
    users = try_lock(users_of(options.data_dir), shared=True)
    request = {"parts": ["valkey"], "version": "2026", "ports": {}, "memory": {}}
    keeper = [sys.executable, "-m", "drift.local.stack.keeper", options.data_dir]
    with (
        Path("/dev/full").open("wb") as full,
        subprocess.Popen(keeper, stdin=subprocess.PIPE, stdout=full, text=True) as process,  # noqa: S603 - ours
    ):
        assert process.stdin
        process.stdin.write(json.dumps({**request, "cache": "", "java_home": ""}))
        process.stdin.close()
        assert until(lambda: bool(read_record(options.data_dir).pids))
        unlock(users)
        assert process.wait() == 0


def test_servers_of_the_release_before_are_joined_and_started_again(
    options: StackOptions, held: int
) -> None:
    with ValkeyServer(options.data_dir / "valkey") as before:
        left = {"ports": {"valkey": before.port}, "env": before.env}
        left |= {"pids": {"valkey": before.pid}, "neo4j_version": "2026.08.1"}
        (options.data_dir / "stack.json").write_text(json.dumps(left))
        with Stack(options) as stack:
            assert (stack.attached, stack.env["REDIS_URL"]) == (True, before.url)
            pid = before.pid
            before.stop()
            unlock(held)
            assert until(lambda: stack.pids["valkey"] not in {None, pid} and answers(stack))


@pytest.mark.parametrize("by", [signal.SIGKILL, signal.SIGTERM])
def test_servers_end_when_their_owner_is_killed(
    options: StackOptions, command: psutil.Process, by: signal.Signals
) -> None:
    servers = command.children(recursive=True)
    assert {server.name() for server in servers} > {"valkey-server"}
    assert os.getsid(command.pid) not in {os.getsid(one.pid) for one in servers}  # a terminal's
    for one in servers:  # so that nobody starts another on the same data before it has ended
        assert str(options.data_dir / "lock") in {file.path for file in one.open_files()}
    command.send_signal(by)
    # the kernel lets a lock go a moment before the process is gone
    assert until(lambda: is_free(options) and not any(runs(one.pid) for one in servers))


def test_a_start_ends_with_a_killed_command(options: StackOptions) -> None:
    with script(COMMAND, options.data_dir, json.dumps(ALL_BUT_THE_MODEL)) as process:
        assert until((options.data_dir / "model" / "model.log").exists)
        process.kill()
        assert until(lambda: is_free(options))


def test_servers_stay_while_a_command_uses_them_and_end_with_the_last(
    options: StackOptions, command: psutil.Process, said: Lines
) -> None:
    with Stack(options) as first, Stack(options) as second:
        before = dict(first.pids)
        command.kill()
        command.wait()
        with Stack(options) as later:
            assert (later.attached, later.pids, answers(later)) == (True, before, True)
        first.stop()
        time.sleep(0.5)  # the keeper looks ten times a second
        assert (second.pids, answers(second)) == (before, True)
    assert not said.holding("Other commands use the local servers")
    assert is_free(options)
    assert not runs(before["valkey"] or 0)


def test_the_command_that_started_the_servers_leaves_them_to_those_that_use_them(
    options: StackOptions, said: Lines
) -> None:
    first = Stack(options).start()
    with Stack(options) as second:
        first.stop()
        assert said.holding("Other commands use the local servers")
        assert answers(second)
    assert is_free(options)


def test_the_commands_that_are_left_behind_start_the_servers_where_they_were(
    options: StackOptions,
) -> None:
    def to_nobody(_line: str) -> None:
        raise BrokenPipeError

    with Stack(options) as first, Stack(replace(options, say=to_nobody)) as second:
        before = first.pids["valkey"] or 0
        psutil.Process(before).parent().parent().kill()
        assert until(lambda: first.pids["valkey"] not in {None, before} and answers(first))
        assert answers(second)
        assert first.pids == second.pids
    assert is_free(options)


@pytest.mark.skipif(
    sys.platform != "linux", reason="only Linux ends a server with its guard at once"
)
def test_a_killed_keeper_and_killed_guards_leave_what_the_next_command_needs(
    options: StackOptions, command: psutil.Process
) -> None:
    servers = command.children(recursive=True)
    killed = [command, *(one for one in servers if one.name() != "valkey-server")]
    for one in killed:
        one.kill()
    psutil.wait_procs(killed)
    with Stack(options) as stack:
        assert not stack.attached
        assert answers(stack)
    assert until(lambda: not any(runs(one.pid) for one in servers))


@pytest.mark.parametrize(
    ("in_the_way", "named"),
    [
        ("data", "cannot be made"),
        ("data/lock", "Is a d"),
        ("data/valkey/valkey.log", "valkey server did not start: .*Is a d"),
    ],
)
def test_what_is_in_the_way_is_named(options: StackOptions, in_the_way: str, named: str) -> None:
    place = options.data_dir.parent / in_the_way
    if place == options.data_dir:
        place.touch()
    else:
        place.mkdir(parents=True)
    with pytest.raises(LocalStackError, match=named):
        Stack(options).start()


async def test_a_command_learns_that_the_data_folder_was_removed(options: StackOptions) -> None:
    async with Stack(options) as stack:
        shutil.rmtree(options.data_dir)
        with pytest.raises(LocalStackError, match="was removed"):
            await stack.wait()
    assert not options.data_dir.exists()


def test_commands_that_start_at_the_same_instant_share_one_start(options: StackOptions) -> None:
    with ExitStack() as running:
        commands = [
            running.enter_context(script(COMMAND, options.data_dir, json.dumps(GIVEN)))
            for _ in range(4)
        ]
        pids = {command.stdout.readline() for command in commands if command.stdout}
    assert len(pids) == 1


def test_commands_that_come_and_go_find_servers(options: StackOptions) -> None:
    failures: list[BaseException] = []

    def come_and_go() -> None:
        try:
            for _ in range(4):
                with Stack(options) as stack:
                    assert until(lambda: answers(stack))  # its owner may be leaving
        except BaseException as error:
            failures.append(error)
            raise

    threads = [threading.Thread(target=come_and_go) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert until(lambda: is_free(options))


def test_a_record_that_was_left_is_not_believed(options: StackOptions) -> None:
    options.data_dir.mkdir()
    left = {"env": {"REDIS_URL": "redis://127.0.0.1:1"}, "pids": {"valkey": os.getpid()}}
    (options.data_dir / "stack.json").write_text(json.dumps({**left, "ports": {"valkey": 1}}))
    (options.data_dir / "lock").write_text(str(os.getpid()))
    with Stack(options) as stack:
        assert (stack.attached, answers(stack)) == (False, True)
