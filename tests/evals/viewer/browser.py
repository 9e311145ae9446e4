"""A headless Chromium that watches what a page does."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

VIEWPORT: Any = {"width": 1200, "height": 800}
_ARGUMENTS = (
    "--no-sandbox",
    *("--disable-gpu", "--disable-software-rasterizer"),
    *("--disable-site-isolation-trials", "--disable-features=IsolateOrigins,site-per-process"),
)
"""Without a process that draws in place of a graphics card, a quarter of a start, and without one for each new page."""
_NAMES = ("chromium", "chromium-browser", "google-chrome")
_WATCH = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (event) => window.violations.push(event.violatedDirective));
"""


def find_chromium() -> str | None:
    """Where the system has one."""
    return next((found for name in _NAMES if (found := shutil.which(name))), None)


@contextmanager
def opened_browser() -> Iterator[Browser]:
    """One that is closed at the end; until then nothing else can run an event loop in this thread."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=_ARGUMENTS)
        yield browser
        browser.close()


@dataclass
class Watched:
    """A page, and what it did that it should not."""

    page: Page
    said: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    opened: int = 0

    def open(self, path: Path, fragment: str = "") -> Page:
        """Until the first trials are listed, or said to be none."""
        self.opened += 1  # the query: another part of the same page would only be scrolled to
        self.page.goto(f"{path.as_uri()}?{self.opened}{fragment}")
        self.page.wait_for_selector("html[data-ready]", state="attached")
        return self.page

    @property
    def faults(self) -> dict[str, Any]:
        """What was said on the console, asked of the network, kept back by the policy, and run by a hostile text."""
        violations = self.page.evaluate("window.violations")
        hacked = self.page.evaluate("'hacked' in window")
        found = {"said": self.said, "asked": self.asked, "violations": violations, "hacked": hacked}
        return {what: one for what, one in found.items() if one}


@contextmanager
def watched(browser: Browser, **settings: Any) -> Iterator[Watched]:
    """A page of its own; it may have done nothing wrong when it is left."""
    context = browser.new_context(**({"viewport": VIEWPORT} | settings))
    try:
        page = context.new_page()
        page.set_default_timeout(10_000)
        one = Watched(page)
        if settings.get("java_script_enabled", True):
            page.add_init_script(_WATCH)
        page.on("console", lambda message: one.said.append(message.text))
        page.on("pageerror", lambda error: one.said.append(str(error)))
        page.on("request", lambda request: one.asked.append(request.url) if _is_outside(request.url) else None)
        yield one
        if settings.get("java_script_enabled", True):
            assert one.faults == {}
        else:
            assert not one.said
            assert not one.asked
    finally:
        context.close()


def afresh(one: Watched, path: Path, fragment: str = "") -> Iterator[Page]:
    """The same page for another test: loaded again, as wide and as light as at first."""
    one.page.set_viewport_size(VIEWPORT)
    one.page.emulate_media(media="screen", color_scheme="light")
    yield one.open(path, fragment)
    assert one.faults == {}


def _is_outside(url: str) -> bool:
    return not url.startswith(("file:", "data:"))
