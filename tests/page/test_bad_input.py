"""What goes wrong around the page: keys in addresses, broken streams, refusals, old tabs."""

from __future__ import annotations

import pytest

from tests.function.corpus import PROJECT, QUESTION
from tests.page.browser import PHONE, Visit
from tests.page.conftest import Visits
from tests.page.replies import answer, answering, citation, problem, reading, stream, telling

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(120)]
SECRET = "canary-key-in-an-address"


@pytest.mark.parametrize(
    "more",
    [f"#key={SECRET}", f"?key={SECRET}", f"?code={SECRET}&q=Why", f"?q=Why&API_KEY={SECRET}"],
)
async def test_a_key_is_taken_out_of_the_address_at_once_and_said(
    visits: Visits, more: str
) -> None:
    visit = await visits(None)
    sent: list[str] = []
    visit.page.on("request", lambda request: sent.append(request.url))
    await visit.open(more)
    assert SECRET not in visit.page.url
    assert "taken out of the address" in await visit.text("#notices")
    assert ("may hold it" in await visit.text("#notices")) == more.startswith("?")
    assert await visit.page.evaluate("sessionStorage.getItem('drift.key')") == SECRET
    assert not [url for url in sent[1:] if SECRET in url]
    assert SECRET not in await visit.page.content()
    assert SECRET not in await visit.page.evaluate("JSON.stringify(localStorage)")
    assert await visit.page.input_value("#question") == ("Why" if "q=" in more else "")
    await visit.ask(QUESTION, project=PROJECT)
    await visit.answered()
    assert SECRET not in await visit.page.evaluate("JSON.stringify(localStorage)")


async def test_a_stream_that_breaks_off_keeps_what_was_told_and_says_so(visit: Visit) -> None:
    await answering(visit.page, stream(("answer_delta", {"text": "The first half."})))
    await visit.ask("What?", until=".turn .problem")
    assert await visit.text(".answer") == "The first half."
    assert "not whole" in await visit.text(".turn .note")
    assert "broke off" in await visit.text(".turn .problem")
    await telling(visit.page, "All of it.")
    await visit.page.get_by_role("button", name="Ask again").click()
    await visit.page.wait_for_selector(".turn:last-child .actions")
    assert "All of it" in await visit.text(".turn:last-child .answer")


NONSENSE = (
    'event: answer_delta\ndata: {"text": "Half',
    "event: result\ndata: {half\n\n",
    ": beat\n\n",
    "",
)


async def test_a_stream_of_nonsense_is_one_that_broke_off(visit: Visit) -> None:
    for body in NONSENSE:
        await visit.page.unroute_all()
        await answering(visit.page, body)
        await visit.ask("What?", until=".turn .problem")
        assert "broke off" in await visit.text(".turn .problem"), body
        await visit.page.evaluate("document.getElementById('turns').replaceChildren()")


async def test_an_error_in_the_stream_takes_back_nothing_silently(visit: Visit) -> None:
    await answering(
        visit.page,
        stream(
            ("answer_delta", {"text": "Perhaps."}), ("error", problem(500, "model_unavailable"))
        ),
    )
    await visit.ask("What?", until=".turn .problem")
    assert "language model does not answer" in await visit.text(".turn .problem")
    assert "not whole" in await visit.text(".turn .note")


async def test_an_answer_that_is_replaced_is_shown_anew(visit: Visit) -> None:
    await answering(visit.page, stream(
        ("answer_delta", {"text": "It is wrong. So is this."}),
        ("answer_replaced", {"text": "It is right."}),
        ("answer_delta", {"text": " So is this."}),
        ("error", problem(500, "deadline"))))  # fmt: skip
    await visit.ask("What?", until=".turn .problem")
    await visit.page.wait_for_function(
        "() => document.querySelector('.answer').textContent === 'It is right. So is this.'"
    )


async def test_too_many_questions_are_counted_down(visit: Visit) -> None:
    visit.refusals_expected = True
    await answering(visit.page, problem(429, "busy"), headers={"retry-after": "2"})
    await visit.ask("What?")
    again = visit.page.locator(".turn .problem button")
    await again.wait_for()
    assert await again.is_disabled()
    assert await again.inner_text() == "Ask again in 2 s"
    await visit.page.wait_for_selector(".turn .problem button:enabled")
    await telling(visit.page, "Yes.")
    await again.click()
    await visit.page.wait_for_selector(".turn:last-child .actions")


async def test_a_passage_that_was_deleted_since_is_said_and_the_answer_stays(visit: Visit) -> None:
    visit.refusals_expected = True
    await telling(visit.page, "Yes.")
    await visit.ask("What?", project=PROJECT)
    await visit.page.locator(".answer .cite").click()  # the real function holds no such chunk
    await visit.page.wait_for_selector("#panel .problem")
    assert "removed or replaced" in await visit.text("#panel .problem")
    await visit.page.keyboard.press("Escape")
    assert "Yes" in await visit.text(".answer")


