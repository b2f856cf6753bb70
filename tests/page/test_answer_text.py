"""An answer as text: its Markdown, the numbers in it, and what is copied of it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.page.browser import Visit
from tests.page.conftest import Visits
from tests.page.replies import answer, answering, citation, problem, stream

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(120)]

SHOW = """async (text) => {
  const { blocks, showBlocks } = await import("/rag/x/markdown.js");
  const place = document.createElement("div");
  const made = blocks(text);
  showBlocks(place, made, (number) => {
    const button = document.createElement("button");
    button.append(number);
    return button;
  });
  const all = (kind) => [...place.querySelectorAll(kind)].map((one) => one.textContent);
  return {
    isWhole: made.map((one) => one.raw).join("") === text, text: place.textContent,
    strong: all("strong"), emphasis: all("em"), numbers: all("button"),
    links: [...place.querySelectorAll("a")].map((one) => [one.href, one.textContent]),
  };
}"""


async def ask(visit: Visit, *events: tuple[str, Any], until: str = ".actions") -> None:
    await answering(visit.page, stream(*events))
    await visit.ask("What?")
    await visit.page.wait_for_selector(f".turn:last-child {until}")


# -------------------------------------------------------------------------------------- Markdown
ADDRESSES = {
    "It is at https://example.com/page\ue0001,2\ue001.": "https://example.com/page",
    "It is at https://example.com/page.\ue0001,2\ue001": "https://example.com/page",
    "It is at https://example.com\ue0001,2\ue001?": "https://example.com/",
    "(see www.example.com/a_b\ue0001,2\ue001)": "http://www.example.com/a_b",
    "| a |\n|---|\n| https://example.com/a\ue0001,2\ue001 |": "https://example.com/a",
}


async def test_an_address_ends_before_the_numbers_behind_it(visit: Visit) -> None:
    for text, address in ADDRESSES.items():
        shown = await visit.page.evaluate(SHOW, text)
        assert [href for href, _ in shown["links"]] == [address], text
        assert shown["numbers"] == ["1", "2"], text
        assert not set("12") & set(shown["links"][0][1]), text
        assert shown["isWhole"], text


STRONG = {
    "**「注意」**です": ["「注意」"],
    "これは**「注意」**です": ["「注意」"],
    "**注意\uff1a**詳しく。**値段\uff1a**百円": ["注意\uff1a", "値段\uff1a"],
    "안내**(주의)**입니다": ["(주의)"],
    "**注意**abc": ["注意"],
    "a **b** c": ["b"],
    "**(a)**b": [],
    "あ*b*c": [],
    "__「注意」__です": ["「注意」"],
    "**It is so.**\ue0001\ue001 And so.": ["It is so."],
    "**So.**\ue0001\ue001**(so)**\ue0002\ue001": ["So.", "(so)"],
}


async def test_what_is_strong_ends_beside_what_no_blank_parts(visit: Visit) -> None:
    for text, strong in STRONG.items():
        shown = await visit.page.evaluate(SHOW, text)
        assert (shown["strong"], shown["isWhole"]) == (strong, True), text


async def test_more_signs_of_emphasis_than_people_write_are_shown_as_they_are(visit: Visit) -> None:
    for text in ("**a *b " * 2285 + "c*", "*a _b " * 1200 + "c_ d*" * 900, "_a" * 8000):
        shown = await visit.page.evaluate(SHOW, text)
        assert (shown["strong"], shown["emphasis"], shown["text"]) == ([], [], text)
    below = await visit.page.evaluate(SHOW, f"{'**a *b ' * 2285}\n\nIt is **so**\ue0001\ue001.")
    assert (below["strong"], below["numbers"]) == (["so"], ["1"])


HOSTS = {
    ("https://t.co/x", "https://contact.com/login"): False,
    ("https://x.com/a", "netflix.com"): False,
    ("https://x.com/a", "x.com@netflix.com"): False,
    ("https://x.com/a", "the page"): False,
    ("https://x.com/a", "x.com"): True,
    ("https://x.com/a", "https://X.com/a"): True,
    ("http://www.x.com/a", "www.x.com/a"): True,
}


async def test_a_link_says_its_host_unless_its_text_is_its_address(visit: Visit) -> None:
    for (address, text), is_said in HOSTS.items():
        shown = await visit.page.evaluate(
            """async ([address, text]) => {
              const { link } = await import("/rag/x/elements.js");
              return link(address, document.createTextNode(text)).textContent;
            }""",
            [address, text],
        )
        assert (shown == text) == is_said, (address, text)


WINDOWS = "Run it.\r\n\r\n```\r\na\r\nb\r\n```\r\n\r\nIt runs."


async def test_lines_that_end_in_two_signs_are_shown_once(visit: Visit) -> None:
    for cut in (WINDOWS.index("\n"), WINDOWS.index("It runs") + 5):
        deltas = [("answer_delta", {"text": one}) for one in (WINDOWS[:cut], WINDOWS[cut:])]
        await ask(visit, *deltas, ("error", problem(500, "deadline")), until=".problem")
        assert await visit.text(".turn:last-child .answer") == "Run it.\n\na\nb\n\nIt runs."
    facts = [("Run it.", [citation(1)]), ("It runs.", [citation(1)])]
    await ask(visit, ("result", answer(WINDOWS, facts)))
    frames = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
    await visit.page.evaluate(frames)
    words = (await visit.text(".turn:last-child .answer")).split()
    assert words == ["Run", "it1.", "a", "b", "It", "runs1."]


# --------------------------------------------------------------------------------------- numbers
NUMBERED = """Run this\ue0001\ue001:

