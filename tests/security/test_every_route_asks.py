"""No route answers without a credential but the one that holds nothing, in each mode of our own.

The routes are those of the app itself, so that a new one is asked like the others.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from types import ModuleType

import azure.functions as func
import pytest
from azurefunctions.extensions.http.fastapi import Request, Response

import function_app
from drift.http.auth import Authentication
from drift.http.settings import load_access
from drift.local.hosts.local_host import LocalHost, registered_routes
from drift.local.hosts.server import listening
from tests.security.conftest import Given
from tests.security.every_route import ROUTES
from tests.security.random_callers import KEY, TENANT, key_entry, principal
from tests.security.raw_http import JSON, call
from tests.security.watched_world import World

pytestmark = pytest.mark.usefixtures("no_settings")

METADATA = "GET /.well-known/oauth-protected-resource/mcp"
OPEN = {"GET /health/live", "GET /rag", "GET /rag/{*file}", METADATA}
"""What answers everybody, because it holds no data."""
KEYS = [key_entry("asker", KEY, ["*"], ["read"])]
EASYAUTH = {"AUTH_MODE": "easyauth", "AUTH_TENANT_ID": TENANT}
SETTINGS = {
    "keys": {"AUTH_MODE": "keys", "PROJECT_KEYS": json.dumps(KEYS)},
    "easyauth": {**EASYAUTH, "WEBSITE_AUTH_ENABLED": "true"},
}
EVERYTHING = ("roles", "read:*")
SIGNED_IN = principal(EVERYTHING)
KNOWN = {"keys": {"x-api-key": KEY}, "easyauth": SIGNED_IN}
STRANGERS = {
    ("keys", "nothing"): {},
    ("keys", "a wrong key"): {"x-api-key": "wrong"},
    ("keys", "a principal"): SIGNED_IN,
    ("keys", "a function key"): {"x-functions-key": KEY},
    ("easyauth", "nothing"): {},
    ("easyauth", "a token that the platform has not seen"): {"authorization": "Bearer e30.e30."},
    ("easyauth", "another tenant"): principal(EVERYTHING, tenant="another"),
    ("easyauth", "an id alone"): {"x-ms-client-principal-id": "asker"},
}


class Tried:
    """Calls every route of an app; `world` is what it stands on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, settings: Mapping[str, str]) -> None:
        self.world = World()
        entrance = Authentication(
            platform_asks_for_keys=False, read_settings=lambda: load_access(settings)
        )
        monkeypatch.setattr(function_app, "provider", Given(self.world.service))
        monkeypatch.setattr(function_app, "authentication", entrance)

    async def statuses(
        self, headers: Mapping[str, str], module: str = "function_app"
    ) -> dict[str, int]:
        """Return what each method of each route answers."""
        found = {}
        body = json.dumps({"query": "q", "project_id": "p"}).encode()
        async with listening(LocalHost(module).app(), 0) as url:
            for route in registered_routes(sys.modules[module].app):
                for method in route.methods:
                    target = re.sub(r"{[^}]*}", "p", route.path)
                    answer = await call(url, method, target, {**JSON, **headers}, body)
                    found[f"{method} {route.path}"] = answer.status
                    if answer.status == 401:
                        assert "Bearer" in dict(answer.headers)["www-authenticate"].split()
        return found


@pytest.mark.parametrize(
    ("mode", "shown"),
    [(mode, shown) for (mode, _), shown in STRANGERS.items()],
    ids=[" ".join(name) for name in STRANGERS],
)
async def test_a_stranger_gets_no_answer_and_causes_no_call(
    mode: str, shown: Mapping[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = Tried(monkeypatch, SETTINGS[mode])
    statuses = await tried.statuses(shown)
    assert {name for name, status in statuses.items() if status != 401} == OPEN
    assert tried.world.calls == []


@pytest.mark.parametrize("mode", KNOWN)
async def test_who_is_known_is_refused_nowhere(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tried = Tried(monkeypatch, SETTINGS[mode])
    assert not {401, 403, 503} & set((await tried.statuses(KNOWN[mode])).values())


@pytest.mark.parametrize("shown", [{}, SIGNED_IN], ids=["nothing", "a principal"])
async def test_nobody_is_believed_where_the_platform_does_not_authenticate(
    shown: Mapping[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = Tried(monkeypatch, EASYAUTH)
    statuses = await tried.statuses(shown)
    assert {name for name, status in statuses.items() if status != 503} == OPEN
    assert tried.world.calls == []


# -------------------------------------------------------------------------------- the probes notice
@asynccontextmanager
async def with_a_hole(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[str]:
    """An app that has one more route, which asks nobody."""
    app = func.FunctionApp(http_auth_level=func.AuthLevel.ANONYMOUS)

    @app.route(route="hole/{id}", methods=["GET"])
    async def hole(req: Request, context: func.Context) -> Response:
        return Response(f"{req.url} {context.invocation_id}")

    module = ModuleType("app_with_a_hole")
    monkeypatch.setattr(module, "app", app, raising=False)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    yield module.__name__


async def test_a_route_that_asks_nobody_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    async with with_a_hole(monkeypatch) as module:
        tried = Tried(monkeypatch, SETTINGS["keys"])
        assert await tried.statuses({}, module) == {"GET /hole/{id}": 200}


def test_the_routes_that_are_searched_for_secrets_are_all_of_them() -> None:
    missing = [
        route.path
        for route in registered_routes(function_app.app)
        if not any(
            re.fullmatch(re.sub(r"{[^}]*}", ".+", re.escape(route.path).replace("\\", "")), path)
            for _, path in (*ROUTES, ("POST", "/retrieve"))
        )
    ]
    assert missing == []
