"""The only reader of the environment: one frozen object, or one error that names each problem."""

from __future__ import annotations

import ipaddress
import os
import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self, TypeVar
from urllib.parse import urlsplit

from pydantic import (
    AliasChoices,
    Field,
    SecretStr,
    StringConstraints,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from drift.auth import project_keys
from drift.contracts.progress import CHANNEL, OWN_CHANNEL
from drift.contracts.request import project_id_problem
from drift.core.errors import NotConfiguredError
from drift.http import per_step, schedule
from drift.model.found_nodes import OF_INGESTION
from drift.search import prices

KNOWN_EMBEDDING_DIMENSIONS = {
    "text-embedding-3-small": 1536,
    "text-embedding-3-large": 3072,
    "text-embedding-ada-002": 1536,
}
"""The most floats that these models give."""

_PLAINTEXT = {"bolt", "neo4j", "redis", "http"}
_UNRESOLVED = "@Microsoft.KeyVault("
_LABEL = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,62}")
_CHANNEL = re.compile(r"[A-Za-z0-9:._/-]{1,200}")
_SECRET_ADDRESS = re.compile(
    r"https://[A-Za-z0-9.-]+(:\d+)?/secrets/[A-Za-z0-9-]{1,127}(/[0-9a-f]{32})?"
)

_S = TypeVar("_S", bound=BaseSettings)

Required = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
IndexName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,62}$")]
"""A plain identifier: index names stand in statements where Cypher takes no parameter."""


AuthMode = Literal["function", "keys", "easyauth"]
NO_KEYS = "AUTH_MODE=keys needs PROJECT_KEYS or PROJECT_KEYS_SECRET, one of them"


