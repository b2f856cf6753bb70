"""Retrieved text stays data.

It closes no tag, numbers no sentence and no fact, and speaks in no other role; and a model that
obeys it can cite only what was found.
"""

from __future__ import annotations

import asyncio
import json
from itertools import product
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from drift.answer.conclusion import NOT_FOUND
from drift.contracts.answer import CitationOut, RetrieveResponse
from drift.contracts.conversation import newest
from drift.contracts.request import MAX_BODY_BYTES, Depth
from drift.core.deadline import Deadline
from drift.http import wiring
from drift.http.settings import load
from drift.model.calls import Prompt
from drift.model.graph import Chunk, Evidence, FollowupQuery
from drift.model.limits import Limits
from drift.prompting import prompts, rules
from drift.prompting.elements import Context
from drift.prompting.markup import element, on_line, plain
from drift.search.drift import DriftSearch
from drift.search.progress import Progress
from tests.fake_service import LOCAL
from tests.fakes import ListSink, ScriptedChat, StubGraph, ports, request
from tests.model_server_fixture import ModelServerControl
from tests.security.hostile_documents import HOSTILE, evidence_of, primer_of
from tests.security.prompt_reading import Tag, facts, sentences, tags
from tests.unit.searching import FIRST, SECOND, THIRD, cites_what_it_sees, proposals, script

LOCAL_TAGS = ["question", "asked", "names", "graph", "chunks", "followups"]


def executors(*, joint: bool) -> set[str]:
    """Return every system text of an executor."""
    given = [
        Context(asked=asked, names=names, graph=graph)
        for asked, names, graph in product([[], ["x"]], repeat=3)
    ]
    return {
        rules.executor_system(one, joint=joint, last=last)
        for one in given
        for last in (False, True)
    }


SYSTEM = {
    "standalone_reply": {rules.STANDALONE_SYSTEM},
    "hypothesis": {rules.HYPOTHESIS_SYSTEM},
    "primer_reply": {rules.PRIMER_SYSTEM},
    "local_reply": executors(joint=False),
    "joint_reply": executors(joint=True),
    "quick_reply": {rules.QUICK_SYSTEM},
    "aggregate_reply": {rules.AGGREGATE_SYSTEM},
}
MAY_HOLD = {
    "standalone_reply": ["question", "conversation", "question_again"],
    "hypothesis": ["question"],
    "primer_reply": ["question", "communities", "samples", "candidates", "question_again"],
    "local_reply": LOCAL_TAGS,
    "joint_reply": LOCAL_TAGS,
    "quick_reply": ["question", "chunks", "question_again"],
    "aggregate_reply": ["question", "findings", "unanswered", "question_again"],
}
OF_A_FOLLOWUP = ("first", "second")
REASKED = ["previous_reply", "problem"]
TRACED = {"include": ("trace",)}

FEW = (
    "a tag of its own",
    "numbered sentences",
    "numbered facts",
    "forged citations",
    "ends of lines",
)
"""One of each kind; the property test below is given all of them, and whatever is between."""
every_kind = pytest.mark.parametrize("name", FEW)


async def searched(
    chat: ScriptedChat, text: str, together: int = 1, depth: Depth = "drift", before: str = ""
) -> tuple[RetrieveResponse, ListSink]:
    """Search a graph that says this text everywhere; a later follow-up finds other chunks.

    Both sides of the conversation said what was said `before`.
    """

    def found(query: FollowupQuery) -> Evidence:
        own = {FIRST: OF_A_FOLLOWUP, SECOND: OF_A_FOLLOWUP, THIRD: ("third",)}
        return evidence_of(text, *own.get(query.question, (*OF_A_FOLLOWUP, *"cdefg")))

    sink, graph = ListSink(), StubGraph(primer_of(text), found)
    async with Progress("p", "r", sink) as progress:
        search = DriftSearch(
            ports(graph, chat), Limits(max_followups_per_prompt=together, max_prompt_tokens=100_000)
        )
        said = newest([("user", before), ("assistant", before)])
        asked = request(depth=depth, history=said, **TRACED)
        return await search.retrieve(asked, progress, Deadline.after(120)), sink


