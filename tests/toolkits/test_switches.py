"""Switches (rules K1 to K3): the whole truth table, and why each tool is on or off."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.wording import mentions, naming
from toolbelt.errors import InvalidDefinitionError, NotFoundError, ToolbeltError
from toolbelt.toolkits.directive import DirectiveRule, DirectiveRules
from toolbelt.toolkits.policy import PolicyLine, PolicyText
from toolbelt.toolkits.switch_decisions import SwitchRule
from toolbelt.toolkits.switches import ToolkitCatalog, describe
from toolbelt.toolkits.toolkit import Directive, Toolkit, ToolSpec

NON_BOOLEANS: tuple[Any, ...] = (1, 0, 1.0, "true", "false", "", None, [], [True], {"on": True})
# Of each cell, the sign is whether the tool is on, the letter the branch that decided:
# X a toolkit is off, T a toolkit is on, O the tool's own, D the default, U unknown.
TRUTH_TABLE = """
tool's own           absent      true        false       other
on by default        no    yes   no    yes   no    yes   no    yes
absent    absent     D-    D+    O+    O+    O-    O-    D-    D+
absent    true       T+    T+    T+    T+    T-    T-    T+    T+
absent    false      X-    X-    X-    X-    X-    X-    X-    X-
absent    other      D-    D+    O+    O+    O-    O-    D-    D+
true      absent     T+    T+    T+    T+    T-    T-    T+    T+
true      true       T+    T+    T+    T+    T-    T-    T+    T+
true      false      X-    X-    X-    X-    X-    X-    X-    X-
true      other      T+    T+    T+    T+    T-    T-    T+    T+
false     absent     X-    X-    X-    X-    X-    X-    X-    X-
false     true       X-    X-    X-    X-    X-    X-    X-    X-
false     false      X-    X-    X-    X-    X-    X-    X-    X-
false     other      X-    X-    X-    X-    X-    X-    X-    X-
other     absent     D-    D+    O+    O+    O-    O-    D-    D+
other     true       T+    T+    T+    T+    T-    T-    T+    T+
other     false      X-    X-    X-    X-    X-    X-    X-    X-
other     other      D-    D+    O+    O+    O-    O-    D-    D+
unowned   unowned    D-    D+    O+    O+    O-    O-    D-    D+
unknown   unknown    U-    U-    U-    U-    U-    U-    U-    U-
"""
RULES = {
    "X": SwitchRule.TOOLKIT_OFF,
    "T": SwitchRule.TOOLKIT_ON,
    "O": SwitchRule.OWN,
    "D": SwitchRule.DEFAULT,
    "U": SwitchRule.UNKNOWN,
}
SAID: dict[str, dict[str, Any]] = {
    "absent": {},
    "unowned": {},
    "unknown": {},
    "true": {"v": True},
    "false": {"v": False},
    "other": {"v": "true"},
}


def cells() -> Iterator[Any]:
    rows = [line.split() for line in TRUTH_TABLE.strip().splitlines()[2:]]
    columns = [(own, default) for own in ("absent", "true", "false", "other") for default in (False, True)]
    for first, second, *row in rows:
        for (own, default), cell in zip(columns, row, strict=True):
            name = f"{first}-{second}-own_{own}-default_{'on' if default else 'off'}"
            yield pytest.param(first, second, own, default, cell, id=name)


@pytest.mark.parametrize(("first", "second", "own", "default_on", "cell"), list(cells()))
def test_K2_the_truth_table(first: str, second: str, own: str, default_on: bool, cell: str) -> None:
    members = () if first in ("unowned", "unknown") else ("tool",)
    spec = ToolSpec("stranger" if first == "unknown" else "tool", default_on=default_on)
    catalog = ToolkitCatalog((spec,), (Toolkit("first", member_tools=members), Toolkit("second", member_tools=members)))
    config = {
        key: value
        for key, said in (("first", first), ("second", second), ("tool", own))
        for value in SAID[said].values()
    }
    decision = catalog.decide("tool", config)
    assert (decision.enabled, decision.rule) == (cell[1] == "+", RULES[cell[0]])
    assert ("tool" in catalog.enabled_tools(config)) is (cell[1] == "+")


def test_K2_the_table_is_whole() -> None:
    assert len(list(cells())) == (4 * 4 + 2) * 4 * 2
    assert len({param.id for param in cells()}) == 144


TWO_OWNERS = ToolkitCatalog(
    (ToolSpec("shared"), ToolSpec("alone", default_on=True)),
    (Toolkit("first", member_tools=("shared",)), Toolkit("second", member_tools=("shared",))),
)


@pytest.mark.parametrize(
    ("config", "key", "value", "named"),
    [
        pytest.param({"second": False, "first": True}, "second", False, ("second", "off"), id="toolkit-off"),
        pytest.param(
            {"first": False, "shared": True},
            "first",
            False,
            ("first", "off", "shared"),
            id="a-members-true-is-overruled-and-told",
        ),
        pytest.param({"second": True}, "second", True, ("second", "on"), id="toolkit-on"),
        pytest.param(
            {"first": True, "shared": False},
            "shared",
            False,
            ("first", "on", "shared", "opts out"),
            id="a-members-false-opts-out",
        ),
        pytest.param({"first": True, "shared": True}, "shared", True, ("first", "on", "shared", "too"), id="both"),
        pytest.param({"shared": True}, "shared", True, ("shared", "on"), id="legacy-boolean"),
        pytest.param({}, None, None, ("default", "off"), id="default"),
    ],
)
def test_K2_the_key_that_decided_is_told(
    config: dict[str, Any], key: str | None, value: bool | None, named: object
) -> None:
    decision = TWO_OWNERS.decide("shared", config)
    assert (decision.key, decision.value) == (key, value)
    assert mentions(decision.reason, named)
    assert decision.toolkits == ("first", "second")


@pytest.mark.parametrize(
    ("key", "named"),
    [
        pytest.param("shred", ("shred", "shared"), id="nearest"),
        pytest.param("first", ("first", "toolkit"), id="a-toolkit-is-no-tool"),
    ],
)
def test_K2_an_unknown_tool_is_off_even_where_the_config_names_it(key: str, named: object) -> None:
    decision = TWO_OWNERS.decide(key, {key: True})
    assert (decision.enabled, decision.rule, decision.key) == (False, SwitchRule.UNKNOWN, None)
    assert mentions(decision.reason, named)


@pytest.mark.parametrize("value", NON_BOOLEANS, ids=repr)
@pytest.mark.parametrize("rest", [{}, {"second": True}, {"second": False}, {"second": True, "shared": False}], ids=str)
@pytest.mark.parametrize("key", ["first", "shared"])
def test_K2_what_is_no_boolean_counts_as_absent(key: str, rest: dict[str, Any], value: Any) -> None:
    without = {name: said for name, said in rest.items() if name != key}
    assert TWO_OWNERS.decide("shared", {**without, key: value}) == TWO_OWNERS.decide("shared", without)
    assert TWO_OWNERS.toolkit_switch("first", {**without, key: value}) == TWO_OWNERS.toolkit_switch("first", without)
    assert [note.rule for note in TWO_OWNERS.check_config({key: value})] == ["not-a-boolean"]


def test_K2_tools_that_are_on_are_in_the_order_of_the_catalog() -> None:
    keys = ("zebra", "ape", "mole")
    catalog = ToolkitCatalog(tuple(map(ToolSpec, keys)), (Toolkit("all", member_tools=("mole", "zebra", "ape")),))
    assert catalog.enabled_tools({"all": True}) == keys


@pytest.mark.parametrize(
    ("config", "shown"),
    [
        pytest.param({"kit": True}, True, id="explicitly-on"),
        pytest.param({"kit": False}, False, id="explicitly-off"),
        pytest.param({}, True, id="nothing-said-and-a-member-on-by-default"),
        pytest.param({"one": True}, True, id="older-config-with-a-member-on"),
        pytest.param({"one": False, "two": True}, True, id="any-member-will-do"),
        pytest.param({"one": False}, True, id="a-member-off-and-another-on"),
        pytest.param({"one": False, "two": False}, False, id="all-members-off"),
        pytest.param({"kit": False, "one": True}, False, id="explicitly-off-beats-a-member"),
        pytest.param({"kit": True, "one": False, "two": False}, True, id="on-though-all-opt-out"),
        pytest.param({"kit": 1, "one": True}, True, id="what-is-no-boolean-is-absent"),
        pytest.param({"two": False, "one": 1}, True, id="a-member-that-is-no-boolean"),
        pytest.param({"one": False, "two": False, "other": True}, False, id="not-by-a-stranger"),
    ],
)
def test_K3_how_a_toolkits_switch_is_shown(config: dict[str, Any], shown: bool) -> None:
    tools = (ToolSpec("one", default_on=True), ToolSpec("two"), ToolSpec("other"))
    catalog = ToolkitCatalog(tools, (Toolkit("kit", default_on=True, member_tools=("one", "two")),))
    assert catalog.toolkit_switch("kit", config) is shown


LIKE_YAML = ToolkitCatalog(
    (ToolSpec("read"), ToolSpec("write"), ToolSpec("free", default_on=True)),
    (
        Toolkit("safe", default_on=True, member_tools=("read",)),
        Toolkit("files", member_tools=("read", "write")),
        Toolkit("writes", member_tools=("write",)),
    ),
)


def test_K2_a_tool_without_a_default_is_on_if_any_of_its_toolkits_is_and_a_new_config_changes_nothing() -> None:
    assert LIKE_YAML.enabled_tools({}) == ("read", "free")
    config = LIKE_YAML.new_config()
    assert config == {"safe": True, "files": None, "writes": False, "free": True}
    assert LIKE_YAML.enabled_tools(config) == ("read", "free")
    assert LIKE_YAML.check_config(config) == ()
    assert [LIKE_YAML.toolkit_switch(key, {}) for key in ("safe", "files", "writes")] == [True, True, False]
    described = describe(LIKE_YAML)
    assert [tool["default_on"] for tool in described["tools"]] == [True, False, True]


@pytest.mark.parametrize(
    ("config", "enabled"),
    [
        pytest.param({"SAFE": False}, ("free",), id="a-toolkit-in-another-case"),
        pytest.param({"Read": False}, ("free",), id="a-tool-in-another-case"),
        pytest.param({"safe": True, "SAFE": False}, ("free",), id="false-stands"),
        pytest.param({"SAFE": False, "safe": True}, ("free",), id="in-any-order"),
    ],
)
def test_K2_keys_are_compared_without_case_and_false_stands(config: dict[str, Any], enabled: tuple[str, ...]) -> None:
    assert LIKE_YAML.enabled_tools(config) == enabled
    assert [note.rule for note in LIKE_YAML.check_config(config)] == ["contradiction"] * (len(config) - 1)


def test_K2_of_keys_that_differ_in_case_alone_the_exact_one_is_meant_and_an_unclear_false_takes_both() -> None:
    catalog = ToolkitCatalog((ToolSpec("Read", default_on=True), ToolSpec("read", default_on=True)))
    assert catalog.enabled_tools({"read": False}) == ("Read",)
    assert catalog.enabled_tools({"READ": False}) == ()
    assert catalog.enabled_tools({"READ": True, "read": False}) == ("Read",)
    assert [note.rule for note in catalog.check_config({"READ": True})] == ["ambiguous-key"]


def test_K1_a_member_may_be_spelled_in_another_case_or_composition() -> None:
    catalog = ToolkitCatalog(
        (ToolSpec("caf\u00e9"),), (Toolkit("kit", member_tools=("CAFE\u0301",), overrides={"CAFE\u0301": {"a": 1}}),)
    )
    assert catalog.get_toolkit("KIT").member_tools == ("caf\u00e9",)
    assert catalog.get_toolkit("kit").overrides == {"caf\u00e9": {"a": 1}}
    assert catalog.enabled_tools({"kit": True}) == ("caf\u00e9",)


def test_K3_the_switch_of_an_unknown_toolkit_is_an_error_with_the_nearest() -> None:
    with pytest.raises(NotFoundError, match="'first'") as refused:
        TWO_OWNERS.toolkit_switch("frist", {})
    assert (refused.value.kind, refused.value.name, refused.value.known) == ("toolkit", "frist", ("first", "second"))


def test_K3_a_new_config_holds_toolkits_and_the_tools_in_none() -> None:
    catalog = ToolkitCatalog(
        (ToolSpec("a", default_on=True), ToolSpec("b"), ToolSpec("free", default_on=True), ToolSpec("spare")),
        (Toolkit("off", member_tools=("a",)), Toolkit("on", default_on=True, member_tools=("b",))),
    )
    config = catalog.new_config()
    assert list(config.items()) == [("off", False), ("on", True), ("free", True), ("spare", False)]
    assert catalog.enabled_tools(config) == ("b", "free")
    assert catalog.check_config(config) == ()


@pytest.mark.parametrize("config", [None, [], "on", 3, True, [("a", True)]], ids=repr)
def test_K2_a_config_that_is_no_mapping_is_refused(config: Any) -> None:
    for ask in (
        lambda: TWO_OWNERS.decide("shared", config),
        lambda: TWO_OWNERS.enabled_tools(config),
        lambda: TWO_OWNERS.toolkit_switch("first", config),
        lambda: TWO_OWNERS.check_config(config),
        lambda: ToolkitCatalog().enabled_tools(config),
    ):
        with pytest.raises(ToolbeltError, match=naming("tools", "toolkits", "true", "false")):
            ask()


def test_K2_what_does_nothing_is_told_and_harmless() -> None:
    config: dict[Any, Any] = {"shard": True, 7: True, "first": False, "shared": True, "alone": "yes"}
    notes = TWO_OWNERS.check_config(config)
    assert [(note.key, note.rule) for note in notes] == [
        ("shard", "unknown-key"),
        (7, "unknown-key"),
        ("shared", "overruled-by-toolkit"),
        ("alone", "not-a-boolean"),
    ]
    named = (("shard", "shared"), (7, "first", "second", "shared", "alone"), ("shared", "first"), ("alone", "'yes'"))
    assert all(mentions(note.message, *names) for note, names in zip(notes, named, strict=True))
    assert TWO_OWNERS.enabled_tools(config) == TWO_OWNERS.enabled_tools({"first": False})


@pytest.mark.parametrize(
    ("tools", "toolkits", "named"),
    [
        pytest.param(
            ("search",),
            (Toolkit("web", member_tools=("serch",)),),
            ("web", "serch", "search"),
            id="a-member-that-is-no-tool",
        ),
        pytest.param((), (Toolkit("web"), Toolkit("web")), ("2 toolkits", "web"), id="two-toolkits"),
        pytest.param(("a", "a", "a"), (), ("3 tools", "a"), id="three-tools"),
        pytest.param(("web",), (Toolkit("web"),), ("'web'", "tool", "toolkit"), id="tool-and-toolkit"),
    ],
)
def test_K1_a_catalog_that_may_not_exist(tools: tuple[str, ...], toolkits: tuple[Toolkit, ...], named: object) -> None:
    with pytest.raises(InvalidDefinitionError) as refused:
        ToolkitCatalog(tuple(map(ToolSpec, tools)), toolkits)
    assert mentions(str(refused.value), named)


def test_K1_all_mistakes_are_told_at_once() -> None:
    with pytest.raises(InvalidDefinitionError) as refused:
        ToolkitCatalog(
            (ToolSpec("a"), ToolSpec("a")),
            (Toolkit("k", member_tools=("x", "y")), Toolkit("k"), Toolkit("a", member_tools=("z",))),
        )
    assert len(str(refused.value).splitlines()) == 6


def test_K1_a_tool_may_be_in_several_toolkits_and_what_is_asked_is_one_source() -> None:
    assert [toolkit.key for toolkit in TWO_OWNERS.owners("shared")] == ["first", "second"]
    assert TWO_OWNERS.owners("alone") == TWO_OWNERS.owners("nobody") == ()
    assert TWO_OWNERS.members("first") == (TWO_OWNERS.get_tool("shared"),)
    assert TWO_OWNERS.unowned_tools == (TWO_OWNERS.get_tool("alone"),)
    for ask in (TWO_OWNERS.get_tool, TWO_OWNERS.get_toolkit, TWO_OWNERS.members):
        with pytest.raises(NotFoundError):
            ask("nobody")


KITS = ("k1", "k2", "k3")
TOOLS = ("t1", "t2", "t3", "t4")
values = st.one_of(st.booleans(), st.sampled_from((1, 0, None, "true")))
configs = st.dictionaries(st.sampled_from((*KITS, *TOOLS, "stranger")), values)
memberships = st.fixed_dictionaries({kit: st.lists(st.sampled_from(TOOLS), unique=True) for kit in KITS})
defaults = st.fixed_dictionaries({tool: st.booleans() for tool in TOOLS})


def catalog_of(members: dict[str, list[str]], on: dict[str, bool], order: list[str]) -> ToolkitCatalog:
    toolkits = (Toolkit(kit, member_tools=tuple(members[kit])) for kit in order)
    return ToolkitCatalog(tuple(ToolSpec(tool, default_on=on[tool]) for tool in TOOLS), tuple(toolkits))


@given(memberships, defaults, configs, st.permutations(KITS))
def test_K2_the_order_of_toolkits_does_not_matter(
    members: dict[str, list[str]], on: dict[str, bool], config: dict[str, Any], order: list[str]
) -> None:
    one, other = catalog_of(members, on, list(KITS)), catalog_of(members, on, order)
    assert one.enabled_tools(config) == other.enabled_tools(config)
    assert [d.rule for d in one.decisions(config)] == [d.rule for d in other.decisions(config)]


@given(memberships, defaults, configs, st.sampled_from(KITS))
def test_K2_a_toolkits_explicit_false_always_wins(
    members: dict[str, list[str]], on: dict[str, bool], config: dict[str, Any], kit: str
) -> None:
    catalog = catalog_of(members, on, list(KITS))
    assert not set(members[kit]) & set(catalog.enabled_tools({**config, kit: False}))


@given(memberships, defaults, configs, st.sampled_from(KITS))
def test_K2_switching_a_toolkit_touches_its_members_alone(
    members: dict[str, list[str]], on: dict[str, bool], config: dict[str, Any], kit: str
) -> None:
    catalog = catalog_of(members, on, list(KITS))
    before, after = (set(catalog.enabled_tools({**config, kit: value})) for value in (False, True))
    assert before ^ after <= set(members[kit])
    assert before <= after


@given(memberships, defaults, configs)
def test_K2_a_decision_says_what_stands_in_the_config(
    members: dict[str, list[str]], on: dict[str, bool], config: dict[str, Any]
) -> None:
    for decision in catalog_of(members, on, list(KITS)).decisions(config):
        if decision.key is None:
            assert decision.value is None
            assert decision.rule is SwitchRule.DEFAULT
        else:
            assert decision.value is config[decision.key] is decision.enabled
            assert decision.key in (decision.tool, *decision.toolkits)


def secret_function(message: str, available: object) -> Directive | None:
    return None


CATALOG = ToolkitCatalog(
    (
        ToolSpec("run", "Run code", False, "Runs a program.", policy="secret: of the tool"),
        ToolSpec("search", default_on=True),
    ),
    (
        Toolkit(
            "code",
            "Code",
            True,
            ("run",),
            "Writing and running programs.",
            policy=PolicyText("secret: text", (PolicyLine(("run",), "secret: line"),), "secret: unavailable"),
            directive=DirectiveRules((DirectiveRule(("secret: phrase",)),)),
            overrides={"run": {"secret: key": "secret: value"}},
        ),
        Toolkit("find", member_tools=("search",), policy="secret: plain", directive=secret_function),
    ),
)


def test_K7_the_whole_view() -> None:
    assert describe(CATALOG, {"code": True, "run": False}) == {
        "toolkits": [
            {
                "key": "code",
                "label": "Code",
                "description": "Writing and running programs.",
                "default_on": True,
                "on": True,
                "members": ["run"],
            },
            {
                "key": "find",
                "label": "find",
                "description": "",
                "default_on": False,
                "on": True,
                "members": ["search"],
            },
        ],
        "tools": [
            {
                "key": "run",
                "label": "Run code",
                "description": "Runs a program.",
                "default_on": False,
                "enabled": False,
                "rule": "toolkit_on",
                "toolkits": ["code"],
            },
            {
                "key": "search",
                "label": "search",
                "description": "",
                "default_on": True,
                "enabled": True,
                "rule": "default",
                "toolkits": ["find"],
            },
        ],
    }


def test_K7_nothing_of_policies_code_or_overrides_is_in_it() -> None:
    assert CATALOG.toolkits[0].policy is not None  # what is looked for is there to leak
    text = json.dumps(describe(CATALOG, {"code": "secret: not a boolean", "secret: stranger": True}))
    assert "secret" not in text
    assert "function" not in text
    assert "0x" not in text


def test_K7_it_is_json_and_the_same_from_call_to_call() -> None:
    made = json.dumps(describe(CATALOG))
    assert json.dumps(describe(CATALOG, {})) == made
    assert json.loads(made) == describe(CATALOG)


def test_K7_what_a_caller_does_to_the_view_stays_his() -> None:
    describe(CATALOG)["toolkits"][0]["members"].append("more")
    assert describe(CATALOG)["toolkits"][0]["members"] == ["run"]


def test_K7_a_config_that_is_no_mapping_is_refused() -> None:
    with pytest.raises(ToolbeltError):
        describe(CATALOG, [])  # type: ignore[arg-type]
