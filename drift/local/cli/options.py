"""The options that several commands have, each declared once."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

if TYPE_CHECKING:
    from drift.local.stack.stack import StackOptions

Auth = Literal["none", "keys"]

DEFAULT_DATA_DIR = None
"""The data folder is looked for: see `find_data_folder`."""
DEFAULT_VERSION = "2026"
SERVE_PORT = 7071
DEMO_PROJECT = "python-reference"
DEMO_QUESTION = "How are default parameter values evaluated?"

LOOPBACK_PASSWORD = "drift-on-loopback-only"  # noqa: S105 - stands in local.settings.json.example
"""The password of a local Neo4j. It is no secret: the server listens on loopback only."""


def _path(value: str | Path) -> Path:
    """Return a path; an empty one would be the current folder, which nobody asked for."""
    if not str(value):
        raise typer.BadParameter("is empty: name a folder")
    return Path(value)


def checked_text(value: str | None) -> str | None:
    """Return an argument that is text: what the terminal handed over must be UTF-8."""
    if value and any("\udc80" <= character <= "\udcff" for character in value):
        raise typer.BadParameter(f"must be valid UTF-8, and {value!a} is not")
    return value


Json = Annotated[
    bool, typer.Option("--json", help="One JSON document on standard output, for programs.")
]
Neo4jVersion = Annotated[
    str,
    typer.Option(
        "--neo4j", metavar="VERSION", help="Version of the local Neo4j: 2026, 5.26, or exact."
    ),
]
DataDir = Annotated[
    Path | None,
    typer.Option(
        "--data-dir",
        metavar="DIR",
        help="Where the local servers keep their data: by default the nearest .drift of this "
        "folder or one above it, else the user's own data folder.",
        parser=_path,
    ),
]
CacheDir = Annotated[
    Path | None,
    typer.Option(
        "--cache-dir",
        metavar="DIR",
        help="Where downloads are kept for all projects; the user's cache by default.",
        parser=_path,
    ),
]

Question = Annotated[str, typer.Argument(help="The question.", callback=checked_text)]
DemoQuestion = Annotated[
    str, typer.Option("--question", "-q", help="What to ask about Python.", callback=checked_text)
]
MaybeProject = Annotated[
    str | None,
    typer.Option("--project", "-p", help="Look at this project as well.", callback=checked_text),
]
Project = Annotated[
    str, typer.Option("--project", "-p", help="The project's id.", callback=checked_text)
]
ProjectToWrite = Annotated[
    str | None,
    typer.Option(
        "--project",
        "-p",
        help="The project's id; wanted with a folder or file.",
        callback=checked_text,
    ),
]
DocumentSource = Annotated[
    Path | None,
    typer.Argument(
        help="A folder or a file: Markdown, reStructuredText, text, HTML.",
        metavar="SOURCE",
        parser=_path,
        show_default=False,
    ),
]

Depth = Annotated[
    str,
    typer.Option(help="How far to go: `drift`, `quick` (one look), or `auto` (more if open)."),
]


def stack_options(version: str, data_dir: Path | None, cache_dir: Path | None) -> StackOptions:
    """Return how the local servers are started, beside those that the environment names."""
    from drift.http import settings
    from drift.local.stack.stack import StackOptions

    given = settings.environment()
    return StackOptions(
        neo4j_version=version,
        data_dir=data_dir or _found_data_dir(given),
        cache_dir=cache_dir,
        neo4j_password=LOOPBACK_PASSWORD,
        given=given,
    )


def _found_data_dir(environment: Mapping[str, str]) -> Path:
    from drift.local.cli.console import say
    from drift.local.stack.data_folder import find_data_folder, users_data_folder

    users_own = users_data_folder(environment)
    try:
        here = Path.cwd()
    except OSError:  # it was removed
        return users_own
    return find_data_folder(here, users_own, say)
