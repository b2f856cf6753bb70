"""What `drift eval recall` does: the measurement, and the table."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.table import Table

from drift.local.cli.console import print_json, say, stdout
from drift.local.cli.options import EmbedderName
from drift.local.cli.work.bench import opened_bench
from drift.local.evals.recall.measure import CUTS, METHODS, measure, report
from drift.local.evals.recall.question_sets import read_question_sets
from drift.local.stack.stack import StackOptions


async def recall(
    options: StackOptions, folder: Path, embedder: EmbedderName, *, as_json: bool
) -> None:
    """Load the sets of a folder, each into a project of its own, and print what is found of them.

    Raises:
        IngestError: the folder holds no question set, or a file is wrong.
        LocalStackError: the embedder is not there.
    """
    sets = read_question_sets(folder)
    async with opened_bench(options, embedder, "recall") as bench:
        document = report(await measure(sets, bench, say))
    if as_json:
        print_json(document)
    else:
        _show(document)


def _show(document: dict[str, Any]) -> None:
    columns = [(one["name"], one["methods"]) for one in document["sets"]]
    columns.append(("all", document["pooled"]["methods"]))
    cuts = "/".join(map(str, CUTS))
    table = Table("method", "what it is", *(f"{name} R@{cuts}" for name, _ in columns))
    for method, meaning in METHODS.items():
        cells = [_cell(methods.get(method, {})) for _, methods in columns]
        if any(cells):
            table.add_row(method, meaning, *cells)
    stdout.print(table)

    gain = document["pooled"]["ours_minus_hybrid"]
    low, high = gain["ci95"]
    stdout.print(
        f"ours minus hybrid, all questions, R@5: {gain['r5']:+.1f} (95 % interval {low:+.1f} to "
        f"{high:+.1f})"
    )


def _cell(recalls: Mapping[str, float]) -> str:
    return " / ".join(f"{value:.1f}" for value in recalls.values())
