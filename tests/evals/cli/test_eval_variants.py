"""`toolbelt eval run --variant`: one thing changed, an arm of its own (rule E1)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Toolbelt
from tests.wording import mentions


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def arms_of(toolbelt: Toolbelt, *arguments: str) -> tuple[dict[tuple[str, str], dict[str, Any]], str]:
    ran = toolbelt("eval", "run", "--limit", "20", *arguments, "--json")
    assert ran.code == 0, ran.err
    return {(arm["toolset"], arm["variant"]): arm for arm in json.loads(ran.out)["arms"]}, ran.err


def test_E1_each_variant_makes_an_arm_of_each_toolset(toolbelt: Toolbelt) -> None:
    variants = "plain,shuffled,padded:9000,distractors:30,anonymous,undescribed,undescribed+shuffled"
    arms, told = arms_of(toolbelt, "--toolset", "full,oracle+4", "--variant", variants)
    kinds = ["", "shuffled", "padded:9000", "distractors:30", "anonymous", "undescribed", "shuffled+undescribed"]
    assert list(arms) == [
        *(("full", kind) for kind in kinds if kind != "distractors:30"),
        *(("oracle+4", kind) for kind in kinds),
    ]
    assert "left out: full with distractors:30" in told
    assert mentions(told, "padded:9000", "20 of 20 cases")
    tokens = {kind: arms["oracle+4", kind]["definition_tokens"] for kind in kinds}
    assert tokens["shuffled"] == tokens[""]
    assert tokens["padded:9000"] == pytest.approx(9000, rel=0.02)
    assert tokens["distractors:30"] > 4 * tokens[""]
    assert tokens["undescribed"] == tokens["shuffled+undescribed"] < tokens[""] * 0.7


def test_E1_without_a_word_nothing_is_changed(toolbelt: Toolbelt) -> None:
    arms, _ = arms_of(toolbelt, "--toolset", "oracle+4")
    assert list(arms) == [("oracle+4", "")]


def test_E8_a_run_of_variants_is_resumed_and_reported_with_the_command_that_repeats_it(
    toolbelt: Toolbelt, here: Path
) -> None:
    asked = ["--toolset", "oracle+4,loadout:minimal", "--variant", "plain,shuffled+distractors:3:near,anonymous"]
    whole, _ = arms_of(toolbelt, *asked, "--store", "whole.db")
    cut = toolbelt("eval", "run", "--limit", "20", *asked, "--max-requests", "40")
    assert cut.code == 3
    ran = toolbelt("eval", "resume", "--json", "--max-requests", "100000")
    assert ran.code == 0, ran.err
    resumed = json.loads(ran.out)["arms"]
    keys = ("accuracy", "solved", "coverage", "definition_tokens", "outcomes")
    assert [[arm[key] for key in keys] for arm in resumed] == [[arm[key] for key in keys] for arm in whole.values()]
    assert toolbelt("eval", "report", "-o", "out").code == 0
    [report] = here.glob("out/**/report.md")
    text = report.read_text(encoding="utf-8")
    assert "--variant shuffled+distractors:3:near --variant anonymous" in text
    assert "oracle+4 · shuffled+distractors:3:near" in text


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        pytest.param(["--variant", "shufled"], "Did you mean 'shuffled'", id="a slip"),
        pytest.param(["--variant", "padded"], "padded:N", id="no number"),
        pytest.param(
            ["--toolset", "full", "--variant", "distractors:3"], "shows every tool already", id="nothing left"
        ),
        pytest.param(["--variant", ","], "No variant is named", id="none"),
    ],
)
def test_what_is_no_variant_is_refused(toolbelt: Toolbelt, here: Path, asked: list[str], said: str) -> None:
    ran = toolbelt("eval", "run", *asked)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err
    assert not (here / ".toolbelt").exists()


def test_drafts_among_the_cases_are_told_and_kept_with_the_run(toolbelt: Toolbelt, here: Path) -> None:
    folder = here / "mine"
    folder.mkdir()
    catalog = {"name": "t", "plugins": [{"name": "p", "tools": [{"name": "ping", "description": "Pings a host."}]}]}
    (folder / "catalog.json").write_text(json.dumps(catalog), encoding="utf-8")
    rows = [
        {"id": "a", "query": "Is it up?", "expected": [{"tool": "ping"}], "draft": True},
        {"id": "b", "query": "Ping it.", "expected": [{"tool": "ping"}], "draft": False},
    ]
    (folder / "cases.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    ran = toolbelt("eval", "run", "--dataset", "mine", "--toolset", "full")
    assert ran.code == 0
    assert mentions(ran.err, "1 draft")
    shown = json.loads(toolbelt("eval", "show", "--json").out)
    assert shown["settings"]["drafts"] == 1
    ran = toolbelt("eval", "run", "--dataset", "mine", "--toolset", "full", "--case", "b")
    assert "draft" not in ran.err


def test_E1_where_no_case_has_a_role_the_toolsets_of_a_plain_run_do_without_them(
    toolbelt: Toolbelt, here: Path
) -> None:
    folder = here / "mine"
    folder.mkdir()
    catalog = {"name": "t", "plugins": [{"name": "p", "tools": [{"name": "ping", "description": "Pings a host."}]}]}
    (folder / "catalog.json").write_text(json.dumps(catalog), encoding="utf-8")
    row = {"id": "a", "query": "Is it up?", "expected": [{"tool": "ping"}]}
    (folder / "cases.jsonl").write_text(json.dumps(row), encoding="utf-8")
    ran = toolbelt("eval", "run", "--dataset", "mine", "--json")
    assert ran.code == 0
    assert mentions(ran.err, "no case has a role", "'loadout'")
    assert [arm["toolset"] for arm in json.loads(ran.out)["arms"]] == ["full", "tiered"]
    assert toolbelt("eval", "run", "--dataset", "mine", "--toolset", "loadout").code == 2


def test_E1_a_dry_run_tells_variants_apart(toolbelt: Toolbelt) -> None:
    asked = ["--toolset", "oracle+4", "--variant", "plain,padded:9000", "--limit", "20", "--dry-run"]
    arms = json.loads(toolbelt("eval", "run", *asked, "--json").out)["arms"]
    assert [(arm["toolset"], arm["variant"]) for arm in arms] == [("oracle+4", ""), ("oracle+4", "padded:9000")]
    assert arms[1]["definition_tokens"] > 5 * arms[0]["definition_tokens"]
    assert "oracle+4 · padded:9000" in toolbelt("eval", "run", *asked).out


def test_E1_where_there_are_fewer_distractors_than_wanted_that_is_told(toolbelt: Toolbelt) -> None:
    _, told = arms_of(toolbelt, "--toolset", "loadout:full", "--variant", "distractors:100")
    assert mentions(told, "loadout:full", "distractors:100", "20 of 20 cases")


def test_a_tool_that_is_to_be_called_is_named_as_it_is_shown(toolbelt: Toolbelt) -> None:
    asked = ["--toolset", "full", "--variant", "plain,anonymous", "--tool-choice", "git_push"]
    arms, _ = arms_of(toolbelt, *asked)
    assert len(arms) == 2
    ran = toolbelt("eval", "run", *asked[:-1], "git_pusch")
    assert ran.code == 2
    assert "'git_push'" in ran.err