class AccessSettings(BaseSettings):
    """Who may ask.

    These are read apart from the others: nobody is told what is wrong with those before it is known
    who asks.
    """

    model_config = SettingsConfigDict(
        frozen=True, extra="ignore", env_ignore_empty=True, case_sensitive=False
    )

    auth_mode: AuthMode = "function"
    auth_tenant_id: str | None = None
    project_claim: str | None = None
    project_keys: SecretStr | None = None
    project_keys_secret: str | None = None
    azure_client_id: str | None = None
    website_auth_enabled: str | None = None
    """The platform's own word that it authenticates callers; nobody else sets it."""

    @field_validator("*", mode="before")
    @classmethod
    def _resolved(cls, value: object) -> object:
        if isinstance(value, str) and value.startswith(_UNRESOLVED):
            raise ValueError(
                "is an unresolved Key Vault reference: check the identity's access to the vault "
                "and the secret's name"
            )
        return value

    @field_validator("auth_mode", mode="before")
    @classmethod
    def _any_case_of_mode(cls, value: object) -> object:
        return value.strip().lower() if isinstance(value, str) else value

    @field_validator("project_keys")
    @classmethod
    def _usable_keys(cls, value: SecretStr | None) -> SecretStr | None:
        if value is None or not value.get_secret_value().strip():
            return None
        project_keys.parse(value.get_secret_value())
        return value

    @field_validator("project_keys_secret")
    @classmethod
    def _secret(cls, value: str | None) -> str | None:
        if value is not None and not _SECRET_ADDRESS.fullmatch(value):
            raise ValueError("must be the address of a secret, https://VAULT/secrets/NAME")
        return value

    @model_validator(mode="after")
    def _mode_has_what_it_needs(self) -> Self:
        given = [self.project_keys, self.project_keys_secret]
        if self.auth_mode == "keys" and given.count(None) != 1:
            raise ValueError(NO_KEYS)
        if self.auth_mode == "easyauth" and not self.auth_tenant_id:
            raise ValueError("AUTH_MODE=easyauth needs AUTH_TENANT_ID")
        return self

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],  # noqa: ARG003 - the library's signature
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Read arguments and the environment only: no .env file may change a deployed service."""
        return init_settings, env_settings


class PageSettings(BaseSettings):
    """What the page to ask in has to know; it is there also where others are missing."""

    model_config = SettingsConfigDict(
        frozen=True, extra="ignore", env_ignore_empty=True, case_sensitive=False
    )

    auth_mode: AuthMode = "function"
    enable_rag_search: bool = True
    oai_model: str = ""

    @field_validator("auth_mode", mode="before")
    @classmethod
    def _any_case(cls, value: object) -> object:
        return value.strip().lower() if isinstance(value, str) else value


class Settings(AccessSettings):
    """All settings of the service; docs/settings.md has their defaults and meanings."""

    # A rule for the addresses below, so it is read before them.
    allow_plaintext: bool = False
    # model
    oai_base_url: Required
    oai_model: Required
    oai_key: SecretStr | None = None
    oai_api_version: str | None = None
    oai_embed_model_name: Required
    oai_embed_deployment_name: str | None = None
    oai_timeout_sec: Annotated[float, Field(gt=0, le=600)] = 60.0
    llm_temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    oai_model_small: str | None = None
    oai_reasoning_effort: str | None = None
    max_completion_tokens: str | None = None
    oai_prompt_cache: Literal["auto", "explicit", "unsent"] = "auto"
    prices: str | None = None
    # graph
    neo4j_uri: Required
    neo4j_username: Required = Field(
        "neo4j", validation_alias=AliasChoices("NEO4J_USERNAME", "NEO4J_USER")
    )
    neo4j_password: SecretStr
    neo4j_database: Required = "neo4j"
    community_vector_index_name: IndexName = "graphrag_comm_index"
    chunk_vector_index_name: IndexName = "graphrag_chunk_index"
    chunk_fulltext_index_name: IndexName = "graphrag_chunk_fulltext"
    vector_index_dimensions: Annotated[int, Field(ge=1, le=4096, validate_default=True)] = 3072
    vector_index_similarity: Literal["cosine"] = "cosine"
    graph_schema: Literal["default", "v1"] = "default"
    followup_scope: Literal["soft", "hard"] = "soft"
    # progress
    redis_url: SecretStr | None = None
    redis_auth: Literal["url", "entra"] = "url"
    progress_channel: str | None = None
    # caches
    cache: Literal["on", "off"] = "on"
    cache_answers: bool = False
    # nodes
    enable_rag_search: bool = True
    rag_labels: str = "Chunk,Entity,Community"
    enable_indexing: bool = False
    rag_project: str | None = None
    rag_score_threshold: Annotated[float, Field(ge=-1, le=1)] | None = None
    reconcile_schedule: Annotated[str, StringConstraints(strip_whitespace=True)] | None = None
    """As it was given: one that is wrong stops no route, see `schedule_problem`."""
    # search and limits
    max_passes: Annotated[int, Field(ge=1, le=5)] = 2
    max_followups: Annotated[int, Field(ge=1, le=50)] = 10
    max_chunks_for_prompt: Annotated[int, Field(ge=1, le=100)] = 10
    max_followups_per_prompt: Annotated[int, Field(ge=1, le=4)] = 4
    max_prompt_tokens: Annotated[int, Field(ge=3000, le=1_000_000)] = 16000
    max_inflight: Annotated[int, Field(ge=1, le=1000)] = 32
    deadline_sec: Annotated[float, Field(gt=0, le=225)] = 200.0
    retry_max_attempts: Annotated[int, Field(ge=1, le=10)] = 3
    retry_backoff_base_sec: Annotated[float, Field(ge=0, le=60)] = 2.0
    retry_backoff_factor: Annotated[float, Field(ge=1, le=10)] = 2.0
    retry_backoff_max_sec: Annotated[float, Field(ge=0, le=600)] = 60.0
    max_reply_bytes: Annotated[int, Field(ge=64 * 1024, le=256 * 1024 * 1024)] = 4 * 1024 * 1024
    log_questions: bool = False

    @field_validator("vector_index_similarity", "cache", mode="before")
    @classmethod
    def _any_case(cls, value: object) -> object:
        return value.lower() if isinstance(value, str) else value

    @field_validator("neo4j_uri")
    @classmethod
    def _bolt(cls, value: str, info: ValidationInfo) -> str:
        return _checked_url(
            value, {"bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc"}, info
        )

    @field_validator("oai_base_url")
    @classmethod
    def _http(cls, value: str, info: ValidationInfo) -> str:
        return _checked_url(value, {"http", "https"}, info)

    @field_validator("oai_reasoning_effort")
    @classmethod
    def _efforts(cls, value: str | None) -> str | None:
        per_step.efforts(value)
        return value

    @field_validator("max_completion_tokens")
    @classmethod
    def _lengths(cls, value: str | None) -> str | None:
        per_step.lengths(value)
        return value

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

    @property
    def schedule_problem(self) -> str | None:
        """What is wrong with RECONCILE_SCHEDULE, so that there is no timer; None for nothing."""
        wrong = schedule.problem(self.reconcile_schedule) if self.reconcile_schedule else None
        return f"{schedule.SETTING} {wrong}" if wrong else None

    @property
    def nothing_to_reconcile(self) -> str | None:
        """Why no vector of people's nodes is to be kept right here; None where they are."""
        if self.graph_schema == "v1":
            return "GRAPH_SCHEMA=v1 has no projects"
        if not self.enable_rag_search:
            return "ENABLE_RAG_SEARCH=false has no node embedded"
        if OF_INGESTION.issuperset(self.searched_labels):
            return "RAG_LABELS names no label of people's own"
        return None

    @property
    def searched_labels(self) -> tuple[str, ...]:
        """The labels of nodes that are searched, as people write them."""
        return tuple(self.rag_labels.split(","))

    @field_validator("rag_project")
    @classmethod
    def _project(cls, value: str | None) -> str | None:
        if value is not None and (problem := project_id_problem(value)):
            raise ValueError(problem)
        return value

    @field_validator("progress_channel")
    @classmethod
    def _one_channel(cls, value: str | None) -> str | None:
        if value is not None and not _CHANNEL.fullmatch(value.replace("{retrieval_id}", "id")):
            raise ValueError(
                "must be 1 to 200 letters, digits or :._/- with {retrieval_id} as the only "
                "placeholder"
            )
        return value

    @field_validator("prices")
    @classmethod
    def _prices(cls, value: str | None) -> str | None:
        if value is not None:
            prices.read(value)
        return value

    @property
    def of_answers(self) -> dict[str, Any]:
        """All settings but secrets and who may ask, as JSON: what an answer may depend on."""
        secrets = {"neo4j_password", "oai_key", "redis_url"}
        return self.model_dump(mode="json", exclude={*AccessSettings.model_fields, *secrets})

    @property
    def channel_template(self) -> str:
        """The channel of progress messages, in which `{retrieval_id}` stands for that of one."""
        if self.progress_channel is not None:
            return self.progress_channel
        return CHANNEL if self.auth_mode == "function" else OWN_CHANNEL

    @field_validator("redis_url")
    @classmethod
    def _redis(cls, value: SecretStr | None, info: ValidationInfo) -> SecretStr | None:
        if value is not None:
            _checked_url(value.get_secret_value(), {"redis", "rediss"}, info)
        return value

    @field_validator("vector_index_dimensions")
    @classmethod
    def _fits_the_model(cls, value: int, info: ValidationInfo) -> int:
        most = KNOWN_EMBEDDING_DIMENSIONS.get(info.data.get("oai_embed_model_name", ""))
        if most and value > most:
            raise ValueError(
                f"is more than the {most} floats that the model of OAI_EMBED_MODEL_NAME gives"
            )
        return value


