"""What a caller can watch: phases, and the messages about them."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Literal

from pydantic import BaseModel, Field

CHANNEL = "ui:retrieval_progress"
"""The channel of every retrieval."""
OWN_CHANNEL = "ui:retrieval_progress:{retrieval_id}"
"""The channel of one retrieval, which only those who know its id can name."""


def channel_of(template: str, retrieval_id: str) -> str:
    """Return the channel of a retrieval, whose id stands in the place of `{retrieval_id}`."""
    return template.replace("{retrieval_id}", retrieval_id)


class Event(StrEnum):
    """What a stream of an answer tells; the last event is RESULT or ERROR."""

    PROGRESS = "progress"
    ANSWER_DELTA = "answer_delta"
    ANSWER_REPLACED = "answer_replaced"
    CITATIONS = "citations"
    FOLLOWUP = "followup"
    SOURCES = "sources"
    RESULT = "result"
    ERROR = "error"


class Phase(StrEnum):
    """Phases in order; `error` may follow any of them."""

    INITIALIZING = "initializing"
    EXPANDING_QUERY = "expanding_query"
    RETRIEVING_COMMUNITIES = "retrieving_communities"
    EXECUTING_FOLLOWUP = "executing_followup"
    AGGREGATING_RESULTS = "aggregating_results"
    COMPLETED = "completed"
    ERROR = "error"


LAST_PHASES = frozenset({Phase.COMPLETED, Phase.ERROR})
"""Exactly one message of these ends a retrieval."""


PHASE_PCT: Mapping[Phase, int] = {
    Phase.INITIALIZING: 0,
    Phase.EXPANDING_QUERY: 20,
    Phase.RETRIEVING_COMMUNITIES: 40,
    Phase.EXECUTING_FOLLOWUP: 40,
    Phase.AGGREGATING_RESULTS: 90,
    Phase.COMPLETED: 100,
}
"""Percentage at a phase's start. Follow-ups rise from 40 to 80; an error keeps the last one."""


class ProgressMessage(BaseModel):
    """One message about a retrieval on its channel; `timestamp` is ISO 8601 in UTC."""

    message_type: Literal["retrieval_progress"] = "retrieval_progress"
    project_id: str
    retrieval_id: str
    phase: Phase
    progress_pct: int = Field(ge=0, le=100)
    thought_summary: str
    details_md: str | None = None
    message_id: str
    timestamp: str

    def to_json(self) -> str:
        """Serialise; `details_md` only when there are details."""
        return self.model_dump_json(exclude_none=True)
