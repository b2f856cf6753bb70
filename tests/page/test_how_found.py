"""How an answer was found, which step lost a passage, and what callers said of answers."""

from __future__ import annotations

import json
from typing import Any

import pytest
from playwright.async_api import Route

from drift.local.evals.answers import question_of
from tests.function.corpus import PROJECT, QUESTION, TEXTS
from tests.page.browser import PHONE, Visit
from tests.page.conftest import Visits
from tests.page.hostile_texts import HOSTILE
from tests.page.replies import USAGE, answer, answering, citation, node, problem, reading, stream

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(120)]

FACT = "The harbour office refuses a berth at low water."
FOLD = ".turn:last-child .work"
PHASES = {"executing_followup": {"seconds": 8.0}, "aggregating_results": {"seconds": 2.0}}
FATES = ("cited", "noted", "shown", "budget", "place", "unread", "duplicate", "pool")
ARABIC = "متى تُرفض السفينة في الرصيف الشمالي؟"


def explained(**more: Any) -> dict[str, Any]:
    """Return an explanation in which one passage has each fate."""
    way = {"way": "vector", "rank": 1, "score": 0.83}
    passages = [
        {"chunk_id": f"chunk-{fate}", "document_name": f"Of {fate}", "rank": at, "fate": fate,
         "via": ["vector", "title"], "ways": [way]}
        for at, fate in enumerate(FATES, 1)
    ]  # fmt: skip
    look = {"question": QUESTION, "words": [], "names": [], "unread_words": []}
    dropped = {"reason": "figure", "chunk_id": "chunk-shown", "span": "x"}
    return {
        "seconds": 12.0, "calls": [{"kind": "chat", "name": "primer", "seconds": 6.5}], "lost": [],
        "looks": [{**look, "passages": passages}], "dropped": [dropped],
        "bounds": {"max_chunks_for_prompt": 10}, **more,
    }  # fmt: skip


async def found(visit: Visit, nodes: list[dict[str, Any]], **more: Any) -> None:
    """Have an answer with these follow-ups, and open how it was found."""
    document = answer(FACT, [(FACT, [citation(1)])], trace={"followups": nodes}, **more)
    document["usage"] = {**USAGE, "phases": PHASES}
    await answering(visit.page, stream(("result", document)))
    await visit.ask(QUESTION, project=PROJECT, until=".actions")
    await visit.page.click(f"{FOLD} > summary")
    await visit.page.wait_for_selector(f"{FOLD} .finder")


async def lost(visit: Visit, words: str) -> str:
    """Return the sentence about a passage."""
    await visit.page.fill(f"{FOLD} .finder input", words)
    await visit.page.click(f"{FOLD} .finder button")
    said = visit.page.locator(f"{FOLD} section > [role=status] > p:not(.busy)")
    await said.wait_for()
    return await said.inner_text()


async def test_what_the_answer_tells_is_shown_without_asking_again(visit: Visit) -> None:
    asked: list[str] = []
    visit.page.on("request", lambda one: asked.append(one.url) if one.method == "POST" else None)
    await found(visit, [
        node(0, chunk_ids=["chunk-1", "chunk-2"]),
        node(1, 0, state="skipped: budget", verdict=None, confidence=None, seconds=0),
        node(2, 0, state="failed: model_unavailable", verdict=None, confidence=None),
    ])  # fmt: skip
    assert len(asked) == 1
    assert "How it was found" in await visit.text(f"{FOLD} > summary")
    assert await visit.page.locator(f"{FOLD} .phases .time").all_inner_texts() == ["8 s", "2 s"]
    bars = visit.page.locator(f"{FOLD} .phases .size")
    assert await bars.evaluate_all("(all) => all.map((one) => one.style.width)") == ["100%", "25%"]
    told = await visit.page.locator(f"{FOLD} .followup > .facts").all_inner_texts()
    assert "2 passages read (Document 1) · 1.5 s" in told[0]
    assert "not asked: no more may be asked" in told[1]
    assert "failed: The language model does not answer." in told[2]
    assert await visit.page.locator(f"{FOLD} .tree ul > li").count() == 2

    await visit.open(f"?project={PROJECT}&{(await visit.page.evaluate('location.search'))[1:]}")
    await visit.page.click(f"{FOLD} > summary")  # an answer that was kept tells the same
    assert await visit.page.locator(f"{FOLD} .phases .time").all_inner_texts() == ["8 s", "2 s"]


