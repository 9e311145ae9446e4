from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from tests.evals.cases.imports.samples import answer, bring_in, calling, cases, labels, rows
from tests.evals.cases.samples import CATALOG
from tests.wording import mentions
from toolbelt.evals.cases.imports.context import NOT_IN_CATALOG, NOT_OFFERED, ArgumentPolicy, ImportSettings
from toolbelt.evals.cases.imports.mcp_atlas import NO_TRAJECTORY, OFFERED_LESS, ONE_WAY
from toolbelt.evals.cases.imports.messages import MADE_AGAIN

TRAJECTORY = [
    {**calling("git_git_log", start=0), "content": "I look first."},
    {**answer(0, ""), "content": [{"type": "text", "text": "two commits"}]},
    calling("git_git_push", start=1, remote="o"),
    answer(1, "done"),
]
TASK: dict[str, Any] = {
    "TASK": "t1",
    "ENABLED_TOOLS": json.dumps(["git_git_log", "git_git_push", "web_search"]),
    "PROMPT": "Publish what I did since Monday.",
    "TRAJECTORY": json.dumps(TRAJECTORY),
    "GTFA_CLAIMS": '["It is published."]',
}


def write(path: Path, *tasks: dict[str, Any]) -> str:
    """Tasks as a table, of the kind that the file's name says."""
    if path.suffix == ".parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        pq.write_table(pa.Table.from_pylist(list(tasks)), path)
    else:
        with path.open("w", newline="", encoding="utf-8") as handle:
            writer = csv.DictWriter(handle, TASK)
            writer.writeheader()
            writer.writerows(tasks)
    return str(path)


@pytest.mark.parametrize("name", ["tasks.csv", "tasks.parquet"])
def test_E3_a_trajectory_is_the_label_and_gives_the_results(tmp_path: Path, name: str) -> None:
    imported = bring_in(tmp_path / "out", write(tmp_path / name, TASK, {**TASK, "TASK": "t2"}), catalog=CATALOG)
    case, other = cases(tmp_path / "out")
    assert (imported.form, imported.records, imported.left_out) == ("mcp-atlas", 2, {})
    assert (case.id, case.query, case.kind, case.draft) == ("t1", TASK["PROMPT"], "multi", False)
    assert labels(case) == [("git/git_log",), ("git/git_push",)]
    assert case.offered == ("git/git_log", "git/git_push", "web/search")
    assert dict(case.results) == {"git/git_log": ("two commits",), "git/git_push": ("done",)}
    assert other.id == "t2"
    assert mentions("\n".join(imported.notes), ONE_WAY, "2 times")


@pytest.mark.parametrize(("policy", "kept"), [(None, False), (ArgumentPolicy.KEEP, True)])
def test_E3_arguments_of_a_trajectory_are_one_wording_of_many(
    tmp_path: Path, policy: ArgumentPolicy | None, kept: bool
) -> None:
    source = write(tmp_path / "tasks.csv", TASK)
    bring_in(tmp_path / "out", source, catalog=CATALOG, settings=ImportSettings(arguments=policy))
    assert rows(tmp_path / "out")[0]["expected"][1] == {"tool": "git/git_push"} | (
        {"args": {"remote": "o"}} if kept else {}
    )


@pytest.mark.parametrize(
    ("written", "offered"),
    [
        pytest.param('[{"name": "git_git_log"}, {"name": "git_git_push"}]', 2, id="objects"),
        pytest.param("git_git_log, git_git_push", 2, id="commas"),
        pytest.param("", None, id="empty"),
    ],
)
def test_E3_what_is_offered_may_be_written_in_three_ways(tmp_path: Path, written: str, offered: int | None) -> None:
    bring_in(tmp_path / "out", write(tmp_path / "t.csv", {**TASK, "ENABLED_TOOLS": written}), catalog=CATALOG)
    (case,) = cases(tmp_path / "out")
    assert (None if case.offered is None else len(case.offered)) == offered


def test_E3_distractors_that_the_catalog_lacks_are_noted(tmp_path: Path) -> None:
    enabled = json.dumps(["git_git_log", "git_git_push", "slack_channels_list"])
    imported = bring_in(
        tmp_path / "out", write(tmp_path / "t.csv", {**TASK, "ENABLED_TOOLS": enabled}, TASK), catalog=CATALOG
    )
    assert cases(tmp_path / "out")[0].offered == ("git/git_log", "git/git_push")
    assert OFFERED_LESS in imported.notes


@pytest.mark.parametrize(
    ("fields", "counted"),
    [
        pytest.param({"TRAJECTORY": ""}, NO_TRAJECTORY, id="no-trajectory"),
        pytest.param({"TRAJECTORY": "[]"}, NO_TRAJECTORY, id="an-empty-one"),
        pytest.param({"TRAJECTORY": json.dumps([calling("slack_send")])}, NOT_IN_CATALOG, id="another-servers-tool"),
        pytest.param({"ENABLED_TOOLS": '["web_search"]'}, NOT_OFFERED, id="a-call-that-is-not-offered"),
        pytest.param({"TRAJECTORY": "[{oops"}, "broken: syntax", id="no-json"),
        pytest.param({"TRAJECTORY": "{}"}, "broken: wrong-type", id="an-object"),
        pytest.param({"ENABLED_TOOLS": "[7]"}, "broken: wrong-type", id="a-number-for-a-tool"),
    ],
)
def test_E3_tasks_that_make_no_case_are_counted(tmp_path: Path, fields: dict[str, str], counted: str) -> None:
    source = write(tmp_path / "t.csv", TASK, {**TASK, **fields})
    imported = bring_in(tmp_path / "out", source, catalog=CATALOG)
    assert (imported.cases, imported.left_out) == (1, {counted: 1})
    assert [one.line for one in imported.lines] == [3]


def test_E9_broken_json_in_a_cell_is_reported_with_its_row(tmp_path: Path) -> None:
    source = write(tmp_path / "t.csv", TASK, {**TASK, "TRAJECTORY": "[{oops"})
    imported = bring_in(tmp_path / "out", source, catalog=CATALOG)
    assert [(finding.rule, finding.line) for finding in imported.broken] == [("syntax", 3)]


def test_K14_a_call_of_a_trajectory_that_failed_and_was_made_again_is_not_expected(tmp_path: Path) -> None:
    failed = [calling("git_git_push", start=0, remote="x"), answer(0, "Error: no such remote")]
    task = {**TASK, "TRAJECTORY": json.dumps([*failed, *TRAJECTORY[2:]])}
    imported = bring_in(tmp_path / "out", write(tmp_path / "t.csv", task), catalog=CATALOG)
    (case,) = cases(tmp_path / "out")
    assert (labels(case), case.results["git/git_push"]) == ([("git/git_push",)], ("done",))
    assert MADE_AGAIN in imported.notes
