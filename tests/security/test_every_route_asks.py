"""No route answers without a credential but the one that holds nothing, in each mode of our own.

The routes are those of the app itself, so that a new one is asked like the others.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

import pytest
from starlette.responses import Response

from drift.http.provider import ServiceProvider
from drift.http.route import Call, Route
from drift.http.settings import Settings
from drift.local.hosts.local_host import build_app, build_dispatcher
from drift.local.hosts.loopback_server import listening
from drift.routes import ROUTES
from tests.fake_service import put_behind
from tests.security.every_route import ROUTES as SEARCHED
from tests.security.random_callers import KEY, TENANT, key_entry, principal
from tests.security.raw_http import JSON, call
from tests.security.watched_world import World

pytestmark = pytest.mark.usefixtures("no_settings")

METADATA = "GET /.well-known/oauth-protected-resource/mcp"
OPEN = {"GET /health/live", "GET /rag", "GET /rag/{*file}", METADATA}
"""What answers everybody, because it holds no data."""
KEYS = [key_entry("asker", KEY, ["*"], ["read", "write"])]
EASYAUTH = {"AUTH_MODE": "easyauth", "AUTH_TENANT_ID": TENANT}
SETTINGS = {
    "keys": {"AUTH_MODE": "keys", "PROJECT_KEYS": json.dumps(KEYS)},
    "easyauth": {**EASYAUTH, "WEBSITE_AUTH_ENABLED": "true"},
}
EVERYTHING = (("roles", "read:*"), ("roles", "write:*"))
SIGNED_IN = principal(*EVERYTHING)
KNOWN = {"keys": {"x-api-key": KEY}, "easyauth": SIGNED_IN}
STRANGERS = {
    ("keys", "nothing"): {},
    ("keys", "a wrong key"): {"x-api-key": "wrong"},
    ("keys", "a principal"): SIGNED_IN,
    ("keys", "a function key"): {"x-functions-key": KEY},
    ("easyauth", "nothing"): {},
    ("easyauth", "a token that the platform has not seen"): {"authorization": "Bearer e30.e30."},
    ("easyauth", "another tenant"): principal(*EVERYTHING, tenant="another"),
    ("easyauth", "an id alone"): {"x-ms-client-principal-id": "asker"},
}


class Tried:
    """Calls every route; `world` is what they stand on."""

    def __init__(self, settings: Mapping[str, str]) -> None:
        self.world = World()
        self.dispatcher = build_dispatcher()
        put_behind(self.dispatcher, self.world.service, **settings)

    async def statuses(
        self, headers: Mapping[str, str], routes: Sequence[Route] = ROUTES
    ) -> dict[str, int]:
        """Return what each method of each route answers."""
        found = {}
        body = json.dumps({"query": "q", "project_id": "p"}).encode()
        async with listening(build_app(self.dispatcher, routes), 0) as url:
            for route in routes:
                for method in route.methods.split():
                    target = "/" + re.sub(r"{[^}]*}", "p", route.path)
                    answer = await call(url, method, target, {**JSON, **headers}, body)
                    found[f"{method} /{route.path}"] = answer.status
                    if answer.status == 401:
                        assert "Bearer" in dict(answer.headers)["www-authenticate"].split()
        return found


@pytest.mark.parametrize(
    ("mode", "shown"),
    [(mode, shown) for (mode, _), shown in STRANGERS.items()],
    ids=[" ".join(name) for name in STRANGERS],
)
async def test_a_stranger_gets_no_answer_and_opens_nothing(
    mode: str, shown: Mapping[str, str]
) -> None:
    def read() -> Settings:
        raise AssertionError("settings of servers are read for a stranger")

    tried = Tried(SETTINGS[mode])
    tried.dispatcher.provider = ServiceProvider(read)
    statuses = await tried.statuses(shown)
    assert {name for name, status in statuses.items() if status != 401} == OPEN


@pytest.mark.parametrize("mode", KNOWN)
async def test_who_is_known_is_refused_nowhere(mode: str) -> None:
    tried = Tried(SETTINGS[mode])
    assert not {401, 403, 503} & set((await tried.statuses(KNOWN[mode])).values())


@pytest.mark.parametrize("shown", [{}, SIGNED_IN], ids=["nothing", "a principal"])
async def test_nobody_is_believed_where_the_platform_does_not_authenticate(
    shown: Mapping[str, str],
) -> None:
    tried = Tried(EASYAUTH)
    statuses = await tried.statuses(shown)
    assert {name for name, status in statuses.items() if status != 503} == OPEN
    assert tried.world.calls == []


# -------------------------------------------------------------------------------- the probes notice
async def test_a_route_that_asks_nobody_is_seen() -> None:
    async def hole(_call: Call) -> Response:
        return Response()

    tried = Tried(SETTINGS["keys"])
    routes = [Route("GET", "hole/{id}", hole, is_open=True)]
    assert await tried.statuses({}, routes) == {"GET /hole/{id}": 200}


def test_the_routes_that_are_searched_for_secrets_are_all_of_them() -> None:
    paths = {path for _, path in (*SEARCHED, ("POST", "/retrieve"))}
    patterns = [
        "/" + re.sub(r"{[^}]*}", ".+", re.escape(one.path).replace("\\", "")) for one in ROUTES
    ]
    assert not [one for one in patterns if not any(re.fullmatch(one, path) for path in paths)]