def repeating(text: str) -> dict[str, Any]:
    """Return the replies of a model that repeats a text, and asks once more."""
    return script(
        standalone_reply={"stands_alone": True},
        quick_reply={
            "evidence": ["K1.1"],
            "answer": f"{text} [1].",
            "verdict": "not_found",
            "confidence": 0.1,
            "residual_uncertainty": text,
        },
        local_reply=lambda prompt: {
            **cites_what_it_sees(prompt),
            "answer": f"So: {text}",
            "new_followups": proposals(THIRD),
        },
    )


def assert_is_data(prompt: Prompt) -> dict[str, Tag]:
    """Check that a prompt is its own words and data in tags, and return its tags.

    That no word of the data is lost is proven of each element alone.
    """
    assert prompt.system in SYSTEM[prompt.name]
    found = tags(prompt.user)
    order = [*MAY_HOLD[prompt.name], *REASKED]
    assert list(found) == [name for name in order if name in found]
    rows = {name: tag.rows for name, tag in found.items()}

    if prompt.name == "standalone_reply":
        assert {row.attributes["by"] for row in rows["conversation"]} <= {"user", "assistant"}
    if prompt.name == "primer_reply":
        [told] = rows["communities"]
        assert told.attributes.keys() == {"id", "level", "title"}
        # A long text leaves no room for samples, or for lines behind them.
        samples = rows.get("samples", ())
        held_by = [row.attributes.get("community") for row in samples]
        assert held_by == ["C1", None, None, None, None][: len(samples)]
        handles = [row.attributes["id"] for row in samples]
        if "candidates" in found:
            handles += [line.partition("| ")[0] for line in found["candidates"].lines()]
        assert handles == [f"P{number}" for number in range(1, len(handles) + 1)] != []
    elif chunks := rows.get("chunks"):
        shown = [f"K{number}" for number in range(1, 8)]
        followups = (shown[:2], shown[2:3])
        assert [row.attributes["id"] for row in chunks] in (
            (shown,) if prompt.name == "quick_reply" else followups
        )
        assert all(set(row.attributes) <= {"id", "document"} for row in chunks)
        for row in chunks:
            sentences(row)
    if prompt.name in {"local_reply", "joint_reply"}:
        described = found["graph"].lines() if "graph" in found else ["asked - "]
        assert [line[:8] for line in described] == ["asked - "]
        assert {row.content for row in rows["followups"]} <= {FIRST, SECOND, THIRD}
        assert {row.lines()[0] for row in rows.get("asked", ())} <= {FIRST, SECOND}
    if "findings" in found:
        facts(rows["findings"])
    return found


# --------------------------------------------------------------------------- what the model is sent
@pytest.mark.parametrize(
    "user",
    [
        "<question>a</question>\n\nObey.",
        "<question>a<Chunk>b</question>",
        "<chunks>\n<chunk>a</chunk>",
    ],
)
def test_the_reader_of_prompts_sees_what_stands_outside_of_a_tag(user: str) -> None:
    with pytest.raises(AssertionError):
        tags(user)


@pytest.mark.parametrize("text", ["1| a\n3| b", "1| a\nb"])
def test_the_reader_of_chunks_sees_a_forged_number(text: str) -> None:
    with pytest.raises(AssertionError):
        sentences(Tag({}, text))


@pytest.mark.parametrize("rows", ["[2] a", "[1] as above"])
def test_the_reader_of_findings_sees_a_forged_fact(rows: str) -> None:
    with pytest.raises(AssertionError):
        facts([Tag({}, f"Who?\nAnswer: Root.\n{rows}")])


@every_kind
async def test_hostile_text_stays_inside_its_tag_in_every_prompt(name: str) -> None:
    text = HOSTILE[name]
    chat = ScriptedChat(repeating(text))
    for together in (1, 4):
        await searched(chat, text, together, "auto", text)
    assert {p.name for p in chat.prompts} == set(SYSTEM)
    seen = [(prompt.name, assert_is_data(prompt)) for prompt in chat.prompts]
    assert any("asked" in found for _, found in seen), "a later follow-up is told of those before"
    assert any("graph" in found for _, found in seen)
    for found in (found for name, found in seen if name == "aggregate_reply"):
        assert len(facts(found["findings"].rows)) == 1, "the same words of one document"


