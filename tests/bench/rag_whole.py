"""A question to the nodes as its caller sees it, over HTTP, at a model's speed.

The sample is asked through a function in this process. A `first` question finds a new process and a
project whose threshold nobody has measured; the first of them also finds a graph that has planned
no statement. `later` ones are each asked once, and no cache knows them.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from itertools import islice, product

from drift.graph.connection import Connection
from drift.http.wiring import database
from drift.local.cli.ingestion import ingest_documents, sample_sources
from drift.local.cli.options import DEMO_PROJECT
from drift.local.cli.placing import placed
from drift.local.cli.servers import WITHOUT_KEYS
from drift.local.hosts.local_host import build_dispatcher
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
from tests.bench.load_process import PYTHON_QUESTIONS, slow_model

UNMEASURED = "MATCH (p:__Project__ {id: $p}) REMOVE p.score_unrelated"


async def bench(asked: Options) -> None:
    """Ask first questions of new processes, then later ones of the last process."""
    options = stack_of(asked)
    model = slow_model(chat_ms=asked.chat_ms, embed_ms=asked.embed_ms, token_ms=0, remembers=True)
    with await asyncio.to_thread(model.start):
        known = replace(options, given={**options.given, **model.env})
        access = {**WITHOUT_KEYS, **model.env, "CACHE": "off"}
        dispatcher = build_dispatcher()
        async with served(known, access, dispatcher) as (client, values):
            async with placed(values) as place:
                await ingest_documents(values, sample_sources(), DEMO_PROJECT, place)

            async def seconds(question: str) -> float:
                body = {"question": question, "project_id": DEMO_PROJECT}
                return await seconds_of(answered(client.post("/api/rag/query", json=body)))

            first = []
            for number in range(asked.first):
                async with Connection(*database(values)) as connection:
                    await connection.write(UNMEASURED, {"p": DEMO_PROJECT})
                await dispatcher.provider.close()
                first.append(await seconds(f"{PYTHON_QUESTIONS[0]} ({number})"))

            asking = product(range(asked.later), PYTHON_QUESTIONS)
            later = [
                await seconds(f"{question} ({number})")
                for number, question in islice(asking, asked.later)
            ]

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
