"""Asking, watching and reading, over the real function."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tests.function.corpus import PROJECT, QUESTION, TEXTS
from tests.function.test_answer_stream import TWO_SENTENCES
from tests.model_server_fixture import ModelServerControl
from tests.page.browser import PHONE, Visit
from tests.page.conftest import Visits
from tests.page.replies import answer, answering, citation, stream

WORDS = Path(__file__).resolve().parents[2] / "drift" / "page" / "words"
pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(120)]


async def test_the_empty_page_shows_the_projects_and_questions_to_begin_with(visit: Visit) -> None:
    projects = await visit.page.locator("#project option").all_inner_texts()
    assert PROJECT in projects
    await visit.page.select_option("#project", PROJECT)
    await visit.page.wait_for_function(
        f"() => document.querySelector('#project-facts').textContent.startsWith('{PROJECT}: 4 ')"
    )
    examples = await visit.page.locator("#examples button").all_inner_texts()
    assert 1 <= len(examples) <= 3
    for example in examples:
        await visit.open()
        await visit.page.select_option("#project", PROJECT)
        await visit.page.check("input[value=quick]", force=True)
        await visit.page.get_by_role("button", name=example).click()
        await visit.page.wait_for_selector(".actions")
        assert await visit.page.locator(".places > li").count() >= 1, example


@pytest.mark.parametrize(
    "depth",
    ["quick", *(pytest.param(deeper, marks=pytest.mark.deep) for deeper in ("auto", "drift"))],
)
async def test_an_answer_has_numbers_that_open_its_passages(visits: Visits, depth: str) -> None:
    visit = await visits()
    await visit.ask(QUESTION, depth, project=PROJECT, until=".actions")

    numbers = await visit.page.locator(".answer .cite").all_inner_texts()
    assert numbers
    assert "1" in numbers
    assert "References:" not in await visit.text(".answer")
    listed = await visit.page.locator(".places > li").count()
    assert set(numbers) <= {str(one) for one in range(1, listed + 1)}

    await visit.page.locator(".answer .cite").first.click()
    marked = await visit.text("#panel mark")
    assert any(" ".join(marked.split()) in " ".join(text.split()) for text in TEXTS.values())
    assert "passage 1 of" in await visit.text(
        "#panel .facts"
    ) or "passage 2 of" in await visit.text("#panel .facts")
    source = await visit.page.locator("#panel a").first.get_attribute("href")
    assert (source or "").startswith("https://docs.example.com/harbour/")

    # the pictures of docs/images
    await visit.picture("page-desktop")
    await visit.page.keyboard.press("Escape")
    await visit.page.emulate_media(color_scheme="dark")
    await visit.page.click(".work summary")
    await visit.page.evaluate("scrollTo(0, 0)")
    await visit.picture("page-dark")
    await visit.page.click(".work summary")
    await visit.page.emulate_media(color_scheme="light")
    await visit.page.set_viewport_size(PHONE)
    await visit.page.evaluate("scrollTo(0, 0)")
    await visit.picture("page-phone")


async def test_the_search_is_seen_and_heard_at_work_with_its_tree_tokens_and_time(
    visit: Visit,
) -> None:
    await visit.page.evaluate("""
      window.__told = [];
      const place = document.getElementById("status");
      new MutationObserver(() => window.__told.push(place.textContent))
        .observe(place, { childList: true, characterData: true, subtree: true });
    """)
    await visit.ask(QUESTION, "drift", project=PROJECT, until=".actions")
    # readers of the screen are told phases and the end alone
    told = await visit.page.evaluate("window.__told")
    assert told[-1].startswith("The answer is ready, with ")
    assert len(told) == len(set(told)) <= 7

    summary = await visit.text(".work summary")
    assert "Answered in" in summary
    assert "follow-up" in summary
    assert "tokens" in summary
    await visit.page.click(".work summary")
    phases = await visit.page.locator(".phases .name").all_inner_texts()
    assert phases == [
        "Beginning",
        "Understanding the question",
        "Looking for communities",
        "Following up",
        "Writing the answer",
    ]
    assert all("s" in time for time in await visit.page.locator(".phases .time").all_inner_texts())
    assert await visit.page.locator(".tree .followup").count() >= 2


async def test_the_nearest_nodes_answer_with_their_sources(visit: Visit) -> None:
    await visit.ask(QUESTION, "nodes", project=PROJECT, until=".actions")
    assert await visit.page.locator(".references > li").count() >= 1
    await visit.page.locator(".references .open").first.click()
    await visit.page.wait_for_selector("#panel .passage")
    assert await visit.text("#panel .passage")


async def test_stopping_ends_the_search_and_says_so(
    visit: Visit, model_server: ModelServerControl
) -> None:
    model_server.fail({"fault": "hang", "kind": "quick_reply"})
    await visit.ask(QUESTION, project=PROJECT, until="#stop:visible")
    await visit.page.click("#stop")
    await visit.answered()
    assert "You stopped it" in await visit.text(".turn")
    assert await visit.page.locator(".turn .problem button").count() == 1


async def test_an_answer_is_copied_and_saved_and_a_link_to_it_asks_nothing_by_itself(
    visits: Visits,
) -> None:
    visit = await visits(permissions=["clipboard-read", "clipboard-write"])
    await visit.ask(QUESTION, project=PROJECT, until=".actions")

    await visit.page.get_by_role("button", name="Copy as Markdown").click()
    copied = await visit.page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith(f"# {QUESTION}")
    assert "[^1]" in copied
    assert "\n[^1]: " in copied
    assert " <https://docs.example.com/harbour/" in copied

    async with visit.page.expect_download() as saving:
        await visit.page.get_by_role("button", name="Save as Markdown").click()
    saved = await saving.value
    assert (
        saved.suggested_filename
        == "when-does-the-harbour-office-refuse-a-berth-at-the-north-qua.md"
    )

    await visit.page.get_by_role("button", name="Copy link").click()
    address = await visit.page.evaluate("navigator.clipboard.readText()")
    assert "?q=When+does" in address
    assert f"project={PROJECT}" in address
    assert "depth=quick" in address
    assert "berth+when" not in address

    asked: list[str] = []
    visit.page.on(
        "request", lambda request: asked.append(request.url) if request.method == "POST" else None
    )
    await visit.page.goto(address.partition("&thread=")[0])
    await visit.page.wait_for_selector("html[data-ready]")
    assert await visit.page.input_value("#question") == QUESTION
    assert await visit.page.input_value("#project") == PROJECT
    assert await visit.page.is_checked("input[value=quick]")
    assert "Nothing has been asked yet" in await visit.text("#notices")
    assert asked == []


async def test_confidence_stays_hidden(visit: Visit) -> None:
    await visit.ask(QUESTION, project=PROJECT, until=".actions")
    assert await visit.page.locator(".verdict .meter").is_visible()
    await visit.page.uncheck("#confidence")
    assert not await visit.page.locator(".verdict .meter").is_visible()
    await visit.page.reload()
    await visit.page.wait_for_selector(".verdict")
    assert not await visit.page.locator(".verdict .meter").is_visible()


async def test_colours_and_passages_stay_as_they_were_chosen(visits: Visits) -> None:
    visit = await visits(refusals=True, color_scheme="light")
    asked: list[Any] = []
    visit.page.on(
        "request", lambda one: asked.append(one.post_data_json) if one.post_data else None
    )
    paper = "() => getComputedStyle(document.body).backgroundColor"
    light = await visit.page.evaluate(paper)
    await visit.page.select_option("#theme", "dark")
    dark = await visit.page.evaluate(paper)
    assert dark != light
    await visit.page.select_option("#passages", "20")
    await visit.ask(QUESTION, project=PROJECT, until=".actions")
    await visit.page.reload()
    await visit.page.wait_for_selector("html[data-ready]")
    await visit.ask(QUESTION, until=".turn:last-child .actions")
    await visit.page.select_option("#passages", "")
    await visit.ask(QUESTION, until=".turn:nth-child(3) .actions")
    assert [one.get("top_k") for one in asked] == [20, 20, None]
    assert await visit.page.input_value("#theme") == "dark"

    await visit.page.emulate_media(media="print")
    assert await visit.page.evaluate(paper) in {light, "rgba(0, 0, 0, 0)"}
    assert await visit.page.evaluate("getComputedStyle(document.body).color") == "rgb(31, 35, 40)"
    await visit.page.emulate_media(media="screen")
    await visit.page.route("**/main.js", lambda route: route.abort())
    await visit.page.reload()  # nothing of the page's own has run, and the colours are there
    assert await visit.page.evaluate(paper) == dark


async def test_a_project_without_data_says_what_to_do(visit: Visit) -> None:
    await visit.page.select_option("#project", label="Another project …")
    await visit.page.fill("#other-project", "nothing-here")
    await visit.ask(QUESTION, "drift", until=".nothing")
    assert "Nothing was found" in await visit.text(".nothing")
    assert "another project" in await visit.text(".nothing")


@pytest.mark.parametrize("language", ["en", "de"])
async def test_what_is_not_found_shows_no_answer_but_what_stands_near(
    visits: Visits, language: str
) -> None:
    visit = await visits(locale=language, permissions=["clipboard-read", "clipboard-write"])
    near = [citation(1), citation(2)]
    unanswered = answer(
        "The documents do not answer this question.",
        verdict={"verdict": "not_found", "confidence": 0.0, "near": near},
        residual_uncertainty="Who built it is open.",
    )
    await answering(visit.page, stream(("result", unanswered)))
    await visit.ask("Who built it?", "drift", until=".nothing")
    words = json.loads((WORDS / f"{language}.json").read_text())
    said, heading = words["verdict.not_found"], words["references.near"]
    assert said in await visit.text(".nothing")
    assert "Who built it is open." in await visit.text(".nothing")
    assert heading in await visit.text(".sources h3")
    assert await visit.page.locator(".references > li").count() == 2
    assert await visit.page.locator(".answer > *, .verdict, .cite").count() == 0

    await visit.page.get_by_role("button", name=words["answer.copyMarkdown"]).click()
    copied = await visit.page.evaluate("navigator.clipboard.readText()")
    assert f"{said}\n\n" in copied
    assert f"## {heading}\n\n- Document 1\n  - " in copied
    assert words["references.title"] not in copied


async def test_one_question_by_keyboard_alone(visits: Visits) -> None:
    visit = await visits()
    keyboard = visit.page.keyboard

    async def at() -> str:
        return str(
            await visit.page.evaluate(
                "((at) => at.id || at.className || at.tagName)(document.activeElement)"
            )
        )

    await keyboard.press("Tab")
    assert await at() == "skip"
    await keyboard.press("Enter")
    await keyboard.press("Tab") if await at() != "question" else None
    assert await at() == "question"
    await keyboard.type(QUESTION)
    await keyboard.press("Tab")
    assert await at() == "project"
    await keyboard.type(PROJECT)
    await keyboard.press("Tab")
    assert await at() == "show-documents"
    await keyboard.press("Tab")
    await keyboard.press("ArrowLeft")  # from "as needed" to "one look"
    assert await visit.page.is_checked("input[value=quick]")
    await keyboard.press("Tab")
    assert await at() == "send"
    await keyboard.press("Enter")
    await visit.page.wait_for_selector(".actions")

    for _ in range(12):
        await keyboard.press("Tab")
        if await at() == "cite":
            break
    assert await at() == "cite"
    await keyboard.press("Enter")
    await visit.page.wait_for_selector("#panel mark")
    assert await at() == "panel-title"
    await keyboard.press("Escape")
    assert not await visit.page.locator("#panel").is_visible()
    assert await at() == "cite"


@pytest.mark.deep
async def test_the_page_speaks_german_and_remembers_it(visits: Visits) -> None:
    visit = await visits(locale="de-DE")
    assert await visit.text("h1") == "Was möchten Sie wissen?"
    assert await visit.page.get_attribute("html", "lang") == "de"
    await visit.page.select_option("#language", "en")
    await visit.page.wait_for_selector("text=What would you like to know?")
    await visit.page.reload()
    await visit.page.wait_for_selector("html[data-ready]")
    assert await visit.text("h1") == "What would you like to know?"


async def test_a_project_is_looked_through_by_its_communities(visit: Visit) -> None:
    await visit.page.select_option("#project", PROJECT)
    await visit.page.click("#show-communities")
    row = visit.page.locator(".communities summary").first
    assert "members" in await row.inner_text()
    await row.click()
    summary = await visit.text(".communities details[open] > .text")
    assert len(summary) > 20


async def test_an_answer_is_seen_while_it_is_written(
    visit: Visit, model_server: ModelServerControl
) -> None:
    model_server.fail({"fault": "stream_stalls", "kind": "quick_reply", "text": TWO_SENTENCES})
    await visit.ask(QUESTION, project=PROJECT)
    await visit.page.wait_for_function(
        "() => document.querySelector('.answer')?.textContent.includes('It is said there.')"
    )
    assert await visit.page.get_attribute(".answer", "aria-busy") == "true"
    await visit.page.click("#stop")
    await visit.answered()
    assert "It is said there." in await visit.text(".answer")
    await asyncio.sleep(0)
