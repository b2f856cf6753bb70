"""neo4j-graphrag: a `SimpleKGPipeline` with its own writer and its resolution of entities."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import neo4j
from neo4j_graphrag.embeddings import Embedder
from neo4j_graphrag.experimental.pipeline.kg_builder import SimpleKGPipeline
from neo4j_graphrag.llm.base import LLMInterface
from neo4j_graphrag.llm.types import LLMResponse

from tests.foreign.given import ENTITIES, TITLE, Given


class Extractor(LLMInterface):
    """Finds in each text the one thing that it is about."""

    def __init__(self, texts: list[str]) -> None:
        """Know the texts."""
        super().__init__("extractor")
        self._texts = texts

    def invoke(self, input: str, *_: Any, **__: Any) -> LLMResponse:  # noqa: A002 - theirs
        """Return what the text in a prompt mentions."""
        things = zip(ENTITIES.items(), self._texts, strict=True)
        name, label = next(thing for thing, text in things if text in str(input))
        nodes = [
            {"id": "0", "label": label, "properties": {"name": name}},
            {"id": "1", "label": "Place", "properties": {"name": "Nessel"}},
        ]
        edge = {"type": "STANDS_IN", "start_node_id": "0", "end_node_id": "1", "properties": {}}
        return LLMResponse(content=json.dumps({"nodes": nodes, "relationships": [edge]}))

    async def ainvoke(self, input: str, *_: Any, **__: Any) -> LLMResponse:  # noqa: A002 - theirs
        """Return the same."""
        return self.invoke(input)


class Known(Embedder):
    """Knows the vectors of what is written."""

    def __init__(self, given: Given) -> None:
        """Take them."""
        super().__init__()
        self._given = given

    def embed_query(self, text: str) -> list[float]:
        """Return one."""
        return self._given.embed(text)


async def main(given: Given) -> None:
    """Write each text as a document of one chunk."""
    with neo4j.GraphDatabase.driver(given.uri, auth=(given.username, given.password)) as driver:
        for text in given.texts:
            pipeline = SimpleKGPipeline(
                llm=Extractor(given.texts),
                driver=driver,
                embedder=Known(given),
                schema="FREE",
                from_file=False,
                on_error="RAISE",
                neo4j_database=given.database,
            )
            await pipeline.run_async(text=text, file_path=TITLE)


if __name__ == "__main__":
    asyncio.run(main(Given.read()))
