"""`drift bench import`: what the function's start costs before its first request."""

from __future__ import annotations

from dataclasses import asdict

from drift.local.cli.console import print_result
from drift.local.cli.options import Json
from drift.local.cli.run import begin


def import_(as_json: Json = False) -> None:
    """Measure the import of the function against that of the streams extension alone."""
    from drift.local.evals.timing import measure_imports

    begin()
    print_result(asdict(measure_imports()), as_json=as_json)
