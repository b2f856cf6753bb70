"""ChatModel over the official SDK.

Azure OpenAI, OpenAI, or any server that speaks the same API. What a server does not take of it is
left out (`dialect`).
"""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import httpx2
from openai import APIStatusError, AsyncOpenAI, AsyncStream

from drift.core.deadline import Deadline
from drift.core.errors import UnusableReplyError
from drift.llm.caller import ModelCaller
from drift.llm.openai.dialect import (
    JSON_SCHEMA,
    STREAM,
    Dialect,
    Forms,
    Request,
    is_refusal,
    keeps,
    named,
    plainer,
)
from drift.llm.openai.errors import is_known
from drift.llm.openai.replies import EVENT_STREAM, ChatCompletion, put_together, tokens_of
from drift.llm.options import EFFORTS, SMALL_STEPS, STEPS, ChatOptions, step_of
from drift.llm.readiness import ModelWatch
from drift.model.calls import ChatReply, Prompt, TextCallback
from drift.model.health import Readiness
from drift.telemetry import parts

_PATH = "/chat/completions"

ASKED = Prompt(
    "ready",
    "You are asked whether you answer.",
    'Reply with {"ready": true}.',
    {
        "type": "object",
        "properties": {"ready": {"type": "boolean"}},
        "required": ["ready"],
        "additionalProperties": False,
    },
)
"""What readiness asks: about 50 tokens, and a reply of ten without reasoning."""
ASKED_TOKENS = 64
"""The most that its reply may have; one that is cut is an answer too."""


@dataclass(slots=True)
class Model:
    """One chat model: the setting that names it, what its server takes, and whether it answers."""

    setting: str
    dialect: Dialect
    watch: ModelWatch

    @property
    def name(self) -> str:
        """Return the name that requests have for it; on Azure that of the deployment."""
        return self.dialect.model


@dataclass(slots=True)
class OpenAIChat:
    """ChatModel: one chat completion a call.

    `model` is a model name, on Azure a deployment name.
    """

    client: AsyncOpenAI
    model: str
    options: ChatOptions = field(default_factory=ChatOptions)
    caller: ModelCaller = field(default_factory=ModelCaller)
    models: Mapping[str, Model] = field(init=False)

    def __post_init__(self) -> None:
        """Know nothing yet of what the models take."""
        settings = {self.model: "OAI_MODEL"}
        if self.options.small_model:
            settings.setdefault(self.options.small_model, "OAI_MODEL_SMALL")
        self.models = {name: self._model(name, setting) for name, setting in settings.items()}

    def _model(self, name: str, setting: str) -> Model:
        asking = replace(
            self.options,
            efforts=dict.fromkeys(STEPS, EFFORTS[0]),
            lengths=dict.fromkeys(STEPS, ASKED_TOKENS),
        )

        async def ask() -> None:
            deadline = Deadline.after(self.caller.timeout_s)
            await self._complete(model, ASKED, asking, deadline)

        model = Model(setting, Dialect(name), ModelWatch(name, ask))
        return model

    async def complete(
        self, prompt: Prompt, deadline: Deadline, hear: TextCallback | None = None
    ) -> ChatReply:
        """Return the model's reply; see ports.ChatModel for the errors.

        The detail of an UnusableReplyError is one of refused, content_filter, length, empty. A
        request that the server refused and took with less in it counts as a retry.
        """
        small = self.options.small_model
        name = small if small and step_of(prompt.name) in SMALL_STEPS else self.model
        with parts.chatting() as cost:
            reply = await self._complete(self.models[name], prompt, self.options, deadline, hear)
            cost.replied(reply)
            return reply

    async def health(self) -> Readiness:
        """Return whether the models answer: known from requests, or asked, but seldom."""
        return Readiness.joined(
            [await model.watch.readiness(model.dialect.described) for model in self.models.values()]
        )

    async def _complete(
        self,
        model: Model,
        prompt: Prompt,
        options: ChatOptions,
        deadline: Deadline,
        hear: TextCallback | None = None,
    ) -> ChatReply:
        call = _ChatCall(self, model.dialect, prompt, options, hear)
        completion, retries = await self.caller.repeat(call.attempt, deadline, model.setting)
        model.watch.answered()
        try:
            text = completion.text()
        except UnusableReplyError as error:
            if error.detail == "length" and options is self.options:
                model.dialect.cut.add(step_of(prompt.name))
            raise

        if hear is not None:  # which may have heard nothing of it yet
            hear(text)

        call.judge(text)
        return ChatReply(text, tokens_of(completion), retries + call.refusals)

    async def post(self, body: dict[str, Any]) -> ChatCompletion:
        """Send a request as it is.

        The SDK's typed call would go through all of it and of the answer, in a third of the call's
        time.
        """
        return ChatCompletion.read(
            await self.client.post(_PATH, cast_to=httpx2.Response, body=body)
        )

    async def post_streaming(self, body: dict[str, Any], hear: TextCallback) -> ChatCompletion:
        """Send a request for a stream; a server may answer it with the whole all the same."""
        stream = await self.client.post(
            _PATH, cast_to=object, body=body, stream=True, stream_cls=AsyncStream[object]
        )
        async with stream:
            response = stream.response
            if EVENT_STREAM in response.headers.get("content-type", ""):
                return await put_together(stream, response.request, hear)

            return ChatCompletion.read(response)


