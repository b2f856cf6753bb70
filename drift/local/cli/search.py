"""`drift search`: the passages, or the documents, of a project that are nearest to a question."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

import typer

from drift.local.cli import options
from drift.local.cli.console import print_json, show_line
from drift.local.cli.run import command


@command()
async def search(
    stack_options: options.StackOptions,
    question: options.Question,
    project: options.Project,
    documents: Annotated[
        bool, typer.Option("--documents", help="Whole documents in the place of passages.")
    ] = False,
    filters: options.Filters = None,
    top: Annotated[int, typer.Option(help="How many at most.", min=1, max=50)] = 5,
    as_json: options.Json = False,
) -> None:
    """Find what is nearest to a question, without asking a chat model.

    A line says the rank, what it is, how near it or any behind it is, and where it stands.
    Documents are ordered by their best passages; exit code 1 says that nothing was found.
    """
    options.refuse(documents and filters, "is for passages: leave --documents out", "--filter")
    only = options.filter_of(filters)
    options.check_request({"query": question, "project_id": project, "top_k": top})

    from drift.local.cli.servers import recommend_up, running

    async with running(stack_options, reads=True) as (stack, _):
        asked = (project, question, top)
        found, lines = await (_documents(*asked) if documents else _passages(*asked, only))
        recommend_up(stack)

    if as_json:
        print_json({"project_id": project, "documents" if documents else "passages": found})
    for rank, line in enumerate([] if as_json else lines, 1):
        show_line(f"{rank}. {line}")
    if not found:
        raise typer.Exit(1)


_Found = tuple[list[dict[str, Any]], list[str]]
"""What was found for programs, and the same as lines for people."""


async def _documents(project: str, question: str, top: int) -> _Found:
    from drift.local.retriever import retrieve

    found = await retrieve(question, project, top)
    lines = [_line(d.confidence, d.label, d.title, d.path) for d in found]
    return [asdict(one) for one in found], lines


async def _passages(project: str, question: str, top: int, only: dict[str, Any] | None) -> _Found:
    from drift.integrations import passages

    try:
        found = await passages.find(project, question, top, only=only)
    finally:
        await passages.close()
    lines = [_line(one.score, one.label, one.document_name) for one in found]
    return [one.model_dump() for one in found], lines


def _line(match: float, label: str, *names: str) -> str:
    """Return what was found on a line, with each name of it once."""
    where = label.removeprefix(f"{names[0]}, ")
    said = [*dict.fromkeys(names), f"{match:.0%} match", where]
    return " | ".join(said[:-1] if where in names else said)
