"""A request over real servers, recorded, and the same one without them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from drift import Drift
from drift.local.hosts.local_host import build_dispatcher, serving
from drift.local.recording.replay import Replay, recording, replay
from drift.prompting import prompts
from tests.function.calling import Caller, calling
from tests.function.conftest import MODEL_KEY, Environment
from tests.function.corpus import PROJECT, QUESTION
from tests.model_server_fixture import ModelServerControl

pytestmark = [pytest.mark.slow, pytest.mark.neo4j, pytest.mark.timeout(180)]

ALL = ["references", "usage", "trace", "verdict", "locations", "query"]


@dataclass(frozen=True, slots=True)
class Recorded:
    """A function whose requests go into a file."""

    path: Path
    caller: Caller

    async def again(self) -> Replay:
        """Replay what was recorded so far; it has a loop of its own."""
        return await asyncio.to_thread(replay, self.path)

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.path.read_text().splitlines()]

    def edit(self, change: Callable[[dict[str, Any]], None], kind: str) -> None:
        """Change the last call of a kind in the file."""
        lines = self.lines()
        change([line["call"] for line in lines if line.get("call", {}).get("kind") == kind][-1])
        self.path.write_text("".join(json.dumps(line) + "\n" for line in lines))


@pytest.fixture
async def recorded(
    environment: pytest.MonkeyPatch,  # noqa: ARG001 - set before the first request
    corpus: object,  # noqa: ARG001 - the graph is filled
    model_server: ModelServerControl,  # noqa: ARG001 - without faults
    tmp_path: Path,
) -> AsyncIterator[Recorded]:
    path = tmp_path / "request.jsonl"
    with recording(path) as build:
        async with serving(dispatcher=build_dispatcher(build)) as url, calling(url) as caller:
            yield Recorded(path, caller)


@pytest.mark.parametrize(
    "asked",
    [
        {"depth": "drift", "include": ALL},
        {"depth": "quick", "include": ALL},
        {"depth": "auto", "query": "What are all these documents about?", "include": ALL},
        {"depth": "drift", "filter": {"type": "eq", "key": "path", "value": "Lighthouse.md"}},
        {"answer": False, "include": ["locations"]},
        {"depth": "drift", "limits": {"max_followups": 1}, "include": ["usage"]},
    ],
    ids=lambda asked: "-".join(map(str, asked.values()))[:30],
)
async def test_the_answer_is_the_same_to_the_byte_without_servers(
    recorded: Recorded, asked: dict[str, Any]
) -> None:
    response = await recorded.caller.ask(**asked)
    assert response.status_code == 200, response.text
    told = await recorded.again()
    assert (told.notes, told.is_same) == ([], True), told.requests[0].differences
    assert told.requests[0].answer == response.text


@pytest.mark.usefixtures("environment", "corpus", "model_server")
async def test_programs_record_what_they_ask(tmp_path: Path) -> None:
    path = tmp_path / "block.jsonl"
    async with Drift(record=path) as drift:
        answer = await drift.ask(QUESTION, project=PROJECT, depth="quick")
        await drift.search(QUESTION, project=PROJECT)
    told = await asyncio.to_thread(replay, path)
    assert told.is_same, [one.differences for one in told.requests]
    asked, _ = told.requests
    assert asked.answer == answer.to_json()


async def test_requests_at_once_are_one_file(recorded: Recorded) -> None:
    depths = ("quick", "drift", "quick")
    await asyncio.gather(*(recorded.caller.answer(depth=d, include=["usage"]) for d in depths))
    told = await recorded.again()
    assert len(told.requests) == 3
    assert told.is_same, [one.differences for one in told.requests]


async def test_failures_of_the_model_happen_again(
    recorded: Recorded, model_server: ModelServerControl
) -> None:
    model_server.fail(
        {"fault": "status", "status": 503, "kind": "primer_reply", "times": 1},
        {"fault": "drop", "kind": "local_reply", "times": 1},
    )
    whole = await recorded.caller.answer(depth="drift", include=["usage"])
    assert whole["usage"]["retries"] >= 1
    model_server.fail({"fault": "status", "status": 401, "times": None, "code": MODEL_KEY})
    failed = await recorded.caller.ask(depth="drift")
    assert failed.status_code == 500

    told = await recorded.again()
    assert told.is_same, [one.differences for one in told.requests]
    assert told.requests[1].answer == failed.text


async def test_no_secret_is_in_the_file_and_nobody_else_reads_it(
    recorded: Recorded, base_settings: Environment
) -> None:
    await recorded.caller.answer()
    text = recorded.path.read_text()
    assert recorded.path.stat().st_mode & 0o777 == 0o600
    assert MODEL_KEY not in text
    assert base_settings["NEO4J_PASSWORD"] not in text
    assert "redis" not in text.lower()


async def test_a_changed_reply_changes_the_answer(recorded: Recorded) -> None:
    before = await recorded.caller.answer(depth="quick")

    def emptied(call: dict[str, Any]) -> None:
        message = call["reply"]["json"]["choices"][0]["message"]
        reply = json.loads(message["content"])
        message["content"] = json.dumps({**reply, "sentences": [], "verdict": "not_found"})

    recorded.edit(emptied, "chat")
    told = await recorded.again()
    assert (told.notes, told.is_same) == ([], False)
    assert json.loads(told.requests[0].answer)["final_answer"] != before["final_answer"]
    assert any(line.startswith("-") for line in told.requests[0].differences)


async def test_a_changed_prompt_is_shown_and_gets_the_reply_of_its_step(
    recorded: Recorded, monkeypatch: pytest.MonkeyPatch
) -> None:
    await recorded.caller.answer(depth="drift")
    monkeypatch.setattr(prompts, "AGGREGATE_SYSTEM", "You write the answer.\nBe brief.")
    told = await recorded.again()
    assert not told.is_same
    assert told.requests[0].is_same
    (note,) = told.notes
    assert "--- recorded aggregate_reply\n+++ present aggregate_reply" in note
    assert "\n+Be brief." in note


async def test_a_changed_statement_is_named_and_has_no_rows(recorded: Recorded) -> None:
    await recorded.caller.answer(depth="quick")
    recorded.edit(lambda call: call["asked"]["parameters"].update({"asked.words": "0"}), "graph")
    told = await recorded.again()
    assert not told.is_same
    assert told.notes
    assert all(note.startswith("Not recorded, a statement that begins") for note in told.notes)
