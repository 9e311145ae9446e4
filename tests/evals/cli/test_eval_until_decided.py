"""`toolbelt eval run --until-decided` (rule X6): rounds, looks that are stored, and bounds that later commands use."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Toolbelt

CASES = 120


@pytest.fixture
def work(project: Path) -> str:
    """Cases that `full` answers rightly, and a loadout without the tool cannot; and one that shows all they need."""
    folder = project / "work"
    folder.mkdir()
    tools = [
        {"name": name, "description": text, "parameters": {"type": "object", "properties": {}}}
        for name, text in (
            ("refund", "Pay back the money of an order."),
            ("track", "Say where a parcel is."),
            ("hours", "Opening times of the shop."),
        )
    ]
    plugins = [{"name": tool["name"], "tools": [tool]} for tool in tools]
    (folder / "catalog.json").write_text(json.dumps({"name": "office", "plugins": plugins}))
    rows = [
        {"id": f"c{number}", "query": f"Pay back the money of order {number}.", "expected": [{"tool": "refund"}]}
        for number in range(CASES)
    ]
    (folder / "cases.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    loadouts = {"blind": {"plugins": ["track"]}, "all": {"plugins": ["refund", "track"]}}
    (project / "toolbelt.yaml").write_text(json.dumps({"loadouts": loadouts}))
    return str(folder)


def stored_decision(store: Path) -> dict[str, Any]:
    with closing(sqlite3.connect(store)) as connection:
        [[text]] = connection.execute("SELECT plan FROM runs ORDER BY created DESC LIMIT 1").fetchall()
    found: dict[str, Any] = json.loads(text)["decision"]
    return found


def test_X6_a_clear_loss_stops_the_run_and_later_commands_use_its_bounds(
    toolbelt: Toolbelt, work: str, project: Path
) -> None:
    toolbelt("eval", "run", "-d", work, "-t", "full,loadout:blind", "--until-decided")
    ran = toolbelt("eval", "show", "--json")
    data = json.loads(ran.out)
    assert (data["status"], data["cases"], data["planned"], data["scored"]) == ("finished", 42, 84, 84)
    assert data["settings"]["until_decided"] == {"margin": 0.02, "cases": 120, "decided_after": 42}
    look = stored_decision(project / ".toolbelt" / "runs.db")["rounds"][0]
    assert (look["is_decided"], look["cases"]) == (True, 42)
    assert look["verdicts"]["local/bm25 · loadout:blind"]["verdict"] == "regression"

    compared = json.loads(toolbelt("eval", "compare", "--json").out)
    contrast = compared["contrasts"][0]
    assert (contrast["verdict"], compared["level"]) == ("regression", look["level"])
    stored = look["verdicts"]["local/bm25 · loadout:blind"]
    assert (contrast["low"], contrast["high"]) == (stored["low"], stored["high"])
    assert any(
        "is run until it is decided by a margin of 2 points: after 42 of 120 cases, look 1 of 4" in note
        for note in compared["notes"]
    )


def test_X6_an_estimate_is_of_the_most_and_names_the_looks(toolbelt: Toolbelt, work: str) -> None:
    command = ("eval", "run", "-d", work, "-t", "full,loadout:blind", "--dry-run")
    data = toolbelt(*command, "--until-decided", "--json").json
    assert (data["planned"], data["looks"]) == (240, [{"cases": cases} for cases in (42, 60, 78, 120)])
    shown = toolbelt(*command, "--until-decided").out
    assert "at most 240 trials" in shown
    assert "after 42, 60, 78 or 120 of 120 cases" in shown
    assert toolbelt(*command, "--json").json["looks"] is None
    assert "at most" not in toolbelt(*command).out


def test_X6_what_is_saved_is_reported(toolbelt: Toolbelt, work: str) -> None:
    ran = toolbelt("eval", "run", "-d", work, "-t", "full,loadout:blind", "--until-decided")
    assert ran.code == 0
    assert "decided after 42 of 120 cases (look 1 of 4), 65% of the trials saved (156 of 240)" in ran.err
    assert "Stopped after 42 of 120 cases, as the comparison was decided." in ran.out


def test_X6_a_run_is_described_by_the_margin_it_stopped_by(toolbelt: Toolbelt, work: str) -> None:
    options = ("-t", "full,loadout:all", "--until-decided", "--margin", "0.1")
    ran = toolbelt("eval", "run", "-d", work, *options, "--json")
    result = json.loads(ran.out)["result"]
    assert "loadout:all: no_regression" in ran.err
    assert (result["margin"], result["finding"], result["others"]) == (0.1, "not_worse", [])
    for command, key in (("compare", ""), ("recommend", ""), ("recommend", "ranking"), ("report", "result")):
        shown = json.loads(toolbelt("eval", command, "--json").out)
        assert (shown[key] if key else shown)["margin"] == 0.1, (command, key)
    compared = json.loads(toolbelt("eval", "compare", "--margin", "0.02", "--json").out)
    assert (compared["margin"], compared["contrasts"][0]["verdict"]) == (0.02, "insufficient_data")


def test_X6_where_nothing_changed_all_is_asked_and_what_the_margin_takes_is_reported(
    toolbelt: Toolbelt, work: str
) -> None:
    ran = toolbelt("eval", "run", "-d", work, "-t", "full,loadout:all", "--until-decided", "--margin", "0.02")
    assert ran.code == 0, "a run is no gate"
    assert "not decided after 120 of 120 cases (look 4 of 4): local/bm25 · loadout:all: insufficient_data" in ran.err
    assert "a margin of 2 points takes about" in ran.err


def test_X6_a_run_is_judged_by_the_design_it_was_begun_with(toolbelt: Toolbelt, work: str, project: Path) -> None:
    """A later version may choose other looks and levels."""
    store, command = project / ".toolbelt" / "runs.db", ("eval", "run", "-d", work, "-t", "full,loadout:blind")
    assert toolbelt(*command, "--until-decided", "--max-requests", "20").code == 3, "in the first round"
    with closing(sqlite3.connect(store)) as connection, connection:
        [[text]] = connection.execute("SELECT plan FROM runs").fetchall()
        plan = json.loads(text)
        plan["decision"]["rounds"][0]["level"] = 0.9996
        connection.execute("UPDATE runs SET plan = ?", (json.dumps(plan),))
    assert "decided after 42 of 120 cases (look 1 of 4)" in toolbelt("eval", "resume").err
    assert json.loads(toolbelt("eval", "compare", "--json").out)["level"] == 0.9996


def change_loadout(project: Path, *plugins: str) -> None:
    (project / "toolbelt.yaml").write_text(json.dumps({"loadouts": {"now": {"plugins": list(plugins)}}}))


@pytest.mark.parametrize(
    ("plugins", "cases", "verdict", "code"),
    [
        pytest.param(("track",), 42, "regression", 1, id="a loss is found at the first look"),
        pytest.param(("refund", "track"), 78, "no_regression", 0, id="no loss is proved later"),
    ],
)
def test_X6_a_run_against_a_baseline_is_decided_and_the_gate_agrees(
    plugins: tuple[str, ...], cases: int, verdict: str, code: int, toolbelt: Toolbelt, work: str, project: Path
) -> None:
    change_loadout(project, "refund", "track")
    toolbelt("eval", "run", "-d", work, "-t", "loadout:now")
    assert toolbelt("eval", "baseline", "save", "-o", "base.json").code == 0
    change_loadout(project, *plugins)
    options = ("--baseline", "base.json", "--margin", "0.1")
    ran = toolbelt("eval", "run", "-d", work, "-t", "loadout:now", "--until-decided", *options)
    assert f"decided after {cases} of 120 cases" in ran.err
    assert f"loadout:now: {verdict}" in ran.err
    gated = toolbelt("eval", "gate", *options, "--json")
    assert (gated.code, json.loads(gated.out)["verdict"]) == (code, verdict)

    assert toolbelt("eval", "baseline", "save", "-o", "early.json").code == 0
    level = json.loads((project / "early.json").read_text())["sequential"]["level"]
    shown = toolbelt("eval", "compare", "base.json", "latest").out
    assert (f"{100 * level:.4g}% interval" in shown or f"{100 * level:.4g}%)" in shown, "(95% interval" in shown) == (
        True,
        False,
    ), shown
    toolbelt("eval", "gate", *options, "--markdown", "gate.md")
    assert f"difference, points ({100 * level:.4g}%)" in (project / "gate.md").read_text()

    toolbelt("eval", "run", "-d", work, "-t", "loadout:now")
    later = json.loads(toolbelt("eval", "compare", "early.json", "latest", "--json").out)
    assert (later["comparable"], later["level"], later["contrasts"][0]["difference"]) == (True, level, 0.0)
    assert later["contrasts"][0]["planned"] == cases


def test_X6_looks_are_taken_once_and_a_capped_run_goes_on(toolbelt: Toolbelt, work: str, project: Path) -> None:
    store = project / ".toolbelt" / "runs.db"
    command = ("eval", "run", "-d", work, "-t", "full,loadout:all", "--until-decided", "--margin", "0.1")
    assert toolbelt(*command, "--max-requests", "100").code == 3, "in the second round"
    before = stored_decision(store)["rounds"]
    assert [each["is_decided"] for each in before][:1] == [False]
    assert toolbelt("eval", "resume").code == 0
    after = stored_decision(store)["rounds"]
    assert after[0] == before[0]
    toolbelt(*command)
    assert stored_decision(store)["rounds"] == after, "as a run that was not capped"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(("-t", "full", "--until-decided"), "A single arm is compared with nothing", id="a single arm"),
        pytest.param(("--until-decided", "--shard", "1/2"), "A shard decides nothing by itself", id="a shard"),
        pytest.param(("--baseline", "b.json"), "--baseline is for --until-decided", id="a baseline of no decision"),
        pytest.param(("--until-decided", "--baseline", "no.json"), "No baseline named 'no.json'", id="no such file"),
        pytest.param(("--until-decided", "--margin", "2"), "--margin", id="no margin"),
    ],
)
def test_X6_what_cannot_be_decided_is_refused(
    arguments: tuple[str, ...], message: str, toolbelt: Toolbelt, work: str
) -> None:
    arms = () if "-t" in arguments else ("-t", "full,loadout:all")
    result = toolbelt("eval", "run", "-d", work, *arms, *arguments)
    assert (result.code, message in result.err) == (2, True)


def test_X6_a_baseline_of_other_cases_or_arms_is_refused_before_anything_is_asked(
    toolbelt: Toolbelt, work: str
) -> None:
    toolbelt("eval", "run", "-d", work, "-t", "full", "--limit", "20")
    toolbelt("eval", "baseline", "save", "-o", "few.json")
    run = ("eval", "run", "-d", work, "--until-decided", "--baseline", "few.json")
    for arguments, message in (
        (("-t", "full"), "few.json cannot be compared with this run"),
        (
            ("-t", "full,loadout:all", "--limit", "20"),
            "has no arm of the same name to compare with: local/bm25 · loadout:all",
        ),
    ):
        refused = toolbelt(*run, *arguments)
        assert (refused.code, message in refused.err) == (2, True)
        runs = json.loads(toolbelt("eval", "list", "--json").out)["runs"]
        assert [row["finished"] for row in runs] == [20], "the latest run is the one that was asked"
