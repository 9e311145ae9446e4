"""The files of a report: all there, of one moment, replaced together, the same each time (rule E10)."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import jsonschema
import pytest

from tests.evals.analysis.summary.rows import database
from tests.evals.exports.stores import RUN, keep, sample_store
from tests.wording import each_mentions, mentions, naming
from toolbelt.errors import NotFoundError, StorageError, ToolbeltError
from toolbelt.evals.analysis.summary.summarize import summarize, summary_data
from toolbelt.evals.exports.report import Report, replacing_all, write_report
from toolbelt.evals.exports.run_report import ReportOptions, RunReport, analyze_run
from toolbelt.evals.exports.schemas import read_schema
from toolbelt.evals.running.store import RunStore
from toolbelt.stores.files import replacing

PICTURES = ("compatibility", "tradeoff", "accuracy", "tokens", "scaling")
NAMES = {
    *("report.html", "report.md", "summary.json", "junit.xml", "arms.csv", "trials.csv", "trials.parquet"),
    *(f"{name}{ending}" for name in PICTURES for ending in (".svg", ".png", "-dark.png")),
}


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_E10_a_report_has_all_its_files_and_nothing_else(reported: Report, store: RunStore) -> None:
    written = contents(reported.files[0].parent)
    assert {path.name for path in reported.files} == set(written)
    assert {name for name in written if not name.startswith("economics")} == NAMES
    assert reported.files[0].name == "report.html", "the page is told first"
    data = json.loads(written["summary.json"])
    assert data == reported.findings.data
    assert {**summary_data(summarize(store.connection, RUN)), **data} == data
    assert len(data["economics"]) == len(data["arms"]) == 6
    assert data["result"]["title"] in reported.findings.markdown().splitlines()[0]
    text = written["report.md"].decode()
    assert all(f'="{name}{ending}"' in text for name in PICTURES for ending in (".png", "-dark.png"))
    assert all(f"]({name}.svg)" in text for name in PICTURES)


def test_E7_arms_are_compared_with_the_first_of_their_model_or_the_one_named(reported: Report, store: RunStore) -> None:
    comparison = reported.findings.comparison
    assert comparison is not None
    assert [pair.old.label for pair in comparison.pairs] == ["local/bm25 · full"] * 3 + ["gpt-4o · full · shuffled"]
    text = reported.findings.markdown()
    assert text.index("## Results") < text.index("\n## Arms of") < text.index("## Outcomes")
    other = analyze_run(store, store.get(RUN), ReportOptions(against="#3", margin=0.1)).comparison
    assert other is not None
    assert ([pair.old.toolset for pair in other.pairs], other.margin) == (["oracle"] * 5, 0.1)


def test_E6_the_ranking_is_in_the_summary_without_oracles(reported: Report) -> None:
    written = json.loads((reported.files[0].parent / "summary.json").read_text())
    jsonschema.validate(written, read_schema("run"))
    ranked = [(arm["toolset"], arm["standing"]) for arm in written["ranking"]["arms"]]
    assert ranked[0][1] == "best"
    assert not any(toolset.startswith("oracle") for toolset, _ in ranked)


def test_a_run_of_one_arm_has_nothing_to_compare(tmp_path: Path) -> None:
    arms = [("local/bm25", "full", "")]
    path = keep(
        database(arms, [{"case_id": f"c{n}", "cluster": f"c{n}"} for n in range(4)]), tmp_path / "runs.db", arms, 4
    )
    with RunStore(path) as opened:
        written = write_report(opened, opened.get(RUN), tmp_path / "report")
    assert written.findings.comparison is None
    assert "comparison" not in written.findings.data
    assert "gate" not in json.loads((tmp_path / "report" / "summary.json").read_text())


def test_E7_with_a_baseline_its_verdict_stands_on_top(store: RunStore, tmp_path: Path) -> None:
    from toolbelt.evals.analysis.evidence.stored_run import StoredRun

    row = store.get(RUN)
    written = write_report(store, row, tmp_path, ReportOptions(baseline=StoredRun(store, row), margin=0.05))
    findings: RunReport = written.findings
    assert findings.gate is not None
    assert findings.gate.comparison is findings.comparison is not None
    assert findings.comparison.margin == 0.05
    assert findings.data["gate"]["verdict"] == findings.gate.verdict.value == "insufficient_data"
    assert findings.data["gate"]["comparison"] is None, "it is beside it"
    assert "result" not in findings.data, "the gate's verdict is the result"
    text = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert text.splitlines()[0].endswith(": insufficient data"), "the title is the verdict"
    assert text.index("Tool selection") < text.index("| dataset |")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert page.index("Not enough data") < page.index("<table")


def test_E8_a_run_that_is_not_finished_is_reported_and_says_so(tmp_path: Path) -> None:
    with RunStore(sample_store(tmp_path / "runs.db")) as opened:
        opened.connection.execute("UPDATE runs SET status = 'running', reason = ''")
        killed = analyze_run(opened, opened.get(RUN))
        with opened.locks.claim(RUN):
            running = analyze_run(opened, opened.get(RUN))
    for found, status, words in (
        (running, "running", "This run is still running."),
        (killed, "killed", "it was killed, and nobody works on it."),
    ):
        text = found.markdown()
        assert words in text
        assert mentions(text, "2 of 48 trials"), "and how much of it is missing"
        assert found.data["status"] == status


def test_a_run_of_nothing_is_refused_and_makes_no_folder(tmp_path: Path) -> None:
    arms = [("local/bm25", "full", "")]
    with RunStore(keep(database(arms, []), tmp_path / "runs.db", arms, 4)) as opened:
        with pytest.raises(ToolbeltError, match=naming("no finished trial", f"toolbelt eval resume {RUN}")):
            write_report(opened, opened.get(RUN), tmp_path / "reports")
        with pytest.raises(NotFoundError):
            write_report(opened, opened.get("nope"), tmp_path / "reports")
    assert not (tmp_path / "reports").exists()


def test_a_price_that_nobody_knows_changes_nothing(store: RunStore, tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="Did you mean 'gpt-4o'"):
        write_report(store, store.get(RUN), tmp_path / "reports", ReportOptions(priced_as="gpt-4oo"))
    assert not (tmp_path / "reports").exists()


def test_another_process_writes_the_same_bytes_over_the_old_and_leaves_other_files_alone(
    reported: Report, store: RunStore, tmp_path: Path
) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "report.md").write_text("old")
    code = f"""
