"""A model whose window some cases never fit, and a run of some of the cases: from run to verdict (rules E4 and E7)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.cli.conftest import Ran, Toolbelt
from tests.wording import mentions
from toolbelt.evals.exports.schemas import read_schema

TOOLS = [
    {"name": "refund", "description": "Pay the money of an order back to the customer."},
    {"name": "parcel", "description": "Say where a parcel is at the moment."},
]
CASES = [
    {"id": f"refund-{number}", "query": f"Refund order {number}.", "expected": [{"tool": "refund"}], "kind": "single"}
    for number in range(100, 240)
]
ANSWER = {"when": "*", "replies": [{"calls": [{"tool": "shop_refund"}]}]}
TOO_LONG = {"when": "order 11", "replies": [{"error": "context_overflow"}]}
"""Ten of the cases."""


@pytest.fixture
def shop(project: Path) -> Path:
    (project / "shop").mkdir()
    catalog = {"name": "shop", "plugins": [{"name": "shop", "tools": TOOLS}]}
    (project / "shop" / "catalog.json").write_text(json.dumps(catalog))
    (project / "shop" / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in CASES))
    return project


def ask(toolbelt: Toolbelt, shop: Path, *script: dict[str, Any], options: tuple[str, ...] = ()) -> None:
    (shop / "model.json").write_text(json.dumps([*script, ANSWER]))
    asked = ("-d", "shop", "-t", "full", "-m", "scripted/model.json", "--max-retries", "0", *options)
    assert toolbelt("eval", "run", *asked, "--json").code == 0


def save(toolbelt: Toolbelt) -> None:
    assert toolbelt("eval", "baseline", "save", "-o", "base.json").code == 0


def gate(toolbelt: Toolbelt) -> Ran:
    return toolbelt("eval", "gate", "--baseline", "base.json", "--margin", "0.05", "--json")


def test_E4_a_window_that_was_too_small_before_does_not_hold_up_the_gate(toolbelt: Toolbelt, shop: Path) -> None:
    ask(toolbelt, shop, TOO_LONG)
    save(toolbelt)
    ask(toolbelt, shop, TOO_LONG)
    ran = gate(toolbelt)
    assert (ran.code, ran.json["verdict"]) == (0, "no_regression"), ran.out
    compared = toolbelt("eval", "compare", "base.json", "latest", "--margin", "0.05", "--json").json
    assert any(mentions(note, "10 cases", "window") for note in compared["notes"])
    assert compared["pairs"][0]["unpaired"] == {"old: context_overflow": 10, "new: context_overflow": 10}


def test_E4_a_window_that_suffices_now_is_no_loss_and_one_that_no_longer_does_is(
    toolbelt: Toolbelt, shop: Path
) -> None:
    ask(toolbelt, shop, TOO_LONG)
    save(toolbelt)
    ask(toolbelt, shop)
    assert gate(toolbelt).json["verdict"] == "no_regression"
    save(toolbelt)
    ask(toolbelt, shop, TOO_LONG)
    assert gate(toolbelt).code == 1


def test_E7_a_baseline_of_some_cases_tells_how_to_ask_the_same(toolbelt: Toolbelt, shop: Path) -> None:
    ask(toolbelt, shop, options=("--limit", "120", "--seed", "0"))
    save(toolbelt)
    saved = json.loads((shop / "base.json").read_text())
    assert saved["filter"] == {"limit": 120, "seed": 0}
    jsonschema.validate(saved, read_schema("baseline"))
    ask(toolbelt, shop)
    (first, *_) = gate(toolbelt).json["checks"]
    assert first["message"].endswith(" with --limit 120 --seed 0."), first
    ask(toolbelt, shop, options=("--limit", "120", "--seed", "0"))
    assert gate(toolbelt).code == 0, "what is told works"
    ask(toolbelt, shop, options=("--kind", "single", "--case", "refund-100"))
    (first, *_) = gate(toolbelt).json["checks"]
    assert mentions(first["message"], "--limit", 120, "--seed", 0, "--kind", "--case"), first
