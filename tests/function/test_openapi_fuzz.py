"""Schemathesis holds the function to its OpenAPI document.

What it allows is answered as it says, the rest is refused.

The requests are generated from the document alone, good ones and broken ones, the same in every
run. They go over real sockets to the function with working servers behind it, so that a good
request must be answered, not only refused well.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
import requests
import schemathesis
from anyio.from_thread import start_blocking_portal
from schemathesis import Case, GenerationMode
from schemathesis.checks import CheckContext
from schemathesis.config import SchemathesisConfig
from schemathesis.core.transport import Response

from drift.contracts.request import RetrieveRequest
from drift.core.errors import InvalidRequestError
from drift.http.http import parse
from drift.http.settings import Settings
from drift.local.hosts.local_host import serving
from drift.local.stack.valkey_server import ValkeyServer
from drift.routes import document
from tests.function.corpus import PROJECT, Corpus
from tests.model_server_fixture import ModelServerControl

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

FILTER = {"type": "ne", "key": "tag", "value": "draft"}
CONDITION = {"conditions": [{"name": "tag", "comparison_operator": "is not", "value": "draft"}]}
NAMED_BY = {"/v1/chat/completions": "model", "/dify/retrieval": "knowledge_id", "/feedback": ""}
"""The field of a project in bodies that are another program's; a score's is that of the answer."""
REFUSED = (404, 405)
NO_KEYS = {"with-security-parameters": False}
"""The Functions host checks keys, in front of the function; tests/runtime has them."""
LEFT_OUT = {
    # the same: no key is checked here
    "ignored_auth": {"enabled": False},
    # knows no 404, which the Functions host says to a method without a trigger:
    # `a_wrong_method_is_refused`
    "unsupported_method": {"enabled": False},
    # no operation makes, changes or removes anything, and no caller is told from another
    "use_after_free": {"enabled": False},
    "ensure_resource_availability": {"enabled": False},
    "object_level_authorization": {"enabled": False},
}
"""Every other check of Schemathesis is on; `max_response_time` alone is off by itself, and tests
here assert no times."""


def shortened() -> dict[str, Any]:
    """Return the document with a filter in one body of three, and without filters in filters.

    Each part of a schema costs dozens of requests; tests/unit/test_filter.py holds the schema of
    all of a filter to what is read.
    """
    told: dict[str, Any] = json.loads(json.dumps(document()))
    schemas = told["components"]["schemas"]
    for body in ("RetrieveRequest", "CompletionRequest"):
        del schemas[body]["properties"]["filter"]
    comparison, *_, combination = schemas["Filter"]["anyOf"]
    combination["properties"]["filters"]["items"] = comparison
    return told


def described(examples: int, **generation: Any) -> Any:
    """Return the document as Schemathesis reads it, with the same requests each time."""
    generation |= {"max-examples": examples, "deterministic": True, "database": "none", **NO_KEYS}
    config = SchemathesisConfig.from_dict(
        {"seed": 1, "request-timeout": 60, "checks": LEFT_OUT, "generation": generation}
    )
    return schemathesis.openapi.from_dict(shortened(), config=config)


ALL = described(examples=15)
GOOD_QUESTIONS = described(examples=4, mode="positive").include(path="/retrieve")


def a_wrong_method_is_refused(_context: CheckContext, response: Response, case: Case) -> None:
    method = str(response.request.method)
    if method == "OPTIONS":
        assert (response.status_code, bool(response.headers.get("allow"))) == (204, True)
    elif method.lower() not in ALL.raw_schema["paths"][case.path]:
        assert response.status_code in REFUSED, (
            f"{method} {case.path} is not described, but answered"
        )


def complete(case: Case) -> None:
    """Give a good request what no schema can say.

    Whoever may use every project has to name one, a cursor is a word that the service made, and a
    filter in a query is a text with JSON in it. What each name of Dify's may be compared with is
    said in words. One message of a chat is the user's. Streams, which its body asks for, have tests
    of their own. An id stands for one body alone, and its header for the same id.
    """
    if isinstance(case.body, dict):
        case.body.pop("stream", None)
        for name in ("max_seconds", "max_tokens"):  # of a moment, or of ten tokens, none is made
            limits = case.body.get("limits")
            if isinstance(limits, dict) and isinstance(limits.get(name), int | float):
                del limits[name]
    if case.meta is None or case.meta.generation.mode is not GenerationMode.POSITIVE:
        return
    name = NAMED_BY.get(case.path, "project_id")
    if isinstance(case.body, dict) and name and not case.body.get(name):
        case.body = {**case.body, name: PROJECT}
    if isinstance(case.body, dict) and case.body.get("metadata_condition"):
        case.body = {**case.body, "metadata_condition": CONDITION}
    if isinstance(case.body, dict) and case.body.get("retrieval_id"):
        case.body = {**case.body, "retrieval_id": str(uuid4())}
    (case.headers or {}).pop("Idempotency-Key", None)
    if isinstance(case.body, dict) and "messages" in case.body:
        case.body = {**case.body, "messages": [{"role": "user", "content": "In fog?"}]}
    known = {parameter.name for parameter in case.operation.query}
    query = {name: value for name, value in (case.query or {}).items() if name != "cursor"}
    query |= {"filter": json.dumps(FILTER)} if "filter" in query else {}
    case.query = {"project_id": PROJECT, **query} if "project_id" in known else query


def as_described(case: Case, url: str) -> requests.Response:
    """Send a generated request and check its answer against the document."""
    complete(case)
    with requests.Session() as session:
        session.trust_env = False
        return case.call_and_validate(url, session, additional_checks=[a_wrong_method_is_refused])


@pytest.fixture(scope="module")
def url(
    base_settings: dict[str, str],
    corpus: Corpus,  # noqa: ARG001 - the graph is filled
    model_server_process: ModelServerControl,
    valkey: ValkeyServer,
) -> Iterator[str]:
    """The function with working servers behind it, on a loop of its own.

    Schemathesis calls from this thread and waits.
    """
    model_server_process.reset()
    with pytest.MonkeyPatch.context() as environment:
        for name in Settings.model_fields:
            environment.delenv(name.upper(), raising=False)
        for name, value in {**base_settings, "REDIS_URL": valkey.url}.items():
            environment.setenv(name, value)
        with (
            start_blocking_portal() as portal,
            portal.wrap_async_context_manager(serving()) as served,
        ):
            yield served


@ALL.parametrize()
def test_good_requests_are_answered_as_described_and_bad_ones_refused(case: Case, url: str) -> None:
    as_described(case, url)


@GOOD_QUESTIONS.parametrize()
def test_answer_with_evidence_is_as_described(case: Case, url: str) -> None:
    case.body = {**case.body, "project_id": PROJECT, "answer": True}
    answer = as_described(case, url).json()
    assert "no_data_found" not in answer
    asked = set(case.body.get("include", ()))
    assert asked - {"locations"} <= set(answer)
    citations = [citation for fact in answer["key_facts"] for citation in fact["citations"]]
    assert {"place" in citation for citation in citations} <= {"locations" in asked}


def test_a_whole_number_may_be_written_with_a_point() -> None:
    """JSON Schema counts 26.0 among the integers, and Schemathesis found it refused."""
    assert parse(b'{"query": "x", "top_k": 26.0}', RetrieveRequest).top_k == 26
    with pytest.raises(InvalidRequestError):
        parse(b'{"query": "x", "top_k": 26.5}', RetrieveRequest)
