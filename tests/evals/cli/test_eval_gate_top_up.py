"""`toolbelt eval gate --top-up` (rules X6, E7, E9): further epochs where a verdict is open, and nowhere else."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.cli.conftest import Ran, Toolbelt
from tests.servers.running import OpenAIServer
from toolbelt.errors import ToolbeltError
from toolbelt.evals import Limits, gate_run
from toolbelt.evals.exports.schemas import read_schema
from toolbelt.evals.running.records import TrialRecord
from toolbelt.evals.setup.reporting import RunNote

CASES = 100
MODEL = "openai/flaky-30@top-up"
"""Right in every case but 30% of them, which it gets right every other time, by chance that is the same in each run."""


@dataclass(frozen=True)
class Gated:
    """A gate over runs of a flaky model, with a baseline of three epochs."""

    toolbelt: Toolbelt
    url: str
    model: str = MODEL

    def run(self, *arguments: str) -> Ran:
        return self.toolbelt("eval", "run", "-d", "work", "-m", self.model, "--api-base", self.url, *arguments)

    def save(self, toolsets: str, *arguments: str) -> None:
        assert self.run("-t", toolsets, "--epochs", "3", *arguments).code == 0
        assert self.toolbelt("eval", "baseline", "save", "-o", "base.json").code == 0

    def gate(self, *arguments: str) -> Ran:
        return self.toolbelt("eval", "gate", "--baseline", "base.json", "--json", *arguments)


@pytest.fixture
def gated(project: Path, toolbelt: Toolbelt, openai_server: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> Gated:
    openai_server.reset()
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    (project / "work").mkdir()
    tools = [
        {"name": name, "description": f"To {name}.", "parameters": {"type": "object", "properties": {}}}
        for name in ("refund", "track")
    ]
    plugins = [{"name": tool["name"], "tools": [tool]} for tool in tools]
    (project / "work" / "catalog.json").write_text(json.dumps({"name": "office", "plugins": plugins}))
    rows = [
        {"id": f"c{number}", "query": f"Order {number}.\nCALL refund {{}}", "expected": [{"tool": "refund"}]}
        for number in range(CASES)
    ]
    (project / "work" / "cases.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    write_loadouts(project, blind=["refund", "track"])
    return Gated(toolbelt, openai_server.url)


def write_loadouts(project: Path, blind: list[str]) -> None:
    loadouts = {"first": {"plugins": ["refund"]}, "blind": {"plugins": blind}}
    (project / "toolbelt.yaml").write_text(json.dumps({"loadouts": loadouts}))


def times(epochs: Collection[int]) -> str:
    least, most = min(epochs), max(epochs)
    return f"{most}" if least == most else f"{least} to {most}"


def asked(ran: Ran) -> dict[str, Any]:
    found: dict[str, Any] = ran.json["top_up"]
    return found


def test_X6_only_open_arms_are_asked_further_and_later_commands_use_the_design(
    gated: Gated, openai_server: Any
) -> None:
    gated.save("full,loadout:first")
    gated.run("-t", "full,loadout:first")
    before = openai_server.count("flaky-30@top-up")
    ran = gated.gate("--top-up", "--margin", "0.1")
    epochs = asked(ran)["asked"]
    assert max(epochs.values()) > 1, "an arm was open after one epoch"
    trials = CASES * (sum(epochs.values()) - 2)
    assert asked(ran)["trials"] == asked(ran)["requests"] == openai_server.count("flaky-30@top-up") - before == trials
    assert asked(ran)["spared"] == CASES * 6 - 2 * CASES - trials
    assert (ran.code, ran.json["verdict"]) == (0, "no_regression")
    jsonschema.validate(ran.json, read_schema("gate"))

    shown = gated.toolbelt("eval", "show").out
    assert f"{CASES} cases × 2 arms × {times(epochs.values())} epochs" in shown
    assert gated.toolbelt("eval", "show", "--json").json["epochs"] == max(epochs.values())
    again = gated.gate("--margin", "0.1")
    assert (again.json["checks"], again.json["top_up"]) == (ran.json["checks"], None)
    assert again.json["comparison"]["level"] == pytest.approx(0.97795, abs=1e-5)
    more = gated.gate("--top-up", "--margin", "0.1")
    assert (asked(more)["trials"], more.json["checks"]) == (0, ran.json["checks"])
    refused = gated.toolbelt("eval", "baseline", "save", "-o", "other.json")
    assert (refused.code, "--epochs 3" in refused.err) == (3, True)


def test_E7_without_top_up_unequal_epochs_are_not_compared_and_no_look_is_taken(gated: Gated) -> None:
    gated.save("full")
    gated.run("-t", "full")
    ran = gated.gate()
    assert ran.code == 3
    assert "or gate it with --top-up" in ran.json["reasons"][0]


def test_X6_where_the_gate_cannot_pass_nothing_is_asked(gated: Gated, project: Path) -> None:
    gated.save("full,loadout:blind")
    write_loadouts(project, blind=["track"])
    gated.run("-t", "full,loadout:blind")
    ran = gated.gate("--top-up", "--margin", "0.02")
    assert (ran.code, asked(ran)["trials"]) == (1, 0), "one arm is a regression, the other open"


def test_X6_where_nothing_differs_in_too_few_cases_more_cases_are_wanted_and_nothing_is_asked(gated: Gated) -> None:
    gated = replace(gated, model="openai/flaky-0@top-up")
    gated.save("full", "--limit", "40")
    gated.run("-t", "full", "--limit", "40")
    ran = gated.gate("--top-up", "--margin", "0.02")
    assert (ran.code, asked(ran)["trials"], asked(ran)["asked"]) == (3, 0, {f"{gated.model} · full": 1})
    shown = gated.toolbelt("eval", "gate", "--baseline", "base.json", "--top-up", "--margin", "0.02").out
    assert "about 260 cases would decide if none flips" in shown
    assert "no further epoch could make it pass" in shown
    assert (gated.gate("--top-up", "--margin", "0.2").code) == 0, "with a margin that so many cases can rule out"


def test_E9_a_cap_stops_in_the_middle_of_an_epoch_and_the_next_gate_goes_on(gated: Gated) -> None:
    gated.save("full")
    gated.run("-t", "full")
    capped = gated.gate("--top-up", "--margin", "0.02", "--max-requests", "130")
    assert (capped.code, capped.json["verdict"]) == (3, "insufficient_data")
    assert asked(capped)["requests"] == 30
    assert "cap of 130 requests" in asked(capped)["reason"], "of the run and what is asked further together"
    assert any("have not been run" in reason for reason in capped.json["reasons"])
    rest = gated.gate("--top-up", "--margin", "0.02")
    assert asked(rest)["trials"] == 2 * CASES - 30, "up to three epochs, and what was asked is not asked again"
    assert asked(rest)["asked"] == {f"{MODEL} · full": 3}


def test_E9_a_cap_that_allows_no_epoch_leaves_the_run_finished(gated: Gated) -> None:
    gated.save("full")
    gated.run("-t", "full")
    capped = gated.gate("--top-up", "--margin", "0.02", "--max-requests", "5")
    assert (capped.code, asked(capped)["trials"], asked(capped)["asked"]) == (3, 0, {f"{MODEL} · full": 1})
    assert "cap of 5 requests" in asked(capped)["reason"]
    verdicts = {check["name"]: check["verdict"] for check in capped.json["checks"]}
    assert (verdicts["complete"], verdicts["overflow"]) == ("no_regression", "no_regression")
    assert gated.toolbelt("eval", "list", "--json").json["runs"][0]["status"] == "finished"
    options = ("--baseline", "base.json", "--top-up", "--margin", "0.02")
    shown = gated.toolbelt("eval", "gate", *options, "--max-requests", "5").out
    assert "nothing (epochs: openai/flaky-30@top-up · full ×1)" in shown
    assert "higher cap" in shown
    part = gated.toolbelt("eval", "gate", *options, "--max-requests", "130")
    assert "30 trials, 30 requests" in part.out
    assert "×2, the last of them not to its end" in part.out
    assert part.out.count("go on") == 1
    assert "eval resume" not in part.out + part.err


@pytest.mark.skipif(sys.platform == "win32", reason="kills processes")
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_X6_a_killed_top_up_goes_on_and_asks_nothing_twice(
    how: signal.Signals, gated: Gated, openai_server: OpenAIServer
) -> None:
    gated = replace(gated, model=f"{MODEL}-{how}")  # whose answers no other test moves
    model = gated.model.removeprefix("openai/")
    gated.save("full")
    gated.run("-t", "full")
    before = openai_server.count(model)
    command = [sys.executable, "-m", "toolbelt", "eval", "gate", "--baseline", "base.json", "--top-up"]
    with subprocess.Popen(
        [*command, "--margin", "0.02", "--max-concurrency", "1"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as process:
        ends = time.monotonic() + 60
        while openai_server.count(model) < before + CASES // 5:
            assert time.monotonic() < ends
            assert process.poll() is None
            time.sleep(0.005)
        process.send_signal(how)
        printed = process.communicate(timeout=60)[1].decode()
    assert process.returncode == (130 if how is signal.SIGINT else -how)
    assert "Traceback" not in printed
    kept = gated.toolbelt("eval", "list", "--json").json["runs"][0]["finished"]
    assert CASES < kept < 2 * CASES, "in the middle of the second epoch"

    ran = gated.gate("--top-up", "--margin", "0.02")
    assert (ran.code, asked(ran)["asked"]) == (3, {f"{gated.model} · full": 3})
    assert asked(ran)["trials"] == 3 * CASES - kept
    sent = openai_server.count(model) - before
    assert 2 * CASES <= sent <= 2 * CASES + 1, "the request in flight alone was sent again"
    assert ran.json["comparison"]["level"] == pytest.approx(0.97795, abs=1e-5)
    assert gated.gate("--margin", "0.02").json["checks"] == ran.json["checks"]


def test_X6_from_python(gated: Gated, openai_server: OpenAIServer) -> None:
    gated = replace(gated, model=f"{MODEL}-python")
    gated.save("full")
    gated.run("-t", "full")
    notes: list[RunNote] = []
    trials: list[TrialRecord] = []
    result = gate_run(
        baseline="base.json", limits=Limits(margin=0.02), top_up=True, on_note=notes.append, on_trial=trials.append
    )
    assert result.verdict.value == gated.gate("--margin", "0.02").json["verdict"]
    assert result.further is not None
    assert result.further.trials == len(trials) == 2 * CASES
    assert any(note.kind == "top_up" for note in notes)
    assert gate_run("latest", "base.json", Limits(margin=0.02)).checks == result.checks
    with pytest.raises(ToolbeltError, match="baseline"):
        gate_run(top_up=True)


def test_X6_a_resumed_run_is_judged_as_one_that_was_not_interrupted(gated: Gated) -> None:
    gated.save("full")
    gated.run("-t", "full")
    gated.gate("--top-up", "--margin", "0.02", "--max-requests", "130")
    assert gated.toolbelt("eval", "resume", "--api-base", gated.url).code == 0
    ran = gated.gate("--margin", "0.02")
    assert ran.json["comparison"]["level"] == pytest.approx(0.97795, abs=1e-5)
    assert {check["name"]: check["verdict"] for check in ran.json["checks"]}["complete"] == "no_regression"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(("--top-up", "--min-accuracy", "0.5"), "name one with --baseline", id="no baseline"),
        pytest.param(("--baseline", "base.json", "--max-requests", "9"), "is for --top-up", id="a cap of nothing"),
        pytest.param(
            ("other.json", "--baseline", "base.json", "--top-up"),
            "cannot be asked further",
            id="a baseline in place of a run",
        ),
        pytest.param(("nope", "--baseline", "base.json", "--top-up"), "No run", id="no such run"),
        pytest.param(("--baseline", "base.json", "--top-up", "--max-cost", "-1"), "--max-cost", id="no cap"),
        pytest.param(("--baseline", "base.json", "--top-up"), "--until-decided", id="a run with looks of its own"),
    ],
)
def test_X6_what_cannot_be_asked_further_is_refused(
    arguments: tuple[str, ...], message: str, gated: Gated, toolbelt: Toolbelt
) -> None:
    gated.save("full", "--limit", "5")
    if message == "--until-decided":
        assert gated.run("-t", "full,loadout:first", "--until-decided", "--limit", "5").code == 0
    refused = toolbelt("eval", "gate", *arguments)
    assert (refused.code, message in refused.err) == (2, True)


def test_X6_what_changed_since_the_run_is_refused_and_the_run_stays_as_it_was(gated: Gated, project: Path) -> None:
    gated.save("full")
    gated.run("-t", "full")
    catalog = project / "work" / "catalog.json"
    catalog.write_text(catalog.read_text().replace("To track.", "To follow."))
    assert gated.gate("--top-up", "--margin", "0.02").code == 2
    assert gated.toolbelt("eval", "list", "--json").json["runs"][0]["planned"] == CASES


def test_X6_a_run_of_as_many_epochs_as_the_baseline_is_gated_as_it_is(gated: Gated) -> None:
    gated.save("full")
    gated.run("-t", "full", "--epochs", "3")
    ran = gated.gate("--top-up", "--margin", "0.1")
    assert (ran.json["top_up"], ran.json["comparison"]["level"]) == (None, 0.95)


def test_X6_merged_shards_are_asked_further(gated: Gated) -> None:
    gated.save("full")
    stores = [f"part{number}.db" for number in (1, 2)]
    for number, store in enumerate(stores, 1):
        assert gated.run("-t", "full", "--shard", f"{number}/2", "--store", store).code == 0
    assert "merge the shards first" in gated.gate("--top-up", "--store", "part1.db").err
    assert gated.toolbelt("eval", "merge", *stores).code == 0
    ran = gated.gate("--top-up", "--margin", "0.02")
    assert asked(ran)["trials"] == 2 * CASES
