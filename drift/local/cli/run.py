"""How a command runs: its options, its event loop, its signals, and its errors as exit codes."""

from __future__ import annotations

import asyncio
import inspect
import os
import signal
import sys
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from functools import wraps
from typing import Any, NoReturn, get_type_hints

import typer

from drift.core.errors import DriftError, InvalidRequestError
from drift.local.cli.console import say, show_error, stderr
from drift.local.cli.options import refuse, stack_options
from drift.local.stack.data_folder import DataFolderError

STOPPING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

Work = Coroutine[Any, Any, None]


def command(
    around: Callable[[Work], Work] | None = None, options: Callable[..., object] | None = None
) -> Callable[..., Callable[..., None]]:
    """Make a command of a coroutine function, whose first argument is a StackOptions.

    The options of the local servers stand behind its own, as `stack_options` declares them. Its own
    are its other arguments, or the fields of a dataclass `options`, which is then its second one.
    `around` is what a signal does to it: see `stoppable` and `until_stopped`.
    """

    def made(work: Callable[..., Work]) -> Callable[..., None]:
        own = _parameters(options) if options else _parameters(work)[1:]
        servers = _parameters(stack_options)

        @wraps(work)
        def called(**given: Any) -> None:  # noqa: ANN401 - what the command line says
            stack = stack_options(**{one.name: given.pop(one.name) for one in servers})
            begun = work(stack, options(**given)) if options else work(stack, **given)
            run(around(begun) if around else begun)

        return _taking(called, sorted([*own, *servers], key=lambda one: one.name == "as_json"))

    return made


def without_command(work: Callable[..., None]) -> Callable[..., None]:
    """Make what a group does of one of its commands: it runs where no other is named."""

    def called(context: typer.Context, **given: Any) -> None:  # noqa: ANN401 - as above
        if context.invoked_subcommand is None:
            work(**given)
            return
        sources = [context.get_parameter_source(name) for name in given]
        is_given = any(source and source.name == "COMMANDLINE" for source in sources)
        refuse(is_given, f"options stand behind {context.invoked_subcommand}")

    taken = [*inspect.signature(work).parameters.values()]
    first = inspect.Parameter("context", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)
    return _taking(called, [first, *taken])


def _taking(
    called: Callable[..., None], parameters: list[inspect.Parameter]
) -> Callable[..., None]:
    """Give a function of keywords the signature that the command line is read by."""
    called.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    called.__annotations__ = {one.name: one.annotation for one in parameters}
    return called


def _parameters(function: Callable[..., object]) -> list[inspect.Parameter]:
    hints = get_type_hints(function, include_extras=True)
    taken = inspect.signature(function).parameters.values()
    return [
        one.replace(annotation=hints[one.name], kind=inspect.Parameter.KEYWORD_ONLY)
        for one in taken
    ]


def run(work: Work) -> None:
    """Run a command's work.

    An error of ours is one line, with exit code 2 where nothing was begun and 1 otherwise.
    """
    # While things were loaded, Ctrl-C ended the process at once; now it interrupts.
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)

    try:
        asyncio.run(work)
    except InvalidRequestError as error:
        problems = "; ".join(f"{problem.field}: {problem.message}" for problem in error.problems)
        _end(2, f"{error.detail} {problems}")
    except DataFolderError as error:
        _end(2, error.detail)
    except DriftError as error:
        from drift.local.machine import said_of_slowness

        _end(1, said_of_slowness(error.code, error.detail))
    except OSError as error:
        _end(1, f"{error.filename or 'The system'}: {error.strerror or error}.")
    except KeyboardInterrupt:
        raise typer.Exit(130) from None


def _end(code: int, problem: str) -> NoReturn:
    show_error(problem)
    raise typer.Exit(code) from None


async def stoppable(work: Work) -> None:
    """Run work that has something to give back: SIGTERM and SIGHUP end it as Ctrl-C does."""
    task = asyncio.ensure_future(work)
    for number in STOPPING_SIGNALS:
        asyncio.get_running_loop().add_signal_handler(number, task.cancel)

    try:
        await task
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None


async def until_stopped(work: Work) -> None:
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


async def typed_answer(question: str, without_terminal: str) -> str:
    """Ask at the terminal and return the line that is typed; without a terminal, say so."""
    if not sys.stdin.isatty():
        say(without_terminal)
        return ""

    say(question)
    return await typed_line()


async def typed_line() -> str:
    """Return the next line of standard input, "" at its end.

    Nobody waits for the thread that reads it, so that a signal ends a command at a question.
    """
    loop = asyncio.get_running_loop()
    typed: asyncio.Future[str] = loop.create_future()

    def give(line: str) -> None:
        if not typed.done():
            typed.set_result(line)

    def read() -> None:
        try:
            line = sys.stdin.readline()
        except (OSError, ValueError):  # no text, or closed
            line = ""
        with suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(give, line)

    threading.Thread(target=read, daemon=True).start()
    return await typed
