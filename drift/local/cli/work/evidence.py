"""What `drift eval evidence` does: the measurement, and the tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.table import Table

from drift.local.cli.console import print_json, say, stdout
from drift.local.cli.options import EmbedderName, QuestionHalf
from drift.local.cli.work.bench import opened_bench
from drift.local.evals.evidence.ceiling import CEILINGS
from drift.local.evals.evidence.figures import AT_TEN_CHUNKS, METHODS, OURS, report
from drift.local.evals.evidence.measure import measure_topic, read_topic
from drift.local.stack.stack import StackOptions


async def evidence(
    options: StackOptions,
    pairs: Sequence[tuple[Path, Path]],
    embedder: EmbedderName,
    half: QuestionHalf,
    *,
    ingested: bool,
    as_json: bool,
) -> None:
    """Ingest each folder, ask its questions, and print what each method shows of the evidence.

    Raises:
        IngestError: a folder or a file of questions cannot be read.
        LocalStackError: the embedder is not there.
    """
    topics = [read_topic(documents, questions, half) for documents, questions in pairs]
    results = []
    async with opened_bench(options, embedder, "evidence") as bench:
        for topic in topics:
            results += await measure_topic(topic, bench, say, ingested=ingested)

    document = report(results)
    if as_json:
        print_json(document)
    else:
        _show(document)


def _show(document: dict[str, Any]) -> None:
    located = document["questions_with_passages"]
    title = f"{document['questions']} questions, {located} with a located passage; percent"
    by_chars = document["at_10000_characters"]["methods"]
    names = [*AT_TEN_CHUNKS, "top10 in 10,000 chars", "passages10 in 10,000 chars"]
    table = Table("method", "what it is", *names, title=title)
    for method, meaning in METHODS.items():
        values = [*document["methods"][method].values(), *by_chars[method].values()]
        table.add_row(method, meaning, *(f"{value:.1f}" for value in values))
    for ceiling, meaning in CEILINGS.items():
        values = document["ceilings"][ceiling].values()
        table.add_row(ceiling, meaning, *(f"{value:.1f}" for value in values), "", "")
    stdout.print(table)

    for rival, lead in document["ours_minus"].items():
        stdout.print(f"{OURS} minus {rival}: {_lead(lead)}")
    for name, lead in document["types_ours_minus_rrf"].items():
        size = document["questions_of_type"][name]
        stdout.print(f"{OURS} minus rrf, {name} ({size} questions): {_lead(lead)}")


def _lead(lead: Mapping[str, Any]) -> str:
    figures = [name for name in lead if not name.endswith("_ci95")]
    parts = []
    for name in figures:
        low, high = lead[f"{name}_ci95"]
        parts.append(f"{name} {lead[name]:+.1f} ({low:+.1f} to {high:+.1f})")
    return ", ".join(parts)
