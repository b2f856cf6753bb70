"""Threads: what follows up on what, and what of it is there again, here and nowhere else."""

from __future__ import annotations

import json
from typing import Any

import pytest
from playwright.async_api import Page, Request

from tests.function.corpus import PROJECT, QUESTION
from tests.page.browser import PHONE, Visit
from tests.page.conftest import Visits
from tests.page.hostile_texts import HOSTILE
from tests.page.replies import answer, answering, citation, problem, reading, stream

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(120)]

FOLLOW_UP = "And who decides about it?"
DONE = ".turn:last-child .actions"
QUESTIONS = "(all) => all.map((one) => one.querySelector('.asked').textContent)"
REFUSED = {
    "refused": "Object.defineProperty(window, 'indexedDB', { get() { throw new Error('no'); } });",
    "full": "IDBObjectStore.prototype.put = () => { throw new Error('full'); };",
    "newer": "indexedDB.open('drift.threads', 7);",
}


async def posted(page: Page) -> list[dict[str, Any]]:
    """Return a list that grows with what is asked."""
    found: list[dict[str, Any]] = []

    def sent(request: Request) -> None:
        if request.method == "POST":
            found.append(json.loads(request.post_data or "{}"))

    page.on("request", sent)
    return found


async def telling_of(page: Page, text: str) -> None:
    """Have every question answered with a sentence."""
    told = answer(text, [(text, [citation(1)])])
    await answering(page, stream(("result", told)), headers={"x-retrieval-id": "0b9d"})


async def shown(visit: Visit) -> list[str]:
    found: list[str] = await visit.page.locator(".turn").evaluate_all(QUESTIONS)
    return found


async def names(visit: Visit) -> list[str]:
    return await visit.page.locator("#thread-list .entry .asked").all_inner_texts()


async def reopened(visit: Visit) -> None:
    await visit.page.reload()
    await visit.page.wait_for_selector("html[data-ready]")


async def does(visit: Visit, what: str) -> None:
    """Do something with the first thread of the list."""
    await visit.page.locator("#thread-list [aria-expanded=false]").first.click()
    await visit.page.locator(".does").get_by_role("button", name=what).click()


async def test_a_follow_up_goes_with_what_was_said_and_a_reload_keeps_both(visit: Visit) -> None:
    asked = await posted(visit.page)
    await visit.ask(QUESTION, project=PROJECT, until=DONE)
    await visit.answered()
    assert await visit.page.input_value("#question") == ""
    await visit.ask(FOLLOW_UP, until=".searched")
    await visit.answered()
    assert QUESTION[:-1] in await visit.text(".searched")  # as the stand-in puts them together
    assert "history" not in asked[0]
    user, assistant = asked[1]["history"]
    assert user == {"role": "user", "content": QUESTION}
    assert assistant["role"] == "assistant"
    assert assistant["content"][:40] in (await visit.text(".turn:first-child .answer"))
    assert await names(visit) == [QUESTION]
    before = await visit.page.locator("#turns .answer").all_inner_texts()
    await reopened(visit)
    assert await shown(visit) == [QUESTION, FOLLOW_UP]
    assert await visit.page.locator("#turns .answer").all_inner_texts() == before
    assert await visit.page.locator(".turn:first-child .references > li").count() >= 1
    assert QUESTION[:-1] in await visit.text(".searched")
    assert await visit.page.input_value("#project") == PROJECT
    assert len(asked) == 2


async def test_back_and_forward_lead_through_threads_and_a_link_to_its_answer(
    visit: Visit,
) -> None:
    asked = await posted(visit.page)
    await telling_of(visit.page, "Yes.")
    await visit.ask("First?", project=PROJECT, until=DONE)
    await visit.page.click("#new-thread")
    await visit.page.wait_for_selector(".is-empty")
    await visit.ask("Second?", until=DONE)
    second = visit.page.url
    assert "history" not in asked[1]

    await visit.page.go_back()
    await visit.page.wait_for_selector(".is-empty #examples button")
    await visit.page.go_back()
    await visit.page.wait_for_selector(".turn >> text=First?")
    assert await shown(visit) == ["First?"]
    await visit.page.go_forward()
    await visit.page.go_forward()
    await visit.page.wait_for_selector(".turn >> text=Second?")
    assert visit.page.url == second

    thread = second.partition("thread=")[2]
    for there, turns, question in ((thread, ["Second?"], ""), ("of-another", [], "Second?")):
        await visit.open(f"?q=Second%3F&project={PROJECT}&depth=quick&thread={there}")
        assert await shown(visit) == turns
        assert await visit.page.input_value("#question") == question
    assert "thread" not in visit.page.url
    assert len(asked) == 2


