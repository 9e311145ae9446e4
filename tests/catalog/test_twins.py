"""Rule S2: tools that search cannot tell apart, and what to change in their descriptions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.wording import mentions
from toolbelt.catalog import Tool
from toolbelt.catalog.ranking.words import WordsRanker
from toolbelt.catalog.twins import describe_twins, find_twins

PUSH = Tool("push", "Sends the commits of a branch.")


@pytest.mark.parametrize(
    ("tool", "are_twins"),
    [
        pytest.param(Tool("upload", "Sends the commits of a branch."), True, id="the-same-description"),
        pytest.param(Tool("upload", "Commits are sent, or a branch: sending."), False, id="another-word"),
        pytest.param(Tool("upload", "The branch's commit, sends it!"), True, id="stems-and-order"),
        pytest.param(Tool("branch_upload", "Sends commits."), True, id="a-word-in-the-name"),
        pytest.param(
            Tool("upload", "Sends commits.", {"properties": {"branch": {}}}), False, id="a-word-in-an-argument"
        ),
        pytest.param(Tool("upload", "Sends the commits of a branch to a fork."), False, id="one-word-more"),
        pytest.param(Tool("upload", "Sends commits."), False, id="one-word-less"),
        pytest.param(Tool("upload"), False, id="no-description"),
        pytest.param(Tool("push"), False, id="the-same-name-without-a-description"),
        pytest.param(Tool("send_branch_commits"), True, id="a-name-that-says-it-all"),
    ],
)
def test_S2_twins_have_no_word_by_which_search_could_prefer_one(tool: Tool, are_twins: bool) -> None:
    other = Tool(tool.name, tool.description, tool.parameters, id="other")
    found = [[each.id for each in twins.tools] for twins in find_twins([PUSH, other])]
    assert found == ([["push", "other"]] if are_twins else [])
    assert [len(twins.tools) for twins in find_twins([other, PUSH])] == [2] * are_twins


def test_S2_twins_of_one_tool_are_twins() -> None:
    tools = [Tool("a", "Alpha beta."), Tool("alpha", "Beta."), Tool("beta", "Alpha."), Tool("z", "Other.")]
    assert [[tool.name for tool in twins.tools] for twins in find_twins(tools)] == [["a", "alpha", "beta"]]


def test_S2_tools_without_any_word_are_no_twins() -> None:
    assert list(find_twins([Tool("_"), Tool("__", "…")])) == []


@pytest.mark.parametrize(
    ("tools", "hint"),
    [
        pytest.param(
            [Tool("git_log", "Lists changes."), Tool("svn_log", "Lists changes.", {"properties": {"depth": {}}})],
            ("git_log alone has 'git'", "svn_log alone has 'svn' and 'depth'", "description"),
            id="what-differs-is-named",
        ),
        pytest.param(
            [Tool("log", "Lists changes.", id="a/log"), Tool("log", "Lists changes", id="b/log")],
            ("a/log", "b/log", "None has a word of its own", "description"),
            id="nothing-differs",
        ),
        pytest.param(
            [Tool("log", "Log.", id="a/log"), Tool("log", id="b/log")],
            ("b/log has no description", "write"),
            id="a-description-is-empty",
        ),
        pytest.param([Tool(f"t{n}", "Same thing.") for n in range(9)], ("9 tools", "t5 and 3 more"), id="many"),
    ],
)
def test_S2_what_to_change_is_stated(tools: list[Tool], hint: tuple[str, ...]) -> None:
    [twins] = find_twins(tools)
    assert mentions(describe_twins(twins), *hint)


@given(st.lists(st.text("ab cé_-日A", max_size=8), min_size=2, max_size=6))
def test_S2_the_order_of_tools_does_not_matter(texts: list[str]) -> None:
    tools = [Tool(f"n{number}", text) for number, text in enumerate(texts)]
    backwards = {frozenset(tool.id for tool in twins.tools) for twins in find_twins(tools[::-1])}
    assert {frozenset(tool.id for tool in twins.tools) for twins in find_twins(tools)} == backwards


def test_S2_search_by_what_a_twin_does_finds_the_other_as_well() -> None:
    tools = [PUSH, Tool("upload", "Sends commits of the branch"), *(Tool(f"t{n}", f"Does {n}.") for n in range(9))]
    hits = WordsRanker().index(tools).search(PUSH.description, 5)
    assert [hit.tool.name for hit in hits[:2]] == ["push", "upload"]
    assert hits[0].score == pytest.approx(hits[1].score)


def test_S2_very_many_equal_tools_take_no_time_of_their_square() -> None:
    [twins] = find_twins([Tool(f"t{number}", "The same words.") for number in range(4_000)])
    assert len(twins.tools) == 4_000
