"""What one request costs."""

from drift.contracts import Phase
from drift.model import ChatReply, Embeddings, Tokens
from drift.usage import Meter


class Clock:
    """A clock that goes on by one second each time it is read."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 1
        return self.now


async def test_calls_tokens_and_retries_are_summed_by_phase_and_in_all() -> None:
    meter = Meter(Clock())
    meter.chat(Phase.EXPANDING_QUERY, ChatReply("x", Tokens(10, 3, 5), retries=2))
    meter.embedding(Phase.EXPANDING_QUERY, Embeddings(((0.1,), (0.2,)), Tokens(prompt=4), retries=1))
    meter.chat(Phase.AGGREGATING_RESULTS, ChatReply("x", Tokens(20, 7)))
    meter.graph_round_trips += 1
    usage = meter.report(1.23456)
    assert (usage.chat_calls, usage.embedding_calls, usage.retries, usage.graph_round_trips) == (2, 1, 3, 1)
    assert (usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens) == (34, 10, 5)
    assert list(usage.phases) == ["expanding_query", "aggregating_results"]
    assert usage.phases["expanding_query"].prompt_tokens == 14
    assert (usage.wall_seconds, usage.critical_path_seconds) == (1.0, 1.2346)


async def test_a_call_is_timed() -> None:
    async def call() -> str:
        return "done"

    assert await Meter(Clock()).timed(call()) == ("done", 1.0)


def test_two_meters_share_nothing() -> None:
    one, other = Meter(), Meter()
    one.chat(Phase.EXPANDING_QUERY, ChatReply("x"))
    assert other.report(0).chat_calls == 0
