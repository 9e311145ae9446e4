"""The cases that come with toolbelt: right in form, possible, reachable, balanced, and not given away (rule E3)."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any

import pytest
from jsonschema import Draft202012Validator, FormatChecker

from tests.conftest import SHARED_DATA, needs_shared_data
from tests.datasets.spellings import equal_spellings
from tests.datasets.written_cases import (
    DATASETS,
    HARD,
    NATURAL,
    CaseFields,
    asked,
    calls,
    catalog_of,
    each_case,
    leaks,
    results_of,
    right_tools,
    rows,
    said,
    tools_of,
    written_arguments,
)
from toolbelt import Catalog, open_project
from toolbelt.evals.cases.case import Case, ExpectedCall
from toolbelt.evals.cases.dataset import open_dataset
from toolbelt.evals.cases.lint.lint import lint_dataset
from toolbelt.evals.scoring.outcome import Ending, Outcome, SelectedTool
from toolbelt.evals.scoring.schemas import ArgumentSchemas
from toolbelt.evals.scoring.scoring import Scorer
from toolbelt.stores.catalogs import open_catalog

CATALOGS: dict[str, Catalog] = {name: open_catalog(catalog_of(name)).catalog for name in DATASETS}
REGISTRIES = {name: open_project(catalog=catalog_of(name)).registry for name in DATASETS}
DIFFICULTIES = ("easy", "medium", "hard")
LANGUAGES = {
    "german", "french", "spanish", "chinese", "portuguese", "japanese", "italian", "polish", "turkish", "arabic",
    "hindi", "russian", "dutch", "korean",
}  # fmt: skip
each_dataset = pytest.mark.parametrize("dataset", DATASETS)


def kind_of(row: CaseFields) -> str:
    return str(row["kind"])


def difficulties(row: CaseFields) -> list[str]:
    return [tag for tag in row["tags"] if tag in DIFFICULTIES]


def active(dataset: str, role: str) -> set[str]:
    return {tool.id for tool in REGISTRIES[dataset].resolve(role, CATALOGS[dataset]).active_tools}


@each_dataset
def test_E3_the_reader_has_nothing_to_say_about_the_file(dataset: str) -> None:
    opened = open_dataset(dataset)
    assert list(opened.warnings) == []
    assert dict(opened.excluded) == {}
    assert opened.drafts == 0
    assert [opened.case(number).id for number in range(len(opened))] == [row["id"] for row in rows(dataset)]


@each_dataset
def test_E3_lint_reports_only_that_the_hard_sets_are_unlike_real_queries(dataset: str) -> None:
    rules = [finding.rule for finding in lint_dataset(open_dataset(dataset), REGISTRIES[dataset])]
    assert rules == (["unlike-real-queries"] if dataset in HARD else [])


@each_dataset
def test_ids_are_unique_and_begin_with_the_kind(dataset: str) -> None:
    ids = [row["id"] for row in rows(dataset)]
    assert len(set(ids)) == len(ids)
    wrong = [row["id"] for row in rows(dataset) if not re.fullmatch(rf"{row['kind']}(-[a-z0-9]+)+", row["id"])]
    assert wrong == []


@each_dataset
def test_no_query_is_there_twice(dataset: str) -> None:
    seen = Counter(" ".join(re.findall(r"\w+", said(row).casefold())) for row in rows(dataset))
    assert [text for text, count in seen.items() if count > 1] == []


@pytest.mark.parametrize("dataset", HARD)
def test_a_cluster_is_three_ways_to_ask_for_the_same(dataset: str) -> None:
    clusters: dict[str, list[CaseFields]] = {}
    for row in rows(dataset):
        if "cluster" in row:
            clusters.setdefault(row["cluster"], []).append(row)
    for name, members in clusters.items():
        assert len(members) == 3, name
        for key in ("expected", "accept", "forbidden", "role", "kind"):
            assert len({json.dumps(row.get(key), sort_keys=True) for row in members}) == 1, (name, key)
    assert len(clusters) >= {"assistant-hard": 24, "tiered-hard": 8}[dataset]


@each_dataset
def test_every_tool_is_the_answer_somewhere_but_those_that_find_tools(dataset: str) -> None:
    catalog = CATALOGS[dataset]
    found = {catalog.get_tool(name).name for row in rows(dataset) for name in right_tools(row)}
    assert {tool.name for tool in catalog.tools} - found == (
        {"browse_tools", "load_tools"} if catalog_of(dataset) == "tiered" else set()
    )


@each_dataset
def test_no_tool_is_the_answer_too_often(dataset: str) -> None:
    counted = Counter(tool for row in rows(dataset) for tool in right_tools(row))
    assert {tool: count for tool, count in counted.items() if count > len(rows(dataset)) * 0.05} == {}


@each_dataset
def test_languages_typos_and_long_contexts_are_there(dataset: str) -> None:
    tags = Counter(tag for row in rows(dataset) for tag in row["tags"])
    languages, typos, long = {
        "assistant": (60, 40, 0),
        "assistant-hard": (60, 20, 20),
        "tiered": (20, 12, 0),
        "tiered-hard": (15, 6, 6),
    }[dataset]
    assert tags.keys() & LANGUAGES >= {"german", "french", "spanish"}
    assert sum(tags[language] for language in LANGUAGES) >= languages
    assert tags["typo"] >= typos
    assert tags["long"] >= long


@pytest.mark.parametrize("dataset", HARD)
def test_difficulty_is_not_one_for_all(dataset: str) -> None:
    counted = Counter(difficulties(row)[0] for row in rows(dataset))
    assert all(counted[difficulty] >= len(rows(dataset)) * 0.02 for difficulty in DIFFICULTIES), counted


@pytest.mark.parametrize("dataset", NATURAL)
def test_two_fifths_are_easy_two_medium_and_one_hard(dataset: str) -> None:
    counted = Counter(difficulties(row)[0] for row in rows(dataset))
    for difficulty, share in {"easy": 0.4, "medium": 0.4, "hard": 0.2}.items():
        assert abs(counted[difficulty] / len(rows(dataset)) - share) < 0.05, difficulty


@pytest.mark.parametrize("dataset", NATURAL)
def test_most_ask_for_one_thing_and_a_tenth_for_none(dataset: str) -> None:
    counted = Counter(len(row["expected"]) for row in rows(dataset))
    assert 0.7 < counted[1] / counted.total() < 0.85
    assert 0.08 < counted[0] / counted.total() < 0.12


@pytest.mark.parametrize("dataset", NATURAL)
def test_no_two_queries_share_seven_words_and_none_begins_like_many(dataset: str) -> None:
    words = {row["id"]: re.findall(r"\w+", asked(row).casefold()) for row in rows(dataset)}
    runs = Counter(
        run for said in words.values() for run in {tuple(said[start : start + 7]) for start in range(len(said) - 6)}
    )
    assert [" ".join(run) for run, count in runs.items() if count > 1] == []
    openings = Counter(" ".join(said[:3]) for said in words.values())
    assert {opening: count for opening, count in openings.items() if count > len(words) * 0.02} == {}


@needs_shared_data
@pytest.mark.parametrize("dataset", NATURAL)
def test_no_query_is_copied_from_a_public_set(dataset: str) -> None:
    public = set()
    for path in sorted(SHARED_DATA.glob("*/cases.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            words = re.findall(r"\w+", str(json.loads(line).get("query", "")).casefold())
            public |= {hash(tuple(words[start : start + 7])) for start in range(len(words) - 6)}
    for row in rows(dataset):
        words = re.findall(r"\w+", asked(row).casefold())
        assert not {hash(tuple(words[start : start + 7])) for start in range(len(words) - 6)} & public, row["id"]


@pytest.mark.parametrize(
    ("kind", "is_so"),
    [
        pytest.param("single", lambda tools: len(tools) == 1, id="single is one call"),
        pytest.param("confusable", lambda tools: len(tools) == 1, id="confusable is one call"),
        pytest.param("multi", lambda tools: len(tools) == len(set(tools)) >= 2, id="multi is different tools"),
        pytest.param("dependent", lambda tools: len(tools) >= 2, id="dependent is several steps"),
        pytest.param("parallel", lambda tools: len(tools) >= 2 and len(set(tools)) == 1, id="parallel is one tool"),
        pytest.param("outside", lambda tools: len(tools) >= 1, id="outside has an answer"),
        pytest.param("irrelevant", lambda tools: tools == [], id="irrelevant is no call"),
        pytest.param("clarify", lambda tools: tools == [], id="clarify asks back"),
    ],
)
def test_a_kind_is_what_its_name_says(kind: str, is_so: Any) -> None:
    made = {
        row["id"]: [str(call["tool"]) for call in row["expected"]]
        for name in DATASETS
        for row in rows(name)
        if row["kind"] == kind
    }
    assert made
    assert {case_id: tools for case_id, tools in made.items() if not is_so(tools)} == {}


@each_case(*DATASETS)
def test_each_case_has_one_difficulty_and_a_role(dataset: str, row: CaseFields) -> None:
    assert len(difficulties(row)) == 1
    assert REGISTRIES[dataset].get_loadout(row["role"]) is not None
    assert len(row["tags"]) == len(set(row["tags"]))


@each_case(*DATASETS)
def test_E3_each_tool_is_in_the_catalog_by_a_name_that_means_one(dataset: str, row: CaseFields) -> None:
    named = [*right_tools(row), *row.get("forbidden", ()), *row.get("allowed_extra", ()), *row.get("results", {})]
    for name in named:
        assert CATALOGS[dataset].get_tool(name).name == name


@each_case(*DATASETS)
def test_E3_each_argument_is_one_the_tool_takes(dataset: str, row: CaseFields) -> None:
    for call in calls(row):
        for tool in tools_of(call):
            properties = CATALOGS[dataset].get_tool(tool).parameters["properties"]
            for name, value in written_arguments(call):
                assert name in properties
                schema = Draft202012Validator(properties[name], format_checker=FormatChecker())
                assert [error.message for error in schema.iter_errors(value)] == []


@each_case(*DATASETS)
def test_an_argument_that_is_the_default_may_be_left_out(dataset: str, row: CaseFields) -> None:
    for call in calls(row):
        properties = CATALOGS[dataset].get_tool(tools_of(call)[0]).parameters["properties"]
        defaults = {name for name, value in written_arguments(call) if properties[name].get("default", ...) == value}
        assert defaults <= set(call.get("optional", ()))


@each_case(*DATASETS)
def test_E3_nothing_forbidden_is_right(dataset: str, row: CaseFields) -> None:
    extra = set(row.get("allowed_extra", ()))
    assert (right_tools(row) | extra) & set(row.get("forbidden", ())) == set()


@each_case(*DATASETS)
def test_E3_surplus_calls_leave_room_for_the_right_ones(dataset: str, row: CaseFields) -> None:
    longest = max(len(answer) for answer in (row["expected"], *row.get("accept", ())))
    if row.get("allowed_extra") and longest:
        assert row["steps"] > longest, "a look around first must not use up the steps"
    if row["kind"] == "dependent":
        assert row.get("steps", longest) >= longest


@each_case(*DATASETS)
def test_results_are_of_tools_that_may_be_called(dataset: str, row: CaseFields) -> None:
    assert row.get("results", {}).keys() <= right_tools(row) | set(row.get("allowed_extra", ()))


@each_case(*DATASETS)
def test_what_the_second_step_needs_the_first_one_says(dataset: str, row: CaseFields) -> None:
    if row["kind"] != "dependent":
        return
    assert row["match"] == "ordered"
    first = tools_of(row["expected"][0])
    assert set(first) & row["results"].keys(), "the first call is answered with what the next one needs"
    assert all(str(result).strip() for tool in first if tool in row["results"] for result in results_of(row, tool))


@each_case(*DATASETS)
def test_the_role_has_the_tools_unless_the_case_is_about_that(dataset: str, row: CaseFields) -> None:
    catalog, shown = CATALOGS[dataset], active(dataset, row["role"])
    ids = [{catalog.get_tool(tool).id for tool in tools_of(call)} for call in row["expected"]]
    assert ("outside-role" in row["tags"]) == (row["kind"] == "outside")
    if row["kind"] == "outside":
        assert any(not one & shown for one in ids)
        assert row["note"].strip()
    else:
        assert all(one & shown for one in ids)


@each_case(*HARD)
def test_only_an_easy_case_names_its_tool(dataset: str, row: CaseFields) -> None:
    named = [tool for call in row["expected"] for tool in tools_of(call) if leaks(tool, asked(row))]
    assert not named or "easy" in row["tags"], named


@each_case(*DATASETS)
def test_every_confusable_case_says_what_discriminates_and_from_what(dataset: str, row: CaseFields) -> None:
    if row["kind"] != "confusable":
        return
    assert row["note"].strip()
    pairs = [tag.split("/") for tag in row["tags"] if "/" in tag]
    assert len(pairs) == 1
    right, *others = pairs[0]
    assert right in tools_of(row["expected"][0])
    assert others
    for name in others:
        assert CATALOGS[dataset].get_tool(name).name == name, "a tool that somebody might take instead"


@each_case(*DATASETS)
def test_cases_about_arguments_check_some_and_histories_have_one(dataset: str, row: CaseFields) -> None:
    if row["kind"] == "arguments":
        assert all(list(written_arguments(call)) for call in calls(row))
    assert "messages" in row or row["kind"] != "history"


@each_case(*DATASETS)
def test_a_history_is_a_conversation_that_ends_with_the_user(dataset: str, row: CaseFields) -> None:
    messages = row.get("messages", [{"role": "user"}])
    assert messages[-1]["role"] == "user"
    made = [call for message in messages for call in message.get("tool_calls", ())]
    assert [call["id"] for call in made] == [m["tool_call_id"] for m in messages if m["role"] == "tool"]
    for call in made:
        schema = Draft202012Validator(CATALOGS[dataset].get_tool(call["function"]["name"]).parameters)
        assert [error.message for error in schema.iter_errors(json.loads(call["function"]["arguments"]))] == []


@each_case(*DATASETS)
def test_a_long_case_is_long_and_the_others_are_not(dataset: str, row: CaseFields) -> None:
    written = json.dumps(row.get("messages", row.get("query")), ensure_ascii=False)
    if "long" in row["tags"]:
        assert len(written) > 2500
    else:
        assert len(written) < 6000


@each_case(*DATASETS)
def test_E3_every_equal_spelling_of_an_argument_is_accepted(dataset: str, row: CaseFields) -> None:
    for call in calls(row):
        tool = CATALOGS[dataset].get_tool(tools_of(call)[0])
        accepted: dict[str, list[Any]] = {}
        for name, value in written_arguments(call):
            accepted.setdefault(name, []).append(value)
        for name, values in accepted.items():
            schema = tool.parameters["properties"][name]
            wanted = [spelling for value in values for spelling in equal_spellings(tool, name, schema, value)]
            assert [spelling for spelling in wanted if spelling not in values] == []


@pytest.mark.parametrize("dataset", DATASETS)
def test_E5_the_right_tools_with_wrong_or_missing_arguments_are_hardly_ever_solved(dataset: str) -> None:
    """A model that always picks the right tools, and makes up its arguments or gives none, solves next to nothing."""
    opened = open_dataset(dataset)
    scorer = Scorer(ArgumentSchemas(CATALOGS[dataset]))
    cases = [case for case in map(opened.case, range(len(opened))) if case.expected]
    for made_up in (False, True):
        asking = [case for case in cases if any(checked_names(call, made_up) for call in case.expected or ())]
        assert len(asking) > 0.8 * len(cases)
        outcomes = {
            case.id: scorer.score(case, wrong_calls(CATALOGS[dataset], case, made_up), Ending.STEPS).outcome
            for case in asking
        }
        solved = [case_id for case_id, outcome in outcomes.items() if outcome is Outcome.CORRECT]
        assert len(solved) <= 0.02 * len(asking), solved


def checked_names(call: ExpectedCall, optional: bool) -> list[str]:
    """Names of the arguments that are checked, with those that may be left out or without."""
    if call.arguments is None:
        return []
    return sorted(call.arguments.names if optional else call.arguments.names - call.arguments.optional)


def wrong_calls(catalog: Catalog, case: Case, made_up: bool) -> list[SelectedTool]:
    """The right calls in their order, without arguments, or each checked one with a value that nobody asked for."""
    calls = []
    for number, call in enumerate(case.expected or ()):
        tool = catalog.get_tool(call.tools[0])
        names = checked_names(call, optional=True) if made_up else []
        given = {name: nonsense(tool.parameters["properties"][name]) for name in names}
        calls.append(SelectedTool(number, tool.name, tool.id, True, given))
    return calls


def nonsense(schema: dict[str, Any]) -> Any:
    kind = schema.get("type")
    if "enum" in schema:
        return "made-up"
    return {"integer": 987654321, "number": 987654321, "boolean": None, "array": ["made-up"], "object": {}}.get(
        kind if isinstance(kind, str) else "", "made-up"
    )