import sys
from pathlib import Path
from toolbelt.evals.exports.report import write_report
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


WRITING = ("writing the page", "writing tests", "writing trials")


def test_E8_all_is_of_one_moment_while_the_run_goes_on(tmp_path: Path) -> None:
    """Somebody else changes trials whenever this one says how far it is, once it has begun to read."""
    path = sample_store(tmp_path / "runs.db")
    steps: list[str] = []

    @contextmanager
    def progress(label: str, total: int | None) -> Iterator[Callable[[int], object]]:
        if steps:
            with sqlite3.connect(path, isolation_level=None) as other:
                other.execute("UPDATE trials SET outcome = 'correct', reason = 'changed underway'")
            other.close()
        steps.append(label)
        yield lambda done: None

    with RunStore(path) as opened:
        before = summarize(opened.connection, RUN)
        written = write_report(opened, opened.get(RUN), tmp_path / "report", progress=progress)
    assert steps == ["reading the run, seconds", "choosing toolsets", "comparing arms", "ranking arms", *WRITING]
    assert written.findings.summary.arms == before.arms
    for name in ("trials.csv", "junit.xml", "report.html"):
        assert "changed underway" not in (tmp_path / "report" / name).read_text(encoding="utf-8"), name


def test_a_folder_that_cannot_be_made_is_a_storage_error(store: RunStore, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="Cannot write"):
        write_report(store, store.get(RUN), tmp_path / "file" / "below")


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_what_fails_leaves_the_old_files_and_nothing_else(tmp_path: Path, error: type[BaseException]) -> None:
    (tmp_path / "f").write_text("old")

    def one() -> None:
        with replacing(tmp_path / "f", "w") as file:
            file.write("new")
            raise error

    def several() -> None:
        with replacing_all(tmp_path) as opened:
            with opened("f", "w") as file:
                file.write("new")
            with opened("g", "wb") as file:
                file.write(b"new")
            raise error

    for fail in (one, several):
        with pytest.raises(error):
            fail()
        assert (names(tmp_path), (tmp_path / "f").read_text()) == (["f"], "old")


