"""What the local host has beside the function's routes: who may speak to it, its page, its port."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from itertools import product

import pytest
from starlette.types import Send
from typer.testing import CliRunner

from drift.core.errors import LocalStackError
from drift.local.cli.app import app
from drift.local.hosts import loopback_server as server
from drift.local.hosts.local_host import serving
from drift.local.hosts.same_machine import host_name
from tests.function.calling import calling

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("no_settings")]

PATH = "/health/live"


async def test_this_machine_s_own_names_are_answered() -> None:
    async with serving() as url, calling(url) as caller:
        port = url.rpartition(":")[2]
        for own in (
            {},
            {"host": f"localhost:{port}"},
            {"host": f"[::1]:{port}"},
            {"host": "localhost:8000", "origin": "http://localhost:8000"},
            {"origin": f"http://127.0.0.1:{port}"},
        ):
            assert (await caller.client.get(PATH, headers=own)).status_code == 200, own


async def test_any_other_name_and_any_page_of_elsewhere_is_refused() -> None:
    async with serving() as url, calling(url) as caller:
        port = url.rpartition(":")[2]
        foreign = [
            {"host": "evil.example"},
            {"host": "127.0.0.1@evil.example"},
            {"host": f"localhost:{port}@evil.example"},
            {"host": "localhost:port"},
            {"host": ""},
            {"origin": f"http://localhost:{port}"},
            {"origin": "null"},
            {"origin": f"http://localhost:{port}", "host": "evil.example"},
        ]
        for headers, path in product(foreign, ("/", PATH, "/retrieve")):
            response = await caller.client.get(path, headers=headers)
            assert (response.status_code, response.json()["code"]) == (403, "foreign_host"), headers
            assert "--allow-host" in response.json()["detail"]
            assert "access-control-allow-origin" not in response.headers


async def test_the_name_of_a_proxy_in_front_can_be_allowed() -> None:
    async with serving(allowed=["drift.example"]) as url, calling(url) as caller:
        through = {"host": "Drift.example", "origin": "https://drift.example"}
        assert (await caller.client.get(PATH, headers=through)).status_code == 200
        assert (await caller.client.get(PATH, headers={"host": "evil.example"})).status_code == 403


async def test_a_name_that_is_none_lets_nobody_else_in() -> None:
    foreign = [{"origin": "null"}, {"origin": ""}, {"host": ""}, {"host": "", "origin": "null"}]
    foreign += [{"host": "drift.example:1"}, {"origin": "http://drift.example"}]
    async with serving(allowed=["", "null", "*", "drift.example:1"]) as url, calling(url) as caller:
        for headers in foreign:
            assert (await caller.client.get(PATH, headers=headers)).status_code == 403, headers


@pytest.mark.parametrize(
    ("given", "name"),
    [("Drift.Example", "drift.example"), ("my_proxy", "my_proxy"), ("[FE80::0:1]", "fe80::1")],
)
def test_a_host_may_be_allowed_by_its_name(given: str, name: str) -> None:
    assert host_name(given) == name


@pytest.mark.parametrize(
    "given",
    [
        *("", "a b", "a\x00", "*.example", "a,b", "a..b", "a:80", "http://a", "a" * 64),
        *("m\u00fcnchen.de", "\ud800"),
    ],
)
def test_what_is_no_host_is_refused(given: str) -> None:
    with pytest.raises(ValueError, match="is not the name of one host"):
        host_name(given)


def test_what_is_no_host_is_wrong_usage() -> None:
    done = CliRunner().invoke(app, ["serve", "--allow-host", "a b"])
    assert (done.exit_code, done.stdout) == (2, "")
    assert "is not the name of one host" in " ".join(done.stderr.replace("│", " ").split())


async def test_the_root_leads_to_the_page() -> None:
    async with serving() as url, calling(url) as caller:
        response = await caller.client.get("/")
        page = await caller.client.get("/", follow_redirects=True)
        icon = await caller.client.get("/favicon.ico")
    assert (icon.status_code, icon.content) == (204, b"")
    assert (response.status_code, response.headers["location"]) == (307, "rag")
    assert (page.status_code, str(page.url)) == (200, f"{url}/rag")


async def test_another_method_is_told_which_there_are() -> None:
    async with serving() as url, calling(url) as caller:
        for path, allowed in {
            "/": "GET, OPTIONS",
            "/retrieve": "OPTIONS, POST",
            "/health/live": "GET, OPTIONS",
            "/documents/a%2Fb": "DELETE, GET, OPTIONS, PATCH",
            "/rag/x/main.js": "GET, OPTIONS",
        }.items():
            asked = await caller.client.request("OPTIONS", path)
            assert (asked.status_code, asked.headers["allow"], asked.content) == (204, allowed, b"")
            for method in ("PUT", "TRACE", "HEAD"):
                refused = await caller.client.request(method, path)
                assert (refused.status_code, refused.headers["allow"]) == (405, allowed), method
        assert (await caller.client.request("OPTIONS", "/nothing")).status_code == 404


async def test_another_port_is_taken_unless_one_was_asked_for() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        async with serving(None, port) as url:
            assert not url.endswith(f":{port}")
        with pytest.raises(
            LocalStackError, match=f"Port {port} on 127.0.0.1 is taken by another process"
        ):
            async with serving(port):
                pass
    async with serving(None, port) as url:
        assert url.endswith(f":{port}")


BODY = b"POST /retrieve HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
WHOLE = b"GET /health/live HTTP/1.1\r\nhost: localhost\r\n\r\n"


@pytest.mark.parametrize(
    ("begun", "part"),
    [
        (b"", b""),
        (b"GET /health/live HTTP/1.1\r\nhost: localhost\r\nx: ", b"x"),
        (BODY + b"content-length: 500\r\n\r\n", b" "),
        (WHOLE, b""),
    ],
    ids=["nothing", "a head", "a body", "no second one"],
)
async def test_a_request_that_does_not_arrive_whole_is_given_up(
    begun: bytes, part: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "ARRIVAL_S", 0.5)
    async with serving() as url:
        reader, writer = await asyncio.open_connection(*url.removeprefix("http://").split(":"))
        writer.write(begun)

        async def trickle() -> None:
            while True:
                writer.write(part)
                await asyncio.sleep(0.05)

        trickling = asyncio.create_task(trickle())
        answered = b""
        async with asyncio.timeout(60):
            with contextlib.suppress(ConnectionError):
                answered = await reader.read()
        assert answered.count(b" 200 OK") == (begun == WHOLE)
        trickling.cancel()
        writer.close()


async def test_whoever_waits_for_a_whole_request_is_not_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(server, "ARRIVAL_S", 0.5)

    async def slow(_scope: object, _receive: object, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for _ in range(4):
            await asyncio.sleep(0.15)
            await send({"type": "http.response.body", "body": b"x", "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async with server.listening(slow) as url, calling(url) as caller:
        for _ in range(2):  # over one connection
            assert (await caller.client.post("/", content=b"y")).text == "x" * 4


async def test_what_is_no_http_is_refused_and_takes_no_time_at_the_end() -> None:
    async with serving() as url:
        reader, writer = await asyncio.open_connection(*url.removeprefix("http://").split(":"))
        writer.write(b"\x16\x03\x01\x00 hello\r\n\r\n")
        assert (await reader.read()).startswith(b"HTTP/1.1 400 ")
        writer.close()