async def test_another_project_and_the_nearest_nodes_get_nothing_of_the_thread(
    visit: Visit,
) -> None:
    asked = await posted(visit.page)
    await telling_of(visit.page, "Yes.")
    await visit.ask("First?", project=PROJECT, until=DONE)
    await visit.page.check("input[value=nodes]", force=True)
    assert "Asked alone" in await visit.text("#depth-hint")
    await visit.ask("Nearest?", "nodes", until=DONE)
    await visit.answered()
    assert set(asked[1]) == {"question", "project_id"}
    await visit.page.select_option("#project", "harbour-chunks-only")
    await visit.page.wait_for_selector(".is-empty")
    await visit.ask("Of another?", until=DONE)
    assert "history" not in asked[2]
    assert await names(visit) == ["Of another?", "First?"]


async def test_two_tabs_share_the_threads_and_a_removed_one_does_not_come_back(
    visits: Visits,
) -> None:
    first = await visits()
    second = Visit(await first.page.context.new_page(), first.url)
    second.watch()
    await second.open()
    await telling_of(first.page, "Yes.")
    await first.ask("First?", project=PROJECT, until=DONE)
    await second.page.click("#thread-list .entry")
    await second.page.wait_for_selector(".turn .actions")
    await telling_of(second.page, "No.")
    await second.ask("Of the second tab?", until=".turn:nth-child(2) .actions")
    await first.ask("Of the first tab?", until=".turn:nth-child(2) .actions")
    await first.answered()
    await reopened(first)
    assert await shown(first) == ["First?", "Of the second tab?", "Of the first tab?"]

    await first.ask("Last?", until=".turn:nth-child(4) .actions")
    await does(second, "Delete")
    await second.page.click(".is-sure")
    await second.page.wait_for_selector(".is-empty")
    await first.page.wait_for_function("() => !document.querySelector('#thread-list li')")
    await reopened(first)
    assert await shown(first) == []
    await second.assert_calm()


async def test_threads_are_named_found_saved_and_forgotten(visit: Visit) -> None:
    hostile = list(HOSTILE.values())[:6]
    for text in (*hostile, "Plain."):
        await telling_of(visit.page, text)
        await visit.page.click("#new-thread")
        await visit.ask(text or "?", project=PROJECT, until=DONE)
    assert len(await names(visit)) == len(hostile) + 1
    assert await visit.page.locator("#threads :is(img, script, svg, iframe, a)").count() == 0
    assert await visit.page.evaluate("window.__ran") is None

    await does(visit, "Rename")
    await visit.page.keyboard.type("<b>Berths</b>")
    await visit.page.keyboard.press("Enter")
    await visit.page.wait_for_selector("#thread-list >> text=<b>Berths</b>")
    for words, count in (("PLAIN.", 1), ("nowhere", 0), ("berths", 1)):  # said in it, or its name
        await visit.page.fill("#find-thread", words)
        entries = f"() => document.querySelectorAll('.entry').length === {count}"
        await visit.page.wait_for_function(entries)
    async with visit.page.expect_download() as saving:
        await does(visit, "Save as Markdown")
    text = (await (await saving.value).path()).read_text(encoding="utf-8")
    assert text.startswith("# Plain.\n\nPlain[^1].")
    async with visit.page.expect_download() as saving:
        await visit.page.get_by_role("button", name="Save as JSON").click()
    kept = json.loads((await (await saving.value).path()).read_text(encoding="utf-8"))
    assert (kept["name"], kept["turns"][0]["question"]) == ("<b>Berths</b>", "Plain.")

    await visit.page.click("#forget-threads button")
    await visit.page.click(".is-sure")
    await visit.page.wait_for_selector(".is-empty")
    await reopened(visit)
    assert await names(visit) == []


@pytest.mark.parametrize("how", REFUSED)
async def test_a_browser_that_keeps_nothing_says_so_once_and_answers(
    visits: Visits, how: str
) -> None:
    visit = await visits(None)
    await visit.page.add_init_script(REFUSED[how])
    await visit.open()
    await telling_of(visit.page, "Yes.")
    asked = await posted(visit.page)
    await visit.ask("First?", project=PROJECT, until=DONE)
    await visit.ask("Second?", until=".turn:nth-child(2) .actions")
    assert len(asked[1]["history"]) == 2
    assert "keeps no threads" in await visit.text("#threads-about")
    assert await visit.page.locator(".note").count() <= 1


