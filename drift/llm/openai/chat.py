"""Chat completions over the official SDK.

Azure OpenAI, OpenAI, or any server that speaks the same API. What a server does not take of it is
left out (`dialect`).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from openai import APIStatusError, AsyncOpenAI

from drift.llm.caller import ModelCaller
from drift.llm.errors import failure, is_known
from drift.llm.growing import GrowingText
from drift.llm.openai.dialect import ALL, SYSTEM, Dialect, RequestBody, is_refusal, named
from drift.llm.openai.replies import API, OpenAIReply
from drift.llm.provider import ChatRequest, Completion
from drift.llm.retry import Failure
from drift.model.calls import TextCallback


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
        """Return the meaning of an error for the model of `setting`; None for an error of ours."""
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
        growing = GrowingText(hear or (lambda _: None))
        reply = await self.caller.send(
            lambda: API.post(self.client, body.fields, OpenAIReply(growing=growing)),
            "chat",
            dialect.model,
            lambda answer: (answer.tokens, answer.model),
        )
        dialect.took(body)
        return reply.completion
