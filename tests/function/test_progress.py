"""Progress as a Redis subscriber receives it, in the shapes of the contract."""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID, uuid4

import pytest

from drift.local.stack.valkey_server import ValkeyServer
from tests.function.calling import Caller, Subscriber
from tests.function.corpus import PROJECT

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

PHASES = [
    "initializing",
    "expanding_query",
    "retrieving_communities",
    "executing_followup",
    "aggregating_results",
    "completed",
]
FIXED_PCT = {
    "initializing": 0,
    "expanding_query": 20,
    "retrieving_communities": 40,
    "aggregating_results": 90,
    "completed": 100,
}
FIELDS = {
    "message_type",
    "project_id",
    "retrieval_id",
    "phase",
    "progress_pct",
    "thought_summary",
    "message_id",
    "timestamp",
}


async def test_phases_come_in_order_and_every_message_has_the_fields_of_the_contract(
    function: Caller, valkey: ValkeyServer
) -> None:
    retrieval_id = str(uuid4())
    async with Subscriber(valkey.url, retrieval_id) as subscriber:
        document = await function.answer(retrieval_id=retrieval_id, include=["trace"])
        messages = await subscriber.until_the_end()
    assert subscriber.phases == PHASES
    percentages = [m["progress_pct"] for m in messages]
    assert percentages == sorted(percentages)
    assert len({UUID(m["message_id"]) for m in messages}) == len(messages)
    for message in messages:
        assert set(message) - {"details_md"} == FIELDS
        if message["phase"] == "executing_followup":
            assert 40 <= message["progress_pct"] <= 80
        else:
            assert message["progress_pct"] == FIXED_PCT[message["phase"]]
        assert (message["message_type"], message["project_id"]) == ("retrieval_progress", PROJECT)
        assert message["thought_summary"]
        assert datetime.fromisoformat(message["timestamp"]).utcoffset() == timedelta(0)

    told = [
        m["thought_summary"].split(":")[0] for m in messages if m["phase"] == "executing_followup"
    ]
    states = [node["state"] for node in document["trace"]["followups"]]
    assert told.count("Answered") == states.count("answered") > 0
    assert told.count("Looking into") >= states.count("answered")
