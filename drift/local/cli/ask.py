"""`drift ask`: a question to a project, through the function's own route."""

from __future__ import annotations

from contextlib import AsyncExitStack
from pathlib import Path
from typing import Annotated

import typer

from drift.local.cli import options
from drift.local.cli.console import print_json, say, show_answer
from drift.local.cli.run import command


@command()
async def ask(
    stack_options: options.StackOptions,
    question: options.Question,
    project: options.Project = options.DEMO_PROJECT,
    top_k: Annotated[int, typer.Option(help="Communities the primer looks at.", min=1, max=50)] = 5,
    depth: options.Depth = "drift",
    include: Annotated[
        list[str] | None,
        typer.Option(
            help="Add `usage`, `trace`, `verdict`, `locations`, `references` or `explain`; may be "
            "repeated."
        ),
    ] = None,
    filters: options.Filters = None,
    references: Annotated[
        bool,
        typer.Option(
            "--references", help="Show the answer with numbered references and how sure they are."
        ),
    ] = False,
    record: Annotated[
        Path | None,
        typer.Option(
            help="Write the request whole into a new file, for `drift replay`: documents are in "
            "it, keys and passwords are not.",
            metavar="FILE",
        ),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Ask a project a question, through the function's own POST /retrieve.

    Succeeds only with a cited answer; exit code 1 says that there is none.
    """
    shown = ["references"] if references else []
    if not as_json:
        shown += ["locations", "verdict"]
    body = {
        "query": question,
        "project_id": project,
        "top_k": top_k,
        "depth": depth,
        "filter": options.filter_of(filters),
        "include": list(dict.fromkeys([*(include or []), *shown])),
    }
    options.check_request(body)

    from drift.local.cli.asking import advice_on, ask_function
    from drift.local.cli.servers import recommend_up, running
    from drift.local.hosts.local_host import build_dispatcher, serving
    from drift.local.recording.replay import recording

    async with AsyncExitStack() as opened:
        build = opened.enter_context(recording(record)) if record else None
        stack, values = await opened.enter_async_context(running(stack_options, reads=True))
        url = await opened.enter_async_context(serving(dispatcher=build_dispatcher(build)))
        answered = await ask_function(url, values, body)
        if as_json:
            print_json(answered.response)
        else:
            show_answer(question, answered.response)
        if said := advice_on(values.oai_model, answered.response):
            say(said)
        recommend_up(stack)

    if not answered.is_cited:
        raise typer.Exit(1)
