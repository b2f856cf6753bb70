"""What is sent to the model server: paths, keys and tokens, bodies."""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import urlsplit

import pytest
from azure.core.credentials import AccessToken
from azure.core.exceptions import ClientAuthenticationError, ServiceRequestError
from azure.identity import CredentialUnavailableError

from drift.contracts.replies import LocalReply
from drift.core.errors import DriftError, ModelMisconfiguredError, ModelUnavailableError
from drift.llm.connection import EntraTokens
from drift.llm.openai.client import ENTRA_SCOPE, ModelServer, build_client, resource_url, v1_url
from drift.llm.options import ChatOptions
from tests.model_server_fixture import ModelServerControl
from tests.wire.openai_clients import (
    KEY,
    LOCAL,
    PROMPT,
    caller,
    chat_of,
    chat_over,
    client_of,
    soon,
)

pytestmark = pytest.mark.slow


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
    async with chat_of(model_server, options=ChatOptions(temperature=0.0)) as chat:
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
    ("/openai/v1/", None, "/openai/v1/chat/completions"),
    ("", "2024-10-21", "/openai/deployments/a-model/chat/completions?api-version=2024-10-21"),
]


@pytest.mark.parametrize(("path", "api_version", "asked"), PATHS)
async def test_the_paths_follow_the_address_and_the_api_version(
    model_server: ModelServerControl, path: str, api_version: str | None, asked: str
) -> None:
    async with client_of(model_server.url + path, api_version=api_version) as client:
        await chat_over(client, caller()).complete(PROMPT, soon())
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
        # what consoles give out as a target
        (
            "https://one.openai.azure.com/openai/deployments/gpt-4o/chat/completions?api-version=1",
            "https://one.openai.azure.com/openai/v1",
        ),
        (
            "https://one.openai.azure.com/openai/v1/responses",
            "https://one.openai.azure.com/openai/v1",
        ),
        (
            "https://one.services.ai.azure.com/models/chat/completions",
            "https://one.services.ai.azure.com/openai/v1",
        ),
        ("https://api.openai.com/v1/chat/completions", "https://api.openai.com/v1"),
        ("https://api.openai.com/v1/embeddings/", "https://api.openai.com/v1"),
        ("http://127.0.0.1:11434/api/chat", "http://127.0.0.1:11434/v1"),
    ],
)
def test_the_v1_address_is_completed_once(address: str, url: str) -> None:
    assert v1_url(urlsplit(address)) == url


@pytest.mark.parametrize(
    "path",
    ["", "/", "/openai", "/openai/v1/", "/openai/deployments/gpt-4o/embeddings?api-version=1"],
)
def test_the_resource_address_has_no_path_of_the_api(path: str) -> None:
    assert (
        resource_url(urlsplit(f"https://one.openai.azure.com{path}"))
        == "https://one.openai.azure.com"
    )


@pytest.mark.parametrize("api_version", [None, "2024-12-01-preview"])
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
    assert await EntraTokens(None, credential, scope=ENTRA_SCOPE, key="OAI_KEY")() == "token"
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
    tokens = EntraTokens(None, Credential(cause), scope=ENTRA_SCOPE, key="OAI_KEY")
    async with chat_of(model_server, key=None, tokens=tokens) as chat:
        with pytest.raises(error) as caught:
            await chat.complete(PROMPT, soon())
    assert "canary" not in caught.value.detail
    assert model_server.counts() == {}


def test_the_key_is_not_shown_when_the_server_is_printed() -> None:
    assert KEY not in repr(ModelServer("https://one.example", KEY))
