"""What goes to the language model and to the embedding model, and what comes back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from drift.values.graph import Vector


@dataclass(frozen=True, slots=True)
class Prompt:
    """One chat call.

    `name` says which reply is asked for, `schema` is that reply's strict JSON schema. Without a
    schema, plain text is asked for.
    """

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


@dataclass(frozen=True, slots=True)
class ChatReply:
    """What the model wrote, with what it cost; `retries` counts requests beyond the first."""

    text: str
    tokens: Tokens = field(default_factory=Tokens)
    retries: int = 0


@dataclass(frozen=True, slots=True)
class Embeddings:
    """One vector a text, in order, with what it cost."""

    vectors: tuple[Vector, ...]
    tokens: Tokens = field(default_factory=Tokens)
    retries: int = 0
