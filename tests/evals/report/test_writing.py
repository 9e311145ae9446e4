"""The files of a report: all there, replaced as a whole, the same each time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.evals.report.sample import sample_run
from tests.evals.summary.rows import RUN
from toolbelt.errors import NotFoundError, StorageError
from toolbelt.evals.report.writing import replacing, write_report
from toolbelt.evals.summary.summarize import summarize, summary_data

NAMES = {
    "report.md",
    "summary.json",
    "arms.csv",
    "trials.csv",
    *(f"{name}.{ending}" for name in ("tradeoff", "accuracy", "tokens", "scaling") for ending in ("svg", "png")),
}


def test_E10_a_report_has_all_its_files_and_nothing_else(tmp_path: Path) -> None:
    folder = tmp_path / "reports" / RUN
    written = write_report(sample_run(), RUN, folder)
    assert {path.name for path in written} == NAMES == {path.name for path in folder.iterdir()}
    assert written[0].name == "report.md"
    assert json.loads((folder / "summary.json").read_text()) == summary_data(summarize(sample_run(), RUN))
    linked = {name for name in NAMES if name.endswith((".svg", ".png")) and f"]({name})" in written[0].read_text()}
    assert linked == {name for name in NAMES if name.endswith((".svg", ".png"))}


def test_E8_a_run_nobody_works_on_is_reported_as_killed(tmp_path: Path) -> None:
    connection = sample_run()
    connection.execute("UPDATE runs SET status = 'running', reason = ''")
    for status, words in ((None, "This run is still running."), ("killed", "it was killed, and nobody works on it.")):
        report, data, *_ = write_report(connection, RUN, tmp_path, status=status)
        assert words in report.read_text(encoding="utf-8")
        assert json.loads(data.read_text(encoding="utf-8"))["status"] == (status or "running")


def test_writing_again_gives_the_same_bytes_and_leaves_other_files_alone(tmp_path: Path) -> None:
    write_report(sample_run(), RUN, tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "report.md").write_text("old")
    write_report(sample_run(), RUN, tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before | {"notes.txt": b"mine"}


def test_another_process_draws_the_same_bytes(tmp_path: Path) -> None:
    code = """
import sys
from pathlib import Path
from tests.evals.report.sample import sample_run
from tests.evals.summary.rows import RUN
from toolbelt.evals.report.writing import write_report
write_report(sample_run(), RUN, Path(sys.argv[1]))
"""
    root = Path(__file__).parents[3]
    command = [sys.executable, "-W", "error", "-c", code, str(tmp_path / "there")]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    write_report(sample_run(), RUN, tmp_path / "here")
    for name in NAMES:
        assert (tmp_path / "here" / name).read_bytes() == (tmp_path / "there" / name).read_bytes(), name


def test_an_unknown_run_makes_no_folder(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        write_report(sample_run(), "nope", tmp_path / "reports")
    assert not (tmp_path / "reports").exists()


def test_a_folder_that_cannot_be_made_is_a_storage_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="Cannot write"):
        write_report(sample_run(), RUN, tmp_path / "file")
    with pytest.raises(StorageError, match="Cannot write"):
        write_report(sample_run(), RUN, tmp_path / "file" / "below")


def test_running_out_of_space_leaves_the_old_files_whole(tmp_path: Path) -> None:
    write_report(sample_run(), RUN, tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    code = """
import resource, signal, sys
from pathlib import Path
from tests.evals.report.sample import sample_run
from tests.evals.summary.rows import RUN
from toolbelt.errors import StorageError
from toolbelt.evals.report.writing import write_report
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000))
try:
    write_report(sample_run(), RUN, Path(sys.argv[1]))
except StorageError as error:
    print(error)
"""
    root = Path(__file__).parents[3]
    command = [sys.executable, "-c", code, str(tmp_path)]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=120)
    assert "Cannot write" in done.stdout, done
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_an_interrupt_leaves_the_old_file(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_text("old")

    def interrupted() -> None:
        with replacing(file, "w") as opened:
            opened.write("new")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert [path.name for path in tmp_path.iterdir()] == ["f"]
    assert file.read_text() == "old"


def test_a_new_file_has_the_mode_the_user_asks_for(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        with replacing(tmp_path / "f", "wb") as opened:
            opened.write(b"x")
    finally:
        os.umask(before)
    assert (tmp_path / "f").stat().st_mode & 0o777 == 0o640