- sys.argv[1] is the first argument\ue0001,2\ue001.
- क्या यह है\ue0002\ue001।

| a | b |
|---|---|
| x | y\ue0002\ue001 |
| x | z\ue0001\ue001

```
run()
```

\ue0002\ue001"""
FACTS: list[tuple[str, list[Any]]] = [
    ("Run this:", [citation(1)]),
    ("Nothing of it stands there.", [citation(2)]),
    ("sys.argv[1] is the first argument.", [citation(2), citation(1)]),
    ("क्या यह है।", [citation(2)]),
    ("x, y", [citation(2)]),
    ("x, z", [citation(1)]),
    ("```\nrun()\n```", [citation(2)]),
]


async def test_numbers_stand_where_the_sentences_of_the_facts_end(visit: Visit) -> None:
    plain = NUMBERED.removesuffix("\n\n\ue0002\ue001")
    for one in ("\ue0001\ue001", "\ue0001,2\ue001", "\ue0002\ue001"):
        plain = plain.replace(one, "")
    items = [{**citation(number), "number": number, "match": 0.5} for number in (1, 2)]
    told = {"answer": "Not read [1].", "items": items, "confidence": 0.5, "limits": []}
    for more in ({}, {"references": told}):
        found = await visit.page.evaluate(
            """async (result) => (await import("/rag/x/references.js")).referred(result)""",
            answer(plain, FACTS, **more),
        )
        assert found["text"] == NUMBERED
        assert [one["number"] for one in found["items"]] == [1, 2]
        assert [one["match"] for one in found["items"]] == [0.5 if more else None] * 2


# ------------------------------------------------------------------------------------- the copies
CODE = (
    "Use `List<String>` and ``a ` <b>``.",
    "```cpp\n#include <stdio.h>\nfoo![0];\n```",
    "- so:\n\n  ```\n  List<String> foo![0]\n\n  end\n  ```\n- and `b<c>`",
    "> ~~~\n> List<String>\n> ~~~",
    "| a |\n|---|\n| `List<String>` |",
)


async def test_code_is_copied_as_it_is_and_markup_beside_it_is_text(visit: Visit) -> None:
    for code in CODE:
        saved = await visit.page.evaluate(
            """async (text) => {
              const { asMarkdown } = await import("/rag/x/export.js");
              const answer = { text, limits: [], items: [], near: [] };
              const asked = { question: "What?", project: "a", depth: "auto" };
              return asMarkdown(answer, { asked, uncertain: "", when: 0, confidence: false });
            }""",
            f"{code}\n\n<b>no</b> `x<y>` ![x](y)",
        )
        assert f"\n\n{code}\n\n&lt;b>no&lt;/b> `x<y>` &#33;[x](y)\n\n" in saved


async def test_the_words_alone_are_copied_as_they_were_written(visits: Visits) -> None:
    visit = await visits(permissions=["clipboard-read", "clipboard-write"])
    text = "It is a < b, `List<String>` or <b>."
    await ask(visit, ("result", answer(text, [(text, [citation(1)])])))
    await visit.page.get_by_role("button", name="Copy", exact=True).click()
    copied = await visit.page.evaluate("navigator.clipboard.readText()")
    assert copied == "It is a < b, `List<String>` or <b> [1]."


LEASE = {"document_id": "files/lease.pdf", "document_name": "Lease", "page": 2, "heading": "Rent"}
CITED = [
    citation(1, **LEASE, span="The rent is 940 eu-\nros a month."),
    citation(2, document_id="old/lease.pdf", document_name="Lease", heading="Lease > Rent"),
    citation(3, **LEASE, span="It is paid\fin advance."),
    citation(
        4, document_id="a/costs.xlsx", document_name="Costs", source_uri="https://a.example/c"
    ),
]
MAILED = """What?

Yes [1, 2, 3, 4].

What is uncertain: Who pays is open.

References

files/lease.pdf
[1] page 2 · Rent: “The rent is 940 euros a month.”
[3] page 2: “It is paid in advance.”

old/lease.pdf
[2] Rent: “Words of passage 2.”

