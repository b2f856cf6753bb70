"""Claude over Anthropic's own SDK, at Anthropic or in Microsoft Foundry.

A reply of a shape is asked for by the API's own output format. The system text is marked for the
prompt cache, since all requests of a step share it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

from anthropic import (
    APIConnectionError,
    APIStatusError,
    AsyncAnthropic,
    AsyncAnthropicFoundry,
    transform_schema,
)

from drift.core.logs import log
from drift.core.reply_text import is_json
from drift.llm.caller import Failure, ModelCaller
from drift.llm.connection import EntraTokens, http_client
from drift.llm.errors import ServerSettings, failure, not_this_api, words_of
from drift.llm.growing import GrowingText
from drift.llm.options import Effort
from drift.llm.provider import ChatRequest, Completion, End, in_words
from drift.model.calls import TextCallback, Tokens, sum_tokens

ENTRA_SCOPE = "https://ai.azure.com/.default"
FOUNDRY_HOST = ".services.ai.azure.com"
SERVER = ServerSettings("Anthropic", "ANTHROPIC_BASE_URL", "ANTHROPIC_KEY", "ANTHROPIC_BASE_URL")

DEFAULT_LENGTH = 8_192
"""Tokens of a reply where no bound is wished for: the API wants one."""
MOST_TURNS = 4
"""A turn that the API paused is gone on with, so often in all."""
EFFORTS: Mapping[Effort, str] = {"none": "low", "minimal": "low"}
"""Efforts that the API has not, and the nearest that it has."""

_ENDS: Mapping[str, End] = {
    "refusal": "refused",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
}
_WORDS: Mapping[str, tuple[str, ...]] = {
    "format": ("output_config.format", "output_format", "json_schema", "structured output"),
    "effort": ("effort",),
    "temperature": ("temperature",),
}
"""Options that a model may refuse, by which words of an error each is known."""


def build_client(
    base_url: str | None,
    key: str | None,
    timeout_s: float,
    max_reply_bytes: int,
    azure_client_id: str | None = None,
) -> AsyncAnthropic | AsyncAnthropicFoundry:
    """Return a client that never retries by itself.

    An address of Foundry is spoken to as an Entra ID identity where there is no key.
    """
    http = http_client(base_url or "https://api.anthropic.com", timeout_s, max_reply_bytes)
    if _is_foundry(base_url):
        tokens = EntraTokens(azure_client_id, scope=ENTRA_SCOPE, key="ANTHROPIC_KEY")
        signed: dict[str, Any] = {"api_key": key} if key else {"azure_ad_token_provider": tokens}
        return AsyncAnthropicFoundry(
            base_url=str(base_url),
            max_retries=0,
            http_client=http,
            **signed,
        )

    return AsyncAnthropic(api_key=key or "none", base_url=base_url, max_retries=0, http_client=http)


def provider_name(base_url: str | None) -> str:
    """Return what traces and metrics call the server, OpenTelemetry's `gen_ai.provider.name`."""
    return "azure.ai.inference" if _is_foundry(base_url) else "anthropic"


def _is_foundry(base_url: str | None) -> bool:
    return (urlsplit(base_url or "").hostname or "").endswith(FOUNDRY_HOST)