def test_several_files_take_their_place_together(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("old")
    (tmp_path / "mine").write_text("mine")
    with replacing_all(tmp_path) as opened:
        for name in "fg":
            with opened(name, "w") as file:
                file.write("one\r\ntwo\n")
        assert (tmp_path / "f").read_text() == "old"
        assert not (tmp_path / "g").exists()
    assert names(tmp_path) == ["f", "g", "mine"]
    assert (tmp_path / "g").read_bytes() == b"one\r\ntwo\n", "line ends are as they are written"


def test_a_new_folder_goes_again_where_writing_fails(tmp_path: Path) -> None:
    def fail() -> None:
        with replacing_all(tmp_path / "a" / "b") as opened, opened("f", "w"):
            raise ValueError

    with pytest.raises(ValueError):
        fail()
    assert names(tmp_path) == []


def test_a_new_file_has_the_mode_the_user_asks_for_and_an_old_one_keeps_its_own(tmp_path: Path) -> None:
    (tmp_path / "old").write_text("x")
    (tmp_path / "old").chmod(0o604)
    before = os.umask(0o027)
    try:
        for name in ("old", "new"):
            with replacing(tmp_path / name, "wb") as file:
                file.write(b"x")
        with replacing_all(tmp_path) as opened:
            for name in ("old", "other"):
                with opened(name, "w"):
                    pass
    finally:
        os.umask(before)
    modes = {name: (tmp_path / name).stat().st_mode & 0o777 for name in names(tmp_path)}
    assert modes == {"old": 0o604, "new": 0o640, "other": 0o640}


@pytest.mark.parametrize("there", ["there", "."], ids=["elsewhere", "beside"])
def test_a_link_is_followed(tmp_path: Path, there: str) -> None:
    folder = tmp_path / "report"
    target = folder / there / "target"
    target.parent.mkdir(parents=True)
    target.write_text("old")
    target.chmod(0o640)
    (folder / "report.html").symlink_to(target)
    (folder / "dangling").symlink_to(folder / there / "new")
    before = names(folder)
    with replacing_all(folder) as opened:
        for name in ("report.html", "dangling"):
            with opened(name, "w") as file:
                file.write("new")
        assert target.read_text() == "old"
    for link in ("report.html", "dangling"):
        assert (folder / link).is_symlink()
        assert (folder / link).read_text() == "new"
    assert target.stat().st_mode & 0o777 == 0o640
    assert set(names(folder)) == {*before, *(["new"] if there == "." else [])}
    assert set(names(target.parent)) >= {"target", "new"}
    assert not [path for path in target.parent.iterdir() if path.name.endswith(".tmp")]


def test_a_link_to_another_file_system_is_followed(tmp_path: Path) -> None:
    here = tmp_path.stat().st_dev
    others = (Path("/dev/shm"), Path(tempfile.gettempdir()))
    if not (elsewhere := [other for other in others if other.is_dir() and other.stat().st_dev != here]):
        pytest.skip("there is one file system alone")
    target = elsewhere[0] / f"toolbelt-{os.getpid()}.html"
    target.write_text("old")
    try:
        (tmp_path / "report.html").symlink_to(target)
        with replacing_all(tmp_path) as opened, opened("report.html", "w") as file:
            file.write("new")
        assert (target.read_text(), (tmp_path / "report.html").is_symlink()) == ("new", True)
    finally:
        target.unlink()


def test_what_leads_to_a_device_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "f").symlink_to("/dev/null")
    with pytest.raises(ToolbeltError, match="no plain file"), replacing_all(tmp_path) as opened, opened("f", "w"):
        pass
    assert Path("/dev/null").is_char_device()


def test_a_file_given_up_takes_no_place(tmp_path: Path) -> None:
    with replacing_all(tmp_path) as opened:
        with contextlib.suppress(ValueError), opened("half", "w") as file:
            file.write("half")
            raise ValueError
        with opened("whole", "w") as file:
            file.write("whole")
    assert names(tmp_path) == ["whole"]


