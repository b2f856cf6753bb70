"""An agent of Microsoft's Agent Framework that answers from a project.

Run `make demo`, which makes the project, then `.venv/bin/python examples/agent.py "Your question"`.
Its model is the stand-in unless OAI_BASE_URL names another.
"""

from __future__ import annotations

import asyncio
import sys

from agent_framework import Agent
from agent_framework.openai import OpenAIChatCompletionClient
from openai import AsyncOpenAI

from drift.http.settings import Settings
from drift.integrations.agent_framework import Neo4jContextProvider
from drift.local.cli.options import stack_options
from drift.local.cli.servers import running

PROJECT = "python-reference"
QUESTION = "How are default parameter values evaluated?"


async def main(question: str) -> None:
    """Ask, and print what the agent says."""
    async with (
        running(stack_options()) as (_, values),
        Neo4jContextProvider(index_type="drift", project=PROJECT) as provider,
        AsyncOpenAI(base_url=f"{values.oai_base_url}/v1", api_key=key_of(values)) as model,
    ):
        client = OpenAIChatCompletionClient(model=values.oai_model, async_client=model)
        agent = Agent(
            client=client,
            instructions="Answer from the context, and keep its numbers in brackets.",
            context_providers=[provider],
        )
        print(await agent.run(question))


def key_of(values: Settings) -> str:
    """Return the model's key; the stand-in takes any."""
    return values.oai_key.get_secret_value() if values.oai_key else "any"


if __name__ == "__main__":
    asyncio.run(main(" ".join(sys.argv[1:]) or QUESTION))
