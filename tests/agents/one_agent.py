"""A program: one agent answers from an index; it runs on whichever core is installed."""

from __future__ import annotations

import asyncio
import sys
from importlib.metadata import version
from typing import Any

from agent_framework import Agent, BaseChatClient, ChatResponse, Message

from drift.integrations.agent_framework import (
    ConnectionConfig,
    Neo4jContextProvider,
    Neo4jHistoryProvider,
)


class Echo(BaseChatClient):
    """A model that repeats the prompt."""

    async def _inner_get_response(self, *, messages: Any, **_: Any) -> ChatResponse:
        said = " ".join(message.text for message in messages)
        return ChatResponse(messages=[Message("assistant", [said])])


async def main(index: str, question: str) -> None:
    """Ask twice in one session, whose messages are kept in the graph."""
    provider = Neo4jContextProvider(index_type="fulltext", index_name=index, top_k=1)
    given = provider.connection
    assert given is not None
    history = Neo4jHistoryProvider(ConnectionConfig(**dict(given)))
    async with history, provider:
        agent = Agent(client=Echo(), context_providers=[history, provider])
        session = agent.create_session()
        answer = await agent.run(question, session=session)
        await agent.run("And then?", session=session)
        kept = await history.get_messages(session.session_id)
        await history.delete(session.session_id)
    print(version("agent-framework-core"), len(kept), answer.text)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
