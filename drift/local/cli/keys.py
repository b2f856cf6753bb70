"""`drift keys`: keys for callers of AUTH_MODE=keys, made and checked without any server."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from drift.local.cli.console import print_json, say, stdout
from drift.local.cli.options import Filters, Json, checked_text, filter_of, refuse, text
from drift.local.cli.run import run

if TYPE_CHECKING:
    from drift.auth.project_keys import KeyEntry


def _file(value: str | Path) -> Path:
    refuse(not str(value), "is empty: name a file")
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
        text(
            "What it opens, with commas between: ids of projects, or beginnings of ids with `*` "
            "behind.",
            metavar="PATTERNS",
        ),
    ],
    rights: Annotated[
        str, text("`read`, `write`, or both: `read,write`.", metavar="RIGHTS")
    ] = "read",
    requests_per_minute: Annotated[
        int | None, typer.Option(metavar="N", help="Its quota of requests.", show_default="none")
    ] = None,
    tokens_per_day: Annotated[
        int | None, typer.Option(metavar="N", help="Its quota of tokens.", show_default="none")
    ] = None,
    filters: Filters = None,
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
    from drift.local.cli import key_files

    key = key_files.new_key()
    quota = {"requests_per_minute": requests_per_minute, "tokens_per_day": tokens_per_day}
    only = filter_of(filters)
    entry = key_files.new_entry(key, name, _parts(projects), _parts(rights), only, **quota)
    problems = key_files.problems(entry)
    refuse(problems, "; ".join(problems))

    async def make() -> None:
        held = key_files.add(entry, file) if file else ()
        if as_json:
            print_json({"key": key, "entry": entry})
        else:
            print(key, flush=True)  # noqa: T201 - the command's output
            print_json(entry)

        _say_what_next(file, held)

    run(make())


def _parts(text: str) -> list[str]:
    return list(dict.fromkeys(part.strip() for part in text.split(",")))


def _say_what_next(file: Path | None, held: Sequence[KeyEntry]) -> None:
    from drift.local.cli.key_files import differs

    say("This key is shown once: give it to its callers now. The entry holds its hash alone.")
    if held:
        say(
            f"{file} holds {len(held)} key{'' if len(held) == 1 else 's'}. Its content is the "
            "value of PROJECT_KEYS, or of the secret which PROJECT_KEYS_SECRET names: put it there."
        )
    else:
        say(
            "Put the entry into the list of PROJECT_KEYS, or into that of the secret which "
            "PROJECT_KEYS_SECRET names."
        )

    if differs(held):
        say("An older key of this name has other projects, rights, quotas or filters.")

    say(
        "To change a key without a gap, add a new one of the same name, move its callers, and take "
        "the old entry out."
    )


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
    from drift.local.cli import key_files

    async def count() -> None:
        entries = key_files.entries_of(file)
        counts = {
            "keys": len(entries),
            "names": len({entry.name for entry in entries}),
            "projects": len({pattern for entry in entries for pattern in entry.projects}),
            "filtered": sum(entry.filter is not None for entry in entries),
        }
        if as_json:
            print_json(counts)
            return
        for name, value in counts.items():
            stdout.print(f"{name:<18} {value}")

    run(count())
