"""`drift ask`: a question to a project, through the function's own route."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from drift.local.cli import options
from drift.local.cli.run import run


def ask(
    question: options.Question,
    project: options.Project = options.DEMO_PROJECT,
    top_k: Annotated[int, typer.Option(help="Communities the primer looks at.", min=1, max=50)] = 5,
    depth: options.Depth = "drift",
    include: Annotated[
        list[str] | None,
        typer.Option(
            help="Add `usage`, `trace`, `verdict`, `locations` or `references`; may be repeated."
        ),
    ] = None,
    references: Annotated[
        bool,
        typer.Option(
            "--references", help="Show the answer with numbered references and how sure they are."
        ),
    ] = False,
    version: options.Neo4jVersion = options.DEFAULT_VERSION,
    data_dir: options.DataDir = options.DEFAULT_DATA_DIR,
    cache_dir: options.CacheDir = None,
    as_json: options.Json = False,
) -> None:
    """Ask a project a question, through the function's own POST /retrieve.

    Succeeds only with a cited answer; exit code 1 says that there is none.
    """
    shown = ["references"] if references else []
    wanted = dict.fromkeys(
        [*(include or []), *shown, *([] if as_json else ["locations", "verdict"])]
    )
    body = {
        "query": question,
        "project_id": project,
        "top_k": top_k,
        "depth": depth,
        "include": list(wanted),
    }
    _check(body)

    from drift.local.cli.work import asking as work

    stack_options = options.stack_options(version, data_dir, cache_dir)
    cited = run(work.ask(stack_options, body, as_json=as_json))
    if not cited:
        raise typer.Exit(1)


def _check(body: dict[str, Any]) -> None:
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
