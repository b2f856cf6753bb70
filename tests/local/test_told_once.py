"""What a command says of a failure: its sentence once, whoever else would tell it."""

from __future__ import annotations

import io
import json
import logging
import shlex

import pytest

from drift.core.errors import GraphUnavailableError
from drift.core.logs import bound, log
from drift.local.cli.asking import said_once
from drift.local.cli.console import LogLine, log_requests, log_to_stderr, show_progress
from drift.local.cli.ingest_report import say_report
from drift.local.ingest.report import IngestReport

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


def test_what_a_command_tells_itself_is_no_line_of_the_log_and_the_rest_is_in_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    written = io.StringIO()
    monkeypatch.setattr("sys.stderr", written)
    monkeypatch.setattr(log, "handlers", [])
    log_to_stderr()
    with bound(retrieval_id="4dad3d96", project_id="p", caller="function key"):
        for event in ("request_failed", "followup_failed", "embedding_failed"):
            log.warning(event, exc_info=GraphUnavailableError(SENTENCE))
        log.warning("retrying", extra={"attempt": 1, "wait_s": 2.4, "cause": "ConnectError"})
        log.warning("nodes_reconciled", extra={"missing": 3, "examples": "a\nb"})
    first, second = written.getvalue().splitlines()
    assert first == "Retrying: attempt 1, wait s 2.4, cause ConnectError"
    assert second.startswith("Nodes reconciled: missing 3, examples a")


def test_a_server_tells_of_requests_and_warnings_in_words_on_a_terminal_and_else_as_json(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(log, "handlers", [])
    caplog.set_level(log.level, log.name)  # which it has again at the end
    told = []
    for is_terminal in (True, False):
        written = io.StringIO()
        monkeypatch.setattr(written, "isatty", lambda is_one=is_terminal: is_one)
        monkeypatch.setattr("sys.stderr", written)
        log_to_stderr()
        log_requests()
        log.info("phase_ended")
        about = {"status": 200, "duration_s": 3.214, "project_id": "a\nb"}
        times = {"phases": {"aggregating_results": 1.1}}
        log.info("request_ended", extra={"method": "POST", "route": "/retrieve", **about, **times})
        log.warning("request_failed", exc_info=GraphUnavailableError(SENTENCE))
        told.append(written.getvalue().splitlines())

    (line, failed), as_json = told
    said = " POST /retrieve 200 in 3.21 s, project id a␊b, aggregating results 1.1 s"
    assert line[8:] == said
    assert failed.startswith("request_failed error=")
    assert [json.loads(one)["event"] for one in as_json] == ["request_ended", "request_failed"]


def test_a_command_that_is_named_can_be_copied(capsys: pytest.CaptureFixture[str]) -> None:
    source, project = "/home/ann/my notes", "it's mine"
    say_report(IngestReport("/new", project, left={source: 2}))
    command = capsys.readouterr().err.split("`")[1]
    assert shlex.split(command) == ["drift", "remove", "--project", project, "--source", source]
