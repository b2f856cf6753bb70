"""What a first visit to the page finds: what to ask, what fills a graph, and who answers."""

from __future__ import annotations

import pytest

from drift.answer import conclusion, reference_lookup, signals
from drift.answer.response import caveats
from drift.contracts.answer import SignalsOut
from drift.evidence import verdict
from drift.model.tree import SKIPPED_DEADLINE, FollowupState, Node, Question
from drift.search import ends
from tests.function.corpus import PROJECT, QUESTION
from tests.page.browser import Visit
from tests.page.conftest import Visits
from tests.page.replies import answer, answering, citation, reading, stream

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(240)]

EMPTY = {
    "id": "python-reference", "documents": 0, "chunks": 0, "entities": 0, "communities": 0,
    "written_at": None,
}  # fmt: skip
GERMAN = {"locale": "de-DE"}


def of_signals() -> list[str]:
    """Return every sentence about what limits an answer."""
    low = SignalsOut(similarity=0.4, freshness=0.2, citations=0.0, model=0.6)
    some = SignalsOut(similarity=None, freshness=None, citations=0.5, model=0.9)
    sure = SignalsOut(similarity=0.9, freshness=0.9, citations=0.9, model=0.9)
    cases = [
        ([low], 1, 35.0), ([low], 1, 400.0), ([low], 1, 1200.0),
        ([low, low], 2, 35.0), ([low, low], 2, 400.0), ([low, low], 2, 1200.0),
        ([some], 2, None), ([sure], 1, 1.0),
    ]  # fmt: skip
    return [one for case in cases for one in signals.limits_of(*case)]


def of_the_server() -> list[str]:
    """Return every sentence that code writes beside an answer."""
    reasons = [
        verdict.judged("q", "answered", (), ()).overruled,
        "Nothing that was found mentions Kategorie A.b (1999).",
        "The answer stands only on passages that do not answer the question directly.",
    ]
    states = (FollowupState("failed", "model_unavailable"), SKIPPED_DEADLINE)
    nodes = [Node(Question(at, "q", ()), state) for at, state in enumerate(states)]
    return [
        *of_signals(), signals.ONLY_IN_PART, signals.NO_REFERENCE,
        signals.NOTHING_THERE, reference_lookup.NO_TIME, reference_lookup.NO_VECTOR,
        reference_lookup.NO_GRAPH, conclusion.FINDINGS_STAND, conclusion.NOT_PUT_TOGETHER,
        ends.ONE_LOOK_STANDS, *reasons, *caveats(nodes, 2),
    ]  # fmt: skip


async def told(visit: Visit, language: str, texts: list[str]) -> list[str]:
    found: list[str] = await visit.page.evaluate(
        """async ([language, texts]) => {
          const { speak, told } = await import("/rag/x/words.js");
          await speak(language);
          return texts.map(told);
        }""",
        [language, texts],
    )
    return found


async def test_every_sentence_that_code_writes_is_told_in_the_language_of_the_page(
    visit: Visit,
) -> None:
    english = of_the_server()
    assert await told(visit, "en", english) == english
    german = await told(visit, "de", english)
    for before, after in zip(english, german, strict=True):
        assert after != before
        assert not {"the", "document", "passage", "not", "found", "old"} & set(after.split()), after
    assert (
        "41 %"
        in (await told(visit, "de", ["The passage resembles the question little (41% match)."]))[0]
    )


async def test_sentences_between_words_of_a_model_are_told_and_these_stay(visit: Visit) -> None:
    text = f"Who pays is open. {conclusion.FINDINGS_STAND} The text found does not answer: Who?"
    [german] = await told(visit, "de", [text])
    assert german.startswith("Who pays is open. Die letzte Durchsicht")
    assert german.endswith("Der gefundene Text beantwortet nicht: Who?")
    hostile = "Nothing that was found mentions " * 4000
    assert await told(visit, "de", [hostile]) == [hostile]


async def test_limits_are_german_on_the_german_page(visits: Visits) -> None:
    visit = await visits(**GERMAN)
    fact = "Marley was dead."
    document = answer(fact, [(fact, [citation(1)])], references={
        "answer": f"{fact}[1]", "confidence": 0.4, "limits": [signals.ONLY_IN_PART], "items": [
            {**citation(1), "number": 1, "label": "a", "confidence": 0.4, "signals": {}}
        ],
    })  # fmt: skip
    await answering(visit.page, stream(("result", document)))
    await visit.ask(QUESTION, project=PROJECT, until=".actions")
    said = await visit.text(".uncertain")
    assert "nur zum Teil" in said
    assert "only in part" not in said
    assert await visit.page.title() == "Den Graphen fragen"


async def test_an_answer_of_the_stand_in_says_so(visit: Visit) -> None:
    await visit.ask(QUESTION, project=PROJECT, until=".actions")
    assert "stand-in without a language model" in await visit.text(".turn .below")


async def test_an_empty_graph_names_what_fills_it_and_is_looked_at_again(visit: Visit) -> None:
    await reading(visit.page, "/projects", {"projects": [], "next": None})
    await reading(visit.page, "/projects/python-reference", EMPTY)
    await visit.open()
    said = await visit.text("#about-project")
    assert "drift ingest --sample" in said
    assert "make demo" in said
    assert await visit.page.locator("#examples button").count() == 0
    await visit.picture("desk-empty-graph")
    await visit.assert_for_everybody()

    await visit.page.unroute_all()
    await visit.page.get_by_role("button", name="Look again").click()
    await visit.page.wait_for_selector("#fill", state="hidden")
    assert await visit.page.locator("#project").input_value() != "python-reference"
    assert not await visit.page.locator("#fill").is_visible()


async def test_questions_of_the_project_are_shown_three_at_a_time_and_asked_as_they_stand(
    visit: Visit,
) -> None:
    questions = [f"What does <b>gate {at}</b> do?" for at in range(1, 6)]
    held = {**EMPTY, "id": PROJECT, "documents": 1, "chunks": 5, "questions": questions}
    await reading(visit.page, f"/projects/{PROJECT}", {**held, "rights": ["read"]})
    await visit.open()
    await visit.page.select_option("#project", PROJECT)
    shown = visit.page.locator("#examples button")
    await visit.page.wait_for_function("() => document.querySelector('#examples button')")
    assert await shown.all_inner_texts() == questions[:3]
    more = visit.page.get_by_role("button", name="Other questions")
    await more.press("Enter")
    assert await shown.all_inner_texts() == [*questions[3:], questions[0]]
    assert await more.evaluate("one => one === document.activeElement")
    await shown.first.click()
    await visit.page.wait_for_selector(".turn")
    assert questions[3] in await visit.text(".turn")


async def test_the_chosen_project_is_there_again_when_the_page_is_loaded_anew(visit: Visit) -> None:
    await visit.page.select_option("#project", label="Another project …")
    await visit.page.fill("#other-project", PROJECT)
    await visit.page.locator("#other-project").blur()
    await visit.page.wait_for_url(f"**project={PROJECT}*")
    await visit.page.reload()
    await visit.page.wait_for_selector("html[data-ready]")
    assert await visit.page.locator("#project").input_value() == PROJECT
