"""A model with a label: what is shown of it, in its place, and what is asked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Toolbelt
from tests.evals.cli.test_estimates import MODEL, garden
from tests.servers.running import OpenAIServer
from tests.wording import mentions

__all__ = ["garden"]
SMALL = {"name": MODEL, "label": "small", "context_window": 9000, "prices": {"input": 1.0, "output": 1.0}}


@pytest.fixture
def labelled(garden: Path) -> Path:
    (garden / "toolbelt.yaml").write_text(json.dumps({"models": [SMALL, {"name": "gpt-4o", "label": "Large"}]}))
    return garden


@pytest.mark.usefixtures("labelled")
@pytest.mark.parametrize("asked", ["small", "SMALL", MODEL])
def test_a_run_shows_the_label_asks_the_model_and_keeps_both(
    asked: str, toolbelt: Toolbelt, openai_server: OpenAIServer
) -> None:
    openai_server.reset()
    ran = toolbelt(
        "eval", "run", "-d", "garden", "-m", f"{asked},local/bm25", "-t", "full", "--api-base", openai_server.url
    )
    assert ran.code == 0, ran.err
    assert openai_server.count("pick-first@garden") == 3
    table, _, notes = ran.out.partition(f"small stands for {MODEL}.")
    assert MODEL not in table + notes
    assert mentions(table, "small", "local/bm25")
    data = toolbelt("eval", "show", "--json").json
    assert [(arm["model"], arm["asked_as"]) for arm in data["arms"]] == [("small", MODEL), ("local/bm25", "")]
    assert data["arms"][0]["cost_usd"] > 0, "its prices are found by its name"
    assert data["model_facts"] == {"small": {"asked_as": MODEL}}
    assert data["rooms"]["small"]["context_window"] == 9000
    assert toolbelt("eval", "report", "-o", "report").code == 0
    for page in Path("report").rglob("*.md"):
        assert MODEL not in page.read_text().replace(f"small stands for {MODEL}.", "")
    [page] = Path("report").rglob("*.html")
    assert "small" in page.read_text()
    rows = toolbelt("eval", "recommend", "--json").json["models"]
    assert [(row["model"], row["asked_as"]) for row in rows] == [("small", MODEL), ("local/bm25", "")]


@pytest.mark.usefixtures("labelled")
def test_the_label_stands_in_every_list_of_models(toolbelt: Toolbelt) -> None:
    listed = toolbelt("model", "list", "--json").json["models"]
    assert [(row["name"], row["asked_as"]) for row in listed[:2]] == [("small", MODEL), ("Large", "gpt-4o")]
    assert (listed[1]["context_window"], listed[1]["known_as"]) == (128_000, "gpt-4o")
    fits = toolbelt("model", "fit", "-m", "small", "-m", "gpt-4o", "--json").json["models"]
    assert [row["model"] for row in fits] == ["small", "Large"]
    shown = toolbelt("loadout", "inspect", "--json").json["models"]
    assert [row["model"] for row in shown] == ["small", "Large"]
    assert mentions(toolbelt("model", "inspect", "large").out, "gpt-4o", "128,000")


@pytest.mark.usefixtures("labelled")
def test_V5_two_runs_in_which_a_label_stood_for_different_models_are_not_comparable(
    labelled: Path, toolbelt: Toolbelt, openai_server: OpenAIServer
) -> None:
    for name in (MODEL, "openai/pick-first@other"):
        (labelled / "toolbelt.yaml").write_text(json.dumps({"models": [{**SMALL, "name": name}]}))
        arguments = ("-d", "garden", "-m", "small", "-t", "full", "--api-base", openai_server.url)
        assert toolbelt("eval", "run", *arguments).code == 0
        assert toolbelt("eval", "baseline", "save", "-o", f"{len(name)}.json").code == 0
    gated = toolbelt("eval", "gate", "--baseline", f"{len(MODEL)}.json", "--json")
    assert gated.json["verdict"] == "insufficient_data"
    assert mentions(json.dumps(gated.json), "small stands for", MODEL, "openai/pick-first@other")
