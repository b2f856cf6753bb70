"""What an ingestion changed, in words and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from itertools import islice
from shlex import quote
from typing import Any

from drift.indexing.documents import Skipped
from drift.local.cli.console import listed, say
from drift.local.ingest.report import IngestReport
from drift.local.ingest.sources import Source

MAX_KINDS = 8
"""Kinds of ignored files that are named; the rest is counted."""
MAX_NOTES = 20
"""Documents of which it is said how they were read."""


def left_out(source: Source) -> Iterator[str]:
    """Say what was not read: each skipped file, and how many were ignored for which reason."""
    for skipped in source.skipped:
        yield skipped_in_words(skipped)

    counts_by_reason: dict[str, list[str]] = {}
    for ignored in source.ignored:
        counts = counts_by_reason.setdefault(ignored.reason, [])
        counts.append(f"{ignored.count:,} {ignored.kind}")

    for reason, counts in counts_by_reason.items():
        yield f"Ignored {listed(counts, MAX_KINDS, 'other kinds')}: {reason}."


def skipped_in_words(skipped: Skipped) -> str:
    """Return what was skipped and why."""
    return f"Skipped {skipped.path}: {skipped.reason}."


def say_report(report: IngestReport) -> None:
    """Say what an ingestion changed, and what the project holds now."""
    for name in report.kept:
        say(f"Kept the earlier text of {name}, whose file cannot be read now.")

    for name, note in islice(report.notes.items(), MAX_NOTES):
        say(f"{name}: {note}.")
    if len(report.notes) > MAX_NOTES:
        say(f"There are {len(report.notes) - MAX_NOTES:,} more such notes; --json has all of them.")

    for source, number in report.left.items():
        say(
            f"Project {report.project_id} still holds {number} documents of {source} that are not "
            f"there any more. `drift remove --project {quote(report.project_id)} --source "
            f"{quote(source)}` removes that source."
        )

    if not report.wrote:
        say(f"Project {report.project_id}: nothing has changed.")
        return

    if report.moved and not report.chunks and not report.communities:
        say(
            f"Project {report.project_id}: {len(report.moved)} documents have another name or "
            f"place now, in {report.source}. Nothing else has changed."
        )
        return

    moved = f", {len(report.moved)} renamed or moved" if report.moved else ""
    addresses = report.reach.addresses
    entities = f"{report.entities - addresses} entities, "
    entities += f"{addresses} web addresses, " if addresses else ""
    say(
        f"Project {report.project_id}: {len(report.added)} documents added, "
        f"{len(report.changed)} changed, {len(report.removed)} removed{moved}; "
        f"{report.chunks} chunks written at {report.chunks_per_second:.0f} a second; "
        f"{entities}{report.relations} relations, "
        f"{sum(report.communities.values())} communities. "
        f"The project holds {report.held_documents} documents and {report.held_chunks} chunks."
    )
    if report.communities:
        say(_worth(report))
    if used := str(report.usage):
        say(f"Models took {used}.")


def _worth(report: IngestReport) -> str:
    """Say what the knowledge is worth to the search."""
    reach, held = report.reach, max(1, report.held_chunks)
    wrote = (
        f" A chat model reports on {reach.reports:,} of the topics ({reach.reported / held:.0%} of "
        f"the chunks) and {reach.group_reports:,} of the groups; empty reports: {reach.empty:,}."
    )
    linked = (
        f"entities lead to {reach.linked / held:.0%} of them"
        if reach.linked
        else "without entities it follows no relations (--knowledge facts makes them)"
    )
    return (
        f"What the search has of it: {reach.topics:,} topics and {reach.groups:,} groups of them, "
        f"whose summaries tell of {reach.told / held:.0%} of the chunks; {linked}."
        f"{wrote if reach.reports or reach.empty else ''}"
    )


def as_document(report: IngestReport) -> dict[str, Any]:
    """Return a report as JSON."""
    cost = report.usage.cost
    return {
        **asdict(report),
        "usage": {**asdict(report.usage), "cost": cost.model_dump() if cost else None},
        "wrote": report.wrote,
        "chunks_per_second": round(report.chunks_per_second, 1),
    }
