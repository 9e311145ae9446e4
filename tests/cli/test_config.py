"""`toolbelt config schema` and `show`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator

from tests.cli.conftest import Toolbelt
from tests.cli.test_loadout_inspect import MINE
from toolbelt.stores.config_schema import config_schema, loadout_file_schema


def test_the_schema_is_printed_or_written(toolbelt: Toolbelt, project: Path) -> None:
    ran = toolbelt("config", "schema")
    assert (ran.code, ran.err, ran.json) == (0, "", config_schema())
    assert toolbelt("config", "schema", "--json").out == ran.out
    written = toolbelt("config", "schema", "-o", "s.json", "--json")
    assert (written.json, written.err) == ({"output": "s.json"}, "note: wrote s.json\n")
    assert json.loads((project / "s.json").read_text()) == config_schema()
    assert toolbelt("config", "schema", "-o", "s.json").code == 2
    assert toolbelt("config", "schema", "-o", "s.json", "--force").code == 0


def test_the_schema_of_a_loadout_file_is_printed_or_written(toolbelt: Toolbelt, project: Path) -> None:
    assert toolbelt("config", "schema", "--loadout").json == loadout_file_schema() != config_schema()
    assert toolbelt("config", "schema", "--loadout", "-o", "s.json").code == 0
    assert json.loads((project / "s.json").read_text()) == loadout_file_schema()


@pytest.mark.parametrize(
    "flags",
    [
        "--extends developer",
        "--category money --category git --plugin docker/status --discoverable d* --disable git/push --description X",
    ],
)
def test_L10_the_schema_of_a_loadout_file_takes_what_create_writes(toolbelt: Toolbelt, small: Path, flags: str) -> None:
    validator = Draft202012Validator(toolbelt("config", "schema", "--loadout").json)
    Draft202012Validator.check_schema(validator.schema)
    assert toolbelt("loadout", "create", "mine", *flags.split()).code == 0
    written = yaml.safe_load((small / "mine.loadout.yaml").read_text())
    assert validator.is_valid(written)
    assert validator.is_valid({"plugins": ["git"]})  # the name may be left out
    for wrong in ({"parent": "full"}, {"name": " "}, {"plugins": "git"}):
        assert not validator.is_valid({**written, **wrong})


def test_show_without_a_file(toolbelt: Toolbelt) -> None:
    assert toolbelt("config", "show").out.startswith("no toolbelt.yaml from here upward\n")
    assert toolbelt("config", "show", "--json").json == {
        "file": None,
        "catalog": None,
        "tokenizer": None,
        "models": [],
        "own_models": [],
        "loadouts": [],
        "toolkits": [],
        "agents": [],
        "servers": [],
    }


def test_show(toolbelt: Toolbelt, small: Path) -> None:
    (small / "mine.loadout.yaml").write_text(MINE)
    data = toolbelt("config", "show", "--json").json
    assert Path(data["file"]).resolve() == small / "toolbelt.yaml"
    assert (data["catalog"], data["models"]) == ("small.yaml", ["gpt-4o"])
    assert data["loadouts"] == [{"name": "mine", "file": "mine.loadout.yaml"}]
    assert toolbelt("config", "show", "--config", "toolbelt.yaml").out.splitlines()[1:] == [
        "catalog    small.yaml",
        "tokenizer  not set",
        "models     gpt-4o",
        "loadouts   mine (mine.loadout.yaml)",
        "toolkits   not set",
        "agents     not set",
        "servers    not set",
    ]


def test_show_says_what_is_said_of_models(toolbelt: Toolbelt, small: Path) -> None:
    (small / "toolbelt.yaml").write_text(
        "models:\n- gpt-4o\n- name: mine\n  base: gpt-4o\n  context_window: 8000\n  tool_choice: false\n"
        "  prices: {input: 0.5, output: 2}\n"
    )
    data = toolbelt("config", "show", "--json").json
    assert data["models"] == ["gpt-4o", "mine"]
    assert data["own_models"] == [
        {
            "name": "mine",
            "base": "gpt-4o",
            "context_window": 8000,
            "tool_choice": False,
            "prices": {"input": 0.5, "output": 2.0, "cache_read": None, "cache_write": None},
        }
    ]
    [line] = [line for line in toolbelt("config", "show").out.splitlines() if line.startswith("models")]
    assert line == (
        "models     gpt-4o, mine (base gpt-4o; context_window 8000; tool_choice false; prices input 0.5, output 2)"
    )


def test_D1_show_says_what_is_said_of_agents(toolbelt: Toolbelt, small: Path) -> None:
    (small / "toolbelt.yaml").write_text(
        "agents:\n  clerk: {display_name: The Clerk, role: Pays bills, model: gpt-4o, rooms: [hall, desk], "
        "search: openai}\n"
        "  guard: {model: gpt-4}\n  idle: {}\n"
    )
    nothing: dict[str, object] = {"role": None, "model": None, "search": None, "rooms": []}
    assert toolbelt("config", "show", "--json").json["agents"] == [
        {
            "name": "clerk",
            "display_name": "The Clerk",
            "role": "Pays bills",
            "model": "gpt-4o",
            "search": "openai",
            "rooms": ["hall", "desk"],
        },
        {**nothing, "name": "guard", "display_name": "guard", "model": "gpt-4"},
        {**nothing, "name": "idle", "display_name": "idle"},
    ]
    assert toolbelt("config", "show").out.splitlines()[-2] == (
        "agents     clerk ('The Clerk'; role 'Pays bills'; model 'gpt-4o'; search 'openai'; rooms 'hall', 'desk'), "
        "guard (model 'gpt-4'), idle"
    )


def test_a_file_by_hand_that_is_missing(toolbelt: Toolbelt, small: Path) -> None:
    ran = toolbelt("config", "show", "--config", "toolbet.yaml")
    assert ran.code == 2
    assert "Did you mean 'toolbelt.yaml'" in ran.err
