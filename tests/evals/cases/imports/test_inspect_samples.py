from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.evals.cases.imports.samples import bring_in, cases, labels, rows, user, write
from tests.evals.cases.samples import CATALOG
from toolbelt.errors import InvalidFileError
from toolbelt.evals.cases.imports.context import NOT_IN_CATALOG, ImportSettings
from toolbelt.evals.cases.imports.inspect_samples import EMPTY_TARGET, MULTIPLE_CHOICE, NO_TOOL_FIELD
from toolbelt.evals.cases.imports.messages import PICTURE_ELSEWHERE

SAMPLE = {"id": 7, "input": "Send it off.", "target": "git_push"}


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        pytest.param({}, [("git/git_push",)], id="a-name"),
        pytest.param({"target": ["git_log", "git_push"]}, [("git/git_log",), ("git/git_push",)], id="names"),
        pytest.param({"target": []}, [], id="no-tool"),
        pytest.param(
            {"target": "done", "metadata": {"expected_tools": ["git_log"]}}, [("git/git_log",)], id="metadata-first"
        ),
        pytest.param({"target": "read"}, [("file/read", "web/read")], id="a-name-of-two"),
        pytest.param(
            {"target": [{"function": "git_push", "arguments": {"remote": "o"}}]}, [("git/git_push",)], id="calls"
        ),
    ],
)
def test_E3_the_target_names_the_tools(tmp_path: Path, fields: Any, expected: Any) -> None:
    source = write(tmp_path / "s.jsonl", [{**SAMPLE, **fields}])
    imported = bring_in(tmp_path / "out", source, catalog=CATALOG)
    (case,) = cases(tmp_path / "out")
    assert (imported.form, case.id, labels(case), case.draft) == ("inspect", "7", expected, False)


def test_E3_arguments_that_people_wrote_are_kept(tmp_path: Path) -> None:
    target = [{"tool": "git_push", "args": {"remote": "o"}}]
    bring_in(tmp_path / "out", write(tmp_path / "s.jsonl", [{**SAMPLE, "target": target}]), catalog=CATALOG)
    assert rows(tmp_path / "out")[0]["expected"] == [{"tool": "git/git_push", "args": {"remote": "o"}}]


def test_E3_a_field_may_be_named(tmp_path: Path) -> None:
    record = {**SAMPLE, "metadata": {"right": {"tools": ["git_log"]}, "tags": ["t"]}, "input": [user("Hello.")]}
    bring_in(
        tmp_path / "out",
        write(tmp_path / "s.jsonl", [record]),
        catalog=CATALOG,
        settings=ImportSettings(target_field="metadata.right.tools", tags=("mine",), role="developer", kind="k"),
    )
    (case,) = cases(tmp_path / "out")
    assert (labels(case), case.query, case.tags) == ([("git/git_log",)], "Hello.", ("t", "mine"))
    assert (case.role, case.kind) == ("developer", "k")


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        pytest.param({"choices": ["a", "b"], "target": "A"}, MULTIPLE_CHOICE, id="choices"),
        pytest.param({"target": "42"}, NOT_IN_CATALOG, id="an-answer"),
        pytest.param({"target": ""}, EMPTY_TARGET, id="empty"),
        pytest.param({"target": None}, NO_TOOL_FIELD, id="none"),
    ],
)
def test_E3_samples_whose_target_names_no_tool_are_counted(tmp_path: Path, fields: Any, reason: str) -> None:
    imported = bring_in(tmp_path / "out", write(tmp_path / "s.jsonl", [SAMPLE, {**SAMPLE, **fields}]), catalog=CATALOG)
    assert (imported.cases, imported.left_out) == (1, {reason: 1})


def test_E3_samples_need_a_catalog(tmp_path: Path) -> None:
    with pytest.raises(InvalidFileError, match="--catalog"):
        bring_in(tmp_path / "out", write(tmp_path / "s.jsonl", [SAMPLE]))


def test_E3_calls_in_a_history_are_written_in_openais_form(tmp_path: Path) -> None:
    call = {"id": "a", "type": "function", "function": "git_log", "arguments": {"x": 1}}
    talk = [
        user("Hi."),
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "content": "12", "tool_call_id": "a", "function": "git_log"},
        {"role": "user", "content": [{"type": "image", "image": "https://a.example/b.png"}]},
    ]
    bring_in(tmp_path / "out", write(tmp_path / "s.jsonl", [{**SAMPLE, "input": talk}]), catalog=CATALOG)
    (row,) = rows(tmp_path / "out")
    assert row["messages"][1:] == [
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": "a", "type": "function", "function": {"name": "git_log", "arguments": '{"x": 1}'}}],
        },
        {"role": "tool", "content": "12", "tool_call_id": "a"},
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://a.example/b.png"}}]},
    ]


def test_E3_a_picture_in_another_file_is_left_out(tmp_path: Path) -> None:
    seen = {**SAMPLE, "input": [{"role": "user", "content": [{"type": "image", "image": "a.png"}]}]}
    imported = bring_in(tmp_path / "out", write(tmp_path / "s.jsonl", [SAMPLE, seen]), catalog=CATALOG)
    assert (imported.cases, imported.left_out) == (1, {PICTURE_ELSEWHERE: 1})
