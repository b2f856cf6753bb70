"""Settings of the models, of questions to the nodes, of a search, and of its limits."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Annotated, Literal, TypeVar

from pydantic import Field, StringConstraints, field_validator

from drift.contracts.request import project_id_problem
from drift.http.settings_base import (
    Addresses,
    AnyCase,
    ApiKey,
    Required,
    SettingsGroup,
    address,
    checked_by,
)
from drift.llm.options import EFFORTS, STEPS, UNSENT, Effort, Step
from drift.search.prices import read as read_prices

_LEAST_TOKENS, _MOST_TOKENS = 16, 1_000_000
_KNOWN: Mapping[str, Effort | None] = {**dict(zip(EFFORTS, EFFORTS, strict=True)), UNSENT: None}

_T = TypeVar("_T")


def embedding_prefixes(text: str) -> tuple[str, str]:
    """Return the prefixes of a question and of a stored text; ValueError for none or three."""
    if not text:
        return "", ""

    prefixes = [prefix.replace("\\n", "\n") for prefix in text.split("|")]
    if len(prefixes) != 2:  # noqa: PLR2004 - a pair
        raise ValueError("must be two words with one | between, such as query:|passage:")

    query, passage = (p if not p or p[-1].isspace() else f"{p} " for p in prefixes)
    return query, passage


def efforts(text: str | None) -> Mapping[Step, Effort | None]:
    """Return the effort of each step that the text names, None for `unsent`; or ValueError."""
    return _per_step(text, _KNOWN.__getitem__, f"one of {', '.join(_KNOWN)}")


def lengths(text: str | None) -> Mapping[Step, int | None]:
    """Return the longest reply of each step that the text names, in tokens; None for `unsent`."""
    bounds = f"a number from {_LEAST_TOKENS} to {_MOST_TOKENS}, or {UNSENT},"
    return _per_step(text, _length, bounds)


def _length(text: str) -> int | None:
    if text == UNSENT:
        return None
    number = int(text)
    if not (text.isascii() and text.isdigit() and _LEAST_TOKENS <= number <= _MOST_TOKENS):
        raise ValueError
    return number


def _per_step(text: str | None, read: Callable[[str], _T], expected: str) -> Mapping[Step, _T]:
    if text is None:
        return {}

    given: dict[Step, _T] = {}
    steps: dict[str, Step] = {step: step for step in STEPS}
    try:
        if "=" not in text:
            return dict.fromkeys(STEPS, read(text.strip().lower()))
        for part in text.split(","):
            name, value = (piece.strip().lower() for piece in part.split("="))
            given[steps.pop(name)] = read(value)  # so that none is named twice
    except (ValueError, KeyError):
        raise ValueError(
            f"must be {expected} for all steps, or step=value with commas between, the steps being "
            f"{', '.join(STEPS)}"
        ) from None

    return given


class ModelSettings(Addresses):
    """The model server, and what is asked of it."""

    oai_base_url: Annotated[Required, address("http", "https")]
    """`https://NAME.openai.azure.com/`, `https://api.openai.com`, or a server like them"""
    oai_model: Required
    """chat model, of either provider; on Azure the deployment's name"""
    chat_provider: Annotated[Literal["openai", "anthropic"], AnyCase] = "openai"
    """`anthropic`: Claude writes the replies (`pip install 'drift-neo4j[anthropic]'`); embeddings
    stay with `OAI_BASE_URL`"""
    anthropic_base_url: Annotated[str, address("http", "https")] | None = None
    """unset: Anthropic's own; in Foundry `https://NAME.services.ai.azure.com/anthropic/`"""
    anthropic_key: ApiKey = None
    """API key; unset in Foundry: Entra ID"""
    oai_key: ApiKey = None
    """API key; unset on Azure: Entra ID (managed identity, or your own login)"""
    oai_api_version: str | None = None
    """set: the classic Azure paths with this version; unset: the v1 API"""
    oai_embed_model_name: Required
    """embedding model; compared with the name that a project's vectors were stored with"""
    oai_embed_deployment_name: str | None = None
    """its deployment on Azure; unset: the model's name"""
    oai_embed_prefixes: Annotated[str, checked_by(embedding_prefixes)] = ""
    """what the model wants before a question and before a stored text, such as `query:|passage:`
    for E5 or `search_query:|search_document:` for nomic; ingest anew (`--force`) after a change"""
    embed_fallback: Annotated[Literal["off", "local"], AnyCase] = "off"
    """`local`: chunks and communities have a second vector, by a small model in this process
    (`pip install 'drift-neo4j[fallback]'`), which answers while the provider of embeddings fails"""
    oai_timeout_sec: Annotated[float, Field(gt=0, le=600)] = 60.0
    """longest wait for one reply"""
    llm_temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    """sent only when set; reasoning models refuse it, and it is left out then"""
    oai_model_small: str | None = None
    """another chat model or deployment for hypotheses, primers and questions that stand in a
    conversation, whose words prove nothing; unset: `OAI_MODEL`"""
    oai_reasoning_effort: Annotated[str, checked_by(efforts)] | None = None
    """for all steps, such as `low`, or `hypothesis=none,primer=low,followup=low,aggregation=low`,
    which is the default of each; `unsent` leaves it to the provider"""
    max_completion_tokens: Annotated[str, checked_by(lengths)] | None = None
    """longest reply, reasoning included, for all steps or as above; the defaults are
    `hypothesis=1000,primer=2000,followup=4000,aggregation=4000`, and four times that after a reply
    was cut by one; `unsent` for no bound"""
    oai_prompt_cache: Literal["auto", "explicit", "unsent"] = "auto"
    """`explicit`: no prompt is written into the provider's cache, which newer models bill 1.25
    times; `auto`: so on OpenAI and Azure's v1 API; `unsent`: as the provider has it"""
    prices: Annotated[str, checked_by(read_prices)] | None = None
    """prices for `include: ["usage"]`, as JSON; unset: those of [prices.md](prices.md)"""


_LABEL = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,62}")


def _project(value: str) -> None:
    if problem := project_id_problem(value):
        raise ValueError(problem)


class NodeSettings(SettingsGroup):
    """People's own nodes, and questions to the nodes."""

    enable_rag_search: bool = True
    """`false` hides `POST /api/rag/query` and the page; nodes are written without vectors"""
    rag_labels: str = "Chunk,Entity,Community"
    """labels of the nodes that are searched, with commas between; [rag.md](rag.md)"""
    enable_indexing: bool = False
    """`true` opens the routes that write: nodes (`POST /api/nodes`, `PUT` and `DELETE
    /api/nodes/{id}`) and documents (`POST /documents`, `PATCH` and `DELETE /documents/{id}`); they
    answer 404 otherwise"""
    rag_project: Annotated[str, checked_by(_project)] | None = None
    """the project of every request that names none, of a caller who has not exactly one; unset:
    the only one in the graph that the caller may read"""
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
    last of all. Where it is not set, one of `/api/rag/query` takes up to 100,000"""
    hyde: Annotated[Literal["auto", "always", "never"], AnyCase] = "auto"
    """when the model imagines an answer to search with (HyDE): `auto` for communities of other
    tools, which are found by vectors; topics of our own are found by the question's best chunks"""
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
