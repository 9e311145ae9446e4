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


RIGHT = {"when": "*", "replies": [{"calls": [{"tool": "refund"}]}]}


def ask_two(toolbelt: Toolbelt, shop: Path, *, toolsets: str) -> dict[str, Any]:
    """A run of two models: one is always right in the ten cases that fit it, the other right in six of seven of all."""
    wrong = [{"when": f"order {ten}", "replies": [{"calls": [{"tool": "parcel"}]}]} for ten in (20, 23)]
    few = [{"when": f"order {ten}", "replies": [{"error": "context_overflow"}]} for ten in range(10, 24) if ten != 11]
    (shop / "few.json").write_text(json.dumps([*few, RIGHT]))
    (shop / "all.json").write_text(json.dumps([*wrong, RIGHT]))
    models = "scripted/few.json,scripted/all.json"
    ran = toolbelt("eval", "run", "-d", "shop", "-t", toolsets, "-m", models, "--max-retries", "0", "--json")
    assert ran.code == 0, ran.err
    return dict(ran.json)


def test_V1_a_model_that_few_cases_fit_is_not_the_most_accurate(toolbelt: Toolbelt, shop: Path) -> None:
    data = ask_two(toolbelt, shop, toolsets="full")
    few, every = data["arms"]
    assert (few["accuracy"]["value"], few["right_of_asked"]["value"]) == (1, 10 / 140)
    assert every["accuracy"] == every["right_of_asked"]
    assert data["result"]["model"] == "scripted/all.json"
    assert mentions(data["result"]["sentence"], "surely the most accurate of 2 models", "85.7% of 140 cases")
    assert "smaller toolset" not in f"{data['result']['title']} {data['result']['sentence']}"

    ranking = toolbelt("eval", "recommend", "--json").json["ranking"]
    assert [each["model"] for each in ranking["arms"]] == ["scripted/all.json", "scripted/few.json"]
    assert (ranking["arms"][1]["standing"], ranking["arms"][1]["right_of_asked"]) == ("worse", 10 / 140)
    shown = " ".join(toolbelt("eval", "recommend").out.split())
    assert mentions(shown, "85.7% of 140 cases", "10/140", "right of")


def test_V1_a_model_stands_for_its_best_toolset_and_ties_are_said_so(toolbelt: Toolbelt, shop: Path) -> None:
    (shop / "a.json").write_text(json.dumps([RIGHT]))
    (shop / "b.json").write_text(json.dumps([RIGHT]))
    models = "scripted/a.json,scripted/b.json"
    ran = toolbelt("eval", "run", "-d", "shop", "-t", "full", "-m", models, "--json")
    assert mentions(ran.json["result"]["sentence"], "the most accurate of 2 models as measured", "tied with 1 other")
    assert ran.json["result"]["recommended"] is None


def test_V1_against_a_toolset_is_against_that_of_each_model(toolbelt: Toolbelt, shop: Path) -> None:
    (shop / "toolbelt.yaml").write_text("catalog: shop/catalog.json\nloadouts:\n  some: {plugins: [shop]}\n")
    ask_two(toolbelt, shop, toolsets="full,oracle,loadout:some")
    data = toolbelt("eval", "compare", "--against", "full", "--json").json
    assert {(pair["a"]["model"], pair["a"]["toolset"]) for pair in data["pairs"]} == {
        ("scripted/few.json", "full"),
        ("scripted/all.json", "full"),
    }
    assert all(pair["a"]["model"] == pair["b"]["model"] for pair in data["pairs"])
    assert len(data["pairs"]) == 4


def test_V1_the_least_share_is_of_all_asked(toolbelt: Toolbelt, shop: Path) -> None:
    ask(toolbelt, shop, *({"when": f"order {ten}", "replies": TOO_LONG["replies"]} for ten in range(12, 24)), RIGHT)
    ran = toolbelt("eval", "gate", "--min-accuracy", "0.5", "--json")
    (check,) = (check for check in ran.json["checks"] if check["name"] == "min-accuracy")
    assert (ran.code, check["verdict"], check["observed"]) == (1, "regression", 20 / 140)