async def test_over_the_real_function_what_was_read_is_told_and_a_passage_is_looked_up(
    visits: Visits,
) -> None:
    visit = await visits(refusals=True)  # words are no id, which the service says with a 404
    await visit.ask(QUESTION, project=PROJECT, until=".actions")
    await visit.page.click(f"{FOLD} > summary")
    await visit.page.get_by_role("button", name="Search once more").click()
    await visit.page.click(f"{FOLD} .more section summary >> nth=0")
    await visit.page.wait_for_selector(f"{FOLD} .looked .is-read")
    assert "the answer cites it" in await visit.text(f"{FOLD} .looked")
    await visit.page.locator(f"{FOLD} .looked .row").first.click()
    await visit.page.wait_for_selector("#panel .passage .here")
    await visit.page.keyboard.press("Escape")

    said = [await lost(visit, text[:200]) for text in TEXTS.values()]
    assert all("passage of “" in one or "The search lost it" in one for one in said), said
    assert "No passage of this project says this" in await lost(visit, "walrus umbrella teapot")


async def test_the_step_that_lost_a_passage_is_named(visits: Visits) -> None:
    visit = await visits(refusals=True)
    await found(visit, [node(0)])
    for fate in (*FATES, "elsewhere"):
        await reading(visit.page, f"/chunks/chunk-{fate}", {"id": f"chunk-{fate}"})
    await answering(visit.page, stream(("result", answer("", explain=explained()))))
    said = {fate: await lost(visit, f"chunk-{fate}") for fate in (*FATES, "elsewhere")}
    assert len(set(said.values())) == len(FATES) + 1
    assert "came at 5, and a prompt takes the first 10" in said["place"]
    assert "does not hold (figure)" in said["shown"]
    assert "The search lost it" in said["elsewhere"]
    assert not [text for text in said.values() if "{" in text or "explain." in text]


async def test_a_search_that_fails_is_said_and_can_be_made_again(visits: Visits) -> None:
    visit = await visits(refusals=True)
    await found(visit, [node(0)])
    await answering(visit.page, problem(500, "graph_unavailable"))
    await visit.page.get_by_role("button", name="Search once more").click()
    await visit.page.wait_for_selector(f"{FOLD} .problem")
    assert FACT.removesuffix(".") in await visit.text(".answer")
    hostile = "<img src=x onerror=alert(1)> \u202e" + ARABIC
    explain = explained(
        lost=[hostile], dropped=[{"reason": hostile, "chunk_id": "x", "span": hostile}]
    )
    explain["looks"][0]["question"] = explain["looks"][0]["passages"][0]["document_name"] = hostile
    await answering(visit.page, stream(("result", answer("", explain=explain))))
    await visit.page.click(f"{FOLD} .problem button")
    await visit.page.wait_for_selector(f"{FOLD} .more section details")
    for one in await visit.page.locator(f"{FOLD} .more section details > summary").all():
        await one.click()
    assert await visit.page.locator(f"{FOLD} img").count() == 0
    assert "<img src=x" in await visit.text(f"{FOLD} .looked")
    await visit.picture("desk-how-it-was-found", whole=True)
    await visit.assert_for_everybody()


async def test_five_hundred_follow_ups_stay_readable_on_a_phone(visits: Visits) -> None:
    visit = await visits(viewport=PHONE, color_scheme="dark", locale="de-DE")
    texts = [*HOSTILE.values(), ARABIC]
    nodes = [node(0), *(node(at, at - 1, question=texts[at % 60] or "?") for at in range(1, 500))]
    await found(visit, nodes)
    assert await visit.page.locator(f"{FOLD} .followup").count() == 60
    await visit.picture("phone-dark-follow-ups", whole=True)
    await visit.assert_for_everybody()
    await visit.page.get_by_role("button", name="500").click()
    assert await visit.page.locator(f"{FOLD} .followup").count() == 500
    questions = visit.page.locator(f"{FOLD} .question")
    assert await questions.evaluate_all("(all) => Math.min(...all.map((q) => q.clientWidth))") > 100
    assert await visit.page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


# -------------------------------------------------------------------------------- marks
LIST = f"/projects/{PROJECT}/feedback"
FACTS = [
    {"fact": "The office refuses a berth.", "chunk_ids": ["c1", "c2"]},
    {"fact": "It is told by radio.", "chunk_ids": ["gone"]},
]
CHUNKS: dict[str, dict[str, Any]] = {
    "c1": {"id": "c1", "text": "Words of c1.", "document": {"id": 7, "name": "Seven"}},
    "c2": {"id": "c2", "text": "Words of c2.", "document": None},
}


