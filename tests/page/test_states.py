"""Every state of the page: for everybody by axe's rules, and as a picture to look at."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import pytest

from tests.function.corpus import PROJECT, QUESTION
from tests.page.browser import PHONE, Visit
from tests.page.conftest import Visits
from tests.page.replies import Event, answer, answering, citation, node, problem, reading, stream

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(120)]

LONG = """Default parameter values are evaluated from left to right when the function is defined.

- once, **not** at each call;
- in the scope of the definition.

| when | what |
|---|---|
| definition | the default |
| call | nothing |

```python
def f(a, b=[]):
    return b
```"""
FACT = "Default parameter values are evaluated from left to right when the function is defined."
ARABIC = "متى تُرفض السفينة في الرصيف الشمالي؟"
FAILURES = {
    "busy": (429, {"retry-after": "7"}),
    "quota_exceeded": (429, {"retry-after": "40"}),
    "forbidden": (403, {}),
    "graph_unavailable": (500, {}),
    "not_configured": (503, {"retry-after": "5"}),
}


async def asked(visit: Visit, body: str | Mapping[str, Any], **options: Any) -> None:
    await answering(visit.page, body, **options)
    await visit.ask(QUESTION, project=PROJECT)
    await visit.answered()


async def empty(visit: Visit) -> None:
    await visit.page.select_option("#project", PROJECT)
    await visit.page.wait_for_selector("#examples button")


async def answered(visit: Visit) -> None:
    cited = [citation(1, heading="Rules > Night", source_uri="https://docs.example.com/a")]
    document = answer(
        LONG,
        [(FACT, [*cited, citation(2)])],
        residual_uncertainty="Who decides is not said.",
        trace={
            "followups": [
                node(0),
                node(1, 0, verdict="partly"),
                node(2, 1, state="no_evidence", verdict=None, confidence=None),
            ]
        },
    )
    await asked(visit, stream(("result", document)), headers={"x-retrieval-id": "0b9d"})


async def all_of_it(visit: Visit) -> None:
    await answered(visit)
    await visit.page.click(".work summary")


async def partly(visit: Visit) -> None:
    document = answer(
        FACT, [(FACT, [citation(1)])], verdict={"verdict": "partly", "confidence": 0.4}
    )
    await asked(visit, stream(("result", document)))


async def at_work(visit: Visit) -> None:
    events: list[Event] = [
        ("progress", {"phase": "initializing", "progress_pct": 0, "thought_summary": "-"}),
        (
            "progress",
            {
                "phase": "executing_followup",
                "progress_pct": 55,
                "thought_summary": "Looking into: x",
            },
        ),
        *(
            (
                "followup",
                node(one, None if one < 2 else one // 2, state="asked" if one % 3 else "answered"),
            )
            for one in range(8)
        ),
        ("answer_delta", {"text": "So far it is known that "}),
    ]
    await asked(visit, stream(*events))
    await visit.page.evaluate(
        "document.querySelectorAll('.turn .problem, .turn .note').forEach((one) => one.remove())"
    )


async def nothing(visit: Visit) -> None:
    await asked(visit, stream(("result", answer("", no_data_found=True))))


async def cut(visit: Visit) -> None:
    await asked(visit, stream(("answer_delta", {"text": "The first half is "})))
    await visit.page.wait_for_selector(".turn .problem")


async def passage(visit: Visit) -> None:
    await answered(visit)
    text = "Before this.\n\nWords of passage 1. And after it more is said."
    chunk = {
        "id": "chunk-1",
        "heading": "Rules > Night",
        "place": "12 of 42",
        "text": text,
        "document": None,
        "before": {
            "id": "b",
            "heading": None,
            "place": "11 of 42",
            "text": "What stands before. " * 20,
        },
        "after": {"id": "a", "heading": None, "place": "13 of 42", "text": "What stands after."},
    }
    await reading(visit.page, "/chunks/", chunk)
    await visit.page.locator(".cite").first.click()
    await visit.page.wait_for_selector("#panel mark")


async def deleted(visit: Visit) -> None:
    await answered(visit)
    await reading(
        visit.page,
        "/chunks/",
        problem(404, "not_found", "The project holds nothing under this id."),
    )
    await visit.page.locator(".cite").first.click()
    await visit.page.wait_for_selector("#panel .problem")


async def threads(visit: Visit) -> None:
    await answered(visit)
    await answering(visit.page, "{}", "**/feedback")
    await visit.page.locator(".marks button").nth(1).click()
    await visit.page.wait_for_selector(".why:visible")
    if not await visit.page.locator("#threads").is_visible():
        await visit.page.click("#show-threads")
    await visit.page.locator("#thread-list [aria-expanded]").first.click()


async def communities(visit: Visit) -> None:
    await empty(visit)
    await visit.page.click("#show-communities")
    await visit.page.locator(".communities summary").first.click()


async def key(visit: Visit) -> None:
    await visit.page.click("#show-key")
    await visit.page.wait_for_selector("#key-dialog[open]")


async def rightwards(visit: Visit) -> None:
    text = f"ترفض دائرة المرفأ الرسو عندما يقل عمق الماء عن أربعة أمتار. {ARABIC}"
    document = answer(
        text,
        [(text, [citation(1, document_name="قواعد المرفأ", span=text)])],
        trace={"followups": [node(0, question=ARABIC), node(1, 0, question=ARABIC)]},
    )
    await answering(visit.page, stream(("result", document)))
    await visit.ask(ARABIC)
    await visit.answered()


async def sixty(visit: Visit) -> None:
    nodes = [
        node(
            one,
            None if one < 6 else (one - 6) // 2,
            state=["answered", "no_evidence", "skipped: budget"][one % 3],
        )
        for one in range(60)
    ]
    await asked(
        visit, stream(("result", answer(FACT, [(FACT, [citation(1)])], trace={"followups": nodes})))
    )
    await visit.page.click(".work summary")


async def begin_anew(visit: Visit) -> None:
    """Take away what the state before has shown; opening the page each time would take long."""
    await visit.page.unroute_all()
    await visit.page.evaluate("""
      for (const one of document.querySelectorAll("dialog[open]")) one.close();
      document.getElementById("new-thread").click();
    """)
    await visit.page.wait_for_selector(".is-empty")


def failing(code: str) -> Callable[[Visit], Awaitable[None]]:
    async def failed(visit: Visit) -> None:
        status, headers = FAILURES[code]
        await asked(visit, problem(status, code), headers=headers)
        await visit.page.wait_for_selector(".turn .problem")

    return failed


STATES: dict[str, Callable[[Visit], Awaitable[None]]] = {
    "empty": empty,
    "at work": at_work,
    "answered": answered,
    "all of it": all_of_it,
    "partly": partly,
    "nothing": nothing,
    "cut": cut,
    "passage": passage,
    "deleted passage": deleted,
    "threads": threads,
    "communities": communities,
    "key": key,
    "right to left": rightwards,
    "sixty follow-ups": sixty,
    **{code: failing(code) for code in FAILURES},
}
DEVICES: dict[str, dict[str, Any]] = {
    "desk": {},
    "phone": {"viewport": PHONE, "color_scheme": "dark", "locale": "de-DE", "has_touch": True},
}


@pytest.mark.deep
@pytest.mark.parametrize("device", ["desk", "phone"])
async def test_every_state_is_for_everybody(visits: Visits, device: str) -> None:
    broken: dict[str, str] = {}
    visit = await visits(refusals=True, **DEVICES[device])
    for name, reach in STATES.items():
        await begin_anew(visit)
        await reach(visit)
        await visit.picture(
            f"{device} {name}".replace(" ", "-"),
            whole=name not in {"passage", "threads", "key", "communities"},
        )
        try:
            await visit.assert_for_everybody()
        except AssertionError as error:
            broken[name] = str(error)
        wide = await visit.page.evaluate("document.documentElement.scrollWidth - innerWidth")
        if wide > 0:
            broken[f"{name}, width"] = f"{wide} pixels wider than the screen"
    assert broken == {}
