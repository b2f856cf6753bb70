"""What one request costs."""

import asyncio
import json
import time
from asyncio import CancelledError
from contextlib import suppress

import httpx2
import pytest

from drift.auth.caller import Caller, Quota
from drift.auth.quotas import Quotas
from drift.contracts.progress import Phase
from drift.core.deadline import Deadline
from drift.core.errors import ModelMisconfiguredError, UnusableReplyError
from drift.http.admission import Admission
from drift.model.calls import ChatReply, Cost, Embeddings, ModelName, Prompt, Spending, Tokens
from drift.nodes.embedding_calls import EmbeddingCalls
from drift.telemetry.parts import phase, retrieval, waiting
from drift.telemetry.servers import Operation, model_call
from tests.unit.test_embedder_limits import embedder_of
from tests.unit.test_reply_cases import chat_of


def test_tokens_and_retries_of_every_reply_are_added() -> None:
    cost = Cost()
    cost.answered(Tokens(10, 3, 5, 2, 1))
    cost.answered(Tokens(prompt=4))
    cost.replied(ChatReply("x", retries=2))
    cost.replied(Embeddings(((0.1,), (0.2,)), retries=1))
    assert cost == Cost(
        prompt_tokens=14,
        completion_tokens=3,
        cached_tokens=5,
        cache_write_tokens=2,
        reasoning_tokens=1,
        retries=3,
    )


def test_costs_add_up_field_by_field() -> None:
    cost = Cost(**{name: n for n, name in enumerate(Cost.model_fields)})
    cost.add(Cost(**{name: n + 11 for n, name in enumerate(Cost.model_fields)}))
    assert list(cost.model_dump().values()) == [11 + 2 * n for n in range(13)]


def test_a_phase_that_is_begun_anew_keeps_what_it_did_before() -> None:
    with retrieval("r", "p") as whole:
        for seconds in (0.02, 0.01):
            with phase(Phase.EXECUTING_FOLLOWUP), waiting() as cost:
                cost.prompt_tokens += 10
                time.sleep(seconds)

    usage = whole.usage()
    [one] = usage.phases.values()
    assert (usage.prompt_tokens, one.prompt_tokens) == (20, 20)
    assert 0.03 <= one.seconds <= usage.wall_seconds


def test_a_retrieval_sums_its_phases_and_each_of_them_keeps_its_own() -> None:
    with retrieval("r", "p") as whole:
        with phase(Phase.EXPANDING_QUERY), waiting() as cost:
            cost.chat_calls += 1
            cost.prompt_tokens += 10
        with phase(Phase.RETRIEVING_COMMUNITIES), waiting() as cost:
            cost.graph_round_trips += 1
            cost.prompt_tokens += 4

    usage = whole.usage()
    assert (usage.chat_calls, usage.prompt_tokens, usage.graph_round_trips) == (1, 14, 1)
    assert {name: one.prompt_tokens for name, one in usage.phases.items()} == {
        "expanding_query": 10,
        "retrieving_communities": 4,
    }


def test_the_critical_path_is_all_waits_where_a_phase_names_no_longest_chain() -> None:
    with retrieval("r", "p") as whole:
        with phase(Phase.EXPANDING_QUERY), waiting() as cost:
            cost.waited_s += 3
        with phase(Phase.EXECUTING_FOLLOWUP) as part, waiting() as cost:
            cost.waited_s += 50
            part.critical_path_s = 7.0

    assert 10 <= whole.usage().critical_path_seconds < 11


def test_a_call_outside_of_any_part_is_counted_nowhere() -> None:
    with waiting() as cost:
        cost.chat_calls += 1
    with retrieval("r", "p") as whole:
        pass
    assert whole.usage().chat_calls == 0


class RefusedError(Exception):
    status_code = 400


@pytest.mark.parametrize(
    ("error", "uncounted"), [(RefusedError(), 0), (TimeoutError(), 1), (CancelledError(), 1)]
)
def test_a_request_that_broke_off_may_cost_and_a_refused_one_does_not(
    error: BaseException, uncounted: int
) -> None:
    with retrieval("r", "p") as whole, suppress(type(error)), model_call("chat", "m", "openai"):
        raise error
    assert whole.spending == Spending(uncounted=uncounted)


@pytest.mark.parametrize(
    ("operation", "tokens", "is_counted"),
    [
        ("chat", Tokens(10, 2), True),
        ("chat", Tokens(10, 0), False),
        ("embeddings", Tokens(10), True),
        ("embeddings", Tokens(), False),
    ],
)
def test_tokens_are_counted_by_model_in_each_part_and_in_the_whole(
    operation: Operation, tokens: Tokens, is_counted: bool
) -> None:
    with (
        retrieval("r", "p") as whole,
        phase(Phase.EXPANDING_QUERY) as part,
        model_call(operation, "deployed", "openai") as call,
    ):
        call.tokens, call.model = tokens, "m-2026"
    spending = Spending(uncounted=not is_counted)
    if is_counted:
        spending.answered(ModelName("m-2026", "deployed"), tokens)
    assert (whole.cost.prompt_tokens, whole.cost.completion_tokens) == (
        tokens.prompt,
        tokens.completion,
    )
    assert part.spending == whole.spending == spending


ENDS = [("length", "Half of"), ("content_filter", "Half of"), ("stop", "<think>Only that</think>")]
BILLED = {"prompt_tokens": 1_000, "completion_tokens": 4_000}


@pytest.mark.parametrize(("reason", "text"), ENDS)
async def test_a_reply_of_no_use_counts_for_the_quota_the_usage_and_the_cost_alike(
    reason: str, text: str
) -> None:
    choice = {"message": {"content": text}, "finish_reason": reason}
    caller, quotas = Caller("a", quota=Quota(tokens_per_day=10**6)), Quotas()
    async with chat_of(
        lambda _: httpx2.Response(200, json={"choices": [choice], "usage": BILLED, "model": "m"})
    ) as chat:
        with Admission(1, quotas).counted(caller), retrieval("r", "p") as whole:
            for _ in range(2):  # as a second try
                with pytest.raises(UnusableReplyError):
                    await chat.complete(Prompt("p", "Answer.", "Who?"), Deadline.after(20))

    usage = whole.usage()
    assert (usage.chat_calls, usage.prompt_tokens, usage.completion_tokens) == (2, 2_000, 8_000)
    assert sum(one.prompt + one.completion for one in whole.spending.models.values()) == 10_000
    await asyncio.sleep(0)
    assert [one.used for one in (await quotas.used(caller))[0]] == [0, 10_000]


async def test_batches_that_were_embedded_count_where_another_one_fails() -> None:
    def answer(request: httpx2.Request) -> httpx2.Response:
        texts = json.loads(request.content)["input"]
        if "bad" in texts:
            return httpx2.Response(401, json={"error": {"message": "key"}})
        data = [{"index": n, "embedding": [1.0, 1.0]} for n in range(len(texts))]
        return httpx2.Response(200, json={"data": data, "usage": {"prompt_tokens": 7}})

    async with embedder_of(answer) as embedder:
        with retrieval("r", "p") as whole:
            await embedder.embed(["good"], Deadline.after(20))
            with pytest.raises(ModelMisconfiguredError):
                await EmbeddingCalls(embedder, 2, 1, 1).embed(["good", "bad"])
    assert whole.usage().prompt_tokens == 14
