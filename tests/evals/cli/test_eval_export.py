"""`toolbelt eval export` and `schema`: a run for other programs (rule E10)."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from tests.cli.conftest import PROGRESS, Toolbelt
from tests.evals.exports.stores import RUN, sample_store
from tests.wording import mentions
from toolbelt.evals import load_run
from toolbelt.evals.exports.formats import FORMS, find_form
from toolbelt.evals.exports.schemas import SCHEMAS, read_schema
from toolbelt.text import visible_table

TOOLBELT = (sys.executable, "-m", "toolbelt")


@pytest.fixture
def kept(project: Path) -> Path:
    """A folder with a run in it."""
    return sample_store(project / ".toolbelt" / "runs.db")


@pytest.mark.parametrize("form", ["csv", "parquet"])  # one with line ends of its own, and one of bytes
def test_E10_a_form_is_the_same_in_a_file_and_a_pipe(toolbelt: Toolbelt, kept: Path, form: str) -> None:
    piped = subprocess.run([*TOOLBELT, "eval", "export", "-f", form], capture_output=True, timeout=120)
    assert (piped.returncode, PROGRESS.sub("", piped.stderr.decode())) == (0, "")
    ran = toolbelt("eval", "export", RUN, "-o", f"file{FORMS[form].endings[0]}")
    told = f"note: wrote 46 trials of run {RUN} to file{FORMS[form].endings[0]}\n"
    assert (ran.code, ran.out, ran.err) == (0, "", told)
    exact = Path(f"file{FORMS[form].endings[0]}").read_bytes()
    assert (visible_table(exact.decode()).encode() if form == "csv" else exact) == piped.stdout


def test_the_ending_says_the_form() -> None:
    for form, row in FORMS.items():
        for ending in row.endings:
            assert find_form(None, f"some.where/run{ending}") == find_form(None, f"RUN{ending.upper()}") == form
    assert find_form("csv", "run.html") == "csv", "what is named counts"
    assert find_form(None, None) == find_form(None, "-") == "json"


def test_each_form_is_what_a_report_holds(toolbelt: Toolbelt, kept: Path) -> None:
    assert toolbelt("eval", "report").code == 0
    for name in ("summary.json", "trials.csv", "trials.parquet", "junit.xml", "report.html"):
        assert toolbelt("eval", "export", "-o", name).code == 0
        assert Path(name).read_bytes() == Path("reports", RUN, name).read_bytes(), name
    assert toolbelt("eval", "export", "-o", "arms.csv", "--table", "arms").code == 0
    assert Path("arms.csv").read_bytes() == Path("reports", RUN, "arms.csv").read_bytes()
    markdown = toolbelt("eval", "export", "-f", "markdown").out
    assert "](" not in markdown, "no pictures beside it"
    assert mentions(markdown, RUN)


def test_a_row_is_a_trial_or_an_arm(toolbelt: Toolbelt, kept: Path) -> None:
    for table, rows in (("trials", 46), ("arms", 6)):
        text = toolbelt("eval", "export", "-f", "csv", "--table", table).out
        assert len(list(csv.DictReader(io.StringIO(text, newline="")))) == rows
        ran = toolbelt("eval", "export", "-o", f"{table}.parquet", "--table", table, "--json")
        told = {"run": RUN, "format": "parquet", "table": table, "output": f"{table}.parquet", "trials": 46}
        assert ran.json == told
    assert len(load_run("trials.parquet")) == 46


@pytest.mark.parametrize("name", [".toolbelt/runs.db", ".toolbelt/../.toolbelt/runs.db", ".toolbelt/runs.db-wal"])
def test_the_store_is_not_written_over(toolbelt: Toolbelt, kept: Path, name: str) -> None:
    before = Path(".toolbelt/runs.db").read_bytes()
    ran = toolbelt("eval", "export", "-f", "csv", "-o", name, "--force")
    assert (ran.code, ran.out) == (2, "")
    assert "same file" in ran.err or "file of runs" in ran.err
    assert Path(".toolbelt/runs.db").read_bytes() == before


def test_json_goes_alone_to_standard_output(toolbelt: Toolbelt, kept: Path) -> None:
    plain = toolbelt("eval", "export")
    assert plain.json["run"] == RUN
    assert toolbelt("eval", "export", "--json").out == toolbelt("eval", "export", "-o", "-").out == plain.out
    assert list(plain.json)[-4:] == ["economics", "compatibility", "ranking", "comparison"]


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        pytest.param(["-o", "run.xls"], ".json, .csv, .parquet, .pq, .xml, .md", id="an-unknown-ending"),
        pytest.param(["-o", "run"], "which form", id="no-ending"),
        pytest.param(["-f", "xls"], "Invalid value for '--format'", id="an-unknown-form"),
        pytest.param(["-f", "html", "--table", "arms"], ("--table", "csv", "parquet"), id="no-table"),
        pytest.param(["-f", "csv", "--json"], ("--json", "csv"), id="two-documents"),
        pytest.param(["-o", "here.csv"], "'here.csv' exists already; use --force", id="a-file-that-is-there"),
        pytest.param(["-o", ".", "-f", "csv"], "'.' is a folder", id="a-folder"),
        pytest.param(["2027"], "No run named '2027'.", id="no-such-run"),
    ],
)
def test_a_mistake_is_told_and_nothing_is_written(
    toolbelt: Toolbelt, kept: Path, arguments: list[str], named: object
) -> None:
    Path("here.csv").write_text("mine")
    ran = toolbelt("eval", "export", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert mentions(ran.err, named)
    assert sorted(map(str, Path().iterdir())) == [".toolbelt", "here.csv"]
    assert Path("here.csv").read_text() == "mine"


def test_a_file_is_replaced_where_that_is_wanted(toolbelt: Toolbelt, kept: Path) -> None:
    Path("here.csv").write_text("mine")
    assert toolbelt("eval", "export", "-o", "here.csv", "--force").code == 0
    assert len(load_run("here.csv")) == 46


def test_E9_a_full_disk_is_told(kept: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    with Path("/dev/full").open("wb") as full:
        started = [
            subprocess.Popen([*TOOLBELT, "eval", "export", *arguments], stdout=out, stderr=subprocess.PIPE, text=True)
            for arguments, out in (
                (("-f", "csv"), full),
                (("-f", "parquet"), full),
                (("-f", "csv", "-o", "/dev/full"), subprocess.PIPE),
            )
        ]
    for process in started:
        out, err = process.communicate(timeout=60)
        assert (process.returncode, out or "") == (3, ""), err
        assert err.rstrip(".\n").endswith("No space left on device")


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_reader_that_leaves_early_is_no_mistake(kept: Path, form: str) -> None:
    command = [*TOOLBELT, "eval", "export", "-f", form]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert len(process.stdout.read(5)) == 5
        process.stdout.close()
        assert (process.wait(60), PROGRESS.sub("", process.stderr.read().decode())) == (0, "")


def test_a_table_through_a_pipe_has_no_escapes_and_a_file_is_exact(kept: Path, tmp_path: Path) -> None:
    command = [*TOOLBELT, "eval", "export", "-f", "csv", "--table", "arms"]
    piped = subprocess.run(command, capture_output=True, check=True).stdout
    with (tmp_path / "arms.csv").open("wb") as file:
        subprocess.run(command, stdout=file, check=True)
    exact = (tmp_path / "arms.csv").read_bytes()
    assert b"\x1b[31m" in exact
    assert piped == exact.replace(b"\x1b", b"\\x1b")


def test_a_terminal_gets_no_bytes_and_no_escapes(kept: Path) -> None:
    """The sample has a toolset whose name would turn the screen red."""
    for arguments, code, shown in (
        (("-f", "csv", "--table", "arms"), 0, b"loadout:\xe8\xb4\xa2\xe5\x8a\xa1\\x1b[31m"),
        (("-f", "parquet"), 2, b"Error: parquet is not for a terminal; name a file with --output, or pipe it on."),
    ):
        ours, theirs = pty.openpty()
        process = subprocess.Popen([*TOOLBELT, "eval", "export", *arguments], stdout=theirs, stderr=theirs)
        os.close(theirs)
        text = b""
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:
                break
            if not part:
                break
            text += part
        os.close(ours)
        assert process.wait(60) == code
        assert shown in text
        assert b"\x1b" not in text


def test_the_example_for_notebooks_runs(toolbelt: Toolbelt) -> None:
    assert toolbelt("eval", "run", "--limit", "8", "--toolset", "full,tiered").code == 0
    page = (Path(__file__).resolve().parents[3] / "docs" / "data.md").read_text(encoding="utf-8")
    [program] = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    command = [sys.executable, "-W", "error", "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "COLUMNS": "200"}, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    shown = toolbelt("eval", "show").out
    means = re.findall(r"^(?:local/bm25)? +(full|tiered) +([0-9.]+)", done.stdout, re.MULTILINE)
    for toolset, share in means:
        assert re.search(rf"^{toolset} +{float(share):.1%} ", shown, re.MULTILINE), (done.stdout, shown)
    assert {toolset for toolset, _ in means} == {"full", "tiered"}


@pytest.mark.parametrize("document", SCHEMAS)
def test_C_every_schema_is_printed_and_written(toolbelt: Toolbelt, document: str) -> None:
    ran = toolbelt("eval", "schema", document)
    assert (ran.code, ran.err) == (0, "")
    Draft202012Validator.check_schema(ran.json)
    assert ran.json["properties"]["schema"]["const"] == SCHEMAS[document]
    written = toolbelt("eval", "schema", document, "-o", "schema.json", "--json")
    assert (written.code, written.json) == (0, {"output": "schema.json", "document": document})
    assert json.loads(Path("schema.json").read_text(encoding="utf-8")) == ran.json
    refused = toolbelt("eval", "schema", document, "-o", "schema.json")
    assert (refused.code, "use --force" in refused.err) == (2, True)


def test_E10_a_run_has_the_same_result_wherever_its_json_is_printed(toolbelt: Toolbelt, kept: Path) -> None:
    shown, exported = (json.loads(toolbelt("eval", *words).out) for words in (("show", "--json"), ("export",)))
    assert shown["result"] == exported["result"]
    assert shown["result"]["reference"]["toolset"]
    assert shown["result"]["sentence"]
    for document in (shown, exported):
        assert [error.message for error in Draft202012Validator(read_schema("run")).iter_errors(document)] == []
    others = {other["arm"]: other["finding"] for other in exported["result"]["others"]}
    places = {(arm["model"], arm["toolset"], arm["variant"]): place for place, arm in enumerate(exported["arms"])}
    held = {places[key]: pair["finding"] for pair in exported["comparison"]["pairs"]
            if (key := tuple(pair["b"][name] for name in ("model", "toolset", "variant")))}  # fmt: skip
    assert others.items() <= held.items(), "and each finding is that of its comparison"


def test_C_the_schema_of_a_run_is_the_usual_one(toolbelt: Toolbelt) -> None:
    assert toolbelt("eval", "schema").json == toolbelt("eval", "schema", "run").json
    assert toolbelt("eval", "schema", "rum").code == 2


def test_show_and_list_load_nothing_that_only_reports_need(kept: Path) -> None:
    statistics = {"numpy", "scipy"}  # `show` says which arm to take, and how sure that is
    for command, needed in (("show", statistics), ("list", set())):
        done = subprocess.run(
            [sys.executable, "-X", "importtime", "-m", "toolbelt", "eval", command], capture_output=True, text=True
        )
        assert done.returncode == 0
        lines = [line for line in done.stderr.splitlines() if line.startswith("import time:")]
        loaded = {line.rpartition("|")[2].strip() for line in lines}
        assert "toolbelt.evals.running.store" in loaded
        heavy = {"pandas", "numpy", "pyarrow", "matplotlib", "jinja2", "scipy", "junitparser", "litellm", "jsonschema"}
        assert not loaded & heavy - needed
