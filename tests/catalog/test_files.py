"""What is written is what is read: in JSON and in YAML, whatever the catalog holds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import SHARED_DATA, needs_shared_data
from tests.wording import naming
from toolbelt.catalog import CATEGORY_DESCRIPTIONS, Catalog, Plugin, Tool
from toolbelt.catalog.files import catalog_data, format_catalog, plugin_data, read_catalog, tool_data
from toolbelt.catalog.json_lines import parse_catalog_lines
from toolbelt.catalog.reader import parse_catalog
from toolbelt.errors import InvalidFileError, NotFoundError
from toolbelt.patterns import fold
from toolbelt.sources import Document, parse_json, parse_yaml, read_text

PARSERS = {"json": parse_json, "yaml": parse_yaml}
SYNTAX = pytest.mark.parametrize("syntax", PARSERS)
FULL = Catalog(
    name="mine",
    description="Everything\nwith: a # twist",
    categories={
        "security": CATEGORY_DESCRIPTIONS["security"],
        "payments": "Moving money",
        "git": "Otherwise described",
    },
    plugins=(
        Plugin("stripe", (Tool("pay", "Pays.", {"type": "object"}), Tool("refund")), "payments", "Of Stripe"),
        Plugin("git", (Tool("pay", id="git#pay", annotations={"readOnlyHint": False}, extra={"strict": True}),)),
        Plugin("empty", category="shell"),
    ),
    core=("git#pay", "refund"),
    loadouts={"small": {"plugins": ["git"], "parent": None}},
    ladder=({"loadout": "full"}, {"loadout": "small", "min_window": 5}),
)


def written_and_read(catalog: Catalog, syntax: str) -> Catalog:
    text = format_catalog(catalog, syntax)
    return parse_catalog(Document(PARSERS[syntax](text, "here").data, "here"), Catalog).catalog


def in_order(catalog: Catalog) -> str:
    """`==` of mappings does not see their order, in which categories are browsed and parameters are sent."""
    return json.dumps([catalog_data(catalog), list(catalog.categories.items())])


@SYNTAX
def test_a_catalog_with_everything_comes_back(syntax: str) -> None:
    reading = written_and_read(FULL, syntax)
    assert reading == FULL
    assert in_order(reading) == in_order(FULL)
    assert [tool.id for tool in reading.tools] == ["stripe/pay", "stripe/refund", "git#pay"]


@SYNTAX
@pytest.mark.parametrize(
    "catalog",
    [
        pytest.param(Catalog(), id="nothing"),
        pytest.param(Catalog((Plugin("git", (Tool("a"),)),), unique_names=True), id="a-promise"),
        pytest.param(Catalog(categories={"git": CATEGORY_DESCRIPTIONS["git"]}), id="a-well-known-category-nobody-has"),
        pytest.param(
            Catalog((Plugin("git"), Plugin("web")), categories={"web": CATEGORY_DESCRIPTIONS["web"]}),
            id="well-known-categories-in-another-order",
        ),
        pytest.param(Catalog((Plugin("x", category="Git"),)), id="a-category-in-another-case"),
        pytest.param(Catalog((Plugin("x", (Tool("f", "word " * 200_000),)),)), id="a-megabyte"),
        pytest.param(
            Catalog(
                (Plugin("x", (Tool("f", extra={"e": ["1e5", "1:30", "0x1f", "yes", "~", "", "=", "<<", "1_0"]}),)),)
            ),
            id="text-that-looks-like-something-else",
        ),
        pytest.param(
            Catalog((Plugin("x", (Tool("f", extra={"e": [1e16, 1e-7, 0.1, -0.0, 10**30, True, None]}),)),)),
            id="numbers",
        ),
        pytest.param(
            Catalog((Plugin("x", (Tool("f", "\x00\x1b[31m\x7f\x85\u2028\ufeff\U0001f600\uffff\r\n\t end "),)),)),
            id="control-characters",
        ),
        pytest.param(Catalog((Plugin("x", (Tool("f", extra={"k" * 2000: {"": 1, "<<": 2, "1": 3}}),)),)), id="keys"),
    ],
)
def test_hard_ones_come_back(catalog: Catalog, syntax: str) -> None:
    reading = written_and_read(catalog, syntax)
    assert reading == catalog
    assert in_order(reading) == in_order(catalog)


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
NAMES = TEXT.filter(str.strip)
VISIBLE_NAMES = st.text(st.characters(exclude_categories=["Cs", "Cc", "Cf"]), max_size=30).filter(str.strip)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT
MAPPINGS = st.dictionaries(
    TEXT, st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner), max_leaves=6), max_size=3
)
TOOLS = st.builds(
    Tool,
    name=NAMES,
    description=TEXT,
    parameters=MAPPINGS,
    annotations=MAPPINGS,
    extra=MAPPINGS,
    id=st.just("") | NAMES,
)


@st.composite
def catalogs(draw: st.DrawFn) -> Catalog:
    names = draw(st.lists(VISIBLE_NAMES | st.sampled_from(["git", "web"]), unique_by=fold, max_size=3))
    taken: set[str] = set()
    plugins = []
    for name in names:
        tools = []
        for tool in draw(st.lists(TOOLS, max_size=3)):
            (placed,) = Plugin(name, (tool,)).tools
            if placed.id not in taken:
                taken.add(placed.id)
                tools.append(tool)
        plugins.append(Plugin(name, tuple(tools), draw(st.none() | VISIBLE_NAMES), draw(TEXT)))
    return Catalog(
        tuple(plugins),
        name=draw(NAMES),
        description=draw(TEXT),
        categories=dict(
            draw(
                st.lists(
                    st.tuples(VISIBLE_NAMES, TEXT) | st.sampled_from(list(CATEGORY_DESCRIPTIONS.items())),
                    unique_by=lambda pair: fold(pair[0]),
                    max_size=3,
                )
            )
        ),
        core=tuple(draw(st.lists(st.sampled_from(sorted(taken)), unique=True))) if taken else (),
        loadouts=draw(MAPPINGS),
        ladder=tuple(draw(st.lists(st.builds(lambda name: {"loadout": name, "min_window": 7}, TEXT), max_size=2))),
    )


@given(catalogs(), st.sampled_from(sorted(PARSERS)))
def test_writing_and_reading_is_the_identity(catalog: Catalog, syntax: str) -> None:
    reading = written_and_read(catalog, syntax)
    assert reading == catalog
    assert in_order(reading) == in_order(catalog)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        pytest.param(tool_data(Tool("f", plugin="p")), {"name": "f"}, id="what-is-empty-is-left-out"),
        pytest.param(tool_data(Tool("f", plugin="p", id="x")), {"name": "f", "id": "x"}, id="an-id-of-its-own-is-not"),
        pytest.param(plugin_data(Plugin("p")), {"name": "p", "tools": []}, id="a-plugin-has-tools-though-none"),
        pytest.param(
            catalog_data(Catalog()), {"name": "catalog", "plugins": []}, id="a-catalog-has-plugins-though-none"
        ),
        pytest.param(
            catalog_data(Catalog((Plugin("git"),)))["plugins"],
            [{"name": "git", "tools": []}],
            id="a-category-of-the-map-is-not-written",
        ),
    ],
)
def test_plain_values(data: Any, expected: Any) -> None:
    assert data == expected


def test_the_json_of_a_small_catalog() -> None:
    catalog = Catalog((Plugin("git", (Tool("git_log", "Shows « commits »."),)),), name="mine")
    assert format_catalog(catalog, "json") == (
        '{\n  "name": "mine",\n  "plugins": [\n    {\n      "name": "git",\n      "tools": [\n        {\n'
        '          "name": "git_log",\n          "description": "Shows « commits »."\n'
        "        }\n      ]\n    }\n  ]\n}\n"
    )


def test_the_yaml_of_a_small_catalog() -> None:
    catalog = Catalog((Plugin("git", (Tool("git_log", "Shows « commits »."),)),), name="mine")
    assert format_catalog(catalog, "yaml") == (
        "name: mine\nplugins:\n- name: git\n  tools:\n  - name: git_log\n    description: Shows « commits ».\n"
    )


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("c.json", '{"plugins": [{"name": "git", "tools": [{"name": "a"}]}]}'),
        ("c.yaml", "plugins: [{name: git, tools: [{name: a}]}]"),
        ("c.yml", "plugins: [{name: git, tools: [{name: a}]}]"),
        ("c.jsonl", '{"name": "a", "plugin": "git"}\n'),
        ("c.NDJSON", '{"name": "a", "plugin": "git"}\n'),
    ],
)
def test_C_a_catalog_is_read_by_the_ending_of_its_name(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    for catalog in (
        Catalog.read(tmp_path / name),
        Catalog.read(str(tmp_path / name)),
        read_catalog(tmp_path / name, Catalog).catalog,
    ):
        assert [tool.id for tool in catalog.tools] == ["git/a"]
        assert catalog.name == "c"


def test_C_reading_says_what_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text("plugins: 5\n")
    with pytest.raises(InvalidFileError, match=naming("c.yaml:1: error", "`plugins`", "list", 5, "[wrong-type]")):
        Catalog.read(tmp_path / "c.yaml")
    with pytest.raises(NotFoundError, match=r"Did you mean .*c\.yaml"):
        Catalog.read(tmp_path / "cc.yaml")


@needs_shared_data
@SYNTAX
@pytest.mark.parametrize("dataset", ["github_mcp", "livemcpbench", "metatool"])
def test_public_catalogues_come_back(dataset: str, syntax: str) -> None:
    path = SHARED_DATA / dataset / "catalog.jsonl"
    catalog = parse_catalog_lines(read_text(path), str(path), dataset, Catalog).catalog
    reading = written_and_read(catalog, syntax)
    assert reading == catalog
    assert in_order(reading) == in_order(catalog)
