"""The page, `eval recommend`, `eval compare` and the end of `eval run` say the same of a run."""

from __future__ import annotations

import io
import json
from pathlib import Path

from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings

from tests.evals.analysis.matrix.runs import Asked, WrittenRun, stored
from tests.evals.exports.test_true_statements import runs
from toolbelt.cli.root import root
from toolbelt.evals.exports.run_report import analyze_run
from toolbelt.evals.toolsets.spec import shorten_toolset


def said(*arguments: str) -> str:
    return CliRunner().invoke(root, ["eval", *arguments]).stdout


def in_one_line(text: str) -> str:
    return " ".join(text.split())


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(runs())
def test_E7_the_page_recommend_compare_and_the_terminal_name_the_same_arm_and_numbers(arms: list[Asked]) -> None:
    with stored(WrittenRun(arms)) as (store, row):
        if not row.finished:
            return
        report = analyze_run(store, row)
        page = io.StringIO()
        report.write_page(store.connection, page, ())
        at = ("--store", str(store.path))
        shown = json.loads(said("show", row.run, *at, "--json"))["result"]
        end = in_one_line(said("show", row.run, *at))
        compared = in_one_line(said("compare", row.run, *at))
        advice = json.loads(said("recommend", row.run, *at, "--json"))
    sentence = shown["sentence"]
    assert end.endswith(sentence)
    assert not compared or compared.endswith(sentence) or len(arms) == 1
    assert sentence in in_one_line(page.getvalue()).replace("&#39;", "'").replace("&lt;", "<").replace("&gt;", ">")
    (pick,) = (each["pick"] for each in advice["models"] if each["model"] == shown["model"])
    if (taken := shown["recommended"]) is None:
        assert report.matrix is None or pick["choice"] is None
        return
    assert (shorten_toolset(taken["toolset"]), shown["is_sure"]) == (pick["toolset"], pick["sure"])
    assert shown["cases_wanted"] == pick["cases_wanted"]
    assert ("for now" in sentence) is not pick["sure"]
    assert all(reason in sentence for reason in pick["reasons"] if reason.startswith("To be sure"))


def test_the_examples_are_runs_of_a_real_file(tmp_path: Path) -> None:
    arms = [Asked("full", "+" * 30, 9000, prompt=9000), Asked("tiered", "+" * 30, 900, prompt=900)]
    with stored(WrittenRun(arms)) as (store, row):
        at = ("--store", str(store.path))
        assert json.loads(said("show", row.run, *at, "--json"))["result"]["recommended"] is not None
        assert "tiered" in said("recommend", row.run, *at)
