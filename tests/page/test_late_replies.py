"""What comes late, fails, or is done twice, and leaves what the reader has chosen as it is."""

from __future__ import annotations

import asyncio
import json

import pytest
from playwright.async_api import Request, Route

from tests.page.browser import Visit
from tests.page.conftest import Visits
from tests.page.replies import answer, answering, citation, problem, reading, stream

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(120)]

PROJECTS = {"projects": [{"id": "quay"}, {"id": "tide"}], "next": None}
OTHER = "\u0000other"
YES = stream(("result", answer("Yes.", [("Yes.", [citation(1)])])))


async def asked_projects(visit: Visit) -> list[str | None]:
    """Return a list that grows with the project of each question."""
    found: list[str | None] = []

    def sent(request: Request) -> None:
        if request.method == "POST":
            found.append(json.loads(request.post_data or "{}").get("project_id"))

    visit.page.on("request", sent)
    await answering(visit.page, YES)
    return found


@pytest.mark.parametrize("chosen", ["tide", "", "of another"])
async def test_a_late_list_of_projects_leaves_the_chosen_one(visit: Visit, chosen: str) -> None:
    await reading(visit.page, "/projects", PROJECTS)
    await visit.open("?project=quay")
    found = await visit.page.evaluate(
        """async (chosen) => {
          const project = await import("/rag/x/project.js");
          const late = project.listProjects(project.chosen());
          const list = document.querySelector("#project");
          list.value = chosen === "tide" ? "tide" : "\\u0000other";
          document.querySelector("#other-project").value = chosen;
          await late;
          return [list.value, project.chosen()];
        }""",
        chosen,
    )
    assert found == ["tide" if chosen == "tide" else OTHER, chosen]


async def test_the_project_of_a_link_is_asked_though_no_list_comes(visits: Visits) -> None:
    visit = await visits(None, refusals=True)
    await reading(visit.page, "/projects", problem(503, "graph_unavailable"))
    await visit.open("?project=quay")
    asked = await asked_projects(visit)
    await visit.ask("What?")
    await visit.answered()
    assert asked == ["quay"]


async def test_a_named_project_is_asked_without_blanks_around_it(visit: Visit) -> None:
    await visit.page.select_option("#project", OTHER)
    await visit.page.fill("#other-project", " quay ")
    asked = await asked_projects(visit)
    await visit.ask("What?")
    await visit.answered()
    assert asked == ["quay"]


async def test_a_question_is_kept_when_it_is_known_who_asks(visits: Visits) -> None:
    visit = await visits(None)
    is_known = asyncio.Event()

    async def usage(route: Route) -> None:
        await is_known.wait()
        await route.fulfill(body='{"caller": "ada"}', content_type="application/json")

    await visit.page.route("**/usage", usage)
    await answering(visit.page, YES)
    await visit.open(ready=False)
    await visit.page.wait_for_selector("#project option", state="attached")
    await visit.ask("What?", until=".actions")
    assert await visit.page.locator("#thread-list li").count() == 0
    is_known.set()
    await visit.page.wait_for_selector("#thread-list li")
    assert await visit.page.locator(".turn .actions").count() == 1
    await visit.open(ready=False)
    await visit.page.wait_for_selector("#thread-list li")
    await visit.page.unroute("**/usage")
    await visit.open()  # of another caller
    assert await visit.page.locator("#thread-list li").count() == 0


async def test_a_click_without_focus_has_a_way_back(visit: Visit) -> None:
    beside = {"id": "b", "heading": "Before", "place": "1 of 2", "text": "Before it."}
    chunk = {**beside, "id": "a", "document": None, "before": beside, "after": None}
    await reading(visit.page, "/chunks/", chunk)
    await answering(visit.page, YES)
    await visit.ask("What?")
    press = "(one) => { document.activeElement.blur(); one.click(); }"
    await visit.page.locator(".answer .cite").evaluate(press)
    await visit.page.locator("#panel .beside button").evaluate(press)
    await visit.page.wait_for_selector("#panel-back:visible")
    await visit.page.keyboard.press("Escape")
    await visit.page.wait_for_function("() => document.activeElement.className === 'cite'")


async def test_so_many_answers_stay(visit: Visit) -> None:
    await visit.page.evaluate(
        """() => {
          const old = Array.from({ length: 30 }, () => document.createElement("article"));
          document.getElementById("turns").append(...old);
        }"""
    )
    await answering(visit.page, YES)
    await visit.ask("What?", until="#turns > .turn:last-child .actions")
    assert await visit.page.locator("#turns > article").count() == 30


async def test_the_language_that_was_chosen_last_is_spoken(visit: Visit) -> None:
    async def late(route: Route) -> None:
        await asyncio.sleep(1)
        await route.continue_()

    await visit.page.route("**/words/de.json", late)
    await visit.page.select_option("#language", "de")
    await visit.page.select_option("#language", "en")
    await visit.page.wait_for_timeout(2000)
    assert await visit.text("h1") == "What would you like to know?"
    assert await visit.page.get_attribute("html", "lang") == "en"


async def test_a_language_that_does_not_come_leaves_the_one_before(visit: Visit) -> None:
    visit.refusals_expected = True
    await visit.page.route("**/words/de.json", lambda route: route.abort())
    await visit.page.select_option("#language", "de")
    await visit.page.wait_for_function("() => document.querySelector('#language').value === 'en'")
    assert await visit.text("h1") == "What would you like to know?"
    assert await visit.page.evaluate("localStorage.getItem('drift.language')") is None
