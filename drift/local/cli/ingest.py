"""`drift ingest`: documents into a project's graph."""

from __future__ import annotations

from drift.local.cli import options
from drift.local.cli.console import print_json
from drift.local.cli.ingest_options import IngestOptions
from drift.local.cli.run import command, stoppable


@command(stoppable, IngestOptions)
async def ingest(stack_options: options.StackOptions, given: IngestOptions) -> None:
    """Ingest documents into a project's graph.

    Chunks, topics with their summaries, embeddings; with --knowledge what a chat model writes.

    A second run changes nothing; a changed file replaces only its own chunks. Only one run writes a
    project at a time, and questions see whole documents meanwhile, and the earlier knowledge until
    the new one is complete.
    """
    given.check()

    from drift.local.cli.ingestion import import_graphrag, ingest_places
    from drift.local.cli.made_chunks import ingest_chunks

    if given.chunks is not None:
        documents = [await ingest_chunks(stack_options, given.chunks, given)]
    elif given.graphrag is None:
        documents = await ingest_places(stack_options, given)
    else:
        documents = [await import_graphrag(stack_options, given.graphrag, given)]

    if given.as_json:
        print_json(documents if len(documents) > 1 else documents[0])
