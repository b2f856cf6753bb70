"""Every record of ours is one line of JSON with what is bound to the request, and no words."""

from __future__ import annotations

import asyncio
import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drift.core.errors import GraphUnavailableError, InvalidRequestError
from drift.core.logs import MAX_CHARACTERS, bound, described, log
from drift.local.cli.console import LogLine


class Lines(logging.Handler):
    """Keeps what a plain handler, like the platform's own, would send.

    The formatted message and nothing else.
    """

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))

    def last(self) -> dict[str, Any]:
        document: dict[str, Any] = json.loads(self.lines[-1])
        return document


@pytest.fixture
def written() -> Iterator[Lines]:
    handler, level = Lines(), log.level
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    yield handler
    log.removeHandler(handler)
    log.setLevel(level)


class ProviderError(Exception):
    def __init__(self, message: str, code: object = None, status_code: object = None) -> None:
        super().__init__(message)
        self.code = code
        self.status_code = status_code


def raised(error: Exception, cause: Exception | None = None) -> Exception:
    try:
        raise error from cause
    except type(error) as caught:
        return caught


# ----------------------------------------------------------------------------------------- one line
def test_the_message_itself_holds_the_event_and_its_fields(written: Lines) -> None:
    log.info(
        "phase_ended", extra={"phase": "aggregating_results", "duration_s": 0.123456, "chunks": 3}
    )
    assert written.lines == [
        '{"event":"phase_ended","phase":"aggregating_results","duration_s":0.1235,"chunks":3}'
    ]


@given(st.text(), st.text(min_size=1))
def test_no_text_forges_a_line_or_leaves_it(event: str, value: str) -> None:
    handler = Lines()
    log.addHandler(handler)
    try:
        log.error("%s", event, extra={"value": value, "nested": {value: [value]}})
    finally:
        log.removeHandler(handler)
    assert len(handler.lines) == 1
    assert handler.lines[0].isascii()
    assert handler.lines[0].isprintable()
    assert handler.last()["value"].startswith(value[:MAX_CHARACTERS])


def test_a_long_value_is_cut_and_an_unknown_object_is_only_named(written: Lines) -> None:
    log.info(
        "e", extra={"long": "x" * 10_000, "object": ProviderError("canary"), "never": float("nan")}
    )
    line = written.last()
    assert line["long"] == "x" * MAX_CHARACTERS + "…"
    assert (line["object"], line["never"]) == ("ProviderError", "nan")


def test_a_handler_that_reads_attributes_sees_the_same_fields(written: Lines) -> None:
    seen: list[dict[str, Any]] = []
    written.addFilter(lambda record: seen.append(vars(record)) or True)
    log.info("e", extra={"query": "canary words", "top_k": 3})
    assert (seen[0]["event"], seen[0]["top_k"], seen[0]["query_characters"]) == ("e", 3, 12)
    assert "canary" not in repr(seen)


# -------------------------------------------------------------------------------------------- words
def test_words_are_logged_as_length_and_hash_unless_they_are_allowed(written: Lines) -> None:
    log.info("e", extra={"query": "Who?", "span": "words", "fact": "more"})
    hidden = written.last()
    with bound(words=True):
        log.info("e", extra={"query": "Who?"})
    assert written.last()["query"] == "Who?"
    assert hidden["query_characters"] == 4
    assert len(hidden["query_sha256"]) == 16
    assert not {"query", "span", "fact"} & set(hidden)


# ------------------------------------------------------------------------------------------- errors
def test_an_error_is_classes_codes_and_our_sentence_never_its_words(written: Lines) -> None:
    cause = raised(
        ProviderError("canary body", "rate_limit_exceeded", 429), OSError(111, "canary host")
    )
    log.warning("request_failed", exc_info=raised(GraphUnavailableError("It is gone."), cause))
    assert written.last() == {
        "event": "request_failed",
        "error": "GraphUnavailableError",
        "code": "graph_unavailable",
        "detail": "It is gone.",
        "cause": "ProviderError 429 rate_limit_exceeded <- ConnectionRefusedError 111",
    }


def test_an_error_that_nobody_foresaw_tells_where_it_was_raised(written: Lines) -> None:
    log.error("request_crashed", exc_info=raised(KeyError("canary")))
    assert len(written.lines) == 1
    assert "canary" not in written.lines[0]
    assert written.last()["at"][-1].endswith(" raised")
    assert written.last()["at"][-1].startswith("test_logs.py:")


@pytest.mark.parametrize("code", ["sk-proj-4f9aC1", "a" * 65, 7.5])
def test_a_code_that_could_be_a_key_or_text_is_left_out(code: object) -> None:
    assert (
        described(raised(GraphUnavailableError("g"), ProviderError("m", code)))["cause"]
        == "ProviderError"
    )


def test_a_neo4j_code_is_kept() -> None:
    code = "Neo.ClientError.Security.Unauthorized"
    assert (
        described(raised(GraphUnavailableError("g"), ProviderError("m", code)))["cause"]
        == f"ProviderError {code}"
    )


def test_names_that_a_caller_made_up_are_not_repeated() -> None:
    assert "detail" not in described(InvalidRequestError(()))


# ------------------------------------------------------------------------------------------ binding
async def test_what_is_bound_reaches_tasks_and_never_another_request(written: Lines) -> None:
    async def deeper(number: int) -> None:
        await asyncio.sleep(0)
        log.info("deep", extra={"number": number})

    async def one(number: int) -> None:
        with bound(retrieval_id=f"r{number}", invocation_id=None):
            await asyncio.gather(*(asyncio.create_task(deeper(number)) for _ in range(3)))
        log.info("after", extra={"number": number})

    await asyncio.gather(*(one(number) for number in range(50)))
    lines = [json.loads(line) for line in written.lines]
    assert len(lines) == 200
    assert all(
        line["retrieval_id"] == f"r{line['number']}" for line in lines if line["event"] == "deep"
    )
    assert not [line for line in lines if line["event"] == "after" and "retrieval_id" in line]
    assert not [line for line in lines if "invocation_id" in line]


# --------------------------------------------------------------------------------------- for people
def test_a_terminal_shows_event_and_fields_without_braces_on_one_line() -> None:
    out = io.StringIO()
    handler = logging.StreamHandler(out)
    handler.setFormatter(LogLine("%(message)s"))
    log.addHandler(handler)
    try:
        with bound(invocation_id="hidden"):
            log.warning(
                "followup_failed",
                extra={"code": "model_unavailable", "followup": 1, "reason": "two\nwords\x1b[31m"},
            )
    finally:
        log.removeHandler(handler)
    assert (
        out.getvalue()
        == 'followup_failed code=model_unavailable followup=1 reason="two\\nwords\\u001b[31m"\n'
    )
