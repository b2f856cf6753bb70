"""Questions about the documents as a whole, and what the project knows of itself."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from drift.contracts.answer import RetrieveResponse
from drift.core.deadline import Deadline
from drift.core.errors import GraphUnavailableError
from drift.evidence.sentences import sentences
from drift.local.prompt_elements import elements
from drift.model.calls import Prompt
from drift.model.graph import Chunk, Community, WholeEvidence, WholeQuery
from drift.model.passages import Passages, PassagesQuery
from drift.model.reading import ABOUT_PROJECT, MOST_KINDS, AboutProject
from drift.search.drift import DriftSearch
from drift.search.progress import Progress
from tests.fakes import Heard, ListSink, StubGraph
from tests.unit.searching import FIRST, FOUND, SECOND, Run, aggregated, primer, run_of, told
from tests.unit.test_quick import QUESTION, asked, by_question, quick

WHOLE = "project:p"
TOPICS = tuple(
    Community(
        number, 0, f"They close at {number}.", f"Port {number}",
        frozenset({f"t{number}", f"u{number}"}),
        (Chunk(f"t{number}", f"Port {number} closes at {number}.", f"Port {number}", 0.5),),
    )
    for number in range(1, 31)
)  # fmt: skip


class Whole:
    """PassageReader of a project that knows of itself; `asked` counts who wants to know."""

    def __init__(self, failure: Exception | None = None, topics: int = 0) -> None:
        self.failure = failure
        self.topics = topics
        self.asked = 0

    async def about(self, project_id: str, _deadline: Deadline) -> AboutProject:
        self.asked += 1
        if self.failure:
            raise self.failure
        return AboutProject(project_id, 7, 90, names=tuple(f"Licence {n}" for n in range(7)))

    async def whole(self, _query: WholeQuery, _deadline: Deadline) -> WholeEvidence:
        return WholeEvidence(TOPICS[: self.topics], self.topics)

    async def passages(self, _query: PassagesQuery, _deadline: Deadline) -> Passages:
        return Passages()


NOTHING = quick(evidence=[], answer="", verdict="not_found", confidence=0.1)
COUNTED = quick(answer="There are seven [1].")
"""The answer of who has read the first sentence of what is told of the whole."""


async def asked_of_whole(
    depth: str, whole: Whole, most: int = 16_000, **replies: Any
) -> tuple[Run, RetrieveResponse]:
    run = run_of(
        StubGraph(FOUND, by_question),
        **{
            "quick_reply": quick(about_whole=True),
            "whole_reply": COUNTED,
            "primer_reply": primer(FIRST),
            **replies,
        },
    )
    run.ports = replace(run.ports, passages=whole)
    run.limits = replace(run.limits, max_prompt_tokens=most)
    return run, await run(asked(depth))


async def test_a_count_of_documents_is_what_the_project_knows_of_itself() -> None:
    run, response = await asked_of_whole("auto", Whole())
    assert response.trace.depth.model_dump() == {
        "asked": "auto",
        "used": "drift",
        "reason": "whole",
    }
    first, second = run.ports.chat.prompts
    assert ABOUT_PROJECT not in first.user
    assert [one["document"] for one in elements(second.user, "chunk")] == [ABOUT_PROJECT, "A", "B"]
    ((citation,),) = [fact.citations for fact in response.key_facts]
    assert (citation.chunk_id, citation.document_name) == (WHOLE, ABOUT_PROJECT)
    assert citation.span == "This project as a whole holds 7 documents, 90 passages."
    assert (response.final_answer, response.residual_uncertainty) == ("There are seven.", "")


async def test_a_quick_answer_about_the_whole_is_one_look_at_its_topics() -> None:
    heard = Heard()
    run, response = await asked_of_whole("quick", Whole(topics=30))
    assert response.final_answer == "There are seven."
    assert [prompt.name for prompt in run.ports.chat.prompts] == ["quick_reply", "whole_reply"]
    topics = elements(run.ports.chat.prompts[1].user, "topic")
    assert [one["title"] for one in topics] == [f"Port {n}" for n in range(1, 31)]
    async with Progress("p", "r", ListSink()) as progress:
        search = DriftSearch(run.ports, run.limits)
        await search.retrieve(asked("quick"), progress, Deadline.after(30), heard)
    assert (heard.text, heard.replaced) == ("There are seven.", 0)


async def test_many_topics_are_read_side_by_side_and_their_facts_put_together() -> None:
    def second(prompt: Prompt) -> dict[str, Any]:
        first = elements(prompt.user, "chunk")[0]
        said = f"{first['document']} closes [1]."
        return quick(evidence=[f"{first['id']}.1"], answer=said)

    run, response = await asked_of_whole(
        "auto",
        Whole(topics=30),
        whole_reply=second,
        aggregate_reply=aggregated(1, 2, 3, 4),
    )
    first, *looks, last = run.ports.chat.prompts
    shown = [[one["title"] for one in elements(look.user, "topic")] for look in looks]
    assert sorted(title for titles in shown for title in titles) == sorted(t.title for t in TOPICS)
    assert (len(looks), last.name, "topic" in first.user) == (4, "aggregate_reply", False)
    assert all(
        set(titles) <= {one["document"] for one in elements(look.user, "chunk")}
        for look, titles in zip(looks, shown, strict=True)
    )
    assert len({fact.citations[0].document_name for fact in response.key_facts}) == 4
    read = "Read for it: 32 of 90 passages, from 30 of 30 topics."
    assert response.residual_uncertainty == read


async def test_what_was_not_read_is_told() -> None:
    whole = Whole(topics=30)
    found = quick(evidence=["K2.1"], answer="It closes [1].")
    _, response = await asked_of_whole("quick", whole, 2000, whole_reply=found)
    told = re.fullmatch(
        r"Read for it: (\d+) of 90 passages, from (\d+) of 30 topics\. "
        r"Not read, for example: (.*)\.",
        response.residual_uncertainty,
    )
    assert told
    read = int(told[2])
    assert (int(told[1]), 1 < read < 25) == (read + 2, True)
    assert told[3] == "; ".join(f"Port {n}" for n in range(read + 1, read + 6))


async def test_no_word_of_a_summary_is_evidence() -> None:
    said = quick(evidence=["T1.1", "They close at 1."], answer="They close at 1 [1].")
    _, response = await asked_of_whole(
        "quick", Whole(topics=1), quick_reply={**NOTHING, "about_whole": True}, whole_reply=said
    )
    assert (response.key_facts, response.verdict.verdict) == ([], "not_found")


async def test_the_whole_is_read_for_no_other_question() -> None:
    for reply in (quick(), quick(about_whole=False), quick(about_whole="perhaps")):
        whole = Whole()
        _, response = await asked_of_whole("auto", whole, quick_reply=reply)
        assert (whole.asked, response.final_answer) == (0, "Ada made alpha.")


@pytest.mark.parametrize(
    ("whole", "second"),
    [(Whole(GraphUnavailableError("gone")), COUNTED), (Whole(), "no JSON"), (Whole(), NOTHING)],
    ids=["unread", "unusable", "not known"],
)
async def test_where_the_whole_says_nothing_the_search_goes_on(whole: Whole, second: Any) -> None:
    run, response = await asked_of_whole("auto", whole, whole_reply=second)
    assert response.trace.depth.reason == "whole"
    (final,) = run.ports.chat.named("aggregate_reply")
    assert told(final)[QUESTION] == "Ada made alpha."
    _, response = await asked_of_whole("quick", whole, whole_reply=second)
    assert response.final_answer == "Ada made alpha."


@pytest.mark.parametrize(("second", "known"), [(COUNTED, True), (NOTHING, False)])
async def test_the_primer_may_ask_for_the_whole_too(second: dict[str, Any], known: bool) -> None:
    whole = Whole()
    run, response = await asked_of_whole(
        "drift",
        whole,
        whole_reply=second,
        primer_reply={**primer(FIRST, SECOND), "about_whole": True},
    )
    assert (whole.asked, response.trace.depth.reason) == (1, "")
    asked_for = [prompt.name for prompt in run.ports.chat.prompts][2:4]
    assert asked_for == (["whole_reply"] if known else ["whole_reply", "local_reply"])
    assert (response.final_answer == "There are seven.") == known


# ------------------------------------------------------------------------------------ its words
def about(
    names: Sequence[str], documents: int = 0, kinds: Sequence[tuple[str, str, int]] = ()
) -> AboutProject:
    known = documents or len(names)
    return AboutProject("p", known, 900, 0, 2, tuple(names), tuple(kinds))


def lines_of(known: AboutProject) -> tuple[str, ...]:
    chunk = known.chunk()
    return sentences(chunk.text)


def test_each_line_of_what_a_project_knows_is_one_sentence_to_cite() -> None:
    names = ["Who moved? A story. Vol. 2", "b.txt", "long " * 90, "\n- [1] x | y", "漢字" * 90]
    known = about(names, 5, [("Who moved? A. b" * 200, "md", 1)])
    counted, *lines = lines_of(known)
    assert counted == "This project as a whole holds 5 documents, 900 passages, 2 communities."
    assert all(line.startswith("- ") for line in lines)
    assert [line.split(":")[0].rstrip(" 0123456789") for line in lines] == [
        "- Documents by folder",
        "- Documents by ending",
        "- Documents 1 to 4 of",
        "- Document 5 of",
    ]


def test_documents_are_counted_by_folder_and_by_ending_exactly_or_not_at_all() -> None:
    kinds = [("minutes", "md", 12), ("minutes", "pdf", 3), ("", "md", 2), ("", "", 1)]
    assert lines_of(about(["a"], 18, kinds))[1:3] == (
        "- Documents by folder: 15 minutes, 3 without folder",
        "- Documents by ending: 14 md, 3 pdf, 1 without ending",
    )
    many = [(f"f{n}", "md", 1) for n in range(MOST_KINDS)]
    for unknown in ([("", "", 18)], many):
        assert lines_of(about(["a"], 300, unknown))[1].startswith("- Document 1 of 300")


def test_documents_that_are_not_named_are_counted() -> None:
    told = lines_of(about([f"name {n:03}" for n in range(100)], 1600))
    assert told[1].startswith("- Documents 1 to ")
    assert told[-1] == "- Documents that are not named here: 1500 of 1600"
    assert sum(line.count("name ") for line in told) == 100


def test_a_project_that_holds_nothing_has_nothing_to_cite() -> None:
    assert AboutProject("p").chunk() is None
