"""Context and history from Neo4j for agents of Microsoft's Agent Framework (an extra)."""

from drift.integrations.agent_framework.config import (
    AzureAISettings,
    ConnectionConfig,
    Neo4jSettings,
    ProviderConfig,
)
from drift.integrations.agent_framework.embedder import AzureAIEmbedder
from drift.integrations.agent_framework.history import Neo4jHistoryProvider
from drift.integrations.agent_framework.provider import Neo4jContextProvider
from drift.integrations.agent_framework.retrievers import FulltextRetriever

__all__ = [
    "AzureAIEmbedder",
    "AzureAISettings",
    "ConnectionConfig",
    "FulltextRetriever",
    "Neo4jContextProvider",
    "Neo4jHistoryProvider",
    "Neo4jSettings",
    "ProviderConfig",
]
