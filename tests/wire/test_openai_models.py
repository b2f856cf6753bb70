from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import pytest
from azure.core.credentials import AccessToken
from azure.core.exceptions import ClientAuthenticationError, ServiceRequestError
from azure.identity import CredentialUnavailableError

from drift import prompts
from drift.adapters.openai.client import (
    EntraTokens,
    ModelServer,
    build_client,
    resource_url,
    v1_url,
)
from drift.adapters.openai.models import Caller, OpenAIChat, OpenAIEmbedder
from drift.adapters.retry import RetryPolicy
from drift.contracts.replies import LocalReply
from drift.errors import (
    DriftError,
    ModelMisconfiguredError,
    ModelUnavailableError,
    UnusableReplyError,
)
from drift.tasks import Deadline
from tests.model_server_fixture import ModelServerControl

pytestmark = pytest.mark.slow

KEY = "canary-key-0123456789"
ATTEMPTS = 3
PROMPT = prompts.hypothesis("How are names resolved?")
LOCAL = prompts.local(
    "How are names resolved?",
    "How are names resolved?",
    [],
    [
        {
            "id": "K1",
            "document": "naming",
            "text": "Names are resolved using the nearest enclosing scope of the block.",
        }
    ],
    {},
    ["K1"],
)


def caller(timeout_s: float = 5.0, **values: Any) -> Caller:
    return Caller(timeout_s, RetryPolicy(**{"max_attempts": ATTEMPTS, "base_s": 0.0, **values}))


@asynccontextmanager
async def client_of(url: str, **values: Any) -> AsyncIterator[Any]:
    tokens = values.pop("tokens", None)
    async with build_client(ModelServer(url, **{"key": KEY, **values}), tokens) as client:
        yield client


@asynccontextmanager
async def chat_of(
    server: ModelServerControl,
    calls: Caller | None = None,
    temperature: float | None = None,
    **values: Any,
) -> AsyncIterator[OpenAIChat]:
    async with client_of(server.url, **values) as client:
        yield OpenAIChat(client, "a-model", temperature, calls or caller())


@asynccontextmanager
async def embedder_of(
    server: ModelServerControl,
    dimensions: int = 256,
    model: str = "local",
    deployment: str | None = None,
) -> AsyncIterator[OpenAIEmbedder]:
    async with client_of(server.url) as client:
        yield OpenAIEmbedder(client, model, dimensions, deployment, caller())


def soon() -> Deadline:
    return Deadline.after(20)


# ------------------------------------------------------------------------------------- what is sent
async def test_a_prompt_with_a_schema_is_sent_with_a_strict_schema_of_its_name(
    model_server: ModelServerControl,
) -> None:
    async with chat_of(model_server) as chat:
        reply = await chat.complete(LOCAL, soon())
    assert LocalReply.model_validate_json(reply.text).citations[0].chunk_id == "K1"
    body = model_server.requests()[0]["body"]
    assert body["response_format"]["json_schema"] == {
        "name": "local_reply",
        "strict": True,
        "schema": LOCAL.schema,
    }
    assert [m["role"] for m in body["messages"]] == ["system", "user"]
    assert body["model"] == "a-model"
    assert "temperature" not in body


async def test_the_temperature_is_sent_when_it_is_set_and_no_schema_without_one(
    model_server: ModelServerControl,
) -> None:
    async with chat_of(model_server, temperature=0.0) as chat:
        await chat.complete(PROMPT, soon())
    body = model_server.requests()[0]["body"]
    assert body["temperature"] == 0.0
    assert "response_format" not in body


async def test_tokens_are_those_that_the_server_reports(model_server: ModelServerControl) -> None:
    async with chat_of(model_server) as chat:
        first, second = [(await chat.complete(PROMPT, soon())).tokens for _ in range(2)]
    assert first.prompt == second.prompt > 0
    assert first.completion > 0
    assert (first.cached, second.cached > 0) == (0, True)


PATHS = [
    ("", None, "/v1/chat/completions"),
    ("/", None, "/v1/chat/completions"),
    ("/v1", None, "/v1/chat/completions"),
    ("/openai/v1/", None, "/openai/v1/chat/completions"),
    ("", "2024-10-21", "/openai/deployments/a-model/chat/completions?api-version=2024-10-21"),
    (
        "/openai/",
        "2024-10-21",
        "/openai/deployments/a-model/chat/completions?api-version=2024-10-21",
    ),
]


