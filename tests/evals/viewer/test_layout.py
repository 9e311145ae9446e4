"""The page of a run of two models with long names: tables in one layout, pictures that can be read, whole words."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Page

from tests.evals.viewer.accessible import grave_problems
from tests.evals.viewer.browser import Watched, afresh, find_chromium
from tests.evals.viewer.legible import faint_texts

pytestmark = pytest.mark.skipif(
    find_chromium() is None, reason="no chromium, chromium-browser or google-chrome on the PATH"
)
AREAS = ("customer_relationship_contact", "quarterly_financial_statement", "warehouse_inventory_report")
VERBS = ("create", "synchronise", "archive")
TOOLSETS = "full,loadout:*,tiered,oracle,oracle+2"
WIDTHS = (500, 1280)

# A word is what stands between separators. It is whole if its letters are in one line, upright or level.
_BROKEN = """
() => {
  const broken = [];
  const headings = "h1, h2, h3, thead th, tbody th, .line.head > *, .told, summary, dt, .badge";
  for (const one of document.querySelectorAll(headings)) {
    if (!one.checkVisibility() || one.closest("dialog, .unseen")) continue;
    const walker = document.createTreeWalker(one, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      for (const word of walker.currentNode.textContent.matchAll(/[\\p{L}\\p{N}]+/gu)) {
        const range = document.createRange();
        range.setStart(walker.currentNode, word.index);
        range.setEnd(walker.currentNode, word.index + word[0].length);
        if (range.getClientRects().length > 1) broken.push(`${word[0]} in ${one.textContent.trim()}`);
      }
    }
  }
  return broken;
}
"""
_TABLES = """
() => [...document.querySelectorAll("section > .scroll, section > .forest")].map((one) => {
  const table = one.matches("table") ? one : one.querySelector("table");
  const second = [...table.rows[0].cells].filter((cell) => cell.getClientRects().length && !cell.matches(".number"))[1];
  const { left, right } = one.getBoundingClientRect();
  return [table.id || table.className, ...[left, right, second.getBoundingClientRect().left].map(Math.round)];
})
"""


def _catalog() -> dict[str, Any]:
    schema = {"type": "object", "properties": {"id": {"type": "string", "description": "Its id."}}, "required": ["id"]}
    plugins = [
        {
            "name": f"enterprise_{area}_connector", "description": f"About the {area}.", "category": "business",
            "tools": [
                {"name": f"{verb}_{area}", "description": f"{verb.title()} a {area}.", "parameters": schema}
                for verb in VERBS
            ],
        }
        for area in AREAS
    ]  # fmt: skip
    names = [plugin["name"] for plugin in plugins]
    teams = {
        "international-logistics-and-customs-clearance": {"description": "Goods.", "plugins": names[2:]},
        "customer-success-and-renewals-europe-middle-east": {"description": "Customers.", "plugins": names[:2]},
    }
    return {"name": "long-names", "description": "Long names.", "loadouts": teams, "plugins": plugins}


def _cases() -> Iterator[dict[str, Any]]:
    for number in range(6):
        area, verb = AREAS[number % 3], VERBS[number % 2]
        query = f"Please {verb} the {area.replace('_', ' ')} number {number}"
        expected = [{"tool": f"{verb}_{area}", "args": {"id": str(number)}}]
        yield {"id": f"regression-{verb}-{area}-{number}", "kind": "single", "query": query, "expected": expected}


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("long")
    (folder / "catalog.json").write_text(json.dumps(_catalog()), encoding="utf-8")
    (folder / "cases.jsonl").write_text("".join(f"{json.dumps(case)}\n" for case in _cases()), encoding="utf-8")
    script = folder / "extremely-long-model-name-70b-instruct-int4.json"
    calls = [{"tool": f"create_{AREAS[0]}", "args": {"id": "0"}}]
    script.write_text(json.dumps([{"when": "*", "replies": [{"calls": calls}]}]), encoding="utf-8")
    models = f"local/bm25,scripted/{script.name}"
    for command in (
        ("eval", "run", "-d", ".", "--model", models, "--toolset", TOOLSETS),
        ("eval", "report", "-o", "out"),
    ):
        done = subprocess.run(
            [sys.executable, "-m", "toolbelt", *command, "--store", "runs.db"],
            cwd=folder, capture_output=True, text=True, timeout=120,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    (page,) = folder.glob("out/*/report.html")
    return page


@pytest.fixture(params=WIDTHS, ids=str)
def page(shared: Watched, report: Path, request: pytest.FixtureRequest) -> Iterator[Page]:
    for one in afresh(shared, report, "#confused=all"):
        one.set_viewport_size({"width": request.param, "height": 900})
        one.wait_for_selector("#confusion-table tbody tr", state="attached")
        yield one


def test_E10_tables_are_as_wide_as_the_page_and_what_follows_the_names_begins_at_one_place(page: Page) -> None:
    if page.viewport_size == {"width": 1280, "height": 900}:
        tables = page.evaluate(_TABLES)
        assert len(tables) >= 6
        assert len({tuple(places) for _, *places in tables}) == 1, tables


def test_E10_pictures_are_shown_as_large_as_they_are_drawn(page: Page) -> None:
    pictures = page.locator("figure img").all()
    assert len(pictures) >= 3
    for picture in pictures:
        assert picture.evaluate("one => one.clientWidth - one.naturalWidth") in (-1, 0, 1)
        assert str(picture.evaluate("one => one.clientWidth")) == picture.get_attribute("width")


def test_E10_no_heading_is_broken_within_a_word(page: Page) -> None:
    assert page.evaluate(_BROKEN) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_wider_than_the_screen_and_every_text_stands_out(
    page: Page, scheme: Literal["light", "dark"]
) -> None:
    page.emulate_media(media="screen", color_scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    assert faint_texts(page) == []
    assert grave_problems(page) == []


def test_arms_stand_beneath_their_models_and_are_read_out_with_them(page: Page) -> None:
    heads = page.locator("#grid-head")
    assert heads.locator(".model").all_inner_texts() == [
        "local/bm25",
        "scripted/extremely-long-model-name-70b-instruct-int4.json",
    ]
    assert page.get_by_role("columnheader", name="local/bm25 · tiered", exact=True).inner_text() == "tiered"
    left = "one => Math.round(one.getBoundingClientRect().left)"
    arms = [arm.evaluate(left) for arm in heads.locator(".arm").all()]
    assert [model.evaluate(left) for model in heads.locator(".model").all()] == [arms[0], arms[len(arms) // 2]]


def test_one_confusion_is_pale_whatever_there_is_beside_it(page: Page) -> None:
    cells = page.locator("#confusion-table .heat")
    steps = {
        int(cell.inner_text()): int((cell.get_attribute("class") or "").rpartition(" h")[2]) for cell in cells.all()
    }
    assert steps[1] == 2
    assert sorted(steps.values()) == [step for _, step in sorted(steps.items())], "more is darker"
    assert max(steps.values()) == 20 or max(steps) < 10
