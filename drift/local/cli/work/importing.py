"""An import of a GraphRAG index with its progress on the terminal: for `ingest --graphrag`."""

from __future__ import annotations

import asyncio
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from drift.core.errors import IngestError
from drift.http import wiring
from drift.indexing.reading_process import ReadingProcess
from drift.local.cli.console import say, stderr
from drift.local.cli.work.ingestion import (
    as_document,
    require_default_schema,
    say_report,
    tend_vectors,
)
from drift.local.cli.work.placing import placed
from drift.local.cli.work.servers import recommend_up, running
from drift.local.ingest.context import IngestContext
from drift.local.ingest.graphrag.importing import import_index
from drift.local.ingest.graphrag.index import read_index
from drift.local.ingest.progress_bar import progress_bar
from drift.local.stack.stack import StackOptions
from drift.local.wiring import build_writer


async def import_graphrag(
    stack_options: StackOptions,
    folder: Path,
    project: str,
    force: bool,
    wait_s: float,
    pace: tuple[int, int],
) -> dict[str, Any]:
    """Import the index in a folder, say what that changed, and return it as JSON.

    `pace` is how many calls and tokens the models may take in a minute, 0 for any.

    Raises:
        IngestError: it cannot be read or written, as `read_index` and `import_index` say.
    """
    if find_spec("duckdb") is None:
        raise IngestError(
            "Nothing was read: the tables of GraphRAG need `pip install 'drift-neo4j[graphrag]'`."
        )

    with ReadingProcess(memory_mb=None) as process:  # tables are read whole
        index = await asyncio.to_thread(read_index, folder, process.guarded)
    calls, tokens = pace
    async with (
        running(stack_options) as (stack, values),
        placed(values, calls=calls, tokens=tokens) as place,
    ):
        require_default_schema(values, "ingest")
        writer = build_writer(values)
        try:
            with progress_bar(stderr, lambda: str(place.usage())) as show:
                report = await import_index(
                    index,
                    project,
                    IngestContext(
                        writer,
                        place.models,
                        values.vector_index_dimensions,
                        report=show,
                        model=values.oai_embed_model_name,
                        wait_s=wait_s,
                        say=say,
                    ),
                    force=force,
                )
            report.usage = place.usage()
            await tend_vectors(values, writer, wiring.build_models(values)[1], report)
        finally:
            await writer.close()
        say_report(report)
        recommend_up(stack)
    return as_document(report)
