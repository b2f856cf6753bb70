"""What one request costs."""

from asyncio import CancelledError
from contextlib import suppress
from dataclasses import asdict

import pytest

from drift.contracts.progress import Phase
from drift.model.calls import ChatReply, Cost, Embeddings, ModelName, Spending, Tokens
from drift.telemetry.parts import phase, retrieval, waiting
from drift.telemetry.servers import Operation, model_call


def test_tokens_and_retries_of_every_reply_are_added() -> None:
    cost = Cost()
    cost.replied(ChatReply("x", Tokens(10, 3, 5, 2, 1), retries=2))
    cost.replied(Embeddings(((0.1,), (0.2,)), Tokens(prompt=4), retries=1))
    assert cost == Cost(
        prompt_tokens=14,
        completion_tokens=3,
        cached_tokens=5,
        cache_write_tokens=2,
        reasoning_tokens=1,
        retries=3,
    )


def test_costs_add_up_field_by_field() -> None:
    cost = Cost(*range(11))
    cost.add(Cost(*range(11, 22)))
    assert list(asdict(cost).values()) == [11 + 2 * n for n in range(11)]


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
    assert part.spending == whole.spending == spending
