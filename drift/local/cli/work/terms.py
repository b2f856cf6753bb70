"""What `drift eval terms` does."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from pathlib import Path

from drift.local.cli.console import print_json, say
from drift.local.evals.named_terms import measure_terms, read_terms
from drift.local.ingest.sources import read_source


async def terms(documents: Path, listed: Path, topic: str, *, as_json: bool) -> None:
    """Print which of the listed terms are entities.

    Raises:
        IngestError: when the documents or the list cannot be read.
    """
    wanted = read_terms(listed, topic)
    figures = await asyncio.to_thread(measure_terms, read_source(documents), wanted)
    if as_json:
        print_json({"share": round(figures.share, 1), **asdict(figures)})
        return

    say(
        f"{figures.share:.1f} % of {figures.terms} terms are among {figures.entities:,} entities; "
        f"chunks name {figures.density:.1f} for 1,000 characters."
    )
    say(f"Missing: {'; '.join(figures.missing) or 'none'}.")
    say(f"Drawn at random: {'; '.join(figures.sample)}.")