def mark(question: str, score: int = -1, **more: Any) -> dict[str, Any]:
    """Return what somebody said of an answer."""
    return {
        "stands_alone": True, "retrieval_id": f"id of {question}", "project_id": PROJECT,
        "question": question, "facts": FACTS, "score": score, "fact": None, "reason": None,
        "comment": None, "expected": [], "given_at": "2026-11-30T10:00:00Z", **more,
    }  # fmt: skip


LATER = mark("Praised?")  # a newer word on the same question counts
MARKS = [
    mark("Praised?", 1),
    mark("Praised in part?", 1, fact=1),
    mark("Praised for what is gone?", 1, fact=2),
    mark("Nothing there?", 1, facts=[]),
    mark("Expected?", expected=["c1", "Words of nobody, neither an id nor a passage"]),
    mark("Blamed?", reason="old", fact=2, comment="Changed in 2026."),
    LATER,
    mark("In a conversation?", 1, stands_alone=False),
]


async def opened(visit: Visit) -> None:
    await visit.page.select_option("#project", PROJECT)
    await visit.page.click("#show-marks")
    await visit.page.wait_for_selector("#panel-body > :not(.busy)")


async def test_a_test_of_marks_is_the_one_that_the_command_makes(visits: Visits) -> None:
    visit = await visits(refusals=True)

    async def page(route: Route) -> None:
        second = "cursor" in route.request.url
        body = {"feedback": MARKS[5:] if second else MARKS[:5], "next": None if second else "more"}
        await route.fulfill(body=json.dumps(body), content_type="application/json")

    await reading(visit.page, "/chunks/", problem(404, "not_found"))
    for id_, chunk in CHUNKS.items():
        await reading(visit.page, f"/chunks/{id_}", chunk)
    await visit.page.route(f"**{LIST}*", page)
    await opened(visit)
    await visit.page.get_by_role("button", name="Show more").click()
    await visit.page.wait_for_selector("#panel-body li:nth-child(8)")
    assert "It is told by radio." in await visit.text("#panel-body li:nth-child(6)")
    await visit.picture("desk-marks")
    await visit.assert_for_everybody()
    async with visit.page.expect_download() as saving:
        await visit.page.get_by_role("button", name="Make a test").click()
    saved = await (await saving.value).path()
    lines = [json.loads(line) for line in saved.read_text(encoding="utf-8").splitlines()]
    wanted = [question_of(one, CHUNKS) for one in MARKS if one is not LATER]
    assert lines == [one for one in wanted if one]
    assert len(lines) == 5
    assert "2 are left out" in await visit.text("#panel-body [role=status]")


async def test_why_there_is_no_list_is_said(visits: Visits) -> None:
    visit = await visits(refusals=True)
    for status, code, said in (
        (404, "not_found", "keeps no marks"), (503, "not_configured", "keeps no marks"),
        (403, "forbidden", "part of this project"), (500, "feedback_unavailable", "at the moment"),
    ):  # fmt: skip
        await reading(visit.page, LIST, problem(status, code))
        await opened(visit)
        assert said in await visit.text("#panel-body")
        again = visit.page.locator("#panel-body button:visible")
        assert await again.count() == (status == 500)
        await visit.page.click("#panel-close")


async def test_who_may_only_read_is_offered_none_and_texts_of_others_are_text(
    visits: Visits,
) -> None:
    visit = await visits(viewport=PHONE, color_scheme="dark")
    said = [mark(text or "?", fact=1, comment=text, facts=[{"fact": text, "chunk_ids": []}])
            for text in HOSTILE.values()]  # fmt: skip
    await reading(visit.page, LIST, {"feedback": said, "next": None})
    await opened(visit)
    body = visit.page.locator("#panel-body")
    assert await body.locator("li").count() == len(said)
    assert await body.locator("script, img, svg, iframe, a, [onerror], [style]").count() == 0
    await visit.picture("phone-dark-marks")
    await visit.assert_for_everybody()
    assert await visit.page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0

    held = {"id": PROJECT, "documents": 1, "chunks": 1, "communities": 0, "rights": ["read"]}
    await visit.page.unroute_all()
    await reading(visit.page, f"/projects/{PROJECT}", held)
    await visit.open(f"?project={PROJECT}")
    await visit.page.wait_for_selector("#about-project:visible")
    assert not await visit.page.locator("#show-marks").is_visible()
