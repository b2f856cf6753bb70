"""Recording a service's requests, and answering them once more without any server."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path
from typing import BinaryIO

from pydantic import ValidationError

from drift.auth.caller import EVERYBODY
from drift.contracts.request import RetrieveRequest
from drift.http.service import Service
from drift.http.settings import Settings
from drift.local.recording import servers
from drift.local.recording.head import head_of, prompts, settings_of
from drift.local.recording.player import JumpingLoop, Player
from drift.local.recording.recorder import Recorder
from drift.local.recording.tape import Recording, RecordingError, Request, read


@contextmanager
def recording(path: Path) -> Iterator[Callable[[Settings], Service]]:
    """Give what builds a service whose requests are written to a new file, one service alone.

    Raises:
        RecordingError: the file exists, or cannot be made.
    """
    with _new_file(path) as file:

        def build(settings: Settings) -> Service:
            recorder = Recorder(file)
            service = servers.build(settings, recorder)
            recorder.write(head_of(service.settings, recorder.moment))
            return service

        try:
            yield build
        finally:
            if not file.tell():
                path.unlink()


def _new_file(path: Path) -> BinaryIO:
    """Open a new file that nobody else may read."""
    try:
        return os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb")
    except FileExistsError:
        raise RecordingError(
            f"{path} exists, and a recording overwrites nothing: name another file."
        ) from None
    except OSError as error:
        raise RecordingError(f"{path} cannot be written: {error.strerror}.") from error


@dataclass(frozen=True, slots=True)
class Replayed:
    """The answer to a recorded request as the present code gives it, and what differs."""

    request: Request
    answer: str
    differences: Sequence[str]

    @property
    def is_same(self) -> bool:
        """Whether it is the recorded answer to the byte."""
        return self.answer == self.request.answer


@dataclass(frozen=True, slots=True)
class Replay:
    """The requests of a file, answered again in so many `seconds`; `notes` say what is new."""

    requests: Sequence[Replayed]
    notes: Sequence[str]
    seconds: float

    @property
    def is_same(self) -> bool:
        """Whether each answer is the recorded one to the byte, of the same prompts."""
        return not self.notes and all(one.is_same for one in self.requests)


def replay(path: Path) -> Replay:
    """Answer the requests of a file once more.

    Raises:
        RecordingError: the file cannot be read, or what it holds is no recording.
    """
    recorded = read(path)
    player = Player(recorded)
    service = servers.build(settings_of(recorded.head), player)
    began = time.perf_counter()
    try:
        with asyncio.Runner(loop_factory=JumpingLoop) as runner:
            runner.run(_answered(recorded, player, service))
    except ValidationError:
        raise RecordingError(f"{path} holds a request that this release does not know.") from None
    seconds = time.perf_counter() - began

    replayed = []
    for one in recorded.requests:
        answer = player.answers.get(one.id, one).answer
        replayed.append(Replayed(one, answer, _differences(one.answer, answer)))
    return Replay(replayed, [*_other_prompts(recorded), *player.notes], seconds)


async def _answered(recorded: Recording, player: Player, service: Service) -> None:
    async def answer(one: Request) -> None:
        request = RetrieveRequest.model_validate_json(
            json.dumps({**one.asked, "project_id": one.project})
        )
        await player.begin(one)
        try:
            await (await service.start(EVERYBODY.project(one.project), request, one.id))
        except Exception:  # noqa: BLE001 - its problem is its answer
            await asyncio.sleep(0)

    try:
        await asyncio.gather(*map(answer, recorded.requests))
    finally:
        await service.close()


def _other_prompts(recorded: Recording) -> list[str]:
    before, now = recorded.head.get("prompts", {}), prompts()
    changed = sorted(name for name in {**before, **now} if before.get(name) != now.get(name))
    return [f"Instructions have changed since: {', '.join(changed)}."] if changed else []


def _differences(before: str, now: str) -> list[str]:
    return list(unified_diff(_lines(before), _lines(now), "recorded", "replayed", lineterm="", n=2))


def _lines(answer: str) -> list[str]:
    try:
        return json.dumps(json.loads(answer), indent=1, ensure_ascii=False).splitlines()
    except ValueError:
        return answer.splitlines()
