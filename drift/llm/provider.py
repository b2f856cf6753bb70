"""The duties of a provider of chat models; each provider stands in a folder of its own."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Literal, Protocol

from drift.llm.caller import ModelCaller
from drift.llm.options import Effort
from drift.llm.retry import Failure
from drift.model.calls import Prompt, TextCallback, Tokens

End = Literal["", "length", "content_filter", "refused"]
"""Why a reply is not whole; empty for one that is, as far as the provider says."""


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One prompt for one model; for None the provider's own default counts."""

    model: str
    prompt: Prompt
    effort: Effort | None = None
    length: int | None = None
    """The most tokens of the reply."""
    temperature: float | None = None


@dataclass(frozen=True, slots=True)
class Completion:
    """The reply of a model, with thoughts that it wrote into its text.

    `refusals` counts requests that the server refused and took with less in them.
    """

    text: str
    end: End = ""
    tokens: Tokens = field(default_factory=Tokens)
    model: str = ""
    refusals: int = 0


class ChatProvider(Protocol):
    """Chat models of one provider, over its own SDK."""

    @property
    def caller(self) -> ModelCaller:
        """How its server is called."""

    async def complete(self, request: ChatRequest, hear: TextCallback | None = None) -> Completion:
        """Return the model's reply to one attempt; with `hear`, tell of its text as it grows.

        Raises:
            DriftError: and errors of the SDK, which `failure` reads.
        """

    def failure(self, error: BaseException, setting: str) -> Failure | None:
        """Return the meaning of an error for the model of `setting`; None for an error of ours."""

    def ignored_schema(self, model: str) -> None:
        """Note that the last reply of a model did not keep the schema that it was given."""

    def described(self, model: str) -> str:
        """Say what the model's server was found to take and to refuse, in a few words."""

    async def close(self) -> None:
        """Close the connections."""


def in_words(prompt: Prompt) -> str:
    """Return the wish for a reply of the prompt's schema, to stand after the system text."""
    schema = json.dumps(prompt.schema, ensure_ascii=False)
    return (
        "Reply with one JSON object and nothing else: no words around it, no fence. It has every "
        f'field that this JSON schema, "{prompt.name}", requires:\n{schema}'
    )
