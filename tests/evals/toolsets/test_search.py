"""`search` as a toolset: what is offered, reached and found (rules S1, E4, E5)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.evals.running.agents import Agent, calls, in_turn, make_trial_runner
from tests.evals.toolsets.samples import SMALL, case, context, play, shown, start, toolset, use
from toolbelt.errors import NotFoundError, ToolbeltError
from toolbelt.evals.cases.case import Case, find_rank
from toolbelt.evals.conversation import Reply
from toolbelt.evals.running.plan import Trial
from toolbelt.evals.running.records import TrialRecord
from toolbelt.evals.scoring.outcome import Outcome
from toolbelt.evals.toolsets.opening import expand_toolsets, make_toolset
from toolbelt.evals.toolsets.spec import shorten_toolset
from toolbelt.search.presets import parse_search

COMMIT, PUSH = "repo/commit", "repo/push"
LOOK = use("search_tools", query="commit changes")


def names(made: Any, of: Case, conversation: Any = None) -> list[str]:
    return [offered.name for offered in made.offer(of, conversation or start(of)).tools]


def test_S1_what_was_found_is_offered_from_the_next_request_on() -> None:
    made, of = toolset("search:k=1"), case((COMMIT,))
    assert names(made, of) == ["search_tools", "send"]
    assert names(made, of, play(made, of, [LOOK])) == ["search_tools", "send", "commit"]


def test_S1_the_users_words_are_searched_for_before_the_first_request() -> None:
    made = toolset("search:rag-mcp")
    of = case((COMMIT,), query="please commit the changes")
    assert shown(made, of) == [COMMIT]
    assert made.reach(of) == {COMMIT}
    assert made.found(of, start(of)).searches == ((COMMIT,),)
    assert made.reach(case((COMMIT,), query="hello")) == frozenset(), "covered by what was retrieved"


def test_S1_a_loadout_can_be_pinned() -> None:
    assert shown(toolset("search:pinned=half"), case())[1:] == [
        "repo/commit", "repo/push", "repo/log", "disk/open", "disk/log",
    ]  # fmt: skip
    made = context()
    with pytest.raises(NotFoundError, match="half"):
        expand_toolsets(["search:pinned=hlaf"], made.catalog, made.registry)


def test_S1_nothing_outside_a_cases_tools_is_listed_or_found() -> None:
    made, of = toolset("search:openai"), case((), offered=("disk/open", "chat/send"))
    assert "repo" not in str(made.offer(of, start(of)).definitions)
    conversation = play(made, of, [use("tool_search", paths=["repo", "commit"])])
    assert shown(made, of, conversation)[1:] == ["chat/send"]


def test_S1_projects_search_toolsets_are_expanded_to_their_settings() -> None:
    base = context(SMALL)
    searches = {"mine": parse_search("fastmcp:k=2")}
    (spec,) = expand_toolsets(["search:MINE"], SMALL, base.registry, searches=searches)
    assert str(spec) == f"search:{searches['mine']}"
    assert shorten_toolset(str(spec)) == "search:fastmcp:k=2"
    assert make_toolset(spec, base).name == str(spec)
    with pytest.raises(NotFoundError, match="Did you mean 'mine'"):
        expand_toolsets(["search:mien"], SMALL, base.registry, searches=searches)
    assert [shorten_toolset(name) for name in ("full", "search", "search:odd")] == ["full", "search", "search:odd"]


@pytest.mark.parametrize("rank", ["embedding:m", "python:toolbelt.search.rankers:nothing"])
def test_S1_a_ranker_that_is_not_there_is_an_error(rank: str) -> None:
    with pytest.raises(ToolbeltError):
        toolset(f"search:rank={rank}")


def run(toolset: str, of: Case, *replies: Reply) -> TrialRecord:
    runner = make_trial_runner(Agent(in_turn(*replies)), toolset, catalog=SMALL)
    return asyncio.run(runner.run(Trial(0, 0, 0, 0), of))


FIND = calls(("search_tools", {"query": "commit changes"}))


@pytest.mark.parametrize(
    ("made", "outcome"),
    [
        pytest.param({"name": "commit", "arguments": {}}, Outcome.CORRECT, id="it-is-the-selection-of-the-tool"),
        pytest.param({"name": "push"}, Outcome.WRONG_TOOL, id="of-another-tool"),
        pytest.param({"name": "comit"}, Outcome.HALLUCINATED_TOOL, id="of-no-tool"),
        pytest.param({"name": "commit", "arguments": "{}"}, Outcome.INVALID_ARGUMENTS, id="without-an-object"),
        pytest.param({}, Outcome.MISSING_CALL, id="a-call-of-nothing-is-no-selection"),
    ],
)
def test_E4_a_call_through_is_a_selection_of_the_called_tool(made: dict[str, Any], outcome: Outcome) -> None:
    record = run("search:fastmcp", case((COMMIT,)), FIND, calls(("call_tool", made)))
    assert record.outcome == outcome
    assert (record.covered, record.surfaced, record.rank) == (True, True, 1)


def test_E4_a_call_through_of_what_the_case_does_not_have_was_not_offered() -> None:
    of = case((COMMIT,), offered=(COMMIT, "chat/send"))
    record = run("search:fastmcp", of, calls(("call_tool", {"name": "push"})))
    assert record.outcome == Outcome.UNOFFERED_TOOL


def test_E4_a_tool_that_was_found_but_is_reached_through_another_was_not_offered_itself() -> None:
    assert run("search:fastmcp", case((COMMIT,)), FIND, calls("commit")).outcome == Outcome.UNOFFERED_TOOL


def test_E5_surfaced_and_rank_are_of_what_really_came_up() -> None:
    of = case((PUSH,))
    never = run("search", of, calls(("search_tools", {"query": "weather"})), calls("commit"))
    assert (never.covered, never.surfaced, never.rank) == (True, False, None)
    found = run("search", of, calls(("search_tools", {"query": "push them"})), calls("push"))
    assert (found.outcome, found.surfaced) == (Outcome.CORRECT, True)
    assert run("full", of, calls("push")).rank is None


@pytest.mark.parametrize(
    ("expected", "searches", "rank"),
    [
        (("a",), [["b", "a"]], 2),
        (("a",), [["b", "c", "a"], ["a"]], 1),
        (("a", "b"), [["a", "c", "b"]], 3),
        (("a", "b"), [["a"], ["c", "b"]], 2),
        ((("a", "b"),), [["c", "b", "a"]], 2),
        (("a", "d"), [["a"]], None),
        (("a",), [], None),
        ((), [["a"]], None),
        (None, [["a"]], None),
    ],
)
def test_S3_the_rank_is_that_of_the_last_tool_of_the_best_answer(
    expected: Any, searches: list[list[str]], rank: int | None
) -> None:
    assert find_rank(case(expected), searches) == rank


@pytest.mark.parametrize(
    ("name", "invalid"), [("search:k=1", True), ("search:k=1:reveal=rebind", True), ("search:fastmcp", False)]
)
def test_E6_what_a_change_of_the_list_invalidates(name: str, invalid: bool) -> None:
    record = run(name, case((COMMIT,)), FIND, FIND)
    assert record.repeated_tokens is not None
    assert (record.invalidated_tokens > 0) is invalid  # type: ignore[operator]
    assert record.invalidated_tokens < record.repeated_tokens  # type: ignore[operator]
