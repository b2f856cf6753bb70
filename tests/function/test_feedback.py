"""Feedback over HTTP: who may give it, on what, who may read it, and what the log has of it."""

from __future__ import annotations

import json
from typing import Any
from uuid import uuid4

import httpx2
import pytest

from drift.local.hosts.local_host import serving
from drift.local.stack.valkey_server import ValkeyServer
from drift.redis.server import RedisServer
from tests.function.access_keys import entry, use_keys
from tests.function.calling import Caller, calling
from tests.function.corpus import PROJECT, QUESTION

COMMENT = "canary: what a person wrote"
ASKER, ASKERS = entry("asker", [PROJECT, "empty"])
OTHER, OTHERS = entry("other", [PROJECT])
WRITER, WRITERS = entry("writer", [PROJECT], rights=["read", "write"])
pytestmark = pytest.mark.usefixtures("corpus", "model_server")


async def give(caller: Caller, key: str, id_: str, **said: Any) -> httpx2.Response:
    body = {"retrieval_id": id_, "score": 1, **said}
    return await caller.client.post("/feedback", json=body, headers={"x-api-key": key})


async def listed(caller: Caller, id_: str, key: str = WRITER, **asked: Any) -> httpx2.Response:
    path = f"/projects/{id_}/feedback"
    return await caller.client.get(path, params=asked, headers={"x-api-key": key})


async def test_who_got_an_answer_scores_it_and_who_may_write_its_project_reads_that(
    environment: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "drift")
    use_keys(environment, ASKERS, OTHERS, WRITERS)
    async with serving() as url, calling(url) as caller:
        ids = [str(uuid4()), str(uuid4())]
        caller.client.headers["x-api-key"] = ASKER
        first, _ = [await caller.answer(retrieval_id=id_, depth="quick") for id_ in ids]
        facts = [fact["fact"] for fact in first["key_facts"]]
        said = {"reason": "old", "comment": COMMENT, "expected": ["a chunk", "words"]}
        assert (await give(caller, ASKER, ids[0], score=1)).status_code == 204
        assert (await give(caller, ASKER, ids[1])).status_code == 204
        given = await give(caller, ASKER, ids[0], score=-1, fact=facts[0], **said)
        assert (given.status_code, given.content) == (204, b"")

        page = (await listed(caller, PROJECT, limit=1)).json()
        (newest,) = page["feedback"]
        assert newest["retrieval_id"] == ids[0]
        assert newest["question"] == QUESTION
        assert {name: newest[name] for name in said} == said
        assert (newest["score"], newest["fact"]) == (-1, 1)
        cited = [c["chunk_id"] for c in first["key_facts"][0]["citations"]]
        assert newest["facts"][0] == {"fact": facts[0], "chunk_ids": cited}
        assert "asker" not in json.dumps(page)
        (older,) = (await listed(caller, PROJECT, limit=1, cursor=page["next"])).json()["feedback"]
        assert (older["retrieval_id"], older["score"]) == (ids[1], 1)

        assert (await listed(caller, PROJECT, ASKER)).status_code == 403
        # The same id stands for one question to one project, whose score stays.
        again = await caller.ask(project_id="empty", retrieval_id=ids[0])
        assert again.status_code == 409
        left = (await listed(caller, PROJECT, limit=200)).json()["feedback"]
        assert ids[0] in {one["retrieval_id"] for one in left}

    lines = [json.loads(one.message) for one in caplog.records if "feedback_given" in one.message]
    assert [(one["caller"], one["score"], one["reason"]) for one in lines] == [
        ("asker", 1, None),
        ("asker", 1, None),
        ("asker", -1, "old"),
    ]
    assert COMMENT not in caplog.text


async def test_what_is_not_an_answer_to_the_caller_is_refused_in_the_same_words(
    environment: pytest.MonkeyPatch,
) -> None:
    use_keys(environment, ASKERS, OTHERS, WRITERS)
    async with serving() as url, calling(url) as caller:
        caller.client.headers["x-api-key"] = ASKER
        known, never = str(uuid4()), str(uuid4())
        answer = await caller.answer(retrieval_id=known, depth="quick")
        refused = [
            await give(caller, key, id_, fact=fact)
            for key, id_ in ((OTHER, known), (WRITER, known), (ASKER, never))
            for fact in (1, 99)
        ]
        said = {one.text.replace(known, "").replace(never, "") for one in refused}
        assert ({one.status_code for one in refused}, len(said)) == ({404}, 1)

        # A caller that has lost the right on the project has got nothing from it, either.
        most = len(answer["key_facts"])
        for fact in (most + 1, "what it does not say"):
            wrong = await give(caller, ASKER, known, fact=fact)
            (problem,) = wrong.json()["errors"]
            assert (wrong.status_code, problem["field"]) == (400, "fact")
            assert f"1 to {most}" in problem["message"]
        _, without = entry("asker", ["empty"])
        use_keys(environment, without)
    async with serving() as url, calling(url) as caller:
        assert (await give(caller, ASKER, known)).status_code == 404


async def test_without_a_place_for_it_feedback_is_refused_with_the_reason(
    environment: pytest.MonkeyPatch, valkey: ValkeyServer
) -> None:
    for setting, status, said in (
        ({"FEEDBACK_DAYS": "0"}, 404, "nothing under this path"),
        ({"CACHE": "off"}, 503, "CACHE=off"),
        ({"REDIS_URL": "redis://127.0.0.1:1"}, 500, "nobody listens"),
        ({"REDIS_URL": ""}, 503, "REDIS_URL is needed"),
    ):
        for name, value in setting.items():
            environment.setenv(name, value)
        id_, key = str(uuid4()), ""
        async with serving() as url, calling(url) as caller:
            await caller.answer(project_id="empty", retrieval_id=id_)
            for reply in (await give(caller, key, id_), await listed(caller, PROJECT, key)):
                assert (reply.status_code, said in reply.json()["detail"]) == (status, True), said
        environment.setenv("FEEDBACK_DAYS", "90")
        environment.setenv("CACHE", "on")
        environment.setenv("REDIS_URL", valkey.url)


async def test_an_answer_ends_in_a_week_and_what_was_said_of_it_with_the_setting(
    environment: pytest.MonkeyPatch, valkey: ValkeyServer
) -> None:
    environment.setenv("FEEDBACK_DAYS", "30")
    server = RedisServer(valkey.url)
    (before,) = await server.ask(("KEYS", "drift:answered:*"))
    async with serving() as url, calling(url) as caller:
        id_ = str(uuid4())
        await caller.answer(project_id="empty", retrieval_id=id_)
        assert (await give(caller, "", str(uuid4()))).status_code == 404  # what is on its way waits
        (after,) = await server.ask(("KEYS", "drift:answered:*"))
        (key,) = set(after) - set(before)
        (unscored,) = await server.ask(("TTL", key))
        assert (await give(caller, "", id_)).status_code == 204
        (scored,) = await server.ask(("TTL", key))
    await server.close()
    assert [round(left / 86_400) for left in (unscored, scored)] == [7, 30]
