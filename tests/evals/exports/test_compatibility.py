"""Models × toolsets and probes in the files of a report (rules E4 and E10)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests.evals.analysis.summary.rows import database
from tests.evals.exports.stores import RUN, keep
from toolbelt.evals.exports.report import write_report
from toolbelt.evals.exports.run_report import RunReport, analyze_run
from toolbelt.evals.exports.schemas import read_schema
from toolbelt.evals.probing.checks import CHECKS, ProbePlan
from toolbelt.evals.probing.probe_store import ProbeStore
from toolbelt.evals.probing.results import CheckOutcome, CheckResult
from toolbelt.evals.running.store import RunStore

PLACE = "http://127.0.0.1:9/v1"
SUITE: list[tuple[str, str, str]] = [
    ("m/roomy", "full", ""),
    ("m/roomy", "loadout:minimal", ""),
    ("m/tight", "full", ""),
    ("m/tight", "loadout:minimal", ""),
]
LEFT_OUT = {"model": "m/deaf", "toolset": "full", "verdict": "unsupported", "reason": "It calls no tools."}


def _trials(arms: int, cases: int) -> Iterator[dict[str, Any]]:
    for case in range(cases):
        for arm in range(arms):
            trial = {"trial": case * arms + arm, "arm": arm, "case_id": f"c{case}", "cluster": f"c{case}"}
            if arm == 2:
                trial |= {"outcome": "context_overflow", "requests": 0, "reason": "It cannot fit."}
            elif case % 4 == arm:
                trial |= {"outcome": "wrong_tool", "hits": 0}
            yield trial


def _store(folder: Path, arms: list[tuple[str, str, str]], **plan: Any) -> RunStore:
    cases = 8
    path = keep(database(arms, _trials(len(arms), cases), planned=cases), folder / "runs.db", arms, cases)
    store = RunStore(path)
    (text,) = store.connection.execute("SELECT plan FROM runs").fetchone()
    kept = json.loads(text)
    kept["settings"] |= {"api_base": PLACE}
    store.connection.execute("UPDATE runs SET plan = ?", (json.dumps(kept | plan),))
    return store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RunStore]:
    """Of a suite: two models over two toolsets, one cell of which cannot fit, and a third that calls no tools."""
    room = {"context_window": 8192, "output_reserve": 1000, "max_tools": None, "tool_calling": True}
    with _store(
        tmp_path, SUITE, suite="compatibility", rooms={"m/tight": room}, left_out=[LEFT_OUT]
    ) as opened:  # fmt: skip
        yield opened


def _probe(store: RunStore, model: str, api_base: str | None, outcome: CheckOutcome = CheckOutcome.WORKS) -> str:
    probes = ProbeStore(store)
    probe = probes.create(ProbePlan(model, api_base))
    asyncio.run(
        probes.add_check(probe, CheckResult(CHECKS[0].key, outcome, "Seen | <b>.", 1, prompt_tokens=5, cost_usd=None))
    )
    probes.set_status(probe, "finished")
    return probe


def _find(store: RunStore) -> RunReport:
    return analyze_run(store, store.get(RUN))


def test_C_what_a_suite_and_its_probes_say_holds_against_the_schema(store: RunStore) -> None:
    _probe(store, "m/tight", PLACE)
    _probe(store, "m/deaf", PLACE, CheckOutcome.REFUSED)
    data = json.loads(json.dumps(_find(store).data))
    errors = [error.message for error in Draft202012Validator(read_schema("run")).iter_errors(data)]
    assert errors == []
    assert (data["suite"], data["left_out"]) == ("compatibility", [LEFT_OUT])
    assert data["rooms"]["m/tight"]["context_window"] == 8192
    for name, one in (("compatibility", data["compatibility"]), *(("probe", one) for one in data["probes"])):
        assert [error.message for error in Draft202012Validator(read_schema(name)).iter_errors(one)] == []


@pytest.mark.parametrize(
    ("document", "change"),
    [
        pytest.param("compatibility", lambda one: one.pop("margin"), id="a-field-is-missing"),
        pytest.param("compatibility", lambda one: one.update(more=1), id="one-too-many"),
        pytest.param(
            "compatibility", lambda one: one["models"][0]["cells"][0].update(state="fine"), id="a-state-there-is-not"
        ),
        pytest.param("probe", lambda one: one["checks"][0].update(outcome="good"), id="an-outcome-there-is-not"),
    ],
)
def test_C_and_nothing_else_does(store: RunStore, document: str, change: Any) -> None:
    _probe(store, "m/tight", PLACE)
    data = json.loads(json.dumps(_find(store).data))
    one = data["compatibility"] if document == "compatibility" else data["probes"][0]
    change(one)
    assert not Draft202012Validator(read_schema(document)).is_valid(one)


def test_E4_what_cannot_fit_is_marked_in_every_form_and_never_scored(store: RunStore, tmp_path: Path) -> None:
    report = write_report(store, store.get(RUN), tmp_path / "report")
    matrix = report.findings.matrix
    assert matrix is not None
    rows = {row["model"]: row["cells"] for row in report.findings.data["compatibility"]["models"]}
    assert (rows["m/tight"][0]["state"], rows["m/tight"][0]["accuracy"]["value"]) == ("cannot_fit", None)
    assert rows["m/deaf"][0]["state"] == "unsupported"
    text = (tmp_path / "report" / "report.md").read_text(encoding="utf-8")
    page = (tmp_path / "report" / "report.html").read_text(encoding="utf-8")
    for words in ("cannot fit", "no tool calls"):
        assert words in text
        assert words in page
    assert (tmp_path / "report" / "compatibility.png").stat().st_size > 1000


def test_of_a_suite_the_choice_stands_before_the_arms_with_its_picture(store: RunStore, tmp_path: Path) -> None:
    write_report(store, store.get(RUN), tmp_path / "report")
    text = (tmp_path / "report" / "report.md").read_text(encoding="utf-8")
    heading, picture = text.index("## Which toolset for which model"), text.index('src="compatibility.png"')
    assert heading < picture < text.index("## Results")
    assert text.count('src="compatibility.png"') == 1
    again = text[text.index("## How to run it again") :]
    assert "--suite compatibility" in again
    assert "--model m/deaf" in again, "which was left out, and is of the suite"
    assert "--toolset" not in again


def test_E10_the_same_findings_make_the_same_bytes(store: RunStore, tmp_path: Path) -> None:
    _probe(store, "m/tight", PLACE)
    for name in ("one", "two"):
        write_report(store, store.get(RUN), tmp_path / name)
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes(), path.name


def test_only_the_latest_probe_at_the_runs_own_place_is_shown(store: RunStore) -> None:
    _probe(store, "m/roomy", None)
    _probe(store, "m/other", PLACE)
    assert _find(store).probes == ()
    assert "probes" not in _find(store).data
    _probe(store, "m/tight", PLACE, CheckOutcome.FAILS)
    store.connection.execute("UPDATE probes SET created = '2020-01-01T00:00:00.000+00:00'")
    latest = _probe(store, "m/tight", PLACE)
    findings = _find(store)
    assert [one.probe for one in findings.probes] == [latest]
    assert "Seen \\| &lt;b&gt;." not in findings.markdown(), "what works is not explained"
    assert "## What works with each model" in findings.markdown()


@pytest.mark.parametrize(
    ("arms", "has_matrix"),
    [
        pytest.param([("m", "full", "")], False, id="one-toolset"),
        pytest.param([("m", "full", ""), ("n", "full", "")], False, id="one-toolset-of-two-models"),
        pytest.param([("m", "oracle", ""), ("m", "oracle+3", "")], False, id="toolsets-that-nobody-can-be-given"),
        pytest.param([("m", "full", ""), ("m", "full", "shuffled")], False, id="a-variant-is-no-other-toolset"),
        pytest.param([("m", "full", ""), ("m", "tiered", "")], True, id="two-toolsets"),
    ],
)
def test_there_is_a_matrix_where_there_is_something_to_choose_from(
    tmp_path: Path, arms: list[tuple[str, str, str]], has_matrix: bool
) -> None:
    with _store(tmp_path, arms) as store:
        findings = analyze_run(store, store.get(RUN))
    assert (findings.matrix is not None) == has_matrix == ("compatibility" in findings.data)
