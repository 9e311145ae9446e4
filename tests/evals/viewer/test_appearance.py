"""The page as it is seen: on a phone, in the dark, on paper, by an old browser, and with hostile texts in it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.evals.viewer.accessible import grave_problems
from tests.evals.viewer.browser import VIEWPORT, Watched, find_chromium, watched
from tests.evals.viewer.legible import faint_texts
from tests.evals.viewer.runs import HOSTILE, hostile_run
from tests.evals.viewer.writing import page_file
from toolbelt.text import UNSAFE

pytestmark = pytest.mark.skipif(
    find_chromium() is None, reason="no chromium, chromium-browser or google-chrome on the PATH"
)


def test_a_browser_that_cannot_unpack_the_trials_says_so_where_they_would_stand(browser: Browser, small: Path) -> None:
    with watched(browser) as seen:
        seen.page.add_init_script("delete window.DecompressionStream")
        seen.page.goto(small.as_uri())
        expect(seen.page.locator("#unshown")).to_contain_text("This browser is too old to unpack the trials")
        assert seen.page.locator("#arms-table").is_visible()
        for link in seen.page.locator("nav a:visible").all():
            assert seen.page.locator(link.get_attribute("href") or "").is_visible()
        seen.page.keyboard.press("j")
        (said,) = seen.said
        assert "DecompressionStream is not defined" in said
        seen.said.clear()


def test_a_table_that_goes_on_beyond_its_edge_shows_it_and_is_reached_with_keys(page: Page) -> None:
    page.set_viewport_size({"width": 400, "height": 800})
    box = page.locator(".scroll", has=page.locator("#arms-table"))
    expect(box).to_have_class(re.compile("more-right"))
    box.evaluate("box => box.scrollLeft = 9999")
    expect(box).not_to_have_class(re.compile("more-right"))
    assert box.get_attribute("tabindex") == "0"
    page.set_viewport_size({"width": 2400, "height": 800})
    expect(box).not_to_have_attribute("tabindex", "0")


def test_the_arrow_of_a_column_is_not_read_out(page: Page) -> None:
    assert 'button "accuracy"' in page.locator("#arms-table thead").aria_snapshot()


def test_on_paper_there_are_the_tables_and_nothing_to_press(page: Page) -> None:
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 1030, "height": 700})  # a landscape page of A4 between its margins
    assert page.evaluate("document.documentElement.scrollWidth") <= 1030
    for what in ("#arms-table", "#outcomes-table", "figure img", ".verdict"):
        assert page.locator(what).first.is_visible()
    for what in ("#browser", "#confusions", "nav"):
        assert not page.locator(what).first.is_visible()


def test_nothing_moves_once_it_is_drawn(browser: Browser, small: Path) -> None:
    with watched(browser) as seen:
        seen.page.add_init_script(
            "window.moved = 0; new PerformanceObserver((list) => { for (const one of list.getEntries())"
            " window.moved += one.value; }).observe({ type: 'layout-shift', buffered: true });"
        )
        page = seen.open(small)
        page.wait_for_selector("#confusion-table tbody tr", state="attached")
        page.wait_for_timeout(100)
        assert page.evaluate("window.moved") < 0.1  # what the web calls good


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1200])
def test_nothing_is_wider_than_the_screen_and_every_text_stands_out(
    shared: Watched, compared: Path, scheme: Literal["light", "dark"], width: int
) -> None:
    """By WCAG 2, AA: 4.5 to 1. Nothing that axe-core finds is serious."""
    page = shared.page
    page.emulate_media(media="screen", color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 700})
    shared.open(compared)
    page.wait_for_selector("#confusion-table tbody tr", state="attached")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert faint_texts(page) == []
    assert grave_problems(page) == []
    page.evaluate("location.hash = '#trial=5&view=list'")
    page.wait_for_selector("#trial[open]")
    assert page.evaluate("document.querySelector('#trial').scrollWidth") <= width
    assert faint_texts(page) == []
    assert grave_problems(page) == []
    page.emulate_media(media="screen", color_scheme="light")
    page.set_viewport_size(VIEWPORT)


def test_without_a_script_verdict_tables_and_pictures_are_there(browser: Browser, small: Path) -> None:
    with watched(browser, java_script_enabled=False) as seen:
        seen.page.goto(small.as_uri())
        said = seen.page.inner_text("body")
        assert "full is right in" in said
        assert "need a script" in said
        assert "loadout" in seen.page.inner_text("#arms-table")
        assert seen.page.locator("figure img").count() == 1
        assert not seen.page.locator("#browser").is_visible()


def test_hostile_texts_are_only_text(seen: Watched, tmp_path: Path) -> None:
    page = seen.open(page_file(hostile_run(), tmp_path))
    page.wait_for_selector("#confusion-table tbody tr", state="attached")
    for number in range(len(HOSTILE)):
        page.evaluate(f"location.hash = '#trial={number}'")
        expect(page.locator("#trial-eyebrow")).to_have_text(re.compile(f"trial {number}$"))
        for fold in page.locator("#trial summary").all():
            fold.click()
    text = page.evaluate("document.documentElement.innerText + document.title")
    assert "<img src=x onerror='window.hacked = 1'>" in text
    shown = page.evaluate("[...document.querySelectorAll('main, dialog')].map((one) => one.textContent).join()")
    assert not {character for character in UNSAFE.findall(shown) if character not in "\n\t"}
    assert "\\u202e" in shown
    assert page.locator("main img[src=x], dialog img, main svg[onload], [onerror]").count() == 0


def test_a_browser_spells_out_the_characters_that_the_terminal_does(page: Page) -> None:
    wanted = [code for code in range(0x110000) if UNSAFE.match(chr(code))]
    pattern = page.evaluate(
        "/const UNSAFE = (\\/.*\\/gu);/.exec([...document.scripts].at(-1).textContent)[1].slice(1, -3)"
    )
    found = page.evaluate(
        "(pattern) => { const unsafe = new RegExp(pattern, 'u');"
        " return Array.from({ length: 0x110000 }, (_, code) => code)"
        ".filter((code) => unsafe.test(String.fromCodePoint(code))); }",
        pattern,
    )
    assert found == wanted
