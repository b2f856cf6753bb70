"""The documents of a project that are nearest to a question, for programs of people's own.

    from drift.local import prompt_builder, retriever

    documents = await retriever.retrieve("Who assigns berths?", "handbook")
    messages = prompt_builder.build(messages, documents)

The settings of the environment name the graph and the embedding model, as for the function.
"""

from __future__ import annotations

import asyncio

from drift.contracts.request import ProjectRequest
from drift.core.deadline import Deadline
from drift.core.errors import GraphMisconfiguredError
from drift.graph.connection import Connection
from drift.http import settings, wiring
from drift.http.provider import ServiceProvider
from drift.integrations import passages
from drift.local.retrieval.documents import DocumentFinder, FoundDocument, by_best_passage
from drift.nodes.embedding_calls import EmbeddingCalls

__all__ = ["FoundDocument", "retrieve"]

PATIENCE_S = 60.0
MOST = 50  # documents, or passages, that are ordered


async def retrieve(question: str, project: str, top: int = 5) -> list[FoundDocument]:
    """Return the `top` (1 to 50) documents that answer a question best, the best first.

    They are ordered by their best passages, as a search ranks those. Behind them come documents
    that no passage is of, by the cosine of their vectors and the question's.

    Raises:
        ValueError: the question is empty or over 4,000 characters, or another argument is unusable.
        NotConfiguredError: settings are missing or wrong; all are named.
        NotFoundError: there is no such project.
        GraphMisconfiguredError: its documents have no vectors, or those of another model.
        GraphUnavailableError, ModelUnavailableError, ModelMisconfiguredError: as the ports do.
    """
    asked = ProjectRequest(query=question, project_id=project, top_k=top)
    values = settings.load()
    if values.graph_schema != "default":
        raise GraphMisconfiguredError(
            f"Documents are searched in graphs with projects: GRAPH_SCHEMA is {values.graph_schema}"
            ", and has to be `default`."
        )
    deadline = Deadline.after(PATIENCE_S * Connection.patience)
    services = ServiceProvider(lambda: values)
    chat, model = await asyncio.to_thread(wiring.build_models, values)
    async with Connection(*wiring.database(values)) as connection:
        try:
            calls = EmbeddingCalls(model, values.vector_index_dimensions)
            [vector] = (await calls.embed([asked.query], deadline)).vectors
            finder = DocumentFinder(
                connection,
                wiring.index_names(values),
                values.oai_embed_model_name,
                values.vector_index_dimensions,
            )
            near = await finder.nearest(asked.project_id, asked.query, vector, MOST, deadline)
            found = await passages.find(project, asked.query, MOST, services)
            return by_best_passage(near, found)[:top]
        finally:
            await services.close()
            await chat.aclose()
            await model.client.close()
