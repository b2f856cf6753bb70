"""The HTTP edge: bytes to requests, results and errors to bytes."""

import json
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drift.contracts.answer import RetrieveResponse
from drift.contracts.request import MAX_QUESTION_BYTES, RetrieveRequest
from drift.core import errors
from drift.http import http

SAID = {"role": "user", "content": "x"}
GOOD: dict[str, Any] = {"query": "What?", "project_id": "p"}
RETRIEVAL_ID = "00000000-0000-4000-8000-000000000001"


def problems_of(body: bytes) -> dict[str, str]:
    with pytest.raises(errors.InvalidRequestError) as caught:
        http.parse(body, RetrieveRequest)
    return {p.field: p.message for p in caught.value.problems}


def test_a_minimal_request_gets_the_defaults() -> None:
    request = http.parse(
        json.dumps({"query": "  What?\n", "project_id": " p "}).encode(), RetrieveRequest
    )
    assert (request.query, request.project_id, request.top_k) == ("What?", " p ", 5)
    assert (request.retrieval_id, request.include) == (None, ())


def test_a_full_request_is_read() -> None:
    full = {**GOOD, "top_k": 50, "retrieval_id": RETRIEVAL_ID, "include": ["usage", "trace"]}
    request = http.parse(json.dumps(full).encode(), RetrieveRequest)
    assert (request.top_k, request.retrieval_id, request.include) == (
        50,
        UUID(RETRIEVAL_ID),
        ("usage", "trace"),
    )


@pytest.mark.parametrize("query", [" " * 100 + "x" * 4000, "ü" * 4000, "\U0001f600"])
def test_the_longest_query_and_id_are_taken(query: str) -> None:
    longest = {**GOOD, "query": query, "project_id": "p" * 128, "include": []}
    read = http.parse(json.dumps(longest).encode(), RetrieveRequest)
    assert (read.query, len(read.project_id or "")) == (query.strip(), 128)


BROKEN: dict[str, list[Any]] = {
    "query": ["", " \t\n ", "x" * 4001, 7, None, "a\x00b"],
    "project_id": ["", "p" * 129, "a\x00b"],
    "top_k": [0, 51, True, "5", None],
    "retrieval_id": ["not a uuid", 7],
    "include": ["usage"],
    "history": ["x", None, {"role": "user", "content": "x"}, [SAID] * 21],
    "history.0": ["x", None],
    "history.0.role": ["system", "tool", "User", "{0}", "\U0001f600" * 99, 7, None, ["user"]],
    "history.0.content": ["a\x00b", "x" * 16_001, 7, None],
    "history.0.name": ["x"],
    "stream": [True],
}


@pytest.mark.parametrize(
    ("field", "value"), [(field, value) for field, values in BROKEN.items() for value in values]
)
def test_a_broken_field_is_named(field: str, value: Any) -> None:
    first, *rest = field.split(".")
    if rest:
        value = [{**SAID, rest[-1]: value}] if rest[1:] else [value]
    assert list(problems_of(json.dumps({**GOOD, first: value}).encode())) == [field]


def test_a_conversation_is_taken_up_to_its_bounds_and_what_is_over_them_is_told() -> None:
    most = {**GOOD, "history": [{**SAID, "content": "\u4e2d" * 800}] * 20}
    body = json.dumps(most).encode()
    assert len(http.parse(body, RetrieveRequest).history) == 20
    http.check_size(len(body), MAX_QUESTION_BYTES)

    more = {**GOOD, "history": [*most["history"][:-1], {**SAID, "content": "x" * 801}]}
    told = problems_of(json.dumps(more).encode())
    assert told == {"history": "may have 16000 characters together, and has 16001"}
    other = {**GOOD, "history": [{"role": "{sys}", "content": ""}]}
    told = problems_of(json.dumps(other).encode())
    assert told == {"history.0.role": "must be user or assistant, not '{sys}'"}


def test_an_unknown_part_to_include_is_named_by_its_place() -> None:
    body = json.dumps({**GOOD, "include": ["usage", "cost"]}).encode()
    assert list(problems_of(body)) == ["include.1"]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b'{"query": "What?", "project_id": "p"',
        b'{"query": "What?", "project_id": "p"} trailing',
        b'{"query": "What?", "project_id": "p", "top_k": NaN}',
        b'{"query": "\xed\xa0\x80", "project_id": "p"}',
        b'{"query":' + b"[" * 10_000,
        b"\xef\xbb\xbf{}",
    ],
)
def test_a_body_that_is_no_json_object_is_refused_as_a_whole(body: bytes) -> None:
    assert list(problems_of(body)) == [""]


def test_half_a_character_is_refused_where_it_stands() -> None:
    assert list(problems_of(b'{"query": "\\ud800", "project_id": "p"}')) == ["query"]
    assert list(problems_of(b'{"query": "x", "project_id": "\\udc00 low"}')) == ["project_id"]
    assert problems_of(b'{"query": "x", "project_id": "p", "\\ud800": 1}')


def test_all_broken_fields_are_named_at_once() -> None:
    found = problems_of(b'{"query": " ", "project_id": "", "top_k": true, "color": 1}')
    assert set(found) == {"query", "project_id", "top_k", "color"}
    assert found["color"] == "is not a field of this request"


