"""`toolbelt loadout export`: what an agent passes to an API."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests.cli.conftest import Toolbelt
from tests.cli.test_loadout_inspect import MINE
from tests.wording import mentions

ROOT = Path(__file__).resolve().parents[2]

# What the APIs' references say of a tool.
_NAME = {"type": "string", "pattern": "^[a-zA-Z0-9_-]{1,64}$"}
_PARAMETERS = {"type": "object", "required": ["type"], "properties": {"type": {"const": "object"}}}
_FUNCTION = {
    "type": "object",
    "required": ["type", "function"],
    "additionalProperties": False,
    "properties": {
        "type": {"const": "function"},
        "function": {
            "type": "object",
            "required": ["name"],
            "additionalProperties": False,
            "properties": {
                "name": _NAME,
                "description": {"type": "string"},
                "parameters": _PARAMETERS,
                "strict": {"type": ["boolean", "null"]},
            },
        },
    },
}
SHAPES: dict[str, Any] = {
    "openai": {"type": "array", "items": _FUNCTION},
    "litellm": {"type": "array", "items": _FUNCTION},
    "anthropic": {
        "type": "array",
        "items": {
            "type": "object",
            "required": ["name", "input_schema"],
            "additionalProperties": False,
            "properties": {
                "name": {"type": "string", "pattern": "^[a-zA-Z0-9_-]{1,128}$"},
                "description": {"type": "string"},
                "input_schema": _PARAMETERS,
                "cache_control": {"type": ["object", "null"]},
            },
        },
    },
    "mcp": {
        "type": "object",
        "required": ["tools"],
        "properties": {
            "tools": {
                "type": "array",
                "items": {
                    "type": "object",
                    "required": ["name", "inputSchema"],
                    "properties": {"name": _NAME, "inputSchema": _PARAMETERS, "annotations": {"type": "object"}},
                },
            }
        },
    },
}


@pytest.mark.parametrize("form", SHAPES)
@pytest.mark.parametrize("loadout", ["full", "developer", "devops"])
def test_every_definition_is_of_the_shape_its_api_asks_for(toolbelt: Toolbelt, form: str, loadout: str) -> None:
    ran = toolbelt("loadout", "export", loadout, "--format", form)
    assert (ran.code, ran.err) == (0, "")
    Draft202012Validator(SHAPES[form]).validate(ran.json)
    count = len(ran.json["tools"] if form == "mcp" else ran.json)
    inspected = toolbelt("loadout", "inspect", loadout, "--json").json
    assert count == sum(len(row["tools"]) for row in inspected["active"]) > 50


def test_the_text(toolbelt: Toolbelt, small: Path, expected: Callable[[str], str]) -> None:
    (small / "mine.loadout.yaml").write_text(MINE)
    ran = toolbelt("loadout", "export", "mine")
    assert (ran.code, ran.out, ran.err) == (0, expected("loadout_export.txt"), "")
    assert toolbelt("loadout", "export", "mine", "--json").out == ran.out


def _tools(catalog: Any) -> list[tuple[str, str, Any, Any]]:
    return [
        (tool["name"], tool.get("description", ""), tool.get("parameters"), tool.get("annotations"))
        for plugin in catalog["plugins"]
        for tool in plugin["tools"]
    ]


@pytest.mark.parametrize("form", SHAPES)
def test_what_is_exported_goes_in_again_as_it_was(toolbelt: Toolbelt, project: Path, form: str) -> None:
    first = toolbelt("loadout", "export", "full", "--format", form, "-o", "one.json")
    assert first.code == 0
    read_as = "openai" if form == "litellm" else form
    imported = toolbelt("catalog", "import", "one.json", "--format", read_as)
    told = toolbelt("catalog", "import", "one.json")  # by its content alone
    assert (imported.code, told.code) == (0, 0)
    assert imported.json == told.json
    exported = {tool["name"]: tool for tool in toolbelt("loadout", "export", "full", "--format", "mcp").json["tools"]}
    assert [tool[:3] for tool in _tools(told.json)] == [
        (name, tool["description"], tool["inputSchema"]) for name, tool in exported.items()
    ]
    if form == "mcp":
        assert [tool[3] for tool in _tools(told.json)] == [tool.get("annotations") for tool in exported.values()]
    toolbelt("catalog", "import", "one.json", "-o", "catalog.yaml")
    (project / "all.loadout.yaml").write_text("plugins: [one]\n")
    again = toolbelt("loadout", "export", "all", "-c", "catalog.yaml", "--format", form)
    assert (again.code, again.json) == (0, json.loads((project / "one.json").read_text()))


def test_names_that_providers_refuse_are_sent_under_wire_names(toolbelt: Toolbelt, small: Path) -> None:
    (small / "all.loadout.yaml").write_text("plugins: [git, docker]\n")
    names = [tool["function"]["name"] for tool in toolbelt("loadout", "export", "all").json]
    assert names == ["git__status", "push", "run_container", "docker__status"]
    assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name) for name in names)


def test_nothing_to_export_is_an_empty_list_and_a_warning(toolbelt: Toolbelt, small: Path) -> None:
    (small / "none.loadout.yaml").write_text("discoverable: [git]\n")
    ran = toolbelt("loadout", "export", "none")
    assert (ran.code, ran.out) == (0, "[]\n")
    assert "nothing is exported" in ran.err
    assert toolbelt("loadout", "export", "none", "--format", "mcp").json == {"tools": []}


def test_C_without_a_name_the_whole_catalog_is_exported(toolbelt: Toolbelt, small: Path) -> None:
    ran = toolbelt("loadout", "export", "--format", "anthropic")
    assert (ran.code, ran.err) == (0, "")
    rows = toolbelt("catalog", "list", "--json").json["tools"]
    assert [tool["name"] for tool in ran.json] == [row["wire_name"] for row in rows]


def test_L15_auto_exports_what_it_chooses(toolbelt: Toolbelt, small: Path) -> None:
    whole = toolbelt("loadout", "export", "AUTO", "--model", "gpt-4o")
    assert (whole.code, whole.out) == (0, toolbelt("loadout", "export").out)
    large = ["-c", "assistant", "--format", "mcp"]
    shipped = json.loads((ROOT / "datasets" / "assistant" / "catalog.json").read_text(encoding="utf-8"))
    without_ladder = small / "without_ladder.json"
    without_ladder.write_text(json.dumps({**shipped, "ladder": []}), encoding="utf-8")
    some = toolbelt("loadout", "export", "auto", "--model", "gpt-4", *large)
    chosen = toolbelt("loadout", "inspect", "auto", "--model", "gpt-4", "-c", "assistant", "--json").json
    assert chosen["loadout"] == "pocket"  # 8,192 tokens: `minimal` takes more than half of them
    assert (some.code, some.out) == (0, toolbelt("loadout", "export", "pocket", *large).out)
    none = toolbelt("loadout", "export", "auto", "--model", "gpt-4", "-c", str(without_ladder), "--format", "mcp")
    assert (none.code, none.out) == (2, "")
    assert mentions(none.err, "auto", "gpt-4")
    small_enough = toolbelt("loadout", "export", "auto", "--model", "gpt-3.5-turbo", *large)
    assert (small_enough.code, small_enough.out) == (0, toolbelt("loadout", "export", "minimal", *large).out)


@pytest.mark.parametrize(
    ("models", "said"),
    [([], "give one model"), (["gpt-4", "gpt-4o"], "give one model"), (["no/such"], "window is unknown")],
)
def test_L15_auto_without_a_choice_exports_nothing(
    toolbelt: Toolbelt, small: Path, models: list[str], said: str
) -> None:
    ran = toolbelt("loadout", "export", "auto", "-o", "x.json", *(part for model in models for part in ("-m", model)))
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err
    assert not (small / "x.json").exists()


def test_an_output_file_is_not_replaced_unasked(toolbelt: Toolbelt, small: Path) -> None:
    done = toolbelt("loadout", "export", "full", "-o", "x.json", "--json")
    assert done.json == {"output": "x.json", "format": "openai", "tools": 3}
    before = (small / "x.json").read_bytes()
    refused = toolbelt("loadout", "export", "minimal", "-o", "x.json")
    assert (refused.code, refused.out) == (2, "")
    assert "use --force" in refused.err
    assert (small / "x.json").read_bytes() == before
    assert toolbelt("loadout", "export", "minimal", "-o", "x.json", "--force").code == 0
    assert len(json.loads((small / "x.json").read_text())) == 1
