"""What the page weighs and how long it takes: `python -m tests.page.measure URL`, of a page that
runs without keys. Times are this machine's; nothing is asserted.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
from typing import Any

from playwright.async_api import Browser, Page, async_playwright

from tests.page.browser import DESK, FRAMES, MISSING, QUIET, find_chromium
from tests.page.replies import answer, answering, citation, large_project, node, reading, stream

VISITS = 15
FRAME_MS = 16
WORDS = 3_800
"""About 5,000 tokens of English."""

_WATCH = """
window.__long = [];
const keep = (list) => window.__long.push(...list.getEntries().map((one) => one.duration));
new PerformanceObserver(keep).observe({ type: "longtask", buffered: true });
"""
_PAINT = "() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0"
_BYTES = """() => ["resource", "navigation"]
  .flatMap((kind) => performance.getEntriesByType(kind))
  .filter((one) => new URL(one.name).pathname.startsWith("/rag"))
  .reduce((sum, one) => sum + one.encodedBodySize, 0)"""


async def opened(browser: Browser, url: str) -> Page:
    """Return a tab with the page in it, of a browser that has kept nothing."""
    context = await browser.new_context(viewport=DESK)
    page = await context.new_page()
    await page.add_init_script(_WATCH)
    await page.goto(f"{url}/rag")
    await page.wait_for_selector("html[data-ready]")
    return page


def long_answer() -> tuple[str, dict[str, Any]]:
    """Return an answer of 5,000 tokens, and its document."""
    sentences = [
        f"Statement number {one} says what part {one} of the manual has to do with the rest."
        for one in range(WORDS // 15)
    ]
    paragraphs = [" ".join(sentences[at : at + 6]) for at in range(0, len(sentences), 6)]
    facts = [(one, [citation(at)]) for at, one in enumerate(sentences)]
    return "\n\n".join(paragraphs), answer("\n\n".join(paragraphs), facts)


async def longest_task(page: Page, pieces: int) -> tuple[float, int]:
    """Return the longest task while an answer comes in so many pieces, and its letters."""
    text, document = long_answer()
    step = -(-len(text) // pieces)
    deltas = [("answer_delta", {"text": text[at : at + step]}) for at in range(0, len(text), step)]
    tree = [node(one, None if one < 6 else one // 2) for one in range(60)]
    document = {**document, "trace": {"followups": tree}}
    await answering(page, stream(*deltas, ("result", document)))
    await page.evaluate("() => { window.__long = []; }")
    await page.fill("#question", "What?")
    await page.click("#send")
    await page.wait_for_selector(".actions")
    await page.wait_for_timeout(1000)
    return max(await page.evaluate("() => window.__long"), default=0.0), len(text)


async def frames_of_a_picture(page: Page) -> dict[str, float]:
    """Return how long the script of a frame takes while 1,000 things find their places."""
    await page.add_init_script(FRAMES)
    await page.reload()
    await page.wait_for_selector("html[data-ready]")
    path = f"/projects/{await page.input_value('#project')}/communities"
    await reading(page, path, large_project())
    await page.click("#show-communities")
    await page.wait_for_selector(".communities summary")
    await page.evaluate("() => { window.__frames = []; }")
    await page.click("#panel .picture > summary")
    await page.wait_for_selector("#panel canvas[data-settled=true]", timeout=60_000)
    taken = sorted(await page.evaluate("() => window.__frames"))
    return {
        "frames": len(taken),
        "median": statistics.median(taken),
        "95 of 100 under": taken[int(len(taken) * 0.95)],
        "most": taken[-1],
        "over 16": sum(one > FRAME_MS for one in taken),
    }


async def main(url: str) -> None:
    """Print what was measured, as JSON."""
    path = find_chromium()
    if path is None:
        sys.exit(MISSING)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=path, args=list(QUIET))
        paints, weight = [], 0
        for _ in range(VISITS):
            page = await opened(browser, url)
            paints.append(await page.evaluate(_PAINT))
            weight = await page.evaluate(_BYTES)
            await page.context.close()
        page = await opened(browser, url)
        at_once, letters = await longest_task(page, 1)
        in_pieces, _ = await longest_task(page, 250)
        frames = await frames_of_a_picture(await opened(browser, url))
        await browser.close()
    print(  # noqa: T201 - what it is for
        json.dumps(
            {
                "bytes": weight,
                "first_paint_ms": {"median": statistics.median(paints), "most": max(paints)},
                "letters": letters,
                "longest_task_ms": {"at once": at_once, "in 250 pieces": in_pieces},
                "frame_ms": frames,
            }
        )
    )


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
