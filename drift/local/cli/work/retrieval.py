"""What `drift bench retrieval` does."""

from __future__ import annotations

from dataclasses import asdict

import httpx2

from drift.http.settings import export
from drift.local.cli.console import print_result
from drift.local.cli.options import DEMO_PROJECT
from drift.local.cli.work.ingestion import ingest_sample
from drift.local.cli.work.servers import running
from drift.local.evals.timing import measure_retrievals
from drift.local.hosts.local_host import serving
from drift.local.stack.stack import StackOptions


async def retrieval(options: StackOptions, question: str, *, as_json: bool) -> None:
    """Have the sample corpus ingested, ask in turn, and print how long the answers took."""
    body = {"query": question, "project_id": DEMO_PROJECT}
    async with running(options) as (_, values):
        await ingest_sample(values)
        export({"CACHE": "off"})  # the same question is asked again and again
        async with serving() as url, httpx2.AsyncClient(timeout=240, trust_env=False) as client:

            async def ask_once() -> None:
                (await client.post(f"{url}/retrieve", json=body)).raise_for_status()

            result = await measure_retrievals(ask_once)
    print_result(asdict(result), as_json=as_json)