@pytest.mark.parametrize(("path", "api_version", "asked"), PATHS)
async def test_the_paths_follow_the_address_and_the_api_version(
    model_server: ModelServerControl, path: str, api_version: str | None, asked: str
) -> None:
    async with client_of(model_server.url + path, api_version=api_version) as client:
        await OpenAIChat(client, "a-model", None, caller()).complete(PROMPT, soon())
    request = model_server.requests()[0]
    assert request["path"] == asked
    sent = {"api-key": KEY} if api_version else {"authorization": f"Bearer {KEY}"}
    headers = {
        name: value for name, value in request["headers"].items() if not name.startswith("x-")
    }
    headers.pop("traceparent", None)  # sent while a trace is being recorded
    assert headers == sent


@pytest.mark.parametrize(
    ("address", "url"),
    [
        ("https://one.openai.azure.com", "https://one.openai.azure.com/openai/v1"),
        ("https://one.openai.azure.com/openai/", "https://one.openai.azure.com/openai/v1"),
        ("https://one.openai.azure.com/openai/v1/", "https://one.openai.azure.com/openai/v1"),
        ("https://one.services.ai.azure.com", "https://one.services.ai.azure.com/openai/v1"),
        (
            "https://one.cognitiveservices.azure.com/",
            "https://one.cognitiveservices.azure.com/openai/v1",
        ),
        ("https://api.openai.com", "https://api.openai.com/v1"),
        ("https://openai.azure.com.evil.example", "https://openai.azure.com.evil.example/v1"),
        ("http://127.0.0.1:11434/v1", "http://127.0.0.1:11434/v1"),
        ("https://host.example/v1beta/openai/", "https://host.example/v1beta/openai"),
    ],
)
def test_the_v1_address_is_completed_once(address: str, url: str) -> None:
    assert v1_url(urlsplit(address)) == url


@pytest.mark.parametrize("path", ["", "/", "/openai", "/openai/v1/"])
def test_the_resource_address_has_no_path_of_the_api(path: str) -> None:
    assert (
        resource_url(urlsplit(f"https://one.openai.azure.com{path}"))
        == "https://one.openai.azure.com"
    )


@pytest.mark.parametrize("api_version", [None, "2024-10-21"])
async def test_without_a_key_each_request_carries_a_fresh_token(
    model_server: ModelServerControl, api_version: str | None
) -> None:
    made = iter(range(1, 9))

    async def tokens() -> str:
        return f"token-{next(made)}"

    async with chat_of(model_server, key=None, tokens=tokens, api_version=api_version) as chat:
        await chat.complete(PROMPT, soon())
        await chat.complete(PROMPT, soon())
    sent = [request["headers"]["authorization"] for request in model_server.requests()]
    assert sent == ["Bearer token-1", "Bearer token-2"]


async def test_a_server_that_is_not_azure_never_gets_an_entra_token(
    model_server: ModelServerControl,
) -> None:
    async with chat_of(model_server, key=None) as chat:
        await chat.complete(PROMPT, soon())
    assert model_server.requests()[0]["headers"]["authorization"] == "Bearer none"


async def test_azure_without_a_key_uses_the_identity() -> None:
    async with build_client(ModelServer("https://one.openai.azure.com")) as client:
        assert isinstance(client._api_key_provider, EntraTokens)


@dataclass
class Credential:
    """A credential that fails with `error`, or gives the token "token" for the asked scope."""

    error: Exception | None = None
    scopes: list[str] = field(default_factory=list)

    def get_token(self, *scopes: str) -> AccessToken:
        self.scopes += scopes
        if self.error:
            raise self.error
        return AccessToken("token", 0)


async def test_an_identity_asks_for_the_scope_of_the_models() -> None:
    credential = Credential()
    assert await EntraTokens(None, credential)() == "token"
    assert credential.scopes == ["https://cognitiveservices.azure.com/.default"]


