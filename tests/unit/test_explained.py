"""What explains an answer: only for who asks, bounded, and put into words."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from drift.contracts.explain import MOST_PASSAGES, ExplainOut
from drift.core.deadline import Deadline
from drift.core.errors import GraphUnavailableError
from drift.local.cli.explained import causes, lost, screen
from drift.local.retrieval.held_passages import HeldPassage
from drift.model.calls import ChatReply, Prompt
from drift.model.graph import Evidence
from drift.model.limits import Limits
from drift.search.evidence import EvidenceSearch
from drift.search.progress import Progress
from tests.fakes import ListSink, NoPassages, ScriptedChat, StubGraph, chunk, ports, request
from tests.unit.searching import FOUND, Run, own_chunk, run_of, script
from tests.unit.test_quick import HELD, QUESTION, quick

EXPLAINED = request(QUESTION, depth="quick", include=("explain", "trace", "usage"))


class Cutting(ScriptedChat):
    """A model whose server reads a part of each prompt alone."""

    async def _reply(self, prompt: Prompt, hear: Any) -> ChatReply:
        return replace(await super()._reply(prompt, hear), is_prompt_cut=True)


def explained(answered: Any) -> ExplainOut:
    assert answered.explain is not None
    told: ExplainOut = answered.explain
    return told


async def test_prompts_that_the_server_cuts_are_named_first() -> None:
    servers = ports(StubGraph(FOUND, HELD), Cutting(script(quick_reply=quick())))
    answered = await Run(servers)(EXPLAINED)
    told = explained(answered)
    said = causes(answered.model_dump(mode="json"), replace_held(told))
    first, *_ = screen(told, said, "")
    assert first.startswith("Cause: The model's server cut 1 prompt(s): MAX_PROMPT_TOKENS (16000)")
    assert [(one.kind, one.name) for one in told.calls] == [
        ("embedder", "embed"),
        ("graph", "followup"),
        ("chat", "quick_reply"),
    ]
    assert [one.prompt_tokens for one in told.calls] == [1, 0, 10]


def replace_held(told: ExplainOut) -> ExplainOut:
    """Return it without the counts of a project, of which the fakes know nothing."""
    return told.model_copy(update={"held": None})


async def test_who_does_not_ask_gets_the_same_and_nothing_more() -> None:
    plain, more = [
        await run_of()(request(include=include)) for include in [("usage",), ("usage", "explain")]
    ]
    assert plain.explain is None
    assert '"explain"' not in plain.to_json()
    update = {"explain": None, "usage": None}
    assert more.model_copy(update=update) == plain.model_copy(update=update)
    counted = {"wall_seconds", "critical_path_seconds", "phases"}
    assert more.usage.model_dump(exclude=counted) == plain.usage.model_dump(exclude=counted)


async def test_a_graph_that_fails_at_the_counts_costs_the_counts_alone() -> None:
    class Failing(NoPassages):
        async def about(self, *_: Any) -> Any:
            raise GraphUnavailableError("gone")

    run = run_of(StubGraph(FOUND, HELD), quick_reply=quick())
    run.ports = replace(run.ports, passages=Failing())
    told = explained(await run(EXPLAINED))
    assert told.held is None
    assert told.looks[0].passages[0].fate == "cited"


async def test_evidence_alone_tells_what_stands_behind_it_up_to_a_bound() -> None:
    many = Evidence(tuple(chunk(f"k{at:02}", document=f"d{at}") for at in range(70)))
    search = EvidenceSearch(ports(StubGraph(FOUND, many), ScriptedChat({})), Limits())
    asked = request(top_k=3, answer=False, include=("explain",))
    async with Progress("p", "r", ListSink()) as progress:
        answered = await search.answer(asked, progress, Deadline.after(30))
    [look] = explained(answered).looks
    assert len(look.passages) == MOST_PASSAGES
    assert [one.fate for one in look.passages[:4]] == ["cited"] * 3 + ["place"]
    assert look.passages[-1].fate == "pool"
    assert (look.passages[3].rank, look.passages[-1].rank) == (4, None)


@pytest.mark.parametrize(
    ("held", "said"),
    [
        ([], "No passage of the graph says this"),
        ([HeldPassage("q", "k-one", "", is_off=False, has_vector=True)], "but in q."),
        ([HeldPassage("p", "k-one", "", is_off=True, has_vector=True)], "switched off"),
        ([HeldPassage("p", "else", "", is_off=False, has_vector=False)], "it has no vector"),
        ([HeldPassage("p", "else", "asked", is_off=False, has_vector=True)], "it has asked."),
        ([HeldPassage("p", "k-two", "", is_off=False, has_vector=True)], "and did not cite it."),
        ([HeldPassage("p", "k-one", "", is_off=False, has_vector=True)], "the answer cites it."),
    ],
)
async def test_the_first_step_that_lost_a_passage_is_told(
    held: list[HeldPassage], said: str
) -> None:
    told = explained(await run_of(StubGraph(FOUND, HELD), quick_reply=quick())(EXPLAINED))
    assert said in lost(told, held, "p")


async def test_a_followup_reads_some_and_says_what_became_of_the_rest() -> None:
    told = explained(await run_of(StubGraph(FOUND, own_chunk))(request(include=("explain",))))
    fates = {one.document_name: one.fate for look in told.looks for one in look.passages}
    assert fates == {"What": "unread", "Who": "cited", "Where": "noted"}
