"""Claude over Anthropic's own SDK, at Anthropic or in Microsoft Foundry.

A reply of a shape is asked for by the API's own output format. The system text is marked for the
prompt cache, since all requests of a step share it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import partial
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

from anthropic import (
    APIStatusError,
    AsyncAnthropic,
    AsyncAnthropicFoundry,
    transform_schema,
)

from drift.core.logs import log
from drift.llm.anthropic.replies import API, SERVER, ClaudeTurn
from drift.llm.caller import ModelCaller
from drift.llm.connection import EntraTokens, http_client
from drift.llm.errors import failure, status_of, words_of
from drift.llm.growing import GrowingText
from drift.llm.provider import ChatRequest, Completion, End, in_words
from drift.llm.retry import Failure
from drift.model.calls import TextCallback, Tokens, sum_tokens

ENTRA_SCOPE = "https://ai.azure.com/.default"


def build_client(
    base_url: str | None,
    key: str | None,
    timeout_s: float,
    max_reply_bytes: int,
    azure_client_id: str | None = None,
) -> AsyncAnthropic | AsyncAnthropicFoundry:
    """Return a client that never retries by itself; a path that it adds itself is taken off.

    An address of Foundry is spoken to as an Entra ID identity where there is no key.
    """
    base_url = base_url and re.sub(r"(?:/v1)?(?:/messages)?\Z", "", base_url.rstrip("/"))
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
    """Return the server's name in traces and metrics, OpenTelemetry's `gen_ai.provider.name`."""
    return "azure.ai.inference" if _is_foundry(base_url) else "anthropic"


def _is_foundry(base_url: str | None) -> bool:
    return (urlsplit(base_url or "").hostname or "").endswith(".services.ai.azure.com")


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
        """Return the meaning of an error for the model of `setting`; None for an error of ours."""
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
        if status_of(error) not in {HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY}:
            return False

        refused = self._refused.setdefault(request.model, set())
        words = words_of(error)
        known_by = {
            "format": ("output_config.format", "output_format", "json_schema", "structured output"),
            "effort": ("effort",),
            "temperature": ("temperature",),
        }
        named = {option for option, said in known_by.items() if any(one in words for one in said)}
        new = (named & self._options(request).keys()) - refused
        refused |= new
        if new:
            log.info("model_option_refused", extra={"model": request.model, "options": sorted(new)})
        return bool(new)

    def _options(self, request: ChatRequest) -> dict[str, object]:
        # "low" is the least effort that the API has.
        effort = "low" if request.effort in {"none", "minimal"} else request.effort
        wanted: dict[str, object] = {
            "format": request.prompt.schema,
            "effort": effort,
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
            "max_tokens": request.length or 8_192,  # the API wants a bound
            "system": [cached],
            "messages": [{"role": "user", "content": prompt.user}],
            **({"output_config": config} if config else {}),
            **{k: v for k, v in options.items() if k == "temperature"},
        }

    async def _take_turns(self, request: ChatRequest, hear: TextCallback | None) -> Completion:
        """Return the reply of one turn, or of several that the API paused between."""
        body, growing = self._body(request), GrowingText(hear or (lambda _: None))
        if hear:
            body |= {"stream": True}
        texts, tokens = list[str](), list[Tokens]()
        for _ in range(4):  # a turn that the API paused is gone on with
            message = await self.caller.send(
                partial(API.post, self.client, body, ClaudeTurn(growing=growing)),
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

        ends: dict[str, End] = {
            "refusal": "refused",
            "max_tokens": "length",
            "model_context_window_exceeded": "length",
            "pause_turn": "length",
        }
        end = ends.get(message.stop, "")
        return Completion("".join(texts), end, sum_tokens(tokens), message.model)
