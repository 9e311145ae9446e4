"""The cases that come with the assistant's catalog: balanced, possible, reachable, and not given away."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator, FormatChecker

from toolbelt import Catalog, ToolLoadoutRegistry
from toolbelt.evals.cases.dataset import open_dataset
from toolbelt.evals.scoring.outcome import Ending, Outcome, Selection
from toolbelt.evals.scoring.schemas import ArgumentSchemas
from toolbelt.evals.scoring.scoring import Scorer
from toolbelt.stores.catalogs import open_catalog

FOLDER = Path(__file__).resolve().parents[2] / "datasets" / "assistant"
LEAST = {
    "single": 50,
    "confusable": 25,
    "arguments": 25,
    "multi": 20,
    "parallel": 12,
    "irrelevant": 25,
    "history": 5,
}
LANGUAGES = {"german", "french", "spanish", "chinese", "portuguese"}
NO_CATEGORY = {"docker", "kubernetes", "terraform"}
DONE_IS_SAID = {
    "browser_click",
    "browser_open",
    "browser_type",
    "close_issue",
    "comment_on_issue",
    "cron_run",
    "cron_update",
    "git_add",
    "git_checkout",
    "git_commit",
    "git_pull",
    "git_push",
    "git_tag",
    "mcp_export",
    "mcp_quarantine",
    "memory_forget",
    "memory_store",
    "move_file",
    "tailscale_export",
    "task_create",
    "web_download",
    "write_clipboard",
    "write_file",
}
"""Tools that do something, for which a plain acknowledgement is an answer. All others are asked for what they say."""
COMPUTED: dict[str, Callable[[dict[str, str]], str]] = {
    "decode_base64": lambda given: base64.b64decode(given["data"]).decode(),
    "encode_base64": lambda given: base64.b64encode(given["data"].encode()).decode(),
    "hash_compute": lambda given: hashlib.new(given["algorithm"], given["text"].encode()).hexdigest(),
}
"""Tools whose results can be computed from the arguments."""
Row = dict[str, Any]


def rows() -> list[Row]:
    """The file, read with nothing but json."""
    return [json.loads(line) for line in (FOLDER / "cases.jsonl").read_text(encoding="utf-8").splitlines()]


def calls(row: Row) -> Iterator[Row]:
    """Every call of every answer that is right."""
    for answer in (row["expected"], *row.get("accept", ())):
        yield from answer


def said(row: Row) -> str:
    """All that the user says."""
    if "query" in row:
        return str(row["query"])
    return "\n".join(message["content"] for message in row["messages"] if message["role"] == "user")


def written_arguments(call: Row) -> Iterator[tuple[str, Any]]:
    """Name and value of each argument that is accepted."""
    yield from call.get("args", {}).items()
    for name, values in call.get("args_any", {}).items():
        yield from ((name, value) for value in values)


def results_of(row: Row, tool: str) -> list[Any]:
    """What the calls of a tool are answered with, in turn."""
    written = row["results"][tool]
    return written if isinstance(written, list) else [written]


def leaks(name: str, text: str) -> bool:
    """Whether a tool is named in plain words: as it is written, or with spaces or hyphens."""
    pattern = r"[\s_-]+".join(map(re.escape, name.split("_")))
    return re.search(rf"(?<![a-z0-9]){pattern}(?![a-z0-9])", text, re.IGNORECASE) is not None


CASES = [pytest.param(row, id=row["id"]) for row in rows()]
each_case = pytest.mark.parametrize("row", CASES)


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return open_catalog("assistant").catalog


def test_E3_the_reader_has_nothing_to_say_about_the_file() -> None:
    dataset = open_dataset("assistant")
    assert list(dataset.warnings) == []
    assert dict(dataset.excluded) == {}
    assert len(dataset) == len(rows())
    assert [dataset.case(number).id for number in range(len(dataset))] == [row["id"] for row in rows()]


def test_there_are_enough_cases_of_each_kind() -> None:
    kinds = Counter(row["kind"] for row in rows())
    assert kinds.keys() == LEAST.keys()
    assert {kind: count for kind, count in kinds.items() if count < LEAST[kind]} == {}
    assert 150 <= kinds.total() <= 180


def test_ids_are_unique_and_begin_with_the_kind() -> None:
    ids = [row["id"] for row in rows()]
    assert len(set(ids)) == len(ids)
    assert [row["id"] for row in rows() if not re.fullmatch(rf"{row['kind']}(-[a-z0-9]+)+", row["id"])] == []


def test_no_query_is_there_twice() -> None:
    seen = Counter(" ".join(re.findall(r"\w+", said(row).casefold())) for row in rows())
    assert [text for text, count in seen.items() if count > 1] == []


def test_every_cluster_has_members_with_the_same_answer() -> None:
    clusters: dict[str, list[Row]] = {}
    for row in rows():
        if "cluster" in row:
            clusters.setdefault(row["cluster"], []).append(row)
    assert len(clusters) >= 5
    for name, members in clusters.items():
        assert len(members) >= 2, name
        assert len({json.dumps([call["tool"] for call in row["expected"]]) for row in members}) == 1, name
    assert {name for name, members in clusters.items() if len({row.get("role") for row in members}) > 1} == set()


def test_every_category_and_every_plugin_without_one_is_asked_for(catalog: Catalog) -> None:
    names = {catalog.get_tool(call["tool"]).plugin for row in rows() for call in calls(row)}
    wanted = [plugin for plugin in catalog.plugins if plugin.name in names]
    assert {plugin.effective_category for plugin in wanted} == {plugin.effective_category for plugin in catalog.plugins}
    assert {plugin.name for plugin in wanted if plugin.effective_category is None} == NO_CATEGORY


def test_several_languages_and_typos_are_there() -> None:
    tags = {tag for row in rows() for tag in row.get("tags", ())}
    assert tags >= LANGUAGES | {"typo", "easy"}


def test_every_confusable_case_says_what_discriminates_and_from_what(catalog: Catalog) -> None:
    for row in (row for row in rows() if row["kind"] == "confusable"):
        assert row["note"].strip(), row["id"]
        (pair,) = (tag for tag in row["tags"] if "/" in tag)
        right, *others = pair.split("/")
        assert right == row["expected"][0]["tool"], row["id"]
        assert others, row["id"]
        for name in others:
            assert catalog.get_tool(name).name == name, "a tool that somebody might take instead"


@pytest.mark.parametrize(
    ("kind", "is_so"),
    [
        pytest.param("single", lambda tools: len(tools) == 1, id="single is one call"),
        pytest.param("confusable", lambda tools: len(tools) == 1, id="confusable is one call"),
        pytest.param("multi", lambda tools: len(tools) == len(set(tools)) >= 2, id="multi is different tools"),
        pytest.param("parallel", lambda tools: len(tools) >= 2 and len(set(tools)) == 1, id="parallel is one tool"),
        pytest.param("irrelevant", lambda tools: tools == [], id="irrelevant is no call"),
    ],
)
def test_a_kind_is_what_its_name_says(kind: str, is_so: Any) -> None:
    made = {row["id"]: [call["tool"] for call in row["expected"]] for row in rows() if row["kind"] == kind}
    assert {case_id: tools for case_id, tools in made.items() if not is_so(tools)} == {}


def test_cases_about_arguments_check_some_and_histories_have_one() -> None:
    for row in rows():
        if row["kind"] == "arguments":
            assert all(list(written_arguments(call)) for call in calls(row)), row["id"]
        assert ("messages" in row) == (row["kind"] == "history"), row["id"]


@each_case
def test_E3_each_tool_is_in_the_catalog_by_a_name_that_means_one(row: Row, catalog: Catalog) -> None:
    named = [call["tool"] for call in calls(row)]
    named += [*row.get("forbidden", ()), *row.get("allowed_extra", ()), *row.get("results", {})]
    for name in named:
        assert catalog.get_tool(name).name == name


@each_case
def test_E3_each_argument_is_one_the_tool_takes(row: Row, catalog: Catalog) -> None:
    for call in calls(row):
        properties = catalog.get_tool(call["tool"]).parameters["properties"]
        for name, value in written_arguments(call):
            assert name in properties
            schema = Draft202012Validator(properties[name], format_checker=FormatChecker())
            assert [error.message for error in schema.iter_errors(value)] == []


@each_case
def test_an_argument_that_is_the_default_may_be_left_out(row: Row, catalog: Catalog) -> None:
    for call in calls(row):
        properties = catalog.get_tool(call["tool"]).parameters["properties"]
        defaults = {name for name, value in written_arguments(call) if properties[name].get("default") == value}
        assert defaults <= set(call.get("optional", ()))


@each_case
def test_E3_nothing_forbidden_is_right(row: Row) -> None:
    right = {call["tool"] for call in calls(row)} | set(row.get("allowed_extra", ()))
    assert right & set(row.get("forbidden", ())) == set()
    assert {call["tool"] for call in calls(row)} & set(row.get("allowed_extra", ())) == set()


@each_case
def test_E3_surplus_calls_leave_room_for_the_right_ones(row: Row) -> None:
    if row.get("allowed_extra"):
        assert row["steps"] > len(row["expected"]), "a look around first must not use up the steps"


@each_case
def test_results_are_of_tools_that_may_be_called(row: Row) -> None:
    callable_ = {call["tool"] for call in calls(row)} | set(row.get("allowed_extra", ()))
    assert row.get("results", {}).keys() <= callable_


@each_case
def test_what_is_asked_for_its_answer_has_one_where_a_request_is_to_spare(row: Row) -> None:
    """After all calls in one reply the model is asked again: "ok" in place of a text would have it look anew."""
    asked = Counter(call["tool"] for call in row["expected"])
    if row["kind"] not in {"multi", "parallel"}:
        return
    assert asked.keys() - DONE_IS_SAID <= row.get("results", {}).keys()
    for tool in row.get("results", {}).keys() & asked.keys():
        results = results_of(row, tool)
        assert len(results) == asked[tool]
        assert len({json.dumps(result) for result in results}) == len(results), "one for each object"


@each_case
def test_results_that_can_be_computed_are_so(row: Row) -> None:
    for tool in row.get("results", {}).keys() & COMPUTED.keys():
        given = [call["args"] for call in row["expected"] if call["tool"] == tool]
        assert results_of(row, tool) == [COMPUTED[tool](arguments) for arguments in given]


@pytest.mark.parametrize(
    ("case_id", "made", "outcome"),
    [
        pytest.param("single-kube-describe-1", [("kube_events", {})], Outcome.CORRECT, id="events answer it as well"),
        pytest.param(
            "single-kube-describe-1",
            [("kube_events", {}), ("kube_describe", {"kind": "pod", "name": "checkout-7d9f"})],
            Outcome.CORRECT,
            id="so do both in one reply",
        ),
        pytest.param(
            "arguments-grep-1",
            [("grep", {"pattern": "(?i)todo", "path": "./src/", "output_mode": "count"})],
            Outcome.CORRECT,
            id="the pattern may say that case is ignored",
        ),
        pytest.param(
            "arguments-grep-1",
            [("grep", {"pattern": "todo", "path": "src", "output_mode": "count"})],
            Outcome.WRONG_ARGUMENTS,
            id="but something must say so",
        ),
        pytest.param(
            "arguments-http-request-1",
            [
                (
                    "http_request",
                    {
                        "url": "http://localhost:8080/api/teams",
                        "method": "POST",
                        "body": '{"name":"demo","seats":3}',
                        "headers": {"Content-Type": "application/json"},
                    },
                )
            ],
            Outcome.CORRECT,
            id="JSON may be sent as text",
        ),
        pytest.param(
            "multi-git-commit-1",
            [
                ("git_status", {}),
                ("git_add", {"paths": ["tests/test_parser.py", "src/parser.py"]}),
                ("git_commit", {"message": "Fix off-by-one in parser"}),
            ],
            Outcome.CORRECT,
            id="files are staged in either order, after a look",
        ),
        pytest.param(
            "multi-mcp-quarantine-1",
            [
                ("mcp_export", {"path": "sec/mcp.md", "format": "markdown"}),
                ("mcp_quarantine", {"action": "quarantine", "server": "weather", "reason": "Instructions hidden"}),
            ],
            Outcome.WRONG_TOOL,
            id="a bad server is stopped before it is written about",
        ),
        pytest.param(
            "arguments-grep-1",
            [("grep", {"pattern": r"\bTODOs?\b", "path": "src", "output_mode": "count", "ignore_case": True})],
            Outcome.CORRECT,
            id="or an argument",
        ),
        pytest.param(
            "multi-memory-1",
            [("memory_forget", {"memory_ids": ["mem-33"]}), ("memory_store", {"content": "Staging is in eu-west-1."})],
            Outcome.CORRECT,
            id="the old memory may go before the new one comes",
        ),
        pytest.param(
            "multi-memory-1",
            [("memory_store", {"content": "Staging is in eu-west-1."}), ("memory_forget", {"memory_ids": ["mem-3"]})],
            Outcome.WRONG_ARGUMENTS,
            id="only the memory named is forgotten",
        ),
    ],
)
def test_E4_what_some_answers_are_worth(
    case_id: str, made: list[tuple[str, Row]], outcome: Outcome, catalog: Catalog
) -> None:
    dataset = open_dataset("assistant")
    (case,) = (case for case in map(dataset.case, range(len(dataset))) if case.id == case_id)
    selections = [Selection(0, name, catalog.get_tool(name).id, True, given) for name, given in made]
    assert Scorer(ArgumentSchemas(catalog)).score(case, selections, Ending.STEPS).outcome is outcome


@each_case
def test_the_role_has_the_tools_and_is_left_out_only_where_none_has(row: Row, catalog: Catalog) -> None:
    tools = {catalog.get_tool(call["tool"]) for call in calls(row)}
    if "role" not in row:
        assert {tool.plugin for tool in tools} & NO_CATEGORY
        return
    resolution = ToolLoadoutRegistry().resolve(row["role"], catalog)
    assert {tool.id for tool in tools} <= {tool.id for tool in resolution.active_tools}


@each_case
def test_only_an_easy_case_names_its_tool(row: Row) -> None:
    named = [call["tool"] for call in calls(row) if leaks(call["tool"], said(row))]
    assert bool(named) == ("easy" in row.get("tags", ())), named


@each_case
def test_a_history_is_a_conversation_that_ends_with_the_user(row: Row, catalog: Catalog) -> None:
    messages = row.get("messages", [{"role": "user"}])
    assert messages[-1]["role"] == "user"
    asked = [call for message in messages for call in message.get("tool_calls", ())]
    assert [call["id"] for call in asked] == [m["tool_call_id"] for m in messages if m["role"] == "tool"]
    for call in asked:
        schema = Draft202012Validator(catalog.get_tool(call["function"]["name"]).parameters)
        assert [error.message for error in schema.iter_errors(json.loads(call["function"]["arguments"]))] == []


def test_the_card_counts_what_is_there() -> None:
    card = (FOLDER / "README.md").read_text(encoding="utf-8")
    for kind, count in Counter(row["kind"] for row in rows()).items():
        assert re.search(rf"^\| {kind} +\| +{count} \|", card, re.MULTILINE), f"{kind}: {count}"
    for role, count in Counter(row.get("role", "none") for row in rows()).items():
        assert re.search(rf"\b{role} {count}\b", card), f"{role}: {count}"
    for tag, count in Counter(tag for row in rows() for tag in row.get("tags", ()) if "/" not in tag).items():
        assert re.search(rf"\b{tag} {count}\b", card, re.IGNORECASE), f"{tag}: {count}"
    for key in ("accept", "forbidden", "allowed_extra", "results"):
        count = sum(key in row for row in rows())
        assert re.search(rf"`{key}`[^.,]* in {count}\b", card), f"{key}: {count}"
    assert f"{len({call['tool'] for row in rows() for call in calls(row)})} of the 201 tools" in card