@given(st.binary(max_size=200) | st.text(max_size=100).map(str.encode))
def test_no_body_raises_anything_but_an_invalid_request(body: bytes) -> None:
    with pytest.raises(errors.InvalidRequestError):
        http.parse(body, RetrieveRequest)


def test_what_was_sent_is_not_repeated_in_the_error() -> None:
    body = http.problem_body(_caught({**GOOD, "top_k": "canary-value"}), RETRIEVAL_ID)
    assert b"canary-value" not in body


def _caught(body: dict[str, Any]) -> errors.InvalidRequestError:
    with pytest.raises(errors.InvalidRequestError) as caught:
        http.parse(json.dumps(body).encode(), RetrieveRequest)
    return caught.value


def test_the_size_limit_is_64_kib_inclusive() -> None:
    http.check_size(65_536)
    with pytest.raises(errors.TooLargeError, match="65536"):
        http.check_size(65_537)


@pytest.mark.parametrize(
    ("headers", "length"),
    [
        ({}, 0),
        ({"content-length": "70000"}, 70_000),
        ({"content-length": "-1"}, 0),
        ({"content-length": "²"}, 0),
    ],
)
def test_the_declared_length_is_read_or_zero(headers: dict[str, str], length: int) -> None:
    assert http.declared_length(headers) == length


@pytest.mark.parametrize("value", ["", "application/json-seq", "text/json"])
def test_json_alone_is_taken(value: str) -> None:
    http.check_media_type({"content-type": "Application/JSON; charset=utf-8"})
    with pytest.raises(errors.UnsupportedMediaTypeError):
        http.check_media_type({"content-type": value})


@pytest.mark.parametrize(
    ("accept", "stream"),
    [
        ("text/event-stream", True),
        ("application/json, Text/Event-Stream", True),
        ("text/event-stream;q=0.001", True),
        ("text/event-stream; charset=utf-8; Q = 0.2", True),
        ("*/*;q=0.1, text/*", True),
        ("application/json, text/event-stream;q=0.9", False),
        ("text/event-stream;q=0.5, */*", False),
        ("text/event-stream;q=0", False),
        ("text/event-stream;q=many", False),
        ("text/html, */*;q=0.8", False),
        (",;,=;q", False),
        ("text/event-streams", False),
    ],
)
def test_a_stream_is_sent_only_to_who_asks_for_one(accept: str, stream: bool) -> None:
    assert http.wants_stream(accept) is stream


def test_a_result_is_the_answers_json() -> None:
    response = RetrieveResponse(final_answer="Ä", key_facts=[], residual_uncertainty="")
    reply = http.result(response)
    assert (reply.status_code, reply.headers["content-type"]) == (200, "application/json")
    assert reply.body == response.to_json().encode()


ERRORS = [
    (
        errors.InvalidRequestError((errors.FieldProblem("query", "is required"),)),
        400,
        "invalid_request",
        None,
    ),
    (errors.TooLargeError("d"), 413, "too_large", None),
    (errors.UnsupportedMediaTypeError("d"), 415, "unsupported_media_type", None),
    (errors.BusyError("d"), 429, "busy", "2"),
    (errors.GraphUnavailableError("d"), 500, "graph_unavailable", None),
    (errors.GraphMisconfiguredError("d"), 500, "graph_misconfigured", None),
    (errors.ModelUnavailableError("d"), 500, "model_unavailable", None),
    (errors.DeadlineError("d"), 500, "deadline", None),
    (errors.NotConfiguredError(("A is not set.", "B is not set.")), 503, "not_configured", "30"),
    (http.internal_error(), 500, "internal", None),
]


@pytest.mark.parametrize(
    ("error", "status", "code", "retry_after"), ERRORS, ids=[type(e[0]).__name__ for e in ERRORS]
)
def test_every_error_has_its_status_code_and_headers(
    error: errors.DriftError, status: int, code: str, retry_after: str | None
) -> None:
    reply = http.problem(error, RETRIEVAL_ID)
    body = json.loads(reply.body)
    assert reply.status_code == status
    assert reply.headers["content-type"] == "application/problem+json"
    assert reply.headers.get("retry-after") == retry_after
    assert reply.headers["x-retrieval-id"] == body["retrieval_id"] == RETRIEVAL_ID
    assert set(body) - {"errors"} == {"type", "title", "status", "detail", "code", "retrieval_id"}
    assert (body["status"], body["code"], body["detail"]) == (status, code, error.detail)
    assert body.get("errors") == (
        [{"field": "query", "message": "is required"}] if status == 400 else None
    )


def test_an_event_is_one_name_and_one_line_of_data() -> None:
    assert http.event("progress", '{"a":1}', "r-1") == (
        b'event: progress\nid: r-1\ndata: {"a":1}\n\n'
    )
    response = RetrieveResponse(
        final_answer="one\ntwo\r\u2028three", key_facts=[], residual_uncertainty=""
    )
    assert http.event("result", response.to_json(), "r-1").count(b"\n") == 4
