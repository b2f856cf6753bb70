"""Settings of Neo4j, Redis, and what is kept."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import (
    AliasChoices,
    Field,
    SecretStr,
    StringConstraints,
    ValidationInfo,
    field_validator,
)

from drift.http.settings_base import (
    Addresses,
    AnyCase,
    Required,
    address,
    checked_by,
    checked_url,
)

KNOWN_EMBEDDING_DIMENSIONS = {
    "text-embedding-3-small": 1536,
    "text-embedding-3-large": 3072,
    "text-embedding-ada-002": 1536,
}
"""The most floats that these models give."""

IndexName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,62}$")]
"""A plain identifier: index names stand in statements where Cypher takes no parameter."""


def _one_channel(value: str) -> None:
    if not re.fullmatch(r"[A-Za-z0-9:._/-]{1,200}", value.replace("{retrieval_id}", "id")):
        raise ValueError(
            "must be 1 to 200 letters, digits or :._/- with {retrieval_id} as the only placeholder"
        )


class GraphSettings(Addresses):
    """The database, and how it is searched."""

    neo4j_uri: Annotated[
        Required, address("bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc")
    ]
    """`neo4j+s://…` (AuraDB) or another Bolt URI"""
    neo4j_username: Required = Field(
        "neo4j", validation_alias=AliasChoices("NEO4J_USERNAME", "NEO4J_USER")
    )
    """read from `NEO4J_USER` as well"""
    neo4j_password: SecretStr
    """its password"""
    neo4j_database: Required = "neo4j"
    """the database's name"""
    community_vector_index_name: IndexName = "graphrag_comm_index"
    """the vector index of communities"""
    chunk_vector_index_name: IndexName = "graphrag_chunk_index"
    """the vector index of chunks"""
    chunk_fulltext_index_name: IndexName = "graphrag_chunk_fulltext"
    """the full-text index of chunks, without which follow-ups do without full text"""
    vector_index_dimensions: Annotated[int, Field(ge=1, le=4096, validate_default=True)] = 3072
    """floats of the embedding model; compared with model and indexes"""
    vector_index_similarity: Annotated[Literal["cosine"], AnyCase] = "cosine"
    """the only one supported"""
    graph_schema: Literal["default", "v1"] = "default"
    """`v1`: entities `FROM_CHUNK`, communities `IN_COMMUNITY`, one project"""
    followup_scope: Literal["soft", "hard"] = "soft"
    """`hard` keeps follow-ups inside their target communities"""

    @field_validator("vector_index_dimensions")
    @classmethod
    def _fits_the_model(cls, value: int, info: ValidationInfo) -> int:
        most = KNOWN_EMBEDDING_DIMENSIONS.get(info.data.get("oai_embed_model_name", ""))
        if most and value > most:
            raise ValueError(
                f"is more than the {most} floats that the model of OAI_EMBED_MODEL_NAME gives"
            )
        return value


class RedisSettings(Addresses):
    """Where progress goes, and what is kept beyond a request."""

    redis_url: SecretStr | None = None
    """where progress goes, and where processes share quotas and embeddings; without it nobody sees
    progress"""
    redis_auth: Literal["url", "entra"] = "url"
    """`entra`: sign in with Entra ID (Azure Managed Redis)"""
    progress_channel: Annotated[str, checked_by(_one_channel)] | None = None
    """the Redis channel of progress messages; unset: as [progress.md](progress.md) says"""
    cache: Annotated[Literal["on", "off"], AnyCase] = "on"
    """`off`: nothing is kept beyond a request; [caches.md](caches.md)"""
    cache_answers: bool = False
    """`true`: the same question to the same state of a project gets the same answer for a day"""

    @field_validator("redis_url")
    @classmethod
    def _redis(cls, value: SecretStr | None, info: ValidationInfo) -> SecretStr | None:
        if value is not None:
            checked_url(value.get_secret_value(), {"redis", "rediss"}, info)
        return value
