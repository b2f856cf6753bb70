"""`drift mcp`: the tools over standard input and output, as an agent on this machine has them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters

from drift.local.stack.valkey_server import ValkeyServer
from tests.command_line import NO_SERVERS_GIVEN, ROOT
from tests.function.corpus import PROJECT, QUESTION, WITHOUT_COMMUNITIES, Corpus
from tests.mcp.calling import LEGACY, TOOLS

pytestmark = pytest.mark.deep

ARGUMENTS = ["-m", "drift", "mcp"]


@pytest.fixture
def servers(base_settings: dict[str, str], valkey: ValkeyServer, corpus: Corpus) -> dict[str, str]:  # noqa: ARG001 - the graph is filled
    """An environment that names all servers, so that none is started."""
    return {**NO_SERVERS_GIVEN, **base_settings, "REDIS_URL": valkey.url, "REDIS_AUTH": "url"}


async def test_an_agent_is_served_one_project(servers: dict[str, str]) -> None:
    command = StdioServerParameters(
        command=sys.executable, args=[*ARGUMENTS, "--project", PROJECT], env=servers, cwd=ROOT
    )
    async with Client(command) as client:
        assert {one.name for one in (await client.list_tools()).tools} == TOOLS
        # the only project need not be named
        found = await client.call_tool("search", {"question": QUESTION})
        assert "four metres" in found.structured_content["passages"][0]["text"]

        others = {"question": QUESTION, "project": WITHOUT_COMMUNITIES}
        refused = await client.call_tool("retrieve", others)
        assert refused.is_error
        assert "no read right on this project" in refused.content[0].text

        told = (await client.call_tool("list_projects", {})).structured_content
        assert [one["id"] for one in told["projects"]] == [PROJECT]


# ------------------------------------------------------------------------------- as a bare process
@contextmanager
def running(environment: dict[str, str]) -> Iterator[subprocess.Popen[str]]:
    """Run the command until it is ready to be asked."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(  # noqa: S603 - our own command
        [sys.executable, *ARGUMENTS], cwd=ROOT, env=environment, text=True, **pipes
    ) as process:
        try:
            hello = {"capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
            ask(process, "initialize", {"protocolVersion": LEGACY, **hello})
            yield process
        finally:
            process.kill()


def ask(process: subprocess.Popen[str], method: str, params: dict[str, Any]) -> dict[str, Any]:
    """Send a request, and return what it gives."""
    send(process.stdin, {"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
    assert process.stdout
    read: dict[str, Any] = json.loads(process.stdout.readline())
    return read


def send(pipe: IO[str] | None, sent: object) -> None:
    assert pipe
    pipe.write(sent if isinstance(sent, str) else json.dumps(sent))
    pipe.write("\n")
    pipe.flush()


def test_nothing_but_messages_stands_on_the_output(servers: dict[str, str]) -> None:
    with running(servers) as process:
        for bad in ("no JSON", "[1, 2]", '{"jsonrpc": "2.0"}', "", "\x00", "[" * 100_000):
            send(process.stdin, bad)
        listed = ask(process, "tools/list", {})
        assert {one["name"] for one in listed["result"]["tools"]} == TOOLS
        large = {"name": "search", "arguments": {"question": "x" * 2**20}}
        assert ask(process, "tools/call", large)["result"]["isError"]

        left, said = process.communicate(timeout=60)  # ends its input
        assert (process.returncode, left) == (0, ""), said
        assert "Traceback" not in said


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_while_it_waits_for_input(
    servers: dict[str, str], number: signal.Signals
) -> None:
    with running(servers) as process:
        process.send_signal(number)
        assert process.wait(60) == 0
        assert process.stderr
        assert process.stderr.read() == "Stopped.\n"


def test_a_client_that_vanishes_leaves_no_process(servers: dict[str, str]) -> None:
    with running(servers) as process:
        assert process.stdin
        assert process.stdout
        process.stdout.close()
        send(process.stdin, {"jsonrpc": "2.0", "id": 2, "method": "tools/list"})
        process.stdin.close()
        process.wait(60)
        assert process.stderr
        assert process.stderr.read() == ""


def test_a_bad_project_is_refused_before_any_server(servers: dict[str, str]) -> None:
    done = subprocess.run(  # noqa: S603 - our own command
        [sys.executable, *ARGUMENTS, "--project", "p" * 129],
        cwd=ROOT,
        env={**os.environ, **servers},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "--project" in done.stderr
