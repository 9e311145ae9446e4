"""`tiered`, to the letter of T1 to T4."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import SHARED_DATA, needs_shared_data
from tests.evals.toolsets.samples import (
    ASSISTANT,
    CATALOGS,
    SMALL,
    TIERED,
    case,
    context,
    play,
    shown,
    start,
    toolset,
    use,
)
from tests.wording import mentions
from toolbelt.catalog import Catalog, Plugin, Tool
from toolbelt.evals.conversation import Conversation, Reply
from toolbelt.evals.toolsets.opening import make_toolset
from toolbelt.evals.toolsets.spec import parse_toolset
from toolbelt.stores.catalogs import open_catalog
from toolbelt.tiers import Tiers

CORE = ["browse_tools", "load_tools", "chat/send"]
GIT = ["repo/commit", "repo/push", "repo/log"]
FILES = ["disk/open", "disk/log"]
ANY = case()


def load(category: str, call_id: str = "1") -> Any:
    return use("load_tools", call_id=call_id, category=category)


def test_T1_the_first_request_offers_the_core() -> None:
    assert shown(toolset("tiered"), ANY) == CORE
    assert shown(toolset("tiered", TIERED), ANY) == list(TIERED.core)
    assert shown(toolset("tiered", ASSISTANT), ANY) == CORE[:2]


def test_T1_meta_tools_that_are_ours_are_counted_and_named_for_the_model() -> None:
    offer = toolset("tiered").offer(ANY, start(ANY))
    browse, load_tools, _ = offer.tools
    assert [browse.name, load_tools.name] == ["browse_tools", "load_tools"]
    assert browse.tokens > 0
    assert offer.tokens == sum(offered.tokens for offered in offer.tools)
    assert offer.definitions[1]["function"]["parameters"]["required"] == ["category"]


def test_T2_browse_and_load_answer_as_the_tiers_do() -> None:
    made, tiers = toolset("tiered", TIERED), Tiers(TIERED)
    browsed, loaded, unknown = made.answer(ANY, start(ANY), [use("browse_tools"), load("git"), load("nope")])
    assert json.loads(browsed or "") == tiers.browse()
    assert json.loads(loaded or "") == tiers.load("git")[0]
    assert json.loads(unknown or "").keys() == {"error"}
    assert mentions(json.loads(unknown or "")["error"], "nope", "git, project, agent, hooks, memory, files, system")


def test_T2_the_names_added_are_those_that_are_then_offered() -> None:
    opened = toolset("tiered")
    [answer] = opened.answer(ANY, start(ANY), [load("other")])
    after = opened.offer(ANY, play(opened, ANY, [load("other")]))
    assert json.loads(answer or "")["tools_added"] == [offered.name for offered in after.tools[3:]]
    assert "get_forecast" in after.by_name  # no provider takes a name with a blank


def test_T3_loading_takes_effect_at_the_next_request() -> None:
    opened = toolset("tiered")
    after = play(opened, ANY, [load("git")])
    assert shown(opened, ANY) == CORE
    assert shown(opened, ANY, after) == [*CORE, *GIT]
    assert shown(opened, ANY, play(opened, ANY, [], conversation=after)) == [*CORE, *GIT]


def test_T3_a_tool_called_beside_its_loading_was_not_offered() -> None:
    opened = toolset("tiered")
    calls = [load("git"), use("commit", call_id="2")]
    assert opened.answer(ANY, start(ANY), calls)[1] is None
    assert "commit" not in opened.offer(ANY, start(ANY)).by_name
    assert "commit" in opened.offer(ANY, play(opened, ANY, calls)).by_name


def test_T3_two_loads_in_one_reply_both_count() -> None:
    opened = toolset("tiered")
    after = play(opened, ANY, [load("files"), load("git", "2"), load("FILES", "3")])
    assert shown(opened, ANY, after) == [*CORE, *FILES, *GIT]
    added = [len(json.loads(answer)["tools_added"]) for answer in after.exchanges[0].answers]
    assert added == [2, 3, 0]


def test_T3_twice_is_once() -> None:
    opened = toolset("tiered")
    once = play(opened, ANY, [load("git")])
    twice = play(opened, ANY, [load("GIT")], conversation=once)
    assert opened.offer(ANY, twice) is opened.offer(ANY, once)
    assert json.loads(twice.exchanges[1].answers[0])["tools_added"] == []


@pytest.mark.parametrize(
    ("text", "says"),
    [("{", "no JSON object"), ("[]", "no JSON object"), ("", "missing"), ('{"category": 1}', "must be a string"),
     ('{"category": "nope"}', "Unknown category: nope")],
)  # fmt: skip
def test_T2_a_load_gone_wrong_changes_nothing_and_helps(text: str, says: str) -> None:
    opened = toolset("tiered")
    before = play(opened, ANY, [load("git")])
    after = play(opened, ANY, [use("load_tools", text)], conversation=before)
    assert says in json.loads(after.exchanges[1].answers[0])["error"]
    assert "Available: git, files, other" in json.loads(after.exchanges[1].answers[0])["error"]
    assert opened.offer(ANY, after) is opened.offer(ANY, before)


def test_T3_what_is_loaded_is_in_the_conversation_alone() -> None:
    one, other = toolset("tiered"), toolset("tiered")
    exchanges = play(one, ANY, [load("git")], [load("files")]).exchanges
    taken_up = Conversation(ANY.messages, exchanges)
    assert shown(other, ANY, taken_up) == [*CORE, *GIT, *FILES]
    assert shown(one, ANY, start(ANY)) == CORE


REPLIES = st.lists(
    st.lists(
        st.sampled_from(
            [load(name) for name in ("git", "GIT", "files", "other", "system", "memory", "nope")]
            + [use("browse_tools"), use("load_tools", "{"), use("commit")]
        ),
        max_size=3,
    ),
    max_size=6,
)


@settings(deadline=None)
@given(st.sampled_from(sorted(CATALOGS)), REPLIES)
def test_T3_a_cached_prefix_stays_valid(key: str, replies: list[list[Any]]) -> None:
    made = TOOLSETS[key]
    conversation = start(ANY)
    before = made.offer(ANY, conversation).definitions
    for calls in replies:
        answers = made.answer(ANY, conversation, calls)
        conversation = conversation.extended(Reply(calls=tuple(calls)), tuple(a or "ok" for a in answers))
        now = made.offer(ANY, conversation).definitions
        assert now[: len(before)] == before
        before = now


TOOLSETS = {key: toolset("tiered", catalog) for key, catalog in CATALOGS.items()}


def test_E3_tiers_are_those_of_the_cases_universe() -> None:
    made, of = toolset("tiered"), case(offered=("disk/log", "repo/push", "chat/read"))
    assert shown(made, of) == CORE[:2]
    browsed, unknown = made.answer(of, start(of), [use("browse_tools"), load("agent")])
    counts = {entry["name"]: entry["tool_count"] for entry in json.loads(browsed or "")["categories"]}
    assert counts == {"git": 1, "files": 1, "other": 1}
    assert mentions(json.loads(unknown or "")["error"], "agent", "git, files, other")
    assert shown(made, of, play(made, of, [load("git")])) == [*CORE[:2], "repo/push"]


def test_E5_everything_of_the_universe_is_within_reach() -> None:
    assert toolset("tiered").reach(ANY) == {tool.id for tool in SMALL.tools}
    assert toolset("tiered").reach(case(offered=("disk/log", "gone"))) == {"disk/log"}
    made, of = toolset("tiered"), case(offered=("disk/log", "repo/push", "chat/send"))
    everything = play(made, of, [load(name) for name in ("git", "files", "other")])
    assert set(shown(made, of, everything)) == made.reach(of) | set(CORE[:2])


def test_T1_the_catalogs_own_meta_tools_are_there_whatever_the_universe() -> None:
    made, of = toolset("tiered", TIERED), case(offered=("git/git_commit",))
    assert shown(made, of) == ["core/browse_tools", "core/load_tools"]
    assert made.reach(of) == {"core/browse_tools", "core/load_tools", "git/git_commit"}


@pytest.mark.parametrize("name", ["load_tools", "core/load_tools", "LOAD_TOOLS"])
def test_the_catalogs_own_meta_tool_is_known_by_any_name_it_bears(name: str) -> None:
    opened = toolset("tiered", TIERED)
    after = play(opened, ANY, [use(name, category="hooks")])
    assert len(shown(opened, ANY, after)) == 12 + 6


def test_a_catalogs_tool_of_a_meta_tools_name_is_loaded_under_another() -> None:
    catalog = Catalog((Plugin("p", (Tool("load_tools"), Tool("x")), "git"),))
    base = context(catalog)
    made = make_toolset(parse_toolset("tiered"), base)
    after = made.offer(ANY, play(made, ANY, [load("git")]))
    [name] = [offered.name for offered in after.tools if offered.tool.id == "p/load_tools"]
    assert name not in ("load_tools", "browse_tools")
    assert made.answer(ANY, start(ANY), [use(name)]) == (None,)


@needs_shared_data
def test_T1_a_real_catalog_of_527_tools_starts_with_two() -> None:
    catalog = open_catalog(str(SHARED_DATA / "livemcpbench")).catalog
    made, whole = toolset("tiered", catalog), toolset("full", catalog)
    assert len(shown(made, ANY)) == 2
    categories = [entry["name"] for entry in Tiers(catalog).browse()["categories"]]
    everything = play(made, ANY, *[[load(name)] for name in categories])
    assert sorted(shown(made, ANY, everything)[2:]) == sorted(shown(whole, ANY))
    assert made.offer(ANY, start(ANY)).tokens * 100 < whole.offer(ANY, start(ANY)).tokens
