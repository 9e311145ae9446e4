"""Cases × arms, and the confusions of an arm, in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from playwright.sync_api import Page, expect

from tests.evals.analysis.matrix.runs import Asked, WrittenRun, stored
from tests.evals.viewer.browser import VIEWPORT, Watched, afresh, find_chromium
from tests.evals.viewer.runs import SEVERAL, UNCOVERED, big_run, epochs_run, small_run
from tests.evals.viewer.writing import page_file
from toolbelt.evals.analysis.comparison.compare import compare_arms
from toolbelt.evals.analysis.comparison.explanations import name_confusions
from toolbelt.evals.analysis.comparison.pairing import pair_against
from toolbelt.evals.analysis.evidence.evidence import Attempt
from toolbelt.evals.analysis.evidence.stored_run import StoredRun
from toolbelt.evals.analysis.summary.summarize import summarize
from toolbelt.evals.running.records import parse_names
from toolbelt.evals.scoring.outcome import Outcome
from toolbelt.evals.viewer.page import write_page

pytestmark = pytest.mark.skipif(
    find_chromium() is None, reason="no chromium, chromium-browser or google-chrome on the PATH"
)
COUNT = "#count"
FOCUSED = "#grid .cell:focus"


@pytest.fixture
def page(shared: Watched, small: Path) -> Iterator[Page]:
    yield from afresh(shared, small)


def signs(page: Page, case: str) -> list[str]:
    return page.get_by_role("row").filter(has=page.get_by_text(case, exact=True)).locator(".cell").all_inner_texts()


def test_every_case_has_a_cell_for_each_arm_grouped_by_kind(page: Page) -> None:
    grid = page.get_by_role("grid")
    assert grid.get_by_role("columnheader").all_inner_texts() == ["case", "full", "loadout", "tiered"]
    kinds = grid.locator(".kind .what").all_inner_texts()
    assert kinds == ["irrelevant 6 cases", "multi 7 cases", "single 7 cases"]
    assert grid.get_attribute("aria-rowcount") == "24"
    assert signs(page, "case-00") == ["✕", "✓", "–"]
    assert signs(page, "case-01") == ["✓", "✕", "✓"]
    arm, case = UNCOVERED
    cell = page.locator(f"#grid a[href='#trial={3 * case + arm}']")
    expect(cell).to_have_attribute("aria-label", "tiered: correct, could not be reached")
    assert cell.inner_text() == "✕", "what could not be reached is never right"


def test_the_share_of_a_kind_is_that_of_its_cases(page: Page) -> None:
    wrong = [case for case in range(0, 20, 5) if case % 3 == 0]
    of = len([case for case in range(20) if case % 3 == 0])
    row = page.locator("#grid .kind", has_text="single").get_by_role("gridcell")
    assert row.first.inner_text() == f"{100 * (of - len(wrong)) / of:.0f}%"


def test_cases_on_which_arms_disagree_are_found(page: Page) -> None:
    page.select_option("#cases", "disagree")
    first = {f"case-{case:02}" for case in range(0, 20, 5) if case % 3 != 2}
    second = {f"case-{case:02}" for case in (*range(1, 20, 4), *SEVERAL) if case % 3 != 2}
    shown = set(page.locator("#grid .line:not(.kind) b").all_inner_texts())
    assert shown == first | second | {"case-04"}
    page.select_option("#cases", "wrong")
    expect(page.get_by_text("No case is like this.")).to_be_visible()
    page.click("#reset")
    page.fill("#find", "case-07")
    expect(page.locator("#grid .line:not(.kind) b")).to_have_text(["case-07"])


def drawn_arms(random: Random) -> list[Asked]:
    """Arms of two models whose trials are right, wrong, too long or errors, by chance, but for the first two cases."""
    return [
        Asked(
            toolset,
            ["++", first, *("".join(random.choices("+-oe", (4, 3, 3, 1), k=2)) for _ in range(28))],
            model=model,
        )
        for model, first in (("m/one", "++"), ("m/two", "oo"))
        for toolset in ("full", "loadout")
    ]


@pytest.mark.parametrize("seed", range(3))
def test_V1_what_was_too_long_is_not_right_where_two_arms_are_compared_in_the_page(
    seen: Watched, tmp_path: Path, seed: int
) -> None:
    """The page finds the cases that `eval compare` finds, and shares of kinds say of how many cases they are."""
    asked = drawn_arms(Random(seed))
    with stored(WrittenRun(asked)) as (store, row):
        side = StoredRun(store, row)
        summary = summarize(store.connection, row.run)
        path = tmp_path / "report.html"
        with path.open("w", encoding="utf-8", newline="") as file:
            write_page(store.connection, row.run, file, summary=summary, pictures=())
        pairs = compare_arms(side, side, pair_against(side.arms, "m/one · full"), resamples=50).pairs
    assert len(pairs) == 3
    page = seen.open(path)
    kind = page.locator("#grid .kind").get_by_role("gridcell")
    for cell, arm in zip(kind.all(), asked, strict=True):
        shares = [trials.count("+") / (2 - trials.count("e")) for trials in arm.trials if trials != "ee"]
        of = f" of {len(shares)}" if len(shares) < 30 else ""
        assert " ".join(cell.inner_text().split()) == f"{100 * sum(shares) / len(shares):.0f}%{of}"
    names = [f"{arm.model} · {arm.toolset}" for arm in asked]
    for pair in pairs:
        page.select_option("#from", str(names.index(pair.old.label)))
        page.select_option("#to", str(names.index(pair.new.label)))
        flipped = {flip.case for flip in pair.flips}
        assert {"context_overflow"} <= {end.outcome.value for flip in pair.flips for end in (flip.old, flip.new)}
        rows = page.locator("#grid .line:not(.kind):not(.head) b")
        expect(rows).to_have_count(len(flipped))
        assert set(rows.all_inner_texts()) == flipped
    page.click("#reset")
    page.select_option("#cases", "right")
    assert set(page.locator("#grid .line:not(.kind):not(.head) b").all_inner_texts()) == {
        f"c{case}" for case in range(30) if {arm.trials[case] for arm in asked} == {"++"}
    }


def test_a_cell_opens_its_trial_and_escape_returns_to_it(page: Page) -> None:
    page.locator("#grid a[href='#trial=4']").click()
    expect(page.locator("#trial-eyebrow")).to_have_text("loadout · multi · trial 4")
    page.keyboard.press("Escape")
    page.wait_for_selector("#trial", state="hidden")
    expect(page.locator(FOCUSED)).to_have_attribute("href", "#trial=4")


def test_the_grid_is_one_stop_of_the_keyboard_and_arrows_lead_through_it(page: Page) -> None:
    assert page.locator("#grid [tabindex='0']").count() == 1
    page.locator("#grid [tabindex='0']").focus()
    for key, trial in (
        ("ArrowRight", 7),
        ("ArrowDown", 16),
        ("End", 17),
        ("Home", 15),
        ("ArrowUp", 6),
        ("ArrowUp", 6),
        ("PageDown", 12),
        ("ArrowUp", 3),
        ("ArrowUp", 51),
    ):
        page.keyboard.press(key)
        expect(page.locator(FOCUSED)).to_have_attribute("href", f"#trial={trial}")
    assert page.locator("#grid [tabindex='0']").count() == 1
    page.keyboard.press("Enter")
    expect(page.locator("#trial-title")).to_have_text("case-17")
    page.keyboard.press("j")
    expect(page.locator("#trial-eyebrow")).to_contain_text("trial 52")
    page.keyboard.press("Escape")
    expect(page.locator(FOCUSED)).to_have_attribute("href", "#trial=52")


def test_epochs_that_differ_are_counted_and_the_one_that_explains_is_opened(seen: Watched, tmp_path: Path) -> None:
    page = seen.open(page_file(epochs_run(), tmp_path))
    assert signs(page, "worse") == ["✓", "2/3"]
    assert signs(page, "better") == ["2/3", "✓"]
    assert signs(page, "arguments") == ["✓", "≈"]
    cells = page.get_by_role("row").filter(has=page.get_by_text("worse", exact=True)).locator(".cell")
    assert [cell.get_attribute("href") for cell in cells.all()] == ["#trial=0", "#trial=4"]


def test_a_grid_of_many_cases_and_arms_is_drawn_only_where_it_is_looked_at(seen: Watched, tmp_path: Path) -> None:
    page = seen.open(page_file(big_run(250, 12), tmp_path))
    assert page.locator("#grid .cell").count() < 800
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.locator("#grid [tabindex='0']").focus()
    for _ in range(11):
        page.keyboard.press("ArrowRight")
    for _ in range(6):
        page.keyboard.press("PageDown")
    expect(page.locator(FOCUSED)).to_be_in_viewport()
    expect(page.locator(FOCUSED)).to_have_attribute("aria-label", "oracle+11: correct")
    page.set_viewport_size(VIEWPORT)


def confused(page: Page) -> dict[tuple[str, str], int]:
    columns = page.locator("#confusion-table thead th").all_inner_texts()[1:]
    found = {}
    for row in page.locator("#confusion-table tbody tr").all():
        wanted = row.locator("th").inner_text()
        for called, times in zip(columns, row.locator("td:not(.rest)").all_inner_texts(), strict=True):
            if times:
                found["" if wanted == "nothing" else wanted, "" if called == "nothing" else called] = int(times)
    return found


def test_confusions_are_those_of_a_comparison(page: Page) -> None:
    wanted: dict[tuple[str, str], int] = {}
    for outcome, covered, *names in small_run().execute(
        "SELECT outcome, covered, called, missing, surplus FROM trials"
    ):
        called, missing, surplus = (tuple(parse_names(text)) for text in names)
        attempt = Attempt(Outcome(outcome), bool(covered), called, missing, surplus)
        for pair in name_confusions(attempt) if attempt.is_scored else ():
            wanted[pair] = wanted.get(pair, 0) + 1
    page.select_option("#confusion-arm", "all")
    expect(page.locator("#confusion-note")).to_have_text(f"All {sum(wanted.values())} confusions are shown.")
    assert confused(page) == wanted


def test_a_confusion_shows_its_trials_and_its_filter_is_removed_again(page: Page) -> None:
    page.select_option("#confusion-arm", "1")
    button = page.locator("#confusion-table tbody button").first
    times = int(button.inner_text())
    button.press("Enter")
    expect(page.locator(COUNT)).to_have_text(f"{times} of 60 trials")
    page.click("#only")
    expect(page.locator(COUNT)).to_have_text("20 of 60 trials")


def test_arrows_lead_from_confusion_to_confusion(page: Page) -> None:
    page.select_option("#confusion-arm", "1")
    table = page.locator("#confusion-table")
    assert table.locator("button[tabindex='0']").count() == 1
    table.locator("button[tabindex='0']").focus()
    before = table.locator("button:focus").get_attribute("aria-label")
    page.keyboard.press("ArrowDown")
    after = table.locator("button:focus").get_attribute("aria-label")
    assert after != before
    page.keyboard.press("ArrowUp")
    assert table.locator("button[tabindex='0']").count() == 1


def test_rare_confusions_are_counted_and_not_drawn(seen: Watched, tmp_path: Path) -> None:
    page = seen.open(page_file(big_run(250, 4), tmp_path))
    page.wait_for_selector("#confusion-table tbody tr", state="attached")
    assert page.locator("#confusion-table tbody tr").count() == 14
    shown = sum(confused(page).values())
    assert page.inner_text("#confusion-note").startswith(f"The most frequent pairs: {shown} of ")
