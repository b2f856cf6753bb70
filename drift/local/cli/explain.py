"""`drift explain`: why an answer is bad or slow, and where a passage was lost."""

from __future__ import annotations

from typing import Annotated

from drift.local.cli import options
from drift.local.cli.console import print_json, show_line
from drift.local.cli.run import command


@command()
async def explain(
    stack_options: options.StackOptions,
    question: options.Question,
    project: options.Project,
    passage: Annotated[
        str | None, options.text("Words of a passage that should have been found.")
    ] = None,
    depth: options.Depth = "drift",
    filters: options.Filters = None,
    as_json: options.Json = False,
) -> None:
    """Ask a question, and say what made the answer bad or slow.

    The first line names the cause. With --passage it says at which step a passage was lost.
    """
    body = {
        "query": question,
        "project_id": project,
        "depth": depth,
        "filter": options.filter_of(filters),
        "include": ["explain", "trace", "usage"],
    }
    options.check_request(body)

    from drift.contracts.explain import ExplainOut
    from drift.graph.connection import Connection
    from drift.http import wiring
    from drift.local.cli.asking import ask_function
    from drift.local.cli.explained import causes, lost, screen
    from drift.local.cli.servers import recommend_up, running
    from drift.local.hosts.local_host import serving
    from drift.local.retrieval.held_passages import saying

    async with running(stack_options, reads=True) as (stack, values), serving() as url:
        answered = (await ask_function(url, values, body)).response
        async with Connection(*wiring.database(values)) as connection:
            fulltext = wiring.index_names(values).fulltext
            held = await saying(passage, project, connection, fulltext) if passage else []
        recommend_up(stack)

    told = ExplainOut.model_validate(answered["explain"])
    said = causes(answered, told)
    where = lost(told, held, project) if passage else ""
    if as_json:
        print_json({"causes": said, "passage": where, "explain": answered["explain"]})
        return
    for line in screen(told, said, where):
        show_line(line)
