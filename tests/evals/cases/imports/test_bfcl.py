from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.conftest import SHARED_DATA, needs_shared_data
from tests.evals.cases.imports.samples import bring_in, cases, labels, lines_of, opened, user, write
from tests.evals.cases.samples import open_public
from toolbelt.catalog.definitions import convert_types
from toolbelt.evals.cases.case import ArgumentRules
from toolbelt.evals.cases.dataset import open_dataset
from toolbelt.evals.cases.imports.bfcl import (
    NO_GROUND_TRUTH,
    NO_QUESTION,
    OTHER_LANGUAGE,
    SEVERAL_TURNS,
)
from toolbelt.evals.cases.imports.context import ArgumentPolicy, ImportSettings
from toolbelt.evals.cases.imports.importer import AGAINST_SCHEMA
from toolbelt.evals.cases.layout import LayoutKind
from toolbelt.evals.cases.lint.lint import lint_dataset
from toolbelt.loadouts import ToolLoadoutRegistry

ADD = {
    "name": "math.add",
    "description": "Adds.",
    "parameters": {
        "type": "dict",
        "required": ["a"],
        "properties": {
            "a": {"type": "float"},
            "b": {"type": "tuple", "items": {"type": "any"}},
            "type": {"type": "dict", "properties": {"x": {"type": "integer"}}, "default": {"type": "dict"}},
        },
    },
}


def question(case_id: str = "simple_python_0", *functions: Any, **fields: Any) -> dict[str, Any]:
    """A line of a question file."""
    return {"id": case_id, "question": [[user("Add 2.")]], "function": list(functions or (ADD,)), **fields}


def truth(case_id: str = "simple_python_0", *calls: Any) -> dict[str, Any]:
    """A line of an answer file."""
    return {"id": case_id, "ground_truth": list(calls or ({"math.add": {"a": [2], "b": [[1], ""]}},))}


def test_E3_arguments_are_compared_by_the_leaderboards_rules(tmp_path: Path) -> None:
    questions = write(tmp_path / "BFCL_v4_simple_python.json", [question()])
    answers = write(tmp_path / "answers.json", [truth()])
    bring_in(tmp_path / "out", answers, questions)
    (case,) = cases(tmp_path / "out")
    assert case.expected is not None
    (call,) = case.expected
    assert call.arguments is not None
    assert (call.arguments.rules, call.arguments.optional) == (ArgumentRules.BFCL, frozenset("b"))
    assert dict(call.arguments.accepted) == {"a": (2,), "b": ([1], "")}
    assert (case.offered, case.kind, case.tags, case.draft) == (("math.add",), "single", ("simple_python",), False)
    assert opened(tmp_path / "out").layout is LayoutKind.PUBLIC


def test_E3_the_answers_beside_a_question_file_are_found_and_a_folder_stands_for_its_files(tmp_path: Path) -> None:
    write(tmp_path / "BFCL_v4_simple_python.json", [question()])
    write(tmp_path / "possible_answer" / "BFCL_v4_simple_python.json", [truth()])
    for source in (tmp_path, tmp_path / "BFCL_v4_simple_python.json"):
        imported = bring_in(tmp_path / "out", str(source), overwrite=True)
        assert (imported.cases, imported.form) == (1, "bfcl")
        assert any("possible_answer" in note for note in imported.notes)


def test_E3_kinds_come_from_the_category(tmp_path: Path) -> None:
    questions = [
        question("irrelevance_0"),
        question("live_irrelevance_1-2-3"),
        question("live_relevance_0-0-0"),
        question("parallel_0"),
        question("live_parallel_multiple_1-0-0"),
    ]
    twice = [{"math.add": {"a": [2]}}, {"math.add": {"a": [3]}}]
    answers = [truth("parallel_0", *twice), truth("live_parallel_multiple_1-0-0", *twice)]
    source = write(tmp_path / "all.json", [*questions, *answers])
    bring_in(tmp_path / "out", source)
    cases_read = cases(tmp_path / "out")
    assert [case.kind for case in cases_read] == [
        "irrelevant",
        "irrelevant",
        "relevant_any",
        "parallel",
        "parallel_multiple",
    ]
    assert [labels(case) for case in cases_read[:4]] == [[], [], None, [("math.add",), ("math.add",)]]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        pytest.param(
            question("multi_turn_base_0", question=[[user("Add.")], [user("More.")]]),
            SEVERAL_TURNS,
            id="several-turns",
        ),
        pytest.param(
            {"id": "multi_turn_base_1", "question": [[user("Add.")]], "initial_config": {}, "involved_classes": []},
            SEVERAL_TURNS,
            id="a-state",
        ),
        pytest.param(
            question("simple_java_0", {**ADD, "name": "java.add"}),
            OTHER_LANGUAGE,
            id="another-language",
        ),
        pytest.param(question("simple_python_9"), NO_GROUND_TRUTH, id="no-answer"),
        pytest.param(truth("elsewhere_0"), NO_QUESTION, id="no-question"),
    ],
)
def test_E3_what_cannot_be_mapped_is_counted(tmp_path: Path, line: Any, reason: str) -> None:
    imported = bring_in(tmp_path / "out", write(tmp_path / "all.json", [question(), truth(), line]))
    assert (imported.cases, imported.left_out, imported.tools) == (1, {reason: 1}, 1)


