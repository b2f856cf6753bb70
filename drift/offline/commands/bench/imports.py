"""`drift bench import`: what the function's start costs before its first request."""

from __future__ import annotations

from dataclasses import asdict

from drift.offline.commands.console import print_result
from drift.offline.commands.options import Json
from drift.offline.commands.run import begin


def import_(as_json: Json = False) -> None:
    """Measure the import of the function against that of the streams extension alone."""
    from drift.offline.evals.timing import measure_imports

    begin()
    print_result(asdict(measure_imports()), as_json=as_json)
