"""The headers of every answer: the caller's own id, what is left of a quota, what goes away."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime

import httpx2
import pytest
from starlette.responses import Response

from drift.auth.caller import NO_QUOTA, Caller, Quota
from drift.auth.quotas import CountingError, Counts, LocalCounter, Quotas
from drift.core.logs import log
from drift.http import http
from drift.http.auth import Authentication
from drift.http.description import describe
from drift.http.dispatcher import Dispatcher
from drift.http.provider import ServiceProvider
from drift.http.route import Call, Route
from drift.local.hosts.local_host import build_app
from drift.local.hosts.same_machine import SameMachine
from drift.routes import ROUTES
from tests.clock import Clock

LIMITED = Quota(requests_per_minute=2, tokens_per_day=100)


class Shared(LocalCounter):
    """A counter of all processes that fails on demand, and counts its questions."""

    failing = False
    asked = 0

    async def count(self, name: str, *, most: int = 0, tokens: int = 0) -> Counts:
        self.asked += 1
        if self.failing:
            raise CountingError("it is gone")
        return await super().count(name, most=most, tokens=tokens)


class Routes:
    """Routes made for a test, and the answers to them."""

    def __init__(self, quota: Quota = NO_QUOTA) -> None:
        self.clock = Clock(43_200.0)
        self.shared = Shared(self.clock)
        self.quotas = Quotas(self.shared, LocalCounter(self.clock), self.clock)
        self.caller = Caller("team", quota=quota)
        dispatcher = Dispatcher(Authentication(platform_asks_for_keys=True), ServiceProvider())
        made = (
            Route("POST", "logs", self.logs, is_open=True),
            Route("POST", "crashes", self.crashes, is_open=True),
            Route("POST", "counts", self.counts, is_open=True),
            Route(
                "POST",
                "goes",
                self.logs,
                is_open=True,
                deprecated=datetime(2026, 1, 2, tzinfo=UTC),
                sunset=datetime(2027, 1, 2, 3, 4, 5, tzinfo=UTC),
            ),
        )
        self.app = SameMachine(build_app(dispatcher, made))

    async def logs(self, _call: Call) -> Response:
        """Log a line."""
        log.info("asked")
        return Response()

    async def crashes(self, _call: Call) -> Response:
        raise RuntimeError

    async def counts(self, _call: Call) -> Response:
        await self.quotas.admit(self.caller)
        return Response()

    async def ask(
        self, path: str, method: str = "POST", headers: Mapping[str, str] | None = None
    ) -> httpx2.Response:
        over = httpx2.ASGITransport(app=self.app)
        async with httpx2.AsyncClient(transport=over, base_url="http://localhost") as client:
            return await client.request(method, path, headers=headers)


# --------------------------------------------------------------------------------- whose request
@pytest.mark.parametrize(
    ("path", "method", "status"),
    [
        ("/logs", "POST", 200),
        ("/crashes", "POST", 500),
        ("/logs", "GET", 405),
        ("/logs", "OPTIONS", 204),
        ("/nowhere", "GET", 404),
    ],
)
async def test_a_caller_s_own_id_stands_in_every_answer(
    path: str, method: str, status: int
) -> None:
    own = f"job 7/{'~' * 122}"
    got = await Routes().ask(path, method, {"x-request-id": own})
    assert (got.status_code, got.headers["x-request-id"]) == (status, own)
    assert got.headers["x-retrieval-id"] != own


async def test_whoever_is_refused_at_the_door_is_told_its_id_too() -> None:
    asked = {"x-request-id": "mine", "host": "evil.example"}
    got = await Routes().ask("/logs", headers=asked)
    assert (got.status_code, got.headers["x-request-id"]) == (403, "mine")


@pytest.mark.parametrize("sent", [None, "", "x" * 129, "é", "a\tb", "a\x7f"])
async def test_who_gives_none_or_one_that_is_none_gets_ours(
    sent: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "drift")
    headers = {} if sent is None else {"x-request-id": sent.encode("latin-1")}
    got = await Routes().ask("/logs", headers=headers)  # type: ignore[arg-type]
    assert got.status_code == 200
    assert got.headers["x-request-id"] == got.headers["x-retrieval-id"]
    [line] = [one.__dict__ for one in caplog.records if one.name == "drift"]
    assert "request_id" not in line


async def test_lines_of_a_request_carry_the_caller_s_id_and_those_of_the_next_do_not(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("INFO", "drift")
    routes = Routes()
    await routes.ask("/logs", headers={"x-request-id": 'x","event":"forged'})
    await routes.ask("/crashes", headers={"x-request-id": "two"})
    await routes.ask("/logs")
    lines = [one.__dict__ for one in caplog.records if one.name == "drift"]
    named = [(line["event"], line.get("request_id")) for line in lines]
    assert named == [
        ("asked", 'x","event":"forged'),
        ("request_crashed", "two"),
        ("request_ended", "two"),
        ("asked", None),
    ]


# ---------------------------------------------------------------------------- paths and methods
async def test_a_path_that_is_none_is_a_problem_and_another_method_is_told_which_there_are() -> (
    None
):
    routes = Routes()
    unknown = await routes.ask("/nowhere", "OPTIONS")
    assert (unknown.status_code, unknown.json()["code"]) == (404, "not_found")
    assert unknown.headers["content-type"] == http.PROBLEM_JSON
    for method, status in {"GET": 405, "OPTIONS": 204}.items():
        other = await routes.ask("/logs", method)
        assert (other.status_code, other.headers["allow"]) == (status, "OPTIONS, POST")


# ---------------------------------------------------------------------------------------- quotas
POLICY = '"requests_per_minute";q=2;qu="requests";w=60, "tokens_per_day";q=100;qu="tokens";w=86400'


async def test_an_answer_tells_what_is_left_and_a_refusal_when_there_is_room() -> None:
    routes = Routes(LIMITED)
    first = await routes.ask("/counts")
    await routes.shared.count("team", tokens=30)
    routes.clock.now += 10.5
    second = await routes.ask("/counts")
    routes.clock.now += 10
    refused = await routes.ask("/counts")
    told = [one.headers["ratelimit"] for one in (first, second, refused)]
    assert told == [
        '"requests_per_minute";r=1;t=60, "tokens_per_day";r=100;t=43200',
        '"requests_per_minute";r=0;t=60, "tokens_per_day";r=70;t=43190',
        '"requests_per_minute";r=0;t=40, "tokens_per_day";r=70;t=43180',
    ]
    assert {one.headers["ratelimit-policy"] for one in (first, second, refused)} == {POLICY}
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "40")


async def test_the_counts_of_all_processes_are_told_or_else_this_one_s_and_nothing_is_asked() -> (
    None
):
    routes = Routes(Quota(requests_per_minute=9))
    for _ in range(4):  # of other processes
        await routes.shared.count("team", most=9)
    routes.shared.asked = 0
    together = await routes.ask("/counts")
    assert routes.shared.asked == 1
    routes.shared.failing = True
    alone = await routes.ask("/counts")
    assert together.headers["ratelimit"] == '"requests_per_minute";r=4;t=60'
    assert alone.headers["ratelimit"] == '"requests_per_minute";r=7;t=60'


async def test_spent_tokens_leave_none_and_come_back_at_midnight() -> None:
    routes = Routes(Quota(tokens_per_day=100))
    await routes.shared.count("team", tokens=130)
    refused = await routes.ask("/counts")
    assert (refused.status_code, refused.headers["ratelimit"]) == (
        429,
        '"tokens_per_day";r=0;t=43200',
    )


@pytest.mark.parametrize("path", ["/counts", "/logs"])
async def test_who_has_no_quota_and_what_counts_for_none_is_told_of_none(path: str) -> None:
    routes = Routes(NO_QUOTA if path == "/counts" else LIMITED)
    assert not {"ratelimit", "ratelimit-policy"} & set((await routes.ask(path)).headers)


# ------------------------------------------------------------------------------------ what goes
async def test_a_route_that_goes_says_so_in_its_answers_and_in_the_description() -> None:
    routes = Routes()
    got = await routes.ask("/goes")
    assert got.headers["deprecation"] == "@1767312000"
    assert got.headers["sunset"] == "Sat, 02 Jan 2027 03:04:05 GMT"
    assert not {"deprecation", "sunset"} & set((await routes.ask("/logs")).headers)
    since = datetime(2026, 1, 2, tzinfo=UTC)
    described = describe((replace(ROUTES[0], deprecated=since), ROUTES[1]))["paths"]
    assert described[f"/{ROUTES[0].path}"]["post"]["deprecated"] is True
    assert "deprecated" not in described[f"/{ROUTES[1].path}"]["post"]
