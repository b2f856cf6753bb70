"""Where an ingestion's files are read and its models called: here, or on workers; at what pace."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass

from drift.http import wiring
from drift.http.settings import Settings
from drift.http.settings_search import ModelSettings
from drift.indexing.reading_process import Guard, guarded
from drift.llm.chat import Chat
from drift.local.ingest.pacing import Pace, Paced
from drift.local.ingest.report import ModelUsage
from drift.local.ingest.scheduling import InProcess, Stages, workers
from drift.model.calls import Spending
from drift.nodes.embedding_calls import EmbeddingCalls
from drift.ports import Embedder
from drift.search.prices import PriceTable


@dataclass(frozen=True, slots=True)
class Placement:
    """Where files are read, and the models, whose calls are paced and counted."""

    stages: Stages
    models: Paced
    prices: PriceTable

    def usage(self) -> ModelUsage:
        """Return what the calls of models took so far, with what that costs where it is known."""
        spent = self.models.spent
        uses = spent.models.values()
        return ModelUsage(
            sum(use.prompt for use in uses),
            sum(use.completion for use in uses),
            spent.uncounted,
            self.prices.cost(Spending(spent.models)),
        )


_SENT = (
    *ModelSettings.model_fields,
    "azure_client_id",
    "max_reply_bytes",
    "retry_backoff_base_sec",
    "retry_backoff_factor",
    "retry_backoff_max_sec",
    "retry_max_attempts",
    "vector_index_dimensions",
)
"""The settings that models are made by; workers are told no others."""


class ModelsOf:
    """Makes the models of some settings, wherever it is called."""

    def __init__(self, settings: Settings) -> None:
        """Keep of the settings what models are made by."""
        told = {name: getattr(settings, name) for name in _SENT}
        self.settings = Settings.model_construct(**told)

    def __call__(self) -> tuple[Chat, Embedder]:
        """Return the chat model, and the embedder of what is stored, of any number of texts."""
        chat, embedder = wiring.build_models(self.settings)
        return chat, EmbeddingCalls(embedder.of_passages, self.settings.vector_index_dimensions)


@asynccontextmanager
async def placed(
    values: Settings,
    guard: Guard = guarded,
    scheduler: str | None = None,
    calls: int = 0,
    tokens: int = 0,
) -> AsyncGenerator[Placement]:
    """Yield where files are read, with the models: the workers', or our own.

    `calls` and `tokens` are what models may take in a minute, 0 for any.

    Raises:
        IngestError: as for `workers`.
    """
    make = ModelsOf(values)
    prices, (own_chat, own_embedder) = wiring.build_prices(values), make()
    names = own_chat.model, values.oai_embed_model_name
    async with workers(scheduler, make) if scheduler else nullcontext() as there:
        models = Paced(there or own_chat, there or own_embedder, Pace(calls), Pace(tokens), names)
        yield Placement(there or InProcess(guard), models, prices)
