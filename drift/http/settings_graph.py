"""Settings of Neo4j, Redis, and what is kept."""

from __future__ import annotations

import re
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import (
    AliasChoices,
    Field,
    SecretStr,
    StringConstraints,
    ValidationInfo,
    field_validator,
)

from drift.graph.mapping import read_mapping
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


def _of_server_alone(value: str) -> None:
    """Refuse what a driver of Neo4j refuses in an address, or passes over."""
    parts = urlsplit(value)
    if "@" in parts.netloc:
        raise ValueError("holds a login: it belongs into NEO4J_USERNAME and NEO4J_PASSWORD")
    if parts.path.strip("/"):
        raise ValueError("has a path, which is not read: NEO4J_DATABASE names the database")
    if parts.query and not parts.scheme.startswith("neo4j"):
        raise ValueError("has a query, which neo4j:// alone takes: end it behind the port")


def _place(value: str) -> None:
    at = r"https://|http://(?=(?:127\.0\.0\.1|localhost)[:/])"
    if not re.fullmatch(rf"off|/[^\0]+|(?:{at})[^\s/?#@]+(?:/[^\s/?#@]+){{1,2}}/?", value):
        raise ValueError(
            "must be a folder's whole path, https://ACCOUNT.blob.core.windows.net/CONTAINER "
            "without a signature, or off"
        )


class GraphSettings(Addresses):
    """The database, and how it is searched."""

    neo4j_uri: Annotated[
        Required,
        address("bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc", "http", "https"),
        checked_by(_of_server_alone),
    ]
    """`neo4j+s://…` (AuraDB) or another Bolt URI; `https://…` where port 7687 is closed
    ([deploy.md](deploy.md#auradb))"""
    neo4j_username: Required = Field(
        "neo4j", validation_alias=AliasChoices("NEO4J_USERNAME", "NEO4J_USER")
    )
    """read from `NEO4J_USER` as well; on AuraDB the instance's id"""
    neo4j_password: SecretStr
    """its password"""
    neo4j_database: Annotated[Required | None, Field(validate_default=True)] = None
    """the database's name, needed with `https://`; unset: the user's home database"""
    community_vector_index_name: IndexName = "graphrag_comm_index"
    """the vector index of communities"""
    chunk_vector_index_name: IndexName = "graphrag_chunk_index"
    """the vector index of chunks"""
    chunk_fulltext_index_name: IndexName = "graphrag_chunk_fulltext"
    """the full-text index of chunks, without which follow-ups do without full text"""
    vector_index_dimensions: Annotated[int, Field(ge=1, le=4096, validate_default=True)] = 3072
    """floats of the embedding model; compared with model and indexes"""
    graph_schema: Annotated[str, checked_by(read_mapping)] = "default"
    """how a graph that others wrote is built: a known shape (`v1`, `langchain`, …) or a mapping
    as JSON, as [ingestion.md](ingestion.md) says; it is one project"""
    followup_scope: Literal["soft", "hard"] = "soft"
    """`hard` keeps searches of follow-ups inside their target communities"""

    vector_store: Annotated[Literal["neo4j", "milvus"], AnyCase] = "neo4j"
    """`milvus`: vectors are searched in Milvus, and kept in Neo4j as well ([milvus.md](milvus.md));
    needs the extra `milvus`"""
    milvus_uri: Annotated[Required | None, Field(validate_default=True)] = None
    """`https://…` of Milvus or Zilliz, or for one process alone a file `….db` of Milvus Lite"""
    milvus_token: SecretStr | None = None
    """its `user:password` or API key"""
    milvus_collection: IndexName = "graph_nodes"
    """its collection, which is made if missing"""
    milvus_index: Literal["IVF_FLAT", "HNSW"] = "IVF_FLAT"
    """the index of a collection that is made"""

    @field_validator("neo4j_database")
    @classmethod
    def _is_named_over_http(cls, value: str | None, info: ValidationInfo) -> str | None:
        if value is None and info.data.get("neo4j_uri", "").startswith("http"):
            raise ValueError(
                "is needed with http:// and https://, which know no home database: on AuraDB it is "
                "the instance's id, as in https://ID.databases.neo4j.io"
            )
        return value

    @field_validator("vector_store")
    @classmethod
    def _has_projects(cls, value: str, info: ValidationInfo) -> str:
        if value == "milvus" and info.data.get("graph_schema") != "default":
            raise ValueError(
                "milvus needs GRAPH_SCHEMA=default, which has projects: a graph that others wrote "
                "is searched by its own vectors"
            )
        return value

    @field_validator("milvus_uri")
    @classmethod
    def _is_where_milvus_is(cls, value: str | None, info: ValidationInfo) -> str | None:
        if info.data.get("vector_store") != "milvus":
            return value
        if value is not None and value.endswith(".db") and "://" not in value:
            return value
        wanted = "must be https://… of a server, or a file ….db of Milvus Lite"
        if value is None or "://" not in value:
            raise ValueError(f"{wanted}, for VECTOR_STORE is milvus")
        return checked_url(value, ("http", "https"), info)

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
    feedback_days: Annotated[int, Field(ge=0, le=3650)] = 90
    """days that [feedback](http.md#feedback) is kept in Redis with its question, and unscored
    answers a week of them; `0`: none is taken and no question kept"""

    document_store: Annotated[str, checked_by(_place)] = "off"
    """where [original files](reading.md#original-files) of documents are kept: a folder by its
    whole path, or `https://ACCOUNT.blob.core.windows.net/CONTAINER`, signed in with Entra ID;
    `off`: nowhere"""

    @field_validator("redis_url")
    @classmethod
    def _redis(cls, value: SecretStr | None, info: ValidationInfo) -> SecretStr | None:
        if value is not None:
            checked_url(value.get_secret_value(), {"redis", "rediss"}, info)
        return value
