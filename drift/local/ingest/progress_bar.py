"""Progress of an ingestion on stderr: a bar on a terminal, else one line a stage."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from drift.local.ingest.report import Report


class _RateColumn(ProgressColumn):
    """Steps a second."""

    def render(self, task: Task) -> Text:
        rate = task.finished_speed or task.speed
        return Text("" if rate is None else f"{rate:,.0f}/s", style="progress.data.speed")


class _UsageColumn(ProgressColumn):
    """The cost of models so far, behind the current stage."""

    def __init__(self, usage: Callable[[], str]) -> None:
        super().__init__()
        self._usage = usage

    def render(self, task: Task) -> Text:
        return Text("" if task.finished else self._usage(), style="progress.data.speed")


@contextmanager
def progress_bar(
    console: Console | None = None, usage: Callable[[], str] = str
) -> Iterator[Report]:
    """Give a callable to report to while the block runs; `usage` says what models took so far."""
    console = console or Console(stderr=True)
    if not console.is_terminal:
        yield _lines(console)
        return

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        _RateColumn(),
        TimeRemainingColumn(),
        _UsageColumn(usage),
    )
    with Progress(
        *columns, console=console, redirect_stdout=False, redirect_stderr=False
    ) as progress:
        bars: dict[str, TaskID] = {}

        def report(stage: str, done: int, total: int) -> None:
            if stage not in bars:
                bars[stage] = progress.add_task(stage, total=total)
            progress.update(bars[stage], completed=done, total=total)

        yield report


def _lines(console: Console) -> Report:
    told: set[str] = set()

    def report(stage: str, done: int, total: int) -> None:
        if done >= total and stage not in told:
            told.add(stage)
            console.print(f"{stage}: {total:,}", highlight=False)

    return report
