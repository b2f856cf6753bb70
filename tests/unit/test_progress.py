"""One request's progress: order, percentages, the last message, and what a broken sink may do."""

import asyncio
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drift.contracts.progress import CHANNEL, LAST_PHASES, PHASE_PCT, Phase
from drift.model.tree import Citation
from drift.search import progress as progress_module
from drift.search.progress import Progress, citation_lines, escape_markdown, name_list
from tests.fakes import ListSink

ROOT = Path(__file__).parents[2]
REPORTS = st.lists(st.tuples(st.sampled_from(Phase), st.none() | st.integers(0, 100)), max_size=12)


def reported(act: Callable[[Progress], Any]) -> list[dict[str, Any]]:
    """Return what a listener hears while `act` reports; no loop is needed for that."""
    heard: list[str] = []
    act(Progress("p", "r", listener=heard.append))
    return [json.loads(message) for message in heard]


@pytest.mark.parametrize("phase", [one for one in Phase if one is not Phase.ERROR])
def test_a_phase_has_a_percentage_a_line_in_the_document_and_words_on_the_page(
    phase: Phase,
) -> None:
    assert phase in PHASE_PCT
    assert f"\n- `{phase}`, {PHASE_PCT[phase]}" in (ROOT / "docs" / "progress.md").read_text()
    for language in () if phase in LAST_PHASES else ("en", "de"):
        words = (ROOT / "drift" / "page" / "words" / f"{language}.json").read_text("utf-8")
        assert f"phase.{phase}" in json.loads(words)


async def test_messages_reach_the_sink_in_order_and_complete() -> None:
    sink = ListSink()
    async with Progress("project", "retrieval", sink) as progress:
        progress.report(Phase.INITIALIZING, "one")
        progress.report(Phase.EXPANDING_QUERY, "two", "details")
        progress.completed("three", "[doc]")
    assert sink.phases == ["initializing", "expanding_query", "completed"]
    assert [m["progress_pct"] for m in sink.messages] == [0, 20, 100]
    assert sink.lasts == [False, False, True]
    assert [m.get("details_md") for m in sink.messages] == [None, "details", "[doc]"]
    assert {(m["project_id"], m["retrieval_id"], m["message_type"]) for m in sink.messages} == {
        ("project", "retrieval", "retrieval_progress")
    }
    assert len({UUID(m["message_id"]) for m in sink.messages}) == 3


def test_the_timestamp_is_iso_8601_in_utc() -> None:
    [message] = reported(lambda p: p.report(Phase.INITIALIZING, "s"))
    moment = datetime.fromisoformat(message["timestamp"])
    assert moment.utcoffset() == timedelta(0)
    assert abs(datetime.now(UTC) - moment) < timedelta(minutes=1)


@given(REPORTS)
def test_the_percentage_never_falls_and_nothing_follows_the_last_message(reports: list) -> None:
    def act(progress: Progress) -> None:
        for phase, pct in reports:
            if phase is Phase.COMPLETED:
                progress.completed("done")
            elif phase is Phase.ERROR:
                progress.failed("reason")
            else:
                progress.report(phase, "s", pct=pct)

    messages = reported(act)
    percentages = [m["progress_pct"] for m in messages]
    assert percentages == sorted(percentages)
    assert all(m["phase"] not in {"completed", "error"} for m in messages[:-1])


def test_an_error_keeps_the_percentage_reached() -> None:
    def act(progress: Progress) -> None:
        progress.report(Phase.EXECUTING_FOLLOWUP, "s", pct=63)
        progress.failed("The graph *cannot* be reached.")
        progress.completed("too late")

    last = reported(act)[-1]
    assert (last["phase"], last["progress_pct"]) == ("error", 63)
    assert last["details_md"] == r"The graph \*cannot\* be reached."


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (RuntimeError("secret"), "An internal error"),
        (asyncio.CancelledError(), "cancelled"),
        (None, "cancelled"),
    ],
)
async def test_a_block_that_ends_without_a_last_message_gets_one(
    error: BaseException | None, said: str
) -> None:
    sink = ListSink()

    async def work() -> None:
        async with Progress("p", "r", sink) as progress:
            progress.report(Phase.INITIALIZING, "s")
            if error:
                raise error

    if error:
        with pytest.raises(type(error)):
            await work()
    else:
        await work()
    assert sink.phases == ["initializing", "error"]
    assert said in sink.messages[-1]["details_md"]
    assert "secret" not in json.dumps(sink.messages)


