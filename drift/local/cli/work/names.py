"""What `drift eval names` does."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from pathlib import Path

from drift.local.cli.console import print_json, say
from drift.local.evals.recall.question_sets import read_question_sets
from drift.local.evals.unseen_names import measure_names


async def names(sets: Path, *, as_json: bool) -> None:
    """Print how many questions of each set are refused.

    Raises:
        IngestError: when the sets cannot be read.
    """
    found = [await asyncio.to_thread(measure_names, one) for one in read_question_sets(sets)]
    if as_json:
        print_json([asdict(figures) for figures in found])
        return

    for figures in found:
        say(
            f"{figures.name}: of {figures.questions} questions {figures.shown} are refused with "
            f"their passages, {figures.misspelt} with names misspelt, {figures.withheld} without "
            "their passages."
        )
        for alarm in figures.false_alarms:
            say(f"  {alarm}")
