"""Calls to the language model and to the embedding model, their replies and their cost."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from typing import Any, NamedTuple

from pydantic import BaseModel, Field

from drift.model.graph import Vector


@dataclass(frozen=True, slots=True)
class Prompt:
    """One chat call: the reply's `name`, and its strict JSON `schema`; without one, plain text."""

    name: str
    system: str
    user: str
    schema: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Tokens:
    """Tokens as the provider reported them; zero where it did not.

    `cached` and `cache_write` are part of `prompt`, `reasoning` is part of `completion`.
    """

    prompt: int = 0
    completion: int = 0
    cached: int = 0
    cache_write: int = 0
    reasoning: int = 0


def sum_tokens(several: Iterable[Tokens]) -> Tokens:
    """Return the tokens of several answers."""
    counts = zip(*map(astuple, several), strict=True)
    return Tokens(*map(sum, counts))


@dataclass(slots=True)
class ModelUse:
    """The tokens of all answers of one model; `longest_prompt` is the most that one of them had."""

    prompt: int = 0
    completion: int = 0
    cached: int = 0
    cache_write: int = 0
    longest_prompt: int = 0

    def add(self, other: ModelUse) -> None:
        """Add other answers of the same model."""
        self.prompt += other.prompt
        self.completion += other.completion
        self.cached += other.cached
        self.cache_write += other.cache_write
        self.longest_prompt = max(self.longest_prompt, other.longest_prompt)


class ModelName(NamedTuple):
    """A model as reported with an answer (or empty), and as asked: on Azure the deployment."""

    reported: str
    asked: str


@dataclass(slots=True)
class Spending:
    """Tokens by model, and the number of requests whose tokens nobody reported (`uncounted`)."""

    models: dict[ModelName, ModelUse] = field(default_factory=dict)
    uncounted: int = 0

    def answered(self, name: ModelName, tokens: Tokens) -> None:
        """Add an answer."""
        counts = (tokens.prompt, tokens.completion, tokens.cached, tokens.cache_write)
        self.models.setdefault(name, ModelUse()).add(ModelUse(*counts, tokens.prompt))

    def add(self, other: Spending) -> None:
        """Add the spending of another part."""
        self.uncounted += other.uncounted
        for name, use in other.models.items():
            self.models.setdefault(name, ModelUse()).add(use)


TextCallback = Callable[[str], None]
"""Takes the text that a model has written so far, each time it grows and at the end; an empty text
takes it all back.

A second attempt begins anew, so a text need not begin with the one before.
"""


@dataclass(frozen=True, slots=True)
class ChatReply:
    """The text of a model with its cost; `retries` counts requests beyond the first.

    `is_prompt_cut` tells that the server was seen to read only a part of the prompt.
    """

    text: str
    tokens: Tokens = field(default_factory=Tokens)
    retries: int = 0
    is_prompt_cut: bool = False


@dataclass(frozen=True, slots=True)
class Embeddings:
    """One vector a text, in order, with their cost."""

    vectors: tuple[Vector, ...]
    tokens: Tokens = field(default_factory=Tokens)
    retries: int = 0

    @classmethod
    def of_calls(cls, calls: Sequence[Embeddings]) -> Embeddings:
        """Return those of several calls as if one had made them."""
        return cls(
            tuple(vector for one in calls for vector in one.vectors),
            Tokens(prompt=sum(one.tokens.prompt for one in calls)),
            sum(one.retries for one in calls),
        )


@dataclass(frozen=True, slots=True)
class Relevances:
    """How relevant each text is to a question, in the order of the texts, with the cost.

    A greater score is better, on a scale of the model's own. `units` are the searches billed.
    """

    scores: tuple[float, ...]
    tokens: Tokens = field(default_factory=Tokens)
    retries: int = 0
    units: int = 0

    @classmethod
    def of_calls(cls, calls: Sequence[Relevances]) -> Relevances:
        """Return those of several calls as if one had made them."""
        return cls(
            tuple(score for one in calls for score in one.scores),
            sum_tokens([Tokens(), *(one.tokens for one in calls)]),
            sum(one.retries for one in calls),
            sum(one.units for one in calls),
        )


class Usage(BaseModel):
    """What models cost; tokens as the provider reported them.

    Cached and written tokens are part of the prompt's, reasoning tokens of the completion's. What
    a reranker cost, in calls and in searches that were billed, is left out where there was none.
    """

    chat_calls: int = 0
    embedding_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0
    retries: int = 0
    rerank_calls: int = Field(default=0, exclude_if=operator.not_)
    search_units: int = Field(default=0, exclude_if=operator.not_)


class PhaseUsage(Usage):
    """The cost of one phase, and the seconds that it took."""

    seconds: float = 0.0


class Cost(Usage):
    """The cost of a part of a request; `waited_s` sums the waits for its calls, with retries."""

    prompts_cut: int = 0
    graph_round_trips: int = 0
    waited_s: float = 0.0

    def answered(self, tokens: Tokens) -> None:
        """Add the tokens of a server's answer, whether it is of use or not."""
        self.prompt_tokens += tokens.prompt
        self.completion_tokens += tokens.completion
        self.cached_tokens += tokens.cached
        self.cache_write_tokens += tokens.cache_write
        self.reasoning_tokens += tokens.reasoning

    def replied(self, reply: ChatReply | Embeddings | Relevances) -> None:
        """Add the repetitions of a model's reply."""
        self.retries += reply.retries
        self.prompts_cut += isinstance(reply, ChatReply) and reply.is_prompt_cut

    def add(self, other: Cost) -> None:
        """Add the cost of another part."""
        for name in Cost.model_fields:
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def of_models(self) -> dict[str, int]:
        """Return calls, tokens and repetitions of the models, by name."""
        return self.model_dump(include=set(Usage.model_fields))
