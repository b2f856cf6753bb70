"""What a request costs: calls, tokens, repetitions and seconds."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields

from drift.model.calls import ChatReply, Embeddings


@dataclass(slots=True)
class Cost:
    """What a part of a request cost; tokens as the provider reported them.

    `waited_s` are the seconds that the part waited for its calls, repetitions included; of calls at
    the same time it is the sum.
    """

    chat_calls: int = 0
    embedding_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0
    retries: int = 0
    graph_round_trips: int = 0
    waited_s: float = 0.0

    def replied(self, reply: ChatReply | Embeddings) -> None:
        """Add the tokens and repetitions of a model's reply."""
        self.prompt_tokens += reply.tokens.prompt
        self.completion_tokens += reply.tokens.completion
        self.cached_tokens += reply.tokens.cached
        self.cache_write_tokens += reply.tokens.cache_write
        self.reasoning_tokens += reply.tokens.reasoning
        self.retries += reply.retries

    def add(self, other: Cost) -> None:
        """Add what another part cost."""
        for one in fields(self):
            setattr(self, one.name, getattr(self, one.name) + getattr(other, one.name))

    def of_models(self) -> dict[str, int]:
        """Return calls, tokens and repetitions of the models, by name."""
        counts = asdict(self)
        del counts["graph_round_trips"], counts["waited_s"]
        return counts
