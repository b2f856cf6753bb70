"""Who leaves ends the work; twins run in any thread, beside any loop, and at once."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import uuid4

import pytest

from drift import Drift, NotConfiguredError, sync
from drift.auth.caller import Project
from drift.http.service import Service
from drift.http.settings import Settings
from tests.client.objects import Connect, in_process, over_http, service

QUESTION = "Who made alpha?"
PATIENCE_S = 30


class Hanging:
    """Work without an end, which says when it has begun and when it was ended."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.ended = threading.Event()

    async def start(
        self, of: Service, project: Project, _asked: object, _id: object, listener: Any = None
    ) -> asyncio.Task[object]:
        async def work() -> object:
            if listener:
                listener.answer_delta("x")
            self.begun.set()
            try:
                return await asyncio.Future()
            finally:
                self.ended.set()

        return await of.admission.begin(project.caller, work)

    async def left_by(self, asking: Coroutine[Any, Any, object]) -> None:
        """Have the deadline of a call be over, once its work has begun."""
        task = asyncio.create_task(asking)
        await asyncio.to_thread(self.begun.wait, PATIENCE_S)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(task, 0.01)

    async def is_over(self) -> bool:
        """Tell whether the work ends."""
        return await asyncio.to_thread(self.ended.wait, PATIENCE_S)


@pytest.fixture
def hanging(monkeypatch: pytest.MonkeyPatch) -> Hanging:
    work = Hanging()

    async def start(of: Service, *given: object) -> object:
        return await work.start(of, *given)

    monkeypatch.setattr(Service, "start", start)
    return work


@pytest.mark.parametrize("connect", [in_process, over_http])
async def test_who_leaves_ends_the_work(connect: Connect, hanging: Hanging) -> None:
    async with connect(service()) as drift:
        await hanging.left_by(drift.ask(QUESTION, project="p"))
        assert await hanging.is_over()
        hanging.ended.clear()
        async for _ in drift.stream(QUESTION, project="p"):
            break
        assert await hanging.is_over()


async def test_who_has_chosen_the_id_comes_back_to_the_work(hanging: Hanging) -> None:
    chosen = uuid4()
    async with in_process(service()) as drift:
        await hanging.left_by(drift.ask(QUESTION, project="p", retrieval_id=chosen))
        async for _ in drift.stream(QUESTION, project="p", retrieval_id=chosen):
            break
        assert not hanging.ended.is_set()
    assert await hanging.is_over()


def test_an_iterator_that_is_left_and_an_interrupt_end_the_work(hanging: Hanging) -> None:
    over = service()
    with sync.Drift(over.settings, build=lambda _: over) as drift:
        for _ in drift.stream(QUESTION, project="p"):
            break
        assert hanging.ended.wait(PATIENCE_S)
        hanging.ended.clear()
        hanging.begun.clear()

        def interrupt() -> None:
            hanging.begun.wait(PATIENCE_S)
            time.sleep(0.5)  # the asking thread begins to wait a moment after its work has begun
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

        threading.Thread(target=interrupt).start()
        with pytest.raises(KeyboardInterrupt):
            drift.ask(QUESTION, project="p")
        assert hanging.ended.wait(PATIENCE_S)


def test_a_twin_works_beside_a_running_loop_and_in_many_threads() -> None:
    over = service()
    with sync.Drift(over.settings, build=lambda _: over) as drift, ThreadPoolExecutor(8) as threads:

        async def beside() -> str:
            return drift.ask(QUESTION, project="p").final_answer

        here = asyncio.run(beside())
        asking = [threads.submit(drift.ask, QUESTION, project="p") for _ in range(32)]
        assert {one.result().final_answer for one in asking} == {here}


def test_a_twin_needs_no_block_and_a_process_may_have_loop_after_loop() -> None:
    over = service()
    drift = sync.Drift(over.settings, build=lambda _: over)
    first = drift.ask(QUESTION, project="p").final_answer
    drift.close()
    drift.close()

    async def once() -> str:
        async with in_process(service()) as own:
            return (await own.ask(QUESTION, project="p")).final_answer

    assert {asyncio.run(once()), asyncio.run(once())} == {first}


def test_a_twin_that_nobody_closes_lets_its_program_end() -> None:
    program = """
from drift import UnavailableError
from drift.sync import DriftClient
first, second = DriftClient("http://127.0.0.1:9"), DriftClient("http://127.0.0.1:9")
for one in (first, second):
    try:
        one.ask("Q?")
    except UnavailableError:
        print("asked")
first.close()
try:
    first.ask("Q?")
except RuntimeError as error:
    print(error)
"""
    done = subprocess.run(  # noqa: S603 - a program of ours
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.split("\n")[:-1] == ["asked"] * 2 + [
        "This object is closed: make another one."
    ]


def test_settings_that_are_missing_are_named_at_the_beginning(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in Settings.model_fields:
        monkeypatch.delenv(name.upper(), raising=False)
    with pytest.raises(NotConfiguredError) as caught:
        asyncio.run(Drift.from_env().__aenter__())
    assert {"NEO4J_URI is not set.", "OAI_MODEL is not set."} <= set(caught.value.problems)
    with pytest.raises(NotConfiguredError, match="NEO4J_URI is not set"):
        sync.Drift.from_env().__enter__()
