"""What the local host has beside the function's routes: who may speak to it, its page, its port."""

from __future__ import annotations

import asyncio
import socket

import pytest

from drift.errors import LocalStackError
from drift.offline.hosts.local_host import serving
from tests.function.calling import calling

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("no_settings")]

PATH = "/health/live"


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"host": "localhost:{port}"},
        {"host": "LOCALHOST:{port}"},
        {"host": "[::1]:{port}"},
        {"host": "localhost"},
        {"host": "localhost:8000", "origin": "http://localhost:8000"},  # through a tunnel
        {"origin": "http://127.0.0.1:{port}"},
    ],
)
async def test_this_machine_s_own_names_are_answered(headers: dict[str, str]) -> None:
    async with serving() as url, calling(url) as caller:
        own = {name: value.format(port=url.rpartition(":")[2]) for name, value in headers.items()}
        assert (await caller.client.get(PATH, headers=own)).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "evil.example"},
        {"host": "evil.example:{port}"},
        {"host": "127.0.0.1@evil.example"},
        {"host": "127.0.0.1/evil.example"},
        {"host": "127.0.0.1.evil.example:{port}"},
        {"host": "localhost:{port}@evil.example"},
        {"host": "localhost:port"},
        {"host": "[::1:{port}"},
        {"host": ""},
        {"origin": "http://evil.example"},
        {"origin": "https://localhost.evil.example:{port}"},
        {"origin": "http://localhost:1"},
        {"origin": "http://localhost:{port}"},  # not the name that the request is for
        {"origin": "http://evil.example", "host": "evil.example"},
        {"origin": "null"},
        {"origin": "http://localhost:{port}", "host": "evil.example"},
    ],
)
@pytest.mark.parametrize("path", ["/", PATH, "/retrieve"])
async def test_any_other_name_and_any_page_of_elsewhere_is_refused(
    headers: dict[str, str], path: str
) -> None:
    async with serving() as url, calling(url) as caller:
        foreign = {
            name: value.format(port=url.rpartition(":")[2]) for name, value in headers.items()
        }
        response = await caller.client.get(path, headers=foreign)
    assert (response.status_code, response.json()["code"]) == (403, "foreign_host")
    assert "--allow-host" in response.json()["detail"]
    assert "access-control-allow-origin" not in response.headers


async def test_the_name_of_a_proxy_in_front_can_be_allowed() -> None:
    async with serving(allowed=["drift.example"]) as url, calling(url) as caller:
        through = {"host": "Drift.example", "origin": "https://drift.example"}
        assert (await caller.client.get(PATH, headers=through)).status_code == 200
        assert (await caller.client.get(PATH, headers={"host": "evil.example"})).status_code == 403


async def test_the_root_leads_to_the_page() -> None:
    async with serving() as url, calling(url) as caller:
        response = await caller.client.get("/")
        page = await caller.client.get("/", follow_redirects=True)
        assert (await caller.client.post("/")).status_code == 405
    assert (response.status_code, response.headers["location"]) == (307, "rag")
    assert (page.status_code, str(page.url)) == (200, f"{url}/rag")


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


async def test_what_is_no_http_is_refused_and_takes_no_time_at_the_end() -> None:
    async with serving() as url:
        reader, writer = await asyncio.open_connection(*url.removeprefix("http://").split(":"))
        writer.write(b"\x16\x03\x01\x00 hello\r\n\r\n")
        assert (await reader.read()).startswith(b"HTTP/1.1 400 ")
        writer.close()
