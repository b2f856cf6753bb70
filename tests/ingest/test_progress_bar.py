from __future__ import annotations

import io

import pytest
from rich.console import Console

from drift.local.ingest.progress_bar import progress_bar


def _run(*, terminal: bool) -> str:
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=terminal, width=120)
    with progress_bar(console, lambda: "1,234 tokens, 0.02 USD") as report:
        for done in range(4):
            report("embed", done, 3)
        report("remove", 0, 0)
    return stream.getvalue()


def test_without_a_terminal_each_stage_is_one_plain_line() -> None:
    assert _run(terminal=False) == "embed: 3\nremove: 0\n"


def test_on_a_terminal_there_is_a_bar_with_a_rate_and_what_models_took() -> None:
    shown = _run(terminal=True)
    assert "3/3" in shown
    assert "/s" in shown
    assert "1,234 tokens, 0.02 USD" in shown
    assert "\x1b[" in shown


def test_it_goes_to_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_bar() as report:
        report("read", 1, 1)
    shown = capsys.readouterr()
    assert (shown.out, shown.err) == ("", "read: 1\n")
