"""Bodies that break the contract.

400, every broken field named at once, the service none the worse.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from drift.local.hosts.local_host import serving
from tests.function.calling import Caller, assert_is_problem, calling
from tests.model_server_fixture import ModelServerControl

GOOD = {"query": "Who is asked?", "project_id": "harbour"}


def changed(**fields: Any) -> bytes:
    """Return a good body with these fields instead."""
    return json.dumps({**GOOD, **fields}).encode()


def without(*names: str) -> bytes:
    """Return a good body without these fields."""
    return json.dumps({name: value for name, value in GOOD.items() if name not in names}).encode()


WHOLE = ("",)
BAD_BODIES: dict[str, tuple[bytes, tuple[str, ...]]] = {
    "nothing": (b"", WHOLE),
    "not JSON": (b"query=x", WHOLE),
    "half of it": (b'{"query": "x", ', WHOLE),
    "two documents": (changed() + changed(), WHOLE),
    "an array": (b"[]", WHOLE),
    "an array of good bodies": (b"[" + changed() + b"]", WHOLE),
    "a string": (b'"query"', WHOLE),
    "a number": (b"1", WHOLE),
    "null": (b"null", WHOLE),
    "NaN": (b'{"query": "x", "project_id": "p", "top_k": NaN}', WHOLE),
    "invalid UTF-8": (b'{"query": "\xff\xfe", "project_id": "p"}', WHOLE),
    "UTF-16": (json.dumps(GOOD).encode("utf-16"), WHOLE),
    "an escaped lone surrogate": (b'{"query": "a\\ud800b", "project_id": "p"}', ("query",)),
    "an escaped lone surrogate as a name": (
        b'{"query": "a", "project_id": "p", "\\udfff": 1}',
        WHOLE,
    ),
    "a raw lone surrogate": (b'{"query": "a\xed\xa0\x80b", "project_id": "p"}', WHOLE),
    "deep nesting": (b"[" * 20_000 + b"]" * 20_000, WHOLE),
    "deep nesting in a field": (
        b'{"query": ' + b'{"a":' * 10_000 + b"1" + b"}" * 10_000 + b"}",
        WHOLE,
    ),
    "an empty object": (b"{}", ("query", "project_id")),
    "no query": (without("query"), ("query",)),
    "no project": (without("project_id"), ("project_id",)),
    "an unknown field": (changed(topk=5), ("topk",)),
    "an unknown field without a name": (changed(**{"": 5}), ("",)),
    "query null": (changed(query=None), ("query",)),
    "query a number": (changed(query=5), ("query",)),
    "query a list": (changed(query=["x"]), ("query",)),
    "query empty": (changed(query=""), ("query",)),
    "query blank": (changed(query=" \n\t\u00a0 "), ("query",)),
    "query of 4001 characters": (changed(query="x" * 4001), ("query",)),
    "query with NUL": (changed(query="a\x00b"), ("query",)),
    "project null": (changed(project_id=None), ("project_id",)),
    "project a number": (changed(project_id=7), ("project_id",)),
    "project empty": (changed(project_id=""), ("project_id",)),
    "project of 129 characters": (changed(project_id="p" * 129), ("project_id",)),
    "project with NUL": (changed(project_id="p\x00"), ("project_id",)),
    "top_k 0": (changed(top_k=0), ("top_k",)),
    "top_k 51": (changed(top_k=51), ("top_k",)),
    "top_k -1": (changed(top_k=-1), ("top_k",)),
    "top_k true": (changed(top_k=True), ("top_k",)),
    "top_k a string": (changed(top_k="5"), ("top_k",)),
    "top_k 1.5": (changed(top_k=1.5), ("top_k",)),
    "top_k null": (changed(top_k=None), ("top_k",)),
    "top_k of 400 digits": (changed(top_k=10**400), ("top_k",)),
    "retrieval_id no UUID": (changed(retrieval_id="42"), ("retrieval_id",)),
    "retrieval_id a number": (changed(retrieval_id=42), ("retrieval_id",)),
    "include unknown": (changed(include=["everything"]), ("include.0",)),
    "include a string": (changed(include="usage"), ("include",)),
    "all of it wrong": (
        changed(
            query="",
            project_id="",
            top_k="5",
            retrieval_id="x",
            include=["usage", 1],
            more=1,
            evenmore=2,
        ),
        ("query", "project_id", "top_k", "retrieval_id", "include.1", "more", "evenmore"),
    ),
}


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def edge() -> AsyncIterator[Caller]:
    """A client of the function without any server behind it.

    A bad body is refused before a setting is read.
    """
    async with serving() as url, calling(url) as caller:
        yield caller


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize(("body", "fields"), BAD_BODIES.values(), ids=BAD_BODIES)
async def test_a_bad_body_is_refused_by_name(
    edge: Caller, body: bytes, fields: tuple[str, ...]
) -> None:
    document = assert_is_problem(await edge.send(body), 400, "invalid_request")
    assert {error["field"] for error in document["errors"]} == set(fields)
    assert all(
        set(error) == {"field", "message"} and error["message"] for error in document["errors"]
    )
    assert len(json.dumps(document)) < 4_000, "the body must not come back"


@pytest.mark.slow
@pytest.mark.timeout(180)
@pytest.mark.parametrize(
    "body",
    [
        changed(query="  " + "x" * 4000 + "  ", project_id="unknown"),
        changed(project_id="p" * 128, top_k=1),
        changed(project_id="unknown", top_k=50),
        changed(project_id="unknown", include=[]),
        json.dumps(
            {**GOOD, "query": "Wo liegt Čierna? 😀", "project_id": "проект"}, ensure_ascii=False
        ).encode(),
        b'{"query": "\\ud83d\\ude00", "project_id": "unknown"}',
    ],
    ids=[
        "query of 4000 characters",
        "project of 128 characters",
        "top_k 50",
        "nothing included",
        "not ASCII",
        "a surrogate pair",
    ],
)
async def test_the_most_that_is_allowed_is_accepted(function: Caller, body: bytes) -> None:
    response = await function.send(body)
    assert response.status_code == 200, response.text
    assert response.json()["no_data_found"] is True


@pytest.mark.slow
@pytest.mark.timeout(180)
async def test_a_body_of_exactly_64_kib_is_read(function: Caller) -> None:
    body = changed(project_id="unknown")
    assert (await function.send(body + b" " * (64 * 1024 - len(body)))).status_code == 200


@pytest.mark.slow
@pytest.mark.timeout(180)
async def test_no_model_is_asked_about_a_bad_body(
    function: Caller, model_server: ModelServerControl
) -> None:
    await function.send(changed(top_k=0))
    assert model_server.counts() == {}
