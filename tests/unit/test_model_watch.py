"""Whether a chat model answers is asked seldom, and told with its age."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field

from drift.core.deadline import Deadline
from drift.core.errors import ModelMisconfiguredError, ModelUnavailableError
from drift.core.outcomes import FORGOTTEN_S, Outcomes
from drift.llm.readiness import FAILURE_KEPT_S, KEPT_S, ModelWatch
from drift.model.health import Level, Readiness


@dataclass
class Asked:
    """A model that is asked: by a clock of its own, failing with `error`, held while not `open`."""

    now: float = 100.0
    error: Exception | None = None
    times: int = 0
    open: asyncio.Event = field(default_factory=asyncio.Event)
    asking: ModelWatch = field(init=False)

    def __post_init__(self) -> None:
        self.open.set()

    async def __call__(self) -> None:
        self.times += 1
        await self.open.wait()
        if self.error:
            raise self.error
        self.asking.answered()

    def watch(self) -> ModelWatch:
        self.asking = ModelWatch("answers", self, clock=lambda: self.now, patience_s=0.01)
        return self.asking


def described() -> str:
    return "schema by json_schema"


async def test_a_model_is_asked_once_and_its_answer_is_told_with_its_age() -> None:
    asked = Asked()
    watch = asked.watch()
    assert str(await watch.readiness(described)).startswith("ok: answers answered 0 s ago; schema")
    asked.now += KEPT_S - 1
    assert "599 s ago" in str(await watch.readiness(described))
    assert asked.times == 1
    asked.now += 1
    assert "0 s ago" in str(await watch.readiness(described))
    assert asked.times == 2


async def test_a_model_that_answers_requests_is_not_asked() -> None:
    asked = Asked()
    watch = asked.watch()
    watch.answered()
    asked.now += KEPT_S - 1
    assert (await watch.readiness(described)).is_ok
    assert asked.times == 0


async def test_a_failure_is_kept_for_a_minute_and_a_request_that_is_answered_ends_it() -> None:
    asked = Asked(error=ModelMisconfiguredError("There is no model of that name."))
    watch = asked.watch()
    failing = await watch.readiness(described)
    assert failing == Readiness.failing("answers, asked 0 s ago: There is no model of that name.")
    asked.now += FAILURE_KEPT_S - 1
    assert "59 s ago" in str(await watch.readiness(described))
    assert asked.times == 1

    watch.answered()
    assert (await watch.readiness(described)).is_ok
    asked.error = None
    asked.now += FAILURE_KEPT_S
    assert (await watch.readiness(described)).is_ok
    assert asked.times == 1


async def test_a_failure_is_asked_about_again_after_its_minute() -> None:
    asked = Asked(error=ModelUnavailableError("It has too many requests."))
    watch = asked.watch()
    await watch.readiness(described)
    asked.error = None
    asked.now += FAILURE_KEPT_S
    assert (await watch.readiness(described)).is_ok


async def test_an_answer_that_no_request_could_read_is_degraded_until_one_can() -> None:
    watch = Asked().watch()
    watch.answered("it is no JSON")
    assert await watch.readiness(described) == Readiness.degraded("answers, 0 s ago: it is no JSON")
    watch.answered()
    assert (await watch.readiness(described)).is_ok


SLOW, GONE = ModelUnavailableError("It was too slow."), ModelMisconfiguredError("No such key.")


async def requests(watch: ModelWatch, *ends: Exception | None) -> None:
    """Have requests end so, each with enough time."""
    for end in ends:
        with suppress(ModelUnavailableError, ModelMisconfiguredError):  # noqa: SIM117 - it is within
            with watch.outcomes.noted(Deadline.after(60)):
                if end is None:
                    watch.answered()
                else:
                    raise end


async def test_requests_that_fail_are_told_though_the_model_answers_when_it_is_asked() -> None:
    asked = Asked()
    watch = asked.watch()
    await requests(watch, None)
    asked.now += 20
    await requests(watch, *[SLOW] * 12)
    asked.now += 1
    told = (
        "answers answered 21 s ago, but the last 12 requests of a kind failed, the last 1 s ago: "
        "It was too slow."
    )
    assert await watch.readiness(described) == Readiness.degraded(told)
    assert asked.times == 0

    asked.now += FAILURE_KEPT_S
    assert (await watch.readiness(described)).level is Level.DEGRADED
    assert asked.times == 1, "failures let it be asked sooner than an answer would"
    await requests(watch, SLOW, None)
    assert (await watch.readiness(described)).is_ok


async def test_a_lasting_failure_is_seen_with_the_next_check_and_forgotten_without_requests() -> (
    None
):
    asked = Asked(error=GONE)
    watch = asked.watch()
    await requests(watch, None)
    asked.now += FAILURE_KEPT_S
    await requests(watch, GONE, GONE)
    failing = await watch.readiness(described)
    assert failing == Readiness.failing("answers, asked 0 s ago: No such key.")

    asked.error = None
    asked.now += FORGOTTEN_S
    assert (await watch.readiness(described)).is_ok


async def test_only_a_request_without_time_left_fails_when_it_is_cancelled() -> None:
    outcomes = Outcomes()
    for seconds, problem in ((60.0, ""), (0.0, "not answered within 0 seconds")):
        with suppress(asyncio.CancelledError), outcomes.noted(Deadline.after(seconds), "search"):
            raise asyncio.CancelledError
        assert problem in outcomes.problem
        assert bool(problem) is bool(outcomes.problem)

    with outcomes.noted(Deadline.after(60), "another kind"):
        assert outcomes.problem
    assert outcomes.problem, "what is quick says nothing of what is slow"
    with outcomes.noted(Deadline.after(60), "search"):
        pass
    assert not outcomes.problem


async def test_a_slow_model_is_waited_for_shortly_and_asked_once_by_all_checks() -> None:
    asked = Asked()
    asked.open.clear()
    watch = asked.watch()
    checks = await asyncio.gather(*(watch.readiness(described) for _ in range(3)))
    assert {check.level for check in checks} == {Level.DEGRADED}
    assert asked.times == 1

    asked.open.set()
    assert (await watch.readiness(described)).is_ok
    assert asked.times == 1


async def test_a_slow_check_tells_of_the_last_answer() -> None:
    asked = Asked()
    watch = asked.watch()
    await watch.readiness(described)
    asked.open.clear()
    asked.now += KEPT_S
    assert "600 s ago" in str(await watch.readiness(described))
    assert asked.times == 2
    asked.open.set()


def test_several_models_stand_as_the_worst_of_them() -> None:
    ok, bad = Readiness.ok("one answered"), Readiness.failing("two, asked: none of that name.")
    assert Readiness.joined([ok]) == ok
    assert Readiness.joined([ok, bad]) == Readiness.failing(
        "one answered. two, asked: none of that name"
    )
    assert Readiness.joined([Readiness.degraded("slow"), ok]).level is Level.DEGRADED