@pytest.mark.parametrize(
    ("cause", "error"),
    [
        (ClientAuthenticationError("canary"), ModelMisconfiguredError),
        (CredentialUnavailableError("canary"), ModelMisconfiguredError),
        (ServiceRequestError("canary"), ModelUnavailableError),
    ],
)
async def test_an_identity_that_gets_no_token_is_an_error_of_ours(
    model_server: ModelServerControl, cause: Exception, error: type[DriftError]
) -> None:
    async with chat_of(model_server, key=None, tokens=EntraTokens(None, Credential(cause))) as chat:
        with pytest.raises(error) as caught:
            await chat.complete(PROMPT, soon())
    assert "canary" not in caught.value.detail
    assert model_server.counts() == {}


def test_the_key_is_not_shown_when_the_server_is_printed() -> None:
    assert KEY not in repr(ModelServer("https://one.example", KEY))


# ------------------------------------------------------------------------ chat: faults and outcomes
@dataclass(frozen=True)
class Case:
    """One fault for ever, and the error that it ends in.

    `says` is in the error's text, and so many `requests` reach the server.
    """

    fault: dict[str, Any]
    error: type[DriftError]
    says: str
    requests: int = 1
    timeout_s: float = field(default=5.0)

    def __str__(self) -> str:
        return "-".join(str(value) for value in self.fault.values())


UNAVAILABLE = [
    Case({"fault": "status", "status": status}, ModelUnavailableError, f"HTTP {status}", ATTEMPTS)
    for status in (408, 409, 429, 500, 502, 503, 529)
]
MISCONFIGURED = [
    Case({"fault": "status", "status": 401}, ModelMisconfiguredError, "OAI_KEY"),
    Case({"fault": "status", "status": 403}, ModelMisconfiguredError, "role of the identity"),
    Case({"fault": "status", "status": 404}, ModelMisconfiguredError, "OAI_MODEL"),
    Case({"fault": "status", "status": 400}, ModelMisconfiguredError, "refused the request"),
    Case({"fault": "status", "status": 422}, ModelMisconfiguredError, "refused the request"),
]
MISCONFIGURED += [
    Case({"fault": "status", "status": status, "code": code}, ModelMisconfiguredError, says)
    for status, code, says in (
        (429, "insufficient_quota", "quota is used up (HTTP 429): check the plan"),
        (
            400,
            "context_length_exceeded",
            "longer than the model of OAI_MODEL takes (HTTP 400): lower MAX_CHUNKS_FOR_PROMPT",
        ),
        (404, "model_not_found", "no model of that name (HTTP 404): check OAI_MODEL"),
        (404, "DeploymentNotFound", "no model of that name (HTTP 404): check OAI_MODEL"),
    )
]
CONNECTION = [
    Case(
        {"fault": "hang"}, ModelUnavailableError, "did not answer in time", ATTEMPTS, timeout_s=0.2
    ),
    Case(
        {"fault": "latency", "seconds": 9},
        ModelUnavailableError,
        "did not answer in time",
        ATTEMPTS,
        timeout_s=0.2,
    ),
    Case(
        {"fault": "trickle", "seconds": 0.1},
        ModelUnavailableError,
        "did not answer in time",
        ATTEMPTS,
        timeout_s=0.3,
    ),
    Case({"fault": "drop"}, ModelUnavailableError, "broke off", ATTEMPTS),
]
UNUSABLE = [
    Case({"fault": "content_filter"}, UnusableReplyError, "content_filter"),
    Case({"fault": "filtered"}, UnusableReplyError, "content_filter"),
    Case({"fault": "refusal"}, UnusableReplyError, "refused"),
    Case({"fault": "length"}, UnusableReplyError, "length"),
    Case({"fault": "empty_choices"}, UnusableReplyError, "empty"),
    Case({"fault": "empty_content"}, UnusableReplyError, "empty"),
]


@pytest.mark.parametrize("case", [*UNAVAILABLE, *MISCONFIGURED, *CONNECTION, *UNUSABLE], ids=str)
async def test_a_fault_of_the_server_ends_in_the_error_of_the_table(
    model_server: ModelServerControl, case: Case
) -> None:
    model_server.fail(case.fault | {"times": None})
    async with chat_of(model_server, caller(case.timeout_s)) as chat:
        with pytest.raises(case.error) as caught:
            await chat.complete(LOCAL, soon())
    assert case.says in caught.value.detail
    assert model_server.counts() == {"local_reply": case.requests}
    for secret in (KEY, model_server.url, "127.0.0.1", "A fault was asked for"):
        assert secret not in caught.value.detail


