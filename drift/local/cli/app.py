"""`python -m drift ...`: the local stack, ingestion, questions, and measurements from a terminal.

Data goes to standard output, everything said to people to standard error. Exit codes: 0 done, 1 the
work failed, 2 wrong usage.

A command's module declares its options and imports what it works with when it runs, so that
`--help` is there at once.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from inspect import cleandoc
from pathlib import Path
from typing import Annotated

import typer

from drift import __version__
from drift.local.cli.ask import ask
from drift.local.cli.chat import chat
from drift.local.cli.console import log_to_stderr, say, show_error
from drift.local.cli.demo import demo
from drift.local.cli.doctor.command import doctor
from drift.local.cli.documents import list_documents, off, on
from drift.local.cli.eval import evidence, recall
from drift.local.cli.eval_answers import answers, from_feedback
from drift.local.cli.exchange import copy, delete, export, restore
from drift.local.cli.explain import explain
from drift.local.cli.ingest import ingest
from drift.local.cli.keys import check, new
from drift.local.cli.mcp import mcp
from drift.local.cli.nodes import index, reconcile
from drift.local.cli.prepare import prepare
from drift.local.cli.projects import projects, remove, show
from drift.local.cli.reindex import reindex, upgrade
from drift.local.cli.replay import replay
from drift.local.cli.rotate import rotate
from drift.local.cli.run import without_command
from drift.local.cli.search import search
from drift.local.cli.serve import serve
from drift.local.cli.terminal import OutputError, open_streams
from drift.local.cli.up import up


def _help(command: Callable[..., None]) -> str:
    """Return a help text with its first paragraph on one line, as lists of commands want it."""
    first, *others = cleandoc(command.__doc__ or "").split("\n\n")
    return "\n\n".join([first.replace("\n", " "), *others])


app = typer.Typer(
    name="drift",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="DRIFT search over a Neo4j knowledge graph: answers with evidence that was checked.\n\n"
    "Servers that the environment names (NEO4J_URI, OAI_BASE_URL, REDIS_URL) are used; the others "
    "are started on this machine.",
)
for command in (
    *(up, serve, demo, ingest, remove, prepare, ask, explain, replay, search, chat, mcp),
    *(reconcile, reindex, upgrade, doctor, rotate),
):
    app.command(help=_help(command))(command)


def _group(
    name: str,
    about: str,
    *commands: Callable[..., None],
    listing: Callable[..., None] | None = None,
    lists_by_default: bool = False,
) -> None:
    """Add a group of commands under their functions' names, with `list` before them."""
    group = typer.Typer(no_args_is_help=not lists_by_default, help=about)
    if listing:
        group.command("list", help=_help(listing))(listing)
        if lists_by_default:
            group.callback(invoke_without_command=True)(without_command(listing))

    for command in commands:
        group.command(help=_help(command))(command)
    app.add_typer(group, name=name)


_group(
    "projects",
    "Projects: list, show, export, restore, copy, delete them.",
    *(show, export, restore, copy, delete),
    listing=projects,
    lists_by_default=True,
)
_group(
    "documents", "Documents: list them, switch them off and on.", off, on, listing=list_documents
)
_group("keys", "Keys for callers: make one, check a list of them.", new, check)
_group("nodes", "Nodes of your own: make them searchable.", index)
_group(
    "eval",
    "Evaluate: how much of the evidence is found, and what answers show.",
    *(evidence, recall, answers, from_feedback),
)


@app.callback(invoke_without_command=True)
def version_option(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and leave.", is_eager=True)
    ] = False,
) -> None:
    """Handle what stands before the command."""
    if version:
        typer.echo(__version__)
        raise typer.Exit
    read_env_file(Path(), say)


def read_env_file(folder: Path, say: Callable[[str], None]) -> None:
    """Add what a folder's `.env` sets and the environment does not; say which settings that are.

    It is for the commands alone: the function never reads one. Other names in it are left alone,
    and so are empty values; a name that is near a setting's is told.
    """
    path = folder / ".env"
    if not path.is_file():
        return

    # imported here, so that `--help` is there at once
    from dotenv import dotenv_values

    from drift.http import settings
    from drift.local.setting_names import told

    known, given = settings.names(), settings.environment()
    read = dotenv_values(path, interpolate=False, encoding="utf-8")
    added = {n: value for n, value in read.items() if value and n in known and n not in given}
    if added:
        settings.export(added)
        say(f"Read from .env: {', '.join(sorted(added))}.")
    for sentence in told(read):
        say(f"In .env {sentence}")


def main() -> None:
    """Run the command line; output that nobody can take ends it, with one line or silently."""
    try:
        open_streams()
        log_to_stderr()
        app(prog_name="drift" if Path(sys.argv[0]).name == "drift" else "python -m drift")
    except OutputError as error:
        if error.broken_pipe:
            sys.exit(128 + signal.SIGPIPE)
        show_error(str(error))
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
