"""`drift eval replay`: what the prompts of recorded searches cost now, and what they still show."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from drift.local.cli.options import Json
from drift.local.cli.run import run


def replay(
    exchanges: Annotated[
        Path,
        typer.Option(
            metavar="FILE", help="Recorded calls, one JSON object a line: {schema, user, reply}."
        ),
    ],
    together: Annotated[int, typer.Option(min=1, max=4, help="MAX_FOLLOWUPS_PER_PROMPT.")] = 4,
    tokens: Annotated[int, typer.Option(min=3000, help="MAX_PROMPT_TOKENS.")] = 16000,
    as_json: Json = False,
) -> None:
    """Search anew with recorded replies.

    Counts the prompts' tokens, and the cited spans that the new prompts still show. No server is
    needed.
    """
    from drift.local.cli.work import replay as work

    run(work.replay(exchanges, together, tokens, as_json=as_json))
