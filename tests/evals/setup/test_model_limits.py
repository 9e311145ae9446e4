"""What each model of a run has room for (rule E4), from what is known of it and nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import project
from toolbelt.command.project import ProjectOptions
from toolbelt.evals.running.overflow import ModelLimits
from toolbelt.evals.running.plan import Arm
from toolbelt.evals.setup.model_limits import facts_for_auto, find_limits, leave_out
from toolbelt.evals.setup.reporting import CallbackReporter, NoteKind, RunNote
from toolbelt.loadouts.fit import FitVerdict
from toolbelt.project.project import Project

__all__ = ["project"]
MINE = {"name": "mine", "context_window": 10_000, "max_tools": 7, "tool_calling": True}


def workspace(*models: dict[str, Any]) -> Project:
    Path("toolbelt.yaml").write_text(json.dumps({"models": models}))
    return ProjectOptions("tiered").open()


@pytest.mark.parametrize(
    ("model", "max_tokens", "room"),
    [
        pytest.param("mine", None, ModelLimits(10_000, 2_500, 7, True), id="the-projects-own"),
        pytest.param("mine", 300, ModelLimits(10_000, 300, 7, True), id="the-answer-asked-for-is-kept-free"),
        pytest.param("local/bm25", None, None, id="ours-takes-what-it-is-given"),
        pytest.param("scripted/x.json", None, None, id="a-script-too"),
        pytest.param("scripted/mine.json", None, ModelLimits(500, 125), id="unless-the-project-says-so"),
        pytest.param("openai/nobody-knows-it", 300, None, id="nothing-is-known"),
        pytest.param("openai/served-here", None, ModelLimits(None, 4_096, None, False), id="one-fact-is-known"),
    ],
)
def test_E4_what_is_known_of_a_model_is_its_room(model: str, max_tokens: int | None, room: ModelLimits | None) -> None:
    opened = workspace(
        MINE,
        {"name": "scripted/mine.json", "context_window": 500},
        {"name": "openai/served-here", "tool_calling": False},
    )
    assert find_limits(opened, [model, model], max_tokens) == ({} if room is None else {model: room})


def test_E4_how_many_tools_a_request_may_hold_is_a_rule_of_the_provider() -> None:
    found = find_limits(workspace({"name": "gateway/gpt", "base": "gpt-4o"}), ["gpt-4o", "gateway/gpt"])
    assert found["gpt-4o"].max_tools == 128
    assert found["gpt-4o"].context_window == found["gateway/gpt"].context_window


def test_E8_auto_goes_by_what_was_known_when_the_run_began() -> None:
    opened = workspace(MINE)
    known = facts_for_auto(opened, "mine", ModelLimits(5_000, 10, 3, False))
    assert (known.context_window, known.output_reserve, known.max_tools, known.tool_calling) == (5_000, 10, 3, False)
    assert facts_for_auto(opened, "mine", ModelLimits(5_000, 10, 3, False), ask_anyway=True).tool_calling is None
    before = facts_for_auto(opened, "mine", None)
    assert (before.context_window, before.output_reserve, before.max_tools) == (10_000, None, None), "as it was then"


def test_L15_several_pairs_are_told_in_one_line() -> None:
    opened = workspace({"name": "dumb", "tool_calling": False}, {**MINE, "context_window": 100_000, "max_tools": 200})
    arms = tuple(
        Arm(model, toolset, variant)
        for model in ("mine", "dumb")
        for toolset in ("full", "loadout:auto")
        for variant in ("", "shuffled")
    )
    reporter = CallbackReporter()
    kept, left = leave_out(opened, arms, find_limits(opened, ["mine", "dumb"]), reporter)
    assert kept == arms[:4]
    assert [(one.model, one.toolset, one.verdict) for one in left] == [
        ("dumb", "full", FitVerdict.UNSUPPORTED),
        ("dumb", "loadout:auto", FitVerdict.UNSUPPORTED),
    ], "a pair, whatever the variant"
    text = "left out: dumb with 2 toolsets: It calls no tools, says toolbelt.yaml."
    assert reporter.notes == [RunNote(NoteKind.LEFT_OUT, text, ("dumb",))]
