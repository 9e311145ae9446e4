"""`toolbelt eval baseline`: what is committed, and what is refused."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Toolbelt
from tests.wording import mentions

TOOLS = [
    {"name": "refund", "description": "Pay the money of an order back to the customer."},
    {"name": "parcel", "description": "Say where a parcel is at the moment."},
]
CASES: list[dict[str, Any]] = [
    {"id": "geld-zurück", "query": "Refund the order.", "expected": [{"tool": "refund"}], "kind": "single"},
    {"id": "où-est-le-colis", "query": "Where is my parcel?", "expected": [{"tool": "parcel"}], "kind": "single"},
    {"id": "小包", "query": "Where is my parcel now?", "expected": [{"tool": "refund"}], "kind": "single"},
]


@pytest.fixture
def shop(project: Path, toolbelt: Toolbelt) -> Path:
    """A folder with a run of two arms."""
    write_shop(project, CASES)
    assert toolbelt("eval", "run", "-d", "shop", "-t", "full,oracle", "--json").code == 0
    return project


def write_shop(project: Path, cases: list[dict[str, Any]]) -> None:
    (project / "shop").mkdir(exist_ok=True)
    catalog = {"name": "shop", "plugins": [{"name": "shop", "tools": TOOLS}]}
    (project / "shop" / "catalog.json").write_text(json.dumps(catalog))
    text = "".join(json.dumps(case, ensure_ascii=False) + "\n" for case in cases)
    (project / "shop" / "cases.jsonl").write_text(text, encoding="utf-8")


def test_the_same_results_give_the_same_bytes(toolbelt: Toolbelt, shop: Path) -> None:
    saved = toolbelt("eval", "baseline", "save")
    assert (saved.code, saved.out) == (0, "")
    assert mentions(saved.err, "note", "reports/baseline.json", "3 cases", "2 arms")
    first = (shop / "reports" / "baseline.json").read_bytes()
    assert "小包".encode() in first, "it is read by people"
    assert toolbelt("eval", "run", "-d", "shop", "-t", "full,oracle", "--json").code == 0
    again = toolbelt("eval", "baseline", "save")
    assert again.err.endswith("nothing changed\n")
    assert (shop / "reports" / "baseline.json").read_bytes() == first
    assert sorted(path.name for path in (shop / "reports").iterdir()) == ["baseline.json"], "nothing is left behind"


def test_what_changed_is_said(toolbelt: Toolbelt, shop: Path) -> None:
    toolbelt("eval", "baseline", "save", "-o", "b.json")
    write_shop(shop, [*CASES[:2], {**CASES[2], "expected": [{"tool": "parcel"}]}])
    toolbelt("eval", "run", "-d", "shop", "-t", "full", "--json")
    ran = toolbelt("eval", "baseline", "save", "-o", "b.json", "--json")
    assert mentions(ran.json["changes"], "dataset changed", "full: 1 case", "without local/bm25 · oracle")
    assert ran.json["arms"][0]["right"] == 3
    (shop / "b.json").write_text((shop / "b.json").read_text()[:-30])
    assert "could not be read" in toolbelt("eval", "baseline", "save", "-o", "b.json").err
    assert toolbelt("eval", "baseline", "show", "b.json").code == 0, "it was made anew"


def test_some_of_the_arms(toolbelt: Toolbelt, shop: Path) -> None:
    assert toolbelt("eval", "baseline", "save", "-o", "b.json", "--arm", "oracle").code == 0
    assert [arm["toolset"] for arm in toolbelt("eval", "baseline", "show", "b.json", "--json").json["arms"]] == [
        "oracle"
    ]
    both = toolbelt("eval", "baseline", "save", "-o", "b.json", "--arm", "#2, full", "--json").json
    assert [arm["toolset"] for arm in both["arms"]] == ["full", "oracle"], "in the order of the run"
    wrong = toolbelt("eval", "baseline", "save", "-o", "b.json", "--arm", "orakle")
    assert (wrong.code, "'oracle'" in wrong.err) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        pytest.param(("latest", "-o", ".toolbelt/runs.db"), ("--store", "--output"), id="the-store"),
        pytest.param(("latest", "-o", ".toolbelt/runs.db-wal"), "file of runs", id="what-belongs-to-it"),
        pytest.param(("./b.json", "-o", "b.json"), ("RUN", "--output"), id="what-it-is-made-of"),
    ],
)
def test_what_it_is_made_of_is_not_written_over(
    arguments: tuple[str, ...], named: object, toolbelt: Toolbelt, shop: Path
) -> None:
    toolbelt("eval", "baseline", "save", "-o", "b.json")
    ran = toolbelt("eval", "baseline", "save", *arguments)
    assert (ran.code, ran.out, mentions(ran.err, named)) == (2, "", True), ran.err
    assert not (shop / ".toolbelt" / "runs.db-wal").exists()


def test_one_with_its_keys_in_another_order_is_replaced(toolbelt: Toolbelt, shop: Path) -> None:
    toolbelt("eval", "baseline", "save", "-o", "b.json")
    first = (shop / "b.json").read_bytes()
    (shop / "b.json").write_text(json.dumps(json.loads(first), sort_keys=True, indent=200))  # as `jq -S` does
    ran = toolbelt("eval", "baseline", "save", "-o", "b.json")
    assert ran.code == 0
    assert ran.err.endswith(": nothing changed\n")
    assert (shop / "b.json").read_bytes() == first


def test_arms_that_the_environment_chose_are_told(
    toolbelt: Toolbelt, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOOLBELT_ARM", "full")
    ran = toolbelt("eval", "baseline", "save", "-o", "b.json")
    assert ran.err.splitlines()[0] == "note: --arm full from TOOLBELT_ARM"
    assert "3 cases × 1 arm;" in ran.err


def test_showing_one(toolbelt: Toolbelt, shop: Path) -> None:
    toolbelt("eval", "baseline", "save")
    lines = toolbelt("eval", "baseline", "show").out.splitlines()
    assert lines[0].startswith("baseline reports/baseline.json: dataset shop (")
    assert lines[0].endswith("), 3 cases")
    assert mentions(lines[1], "shop", "limit 10", "seed 0", "toolbelt")
    assert [line.split()[:4] for line in lines[5:]] == [
        ["local/bm25", "·", "full", "66.7%"],
        ["local/bm25", "·", "oracle", "66.7%"],
    ]
    data = toolbelt("eval", "baseline", "show", "--json").json
    assert (data["schema"], data["case_count"], data["arms"][0]["scored"]) == ("toolbelt.baseline/1", 3, 3)


@pytest.mark.parametrize(
    ("sql", "code", "named"),
    [
        pytest.param("UPDATE trials SET outcome = 'error' WHERE trial = 1", 3, "--retry-errors", id="an-error"),
        pytest.param("DELETE FROM trials WHERE trial = 1", 3, "1 trial", id="a-trial-that-is-missing"),
        pytest.param("UPDATE runs SET status = 'interrupted'", 3, "it is interrupted", id="interrupted"),
        pytest.param("UPDATE runs SET status = 'running'", 3, "it is killed", id="killed"),
        pytest.param("UPDATE runs SET plan = json_set(plan, '$.drafts', 2)", 2, "2 of 3 cases", id="drafts"),
    ],
)
def test_E9_what_proves_nothing_becomes_no_baseline(
    sql: str, code: int, named: object, toolbelt: Toolbelt, shop: Path
) -> None:
    toolbelt("eval", "baseline", "save", "-o", "b.json")
    before = (shop / "b.json").read_bytes()
    with sqlite3.connect(shop / ".toolbelt" / "runs.db") as connection:
        connection.execute(sql)
    ran = toolbelt("eval", "baseline", "save", "-o", "b.json")
    assert (ran.code, ran.out) == (code, "")
    assert mentions(ran.err, named)
    assert (shop / "b.json").read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "code", "named"),
    [
        pytest.param(("save", "-o", "shop/cases.jsonl"), 2, "no baseline", id="another-file"),
        pytest.param(("save", "-o", "shop"), 2, "folder", id="a-folder"),
        pytest.param(("save", "-o", "shop/cases.jsonl/b.json"), 3, "Cannot write", id="below-a-file"),
        pytest.param(("save", "2031"), 2, "2031", id="no-such-run"),
        pytest.param(("show", "nowhere.json"), 2, "baseline save", id="no-such-file"),
        pytest.param(("show", "shop/catalog.json"), 2, "no baseline", id="another-document"),
    ],
)
def test_what_is_refused(arguments: tuple[str, ...], code: int, named: object, toolbelt: Toolbelt, shop: Path) -> None:
    before = (shop / "shop" / "cases.jsonl").read_bytes()
    ran = toolbelt("eval", "baseline", *arguments)
    assert (ran.code, ran.out) == (code, ""), ran.err
    assert mentions(ran.err, named)
    assert (shop / "shop" / "cases.jsonl").read_bytes() == before
