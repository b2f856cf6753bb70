"""No secret leaves.

One of every kind is planted, and every route is called while all goes well and while each server
fails.
"""

from __future__ import annotations

import base64
import json
import logging
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from urllib.parse import quote, urlsplit
from uuid import uuid4

import pytest
from opentelemetry import metrics, trace
from redis.asyncio import Redis

from drift.local.hosts.local_host import serving
from drift.local.stack.valkey_server import ValkeyServer
from tests.function.calling import Subscriber
from tests.function.faults.traps import trap
from tests.model_server_fixture import ModelServerControl
from tests.security import telltales
from tests.security.canaries import SECRETS, Outputs
from tests.security.every_route import call_every_route
from tests.security.telltales import Telltale, telltale
from tests.telemetry_fixture import Recorded

# A driver whose connection is broken off while it opens leaves the socket to the collector.
pytestmark = pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")

# --------------------------------------------------------------------------------- the probe itself
SAID: Mapping[str, Callable[[str], str]] = {
    "plain": str,
    "JSON in JSON": lambda secret: json.dumps(json.dumps(secret)),
    "percent-encoded": lambda secret: quote(secret, safe=""),
    "hexadecimal": lambda secret: secret.encode().hex(),
    **{
        f"base64 {n}": lambda s, n=n: base64.b64encode(b"u" * n + s.encode() + b":x").decode()
        for n in range(3)
    },
    "base64url": lambda secret: base64.urlsafe_b64encode(secret.encode()).decode(),
}
"""How somebody may let a secret slip, by name."""


@pytest.mark.parametrize("said", SAID.values(), ids=SAID)
def test_the_search_sees_a_secret_in_every_output_however_it_is_spelt(
    outputs: Outputs, recorded: Recorded, said: Callable[[str], str]
) -> None:
    words = f"before {said(SECRETS['password of Neo4j'])} after"
    outputs.keep("response", f"HTTP/1.1 200 OK\r\nx-header: {words}\r\n\r\n".encode())
    outputs.keep("event progress", words)
    logging.getLogger("somebody").info(words)
    try:
        raise RuntimeError(words)  # noqa: TRY301 - the traceback is what is wanted
    except RuntimeError:
        logging.getLogger("else").exception("a traceback")
    logging.getLogger("attributes").info("no words", extra={"more": {"deep": [words]}})
    with trace.get_tracer("test").start_as_current_span("a span") as span:
        span.add_event("an event", {"a": words})
    metrics.get_meter("test").create_counter("drift.test").add(1, {"a": words})
    outputs.keep_telemetry(recorded)
    expected = (
        "response",
        "event progress",
        "log line of somebody",
        "log line of else",
        "span",
        "metric",
    )
    assert {(channel, kind) for channel, kind, _ in outputs.leaks(SECRETS)} == {
        (channel, "password of Neo4j") for channel in (*expected, "attributes of a log record")
    }


# ------------------------------------------------------------------------------ while all goes well
@asynccontextmanager
async def speaker_of(url: str, password: str) -> AsyncIterator[str]:
    """Have a Redis user with this password; gives the URL to sign in with."""
    async with Redis.from_url(url, protocol=2) as client:
        await client.execute_command(
            "ACL", "SETUSER", "speaker", "on", f">{password}", "~*", "&*", "+@all"
        )
        yield f"redis://speaker:{quote(password, safe='')}@{urlsplit(url).netloc}/0"
        await client.execute_command("ACL", "DELUSER", "speaker")


