"""How long 20 requests take to the function's own route, in turn, on the sample corpus."""

from __future__ import annotations

import statistics
import time

import httpx2

from drift.http.settings import export
from drift.local.cli.ingestion import ingest_sample
from drift.local.cli.options import DEMO_PROJECT, DEMO_QUESTION
from drift.local.cli.servers import running
from drift.local.hosts.local_host import serving
from tests.bench.command import Options, percentile, read_options, run, show, stack_of

WARM_UP, RUNS = 3, 20


async def bench(asked: Options) -> None:
    """Have the sample corpus ingested, and ask in turn."""
    body = {"query": asked.question, "project_id": DEMO_PROJECT}
    async with running(stack_of(asked)) as (_, values):
        await ingest_sample(values)
        export({"CACHE": "off"})  # the same question is asked again and again
        seconds = []
        async with serving() as url, httpx2.AsyncClient(timeout=240, trust_env=False) as client:
            for _ in range(WARM_UP + RUNS):
                start = time.perf_counter()
                (await client.post(f"{url}/retrieve", json=body)).raise_for_status()
                seconds.append(time.perf_counter() - start)

    warm = seconds[WARM_UP:]
    median, p95 = round(statistics.median(warm), 4), round(percentile(warm, 95), 4)
    show({"median_s": median, "p95_s": p95, "runs": RUNS}, asked)


if __name__ == "__main__":
    run(bench, read_options(__doc__, servers=True, question=(DEMO_QUESTION, "what to ask")))