@dataclass(slots=True)
class _ChatCall:
    """One prompt on its way, with as much beside it as the server takes."""

    chat: OpenAIChat
    dialect: Dialect
    prompt: Prompt
    options: ChatOptions
    hear: TextCallback | None = None
    refusals: int = 0
    """Requests that were refused and sent again with less."""
    rung: str = ""

    async def attempt(self) -> ChatCompletion:
        """Return a completion; what the server refuses by name is left out at once.

        Raises:
            APIStatusError: and the others of the SDK, when leaving out does not help.
        """
        while True:
            known = self.dialect.refused
            request = self._request()
            try:
                return await self._send(request)
            except APIStatusError as error:
                if is_known(error) or not is_refusal(error, request):
                    raise
                refused = named(error, request)
                self.dialect.learn(refused)
                if self.dialect.refused == known:
                    completion = await self._suspecting(request, known, error)
                    if completion is not None:
                        return completion

            self.refusals += 1

    async def _suspecting(
        self, request: Request, known: Forms, first: APIStatusError
    ) -> ChatCompletion | None:
        """Leave out more and more of a request that was refused for no known reason.

        What was left out stays so when that helps. None when another call has found out meanwhile
        what has to be.
        """
        async with self.dialect.trying:
            if self.dialect.refused != known:
                return None
            for without in plainer(request):
                self.refusals += 1
                less = self._request(without)
                try:
                    completion = await self._send(less)
                except APIStatusError as error:
                    if is_known(error) or not is_refusal(error, less):
                        raise
                else:
                    self.dialect.learn(without)
                    return completion
        raise first

    def _request(self, without: Forms = frozenset()) -> Request:
        streamed = self.hear is not None
        return self.dialect.request(self.prompt, self.options, without, streamed=streamed)

    async def _send(self, request: Request) -> ChatCompletion:
        hear = self.hear

        def post() -> Awaitable[ChatCompletion]:
            if hear is None or STREAM not in request.body:
                return self.chat.post(request.body)
            return self.chat.post_streaming(request.body, hear)

        completion = await self.chat.caller.send(post, "chat", self.dialect.model)
        self.dialect.took(request)
        self.rung = request.rung
        return completion

    def judge(self, text: str) -> None:
        """Notice a server that takes a schema and does not keep it."""
        schema = self.prompt.schema
        if schema is not None and self.rung == JSON_SCHEMA and not keeps(text, schema):
            self.dialect.forget_schema()
