"""What `drift eval place` does: the measurement, and the tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.table import Table

from drift.local.cli.console import print_json, say, stdout
from drift.local.cli.options import EmbedderName
from drift.local.cli.work.bench import opened_bench
from drift.local.evals.place.measure import (
    CUTS,
    METHODS,
    PlaceResult,
    measure_novella,
    read_novella,
)
from drift.local.stack.stack import StackOptions


async def place(
    options: StackOptions,
    pairs: Sequence[tuple[Path, Path]],
    embedder: EmbedderName,
    *,
    as_json: bool,
) -> None:
    """Write each index, ask its questions, and print in how many the chunk asked for is shown.

    Raises:
        IngestError: an index or a file of questions cannot be read.
        LocalStackError: the embedder is not there.
    """
    novellas = [read_novella(index, questions) for index, questions in pairs]
    document = {}
    async with opened_bench(options, embedder, "place") as bench:
        for novella in novellas:
            document[novella.name] = _report(await measure_novella(novella, bench, say))

    if as_json:
        print_json(document)
        return
    for name, report in document.items():
        _show(name, report)


def _report(results: Sequence[PlaceResult]) -> dict[str, Any]:
    shown = {
        method: {f"shown{cut}": sum(r.shown(method, cut) for r in results) for cut in CUTS}
        for method in METHODS
    }
    rows = [
        {"question": r.question.text, "place": r.question.place, "ranks": r.ranks} for r in results
    ]
    return {"questions": len(results), "methods": shown, "results": rows}


def _show(name: str, report: Mapping[str, Any]) -> None:
    table = Table("place", "question", *METHODS, title=f"{name}: rank of the chunk asked for")
    for row in report["results"]:
        ranks = (str(row["ranks"][method] or "-") for method in METHODS)
        table.add_row(row["place"], row["question"], *ranks)
    stdout.print(table)
    for method, meaning in METHODS.items():
        told = ", ".join(f"{report['methods'][method][f'shown{cut}']} in {cut}" for cut in CUTS)
        stdout.print(f"{method} ({meaning}), of {report['questions']}: {told}")
