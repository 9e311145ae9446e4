"""JUnit XML of a gate and of a run."""

from __future__ import annotations

import io
import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from junitparser import JUnitXml

from tests.evals.analysis.evidence.sides import ABOUT, FAILED, FULL, RIGHT, WRONG, side
from tests.evals.analysis.summary.rows import RUN, database
from toolbelt.errors import NotFoundError
from toolbelt.evals.analysis.evidence.evidence import ArmName
from toolbelt.evals.analysis.gate.check_reasons import NewOverflows, PlainReason, SampleSize
from toolbelt.evals.analysis.gate.gate import check_run
from toolbelt.evals.analysis.gate.verdict import GateCheck, GateResult, Limits
from toolbelt.evals.statistics.verdict import Verdict
from toolbelt.evals.views.junit import gate_junit, write_run_junit

GATE = """\
<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="toolbelt eval gate">
<testsuite name="toolbelt gate" tests="3" errors="1" failures="1" skipped="0" time="0">
<properties>
<property name="verdict" value="regression" />
<property name="run" value="20260301-120000-beef" />
<property name="baseline" value="" />
<property name="dataset" value="office" />
<property name="digest" value="sha256:0123" />
</properties>
<testcase name="reviewed" classname="run">
<properties>
<property name="verdict" value="no_regression" />
</properties>
<system-out>no case is a draft</system-out></testcase>
<testcase name="overflow" classname="m &lt;&amp;&gt; · full">
<properties>
<property name="verdict" value="regression" />
<property name="observed" value="0.5" />
<property name="low" value="0.4" />
<property name="high" value="0.6" />
<property name="limit" value="0.9" />
</properties>
<failure message="1 case no longer fits the model's window: \\x1b[31m1 \\ufffe" type="regression">\
1 case no longer fits the model's window: \\x1b[31m1 \\ufffe</failure></testcase>
<testcase name="sample-size" classname="m · full">
<properties>
<property name="verdict" value="insufficient_data" />
</properties>
<error message="3 independent cases, 9 are wanted: ask more cases, or lower --min-sample-size"\
 type="insufficient_data">\
3 independent cases, 9 are wanted: ask more cases, or lower --min-sample-size</error></testcase>
</testsuite>
</testsuites>
""".replace("\\ufffe", "\N{REPLACEMENT CHARACTER}")


def test_the_whole_of_a_gate() -> None:
    checks = (
        GateCheck("reviewed", Verdict.NO_REGRESSION, PlainReason.NO_DRAFTS),
        GateCheck(
            "overflow",
            Verdict.REGRESSION,
            NewOverflows(("\x1b[31m1 \ufffe",)),
            ArmName("m <&>", "full"),
            0.5,
            0.4,
            0.6,
            0.9,
        ),
        GateCheck("sample-size", Verdict.INSUFFICIENT_DATA, SampleSize(3, 9), ArmName("m", "full")),
    )
    assert gate_junit(GateResult(ABOUT, checks, Limits())) == GATE


def test_a_failure_of_accuracy_lists_the_cases_that_flipped() -> None:
    old = side([RIGHT] * 300, is_baseline=True, name="baseline.json")
    text = gate_junit(check_run(side([RIGHT] * 270 + [WRONG] * 30), Limits(), old))
    failure = ET.fromstring(text).find(".//failure")
    assert failure is not None
    head, *flips = (failure.text or "").split("\n")
    assert head == failure.get("message")
    assert flips == [f"c{number}: git/log instead of git/status" for number in range(270, 300)]
    (suite,) = JUnitXml.fromstring(text.encode())
    assert (suite.failures, suite.errors, suite.tests) == (1, 0, 6)


def test_what_flipped_within_the_margin_is_to_be_read_on_a_pass() -> None:
    old = side([RIGHT] * 300, is_baseline=True, name="baseline.json")
    text = gate_junit(check_run(side([RIGHT] * 297 + [WRONG] * 3), Limits(margin=0.1), old))
    (passed,) = (case for case in ET.fromstring(text).iter("testcase") if case.get("name") == "accuracy")
    assert passed.find("failure") is None
    head, *flips = (passed.findtext("system-out") or "").split("\n")
    assert "3 cases now wrong" in head
    assert flips == [f"c{number}: git/log instead of git/status" for number in (297, 298, 299)]
    (suite,) = JUnitXml.fromstring(text.encode())
    assert (suite.failures, suite.errors, suite.tests) == (0, 0, 6)


