"""What a search makes of odd questions.

Their vectors are refused with a reason, their words never reach a parser.
"""

from __future__ import annotations

import asyncio
import math

import pytest

from drift.core.errors import GraphMisconfiguredError, ModelMisconfiguredError
from drift.graph.indexes import project_key
from tests.contract.graph_backends import (
    CHUNKS,
    DIMENSIONS,
    Backend,
    ask_followup,
    ask_primer,
    axis,
    chunk,
    entity,
    fill,
    ids,
    twin,
    vector,
)
from tests.contract.hostile_questions import BY_HAND, hostile_questions


async def test_no_hostile_question_breaks_the_search_or_its_full_text(
    backend: Backend, project: str
) -> None:
    await fill(
        backend, project, [*CHUNKS, chunk("worded", "a quokka", ())], [entity("e1", "AND", "k1")]
    )
    hostile = hostile_questions()
    assert len(hostile) >= 300
    foreign = (f"project_key:{project_key(twin(project))}", f'"{twin(project)}"')
    store, few = backend.store(), asyncio.Semaphore(3)

    async def assert_finds(question: str, *expected: str) -> None:
        async with few:
            found = await ask_followup(store, project, question, axis(0))
            # a word of its document's name finds the worded chunk too, asked for or not
            others = set(ids(found.chunks)) - {"worded"}
            assert others == {"k1", "k2", "k3"}, question
            assert set(expected) <= set(ids(found.chunks)), question

    async with asyncio.TaskGroup() as group:
        for question in (*BY_HAND, *foreign):
            group.create_task(assert_finds(question))
        for (
            question
        ) in hostile:  # the word's chunk has no vector: it is found by full text or not at all
            group.create_task(assert_finds(f"quokka {question}", "worded"))


async def test_a_question_whose_vector_has_no_direction_or_another_length_is_refused(
    backend: Backend, project: str
) -> None:
    await fill(backend, project, CHUNKS)
    store = backend.store()
    for bad in (vector(), vector(math.nan), (math.nan,) * DIMENSIONS, vector(math.inf)):
        with pytest.raises(ModelMisconfiguredError, match="a vector that is zero or not finite"):
            await ask_primer(store, project, bad)
        with pytest.raises(ModelMisconfiguredError, match="a vector that is zero or not finite"):
            await ask_followup(store, project, "alpha", bad)

    for length in (0, 1, DIMENSIONS - 1, DIMENSIONS + 1):
        says = rf"{DIMENSIONS} dimensions, but {length} are wanted.*python -m drift prepare"
        with pytest.raises(GraphMisconfiguredError, match=says):
            await ask_primer(store, project, (1.0,) * length)
        with pytest.raises(GraphMisconfiguredError, match=says):
            await ask_followup(store, project, "alpha", (1.0,) * length)
