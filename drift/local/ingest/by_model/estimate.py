"""Pure: what a model's knowledge will take, before the first call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from math import ceil

from drift.local.ingest.by_model import Tier, facts, reports

CHARACTERS_A_TOKEN = 4
SECONDS_A_CALL = 8
CHUNKS_A_TOPIC = 27
"""As they come out on documents of all kinds, for documents whose topics are not found yet."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """Calls, tokens and about how long they take."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: int = 0

    def __add__(self, other: Estimate) -> Estimate:
        """Return both together, one after the other."""
        return Estimate(
            *(mine + theirs for mine, theirs in zip(astuple(self), astuple(other), strict=True))
        )

    @property
    def tokens(self) -> int:
        """All tokens."""
        return self.prompt_tokens + self.completion_tokens


def estimate(
    tier: Tier, topics: Sequence[int], groups: int, chunks: Sequence[int], calls_at_once: int
) -> Estimate:
    """Return what it takes: `topics` and `chunks` are the characters of each that lacks a reply."""
    if tier == "none":
        return Estimate()

    shown = sum(min(size, reports.SHOWN_CHARACTERS) for size in topics) // CHARACTERS_A_TOKEN
    written = len(topics) + groups
    told = len(topics) * reports.REPLY_TOKENS if groups else 0
    calls = written
    prompt = shown + told + written * reports.SYSTEM_TOKENS
    completion = written * reports.REPLY_TOKENS
    if tier == "graph" and chunks:
        read = max(
            ceil(sum(chunks) / facts.CHARACTERS_A_CALL), ceil(len(chunks) / facts.CHUNKS_A_CALL)
        )
        calls += read
        text = sum(chunks) // CHARACTERS_A_TOKEN
        prompt += text + text // 10 + read * facts.SYSTEM_TOKENS
        completion += round(text * facts.REPLY_SHARE)

    seconds = ceil(calls / calls_at_once) * SECONDS_A_CALL
    return Estimate(calls, prompt, completion, seconds)


def of_new_documents(tier: Tier, chunks: Sequence[int], calls_at_once: int) -> Estimate:
    """Return about what documents take whose topics are not found yet, by their chunks' sizes."""
    number = ceil(len(chunks) / CHUNKS_A_TOPIC)
    topics = [sum(chunks) // number] * number if number else []
    groups = number // CHUNKS_A_TOPIC
    return estimate(tier, topics, groups, chunks, calls_at_once)
