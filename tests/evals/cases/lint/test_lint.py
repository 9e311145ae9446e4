from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.evals.cases.samples import case, public, write_dataset, write_imported
from tests.wording import mentions
from toolbelt.evals.cases.dataset import open_dataset
from toolbelt.evals.cases.lint.lint import lint_dataset
from toolbelt.findings import Finding, Severity
from toolbelt.loadouts import ToolLoadout, ToolLoadoutRegistry

ROLES = ToolLoadoutRegistry(
    [ToolLoadout("gitter", default_plugins=frozenset({"git"})), ToolLoadout("nobody", default_plugins=frozenset())]
)


def lint(tmp_path: Path, *rows: Any) -> list[Finding]:
    dataset = open_dataset(str(write_dataset(tmp_path / "mine", rows)))
    return list(lint_dataset(dataset, ROLES))


def call(tool: str = "git_push", **fields: Any) -> list[dict[str, Any]]:
    return [{"tool": tool, **fields}]


NOTHING = None
ERROR, WARNING = Severity.ERROR, Severity.WARNING


@pytest.mark.parametrize(
    ("row", "found"),
    [
        pytest.param(case(), NOTHING, id="a-good-case"),
        pytest.param(case(query="Run git_push."), ("name-in-query", WARNING), id="the-tool-named-in-the-query"),
        pytest.param(case(query="GIT_PUSH!"), ("name-in-query", WARNING), id="in-another-case"),
        pytest.param(case(query="Run git_push.", tags=["easy"]), NOTHING, id="where-that-is-meant"),
        pytest.param(case(query="my_git_push_script"), NOTHING, id="as-part-of-another-name"),
        pytest.param(case(query="search it", expected=call("search")), NOTHING, id="a-name-that-is-a-plain-word"),
        pytest.param(case(query="git_push", expected=[]), NOTHING, id="a-tool-that-is-not-to-be-called"),
        pytest.param(
            case(query="git_log", accept=[call("git_log")]), ("name-in-query", WARNING), id="a-tool-of-another-answer"
        ),
        pytest.param(case(expected=call(args={"remote": "x", "force": True})), NOTHING, id="possible-arguments"),
        pytest.param(case(expected=call(args={"remote": 1})), ("impossible-argument", ERROR), id="of-the-wrong-type"),
        pytest.param(
            case(expected=call("file/read", args={"lines": 0})), ("impossible-argument", ERROR), id="out-of-range"
        ),
        pytest.param(
            case(expected=call("file/read", args_any={"lines": [0, 1]})), ("impossible-value", WARNING), id="one-of-two"
        ),
        pytest.param(
            case(expected=[{"tool": ["file/read", "web/read"], "args": {"lines": 0}}]),
            NOTHING,
            id="that-one-of-the-tools-does-not-describe",
        ),
        pytest.param(case(role="gitter"), NOTHING, id="a-role-that-has-the-tool"),
        pytest.param(case(role="giter"), ("unknown-role", ERROR), id="a-role-that-is-no-loadout"),
        pytest.param(case(role="nobody"), ("role-without-tool", WARNING), id="a-role-without-the-tool"),
        pytest.param(case(role="nobody", accept=[[]]), NOTHING, id="a-role-that-another-answer-suits"),
        pytest.param(case(role="nobody", expected=None), NOTHING, id="a-role-where-any-call-will-do"),
        pytest.param(
            case(query=..., messages=[{"role": "system", "content": "x"}]), ("nothing-asked", WARNING), id="no-user"
        ),
        pytest.param(
            public(expected_args=[{"remote": ["a", ""], "force": ["yes"]}]),
            ("label-against-schema", WARNING),
            id="values-by-looser-rules",
        ),
    ],
)
def test_E3_what_lint_says_of_a_case(tmp_path: Path, row: Any, found: Any) -> None:
    told = [(finding.rule, finding.severity) for finding in lint(tmp_path, row)]
    assert told == ([] if found is NOTHING else [found])


@pytest.mark.parametrize(
    ("count", "query", "rules"),
    [
        pytest.param(100, "Put it back. Do not keep any of what is in number {}.", ["unlike-real-queries"], id="far"),
        pytest.param(99, "Put it back. Do not keep any of what is in number {}.", [], id="of-too-few-to-know"),
    ],
)
def test_queries_that_differ_from_real_ones_are_reported_once(
    tmp_path: Path, count: int, query: str, rules: list[str]
) -> None:
    rows = [case(id=f"{number}", query=query.format(number), cluster="one") for number in range(count)]
    found = [finding for finding in lint(tmp_path, *rows) if finding.rule.startswith("unlike")]
    assert [finding.rule for finding in found] == rules
    assert all(mentions(finding.message, "several sentences", "100%", "0–42%") for finding in found)


def test_E3_the_same_words_with_another_answer_are_told_with_both_lines(tmp_path: Path) -> None:
    rows = [
        case(id="a"),
        case(id="same", note="again", cluster="a"),
        case(id="b", expected=[]),
        case(id="other-tools", expected=[], offered=["git_log"]),
        case(id="other-role", expected=[], role="gitter"),
    ]
    [finding] = [one for one in lint(tmp_path, *rows) if one.rule == "conflicting-labels"]
    assert finding.line == 3
    assert finding.message.startswith("Line 1 asks the same")


