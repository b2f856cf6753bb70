"""How a command runs: its event loop, its signals, and its errors as exit codes."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Coroutine
from typing import Any, TypeVar

import typer

from drift.core.errors import DriftError, InvalidRequestError
from drift.local.cli.console import show_error, stderr
from drift.local.stack.data_folder import DataFolderError

Result = TypeVar("Result")

STOPPING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def run(work: Coroutine[Any, Any, Result]) -> Result:
    """Run a command's work.

    An error of ours is one line, with exit code 2 where nothing was begun and 1 otherwise.
    """
    begin()
    try:
        return asyncio.run(work)
    except InvalidRequestError as error:
        problems = "; ".join(f"{problem.field}: {problem.message}" for problem in error.problems)
        show_error(f"{error.detail} {problems}")
        raise typer.Exit(2) from None
    except DataFolderError as error:
        show_error(error.detail)
        raise typer.Exit(2) from None
    except DriftError as error:
        show_error(error.detail)
        raise typer.Exit(1) from None
    except OSError as error:
        show_error(f"{error.filename or 'The system'}: {error.strerror or error}.")
        raise typer.Exit(1) from None
    except KeyboardInterrupt:
        raise typer.Exit(130) from None


def begin() -> None:
    """Let Ctrl-C interrupt what follows: while things were loaded, it ended the process at once."""
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


async def stoppable(work: Coroutine[Any, Any, Result]) -> Result:
    """Run work that has something to give back: SIGTERM and SIGHUP end it as Ctrl-C does."""
    task = asyncio.ensure_future(work)
    for number in STOPPING_SIGNALS:
        asyncio.get_running_loop().add_signal_handler(number, task.cancel)

    try:
        return await task
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None


async def until_stopped(work: Coroutine[Any, Any, None]) -> None:
    """Run until the work ends or somebody stops it; Ctrl-C and SIGTERM are how it is meant to end.

    The second signal ends this process at once: the servers notice by themselves when nobody uses
    them any more.
    """
    task = asyncio.ensure_future(work)

    def stop(number: int) -> None:
        if task.cancelling():
            os._exit(128 + number)
        task.cancel()

    for number in STOPPING_SIGNALS:
        asyncio.get_running_loop().add_signal_handler(number, stop, number)

    try:
        await task
    except asyncio.CancelledError:
        stderr.print("[dim]Stopped.[/]")
