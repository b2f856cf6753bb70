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
from drift.graph.writing.records import CommunityRecord, ModelReply
from drift.indexing.documents import SourceDocument
from drift.indexing.links import place_links
from drift.local.ingest import changes, pipeline, planning
from drift.local.ingest.by_model import Tier
from drift.local.ingest.by_model.borne_out import Shown
from drift.local.ingest.by_model.estimate import Estimate
from drift.local.ingest.by_model.fact_checks import ChunkFacts, FactsReply, checked
from drift.local.ingest.by_model.merging import merge
from drift.local.ingest.by_model.replies import part_of
from drift.local.ingest.by_model.writing import ByModel
from drift.local.ingest.report import IngestReport, Reach
from drift.local.ingest.sources import Source
from drift.local.model_server import extractive
from drift.model.calls import ChatReply, Prompt, TextCallback, Tokens
from drift.model.health import Readiness
from drift.prompting.tokens import most_tokens
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


TRAVELLERS = ("Karl Weber", "Anna Lind", "Otto Braun", "Clara Voss", "Hugo Stern", "Emma Roth")
PORTS = ("Port Ellen", "Loch Indaal", "Bay Harbour", "Ness Quay", "Holm Sound", "Kyle Point")


def told_of(number: int) -> SourceDocument:
    """Return a document about two names of its own; all of them are about Ellen Harlow."""
    text = "\n\n".join(
        f"{TRAVELLERS[number]} left {PORTS[number]} with letter {number}{step} for Ellen Harlow. "
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
    await ingest(writer, ByModel(model, "m", "facts"), said=said)
    knowledge = writer.project(PROJECT).knowledge
    texts = {c.id: c.text for own in writer.project(PROJECT).chunks.values() for c in own}

    assert all("Answers: What is said of" in one.summary for one in knowledge.communities)
    assert {"Karl Weber", "Port Ellen"} <= {one.title for one in knowledge.entities}
    assert knowledge.relations
    titles = {one.id: one.title for one in knowledge.entities}
    for one in knowledge.relations:
        assert one.sentence in texts[one.chunk_id]
        assert titles[one.source_id] in one.sentence
        assert "Ellen Harlow" not in {titles[one.source_id], titles[one.target_id]}
    placed = {id_ for one in knowledge.communities for id_ in one.entity_ids}
    assert placed == titles.keys()
    assert len(said) == 2
    assert said[0].startswith("Asking m for knowledge: about")


async def test_nothing_is_asked_twice() -> None:
    writer, model = MemoryWriter(), Model()
    await ingest(writer, ByModel(model, "m", "facts"))
    before = writer.project(PROJECT).knowledge
    asked = len(model.asked)

    again = await ingest(writer, ByModel(model, "m", "facts"))
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

    await ingest(writer, ByModel(model, "m", "facts"), changed)
    assert len(model.of("facts_reply")) == 2, "one call more: for the chunk that is new"


async def test_what_has_no_sentence_is_not_read() -> None:
    table = (
        "| Harbour | Depth |\n| --- | --- |\n" + "| Port Ellen | 12 |\n| Port Askaig | 9 |\n" * 9
    )
    documents = (*DOCUMENTS, SourceDocument("table.md", "Depths", table, "markdown"))
    writer, model = MemoryWriter(), Model()
    await ingest(writer, ByModel(model, "m", "facts"), documents)
    assert model.of("facts_reply")
    assert not [prompt.name for prompt in model.asked if "Port Askaig" in prompt.user]
    assert not (await ingest(writer, ByModel(model, "m", "facts"), documents)).wrote


async def test_what_is_mostly_links_is_not_read() -> None:
    headlines = [f"Ferry {number} leaves Port Askaig for good." for number in range(12)]
    said = "The ferry to Port Charlotte is told of here, beside other pages that tell of more. "
    texts = {"list.html": headlines, "page.html": [said * 9, *headlines]}
    documents = [
        SourceDocument(
            name,
            name,
            "\n\n".join(lines),
            "text",
            links=place_links(
                "\n\n".join(lines), [(line, f"{line[:7]}.html") for line in headlines]
            ),
        )
        for name, lines in texts.items()
    ]
    writer, model = MemoryWriter(), Model()
    await ingest(writer, ByModel(model, "m", "facts"), (*DOCUMENTS, *documents))
    asked = "".join(prompt.user for prompt in model.of("facts_reply"))
    assert "Port Charlotte" in asked
    assert 'document="list.html"' not in asked


async def test_a_removed_document_takes_what_was_replied_about_it_with_it() -> None:
    writer = MemoryWriter()
    await ingest(writer, ByModel(Model(), "m", "facts"))
    await ingest(writer, None, DOCUMENTS[:1])
    texts = json.dumps([reply.text for reply in writer.replies.values()])
    assert "letter 51 for" not in texts
    assert "letter 01 for" in texts

    await pipeline.remove(None, PROJECT, context(writer))
    assert not writer.replies


async def test_replies_to_former_prompts_go_and_nothing_is_read_for_them() -> None:
    writer = MemoryWriter()
    await ingest(writer, None)
    former = ModelReply("report/0", "m", (part_of("It is there. "),), "", 0)
    await writer.keep_replies(PROJECT, [former])
    await ingest(writer, None, DOCUMENTS[1:])
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
    await ingest(MemoryWriter(), ByModel(whole, "m", "facts"))
    model.answer = answer
    killed = killed_at < len(whole.asked)
    if killed:
        with pytest.raises(BaseException) as raised:  # noqa: PT011 - alone or in a group
            await ingest(writer, ByModel(model, "m", "facts"))
        assert "KilledError" in repr(raised.value)
    paid = len(model.asked) - (len(model.asked) - killed_at if killed else 0)

    rest = Model()
    await ingest(writer, ByModel(rest, "m", "facts"))
    assert paid + len(rest.asked) == len(whole.asked)


# --------------------------------------------------------------------------------------- the budget
async def test_a_budget_is_kept_and_the_next_run_goes_on() -> None:
    writer, said = MemoryWriter(), list[str]()
    model, whole = Model(), Model()
    await ingest(MemoryWriter(), ByModel(whole, "m", "facts"))
    await ingest(writer, ByModel(model, "m", "facts", most_tokens=4_000), said=said)
    assert 0 < 1_100 * len(model.asked) <= 4_000
    assert "The same command goes on from there." in said[-1]

    await ingest(writer, ByModel(model, "m", "facts"))
    assert len(model.asked) == len(whole.asked)
    assert writer.project(PROJECT).knowledge.relations


@pytest.mark.parametrize("tier", ["reports", "facts"])
async def test_an_estimate_is_of_what_is_asked(tier: Tier) -> None:
    told = list[Estimate]()

    def about(expected: Estimate) -> str:
        told.append(expected)
        return ""

    async def planned() -> Estimate:
        source = changes.SourceChanges(Source("letters", DOCUMENTS), PROJECT, "hash")
        return (await planning.plan(source, writer, by_model)).estimate  # type: ignore[arg-type]

    writer, model = MemoryWriter(), Model()
    by_model = ByModel(model, "m", tier, about=about)
    before = await planned()
    await ingest(writer, by_model)
    taken = sum(most_tokens(one.system) + most_tokens(one.user) for one in model.asked) / 1.16
    (known,) = told
    assert known.calls == len(model.asked)
    assert taken <= known.prompt_tokens <= 1.2 * taken, "with the shape that is asked for"
    assert 0.5 * taken <= before.prompt_tokens <= 2 * taken, "with topics by other vectors"


# -------------------------------------------------------------------------------- replies that fail
@pytest.mark.parametrize(
    ("error", "asked"),
    [(ModelUnavailableError("down"), range(3, 7)), (ModelMisconfiguredError("key"), range(1, 5))],
)
async def test_a_model_that_is_down_costs_no_document(error: Exception, asked: range) -> None:
    writer, said = MemoryWriter(), list[str]()
    model = Model(failing(error))
    report = await ingest(writer, ByModel(model, "m", "facts"), said=said)
    assert report.communities
    assert len(model.asked) in asked
    assert "the model does not answer" in said[-1]

    working = Model()
    await ingest(writer, ByModel(working, "m", "facts"))
    assert writer.project(PROJECT).knowledge.relations


@pytest.mark.parametrize("detail", ["refused", "content_filter", "length", "empty"])
async def test_a_reply_of_no_use_leaves_the_extracted_summary(detail: str) -> None:
    writer, said, plain = MemoryWriter(), list[str](), MemoryWriter()
    await ingest(plain, None)
    model = Model(failing(UnusableReplyError(detail)))
    await ingest(writer, ByModel(model, "m", "facts"), said=said)
    extracted = {c.community: c.summary for c in plain.project(PROJECT).knowledge.communities}
    kept = writer.project(PROJECT).knowledge

    assert {c.community: c.summary for c in kept.communities} == extracted
    assert not kept.entities
    assert "no reply could be used" in said[-1]
    again = Model()
    await ingest(writer, ByModel(again, "m", "facts"))
    assert not again.asked, "a refusal is paid once"


async def test_a_reply_of_another_shape_says_nothing_of_entities() -> None:
    writer, said = MemoryWriter(), list[str]()
    report = json.dumps({"title": "Letters", "summary": "Letters were given."})
    await ingest(writer, ByModel(Model(lambda _: report), "m", "facts"), said=said)
    assert {c.title for c in writer.project(PROJECT).knowledge.communities} == {"Letters"}
    assert "no reply could be used" in said[-1]


async def test_a_cut_reply_is_asked_for_in_halves() -> None:
    def answer(prompt: Prompt) -> str:
        if prompt.name == "facts_reply" and prompt.user.count("<chunk") > 3:
            raise UnusableReplyError("length")
        return extractive.reply(prompt.name, prompt.user)

    writer, whole = MemoryWriter(), MemoryWriter()
    await ingest(writer, ByModel(Model(answer), "m", "facts"))
    await ingest(whole, ByModel(Model(), "m", "facts"))
    found = {one.title for one in writer.project(PROJECT).knowledge.entities}
    assert found == {one.title for one in whole.project(PROJECT).knowledge.entities}


async def test_the_same_page_fifty_times_is_asked_about_once() -> None:
    copies = [replace(DOCUMENTS[0], id=f"copy{n}.md", content_hash=str(n)) for n in range(50)]
    writer, model = MemoryWriter(), Model()
    await ingest(writer, ByModel(model, "m", "facts"), copies)
    assert len(model.of("facts_reply")) == 1
    weber = next(e for e in writer.project(PROJECT).knowledge.entities if e.title == "Karl Weber")
    assert len(set(weber.chunk_ids)) >= 50


# --------------------------------------------------------------------------------------- the checks
PAGE = (
    "The Harlow Trust of York was founded in 1923 and holds 4,850 letters from Germany. "
    "Refunds are paid within fourteen days, and a copy costs £2.50. "
    "More than 900 readers come each year, most of them on 3 May. "
    "They pay for it in the last month of the contract."
)


@pytest.mark.parametrize(
    ("said", "holds"),
    [
        ("Letters of the Harlow Trust: refunds and prices", True),
        ("The trust from York has 4850 letters.", True),
        ("German letters cost 2.50 pounds, and refunds take 14 days.", True),
        ("The Harlow Trust was founded in 1924.", False),
        ("The Harlow Trust was active from 1923 to 1950.", False),
        ("The trust was founded on 3 May 1950.", False),
        ("A year brings 1,200 readers to the trust.", False),
        ("The Harlan Trust holds letters.", False),
        ("Its letters, which Winston Churchill wrote, are in York.", False),
        ("Visitors come each year, and letters cost £2.50.", True),
        ("Additionally, letters cost £2.50.", True),
        ("I visitatori pagano £2.50.", True),
        ("Bezoekers betalen £2.50.", True),
        ("Посетители платят £2.50.", True),
        ("Churchill wrote letters, and Churchill came from York.", False),
        ("A refund was paid last year.", False),
        ("Readers pay in the last month of the contract.", True),
        ("Readers paid last month.", False),
        ("Der Harlow Trust hat für die Briefe ein Archiv und zahlt das Geld.", True),
        ("Der Harlow Trust hat die Briefe von Karl Weber und zahlt das Geld.", False),
    ],
)
def test_what_is_said_of_passages_stands_in_them(said: str, holds: bool) -> None:
    assert Shown([PAGE], [said]).bear_out(said) is holds


async def test_of_a_report_only_what_its_passages_bear_out_is_told() -> None:
    def answer(prompt: Prompt) -> str:
        is_topic = "<chunk" in prompt.user
        good = "Ellen Harlow got letters." if is_topic else "Letters are told of."
        said = f"{good} Napoleon read them in 1812. They were long. Letters were given."
        asked = ["Who got letters?", "What did Napoleon read?"]
        title = "Napoleon" if is_topic else "Letters"
        return json.dumps({"title": title, "summary": said, "questions": asked})

    writer, plain = MemoryWriter(), MemoryWriter()
    await ingest(plain, None)
    await ingest(writer, ByModel(Model(answer), "m", "reports"))
    extracted = {c.community: c.title for c in plain.project(PROJECT).knowledge.communities}
    for one in writer.project(PROJECT).knowledge.communities:
        assert one.title == ("Letters" if one.level else extracted[one.community])
        first, asked = one.summary.split("\n")[:2]
        assert first.endswith(". Letters were given.")
        assert "Napoleon" not in one.summary
        assert "They" not in first, "whom it means was told of in what went"
        assert asked == "Answers: Who got letters?"
    assert not [one for one in writer.replies.values() if "Napoleon" in one.text]


async def test_a_report_of_which_nothing_is_left_is_not_paid_again() -> None:
    said = json.dumps({"title": "Napoleon", "summary": "Then Napoleon read them."})
    writer, plain = MemoryWriter(), MemoryWriter()
    await ingest(plain, None)
    await ingest(writer, ByModel(Model(lambda _: said), "m", "reports"))
    assert [c.summary for c in writer.project(PROJECT).knowledge.communities] == [
        c.summary for c in plain.project(PROJECT).knowledge.communities
    ]
    again = Model()
    await ingest(writer, ByModel(again, "m", "reports"))
    assert not again.asked


def test_a_chunk_counts_once_among_those_reported_on() -> None:
    topics = [
        CommunityRecord(n, 0, None, "", "", chunk_ids=own)
        for n, own in enumerate((("a", "b"), ("b", "c")))
    ]
    assert Reach.of_reports(topics).reported == 3


SENTENCES = (
    (
        "Ellen Harlow founded the Harlow Trust.",
        "She left it to nobody.",
        "Karl Weber took it last year from York.",
    ),
    (
        "As always, Harlow Trust pays a refund within fourteen days, and might not pay the post.",
        "It has two offices.",
        "In those days Harlow Trust allegedly did not move to York.",
    ),
)


def facts_of(entities: list[object], facts: list[object] = []) -> list[ChunkFacts]:  # noqa: B006 - not changed
    reply = FactsReply.model_validate({"entities": entities, "facts": facts})
    return checked(reply, SENTENCES)


def fact(subject: str, object_: str, at: str, predicate: str = "knew") -> dict[str, str]:
    return {"subject": subject, "predicate": predicate, "object": object_, "at": at}


def test_names_stand_letter_for_letter() -> None:
    harlow, second = facts_of(
        [
            {"name": "Ellen Harlow", "type": "Person", "also": ["Mrs Harlow", "She"]},
            {"name": "The Harlow Trust", "type": "Organisation", "also": ["Harlow Trust", "Trust"]},
            {"name": "Karl Webe", "type": "person"},
            {"name": "U.S; Route", "type": "road"},
            {"name": "https://harlow.example", "type": "address"},
            {"name": "the", "type": "word"},
            {"name": "", "type": "nothing"},
        ]
    )
    assert [(one.name, one.also) for one in harlow.entities] == [
        ("Ellen Harlow", ()),
        ("Harlow Trust", ("Trust",)),
    ]
    assert [one.name for one in second.entities] == ["Harlow Trust"]


NAMES = [{"name": name} for name in ("Ellen Harlow", "Harlow Trust", "Karl Weber", "York")]


@pytest.mark.parametrize(
    ("given", "holds"),
    [
        (fact("Ellen Harlow", "Harlow Trust", "K1.1"), True),
        (fact("Harlow Trust", "Karl Weber", "K1.1"), False),  # it does not stand there
        (fact("Ellen Harlow", "nobody", "K1.2", "left it to"), False),  # two names before
        (fact("Harlow Trust", "within fourteen days", "K2.1", "pays"), True),
        (fact("Karl Weber", "York", "K1.3", "took it last year from"), True),
        (fact("a refund", "Harlow Trust", "K2.1", "is what is paid by"), True),
        (fact("Harlow Trust", "within 14 days", "K2.1", "pays"), False),  # not its words
        (fact("Harlow Trust", "within fourteen days", "K2.1", "pays 90 pounds"), False),
        (fact("Harlow Trust", "two offices", "K2.2", "has"), True),  # "it", and one name before
        (fact("Harlow Trust", "York", "K2.3", "moved to"), False),
        (fact("Harlow Trust", "York", "K2.3", "allegedly moved to"), False),
        (fact("Harlow Trust", "York", "K2.3", "allegedly did not move to"), True),
        (fact("fourteen days", "a refund", "K2.1"), False),  # of nobody by name
        (fact("Harlow Trust", "", "K2.1"), False),
        (fact("Harlow Trust", "a refund", "K2.9"), False),
        (fact("Harlow Trust", "a refund", "K9.1"), False),
        (fact("Harlow Trust", "a refund", "somewhere"), False),
        (fact("Harlow Trust", "Harlow Trust", "K2.1"), False),
        (fact("Harlow Trust", "Somebody", "K2.1"), False),
    ],
)
def test_a_sentence_bears_its_fact_out(given: dict[str, str], holds: bool) -> None:
    found = [one for facts in facts_of(list(NAMES), [given]) for one in facts.facts]
    assert [one.predicate for one in found] == ([given["predicate"]] if holds else [])
    assert all(one.sentence in {*SENTENCES[0], *SENTENCES[1]} for one in found)


def test_a_chunk_carries_no_more_facts_than_its_sentences() -> None:
    many = [fact("Ellen Harlow", "Harlow Trust", "K1.1")] * 500
    first, _ = facts_of(list(NAMES), list(many))
    assert len(first.facts) == 2 * len(SENTENCES[0])


WORDS = st.sampled_from(["Harlow", "Trust", "York", "Ulm"]) | st.text()
VALUES = st.recursive(
    st.none() | WORDS | st.integers(), lambda inner: st.lists(inner, max_size=3), max_leaves=5
)


@given(name=WORDS | VALUES, facts=st.just([]) | VALUES)
@settings(max_examples=60)
def test_any_list_of_names_is_read_or_refused(name: object, facts: object) -> None:
    with suppress(ValidationError):
        reply = FactsReply.model_validate({"entities": [{"name": name}], "facts": facts})
        for held, told in zip(checked(reply, SENTENCES), SENTENCES, strict=True):
            assert all(one.name in " ".join(told) for one in held.entities)


# -------------------------------------------------------------------------------------- the merging
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


def test_a_fact_of_one_name_is_told_of_it_and_what_all_is_about_has_none() -> None:
    sentence = "Nell pays within fourteen days."
    said = {"predicate": "pays", "object": "within fourteen days", "sentence": sentence}
    own = [{"name": f"Nell {letter}"} for letter in "abcdefg"]
    told = {
        one["name"]: ChunkFacts.model_validate(
            {
                "entities": [one, {"name": "Steam"}],
                "facts": [said | {"subject": one["name"]}, said | {"subject": "Steam"}],
            }
        )
        for one in own
    }
    entities, relations = merge(told)
    assert {one.title: one.description for one in entities} == {"Steam": ""} | {
        one["name"]: sentence for one in own
    }
    assert not relations
