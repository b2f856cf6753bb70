"""What the caller gets for each way in which a model can fail, and how many requests reach the model's server."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from drift.local.faults import INVENTED_ID, INVENTED_SPAN
from tests.function.calling import Caller, assert_is_problem, citations
from tests.function.corpus import Corpus
from tests.model_server_fixture import ModelServerControl

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

ATTEMPTS = 3
FAILED = "could not be answered because of a failure"
UNCITED = "No statement could be backed by a citation."


@dataclass(frozen=True, slots=True)
class Case:
    """A fault of one kind of reply, and what comes of it; `code` empty is an answer, `requests` of that kind arrive."""

    kind: str
    fault: str
    times: int | None
    requests: int | None
    code: str = ""
    says: str = ""
    cited: bool = True
    more: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        """Return a name for the test."""
        often = "for ever" if self.times is None else f"{self.times}x"
        later = f" after {self.more['skip']}" if "skip" in self.more else ""
        return f"{self.kind} {self.more.get('status', '')}{self.fault} {often}{later}"


TOO_MANY = {"status": 429, "headers": {"retry-after-ms": "1"}}
UNAVAILABLE, MISCONFIGURED = "model_unavailable", "model_misconfigured"

CASES = (
    # the server: repeated up to RETRY_MAX_ATTEMPTS, then the request fails
    Case("hypothesis", "status", 1, 2, more=TOO_MANY),
    Case("hypothesis", "status", None, ATTEMPTS, UNAVAILABLE, more=TOO_MANY),
    Case("hypothesis", "status", 2, 3),
    Case("hypothesis", "status", None, ATTEMPTS, UNAVAILABLE, more={"status": 503}),
    Case("hypothesis", "hang", 1, 2),
    Case("hypothesis", "hang", None, ATTEMPTS, UNAVAILABLE),
    Case("hypothesis", "drop", 2, 3),
    Case("embedding", "status", None, ATTEMPTS, UNAVAILABLE),
    Case("embedding", "wrong_count", None, 1, MISCONFIGURED),
    Case("embedding", "wrong_count", None, 2, MISCONFIGURED, more={"skip": 1}),
    Case("embedding", "wrong_dimensions", None, 1, MISCONFIGURED),
    Case("primer_reply", "status", None, ATTEMPTS, UNAVAILABLE),
    Case("aggregate_reply", "status", 2, 3),
    Case("aggregate_reply", "status", None, ATTEMPTS, UNAVAILABLE),
    # without a hypothesis the question alone is searched with
    Case("hypothesis", "refusal", None, 1),
    Case("hypothesis", "content_filter", None, 1),
    Case("hypothesis", "filtered", None, 1),
    Case("hypothesis", "length", None, 1),
    Case("hypothesis", "empty_choices", None, 1),
    Case("hypothesis", "empty_content", None, 1),
    # without a primer the question itself is followed; what asking again may cure is asked again, once
    Case("primer_reply", "refusal", None, 1),
    Case("primer_reply", "content_filter", None, 1),
    Case("primer_reply", "length", 1, 2),
    Case("primer_reply", "empty_choices", None, 2),
    Case("primer_reply", "invalid_json", 1, 2),
    Case("primer_reply", "prose", None, 2),
    Case("primer_reply", "fenced", None, 1),
    Case("primer_reply", "missing_fields", None, 1),
    Case("primer_reply", "invented_ids", None, 1),
    # a follow-up that fails is left out and reported; when all fail there is nothing to answer from
    Case("local_reply", "refusal", 1, None, says=FAILED),
    Case("local_reply", "status", ATTEMPTS, None, says=FAILED),
    Case("local_reply", "refusal", None, None, UNAVAILABLE),
    Case("local_reply", "filtered", None, None, UNAVAILABLE),
    Case("local_reply", "prose", None, None, UNAVAILABLE),
    Case("local_reply", "missing_fields", 1, None),
    Case("local_reply", "length", 1, None),
    Case("local_reply", "fenced", None, None),
    Case("local_reply", "invented_ids", None, None, says=UNCITED, cited=False),
    Case("local_reply", "invented_spans", None, None, says=UNCITED, cited=False),
    # without a usable aggregation there is no answer
    Case("aggregate_reply", "refusal", None, 1, UNAVAILABLE),
    Case("aggregate_reply", "content_filter", None, 1, UNAVAILABLE),
    Case("aggregate_reply", "length", 1, 2),
    Case("aggregate_reply", "length", None, 2, UNAVAILABLE),
    Case("aggregate_reply", "empty_content", None, 2, UNAVAILABLE),
    Case("aggregate_reply", "invalid_json", 1, 2),
    Case("aggregate_reply", "invalid_json", None, 2, UNAVAILABLE),
    Case("aggregate_reply", "prose", None, 2, UNAVAILABLE),
    Case("aggregate_reply", "fenced", None, 1),
    Case("aggregate_reply", "missing_fields", 1, 2),
    Case("aggregate_reply", "missing_fields", None, 2, UNAVAILABLE),
    Case("aggregate_reply", "invented_ids", None, 1, cited=False),
)


@pytest.mark.parametrize("case", CASES, ids=str)
async def test_what_a_fault_of_the_model_comes_to(
    function: Caller, environment: pytest.MonkeyPatch, model_server: ModelServerControl, corpus: Corpus, case: Case
) -> None:
    environment.setenv("RETRY_MAX_ATTEMPTS", str(ATTEMPTS))
    if case.fault == "hang":
        environment.setenv("OAI_TIMEOUT_SEC", "0.5")
    model_server.fail({"fault": case.fault, "kind": case.kind, "times": case.times, **case.more})
    response = await function.ask()
    if case.code:
        assert_is_problem(response, 500, case.code)
    else:
        assert response.status_code == 200, response.text
        document = response.json()
        assert document["final_answer"]
        assert case.says in document["residual_uncertainty"]
        assert bool(citations(document)) is case.cited
        assert all(corpus.holds(c["span"]) for c in citations(document))
        assert INVENTED_ID not in {c["chunk_id"] for c in citations(document)}
        assert INVENTED_SPAN not in response.text
    if case.requests is not None:
        assert model_server.counts()[case.kind] == case.requests


@pytest.mark.parametrize("attempts", [1, 4])
async def test_as_many_requests_as_configured_reach_the_server(
    function: Caller, environment: pytest.MonkeyPatch, model_server: ModelServerControl, attempts: int
) -> None:
    environment.setenv("RETRY_MAX_ATTEMPTS", str(attempts))
    model_server.fail({"fault": "status", "kind": "hypothesis", "times": None})
    assert_is_problem(await function.ask(), 500, UNAVAILABLE)
    assert model_server.counts() == {"hypothesis": attempts}


async def test_an_invented_id_stays_a_plain_string(function: Caller, model_server: ModelServerControl) -> None:
    model_server.fail({"fault": "invented_ids", "kind": "aggregate_reply"})
    document = await function.answer()
    assert document["key_facts"]
    assert all(fact["citations"] == [INVENTED_ID] for fact in document["key_facts"])


async def test_retries_are_counted_in_the_usage(function: Caller, model_server: ModelServerControl) -> None:
    model_server.fail({"fault": "status", "kind": "hypothesis", "times": 2})
    assert (await function.answer(include=["usage"]))["usage"]["retries"] == 2


async def test_the_answer_says_that_the_time_limit_cut_the_search(
    function: Caller, environment: pytest.MonkeyPatch, model_server: ModelServerControl
) -> None:
    environment.setenv("DEADLINE_SEC", "4")
    model_server.fail({"fault": "hang", "kind": "local_reply", "skip": 1, "times": None})
    document = await function.answer()
    assert "time limit" in document["residual_uncertainty"]
    assert citations(document)