@pytest.mark.parametrize(
    "fault", ["invalid_json", "prose", "fenced", "missing_fields", "invented_ids", "invented_spans"]
)
async def test_a_reply_of_the_wrong_shape_is_handed_on_for_the_caller_to_judge(
    model_server: ModelServerControl, fault: str
) -> None:
    model_server.fail({"fault": fault})
    async with chat_of(model_server) as chat:
        reply = await chat.complete(LOCAL, soon())
        good = await chat.complete(LOCAL, soon())
    assert reply.text != good.text
    assert reply.retries == 0


@pytest.mark.parametrize(
    "fault", [{"status": 429, "fault": "status"}, {"fault": "drop"}, {"fault": "status"}]
)
async def test_a_passing_fault_is_retried_and_counted(
    model_server: ModelServerControl, fault: dict[str, Any]
) -> None:
    model_server.fail(fault | {"times": 2})
    async with chat_of(model_server) as chat:
        reply = await chat.complete(PROMPT, soon())
    assert reply.retries == 2
    assert model_server.counts() == {"hypothesis": 3}
    retried_by_the_sdk = [
        request["headers"]["x-stainless-retry-count"] for request in model_server.requests()
    ]
    assert retried_by_the_sdk == ["0", "0", "0"]


@pytest.mark.parametrize(
    ("headers", "waited"),
    [({"Retry-After": "7"}, 7), ({"retry-after-ms": "1500", "Retry-After": "7"}, 1.5)],
)
async def test_the_wait_that_the_server_asks_for_is_kept(
    model_server: ModelServerControl, headers: dict[str, str], waited: float
) -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    model_server.fail({"fault": "status", "status": 429, "headers": headers})
    async with chat_of(model_server, caller(sleep=sleep)) as chat:
        await chat.complete(PROMPT, soon())
    assert slept == [waited]


async def test_a_wait_beyond_the_deadline_fails_at_once(model_server: ModelServerControl) -> None:
    model_server.fail(
        {"fault": "status", "status": 429, "headers": {"Retry-After": "3600"}, "times": None}
    )
    async with chat_of(model_server) as chat:
        with pytest.raises(ModelUnavailableError):
            await chat.complete(PROMPT, soon())
    assert model_server.counts() == {"hypothesis": 1}


async def test_the_deadline_ends_a_call_before_the_timeout_does(
    model_server: ModelServerControl,
) -> None:
    model_server.fail({"fault": "hang", "times": None})
    async with chat_of(model_server, caller(timeout_s=600)) as chat:
        with pytest.raises(ModelUnavailableError):
            await chat.complete(PROMPT, Deadline.after(0.3))
    assert model_server.counts() == {"hypothesis": 1}


async def test_a_port_where_nobody_listens_is_unavailable(unused_tcp_port: int) -> None:
    async with client_of(f"http://127.0.0.1:{unused_tcp_port}") as client:
        with pytest.raises(ModelUnavailableError, match="cannot be reached"):
            await OpenAIChat(client, "a-model", None, caller()).complete(PROMPT, soon())


