"""`toolbelt eval gate`: what hurts fails, what does nothing passes, what is undecided says so (rules E7 and E9)."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
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
SWAPPED = [{**TOOLS[0], "name": "parcel"}, {**TOOLS[1], "name": "refund"}]
"""Each described as the other, so that every case goes wrong."""
CASES = [
    {"id": f"{tool}-{number}", "query": f"{query} {number}?", "expected": [{"tool": tool}], "kind": "single"}
    for tool, query in (("refund", "Pay the customer his money back, order"), ("parcel", "Where is the parcel, number"))
    for number in range(60)
]


@pytest.fixture
def shop(project: Path) -> Path:
    """A dataset of its own, and a baseline of it."""
    write_shop(project, CASES)
    return project


def write_shop(project: Path, cases: list[dict[str, Any]], tools: list[dict[str, Any]] | None = None) -> None:
    (project / "shop").mkdir(exist_ok=True)
    catalog = {"name": "shop", "plugins": [{"name": "shop", "tools": tools or TOOLS}]}
    (project / "shop" / "catalog.json").write_text(json.dumps(catalog))
    (project / "shop" / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))


def checks(ran: Ran) -> dict[tuple[str, str], dict[str, Any]]:
    return {(check["name"], check["arm"]): check for check in ran.json["checks"]}


# What must be said first


def test_E7_a_changed_dataset_is_not_compared(toolbelt: Toolbelt, shop: Path) -> None:
    save(toolbelt)
    write_shop(shop, [*CASES[:-1], {**CASES[-1], "query": "Another?"}])
    ran = gate(toolbelt)
    assert (ran.code, ran.json["comparison"]["comparable"]) == (3, False)
    first, *others = ran.json["checks"]
    assert (first["name"], first["verdict"]) == ("comparable", "insufficient_data")
    assert "grading differ" in first["message"]
    assert {check["name"] for check in others} == {"reviewed", "complete"}, "no verdict rests on the baseline"


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        pytest.param(("--limit", "50"), "Not the same cases", id="other-cases"),
        pytest.param(("--epochs", "2"), "--epochs is 1", id="epochs"),
        pytest.param(("--request-limit", "3"), "--request-limit is 10", id="settings"),
        pytest.param(("--temperature", "0.5"), "--temperature is not set", id="sampling"),
    ],
)
def test_E7_what_was_asked_otherwise_is_not_compared(
    arguments: tuple[str, ...], named: object, toolbelt: Toolbelt, shop: Path
) -> None:
    save(toolbelt)
    ran = gate(toolbelt, *arguments)
    assert (ran.code, ran.json["verdict"]) == (3, "insufficient_data")
    assert mentions(ran.json["checks"][0]["message"], named)


def test_an_arm_that_is_missing_keeps_the_run_from_passing(toolbelt: Toolbelt, shop: Path) -> None:
    save(toolbelt, "-t", "full,oracle")
    ran = gate(toolbelt, "-t", "full,oracle+1")
    assert ran.code == 3
    found = checks(ran)
    assert found[("arms", "local/bm25 · oracle")]["verdict"] == "insufficient_data"
    assert found[("arms", "local/bm25 · oracle+1")]["verdict"] == "no_regression", "an arm more is told, and no failure"
    assert ("accuracy", "local/bm25 · oracle+1") not in found
    chosen = toolbelt("eval", "gate", "--baseline", "baseline.json", "--margin", "0.05", "--arm", "full", "--json")
    assert (chosen.code, chosen.json["verdict"]) == (0, "no_regression"), chosen.err
    gone = toolbelt("eval", "gate", "--baseline", "baseline.json", "--arm", "oracle", "--json")
    assert gone.code == 3, "an arm of the baseline alone is missing, not misspelt"
    misspelt = toolbelt("eval", "gate", "--baseline", "baseline.json", "--arm", "fulll")
    assert (misspelt.code, "'full'" in misspelt.err) == (2, True)
    told = checks(chosen)[("arms", "")]["message"]
    assert mentions(told, "1 arm", 2, "--arm")
    lone = toolbelt("eval", "gate", "--baseline", "baseline.json", "--arm", "oracle+1", "--json")
    assert (lone.code, lone.json["verdict"]) == (3, "insufficient_data"), "compared with nothing, nothing is proved"


def test_a_name_of_several_arms_asks_for_those_that_only_the_baseline_has(toolbelt: Toolbelt, shop: Path) -> None:
    replies = [{"when": case["query"], "replies": [{"calls": case["expected"]}]} for case in CASES]
    (shop / "model.json").write_text(json.dumps(replies))
    save(toolbelt, "-m", "local/bm25", "-m", "scripted/model.json", "-t", "full,oracle")
    toolbelt("eval", "run", "-d", "shop", "-t", "full,oracle", "--json")
    ran = toolbelt("eval", "gate", *AGAINST, "--arm", "full", "--json")
    missing = [
        arm for (name, arm), check in checks(ran).items() if name == "arms" and check["verdict"] != "no_regression"
    ]
    assert (ran.code, missing) == (3, ["scripted/model.json · full"]), "it goes by `full` as well, and was not run"
    first = toolbelt("eval", "gate", *AGAINST, "--arm", "#1", "--json")
    assert (first.code, first.json["verdict"]) == (0, "no_regression"), "a number is one of the run's"


def test_drafts_prove_nothing(toolbelt: Toolbelt, shop: Path) -> None:
    write_shop(shop, [{**case, "draft": True} for case in CASES[:4]] + CASES[4:])
    ran = toolbelt("eval", "run", "-d", "shop", "-t", "full", "--json")
    assert ran.code == 0, ran.err
    refused = toolbelt("eval", "baseline", "save", "-o", "baseline.json")
    assert (refused.code, mentions(refused.err, "4 of 120 cases")) == (2, True)
    found = toolbelt("eval", "gate", "--min-accuracy", "0.1", "--json")
    assert found.code == 3
    first = found.json["checks"][0]
    assert (first["name"], first["verdict"]) == ("reviewed", "insufficient_data")
    assert found.json["reasons"][0].startswith("reviewed: 4 of 120 cases")


def test_E4_errors_are_told_first_and_no_verdict_rests_on_them(toolbelt: Toolbelt, shop: Path) -> None:
    replies = [{"when": case["query"], "replies": [{"calls": [case["expected"][0]]}]} for case in CASES]
    (shop / "model.json").write_text(json.dumps(replies))
    asked = ("-m", "scripted/model.json", "-t", "full", "--max-retries", "0")
    save(toolbelt, *asked)
    failing = [{"when": case["query"], "replies": [{"error": "unavailable"}]} for case in CASES[::10]]
    (shop / "model.json").write_text(json.dumps(failing + replies))
    toolbelt("eval", "run", "-d", "shop", *asked, "--json")
    refused = toolbelt("eval", "baseline", "save", "-o", "other.json")
    assert (refused.code, mentions(refused.err, "12 trials")) == (3, True), refused.err
    assert not (shop / "other.json").exists()
    ran = toolbelt("eval", "gate", "--baseline", "baseline.json", "--margin", "0.05", "--json")
    assert (ran.code, ran.json["verdict"]) == (3, "insufficient_data"), "lost, they would be more than the margin"
    names = [check["name"] for check in ran.json["checks"]]
    assert names.index("complete") < names.index("accuracy")
    told = next(check for check in ran.json["checks"] if check["name"] == "complete")
    assert mentions(told["message"], "12 of 120 trials")
    wider = toolbelt("eval", "gate", "--baseline", "baseline.json", "--margin", "0.3", "--json")
    assert wider.code == 0, "whatever the outcome of twelve, it is within thirty points"


@pytest.mark.parametrize("status", ["incomplete", "running"])
def test_a_run_that_is_not_finished_does_not_pass(status: str, toolbelt: Toolbelt, shop: Path) -> None:
    save(toolbelt)
    assert toolbelt("eval", "run", "-d", "shop", "-t", "full", "--max-requests", "110", "--json").code == 3
    with sqlite3.connect(shop / ".toolbelt" / "runs.db") as connection:  # as a kill leaves it: nobody works on it
        connection.execute("UPDATE runs SET status = ? WHERE status = 'incomplete'", (status,))
    ran = toolbelt("eval", "gate", "--baseline", "baseline.json", "--margin", "0.3", "--json")
    assert ran.code == 3
    found = checks(ran)[("complete", "")]
    assert found["verdict"] == "insufficient_data"
    assert ("killed" if status == "running" else "incomplete") in found["message"]
    assert "toolbelt eval resume" in found["message"]
    open_ = [check["name"] for check in ran.json["checks"] if check["verdict"] != "no_regression"]
    assert open_ == ["complete", "overflow"], "what was never asked may not fit; within thirty points it is no loss"


# Limits


def test_limits_without_a_baseline(toolbelt: Toolbelt, shop: Path) -> None:
    (shop / "reports").mkdir()
    save(toolbelt)
    shutil.copy("baseline.json", shop / "reports" / "baseline.json")
    nothing = toolbelt("eval", "gate")
    assert (nothing.code, nothing.out) == (2, ""), "no baseline is taken silently"
    assert "--baseline FILE" in nothing.err
    assert toolbelt("eval", "gate", "--max-token-increase", "0.1").code == 2
    assert toolbelt("eval", "gate", "--min-accuracy", "0.5").code == 0
    below = toolbelt("eval", "gate", "--min-accuracy", "0.5", "--measure", "solved", "--json")
    assert [check["name"] for check in below.json["checks"]] == ["reviewed", "complete", "min-solved"]
    few = toolbelt("eval", "gate", "--min-accuracy", "0.5", "--min-sample-size", "500", "--json")
    assert (few.code, checks(few)[("sample-size", "local/bm25 · full")]["observed"]) == (3, 120)
    assert toolbelt("eval", "gate", "--min-accuracy", "1").code == 3, "120 of 120 may be 97%"


def test_E6_more_tokens_than_tolerated_are_a_regression(toolbelt: Toolbelt, shop: Path) -> None:
    save(toolbelt)
    wordy = [{**tool, "description": f"{tool['description']} {'Blah blah. ' * 40}"} for tool in TOOLS]
    write_shop(shop, CASES, wordy)
    ran = gate(toolbelt)
    assert ran.code == 0, "they are not looked at unless somebody asks"
    tolerated = toolbelt("eval", "gate", *AGAINST, "--max-token-increase", "0.1", "--max-cost-increase", "0", "--json")
    assert (tolerated.code, tolerated.json["verdict"]) == (1, "regression")
    tokens, cost = (checks(tolerated)[(name, "local/bm25 · full")] for name in ("tokens", "cost"))
    assert (tokens["verdict"], cost["verdict"]) == ("regression", "no_regression"), "nothing costs no more than nothing"
    assert tokens["limit"] == pytest.approx(1.1, abs=1e-12)
    assert tokens["limit"] < tokens["low"] <= tokens["observed"] <= tokens["high"]
    assert toolbelt("eval", "gate", *AGAINST, "--max-token-increase", "50").code == 0


# Output


def test_C_the_document_is_as_its_schema_says(toolbelt: Toolbelt, shop: Path) -> None:
    save(toolbelt)
    schema = read_schema("gate")
    for arguments in (AGAINST, ("--min-accuracy", "0.5"), (*AGAINST, "--max-token-increase", "0.1")):
        jsonschema.validate(toolbelt("eval", "gate", *arguments, "--json").json, schema)
    write_shop(shop, CASES[1:])
    jsonschema.validate(gate(toolbelt).json, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**toolbelt("eval", "gate", *AGAINST, "--json").json, "verdict": "fine"}, schema)


def test_E9_a_summary_that_cannot_be_written_hides_no_verdict(
    toolbelt: Toolbelt, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(toolbelt)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(shop / "nowhere" / "summary.md"))
    ran = toolbelt("eval", "gate", "--min-accuracy", "0.5", "--junit", "nowhere/gate.xml", "--markdown", "gate.md")
    assert ran.code == 3, "a pass that nobody can see is none"
    *_, junit, summary, last = ran.err.splitlines()
    assert junit.startswith("Error: Cannot write 'nowhere/gate.xml'")
    assert summary.startswith("Error: Nothing was added to ")
    assert last.startswith("gate: no_regression: ")
    assert (shop / "gate.md").exists(), "what can be written is"


@pytest.mark.parametrize(
    ("read", "arguments", "code"),
    [
        pytest.param(0, (), 1, id="nobody-reads"),
        pytest.param(1, ("--json",), 1, id="a-little-is-read"),
        pytest.param(0, ("--margin", "1"), 0, id="a-pass-stays-one"),
    ],
)
def test_E9_whoever_reads_no_further_changes_no_verdict(
    read: int, arguments: tuple[str, ...], code: int, toolbelt: Toolbelt, shop: Path
) -> None:
    save(toolbelt)
    if code:
        write_shop(shop, CASES, SWAPPED)
        toolbelt("eval", "run", "-d", "shop", "-t", "full", "--json")
    words = [sys.executable, "-m", "toolbelt", "eval", "gate", *AGAINST, *arguments]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert len(process.stdout.read(read)) == read
        process.stdout.close()
        (said,) = process.stderr.read().decode().splitlines()
        assert process.wait(60) == code, said
    assert said.startswith("gate: regression: " if code else "gate: no_regression: ")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no disk that is always full")
def test_E9_a_full_disk_is_no_pass_and_hides_no_regression(toolbelt: Toolbelt, shop: Path) -> None:
    save(toolbelt)
    for least, code in (("0.5", 3), ("1", 3)):
        ran = toolbelt("eval", "gate", "--min-accuracy", least, "--markdown", "/dev/full")
        assert (ran.code, "No space left" in ran.err) == (code, True)
    write_shop(shop, CASES, SWAPPED)
    toolbelt("eval", "run", "-d", "shop", "-t", "full", "--json")
    words = [sys.executable, "-m", "toolbelt", "eval", "gate", *AGAINST]
    with Path("/dev/full").open("wb") as full:
        lost = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, check=False, timeout=60)
    assert lost.returncode == 1, "that it could not be printed makes no regression less of one"
    assert b"No space left" in lost.stderr


def test_a_report_that_cannot_be_written_hides_no_verdict(toolbelt: Toolbelt, shop: Path) -> None:
    save(toolbelt)
    ran = toolbelt("eval", "gate", "--min-accuracy", "0.5", "--junit", "nowhere/gate.xml")
    *_, error, last = ran.err.splitlines()
    assert (ran.code, error.startswith("Error: Cannot write 'nowhere/gate.xml'")) == (3, True)
    assert last.startswith("gate: no_regression: ")
    below = toolbelt("eval", "gate", "--min-accuracy", "1", "--measure", "solved", "--junit", "nowhere/gate.xml")
    assert below.err.splitlines()[-1].startswith("gate: ")
    assert toolbelt("eval", "gate", "--min-accuracy", "0.5", "--junit", "shop").code == 2


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        pytest.param(("--baseline", "nowhere.json"), "nowhere.json", id="no-such-baseline"),
        pytest.param(("--baseline", "shop/catalog.json"), "no baseline", id="another-file"),
        pytest.param((*("--baseline", "baseline.json"), "--margin", "2"), "--margin", id="margin"),
        pytest.param((*("--baseline", "baseline.json"), "--margin", "nan"), "finite", id="no-number"),
        pytest.param((*("--baseline", "baseline.json"), "--measure", "latency"), "--measure", id="measure"),
        pytest.param((*("--baseline", "baseline.json"), "--arm", ","), "No arm is named", id="no-arm"),
        pytest.param(("baseline.json", *("--baseline", "./baseline.json")), "the same file", id="held-against-itself"),
        pytest.param(("--baseline", "baseline.json", "--junit", "baseline.json"), "the same file", id="over-baseline"),
        pytest.param(("--min-accuracy", "0.1", "--markdown", ".toolbelt/runs.db"), "the same file", id="over-store"),
        pytest.param(("--min-accuracy", "0.1", "--junit", ".toolbelt/runs.db-wal"), "file of runs", id="over-log"),
        pytest.param(
            ("--min-accuracy", "0.1", "--junit", "out", "--markdown", "shop/../out"), "the same file", id="twice"
        ),
        pytest.param(("2031", *("--baseline", "baseline.json")), "2031", id="no-such-run"),
    ],
)
def test_bad_input_exits_2(arguments: tuple[str, ...], named: object, toolbelt: Toolbelt, shop: Path) -> None:
    save(toolbelt)
    ran = toolbelt("eval", "gate", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert mentions(ran.err, named)


def test_every_limit_has_its_twin_in_the_environment(
    toolbelt: Toolbelt, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(toolbelt)
    for name, value in {"BASELINE": "baseline.json", "MARGIN": "0.2", "MIN_ACCURACY": "0.5", "ARM": "full"}.items():
        monkeypatch.setenv(f"TOOLBELT_{name}", value)
    ran = toolbelt("eval", "gate", "--json")
    data = ran.json
    assert (data["baseline"], data["limits"]["margin"], data["limits"]["min_accuracy"]) == ("baseline.json", 0.2, 0.5)
    assert ran.err.splitlines()[:-1] == [
        "note: --baseline baseline.json from TOOLBELT_BASELINE",
        "note: --margin 0.2 from TOOLBELT_MARGIN",
        "note: --min-accuracy 0.5 from TOOLBELT_MIN_ACCURACY",
        "note: --arm full from TOOLBELT_ARM",
    ]
    flags = ("--baseline", "baseline.json", "--margin", "0.05", "--min-accuracy", "0.1", "--arm", "#1")
    told = toolbelt("eval", "gate", *flags, "--json")
    assert (told.json["limits"]["margin"], told.err.count("note:")) == (0.05, 0), "a flag wins, and is not told"


def test_no_file_of_a_pull_request_lifts_a_limit_and_a_variable_that_does_is_told(
    toolbelt: Toolbelt, shop: Path
) -> None:
    cases: list[dict[str, Any]] = [*CASES, {"id": "greeting", "query": "Hello!", "expected": [], "kind": "irrelevant"}]
    write_shop(shop, cases)
    save(toolbelt)
    write_shop(shop, cases, SWAPPED)  # all but the greeting goes wrong: no margin allows the loss of everything
    toolbelt("eval", "run", "-d", "shop", "-t", "full", "--json")
    words = [sys.executable, "-m", "toolbelt", "eval", "gate", "--baseline", "baseline.json"]
    assert subprocess.run(words, capture_output=True, check=False, timeout=60).returncode == 1
    (shop / ".env").write_text("TOOLBELT_MARGIN=1\n")
    kept = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
    assert kept.returncode == 1
    assert "TOOLBELT_MARGIN" in kept.stderr.splitlines()[0]
    environment = {**os.environ, "TOOLBELT_MARGIN": "1"}
    lifted = subprocess.run(words, env=environment, capture_output=True, text=True, check=False, timeout=60)
    assert (lifted.returncode, lifted.stderr.splitlines()[0]) == (0, "note: --margin 1.0 from TOOLBELT_MARGIN")


def test_a_run_is_held_against_another_run(toolbelt: Toolbelt, shop: Path) -> None:
    save(toolbelt)
    old = toolbelt("eval", "list", "--json").json["runs"][0]["run"]
    saved = gate(toolbelt).json
    ran = toolbelt("eval", "gate", "--baseline", old, "--margin", "0.05", "--json")
    assert (ran.code, ran.json["baseline"]) == (0, old)
    named = json.loads(json.dumps(saved["checks"]).replace("baseline.json", old))
    assert ran.json["checks"] == named, "as against what was saved of it"
    write_shop(shop, CASES, SWAPPED)
    toolbelt("eval", "run", "-d", "shop", "-t", "full", "--json")
    assert toolbelt("eval", "gate", "--baseline", old, "--margin", "0.05").code == 1
    itself = toolbelt("eval", "gate", "--baseline", "latest")
    assert (itself.code, "would be compared with itself" in itself.err) == (2, True)
    nowhere = toolbelt("eval", "gate", "--baseline", "20310101")
    assert (nowhere.code, nowhere.out) == (2, "")
    assert nowhere.err.startswith("Error: No run named '20310101'.")
    assert "named by its file" in nowhere.err


def test_V3_the_same_requests_and_answers_pass_however_few_the_cases(toolbelt: Toolbelt, project: Path) -> None:
    write_shop(project, CASES[:19])
    save(toolbelt)
    ran = gate(toolbelt)
    assert (ran.code, ran.json["verdict"]) == (0, "no_regression")
    [contrast] = [each for each in ran.json["comparison"]["contrasts"] if each["measure"] == "accuracy"]
    assert contrast["same_requests"]
    assert contrast["low"] < -0.1, "the interval is as wide as it was"


CHANGED = {
    "description": [{**TOOLS[0], "description": f"{TOOLS[0]['description']} Quickly."}, TOOLS[1]],
    "schema": [{**TOOLS[0], "parameters": {"type": "object", "properties": {"a": {"type": "string"}}}}, TOOLS[1]],
    "order": TOOLS[::-1],
}


@pytest.mark.parametrize("tools", CHANGED.values(), ids=CHANGED)
def test_V3_other_requests_do_not_although_every_answer_is_right(
    tools: list[dict[str, Any]], toolbelt: Toolbelt, project: Path
) -> None:
    write_shop(project, CASES[:19])
    save(toolbelt)
    write_shop(project, CASES[:19], tools)
    ran = gate(toolbelt)
    assert (ran.code, ran.json["verdict"]) == (3, "insufficient_data")
    assert mentions(checks(ran)["accuracy", "local/bm25 · full"]["message"], "--max-lost 0")


@pytest.mark.parametrize(("most", "code"), [(2, 1), (3, 0)])
def test_E9_cases_that_may_be_lost_decide_where_the_margin_does_not(
    most: int, code: int, toolbelt: Toolbelt, project: Path
) -> None:
    write_shop(project, CASES[:3])
    save(toolbelt)
    write_shop(project, CASES[:3], SWAPPED)
    assert gate(toolbelt).code == 3, "three cases prove nothing by themselves"
    ran = toolbelt("eval", "gate", *AGAINST, "--max-lost", str(most), "--json")
    check = checks(ran)["max-lost", "local/bm25 · full"]
    assert (ran.code, check["observed"], check["limit"]) == (code, 3, most)


AGAINST = ("--baseline", "baseline.json", "--margin", "0.05")


def save(toolbelt: Toolbelt, *arguments: str) -> None:
    ran = toolbelt("eval", "run", "-d", "shop", *(arguments or ("-t", "full")), "--json")
    assert ran.code == 0, ran.err
    assert toolbelt("eval", "baseline", "save", "-o", "baseline.json").code == 0


def gate(toolbelt: Toolbelt, *arguments: str) -> Ran:
    toolsets = () if "-t" in arguments else ("-t", "full")
    ran = toolbelt("eval", "run", "-d", "shop", *toolsets, *arguments, "--json")
    assert ran.code == 0, ran.err
    return toolbelt("eval", "gate", *AGAINST, "--json")
