"""How an answer was found: its steps and follow-ups, what was read, and which step lost a passage."""

from __future__ import annotations

from typing import Any

import pytest

from tests.function.corpus import PROJECT, QUESTION, TEXTS
from tests.page.browser import PHONE, Visit
from tests.page.conftest import Visits
from tests.page.hostile_texts import HOSTILE
from tests.page.replies import (
    USAGE,
    answer,
    answering,
    citation,
    node,
    problem,
    reading,
    stream,
)

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
    call = {"kind": "chat", "name": "primer", "seconds": 6.5}
    return {
        "seconds": 12.0, "phases": {}, "calls": [call], "looks": [{**look, "passages": passages}],
        "dropped": [], "lost": [], "held": None, "bounds": {"max_chunks_for_prompt": 10}, **more,
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
    wide = await visit.page.locator(f"{FOLD} .phases .size").evaluate_all(
        "(all) => all.map((one) => one.style.inlineSize)"
    )
    assert wide == ["100%", "25%"]
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
    dropped = [{"reason": "figure", "chunk_id": "chunk-shown", "span": "x"}]
    await answering(visit.page, stream(("result", answer("", explain=explained()))))
    said = {fate: await lost(visit, f"chunk-{fate}") for fate in (*FATES, "elsewhere")}
    assert len(set(said.values())) == len(FATES) + 1
    assert "came at 5, and a prompt takes the first 10" in said["place"]
    assert "did not cite" in said["shown"]
    assert "The search lost it" in said["elsewhere"]
    assert not [text for text in said.values() if "{" in text or "explain." in text]
    told = await visit.page.evaluate(
        """async (explain) => {
          const { stepOf } = await import("/rag/x/how_found.js");
          return stepOf(explain, new Set(["chunk-shown", "chunk-pool"]));
        }""",
        explained(dropped=dropped),
    )
    assert told == ["explain.step.refused", {"document": "Of shown", "reason": "figure"}]


async def test_a_search_that_fails_is_said_and_can_be_made_again(visits: Visits) -> None:
    visit = await visits(refusals=True)
    await found(visit, [node(0)])
    await answering(visit.page, problem(500, "graph_unavailable"))
    await visit.page.get_by_role("button", name="Search once more").click()
    await visit.page.wait_for_selector(f"{FOLD} .problem")
    assert FACT.removesuffix(".") in await visit.text(".answer")
    hostile = "<img src=x onerror=alert(1)> \u202e" + ARABIC
    explain = explained(lost=[hostile], dropped=[{"reason": hostile, "chunk_id": "x", "span": hostile}])
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


@pytest.mark.parametrize("shape", ["chain", "wide"])
async def test_five_hundred_follow_ups_stay_readable_on_a_phone(visits: Visits, shape: str) -> None:
    visit = await visits(viewport=PHONE, color_scheme="dark", locale="de-DE")
    texts = [*HOSTILE.values(), ARABIC]
    await found(visit, [
        node(one, (one - 1 if shape == "chain" else one // 4) if one else None,
             question=texts[one % len(texts)] or "?")
        for one in range(500)
    ])  # fmt: skip
    assert await visit.page.locator(f"{FOLD} .followup").count() == 60
    await visit.picture(f"phone-dark-follow-ups-{shape}", whole=True)
    await visit.assert_for_everybody()
    await visit.page.get_by_role("button", name="500").click()
    assert await visit.page.locator(f"{FOLD} .followup").count() == 500
    narrow = await visit.page.locator(f"{FOLD} .question").evaluate_all(
        "(all) => Math.min(...all.map((one) => one.getBoundingClientRect().width))"
    )
    assert narrow > 100
    assert await visit.page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
