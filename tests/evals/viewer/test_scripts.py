"""The page in a real browser, clicked through."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.evals.viewer.browser import Watched, find_chromium
from tests.evals.viewer.compared import WITHIN
from tests.evals.viewer.conftest import LIST
from tests.evals.viewer.runs import SEVERAL, big_run, epochs_run, long_run, small_run
from tests.evals.viewer.writing import page_file
from tests.wording import mentions
from toolbelt.evals.analysis.comparison.comparison import Flip
from toolbelt.evals.analysis.evidence.evidence import Attempt
from toolbelt.evals.scoring.outcome import Outcome

pytestmark = pytest.mark.skipif(
    find_chromium() is None, reason="no chromium, chromium-browser or google-chrome on the PATH"
)
COUNT = "#count"
ROWS = "#rows a"
HREFS = "links => links.map((link) => link.getAttribute('href'))"


def column(page: Page, number: int) -> list[str]:
    return [text.strip() for text in page.locator(f"#arms-table tbody tr > :nth-child({number})").all_inner_texts()]


def test_a_column_is_sorted_by_its_button_both_ways_and_says_so(page: Page) -> None:
    head = page.locator("#arms-table thead th", has_text="prompt tokens")
    head.get_by_role("button").press("Enter")
    assert head.get_attribute("aria-sort") == "descending"
    assert column(page, 1) == ["tiered", "loadout", "full"]
    head.get_by_role("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    assert column(page, 1) == ["full", "loadout", "tiered"]
    assert page.locator("#arms-table [aria-sort]").count() == 1


def test_what_is_unknown_is_sorted_last_either_way(page: Page) -> None:
    table = page.locator("#arms-table")
    table.locator("tbody tr").nth(0).evaluate("row => row.cells[1].dataset.order = ''")
    for _ in range(2):
        table.locator("thead th").nth(1).get_by_role("button").click()
        assert column(page, 1)[-1] == "full"


def test_search_finds_case_words_and_tools_and_all_words_must_be_there(page: Page) -> None:
    for text, count in (
        ("CASE-07", "3"),
        ("zürich 19", "3"),
        ("read_2", "9"),
        ("files/write", "3"),
        ("case-07 write", "0"),
        ("", "60"),
    ):
        page.fill("#find", text)
        expect(page.locator(COUNT)).to_have_text(re.compile(f"^{count} "))
    page.fill("#find", "no such thing")
    page.wait_for_selector("text=No trial is like this.")


def test_filters_join_and_clear(page: Page) -> None:
    page.select_option("#kind", "single")
    page.select_option("#arm", "1")
    page.select_option("#outcome", label="wrong tool")
    expect(page.locator(f"{ROWS} .id")).to_have_text(["case-09"])
    page.click("#reset")
    expect(page.locator(COUNT)).to_have_text("60 trials")
    page.select_option("#outcome", "unscored")
    expect(page.locator(COUNT)).to_have_text("3 of 60 trials")


def test_E5_what_could_not_be_reached_is_never_right(page: Page) -> None:
    page.select_option("#arm", "2")
    page.select_option("#outcome", "wrong")
    expect(page.locator(f"{ROWS} .id")).to_have_text(["case-04"])
    page.locator(ROWS).click()
    expect(page.locator("#trial")).to_contain_text("No right answer could be reached")


def test_trials_are_sorted(page: Page) -> None:
    page.select_option("#sort", "latency")
    expect(page.locator(f"{ROWS} .id").first).to_have_text("case-19")
    page.select_option("#sort", "tokens")
    expect(page.locator(f"{ROWS} .of").first).to_contain_text("tiered")


def test_flipped_cases_are_those_that_one_arm_alone_was_right_on(page: Page) -> None:
    first = {f"case-{case:02}" for case in range(0, 20, 5) if case % 3 != 2}
    second = {f"case-{case:02}" for case in (*range(1, 20, 4), *SEVERAL) if case % 3 != 2}
    page.select_option("#from", "0")
    page.select_option("#to", "1")
    expect(page.locator(COUNT)).to_have_text(f"{2 * len(first ^ second)} of 60 trials")
    assert set(page.locator(f"{ROWS} .id").all_inner_texts()) <= first ^ second
    page.select_option("#to", "0")
    expect(page.locator(COUNT)).to_have_text("0 of 60 trials")


def test_where_arguments_count_a_flip_leads_to_the_epoch_whose_arguments_are_wrong(
    seen: Watched, tmp_path: Path
) -> None:
    wrong = Attempt(Outcome.WRONG_ARGUMENTS, covered=True, called=("a/x",))
    flip = Flip("arguments", "single", -1 / 3, Attempt(Outcome.CORRECT, covered=True), wrong)
    comparison = replace(WITHIN, pairs=(replace(WITHIN.pairs[0], flips=(flip,)),))
    page = seen.open(page_file(epochs_run(), tmp_path, comparison=comparison))
    link = page.locator(".pair .flips").get_by_role("link", name="arguments", include_hidden=True)
    assert link.get_attribute("href") == "#view=list&flips=0&trial=16"


def test_a_case_that_flipped_against_a_baseline_shows_its_trials(seen: Watched, tmp_path: Path) -> None:
    """The trial of the arm that got worse is opened, and the list holds what flipped there and nothing else."""
    page = seen.open(page_file(small_run(), tmp_path, comparison=WITHIN))
    page.locator(".pair > summary").click()
    flipped = page.locator(".pair .flips tbody tr")
    assert "Question 1 about Zürich" in flipped.inner_text()
    assert "wanted files/read_1" in flipped.inner_text()
    flipped.get_by_role("link", name="case-01").press("Enter")
    expect(page.locator("#trial-eyebrow")).to_have_text("loadout · multi · trial 4")
    expect(page.locator("#trial")).to_contain_text("Called files/write instead of files/read_1.")
    page.keyboard.press("Escape")
    expect(page.locator(f"{ROWS} .id")).to_have_text(["case-01"])
    page.click("#only")
    expect(page.locator(COUNT)).to_have_text("60 trials")


def test_a_trial_of_very_many_requests_shows_them_a_part_at_a_time(seen: Watched, tmp_path: Path) -> None:
    page = seen.open(page_file(long_run(5_000), tmp_path), "#trial=0")
    requests = page.locator("#trial .ask")
    expect(requests).to_have_count(50)
    page.get_by_role("button", name="Show the next of 4,950 more requests").press("Enter")
    expect(requests).to_have_count(100)
    expect(page.locator("#trial .ask:focus")).to_contain_text("Request 51")
    expect(page.locator("#trial .offer").nth(50)).to_contain_text("1 added, 1 gone since the request before")


def test_a_link_to_a_trial_that_is_not_there_says_so(shared: Watched, small: Path) -> None:
    page = shared.open(small, "#view=list&trial=999999")
    expect(page.locator("#gone")).to_have_text("This run has no finished trial 999999.")
    expect(page.locator("#gone")).to_be_in_viewport()
    page.locator(ROWS).first.click()
    page.wait_for_selector("#trial[open]")
    assert not page.locator("#gone").is_visible()


def test_a_trial_opens_with_everything_and_back_closes_it(page: Page) -> None:
    page.locator(ROWS).nth(2).click()
    page.wait_for_selector("#trial[open]")
    assert page.evaluate("location.hash") == "#view=list&trial=2"
    said = page.inner_text("#trial")
    for text in ("timeout", "Question 0 about Zürich", "attempt 2", "nobody there", "files/read_0", "/a/0"):
        assert text in said
    page.go_back()
    page.wait_for_selector("#trial", state="hidden")
    assert page.evaluate("location.hash") == "#view=list"


def test_a_trial_shows_each_offer_what_changed_in_it_and_what_the_user_said(shared: Watched, small: Path) -> None:
    page = shared.open(small, "#trial=5")
    page.wait_for_selector("#trial[open]")
    said = page.inner_text("#trial")
    assert "2 tools offered, 100 tokens" in said
    assert "as before" in said
    assert mentions(said, "4 added", "2 gone")
    assert "Go ahead." in said
    assert "(turn 2)" in said
    page.locator("#trial summary", has_text="4 added").click()
    expect(page.locator("#trial li.plus")).to_have_text([f"+ read_{number}" for number in range(4)])
    expect(page.locator("#trial li.minus")).to_have_text(["− browse_tools", "− load_tools"])


def test_the_same_case_in_another_arm_is_a_link_and_back_still_closes(page: Page) -> None:
    page.locator(ROWS).first.click()
    page.locator("#trial .others a", has_text="tiered").click()
    page.wait_for_url("**trial=2")
    assert page.locator("#trial [aria-current=true]").inner_text().startswith("tiered")
    page.go_back()
    page.wait_for_selector("#trial", state="hidden")


def test_a_trial_that_was_linked_to_is_closed_without_leaving_the_page(shared: Watched, small: Path) -> None:
    page = shared.open(small, "#trial=4")
    page.wait_for_selector("#trial[open]")
    page.keyboard.press("Escape")
    page.wait_for_selector("#trial", state="hidden")
    assert page.url.endswith("#")


def test_what_is_searched_for_is_seen_however_quickly_one_types(page: Page) -> None:
    page.keyboard.press("/")
    page.keyboard.type("full")
    assert page.evaluate("document.getElementById('find').getBoundingClientRect().top < innerHeight / 2")


def test_everything_is_done_with_keys(page: Page) -> None:
    page.keyboard.press("/")
    page.keyboard.type("full j")  # a letter in the search is no command
    page.keyboard.press("Escape")
    assert page.inner_text(COUNT) == "60 trials"
    for _ in range(3):
        page.keyboard.press("j")
    page.keyboard.press("k")
    page.keyboard.press("ArrowDown")
    expect(page.locator("#rows a:focus")).to_have_attribute("href", "#view=list&trial=2")
    page.keyboard.press("Enter")
    page.wait_for_selector("#trial[open]")
    page.keyboard.press("j")
    page.wait_for_url("**trial=3")
    page.keyboard.press("k")
    page.wait_for_url("**trial=2")
    page.keyboard.press("Escape")
    page.wait_for_selector("#trial", state="hidden")
    expect(page.locator("#rows a:focus")).to_have_attribute("href", "#view=list&trial=2")
    page.keyboard.press("End")
    expect(page.locator("#rows a:focus")).to_have_attribute("href", "#view=list&trial=59")
    page.keyboard.press("?")
    assert page.locator("#help").is_visible()
    page.keyboard.press("Escape")
    assert not page.locator("#help").is_visible()


def test_a_long_list_is_drawn_only_where_it_is_looked_at(seen: Watched, tmp_path: Path) -> None:
    page = seen.open(page_file(big_run(250, 4), tmp_path), LIST)
    page.evaluate("document.querySelector('#rows').scrollTop = 56 * 750")
    page.wait_for_selector("[aria-posinset='753']")
    assert page.locator(ROWS).count() < 60
    page.locator("#find").press_sequentially("case-00221 case-00221", delay=0)
    expect(page.locator(COUNT)).to_have_text("4 of 1,000 trials")
    page.locator(ROWS).last.click()
    page.wait_for_selector("#trial[open]")
    assert page.inner_text("#trial-title") == "case-00221"
