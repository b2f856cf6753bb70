"""What a command says of a failure: its sentence once, whoever else would tell it."""

from __future__ import annotations

import io
import logging

import pytest

from drift.core.errors import GraphUnavailableError
from drift.core.logs import log
from drift.local.cli.console import LogLine, show_progress
from drift.local.cli.work.asking import said_once

SENTENCE = "The graph is gone."


def logged() -> str:
    """Return what the log of a function in this process writes while a command asks it."""
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    handler.setFormatter(LogLine("%(message)s"))
    log.addHandler(handler)
    try:
        with said_once() as told:
            for event in ("request_failed", "followup_failed"):
                log.warning(event, exc_info=GraphUnavailableError(SENTENCE))
            log.warning("embedding_failed", extra={"detail": SENTENCE, "code": "c"})
        assert told == [SENTENCE]
    finally:
        log.removeHandler(handler)
    return written.getvalue()


def test_the_log_keeps_code_and_cause_and_leaves_the_sentence_to_the_command() -> None:
    text = logged()
    assert text.count("code=") == 3
    assert SENTENCE not in text


def test_the_last_line_of_progress_leaves_the_sentence_to_the_command(
    capsys: pytest.CaptureFixture[str],
) -> None:
    about = {"progress_pct": 20, "thought_summary": "The retrieval failed.", "details_md": SENTENCE}
    show_progress({**about, "phase": "error"})
    failed = capsys.readouterr().err
    assert "The retrieval failed." in failed
    assert SENTENCE not in failed
    show_progress({**about, "phase": "expanding_query"})
    assert SENTENCE in capsys.readouterr().err
