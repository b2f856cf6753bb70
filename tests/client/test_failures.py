"""What is no answer becomes the service's own error, and is asked again only where that is safe."""

from __future__ import annotations

import json
from contextlib import nullcontext
from uuid import uuid4

import httpx2
import pytest

from drift import (
    AnswerDelta,
    BusyError,
    DriftClient,
    DriftError,
    NotFoundError,
    QuotaError,
    RequestError,
    StoppingError,
    StreamEvent,
    UnavailableError,
    UpstreamError,
)
from drift.client import sender
from drift.client.problems import error_of
from drift.core import errors
from drift.http import http
from tests.client.objects import answered, replying

ANSWER = answered(b'{"final_answer":"A.","key_facts":[],"residual_uncertainty":""}')
CUT = b""
BUSY = answered(b"", b"HTTP/1.1 429 Too Many\r\nretry-after: 0\r\n")
FOREVER = answered(b"", b"HTTP/1.1 429 Too Many\r\nretry-after: 3600\r\n")
STOPPING = answered(
    b'{"title":"","status":503,"detail":"Again.","code":"stopping","retrieval_id":""}',
    b"HTTP/1.1 503 Stopping\r\nretry-after: 0\r\n",
)
BROKEN = answered(b"", b"HTTP/1.1 500 Oops\r\n")
GONE = answered(b"", b"HTTP/1.1 404 Not Found\r\n")
NO_CONTENT = answered(b"", b"HTTP/1.1 204 No Content\r\n")
INDEXED = answered(b'{"id":"a","project_id":"p","title":"","outcome":"unchanged","chunks":1}')
STREAM = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n"
STREAM += (
    b"x-retrieval-id: 6f1f623a-eee2-4b44-ad5b-baef7032791b\r\ntransfer-encoding: chunked\r\n\r\n"
)


def event(name: str, number: int, data: str) -> bytes:
    one = http.event(name, data, f"t-{number}")
    return b"%x\r\n%b\r\n" % (len(one), one)


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sender, "FIRST_PAUSE_S", 0)


@pytest.mark.parametrize(
    "error",
    [
        errors.InvalidRequestError((errors.FieldProblem("query", "is required"),)),
        errors.UnauthenticatedError("No key.", ""),
        errors.NotFoundError("None."),
        errors.ProjectHeldError("p"),
        errors.QuotaError("tokens_per_day", 5, 900),
        errors.BusyError("Busy."),
        errors.StoppingError(),
        errors.GraphMisconfiguredError("No index."),
        errors.DeadlineError("Late."),
        errors.DriftError("A bug."),
    ],
    ids=lambda error: error.code,
)
def test_an_error_is_the_same_on_both_sides(error: DriftError) -> None:
    told = http.problem(error, str(uuid4()))
    body = bytes(told.body)
    read = error_of(httpx2.Response(told.status_code, headers=told.raw_headers, content=body))
    assert (type(read), str(read)) == (type(error), str(error))
    assert vars(read) == {**vars(error), **{n: v for n, v in vars(read).items() if "after" in n}}
    assert getattr(read, "retry_after_s", None) == getattr(error, "retry_after_s", None)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (307, UpstreamError),
        (401, errors.UnauthenticatedError),
        (403, errors.ForbiddenError),
        (404, NotFoundError),
        (418, RequestError),
        (429, BusyError),
        (502, UpstreamError),
        (503, UnavailableError),
    ],
)
def test_what_is_no_problem_document_is_told_by_its_status(
    status: int, kind: type[DriftError]
) -> None:
    read = error_of(httpx2.Response(status, content=b"<html>secret</html>"))
    assert type(read) is kind
    assert str(status) in read.detail
    assert "secret" not in read.detail


async def ask(drift: DriftClient) -> object:
    return await drift.ask("Q?", project="p")


async def ask_by_id(drift: DriftClient) -> object:
    return await drift.ask("Q?", project="p", retrieval_id=uuid4())


async def search(drift: DriftClient) -> object:
    return await drift.search("Q?", project="p")


async def add(drift: DriftClient) -> object:
    return await drift.add("a", "text", project="p")


async def remove(drift: DriftClient) -> object:
    return await drift.remove("a", project="p")


async def score(drift: DriftClient) -> object:
    return await drift.feedback(uuid4(), score=1)


