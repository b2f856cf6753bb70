"""A browser that looks at the page: what it says on its console, and what it may not do, counts."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from axe_playwright_python.async_playwright import Axe
from playwright.async_api import ConsoleMessage, Dialog, Error, Page

PICTURES = Path(__file__).parents[2] / "build" / "screenshots"
NAMES = ("chromium", "chromium-browser", "google-chrome")
MISSING = (
    "No Chromium was found: install it (Debian: apt-get install chromium), or name one in CHROMIUM."
)
QUIET = (
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
"""It asks nothing of elsewhere, and no hardware."""
PHONE = {"width": 390, "height": 844}
DESK = {"width": 1280, "height": 860}

FRAMES = """
window.__frames = [];
const real = window.requestAnimationFrame;
window.requestAnimationFrame = (work) => real.call(window, (time) => {
  const began = performance.now();
  work(time);
  window.__frames.push(performance.now() - began);
});
"""
"""How long the page's script takes in each frame."""

_WATCH = """
window.__refused = [];
addEventListener("securitypolicyviolation", (event) =>
  window.__refused.push(`${event.violatedDirective} ${event.blockedURI} ${event.sample}`));
"""


def find_chromium() -> str | None:
    """Return the path of a browser of this machine."""
    named = os.environ.get("CHROMIUM")
    return named or next((path for name in NAMES if (path := shutil.which(name))), None)


@dataclass
class Visit:
    """A tab with the page in it."""

    page: Page
    url: str
    said: list[str] = field(default_factory=list)
    refusals_expected: bool = False
    """Whether the browser may say on its console that a request was refused."""

    _is_watching: bool = False

    def watch(self) -> None:
        """Hear what the page says."""
        self.page.on("console", self._heard)
        self.page.on("pageerror", self._failed)
        self.page.on("dialog", self._asked)

    def leave(self) -> None:
        """Hear no more: another test takes the tab."""
        self.page.remove_listener("console", self._heard)
        self.page.remove_listener("pageerror", self._failed)
        self.page.remove_listener("dialog", self._asked)

    def _failed(self, error: Error) -> None:
        self.said.append(f"uncaught: {error}")

    def _asked(self, dialog: Dialog) -> None:
        self.said.append(f"a dialog: {dialog.message}")

    def _heard(self, message: ConsoleMessage) -> None:
        refused = message.text.startswith("Failed to load resource")
        if message.type in {"error", "warning"} and not (refused and self.refusals_expected):
            self.said.append(f"{message.type}: {message.text}")

    async def open(self, more: str = "", *, ready: bool = True) -> None:
        """Go to the page, with a query or a fragment."""
        if not self._is_watching:
            self._is_watching = True
            await self.page.add_init_script(_WATCH)
        await self.page.goto(f"{self.url}/rag{more}")
        if ready:
            await self.page.wait_for_selector("html[data-ready]")

    async def ask(
        self, question: str, depth: str = "quick", *, project: str = "", until: str = ""
    ) -> None:
        """Ask, of a project that is chosen before, and wait for what is to be seen."""
        if project:
            await self.page.select_option("#project", project)
        await self.page.fill("#question", question)
        await self.page.check(f"input[value={depth}]", force=True)
        await self.page.click("#send")
        if until:
            await self.page.wait_for_selector(until)

    async def answered(self) -> None:
        """Return when the newest question has come to an end."""
        await self.page.wait_for_selector("#send:visible")

    async def text(self, selector: str) -> str:
        """Return the words of the first element."""
        return await self.page.locator(selector).first.inner_text()

    async def picture(self, name: str, *, whole: bool = False) -> None:
        """Keep a picture as build output."""
        PICTURES.mkdir(parents=True, exist_ok=True)
        await self.page.screenshot(path=PICTURES / f"{name}.png", full_page=whole)

    async def assert_for_everybody(self) -> None:
        """Fail where a rule of axe is broken."""
        found = await Axe().run(self.page)
        broken = [
            (one["id"], [(node["html"][:200], node["failureSummary"]) for node in one["nodes"]])
            for one in found.response["violations"]
        ]
        assert broken == [], broken

    async def assert_calm(self) -> None:
        """Fail where the page said or tried what it must not."""
        refused: list[Any] = await self.page.evaluate("window.__refused ?? []")
        complaints = [*refused, *self.said]
        assert complaints == [], complaints
