"""How long a document takes that is sent to the function, in a project of so many chunks.

The chunks have random vectors in clusters, of the local model's length. Documents of a few chunks
and of some hundred are sent one at a time, sent again as they are, changed, and removed.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial

import httpx2

from drift.graph.connection import Connection
from drift.http import settings, wiring
from drift.local.cli.console import say
from drift.local.cli.servers import WITHOUT_KEYS
from drift.local.wiring import build_writer, closing
from tests.bench.command import (
    Options,
    answered,
    milliseconds,
    read_options,
    run,
    seconds_of,
    served,
    show,
    stack_of,
)
from tests.bench.graph import MEMORY
from tests.bench.synthetic import TENANTS, SyntheticProject
from tests.bench.synthetic_records import Records

SENTENCE = "Berth {0} of quay {1} is looked after by the harbour office of district {2}. "
SMALL, LARGE = 5, 300
"""Sections of a document, each of which is a chunk."""


async def bench(asked: Options) -> None:
    """Fill a project, and time what is sent to it."""
    opened = {**WITHOUT_KEYS, "ENABLE_INDEXING": "true"}
    async with served(replace(stack_of(asked), neo4j_memory=MEMORY), opened) as (client, values):
        total = round(asked.chunks / TENANTS["large"])
        project = SyntheticProject("large", total, values.vector_index_dimensions, 1)
        await fill(project, values)
        await measure(client, project.project_id, asked)


async def fill(project: SyntheticProject, values: settings.Settings) -> None:
    """Make the tenant hold this project, with its leaf communities as topics."""
    async with (
        closing(build_writer(values)) as writer,
        Connection(*wiring.database(values)) as connection,
    ):
        await writer.prepare(project.dims)
        held = await writer.held_projects(project.project_id)
        if held and held[0].chunks >= project.chunks:
            return
        # Built at once over all chunks, the index takes a fraction of the time.
        await connection.write(f"DROP INDEX `{values.chunk_vector_index_name}`", {})
        records = Records(project)
        for batch in records.documents():
            await writer.write_documents(project.project_id, batch)
        knowledge = records.knowledge()
        topics = tuple(replace(one, mean=one.embedding) for one in knowledge.communities)
        await writer.write_knowledge(project.project_id, replace(knowledge, communities=topics))
        await writer.prepare(project.dims)
        say(f"{project.project_id}: {project.chunks:,} chunks, {project.widths[0]:,} topics")


async def measure(client: httpx2.AsyncClient, project_id: str, asked: Options) -> None:
    """Send, send again, change and remove documents of both sizes."""
    for sections, times in ((SMALL, asked.documents), (LARGE, max(1, asked.documents // 20))):

        def send(
            number: int, mark: str = "", sections: int = sections
        ) -> Awaitable[httpx2.Response]:
            body = {"project_id": project_id, "id": f"sent-{number}.md"}
            return client.post("/documents", json={**body, "text": text(number, sections, mark)})

        def remove(number: int) -> Awaitable[httpx2.Response]:
            return client.delete(f"/documents/sent-{number}.md?project_id={project_id}")

        cases: dict[str, Callable[[int], Awaitable[httpx2.Response]]] = {
            "added": send,
            "sent again": send,
            "changed in one section": partial(send, mark=" It was repaired."),
            "removed": remove,
        }
        for case, write in cases.items():
            seconds = [await seconds_of(answered(write(number))) for number in range(times)]
            row = {"case": case, "sections": sections, "documents": times}
            show({**row, **milliseconds(seconds)}, asked)


def text(number: int, sections: int, mark: str) -> str:
    """Return a document; a mark stands in its first section."""
    parts = (
        f"# Quay {number}.{one}\n\n"
        + "".join(SENTENCE.format(at, one, number) for at in range(10))
        + ("" if one else mark)
        for one in range(sections)
    )
    return "\n\n".join(parts)


if __name__ == "__main__":
    run(
        bench,
        read_options(
            __doc__,
            servers=True,
            chunks=(100_000, "chunks of the project"),
            documents=(100, "how many small documents are sent"),
        ),
    )