def test_E3_exact_arguments_that_lack_a_required_one_are_impossible(tmp_path: Path) -> None:
    from toolbelt.catalog import Catalog, Plugin, Tool

    schema = {"type": "object", "properties": {"a": {}, "b": {}}, "required": ["a", "b"]}
    catalog = Catalog(plugins=(Plugin("p", (Tool("t", parameters=schema), Tool("u"))),))
    rows = [
        case(id="1", expected=[{"tool": "t", "args": {"a": 1}, "args_exact": True}]),
        case(id="2", expected=[{"tool": ["t", "u"], "args_any": {}, "args_exact": True}]),
        case(id="3", query="Else.", expected=[{"tool": "t", "args": {"a": 1}}]),
    ]
    dataset = open_dataset(str(write_dataset(tmp_path / "mine", rows, catalog)))
    told = [finding for finding in lint_dataset(dataset, ROLES) if finding.rule == "impossible-argument"]
    assert [(finding.line, "requires b" in finding.message) for finding in told] == [(1, True)]


AB: dict[str, Any] = {"a": {}, "b": {}}


@pytest.mark.parametrize(
    ("schema", "wanted", "rules"),
    [
        pytest.param({"maxProperties": 1}, {"args": {"a": 1, "b": 2}}, ["impossible-argument"], id="too-many"),
        pytest.param(
            {"maxProperties": 1}, {"args": {"a": 1, "b": 2}, "optional": ["b"]}, [], id="unless-one-may-be-left-out"
        ),
        pytest.param(
            {"not": {"required": ["a", "b"]}}, {"args": {"a": 1, "b": 2}}, ["impossible-argument"], id="not-both"
        ),
        pytest.param(
            {"additionalProperties": False}, {"args": {"c": 1}}, ["impossible-argument"], id="one-that-is-not-taken"
        ),
        pytest.param(
            {"propertyNames": {"pattern": "^[ab]$"}}, {"args": {"c": 1}}, ["impossible-argument"], id="a-forbidden-name"
        ),
        pytest.param(
            {"dependentRequired": {"a": ["b"]}},
            {"args": {"a": 1}, "args_exact": True},
            ["impossible-argument"],
            id="one-that-wants-another-which-may-not-be",
        ),
        pytest.param({"dependentRequired": {"a": ["b"]}}, {"args": {"a": 1}}, [], id="which-may-be"),
        pytest.param({"minProperties": 2}, {"args": {"a": 1}}, [], id="what-more-arguments-cure"),
        pytest.param(
            {"required": ["a"]}, {"args": {"a": 1}, "optional": ["a"]}, ["optional-but-required"], id="a-required-one"
        ),
    ],
)
def test_E3_arguments_that_are_impossible_together(
    tmp_path: Path, schema: dict[str, Any], wanted: dict[str, Any], rules: list[str]
) -> None:
    from toolbelt.catalog import Catalog, Plugin, Tool

    tool = Tool("t", parameters={"type": "object", "properties": AB, **schema})
    rows = [case(expected=[{"tool": "t", **wanted}])]
    dataset = open_dataset(str(write_dataset(tmp_path / "mine", rows, Catalog(plugins=(Plugin("p", (tool,)),)))))
    assert [finding.rule for finding in lint_dataset(dataset, ROLES)] == rules


@pytest.mark.parametrize(
    "schema",
    [
        pytest.param({"type": "object", "properties": {"a": {"type": "nonsense"}}}, id="no-schema"),
        pytest.param({"properties": {"a": {"$ref": "http://127.0.0.1:9/x.json"}}}, id="a-reference-to-elsewhere"),
        pytest.param({"properties": {"a": {"$ref": "#/properties/a"}}}, id="a-reference-to-itself"),
        pytest.param({"properties": {"a": {"pattern": "(?<n>x"}}}, id="a-pattern-of-another-language"),
    ],
)
def test_a_strangers_broken_schema_says_nothing_against_a_case(tmp_path: Path, schema: dict[str, Any]) -> None:
    from toolbelt.catalog import Catalog, Plugin, Tool

    catalog = Catalog(plugins=(Plugin("p", (Tool("t", parameters=schema),)),))
    rows = [case(expected=[{"tool": "t", "args": {"a": "x"}}])]
    dataset = open_dataset(str(write_dataset(tmp_path / "mine", rows, catalog)))
    assert list(lint_dataset(dataset, ROLES)) == []


def test_E3_every_case_that_is_left_out_is_told_with_its_line_and_why(tmp_path: Path) -> None:
    rows = [public(id="a"), public(id="b", expected=["git_psh"]), public(id="c", offered=["search"])]
    dataset = open_dataset(str(write_imported(tmp_path / "theirs", rows)))
    first, second = lint_dataset(dataset, ROLES)
    assert [(one.rule, one.severity, one.line) for one in (first, second)] == [
        ("excluded-case", WARNING, 2),
        ("excluded-case", WARNING, 3),
    ]
    assert mentions(first.message, "b", "git_psh")
    assert "Did you mean 'git_push'" in first.message
    assert mentions(second.message, "c", "git_push")


def test_E3_of_very_many_that_are_left_out_the_rest_are_counted(tmp_path: Path) -> None:
    rows = [public(id="a"), *(public(id=str(number), expected=["gone"]) for number in range(1005))]
    told = list(lint_dataset(open_dataset(str(write_imported(tmp_path / "theirs", rows))), ROLES))
    assert (len(told), told[-1].rule) == (1001, "further-findings")
    assert told[-1].message.startswith("5 more")