def _checked_url(value: str, schemes: set[str], info: ValidationInfo) -> str:
    wanted = f"must be a URL beginning with one of {', '.join(sorted(f'{s}://' for s in schemes))}"
    try:
        parts = urlsplit(value)
    except ValueError:  # its message would repeat the URL, with the password in it
        raise ValueError(wanted) from None
    if parts.scheme not in schemes or not parts.hostname:
        raise ValueError(wanted)
    # An ALLOW_PLAINTEXT that is wrong is missing here, and is reported by itself.
    if (
        parts.scheme in _PLAINTEXT
        and not _is_loopback(parts.hostname)
        and not info.data.get("allow_plaintext", True)
    ):
        raise ValueError(
            "would be spoken to without encryption: use neo4j+s, https or rediss, or set "
            "ALLOW_PLAINTEXT=true"
        )
    return value


def _is_loopback(host: str | None) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host or "").is_loopback
    except ValueError:
        return False


def names() -> frozenset[str]:
    """Return the name of every setting, also the second names that are accepted."""
    aliases = (field.validation_alias for field in Settings.model_fields.values())
    second = (a.choices for a in aliases if isinstance(a, AliasChoices))
    return frozenset(map(str.upper, Settings.model_fields)) | {str(n) for c in second for n in c}


def environment() -> dict[str, str]:
    """Return a copy of the environment."""
    return dict(os.environ)


def export(values: Mapping[str, str]) -> None:
    """Add values to the environment of this process, where the function reads its settings."""
    os.environ.update(values)


def load(values: Mapping[str, Any] | None = None) -> Settings:
    """Return the settings from the environment, or from `values` over it.

    Raises:
        NotConfiguredError: naming every missing or wrong setting at once; no problem contains a
            value's text.
    """
    return _load(Settings, values or {})


def load_page(values: Mapping[str, Any] | None = None) -> PageSettings:
    """Return the few settings of the page; arguments and errors are those of `load`."""
    return _load(PageSettings, values or {})


def load_access(values: Mapping[str, Any] | None = None) -> AccessSettings:
    """Return those settings that say who may ask; otherwise as `load`."""
    return _load(AccessSettings, values or {})


def _load(kind: type[_S], values: Mapping[str, Any]) -> _S:
    try:
        return kind(**{name.lower(): value for name, value in values.items()})
    except ValidationError as error:
        raise NotConfiguredError(
            tuple(_problem(e) for e in error.errors(include_input=False, include_url=False))
        ) from None


def _problem(error: Any) -> str:  # noqa: ANN401 - pydantic's error dictionary
    message = str(error["msg"]).removeprefix("Value error, ")
    if not error["loc"]:
        return f"{message}."
    name = str(error["loc"][0]).upper()
    if error["type"] == "missing":
        return f"{name} is not set."
    return f"{name}: {message}."
