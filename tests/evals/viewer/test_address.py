"""What is seen of the page is in its address, in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.evals.viewer.browser import Watched, afresh, find_chromium

pytestmark = pytest.mark.skipif(
    find_chromium() is None, reason="no chromium, chromium-browser or google-chrome on the PATH"
)
COUNT = "#count"


@pytest.fixture
def page(shared: Watched, compared: Path) -> Iterator[Page]:
    yield from afresh(shared, compared)


def address(page: Page) -> str:
    return str(page.evaluate("location.hash"))


def test_a_link_reproduces_filters_columns_sorting_and_the_open_trial(
    page: Page, shared: Watched, compared: Path
) -> None:
    page.get_by_label("list of trials").check()
    page.select_option("#kind", "multi")
    page.select_option("#outcome", "wrong_tool")
    page.select_option("#sort", "tokens")
    page.select_option("#confusion-arm", "all")
    page.locator(".chooser summary").click()
    page.get_by_label("solved").check()
    page.get_by_label("finding").uncheck()
    page.locator("#arms-table thead th", has_text="prompt tokens").get_by_role("button").click()
    page.locator("#rows a").first.click()
    page.wait_for_selector("#trial[open]")
    linked = address(page)
    title = page.inner_text("#trial-title")
    page = shared.open(compared, linked)
    page.wait_for_selector("#trial[open]")
    assert page.inner_text("#trial-title") == title
    page.keyboard.press("Escape")
    page.wait_for_selector("#trial", state="hidden")
    assert [page.input_value(f"#{name}") for name in ("kind", "outcome", "sort")] == ["multi", "wrong_tool", "tokens"]
    assert page.get_by_label("list of trials").is_checked()
    expect(page.locator("#confusion-arm")).to_have_value("all")
    heads = page.locator("#arms-table thead th:visible").all_inner_texts()
    assert [head.split("\n")[0] for head in heads] == [
        "arm", "accuracy", "difference", "solved", "prompt tokens", "cost per trial",
    ]  # fmt: skip
    assert page.locator("#arms-table [aria-sort=descending]").inner_text() == "prompt tokens"


def test_back_undoes_one_choice_at_a_time(page: Page) -> None:
    page.select_option("#kind", "multi")
    expect(page.locator(COUNT)).to_have_text("21 of 60 trials")
    page.select_option("#cases", "disagree")
    expect(page.locator(COUNT)).not_to_have_text("21 of 60 trials")
    page.go_back()
    expect(page.locator(COUNT)).to_have_text("21 of 60 trials")
    assert page.input_value("#cases") == ""
    page.go_back()
    expect(page.locator(COUNT)).to_have_text("60 trials")
    page.go_forward()
    expect(page.locator(COUNT)).to_have_text("21 of 60 trials")


def test_intervals_and_counts_are_shown_on_demand(page: Page) -> None:
    cell = page.locator("#arms-table tbody tr").first.locator("td").first
    expect(cell.locator(".beside")).to_be_hidden()
    expect(cell.locator(".counts")).to_be_hidden()
    page.locator(".chooser summary").click()
    page.get_by_label("95% intervals").check()
    page.get_by_label("counts").check()
    expect(cell.locator(".beside")).to_be_visible()
    expect(cell.locator(".counts")).to_have_text("17/20")


def test_a_place_in_the_page_is_linked_to_with_and_without_filters(page: Page, shared: Watched, compared: Path) -> None:
    page.locator("nav").get_by_role("link", name="Confusions").click()
    assert address(page) == "#confusions"
    expect(page.locator("#confusions")).to_be_in_viewport()
    page = shared.open(compared, "#kind=multi&at=about")
    expect(page.locator("#about")).to_be_in_viewport()
    expect(page.locator(COUNT)).to_have_text("21 of 60 trials")
    page.locator("nav").get_by_role("link", name="Arms").click()
    assert address(page) == "#kind=multi&at=arms"


def test_what_is_folded_is_unfolded_for_a_link_to_it(page: Page) -> None:
    page.locator(".pair").evaluate_all("all => all.forEach((one) => { one.open = false; })")
    page.locator(".forest th a").first.click()
    expect(page.locator("#pair-0 table").first).to_be_visible()


@pytest.mark.parametrize(
    "fragment",
    [
        "#kind=%3Cimg%20src=x%20onerror=window.hacked=1%3E",
        "#outcome=nonsense&sort=nonsense&arm=99&cases=constructor&view=__proto__",
        "#confusion=%7B%22&flips=99&confused=x&order-arms-table=99.up&columns=x",
        "#confusion=[%22%3Cb%3E%22,%22no%22]",
        "#%E0%A4%A",
        "#trial=1e3",
    ],
)
def test_an_address_that_nobody_made_here_does_no_harm(shared: Watched, compared: Path, fragment: str) -> None:
    page = shared.open(compared, fragment)
    page.wait_for_selector("#confusion-table thead tr", state="attached")
    assert page.locator("main img[src=x]").count() == 0
    assert shared.faults == {}
