"""Assembly (rules K6, K7): built-in, MCP, sub-app; two tools of one name are an error that names both owners."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.wording import mentions, naming
from toolbelt.catalog import Tool
from toolbelt.errors import InvalidDefinitionError, ToolbeltError
from toolbelt.runtime.context import ToolContext
from toolbelt.runtime.executable import ExecutableTool
from toolbelt.runtime.gates import FilterOpts
from toolbelt.runtime.guards import AuditRecord, GuardDecision, GuardVerdict, refuse
from toolbelt.runtime.registry import ToolRegistry
from toolbelt.runtime.results import ToolCall
from toolbelt.toolkits.assembly import SubApp, assemble, mcp_name
from toolbelt.toolkits.policy import build_policy
from toolbelt.toolkits.switches import ToolkitCatalog
from toolbelt.toolkits.toolkit import Toolkit, ToolSpec


def tool(name: str, **settings: Any) -> ExecutableTool:
    return ExecutableTool(name, function=lambda: f"ran {name}", **settings)


def tools(*names: str) -> list[ExecutableTool]:
    return [tool(name) for name in names]


def names_of(registry: ToolRegistry) -> list[str]:
    return [one.name for one in registry.get_all()]


def test_K6_built_in_then_mcp_then_sub_app() -> None:
    registry = assemble(
        tools("read", "write"),
        {"github": tools("list_issues"), "jira": tools("list_issues")},
        tools("unbound", "add_note", "find_note"),
        [SubApp("notes", ("find_note", "add_note"))],
    )
    assert names_of(registry) == [
        "read",
        "write",
        "mcp__github__list_issues",
        "mcp__jira__list_issues",
        "find_note",
        "add_note",
    ]


@pytest.mark.parametrize(
    ("sub_apps", "bound"),
    [
        pytest.param([], [], id="no-sub-app-no-tool"),
        pytest.param([SubApp("notes", ("a",), enabled=False)], [], id="one-that-is-not-enabled-binds-nothing"),
        pytest.param([SubApp("off", ("a", "ghost"), enabled=False), SubApp("on", ("b",))], ["b"], id="enabled-alone"),
        pytest.param([SubApp("one", ("b", "a")), SubApp("two", ("a",))], ["b", "a"], id="bound-twice-is-there-once"),
        pytest.param([SubApp("one", "a")], ["a"], id="a-lone-name"),  # type: ignore[arg-type]
    ],
)
def test_K6_sub_app_tools_are_bound_by_name(sub_apps: list[SubApp], bound: list[str]) -> None:
    assert names_of(assemble(sub_app_tools=tools("a", "b"), sub_apps=sub_apps)) == bound


@pytest.mark.parametrize(
    ("parts", "named"),
    [
        pytest.param(
            {"built_in": tools("find"), "sub_app_tools": tools("find"), "sub_apps": [SubApp("notes", ("find",))]},
            (2, "'find'", "built-in", "sub-app notes"),
            id="built-in-and-sub-app",
        ),
        pytest.param(
            {"built_in": tools("mcp__git__log"), "mcp": {"git": tools("log")}},
            (2, "mcp__git__log", "built-in", "MCP server git"),
            id="built-in-and-mcp",
        ),
        pytest.param(
            {"mcp": {"a": tools("b__c"), "a__b": tools("c")}},
            (2, "mcp__a__b__c", "MCP server a", "MCP server a__b"),
            id="two-servers-whose-names-run-into-one-another",
        ),
        pytest.param(
            {"mcp": {"git": tools("log", "mcp__git__log")}},
            (2, "mcp__git__log", "all of MCP server git"),
            id="within-one-server",
        ),
        pytest.param(
            {"built_in": tools("a", "a", "a")},
            (3, "'a'", "built-in"),
            id="three-built-in",
        ),
        pytest.param({"sub_app_tools": tools("x", "x")}, (2, "sub-app", "'x'"), id="pool"),
        pytest.param(
            {"sub_app_tools": tools("find_note"), "sub_apps": [SubApp("notes", ("find_notes",))]},
            ("notes", "find_notes", "Did you mean 'find_note'?"),
            id="an-unknown-name",
        ),
        pytest.param(
            {"sub_apps": [SubApp("notes"), SubApp("notes", enabled=False)]},
            ("Two", "notes"),
            id="two-sub-apps",
        ),
    ],
)
def test_K6_what_is_refused(parts: dict[str, Any], named: object) -> None:
    with pytest.raises(InvalidDefinitionError, match=naming(named)) as refused:
        assemble(**parts)
    assert len(str(refused.value).splitlines()) == 1


def test_K6_everything_wrong_is_told_at_once_and_nothing_is_registered() -> None:
    registry = ToolRegistry(tools("there"))
    with pytest.raises(InvalidDefinitionError) as refused:
        assemble(
            tools("a", "there", "fine"),
            {"s": tools("t", "t")},
            tools("a"),
            [SubApp("notes", ("a", "b"))],
            registry=registry,
        )
    assert len(str(refused.value).splitlines()) == 4
    assert any(mentions(line, "there", "registered", "built-in") for line in str(refused.value).splitlines())
    assert names_of(registry) == ["there"]


def test_K6_a_switch_cannot_make_tools_collide() -> None:
    catalog = ToolkitCatalog((ToolSpec("find"),))
    for config in ({"find": True}, {"find": False}):
        with pytest.raises(InvalidDefinitionError, match=naming(2, "find")):
            assemble(
                tools("find"),
                sub_app_tools=tools("find"),
                sub_apps=[SubApp("s", ("find",))],
                catalog=catalog,
                tools_config=config,
            )


NAMES = ("read", "find", "mcp__s__find", "note")


@given(
    st.lists(st.sampled_from(NAMES)),
    st.dictionaries(st.sampled_from(("s", "t")), st.lists(st.sampled_from(NAMES))),
    st.lists(st.sampled_from(NAMES), unique=True),
)
def test_K6_either_every_tool_is_there_or_it_is_refused(
    built_in: list[str], mcp: dict[str, list[str]], bound: list[str]
) -> None:
    brought = [*built_in, *(mcp_name(server, name) for server, names in mcp.items() for name in names), *bound]
    parts: dict[str, Any] = {
        "built_in": tools(*built_in),
        "mcp": {server: tools(*names) for server, names in mcp.items()},
        "sub_app_tools": tools(*bound),
        "sub_apps": [SubApp("app", tuple(bound))],
    }
    if len(set(brought)) == len(brought):
        assert names_of(assemble(**parts)) == brought
    else:
        with pytest.raises(InvalidDefinitionError, match="tools are named"):
            assemble(**parts)


def test_K6_mcp_tools_are_filtered_by_their_server_whatever_its_name() -> None:
    registry = assemble(mcp={"a__b": tools("c"), "a": tools("d")})
    shown = registry.to_definitions(filter_opts=FilterOpts(allowed_mcp_servers=frozenset({"a__b"})))
    assert [definition["name"] for definition in shown] == ["mcp__a__b__c"]
    assert [one.plugin for one in registry.get_all()] == ["a__b", "a"]


def test_K6_the_allow_list_speaks_of_built_in_tools_alone() -> None:
    registry = assemble(tools("read", "write"), {"s": tools("t")}, tools("note"), [SubApp("notes", ("note",))])
    shown = [definition["name"] for definition in registry.to_definitions(["read"])]
    assert shown == ["read", "mcp__s__t", "note"]
    none = registry.to_definitions(filter_opts=FilterOpts(allowed_plugins=frozenset()))
    assert [definition["name"] for definition in none] == ["read", "write", "mcp__s__t"]


CATALOG = ToolkitCatalog(
    (ToolSpec("read", default_on=True), ToolSpec("run"), ToolSpec("note"), ToolSpec("mcp__s__known")),
    (Toolkit("code", member_tools=("run", "mcp__s__known")),),
)


@pytest.mark.parametrize(
    ("config", "there"),
    [
        pytest.param(None, ["read", "mcp__s__other"], id="defaults"),
        pytest.param({"code": True}, ["read", "run", "mcp__s__known", "mcp__s__other"], id="a-toolkit-switches-all"),
        pytest.param({"code": True, "run": False}, ["read", "mcp__s__known", "mcp__s__other"], id="opted-out"),
        pytest.param({"read": False, "note": True}, ["mcp__s__other", "note"], id="a-sub-apps-tool"),
        pytest.param({"stranger": True}, ["read", "mcp__s__other"], id="an-unknown-built-in-is-off"),
    ],
)
def test_K6_the_config_switches(config: Mapping[str, Any] | None, there: list[str]) -> None:
    registry = assemble(
        tools("read", "run", "stranger"),
        {"s": tools("known", "other")},
        tools("note"),
        [SubApp("notes", ("note",))],
        catalog=CATALOG,
        tools_config=config,
    )
    assert names_of(registry) == there


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        pytest.param({"tools_config": {}}, ("toolkits", "catalog"), id="a-config-without-a-catalog"),
        pytest.param({"catalog": CATALOG, "tools_config": []}, "maps keys", id="a-config-that-is-no-mapping"),
    ],
)
def test_K6_a_config_that_cannot_be_used_is_refused(settings: dict[str, Any], named: object) -> None:
    with pytest.raises(ToolbeltError, match=naming(named)):
        assemble(**settings)


def fetch(url: str) -> str:
    """Fetch a page."""
    return url


def test_K6_a_tool_of_a_server_keeps_the_id_it_was_given() -> None:
    made = assemble(mcp={"s": [tool("t", id="my-id", plugin="elsewhere"), tool("u")]}).get_all()
    assert [(one.id, one.plugin) for one in made] == [("my-id", "s"), ("s/mcp__s__u", "s")]


def test_K6_functions_are_made_into_tools() -> None:
    registry = assemble([fetch], {"s": [fetch]}, [fetch], [])
    assert names_of(registry) == ["fetch", "mcp__s__fetch"]
    made = registry.get("mcp__s__fetch")
    assert made is not None
    assert made.id == "s/mcp__s__fetch"


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda: SubApp(" "), id="a-sub-app-without-a-name"),
        pytest.param(lambda: SubApp("s", ("a", "a")), id="a-tool-bound-twice-by-one"),
        pytest.param(lambda: assemble(mcp={"": []}), id="a-server-without-a-name"),
        pytest.param(lambda: assemble([Tool("plain")]), id="a-tool-without-a-function"),  # type: ignore[list-item]
    ],
)
def test_K6_definitions_that_may_not_exist(make: Callable[[], object]) -> None:
    with pytest.raises(InvalidDefinitionError):
        make()


def no(arguments: Mapping[str, Any], context: ToolContext) -> GuardDecision:
    return refuse(f"not for {context.agent}")


def test_K7_guards_and_policies_go_through_assembly() -> None:
    records: list[AuditRecord] = []
    registry = assemble(
        [tool("a", guard=no, policy="About a.")],
        {"s": [tool("b", guard=no, policy="About b.")]},
        [tool("c", guard=no, policy="About c.")],
        [SubApp("app", ("c",))],
        registry=ToolRegistry(audit=records.append),
    )
    names = ["a", "mcp__s__b", "c"]
    assert build_policy(ToolkitCatalog(), names, registry.get_all()) == "\n\n".join(f"About {name}." for name in "abc")
    calls = [ToolCall(f"call-{name}", name) for name in names]
    results = asyncio.run(registry.execute_parallel(calls, ToolContext(agent="bob")))
    assert all("not for bob" in str(result.result) for result in results)
    assert sorted((record.tool, record.verdict, record.allowed) for record in records) == [
        (name, GuardVerdict.REFUSE, False) for name in sorted(names)
    ]


def test_K6_a_sub_app_that_is_enabled_by_what_is_no_boolean_is_refused() -> None:
    with pytest.raises(InvalidDefinitionError, match=naming("enabled", "notes", "boolean", "'false'")):
        SubApp("notes", enabled="false")  # type: ignore[arg-type]


def test_K6_tools_of_a_sub_app_go_by_its_plugin_where_they_have_none() -> None:
    given = [tool("a"), tool("b", plugin="own"), tool("c", id="my-id")]
    registry = assemble(sub_app_tools=given, sub_apps=[SubApp("notes", ("a", "b", "c"))])
    assert [(tool.plugin, tool.id) for tool in registry.get_all()] == [
        ("notes", "notes/a"),
        ("own", "own/b"),
        ("notes", "my-id"),
    ]
    assert [plugin.name for plugin in registry.catalog.plugins] == ["notes", "own"]
    assert registry.get_plugin_id("b") == "notes"


@pytest.mark.parametrize(
    ("parts", "named"),
    [
        pytest.param({"built_in": tool("a")}, ("`built_in`", "list", "'a'"), id="a-lone-tool"),
        pytest.param({"built_in": fetch}, ("`built_in`", "list", "'fetch'"), id="a-lone-function"),
        pytest.param({"built_in": "ab"}, ("`built_in`", "list", "str"), id="a-text"),
        pytest.param({"built_in": 3}, ("`built_in`", "list", "int"), id="a-number"),
        pytest.param({"built_in": ["ab"]}, ("ExecutableTool", "'ab'"), id="a-name"),
        pytest.param({"mcp": tools("a")}, ("`mcp`", "servers"), id="tools-of-no-server"),
        pytest.param({"mcp": {"s": fetch}}, ("`mcp['s']`", "list", "'fetch'"), id="of-a-server"),
        pytest.param({"sub_app_tools": fetch}, ("`sub_app_tools`", "list"), id="of-sub-apps"),
        pytest.param({"sub_apps": SubApp("a")}, ("`sub_apps`", "list", "'a'"), id="a-sub-app"),
        pytest.param({"sub_apps": ["a"]}, ("`sub_apps`", "list of SubApp"), id="names-of-sub-apps"),
    ],
)
def test_K6_a_part_that_is_no_list_is_told(parts: dict[str, Any], named: object) -> None:
    with pytest.raises(InvalidDefinitionError, match=naming(named)):
        assemble(**parts)
