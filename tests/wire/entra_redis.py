"""A Valkey that takes tokens of Entra ID: its identity, and the server as its owner sees it."""

from __future__ import annotations

import asyncio
import base64
import json
import threading
import time
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from uuid import uuid4

from azure.core.credentials import AccessToken
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from redis.asyncio import Redis

from drift.auth.entra import TokenSource
from drift.redis.progress import RedisProgress

HOUR = 3600


PATIENCE_S = 30


def token_of(oid: str, number: int) -> str:
    """Return what looks like an access token of Entra ID to a client."""
    parts = ({"alg": "none"}, {"oid": oid, "number": number}, {"signature": "canary-signature"})
    return ".".join(
        base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts
    )


class Identity:
    """A credential with the clock that its tokens end by.

    `open` lets it answer, `error` makes it fail.
    """

    def __init__(self) -> None:
        self.oid = str(uuid4())
        self.now = 1_000_000.0
        self.asked = 0
        self.error: Exception | None = None
        self.open = threading.Event()
        self.open.set()

    def get_token(self, *scopes: str) -> AccessToken:
        assert scopes == ("https://redis.azure.com/.default",)
        self.asked += 1
        time.sleep(0.02)  # what would be noticed in the event loop
        assert self.open.wait(PATIENCE_S)
        if self.error:
            raise self.error
        return AccessToken(token_of(self.oid, self.asked), int(self.now) + HOUR)


class Cache:
    """The server as its owner sees it.

    Who may sign in, who is connected, what arrives on the channel.
    """

    def __init__(self, admin: Redis, identity: Identity) -> None:
        self.admin = admin
        self.oid = identity.oid
        self.channel = admin.pubsub(ignore_subscribe_messages=True)

    async def accept(self, *numbers: int) -> None:
        """Let the identity in with these of its tokens, and with no other."""
        passwords = [f">{token_of(self.oid, number)}" for number in numbers]
        await self.admin.execute_command(
            "ACL", "SETUSER", self.oid, "reset", "on", *passwords, "&*", "+@all"
        )

    async def cut(self) -> None:
        """End the identity's connections, as the server does when their token ends."""
        await self.admin.execute_command("CLIENT", "KILL", "USER", self.oid)

    async def connections(self) -> set[str]:
        """Return the connections that are signed in as the identity."""
        return {
            client["id"] for client in await self.admin.client_list() if client["user"] == self.oid
        }

    async def heard(self) -> str:
        """Return the next message on the channel."""
        async with asyncio.timeout(PATIENCE_S):
            while (message := await self.channel.get_message(timeout=1)) is None:
                pass
        return str(message["data"].decode())

    async def silent(self) -> bool:
        """Tell whether nothing is waiting on the channel."""
        return await self.channel.get_message(timeout=0.05) is None


async def publish(sink: RedisProgress, *messages: str) -> None:
    """Send messages, and wait for them as an answer does."""
    for message in messages:
        sink.send(message, last=False)
    await sink.delivered()


async def renewed(tokens: TokenSource) -> None:
    """Wait until the token is renewed that is being renewed."""
    assert tokens._fetch.task
    await asyncio.wait([tokens._fetch.task])
    await asyncio.sleep(0)


REQUIRED = {
    "OAI_BASE_URL": "http://127.0.0.1:9",
    "OAI_MODEL": "m",
    "OAI_EMBED_MODEL_NAME": "e",
    "NEO4J_URI": "bolt://127.0.0.1:9",
    "NEO4J_PASSWORD": "canary-password",
}


def certificate(folder: Path) -> Path:
    """Write a certificate of this machine with its key; return its path."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(
            name, name, key.public_key(), x509.random_serial_number(), now, now + timedelta(days=1)
        )
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = folder / "certificate.pem"
    pem, pkcs8 = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    path.write_bytes(
        made.public_bytes(pem) + key.private_bytes(pem, pkcs8, serialization.NoEncryption())
    )
    return path
