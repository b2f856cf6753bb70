"""`drift eval from-feedback` and `drift eval answers`, over the function with real servers."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from uuid import uuid4

import pytest

from drift.local.hosts.local_host import serving
from drift.local.stack.valkey_server import ValkeyServer
from tests.command_line import PATIENCE_S, command
from tests.function.calling import calling
from tests.function.corpus import PROJECT, QUESTION

pytestmark = [pytest.mark.slow, pytest.mark.timeout(PATIENCE_S)]


async def praised() -> set[str]:
    """Have an answer praised and one without evidence too; return the first one's documents."""
    async with serving() as url, calling(url) as caller:
        ids = [str(uuid4()), str(uuid4())]
        answer = await caller.answer(retrieval_id=ids[0], depth="quick")
        nothing = await caller.answer("Who painted the Mona Lisa?", retrieval_id=ids[1])
        assert nothing["key_facts"] == []
        for id_ in ids:
            given = {"retrieval_id": id_, "score": 1}
            assert (await caller.client.post("/feedback", json=given)).status_code == 204
    cited = [one for fact in answer["key_facts"] for one in fact["citations"]]
    return {one["document_name"] for one in cited}


@pytest.mark.usefixtures("corpus", "model_server")
def test_praise_becomes_questions_which_are_measured_against_a_floor(
    environment: pytest.MonkeyPatch,
    base_settings: dict[str, str],
    valkey: ValkeyServer,
    tmp_path: Path,
) -> None:
    environment.setenv("FEEDBACK_DAYS", "90")
    project, file = ("--project", PROJECT), tmp_path / "questions.jsonl"
    names = asyncio.run(praised())
    given = {**base_settings, "REDIS_URL": valkey.url}
    done = command("eval", "from-feedback", str(file), *project, **given)
    assert done.returncode == 0, done.stderr
    lines = {line["question"]: line for line in map(json.loads, file.read_text().splitlines())}
    assert lines["Who painted the Mona Lisa?"]["unanswerable"] is True
    assert len(lines[QUESTION]["documents"]) == len(names)
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines.values()))

    other = tmp_path / "other.env"
    other.write_text("MAX_FOLLOWUPS=1\n")
    asked = ("eval", "answers", str(file), *project, "--depth", "quick", "--runs", "2")
    done = command(*asked, "--beside", str(other), "--floor", "90", "--json", **given)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    figures = document["figures"][PROJECT]
    assert (figures["questions"], figures["answers"]) == (len(lines), 2 * len(lines))
    assert (figures["met"], figures["same_verdict"], figures["failed"]) == (100.0, 100.0, {})
    assert figures["tokens"] > 0
    assert document["ahead"] == {"questions": len(lines), "met": 0.0, "met_ci95": [0.0, 0.0]}

    file.write_text(json.dumps({"id": "a", "question": QUESTION, "words": ["zeppelin"]}))
    done = command(*asked, "--floor", "1", **given)
    assert (done.returncode, "the floor is 1" in done.stderr) == (1, True)
    assert "met" in done.stdout
