"""The servers that a command works with: started or joined, then warmed up."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress

from drift.auth.caller import EVERYBODY
from drift.core.deadline import Deadline
from drift.core.errors import DriftError
from drift.http import settings, wiring
from drift.local.cli.console import listed, say, stderr
from drift.local.machine import PATIENCE, patient
from drift.local.stack.data_folder import check_data_folder, check_holds_graph
from drift.local.stack.stack import VARIABLES, Stack, StackOptions
from drift.local.wiring import build_writer, closing
from drift.model.reading import PageQuery

WITHOUT_KEYS = {"AUTH_MODE": "function", "PROJECT_KEYS": "", "PROJECT_KEYS_SECRET": ""}
"""Settings under which the local host asks nobody for a credential: no command has one."""

_MOST_LISTED, _MOST_NAMED = 100, 12
_PATIENCE_S = 30.0 * PATIENCE
SLOW_WARM_UP_S = 20.0


@asynccontextmanager
async def running(
    options: StackOptions, access: Mapping[str, str] = WITHOUT_KEYS, *, reads: bool = False
) -> AsyncIterator[tuple[Stack, settings.Settings]]:
    """Have all servers running while the block runs.

    Their addresses stand in this process's environment, and in the settings that are yielded. So
    does `access`, which says who may ask a function that this process serves. With `reads`, what
    was stored before is all that the block works on, and the search's statements are planned.

    Raises:
        DataFolderError: the data folder cannot be used, or holds nothing to read.
        LocalStackError: a server cannot be started.
    """
    missing = [name for name, (first, *_) in VARIABLES.items() if not options.given.get(first)]
    has_own_graph = "neo4j" in missing
    if missing:
        check_data_folder(options.data_dir)
        if reads and has_own_graph:
            check_holds_graph(options.data_dir)
        say(f"Data folder: {options.data_dir.absolute()}")
        say(
            f"Starting {', '.join(missing)} on this machine, about ten seconds, or joining those "
            f"that run ..."
        )

    with patient():
        async with Stack(options) as stack:
            settings.export({**access, **stack.env})
            values = settings.load()
            if has_own_graph:
                projects = await projects_of(values)
                if projects is not None:
                    say(projects_in_words(projects))
                if reads and projects and not stack.attached:
                    await warm_up(values)
            yield stack, values


async def take_documents(stack: Stack, values: settings.Settings) -> None:
    """Have a graph of ours take documents from the first one on; or say what stands in the way."""
    if not (stack.pids["neo4j"] and settings.load_page().takes_documents):
        return
    async with closing(build_writer(values)) as writer:
        try:
            await writer.prepare(values.vector_index_dimensions)
        except DriftError as error:
            say(f"Documents cannot be added yet. {error.detail}")


async def projects_of(values: settings.Settings) -> Sequence[str] | None:
    """Return 100 projects at most; None where the schema knows none, or they cannot be read."""
    if values.graph_schema != "default":
        return None

    async with closing(wiring.build_graph(values)) as graph:
        try:
            page = PageQuery(_MOST_LISTED)
            found = await graph.reader().projects(EVERYBODY, page, Deadline.after(_PATIENCE_S))
        except DriftError:
            return None

    return found.rows


def projects_in_words(projects: Sequence[str]) -> str:
    """Return one line that names the projects of a data folder, the first of many."""
    if not projects:
        return "It holds no project yet."
    plural = "" if len(projects) == 1 else "s"
    return f"It holds the project{plural} {listed(projects, _MOST_NAMED)}."


def recommend_up(stack: Stack) -> None:
    """Say how the next command need not wait, when this one had to."""
    if stack.pids["neo4j"] and not stack.attached:
        stderr.print(
            "[dim]The servers end with this command. With `python -m drift up` in another terminal "
            "the next one need not start them.[/]"
        )


async def warm_up(values: settings.Settings) -> None:
    """Run the search's statements once: a fresh server takes seconds to plan them.

    That a machine is slow is said here, before anybody waits for an answer.
    """
    began = time.monotonic()
    async with closing(wiring.build_graph(values)) as graph:
        # an empty database has no indexes yet, and a question to it is told so
        with suppress(DriftError):
            await graph.warm_up(values.vector_index_dimensions)

    if (seconds := time.monotonic() - began) > SLOW_WARM_UP_S:
        say(
            f"This machine is slow: the graph took {seconds:.0f} s to plan what a search asks, "
            f"which takes five. Answers are waited for {PATIENCE:.0f} times as long as usual."
        )
