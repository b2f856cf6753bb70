"""Conversations in the graph: kept by session, searched, removed."""

from __future__ import annotations

import asyncio
from typing import Any

from agent_framework import Message

from drift.integrations.agent_framework import ConnectionConfig, Neo4jHistoryProvider
from tests.agents.conftest import Filings


async def test_an_agent_remembers_by_session(filings: Filings, make_agent: Any) -> None:
    async with Neo4jHistoryProvider(ConnectionConfig(**filings.connection)) as history:
        agent = make_agent(history)
        one, two = agent.create_session(), agent.create_session()
        await agent.run("The galleons wait.", session=one)
        await agent.run("The bonds fell.", session=two)
        await agent.run("And now?", session=one)

        told = [message.text for message in await history.get_messages(one.session_id)]
        assert told[0] == "The galleons wait."
        assert told[2] == "And now?"
        assert len(told) == 4

        found = await history.search("galleons")
        assert [(session, message.text) for session, message in found] == [
            (one.session_id, "The galleons wait.")
        ]
        assert await history.search("galleons", two.session_id) == []
        assert await history.search("the of") == []

        await history.delete(one.session_id)
        assert await history.get_messages(one.session_id) == []
        assert await history.search("galleons") == []
        assert len(await history.get_messages(two.session_id)) == 2


async def test_two_who_write_at_once_lose_nothing(filings: Filings) -> None:
    async with Neo4jHistoryProvider(ConnectionConfig(**filings.connection), most=15) as history:
        await asyncio.gather(
            *(history.save_messages("s", [Message("user", [f"{n}a", f"{n}b"])]) for n in range(20))
        )
        kept = await history.get_messages("s")
        assert len({message.text for message in kept}) == 15
        await history.save_messages("s", [])
        assert len(await history.get_messages("s")) == 15
        await history.delete("s")