@dataclass(slots=True)
class AnthropicChat:
    """ChatProvider: options that a model refuses by name are left out from then on."""

    client: AsyncAnthropic | AsyncAnthropicFoundry
    caller: ModelCaller = field(default_factory=ModelCaller)
    _refused: dict[str, set[str]] = field(default_factory=dict)

    async def complete(self, request: ChatRequest, hear: TextCallback | None = None) -> Completion:
        """Return a completion; a turn that the API paused is gone on with.

        Raises:
            APIStatusError: and the others of the SDK, when leaving out does not help.
        """
        refusals = 0
        while True:
            try:
                completion = await self._take_turns(request, hear)
            except APIStatusError as error:
                if not self._learn(request, error):
                    raise
                refusals += 1
            else:
                return replace(completion, refusals=refusals)

    def failure(self, error: BaseException, setting: str) -> Failure | None:
        """Return what an error means, for a model that `setting` names; None for one of ours."""
        return failure(error, setting, server=SERVER)

    def ignored_schema(self, model: str) -> None:
        """Have the prompt hold the schema from now on."""
        self._refused.setdefault(model, set()).add("format")

    def described(self, model: str) -> str:
        """Say what the model was found to refuse, in a few words."""
        refused = self._refused.get(model, set())
        form = "the prompt alone" if "format" in refused else "output_config"
        said = [f"schema by {form}"]
        if others := sorted(refused - {"format"}):
            said.append(f"refuses {', '.join(others)}")
        return "; ".join(said)

    async def close(self) -> None:
        """Close the connections."""
        await self.client.close()

    def _learn(self, request: ChatRequest, error: APIStatusError) -> bool:
        """Leave out what an error names; tell whether there is anything new to leave out."""
        if error.status_code not in {HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY}:
            return False

        refused = self._refused.setdefault(request.model, set())
        words = words_of(error)
        named = {option for option, said in _WORDS.items() if any(map(words.__contains__, said))}
        new = (named & self._options(request).keys()) - refused
        refused |= new
        if new:
            log.info("model_option_refused", extra={"model": request.model, "options": sorted(new)})
        return bool(new)

    def _options(self, request: ChatRequest) -> dict[str, object]:
        wanted: dict[str, object] = {
            "format": request.prompt.schema,
            "effort": EFFORTS.get(request.effort, request.effort) if request.effort else None,
            "temperature": request.temperature,
        }
        refused = self._refused.get(request.model, set())
        return {k: v for k, v in wanted.items() if v is not None and k not in refused}

    def _body(self, request: ChatRequest) -> dict[str, Any]:
        options, prompt = self._options(request), request.prompt
        system = prompt.system
        if prompt.schema is not None and "format" not in options:
            system = f"{system}\n\n{in_words(prompt)}"

        config: dict[str, object] = {}
        if "format" in options:
            schema = transform_schema(dict(prompt.schema or {}))
            config["format"] = {"type": "json_schema", "schema": schema}
        if "effort" in options:
            config["effort"] = options["effort"]

        cached = {"type": "text", "text": system, "cache_control": {"type": "ephemeral"}}
        return {
            "model": request.model,
            "max_tokens": request.length or DEFAULT_LENGTH,
            "system": [cached],
            "messages": [{"role": "user", "content": prompt.user}],
            **({"output_config": config} if config else {}),
            # The SDK has no argument for it, since newer models refuse it.
            "extra_body": {k: v for k, v in options.items() if k == "temperature"},
        }

    async def _take_turns(self, request: ChatRequest, hear: TextCallback | None) -> Completion:
        """Return the reply of one turn, or of several that the API paused between."""
        body, growing = self._body(request), GrowingText(hear or (lambda _: None))
        texts, tokens = list[str](), list[Tokens]()
        for _ in range(MOST_TURNS):
            message = await self.caller.send(
                partial(self._send, body, growing if hear else None),
                "chat",
                request.model,
                lambda answer: (answer.tokens, answer.model),
            )
            texts.append(message.text)
            tokens.append(message.tokens)
            if message.stop != "pause_turn":
                break
            said = {"role": "assistant", "content": message.content}
            body = {**body, "messages": [*body["messages"], said]}

        end: End = "length" if message.stop == "pause_turn" else _ENDS.get(message.stop, "")
        return Completion("".join(texts), end, sum_tokens(tokens), message.model)

    async def _send(self, body: dict[str, Any], growing: GrowingText | None) -> _Turn:
        if growing is None:
            answer = await self.client.messages.create(**body)
            if not isinstance(answer.content, list):
                raise not_this_api(SERVER)
            stop = str(answer.stop_reason or "")
            return _Turn(answer.content, stop, _tokens(answer.usage), answer.model)

        message = _Turn([], "", Tokens(), "")
        usage: dict[str, object] = {}
        stream = await self.client.messages.create(**body, stream=True)
        async with stream:
            async for event in stream:
                message.take(event, growing, usage)
        message.tokens = _tokens(usage)
        if not (message.stop or is_json(message.text)):
            raise APIConnectionError(
                message="The stream broke off.", request=stream.response.request
            )
        return message


@dataclass(slots=True)
class _Turn:
    """What one turn brought: blocks of content, of which thoughts are not looked at."""

    content: Any
    stop: str
    tokens: Tokens
    model: str

    @property
    def text(self) -> str:
        """The text; the input of a call of a tool is one too."""
        return "".join(map(_text, self.content if isinstance(self.content, list) else []))

    def take(self, event: Any, growing: GrowingText, usage: dict[str, object]) -> None:  # noqa: ANN401 - an event of the SDK
        """Add an event of a stream, and tell of the text that it brings."""
        kind = getattr(event, "type", "")
        if kind == "message_start":
            self.model = str(getattr(event.message, "model", ""))
            usage |= _counts(event.message.usage)
        elif kind == "content_block_start" and event.content_block.type == "tool_use":
            self.content.append({"type": "text", "text": ""})
        elif kind == "content_block_delta":
            piece = getattr(event.delta, "text", None) or getattr(event.delta, "partial_json", None)
            if piece:
                self.content.append({"type": "text", "text": piece})
                growing.add(piece)
        elif kind == "message_delta":
            self.stop = str(event.delta.stop_reason or self.stop)
            usage |= _counts(event.usage)


def _text(block: Any) -> str:  # noqa: ANN401 - the SDK does not validate
    if isinstance(block, Mapping):
        return str(block.get("text") or "")
    if getattr(block, "type", "") == "tool_use":
        return json.dumps(block.input)
    return str(getattr(block, "text", None) or "") if block.type == "text" else ""


def _counts(usage: Any) -> dict[str, object]:  # noqa: ANN401 - the same
    """Return the counts of a usage that are there."""
    names = ("input_tokens", "output_tokens", "cache_read_input_tokens")
    named = {name: getattr(usage, name, None) for name in (*names, "cache_creation_input_tokens")}
    return {name: count for name, count in named.items() if count is not None}


def _tokens(usage: Any) -> Tokens:  # noqa: ANN401 - the same
    """Return the tokens of a usage; those of the cache are no part of `input_tokens`."""
    counts = usage if isinstance(usage, dict) else _counts(usage)

    def count(name: str) -> int:
        number = counts.get(name)
        return number if isinstance(number, int) and number > 0 else 0

    read, written = count("cache_read_input_tokens"), count("cache_creation_input_tokens")
    return Tokens(
        prompt=count("input_tokens") + read + written,
        completion=count("output_tokens"),
        cached=read,
        cache_write=written,
    )
