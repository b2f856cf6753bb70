"""docs/requests.http holds every route, and each of its requests is answered as it says."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from drift.http.settings import load
from drift.routes import ROUTES
from tests.function.calling import Caller
from tests.function.handbook import fill_handbook

FILE = Path(__file__).parents[2] / "docs" / "requests.http"


@dataclass(frozen=True, slots=True)
class Request:
    """One request of the file, with the status that is expected."""

    method: str
    path: str
    headers: dict[str, str]
    body: str
    status: int


def read() -> list[Request]:
    text = FILE.read_text()
    for name, value in re.findall(r"^@(\w+) = (.*)$", text, re.MULTILINE):
        text = text.replace(f"{{{{{name}}}}}", "" if name == "host" else value)
    found = []
    for block in re.split(r"^###.*$", text, flags=re.MULTILINE)[1:]:
        head, _, body = block.strip().partition("\n\n")
        expects, asked, *headers = head.split("\n")
        method, _, path = asked.partition(" ")
        given = dict(line.split(": ", 1) for line in headers)
        status = int(expects.removeprefix("# expects "))
        found.append(Request(method, path, given, body.strip(), status))
    return found


def test_every_route_is_there() -> None:
    asked = [(request.method, request.path.partition("?")[0]) for request in read()]
    for route in ROUTES:
        pattern = "/" + re.sub(r"\{\*?\w+\}", ".+", route.path)
        for method in route.methods.split():
            assert any(m == method and re.fullmatch(pattern, p) for m, p in asked), route.path


async def test_every_request_is_answered_as_it_says(
    environment: pytest.MonkeyPatch, function: Caller
) -> None:
    environment.setenv("ENABLE_INDEXING", "true")
    environment.setenv("ENABLE_METRICS", "true")
    environment.setenv("RAG_LABELS", "Chunk,Entity,Community,Person")
    await fill_handbook(load())
    for request in read():
        got = await function.client.request(
            request.method, request.path, headers=request.headers, content=request.body or None
        )
        assert got.status_code == request.status, (request, got.text)