class HangingSink:
    """A sink whose server never answers."""

    def __init__(self) -> None:
        self.cancelled = False

    def send(self, _message: str, *, last: bool, channel: str = CHANNEL) -> None:
        pass

    async def delivered(self) -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled = True
            raise


async def test_a_sink_that_never_answers_holds_the_answer_back_a_second_at_most() -> None:
    sink = HangingSink()
    start = asyncio.get_running_loop().time()
    async with Progress("p", "r", sink) as progress:
        progress.completed("done")
    assert sink.cancelled
    assert 0.9 <= asyncio.get_running_loop().time() - start < 3
    assert progress_module.FLUSH_SECONDS == 1.0


async def test_a_cancelled_request_gives_up_on_a_silent_sink_within_half_a_second() -> None:
    assert progress_module.CANCELLED_FLUSH_SECONDS < 0.5
    sink = HangingSink()
    with pytest.raises(asyncio.CancelledError):  # noqa: PT012 - the block ends inside
        async with Progress("p", "r", sink) as progress:
            progress.report(Phase.INITIALIZING, "s")
            await asyncio.sleep(0)
            raise asyncio.CancelledError
    assert sink.cancelled


class FailingSink(ListSink):
    """A sink that breaks its promise not to raise, at its first message."""

    def send(self, message: str, *, last: bool, channel: str = CHANNEL) -> None:
        super().send(message, last=last, channel=channel)
        if len(self.messages) == 1:
            raise ConnectionError("reset")

    async def delivered(self) -> None:
        raise ConnectionError("reset")


async def test_a_sink_that_raises_changes_nothing_and_gets_the_next_message() -> None:
    sink = FailingSink()
    async with Progress("p", "r", sink) as progress:
        progress.report(Phase.INITIALIZING, "s")
        progress.completed("done")
    assert sink.phases == ["initializing", "completed"]


# ------------------------------------------------------------------------------------------ formats
def test_citations_are_shown_one_a_line_with_name_and_excerpt() -> None:
    cited = [
        Citation("1", "first\n  text", "Manual"),
        Citation("2", "other", "Guide"),
        Citation("3", "other", "Guide"),
    ]
    assert citation_lines(cited) == '[Manual] "first text"\n[Guide] "other"'
    assert citation_lines([]) == ""


def test_a_long_span_is_cut_to_an_excerpt() -> None:
    line = citation_lines([Citation("1", "x" * 500, "doc")])
    assert line == f'[doc] "{"x" * 160}…"'


def test_names_are_listed_once_plain_or_in_brackets() -> None:
    names = ["doc1", "doc2", "doc1", "doc3"]
    assert name_list(names, bracketed=False) == "doc1, doc2, doc3"
    assert name_list(names, bracketed=True) == "[doc1], [doc2], [doc3]"
    assert name_list([], bracketed=True) == ""


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        (
            "plain text, with (things) - and 1. numbers!",
            "plain text, with (things) - and 1. numbers!",
        ),
        (
            "![i](u) <img src=x> | `code` *b* _i_ ~s~",
            r"!\[i\](u) \<img src=x\> \| \`code\` \*b\* \_i\_ \~s\~",
        ),
        ("a\\*b", r"a\\\*b"),
        ("two\n\n# lines\t", "two # lines"),
        ("- item", r"\- item"),
        ("1. item", r"1\. item"),
    ],
)
def test_markdown_is_shown_as_it_is_on_one_line(text: str, escaped: str) -> None:
    assert escape_markdown(text) == escaped