async def test_of_a_long_thread_the_newest_are_shown_and_what_is_broken_is_no_loss(
    visit: Visit,
) -> None:
    await telling_of(visit.page, "Yes.")
    await visit.ask("First?", project=PROJECT, until=DONE)
    await visit.page.evaluate(
        """async (project) => {
          const { append } = await import(document.querySelector("[href$='thread_store.js']").href);
          const thread = new URL(location.href).searchParams.get("thread");
          const told = { final_answer: "So.", key_facts: [] };
          for (let at = 1; at < 500; at += 1) {
            const result = at === 498 ? { key_facts: 7, final_answer: {} } : told;
            await append({ thread, project, question: `Q${at}`, depth: "quick", when: at, result });
          }
        }""",
        PROJECT,
    )
    await reopened(visit)
    assert await visit.page.locator(".turn").count() == 10
    assert "has no answer to it" in await visit.text(".turn:nth-child(9)")
    await visit.page.click("#earlier")
    await visit.page.wait_for_selector(".turn:nth-child(20)")
    assert (await shown(visit))[0] == "Q480"
    assert await visit.page.evaluate("document.activeElement.textContent") == "Q489"

    reads = await visit.page.evaluate(
        """async () => {
          const store = document.querySelector("[href$='thread_store.js']").href;
          const { threadsWith } = await import(store), goOn = IDBCursor.prototype.continue;
          window.reads = 0;
          IDBCursor.prototype.continue = function (...to) {
            window.reads += 1;
            goOn.apply(this, to);
          };
          const stop = new AbortController(), found = threadsWith("nowhere", stop.signal);
          stop.abort();
          await found;
          const finder = document.querySelector("#find-thread");
          finder.value = "nowhere";
          for (let key = 0; key < 7; key += 1) finder.dispatchEvent(new Event("input"));
          return window.reads;
        }"""
    )
    assert reads == 0
    await visit.page.wait_for_selector("#threads-none:text('No thread')")
    assert await visit.page.evaluate("window.reads") == 500  # once for all keys


async def test_an_answer_is_marked_with_its_sentence_and_why(visit: Visit) -> None:
    sent = await posted(visit.page)
    replies: list[int] = []
    visit.page.on("response", lambda one: replies.append(one.status) if "back" in one.url else None)
    await visit.ask(QUESTION, project=PROJECT, until=DONE)
    await visit.page.get_by_role("button", name="Wrong", exact=True).click()
    await visit.page.select_option(".why select", "1")
    comment = r"document.querySelector('.why textarea').value = ' Since 2026.\ud800\0 <b> '"
    await visit.page.evaluate(comment)
    await visit.page.get_by_role("button", name="It is out of date").click()
    await visit.page.wait_for_selector(".why", state="hidden")
    given = [{**one, "retrieval_id": ""} for one in sent[1:]]
    about = {"retrieval_id": "", "score": -1}
    assert given == [about, {**about, "fact": 1, "reason": "old", "comment": "Since 2026. <b>"}]
    assert replies == [204, 204]
    await visit.page.click("#new-thread")
    await visit.page.click("#show-marks")
    row = await visit.text("#panel-body li")
    assert f"{QUESTION}\n" in row
    assert "Wrong · It is out of date · " in row
    assert row.endswith("Since 2026. <b>")
    await visit.page.go_back()
    await reopened(visit)
    pressed = visit.page.locator(".marks [aria-pressed=true]")
    assert await pressed.all_inner_texts() == ["Wrong"]

    visit.refusals_expected = True  # where the service keeps none, they are offered no more
    await reading(visit.page, "/feedback", problem(404, "not_found"))
    await visit.ask("Second?", until=".turn:nth-child(2) .marks")
    await visit.page.get_by_role("button", name="Right", exact=True).last.click()
    await visit.page.wait_for_selector(".marks >> visible=true", state="detached")


async def test_on_a_phone_the_threads_are_a_drawer(visits: Visits) -> None:
    visit = await visits(viewport=PHONE, color_scheme="dark", has_touch=True)
    await telling_of(visit.page, "Yes. " * 60)
    await visit.ask("First?", project=PROJECT, until=DONE)
    await visit.ask("Second?", until=".turn:nth-child(2) .actions")
    await visit.picture("phone-thread")
    top = await visit.page.locator(".turn:nth-child(2)").evaluate("(one) => one.offsetTop")
    assert abs(await visit.page.evaluate("scrollY") - top) < 20  # its question is in sight
    assert not await visit.page.locator("#threads").is_visible()
    await visit.page.click("#show-threads")
    await visit.page.click("#new-thread")
    await visit.page.wait_for_selector(".is-empty #question:focus")
    assert not await visit.page.locator("#threads").is_visible()
