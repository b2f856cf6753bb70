"""How long the import of the function takes, and a retrieval through its route, in seconds."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass

from drift.local import PROJECT

STREAMS_EXTENSION = "import azure.functions, azurefunctions.extensions.http.fastapi"
FUNCTION = "import function_app"
_TIMED = "import time; t = time.perf_counter(); {}; print(time.perf_counter() - t)"


@dataclass(frozen=True, slots=True)
class ImportTimes:
    """Seconds to import, each in fresh processes taken in turn.

    `ratio` is the function's over the extension's.
    """

    extension_s: float
    function_s: float
    ratio: float
    runs: int


def measure_imports(runs: int = 7) -> ImportTimes:
    """Import the streams extension alone and the whole function, `runs` times each, in turn.

    One run before them is not counted.
    """
    pairs = [(_seconds(STREAMS_EXTENSION), _seconds(FUNCTION)) for _ in range(runs + 1)][1:]
    extension, function = (statistics.median(times) for times in zip(*pairs, strict=True))
    return ImportTimes(
        round(extension, 4), round(function, 4), round(function / extension, 3), runs
    )


def _seconds(statement: str) -> float:
    code = _TIMED.format(statement)
    # without -B: compiled files are what is deployed
    done = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", code],
        cwd=PROJECT,
        env={},
        check=True,
        capture_output=True,
        text=True,
    )
    return float(done.stdout)


@dataclass(frozen=True, slots=True)
class RetrievalTimes:
    """Seconds of a request from the caller's side."""

    median_s: float
    p95_s: float
    runs: int


async def measure_retrievals(
    ask: Callable[[], Awaitable[object]], runs: int = 20
) -> RetrievalTimes:
    """Ask `runs` times one after another, after three that warm everything up."""
    for _ in range(3):
        await ask()
    seconds = []
    for _ in range(runs):
        start = time.perf_counter()
        await ask()
        seconds.append(time.perf_counter() - start)
    return RetrievalTimes(
        round(statistics.median(seconds), 4), round(percentile(seconds, 95), 4), runs
    )


def percentile(values: Iterable[float], percent: int) -> float:
    """Return the value that `percent` of 100 do not exceed, by the nearest rank.

    There must be one.
    """
    ordered = sorted(values)
    return ordered[max(0, -(-percent * len(ordered) // 100) - 1)]