@pytest.mark.parametrize(
    ("method", "replies", "times", "error"),
    [
        (ask, [ANSWER], 1, None),
        (ask, [BUSY, ANSWER], 2, None),
        (ask, [BUSY], 3, BusyError),
        (ask, [FOREVER], 1, BusyError),
        (ask, [BROKEN], 1, UpstreamError),
        (ask, [STOPPING], 1, StoppingError),
        (ask_by_id, [STOPPING, ANSWER], 2, None),
        (remove, [STOPPING, GONE], 2, None),
        (ask, [CUT], 1, UnavailableError),
        (ask, [ANSWER[:-5], ANSWER], 1, UnavailableError),
        (ask, [answered(b"<html>")], 1, UnavailableError),
        (ask_by_id, [CUT, ANSWER[:-5], ANSWER], 3, None),
        (ask_by_id, [CUT], 3, UnavailableError),
        (ask_by_id, [BROKEN], 1, UpstreamError),
        (search, [CUT, answered(b'{"evidence":[]}')], 2, None),
        (add, [CUT, INDEXED], 2, None),
        (add, [BROKEN], 1, UpstreamError),
        (remove, [CUT, GONE], 2, None),
        (remove, [GONE], 1, NotFoundError),
        (score, [CUT, NO_CONTENT], 2, None),
    ],
)
async def test_only_what_is_safe_is_sent_again(
    method: object, replies: list[bytes], times: int, error: type[DriftError] | None
) -> None:
    async with replying(*replies) as (url, asked), DriftClient(url, " canary-key\n") as drift:
        if error is None:
            await method(drift)  # type: ignore[operator]
        else:
            with pytest.raises(error) as caught:
                await method(drift)  # type: ignore[operator]
            assert "canary" not in str(caught.value)
    assert len(asked) == times
    assert len({one.partition(b"\r\n\r\n")[2] for one in asked}) == 1
    assert all(b"authorization: Bearer canary-key\r\n" in one for one in asked)


async def test_a_stream_that_begins_anew_and_breaks_each_time_ends() -> None:
    cut = [
        STREAM + event("answer_delta", 1, '{"text": "One."}').replace(b"id: t-", b"id: %d-" % run)
        for run in range(9)
    ]
    async with replying(*cut) as (url, asked), DriftClient(url) as drift:
        with pytest.raises(UnavailableError):
            async for _ in drift.stream("Q?", retrieval_id=uuid4()):
                pass
    assert len(asked) == 3


async def test_a_server_that_is_not_there_is_tried_again_and_named() -> None:
    async with replying(ANSWER) as (url, _):
        pass
    async with DriftClient(url) as drift:
        with pytest.raises(UnavailableError, match=f"{url}.*ConnectError"):
            await drift.ask("Q?")
    async with DriftClient(url.replace("//", "//bob:canary@")) as drift:
        with pytest.raises(UnavailableError) as caught:
            await drift.ask("Q?")
    assert "canary" not in str(caught.value)


@pytest.mark.parametrize("is_chosen", [True, False])
async def test_a_cut_stream_goes_on_behind_its_last_event(is_chosen: bool) -> None:
    first = STREAM + event("answer_delta", 1, '{"text": "One.\u2028"}') + event("new", 2, "{}")
    rest = STREAM + event("answer_delta", 3, '{"text": "Two."}')
    last = event("result", 4, ANSWER.partition(b"\r\n\r\n")[2].decode()) + b"0\r\n\r\n"
    heard: list[StreamEvent] = []
    chosen = uuid4() if is_chosen else None
    async with replying(first, CUT, rest + last) as (url, asked), DriftClient(url) as drift:
        with nullcontext() if is_chosen else pytest.raises(UnavailableError):
            async for one in drift.stream("Q?", retrieval_id=chosen):
                heard.append(one)  # noqa: PERF401 - up to the error
    words = [one.text for one in heard if isinstance(one, AnswerDelta)]
    assert words == (["One.\u2028", "Two."] if is_chosen else ["One.\u2028"])
    behind = [one.partition(b"last-event-id: ")[2][:3] for one in asked]
    assert behind == ([b"", b"t-2", b"t-2"] if is_chosen else [b""])


async def test_an_error_in_a_stream_is_raised() -> None:
    problem = http.problem_body(QuotaError("tokens_per_day", 5, 9), "r").decode()
    reply = STREAM + event("error", 1, problem) + b"0\r\n\r\n"
    async with replying(reply) as (url, _), DriftClient(url) as drift:
        with pytest.raises(QuotaError) as caught:
            [one async for one in drift.stream("Q?")]
    assert caught.value.limit == json.loads(problem)["limit"]


@pytest.mark.parametrize(
    ("url", "key"), [("127.0.0.1:7071", None), ("ftp://a", None), ("http://a", "canary\u20ac")]
)
def test_an_address_or_a_key_that_is_none_is_refused(url: str, key: str | None) -> None:
    with pytest.raises(ValueError, match=r"address|key") as caught:
        DriftClient(url, key)
    assert "canary" not in str(caught.value)
