"""The servers that a command works with: started or joined, then warmed up."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress

from drift.errors import DriftError
from drift.hosting import settings, wiring
from drift.offline.commands.console import stderr
from drift.offline.stack.data_folder import check_data_folder
from drift.offline.stack.stack import VARIABLES, Stack, StackOptions

WITHOUT_KEYS = {"AUTH_MODE": "function", "PROJECT_KEYS": "", "PROJECT_KEYS_SECRET": ""}
"""Settings under which the local host asks nobody for a credential: no command has one."""


@asynccontextmanager
async def running(
    options: StackOptions, access: Mapping[str, str] = WITHOUT_KEYS
) -> AsyncIterator[tuple[Stack, settings.Settings]]:
    """Have all servers running while the block runs.

    Their addresses stand in this process's environment, and in the settings that are yielded. So
    does `access`, which says who may ask a function that this process serves.
    """
    missing = [name for name, (first, *_) in VARIABLES.items() if not options.given.get(first)]
    if missing:
        check_data_folder(options.data_dir)
        stderr.print(
            f"Starting {', '.join(missing)} on this machine, about ten seconds, or joining those "
            f"that run ...",
            markup=False,
        )

    async with Stack(options) as stack:
        settings.export({**access, **stack.env})
        yield stack, settings.load()


def recommend_up(stack: Stack) -> None:
    """Say how the next command need not wait, when this one had to."""
    if stack.pids["neo4j"] and not stack.attached:
        stderr.print(
            "[dim]The servers end with this command. With `python -m drift up` in another terminal "
            "the next one need not start them.[/]"
        )


async def warm_up(values: settings.Settings) -> None:
    """Run the search's statements once.

    A fresh server takes seconds to plan them, and the first question would wait.
    """
    graph = wiring.build_graph(values)
    try:
        # an empty database has no indexes yet, and a question to it is told so
        with suppress(DriftError):
            await graph.warm_up(values.vector_index_dimensions)
    finally:
        await graph.close()
