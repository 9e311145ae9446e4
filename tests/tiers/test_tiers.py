"""Tools in tiers, rule by rule (T1 to T4)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolbelt.catalog import Catalog, Plugin, Tool
from toolbelt.catalog.definitions import export_definitions
from toolbelt.errors import NotFoundError
from toolbelt.stores.catalogs import open_catalog
from toolbelt.tiers import TierMetaRole, Tiers

TIERED = open_catalog("tiered").catalog
ASSISTANT = open_catalog("assistant").catalog

SMALL = Catalog(
    (
        Plugin("chat", (Tool("send"), Tool("read"))),
        Plugin("repo", (Tool("commit"), Tool("push"), Tool("log")), "Git"),
        Plugin("disk", (Tool("open"), Tool("log")), "files"),
        Plugin("hub", (Tool("pull"),), "GIT"),
        Plugin("loose", (Tool("think"),)),
    ),
    categories={"files": "Files on disk", "Git": "", "empty": "Nothing has this"},
    core=("chat/send", "repo/log"),
)
META = ("browse_tools", "load_tools")


def ids(tiers: Tiers) -> dict[str, tuple[str, ...]]:
    return {tier.name: tier.tool_ids for tier in tiers.tiers}


def test_T1_a_tier_is_a_category_in_the_order_declared() -> None:
    assert ids(Tiers(SMALL)) == {
        "files": ("disk/open", "disk/log"),
        "Git": ("repo/commit", "repo/push", "hub/pull"),  # repo/log is core
        "other": ("chat/read", "loose/think"),
    }


def test_T1_the_core_is_always_shown_with_the_meta_tools_before_it() -> None:
    tiers = Tiers(SMALL)
    for loaded in ((), ("Git",), ("Git", "files", "other")):
        assert tiers.tool_ids(loaded)[:4] == (*META, "chat/send", "repo/log")


def test_T1_a_catalog_that_names_no_core_has_the_meta_tools_alone() -> None:
    tiers = Tiers(ASSISTANT)
    assert tiers.core == META
    assert sum(len(tier.tool_ids) for tier in tiers.tiers) == len(ASSISTANT.tools)
    assert [tier.name for tier in tiers.tiers][-1] == "other"


def test_T1_an_other_of_the_catalogs_own_takes_in_what_has_no_category() -> None:
    catalog = Catalog(
        (Plugin("loose", (Tool("a"),)), Plugin("odd", (Tool("b"),), "OTHER"), Plugin("g", (Tool("c"),), "git")),
        categories={"Other": "Odds and ends", "git": ""},
    )
    assert ids(Tiers(catalog)) == {"Other": ("loose/a", "odd/b"), "git": ("g/c",)}
    assert Tiers(catalog).browse()["categories"][0]["description"] == "Odds and ends"


def test_T6_the_shipped_catalog_has_its_12_and_7_tiers() -> None:
    tiers = Tiers(TIERED)
    assert tiers.core == TIERED.core
    assert {tier.name: len(tier.tool_ids) for tier in tiers.tiers} == {
        "git": 11, "project": 16, "agent": 17, "hooks": 6, "memory": 13, "files": 8, "system": 28,
    }  # fmt: skip


def test_T2_browse_gives_name_description_and_count_of_each_category() -> None:
    assert Tiers(SMALL).browse() == {
        "categories": [
            {"name": "files", "description": "Files on disk", "tool_count": 2},
            {"name": "Git", "description": "commit, push, pull", "tool_count": 3},
            {"name": "other", "description": "read, think", "tool_count": 2},
        ]
    }


def test_T2_a_category_without_a_description_gets_one_from_the_names_of_its_tools() -> None:
    many = Catalog(
        (
            Plugin(
                "azure",
                tuple(Tool(f"{word}_{verb}") for word in ["aks", "sql"] for verb in "abcdefghijklmnopqrstuvwxyz"),
            ),
        )
    )
    [described] = Tiers(many).browse()["categories"]
    assert described["description"] == "aks (26), sql (26)"


def test_T2_load_answers_in_the_seeds_form() -> None:
    answer, loaded = Tiers(TIERED).load("git")
    assert list(answer) == ["loaded", "tools_added", "message"]
    assert answer["loaded"] == "git"
    assert answer["message"] == "11 git tools are now available."
    assert answer["tools_added"] == [tool.name for tool in TIERED.get_plugin("git").tools]
    assert loaded == ("git",)


def test_T2_one_tool_is_one_tool() -> None:
    catalog = Catalog((Plugin("clock", (Tool("now"),), "time"),))
    answer, loaded = Tiers(catalog).load("time")
    assert answer["message"] == "1 time tool is now available."
    again, _ = Tiers(catalog).load("time", loaded)
    assert again["message"] == "1 time tool was loaded already and is available."


@pytest.mark.parametrize("written", ["git", "GIT", " Git\n"])
def test_T2_the_category_is_compared_ignoring_case(written: str) -> None:
    assert Tiers(SMALL).load(written)[1] == ("Git",)


@pytest.mark.parametrize("written", ["nope", "", "empty", "core", "git*"])
def test_T2_an_unknown_category_is_answered_with_those_there_are(written: str) -> None:
    tiers = Tiers(SMALL)
    answer, loaded = tiers.load(written, ("files",))
    assert answer == {"error": f"Unknown category: {written}. Available: files, Git, other"}
    assert loaded == ("files",)


def test_T2_what_is_added_is_named_as_the_model_must_call_it() -> None:
    answer, _ = Tiers(SMALL).load("files")
    assert answer["tools_added"] == ["open", "disk__log"]  # repo has a log of its own
    renamed = Tiers(SMALL, names={tool.id: tool.id.upper() for tool in SMALL.tools})
    assert renamed.load("files")[0]["tools_added"] == ["DISK/OPEN", "DISK/LOG"]


def test_T3_loading_appends_in_the_order_of_loading() -> None:
    tiers = Tiers(SMALL)
    _, once = tiers.load("git")
    _, loaded = tiers.load("FILES", once)
    assert loaded == ("Git", "files")
    tail = [tool.id for tool in tiers.tools(loaded)][4:]
    assert tail == ["repo/commit", "repo/push", "hub/pull", "disk/open", "disk/log"]


@pytest.mark.parametrize("again", ["git", "GIT"])
def test_T3_twice_is_once(again: str) -> None:
    tiers = Tiers(TIERED)
    _, once = tiers.load("git")
    answer, twice = tiers.load(again, once)
    assert twice == once
    assert answer == {
        "loaded": "git",
        "tools_added": [],
        "message": "11 git tools were loaded already and are available.",
    }
    assert tiers.tool_ids(("git", again)) == tiers.tool_ids(once)


@given(st.lists(st.sampled_from(["git", "files", "other", "GIT", "nope", "empty"])))
def test_T3_every_step_keeps_what_was_shown_and_shows_nothing_twice(asked: list[str]) -> None:
    tiers = Tiers(SMALL)
    loaded: tuple[str, ...] = ()
    before = tiers.tool_ids()
    for category in asked:
        answer, loaded = tiers.load(category, loaded)
        now = tiers.tool_ids(loaded)
        assert now[: len(before)] == before
        assert len(set(now)) == len(now)
        assert [tiers.names[tool_id] for tool_id in now[len(before) :]] == answer.get("tools_added", [])
        before = now


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        pytest.param(None, "no JSON object", id="no-json"),
        pytest.param({}, "'category' is missing", id="missing"),
        pytest.param({"category": None}, "'category' is missing", id="null"),
        pytest.param({"category": 3}, "must be a string", id="a-number"),
        pytest.param({"category": ["git"]}, "must be a string", id="a-list"),
        pytest.param({"name": "git"}, "'category' is missing", id="another-key"),
    ],
)
def test_T2_a_call_gone_wrong_is_told_how_it_goes(arguments: dict[str, Any] | None, says: str) -> None:
    answer, loaded = Tiers(SMALL).call(TierMetaRole.LOAD, arguments, ("Git",))
    assert says in answer["error"]
    assert 'load_tools with {"category": NAME}' in answer["error"]
    assert answer["error"].endswith("Available: files, Git, other")
    assert loaded == ("Git",)


@pytest.mark.parametrize("arguments", [None, {}, {"category": "git"}])
def test_T2_browsing_needs_no_arguments(arguments: dict[str, Any] | None) -> None:
    tiers = Tiers(SMALL)
    assert tiers.call(TierMetaRole.BROWSE, arguments, ("Git",)) == (tiers.browse(), ("Git",))


def test_within_a_universe_there_are_its_tools_and_the_meta_tools_alone() -> None:
    universe = ("hub/pull", "chat/send", "loose/think", "gone/away", "loose/think")
    for tiers in (Tiers(SMALL, universe), Tiers(SMALL).within(universe)):
        assert tiers.core == (*META, "chat/send")
        assert ids(tiers) == {"Git": ("hub/pull",), "other": ("loose/think",)}
        assert tiers.load("files")[0] == {"error": "Unknown category: files. Available: Git, other"}
    assert Tiers(TIERED, ("git/git_commit",)).core == ("core/browse_tools", "core/load_tools")


def test_an_empty_catalog_has_two_tools_and_says_so() -> None:
    tiers = Tiers(Catalog())
    assert [tool.name for tool in tiers.tools()] == list(META)
    assert tiers.browse() == {"categories": []}
    assert tiers.load("git")[0] == {"error": "Unknown category: git. Available: none"}


def test_a_category_that_is_none_is_never_passed_over() -> None:
    with pytest.raises(NotFoundError, match="Did you mean 'files'"):
        Tiers(SMALL).tools(("file",))


def test_an_agent_can_be_built_from_it() -> None:
    tiers = Tiers(SMALL)
    loaded: tuple[str, ...] = ()
    first = export_definitions(tiers.tools(loaded), tiers.names, "openai")
    _, loaded = tiers.call(TierMetaRole.LOAD, {"category": "git"}, loaded)
    second = export_definitions(tiers.tools(loaded), tiers.names, "openai")
    assert second[: len(first)] == first
    assert [entry["function"]["name"] for entry in second] == [
        "browse_tools", "load_tools", "send", "repo__log", "commit", "push", "pull",
    ]  # fmt: skip


def test_a_tool_that_bears_a_meta_tools_name_makes_way() -> None:
    catalog = Catalog((Plugin("p", (Tool("load_tools"),), "git"),))
    tiers = Tiers(catalog)
    [added] = tiers.load("git")[0]["tools_added"]
    assert added != "load_tools"
    assert tiers.names["p/load_tools"] == added
