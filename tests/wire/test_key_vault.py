"""A secret through the vault's own SDK, over TLS, from a server that asks for a token first."""

from __future__ import annotations

import json
import ssl
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from drift.auth.key_vault import VaultSecret
from tests.wire.entra_redis import certificate

TOKEN = "canary-token"
CHALLENGE = (
    'Bearer authorization="https://login.microsoftonline.com/tenant", '
    'resource="https://vault.azure.net"'
)


class Vault(BaseHTTPRequestHandler):
    """A vault with one secret: 401 with a challenge without a token, as the real one."""

    values: dict[str, str]
    refusal: tuple[int, Any] | None = None

    def do_GET(self) -> None:
        name = self.path.split("?")[0].removeprefix("/secrets/").strip("/")
        if self.headers["authorization"] != f"Bearer {TOKEN}":
            self.answer(401, {}, CHALLENGE)
        elif self.refusal:
            self.answer(*self.refusal)
        elif name not in self.values:
            self.answer(404, {"error": {"code": "SecretNotFound", "message": "canary"}})
        else:
            identifier = f"https://{self.headers['host']}/secrets/{name}/{'0' * 32}"
            self.answer(200, {"value": self.values[name], "id": identifier, "attributes": {}})

    def answer(self, status: int, body: Any, challenge: str = "") -> None:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        if challenge:
            self.send_header("www-authenticate", challenge)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


class Identity:
    """Gives the one token, and remembers what for."""

    def __init__(self) -> None:
        self.scopes: list[tuple[str, ...]] = []

    def get_token(self, *scopes: str, **_: Any) -> Any:
        self.scopes.append(scopes)
        return SimpleNamespace(token=TOKEN, expires_on=int(time.time()) + 3600)


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """The address of a vault that runs, and its certificate."""
    path = certificate(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path)
    Vault.values, Vault.refusal = {"project-keys": "first"}, None
    server = ThreadingHTTPServer(("127.0.0.1", 0), Vault)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"https://127.0.0.1:{server.server_port}", path
    server.shutdown()
    server.server_close()
    thread.join()


def secret(vault: tuple[str, Path], name: str, identity: Identity) -> VaultSecret:
    address, path = vault
    return VaultSecret(
        f"{address}/secrets/{name}",
        lambda: identity,
        connection_verify=str(path),
        verify_challenge_resource=False,
    )


async def test_a_secret_is_read_again_as_it_is_now(vault: tuple[str, Path]) -> None:
    identity = Identity()
    keys = secret(vault, "project-keys", identity)
    assert await keys.read() == "first"
    Vault.values["project-keys"] = "second"
    assert await keys.read() == "second"
    assert identity.scopes == [("https://vault.azure.net/.default",)]


def refused(status: int, code: str, inner: str | None = None) -> tuple[int, Any]:
    told = {"code": code, "message": "canary"}
    return status, {"error": told | ({"innererror": {"code": inner}} if inner else {})}


@pytest.mark.parametrize(
    "refusal",
    [refused(404, "SecretNotFound"), refused(403, "Forbidden", "SecretDisabled")],
    ids=["deleted", "disabled"],
)
async def test_a_secret_that_was_taken_away_has_no_value(
    vault: tuple[str, Path], refusal: tuple[int, Any]
) -> None:
    keys = secret(vault, "project-keys", Identity())
    assert await keys.read() == "first"
    Vault.refusal = refusal
    assert await keys.read() == ""


@pytest.mark.parametrize(
    "refusal",
    [
        refused(403, "Forbidden", "ForbiddenByRbac"),
        (403, b"<html>"),
        refused(404, "VaultNotFound"),
        (404, b"<html>"),
        (404, {"error": "SecretNotFound"}),
        (403, {"error": {"code": "Forbidden", "innererror": "SecretDisabled"}}),
        refused(500, "SecretNotFound"),
        (200, b"<html>"),
        (200, {"value": None, "id": "https://v.vault.azure.net/secrets/a/b", "attributes": {}}),
    ],
    ids=str,
)
async def test_whatever_else_a_vault_answers_says_nothing_of_the_secret(
    vault: tuple[str, Path], refusal: tuple[int, Any]
) -> None:
    Vault.refusal = refusal
    address, path = vault
    keys = VaultSecret(
        f"{address}/secrets/project-keys",
        Identity,
        connection_verify=str(path),
        verify_challenge_resource=False,
        retry_backoff_factor=0,
    )
    with pytest.raises(Exception):  # noqa: B017, PT011 - whatever it is, the keys stay for an hour
        await keys.read()


async def test_a_server_that_is_no_vault_of_azure_gets_no_token(vault: tuple[str, Path]) -> None:
    address, path = vault
    identity = Identity()
    doubting = VaultSecret(
        f"{address}/secrets/project-keys", lambda: identity, connection_verify=str(path)
    )
    with pytest.raises(ValueError, match="domain"):
        await doubting.read()
    assert identity.scopes == []
