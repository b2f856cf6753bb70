"""`drift keys`: keys for callers of AUTH_MODE=keys, made and checked without any server."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from drift.local.cli.options import Json, checked_text
from drift.local.cli.run import run


def _file(value: str | Path) -> Path:
    if not str(value):
        raise typer.BadParameter("is empty: name a file")
    return Path(value)


def new(
    name: Annotated[
        str,
        typer.Argument(
            help="Who the key is for, as logs and quotas have it; several keys may share a name.",
            callback=checked_text,
            show_default=False,
        ),
    ],
    projects: Annotated[
        str,
        typer.Option(
            metavar="PATTERNS",
            help="What it opens, with commas between: ids of projects, or beginnings of ids with "
            "`*` behind.",
            callback=checked_text,
        ),
    ],
    rights: Annotated[
        str,
        typer.Option(
            metavar="RIGHTS", help="`read`, `write`, or both: `read,write`.", callback=checked_text
        ),
    ] = "read",
    requests_per_minute: Annotated[
        int | None, typer.Option(metavar="N", help="Its quota of requests.", show_default="none")
    ] = None,
    tokens_per_day: Annotated[
        int | None, typer.Option(metavar="N", help="Its quota of tokens.", show_default="none")
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Add the entry to the list in this file, which is made when it is not there.",
            parser=_file,
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Make a key, and show it once with its entry for PROJECT_KEYS.

    The key is on the first line of standard output, and the entry, which holds its hash, on the
    second. Nothing keeps the key.
    """
    from drift.local.cli.work import keys as work

    quota = {"requests_per_minute": requests_per_minute, "tokens_per_day": tokens_per_day}
    wanted = work.Wanted(name, projects, rights, quota)
    if problems := work.problems(wanted):
        raise typer.BadParameter("; ".join(problems))
    run(work.new(wanted, file, as_json=as_json))


def check(
    file: Annotated[
        Path,
        typer.Argument(
            help="A value of PROJECT_KEYS in a file.",
            metavar="FILE",
            parser=_file,
            show_default=False,
        ),
    ],
    as_json: Json = False,
) -> None:
    """Say how many keys a file holds, or what is wrong with it.

    Problems are named by their place; nothing that stands in the file is repeated.
    """
    from drift.local.cli.work import keys as work

    run(work.check(file, as_json=as_json))
