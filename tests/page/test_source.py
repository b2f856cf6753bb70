"""The document of a passage beside the answer: itself at the words, or its passages and why."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.async_api import Page, Route

from tests.page.browser import DESK, PHONE, Visit
from tests.page.conftest import Visits
from tests.page.replies import answer, answering, citation, problem, stream

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="module")]

QUOTE = "The ferry leaves at nine."
MARKED = "#panel .source mark"
DOWNLOAD = "#panel .buttons :text-is('Download')"
NOTE = "#panel .source > [role=status]"


def pdf(pages: int, *, quote_on: int = 1, size: int = 0, more: str = "", last: str = "") -> bytes:
    """Return a PDF of pages with lines on them, and a quote broken over two lines on one."""
    font = "/Resources<</Font<</F1<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>"
    kids = " ".join(f"{3 + at} 0 R" for at in range(pages))
    parts = [f"<</Type/Catalog/Pages 2 0 R{more}>>", f"<</Type/Pages/Count {pages}/Kids[{kids}]>>"]
    for at in range(pages):
        place = f"/MediaBox[0 0 612 792]/Contents {3 + pages + at} 0 R"
        parts.append(f"<</Type/Page/Parent 2 0 R{place}{font}>>")
    for number in range(1, pages + 1):
        lines = [f"({number}.{line} Rows of words that fill a page.) Tj T*" for line in range(30)]
        if number == quote_on:
            lines[12:12] = ["(They say so: The ferry lea-) Tj T*", "(ves at nine.) Tj T*"]
        text = "\n".join(["BT /F1 12 Tf 14 TL 60 760 Td", *lines, "ET", "%" + "." * size])
        parts.append(f"<</Length {len(text)}>>stream\n{text}\nendstream")
    body, places = "%PDF-1.7\n", []
    for at, part in enumerate(parts, 1):
        places.append(f"{len(body):010} 00000 n \n")
        body += f"{at} 0 obj{part}endobj\n"
    table = f"xref\n0 {len(parts) + 1}\n0000000000 65535 f \n" + "".join(places)
    end = f"trailer<</Size {len(parts) + 1}/Root 1 0 R{last}>>\nstartxref\n{len(body)}\n%%EOF"
    return (body + table + end).encode()


LOCKED = "/ID[(x)(x)]/Encrypt<</Filter/Standard/V 1/R 2/P -1/O({0})/U({0})>>".format("x" * 32)


async def keeping(page: Page, name: str, media_type: str, content: bytes | int | None) -> list[int]:
    """Have a document kept, or refused by a status; return the sizes of what is sent of it."""
    sent: list[int] = []
    document = {"id": name, "name": name}
    chunk = {"id": "c", "heading": None, "place": "1 of 4", "before": None, "after": None}
    chunk |= {"text": f"Before it. {QUOTE} Behind it.", "document": document}
    size = len(content) if isinstance(content, bytes) else 9
    kept = None if content is None else {"type": media_type, "size": size}

    async def reply(route: Route) -> None:
        path = urlsplit(route.request.url).path
        if not path.endswith("/content"):
            told = chunk if "/chunks/" in path else {**document, "content": kept}
            await route.fulfill(json=told)
        elif isinstance(content, bytes):
            asked = re.findall(r"\d+", route.request.headers.get("range", "")) or ["0", str(size)]
            body = content[int(asked[0]) : int(asked[1]) + 1]
            sent.append(len(body))
            about = {"content-type": media_type, "content-range": f"bytes {asked[0]}-x/{size}"}
            await route.fulfill(body=body, status=206, headers=about)
        else:
            code = "not_found" if content == 404 else "unavailable"
            await route.fulfill(json=problem(content or 0, code), status=content)

    await page.route(re.compile(r"/(chunks|documents)/[^/]+(/content)?(\?|$)"), reply)
    return sent


async def opened(visit: Visit, *cited: dict[str, Any]) -> None:
    """Ask, and open the first reference."""
    many = list(cited) or [citation(1, span=QUOTE, page=1)]
    await answering(visit.page, stream(("result", answer("It is so.", [("It is so.", many)]))))
    await visit.ask("What?")
    await visit.page.click(".answer .cite >> nth=0")
    await visit.page.wait_for_selector("#panel .source")


async def marked(visit: Visit) -> str:
    return re.sub(r"\W", "", "".join(await visit.page.locator(MARKED).all_inner_texts()))


async def test_a_pdf_opens_at_its_page_with_the_words_marked(visit: Visit) -> None:
    content = pdf(400, quote_on=317, size=20_000)
    sent = await keeping(visit.page, "timetable.pdf", "application/pdf", content)
    await opened(visit, citation(1, span=QUOTE, page=317))
    assert await marked(visit) == "Theferryleavesatnine"
    assert await visit.text(".pdf .facts") == "Page 317 of 400"
    assert sum(sent) < len(content) / 2
    drawn = await visit.page.locator(".pdf mark").first.bounding_box()
    assert drawn is not None
    assert drawn["x"] > DESK["width"] / 2
    await visit.picture("source-pdf")
    await visit.assert_for_everybody()
    await visit.page.click("text=Next page")
    await visit.page.wait_for_selector(".page-text :text('318.2 Rows')")
    assert await visit.page.locator(".pdf mark").count() == 0


async def test_a_pdf_with_scripts_is_drawn_and_they_do_not_run(visit: Visit) -> None:
    script = "/OpenAction<</S/JavaScript/JS(app.alert\\('ran'\\))>>/AcroForm<</XFA[]/Fields[]>>"
    await keeping(visit.page, "a.pdf", "application/pdf", pdf(3, quote_on=2, more=script))
    await opened(visit)  # its page is another one than the citation says
    assert await visit.text(".pdf .facts") == "Page 2 of 3"
    assert await marked(visit) == "Theferryleavesatnine"


@pytest.mark.parametrize(
    ("name", "media_type", "content", "why"),
    [
        ("a.pdf", "application/pdf", b"GIF89a is no PDF", "cannot be read here"),
        ("a.pdf", "application/pdf", b"%PDF-1.7 and then nothing", "cannot be read here"),
        ("a.pdf", "application/pdf", pdf(1, last=LOCKED), "wants a password"),
        ("a.docx", "application/vnd.openxmlformats", b"PK", "of this kind"),
        ("a.txt", "text/plain", b"x" * (2**21 + 1), "more than 2 MiB"),
        ("a.txt", "text/plain", None, "does not keep"),
        ("a.txt", "text/plain", 404, "removed"),
        ("a.txt", "text/plain", 503, "could not be fetched"),
    ],
)
async def test_what_is_not_shown_is_said_and_its_passages_stand(
    visits: Visits, name: str, media_type: str, content: bytes | int | None, why: str
) -> None:
    visit = await visits(refusals=True)
    await keeping(visit.page, name, media_type, content)
    await opened(visit)
    assert why in await visit.text(NOTE)
    assert await visit.text("#panel .here mark") == QUOTE
    assert await visit.page.locator(DOWNLOAD).count() == (content is not None)


async def test_a_page_that_cannot_be_fetched_any_more_is_said(visits: Visits) -> None:
    visit = await visits(refusals=True)
    await keeping(visit.page, "a.pdf", "application/pdf", pdf(60, quote_on=2, size=60_000))
    await opened(visit)
    await visit.page.route("**/documents/**", lambda route: route.abort())
    turn = "() => Array(40).fill().forEach(() => document.querySelector('.pdf span + *').click())"
    await visit.page.evaluate(turn)
    await visit.page.wait_for_selector(".sheet .problem:has-text('cannot be reached')")


@pytest.mark.parametrize(
    ("name", "media_type", "text", "shown"),
    [
        ("a.md", "text/markdown", "# Head\n\nHm. *The ferry* [leaves](/b) at nine.", "h4"),
        ("a.html", "text/plain", "<h1>H</h1><p>The <b>ferry</b> leaves&nbsp;at nine.", "b mark"),
        (
            "a.csv",
            "text/csv",
            'when,what\n1,"The ferry leaves, at nine"\n2,x',
            "td mark:text('nine')",
        ),
        ("a.py", "text/plain", "\n" * 40 + f"# {QUOTE}\n", "[data-line='41'] mark"),
        ("a.json", "application/json", '{"at": "The ferry leaves at nine."}', ".is-numbered mark"),
        ("a.txt", "text/plain", f"{QUOTE}\n" * 9 + f"Before it. {QUOTE} Behind.", ".lines mark"),
    ],
)
async def test_text_has_its_form_with_the_words_marked(
    visits: Visits, name: str, media_type: str, text: str, shown: str
) -> None:
    visit = await visits()
    await keeping(visit.page, name, media_type, text.encode())
    await opened(visit)
    assert await visit.page.locator(f"#panel .source {shown}").count() == 1
    assert (await marked(visit)).endswith("Theferryleavesatnine")
    await visit.assert_for_everybody()


async def test_words_are_found_whatever_the_white_space_and_soon(visit: Visit) -> None:
    found = await visit.page.evaluate(
        """async () => {
          const { placeOf } = await import(document.querySelector("[href$='/passage.js']").href);
          const text = "So \\n\\n it: The  ferry\\n\\tleaves at\\u00a0 nine (9).  Yes.";
          const at = placeOf(text, " ferry leaves  at nine\\n(9). "), begun = performance.now();
          const none = placeOf("word ".repeat(400_000), "word ".repeat(2000) + "end");
          return [text.slice(...at), none, performance.now() - begun];
        }"""
    )
    assert found[:2] == ["ferry\n\tleaves at\u00a0 nine (9).", [0, 0]]
    assert found[2] < 4000


HOSTILE = """<title>x</title><body onload="ran = 1"><script>ran = 1</script><svg onload="ran = 1">
<script>ran = 1</script></svg><img src=x onerror="ran = 1" alt="A harbour"><iframe srcdoc="x">
</iframe><form action="/documents"><input autofocus onfocus="ran = 1"><button>Go</button>In it
</form><a href="javascript:ran = 1">One</a><a href=" https://a.test/">Two</a><template>T</template>
<style>* { display: none }</style><math><mtext><script>ran = 1</script></mtext></math>
<p style="position: fixed" id="panel" onclick="ran = 1">The ferry leaves at nine.</p>"""


async def test_nothing_of_html_runs_or_looks_like_the_page(visit: Visit) -> None:
    await keeping(visit.page, "<img src=x onerror=ran=1>.html", "text/html", HOSTILE.encode())
    await opened(visit)
    assert await marked(visit) == "Theferryleavesatnine"
    words = " ".join((await visit.text("#panel .source .answer")).split())
    assert words == "Document A harbour In it OneTwo (a.test) The ferry leaves at nine."
    found = await visit.page.evaluate(
        """() => [typeof ran, ...[...document.querySelectorAll("#panel .answer *")].flatMap(
          (one) => [...one.attributes].map(({ name, value }) => `${name}=${value}`))]"""
    )
    link = ["rel=noopener noreferrer", "target=_blank", "href=https://a.test/"]
    assert found == ["undefined", "class=for-readers", "class=no-link", *link, "class=host"]


async def test_the_pane_goes_through_what_the_answer_cites(visits: Visits) -> None:
    name = "\u202e" + "<b>a long name</b> " * 20
    visit = await visits(viewport=PHONE, color_scheme="dark")
    await keeping(visit.page, "a.txt", "text/plain", QUOTE.encode())
    about = {"span": QUOTE, "document_name": name}
    await opened(visit, *(citation(at, **about) for at in (1, 2)), citation(3, span=QUOTE))
    assert "U+202E" in await visit.text("#panel-title")
    assert await visit.text("#panel summary") == "2 passages of this document in this answer"
    await visit.page.click("#panel summary")
    await visit.picture("source-phone")
    await visit.assert_for_everybody()
    assert await visit.page.evaluate("document.querySelector('#panel-body').scrollWidth") <= 390
    await visit.page.click("#panel .rows li:last-child button")
    await visit.page.wait_for_selector("#panel :text('2 of 3')")
    await visit.page.click("text=Next passage")
    await visit.page.wait_for_selector("#panel-title:text('Document 3')")
    assert not await visit.page.locator("#panel-back").is_visible()


async def test_another_project_closes_the_pane(visit: Visit) -> None:
    await keeping(visit.page, "a.txt", "text/plain", QUOTE.encode())
    await opened(visit)
    await visit.page.select_option("#project", index=1)
    await visit.page.wait_for_selector("#panel", state="hidden")
    assert await visit.page.locator("#panel-body *").count() == 0