def test_a_move_that_fails_says_what_has_been_replaced_and_leaves_each_file_whole(tmp_path: Path) -> None:
    for name in "fgh":
        (tmp_path / name).write_text("old")

    def write() -> None:
        with replacing_all(tmp_path) as opened:
            for name in "fgh":
                with opened(name, "w") as file:
                    file.write("new")
            (tmp_path / "g").unlink()
            (tmp_path / "g").mkdir()

    with pytest.raises(StorageError, match=naming("/g'", "1 of 3 files")):
        write()
    assert names(tmp_path) == ["f", "g", "h"]
    assert ((tmp_path / "f").read_text(), (tmp_path / "h").read_text()) == ("new", "old")


def test_a_place_that_cannot_be_written_to_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ToolbeltError, match="is a folder"), replacing(tmp_path, "w"):
        pass
    for path in (tmp_path / "file" / "below", tmp_path / "nowhere" / "f"):
        with pytest.raises(StorageError, match=f"Cannot write '{path}'"), replacing(path, "w"):
            pass
    for path in (tmp_path / "file", tmp_path / "file" / "below" / "deeper"):
        with pytest.raises(StorageError, match=f"Cannot write '{path}'"), replacing_all(path):
            pass


def test_a_folder_in_the_place_of_one_file_leaves_all_of_them_as_they_were(tmp_path: Path) -> None:
    (tmp_path / "first").write_text("old")
    (tmp_path / "second").mkdir()

    def write() -> None:
        with replacing_all(tmp_path) as opened:
            for name in ("first", "second"):
                with opened(name, "w") as file:
                    file.write("new")

    with pytest.raises(ToolbeltError, match=naming(f"{tmp_path}/second", "folder")):
        write()
    assert (names(tmp_path), (tmp_path / "first").read_text()) == (["first", "second"], "old")


def test_E8_what_a_killed_process_left_is_cleared_by_the_next(tmp_path: Path) -> None:
    code = """
import os, signal, sys
from pathlib import Path
from toolbelt.evals.exports.report import replacing_all
with replacing_all(Path(sys.argv[1])) as opened, opened("f", "w") as file:
    print("writing", flush=True)
    sys.stdin.read()
    os.kill(os.getpid(), signal.SIGKILL)
"""
    started = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(tmp_path / run)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for run in ("killed", "killed", "beside")
    ]
    for process in started:
        assert process.stdout is not None
        assert process.stdout.readline() == "writing\n"
    left = tmp_path.glob("*/.writing-*")
    with replacing_all(tmp_path / "killed") as opened, opened("g", "w"):
        assert len(list(tmp_path.glob("*/.writing-*"))) == 4, "all of them are being written"
    for process in started:
        process.communicate()
    with replacing_all(tmp_path / "killed") as opened, opened("g", "w"):
        pass
    assert list(left) == []
    assert names(tmp_path / "killed") == ["g"]


def test_what_a_killed_process_left_is_cleared_a_day_later(tmp_path: Path) -> None:
    for name, hours in (("old", 25), ("new", 23)):
        left = tmp_path / f".writing-{name}.tmp"
        left.mkdir()
        (left / "report.html").write_text("half")
        then = time.time() - 3600 * hours
        os.utime(left, (then, then))
    with replacing_all(tmp_path) as opened, opened("f", "w"):
        pass
    assert names(tmp_path) == [".writing-new.tmp", "f"]


def test_what_is_missing_while_a_file_is_written_is_not_taken_for_that_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="template"), replacing(tmp_path / "f", "w"):
        (tmp_path / "templates" / "template").read_text()
    assert names(tmp_path) == []


def test_running_out_of_space_leaves_the_old_files_whole(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("old")
    code = """
import resource, signal, sys
from pathlib import Path
from toolbelt.errors import StorageError
from toolbelt.evals.exports.report import replacing_all
from toolbelt.stores.files import replacing
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000))
folder = Path(sys.argv[1])
try:
    with replacing(folder / "f", "w") as file:
        file.write("x" * 100_000)
except StorageError as error:
    print(error)
try:
    with replacing_all(folder) as opened:
        with opened("f", "w") as file:
            file.write("small")
        with opened("g", "wb") as file:
            file.write(b"x" * 100_000)
except StorageError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, timeout=60)
    assert each_mentions(
        done.stdout.splitlines(), (f"{tmp_path}/f", "Nothing was changed"), (f"{tmp_path}/g", "Nothing was changed")
    ), done
    assert (names(tmp_path), (tmp_path / "f").read_text()) == (["f"], "old")
