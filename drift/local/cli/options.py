"""The options that several commands have, each declared once."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from drift.local.stack import stack

    StackOptions = stack.StackOptions
else:
    StackOptions = object  # the class loads when a command runs

DEFAULT_VERSION = "2026"
SERVE_PORT = 7071
DEMO_PROJECT = "python-reference"
DEMO_QUESTION = "How are default parameter values evaluated?"


def checked_path(value: str | Path) -> Path:
    """Return a path; an empty one would be the current folder, which nobody asked for."""
    refuse(not str(value), "is empty: name a file or folder")
    return Path(value)


def checked_source(value: str | Path) -> str:
    """Return where documents are: a path, or the address of a container."""
    checked_path(value)
    return str(value)


def checked_text(value: str | None) -> str | None:
    """Return an argument that is text: what the terminal handed over must be UTF-8."""
    is_cut = any("\udc80" <= character <= "\udcff" for character in value or "")
    refuse(is_cut, f"must be valid UTF-8, and {value!a} is not")
    return value


def refuse(is_wrong: object, sentence: str, option: str | None = None) -> None:
    """Refuse the command line where `is_wrong` holds, with a sentence about it or an option."""
    if is_wrong:
        raise typer.BadParameter(sentence, param_hint=option)


def check_request(body: dict[str, Any]) -> None:
    """Refuse what the function would refuse, before any server is started."""
    from pydantic import ValidationError

    from drift.contracts.request import RetrieveRequest

    try:
        RetrieveRequest.model_validate(body, strict=False)
    except ValidationError as error:
        problems = [
            f"{problem['loc'][0]}: {str(problem['msg']).removeprefix('Value error, ')}"
            for problem in error.errors()
        ]
        raise typer.BadParameter("; ".join(problems)) from None


def filter_of(given: list[str] | None) -> dict[str, Any] | None:
    """Return what the options `--filter` ask for together, as a body has it; None for no option."""
    from pydantic import ValidationError

    from drift.contracts.filter import Filter, combined, equal_to

    if not given:
        return None
    texts = [one for one in given if one.lstrip().startswith("{")]
    pairs = [one.partition("=") for one in given if one not in texts]
    unread = next((key for key, mark, _ in pairs if not mark), None)
    wanted = f"must be KEY=VALUE or a JSON object, and {unread!a} is not"
    refuse(unread is not None, wanted, "--filter")
    try:
        filters = [Filter.model_validate_json(one) for one in texts]
        filters += [equal_to((key, value) for key, _, value in pairs)] if pairs else []
        whole = combined("and", filters)
        body = whole.model_dump(exclude_none=True) if whole else {}
        Filter.model_validate(body)
    except ValidationError as error:
        said = str(error.errors()[0]["msg"]).removeprefix("Value error, ")
        raise typer.BadParameter(said, param_hint="--filter") from None
    return body


def text(told: str, *names: str, **more: Any) -> Any:  # noqa: ANN401 - as typer has it
    """Return an option that takes text."""
    return typer.Option(*names, help=told, callback=checked_text, **more)


def optional_project(told: str, **more: Any) -> Any:  # noqa: ANN401 - as typer has it
    """Return the option of a project that may be left out."""
    return text(told, "--project", "-p", **more)


Question = Annotated[str, typer.Argument(help="The question.", callback=checked_text)]
Project = Annotated[str, optional_project("The project's id.")]
Filters = Annotated[
    list[str] | None,
    typer.Option(
        "--filter",
        metavar="KEY=VALUE",
        help="Only documents that fit: `tag=hr`, or a filter as JSON. It may be repeated: all keys "
        "must fit, each with any of its values.",
        show_default="all documents",
    ),
]
Depth = Annotated[
    str,
    typer.Option(help="How far to go: `drift`, `quick` (one look), or `auto` (more if open)."),
]
Json = Annotated[
    bool, typer.Option("--json", help="One JSON document on standard output, for programs.")
]
Wait = Annotated[
    float,
    typer.Option(
        help="Seconds to wait for another run over the project; 0 refuses at once.", min=0
    ),
]
Neo4jVersion = Annotated[
    str,
    typer.Option("--neo4j", metavar="VERSION", help="Version of the local Neo4j: 2026 or 5.26."),
]
DataDir = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Where the local servers keep their data: by default the nearest .drift of this "
        "folder or one above it, else the user's own data folder.",
        parser=checked_path,
    ),
]
CacheDir = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Where downloads are kept for all projects; the user's cache by default.",
        parser=checked_path,
    ),
]


def stack_options(
    version: Neo4jVersion = DEFAULT_VERSION, data_dir: DataDir = None, cache_dir: CacheDir = None
) -> StackOptions:
    """Return how the local servers are started, beside those that the environment names."""
    from drift.http import settings
    from drift.local.cli.console import say
    from drift.local.stack.data_folder import find_data_folder, users_data_folder
    from drift.local.stack.stack import StackOptions as Options

    given = settings.environment()
    if data_dir is None:
        data_dir = users_data_folder(given)
        with suppress(OSError):  # the current folder was removed
            data_dir = find_data_folder(Path.cwd(), data_dir, say)

    return Options(neo4j_version=version, data_dir=data_dir, cache_dir=cache_dir, given=given)
