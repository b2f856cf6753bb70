"""What the function's start costs before its first request, over the streams extension alone."""

from __future__ import annotations

import statistics
import subprocess
import sys

from drift.local import PROJECT
from tests.bench.command import read_options, show

STREAMS_EXTENSION = "import azure.functions, azurefunctions.extensions.http.fastapi"
FUNCTION = "import function_app"
TIMED = "import time; t = time.perf_counter(); {}; print(time.perf_counter() - t)"


def measure_imports(runs: int) -> dict[str, float]:
    """Import both in fresh processes, in turn; one run before them is not counted."""
    pairs = [(seconds(STREAMS_EXTENSION), seconds(FUNCTION)) for _ in range(runs + 1)][1:]
    extension, function = (statistics.median(times) for times in zip(*pairs, strict=True))
    return {
        "extension_s": round(extension, 4),
        "function_s": round(function, 4),
        "ratio": round(function / extension, 3),
        "runs": runs,
    }


def seconds(statement: str) -> float:
    # without -B: compiled files are what is deployed
    done = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", TIMED.format(statement)],
        cwd=PROJECT,
        env={},
        check=True,
        capture_output=True,
        text=True,
    )
    return float(done.stdout)


if __name__ == "__main__":
    asked = read_options(__doc__, runs=(7, "processes of each"))
    show(measure_imports(asked.runs), asked)
