"""`toolbelt eval report` and `eval run --report`: a run for people (rule E10)."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests.cli.conftest import PROGRESS, Toolbelt
from tests.evals.exports.stores import RUN, sample_store
from tests.wording import mentions
from toolbelt.evals.exports.schemas import read_schema

FILES = ("report.html", "report.md", "summary.json", "junit.xml", "arms.csv", "trials.csv", "trials.parquet")
RUNNING = ("eval", "run", "--limit", "20", "--toolset", "oracle,tiered")


@pytest.fixture
def kept(project: Path) -> Path:
    """A folder with a run in it."""
    return sample_store(project / ".toolbelt" / "runs.db")


def validate(document: str, data: Any) -> None:
    Draft202012Validator(read_schema(document)).validate(data)


def test_the_page_is_told_first_and_everything_is_there(toolbelt: Toolbelt, kept: Path) -> None:
    ran = toolbelt("eval", "report")
    assert (ran.code, ran.err) == (0, "")
    told = [line.removeprefix("wrote ") for line in ran.out.splitlines() if line.startswith("wrote ")]
    assert told[: len(FILES)] == [f"reports/{RUN}/{name}" for name in FILES]
    assert sorted(told) == sorted(map(str, Path("reports").glob("*/*")))
    assert mentions(ran.out, "incomplete", "gpt-4o", "not found")
    again = toolbelt(
        "eval", "report", RUN[:8], "--output", "elsewhere", "--against", "oracle", "--margin", "0.1", "--json"
    )
    assert (again.code, again.err) == (0, "")
    data = again.json
    assert [Path(file).name for file in data.pop("files")][: len(FILES)] == list(FILES)
    assert data == json.loads(Path(f"elsewhere/{RUN}/summary.json").read_text(encoding="utf-8"))
    assert {one["a"]["toolset"] for one in data["comparison"]["contrasts"]} == {"oracle"}
    assert data["comparison"]["margin"] == 0.1


def test_E6_bills_are_printed_where_there_is_a_price(toolbelt: Toolbelt) -> None:
    assert toolbelt(*RUNNING).code == 0
    title = "What a provider's cache makes of it\nIn USD per solved case."
    assert title not in toolbelt("eval", "report").out, "tokens alone are in the files"
    priced = toolbelt("eval", "report", "--priced-as", "gpt-4o-mini")
    assert (priced.code, priced.err) == (0, "")
    assert f"\n\n{title}\n" in priced.out
    assert mentions(priced.out, "gpt-4o-mini", "local/bm25")
    assert priced.out.index("wrote reports/") < priced.out.index(title), "what matters stands last"


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        pytest.param(["2027"], ("'2027'", "20260301-120000-beef", "latest"), id="no-such-run"),
        pytest.param(["--against", "orakel"], ("orakel", "oracle"), id="no-such-arm"),
        pytest.param(["--priced-as", "gpt-4oo"], ("priced", "gpt-4oo", "Did you mean"), id="no-such-price"),
        pytest.param(["--baseline", "base.json"], "No baseline named 'base.json'.", id="no-such-baseline"),
        pytest.param(["--baseline", "b.json", "--against", "oracle"], "--against", id="both"),
        pytest.param(["--margin", "2"], ("2.0", "0<=x<=1"), id="a-margin-in-points"),
        pytest.param(["--margin", "nan"], "nan", id="a-margin-that-is-none"),
    ],
)
def test_a_mistake_is_told_and_nothing_is_written(
    toolbelt: Toolbelt, kept: Path, arguments: list[str], named: object
) -> None:
    ran = toolbelt("eval", "report", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert mentions(ran.err, named)
    assert not Path("reports").exists()


def test_E9_a_full_disk_is_told_and_nothing_is_half_written(kept: Path) -> None:
    code = """
import resource, signal, sys
from toolbelt.cli import main
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000))
sys.argv = ["toolbelt", "eval", "report"]
main()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (3, ""), done
    assert PROGRESS.sub("", done.stderr).startswith(f"Error: Cannot write 'reports/{RUN}/")
    assert not Path("reports").exists()


def test_C_what_is_printed_keeps_to_the_published_schema(toolbelt: Toolbelt) -> None:
    ran = toolbelt(*RUNNING, "--epochs", "2", "--report", "--json")
    assert ran.code == 0, ran.err
    assert "wrote reports/" in ran.err
    assert {path.name for path in Path("reports").glob("*/*")} >= set(FILES), "`--report` writes the same files"
    documents = {"run": ran.json, "show": toolbelt("eval", "show", "--json").json}
    documents["summary"] = json.loads(next(Path("reports").glob("*/summary.json")).read_text(encoding="utf-8"))
    assert toolbelt("eval", "baseline", "save", "-o", "base.json").code == 0
    options = ("--baseline", "base.json", "--priced-as", "gpt-4o-mini")
    documents["report"] = toolbelt("eval", "report", *options, "--json").json
    capped = toolbelt(*RUNNING, "--max-requests", "3", "--json")
    assert capped.code == 3
    documents["incomplete"] = capped.json
    for name, data in documents.items():
        validate("run", data)
        assert data["schema"] == "toolbelt.run/1"
        assert next(iter(data)) == "schema", f"on top of {name}"
    assert documents["report"]["gate"]["verdict"] == "no_regression", "the answers are the baseline's"
    assert documents["report"]["economics"][0]["price"]["prompt"] > 0
    validate("comparison", toolbelt("eval", "compare", documents["run"]["run"], "--json").json)
    gate = toolbelt("eval", "gate", documents["run"]["run"], "--baseline", "base.json", "--json").json
    validate("gate", gate)
    validate("comparison", gate["comparison"])
    validate("baseline", json.loads(Path("base.json").read_text(encoding="utf-8")))


def test_E9_a_run_of_which_nothing_finished_says_that_and_keeps_its_exit_code(toolbelt: Toolbelt) -> None:
    ran = toolbelt(*RUNNING, "--max-requests", "0", "--report")
    assert ran.code == 3
    assert mentions(ran.err, "warning", "no report")
    assert not Path("reports").exists()
    refused = toolbelt("eval", "report")
    assert refused.code == 2
    assert mentions(refused.err, "no finished trial", "toolbelt eval resume")
