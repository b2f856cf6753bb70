"""A project's marks: who sees them, page by page, and the test that is made of them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from playwright.async_api import Route

from drift.local.evals.answers import question_of
from tests.function.corpus import PROJECT, QUESTION
from tests.page.browser import PHONE, Visit
from tests.page.conftest import Visits
from tests.page.hostile_texts import HOSTILE
from tests.page.replies import problem, reading, telling

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(120)]

LIST = f"/projects/{PROJECT}/feedback"
FACTS = [
    {"fact": "The office refuses a berth.", "chunk_ids": ["c1", "c2"]},
    {"fact": "It is told by radio.", "chunk_ids": ["gone"]},
]
CHUNKS = {
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


MARKS = [
    mark("Praised?", 1),
    mark("Praised in part?", 1, fact=1),
    mark("Praised for what is gone?", 1, fact=2),
    mark("Nothing there?", 1, facts=[]),
    mark("Expected?", expected=["c1", "Words of nobody, neither an id nor a passage"]),
    mark("Blamed?", reason="old", fact=2, comment="Changed in 2026."),
    mark("Praised?"),
    mark("In a conversation?", 1, stands_alone=False),
]


async def opened(visit: Visit) -> None:
    await visit.page.select_option("#project", PROJECT)
    await visit.page.click("#show-marks")
    await visit.page.wait_for_selector("#panel-body > :not(.busy)")


async def test_a_mark_with_a_comment_stands_in_the_list_of_the_project(visit: Visit) -> None:
    await visit.ask(QUESTION, project=PROJECT, until=".actions")
    await visit.page.get_by_role("button", name="Wrong", exact=True).click()
    await visit.page.fill(".why textarea", "  Changed in 2026.\ud800 <b>")
    await visit.page.get_by_role("button", name="It is out of date").click()
    await visit.page.wait_for_selector(".why", state="hidden")
    await visit.page.evaluate("document.getElementById('new-thread').click()")
    await opened(visit)
    row = await visit.text("#panel-body li")
    assert QUESTION in row
    assert "Wrong · It is out of date · " in row
    assert "Changed in 2026. <b>" in row


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
    newest = {one["question"]: one for one in reversed(MARKS)}
    wanted = [question_of(newest[one], CHUNKS) for one in dict.fromkeys(m["question"] for m in MARKS)]
    assert lines == [one for one in wanted if one]
    assert len(lines) == 5
    assert "2 are left out" in await visit.text("#panel-body [role=status]")


@pytest.mark.parametrize(
    ("status", "code", "said"),
    [(404, "not_found", "keeps no marks"), (503, "not_configured", "keeps no marks"),
     (403, "forbidden", "a part of this project"), (500, "feedback_unavailable", "at the moment")],
)  # fmt: skip
async def test_why_there_is_no_list_is_said(
    visits: Visits, status: int, code: str, said: str
) -> None:
    visit = await visits(refusals=True)
    await reading(visit.page, LIST, problem(status, code))
    await opened(visit)
    assert said in await visit.text("#panel-body")
    await visit.assert_for_everybody()


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

    held = {"id": PROJECT, "documents": 1, "chunks": 1, "entities": 0, "communities": 0,
            "written_at": None, "rights": ["read"]}  # fmt: skip
    await telling(visit.page, "x")
    await visit.page.route(f"**/projects/{PROJECT}", lambda route: route.fulfill(
        body=json.dumps(held), content_type="application/json"))  # fmt: skip
    await visit.open(f"?project={PROJECT}")
    assert not await visit.page.locator("#show-marks").is_visible()
