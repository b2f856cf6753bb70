"""What `drift eval replay` does."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from drift.local.cli.console import print_json, say
from drift.local.evals.replay import read_exchanges
from drift.local.evals.replay import replay as replayed


async def replay(exchanges: Path, together: int, tokens: int, *, as_json: bool) -> None:
    """Print what each recorded search costs now.

    Raises:
        IngestError: when the file cannot be read.
    """
    figures = [await replayed(one, together, tokens) for one in read_exchanges(exchanges)]
    if as_json:
        print_json([asdict(one) for one in figures])
        return

    for one in figures:
        say(
            f"{one.tokens:,} prompt tokens, {one.followup_tokens:,} of them in "
            f"{one.followup_calls} calls for follow-ups; {one.shown} of {one.cited} cited spans "
            f"shown; {one.skipped} recorded follow-ups not asked: {one.question[:60]}"
        )
    shown, cited = sum(one.shown for one in figures), sum(one.cited for one in figures)
    say(f"{100 * shown / max(1, cited):.1f} % of the cited spans are shown.")
