"""What `toolbelt.yaml` says of a model holds in an eval: its window for `loadout:auto`, its prices for the cost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Toolbelt
from tests.evals.cli.test_eval_run import CASES, RUN, office, write_dataset
from tests.servers.running import OpenAIServer

__all__ = ["office"]
AUTO = (*RUN, "--toolset", "loadout:auto")


def _say(folder: Path, *models: dict[str, object]) -> None:
    (folder / "toolbelt.yaml").write_text(json.dumps({"models": models}))


def test_L15_auto_goes_by_a_window_of_ones_own(toolbelt: Toolbelt, office: Path) -> None:
    assert "unknown" in toolbelt(*AUTO).err
    _say(office, {"name": "local/bm25", "context_window": 150})
    assert "154 of 150 tokens" in toolbelt(*AUTO).err
    _say(office, {"name": "local/bm25", "context_window": 5_000})
    [arm] = toolbelt(*AUTO).json["arms"]
    assert arm["definition_tokens"] == 154


def test_E8_a_window_that_changed_is_no_window_to_go_on_with(toolbelt: Toolbelt, office: Path) -> None:
    said = {"name": "local/bm25", "context_window": 5_000}
    _say(office, said)
    assert toolbelt(*AUTO, "--max-requests", "1").code == 3
    _say(office, {**said, "context_window": 150})
    refused = toolbelt("eval", "resume")
    assert (refused.code, "changed since this run began" in refused.err) == (2, True)
    _say(office, {**said, "prices": {"input": 1, "output": 1}})
    assert toolbelt("eval", "resume").code == 0, "a price changes nothing of what is shown"


def test_E6_a_model_of_ones_own_has_a_price_before_it_is_asked(toolbelt: Toolbelt, office: Path) -> None:
    _say(office, {"name": "mine", "prices": {"input": 1000, "output": 0}})
    [arm] = toolbelt(*RUN, "--model", "mine", "--toolset", "full", "--dry-run").json["arms"]
    assert arm["cost_usd"] == pytest.approx(arm["prompt_tokens"] / 1000)


def test_E6_what_was_asked_costs_what_the_project_says(
    toolbelt: Toolbelt, office: Path, openai_server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-this-test-0123")
    asked = ("--model", "openai/pick-first", "--toolset", "full", "--api-base", openai_server.url, "--max-cost", "9")
    unpriced = toolbelt(*RUN, *asked)
    assert (unpriced.code, "price of openai/pick-first is unknown" in unpriced.err) == (2, True)
    _say(office, {"name": "openai/pick-first", "prices": {"input": 1000, "output": 0}})
    [arm] = toolbelt(*RUN, *asked).json["arms"]
    assert arm["cost_usd"] == pytest.approx(arm["prompt_tokens"] / 1000)
    report = toolbelt("eval", "export", "--format", "json").json
    assert [one["price"]["prompt"] for one in report["economics"]] == [pytest.approx(1e-3)]


def test_a_name_of_ones_own_is_no_unknown_model(toolbelt: Toolbelt, tmp_path: Path) -> None:
    write_dataset(tmp_path / "project" / "office", CASES)
    _say(Path.cwd(), {"name": "mine", "base": "gpt-4o-mini"})
    ran = toolbelt(*RUN, "--model", "mine", "--toolset", "full", "--dry-run")
    assert ran.code == 0
    assert ran.json["cost_usd"] > 0
    assert toolbelt(*RUN, "--model", "mime", "--toolset", "full", "--dry-run").code == 2
