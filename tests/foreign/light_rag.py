"""LightRAG: its storage for Neo4j, which holds no text."""

from __future__ import annotations

import asyncio
import os

from lightrag.kg.neo4j_impl import Neo4JStorage
from lightrag.kg.shared_storage import initialize_share_data

from tests.foreign.given import ENTITIES, TITLE, Given


async def main(given: Given) -> None:
    """Write what the texts mention, and edges between."""
    os.environ |= {f"NEO4J_{name.upper()}": value for name, value in given.login.items()}
    os.environ["NEO4J_URI"] = given.uri
    initialize_share_data()
    storage = Neo4JStorage("chunk_entity_relation", {}, None, workspace="harbour")
    await storage.initialize()
    told = zip(ENTITIES.items(), given.texts, strict=True)
    for number, ((name, label), text) in enumerate(told):
        data = {"entity_id": name, "entity_type": label, "description": text}
        await storage.upsert_node(
            name, {**data, "source_id": f"chunk-{number}", "file_path": TITLE, "created_at": 0}
        )
    first, second, _ = ENTITIES
    edge = {"weight": 1.0, "description": given.summary, "keywords": "work", "source_id": "chunk-0"}
    await storage.upsert_edge(first, second, edge)
    await storage.finalize()


if __name__ == "__main__":
    asyncio.run(main(Given.read()))
