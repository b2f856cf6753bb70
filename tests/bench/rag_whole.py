"""A question to the nodes as its caller sees it, over HTTP, at a model's speed.

The sample is asked through a function in this process. A `first` question finds a new process and a
project whose threshold nobody has measured; the first of them also finds a graph that has planned
no statement. `later` ones are each asked once, and no cache knows them.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace

import httpx2

from drift.graph.connection import Connection
from drift.http.wiring import database
from drift.local.cli.options import DEMO_PROJECT
from drift.local.cli.work.ingestion import ingest_documents, sample_sources
from drift.local.cli.work.placing import placed
from drift.local.cli.work.servers import WITHOUT_KEYS, running
from drift.local.hosts.local_host import build_dispatcher, serving
from tests.bench.command import Options, milliseconds, read_options, run, show, stack_of
from tests.bench.load_process import PYTHON_QUESTIONS, slow_model

UNMEASURED = "MATCH (p:__Project__ {id: $p}) REMOVE p.score_unrelated"


async def bench(asked: Options) -> None:
    """Ask first questions of new processes, then later ones of the last process."""
    options, model = (
        stack_of(asked),
        slow_model(chat_ms=asked.chat_ms, embed_ms=asked.embed_ms, token_ms=0, remembers=True),
    )
    with await asyncio.to_thread(model.start):
        known = replace(options, given={**options.given, **model.env})
        access = {**WITHOUT_KEYS, **model.env, "CACHE": "off"}
        async with running(known, access) as (_, values):
            async with placed(values) as place:
                await ingest_documents(values, sample_sources(), DEMO_PROJECT, place)
            dispatcher = build_dispatcher()
            async with (
                serving(dispatcher=dispatcher) as url,
                httpx2.AsyncClient(base_url=url, timeout=240, trust_env=False) as client,
            ):

                async def seconds(question: str) -> float:
                    began = time.perf_counter()
                    body = {"question": question, "project_id": DEMO_PROJECT}
                    reply = await client.post("/api/rag/query", json=body)
                    reply.raise_for_status()
                    return time.perf_counter() - began

                first = []
                for number in range(asked.first):
                    async with Connection(*database(values)) as connection:
                        await connection.write(UNMEASURED, {"p": DEMO_PROJECT})
                    await dispatcher.provider.close()
                    first.append(await seconds(f"{PYTHON_QUESTIONS[0]} ({number})"))

                asking = [
                    f"{question} ({number})"
                    for number in range(asked.later)
                    for question in PYTHON_QUESTIONS
                ]
                later = [await seconds(question) for question in asking[: asked.later]]

    show(
        {
            "first_ms": [round(1000 * one) for one in first],
            "later": {"questions": len(later), **milliseconds(later)},
        },
        asked,
    )


if __name__ == "__main__":
    run(
        bench,
        read_options(
            __doc__,
            servers=True,
            chat_ms=(1000.0, "latency of the model's answer, milliseconds"),
            embed_ms=(100.0, "latency of an embedding, milliseconds"),
            first=(5, "how many first questions"),
            later=(100, "how many later ones"),
        ),
    )
