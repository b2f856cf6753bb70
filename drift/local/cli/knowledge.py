"""What a chat model is asked to write in an ingestion: by the options, and with whose consent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from drift.http.page import STAND_IN
from drift.http.settings import Settings
from drift.indexing.records import embedding_of
from drift.local.cli.console import say
from drift.local.cli.ingest_options import IngestOptions
from drift.local.cli.placing import Placement
from drift.local.cli.run import typed_answer
from drift.local.ingest.by_model import Tier
from drift.local.ingest.by_model.estimate import Estimate
from drift.local.ingest.by_model.writing import ByModel
from drift.local.ingest.changes import SourceChanges
from drift.local.ingest.planning import Plan
from drift.local.ingest.planning import plan as changes_planned
from drift.local.ingest.scheduling import Stages
from drift.local.ingest.sources import Source
from drift.local.wiring import build_writer, closing
from drift.model.calls import ModelName, ModelUse, Spending
from drift.search.prices import PriceTable

HOW_TO_SAY_YES = (
    "No report is asked for, since nobody has agreed to that. --knowledge reports asks for them, "
    "--knowledge-tokens N asks for as many as N tokens pay for, --knowledge none says no."
)


def wanted_knowledge(
    placement: Placement, tier: Tier | None, most_tokens: int | None
) -> ByModel | None:
    """Return what the options ask a model for; of themselves reports, by a real model alone."""
    models, (model, _) = placement.models, placement.models.names
    if tier is None:
        tier = "none" if model == STAND_IN else "reports"
    if tier == "none" or most_tokens == 0:
        return None

    def about(estimate: Estimate) -> str:
        return in_words(placement.prices, model, estimate)

    return ByModel(models, model, tier, most_tokens, about, placement.stages.at_once)


def in_words(prices: PriceTable, model: str, estimate: Estimate) -> str:
    """Return an estimate with what it costs, where the model's price is known."""
    if not estimate.calls:
        return "nothing is left to ask"

    use = ModelUse(estimate.prompt_tokens, estimate.completion_tokens)
    cost = prices.cost(Spending({ModelName("", model): use}))
    price = f", {cost.amount:.2f} {cost.currency} at prices of {cost.prices}" if cost else ""
    minutes = max(1, round(estimate.seconds / 60))
    time = "a minute" if minutes == 1 else f"{minutes:,} minutes"
    return (
        f"about {estimate.calls:,} calls with {estimate.prompt_tokens:,} tokens of prompts and "
        f"{estimate.completion_tokens:,} of replies, {time}{price}"
    )


async def plan(
    values: Settings,
    documents: Source,
    given: IngestOptions,
    by_model: ByModel | None,
    stages: Stages,
) -> dict[str, Any]:
    """Say what an ingestion would change and what a model would take; return it as JSON."""
    project = given.project_id
    planned = await _planned(values, documents, project, by_model, stages, force=given.force)
    say(
        f"Project {project}: {len(planned.report.added)} documents would be added, "
        f"{len(planned.report.changed)} changed, {len(planned.report.removed)} removed."
    )
    if by_model is None:
        say("No chat model would be asked.")
    else:
        about = by_model.about(planned.estimate)
        say(f"Knowledge ({by_model.tier}) by {by_model.model}: {about}.")

    return {
        "project_id": project,
        "added": planned.report.added,
        "changed": planned.report.changed,
        "removed": planned.report.removed,
        "knowledge": by_model.tier if by_model else "none",
        **asdict(planned.estimate),
    }


async def confirmed(
    values: Settings, sources: Sequence[Source], project: str, by_model: ByModel, stages: Stages
) -> ByModel | None:
    """Return what is asked for by default, if it is agreed to at the terminal."""
    planned = [await _planned(values, one, project, by_model, stages) for one in sources]
    estimate = sum((one.estimate for one in planned), start=Estimate())
    if not estimate.calls:
        return by_model

    say(f"{by_model.model} can write a report on each topic: {by_model.about(estimate)}.")
    answer = await typed_answer("Shall it? [y/N]", HOW_TO_SAY_YES)
    return by_model if answer.strip().casefold() in {"y", "yes"} else None


async def _planned(
    values: Settings,
    documents: Source,
    project: str,
    by_model: ByModel | None,
    stages: Stages,
    *,
    force: bool = False,
) -> Plan:
    embedding = embedding_of(values.oai_embed_model_name, values.vector_index_dimensions)
    changes = SourceChanges(documents, project, embedding, force=force, stages=stages)
    async with closing(build_writer(values)) as writer:
        return await changes_planned(changes, writer, by_model)
