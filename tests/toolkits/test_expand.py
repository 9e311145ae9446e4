"""From plugins and patterns to single tools (rules K8, L9), and configs written by any name of a tool."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.wording import mentions
from toolbelt.catalog import Catalog, Plugin, Tool
from toolbelt.errors import InvalidDefinitionError, ToolbeltError
from toolbelt.sessions.agent import AgentSpec
from toolbelt.sessions.bundles import expand_over
from toolbelt.sessions.dynamic import DynamicToolkits
from toolbelt.toolkits.directive import DirectiveRule, DirectiveRules, directive
from toolbelt.toolkits.expand import expand_entry, expand_toolkits, expander, pick_narrowest, widest_first
from toolbelt.toolkits.policy import PolicyText, build_policy_section
from toolbelt.toolkits.switch_decisions import SwitchRule
from toolbelt.toolkits.toolkit import Toolkit

CATALOG = Catalog(
    (
        Plugin("git", (Tool("git_status", "Shows changes."), Tool("git_push"), Tool("log"))),
        Plugin("GitHub", (Tool("list_issues", annotations={"title": "List issues"}), Tool("search"))),
        Plugin("web", (Tool("search"), Tool("fetch"), Tool("star*"))),
        Plugin("@scope/server", (Tool("read"), Tool("deep/er"))),
        Plugin("own", (Tool("named", id="custom-id"),)),
        Plugin("empty"),
    )
)


@pytest.mark.parametrize(
    ("entry", "ids"),
    [
        pytest.param("git", ["git/git_status", "git/git_push", "git/log"], id="a-plugin"),
        pytest.param("github", ["GitHub/list_issues", "GitHub/search"], id="a-plugin-in-any-case"),
        pytest.param("git/log", ["git/log"], id="a-tool-by-its-path"),
        pytest.param("GITHUB/Search", ["GitHub/search"], id="a-path-in-any-case"),
        pytest.param("git/git_*", ["git/git_status", "git/git_push"], id="a-prefix"),
        pytest.param("git/GIT_*", ["git/git_status", "git/git_push"], id="a-prefix-in-any-case"),
        pytest.param("git/*", ["git/git_status", "git/git_push", "git/log"], id="every-tool-of-a-plugin"),
        pytest.param("web/star*", ["web/star*"], id="a-star-in-a-name"),
        pytest.param("@scope/server", ["@scope/server/read", "@scope/server/deep/er"], id="a-stroke-in-the-plugin"),
        pytest.param("@scope/server/read", ["@scope/server/read"], id="a-tool-of-it"),
        pytest.param("@scope/server/deep/*", ["@scope/server/deep/er"], id="strokes-in-both"),
        pytest.param("custom-id", ["custom-id"], id="an-id"),
        pytest.param("own/named", ["custom-id"], id="the-path-of-what-has-an-id"),
        pytest.param("fetch", ["web/fetch"], id="a-bare-name-of-one"),
        pytest.param("empty", [], id="a-plugin-without-tools"),
        pytest.param("g*", [], id="a-pattern-of-plugins-is-none"),
        pytest.param("*", [], id="nor-is-everything"),
        pytest.param("git/g*s", [], id="a-star-in-the-middle-is-a-star"),
        pytest.param("git/", [], id="no-tool"),
        pytest.param("/log", [], id="no-plugin"),
        pytest.param("git/search", [], id="a-tool-of-another-plugin"),
        pytest.param("search", [], id="a-bare-name-of-several"),
    ],
)
def test_K8_what_an_entry_means(entry: str, ids: list[str]) -> None:
    match = expand_entry(entry, CATALOG)
    assert [tool.id for tool in match.tools] == ids
    assert (match.message == "") is bool(ids)
    assert expander(CATALOG)(entry) == tuple(ids)
    assert expander(CATALOG, lambda tool: tool.name)(entry) == tuple(tool.name for tool in match.tools)


@pytest.mark.parametrize(
    ("entry", "named", "candidates"),
    [
        pytest.param("gitt", ("gitt", "git"), (), id="a-plugin"),
        pytest.param(
            "git/git_pull",
            ("git/git_pull", "git/git_push"),
            (),
            id="a-tool-of-the-plugin",
        ),
        pytest.param(
            "search",
            ("2 tools", "search", "GitHub/search", "web/search"),
            ("GitHub/search", "web/search"),
            id="several",
        ),
        pytest.param("empty", "Plugin 'empty' has no tools.", (), id="empty"),
    ],
)
def test_K8_an_entry_that_matches_nothing_is_reported_and_not_fatal(
    entry: str, named: object, candidates: tuple[str, ...]
) -> None:
    expanded = expand_toolkits([Toolkit("kit", member_tools=("log", entry))], CATALOG)
    (missing,) = expanded.unmatched
    assert (missing.toolkit, missing.entry, missing.candidates) == ("kit", entry, candidates)
    assert mentions(missing.message, named)
    assert expanded.catalog.get_toolkit("kit").member_tools == ("git/log",)


def test_K8_toolkits_over_a_catalog() -> None:
    expanded = expand_toolkits(
        [
            Toolkit("all-git", "Git", False, ("git/log", "git", "git/git_*")),
            Toolkit("reading", default_on=True, member_tools=("git/log", "web/fetch"), description="Reading"),
        ],
        CATALOG,
    )
    first, second = expanded.catalog.toolkits
    assert first.member_tools == ("git/log", "git/git_status", "git/git_push")
    assert (second.member_tools, second.label, second.description) == (("git/log", "web/fetch"), "reading", "Reading")
    assert [tool.key for tool in expanded.catalog.tools] == [tool.id for tool in CATALOG.tools]
    on_by_default = expanded.catalog.enabled_tools({})
    assert [tool.id for tool in CATALOG.tools if tool.id not in on_by_default] == ["git/git_status", "git/git_push"]
    labels = {tool.key: (tool.label, tool.description) for tool in expanded.catalog.tools}
    assert labels["git/git_status"] == ("git_status", "Shows changes.")
    assert labels["GitHub/list_issues"] == ("List issues", "")
    assert expanded.unmatched == ()


def test_K8_policies_speak_of_the_tools() -> None:
    policy = PolicyText.of("Use {tools}.", per_tool={"GIT": "Careful: {tools}.", "gone": "Gone."}, unavailable="None.")
    expanded = expand_toolkits([Toolkit("kit", member_tools=("git", "fetch"), policy=policy)], CATALOG)
    toolkit = expanded.catalog.get_toolkit("kit")
    available = ("git/log", "web/fetch", "git/git_push")
    said = build_policy_section(toolkit, available, CATALOG.wire_names)
    assert said == "Use git_push, log, fetch.\nCareful: git_push, log."
    assert build_policy_section(toolkit, ("web/fetch",), CATALOG.wire_names) == "Use fetch."
    assert build_policy_section(toolkit, ("GitHub/search",)) == "None."


def test_K8_directives_speak_of_the_tools() -> None:
    rules = DirectiveRules((DirectiveRule(("push",), ("git/git_p*",), "git_push"), DirectiveRule(("git",), ("git",))))
    expanded = expand_toolkits([Toolkit("kit", member_tools=("git", "web"), directive=rules)], CATALOG)
    available = [tool.id for tool in CATALOG.tools]
    narrowed = directive("push it", expanded.catalog.toolkits, available)
    assert narrowed is not None
    assert (narrowed.active_tools, narrowed.tool_choice) == (("git/git_push",), "git/git_push")
    assert directive("git", expanded.catalog.toolkits, ("web/fetch", "git/log")) is not None
    assert directive("git", expanded.catalog.toolkits, ("web/fetch",)) is None


def test_K8_functions_are_kept_as_they_are() -> None:
    kit = Toolkit("kit", member_tools=("git/log",), policy=lambda available: str(list(available)), directive=RULES)
    made = expand_toolkits([kit], CATALOG).catalog.get_toolkit("kit")
    assert (made.policy, made.directive) == (kit.policy, kit.directive)
    assert build_policy_section(made, ("git/log",)) == "['git/log']"


def RULES(message: str, available: object) -> None:
    return None


def test_K8_overrides_go_to_the_tools_and_the_narrower_entry_applies() -> None:
    kit = Toolkit(
        "kit",
        member_tools=("git/log", "git", "git/git_*", "gone"),
        overrides={"git/log": {"n": 1}, "git": {"n": 3}, "git/git_*": {"n": 2}, "gone": {"n": 0}},
    )
    assert expand_toolkits([kit], CATALOG).catalog.get_toolkit("kit").overrides == {
        "git/log": {"n": 1},
        "git/git_status": {"n": 2},
        "git/git_push": {"n": 2},
    }


@pytest.mark.parametrize(
    ("overrides", "applied", "overlaps"),
    [
        pytest.param({"git/log": {"n": 1}, "log": {"n": 2}}, 2, [("git/log", "log")], id="two-names-of-one-tool"),
        pytest.param({"log": {"n": 1}, "git/log": {"n": 2}}, 2, [("log", "git/log")], id="the-last-applies"),
        pytest.param({"git": {"n": 1}, "git/*": {"n": 2}}, 2, [("git", "git/*")], id="said-once-of-many-tools"),
        pytest.param({"git/log": {"n": 1}, "log": {"n": 1}}, 1, [], id="the-same-overrides"),
        pytest.param({"git": {"n": 1}, "log": {"n": 2}}, 2, [], id="the-narrower-is-meant"),
    ],
)
def test_D6_entries_as_narrow_as_one_another_that_disagree_are_told(
    overrides: dict[str, dict[str, int]], applied: int, overlaps: list[tuple[str, str]]
) -> None:
    kit = Toolkit("kit", member_tools=tuple(overrides), overrides=overrides)
    expanded = expand_toolkits([kit], CATALOG)
    assert expanded.catalog.get_toolkit("kit").overrides["git/log"] == {"n": applied}
    assert [overlap.entries for overlap in expanded.overlaps] == overlaps
    assert all(overlap.entries[1] in overlap.message for overlap in expanded.overlaps)
    # A session hears the same entry.
    agent = AgentSpec("one", allowed_toolkits=("kit",))
    merged = DynamicToolkits(agent, [kit], expand_over(CATALOG)).merge(("kit",))
    assert next(tool.overrides for tool in merged if tool.key == "git/log") == {"n": applied}


@pytest.mark.parametrize(
    "toolkits",
    [
        pytest.param([Toolkit("kit"), Toolkit("kit")], id="two-of-one-key"),
        pytest.param([Toolkit("custom-id")], id="the-key-is-a-tools-id"),
    ],
)
def test_K1_toolkits_that_may_not_be_together(toolkits: list[Toolkit]) -> None:
    with pytest.raises(InvalidDefinitionError):
        expand_toolkits(toolkits, CATALOG)


MADE = expand_toolkits(
    [Toolkit("kit", member_tools=("git", "web/fetch")), Toolkit("search", member_tools=("web/search",))], CATALOG
)


@pytest.mark.parametrize(
    ("config", "read", "rules"),
    [
        pytest.param({"kit": True, "git/log": False}, {"kit": True, "git/log": False}, [], id="keys-and-ids"),
        pytest.param({"own/named": False}, {"custom-id": False}, [], id="a-path"),
        pytest.param({"fetch": True, "LOG": False}, {"web/fetch": True, "git/log": False}, [], id="bare-names"),
        pytest.param({"search": True}, {"search": True}, [], id="a-toolkit-before-bare-names"),
        pytest.param({"fetch": 1, "kit": "on"}, {}, ["not-a-boolean"] * 2, id="no-booleans"),
        pytest.param({"fetch": 1, "web/fetch": False}, {"web/fetch": False}, ["not-a-boolean"], id="one-is-none"),
        pytest.param({"fetch": True, "web/fetch": True}, {"web/fetch": True}, [], id="twice-the-same"),
        pytest.param({"fetch": True, "web/fetch": False}, {"web/fetch": False}, ["contradiction"], id="off-at-last"),
        pytest.param({"fetch": False, "web/fetch": True}, {"web/fetch": False}, ["contradiction"], id="off-at-first"),
        pytest.param({"frobnicate": True, 3: True}, {}, ["unknown-key"] * 2, id="unknown"),
        pytest.param({"kit": False, "log": True}, {"kit": False, "git/log": True}, ["overruled-by-toolkit"], id="off"),
    ],
)
def test_K2_a_config_may_name_tools_by_any_of_their_names(
    config: dict[Any, Any], read: dict[str, bool], rules: list[str]
) -> None:
    made, notes = MADE.read_config(config)
    assert made == read
    assert [note.rule for note in notes] == rules
    assert all(note.key in config for note in notes)


@pytest.mark.parametrize(
    ("key", "rule", "named"),
    [
        pytest.param("kitt", "unknown-key", "kit", id="nearest"),
        pytest.param(
            "git",
            "unknown-key",
            ("git", "git/NAME"),
            id="a-plugin-is-no-switch",
        ),
    ],
)
def test_K2_a_key_of_nothing_is_told(key: str, rule: str, named: object) -> None:
    made, (note,) = MADE.read_config({key: True})
    assert (made, note.key, note.rule) == ({}, key, rule)
    assert mentions(note.message, named)


def test_K2_an_ambiguous_key_is_told_with_the_candidates() -> None:
    made, (note,) = expand_toolkits([], CATALOG).read_config({"search": False})
    assert (made, note.rule) == ({}, "ambiguous-key")
    assert "GitHub/search, web/search" in note.message


def test_K2_a_config_that_is_no_mapping_is_refused() -> None:
    with pytest.raises(ToolbeltError, match="maps keys"):
        MADE.read_config([])  # type: ignore[arg-type]


def test_K2_from_the_written_config_to_the_decision() -> None:
    config, _ = MADE.read_config({"kit": True, "log": False})
    decision = MADE.catalog.decide("git/log", config)
    assert (decision.enabled, decision.rule, decision.toolkits) == (False, SwitchRule.TOOLKIT_ON, ("kit",))
    enabled = MADE.catalog.enabled_tools(config)
    assert "git/git_push" in enabled
    assert "custom-id" in enabled  # in no toolkit, and on by default
    assert "web/search" not in enabled


entries = st.lists(
    st.sampled_from(("git", "web", "git/log", "web/*", "git/git_*", "fetch", "search", "nope", "own")), unique=True
)


@given(entries)
def test_K8_members_are_the_union_of_the_entries_each_once(written: list[str]) -> None:
    expanded = expand_toolkits([Toolkit("kit", member_tools=tuple(written))], CATALOG)
    members = expanded.catalog.get_toolkit("kit").member_tools
    expand = expander(CATALOG)
    assert set(members) == {tool_id for entry in written for tool_id in expand(entry)}
    assert len(set(members)) == len(members)
    assert {one.entry for one in expanded.unmatched} == {entry for entry in written if not expand(entry)}


def test_K8_toolkits_may_go_by_what_a_registry_calls_its_tools() -> None:
    kit = Toolkit(
        "kit",
        default_on=True,
        member_tools=("git/git_*", "own"),
        policy=PolicyText.of("Use {tools}.", {"git/git_push": "Never force {tools}."}),
        directive=DirectiveRules((DirectiveRule(("push",), ("git/git_push",), "git/git_push"),)),
        overrides={"git/git_*": {"x": 1}},
    )
    expanded = expand_toolkits([kit], CATALOG, key=lambda tool: tool.name)
    over = expanded.catalog.get_toolkit("kit")
    assert over.member_tools == ("git_status", "git_push", "named")
    assert over.overrides == {"git_status": {"x": 1}, "git_push": {"x": 1}}
    assert build_policy_section(over, ["git_push"]) == "Use git_push.\nNever force git_push."
    made_of = directive("push it", [over], ["git_push", "git_status"])
    assert made_of is not None
    assert (made_of.active_tools, made_of.tool_choice) == (("git_push",), "git_push")
    assert [spec.key for spec in expanded.catalog.tools].count("search") == 1, "two of one name are one"
    assert expanded.read_config({"git/git_push": False, "kit": True}) == ({"git_push": False, "kit": True}, ())


MATCHED = {"git": ("status", "push", "pull"), "git/pu*": ("push", "pull"), "git/push": ("push",), "push": ("push",)}


@pytest.mark.parametrize(
    ("entries", "push"),
    [
        pytest.param(("git", "git/pu*", "git/push"), "git/push", id="the-narrowest"),
        pytest.param(("git/push", "git/pu*", "git"), "git/push", id="wherever-it-stands"),
        pytest.param(("git/push", "git", "push"), "push", id="of-two-as-narrow-the-last"),
        pytest.param(("git",), "git", id="one-alone"),
    ],
)
def test_D1_the_narrowest_entry_applies_and_of_those_the_last(entries: tuple[str, ...], push: str) -> None:
    assert pick_narrowest({entry: entry for entry in entries}, MATCHED)["push"] == push
    assert widest_first(entries, MATCHED)[-1] == push


def test_D1_what_is_said_reaches_every_tool_of_an_entry_and_no_other() -> None:
    assert pick_narrowest({"git/pu*": 1, "git/push": 2}, MATCHED) == {"push": 2, "pull": 1}
    assert pick_narrowest({"none": 1}, {"none": ()}) == {}