async def test_words_that_are_not_in_the_passage_any_more_are_said(visit: Visit) -> None:
    await telling(visit.page, "Yes.")
    nothing = dict.fromkeys(("heading", "place", "document", "before", "after"))
    await reading(visit.page, "/chunks/", {"id": "c", "text": "Other words.", **nothing})
    await visit.ask("What?")
    await visit.page.locator(".answer .cite").click()
    await visit.page.wait_for_selector("#panel .note")
    assert "changed since" in await visit.text("#panel .note")


async def test_two_hundred_references_are_shown_in_two_steps(visit: Visit) -> None:
    facts = [(f"Statement number {one} holds.", [citation(one)]) for one in range(200)]
    text = " ".join(fact for fact, _ in facts)
    await answering(visit.page, stream(("result", answer(text, facts))))
    await visit.ask("What?", until=".actions")
    assert await visit.page.locator(".answer .cite").count() == 200
    assert await visit.page.locator(".places > li").count() == 12
    await visit.page.get_by_role("button", name="Show all 200").click()
    assert await visit.page.locator(".places > li").count() == 200
    assert await visit.page.evaluate(
        "document.activeElement.closest('li') === document.querySelectorAll('.places > li')[12]"
    )


async def test_a_long_question_is_seen_whole_on_a_phone(visits: Visits) -> None:
    visit = await visits(viewport=PHONE)
    await visit.page.fill("#question", f"{QUESTION} {QUESTION}")
    hidden = "(one) => one.scrollHeight - one.clientHeight"
    assert await visit.page.locator("#question").evaluate(hidden) <= 0


async def test_offline_is_said_and_the_question_stays(visits: Visits) -> None:
    visit = await visits(refusals=True)
    await visit.page.context.set_offline(True)
    await visit.ask(QUESTION, until=".turn .problem")
    assert "offline" in await visit.text(".turn .problem")
    assert await visit.page.input_value("#question") == QUESTION


async def test_a_reading_that_is_refused_while_it_streams_costs_the_panel_alone(
    visit: Visit,
) -> None:
    visit.refusals_expected = True
    await telling(visit.page, "Yes.")
    await visit.ask("What?")
    await reading(
        visit.page, "/chunks/", problem(429, "quota_exceeded"), headers={"retry-after": "30"}
    )
    await visit.page.locator(".answer .cite").click()
    await visit.page.wait_for_selector("#panel .problem")
    assert "Ask again in 30 s" in await visit.text("#panel .problem button")
    assert "Yes" in await visit.text(".answer")


async def test_references_of_the_server_are_shown_as_it_tells_them(visit: Visit) -> None:
    item = {
        "number": 1, "label": "a.md:3-5", "chunk_id": "chunk-1", "document_name": "a.md",
        "span": "Words.", "first_line": 3, "last_line": 5, "page": None,
        "source_uri": "https://docs.example.com/a", "match": 0.95, "confidence": 0.8,
        "signals": {"similarity": 0.9, "freshness": 0.5, "citations": 0.1, "model": 0.7},
    }  # fmt: skip
    items = [item, {**item, "number": 2, "span": "More.", "confidence": None}]
    told = {
        "answer": "It is so [1,2]. Not this [7], nor `a[1]`.\n\n"
        "References:\n[1] a.md:3-5 (95% match)\n[2] a.md:3-5 (95% match)\n\n"
        "Limits:\n- Below 70%: the answer is limited.",
        "items": items,
        "confidence": 0.6,
        "limits": ["Below 70%: the answer is limited."],
    }
    text = "It is so. Not this [7], nor `a[1]`."
    document = answer(text, [("It is so.", items)], references=told)
    await answering(visit.page, stream(("result", document)))
    await visit.ask("What?", until=".actions")
    assert await visit.page.locator(".answer .cite").all_inner_texts() == ["1", "2"]
    assert "Not this [7], nor a[1]" in await visit.text(".answer")
    assert "References" not in await visit.text(".answer")
    assert "Below" not in await visit.text(".answer")
    row = await visit.text(".references > li")
    assert "95% match" in row
    assert "80%" in row
    assert "lines 3-5" in row
    assert "Below 70%" in await visit.text(".uncertain")
    assert "60%" in await visit.text(".verdict")


async def test_a_tab_that_was_open_for_an_hour_asks_for_its_key_again(visit: Visit) -> None:
    visit.refusals_expected = True
    await answering(visit.page, problem(401, "unauthenticated"))
    await visit.ask("What?")
    await visit.page.get_by_role("button", name="Enter a key").click()
    await visit.page.wait_for_selector("#key-dialog[open]")
    await visit.page.fill("#key", "two words")
    await visit.page.keyboard.press("Enter")
    assert "no space" in await visit.text("#key-problem")
    await visit.page.fill("#key", SECRET)
    await visit.page.keyboard.press("Enter")
    await visit.page.wait_for_selector("html[data-ready]")
    await visit.page.wait_for_function("() => sessionStorage.getItem('drift.key')")
    assert await visit.page.input_value("#key") == ""
    assert await visit.page.input_value("#question") == "What?"
