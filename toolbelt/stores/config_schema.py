"""What may stand in a project's files, for editors; and writing them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolbelt.catalog import ToolCategory
from toolbelt.catalog.tokens import TOKENIZER_NAMES
from toolbelt.documents import with_json_numbers
from toolbelt.loadouts.loadout import AUTO, WHOLE_CATALOG
from toolbelt.loadouts.written import LOADOUT_KEYS
from toolbelt.stores.config_reader import CONFIG_KEYS


def loadout_file_schema() -> dict[str, Any]:
    """A JSON Schema of `*.loadout.yaml`, which holds one loadout."""
    schema = _loadout_schema()
    name = {"description": "Of the loadout; that of the file if left out.", **_loadout_name()}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "*.loadout.yaml",
        **schema,
        "properties": {"name": name, **schema["properties"]},
    }


def config_schema() -> dict[str, Any]:
    """A JSON Schema of `toolbelt.yaml`, for editors; made of the same tables that the reader uses."""
    properties: dict[str, Any] = {
        "catalog": _name("string", "null"),
        "tokenizer": {"enum": [*TOKENIZER_NAMES, None]},
        "models": {"type": ["array", "null"], "items": _name("string")},
        "loadouts": {
            "type": ["object", "null"],
            "propertyNames": {**_loadout_name()},
            "additionalProperties": {"anyOf": [{"$ref": "#/$defs/loadout"}, {"type": "null"}]},
        },
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "toolbelt.yaml",
        "type": ["object", "null"],
        "additionalProperties": False,
        "properties": {key: {"description": CONFIG_KEYS[key], **schema} for key, schema in properties.items()},
        "$defs": {"loadout": _loadout_schema()},
    }


def _loadout_schema() -> dict[str, Any]:
    properties: dict[str, Any] = {}
    for key, known in LOADOUT_KEYS.items():
        schema = {"type": ["array", "null"], "items": _name("string")} if known.many else _name("string", "null")
        properties[key] = {"description": known.description, **schema}
    properties["description"].pop("pattern")
    # A catalog may declare further categories, so these are offered by an editor and not enforced.
    properties["categories"]["items"] = {
        "anyOf": [{"enum": [str(category) for category in ToolCategory]}, _name("string")]
    }
    return {"type": "object", "additionalProperties": False, "properties": properties}


def _loadout_name() -> dict[str, Any]:
    reserved = "|".join(map(_in_any_case, (AUTO, WHOLE_CATALOG)))
    return {**_name("string"), "not": {"pattern": f"^({reserved})$"}}


def _in_any_case(word: str) -> str:
    # JSON Schema's patterns know no flags.
    return "".join(f"[{letter}{letter.upper()}]" if letter.isalpha() else letter for letter in word)


def _name(*types: str) -> dict[str, Any]:
    """Text that is not blank."""
    return {"type": list(types), "pattern": r"\S"}


def format_loadout(name: str, keys: Mapping[str, Any]) -> str:
    """The text of a `*.loadout.yaml`.

    Args:
        name: Of the loadout.
        keys: Its definition, under the keys of a loadout.
    """
    import yaml

    dumper = with_json_numbers(getattr(yaml, "CSafeDumper", yaml.SafeDumper))
    text: str = yaml.dump({"name": name, **keys}, Dumper=dumper, allow_unicode=True, sort_keys=False, width=100)
    return text
