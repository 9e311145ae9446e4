"""The files of a report: all there, of one moment, replaced together, the same each time (rule E10)."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.evals.analysis.summary.rows import database
from tests.evals.exports.stores import RUN, keep, sample_store
from toolbelt.errors import NotFoundError, StorageError, ToolbeltError
from toolbelt.evals.analysis.summary.summarize import summarize, summary_data
from toolbelt.evals.exports.findings import Findings, Wanted, find_out
from toolbelt.evals.exports.reporting import Report, write_report
from toolbelt.evals.running.store import RunStore

PICTURES = ("compatibility", "tradeoff", "accuracy", "tokens", "scaling")
NAMES = {
    *("report.html", "report.md", "summary.json", "junit.xml", "arms.csv", "trials.csv", "trials.parquet"),
    *(f"{name}.{ending}" for name in PICTURES for ending in ("svg", "png")),
}


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_E10_a_report_has_all_its_files_and_nothing_else(reported: Report, store: RunStore) -> None:
    written = contents(reported.files[0].parent)
    assert {path.name for path in reported.files} == set(written)
    assert set(written) - {"economics.svg", "economics.png"} == NAMES
    assert reported.files[0].name == "report.html", "the page is told first"
    data = json.loads(written["summary.json"])
    assert data == reported.findings.data
    assert {**summary_data(summarize(store.connection, RUN)), **data} == data
    assert len(data["economics"]) == len(data["arms"]) == 6
    text = written["report.md"].decode()
    assert all(f"]({name}.{ending})" in text for name in PICTURES for ending in ("svg", "png"))


def test_E7_arms_are_compared_with_the_first_of_their_model_or_the_one_named(reported: Report, store: RunStore) -> None:
    comparison = reported.findings.comparison
    assert comparison is not None
    assert [pair.old.label for pair in comparison.pairs] == ["local/bm25 · full"] * 3 + ["gpt-4o · full · shuffled"]
    text = reported.findings.markdown()
    assert text.index("## Results") < text.index("\n## Arms of") < text.index("## Outcomes")
    other = find_out(store, store.get(RUN), Wanted(against=lambda arms: 2, margin=0.1)).comparison
    assert other is not None
    assert ([pair.old.toolset for pair in other.pairs], other.margin) == (["oracle"] * 5, 0.1)


def test_a_run_of_one_arm_has_nothing_to_compare(tmp_path: Path) -> None:
    arms = [("local/bm25", "full", "")]
    path = keep(
        database(arms, [{"case_id": f"c{n}", "cluster": f"c{n}"} for n in range(4)]), tmp_path / "runs.db", arms, 4
    )
    with RunStore(path) as opened:
        made = write_report(opened, opened.get(RUN), tmp_path / "report")
    assert made.findings.comparison is None
    assert "comparison" not in made.findings.data
    assert "gate" not in json.loads((tmp_path / "report" / "summary.json").read_text())


def test_E7_with_a_baseline_its_verdict_stands_on_top(store: RunStore, tmp_path: Path) -> None:
    from toolbelt.evals.analysis.evidence.stored_run import StoredRun

    row = store.get(RUN)
    made = write_report(store, row, tmp_path, Wanted(baseline=StoredRun(store, row), margin=0.05))
    findings: Findings = made.findings
    assert findings.gate is not None
    assert findings.gate.comparison is findings.comparison is not None
    assert findings.comparison.margin == 0.05
    assert findings.data["gate"]["verdict"] == findings.gate.verdict.value == "insufficient_data"
    assert findings.data["gate"]["comparison"] is None, "it is beside it"
    text = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert text.index("# Eval of") < text.index("insufficient data") < text.index("| dataset |")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert page.index("Not enough data") < page.index("<table")


def test_E8_a_run_that_is_not_finished_is_reported_and_says_so(tmp_path: Path) -> None:
    with RunStore(sample_store(tmp_path / "runs.db")) as opened:
        opened.connection.execute("UPDATE runs SET status = 'running', reason = ''")
        killed = find_out(opened, opened.get(RUN))
        with opened.locks.claim(RUN):
            running = find_out(opened, opened.get(RUN))
    for found, status, words in (
        (running, "running", "This run is still running."),
        (killed, "killed", "it was killed, and nobody works on it."),
    ):
        text = found.markdown()
        assert words in text
        assert "Not run yet: 2 of 48 trials." in text, "and how much of it is missing"
        assert found.data["status"] == status


def test_a_run_of_nothing_is_refused_and_makes_no_folder(tmp_path: Path) -> None:
    arms = [("local/bm25", "full", "")]
    with RunStore(keep(database(arms, []), tmp_path / "runs.db", arms, 4)) as opened:
        with pytest.raises(ToolbeltError, match=f"no finished trial to report; .* toolbelt eval resume {RUN}"):
            write_report(opened, opened.get(RUN), tmp_path / "reports")
        with pytest.raises(NotFoundError):
            write_report(opened, opened.get("nope"), tmp_path / "reports")
    assert not (tmp_path / "reports").exists()


def test_a_price_that_nobody_knows_changes_nothing(store: RunStore, tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="Did you mean 'gpt-4o'"):
        write_report(store, store.get(RUN), tmp_path / "reports", Wanted(priced_as="gpt-4oo"))
    assert not (tmp_path / "reports").exists()


def test_another_process_writes_the_same_bytes_over_the_old_and_leaves_other_files_alone(
    reported: Report, store: RunStore, tmp_path: Path
) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "report.md").write_text("old")
    code = f"""
import sys
from pathlib import Path
from toolbelt.evals.exports.reporting import write_report
from toolbelt.evals.running.store import RunStore
with RunStore(Path({str(store.path)!r})) as store:
    write_report(store, store.get({RUN!r}), Path(sys.argv[1]))
"""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code, str(tmp_path)], capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stderr) == (0, "")
    expected = contents(reported.files[0].parent) | {"notes.txt": b"mine"}
    there = contents(tmp_path)
    assert set(there) == set(expected)
    for name, content in expected.items():
        assert there[name] == content, name


def test_E8_all_is_of_one_moment_while_the_run_goes_on(tmp_path: Path) -> None:
    """Somebody else adds a trial whenever this one says how far it is."""
    path = sample_store(tmp_path / "runs.db")
    steps: list[str] = []

    @contextmanager
    def progress(label: str, total: int | None) -> Iterator[Callable[[int], object]]:
        steps.append(label)
        with sqlite3.connect(path, isolation_level=None) as other:
            other.execute("UPDATE trials SET outcome = 'correct', reason = 'changed underway'")
        other.close()
        yield lambda done: None

    with RunStore(path) as opened:
        before = summarize(opened.connection, RUN)
        made = write_report(opened, opened.get(RUN), tmp_path / "report", progress=progress)
    assert steps == ["choosing toolsets", "comparing arms", "writing the page", "writing tests", "writing trials"]
    assert made.findings.summary.arms == before.arms
    for name in ("trials.csv", "junit.xml", "report.html"):
        assert "changed underway" not in (tmp_path / "report" / name).read_text(encoding="utf-8"), name


def test_a_folder_that_cannot_be_made_is_a_storage_error(store: RunStore, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="Cannot write"):
        write_report(store, store.get(RUN), tmp_path / "file" / "below")
