"""`toolbelt eval run --suite compatibility` (rules E1, E4 and L15): what is run, what is left out, how it goes on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Toolbelt
from tests.evals.cli.test_eval_run import CASES, RUN, office, write_dataset
from tests.wording import mentions

__all__ = ["office"]
SUITE = (*RUN, "--suite", "compatibility")
OTHER = "scripted/other.json"
LOADOUTS = ["loadout:cashier", "loadout:porter"]


def say(folder: Path, *models: dict[str, Any], **sections: Any) -> None:
    (folder / "toolbelt.yaml").write_text(json.dumps({"models": models, **sections}))
    (folder / "other.json").write_text(json.dumps([{"when": "*", "replies": [{"text": "no"}]}]))


def pairs(data: dict[str, Any]) -> list[tuple[str, str]]:
    return [(arm["model"], arm["toolset"]) for arm in data["arms"]]


def test_E1_the_suite_is_every_toolset_that_a_model_could_be_given(toolbelt: Toolbelt, office: Path) -> None:
    both = {"name": "local/bm25", "context_window": 10_000}
    doubled = {"till only": {"plugins": ["till"]}, "clerk": {"plugins": ["till", "mail/send_letter"]}}
    say(office, both, loadouts=doubled)
    ran = toolbelt(*SUITE)
    assert ran.code == 0, ran.err
    shown = ["full", "loadout:auto", *LOADOUTS, "loadout:clerk", "tiered"]
    assert [toolset for _, toolset in pairs(ran.json)] == shown
    assert mentions(ran.err, "note", "loadout:till", "loadout:cashier")
    assert (ran.json["suite"], ran.json["left_out"], ran.json["scored"]) == ("compatibility", [], 18)
    assert [row["model"] for row in ran.json["compatibility"]["models"]] == ["local/bm25"]
    assert toolbelt("eval", "show", "--json").json == ran.json
    assert toolbelt("eval", "list", "--json").json["runs"][0]["finished"] == 18


def test_L15_a_pair_that_cannot_be_asked_is_left_out_with_its_reason(toolbelt: Toolbelt, office: Path) -> None:
    say(office, {"name": OTHER, "tool_calling": False}, {"name": "local/bm25", "context_window": 100})
    models = ("--model", "local/bm25", "--model", OTHER)
    ran = toolbelt(*SUITE, *models)
    assert ran.code == 0, ran.err
    assert pairs(ran.json) == [("local/bm25", toolset) for toolset in ("full", *LOADOUTS, "tiered")]
    left = {(one["model"], one["toolset"]): one for one in ran.json["left_out"]}
    of_other = [toolset for model, toolset in left if model == OTHER]
    assert of_other == ["full", "loadout:auto", *LOADOUTS, "tiered"]
    assert left["local/bm25", "loadout:auto"]["verdict"] == "refuses"
    assert left["local/bm25", "loadout:auto"]["reason"].startswith("The whole catalog takes ")
    assert left[OTHER, "full"].keys() == {"model", "toolset", "verdict", "reason"}
    assert left[OTHER, "full"]["verdict"] == "unsupported"
    assert mentions(left[OTHER, "full"]["reason"], "no tools", "toolbelt.yaml")
    assert mentions(ran.err, "note", OTHER, "5 toolsets", "toolbelt.yaml")
    anyway = toolbelt(*SUITE, *models, "--ask-anyway")
    assert len(pairs(anyway.json)) == 8
    [unknown] = (one["reason"] for one in anyway.json["left_out"] if one["model"] == OTHER)
    assert mentions(unknown, "`models`", "toolbelt.yaml")


def test_L15_an_unknown_window_is_an_error_outside_the_suite_alone(toolbelt: Toolbelt, office: Path) -> None:
    left = toolbelt(*SUITE).json["left_out"]
    assert [(one["toolset"], one["verdict"]) for one in left] == [("loadout:auto", "unknown")]
    assert toolbelt(*RUN, "--toolset", "loadout:auto").code == 2


def test_E9_a_suite_of_which_nothing_can_be_asked_is_refused_with_all_reasons(toolbelt: Toolbelt, office: Path) -> None:
    say(office, {"name": OTHER, "tool_calling": False}, {"name": "local/bm25", "tool_calling": False})
    ran = toolbelt(*SUITE, "--model", "local/bm25", "--model", OTHER)
    assert ran.code == 2
    assert mentions(ran.err, "local/bm25", OTHER, "5 toolsets", "toolbelt.yaml")
    say(office, {"name": OTHER, "base": "text-embedding-3-small"}, {"name": "local/bm25", "tool_calling": False})
    ran = toolbelt(*SUITE, "--model", "local/bm25", "--model", OTHER)
    assert mentions(ran.err, "local/bm25", "5 toolsets")
    assert mentions(ran.err, OTHER, "5 toolsets")
    assert not (office / ".toolbelt" / "runs.db").exists()


@pytest.mark.parametrize(
    ("arguments", "environment", "toolsets"),
    [
        pytest.param(["--suite", "Compatibility", "--limit", "1"], {"TOOLBELT_TOOLSET": "full"}, 4, id="a-flag-wins"),
        pytest.param(["--toolset", "full", "--limit", "1"], {"TOOLBELT_SUITE": "compatibility"}, 1, id="either-flag"),
        pytest.param(["--limit", "1"], {"TOOLBELT_SUITE": "compatibility"}, 4, id="its-twin"),
    ],
)
def test_E1_a_suite_takes_the_place_of_toolsets(
    toolbelt: Toolbelt,
    office: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    environment: dict[str, str],
    toolsets: int,
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert len(toolbelt(*RUN, *arguments).json["arms"]) == toolsets


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        pytest.param(["--suite", "compatability"], "Did you mean 'compatibility'?", id="a-slip"),
        pytest.param(["--suite", "speed"], ("speed", "compatibility"), id="another-word"),
        pytest.param(["--suite", ""], "No suite named ''", id="nothing"),
        pytest.param(["--suite", "compatibility", "-t", "full"], ("compatibility", "full"), id="both"),
    ],
)
def test_E9_a_suite_is_named_as_it_is_called(
    toolbelt: Toolbelt, office: Path, arguments: list[str], named: object
) -> None:
    ran = toolbelt(*RUN, *arguments)
    assert (ran.code, mentions(ran.err, named)) == (2, True), ran.err


def test_E8_a_suite_goes_on_where_it_was_left(toolbelt: Toolbelt, office: Path) -> None:
    say(office, {"name": "local/bm25", "context_window": 5_000}, {"name": OTHER, "max_tools": 2})
    models = ("--model", "local/bm25", "--model", OTHER)
    stopped = toolbelt(*SUITE, *models, "--max-requests", "2")
    assert stopped.code == 3
    gone_on = toolbelt("eval", "resume", "--json")
    assert gone_on.code == 0, gone_on.err
    whole = toolbelt(*SUITE, *models)
    told = ("arms", "left_out", "rooms", "suite", "scored")
    timed = {"latency_seconds", "latency_p95_seconds"}

    def untimed(data: dict[str, Any]) -> dict[str, Any]:
        arms = [{key: value for key, value in arm.items() if key not in timed} for arm in data["arms"]]
        return {**{key: data[key] for key in told}, "arms": arms}

    assert untimed(gone_on.json) == untimed(whole.json)
    assert gone_on.json["compatibility"]["recommendation"]


def test_E8_the_choice_of_auto_is_the_same_when_the_run_goes_on(toolbelt: Toolbelt, office: Path) -> None:
    ladder = {"name": "local/bm25", "context_window": 5_000, "max_tools": 4}
    say(office, ladder)
    asked = (*RUN, "--toolset", "loadout:auto")
    [whole] = toolbelt(*asked).json["arms"]
    assert toolbelt(*asked, "--max-requests", "1").code == 3
    say(office, {**ladder, "max_tools": 1})
    assert toolbelt(*asked).code == 2, "now, nothing can be chosen"
    [gone_on] = toolbelt("eval", "resume", "--json").json["arms"]
    assert gone_on["definition_tokens"] == whole["definition_tokens"]
    silent = {"name": "local/bm25", "context_window": 5_000, "tool_calling": False}
    for changed in ({**ladder, "output_reserve": 4_990}, silent):
        say(office, ladder)
        assert toolbelt(*asked, "--max-requests", "1").code == 3
        say(office, changed)
        resumed = toolbelt("eval", "resume", "--json")
        assert resumed.code == 0, resumed.err
        assert resumed.json["arms"][0]["definition_tokens"] == whole["definition_tokens"], changed
    say(office, ladder)
    assert toolbelt(*asked, "--max-requests", "1").code == 3
    say(office, {**ladder, "toolset": "loadout:porter"})
    refused = toolbelt("eval", "resume")
    assert (refused.code, "changed since this run began" in refused.err) == (2, True)


def test_E8_a_ladder_that_changed_is_none_to_go_on_with(toolbelt: Toolbelt, office: Path) -> None:
    say(office, {"name": "local/bm25", "context_window": 5_000, "max_tools": 3})
    file = office / "office" / "catalog.json"
    catalog = json.loads(file.read_text())

    def climb(*ladder: str) -> None:
        file.write_text(json.dumps({**catalog, "ladder": ladder}))

    climb("porter", "cashier")
    auto = (*RUN, "--toolset", "loadout:auto", "--max-requests", "1")
    assert toolbelt(*auto).code == 3
    climb("cashier", "porter")
    refused = toolbelt("eval", "resume")
    assert (refused.code, "of a model, changed" in refused.err) == (2, True)
    climb("porter", "cashier")
    assert toolbelt("eval", "resume").code == 0
    assert toolbelt(*RUN, "--toolset", "tiered", "--max-requests", "1").code == 3
    climb("cashier", "porter")
    assert toolbelt("eval", "resume").code == 0, "nothing goes by it"


def test_E1_a_catalog_that_no_loadout_matches_is_run_as_it_is(toolbelt: Toolbelt, tmp_path: Path) -> None:
    write_dataset(Path("office"), CASES)
    catalog = json.loads(Path("office/catalog.json").read_text())
    Path("office/catalog.json").write_text(json.dumps({**catalog, "loadouts": {}}))
    bare = [{key: value for key, value in case.items() if key != "role"} for case in CASES]
    Path("office/cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in bare))
    ran = toolbelt(*SUITE)
    assert (ran.code, [toolset for _, toolset in pairs(ran.json)]) == (0, ["full", "tiered"]), ran.err
