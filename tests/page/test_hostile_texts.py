"""What others wrote is text: in answers, titles, passages, names of entities and projects."""

from __future__ import annotations

import json
import re

import pytest
from markdown_it import MarkdownIt

from tests.page.browser import PHONE, Visit
from tests.page.conftest import Visits
from tests.page.hostile_texts import HOSTILE
from tests.page.replies import answer, answering, citation, node, reading, stream, telling

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(240)]

UNSEEN = re.compile(
    "[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u180e\u200b\u202a-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\U000e0000-\U000e007f]"
)
MORE_THAN_TEXT = (
    "script, iframe, object, embed, form, svg, math, style, base, meta, template, video, audio, "
    "img, [onerror], [onload], [onclick], [onfocus], [onmouseover], [srcdoc], "
    "[style]:not(.size)"
)


def shown(text: str) -> str:
    """Return a text as readers see it."""
    return UNSEEN.sub(lambda found: f"U+{ord(found[0]):04X}", text)


async def hostile_page(visit: Visit, text: str) -> None:
    """Have a text stand wherever a server may put one."""
    cited = citation(1, span=text, document_name=text, heading=text, source_uri=text, place=text)
    progress = {
        "phase": "retrieving_communities", "progress_pct": 40, "thought_summary": text,
        "details_md": text,
    }  # fmt: skip
    followups = [
        node(0, question=text),
        node(1, 0, question=text, state=f"failed: {text}"),
        node(2, 1, state="skipped: budget", question=text),
    ]
    document = answer(
        f"{text}\n\nThe end.",
        [("The end.", [cited, citation(2)])],
        residual_uncertainty=text,
        trace={"followups": followups},
    )
    events = stream(
        ("progress", progress),
        ("followup", node(0, question=text, state="asked")),
        ("answer_delta", {"text": f"{text}\n\nThe end."}),
        ("result", document),
    )
    await answering(visit.page, events)


async def assert_is_text_alone(visit: Visit, place: str, name: str) -> None:
    assert await visit.page.evaluate("window.__ran") is None, name
    found = (
        await visit.page.locator(place)
        .locator(MORE_THAN_TEXT)
        .evaluate_all("(all) => all.map((one) => one.outerHTML.slice(0, 200))")
    )
    assert found == [], name
    addresses = await visit.page.locator(f"{place} a[href]").evaluate_all(
        "(all) => all.map((one) => [one.protocol, one.rel, one.host])"
    )
    for protocol, rel, _host in addresses:
        assert protocol in {"http:", "https:"}, name
        assert rel == "noopener noreferrer", name


DEEP = {
    "lists on a line": "- " * 1000 + "deep",
    "numbers on a line": "1. " * 1000 + "deep",
    "quotes": "> " * 1000 + "deep",
    "lists in quotes": "> - " * 500 + "deep",
    "loose lists": "\n\n".join(
        f"{'  ' * level}- deep\n\n{'  ' * level}  so" for level in range(60)
    ),
    "tight lists": "\n".join(f"{'  ' * level}- deep" for level in range(300)),
}


async def test_deep_texts_make_the_page_no_wider(visits: Visits) -> None:
    visit = await visits(viewport=PHONE)
    for name, text in DEEP.items():
        await telling(visit.page, text)
        await visit.ask("What?", until=".turn:last-child .actions")
        assert "deep" in await visit.text(".turn:last-child .answer"), name
        wide = await visit.page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert wide <= 0, name
        deepest = await visit.page.evaluate(
            """Math.max(...[...document.querySelectorAll(".answer *")].map((one) => {
              let level = 0;
              for (let at = one; at; at = at.parentElement) level += 1;
              return level;
            }))"""
        )
        assert deepest < 60, name
        await visit.page.evaluate("document.getElementById('turns').replaceChildren()")


FEW = dict(list(HOSTILE.items())[::4])
"""For the other places: all of them write text in the same way."""


