"""Models × toolsets in a page: what has no accuracy has no colour (rule E4), and all is there without colours."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest
import yaml
from playwright.sync_api import Browser, Locator, Page, expect

from tests.evals.analysis.matrix.test_ranking import ranked
from tests.evals.viewer.browser import VIEWPORT, Watched, afresh, find_chromium, watched
from tests.evals.viewer.compared import ABOUT
from tests.evals.viewer.legible import faint_texts
from tests.evals.viewer.probed import probes
from tests.evals.viewer.reading import Read
from tests.evals.viewer.runs import HOSTILE, hostile_run, small_run
from tests.evals.viewer.writing import PICTURE, page_file, page_text
from tests.evals.views.matrices import big_matrix, left_out, scored, small_matrix
from tests.wording import each_mentions
from toolbelt.evals.analysis.gate.verdict import GateResult, Limits
from toolbelt.evals.analysis.matrix.cell import Cell, CellState
from toolbelt.evals.analysis.matrix.matrix import Matrix, ModelRow, Pick, UnassignableToolsets
from toolbelt.evals.analysis.matrix.pick_reasons import ConcreteToolset
from toolbelt.evals.analysis.matrix.recommendation import recommendation
from toolbelt.evals.probing.results import CheckOutcome, CheckResult, ProbeResult
from toolbelt.evals.viewer.sections import MOST_REASONS, matrix_values, probe_values, ranking_values
from toolbelt.evals.views.matrix_text import STEPS, heat_colour, ink_on
from toolbelt.evals.views.ranking import conclusions
from toolbelt.text import UNSAFE

YAML = "models:\n  - name: openai/gpt-5-mini  # <b>\n    toolset: loadout:minimal\n"
in_browser = pytest.mark.skipif(
    find_chromium() is None, reason="no chromium, chromium-browser or google-chrome on the PATH"
)


def cells(values: dict[str, Any], what: str) -> list[list[Any]]:
    return [[cell[what] for cell in row["cells"]] for row in values["rows"]]


def test_E4_each_state_is_said_in_words_and_only_scores_have_a_step() -> None:
    values = matrix_values(small_matrix())
    assert cells(values, "text") == [
        ["85.0%", "83.3%", "83.3%", "33.3%", "0.0%"],
        ["cannot fit", "70.0%", "50.0%", "not scored", "not run"],
        ["no tool calls", "nothing fits", "no tool calls", "no tool calls", "no tool calls"],
    ]
    assert cells(values, "step") == [
        [17, 17, 17, 7, 0],
        [None, 14, 10, None, None],
        [None] * 5,
    ]
    assert cells(values, "overflow")[1] == ["", "", "33% too long", "", ""]
    assert cells(values, "counts")[1] == ["", "42/60", "30/60", "", ""]
    assert cells(values, "tokens")[1][0] == "21,000 tokens", "how large what cannot fit is"


def test_E7_what_is_chosen_and_what_is_best_are_told_apart() -> None:
    values = matrix_values(small_matrix())
    assert [row["choice"] for row in values["rows"]] == ["loadout:minimal", "loadout:minimal", ""]
    assert cells(values, "chosen")[0] == [False, False, True, False, False]
    assert cells(values, "best")[0] == [True, False, False, False, False]
    unsure = replace(small_matrix().rows[0], pick=Pick("m", best=2, choice=2, toolset="loadout:minimal"))
    values = matrix_values(replace(small_matrix(), rows=(unsure,)))
    assert (values["rows"][0]["choice"], values["rows"][0]["sure"]) == ("loadout:minimal", False)
    assert cells(values, "unsure") == [[False, False, True, False, False]]
    assert not any(cells(values, "chosen")[0])
    page = page_text(small_run(), matrix=replace(small_matrix(), rows=(unsure,)))
    assert "<b><bdi>loadout:<wbr>minimal</bdi></b> as measured, not sure" in page


def test_why_not_all_was_scored_is_told_of_so_many_and_the_rest_counted() -> None:
    assert each_mentions(
        matrix_values(small_matrix())["unscored"][-2:],
        ("local/deaf", "full, loadout:minimal, loadout:developer, tiered", "calls no tools"),
        ("local/deaf", "loadout:auto", "nothing fits"),
    )
    many = [
        Cell(f"t{n}", CellState.CANNOT_FIT, n, reasons=left_out(f"Too long by {n}.")) for n in range(MOST_REASONS + 5)
    ]
    labels = tuple(cell.toolset for cell in many)
    matrix = replace(small_matrix(), toolsets=labels, rows=(ModelRow("m", tuple(many), Pick("m")),))
    values = matrix_values(matrix)
    assert (len(values["unscored"]), values["more_unscored"]) == (MOST_REASONS, 5)
    assert "<li>and 5 more</li>" in page_text(small_run(), matrix=matrix)


def test_the_section_of_a_suite_stands_first_but_for_a_gate_and_else_after_what_compares_the_arms() -> None:
    page = page_text(small_run(), matrix=small_matrix())
    assert page.index('id="arms"') < page.index('id="which"') < page.index('id="pictures"')
    connection = small_run()
    connection.execute("UPDATE runs SET plan = json_set(plan, '$.suite', 'compatibility')")
    page = page_text(connection, matrix=small_matrix())
    assert page.index('id="which"') < page.index('aria-label="Result"') < page.index('id="arms"')
    gate = GateResult(ABOUT, (), Limits())
    gated = page_text(connection, matrix=small_matrix(), gate=gate)
    assert gated.index('aria-label="Result"') < gated.index('id="which"') < gated.index('id="arms"')
    assert gated.count('id="which"') == 1
    assert page.count('id="which"') == 1
    assert 'id="which"' not in page_text(small_run())


def test_the_heat_map_is_a_table_and_no_picture_beside_it() -> None:
    from toolbelt.evals.analysis.summary.run_summary import RunSummary
    from toolbelt.evals.views.pictures.drawing import draw_pictures

    (drawn,) = draw_pictures(RunSummary("r", "2026", "finished", "d", "x"), matrix=small_matrix())
    page = page_text(small_run(), matrix=small_matrix(), pictures=(drawn, PICTURE))
    assert len(Read.of(page).find("img")) == 1


def test_its_colours_are_those_of_the_pictures() -> None:
    (style,) = Read.of(page_text(small_run())).find("style")
    rules = re.findall(r"\.heat\.h(\d+), \.scale \.h\d+ \{ background: (#\w+); color: (#\w+); \}", style.text)
    light = [heat_colour(step) for step in range(STEPS + 1)]
    assert rules == [
        (str(step), colour, ink_on(colour)) for scale in (light, light[::-1]) for step, colour in enumerate(scale)
    ]


def test_E8_what_a_probe_did_not_make_is_not_said_to_fail() -> None:
    values = probe_values(probes())
    assert [row["cells"][1]["word"] for row in values["rows"]] == ["works", "partly", *["not made"] * 6]
    assert [row["cells"][0]["tone"] for row in values["rows"]] == [
        *("good", "warning", "bad", "bad", "bad", "faint"),
        *("warning", "faint"),
    ]
    assert [one["word"] for one in values["reasons"]] == [
        "partly",
        "fails",
        "refused",
        "too large",
        "tools not seen",
        "unknown",
        "partly",
    ]


def hostile_matrix() -> Matrix:
    rows = [
        ModelRow(
            text,
            (scored(text, n, 5), Cell(text, CellState.CANNOT_FIT, reasons=left_out(text))),
            Pick(text, n, n, reasons=(ConcreteToolset(text, text),)),
        )
        for n, text in enumerate(HOSTILE)
    ]
    return Matrix(
        "r", "d", "c", 60, 0.02, (HOSTILE[0], HOSTILE[6]), tuple(rows), notes=(UnassignableToolsets(HOSTILE),)
    )


def hostile_probes() -> tuple[ProbeResult, ...]:
    return tuple(
        ProbeResult("p", text, text, "finished", (CheckResult(text, CheckOutcome.FAILS, text),), (text,), api_base=text)
        for text in HOSTILE
    )


def test_hostile_texts_are_escaped() -> None:
    page = page_text(hostile_run(), matrix=hostile_matrix(), recommendation="\n".join(HOSTILE), probes=hostile_probes())
    page.encode("utf-8")
    read = Read.of(page)
    plain = Read.of(page_text(small_run(), matrix=small_matrix(), recommendation=YAML, probes=probes()))
    assert {one.tag for one in read.elements} <= {one.tag for one in plain.elements}
    assert not [character for character in UNSAFE.findall(page) if character not in "\n\t"]
    assert not [key for one in read.elements for key in one.attributes if key.startswith("on") or key == "style"]


def test_what_is_to_be_pasted_says_the_same_in_the_page() -> None:
    """What the page spells out is spelled out in it before, so that it is read back as it was."""
    rows = tuple(row for row in hostile_matrix().rows if row.model.isprintable() or "\ud83d" not in row.model)
    rows = tuple(replace(row, pick=replace(row.pick, toolset="loadout:a\u202eb")) for row in rows)
    told = recommendation(replace(hostile_matrix(), rows=rows, notes=()))
    (box,) = Read.of(page_text(small_run(), matrix=small_matrix(), recommendation=told)).find(
        "pre", id="recommendation"
    )
    assert yaml.safe_load(box.text) == yaml.safe_load(told)
    assert {entry["name"] for entry in yaml.safe_load(told)["models"]} <= {row.model for row in rows}


# In a browser.


def y_of(one: Locator) -> float:
    """Of its upper edge."""
    box = one.bounding_box()
    assert box is not None
    return box["y"]


@pytest.fixture(scope="module")
def laid(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("laid")
    return page_file(small_run(), folder, matrix=small_matrix(), recommendation=YAML, probes=probes())


@pytest.fixture
def page(shared: Watched, laid: Path) -> Iterator[Page]:
    yield from afresh(shared, laid)


@in_browser
def test_what_is_to_be_pasted_is_copied_as_it_stands(browser: Browser, laid: Path) -> None:
    with watched(browser, permissions=["clipboard-read", "clipboard-write"]) as seen:
        page = seen.open(laid)
        page.get_by_role("button", name="Copy").press("Enter")
        expect(page.locator("#copied")).to_have_text("Copied.")
        assert page.evaluate("navigator.clipboard.readText()") == YAML


@in_browser
@pytest.mark.parametrize(
    ("prepare", "told"),
    [
        pytest.param("0", "Copied.", id="no-permission-was-asked-for"),
        pytest.param("Object.defineProperty(navigator, 'clipboard', {})", "Copied.", id="a-browser-without-clipboard"),
        pytest.param(
            "Object.defineProperty(navigator, 'clipboard', {}); document.execCommand = () => false",
            "Selected: press Ctrl+C, or ⌘C.",
            id="nothing-may-be-copied",
        ),
    ],
)
def test_a_clipboard_that_is_kept_back_is_no_error(seen: Watched, laid: Path, prepare: str, told: str) -> None:
    page = seen.open(laid)
    page.evaluate(prepare)
    page.get_by_role("button", name="Copy").click()
    expect(page.locator("#copied")).to_have_text(told)
    if told != "Copied.":
        assert page.evaluate("getSelection().toString()").strip() == YAML.strip()


@in_browser
def test_the_table_is_read_out_with_its_words_and_marks(page: Page) -> None:
    snapshot = page.locator("#matrix-table").aria_snapshot()
    assert 'columnheader "ollama/qwen3:4b window 8,192 tokens"' in snapshot, "the fewer are the columns"
    assert 'rowheader "loadout:minimal"' in snapshot
    assert re.search(r'cell "50\.0% 33% too long 30/60 40\.0–60\.0 1,234 tokens for toolbelt.yaml best"', snapshot)
    assert 'cell "cannot fit 21,000 tokens"' in snapshot
    assert 'cell "works"' in page.locator("#probe-table").aria_snapshot()


@in_browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1200])
def test_every_text_stands_out_and_nothing_is_wider_than_the_screen(
    page: Page, scheme: Literal["light", "dark"], width: int
) -> None:
    page.emulate_media(media="screen", color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 700})
    for fold in page.locator("section[aria-labelledby=which] details, section[aria-labelledby=probes] details").all():
        fold.evaluate("fold => fold.open = true")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert faint_texts(page) == []


@in_browser
def test_on_paper_there_is_the_whole_table_and_no_button(page: Page) -> None:
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 1030, "height": 700})
    assert page.evaluate("document.documentElement.scrollWidth") <= 1030
    assert page.locator("#matrix-table").is_visible()
    assert page.locator("#recommendation").is_visible()
    assert not page.locator("#copy").is_visible()
    assert page.locator(".heat").first.evaluate("cell => getComputedStyle(cell).printColorAdjust") == "exact"


@in_browser
def test_a_large_matrix_scrolls_by_itself_with_keys_and_keeps_its_names_in_sight(seen: Watched, tmp_path: Path) -> None:
    page = seen.open(page_file(small_run(), tmp_path, matrix=big_matrix(30, 12), recommendation=YAML))
    box = page.locator(".scroll", has=page.locator("#matrix-table"))
    expect(box).to_have_attribute("tabindex", "0")
    name = page.locator("#matrix-table tbody th").first
    before = name.bounding_box()
    box.evaluate("box => box.scrollLeft = 400")
    assert name.bounding_box() == before
    head = page.locator("#matrix-table thead th").nth(1)
    top = y_of(head)
    box.evaluate("box => box.scrollTop = 300")
    assert y_of(head) == top
    page.set_viewport_size(VIEWPORT)


@in_browser
def test_without_a_script_all_of_it_is_there(browser: Browser, laid: Path) -> None:
    with watched(browser, java_script_enabled=False) as seen:
        seen.page.goto(laid.as_uri())
        assert "for toolbelt.yaml" in seen.page.inner_text("#matrix-table")
        assert seen.page.locator("#recommendation").text_content() == YAML
        assert not seen.page.locator("#copy").is_visible()


@in_browser
def test_hostile_names_do_nothing(seen: Watched, tmp_path: Path) -> None:
    written = page_file(
        small_run(), tmp_path, matrix=hostile_matrix(), recommendation="\n".join(HOSTILE), probes=hostile_probes()
    )
    page = seen.open(written)
    assert page.locator("main img[src=x], main svg[onload], [onerror], [onfocus]").count() == 0


def test_models_and_toolsets_are_ranked_with_ties_and_what_can_be_concluded() -> None:
    ranking = ranked()
    values = ranking_values(ranking)
    assert values["has_models"]
    assert values["has_ties"]
    assert values["conclusions"] == list(conclusions(ranking))
    page = page_text(small_run(), ranking=ranking)
    text = Read.of(page).text.partition("Arms by accuracy, with ties")[2]
    assert text.index("big · full") < text.index("small · full") < text.index("small · loadout")
    assert all(word in text for word in ("✓ best", "= as good", "≈ undecided", "✕ less accurate"))
    assert page.index('id="arms"') < page.index('id="ranking-title"') < page.index('id="trials"')
