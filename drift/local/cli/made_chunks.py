"""`drift ingest --chunks`: chunks that another program has made, by batches or in bulk."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from drift.http.settings import Settings
from drift.local.cli.ingest_options import IngestOptions
from drift.local.cli.ingest_report import as_document, say_report
from drift.local.cli.ingestion import with_progress
from drift.local.cli.placing import Placement, placed
from drift.local.cli.project_graph import require_default_schema
from drift.local.cli.servers import recommend_up, running
from drift.local.ingest.made.bulk import import_chunks, require_new
from drift.local.ingest.made.loading import load_chunks, require_model
from drift.local.ingest.made.rows import Checked, MadeChunks
from drift.local.stack.stack import StackOptions

_NOWHERE = {"NEO4J_URI": "bolt://127.0.0.1:1", "NEO4J_PASSWORD": "-"}
"""So that the models are there before a database is."""


async def ingest_chunks(
    stack_options: StackOptions, place: Path, given: IngestOptions
) -> dict[str, Any]:
    """Have the chunks of a place in their project, say what that changed, and return it as JSON.

    Raises:
        IngestError: they cannot be read or written, as `MadeChunks`, `import_chunks` and
            `load_chunks` say.
    """
    models = partial(placed, calls=given.calls_a_minute, tokens=given.tokens_a_minute)
    known: tuple[MadeChunks, Checked] | None = None
    if given.bulk:
        require_new(stack_options)
        models_alone = replace(stack_options, given={**stack_options.given, **_NOWHERE})
        async with running(models_alone) as (_, values), models(values) as placement:
            known = await _checked(values, placement, place, given.project_id)
        await import_chunks(known[0], stack_options)

    async with running(stack_options) as (stack, values), models(values) as placement:
        made, checked = known or await _checked(values, placement, place, given.project_id)
        work = partial(load_chunks, made, checked, imported=given.bulk)
        report = await with_progress(values, placement, work, given.wait)
        say_report(report)
        recommend_up(stack)

    return as_document(report)


async def _checked(
    values: Settings, placement: Placement, place: Path, project_id: str
) -> tuple[MadeChunks, Checked]:
    """Return the chunks, once all of them can be used, with what the first reading has found."""
    require_default_schema(values, "ingest")
    model, dimensions = values.oai_embed_model_name, values.vector_index_dimensions
    made = MadeChunks(place, project_id, model, dimensions)
    checked = await made.check()
    await require_model(made, checked, placement.models)
    return made, checked