async def test_the_table_is_long_enough() -> None:
    assert len(HOSTILE) >= 40


async def test_hostile_texts_are_text_in_answers_titles_and_follow_ups(visit: Visit) -> None:
    for name, text in HOSTILE.items():
        await hostile_page(visit, text)
        await visit.ask("What?", until=".turn:last-child .actions")
        await assert_is_text_alone(visit, "#turns", name)
        title = visit.page.locator(".turn:last-child .references .title").first
        assert await title.evaluate("(one) => one.textContent") == shown(text), name
        question = visit.page.locator(".turn:last-child .tree .question").first
        assert await question.evaluate("(one) => one.textContent") == shown(text), name
        assert "The end" in await visit.text(".turn:last-child .answer"), name
        assert await visit.page.locator(".turn:last-child .answer .cite").count() == 2, name
        await visit.page.evaluate("document.getElementById('turns').replaceChildren()")


@pytest.mark.deep
async def test_hostile_texts_are_text_in_passages(visit: Visit) -> None:
    visit.refusals_expected = True  # nothing has their documents
    for name, text in FEW.items():
        await visit.page.unroute_all()
        beside = {"id": "x", "heading": text, "place": text, "text": text}
        document = {"id": text, "name": text}
        chunk = {**beside, "document": document, "before": beside, "after": beside}
        await reading(visit.page, "/chunks/", chunk)
        await hostile_page(visit, text)
        await visit.ask("What?", until=".actions")
        await visit.page.locator(".references .open").first.click()
        here = visit.page.locator("#panel .here")
        await here.wait_for()
        told = await here.evaluate("(one) => one.textContent")
        assert told.replace("\n", " ") == shown(text).replace("\n", " "), name
        await assert_is_text_alone(visit, "#panel-body", name)
        await visit.page.click("#panel-close")
        await visit.page.evaluate("document.getElementById('turns').replaceChildren()")


@pytest.mark.deep
async def test_hostile_texts_are_text_in_names_of_entities(visit: Visit) -> None:
    source = {"node_id": "e", "node_type": "Entity", "score": 0.5, "cited": True, "related": []}
    for name, text in FEW.items():
        await visit.page.unroute_all()
        sources = [{**source, "title": text, "text": text, "node_id": text}]
        result = {"answer": f"{text} [Node 1]", "sources": sources}
        await answering(visit.page, stream(("result", result)), "**/api/rag/query")
        named = dict.fromkeys(("id", "title", "description"), text)
        relation = {"direction": "out", "entity_id": text, "weight": 1, **named}
        mention = dict.fromkeys(("id", "heading", "place", "document_name", "beginning"), text)
        more = {"more_relations": True, "more_chunks": False}
        read = {**named, "relations": [relation], "chunks": [mention], **more}
        await reading(visit.page, "/entities/", read)
        await visit.ask("What?", "nodes", until=".actions")
        await visit.page.locator(".references .open").first.click()
        await visit.page.wait_for_selector("#panel .rows")
        row = visit.page.locator("#panel .row bdi").first
        assert await row.evaluate("(one) => one.textContent") == shown(text), name
        await assert_is_text_alone(visit, "#panel-body", name)
        await assert_is_text_alone(visit, "#turns", name)
        await visit.page.click("#panel-close")
        await visit.page.evaluate("document.getElementById('turns').replaceChildren()")


