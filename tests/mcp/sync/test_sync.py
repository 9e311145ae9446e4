"""From listings to a catalog, and what changed (rule M4)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.wording import each_mentions, mentions
from toolbelt.catalog import Catalog, Plugin, Tool
from toolbelt.catalog.definitions import is_legal_wire_name, mcp_definition
from toolbelt.catalog.files import format_catalog
from toolbelt.catalog.frozen import thaw
from toolbelt.catalog.gate.changes import Change, ChangeKind, find_changes, total_tokens
from toolbelt.catalog.reader import parse_catalog
from toolbelt.catalog.tokens import EstimateCounter, count_named_tools
from toolbelt.errors import InvalidDefinitionError
from toolbelt.mcp.gateway.surface import NAME_LIMIT
from toolbelt.mcp.sync.sync import RESERVED_NAMES, Listing, ServerStatus, server_tools, sync_catalog
from toolbelt.servers.switches import Switch
from toolbelt.sources import parse_json

OTHER_SCHEMA = {"type": "object"}
SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}, "$schema": "http://json-schema.org/draft-07/"}
EMPTY = Catalog()


def tool(name: str, description: str = "", **fields: Any) -> dict[str, Any]:
    return {"name": name, "description": description, "inputSchema": SCHEMA, **fields}


def listing(server: str, *tools: Any) -> Listing:
    entries = tuple(tool(each) if isinstance(each, str) else each for each in tools)
    return Listing(server, ServerStatus.OK, entries, version="1.2", protocol="2025-11-25", seconds=0.5)


def failure(server: str, status: ServerStatus = ServerStatus.FAILED) -> Listing:
    return Listing(server, status, error="it ended")


def sync(old: Catalog, *listings: Listing, **settings: Any) -> Catalog:
    return sync_catalog(old, listings, **settings).catalog


def wire_names(catalog: Catalog) -> dict[tuple[str, str], str]:
    """By server and tool, as the catalog shows them, after it was written and read."""
    read = parse_catalog(parse_json(format_catalog(catalog, "json"), "catalog.json"), Catalog).catalog
    return {(p.server or p.name, t.name): read.wire_names[t.id] for p in read.plugins for t in p.tools}


def count(tools: Sequence[tuple[Tool, str]]) -> list[int]:
    return count_named_tools(tools, EstimateCounter())


def changes(old: Catalog, new: Catalog) -> tuple[Change, ...]:
    return find_changes(server_tools(old), server_tools(new), count)


def kinds(old: Catalog, new: Catalog) -> list[tuple[str, str, str]]:
    return [(change.kind.value, change.tool, change.was) for change in changes(old, new)]


tool_names = st.one_of(
    st.sampled_from(["search", "get_file", "call_tool", "Search", "x" * 50, "x" * 51, "a b", "日本", "load_tools"]),
    st.text(min_size=1, max_size=6).filter(lambda name: bool(name.strip()) and name.isprintable()),
)
tools = st.lists(
    st.builds(tool, tool_names, st.sampled_from(["", "Finds.", "Reads."])),
    unique_by=lambda each: each["name"],
    max_size=5,
)
split_settings = st.sampled_from([None, {"by": "prefix"}, {"groups": {"files": ["get_*", "x*"]}}])
projects = st.dictionaries(st.sampled_from(["git", "web", "a_very_long_name_of_a_server", "Azure"]), tools, max_size=4)


def listings_of(project: dict[str, list[dict[str, Any]]]) -> list[Listing]:
    return [listing(server, *entries) for server, entries in project.items()]


@given(projects, split_settings, st.randoms())
@settings(max_examples=60)
def test_M4_the_order_of_the_servers_does_not_matter_and_a_second_sync_changes_no_byte(
    project: dict[str, list[dict[str, Any]]], split: Any, random: Any
) -> None:
    splits = dict.fromkeys(project, split)
    listed = listings_of(project)
    first = sync(EMPTY, *listed, splits=splits)
    random.shuffle(listed)
    text = format_catalog(first, "json")
    assert format_catalog(sync(EMPTY, *listed, splits=splits), "json") == text
    read = parse_catalog(parse_json(text, "catalog.json"), Catalog).catalog
    assert format_catalog(sync(read, *listed, splits=splits), "json") == text
    assert changes(first, sync(read, *listed, splits=splits)) == ()


@given(projects, tools, split_settings, split_settings)
@settings(max_examples=60)
def test_M4_adding_a_server_or_splitting_one_renames_nothing(
    project: dict[str, list[dict[str, Any]]], added: list[dict[str, Any]], split: Any, later: Any
) -> None:
    old = sync(EMPTY, *listings_of(project), splits=dict.fromkeys(project, split))
    new = sync(old, *listings_of(project), listing("added", *added), splits=dict.fromkeys(project, later))
    before, after = wire_names(old), wire_names(new)
    assert {key: after[key] for key in before} == before
    assert len(set(after.values())) == len(after)
    assert all(is_legal_wire_name(name, NAME_LIMIT) and name not in RESERVED_NAMES for name in after.values())


@given(projects, projects)
@settings(max_examples=60)
def test_M4_the_tokens_of_all_changes_add_up_to_the_difference(
    before: dict[str, list[dict[str, Any]]], after: dict[str, list[dict[str, Any]]]
) -> None:
    old = sync(EMPTY, *listings_of(before))
    new = sync(old, *listings_of(after), servers=after)

    def total(catalog: Catalog) -> int:
        return sum(count([(each, each.wire_name) for each in catalog.tools]))

    assert total_tokens(changes(old, new)) == total(new) - total(old)


def test_M4_a_plugin_per_server_with_its_version_and_protocol_and_the_definitions_as_sent() -> None:
    sent = tool(
        "read", "Reads.", title="Read", outputSchema={}, annotations={"readOnlyHint": True}, _meta={"a/b": None}
    )
    catalog = sync(EMPTY, listing("files", sent))
    [plugin] = catalog.plugins
    assert (plugin.name, plugin.server, plugin.category, plugin.description) == ("files", "files", "filesystem", "read")
    assert thaw(mcp_definition(plugin.tools[0], "read")) == sent
    facts = dict(catalog.servers["files"])
    assert len(facts.pop("digest")) == 64
    assert facts == {"version": "1.2", "protocol": "2025-11-25"}


def test_M4_the_digest_follows_the_definitions_and_not_their_order_or_icons() -> None:
    def digest(*tools: dict[str, Any]) -> str:
        return str(sync(EMPTY, listing("s", *tools)).servers["s"]["digest"])

    plain = digest(tool("a"), tool("b"))
    assert digest(tool("b"), tool("a", icons=[], _meta={"x": 1})) == plain
    assert len({plain, digest(tool("a"), tool("b", "Now.")), digest(tool("a"), tool("b", title="B"))}) == 3


def test_M4_a_large_server_is_split_into_plugins_with_descriptions_and_categories_of_their_own() -> None:
    catalog = sync(EMPTY, listing("azure", "sql_get", "sql_list", "aks_get", "me"), splits={"azure": {"by": "prefix"}})
    assert [(p.name, p.server, p.category, p.description) for p in catalog.plugins] == [
        ("azure-aks", "azure", "azure-aks", "aks_get"),
        ("azure-sql", "azure", "azure-sql", "sql_get, sql_list"),
        ("azure-other", "azure", "azure-other", "me"),
    ]
    assert [each.wire_name for each in catalog.tools] == ["aks_get", "sql_get", "sql_list", "me"]


def test_M4_same_names_of_two_servers_get_the_server_before_them_and_who_came_first_keeps_its_name() -> None:
    together = sync(EMPTY, listing("web", "search"), listing("git", "search"))
    assert wire_names(together) == {("git", "search"): "git__search", ("web", "search"): "web__search"}
    later = sync(sync(EMPTY, listing("web", "search")), listing("git", "search"))
    assert wire_names(later) == {("git", "search"): "git__search", ("web", "search"): "search"}
    third = sync(together, listing("new", "search"))
    assert wire_names(third)["new", "search"] == "new__search"


def test_M5_long_names_and_names_of_meta_tools_are_changed() -> None:
    names = wire_names(sync(EMPTY, listing("s", "call_tool", "x" * 46, "x" * 45)))
    assert names["s", "x" * 45] == "x" * 45
    assert len(names["s", "x" * 46]) == NAME_LIMIT
    assert names["s", "call_tool"] != "call_tool"


@pytest.mark.parametrize("status", [ServerStatus.FAILED, ServerStatus.NEEDS_LOGIN])
def test_M4_a_server_that_fails_keeps_its_last_known_tools_marked_stale(status: ServerStatus) -> None:
    old = sync(EMPTY, listing("git", "log"), listing("web", "fetch"))
    new = sync(old, failure("git", status), listing("web", "fetch", "post"), splits={"git": {"by": "prefix"}})
    assert new.plugins[0] == old.plugins[0]
    assert dict(new.servers["git"]) == {**old.servers["git"], "stale": True}
    assert kinds(old, new) == [("added", "web/post", "")]
    assert sync(new, listing("git", "log")).servers["git"] == old.servers["git"]
    assert "never" not in sync(old, failure("never")).servers


def test_M4_servers_that_were_not_asked_stay_and_those_of_no_project_go() -> None:
    old = sync(EMPTY, listing("git", "log"), listing("web", "fetch"))
    assert sync(old, listing("web", "fetch")) == old
    gone = sync(old, listing("web", "fetch"), servers={"web"})
    assert [plugin.name for plugin in gone.plugins] == list(gone.servers) == ["web"]
    assert kinds(old, gone) == [("removed", "git/log", "")]


def test_M4_what_a_user_wrote_into_the_catalog_stays() -> None:
    old = Catalog(
        (
            Plugin("mine", (Tool("search"), Tool("y" * 50))),
            Plugin("git", (Tool("log"), Tool("push")), "git", "Ours alone.", "git"),
        ),
        name="ours",
        categories={"notes": "Kept."},
        core=("mine/search", "git/log", "git/push"),
        loadouts={"l": {"plugins": ["mine"]}},
    )
    new = sync(old, listing("git", "search", "log_all", "log"), splits={"git": {"by": "prefix"}})
    assert new.plugins[0].tools[0].name == "search"
    assert {key: wire_names(new)[key] for key in (("mine", "search"), ("mine", "y" * 50))} == {
        ("mine", "search"): "search",
        ("mine", "y" * 50): "y" * 50,
    }
    assert new.core == ("mine/search", "git-other/log")
    assert (new.name, new.loadouts, new.categories["notes"]) == ("ours", old.loadouts, "Kept.")
    unsplit = sync(old, listing("git", "log", "tag"))
    assert (unsplit.get_plugin("git").category, unsplit.get_plugin("git").description) == ("git", "Ours alone.")


def test_M4_a_description_made_from_names_follows_them_and_unused_categories_go() -> None:
    old = sync(EMPTY, listing("crm", "log"))
    new = sync(old, listing("crm", "log", "tag"))
    assert new.plugins[0].description == "log, tag"
    split = sync(new, listing("crm", "log_a", "log_b"), splits={"crm": {"by": "prefix"}})
    assert list(split.categories) == ["crm-log"]


def test_M4_a_server_may_list_in_any_order_and_new_tools_come_last() -> None:
    old = sync(EMPTY, listing("s", "b", "a"))
    assert [each.name for each in sync(old, listing("s", "new", "a", "b")).tools] == ["b", "a", "new"]


def test_M4_two_plugins_of_one_name_are_refused_with_their_servers() -> None:
    with pytest.raises(InvalidDefinitionError) as raised:
        sync(EMPTY, listing("a", "sql_x"), listing("A-SQL", "y"), splits={"a": {"by": "prefix"}})
    assert mentions(raised.value, "a", "A-SQL")


def test_M4_what_cannot_be_a_tool_is_left_out_and_noted() -> None:
    entries = ({"description": "no name"}, tool("a"), tool("a", "again"), {"name": "b", "inputSchema": []}, tool("c"))
    synced = sync_catalog(EMPTY, [listing("s", *entries)])
    assert [each.name for each in synced.catalog.tools] == ["a", "c"]
    assert each_mentions(synced.notes, "s", ("s", "a"), ("s", "b"))


@pytest.mark.parametrize("schema", [{}, {"inputSchema": {}}, {"inputSchema": {"type": "string"}}])
def test_M7_a_tool_for_which_a_client_would_refuse_the_whole_list_is_left_out(schema: dict[str, Any]) -> None:
    synced = sync_catalog(EMPTY, [listing("s", {"name": "b", **schema}, tool("c"))])
    assert [each.name for each in synced.catalog.tools] == ["c"]
    assert each_mentions(synced.notes, ("s", "b", "type: object"))


def test_M4_a_server_without_tools_is_known_and_has_no_plugin() -> None:
    catalog = sync(EMPTY, listing("s"))
    assert (catalog.plugins, catalog.servers["s"]["version"]) == ((), "1.2")
    assert sync(catalog, failure("s")).servers["s"]["stale"] is True


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        pytest.param(["a"], ["a", "b"], [("added", "s/b", "")], id="added"),
        pytest.param(["a", "b"], ["a"], [("removed", "s/b", "")], id="removed"),
        pytest.param(["a"], ["b"], [("renamed", "s/b", "s/a")], id="renamed"),
        pytest.param(
            ["a"], [tool("b", "Other.")], [("added", "s/b", ""), ("removed", "s/a", "")], id="another-description"
        ),
        pytest.param(
            ["a"], ["b", "c"], [("added", "s/b", ""), ("added", "s/c", ""), ("removed", "s/a", "")], id="ambiguous"
        ),
        pytest.param(["a"], [tool("a", "D")], [("description", "s/a", "")], id="description"),
        pytest.param(["a"], [tool("a", inputSchema=OTHER_SCHEMA)], [("schema", "s/a", "")], id="schema"),
        pytest.param(["a"], [tool("a", annotations={"x": 1})], [("annotations", "s/a", "")], id="annotations"),
        pytest.param(["a"], [tool("a", title="A")], [("other", "s/a", "")], id="anything-else"),
        pytest.param(
            ["a"],
            [tool("a", "D", inputSchema=OTHER_SCHEMA)],
            [("description", "s/a", ""), ("schema", "s/a", "")],
            id="several-at-once",
        ),
    ],
)
def test_M4_every_kind_of_change_is_found(before: list[Any], after: list[Any], expected: list[Any]) -> None:
    old = sync(EMPTY, listing("s", *before))
    assert kinds(old, sync(old, listing("s", *after))) == expected


def test_M4_a_new_split_moves_tools_and_costs_nothing() -> None:
    old = sync(EMPTY, listing("s", "sql_a"))
    new = sync(old, listing("s", "sql_a"), splits={"s": {"by": "prefix"}})
    assert changes(old, new) == (Change(ChangeKind.MOVED, "s-sql/sql_a", 0, "s/sql_a"),)


def test_M4_tokens_of_a_change_are_what_it_adds() -> None:
    old = sync(EMPTY, listing("s", "a"))
    new = sync(old, listing("s", tool("a", "x" * 400)))
    [change] = changes(old, new)
    assert change.tokens == 100


def test_M4_the_file_has_no_times_and_a_line_for_each_value() -> None:
    text = format_catalog(sync(EMPTY, listing("s", tool("a", "Line one.\nLine two."))), "json")
    assert "0.5" not in text
    assert json.loads(text)["plugins"][0]["tools"][0]["wire_name"] == "a"
    assert max(map(len, text.splitlines())) < 100


OFF = {"a": (Switch("disabledTools", ".mcp.json", ("put",)),), "b": (Switch("enabled", "~/c.json"),)}


def test_V7_what_is_switched_off_leaves_the_catalog_and_comes_back() -> None:
    both = sync(EMPTY, listing("a", "get", "put"), listing("b", "run"))
    off = sync(both, listing("a", "get", "put"), servers={"a", "b"}, switches=OFF)
    assert [tool.id for tool in off.tools] == ["a/get"]
    assert {each.name: (each.key, each.file) for each in off.switched_off} == {
        "a/put": ("disabledTools", ".mcp.json"),
        "b": ("enabled", "~/c.json"),
    }
    assert (
        parse_catalog(parse_json(format_catalog(off, "json"), "c.json"), Catalog).catalog.switched_off
        == off.switched_off
    )
    again = sync(off, listing("a", "get", "put"), listing("b", "run"), servers={"a", "b"}, switches={"a": (), "b": ()})
    assert wire_names(again) == wire_names(both)
    assert again.switched_off == ()


@pytest.mark.parametrize(
    ("switches", "off"),
    [(OFF, ["a/put"]), ({"a": ()}, []), ({}, ["a/put"])],
    ids=["still-off", "on-but-not-asked", "entry-cannot-be-read"],
)
def test_V7_a_server_that_does_not_answer_keeps_what_is_known_of_its_switches(switches: Any, off: list[str]) -> None:
    before = sync(EMPTY, listing("a", "get", "put"), switches={"a": OFF["a"]})
    after = sync(before, failure("a"), switches={name: of for name, of in switches.items() if name == "a"})
    assert [tool.id for tool in after.tools] == ["a/get"], "what was never seen again is not made up"
    assert [each.name for each in after.switched_off] == off
