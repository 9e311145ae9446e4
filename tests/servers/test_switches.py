"""Rule V7: what is switched off is in no catalog, and the catalog names what switched it off."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from toolbelt.catalog import Catalog, Plugin, Tool
from toolbelt.loadouts import Status, ToolLoadout, ToolLoadoutRegistry
from toolbelt.loadouts.lint import lint_against_catalog
from toolbelt.loadouts.reader import read_loadouts
from toolbelt.servers.switches import Switch, find_switch, leave_out
from toolbelt.sources import parse_yaml
from toolbelt.toolkits.expand import Miss, expand_entry

NAMES = ("get", "put", "put_all", "drop")
CATALOG = Catalog(
    plugins=(
        Plugin("own", (Tool("put"),)),
        Plugin("a-x", tuple(Tool(name, wire_name=f"a_{name}") for name in NAMES), category="web", server="a"),
        Plugin("b", tuple(Tool(name, wire_name=f"b_{name}") for name in NAMES), server="b"),
    ),
    core=("a-x/put", "b/get"),
    servers={"a": {"version": "1"}, "b": {}},
)
switches = st.builds(
    Switch,
    key=st.sampled_from(["k", "l"]),
    source=st.just("f.json"),
    patterns=st.lists(st.sampled_from([*NAMES, "put*", "*", "none"]), max_size=3).map(tuple),
    only=st.booleans(),
)


@given(st.dictionaries(st.sampled_from(["a", "b", "gone"]), st.lists(switches, max_size=3)))
def test_V7_exactly_what_is_switched_off_is_left_out_and_named(by_server: dict[str, list[Switch]]) -> None:
    left = leave_out(CATALOG, by_server)
    kept = {tool.id for tool in left.tools}
    for plugin in CATALOG.plugins:
        for tool in plugin.tools:
            is_off = find_switch(by_server.get(plugin.server, ()), tool.name) is not None
            assert (tool.id in kept) is not is_off
            if is_off:
                off = left.find_switched_off(f"{plugin.server}/{tool.name}")
                assert off is not None
                assert off.why in {f"switched off by `{each.key}` in f.json" for each in by_server[plugin.server]}
    assert [tool.id for tool in left.tools] == [tool.id for tool in CATALOG.tools if tool.id in kept]
    assert all(left.get_tool(tool.id) == tool for tool in CATALOG.tools if tool.id in kept)
    assert leave_out(left, by_server) == left


@given(st.lists(switches, max_size=4), st.randoms())
def test_V7_the_order_of_files_changes_nothing_that_is_on(of_a: list[Switch], random: object) -> None:
    turned = [*reversed(of_a)]
    assert leave_out(CATALOG, {"a": of_a}).tools == leave_out(CATALOG, {"a": turned}).tools


OFF = leave_out(
    CATALOG, {"a": (Switch("disabledTools", ".mcp.json", ("put",)),), "b": (Switch("enabled", "~/c.json"),)}
)


def test_V7_a_loadout_that_names_it_does_not_bring_it_back_and_why_names_the_file() -> None:
    names = frozenset({"a-x/put", "a-x/get", "b"})
    resolution = ToolLoadoutRegistry([ToolLoadout("mine", default_plugins=names)]).resolve("mine", OFF)
    assert [tool.id for tool in resolution.active_tools] == ["a-x/get"]
    for name, off in (("a/put", "a/put"), ("a-x/put", "a/put"), ("b", "b"), ("b/get", "b")):
        decision = resolution.why(name)
        assert (decision.name, decision.status) == (off, Status.DISABLED)
    assert str(resolution.why("b").reasons[0]) == "switched off by `enabled` in ~/c.json, whatever mine has"
    assert OFF.core == ()


def test_V7_a_loadout_and_a_toolkit_that_name_it_are_no_mistake() -> None:
    written, _ = read_loadouts(parse_yaml("loadouts: {m: {plugins: [a-x/put, a-x/get, b, bb]}}", "t.yaml"), "loadouts")
    registry = ToolLoadoutRegistry(each.loadout for each in written)
    findings = lint_against_catalog(written[0], registry, OFF)
    assert [(each.rule, each.severity.value) for each in findings] == [
        ("switched-off", "warning"),
        ("switched-off", "warning"),
        ("unknown-plugin", "error"),
    ]
    assert "`disabledTools` in .mcp.json" in findings[0].message
    assert expand_entry("a-x/put", OFF).miss is Miss.OFF
    assert Miss.OFF.severity(is_off=True).value == "warning"
