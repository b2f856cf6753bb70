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

from drift.adapters.key_vault import VaultSecret
from tests.wire.entra_redis import certificate

TOKEN = "canary-token"
CHALLENGE = (
    'Bearer authorization="https://login.microsoftonline.com/tenant", '
    'resource="https://vault.azure.net"'
)


class Vault(BaseHTTPRequestHandler):
    """A vault with one secret: 401 with a challenge without a token, as the real one."""

    values: dict[str, str]

    def do_GET(self) -> None:
        name = self.path.split("?")[0].removeprefix("/secrets/").strip("/")
        if self.headers["authorization"] != f"Bearer {TOKEN}":
            self.answer(401, {}, CHALLENGE)
        elif name not in self.values:
            self.answer(404, {"error": {"code": "SecretNotFound", "message": "canary"}})
        else:
            identifier = f"https://{self.headers['host']}/secrets/{name}/{'0' * 32}"
            self.answer(200, {"value": self.values[name], "id": identifier, "attributes": {}})

    def answer(self, status: int, body: dict[str, Any], challenge: str = "") -> None:
        content = json.dumps(body).encode()
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
    Vault.values = {"project-keys": "first"}
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


async def test_a_vault_without_the_secret_raises(vault: tuple[str, Path]) -> None:
    with pytest.raises(Exception, match="SecretNotFound"):
        await secret(vault, "other", Identity()).read()


async def test_a_server_that_is_no_vault_of_azure_gets_no_token(vault: tuple[str, Path]) -> None:
    address, path = vault
    identity = Identity()
    doubting = VaultSecret(
        f"{address}/secrets/project-keys", lambda: identity, connection_verify=str(path)
    )
    with pytest.raises(ValueError, match="domain"):
        await doubting.read()
    assert identity.scopes == []
