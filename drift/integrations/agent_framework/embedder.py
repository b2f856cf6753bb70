"""Embeddings of a Foundry project for neo4j-graphrag's retrievers."""

from __future__ import annotations

from urllib.parse import urlsplit

from neo4j_graphrag.embeddings.base import Embedder
from openai import OpenAI

from drift.auth.entra import TokenCredential, identity
from drift.integrations.agent_framework.config import AzureAISettings
from drift.llm.openai.client import ENTRA_SCOPE, resource_url, v1_url


class AzureAIEmbedder(Embedder):
    """Embeds texts at the resource of a Foundry project, as the identity of this process.

    Both arguments default to `AZURE_AI_PROJECT_ENDPOINT` and `AZURE_AI_EMBEDDING_NAME`.
    """

    def __init__(
        self,
        project_endpoint: str | None = None,
        model: str | None = None,
        credential: TokenCredential | None = None,
    ) -> None:
        """Open nothing yet; ValueError without an endpoint."""
        super().__init__()
        settings = AzureAISettings()
        endpoint = project_endpoint or settings.project_endpoint
        if not endpoint:
            raise ValueError(
                "AzureAIEmbedder needs project_endpoint or AZURE_AI_PROJECT_ENDPOINT, such as "
                "https://NAME.services.ai.azure.com/api/projects/PROJECT."
            )
        self.model = model or settings.embedding_name
        self._credential = credential
        # Models are called at the resource, not at the project below it.
        resource = urlsplit(endpoint.partition("/api/projects")[0])
        self._client = OpenAI(
            base_url=v1_url(urlsplit(resource_url(resource))), api_key=self._token
        )

    def embed_query(self, text: str) -> list[float]:
        """Return the vector of a text; errors of OpenAI's SDK and of azure-identity."""
        return self._client.embeddings.create(input=text, model=self.model).data[0].embedding

    def _token(self) -> str:
        if self._credential is None:
            self._credential = identity(None)
        return self._credential.get_token(ENTRA_SCOPE).token
