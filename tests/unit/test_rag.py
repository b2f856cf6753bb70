"""The story of a question to the nodes, over fakes."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest
from pydantic import BaseModel

from drift.contracts.rag import SourceOut
from drift.core.deadline import Deadline
from drift.core.errors import (
    DeadlineError,
    GraphTimeoutError,
    ModelUnavailableError,
    UnusableReplyError,
)
from drift.model.calls import Embeddings
from drift.model.found_nodes import (
    FoundNode,
    FoundNodes,
    NodesQuery,
    RelatedNode,
    Sampled,
    ScoreThreshold,
)
from drift.nodes.node_citations import NOT_ENOUGH
from drift.nodes.query import RagRules, RagSearch
from drift.nodes.threshold import LEAST_TEXTS
from drift.ports import Kept
from drift.prompting.tokens import most_tokens
from tests.fakes import Heard, ScriptedChat, ports

NEAR = FoundNode("k1", "Chunk", "Doc", "A thing.", 0.8, (RelatedNode("e", "Entity", "E", "says"),))
FAR = FoundNode("e1", "Entity", "Thing", "Another.", 0.4)
FAR_OFF = FoundNode("p1", "Person", "Ada", "", -0.1)
DIMENSIONS = 4
"""Of the vectors of the embedder in memory."""


@dataclass
class Finder:
    """NodeFinder that finds what it is given."""

    nodes: tuple[FoundNode, ...] = (NEAR, FAR, FAR_OFF)
    threshold: ScoreThreshold | None = None
    sampled: Sampled | Exception = field(default_factory=Sampled)
    queries: list[NodesQuery] = field(default_factory=list)
    samples: int = 0

    async def nearest_nodes(self, query: NodesQuery, deadline: Deadline) -> FoundNodes:
        deadline.require()
        self.queries.append(query)
        if query.limit == 1:  # an unrelated question
            return FoundNodes((replace(NEAR, score=0.5),))
        return FoundNodes(self.nodes, self.threshold)

    async def sample(
        self,
        project_id: str,
        dimensions: int,
        pairs: Sequence[Sequence[float]],
        least: int,
        deadline: Deadline,
    ) -> Sampled:
        assert (project_id, dimensions, least) == ("p", DIMENSIONS, LEAST_TEXTS)
        assert pairs
        deadline.require()
        self.samples += 1
        if isinstance(self.sampled, Exception):
            raise self.sampled
        return self.sampled


@dataclass
class Failing:
    """Embedder that fails this way."""

    failure: Exception

    async def embed(self, *_: object) -> Embeddings:
        raise self.failure


class Followed(Heard):
    """Listener that hears of sources too, and keeps the pieces."""

    def __init__(self) -> None:
        super().__init__()
        self.pieces: list[str] = []
        self.told: list[Sequence[SourceOut]] = []

    def answer_delta(self, text: str) -> None:
        super().answer_delta(text)
        self.pieces.append(text)

    def sources(self, sources: Sequence[SourceOut]) -> None:
        self.told.append(sources)


def rag(finder: Finder, chat: ScriptedChat, **rules: object) -> RagSearch:
    return RagSearch(ports(None, chat), finder, RagRules(**rules))


async def ask(search: RagSearch, listener: Followed | None = None) -> tuple[str, list[SourceOut]]:
    answered = await search.answer("What?", "p", "r", Deadline.after(30), listener)
    return answered.answer, answered.sources


def says(*texts: str | Exception) -> ScriptedChat:
    rest = list(texts)
    return ScriptedChat(lambda _: rest.pop(0) if len(rest) > 1 else rest[0])


async def test_nodes_over_the_threshold_are_asked_of_the_model_and_are_the_sources() -> None:
    chat, finder = says("So it is [Node 1]."), Finder()
    answer, sources = await ask(rag(finder, chat, threshold=0.3, labels=("Chunk", "Person")))
    assert answer == "So it is [Node 1]."
    assert [(s.node_id, s.score, s.cited) for s in sources] == [
        ("k1", 0.8, True),
        ("e1", 0.4, False),
    ]
    assert sources[0].related[0].model_dump() == {
        "node_id": "e",
        "title": "E",
        "node_type": "Entity",
        "relation": "says",
    }
    [prompt] = chat.prompts
    assert "[Node 1] Doc: A thing." in prompt.user
    assert "Ada" not in prompt.user
    [query] = finder.queries
    assert (query.labels, query.limit) == (("Chunk", "Person"), 5)


@pytest.mark.parametrize(
    ("most", "longest", "bound"), [(9_000, None, 9_000), (100_000, 4_000, 4_000), (5_000, 9, 3_000)]
)
async def test_a_prompt_and_its_second_try_hold_no_more_than_the_setting_and_the_server_read(
    most: int, longest: int | None, bound: int
) -> None:
    chat = says("", "So [Node 1].")
    chat.longest_prompt = longest
    far = [replace(NEAR, id=f"k{n}", text="A ship. " * 900, score=0.8 - n / 10) for n in range(5)]
    answer, sources = await ask(rag(Finder(tuple(far)), chat, max_prompt_tokens=most))

    assert answer == "So [Node 1]."
    assert 0 < len(sources) < 5
    costs = [most_tokens(p.system) + most_tokens(p.user) for p in chat.prompts]
    assert len(costs) == 2
    assert bound * 0.5 < costs[0] < costs[1] <= bound


@pytest.mark.parametrize("nodes", [(), (FAR_OFF,)], ids=["nothing", "too far"])
async def test_nothing_near_enough_is_the_sentence_without_a_call(
    nodes: tuple[FoundNode, ...],
) -> None:
    chat, followed = says("never"), Followed()
    found = await ask(rag(Finder(nodes), chat, threshold=0.3), followed)
    assert found == (NOT_ENOUGH, [])
    assert chat.prompts == []
    assert (followed.pieces, followed.told) == ([NOT_ENOUGH], [[]])


class Slot:
    """AnswerSlot that holds nothing yet."""

    def __init__(self) -> None:
        self.kept: list[BaseModel] = []

    async def recall(self, shape: type[Kept], deadline: Deadline) -> Kept | None:  # noqa: ARG002
        return None

    def keep(self, answer: BaseModel) -> None:
        self.kept.append(answer)


@pytest.mark.parametrize(
    ("nodes", "is_kept"), [((NEAR,), True), ((), False), ((FAR_OFF,), False)], ids=str
)
async def test_an_answer_without_sources_is_not_kept(
    nodes: tuple[FoundNode, ...], is_kept: bool
) -> None:
    slot, search = Slot(), rag(Finder(nodes), says("So [Node 1]."), threshold=0.3)
    answered = await search.answer("What?", "p", "r", Deadline.after(30), None, slot)
    assert slot.kept == [answered] * is_kept


@pytest.mark.parametrize(
    ("own", "kept", "sampled", "shown", "samples"),
    [
        (0.9, ScoreThreshold(-1, 500, DIMENSIONS, "m"), Sampled(), 0, 0),
        (None, ScoreThreshold(1.0, 500, DIMENSIONS, "m", 0.1, 0.4), Sampled(), 2, 0),
        (None, ScoreThreshold(1.0, 500, DIMENSIONS, "", 0.1, 0.41), Sampled(), 1, 0),
        (None, ScoreThreshold(1.0, 500, DIMENSIONS, "m", 0.1), Sampled(500, (0.2,) * 9), 1, 1),
        (None, ScoreThreshold(0.9, 500, DIMENSIONS, "other"), Sampled(500, (0.5,) * 9), 1, 1),
        (None, None, Sampled(500, (0.5,) * 9), 1, 1),
        (None, None, Sampled(LEAST_TEXTS - 1), 3, 1),
        (None, None, GraphTimeoutError("slow"), 3, 1),
    ],
    ids=[
        "of the settings",
        "of the project",
        "of a model that is not known",
        "of an earlier release",
        "of another model",
        "measured now",
        "too few texts",
        "not in time",
    ],
)
async def test_which_threshold_counts(
    own: float | None,
    kept: ScoreThreshold | None,
    sampled: Sampled | Exception,
    shown: int,
    samples: int,
) -> None:
    finder = Finder(threshold=kept, sampled=sampled)
    search = rag(finder, says("So it is."), threshold=own, model="m")
    for _ in range(3):
        _, sources = await ask(search)
        assert len(sources) == shown
    assert finder.samples == samples


async def test_a_refusal_names_what_was_nearest() -> None:
    refused = await rag(Finder(), says("x"), threshold=0.9).answer(
        "What?", "p", "r", Deadline.after(30)
    )
    assert json.loads(refused.to_json()) == {
        "answer": NOT_ENOUGH,
        "sources": [],
        "nearest": {
            "node_id": "k1",
            "node_type": "Chunk",
            "title": "Doc",
            "score": 0.8,
            "threshold": 0.9,
        },
    }
    nothing = await rag(Finder(()), says("x"), threshold=0.9).answer(
        "What?", "p", "r", Deadline.after(30)
    )
    assert json.loads(nothing.to_json()) == {"answer": NOT_ENOUGH, "sources": []}


@pytest.mark.parametrize(
    ("replies", "answer", "calls"),
    [
        (["[Node 9]", "Now it is [Node 1]."], "Now it is [Node 1].", 2),
        ([UnusableReplyError("length"), "Short."], "Short.", 2),
        (["  ", " "], None, 2),
        ([UnusableReplyError("refusal")], None, 1),
        ([ModelUnavailableError("down")], None, 1),
        ([NOT_ENOUGH], NOT_ENOUGH, 1),
        (['{"answer": "no JSON'], '{"answer": "no JSON', 1),
    ],
)
async def test_a_reply_that_says_nothing_is_asked_for_once_more(
    replies: list[str | Exception], answer: str | None, calls: int
) -> None:
    chat = says(*replies)
    search = rag(Finder(), chat, threshold=0.3)
    if answer is None:
        with pytest.raises(ModelUnavailableError):
            await ask(search)
    else:
        assert (await ask(search))[0] == answer
    assert len(chat.prompts) == calls


async def test_who_listens_hears_whole_citations_of_nodes_that_are_there() -> None:
    said = "One [Node 1]. Two [Node 7]. Three [Nodes 1, 2] and on."
    followed = Followed()
    answer, sources = await ask(rag(Finder(), says(said), threshold=0.3), followed)
    assert answer == "One [Node 1]. Two. Three [Node 1] [Node 2] and on."
    assert followed.text == answer
    assert followed.replaced == 0
    assert len(followed.pieces) > 5
    assert all(delta.count("[") == delta.count("]") for delta in followed.pieces)
    assert followed.told == [sources]


async def test_the_deadline_ends_it() -> None:
    async def never() -> str:
        await asyncio.sleep(60)
        return ""

    search = rag(Finder(), ScriptedChat(lambda _: never()), threshold=0.3)
    with pytest.raises(DeadlineError):
        await search.answer("What?", "p", "r", Deadline.after(0.05))


async def test_scores_are_logged_and_words_are_not(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        await ask(rag(Finder(), says("Secret words [Node 1]."), threshold=0.3))
    text = caplog.text
    assert '"scores":[0.8,0.4,-0.1],"threshold":0.3' in text
    assert '"event":"rag_ended"' in text
    assert '"found":3,"near":2,"sources":2,"cited":1' in text
    for words in ("Secret", "A thing", "What?", "Ada"):
        assert words not in text
