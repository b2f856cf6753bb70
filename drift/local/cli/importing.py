"""An import of a GraphRAG index with its progress on the terminal: for `ingest --graphrag`."""

from __future__ import annotations

import asyncio
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from drift.core.errors import IngestError
from drift.indexing.reading_process import ReadingProcess
from drift.local.cli.console import say
from drift.local.cli.ingest_options import IngestOptions
from drift.local.cli.ingest_report import as_document, say_report
from drift.local.cli.ingestion import require_default_schema, with_progress
from drift.local.cli.placing import placed
from drift.local.cli.servers import recommend_up, running
from drift.local.ingest.graphrag.importing import import_index
from drift.local.ingest.graphrag.index import read_index
from drift.local.ingest.neo4j.writer import Neo4jWriter
from drift.local.ingest.report import IngestReport, Report
from drift.local.stack.stack import StackOptions


async def import_graphrag(
    stack_options: StackOptions, folder: Path, given: IngestOptions
) -> dict[str, Any]:
    """Import the index in a folder, say what that changed, and return it as JSON.

    Raises:
        IngestError: it cannot be read or written, as `read_index` and `import_index` say.
    """
    if find_spec("duckdb") is None:
        raise IngestError(
            "Nothing was read: the tables of GraphRAG need `pip install 'drift-neo4j[graphrag]'`."
        )

    with ReadingProcess(memory_mb=None) as process:  # tables are read whole
        index = await asyncio.to_thread(read_index, folder, process.guarded)

    async with (
        running(stack_options) as (stack, values),
        placed(values, calls=given.calls_a_minute, tokens=given.tokens_a_minute) as placement,
    ):
        require_default_schema(values, "ingest")

        async def work(writer: Neo4jWriter, show: Report) -> IngestReport:
            return await import_index(
                index,
                given.project_id,
                writer,
                placement.models,
                values.vector_index_dimensions,
                report=show,
                embedding_model=values.oai_embed_model_name,
                force=given.force,
                wait_s=given.wait,
                say=say,
            )

        report = await with_progress(values, placement, work)
        say_report(report)
        recommend_up(stack)

    return as_document(report)
