"""Questions about the documents as a whole, and what the project knows of itself."""

from __future__ import annotations

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
from drift.model.passages import Passages, PassagesQuery
from drift.model.reading import ABOUT_PROJECT, AboutProject
from drift.search.drift import DriftSearch
from drift.search.progress import Progress
from tests.fakes import Heard, ListSink, StubGraph
from tests.unit.searching import FIRST, FOUND, SECOND, Run, aggregated, primer, run_of, told
from tests.unit.test_quick import QUESTION, asked, by_question, quick

WHOLE = "project:p"


class Whole:
    """PassageReader of a project that knows of itself; `asked` counts who wants to know."""

    def __init__(self, failure: Exception | None = None) -> None:
        self.failure = failure
        self.asked = 0

    async def about(self, project_id: str, _deadline: Deadline) -> AboutProject:
        self.asked += 1
        if self.failure:
            raise self.failure
        return AboutProject(project_id, 7, 1, names=tuple(f"Licence {n}" for n in range(7)))

    async def passages(self, _query: PassagesQuery, _deadline: Deadline) -> Passages:
        return Passages()


def about_whole(first: dict[str, Any], second: dict[str, Any]) -> Any:
    """Return a model that answers the first look, and what it reads with the whole."""

    def reply(prompt: Prompt) -> dict[str, Any]:
        return {"about_whole": True, **(second if ABOUT_PROJECT in prompt.user else first)}

    return reply


COUNTED = quick(answer="There are seven [1].")
"""The answer of who has read the first sentence of what is told of the whole."""


async def asked_of_whole(depth: str, whole: Whole, **replies: Any) -> tuple[Run, RetrieveResponse]:
    run = run_of(
        StubGraph(FOUND, by_question),
        **{"quick_reply": about_whole(quick(), COUNTED), "primer_reply": primer(FIRST), **replies},
    )
    run.ports = replace(run.ports, passages=whole)
    return run, await run(asked(depth))


async def test_a_question_about_the_whole_does_not_end_at_one_look() -> None:
    run, response = await asked_of_whole("auto", Whole(), aggregate_reply=aggregated(1))
    assert response.trace.depth.model_dump() == {
        "asked": "auto",
        "used": "drift",
        "reason": "whole",
    }
    first, second = run.ports.chat.named("quick_reply")
    assert ABOUT_PROJECT not in first.user
    assert [one["document"] for one in elements(second.user, "chunk")] == [ABOUT_PROJECT, "A", "B"]
    (final,) = run.ports.chat.named("aggregate_reply")
    assert told(final) == {QUESTION: "There are seven.", FIRST: "It is so."}
    ((citation,),) = [fact.citations for fact in response.key_facts]
    assert (citation.chunk_id, citation.document_name) == (WHOLE, ABOUT_PROJECT)
    assert citation.span == "This project as a whole holds 7 documents, 1 passage."


async def test_a_quick_answer_about_the_whole_is_of_what_the_project_knows_of_itself() -> None:
    heard = Heard()
    run, response = await asked_of_whole("quick", Whole())
    assert response.final_answer == "There are seven."
    assert [prompt.name for prompt in run.ports.chat.prompts] == ["quick_reply"] * 2
    async with Progress("p", "r", ListSink()) as progress:
        search = DriftSearch(run.ports, run.limits)
        await search.retrieve(asked("quick"), progress, Deadline.after(30), heard)
    assert (heard.text, heard.replaced) == ("There are seven.", 0)


async def test_the_whole_is_read_for_no_other_question() -> None:
    for reply in (quick(), quick(about_whole=False), quick(about_whole="perhaps")):
        whole = Whole()
        _, response = await asked_of_whole("auto", whole, quick_reply=reply)
        assert (whole.asked, response.final_answer) == (0, "Ada made alpha.")


NOTHING = quick(evidence=[], answer="", verdict="not_found", confidence=0.1)


@pytest.mark.parametrize(
    ("whole", "second"),
    [(Whole(GraphUnavailableError("gone")), COUNTED), (Whole(), "no JSON")],
    ids=["unread", "unusable"],
)
async def test_where_the_whole_cannot_be_read_the_look_stands(whole: Whole, second: Any) -> None:
    def reply(prompt: Prompt) -> Any:
        return second if ABOUT_PROJECT in prompt.user else quick(about_whole=True)

    run, response = await asked_of_whole("auto", whole, quick_reply=reply)
    assert response.trace.depth.reason == "whole"
    (final,) = run.ports.chat.named("aggregate_reply")
    assert told(final)[QUESTION] == "Ada made alpha."


@pytest.mark.parametrize(
    ("second", "findings"),
    [
        (COUNTED, {QUESTION: "There are seven.", FIRST: "It is so.", SECOND: "It is so."}),
        (NOTHING, {FIRST: "It is so.", SECOND: "It is so."}),
    ],
    ids=["known", "not known"],
)
async def test_the_primer_may_ask_for_the_whole_too(
    second: dict[str, Any], findings: dict[str, str]
) -> None:
    whole = Whole()
    run, response = await asked_of_whole(
        "drift",
        whole,
        quick_reply=second,
        primer_reply={**primer(FIRST, SECOND), "about_whole": True},
    )
    (final,) = run.ports.chat.named("aggregate_reply")
    assert told(final) == findings
    assert (whole.asked, response.trace and response.trace.depth.reason) == (1, "")


# ------------------------------------------------------------------------------------ its words
def about(names: Sequence[str], documents: int = 0, *summaries: str) -> AboutProject:
    largest = tuple(("", text) for text in summaries)
    return AboutProject("p", documents or len(names), 900, 0, len(summaries), tuple(names), largest)


def lines_of(known: AboutProject) -> tuple[str, ...]:
    chunk = known.chunk()
    return sentences(chunk.text)


def test_each_line_of_what_a_project_knows_is_one_sentence_to_cite() -> None:
    names = ["Who moved? A story. Vol. 2", "b.txt", "long " * 90, "\n- [1] x | y", "漢字" * 90]
    known = about(names, 5, "Ports. They close at night. Ships wait.", "漢字。" * 200)
    counted, *lines = lines_of(known)
    assert counted == "This project as a whole holds 5 documents, 900 passages, 2 communities."
    assert all(line.startswith("- ") and len(line) <= 200 for line in lines)
    starts = [line.split(":")[0].rstrip(" 0123456789") for line in lines]
    assert [start.split(" is about ")[0] for start in starts] == [
        "- Documents 1 to 4 of",
        "- Document 5 of",
        "- One of the largest communities",
        "- One of the largest communities",
    ]


def test_documents_that_are_not_named_are_counted() -> None:
    told = lines_of(about([f"name {n:03}" for n in range(100)], 1600))
    assert told[1].startswith("- Documents 1 to ")
    assert told[-1] == "- Documents that are not named here: 1500 of 1600"
    assert sum(line.count("name ") for line in told) == 100


def test_a_project_that_holds_nothing_has_nothing_to_cite() -> None:
    assert AboutProject("p").chunk() is None
