"""What `drift bench streams` does: the servers, the streams, and the table."""

from __future__ import annotations

import os
from dataclasses import asdict

import httpx2
from rich.table import Table

from drift.http import settings
from drift.local.cli.console import print_json, stdout
from drift.local.cli.work.load import LoadOptions, servers, target
from drift.local.evals.load.process import load_process
from drift.local.evals.load.streams import measure_streams
from drift.local.stack.stack import StackOptions


async def streams(options: StackOptions, asked: LoadOptions, *, as_json: bool) -> None:
    """Stream answers, and print how soon and how late their words are.

    Raises:
        LocalStackError: something that the measurement needs is missing.
    """
    async with (
        servers(options, asked) as env,
        load_process(asked.host, asked.graph, {**settings.environment(), **env}) as process,
        target(process, asked) as function,
        httpx2.AsyncClient(base_url=env["OAI_BASE_URL"], trust_env=False, timeout=60) as model,
    ):
        levels = await measure_streams(function, model, asked.callers, asked.requests)

    document = {
        "options": asdict(asked),
        "cores": os.cpu_count(),
        "levels": [asdict(level) for level in levels],
    }
    if as_json:
        print_json(document)
        return
    table = Table("", *(str(level.callers) for level in levels))
    for name in asdict(levels[0]):
        table.add_row(name, *(str(getattr(level, name)) for level in levels))
    stdout.print(table)
