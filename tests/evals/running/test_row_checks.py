"""What toolbelt did not write into the file of runs is an error with table and row, whoever reads it (rule E8)."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest

from toolbelt.errors import InvalidFileError, ToolbeltError
from toolbelt.evals import load_run
from toolbelt.evals.evaluate import run_eval
from toolbelt.evals.running.row_checks import find_damage
from toolbelt.evals.running.store import RunStore


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with one run in which a tool is called."""
    store = tmp_path_factory.mktemp("finished") / "runs.db"
    run_eval("assistant", toolsets=["full", "loadout:devops"], limit=4, store=store)
    return store


@pytest.fixture
def store(finished: Path, tmp_path: Path) -> Path:
    """A copy of it, to be damaged."""
    return Path(shutil.copyfile(finished, tmp_path / "runs.db"))


def damage(store: Path, statement: str) -> None:
    connection = sqlite3.connect(store, isolation_level=None)
    connection.execute(statement)
    connection.close()


DAMAGES = [
    ("UPDATE trials SET outcome = 'banana' WHERE trial = 3", "trials: trial 3: `outcome` is 'banana'"),
    ("UPDATE trials SET ending = '' WHERE trial = 3", "trials: trial 3: `ending` is ''"),
    ("UPDATE trials SET called = '[\"a' WHERE trial = 3", "trials: trial 3: `called` is '[\"a'"),
    ("UPDATE trials SET missing = '{}' WHERE trial = 3", "trials: trial 3: `missing` is '{}'"),
    ("UPDATE trials SET surplus = '[1]' WHERE trial = 3", "trials: trial 3: `surplus` is '[1]'"),
    ("UPDATE trials SET trial = 99 WHERE trial = 3", "trials: trial 99: `trial` is 99"),
    ("UPDATE trials SET arm = 2 WHERE trial = 3", "trials: trial 3: `arm` is 2"),
    ("UPDATE trials SET epoch = -1 WHERE trial = 3", "trials: trial 3: `epoch` is -1"),
    ("UPDATE trials SET covered = 2 WHERE trial = 3", "trials: trial 3: `covered` is 2"),
    ("UPDATE trials SET requests = 'many' WHERE trial = 3", "trials: trial 3: `requests` is 'many'"),
    ("UPDATE trials SET prompt_tokens = -5 WHERE trial = 3", "trials: trial 3: `prompt_tokens` is -5"),
    ("UPDATE trials SET latency_seconds = 9e999 WHERE trial = 3", "trials: trial 3: `latency_seconds` is "),
    ("UPDATE trials SET cost_usd = X'00' WHERE trial = 3", "trials: trial 3: `cost_usd` is X'00'"),
    ("UPDATE requests SET reply = 'nothing' WHERE trial = 3", "requests: trial 3, request 0, attempt 0: `reply`"),
    ("UPDATE requests SET reply = '{}' WHERE trial = 3", "requests: trial 3, request 0, attempt 0: `reply` is '{}'"),
    ("UPDATE requests SET reply = '{\"calls\": [7]}' WHERE trial = 3", "requests: trial 3, request 0, attempt 0"),
    ("UPDATE requests SET reply = '{\"calls\": [[1, 2, 3]]}' WHERE trial = 3", "requests: trial 3, request 0"),
    ("UPDATE requests SET offer = 'x' WHERE trial = 3", "requests: trial 3, request 0, attempt 0: `offer` is 'x'"),
    ("UPDATE offers SET names = '7'", "`names` is '7'"),
    ("UPDATE cases SET content = '{}'", "`content` is '{}'"),
    ("UPDATE arms SET planned = 'x' WHERE arm = 1", "arms: arm 1: "),
    ("DELETE FROM arms WHERE arm = 1", "arms: arm 1: "),
    ("UPDATE trials SET case_id = 'banana' WHERE trial = 3", "trials: trial 3: `case_id` is 'banana'"),
    ("UPDATE requests SET failure = 'banana' WHERE trial = 3", "request 0, attempt 0: `failure` is 'banana'"),
    ("UPDATE arms SET tokenizer = X'00' WHERE arm = 1", "arms: arm 1: `tokenizer` is X'00'"),
    ("UPDATE runs SET status = 'banana'", "`status` is 'banana'"),
]
RUN_DAMAGES = [
    ("UPDATE runs SET run = NULL", "runs: run None: `run` is NULL"),
    ("UPDATE runs SET run = X'ff00'", "`run` is X'FF00'"),
    ("UPDATE runs SET created = X'ff00'", "`created` is X'FF00'"),
    ("UPDATE runs SET status = 'banana'", "`status` is 'banana'"),
    ("UPDATE runs SET reason = X'ff00'", "`reason` is X'FF00'"),
]


@pytest.mark.parametrize(("statement", "row"), DAMAGES)
def test_E8_a_row_that_was_changed_by_hand_is_named(store: Path, statement: str, row: str) -> None:
    damage(store, statement)
    with RunStore(store) as opened:
        for _ in range(2):
            with pytest.raises(InvalidFileError) as caught:
                opened.get("latest")
        assert {(finding.rule, finding.file) for finding in caught.value.findings} == {("damaged-row", str(store))}
        assert row in caught.value.findings[0].message
        is_named = any(word in statement for word in ("outcome =", "ending", "status", "failure"))
        assert is_named == ("one of" in caught.value.findings[0].message)


@pytest.mark.parametrize(("statement", "row"), RUN_DAMAGES)
def test_E8_a_run_that_was_changed_by_hand_is_named_in_the_list_too(store: Path, statement: str, row: str) -> None:
    damage(store, statement)
    with RunStore(store) as opened:
        for read in (opened.runs, lambda: opened.get("latest")):
            with pytest.raises(InvalidFileError) as caught:
                read()
            assert row in caught.value.findings[0].message


@pytest.mark.parametrize(
    "plan",
    [
        "'{'",
        "'[]'",
        "'null'",
        "json_set(plan, '$.cases', '4')",
        "json_set(plan, '$.excluded', 7)",
        "json_set(plan, '$.dataset', 'assistant')",
        "json_set(plan, '$.arms', json('[[]]'))",
    ],
)
def test_E8_a_plan_that_was_changed_by_hand_is_named(store: Path, plan: str) -> None:
    damage(store, f"UPDATE runs SET plan = {plan}")
    with RunStore(store) as opened:
        for read in (lambda: opened.get("latest"), opened.runs):
            with pytest.raises(ToolbeltError, match=r"plan of run .* is damaged"):
                read()


def test_E8_what_is_no_utf8_is_an_error_of_the_file_too(store: Path) -> None:
    damage(store, "UPDATE trials SET reason = CAST(X'ff' AS TEXT)")
    with pytest.raises(ToolbeltError, match=r"runs.db.*reason"):
        load_run("latest", store=store)


def test_E8_every_wrong_row_is_named_but_not_thousands(store: Path) -> None:
    damage(store, "UPDATE trials SET outcome = 'banana'")
    damage(store, "UPDATE requests SET message = 1.5")
    with RunStore(store) as opened, pytest.raises(InvalidFileError) as caught:
        opened.get("latest")
    tables = [finding.message.split(":")[0] for finding in caught.value.findings]
    assert tables.count("Row of trials") == 8
    assert tables.count("Row of requests") <= 20


def test_E8_what_toolbelt_writes_is_right(finished: Path) -> None:
    with RunStore(finished) as opened:
        row = opened.get("latest")
        assert list(find_damage(opened.connection, str(finished), row.run, row.plan)) == []
