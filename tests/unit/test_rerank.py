"""What a reranker changes of a search's order, and what scores say that leave the service."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drift.answer.references import Known
from drift.contracts.evidence import PassageOut
from drift.core.deadline import Deadline
from drift.core.errors import (
    DriftError,
    ModelUnavailableError,
    NotConfiguredError,
    UnusableReplyError,
)
from drift.http.settings import load
from drift.http.wiring import build_service
from drift.llm.rerank import CohereReranker, rerank_url
from drift.local.retrieval.documents import FoundDocument, by_best_passage
from drift.model.calls import Relevances
from drift.model.graph import Candidate, Candidates, Chunk, Evidence, PrimerEvidence
from drift.model.health import Readiness
from drift.model.passages import Passage
from drift.search.evidence import scores
from drift.search.ranking import ranked
from drift.search.reranking import MOST_TEXTS, relevance
from tests.fake_service import LOCAL, fake_service
from tests.fakes import ScriptedChat, StubGraph, allowed, chunk, ports, request
from tests.unit.searching import FOUND, TRACED, Run, own_chunk, script

GIVEN = {"RERANK_URL": "https://api.cohere.com", "RERANK_MODEL": "rerank-v4.0-fast"}


class Oracle:
    """Reranker that knows by a text how relevant it is; an error in its place is raised."""

    def __init__(self, knows: Callable[[str], float] | DriftError) -> None:
        self.knows = knows
        self.asked: list[tuple[str, tuple[str, ...]]] = []

    async def rerank(self, question: str, texts: Sequence[str], deadline: Deadline) -> Relevances:
        deadline.require()
        self.asked.append((question, tuple(texts)))
        if isinstance(self.knows, DriftError):
            raise self.knows
        return Relevances(tuple(map(self.knows, texts)))

    async def health(self) -> Readiness:
        return Readiness.ok()


def found(number: int, **more: Any) -> Candidates:
    """Return candidates of which the first is the nearest, each of a document of its own."""
    chunks = (chunk(f"c{at:03}", document=f"d{at}") for at in range(number))
    return Candidates(tuple(Candidate(c, 1 - at / 1000) for at, c in enumerate(chunks)), **more)


def ids(evidence: Evidence) -> list[str]:
    return [one.id for one in evidence.chunks]


# ------------------------------------------------------------------------------------------- order
@pytest.mark.parametrize(
    ("told", "order"),
    [
        ([0.001, 0.002, 0.02], "021"),
        ([-9.0, -8.0, 5.0], "021"),
        ([0.5, 0.5, 0.5], "012"),
        ([0.9, 0.1, 0.1], "012"),
        ([0.0, 1.0, 0.0], "102"),
    ],
)
def test_a_rank_is_half_ours_and_half_the_rerankers_on_any_scale(
    told: list[float], order: str
) -> None:
    candidates = found(3)
    by_id = dict(zip((c.chunk.id for c in candidates.chunks), told, strict=True))
    assert [id_[-1] for id_ in ids(ranked(candidates, "", by_id))] == list(order)


def test_what_was_wished_for_or_follows_keeps_its_place() -> None:
    behind, wished = chunk("behind"), chunk("wished")
    first, *others = found(5).chunks
    candidates = Candidates((replace(first, following=behind), *others), pinned=(wished,))
    told = {c.chunk.id: float(at) for at, c in enumerate(candidates.chunks)}
    told |= {"c000": 9.0}
    assert ids(ranked(candidates, "", told))[:3] == ["c000", "wished", "behind"]


def test_a_copy_of_a_better_passage_stays_behind_whatever_it_is_told() -> None:
    text = "The old mill on the Danube was built by Ada and burnt down in the same year."
    texts = (text, f"{text} ", "Ulm has a minster.", "Linz has a castle.")
    pool = tuple(
        Candidate(Chunk(str(at), one, str(at)), 1 - at / 10) for at, one in enumerate(texts)
    )
    assert ids(ranked(Candidates(pool), "", {"0": 1.0, "1": 1.0, "2": 0.0, "3": 0.0}))[:2] == [
        "0",
        "2",
    ]


async def test_a_passage_is_sent_below_its_names_and_cut_and_of_many_the_best_are_sent() -> None:
    oracle = Oracle(lambda _: 0.5)
    long = Chunk("long", "word " * 1000, "Handbook", heading="Berths > Rules")
    candidates = Candidates((Candidate(long, 0.999), *found(150).chunks))
    told = await relevance(oracle, "q", candidates.chunks, Deadline.after(9))
    ((question, texts),) = oracle.asked
    assert question == "q"
    assert len(texts) == len(told) == MOST_TEXTS
    sent = next(text for text in texts if text.startswith("Handbook\nBerths > Rules\nword word"))
    assert len(sent) <= 2000
    assert {"c000", "long"} <= told.keys()
    assert "c149" not in told
    assert await relevance(oracle, "q", candidates.chunks[:1], Deadline.after(9)) == {}
    assert len(oracle.asked) == 1


async def test_gold_passages_come_first_in_evidence() -> None:
    gold = {"c040", "c044", "c047"}
    oracle = Oracle(lambda text: float(any(name in text for name in gold)))
    graph = StubGraph(PrimerEvidence())
    graph.followup = lambda _query, _deadline: answered(found(48))
    servers = replace(ports(graph, ScriptedChat({})), reranker=oracle)
    asked = request(top_k=5)

    async def best(servers: Any) -> list[str]:
        finding = await fake_service(servers).start_evidence(allowed(), asked, "r")
        passages = (await finding).passages
        assert [one.score for one in passages] == sorted((p.score for p in passages), reverse=True)
        return [one.chunk_id for one in passages]

    assert not gold & set(await best(replace(servers, reranker=None)))
    assert set((await best(servers))[:4]) == {*gold, "c000"}


async def answered(candidates: Candidates) -> Candidates:
    return candidates


# ------------------------------------------------------------------------------------------ failure
@pytest.mark.parametrize("error", [ModelUnavailableError("gone"), UnusableReplyError("filter")])
async def test_without_an_answer_the_order_stays_and_the_trace_says_so(error: DriftError) -> None:
    servers = ports(StubGraph(FOUND, three), ScriptedChat(script()))
    without = await Run(servers)(TRACED)
    run = Run(replace(servers, reranker=Oracle(error)))
    lost = await run(TRACED)
    assert lost.trace.reranking == "lost"
    assert "reranking" not in without.to_json()
    assert lost.key_facts == without.key_facts
    assert lost.residual_uncertainty == without.residual_uncertainty
    assert (await run(request())).trace is None


async def test_an_answer_that_lost_its_reranker_is_not_kept() -> None:
    kept: list[Any] = []

    class Slot:
        async def recall(self, _shape: Any, _deadline: Deadline) -> None:
            return None

        def keep(self, answer: Any) -> None:
            kept.append(answer)

    for knows, number in ((ModelUnavailableError("gone"), 0), (len, 1)):
        servers = ports(StubGraph(FOUND, three), ScriptedChat(script()))
        service = fake_service(replace(servers, reranker=Oracle(knows)))
        service.answers = lambda _project, _asked: Slot()
        await (await service.start(allowed(), request(), "r"))
        assert len(kept) == number


def three(query: Any) -> Evidence:
    """Return the chunk of a question, and two others."""
    return Evidence(
        (*own_chunk(query).chunks, chunk("one", document="a"), chunk("b", document="b"))
    )


# ------------------------------------------------------------------------------------------- scores
@given(st.lists(st.none() | st.floats(-1, 1), min_size=1, max_size=30))
def test_scores_never_rise_and_say_how_near_it_is_or_what_stands_behind(
    cosines: list[float | None],
) -> None:
    chunks = [Chunk(str(at), "", "", score=2.0 / (at + 1)) for at in range(len(cosines))]
    known = Known({str(at): Passage(str(at), one) for at, one in enumerate(cosines)})
    told = scores(chunks, known)
    assert told == sorted(told, reverse=True)
    assert all(0 <= score <= 1 for score in told)
    near = [round(max(0.0, one or 0.0), 2) for one in cosines]
    if any(one is not None for one in cosines):
        assert told == [max(near[at:]) for at in range(len(near))]


def test_a_threshold_cuts_what_stands_last_and_not_what_words_have_found() -> None:
    chunks = [Chunk(name, "", "") for name in ("right", "near", "far")]
    cosines = {"right": 0.2, "near": 0.6, "far": 0.1}
    known = Known({name: Passage(name, cosine) for name, cosine in cosines.items()})
    assert scores(chunks, known) == [0.6, 0.6, 0.1]


def test_without_vectors_scores_are_those_of_the_ranking() -> None:
    chunks = [Chunk("a", "", "", score=1.4), Chunk("b", "", "", score=0.3)]
    assert scores(chunks, Known()) == [1.0, 0.3]
    assert scores([], Known()) == []


def test_documents_are_ranked_by_their_best_passages() -> None:
    def near(path: str, cosine: float) -> FoundDocument:
        return FoundDocument(path, "nearest", cosine, path, path.upper(), cosine)

    def passage(path: str, text: str, score: float) -> PassageOut:
        named = {"document_id": path, "document_name": path.upper(), "label": f"{path}:1"}
        return PassageOut(chunk_id=text, text=text, score=score, **named)

    documents = [near("a", 0.9), near("b", 0.8), near("c", 0.7)]
    passages = [passage("b", "b1", 0.6), passage("z", "z1", 0.5), passage("b", "b2", 0.4)]
    told = by_best_passage(documents, passages)
    assert [(one.path, one.content, one.cosine) for one in told] == [
        ("b", "b1", 0.8),
        ("z", "z1", None),
        ("a", "nearest", 0.9),
        ("c", "nearest", 0.7),
    ]
    assert [one.confidence for one in told] == [0.9, 0.9, 0.9, 0.7]
    assert by_best_passage(documents, []) == documents


# ------------------------------------------------------------------------------------------- wiring
@pytest.mark.parametrize(
    ("given_url", "called"),
    [
        ("https://api.cohere.com", "https://api.cohere.com/v2/rerank"),
        ("https://api.cohere.com/", "https://api.cohere.com/v2/rerank"),
        ("https://api.jina.ai/v1", "https://api.jina.ai/v1/rerank"),
        ("http://127.0.0.1:8080/rerank", "http://127.0.0.1:8080/rerank"),
        ("http://127.0.0.1:8080/rerank/", "http://127.0.0.1:8080/rerank"),
        ("https://llm.example.com/cohere", "https://llm.example.com/cohere/v2/rerank"),
        (
            "https://one.services.ai.azure.com",
            "https://one.services.ai.azure.com/providers/cohere/v2/rerank",
        ),
        (
            "https://one.services.ai.azure.com/providers/cohere",
            "https://one.services.ai.azure.com/providers/cohere/v2/rerank",
        ),
        (
            "https://one.services.ai.azure.com/providers/cohere/v2/rerank",
            "https://one.services.ai.azure.com/providers/cohere/v2/rerank",
        ),
        ("https://x.eastus.models.ai.azure.com", "https://x.eastus.models.ai.azure.com/v2/rerank"),
        ("https://a.example.com/v1/rerank?key=1", "https://a.example.com/v1/rerank?key=1"),
    ],
)
def test_texts_are_ranked_at_an_address_that_need_not_be_whole(given_url: str, called: str) -> None:
    assert rerank_url(given_url) == called


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"RERANK_MODEL": " "}, "RERANK_MODEL: is needed with RERANK_URL"),
        ({"RERANK_URL": "http://rerank.example.com"}, "RERANK_URL: would be spoken to without"),
        ({"RERANK_URL": "api.cohere.com"}, "RERANK_URL: must be a URL"),
        ({"RERANK_KEY": "schl\u00fcssel"}, "RERANK_KEY: holds characters that no key has"),
    ],
)
def test_wrong_settings_are_named(changes: dict[str, str], says: str) -> None:
    with pytest.raises(NotConfiguredError, match=says):
        load({**LOCAL, **GIVEN, **changes})
    assert load({**LOCAL, "RERANK_MODEL": "m"}).rerank_url is None


def test_the_settings_make_a_reranker_that_searches_ask_and_health_looks_at() -> None:
    without = build_service(load(LOCAL))
    assert without.ports.reranker is None
    assert "reranker" not in {check.name for check in without.health.checks()}
    built = build_service(load({**LOCAL, **GIVEN, "RERANK_KEY": "k1"}))
    reranker = built.ports.reranker
    assert isinstance(reranker, CohereReranker)
    assert (reranker.url, reranker.model) == (
        "https://api.cohere.com/v2/rerank",
        GIVEN["RERANK_MODEL"],
    )
    assert reranker.client.api_key == "k1"
    (check,) = (check for check in built.health.checks() if check.name == "reranker")
    assert not check.required
    assert reranker.close in built.closers


def test_in_foundry_a_token_takes_the_place_of_a_key_and_goes_nowhere_else() -> None:
    for url, is_signed in (("https://one.services.ai.azure.com", True), ("https://a.com", False)):
        values = load({**LOCAL, **GIVEN, "RERANK_URL": url})
        client = build_service(values).ports.reranker.client
        assert (client._api_key_provider is not None) is is_signed
        assert is_signed or client.api_key == "none"