@pytest.mark.deep
async def test_hostile_texts_are_text_in_ids_of_projects_and_in_problems(visits: Visits) -> None:
    visit = await visits(None, refusals=True)
    texts = [text for text in FEW.values() if len(text) < 128]
    page = {"projects": [{"id": text} for text in texts], "next": None}

    async def projects(route: object) -> None:
        await route.fulfill(body=json.dumps(page), content_type="application/json")  # type: ignore[attr-defined]

    await visit.page.route(lambda url: "/projects" in url, projects)
    await visit.open()
    values = await visit.page.locator("#project option").evaluate_all(
        "(all) => all.map((one) => one.value)"
    )
    assert values[:-1] == texts
    for text in FEW.values():
        said = dict.fromkeys(("title", "detail", "code", "retrieval_id"), text)
        errors = [{"field": text, "message": text}]
        await answering(visit.page, {"type": "x", "status": 500, **said, "errors": errors})
        await visit.ask("What?", until=".turn .problem")
        detail = visit.page.locator(".turn .detail").first
        assert await detail.evaluate("(one) => one.textContent") == shown(text)
        await assert_is_text_alone(visit, "#turns", text[:40])
        await visit.page.evaluate("document.getElementById('turns').replaceChildren()")


SAVED = """async ([text, answered]) => {
  const { asMarkdown } = await import("/rag/x/export.js");
  const one = {
    number: 1, kind: "chunk", document: text, title: text, heading: text, where: text, lines: "",
    place: text, match: null, quote: text,
  };
  const answer = { text: answered, limits: [text], items: [one], near: [one] };
  const asked = { question: text, project: text, depth: "auto" };
  return asMarkdown(answer, { asked, uncertain: text, when: 0, confidence: false });
}"""
PLAIN = {
    f"{kind}_{end}"
    for kind in ("heading", "paragraph", "bullet_list", "list_item", "strong")
    for end in ("open", "close")
} | {"inline", "text", "text_special", "softbreak"}
"""What an answer without form is made of."""


def kinds(saved: str) -> set[str]:
    """Return what a reader of Markdown finds in a text."""
    tokens = MarkdownIt("commonmark").enable("table").parse(saved)
    return {inner.type for token in tokens for inner in (token, *(token.children or ()))}


async def test_hostile_texts_load_nothing_where_a_saved_answer_is_opened(visit: Visit) -> None:
    await visit.open()
    picture = "![see](https://evil.example/pixel.png)"
    texts = {
        **HOSTILE,
        "a picture, escaped": f"\\{picture}",
        "a picture beside code": f"`a` {picture} `b`",
        "a picture like code": f"- \\`{picture}`\n- `{picture}`",
        "code that markup ends": f"<pre>\n```\n</pre>\n```\n{picture}\n```",
        "code that a list ends": f"- ```\n  a\n\n{picture}\n\n  ```",
        "code by its indentation": f"    {picture}",
        "a tilde": f"~~~\n{picture}\n~~~",
        "emphasis without end": f"{'*a _b ' * 1200}{picture}",
    }
    for name, text in texts.items():
        saved = await visit.page.evaluate(
            SAVED,
            [text, f"{text}\n\nThe end."],
        )
        assert not kinds(saved) & {"image", "html_block", "html_inline"}, name


async def test_names_and_quotations_make_nothing_of_their_own_in_what_is_copied(
    visit: Visit,
) -> None:
    await visit.open()
    texts = {
        **HOSTILE,
        "a footnote": "\n\n[^1]: Another.\n[^2]: One more[^1].\n",
        "a list": "1. one\n2) two\n- three\n+ four",
        "a heading below": "Heading\n===\n\nOther\n---",
        "addresses": "https://a.example www.b.example me@c.example <https://d.example> e@f.g",
        "pages": "one\fpage-\nbreak",
    }
    for name, text in texts.items():
        saved = await visit.page.evaluate(SAVED, [text, "Yes[^1].\ue0001\ue001\n\n[^1]: Not so."])
        assert kinds(saved) <= PLAIN, (name, kinds(saved) - PLAIN)
        assert saved.count("\n# ") + saved.count("\n## ") == 1, name
        assert [line[:6] for line in saved.split("\n") if line.startswith("[^")] == ["[^1]: "], name
        assert saved.count("[^") == 2, name
        assert not re.search(r"(?<!\\):(?=//)|www\.|(?<!\\)@|\f", saved), name
