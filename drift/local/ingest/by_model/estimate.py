"""Pure: what a model's knowledge will take, before the first call, by the prompts of its calls."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from math import ceil

from drift.graph.writing.records import ChunkRecord, CommunityRecord, Member
from drift.local.ingest.by_model.asking import Build
from drift.local.ingest.by_model.facts import REPLY_SHARE
from drift.local.ingest.by_model.reports import REPLY_TOKENS
from drift.local.ingest.knowledge import derive
from drift.prompting.tokens import most_tokens

CHARACTERS_A_TOKEN = 4
SECONDS_A_CALL = 8
BOUND = 1.16
"""What the bound of tokens is of what o200k counts: 1.08 to 1.25 on pages, manuals and notes."""
SAMPLED = 20
"""Prompts of a kind that are built and counted, of more than that."""


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


def estimate(reports: Sequence[Build], facts: Sequence[Build], calls_at_once: int) -> Estimate:
    """Return what it takes to ask for these reports, and for the facts of these passages."""
    calls = len(reports) + len(facts)
    (told, _), (read, passages) = _tokens(reports), _tokens(facts)
    written = len(reports) * REPLY_TOKENS + round(passages * REPLY_SHARE)
    return Estimate(calls, told + read, written, ceil(calls / calls_at_once) * SECONDS_A_CALL)


def _tokens(prompts: Sequence[Build]) -> tuple[int, int]:
    """Return about the tokens of all prompts, and those of their passages alone."""
    sample = [build() for build in prompts[:: ceil(len(prompts) / SAMPLED) or 1]]
    of_all = len(prompts) / max(1, len(sample)) / BOUND
    passages = sum(most_tokens(one.user) for one in sample)
    rules = sum(most_tokens(f"{one.system}\n{json.dumps(one.schema)}") for one in sample)
    return round((rules + passages) * of_all), round(passages * of_all)


def likely_topics(chunks: Sequence[ChunkRecord]) -> tuple[CommunityRecord, ...]:
    """Return topics of documents that are not embedded yet, by the vectors of the local model."""
    from drift.llm.local_embedding import embed  # noqa: PLC0415 - slow to load

    vectors = embed([f"{chunk.heading}\n{chunk.text}" for chunk in chunks])
    members = [Member(chunk.id, chunk.document_id, chunk.title) for chunk in chunks]
    read = {chunk.id: (chunk, vector) for chunk, vector in zip(chunks, vectors, strict=True)}
    return derive(members, read, "").communities
