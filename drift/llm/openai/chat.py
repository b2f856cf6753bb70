"""Chat completions over the official SDK.

Azure OpenAI, OpenAI, or any server that speaks the same API. What a server does not take of it is
left out (`dialect`).
"""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import dataclass, field, replace

import httpx2
from openai import APIStatusError, AsyncOpenAI, AsyncStream

from drift.llm.caller import Failure, ModelCaller
from drift.llm.errors import failure, is_known
from drift.llm.event_stream import streams
from drift.llm.openai.dialect import ALL, STREAM, SYSTEM, Dialect, RequestBody, is_refusal, named
from drift.llm.openai.replies import put_together, read_whole
from drift.llm.provider import ChatRequest, Completion
from drift.model.calls import TextCallback

_PATH = "/chat/completions"


@dataclass(slots=True)
class OpenAIChat:
    """ChatProvider: what a model's server refuses of a request is remembered, each model's alone.

    `explicit_cache` asks the provider to write no prompt into its cache.
    """

    client: AsyncOpenAI
    caller: ModelCaller = field(default_factory=ModelCaller)
    explicit_cache: bool = False
    _dialects: dict[str, Dialect] = field(default_factory=dict)

    async def complete(self, request: ChatRequest, hear: TextCallback | None = None) -> Completion:
        """Return a completion; what the server refuses by name is left out and asked for again.

        Raises:
            APIStatusError: and the others of the SDK, when leaving out does not help.
        """
        dialect, refusals = self._dialect(request.model), 0
        while True:
            body = dialect.body(request, is_streamed=hear is not None)
            try:
                completion = await self._send(body, dialect, hear)
            except APIStatusError as error:
                if is_known(error) or not is_refusal(error, body):
                    raise
                if refused := named(error, body):
                    dialect.learn(refused)
                else:
                    completion = await self._plain(request, error, hear)
                    return replace(completion, refusals=refusals + 1)
                refusals += 1
            else:
                return replace(completion, refusals=refusals)

    async def _plain(
        self, request: ChatRequest, refusal: APIStatusError, hear: TextCallback | None
    ) -> Completion:
        """Ask for the prompt alone, after a refusal that named nothing; if it helps, from now on.

        Raises:
            APIStatusError: the first refusal, when this is refused too.
        """
        dialect = self._dialect(request.model)
        for forms in (ALL, ALL | {SYSTEM}):
            body = dialect.body(request, is_streamed=False, without=forms)
            try:
                completion = await self._send(body, dialect, hear)
            except APIStatusError as error:
                last = error
            else:
                dialect.learn(forms)
                return completion

        raise refusal from last

    def failure(self, error: BaseException, setting: str) -> Failure | None:
        """Return what an error means, for a model that `setting` names; None for one of ours."""
        return failure(error, setting)

    def ignored_schema(self, model: str) -> None:
        """Have the prompt repeat the schema from now on."""
        self._dialect(model).forget_schema()

    def described(self, model: str) -> str:
        """Say what the model's server was found to take and to refuse, in a few words."""
        return self._dialect(model).described()

    async def close(self) -> None:
        """Close the connections, those of embeddings too."""
        await self.client.close()

    def _dialect(self, model: str) -> Dialect:
        return self._dialects.setdefault(model, Dialect(model, self.explicit_cache))

    async def _send(
        self, body: RequestBody, dialect: Dialect, hear: TextCallback | None
    ) -> Completion:
        def post() -> Awaitable[Completion]:
            if hear is None or STREAM not in body.fields:
                return self._post(body)
            return self._post_streaming(body, hear)

        completion = await self.caller.send(
            post, "chat", dialect.model, lambda answer: (answer.tokens, answer.model)
        )
        dialect.took(body)
        return completion

    async def _post(self, body: RequestBody) -> Completion:
        """Send a request as it is.

        The SDK's typed call would go through all of it and of the answer, in a third of the call's
        time.
        """
        response = await self.client.post(_PATH, cast_to=httpx2.Response, body=body.fields)
        if streams(response):
            return await put_together(response, lambda _: None)
        return read_whole(response)

    async def _post_streaming(self, body: RequestBody, hear: TextCallback) -> Completion:
        """Send a request for a stream; a server may answer it with the whole all the same."""
        stream = await self.client.post(
            _PATH, cast_to=object, body=body.fields, stream=True, stream_cls=AsyncStream[object]
        )
        async with stream:
            response = stream.response
            return await put_together(response, hear) if streams(response) else read_whole(response)
