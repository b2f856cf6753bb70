"""Which names the route answers to, and how clients learn where to sign in."""

from __future__ import annotations

import pytest
from mcp.shared.auth import ProtectedResourceMetadata

from drift.core.errors import NotConfiguredError
from drift.http.settings import load_access
from drift.model.graph import PrimerEvidence
from tests.fake_service import fake_service
from tests.fakes import StubGraph, ports
from tests.mcp.calling import ERAS, reply, tool
from tests.mcp.conftest import FOREIGN, OWN, Serve
from tests.security.random_callers import TENANT, principal
from tests.security.raw_http import call

pytestmark = pytest.mark.asyncio(loop_scope="module")

METADATA = "/.well-known/oauth-protected-resource/mcp"
SCOPE = "api://client/.default"
EASYAUTH = {
    "AUTH_MODE": "easyauth",
    "AUTH_TENANT_ID": TENANT,
    "WEBSITE_AUTH_ENABLED": "true",
    "WEBSITE_HOSTNAME": OWN,
    "WEBSITE_AUTH_PRM_DEFAULT_WITH_SCOPES": f"{SCOPE}, openid",
}
ALLOWED = (
    {},
    {"host": "127.0.0.1:7071"},
    {"host": OWN},
    {"host": f"{OWN}:443", "origin": f"https://{OWN}"},
    {"host": "custom.example", "origin": "https://custom.example"},
    {"origin": "http://localhost:6274"},
)
REFUSED = (
    (421, {"host": FOREIGN}),
    (421, {"host": f"{OWN}.{FOREIGN}"}),
    (403, {"origin": f"https://{FOREIGN}"}),
    (403, {"host": OWN, "origin": f"https://{OWN}.{FOREIGN}"}),
    (403, {"origin": "null"}),
)


@pytest.mark.parametrize("era", ERAS)
async def test_it_answers_to_its_own_names_and_pages_alone(
    bare_url: str, serve: Serve, era: str
) -> None:
    names = {"WEBSITE_HOSTNAME": OWN, "MCP_HOSTS": "custom.example, other.example"}
    serve(fake_service(ports(StubGraph(PrimerEvidence()), object()), **names))
    sent, body = tool("search", era, question="q", project="p")
    for headers in ALLOWED:
        answer = await call(bare_url, "POST", "/mcp", {**sent, **headers}, body)
        assert reply(answer)["result"]["structuredContent"] == {"passages": []}, headers
    for status, headers in REFUSED:
        answer = await call(bare_url, "POST", "/mcp", {**sent, **headers}, body)
        assert answer.status == status, headers


async def test_metadata_tells_where_to_sign_in(bare_url: str, serve: Serve) -> None:
    own = fake_service(ports(StubGraph(PrimerEvidence()), object()))
    serve(own, **EASYAUTH, MCP_HOSTS="custom.example")
    answer = await call(bare_url, "GET", METADATA)
    assert answer.json()["resource"] == "https://custom.example/mcp"

    serve(own, **EASYAUTH)
    answer = await call(bare_url, "GET", METADATA)
    told = ProtectedResourceMetadata.model_validate_json(answer.body)
    assert str(told.resource) == f"https://{OWN}/mcp"
    (server,) = told.authorization_servers
    assert str(server).rstrip("/") == f"https://login.microsoftonline.com/{TENANT}/v2.0"
    assert told.scopes_supported == [SCOPE, "openid"]


async def test_who_is_not_known_is_led_to_the_metadata(bare_url: str, serve: Serve) -> None:
    serve(fake_service(ports(StubGraph(PrimerEvidence()), None)), **EASYAUTH)
    sent, body = tool("list_projects")
    another = principal(("roles", "read:*"), tenant="another")
    for headers in ({}, another):
        answer = await call(bare_url, "POST", "/mcp", {**sent, **headers}, body)
        challenge = dict(answer.headers)["www-authenticate"]
        assert (answer.status, answer.json()["code"]) == (401, "unauthenticated")
        assert challenge == f'Bearer resource_metadata="https://{OWN}{METADATA}"'

    elsewhere = await call(bare_url, "GET", "/projects")
    assert dict(elsewhere.headers)["www-authenticate"] == "Bearer"


@pytest.mark.parametrize("access", [{}, {"AUTH_MODE": "function"}])
async def test_where_nobody_signs_in_there_is_no_metadata(
    bare_url: str, serve: Serve, access: dict[str, str]
) -> None:
    serve(fake_service(ports(StubGraph(PrimerEvidence()), None)), **access)
    answer = await call(bare_url, "GET", METADATA)
    assert (answer.status, answer.json()["code"]) == (404, "not_found")


@pytest.mark.parametrize("wrong", ["https://a.example", "a.example/mcp", "a b", "*.example"])
@pytest.mark.usefixtures("no_settings")
async def test_names_are_names_of_hosts(wrong: str) -> None:
    with pytest.raises(NotConfiguredError, match="MCP_HOSTS: must be host names"):
        load_access({"MCP_HOSTS": wrong})