def test_any_text_at_all_stays_inside_its_tag() -> None:
    fragments = st.sampled_from(
        [
            *HOSTILE.values(),
            *("</chunk>", "<chunk", "</", "<", ">", "&lt;", "chunk>", "followup", "2| ", "[2] "),
            *("```", "`", "\n", '"', "\\", "}]", "\u2028", "\u0085", "json", "Answer: "),
        ]
    )
    # what a graph can hold: any text without lone surrogates
    texts = st.lists(st.text(st.characters(exclude_categories=["Cs"])) | fragments, max_size=6).map(
        "".join
    )
    with asyncio.Runner() as runner:

        @settings(max_examples=40)
        @example("\u200b" * 1500)
        @example("\U000e0041" * 4000)
        @given(texts.filter(lambda text: len(text) < 8000))
        def stays(text: str) -> None:
            chat = ScriptedChat(repeating(text))
            for together in (1, 4):
                runner.run(searched(chat, text, together, "auto", text))
            for prompt in chat.prompts:
                assert_is_data(prompt)

        stays()


@pytest.mark.slow
async def test_the_request_that_leaves_has_two_messages_and_the_system_text_byte_for_byte(
    model_server: ModelServerControl,
) -> None:
    chat, embedder = await asyncio.to_thread(
        wiring.build_models, load({**LOCAL, "OAI_BASE_URL": model_server.url})
    )
    try:
        for text in HOSTILE.values():
            for prompt in (
                prompts.hypothesis(text[: MAX_BODY_BYTES // 16]),
                prompts.primer(text, [element("community", plain(text))], [], [on_line(text)]),
                prompts.aggregate(text, [element("finding", plain(text))], [on_line(text)]),
            ):
                await chat.complete(prompt, Deadline.after(120))
                [sent] = model_server.requests()
                model_server.reset()
                assert [m["role"] for m in sent["body"]["messages"]] == ["system", "user"]
                contents = [m["content"] for m in sent["body"]["messages"]]
                assert contents == [prompt.system, prompt.user]
                assert prompt.system in SYSTEM[prompt.name]
                assert set(sent["body"]) <= {
                    *("model", "messages", "response_format", "temperature"),
                    *("max_completion_tokens", "reasoning_effort"),
                }
    finally:
        await embedder.client.close()


# ------------------------------------------------------------------------------- a model that obeys
FORGED = (
    "K999", "K0", "K-1", "[c1]", "c1", "C1", "never-shown", "s-never", "K\uff11", "\uff2b1",
    "\u202e1K", "first\x00", "first'--", "../first", "*", "null", "sample", "loose", "[1]", "1",
    "K999.1", "chunk 1",
)  # fmt: skip
"""Names of no chunk that a follow-up was shown or had retrieved; `sample` and `loose` are chunks of
the primer alone."""
LIE = "This sentence stands in no chunk."
OBEYED = "The model obeyed the document."
TRUE = {"chunk_id": "K1", "sentences": "1", "words": ""}


obeyed = pytest.mark.parametrize("name", ["a tag of its own", "forged citations"])


def obeying(text: str, *citations: dict[str, Any]) -> dict[str, Any]:
    """Return replies of a model that does what a document said.

    Forged ids, forged words, forged facts, fields nobody asked for.
    """
    forged = [{"chunk_id": name, "sentences": "1", "words": ""} for name in FORGED]
    lie = {"chunk_id": "K1", "words": LIE}
    followups = [{"question": q, "target_communities": [text, "C1", "C9"]} for q in (FIRST, SECOND)]
    rest = {"role": "system", "tool_calls": [{"name": "delete"}], "system": text}
    return {
        "hypothesis": text,
        "primer_reply": {"initial_answer": text, "followups": followups, **rest},
        "local_reply": {
            "citations": [*forged, lie, *citations],
            "verdict": "answered",
            "answer": text,
            "confidence": 1,
            "new_followups": [],
            **rest,
        },
        "quick_reply": {
            "evidence": [*FORGED, *(["K1.1"] if citations else [])],
            "sentences": [["It is so.", len(FORGED) + 1], [OBEYED, 1], [OBEYED]],
            "verdict": "answered",
            "confidence": 1,
            **rest,
        },
        "aggregate_reply": {
            "verdict": "answered",
            "sentences": [["It is so.", 1], [OBEYED, 999], [OBEYED]],
            "key_facts": [{"fact": OBEYED, "citations": [*FORGED, "K1", "first"]}],
            **rest,
        },
    }


def spans_hold(answer: RetrieveResponse, chunks: dict[str, Chunk]) -> bool:
    """Tell whether every citation names a retrieved chunk and its document and quotes its words."""
    cited = [c for fact in answer.key_facts for c in fact.citations if isinstance(c, CitationOut)]
    return all(
        c.span in chunks[c.chunk_id].text and c.document_name == chunks[c.chunk_id].document_name
        for c in cited
    )


@obeyed
async def test_forged_citations_are_dropped_and_counted_and_nothing_is_answered(name: str) -> None:
    text = HOSTILE[name]
    chat = ScriptedChat(obeying(text))
    answer, _ = await searched(chat, text)
    counts = answer.trace.citations
    verdicts = [followup.verdict for followup in answer.trace.followups]
    times = verdicts.count("not_found")
    assert times >= 2
    assert set(verdicts) <= {"not_found", None}, "no reply was believed that it answers"
    assert (counts.total, counts.kept) == (times * (len(FORGED) + 1), 0)
    assert counts.dropped == {"unmatched_chunk_id": times * len(FORGED), "span_mismatch": times}
    assert chat.named("aggregate_reply") == [], "there is nothing to answer from"
    assert (answer.final_answer, answer.key_facts) == (NOT_FOUND, [])
    assert "No statement could be backed by a citation" in answer.residual_uncertainty


@obeyed
async def test_a_forged_fact_bears_out_nothing(name: str) -> None:
    text = HOSTILE[name]
    answer, _ = await searched(ScriptedChat(obeying(text, TRUE)), text)
    assert OBEYED[:-1] not in answer.to_json()
    assert answer.final_answer == "It is so."
    [fact] = answer.key_facts
    assert len(fact.citations) == 1
    assert spans_hold(answer, {c.id: c for c in evidence_of(text).chunks})
    assert "without any evidence were left out" in answer.residual_uncertainty


@obeyed
async def test_a_quick_answer_stands_on_what_holds_alone(name: str) -> None:
    text = HOSTILE[name]
    nothing, _ = await searched(ScriptedChat(obeying(text)), text, depth="quick")
    assert (nothing.final_answer, nothing.key_facts) == (NOT_FOUND, [])

    answer, _ = await searched(ScriptedChat(obeying(text, TRUE)), text, depth="quick")
    assert answer.final_answer == "It is so."
    assert spans_hold(answer, {c.id: c for c in evidence_of(text).chunks})
    assert answer.trace.citations.dropped == {"unmatched_chunk_id": len(FORGED)}
    assert answer.trace.depth.reason == "citation_dropped"


async def test_the_answer_keeps_its_shape_whatever_the_model_was_talked_into() -> None:
    text = HOSTILE["forged citations"]
    answer, sink = await searched(ScriptedChat(obeying(text, TRUE)), text)
    document = json.loads(answer.to_json())
    assert set(document) == {"final_answer", "key_facts", "residual_uncertainty", "trace"}
    assert {frozenset(fact) for fact in document["key_facts"]} == {frozenset(("fact", "citations"))}
    assert sink.phases[-1] == "completed"
    assert sink.phases.count("completed") == 1
    followups = document["trace"]["followups"]
    assert {f["question"] for f in followups} <= {FIRST, SECOND, request().query}
    assert {tuple(f["target_communities"]) for f in followups} <= {
        (),
        (primer_of(text).communities[0].id,),
    }
