"""What the function registers.

Routes, methods, authorisation, and what the streams extension needs of a handler.
"""

from __future__ import annotations

import inspect
from pathlib import Path

import azure.functions as func
import pytest
from azurefunctions.extensions.base import RequestTrackerMeta, ResponseTrackerMeta

import function_app
from drift.local.hosts.local_host import RegisteredRoute, registered_routes

ROUTES = {
    "/retrieve": (("POST",), "function"),
    "/api/rag/query": (("POST",), "function"),
    "/api/nodes": (("POST",), "function"),
    "/api/nodes/{*id}": (("DELETE", "PUT"), "function"),
    "/v1/chat/completions": (("POST",), "function"),
    "/v1/models": (("GET",), "function"),
    "/dify/retrieval": (("POST",), "function"),
    "/usage": (("GET",), "function"),
    "/projects": (("GET",), "function"),
    "/projects/{id}": (("GET",), "function"),
    "/projects/{id}/documents": (("GET",), "function"),
    "/projects/{id}/communities": (("GET",), "function"),
    "/documents": (("POST",), "function"),
    "/documents/{*id}": (("DELETE", "GET"), "function"),
    "/chunks/{*id}": (("GET",), "function"),
    "/entities/{*id}": (("GET",), "function"),
    "/mcp": (("DELETE", "GET", "POST"), "function"),
    "/.well-known/oauth-protected-resource/mcp": (("GET",), "anonymous"),
    "/rag": (("GET",), "anonymous"),
    "/rag/{*file}": (("GET",), "anonymous"),
    "/health/live": (("GET",), "anonymous"),
    "/health/ready": (("GET",), "function"),
    "/health/neo4j": (("GET",), "function"),
    "/openapi.yaml": (("GET",), "function"),
    "/openapi-3.0.json": (("GET",), "function"),
}


@pytest.fixture
def routes() -> list[RegisteredRoute]:
    return registered_routes(function_app.app)


def test_every_route_has_its_methods_and_its_key(routes: list[RegisteredRoute]) -> None:
    served: dict[str, tuple[tuple[str, ...], str]] = {}
    for route in routes:
        methods, _ = served.get(route.path, ((), ""))
        served[route.path] = (tuple(sorted((*methods, *route.methods))), route.auth_level.lower())
    assert served == ROUTES


def test_every_handler_is_annotated_with_the_extensions_own_types(
    routes: list[RegisteredRoute],
) -> None:
    for route in routes:
        signature = inspect.signature(route.handler, eval_str=True)
        request, context = signature.parameters.values()
        assert RequestTrackerMeta.check_type(request.annotation), route.path
        assert context.annotation is func.Context, route.path
        assert ResponseTrackerMeta.check_type(signature.return_annotation), route.path


def test_no_route_hides_behind_a_name_of_the_frameworks_own_pages(
    routes: list[RegisteredRoute],
) -> None:
    assert not {r.path.strip("/").lower() for r in routes} & {"docs", "redoc", "openapi.json"}


def test_the_worker_is_not_given_the_words_that_choose_another_runtime() -> None:
    text = Path(function_app.__file__).read_text(encoding="utf-8")
    assert "from fastapi import" not in text
    assert "FastAPI(" not in text
