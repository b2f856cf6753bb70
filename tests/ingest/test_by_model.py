"""Knowledge by a model: what is asked, what is kept of it, and what a reply cannot do."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from drift.core.deadline import Deadline
from drift.core.errors import (
    ModelMisconfiguredError,
    ModelUnavailableError,
    UnusableReplyError,
)
from drift.graph.writing.records import EntityRecord
from drift.indexing.documents import SourceDocument
from drift.local.ingest import pipeline
from drift.local.ingest.by_model import estimate
from drift.local.ingest.by_model.facts import ChunkFacts, FactsReply, checked
from drift.local.ingest.by_model.merging import merge, merge_alike
from drift.local.ingest.by_model.writing import ByModel
from drift.local.ingest.report import IngestReport
from drift.local.ingest.sources import Source
from drift.local.model_server import extractive
from drift.model.calls import ChatReply, Prompt, TextCallback, Tokens
from drift.model.health import Readiness
from tests.ingest.fakes import MemoryWriter, context

PROJECT = "people"
Answer = Callable[[Prompt], str]


class Model:
    """A chat model of which a test says what it answers; it counts what it is asked."""

    longest_prompt = None

    def __init__(self, answer: Answer | None = None) -> None:
        self.answer = answer or (lambda prompt: extractive.reply(prompt.name, prompt.user))
        self.asked: list[Prompt] = []

    async def complete(
        self, prompt: Prompt, deadline: Deadline, hear: TextCallback | None = None
    ) -> ChatReply:
        del deadline, hear
        self.asked.append(prompt)
        return ChatReply(self.answer(prompt), Tokens(1000, 100))

    async def health(self) -> Readiness:
        return Readiness.ok()

    def of(self, name: str) -> list[Prompt]:
        return [prompt for prompt in self.asked if prompt.name == name]


def failing(error: Exception) -> Answer:
    def answer(_: Prompt) -> str:
        raise error

    return answer


def told_of(number: int) -> SourceDocument:
    text = "\n\n".join(
        f"Ellen Harlow {number}{step} met Karl Weber near the harbour of Port Ellen that day. "
        f"She gave him letter {step} of volume {number}, which nobody had ever read before. " * 4
        for step in range(4)
    )
    return SourceDocument(f"{number}.md", f"Volume {number}", text, "text")


DOCUMENTS = tuple(told_of(number) for number in range(6))


async def ingest(
    writer: MemoryWriter,
    by_model: ByModel | None,
    documents: Iterable[SourceDocument] = DOCUMENTS,
    said: list[str] | None = None,
) -> IngestReport:
    return await pipeline.ingest(
        Source("letters", tuple(documents)),
        PROJECT,
        context(
            writer,
            model="hash",
            by_model=by_model,
            say=[].append if said is None else said.append,
        ),
    )


# ---------------------------------------------------------------------------------------- the story
async def test_topics_have_reports_and_chunks_have_facts_with_evidence() -> None:
    writer, model, said = MemoryWriter(), Model(), list[str]()
    await ingest(writer, ByModel(model, "m", "graph"), said=said)
    knowledge = writer.project(PROJECT).knowledge
    texts = {c.id: c.text for own in writer.project(PROJECT).chunks.values() for c in own}

    assert all("Answers: What is said of" in one.summary for one in knowledge.communities)
    assert {"Karl Weber", "Port Ellen"} <= {one.title for one in knowledge.entities}
    assert knowledge.relations
    titles = {one.id: one.title for one in knowledge.entities}
    for one in knowledge.relations:
        assert one.sentence in texts[one.chunk_id]
        assert titles[one.source_id] in one.sentence
    placed = {id_ for one in knowledge.communities for id_ in one.entity_ids}
    assert placed == titles.keys()
    assert len(said) == 2
    assert said[0].startswith("Asking m for knowledge: about")


async def test_nothing_is_asked_twice() -> None:
    writer, model = MemoryWriter(), Model()
    await ingest(writer, ByModel(model, "m", "graph"))
    before = writer.project(PROJECT).knowledge
    asked = len(model.asked)

    again = await ingest(writer, ByModel(model, "m", "graph"))
    assert not again.wrote
    less = await ingest(writer, ByModel(model, "m", "reports"))
    assert not less.wrote
    none = await ingest(writer, None)
    assert not none.wrote
    assert len(model.asked) == asked

    other = SourceDocument(
        DOCUMENTS[-1].id, DOCUMENTS[-1].title, "Something else is told. " * 9, "text"
    )
    changed = (*DOCUMENTS[:-1], other)
    await ingest(writer, None, changed)
    after = writer.project(PROJECT).knowledge
    assert len(model.asked) == asked
    assert {one.title for one in after.entities} <= {one.title for one in before.entities}
    assert after.relations, "what was paid for is used without a model as well"

    await ingest(writer, ByModel(model, "m", "graph"), changed)
    assert len(model.of("facts_reply")) == 2, "one call more: for the chunk that is new"


async def test_what_has_no_sentence_is_not_read() -> None:
    table = (
        "| Harbour | Depth |\n| --- | --- |\n" + "| Port Ellen | 12 |\n| Port Askaig | 9 |\n" * 9
    )
    documents = (*DOCUMENTS, SourceDocument("table.md", "Depths", table, "markdown"))
    writer, model = MemoryWriter(), Model()
    await ingest(writer, ByModel(model, "m", "graph"), documents)
    assert model.of("facts_reply")
    assert not [prompt.name for prompt in model.asked if "Port Askaig" in prompt.user]
    assert not (await ingest(writer, ByModel(model, "m", "graph"), documents)).wrote


async def test_a_removed_document_takes_what_was_replied_about_it_with_it() -> None:
    writer = MemoryWriter()
    await ingest(writer, ByModel(Model(), "m", "graph"))
    await ingest(writer, None, DOCUMENTS[:1])
    texts = json.dumps([reply.text for reply in writer.replies.values()])
    assert "Harlow 51 met" not in texts
    assert "Harlow 01 met" in texts

    await pipeline.remove(None, PROJECT, context(writer))
    assert not writer.replies


async def test_another_model_writes_anew_and_the_first_is_not_paid_again() -> None:
    writer, one, other = MemoryWriter(), Model(), Model()
    await ingest(writer, ByModel(one, "one", "reports"))
    await ingest(writer, ByModel(other, "other", "reports"))
    assert len(one.asked) == len(other.asked) > 0

    await ingest(writer, ByModel(one, "one", "reports"))
    assert len(one.asked) == len(other.asked)


@pytest.mark.parametrize("killed_at", range(10))
async def test_a_run_that_is_killed_loses_no_reply(killed_at: int) -> None:
    class KilledError(BaseException):
        pass

    def answer(prompt: Prompt) -> str:
        if len(model.asked) > killed_at:
            raise KilledError
        return extractive.reply(prompt.name, prompt.user)

    writer, model, whole = MemoryWriter(), Model(), Model()
    await ingest(MemoryWriter(), ByModel(whole, "m", "graph"))
    model.answer = answer
    killed = killed_at < len(whole.asked)
    if killed:
        with pytest.raises(BaseException) as raised:  # noqa: PT011 - alone or in a group
            await ingest(writer, ByModel(model, "m", "graph"))
        assert "KilledError" in repr(raised.value)
    paid = len(model.asked) - (len(model.asked) - killed_at if killed else 0)

    rest = Model()
    await ingest(writer, ByModel(rest, "m", "graph"))
    assert paid + len(rest.asked) == len(whole.asked)


# --------------------------------------------------------------------------------------- the budget
async def test_a_budget_is_kept_and_the_next_run_goes_on() -> None:
    writer, said = MemoryWriter(), list[str]()
    model, whole = Model(), Model()
    await ingest(MemoryWriter(), ByModel(whole, "m", "graph"))
    await ingest(writer, ByModel(model, "m", "graph", most_tokens=4_000), said=said)
    assert 0 < 1_100 * len(model.asked) <= 4_000
    assert "The same command goes on from there." in said[-1]

    await ingest(writer, ByModel(model, "m", "graph"))
    assert len(model.asked) == len(whole.asked)
    assert writer.project(PROJECT).knowledge.relations


def test_an_estimate_is_of_what_is_missing() -> None:
    assert estimate.estimate("none", [9_000], 1, [9_000], 4).tokens == 0
    reports = estimate.estimate("reports", [20_000] * 10, 2, [], 4)
    graph = estimate.estimate("graph", [20_000] * 10, 2, [1_000] * 200, 4)
    assert reports.calls == 12
    assert graph.calls == 12 + 9
    assert graph.tokens > reports.tokens
    assert estimate.of_new_documents("graph", [], 4).calls == 0


# -------------------------------------------------------------------------------- replies that fail
@pytest.mark.parametrize(
    ("error", "asked"),
    [(ModelUnavailableError("down"), range(3, 7)), (ModelMisconfiguredError("key"), range(1, 5))],
)
async def test_a_model_that_is_down_costs_no_document(error: Exception, asked: range) -> None:
    writer, said = MemoryWriter(), list[str]()
    model = Model(failing(error))
    report = await ingest(writer, ByModel(model, "m", "graph"), said=said)
    assert report.communities
    assert len(model.asked) in asked
    assert "the model does not answer" in said[-1]

    working = Model()
    await ingest(writer, ByModel(working, "m", "graph"))
    assert writer.project(PROJECT).knowledge.relations


@pytest.mark.parametrize("detail", ["refused", "content_filter", "length", "empty"])
async def test_a_reply_of_no_use_leaves_the_extracted_summary(detail: str) -> None:
    writer, said, plain = MemoryWriter(), list[str](), MemoryWriter()
    await ingest(plain, None)
    model = Model(failing(UnusableReplyError(detail)))
    await ingest(writer, ByModel(model, "m", "graph"), said=said)
    extracted = {c.community: c.summary for c in plain.project(PROJECT).knowledge.communities}
    kept = writer.project(PROJECT).knowledge

    assert {c.community: c.summary for c in kept.communities} == extracted
    assert not kept.entities
    assert "no reply could be used" in said[-1]
    again = Model()
    await ingest(writer, ByModel(again, "m", "graph"))
    assert not again.asked, "a refusal is paid once"


async def test_a_reply_of_another_shape_says_nothing_of_entities() -> None:
    writer, said = MemoryWriter(), list[str]()
    report = json.dumps({"title": "Letters", "summary": "Letters were given."})
    await ingest(writer, ByModel(Model(lambda _: report), "m", "graph"), said=said)
    assert {c.title for c in writer.project(PROJECT).knowledge.communities} == {"Letters"}
    assert "no reply could be used" in said[-1]


async def test_a_cut_reply_is_asked_for_in_halves() -> None:
    def answer(prompt: Prompt) -> str:
        if prompt.name == "facts_reply" and prompt.user.count("<chunk") > 3:
            raise UnusableReplyError("length")
        return extractive.reply(prompt.name, prompt.user)

    writer, whole = MemoryWriter(), MemoryWriter()
    await ingest(writer, ByModel(Model(answer), "m", "graph"))
    await ingest(whole, ByModel(Model(), "m", "graph"))
    found = {one.title for one in writer.project(PROJECT).knowledge.entities}
    assert found == {one.title for one in whole.project(PROJECT).knowledge.entities}


async def test_the_same_page_fifty_times_is_asked_about_once() -> None:
    copies = [replace(DOCUMENTS[0], id=f"copy{n}.md") for n in range(50)]
    writer, model = MemoryWriter(), Model()
    await ingest(writer, ByModel(model, "m", "graph"), copies)
    assert len(model.of("facts_reply")) == 1
    weber = next(e for e in writer.project(PROJECT).knowledge.entities if e.title == "Karl Weber")
    assert len(set(weber.chunk_ids)) >= 50


# --------------------------------------------------------------------------------------- the checks
SENTENCES = (
    ("Ellen Harlow founded the Harlow Trust.", "She left it to Karl Weber.", "It rained in York."),
    ("Nobody knew the Trust.",),
)


def facts_of(entities: list[object], relations: list[object] = []) -> list[ChunkFacts]:  # noqa: B006 - not changed
    reply = FactsReply.model_validate({"entities": entities, "relations": relations})
    return checked(reply, SENTENCES)


def relation(source: str, target: str, at: str) -> dict[str, str]:
    return {"from": source, "to": target, "says": "knew", "at": at}


def test_names_stand_letter_for_letter() -> None:
    harlow, second = facts_of(
        [
            {"name": "Ellen Harlow", "type": "Person", "also": ["Mrs Harlow", "She"]},
            {"name": "The Harlow Trust", "type": "Organisation", "also": ["Harlow Trust", "Trust"]},
            {"name": "Karl Webe", "type": "person"},
            {"name": "U.S; Route", "type": "road"},
            {"name": "the", "type": "word"},
            {"name": "", "type": "nothing"},
        ]
    )
    assert [(one.name, one.also) for one in harlow.entities] == [
        ("Ellen Harlow", ()),
        ("Harlow Trust", ("Trust",)),
    ]
    assert [one.name for one in second.entities] == ["Harlow Trust"]


def test_a_sentence_bears_its_relation_out() -> None:
    people = [{"name": name} for name in ("Ellen Harlow", "Harlow Trust", "Karl Weber", "York")]
    first, second = facts_of(
        people,
        [
            relation("Ellen Harlow", "Harlow Trust", "K1.1"),
            relation("Ellen Harlow", "Karl Weber", "K1.2"),  # a pronoun stands for her
            relation("Ellen Harlow", "Karl Weber", "K1.1"),
            relation("Ellen Harlow", "York", "K1.4"),
            relation("Ellen Harlow", "York", "K9.1"),
            relation("Ellen Harlow", "Ellen Harlow", "K1.1"),
            relation("Ellen Harlow", "Somebody", "K1.1"),
            relation("Ellen Harlow", "Karl Weber", "somewhere"),
        ],
    )
    assert [one.sentence for one in first.relations] == list(SENTENCES[0][:2])
    assert not second.relations


def test_a_chunk_carries_no_more_relations_than_its_sentences() -> None:
    names = [{"name": "Ellen Harlow"}, {"name": "Harlow Trust"}]
    many = [relation("Ellen Harlow", "Harlow Trust", "K1.1")] * 500
    first, _ = facts_of(names, many)
    assert len(first.relations) == 2 * len(SENTENCES[0])


WORDS = st.sampled_from(["Harlow", "Trust", "York", "Ulm"]) | st.text()
VALUES = st.recursive(
    st.none() | WORDS | st.integers(), lambda inner: st.lists(inner, max_size=3), max_leaves=5
)


@given(name=WORDS | VALUES, relations=st.just([]) | VALUES)
@settings(max_examples=60)
def test_any_list_of_names_is_read_or_refused(name: object, relations: object) -> None:
    with suppress(ValidationError):
        reply = FactsReply.model_validate({"entities": [{"name": name}], "relations": relations})
        for facts, told in zip(checked(reply, SENTENCES), SENTENCES, strict=True):
            assert all(one.name in " ".join(told) for one in facts.entities)


# -------------------------------------------------------------------------------------- the merging
def entity(title: str, number: int, vector: tuple[float, ...] = (1.0, 0.0)) -> EntityRecord:
    return EntityRecord(title, title, "", tuple(map(str, range(number))), vector, type="person")


@pytest.mark.parametrize(
    ("titles", "left"),
    [
        (("Ellen Harlow", "Harlow"), {"Ellen Harlow"}),
        (("Ellen Harlow", "Karl Harlow", "Harlow"), {"Ellen Harlow", "Karl Harlow", "Harlow"}),
        (("Friedrich Nietzsche", "Friedrich Nietsche"), {"Friedrich Nietzsche"}),
        (("World War I", "World War II"), {"World War I", "World War II"}),
        (("Python 2", "Python 3"), {"Python 2", "Python 3"}),
        (("Anna", "Anne"), {"Anna", "Anne"}),
    ],
)
def test_names_nearly_alike_become_one_where_only_one_fits(
    titles: tuple[str, ...], left: set[str]
) -> None:
    made = [entity(title, 9 - at) for at, title in enumerate(titles)]
    joined, _ = merge_alike(made, [])
    assert {one.title for one in joined} == left
    assert {name for one in joined for name in (one.title, *one.also)} == set(titles)


def test_what_means_something_else_stays_apart() -> None:
    made = [entity("Ellen Harlow", 3), entity("Harlow", 2, (0.0, 1.0))]
    assert len(merge_alike(made, [])[0]) == 2


def read(entities: list[dict[str, object]]) -> ChunkFacts:
    return ChunkFacts.model_validate({"entities": entities})


def test_spellings_of_one_name_are_one_entity() -> None:
    told = {
        "a": read([{"name": "Ellen Harlow", "also": ["Nell"]}]),
        "b": read([{"name": "ellen harlow"}, {"name": "Nell"}]),
    }
    ((one,), relations) = merge(told)
    assert (one.title, set(one.also)) == ("Ellen Harlow", {"Nell", "ellen harlow"})
    assert one.chunk_ids == ("a", "b")
    assert not relations
