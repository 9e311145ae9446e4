"""What a gateway serves of a catalog (rules M5, M6)."""

from __future__ import annotations

from toolbelt import Catalog, Plugin, Tool, ToolLoadoutBuilder, ToolLoadoutRegistry
from toolbelt.mcp.gateway.surface import Surface, make_surface, serving_digest

SCHEMA = {"type": "object", "properties": {"b": {}, "a": {}}}
TOOLS = (Tool("get", "Get it.", SCHEMA), Tool("bare"), Tool("odd", parameters={"type": "string"}))


def surface_of(catalog: Catalog, name_limit: int = 45) -> Surface:
    loadout = ToolLoadoutBuilder.create("some").add_plugin("git").add_discoverable("*").disable("off").build()
    registry = ToolLoadoutRegistry([loadout])
    return make_surface(registry.resolve("some", catalog), name_limit=name_limit)


def test_M6_each_tool_is_offered_discoverable_or_has_a_reason() -> None:
    plugins = (Plugin("git", TOOLS, server="git"), Plugin("web", (Tool("fetch"),), server="web"))
    own, off = Plugin("own", (Tool("mine"),)), Plugin("off", (Tool("rm"),), server="web")
    surface = surface_of(Catalog((*plugins, own, off)))
    assert [*surface.by_name] == ["get", "bare"]
    assert [tool.wire_name for tool in surface.discoverable] == ["fetch"]
    assert surface.reasons.keys() == {"odd", "mine", "rm"}
    assert (surface.servers, surface.resource_servers) == (("git", "web"), ("git",))


def test_M5_the_digest_covers_order_names_descriptions_and_schemas_alone() -> None:
    [first, second] = [tool.definition for tool in surface_of(Catalog((Plugin("git", TOOLS, server="git"),))).offered]
    digest = serving_digest([first, second])
    assert serving_digest([{**first, "annotations": {"readOnlyHint": True}}, second]) == digest
    reordered = {"type": "object", "properties": {"a": {}, "b": {}}}
    changed = ([second, first], *([{**first, key: new}, second] for key, new in (
        ("name", "put"), ("description", "Put it."), ("inputSchema", reordered)
    )))  # fmt: skip
    assert len({digest, *map(serving_digest, changed)}) == 5


def test_M5_names_are_cut_so_that_they_stay_unique() -> None:
    names = ("a" * 40 + "_read", "a" * 40 + "_write")
    catalog = Catalog((Plugin("git", tuple(map(Tool, names)), server="git"),))
    served = [*surface_of(catalog, 20).by_name]
    assert [len(name) for name in served] == [20, 20]
    assert len({*served}) == 2
