"""The settings of a provider, given or from the environment, checked before anything is opened."""

from __future__ import annotations

from typing import Literal, Self

from neo4j_graphrag.embeddings.base import Embedder
from neo4j_graphrag.llm.base import LLMInterface
from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from drift.contracts.filter import Filter
from drift.contracts.request import Depth, ProjectId
from drift.integrations.agent_framework.retrieval_query import require_shape

IndexType = Literal["vector", "fulltext", "hybrid", "text2cypher", "drift"]
_REQUIRED: dict[IndexType, tuple[str, ...]] = {
    "vector": ("index_name", "embedder"),
    "fulltext": ("index_name",),
    "hybrid": ("index_name", "fulltext_index_name", "embedder"),
    "text2cypher": ("llm",),
    "drift": ("project",),
}
SCHEMES = ("neo4j", "neo4j+s", "neo4j+ssc", "bolt", "bolt+s", "bolt+ssc", "https")


class Neo4jSettings(BaseSettings):
    """Connection and index names, as `NEO4J_*`."""

    model_config = SettingsConfigDict(env_prefix="NEO4J_", extra="ignore")

    uri: str | None = None
    username: str | None = None
    password: SecretStr | None = None
    database: str | None = None
    index_name: str | None = None
    vector_index_name: str = "chunkEmbeddings"
    fulltext_index_name: str = "search_chunks"


class AzureAISettings(BaseSettings):
    """Where texts are embedded, as `AZURE_AI_*`."""

    model_config = SettingsConfigDict(env_prefix="AZURE_AI_", extra="ignore")

    project_endpoint: str | None = None
    embedding_name: str = "text-embedding-ada-002"


class ConnectionConfig(BaseModel):
    """The database and who signs in; None for the user's home database."""

    # what is wrong is said without what was given, which may hold the password
    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    uri: str
    username: str = Field(min_length=1)
    password: SecretStr
    database: str | None = None

    @field_validator("uri")
    @classmethod
    def _require_scheme(cls, value: str) -> str:
        if value.partition("://")[0] not in SCHEMES:
            raise ValueError(f"must begin with one of {', '.join(SCHEMES)} and ://")
        return value


class ProviderConfig(BaseModel):
    """What is searched, how, and with which part of the conversation.

    `message_history_count` is how many of the newest messages of `roles` make the query,
    `timeout_s` how long a statement may take. `project`, `depth` and `filter` are those of
    `index_type` drift, `llm` and `neo4j_schema` those of text2cypher; without a schema it is read
    by APOC.
    """

    model_config = ConfigDict(
        extra="forbid", frozen=True, arbitrary_types_allowed=True, hide_input_in_errors=True
    )

    index_type: IndexType = "vector"
    index_name: str | None = None
    fulltext_index_name: str | None = None
    embedder: Embedder | None = None
    llm: LLMInterface | None = None
    neo4j_schema: str | None = None
    retrieval_query: str | None = None
    top_k: int = Field(default=5, ge=1, le=100)
    message_history_count: int = Field(default=10, ge=1)
    roles: frozenset[str] = frozenset({"user", "assistant"})
    timeout_s: float = Field(default=30.0, gt=0)
    project: ProjectId | None = None
    depth: Depth = "quick"
    filter: Filter | None = None

    @model_validator(mode="after")
    def _require_parts(self) -> Self:
        kind = self.index_type
        missing = [name for name in _REQUIRED[kind] if getattr(self, name) in (None, "")]
        if missing:
            raise ValueError(f"index_type {kind!r} requires {' and '.join(missing)}")
        if self.filter and kind != "drift":
            raise ValueError(f"index_type {kind!r} takes no filter")

        if self.retrieval_query is not None:
            if kind in {"text2cypher", "drift"}:
                raise ValueError(f"index_type {kind!r} takes no retrieval_query")
            require_shape(self.retrieval_query)
        return self
