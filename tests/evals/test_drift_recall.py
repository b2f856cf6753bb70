"""DRIFT's recall, counted: what replies mean, what is counted, and the figures of real readers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from drift.local.evals.questions import LabelledPassage
from drift.model.calls import Prompt
from drift.model.graph import Chunk, Evidence, PrimerEvidence
from drift.model.limits import Limits
from drift.model.tree import ANSWERED, Citation, LocalAnswer, Node, Question
from drift.prompting import budget
from drift.prompting.batching import Found
from drift.prompting.elements import Handles, RequestHandles, SearchHistory
from tests.bench.drift_recall import Call, Searched
from tests.bench.recorded import Passages, Recorded, Sight
from tests.command_line import bench
from tests.evals.test_recall import labelled

DATA = Path(__file__).parents[3] / "shared" / "data" / "dev"
REPLIES = Path(__file__).parents[1] / "data" / "drift_replies.jsonl"

TEXTS = {"Ada": "Ada was born in Ulm. She wrote.", "Old Mill": "It is Ada's.", "Owl": "It hoots."}
PASSAGES = tuple(
    LabelledPassage(f"p{at}", title, text, (), ())
    for at, (title, text) in enumerate(TEXTS.items(), start=1)
)


def test_a_call_counts_what_it_showed_and_cited_and_a_look_by_reciprocal_ranks() -> None:
    searched = Searched(labelled("q", "Who?", {"a", "b"}))
    searched.events = [
        ["x", *"uvwya"],
        Call(10, ["x"], []),
        ["b", "x"],
        Call(10, ["b", "z"], ["z"]),
    ]
    searched.cited = ["b"]
    assert searched.figures(0) == {"pool": 0.0, "read@5": 0.0, "read@10": 0.5}
    assert searched.figures(1) == {"pool": 0.0, "read@5": 0.5, "read@10": 1.0}
    assert searched.figures(None) == {"pool": 0.5, "read@5": 0.5, "read@10": 1.0}


def shown(*names: str) -> tuple[Chunk, ...]:
    """Return these passages as chunks."""
    by_title = {one.title: one for one in PASSAGES}
    return tuple(Chunk(by_title[n].id, f"{n}\n{by_title[n].text}", n) for n in names)


def executor(*names: str, asked: int = 1) -> Prompt:
    """Return the prompt of follow-ups that shows these passages."""
    chunks = shown(*names)
    handles = RequestHandles().including(chunk.id for chunk in chunks)
    questions = ("Where was Ada born?", "What does it do?")[:asked]
    group = tuple(
        Found(Question(number, text), Evidence(chunks), chunks)
        for number, text in enumerate(questions)
    )
    return budget.executor("q", group, handles, SearchHistory(), Limits()).prompt


def aggregator(*spans: str) -> Prompt:
    """Return the prompt of the last call with these facts."""
    cited = tuple(Citation(f"p{at}", span, "Ada") for at, span in enumerate(spans))
    answer = LocalAnswer("So.", cited, 1.0)
    return budget.aggregator("q", [Node(Question(0, "f"), ANSWERED, answer)], {}, 5_000)[0]


def primer(*names: str) -> Prompt:
    """Return the prompt of a primer with these candidates."""
    found = PrimerEvidence((), shown(*names))
    return budget.primer("Where?", found, Handles("C"), 5_000).prompt


def test_a_reply_is_given_again_in_the_handles_of_another_prompt() -> None:
    passages, recorded = Passages.of(PASSAGES), Recorded(set_name="s", id="q")
    cited = {"chunk_id": "K2", "sentences": "2", "words": "She wrote."}
    reply = {"citations": [cited], "verdict": "answered", "answer": "Ulm.", "confidence": 1}
    before = executor("Owl", "Ada")
    recorded.add(before, json.dumps(reply), Sight.of(before.user, passages))

    for names, handle in ((("Ada", "Old Mill"), "K1"), (("Old Mill", "Owl", "Ada"), "K3")):
        prompt = executor(*names)
        told = recorded.reply(prompt, Sight.of(prompt.user, passages))
        [citation] = told["citations"]
        assert (citation["chunk_id"], citation["words"]) == (handle, "She wrote.")
        assert told["answer"] == "Ulm."

    prompt = executor("Old Mill", "Owl")
    told = recorded.reply(prompt, Sight.of(prompt.user, passages))
    assert (told["verdict"], told["citations"]) == ("not_found", [])


def test_what_was_chosen_is_chosen_where_it_is_a_candidate() -> None:
    passages, recorded = Passages.of(PASSAGES), Recorded(set_name="s", id="q")

    before, after = primer("Ada", "Old Mill", "Owl"), primer("Owl", "Old Mill")
    asked = {"question": "Who?", "read": ["P2", "P1"], "target_communities": ["C1"]}
    reply = {"followups": [asked]}
    recorded.add(before, json.dumps(reply), Sight.of(before.user, passages))
    [asked] = recorded.reply(after, Sight.of(after.user, passages))["followups"]
    assert asked["read"] == ["P2"]


def test_answers_given_together_and_numbers_of_facts_are_those_of_another_prompt() -> None:
    passages, recorded = Passages.of(PASSAGES), Recorded(set_name="s", id="q")
    before, after = executor("Ada", "Owl", asked=2), executor("Owl", "Ada", asked=2)
    nothing = {"citations": [], "verdict": "not_found", "answer": "No.", "confidence": 0.1}
    cited = [{"chunk_id": "K1", "sentences": "1", "words": ""}]
    found = {"citations": cited, "verdict": "answered", "answer": "Ulm.", "confidence": 1}
    told = {"answers": [{"followup": "Q2", **nothing}, {"followup": "Q1", **found}]}
    recorded.add(before, json.dumps(told), Sight.of(before.user, passages))
    first, second = recorded.reply(after, Sight.of(after.user, passages))["answers"]
    assert (first["followup"], first["citations"][0]["chunk_id"]) == ("Q1", "K2")
    assert (second["followup"], second["verdict"]) == ("Q2", "not_found")

    before, after = aggregator("Ulm.", "It hoots."), aggregator("It hoots.", "Ulm.")
    told = {"verdict": "answered", "sentences": [["In Ulm.", 1]], "residual_uncertainty": ""}
    recorded.add(before, json.dumps(told), Sight.of(before.user, passages))
    again = recorded.reply(after, Sight.of(after.user, passages))
    assert again["sentences"] == [["In Ulm.", 2]]


@pytest.mark.deep
@pytest.mark.timeout(900)
@pytest.mark.skipif(not DATA.exists(), reason="the labelled questions are not beside the project")
def test_the_replies_of_readers_find_what_they_found(tmp_path: Path) -> None:
    at = ("--data", str(DATA), "--data-dir", str(tmp_path), "--replies", str(REPLIES))
    done = bench("drift_recall", *at, "--json", patience_s=800)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert {one["set"]: one["questions"] for one in found} == {"2wiki": 40, "musique_kg": 40}
    wiki, musique = found
    first, whole = wiki["calls"]["1"], wiki["calls"]["all"]
    assert (first["read@5"] >= 95, whole["read@5"] >= 97, wiki["cited"] >= 88) == (True,) * 3, wiki
    first, whole = musique["calls"]["1"], musique["calls"]["all"]
    good = (first["read@5"] >= 83, whole["read@5"] >= 87, musique["cited"] >= 67)
    assert good == (True,) * 3, musique
    assert min(one["calls"]["all"]["pool"] for one in found) >= 92, found
    assert max(one["calls_a_question"] for one in found) < 5, found
    assert max(one["prompt_tokens"]["median"] for one in found) < 10_500, found
