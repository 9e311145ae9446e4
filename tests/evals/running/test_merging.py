"""Shards merged into one run (rule X4): real runs of local/bm25 over a small dataset, in real files."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import signal
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.benchmarks.eval_work import write_work
from toolbelt.errors import InvalidFileError, NotFoundError, ToolbeltError
from toolbelt.evals import merge_runs, resume_run, run_eval
from toolbelt.evals.run import Run
from toolbelt.evals.running.locks import RunLocks
from toolbelt.evals.running.merging import merge_shards
from toolbelt.evals.running.plan import RunSettings
from toolbelt.evals.running.runner import RunEnd
from toolbelt.evals.running.store import RunStore
from toolbelt.providers.chat import Sampling

CASES, COUNT = 14, 3


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset with clusters, an unsharded run of it, and three shards, a file each."""
    folder = tmp_path_factory.mktemp("shards")
    work = write_work(folder / "work", CASES, tools=8)
    rows = [json.loads(line) for line in (work / "cases.jsonl").read_text().splitlines()]
    for number, row in enumerate(rows):
        row["cluster"] = f"task {number % 9}"  # five of two cases, four of one
    (work / "cases.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    ask(folder, folder / "whole.db")
    for number in range(1, COUNT + 1):
        ask(folder, shard_file(folder, number), shard=f"{number}/{COUNT}")
    return folder


def ask(folder: Path, store: Path, **changes: Any) -> Run:
    """With what is drawn: which distractors, in which order, anew in each epoch."""
    settings: dict[str, Any] = {"epochs": 2, "variants": ["plain", "shuffled"], **changes}
    return run_eval(folder / "work", "local/bm25", ["full", "oracle+3"], store=store, **settings)


def shard_file(folder: Path, number: int) -> Path:
    return folder / f"{number}.db"


def shard_files(folder: Path, *numbers: int) -> list[Path]:
    return [shard_file(folder, number) for number in numbers or range(1, COUNT + 1)]


def rows(store: Path, run: str) -> dict[str, list[tuple[Any, ...]]]:
    """Everything that is stored of a run, but for when it was and how long it took."""
    with closing(sqlite3.connect(store)) as connection:
        found = {}
        for table in ("arms", "cases", "requests", "trials"):
            names = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
            columns = ", ".join(name for name in names if name not in ("run", "finished", "latency_seconds"))
            found[table] = connection.execute(
                f"SELECT {columns} FROM {table} WHERE run = ? ORDER BY {columns}", (run,)
            ).fetchall()
    return found


def whole(folder: Path) -> dict[str, list[tuple[Any, ...]]]:
    with RunStore(folder / "whole.db") as store:
        return rows(folder / "whole.db", store.get("latest").run)


def dump(store: Path) -> list[str]:
    with closing(sqlite3.connect(store)) as connection:
        return list(connection.iterdump())


@pytest.mark.parametrize(
    "steps",
    [
        pytest.param([(1, 2, 3)], id="all at once"),
        pytest.param([(3, 1, 2)], id="in another order"),
        pytest.param([(2,), (3,), (1,)], id="one by one"),
        pytest.param([(1, 2), (2, 3)], id="overlapping"),
    ],
)
def test_X4_merged_shards_equal_an_unsharded_run(steps: list[tuple[int, ...]], folder: Path, tmp_path: Path) -> None:
    merged = [merge_runs(shard_files(folder, *numbers), store=tmp_path / "runs.db") for numbers in steps]
    assert len({run.id for run in merged}) == 1
    assert [run.end for run in merged] == [RunEnd.INCOMPLETE] * (len(steps) - 1) + [RunEnd.FINISHED]
    assert rows(tmp_path / "runs.db", merged[-1].id) == whole(folder)
    assert merged[-1].summary.planned == CASES * 4 * 2


def test_X4_to_merge_again_changes_nothing(folder: Path, tmp_path: Path) -> None:
    store = tmp_path / "runs.db"
    first = merge_runs(shard_files(folder), store=store)
    before = dump(store)
    assert merge_runs(shard_files(folder), store=store).id == first.id
    assert merge_runs(shard_files(folder, 2), store=store).end is RunEnd.FINISHED
    assert dump(store) == before


def test_X4_shards_of_one_file_are_merged_in_it(folder: Path, tmp_path: Path) -> None:
    store = tmp_path / "runs.db"
    for number in range(1, COUNT + 1):
        ask(folder, store, shard=f"{number}/{COUNT}")
    merged = merge_runs(store, store=store)
    assert merged.end is RunEnd.FINISHED
    assert rows(store, merged.id) == whole(folder)


def test_X4_what_is_missing_is_named_and_can_be_asked_here(folder: Path, tmp_path: Path) -> None:
    store = tmp_path / "runs.db"
    merged = merge_runs(shard_files(folder, 1), store=store)
    assert (merged.end, merged.reason) == (RunEnd.INCOMPLETE, "shards 2/3, 3/3 are missing")
    assert merged.summary.reason == merged.reason, "reports say so"
    assert resume_run(merged).end is RunEnd.FINISHED
    assert rows(store, merged.id) == whole(folder)
    assert merge_runs(shard_files(folder), store=store).end is RunEnd.FINISHED
    assert rows(store, merged.id) == whole(folder), "shards that come late add nothing to what was asked here"


def test_X4_a_shard_that_went_on_is_merged_anew(folder: Path, tmp_path: Path) -> None:
    part, store = tmp_path / "2.db", tmp_path / "runs.db"
    shutil.copy(shard_file(folder, 2), part)
    with closing(sqlite3.connect(part, isolation_level=None)) as connection:
        connection.execute("UPDATE trials SET outcome = 'error', ending = 'error' WHERE trial % 5 = 0")
        connection.execute("DELETE FROM trials WHERE trial % 5 = 1")
        [left] = connection.execute("SELECT 40 - count(*) FROM trials").fetchone()
    merged = merge_runs([part, *shard_files(folder, 1, 3)], store=store)
    assert merged.end is RunEnd.INCOMPLETE
    assert f"shard 2/3 is not finished, {left} of 40 trials are left" in merged.reason
    resume_run(store=part, retry_errors=True)
    assert merge_runs([part, *shard_files(folder, 1, 3)], store=store).end is RunEnd.FINISHED
    assert rows(store, merged.id)["trials"] == whole(folder)["trials"]


def test_X4_a_killed_merge_loses_nothing_and_is_repeated(folder: Path, tmp_path: Path) -> None:
    store = tmp_path / "runs.db"
    child = os.fork()
    if not child:  # a process of its own, which is gone in the middle
        merge_shards(
            shard_files(folder),
            store,
            advance=lambda number: os.kill(os.getpid(), signal.SIGKILL if number == 2 else 0),
        )
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    with RunStore(store) as opened:
        row = opened.get("latest")
        assert (opened.find_status(row), list(row.plan.merged)) == ("killed", ["1/3", "2/3"])
    merged = merge_runs(shard_files(folder), store=store)
    assert (merged.id, merged.end) == (row.run, RunEnd.FINISHED)
    assert rows(store, merged.id) == whole(folder)


def test_X4_another_night_is_another_run(folder: Path, tmp_path: Path) -> None:
    store = tmp_path / "runs.db"
    first = merge_runs(shard_files(folder), store=store)
    for number in range(1, COUNT + 1):
        ask(folder, tmp_path / f"{number}.db", shard=f"{number}/{COUNT}")
    assert merge_runs(shard_files(tmp_path), store=store).id != first.id


@pytest.mark.parametrize(
    ("changes", "reasons"),
    [
        pytest.param({"epochs": 1, "seed": 5}, ["epochs: ", "seed: ", "sampling: "], id="settings, all at once"),
        pytest.param({"variants": ["plain"]}, ["arms: "], id="other arms"),
        pytest.param({"limit": 13}, ["cases that are asked"], id="other cases"),
        pytest.param({"shard": "2/4"}, ["number of shards: 3 in shard 1/3; 4 in shard 2/4"], id="other shards"),
        pytest.param({"shard": "1/3"}, ["shard 1/3 was run more than once"], id="the same shard twice"),
    ],
)
def test_X4_what_does_not_belong_together_is_refused(
    changes: dict[str, Any], reasons: list[str], folder: Path, tmp_path: Path
) -> None:
    ask(folder, tmp_path / "other.db", **{"shard": "2/3", **changes})
    with pytest.raises(InvalidFileError) as refused:
        merge_runs([shard_file(folder, 1), tmp_path / "other.db"], store=tmp_path / "runs.db")
    messages = [finding.message for finding in refused.value.findings]
    assert [message[: len(reason)] for message, reason in zip(messages, reasons, strict=True)] == reasons
    assert not (tmp_path / "runs.db").exists()


CHANGED: dict[str, Any] = {
    "epochs": 3,
    "seed": 5,
    "sampling": Sampling(temperature=0.5),
    "request_limit": 3,
    "ask_anyway": True,
    "system": "Be brief.",
}
"""Another value of each setting that must be the same in all shards."""
FREE = {
    "filter": "the digest of the chosen cases is compared",
    "suite": "the arms are compared",
    "shard": "it is what differs; the number of shards is compared",
    "decision": "a shard cannot have one",
    "imported": "imported answers are of no shard",
    "api_base": "a model may be asked at several places; who answered is compared",
}
"""The settings that need not be the same, and why."""


def test_X4_no_setting_is_forgotten(folder: Path, tmp_path: Path) -> None:
    """A new setting has to be put into one of the two tables, and into `stored_shards` if it must be the same."""
    assert {*CHANGED, *FREE} == {field.name for field in dataclasses.fields(RunSettings)}
    for name, value in CHANGED.items():
        other = tmp_path / f"{name}.db"
        shutil.copy(shard_file(folder, 2), other)
        with RunStore(other) as store:
            row = store.get("latest")
            store.replace_plan(row.run, dataclasses.replace(row.plan, **{name: value}))
        with pytest.raises(InvalidFileError) as refused:
            merge_runs([shard_file(folder, 1), other], store=tmp_path / "runs.db")
        assert [finding.rule for finding in refused.value.findings] == ["shards-differ"], name


def test_X4_other_cases_or_tools_are_refused(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder / "work", tmp_path / "work")
    for name, old, new in (("cases.jsonl", "Case 0:", "Case O:"), ("catalog.json", "file", "document")):
        text = (tmp_path / "work" / name).read_text()
        (tmp_path / "work" / name).write_text(text.replace(old, new, 1))
    ask(tmp_path, tmp_path / "2.db", shard="2/3")
    with pytest.raises(InvalidFileError, match=r"(?s)dataset, by its digest.*catalog, loadouts"):
        merge_runs([shard_file(folder, 1), tmp_path / "2.db"], store=tmp_path / "runs.db")


def test_X4_shards_that_other_models_answered_are_refused_unless_allowed(folder: Path, tmp_path: Path) -> None:
    for number in (1, 2):
        shutil.copy(shard_file(folder, number), tmp_path / f"{number}.db")
        with closing(sqlite3.connect(tmp_path / f"{number}.db", isolation_level=None)) as connection:
            connection.execute("UPDATE requests SET reply = json_set(reply, '$.served_by', ?)", (f"model-{number}",))
    with pytest.raises(InvalidFileError, match="model-1 in shard 1/3; model-2 in shard 2/3") as refused:
        merge_runs(shard_files(tmp_path, 1, 2), store=tmp_path / "runs.db")
    assert [finding.rule for finding in refused.value.findings] == ["mixed-models"]
    merged = merge_runs(shard_files(tmp_path, 1, 2), store=tmp_path / "runs.db", allow_mixed=True)
    assert merged.reason == "shard 3/3 is missing"


def test_X4_of_a_shard_that_was_begun_anew_the_later_run_is_taken_unless_another_is_named(
    folder: Path, tmp_path: Path
) -> None:
    part = tmp_path / "1.db"
    runs = [ask(folder, part, shard="1/3").id for _ in range(2)]
    merged = merge_runs(part, store=tmp_path / "late.db")
    with RunStore(merged.store) as store:
        assert store.get(merged.id).plan.merged == {"1/3": runs[1]}
    merged = merge_runs(part, store=tmp_path / "named.db", runs=runs[0])
    with RunStore(merged.store) as store:
        assert store.get(merged.id).plan.merged == {"1/3": runs[0]}
    with pytest.raises(NotFoundError, match="No shard's run named 'nope'"):
        merge_runs(part, store=tmp_path / "named.db", runs="nope")


def test_X4_a_file_without_shards_is_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(InvalidFileError, match="There is no shard in it"):
        merge_runs([folder / "whole.db", shard_file(folder, 1)], store=tmp_path / "runs.db")
    with pytest.raises(NotFoundError):
        merge_runs(tmp_path / "none.db", store=tmp_path / "runs.db")
    assert not (tmp_path / "runs.db").exists()


def test_X4_every_file_that_cannot_be_used_is_named_and_none_is_written_to(folder: Path, tmp_path: Path) -> None:
    empty, no_tables, broken = (tmp_path / f"{name}.db" for name in ("empty", "no-tables", "broken"))
    empty.touch()
    with closing(sqlite3.connect(no_tables)) as connection:
        connection.execute("VACUUM")  # which writes the first page
    broken.write_bytes(b"no database" * 1000)
    before = {file: file.read_bytes() for file in (empty, no_tables, broken)}
    assert len(before[no_tables]) > 0
    files = [broken, tmp_path / "nowhere.db", shard_file(folder, 1), empty, no_tables]
    with pytest.raises(InvalidFileError) as refused:
        merge_runs(files, store=tmp_path / "runs.db")
    assert [Path(str(finding.file)).name for finding in refused.value.findings] == [
        *("broken.db", "nowhere.db", "empty.db", "no-tables.db")
    ]
    assert {file: file.read_bytes() for file in before} == before
    assert {path.name for path in tmp_path.iterdir()} == {"broken.db", "empty.db", "no-tables.db"}


def test_X4_shards_whose_definitions_were_counted_otherwise_are_refused(folder: Path, tmp_path: Path) -> None:
    shutil.copy(shard_file(folder, 2), tmp_path / "2.db")
    with closing(sqlite3.connect(tmp_path / "2.db", isolation_level=None)) as connection:
        connection.execute("UPDATE arms SET tokenizer = 'cl100k_base'")
    with pytest.raises(InvalidFileError, match="tokenizers that counted") as refused:
        merge_runs([shard_file(folder, 1), tmp_path / "2.db"], store=tmp_path / "runs.db")
    assert len(refused.value.findings) == 1


def test_X4_one_merge_at_a_time(folder: Path, tmp_path: Path) -> None:
    store = tmp_path / "runs.db"
    with (
        RunLocks(tmp_path / "locks").claim("merge"),
        pytest.raises(ToolbeltError, match="worked on by another process"),
    ):
        merge_runs(shard_files(folder), store=store)


def test_X4_a_shard_may_be_killed_and_resumed(folder: Path, tmp_path: Path) -> None:
    """Its unfinished trials keep their numbers, and cases are stored for those asked alone."""
    part = tmp_path / "1.db"
    ask(folder, part, shard="1/3", max_requests=9)
    resume_run(store=part)
    with RunStore(part) as store, RunStore(shard_file(folder, 1)) as unbroken:
        run, other = store.get("latest").run, unbroken.get("latest").run
    assert rows(part, run) == rows(shard_file(folder, 1), other)