def test_errors_are_apart_from_failures() -> None:
    text = gate_junit(check_run(side([FAILED] * 5), Limits(min_accuracy=0.5)))
    (suite,) = JUnitXml.fromstring(text.encode())
    assert (suite.failures, suite.errors) == (0, 2), "that nothing could be scored is no failure of the model"


RUN_XML = f"""\
<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="{RUN}" tests="6" failures="2" errors="1" skipped="1" time="3.0">
<testsuite name="m · full" tests="5" failures="2" errors="1" skipped="1" time="2.5">
"""


def test_a_run_has_a_suite_an_arm_and_a_test_a_trial() -> None:
    connection = database(
        [("m", "full", ""), ("m", "tiered", "shuffled")],
        [
            {"case_id": "right"},
            {
                "case_id": "w\x00r\x1bong",
                "outcome": "wrong_tool",
                "reason": "a\x08 <b> & c",
                "missing": '["a/b"]',
            },
            {"case_id": "odd", "covered": 0},
            {"case_id": "down", "outcome": "error", "reason": "unavailable", "cost_usd": None},
            {"case_id": "long", "outcome": "context_overflow", "reason": ""},
            {"case_id": "right", "arm": 1, "epoch": 1},
        ],
    )
    file = io.StringIO()
    write_run_junit(connection, RUN, file)
    text = file.getvalue()
    assert text.startswith(RUN_XML)
    full, tiered = JUnitXml.fromstring(text.encode())
    assert (full.name, tiered.name) == ("m · full", "m · tiered · shuffled")
    results = {case.name: [(type(one).__name__, one.type, one.message) for one in case.result] for case in full}
    assert results == {
        "right": [],
        "w\\x00r\\x1bong": [("Failure", "wrong_tool", "a\\x08 <b> & c")],
        "odd": [("Failure", "uncovered", "The right answer could not be reached.")],
        "down": [("Error", "error", "unavailable")],
        "long": [("Skipped", "context_overflow", "context_overflow")],
    }
    (epoch,) = tiered
    assert (epoch.name, epoch.classname, epoch.time) == ("right (epoch 2)", "m · tiered · shuffled · single", 0.5)
    assert '<property name="missing" value="[&quot;a/b&quot;]" />' in text


@given(st.floats(0, 1e9, allow_subnormal=False), st.floats(0, 1e9, allow_subnormal=False))
def test_E10_times_and_figures_are_plain_decimals(latency: float, cost: float) -> None:
    connection = database([("m", "full", "")], [{"case_id": "a", "latency_seconds": latency, "cost_usd": cost}])
    file = io.StringIO()
    write_run_junit(connection, RUN, file)
    text = file.getvalue()
    written = re.findall(r'time="([^"]*)"', text) + re.findall(r'name="cost_usd" value="([^"]*)"', text)
    assert len(written) == 4
    assert all(re.fullmatch(r"\d+(\.\d+)?", each) for each in written)
    assert [float(each) for each in written] == pytest.approx([latency] * 3 + [cost], rel=1e-9)


def test_a_run_that_has_not_begun_and_one_that_is_not_there() -> None:
    connection = database([("m", "full", "")], [])
    file = io.StringIO()
    write_run_junit(connection, RUN, file)
    (suite,) = JUnitXml.fromstring(file.getvalue().encode())
    assert (suite.tests, list(suite)) == (0, [])
    with pytest.raises(NotFoundError):
        write_run_junit(connection, "2031", io.StringIO())


def test_names_of_arms_are_escaped() -> None:
    result = check_run(side([RIGHT] * 3, names=(replace(FULL, model='<a href="x">'),)), Limits(min_accuracy=0.1))
    assert 'classname="&lt;a href=&quot;x&quot;&gt; · full"' in gate_junit(result)
