"""JSON Lines: what names the plugin, what the category, and that nothing is dropped or merged in silence."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.conftest import SHARED_DATA, needs_shared_data
from tests.wording import each_mentions
from toolbelt.catalog import Catalog, Tool
from toolbelt.catalog.frozen import thaw
from toolbelt.catalog.json_lines import Grouping, find_grouping, parse_catalog_lines
from toolbelt.catalog.reader import CatalogFile
from toolbelt.errors import InvalidFileError
from toolbelt.sources import read_text


def lines(*rows: Any) -> str:
    return "\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows) + "\n"


def read(*rows: Any, grouping: Grouping | None = None) -> CatalogFile:
    return parse_catalog_lines(lines(*rows), "t.jsonl", "mine", Catalog, grouping)


def shape(made: CatalogFile) -> dict[str, tuple[str | None, list[str]]]:
    return {plugin.name: (plugin.category, [tool.name for tool in plugin.tools]) for plugin in made.catalog.plugins}


def row(name: Any, **fields: Any) -> dict[str, Any]:
    return {"name": name, **fields}


@pytest.mark.parametrize(
    ("rows", "plugin", "category"),
    [
        pytest.param([], None, None, id="nothing"),
        pytest.param([row("f")], None, None, id="no-such-field"),
        pytest.param([row("f", plugin="p"), row("g")], "plugin", None, id="plugin-wins-though-not-everywhere"),
        pytest.param([row("f", plugin="p", category="c", server="s")], "plugin", "category", id="with-its-category"),
        pytest.param([row("f", server="s"), row("g", server="t")], "server", None, id="server-alone"),
        pytest.param([row("f", group="s"), row("g", group="t")], "group", None, id="group-alone"),
        pytest.param([row("f", server="s"), row("g")], None, None, id="server-only-where-all-have-one"),
        pytest.param([row("f", server="s", group=["a"])], "server", None, id="a-list-names-nothing"),
        pytest.param(
            [row("f", server="s", group="a"), row("g", server="t", group="a"), row("h", server="u", group="b")],
            "server",
            "group",
            id="the-finer-is-the-plugin",
        ),
        pytest.param(
            [row("f", server="s", group="a"), row("g", server="s", group="b"), row("h", server="t", group="c")],
            "group",
            "server",
            id="whichever-it-is",
        ),
        pytest.param(
            [row("f", server="s", group="a"), row("g", server="s", group="b")],
            "group",
            None,
            id="one-server-for-everything-is-no-category",
        ),
        pytest.param(
            [
                row("f", server="s", group="a"),
                row("g", server="s", group="b"),
                row("h", server="t", group="a"),
            ],
            "server",
            None,
            id="where-they-cross-the-server-and-no-category",
        ),
    ],
)
def test_what_is_grouped_by(rows: list[dict[str, Any]], plugin: str | None, category: str | None) -> None:
    assert find_grouping(rows) == Grouping(plugin, category)


def test_groups_become_plugins() -> None:
    reading = read(row("f", server="s", group="a"), row("g", server="t", group="a"), row("h", server="s", group="a"),
                row("i", server="u", group="b"))  # fmt: skip
    assert shape(reading) == {"s": ("a", ["f", "h"]), "t": ("a", ["g"]), "u": ("b", ["i"])}
    assert each_mentions(reading.notes, ("plugins from 'server'", "categories from 'group'"))
    assert reading.catalog.name == "mine"
    assert [reading.find_line(tool) for tool in reading.catalog.tools] == [1, 3, 2, 4]
    assert [reading.find_line(plugin) for plugin in reading.catalog.plugins] == [1, 2, 4]


def test_without_groups_all_are_in_one_plugin_named_after_the_catalog() -> None:
    reading = read(row("f"), row("g"))
    assert shape(reading) == {"mine": (None, ["f", "g"])}
    assert each_mentions(reading.notes, ("one plugin", "no categories"))


def test_a_grouping_may_be_given() -> None:
    reading = read(row("f", team="x", area="y", server="s"), row("g", team="x"), grouping=Grouping("team", "area"))
    assert shape(reading) == {"x": ("y", ["f", "g"])}
    assert reading.catalog.tools[0].extra == {"server": "s"}


def test_the_well_known_fields() -> None:
    schema = {"type": "object"}
    reading = read(
        row("f", id="f#1", description="D.", parameters=schema, annotations={"readOnlyHint": True}, strict=True),
        row("g", inputSchema=schema, extra={"a": 1}, b=[2]),
        row("h", input_schema=schema, description=None, parameters=None, annotations=None, extra=None, id=None),
    )
    f, g, h = reading.catalog.tools
    assert (f.id, f.description, f.parameters, f.annotations, f.extra) == (
        "f#1", "D.", schema, {"readOnlyHint": True}, {"strict": True})  # fmt: skip
    assert (g.id, g.parameters, g.extra) == ("mine/g", schema, {"a": 1, "b": [2]})
    assert (h.id, h.description, h.parameters, h.extra) == ("mine/h", "", {}, {"input_schema": schema})


def test_two_spellings_of_a_plugin_are_one_and_that_is_said() -> None:
    reading = read(row("f", plugin="Git"), row("g", plugin="git"), row("h", plugin="GIT"), row("i", plugin="git"))
    assert shape(reading) == {"Git": (None, ["f", "g", "h", "i"])}
    assert each_mentions(reading.notes[1:], ("Git", "git", "GIT"))


def test_two_categories_of_a_plugin_are_said() -> None:
    reading = read(row("f", plugin="p", category="a"), row("g", plugin="p", category="b"), row("h", plugin="p"))
    assert shape(reading) == {"p": ("a", ["f", "g", "h"])}
    assert each_mentions(reading.notes[1:], ("plugin 'p'", "(a, b)"))


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        pytest.param([], [("empty", None)], id="nothing"),
        pytest.param(["", "  "], [("empty", None)], id="blank-lines"),
        pytest.param(["{", row("f"), "[1]", '"x"', {"nam": 1}],
                     [("syntax", 1), ("wrong-type", 3), ("wrong-type", 4), ("wrong-type", 5)],
                     id="what-is-no-tool"),
        pytest.param(['{"name": "f", "name": "g"}'], [("duplicate-key", 1)], id="a-key-twice"),
        pytest.param([row(""), row("f"), row(None), row(5)], [("invalid-tool", n) for n in (1, 3, 4)], id="names"),
        pytest.param(
            [row("a", description=0), row("b", description=[]), row("c", parameters=[]), row("d", parameters=""),
             row("e", annotations=0), row("f", extra="x"), row("g", inputSchema=False)],
            [("invalid-tool", n) for n in range(1, 8)],
            id="fields-of-another-type-though-empty",
        ),
        pytest.param([row("f", id=5), row("g", id=" "), row("h", id="")], [("invalid-tool", n) for n in (1, 2, 3)],
                     id="ids"),
        pytest.param([row("f"), "", row("f"), row("f")], [("duplicate-tool-id", 3), ("duplicate-tool-id", 4)],
                     id="an-id-twice"),
        pytest.param([row("f", plugin="p"), row("f", plugin="P")], [("duplicate-tool-id", 2)],
                     id="an-id-twice-under-two-spellings"),
        pytest.param([row("f", plugin="p"), row("g", plugin=5), row("h", plugin=["p"]), row("i", plugin=" ")],
                     [("wrong-type", n) for n in (2, 3, 4)], id="plugins-that-are-no-text"),
        pytest.param([row("f", plugin="p", category="c"), row("g", plugin="p", category=["c"])], [("wrong-type", 2)],
                     id="categories-that-are-no-text"),
    ],
)  # fmt: skip
def test_every_line_that_is_refused(rows: list[Any], expected: list[tuple[str, int | None]]) -> None:
    with pytest.raises(InvalidFileError) as caught:
        read(*rows).refuse()
    assert [(finding.rule, finding.line) for finding in caught.value.findings] == expected
    assert {finding.file for finding in caught.value.findings} == {"t.jsonl"}


def as_given(tool: Tool, made: CatalogFile) -> dict[str, Any]:
    """A line made again from what was kept, grouping fields apart."""
    plugin = made.catalog.get_plugin(tool.plugin or "")
    return {
        "id": tool.id,
        "name": tool.name,
        "description": tool.description,
        "parameters": thaw(tool.parameters),
        "annotations": thaw(tool.annotations),
        **thaw(tool.extra),
        "\0plugin": plugin.name,
        "\0category": plugin.category,
    }


@needs_shared_data
@pytest.mark.parametrize(
    ("dataset", "tools", "plugins", "categories", "shared", "grouping"),
    [
        pytest.param("github_mcp", 117, 21, None, 0, Grouping("group", None), id="github_mcp"),
        pytest.param("livemcpbench", 527, 70, 8, 13, Grouping("server", "group"), id="livemcpbench"),
        pytest.param("seal_tools", 4076, 2276, 146, 0, Grouping("group", "server"), id="seal_tools"),
        pytest.param("bfcl", 3108, 1, None, 519, Grouping("server", None), id="bfcl"),
        pytest.param("metatool", 199, 2, None, 0, Grouping("group", None), id="metatool"),
    ],
)
def test_nothing_of_a_public_catalogue_is_dropped_or_merged(
    dataset: str, tools: int, plugins: int, categories: int | None, shared: int, grouping: Grouping
) -> None:
    path = SHARED_DATA / dataset / "catalog.jsonl"
    raw = [json.loads(line) for line in path.read_bytes().split(b"\n") if line.strip()]
    reading = parse_catalog_lines(read_text(path), str(path), dataset, Catalog)
    catalog = reading.catalog
    assert reading.notes == (grouping.describe(),)
    assert (len(raw), len(catalog.tools), len(catalog.plugins), len(catalog.shared_names)) == (
        tools, tools, plugins, shared)  # fmt: skip
    if categories is not None:
        assert len({plugin.category for plugin in catalog.plugins}) == categories
    assert {line["id"] for line in raw} == {tool.id for tool in catalog.tools}
    by_id = {tool.id: tool for tool in catalog.tools}
    for number, line in enumerate(raw, start=1):
        kept = as_given(by_id[line["id"]], reading)
        fields = {"\0plugin": line[grouping.plugin or ""]}
        if grouping.category:
            fields["\0category"] = line[grouping.category]
        expected = {key: value for key, value in line.items() if key not in (grouping.plugin, grouping.category)}
        assert {key: kept[key] for key in expected | fields} == expected | fields
        assert reading.find_line(by_id[line["id"]]) == number


@needs_shared_data
def test_names_of_bfcl_with_a_dot_keep_their_identity() -> None:
    path = SHARED_DATA / "bfcl" / "catalog.jsonl"
    catalog = parse_catalog_lines(read_text(path), str(path), "bfcl", Catalog).catalog
    dotted = [tool for tool in catalog.tools if "." in tool.name]
    assert (len(dotted), len({tool.name for tool in dotted})) == (1229, 777)
    assert not any("." in catalog.wire_names[tool.id] for tool in dotted)
