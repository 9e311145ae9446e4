"""`load_run`: one frame, wherever the run is kept (rule E10)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.evals.analysis.summary.rows import RUN, database
from tests.wording import naming
from toolbelt.errors import NotFoundError, ToolbeltError
from toolbelt.evals import load_run
from toolbelt.evals.analysis.summary.summarize import summarize
from toolbelt.evals.running.store import RunStore
from toolbelt.evals.views.columns import TRIAL_COLUMNS
from toolbelt.evals.views.frames import load_trials, read_trials_csv, read_trials_parquet, write_trials

DIGEST = "sha256:0123456789abcdef"
ABOUT = {"schema": "toolbelt.trials/1", "run": RUN, "dataset": "assistant", "digest": DIGEST}


def equal(one: Any, other: Any) -> bool:
    """Same columns, types, rows and order."""
    return bool(one.equals(other)) and list(one.dtypes) == list(other.dtypes)


@pytest.mark.parametrize(
    "place",
    [
        pytest.param("runs.db", id="a-store-is-its-latest-run"),
        pytest.param(f"reports/{RUN}", id="a-report"),
        pytest.param(f"reports/{RUN}/trials.csv", id="csv"),
        pytest.param(f"reports/{RUN}/trials.parquet", id="parquet"),
    ],
)
def test_E10_the_frame_is_the_same_wherever_it_comes_from(kept: Path, place: str) -> None:
    frame = load_run(RUN, store=kept / "runs.db")
    read = load_run(kept / place)
    assert equal(read, frame)
    assert read.attrs == frame.attrs == ABOUT
    assert equal(load_run(str(kept / place)), frame), "a path may be a text"


def test_a_row_is_a_trial_with_the_documented_columns(kept: Path) -> None:
    frame = load_run(kept / "runs.db")
    assert {name: str(type_) for name, type_ in frame.dtypes.items()} == {
        name: column.type for name, column in TRIAL_COLUMNS.items()
    }
    with RunStore(kept / "runs.db") as store:
        summary = summarize(store.connection, RUN)
    for (model, toolset, variant), rows in frame.groupby(["model", "toolset", "variant"]):
        [arm] = [arm for arm in summary.arms if (arm.model, arm.toolset, arm.variant) == (model, toolset, variant)]
        assert (len(rows), int(rows["scored"].sum())) == (arm.finished, arm.scored)
        assert int((rows["scored"] & rows["covered"]).sum()) == arm.coverage.numerator


def test_the_store_is_the_one_the_commands_use(kept: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    frame = load_run(kept / "runs.db")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TOOLBELT_STORE", str(kept / "runs.db"))
    assert equal(load_run(), frame)
    assert equal(load_run(RUN[:6]), frame), "the beginning of an id"
    monkeypatch.delenv("TOOLBELT_STORE")
    with pytest.raises(NotFoundError, match="toolbelt eval run"):
        load_run()
    (tmp_path / ".toolbelt").mkdir()
    (tmp_path / ".toolbelt" / "runs.db").write_bytes((kept / "runs.db").read_bytes())
    assert equal(load_run("latest"), frame)
    (tmp_path / "latest").write_text("")
    assert equal(load_run("latest"), frame), "a file that happens to be called so does not take its place"
    with pytest.raises(ToolbeltError, match=naming("latest", "trials")):
        load_run("./latest")
    monkeypatch.chdir(kept / "reports")
    assert equal(load_run(RUN), frame), "there is no such run here, but a folder that is called as one"
    monkeypatch.chdir(tmp_path)
    assert equal(load_run("latest", store=".toolbelt/runs.db"), frame), (
        "with a store it is a run's id, whatever lies here"
    )


def test_the_home_folder_is_found_as_in_a_shell(kept: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(kept))
    frame = load_run(kept / "runs.db")
    assert equal(load_run("~/runs.db"), frame)
    assert equal(load_run(Path("~/reports", RUN)), frame)
    assert equal(load_run("latest", store="~/runs.db"), frame)
    monkeypatch.setenv("TOOLBELT_STORE", "~/runs.db")
    assert equal(load_run(), frame)


def test_the_folder_of_a_file_of_runs_leads_to_that(kept: Path, tmp_path: Path) -> None:
    (tmp_path / ".toolbelt").mkdir()
    (tmp_path / ".toolbelt" / "runs.db").write_bytes((kept / "runs.db").read_bytes())
    for folder in (tmp_path, tmp_path / ".toolbelt"):
        with pytest.raises(NotFoundError) as caught:
            load_run(folder)
        assert caught.value.known == (f"{tmp_path}/.toolbelt/runs.db",)


def test_a_csv_alone_says_of_which_run_it_is(kept: Path, tmp_path: Path) -> None:
    report = kept / "reports" / RUN
    (tmp_path / "trials.csv").write_bytes((report / "trials.csv").read_bytes())
    assert load_run(tmp_path / "trials.csv").attrs == ABOUT | {"dataset": "", "digest": ""}
    summary = (report / "summary.json").read_text(encoding="utf-8")
    (tmp_path / "summary.json").write_text(summary.replace(RUN, "20200101-000000-aaaa"), encoding="utf-8")
    assert load_run(tmp_path / "trials.csv").attrs["dataset"] == "", "that is another run's"
    (tmp_path / "summary.json").write_text("[]")
    assert load_run(tmp_path / "trials.csv").attrs["run"] == RUN


@pytest.mark.parametrize(
    ("place", "message"),
    [
        pytest.param("20270101", "20260301-120000-beef, latest.", id="a-run"),
        pytest.param("latst", "'latest'", id="latest"),
        pytest.param("{}/run.db", "'{}/runs.db'", id="a-file"),
        pytest.param("{}/reports", "'{}/reports/" + RUN, id="a-folder"),
        pytest.param("{}/reports/" + RUN + "/trial.csv", "'{}/reports/" + RUN + "/trials.csv'", id="a-table"),
        pytest.param("{}/reports/" + RUN + "/arms.csv", "it has no column 'run'", id="the-arms"),
        pytest.param("{}/reports/" + RUN + "/summary.json", "is no file of trials", id="the-summary"),
        pytest.param("{}/reports/" + RUN + "/tokens.png", "is no file of trials", id="a-picture"),
    ],
)
def test_what_is_not_there_is_told_with_the_nearest_names(
    kept: Path, monkeypatch: pytest.MonkeyPatch, place: str, message: str
) -> None:
    monkeypatch.setenv("TOOLBELT_STORE", str(kept / "runs.db"))
    with pytest.raises(ToolbeltError) as caught:
        load_run(place.replace("{}", str(kept)))
    assert message.replace("{}", str(kept)) in str(caught.value)


@pytest.mark.parametrize("name", ["trials.csv", "trials.parquet"])
@pytest.mark.parametrize("kept_bytes", [0, 3, 100, 3000])
def test_a_damaged_file_is_told_and_no_bug(kept: Path, tmp_path: Path, name: str, kept_bytes: int) -> None:
    whole = (kept / "reports" / RUN / name).read_bytes()
    assert len(whole) > 3000
    (tmp_path / name).write_bytes(whole[:kept_bytes] + b"\xff\x00\xfe")
    with pytest.raises(ToolbeltError, match=r"is no file of trials"):
        load_run(tmp_path / name)


def test_a_column_of_another_version_is_named(kept: Path, tmp_path: Path) -> None:
    text = (kept / "reports" / RUN / "trials.csv").read_text(encoding="utf-8")
    (tmp_path / "trials.csv").write_text(text.replace("repeated_tokens", "repeat_tokens", 1), encoding="utf-8")
    with pytest.raises(ToolbeltError, match=naming("repeated_tokens", "repeat_tokens")):
        load_run(tmp_path / "trials.csv")


HOSTILE = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=12),
    st.sampled_from(
        ["", "'", "''", "=1", "'=1", "''=1", "-", "+", "@x", "\t", "\r", "'\r\n", "NA", "nan", "True", "1.0"]
    ),
    st.text("'=+-@\t\r\n\",\x00 NAan1", max_size=6),
)
COUNT = st.one_of(st.none(), st.integers(0, 2**53))  # beyond, a column with gaps has no exact numbers


@settings(max_examples=12, deadline=None)
@given(
    st.lists(
        st.fixed_dictionaries(
            {"case_id": HOSTILE, "reason": HOSTILE, "kind": HOSTILE, "completion_tokens": COUNT, "prompt_tokens": COUNT}
            | {"cost_usd": st.one_of(st.none(), st.floats(0, 1e9)), "latency_seconds": st.floats(0, 1e9)}
            | {"covered": st.integers(0, 1)}
        ),
        max_size=25,
    ),
    HOSTILE,
)
def test_E10_what_is_written_is_read_to_the_last_bit(
    tmp_path_factory: pytest.TempPathFactory, trials: list[dict[str, Any]], toolset: str
) -> None:
    folder = tmp_path_factory.mktemp("round")
    arms = [("local/bm25", toolset, "")]
    connection = database(arms, trials)
    frame = load_trials(connection, RUN)
    assert frame[["case_id", "reason", "kind", "latency_seconds"]].to_dict("records") == [
        {name: one[name] for name in ("case_id", "reason", "kind", "latency_seconds")} for one in trials
    ]
    connection = database(arms, trials)
    with (
        (folder / "t.csv").open("w", encoding="utf-8", newline="") as csv,
        (folder / "t.parquet").open("wb") as parquet,
    ):
        write_trials(connection, RUN, csv, parquet, about=ABOUT, chunk=10)
    assert equal(read_trials_csv(folder / "t.csv"), frame)
    assert equal(read_trials_parquet(folder / "t.parquet"), frame)


def test_importing_the_harness_loads_nothing_heavy(tmp_path: Path) -> None:
    code = """
import sys
import toolbelt.evals
loaded = {"pandas", "numpy", "pyarrow", "matplotlib", "jinja2", "sqlite3"} & set(sys.modules)
assert not loaded, loaded
assert "load_run" in dir(toolbelt.evals)
from toolbelt.evals import load_run
assert callable(load_run) and toolbelt.evals.load_run is load_run
try:
    toolbelt.evals.load_runs
except AttributeError as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, cwd=tmp_path, env=os.environ
    )
    assert (done.stdout, done.stderr) == ("module 'toolbelt.evals' has no attribute 'load_runs'\n", "")