@pytest.fixture
def planted(environment: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Working settings with a secret of each kind that the servers do not check."""
    environment.setenv("OAI_KEY", SECRETS["key of the model"])
    environment.setenv("IDENTITY_HEADER", SECRETS["header of the identity endpoint"])
    connection = f"InstrumentationKey={SECRETS['connection string of Application Insights']};IngestionEndpoint=http://127.0.0.1:1"
    environment.setenv("APPLICATIONINSIGHTS_CONNECTION_STRING", connection)
    return environment


@pytest.mark.neo4j
@pytest.mark.slow
@pytest.mark.timeout(180)
@pytest.mark.usefixtures("corpus")
async def test_an_answered_request_gives_no_secret_away(
    *,
    planted: pytest.MonkeyPatch,
    base_settings: dict[str, str],
    model_server: ModelServerControl,
    valkey: ValkeyServer,
    outputs: Outputs,
    recorded: Recorded,
) -> None:
    secrets = {**SECRETS, "password of the real Neo4j": base_settings["NEO4J_PASSWORD"]}
    own = str(uuid4())
    async with (
        speaker_of(valkey.url, SECRETS["password of Redis"]) as redis_url,
        Subscriber(valkey.url, own) as heard,
    ):
        planted.setenv("REDIS_URL", redis_url)
        async with serving() as url:
            answer = await call_every_route(url, outputs, own)
        for message in await heard.until_the_end():
            outputs.keep("progress", json.dumps(message))
    assert answer.json()["key_facts"]
    outputs.keep_telemetry(recorded)
    sent = json.dumps([request["headers"] for request in model_server.requests()])
    assert SECRETS["key of the model"] in sent, "the model's server was told the key"
    assert {
        "response",
        "event progress",
        "event result",
        "progress",
        "log line of drift",
        "span",
        "metric",
    } <= (outputs.channels())
    assert outputs.leaks(secrets) == set()


# ---------------------------------------------------------------------------- while something fails
@dataclass(frozen=True)
class Failure:
    """Settings that make a server fail, and what /retrieve then answers.

    `told` are the secrets that the server must have been told.
    """

    settings: dict[str, str | None]
    answer: int | str
    told: tuple[str, ...] = ()
    status: int = 0
    logs: str = ""


def token() -> str:
    """Return an answer of the identity's endpoint."""
    claims = base64.urlsafe_b64encode(json.dumps({"oid": "somebody"}).encode()).decode().rstrip("=")
    jwt = f"e30.{claims}.{SECRETS['token of Entra ID']}"
    return json.dumps(
        {"access_token": jwt, "expires_on": "4102444800", "resource": "r", "token_type": "Bearer"}
    )


_MODEL: dict[str, str | None] = {"OAI_BASE_URL": "http://{model}"}
_KEY = ("key of the model",)
_LOGIN: dict[str, str | None] = {
    "NEO4J_URI": "bolt://{graph}",
    "NEO4J_PASSWORD": SECRETS["password of Neo4j"],
}
_TOKEN: dict[str, str | None] = {
    "AZURE_CLIENT_ID": "id",
    "IDENTITY_ENDPOINT": "http://{tokens}/token",
}
_PASSWORD = quote(SECRETS["password of Redis"], safe="")
_LOGIN_IN_URI = SECRETS["userinfo of the Neo4j URI"]
_VAULT = f"https://{SECRETS['Key Vault reference']}.vault.azure.net"
_REFERENCE = f"@Microsoft.KeyVault(SecretUri={_VAULT}/secrets/s)"
FAILURES: Mapping[str, Failure] = {
    "the model refuses the key": Failure(
        _MODEL, "model_misconfigured", _KEY, 401, "AuthenticationError"
    ),
    "the model refuses the request": Failure(
        _MODEL, "model_misconfigured", _KEY, 400, "BadRequestError"
    ),
    "the model throttles": Failure(_MODEL, "model_unavailable", _KEY, 429, "RateLimitError"),
    "the model fails": Failure(_MODEL, "model_unavailable", _KEY, 500, "InternalServerError"),
    "the model answers something else": Failure(_MODEL, "model_unavailable", _KEY, 200),
    "Neo4j refuses the login": Failure(
        _LOGIN, "graph_misconfigured", ("password of Neo4j",), 401, "AuthError"
    ),
    "Neo4j refuses a statement": Failure(
        _LOGIN, "graph_misconfigured", ("password of Neo4j",), 400, "CypherSyntaxError"
    ),
    "the URI of Neo4j holds a login": Failure(
        {"NEO4J_URI": f"bolt://{_LOGIN_IN_URI}:{_LOGIN_IN_URI}@{{graph}}"},
        "not_configured",
        logs="NotConfiguredError",
    ),
    "Redis refuses everything": Failure(
        {"REDIS_URL": f"redis://:{_PASSWORD}@{{redis}}/0"},
        200,
        ("password of Redis",),
        logs="ResponseError",
    ),
    "Redis refuses the token": Failure(
        {**_TOKEN, "REDIS_URL": "redis://{redis}/0", "REDIS_AUTH": "entra"},
        200,
        ("token of Entra ID",),
    ),
    "the model refuses the token": Failure(
        {**_MODEL, **_TOKEN, "OAI_KEY": None, "OAI_API_VERSION": "2024-10-21"},
        "model_misconfigured",
        ("token of Entra ID",),
        401,
        "AuthenticationError",
    ),
    "a reference to the Key Vault stays unresolved": Failure(
        {"OAI_KEY": _REFERENCE}, "not_configured"
    ),
    "settings are no settings": Failure(
        {
            "NEO4J_URI": f"ftp://u:{SECRETS['userinfo of the Neo4j URI']}@127.0.0.1",
            "REDIS_URL": f"http://:{_PASSWORD}@127.0.0.1",
            "MAX_INFLIGHT": SECRETS["key of the model"],
        },
        "not_configured",
    ),
}


@asynccontextmanager
async def failing(
    failure: Failure, environment: pytest.MonkeyPatch
) -> AsyncIterator[list[Telltale]]:
    """Have the settings of a failure in place, and the servers that they name."""
    async with AsyncExitStack() as stack:
        made = {
            "model": await stack.enter_async_context(telltale(telltales.model, failure.status)),
            "graph": await stack.enter_async_context(telltale(telltales.graph, failure.status)),
            "redis": await stack.enter_async_context(telltale(telltales.redis)),
        }
        tokens = await stack.enter_async_context(trap(token()))
        words = {
            "tokens": tokens.address,
            **{name: server.address for name, server in made.items()},
        }
        for name, value in failure.settings.items():
            if value is None:
                environment.delenv(name)
            else:
                for word, address in words.items():
                    value = value.replace(f"{{{word}}}", address)  # noqa: PLW2901 - one word after the other
                environment.setenv(name, value)
        yield list(made.values())


@pytest.mark.neo4j
@pytest.mark.slow
@pytest.mark.timeout(180)
@pytest.mark.usefixtures("corpus", "model_server")
@pytest.mark.parametrize("failure", FAILURES.values(), ids=FAILURES)
async def test_a_failure_gives_no_secret_away(
    planted: pytest.MonkeyPatch, outputs: Outputs, recorded: Recorded, failure: Failure
) -> None:
    async with failing(failure, planted) as servers, serving() as url:
        answer = await call_every_route(url, outputs)
    outputs.keep_telemetry(recorded)
    assert (
        answer.json().get("code") if isinstance(failure.answer, str) else answer.status
    ) == failure.answer
    heard = b"".join(server.heard for server in servers).decode("latin-1")
    assert all(SECRETS[kind] in heard for kind in failure.told), "the server was told the secret"
    assert failure.logs.lower() in "".join(
        text for channel, text in outputs.kept if channel == "log line of drift"
    )
    assert outputs.leaks(SECRETS) == set()