def test_E3_arguments_may_be_dropped(tmp_path: Path) -> None:
    source = write(tmp_path / "all.json", [question(), truth()])
    bring_in(tmp_path / "out", source, settings=ImportSettings(arguments=ArgumentPolicy.DROP))
    (case,) = cases(tmp_path / "out")
    assert case.expected is not None
    assert case.expected[0].arguments is None


def test_E3_type_words_become_those_of_json_schema() -> None:
    made = convert_types(ADD["parameters"], {"any": "string"})  # as the leaderboard's own table has it
    assert made["type"] == "object"
    assert made["properties"]["a"] == {"type": "number"}
    assert made["properties"]["b"] == {"type": "array", "items": {"type": "string"}}
    # A property that is called `type`, and a default that looks like a schema, are no types.
    assert made["properties"]["type"]["properties"] == {"x": {"type": "integer"}}
    assert made["properties"]["type"]["default"] == {"type": "dict"}


def _as_downloaded(tmp_path: Path, folder: Path) -> str:
    """The converted set, put back into the files it was converted from."""
    catalog = {tool["id"]: tool for tool in lines_of(folder / "catalog.jsonl")}
    words = {"object": "dict", "number": "float"}

    def back(schema: Any) -> Any:
        if isinstance(schema, list):
            return [back(one) for one in schema]
        if not isinstance(schema, dict):
            return schema
        return {
            key: words.get(one, one)
            if key == "type" and isinstance(one, str)
            else one
            if key == "default"
            else back(one)
            for key, one in schema.items()
        }

    questions, answers = [], []
    for case in lines_of(folder / "cases.jsonl")[::4]:
        functions = [
            {key: catalog[one][key] for key in ("name", "description")}
            | {"parameters": back(catalog[one]["parameters"])}
            for one in case["offered"]
        ]
        messages = case.get("messages") or [user(case["query"])]
        if case.get("system"):
            messages = [{"role": "system", "content": case["system"]}, *messages]
        questions.append({"id": case["id"], "question": [messages], "function": functions})
        if case["expected"]:
            calls = zip(case["expected"], case["expected_args"], strict=True)
            answers.append({"id": case["id"], "ground_truth": [{name: given} for name, given in calls]})
    write(tmp_path / "down" / "BFCL_v4_all.json", questions)
    write(tmp_path / "down" / "possible_answer" / "BFCL_v4_all.json", answers)
    return str(tmp_path / "down")


@needs_shared_data
def test_E3_the_leaderboards_files_give_what_was_converted_from_them_before(tmp_path: Path) -> None:
    before = open_public("bfcl")
    imported = bring_in(tmp_path / "out", _as_downloaded(tmp_path, SHARED_DATA / "bfcl"))
    after = open_dataset(str(tmp_path / "out"))
    assert (imported.cases, dict(imported.left_out)) == (-(-len(before) // 4), {})
    old, new = before.catalog_file.catalog, after.catalog_file.catalog
    assert len(new.tools) <= len(old.tools)
    for index in range(len(after)):
        one, two = before.case(4 * index), after.case(index)
        assert (one.id, one.messages, one.query) == (two.id, two.messages, two.query)
        assert [[old.get_tool(t).name for t in call.tools] for call in one.expected or ()] == [
            [new.get_tool(t).name for t in call.tools] for call in two.expected or ()
        ]
        assert [call.arguments for call in one.expected or ()] == [call.arguments for call in two.expected or ()]
        assert (one.expected is None, one.steps) == (two.expected is None, two.steps)
        shown = [
            [(t.name, t.parameters) for t in map(cat.get_tool, case.offered or ())]
            for cat, case in ((old, one), (new, two))
        ]
        assert shown[0] == shown[1]


@pytest.mark.parametrize(
    ("accepted", "is_against"),
    [
        pytest.param({"a": ["dontcare"]}, True, id="a-text-for-a-number"),
        pytest.param({"a": [None]}, True, id="null"),
        pytest.param({"a": ["dontcare", 2]}, False, id="one-of-two-is-taken"),
        pytest.param({"a": [2], "b": ["none", ""]}, False, id="it-may-be-left-out"),
        pytest.param({"a": [2], "type": [{"x": [1, 2]}]}, False, id="an-object-has-lists-of-accepted-values"),
        pytest.param({"b": [["1"]]}, True, id="what-is-required-is-not-named"),
    ],
)
def test_E3_a_label_against_its_own_schema_is_said_at_import_and_in_lint(
    tmp_path: Path, accepted: dict[str, Any], is_against: bool
) -> None:
    questions = write(tmp_path / "BFCL_v4_simple_python.json", [question()])
    answers = write(tmp_path / "answers.json", [truth("simple_python_0", {"math.add": accepted})])
    imported = bring_in(tmp_path / "out", answers, questions)
    assert (AGAINST_SCHEMA in imported.notes) is is_against
    found = [finding.rule for finding in lint_dataset(opened(tmp_path / "out"), ToolLoadoutRegistry())]
    assert ("label-against-schema" in found) is is_against