costs.xlsx
[4] 4 of 400: “Words of passage 4.”
https://a.example/c

Project: """


async def test_a_document_stands_once_with_its_places_below_it(visits: Visits) -> None:
    visit = await visits(permissions=["clipboard-read", "clipboard-write"])
    document = answer("Yes.", [("Yes.", CITED)], residual_uncertainty="Who pays is open.")
    await ask(visit, ("result", document))
    rows = visit.page.locator(".references > li")
    shown = [(await one.inner_text()).split("\n\n") for one in await rows.all()]
    words = [" ".join("".join(parts).split()) for parts in shown]
    assert [text.count("lease.pdf") for text in words] == [1, 1, 0]
    assert await rows.locator(".title").all_inner_texts() == [
        "files/lease.pdf", "old/lease.pdf", "costs.xlsx",
    ]  # fmt: skip
    assert await rows.first.locator(".number").all_inner_texts() == ["1", "3"]
    assert await rows.first.locator(".where").all_inner_texts() == ["page 2 · Rent", "page 2"]
    assert "940 euros" in words[0]

    await visit.page.get_by_role("button", name="Copy as e-mail").click()
    copied = await visit.page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith(MAILED)
    await visit.page.get_by_role("button", name="Copy as Markdown").click()
    copied = await visit.page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("# What?\n\nYes[^1][^2][^3][^4].\n\n**What is uncertain:**")
    assert "\n[^3]: files/lease.pdf · page 2 · Rent: “It is paid in advance.”\n" in copied


async def test_footnotes_of_a_saved_thread_are_each_answer_s_own(visit: Visit) -> None:
    saved = await visit.page.evaluate(
        """async (result) => {
          const { threadAsMarkdown } = await import("/rag/x/export.js");
          const one = { question: "What?", project: "a", depth: "auto", when: 0, result };
          return threadAsMarkdown([one, one], false);
        }""",
        answer("Yes.", [("Yes.", [citation(1)])]),
    )
    assert [saved.count(f"[^{label}]") for label in ("1-1", "2-1", "1")] == [2, 2, 0]


WRAPPED = {
    "The rent is 940 euros a\nmonth, to be paid in advance\nby the third day.":
        "The rent is 940 euros a month, to be paid in advance by the third day.",
    "The real consumption of the house-\nhold counts.":
        "The real consumption of the household counts.",
    "Die Vor-\nund Nachteile stehen hier, alle.": "Die Vor-\nund Nachteile stehen hier, alle.",
    "The year is stated as from Jean-\nPaul and nobody else.":
        "The year is stated as from Jean-\nPaul and nobody else.",
    "one page ends with its last line, which is long\fand goes on here":
        "one page ends with its last line, which is long and goes on here",
    "- a list of short\n- items it is": "- a list of short\n- items it is",
    "```\nlong_name_of_a_function(argument, other)\nreturn_it(argument)\n```":
        "```\nlong_name_of_a_function(argument, other)\nreturn_it(argument)\n```",
}  # fmt: skip


async def test_sentences_go_on_over_the_ends_of_lines_and_a_quotation_is_found(
    visit: Visit,
) -> None:
    for text, whole in WRAPPED.items():
        for quote in (text, " ".join(text.split())):
            marked = await visit.page.evaluate(
                """async ([text, quote]) => {
                  const { markedText } = await import("/rag/x/passage.js");
                  const place = document.createElement("p");
                  place.append(markedText(`Before.\\n\\n${text}\\n\\nAfter.`, quote).nodes);
                  return [place.textContent, place.querySelector("mark")?.textContent];
                }""",
                [text, quote],
            )
            assert marked == [f"Before.\n\n{whole}\n\nAfter.", whole]


async def test_a_copy_that_fails_is_said_and_the_button_has_its_words_again(visit: Visit) -> None:
    await ask(visit, ("result", answer("Yes.", [("Yes.", [citation(1)])])))
    await visit.page.evaluate(
        "Object.defineProperty(navigator, 'clipboard', { value: undefined, configurable: true })"
    )
    copy = visit.page.locator(".actions button").first
    before = await copy.inner_text()
    await copy.click()
    await visit.page.wait_for_function("() => document.querySelector('#status').textContent")
    assert await copy.inner_text() != before
    await visit.page.wait_for_timeout(500)
    await copy.click()
    await visit.page.wait_for_timeout(2500)
    assert await copy.inner_text() == before


async def test_times_are_rounded_once(visit: Visit) -> None:
    told = await visit.page.evaluate(
        """async () => {
          const { duration, speak } = await import("/rag/x/words.js");
          await speak("en");
          return [3.14, 59.4, 59.97, 119.7, 61].map(duration);
        }"""
    )
    assert told == ["3.1 s", "59 s", "1 min 0 s", "2 min 0 s", "1 min 1 s"]
