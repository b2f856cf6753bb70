"""The servers stay until the last command on their data folder has gone, however it goes, and then
they end.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
import redis

from drift.core.errors import LocalStackError
from drift.local.stack.order import Places
from drift.local.stack.stack import Stack, StackOptions
from tests.local.processes import runs, script, until

pytestmark = pytest.mark.slow

VALKEY_ALONE = {"NEO4J_URI": "bolt://graph.test:7687", "OAI_BASE_URL": "http://model.test"}
MODEL_ALONE = {"NEO4J_URI": "bolt://graph.test:7687", "REDIS_URL": "redis://progress.test"}
COMMAND = """
import json, sys, time
from pathlib import Path
from drift.local.stack.stack import Stack, StackOptions
stack = Stack(StackOptions(data_dir=Path(sys.argv[1]), given=json.loads(sys.argv[2]))).start()
print(stack.pids["valkey"], flush=True)
time.sleep(600)
"""
only_on_linux = pytest.mark.skipif(
    sys.platform != "linux", reason="only Linux ends a server with its guard"
)


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def options(tmp_path: Path, said: list[str]) -> StackOptions:
    return StackOptions(data_dir=tmp_path / "data", given=VALKEY_ALONE, say=said.append)


@pytest.fixture
def places(options: StackOptions) -> Places:
    return Places(options.data_dir)


@pytest.fixture
def command(options: StackOptions) -> Iterator[psutil.Process]:
    """Another command, which has started the servers."""
    with script(COMMAND, options.data_dir, json.dumps(VALKEY_ALONE)) as process:
        assert process.stdout
        assert process.stdout.readline().strip().isdigit()
        yield psutil.Process(process.pid)


def the_process(places: Places) -> psutil.Process:
    """Return the one that runs the servers."""
    return psutil.Process(places.process.holder())


def answers(stack: Stack) -> bool:
    try:
        return bool(redis.Redis.from_url(stack.env["REDIS_URL"]).ping())
    except redis.ConnectionError:
        return False


def test_the_servers_outlive_the_command_that_started_them(
    options: StackOptions, places: Places
) -> None:
    first, second = Stack(options).start(), Stack(options).start()
    first.stop()
    with Stack(options) as third:
        second.stop()
        assert (second.attached, third.attached) == (False, True)  # one has left
        assert answers(third)
    assert places.servers.is_free()


def test_a_killed_command_takes_nothing_from_the_others(
    options: StackOptions, places: Places, command: psutil.Process
) -> None:
    with Stack(options) as stack:
        valkey = stack.pids["valkey"] or 0
        command.kill()
        command.wait()
        assert not until(lambda: not answers(stack) or places.commands.is_unused(), 1)
        assert stack.pids["valkey"] == valkey
    assert not runs(valkey)


def test_servers_end_when_the_only_command_is_killed(
    places: Places, command: psutil.Process
) -> None:
    process = the_process(places)
    servers = process.children(recursive=True)
    assert {server.name() for server in servers} > {"valkey-server"}
    command.kill()
    assert until(places.servers.is_free)
    assert not any(runs(one.pid) for one in (process, *servers))


def test_a_start_ends_with_the_only_command_that_wanted_it(
    options: StackOptions, places: Places
) -> None:
    with script(COMMAND, options.data_dir, json.dumps(MODEL_ALONE)) as process:
        assert until(lambda: not places.process.is_free())
        process.kill()
        assert until(places.servers.is_free)


def test_servers_come_back_where_they_were_when_their_process_is_killed(
    options: StackOptions, places: Places, said: list[str]
) -> None:
    def to_nobody(_line: str) -> None:
        raise BrokenPipeError

    with Stack(options) as first, Stack(replace(options, say=to_nobody)) as second:
        before = second.pids
        the_process(places).kill()
        assert until(lambda: "The local servers answer again." in said)
        assert until(lambda: second.pids != before)
        assert answers(first)
        assert first.pids == second.pids
        assert first.pids["valkey"]
    assert places.servers.is_free()


@only_on_linux
def test_killing_a_command_the_process_and_the_guards_leaves_what_the_next_command_needs(
    options: StackOptions, places: Places, command: psutil.Process
) -> None:
    process = the_process(places)
    servers = process.children(recursive=True)
    killed = [command, process, *process.children()]
    for one in killed:
        one.kill()
    psutil.wait_procs(killed)
    with Stack(options) as stack:
        assert not stack.attached
        assert answers(stack)
        assert stack.pids["valkey"] not in {one.pid for one in servers}
    assert not any(runs(one.pid) for one in servers)


@only_on_linux
def test_a_server_whose_guard_is_killed_is_started_again(
    options: StackOptions, places: Places, said: list[str]
) -> None:
    with Stack(options) as stack:
        the_process(places).children()[0].kill()
        assert until(lambda: any("answers again" in line for line in said))
        assert answers(stack)


async def test_commands_learn_that_somebody_ended_the_process(
    options: StackOptions, places: Places
) -> None:
    async with Stack(options) as stack:
        the_process(places).terminate()
        with pytest.raises(LocalStackError, match="was told to end, by a signal"):
            await stack.wait()


async def test_commands_learn_that_the_data_folder_was_removed(options: StackOptions) -> None:
    async with Stack(options) as stack:
        shutil.rmtree(options.data_dir)
        with pytest.raises(LocalStackError, match="was removed"):
            await stack.wait()


def test_commands_that_start_at_the_same_instant_share_one_start(options: StackOptions) -> None:
    with ExitStack() as running:
        commands = [
            running.enter_context(script(COMMAND, options.data_dir, json.dumps(VALKEY_ALONE)))
            for _ in range(4)
        ]
        pids = {command.stdout.readline() for command in commands if command.stdout}
    assert len(pids) == 1


def test_a_command_that_comes_while_the_last_one_leaves_finds_servers(
    options: StackOptions, places: Places
) -> None:
    failures: list[BaseException] = []

    def come_and_go() -> None:
        try:
            for _ in range(4):
                with Stack(options) as stack:
                    assert answers(stack)
        except BaseException as error:
            failures.append(error)
            raise

    threads = [threading.Thread(target=come_and_go) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert until(places.servers.is_free)


def test_a_note_that_was_left_is_not_believed_whatever_pid_it_names(options: StackOptions) -> None:
    options.data_dir.mkdir()
    note = {
        "env": {"REDIS_URL": "redis://127.0.0.1:1"},
        "pids": {"valkey": os.getpid()},
        "ports": {"valkey": 1},
    }
    (options.data_dir / "stack.json").write_text(
        json.dumps({**note, "neo4j_version": "2026.08.1", "failure": ""})
    )
    for name in ("lock", "process.lock", "commands.lock"):
        (options.data_dir / name).write_text(str(os.getpid()))
    with Stack(options) as stack:
        assert (stack.attached, answers(stack)) == (False, True)


def test_the_servers_are_in_no_terminal_s_session(places: Places, command: psutil.Process) -> None:
    process = the_process(places)
    assert not {os.getsid(one.pid) for one in (process, *process.children())} & {
        os.getsid(command.pid)
    }
