"""A graph in memory that answers at once, to measure everything else with."""

from __future__ import annotations

from zlib import crc32

from drift.core.deadline import Deadline
from drift.model.graph import (
    Candidate,
    Candidates,
    Chunk,
    Community,
    FollowupQuery,
    PrimerQuery,
    Relationship,
)
from drift.model.health import GraphHealth

NOWHERE = {"NEO4J_URI": "bolt://127.0.0.1:1", "NEO4J_PASSWORD": "unused"}
"""Settings under which no database is spoken to."""
QUESTION = "How does the lighthouse keeper signal ships in heavy fog?"
TOPICS = {
    "foghorn": "The foghorn of the lighthouse warns ships in heavy fog with a long blast",
    "signal lamp": "A signal lamp tells ships in fog how far the lighthouse rocks reach",
    "radio beacon": "The radio beacon reaches ships that neither lamp nor horn of the keeper can "
    "reach in fog",
    "fog bell": "The keeper rings the fog bell by hand when the signal horn has failed",
    "bell buoy": "A bell buoy marks the channel for ships when fog hides the lighthouse",
}
"""What the communities are about: close to the question, each with a word of its own."""


class StaticGraph:
    """GraphStore in memory.

    It holds a community for each topic, and for every question ten chunks that no other finds.
    """

    async def has_topics(self, _project_id: str, _deadline: Deadline) -> bool:
        return False

    async def primer(self, query: PrimerQuery, deadline: Deadline) -> tuple[Community, ...]:
        """Return the communities."""
        del query, deadline
        return tuple(
            Community(number, 1, f"{topic}\n{sentence}, says the {topic} manual.")
            for number, (topic, sentence) in enumerate(TOPICS.items())
        )

    async def followup(self, query: FollowupQuery, deadline: Deadline) -> Candidates:
        """Return ten new chunks about one topic, and a relation between two others."""
        del deadline
        number = crc32(query.question.encode())  # the same every time, in every process
        topics = list(TOPICS)
        topic, name = topics[number % len(topics)], f"f{number}"
        chunks = _chunks(topic, name, 10)
        return Candidates(
            chunks=tuple(Candidate(chunk, 1 - place / 100) for place, chunk in enumerate(chunks)),
            relationships=(Relationship(topics[0], topics[1], "both warn ships"),),
        )

    async def health(self) -> GraphHealth:
        """Return nothing of interest."""
        return GraphHealth("in memory", ())

    async def close(self) -> None:
        """Close nothing."""


def _chunks(topic: str, name: str, count: int) -> tuple[Chunk, ...]:
    return tuple(
        Chunk(f"{name}-{place}", _text(topic, name, place), f"Manual of the {topic}", 0.9)
        for place in range(count)
    )


def _text(topic: str, name: str, place: int) -> str:
    sentence = "{} of {} {}, once every {} seconds, as the rules for the {} say. "
    return "".join(
        sentence.format(TOPICS[topic], name, place, 10 * number + place, topic)
        for number in range(8)
    )
