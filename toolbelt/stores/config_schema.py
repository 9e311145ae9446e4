"""What may stand in a project's files, for editors; and writing them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, assert_never

from toolbelt.catalog import ToolCategory
from toolbelt.catalog.ranking.spec import RankKind
from toolbelt.catalog.tokens import TOKENIZER_NAMES
from toolbelt.loadouts.loadout import AUTO, WHOLE_CATALOG
from toolbelt.loadouts.reader import LOADOUT_KEYS
from toolbelt.models.facts import APIS
from toolbelt.models.project_models import MODEL_KEYS, PRICE_KEYS, REQUIRED_PRICES
from toolbelt.models.recommended import PATTERN
from toolbelt.models.token_rates import RATE_KEYS, REQUIRED_RATE
from toolbelt.search.presets import PRESETS
from toolbelt.search.reader import CHOICES, NAME_PATTERN, PRESET_KEY, SEARCH_KEYS
from toolbelt.search.settings import MAX_K
from toolbelt.servers.entries import TRANSPORT_NAMES
from toolbelt.servers.reader import KEYS_WITH_FROM, SERVER_KEYS
from toolbelt.servers.splitting import split_schema
from toolbelt.sessions.agent import AGENT_KEYS
from toolbelt.sources import format_yaml
from toolbelt.sources.keys import KeySpec, Kind
from toolbelt.stores.config_reader import CONFIG_KEYS
from toolbelt.toolkits.reader import POLICY_KEYS, RULE_KEYS, TOOLKIT_KEYS
from toolbelt.toolkits.toolkit import RESERVED


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
        "models": {"type": ["array", "null"], "items": {"anyOf": [_name("string"), {"$ref": "#/$defs/model"}]}},
        "loadouts": {
            "type": ["object", "null"],
            "propertyNames": {**_loadout_name()},
            "additionalProperties": {"anyOf": [{"$ref": "#/$defs/loadout"}, {"type": "null"}]},
        },
        "toolkits": {
            "type": ["object", "null"],
            "propertyNames": _name_but(sorted(RESERVED)),
            "additionalProperties": {"$ref": "#/$defs/toolkit"},
        },
        "agents": {
            "type": ["object", "null"],
            "propertyNames": _name("string"),
            "additionalProperties": {"$ref": "#/$defs/agent"},
        },
        "toolsets": {
            "type": ["object", "null"],
            "propertyNames": {**_name_but(list(PRESETS)), "pattern": NAME_PATTERN},
            "additionalProperties": {"$ref": "#/$defs/search"},
        },
        "servers": {
            "type": ["object", "null"],
            "propertyNames": _name("string"),
            "additionalProperties": {"$ref": "#/$defs/server"},
        },
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "toolbelt.yaml",
        "type": ["object", "null"],
        "additionalProperties": False,
        "properties": {key: {"description": CONFIG_KEYS[key], **schema} for key, schema in properties.items()},
        "$defs": {
            "model": _mapping_schema(MODEL_KEYS, ["name"]),
            "loadout": _loadout_schema(),
            "toolkit": _mapping_schema(TOOLKIT_KEYS),
            "agent": _mapping_schema(AGENT_KEYS),
            "search": _search_schema(),
            "server": _server_schema(),
        },
    }


def _loadout_schema() -> dict[str, Any]:
    properties: dict[str, Any] = {}
    for key, known in LOADOUT_KEYS.items():
        is_list = known.kind is Kind.NAMES  # unlike other lists of names, these may repeat themselves
        schema = {"type": ["array", "null"], "items": _name("string")} if is_list else _value_schema(known.kind)
        properties[key] = {"description": known.description, **schema}
    # A catalog may declare further categories, so these are offered by an editor and not enforced.
    properties["categories"]["items"] = {
        "anyOf": [{"enum": [str(category) for category in ToolCategory]}, _name("string")]
    }
    return {"type": "object", "additionalProperties": False, "properties": properties}


def _search_schema() -> dict[str, Any]:
    """The settings of a search; which of them go together is not in it."""
    schemas: dict[str, Any] = {key: {"enum": [*kind, None]} for key, kind in CHOICES.items()}
    schemas |= {
        PRESET_KEY: {"enum": [*PRESETS, None]},
        "k": {"type": ["integer", "null"], "minimum": 1, "maximum": MAX_K},
        "pinned": _name("string", "null"),
        "rank": {**_name("string", "null"), "pattern": _rank_pattern()},
    }
    properties = {key: {"description": text, **schemas[key]} for key, text in SEARCH_KEYS.items()}
    return {"type": ["object", "null"], "additionalProperties": False, "properties": properties}


def _rank_pattern() -> str:
    words = "|".join(_in_any_case(kind) for kind in (RankKind.WORDS, RankKind.REGEX))
    embedding, python = map(_in_any_case, (RankKind.EMBEDDING, RankKind.PYTHON))
    return rf"^\s*(?:(?:{words})\s*|{embedding}\s*:[\s\S]*\S[\s\S]*|{python}\s*:[^:]+:[^:]+)$"


def _server_schema() -> dict[str, Any]:
    """One of `from`, `command` and `url`; `from` goes with few other keys."""
    schema = _mapping_schema(SERVER_KEYS) | {"type": "object"}
    ways = [{"required": [way], "properties": {way: {"type": "string"}}} for way in ("from", "command", "url")]
    schema["properties"]["transport"]["pattern"] = f"^({'|'.join(map(_in_any_case, TRANSPORT_NAMES))})$"
    alone = {key: {"type": "null"} for key in SERVER_KEYS if key not in KEYS_WITH_FROM}
    return {**schema, "oneOf": ways, "anyOf": [{"properties": {"from": {"type": "null"}}}, {"properties": alone}]}


def _mapping_schema(keys: Mapping[str, KeySpec], required: Iterable[str] = ()) -> dict[str, Any]:
    """A mapping, or nothing; of each key what `Section` and those who use it read."""
    schema: dict[str, Any] = {"type": ["object", "null"], "additionalProperties": False}
    if required := tuple(required):
        schema |= {"type": "object", "required": [*required]}
    properties = {key: {"description": known.description, **_value_schema(known.kind)} for key, known in keys.items()}
    for key in required:
        properties[key] |= {"not": {"type": "null"}}
    return {**schema, "properties": properties}


def _value_schema(kind: Kind) -> dict[str, Any]:
    match kind:
        case Kind.TEXT | Kind.TOOLSET:
            return _name("string", "null") | ({"pattern": PATTERN} if kind is Kind.TOOLSET else {})
        case Kind.PROSE | Kind.SWITCH:
            return {"type": ["string" if kind is Kind.PROSE else "boolean", "null"]}
        case Kind.ARGUMENTS | Kind.VALUES | Kind.SPLIT | Kind.FIELDS | Kind.API | Kind.TOKENIZER:
            return _WHOLE[kind]
        case Kind.NAMES:
            return {"type": ["array", "null"], "items": _name("string"), "uniqueItems": True}
        case Kind.PHRASES:
            return {"anyOf": [_name("string"), {**_value_schema(Kind.NAMES), "minItems": 1}]}
        case Kind.ENTRIES:
            return {"type": ["array", "null"], "items": _entry_schema(), "uniqueItems": True}
        case Kind.LINES:
            return {"type": ["object", "null"], "additionalProperties": _name("string")}
        case Kind.COUNT | Kind.PRICE:
            return _number(whole=kind is Kind.COUNT)
        case Kind.PRICES | Kind.RATE:
            keys = (PRICE_KEYS, REQUIRED_PRICES) if kind is Kind.PRICES else (RATE_KEYS, REQUIRED_RATE)
            return {"anyOf": [_mapping_schema(*keys), {"type": "null"}]}
        case Kind.POLICY | Kind.SWITCHES:
            return {"anyOf": [_name("string"), _mapping_schema(POLICY_KEYS) if kind is Kind.POLICY else _SWITCHES]}
        case Kind.DIRECTIVE:
            return {"type": ["array", "null"], "items": _mapping_schema(RULE_KEYS, ["when"])}
        case _:
            assert_never(kind)


_WHOLE: Mapping[Kind, dict[str, Any]] = {
    Kind.ARGUMENTS: {"type": ["array", "null"], "items": {"type": "string"}},
    Kind.VALUES: {
        "type": ["object", "null"],
        "propertyNames": {"type": "string", "pattern": r"\S"},
        "additionalProperties": {"type": "string"},
    },
    Kind.SPLIT: split_schema(),
    Kind.FIELDS: {"type": ["object", "null"]},
    Kind.API: {"enum": [*APIS, None]},
    Kind.TOKENIZER: {"enum": [*TOKENIZER_NAMES, None]},
}
_SWITCHES = {"type": ["object", "null"], "additionalProperties": {"type": ["boolean", "null"]}}


def _number(*, whole: bool) -> dict[str, Any]:
    return {"type": ["integer" if whole else "number", "null"], "minimum": 1 if whole else 0}


def _entry_schema() -> dict[str, Any]:
    name = _name_but(sorted(RESERVED))
    overrides = {"type": ["object", "null"]}
    with_overrides = {"type": "object", "minProperties": 1, "maxProperties": 1, "propertyNames": name}
    return {"anyOf": [name, {**with_overrides, "additionalProperties": overrides}]}


def _loadout_name() -> dict[str, Any]:
    return _name_but((AUTO, WHOLE_CATALOG))


def _name_but(reserved: Iterable[str]) -> dict[str, Any]:
    """Text that is not blank, nor one of those in any case."""
    return {**_name("string"), "not": {"pattern": f"^({'|'.join(map(_in_any_case, reserved))})$"}}


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
    return format_yaml({"name": name, **keys}, width=100)
