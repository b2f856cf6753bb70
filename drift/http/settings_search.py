"""Settings of questions to the nodes, of a search, and of its limits."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import Field, StringConstraints, field_validator

from drift.contracts.request import project_id_problem
from drift.http.settings_types import SettingsGroup

_LABEL = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,62}")


class NodeSettings(SettingsGroup):
    """People's own nodes, and questions to the nodes."""

    enable_rag_search: bool = True
    """`false` hides `POST /api/rag/query` and the page; nodes are written without vectors"""
    rag_labels: str = "Chunk,Entity,Community"
    """labels of the nodes that are searched, with commas between; [rag.md](rag.md)"""
    enable_indexing: bool = False
    """`true` opens the routes that write nodes, `POST /api/nodes` and `PUT`, `DELETE
    /api/nodes/{id}`; they answer 404 otherwise"""
    rag_project: str | None = None
    """the project of a question to the nodes that names none, of a caller who has not exactly
    one"""
    rag_score_threshold: Annotated[float, Field(ge=-1, le=1)] | None = None
    """the raw cosine, -1 to 1, from which a node is near enough; unset: as measured of each
    project"""
    reconcile_schedule: Annotated[str, StringConstraints(strip_whitespace=True)] | None = None
    """when the function mends vectors of people's own nodes, such as `0 0 3 * * *`; unset: never;
    [nodes.md](nodes.md#on-a-timer)"""

    @field_validator("rag_labels")
    @classmethod
    def _labels(cls, value: str) -> str:
        labels = [label.strip() for label in value.split(",")]
        if not all(map(_LABEL.fullmatch, labels)):
            raise ValueError(
                "must be labels with commas between, each a letter and up to 62 letters, digits "
                "or _ behind it"
            )

        return ",".join(dict.fromkeys(labels))

    @field_validator("rag_project")
    @classmethod
    def _project(cls, value: str | None) -> str | None:
        if value is not None and (problem := project_id_problem(value)):
            raise ValueError(problem)
        return value


class SearchSettings(SettingsGroup):
    """A search and its limits."""

    max_passes: Annotated[int, Field(ge=1, le=5)] = 2
    """depth of the follow-up tree"""
    max_followups: Annotated[int, Field(ge=1, le=50)] = 10
    """follow-ups asked in one request"""
    max_chunks_for_prompt: Annotated[int, Field(ge=1, le=100)] = 10
    """chunks shown to the model at once; citations are checked against all retrieved"""
    max_followups_per_prompt: Annotated[int, Field(ge=1, le=4)] = 4
    """follow-ups that found the same chunks and are answered by one call, 1 to 4; 1 asks each
    alone"""
    max_prompt_tokens: Annotated[int, Field(ge=3000, le=1_000_000)] = 16000
    """the most that one prompt takes, by an upper bound; what does not fit is left out, chunks
    last of all"""
    max_inflight: Annotated[int, Field(ge=1, le=1000)] = 32
    """requests answered at once in one process"""
    deadline_sec: Annotated[float, Field(gt=0, le=225)] = 200.0
    """time of one request; the platform cuts at 230"""
    retry_max_attempts: Annotated[int, Field(ge=1, le=10)] = 3
    """attempts for each model call"""
    retry_backoff_base_sec: Annotated[float, Field(ge=0, le=60)] = 2.0
    """first pause"""
    retry_backoff_factor: Annotated[float, Field(ge=1, le=10)] = 2.0
    """growth of the pause"""
    retry_backoff_max_sec: Annotated[float, Field(ge=0, le=600)] = 60.0
    """longest pause"""
    max_reply_bytes: Annotated[int, Field(ge=64 * 1024, le=256 * 1024 * 1024)] = 4 * 1024 * 1024
    """longest reply of the chat model that is read, unpacked; what an embedding may take follows
    from what was asked"""
    log_questions: bool = False
    """words of questions, spans and facts in the log; otherwise their length and hash"""
