"""`toolbelt eval note` and `eval show --failed`."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from pathlib import Path

import pytest

from tests.cli.conftest import Toolbelt
from tests.evals.exports.stores import sample_store


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return sample_store(tmp_path / "runs.db")


def case_of(store: Path) -> str:
    with contextlib.closing(sqlite3.connect(store)) as connection:
        (case,) = connection.execute("SELECT case_id FROM trials ORDER BY case_id LIMIT 1").fetchone()
    return str(case)


def test_a_note_is_kept_in_a_file_of_an_earlier_version_shown_and_removed(store: Path, toolbelt: Toolbelt) -> None:
    at, case = ("--store", store), case_of(store)
    assert toolbelt("eval", "note", "latest", "Before the rewrite.", *at).code == 0
    assert toolbelt("eval", "note", "latest", "The label is doubtful.", "--case", case, *at).code == 0
    assert json.loads(toolbelt("eval", "list", *at, "--json").out)["runs"][0]["note"] == "Before the rewrite."
    shown = toolbelt("eval", "show", *at).out
    assert "note: Before the rewrite." in shown
    assert f"note on {case}: The label is doubtful." in shown
    assert toolbelt("eval", "note", "latest", "", *at).code == 0
    assert json.loads(toolbelt("eval", "list", *at, "--json").out)["runs"][0]["note"] == ""


def test_a_note_on_a_case_that_the_run_has_not_is_refused(store: Path, toolbelt: Toolbelt) -> None:
    refused = toolbelt("eval", "note", "latest", "?", "--case", "nope", "--store", store)
    assert (refused.code, "'nope'" in refused.err) == (2, True)


def test_what_failed_is_every_finished_trial_that_is_not_correct(store: Path, toolbelt: Toolbelt) -> None:
    failed = json.loads(toolbelt("eval", "show", "--failed", "--store", store, "--json").out)["failed"]
    with contextlib.closing(sqlite3.connect(store)) as connection:
        (count,) = connection.execute("SELECT count(*) FROM trials WHERE outcome <> 'correct'").fetchone()
    assert len(failed) == count > 0
    assert not [trial for trial in failed if trial["outcome"] == "correct"]
    shown = toolbelt("eval", "show", "--failed", "--case", failed[0]["case"], "--store", store).out
    assert failed[0]["outcome"] in shown