async def test_a_cancelled_call_is_cancelled_and_not_translated(
    model_server: ModelServerControl,
) -> None:
    model_server.fail({"fault": "hang", "times": None})
    async with chat_of(model_server) as chat:
        task = asyncio.create_task(chat.complete(PROMPT, soon()))
        await model_server.until(lambda seen: seen["in_flight"] == 1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await model_server.until(lambda seen: seen["abandoned"] == 1)


async def test_calls_at_the_same_time_do_not_wait_for_each_other(
    model_server: ModelServerControl,
) -> None:
    model_server.fail({"fault": "latency", "seconds": 0.5, "times": None})
    async with chat_of(model_server) as chat:
        await asyncio.gather(*(chat.complete(PROMPT, soon()) for _ in range(32)))
    assert model_server.ask("GET", "/requests")[1]["most_in_flight"] == 32


async def test_calls_that_are_ready_together_begin_one_in_each_round_of_the_event_loop() -> None:
    loop, rounds, began = asyncio.get_running_loop(), itertools.count(), list[int]()
    now = 0

    def tick() -> None:
        nonlocal now
        now = next(rounds)
        if len(began) < 20:
            loop.call_soon(tick)

    async def request() -> None:
        began.append(now)

    calls = caller()
    async with client_of("http://127.0.0.1:9"):  # loads the SDK
        tick()
        await asyncio.gather(*(calls.call(request, soon(), "chat", "a-model") for _ in range(20)))
    assert len(set(began)) == len(began) == 20


# --------------------------------------------------------------------------------------- embeddings
async def test_more_texts_than_fit_one_request_come_back_in_order(
    model_server: ModelServerControl,
) -> None:
    texts = [f"text number {number}" for number in range(600)]
    async with embedder_of(model_server) as embedder:
        many = await embedder.embed(texts, soon())
        for at in (0, 255, 256, 599):
            assert many.vectors[at] == (await embedder.embed([texts[at]], soon())).vectors[0]
    assert len(many.vectors) == 600
    sent = [len(request["body"]["input"]) for request in model_server.requests()[:3]]
    assert sorted(sent) == [88, 256, 256]
    assert many.tokens.prompt == sum(-(-len(text) // 4) for text in texts)


async def test_no_texts_need_no_request(model_server: ModelServerControl) -> None:
    async with embedder_of(model_server) as embedder:
        assert (await embedder.embed([], soon())).vectors == ()
    assert model_server.counts() == {}


@pytest.mark.parametrize(
    ("model", "dimensions", "sent"),
    [
        ("text-embedding-3-large", 256, 256),
        ("text-embedding-3-small", 64, 64),
        ("local", 256, None),
    ],
)
async def test_fewer_dimensions_are_only_asked_of_models_that_can(
    model_server: ModelServerControl, model: str, dimensions: int, sent: int | None
) -> None:
    async with embedder_of(model_server, dimensions, model, "a-deployment") as embedder:
        embeddings = await embedder.embed(["one"], soon())
    assert len(embeddings.vectors[0]) == dimensions
    body = model_server.requests()[0]["body"]
    assert body.get("dimensions") == sent
    assert body["model"] == "a-deployment"


async def test_vectors_of_another_size_than_the_setting_name_both_numbers(
    model_server: ModelServerControl,
) -> None:
    async with embedder_of(model_server, dimensions=3072) as embedder:
        with pytest.raises(ModelMisconfiguredError, match=r"256.*VECTOR_INDEX_DIMENSIONS is 3072"):
            await embedder.embed(["one"], soon())


@pytest.mark.parametrize(
    ("fault", "error", "says", "requests"),
    [
        ({"fault": "wrong_count"}, ModelMisconfiguredError, "1 vectors for 2 texts", 1),
        ({"fault": "wrong_dimensions"}, ModelMisconfiguredError, "255 floats", 1),
        (
            {"fault": "status", "status": 404},
            ModelMisconfiguredError,
            "OAI_EMBED_DEPLOYMENT_NAME",
            1,
        ),
        ({"fault": "status", "status": 401}, ModelMisconfiguredError, "OAI_KEY", 1),
        ({"fault": "status", "status": 429}, ModelUnavailableError, "429", ATTEMPTS),
        ({"fault": "drop"}, ModelUnavailableError, "broke off", ATTEMPTS),
    ],
)
async def test_a_fault_of_an_embedding_ends_in_the_error_of_the_table(
    model_server: ModelServerControl,
    fault: dict[str, Any],
    error: type[DriftError],
    says: str,
    requests: int,
) -> None:
    model_server.fail(fault | {"kind": "embedding", "times": None})
    async with embedder_of(model_server) as embedder:
        with pytest.raises(error) as caught:
            await embedder.embed(["one", "two"], soon())
    assert says in caught.value.detail
    assert model_server.counts() == {"embedding": requests}


async def test_retries_of_all_batches_are_added_up(model_server: ModelServerControl) -> None:
    model_server.fail({"fault": "status", "status": 429, "times": 2})
    async with embedder_of(model_server) as embedder:
        assert (await embedder.embed(["text"] * 300, soon())).retries == 2
