"""What a caller gets of indexes that do not fit.

An answer where none is needed, else the index and what to run.
"""

from __future__ import annotations

import pytest

from tests.function.calling import Caller, assert_is_problem, citations
from tests.function.corpus import PROJECT, WITHOUT_COMMUNITIES

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

MISSING = {
    "COMMUNITY_VECTOR_INDEX_NAME": "absent_community_index",
    "CHUNK_VECTOR_INDEX_NAME": "absent_chunk_index",
    "CHUNK_FULLTEXT_INDEX_NAME": "absent_fulltext_index",
}


@pytest.mark.parametrize("project", [PROJECT, WITHOUT_COMMUNITIES])
async def test_a_small_project_is_answered_without_any_index_and_ready_names_those_of_vectors(
    function: Caller, environment: pytest.MonkeyPatch, project: str
) -> None:
    for name, value in MISSING.items():
        environment.setenv(name, value)
    assert citations(await function.answer(project_id=project))
    ready = await function.client.get("/health/ready")
    assert ready.status_code == 503
    assert ready.json()["indexes"] == (
        "absent_community_index is missing; absent_chunk_index is missing"
    )


async def test_indexes_of_other_dimensions_are_graph_misconfigured_with_what_to_run(
    function: Caller, environment: pytest.MonkeyPatch
) -> None:
    environment.setenv("OAI_EMBED_MODEL_NAME", "text-embedding-3-small")
    environment.setenv("VECTOR_INDEX_DIMENSIONS", "128")
    problem = assert_is_problem(await function.ask(), 500, "graph_misconfigured")
    assert "graphrag_comm_index has 256 dimensions, but 128 are wanted" in problem["detail"]
    assert "python -m drift prepare" in problem["detail"]


async def test_names_that_are_mixed_up_are_answered_around_and_ready_names_them(
    function: Caller, environment: pytest.MonkeyPatch
) -> None:
    environment.setenv("COMMUNITY_VECTOR_INDEX_NAME", "graphrag_chunk_index")
    environment.setenv("CHUNK_VECTOR_INDEX_NAME", "graphrag_comm_index")
    assert citations(await function.answer())
    ready = await function.client.get("/health/ready")
    assert (
        ready.json()["indexes"] == "graphrag_chunk_index is missing; graphrag_comm_index is missing"
    )
