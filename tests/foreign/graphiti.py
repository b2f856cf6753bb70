"""Graphiti: episodes, entities and a community by its own nodes and edges, with its indexes."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

from graphiti_core.driver.neo4j_driver import Neo4jDriver
from graphiti_core.edges import CommunityEdge, EntityEdge, EpisodicEdge
from graphiti_core.nodes import CommunityNode, EntityNode, EpisodeType, EpisodicNode

from tests.foreign.given import ENTITIES, Given

NOW = datetime(2026, 1, 1, tzinfo=UTC)
COMMON = {"group_id": "harbour", "created_at": NOW}


async def main(given: Given) -> None:
    """Write each text as an episode that mentions one thing, and a community of all of them."""
    driver = Neo4jDriver(given.uri, given.username, given.password, given.database)
    await driver.build_indices_and_constraints()
    vector = given.vectors[0]
    things = [
        EntityNode(name=name, labels=["Entity", label], summary="", name_embedding=vector, **COMMON)
        for name, label in ENTITIES.items()
    ]
    community = CommunityNode(
        name="Harbour", summary=given.summary, name_embedding=vector, **COMMON
    )
    await community.save(driver)
    for number, (text, thing) in enumerate(zip(given.texts, things, strict=True)):
        episode = EpisodicNode(
            name=f"log {number}",
            source=EpisodeType.text,
            source_description="the harbour's log",
            content=text,
            valid_at=NOW,
            **COMMON,
        )
        ends = [
            EpisodicEdge(source_node_uuid=episode.uuid, target_node_uuid=thing.uuid, **COMMON),
            CommunityEdge(source_node_uuid=community.uuid, target_node_uuid=thing.uuid, **COMMON),
        ]
        for one in (episode, thing, *ends):
            await one.save(driver)
    first, second, _ = things
    fact = EntityEdge(
        source_node_uuid=first.uuid,
        target_node_uuid=second.uuid,
        name="RUNS",
        fact=given.summary,
        fact_embedding=vector,
        **COMMON,
    )
    await fact.save(driver)
    await driver.close()


if __name__ == "__main__":
    asyncio.run(main(Given.read()))
