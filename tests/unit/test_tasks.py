"""Deadlines and task groups."""

import asyncio
import traceback
from itertools import pairwise

import pytest

from drift.core.deadline import Deadline, Turns, first_failure, task_group
from drift.core.errors import DeadlineError, GraphUnavailableError
from tests.clock import Clock


def test_a_deadline_counts_from_its_start() -> None:
    clock = Clock()
    deadline = Deadline.after(20, clock)
    clock.now += 5
    assert (deadline.elapsed(), deadline.remaining(), deadline.until_aggregation()) == (5, 15, 10)
    assert deadline.require() == 15


def test_aggregation_begins_at_three_quarters_and_no_time_is_negative() -> None:
    clock = Clock()
    deadline = Deadline.after(20, clock)
    clock.now += 15
    assert deadline.until_aggregation() == 0
    clock.now += 100
    assert (deadline.remaining(), deadline.until_aggregation()) == (0, 0)
    with pytest.raises(DeadlineError, match="within 20 seconds"):
        deadline.require()


async def test_a_block_is_cancelled_when_the_time_is_used_up() -> None:
    with pytest.raises(DeadlineError):
        async with Deadline.after(0.01).enforced():
            await asyncio.Event().wait()


async def test_a_timeout_of_the_block_itself_is_not_the_deadline() -> None:
    with pytest.raises(TimeoutError):
        async with Deadline.after(5).enforced():
            raise TimeoutError


async def test_a_cancellation_from_outside_stays_a_cancellation() -> None:
    async def work() -> None:
        async with Deadline.after(5).enforced():
            await asyncio.Event().wait()

    task = asyncio.create_task(work())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_group_raises_its_first_failure_itself_and_cancels_the_others() -> None:
    ended = []

    async def endless() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise

    async def failing() -> None:
        await asyncio.sleep(0)
        raise GraphUnavailableError("gone")

    with pytest.raises(GraphUnavailableError, match="gone"):  # noqa: PT012 - the group is what raises
        async with task_group() as group:
            group.create_task(endless())
            group.create_task(failing())
    assert ended == ["cancelled"]


async def test_what_caused_the_failure_stays_for_the_log_and_the_group_does_not() -> None:
    async def failing() -> None:
        raise GraphUnavailableError("gone") from OSError("socket closed")

    with pytest.raises(GraphUnavailableError) as caught:
        async with task_group() as group:
            group.create_task(failing())
    text = "".join(traceback.format_exception(caught.value))
    assert isinstance(caught.value.__cause__, OSError)
    assert "ExceptionGroup" not in text


def test_the_first_failure_is_found_in_nested_groups() -> None:
    first = ValueError("first")
    nested = BaseExceptionGroup("", [ExceptionGroup("", [first]), KeyError("second")])
    assert first_failure(nested) is first


async def test_turns_let_everything_else_go_between_what_computes() -> None:
    turns, order = Turns(), []

    async def compute(name: str) -> None:
        await turns.mine()
        order.append(name)

    async def tick() -> None:
        for _ in range(20):
            order.append("tick")
            await asyncio.sleep(0)

    async with asyncio.TaskGroup() as group:
        for name in "abc":
            group.create_task(compute(name))
        group.create_task(tick())

    computed = [at for at, name in enumerate(order) if name != "tick"]
    assert [order[at] for at in computed] == ["a", "b", "c"]
    assert all("tick" in order[one:other] for one, other in pairwise(computed))


async def test_who_is_cancelled_while_it_waits_keeps_nobody_from_its_turn() -> None:
    turns = Turns()
    tasks = [asyncio.create_task(turns.mine()) for _ in range(3)]
    await asyncio.sleep(0)
    tasks[0].cancel()
    tasks[1].cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert [task.cancelled() for task in tasks] == [True, True, False]
