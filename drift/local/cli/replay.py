"""`drift replay`: a recorded request once more, without any server."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from drift.local.cli import options
from drift.local.cli.console import print_json, show_line
from drift.local.cli.run import run

if TYPE_CHECKING:
    from drift.local.recording.replay import Replay


def replay(
    file: Annotated[Path, typer.Argument(help="What `drift ask --record` wrote.")],
    as_json: options.Json = False,
) -> None:
    """Answer a recorded request once more, by the code that is here, without server, key and
    network.

    Exit code 0: the same answer to the byte. 1: it differs, or prompts or statements do, which are
    shown.
    """
    run(_replay(file, as_json=as_json))


async def _replay(file: Path, *, as_json: bool) -> None:
    from drift.local.recording.replay import replay

    told = await asyncio.to_thread(replay, file)  # it has a loop of its own
    if as_json:
        print_json(_document(told))
    else:
        _show(told)
    if not told.is_same:
        raise typer.Exit(1)


def _show(told: Replay) -> None:
    for note in told.notes:
        for line in note.splitlines():
            show_line(line)
    for one in told.requests:
        end = "the same answer, to the byte" if one.is_same else "another answer"
        on = ", which stands on what is not recorded" if told.notes else ""
        show_line(f"{one.request.id}: {end}{on}.")
        for line in one.differences:
            show_line(line)
    show_line(f"Replayed in {told.seconds:.2f} s.")


def _document(told: Replay) -> dict[str, object]:
    return {
        "same": told.is_same,
        "seconds": round(told.seconds, 3),
        "notes": told.notes,
        "requests": [
            {
                "retrieval_id": one.request.id,
                "same": one.is_same,
                "answer": json.loads(one.answer),
                "differences": one.differences,
            }
            for one in told.requests
        ],
    }
