"""An answer is kept for a day where nothing failed that it is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from drift.answer.reference_lookup import BY_LOCAL
from drift.contracts.answer import RetrieveResponse
from drift.core.deadline import Deadline
from drift.core.errors import GraphUnavailableError, UnusableReplyError
from drift.model.calls import Embeddings
from drift.model.graph import Candidates, Evidence, FollowupQuery, LocalVector
from drift.ports import Ports
from drift.search.drift import DriftSearch
from drift.search.progress import Progress
from tests.fakes import HashingEmbedder, ListSink, ScriptedChat, StubGraph, chunk, request
from tests.unit.searching import FOUND, run_of, script
from tests.unit.test_quick import quick
from tests.unit.test_rag import Slot
from tests.unit.test_referring import StubPassages
from tests.unit.test_whole import Whole

QUESTION = "Who made alpha?"
GONE = GraphUnavailableError("gone")


def by_position(query: FollowupQuery) -> Evidence | Exception:
    return GONE if query.position else Evidence((chunk("k-one", "Ada made alpha."),))


class WithoutWords(StubGraph):
    """GraphStore of a graph whose full-text index is being built."""

    async def followup(self, query: FollowupQuery, deadline: Deadline) -> Candidates:
        return replace(await super().followup(query, deadline), is_partial=True)


class LocalForReferences(HashingEmbedder):
    """Embedder whose provider is gone when the references are looked at."""

    async def embed(self, texts: Sequence[str], deadline: Deadline) -> Embeddings:
        made = await super().embed(texts, deadline)
        if list(texts) != [QUESTION]:
            return made
        return replace(made, vectors=tuple(map(LocalVector, made.vectors)))


async def asked(depth: str, *include: str, **servers: Any) -> tuple[RetrieveResponse, bool]:
    """Return an answer, and whether it was kept."""
    own = {name: servers.pop(name) for name in ("graph", "embedder", "passages") if name in servers}
    graph = own.get("graph") or StubGraph(FOUND, by_position)
    chat = ScriptedChat(script(**{"quick_reply": quick(), **servers}))
    embedder, passages = own.get("embedder") or HashingEmbedder(), own.get("passages")
    search, slot = DriftSearch(Ports(graph, chat, embedder, passages), run_of(graph).limits), Slot()
    question = request(QUESTION, depth=depth, include=include)
    async with Progress("p", "r", ListSink()) as progress:
        answered = await search.retrieve(question, progress, Deadline.after(30), slot=slot)
    assert answered.final_answer
    return answered, bool(slot.kept)


@pytest.mark.parametrize("depth", ["quick", "auto", "drift"])
async def test_an_answer_that_nothing_failed_for_is_kept(depth: str) -> None:
    _, is_kept = await asked(depth, "references", passages=StubPassages())
    assert is_kept


FAILURES: dict[str, tuple[str, dict[str, Any]]] = {
    "what the project knows of itself": (
        "quick",
        {"quick_reply": quick(about_whole=True), "passages": Whole(GONE)},
    ),
    "the same behind the primer": (
        "drift",
        {
            "primer_reply": {**script()["primer_reply"], "about_whole": True},
            "passages": Whole(GONE),
        },
    ),
    "the part of a document": ("quick", {"quick_reply": quick(position="end")}),
    "one look's reply": ("auto", {"quick_reply": UnusableReplyError("empty")}),
    "a hypothesis": ("drift", {"hypothesis": UnusableReplyError("empty")}),
    "the primer's reply": ("drift", {"primer_reply": "no JSON"}),
    "the last reply": ("drift", {"aggregate_reply": "no JSON"}),
    "the words of chunks": ("quick", {"graph": WithoutWords(FOUND, by_position)}),
}


@pytest.mark.parametrize("failure", FAILURES)
async def test_an_answer_that_lacks_what_failed_is_not_kept(failure: str) -> None:
    depth, servers = FAILURES[failure]
    _, is_kept = await asked(depth, **servers)
    assert not is_kept


async def test_references_by_the_local_model_say_so_and_are_not_kept() -> None:
    answered, is_kept = await asked(
        "drift", "references", embedder=LocalForReferences(), passages=StubPassages()
    )
    assert answered.references
    assert BY_LOCAL in answered.references.limits
    assert not is_kept
