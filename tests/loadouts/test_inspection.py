"""What `loadout inspect` knows, and the keys of its JSON (section C of the spec)."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from jsonschema import Draft202012Validator

from toolbelt import Catalog, Plugin, Resolution, Tool, ToolLoadout, ToolLoadoutBuilder, ToolLoadoutRegistry
from toolbelt.catalog.tokens import ToolTokens
from toolbelt.loadouts import Status
from toolbelt.loadouts.auto import choose_loadout
from toolbelt.loadouts.fit import ModelFit
from toolbelt.loadouts.inspection import Inspection, loadout_data
from toolbelt.loadouts.inspection_json import decision_data, inspection_data, inspection_schema
from toolbelt.loadouts.loadout import WHOLE_CATALOG, whole_catalog
from toolbelt.loadouts.reason_text import describe_choice

CATALOG = Catalog(
    (
        Plugin("web", (Tool("fetch"), Tool("post"))),
        Plugin("git", (Tool("status"), Tool("push"))),
        Plugin("docker", (Tool("ps"),)),
        Plugin("shell", (Tool("run"),)),
        Plugin("vault", (Tool("read"),), "SECRETS"),
        Plugin("odd", (Tool("one", id="odd.1"),)),
    ),
    name="office",
    categories={"Secrets": "what is kept"},
)
TOKENS = ToolTokens(
    {"web/fetch": 10, "web/post": 20, "git/status": 30, "git/push": 40, "docker/ps": 50, "shell/run": 60}
    | {"vault/read": 70, "odd.1": 120},
    "o200k_base",
    exact=True,
)
REGISTRY = ToolLoadoutRegistry(
    [
        ToolLoadoutBuilder.create("base").include_category("git").include_category("secrets").disable("shell").build(),
        ToolLoadoutBuilder.create("mine")
        .extends("base")
        .add_plugin("odd")
        .disable("git/push")
        .add_discoverable("web/f*")
        .build(),
        ToolLoadout("nothing"),
        ToolLoadout("everything", default_plugins=frozenset(plugin.name for plugin in CATALOG.plugins)),
    ]
)


def inspect(name: str, *models: ModelFit) -> Inspection:
    return Inspection(REGISTRY.resolve(name, CATALOG), TOKENS, models)


REASONS_OF_GIT = [
    {
        "loadout": "base",
        "rule": "category",
        "entry": "git",
        "decides": True,
        "text": "base includes the category 'git'",
    },
    {
        "loadout": "mine",
        "rule": "disabled",
        "entry": "git/push",
        "decides": False,
        "text": "mine disables 'git/push'",
    },
]


def test_C_inspect_as_json_says_all_there_is_to_say() -> None:
    fits = (
        ModelFit("small", 1_000, 220, "o200k_base", exact=False),
        ModelFit("who", None, 220, "o200k_base", exact=True),
    )
    data = inspection_data(inspect("mine", *fits))
    assert data == {
        "loadout": "mine",
        "catalog": "office",
        "lineage": ["base", "mine"],
        "active": [
            {
                "plugin": "git",
                "category": "git",
                "reasons": REASONS_OF_GIT,
                "tokens": 30,
                "tools": [{"name": "status", "id": "git/status", "tokens": 30}],
                "withheld": [{"name": "push", "id": "git/push", "status": "disabled"}],
            },
            {
                "plugin": "vault",
                "category": "SECRETS",
                "reasons": [
                    {
                        "loadout": "base",
                        "rule": "category",
                        "entry": "secrets",
                        "decides": True,
                        "text": "base includes the category 'secrets'",
                    }
                ],
                "tokens": 70,
                "tools": [{"name": "read", "id": "vault/read", "tokens": 70}],
            },
            {
                "plugin": "odd",
                "category": None,
                "reasons": [
                    {"loadout": "mine", "rule": "named", "entry": "odd", "decides": True, "text": "mine names 'odd'"}
                ],
                "tokens": 120,
                "tools": [{"name": "one", "id": "odd.1", "tokens": 120}],
            },
        ],
        "discoverable": ["web"],
        "disabled": ["shell"],
        "hidden": ["docker"],
        "differing_tools": [
            {"id": "web/post", "plugin": "web", "status": "hidden"},
            {"id": "git/push", "plugin": "git", "status": "disabled"},
        ],
        "tokens": {
            "active": 220,
            "full": 400,
            "saved_fraction": pytest.approx(0.45),
            "tokenizer": "o200k_base",
            "exact": True,
        },
        "models": [
            {
                "model": "small",
                "context_window": 1_000,
                "fraction": 0.22,
                "verdict": "fits",
                "reasons": [],
                "tokens": 220,
                "error": 0.0,
                "tokenizer": "o200k_base",
                "exact": False,
                "tools": None,
                "max_tools": None,
                "tool_calling": None,
                "output_reserve": None,
                "room": 780,
                "largest": "definitions",
                "by_plugin": [],
                "api": None,
                "tools_to_mend": 0,
            },
            {
                "model": "who",
                "context_window": None,
                "fraction": None,
                "verdict": "unknown",
                "reasons": ["Its context window is unknown."],
                "tokens": 220,
                "error": 0.0,
                "tokenizer": "o200k_base",
                "exact": True,
                "tools": None,
                "max_tools": None,
                "tool_calling": None,
                "output_reserve": None,
                "room": None,
                "largest": "definitions",
                "by_plugin": [],
                "api": None,
                "tools_to_mend": 0,
            },
        ],
    }
    assert json.loads(json.dumps(data)) == data


def test_C_tools_differ_only_from_the_status_of_their_own_plugin() -> None:
    assert inspection_data(inspect("everything"))["differing_tools"] == []
    assert inspection_data(inspect("nothing"))["differing_tools"] == []


def test_C_the_whole_catalog_has_no_name_in_json() -> None:
    inspection = Inspection(Resolution(WHOLE_CATALOG, (whole_catalog(CATALOG),), CATALOG), TOKENS)
    data = inspection_data(inspection)
    assert data["loadout"] is None
    assert (data["tokens"]["active"], data["tokens"]["saved_fraction"]) == (400, 0.0)
    assert [row["plugin"] for row in data["active"]] == [plugin.name for plugin in CATALOG.plugins]


def test_C_full_is_the_whole_catalog_not_the_loadout_of_that_name() -> None:
    inspection = inspect("full")
    assert inspection.active_tokens == 10 + 20 + 30 + 40 + 60
    assert inspection.full_tokens == 400


@pytest.mark.parametrize(
    ("loadout", "saved"), [("nothing", 1.0), ("mine", 0.45), ("everything", 0.0)], ids=["all", "some", "none"]
)
def test_C_the_share_saved_is_of_the_whole_catalog(loadout: str, saved: float) -> None:
    assert inspect(loadout).saved_fraction == pytest.approx(saved)


def test_C_an_empty_catalog_saves_nothing() -> None:
    empty = Inspection(REGISTRY.resolve("mine", Catalog()), ToolTokens({}, "o200k_base", exact=True))
    assert empty.saved_fraction == 0.0
    assert empty.is_empty


def test_L10_a_loadout_that_matches_nothing_is_told() -> None:
    assert inspect("nothing").is_empty
    assert inspect("gone").is_empty
    assert not inspect("mine").is_empty


def test_plugins_are_listed_by_status_in_catalog_order() -> None:
    inspection = inspect("mine")
    assert [plugin.name for plugin in inspection.plugins_with(Status.ACTIVE)] == ["git", "vault", "odd"]
    assert [plugin.name for plugin in inspection.plugins_with(Status.HIDDEN)] == ["docker"]


def test_active_plugins_are_grouped_in_the_catalogs_order_of_categories() -> None:
    groups = inspect("mine").by_category()
    named = {category: [plugin.name for plugin in plugins] for category, plugins in groups.items()}
    assert named == {"Secrets": ["vault"], "git": ["git"], None: ["odd"]}
    assert list(named) == ["Secrets", "git", None]


def test_L15_a_choice_by_auto_is_told_with_its_reasons() -> None:
    choice = choose_loadout(100, CATALOG, REGISTRY, TOKENS)
    made = inspection_data(Inspection(REGISTRY.resolve("minimal", CATALOG), TOKENS, auto=choice))
    assert made["auto"] == {
        "outcome": "none",
        "loadout": None,
        "tokens": 0,
        "context_window": 100,
        "reasons": list(describe_choice(choice)),
    }
    assert len(choice.steps) == 4
    assert "auto" not in inspection_data(inspect("minimal"))


def test_L8_a_decision_as_plain_values() -> None:
    assert decision_data(REGISTRY.resolve("mine", CATALOG).why("git")) == {
        "name": "git",
        "kind": "plugin",
        "plugin": "git",
        "category": "git",
        "status": "active",
        "reasons": REASONS_OF_GIT,
        "chain": [
            {"loadout": "base", "disabled": [], "named": [], "category": ["git"], "discoverable": []},
            {"loadout": "mine", "disabled": ["git/push"], "named": [], "category": [], "discoverable": []},
        ],
        "parts": {"active": 1, "disabled": 1},
    }


def test_L11_a_loadout_as_the_keys_of_the_file_without_what_is_empty() -> None:
    full = ToolLoadout("a", "p", frozenset("zx"), frozenset({"web", "git"}), ("b*", "a"), frozenset("wv"), "why")
    assert loadout_data(full) == {
        "description": "why",
        "extends": "p",
        "categories": ["git", "web"],
        "plugins": ["x", "z"],
        "discoverable": ["b*", "a"],
        "disabled": ["v", "w"],
    }
    assert loadout_data(ToolLoadout("a")) == {}


@pytest.mark.parametrize("name", ["mine", "everything", "nothing", "gone"])
def test_C_what_is_printed_is_as_its_schema_says(name: str) -> None:
    schema = inspection_schema()
    Draft202012Validator.check_schema(schema)
    fits = (
        ModelFit("small", 1_000, 2_200, "o200k_base", False, 3, 100, 2, True, (("git", 30),), "an API", 1),
        ModelFit("who", None, 220, "o200k_base", exact=True),
    )
    inspection = replace(inspect(name, *fits), auto=choose_loadout(100, CATALOG, REGISTRY, TOKENS))
    validator = Draft202012Validator(schema)
    validator.validate(json.loads(json.dumps(inspection_data(inspection))))
    validator.validate(inspection_data(inspect(name)))


def test_C_the_schema_describes_every_field_and_lets_no_other_in() -> None:
    schema = inspection_schema()
    for part in (schema, *schema["$defs"].values()):
        assert part["additionalProperties"] is False
        assert all(field["description"] for field in part["properties"].values())
    assert set(schema["properties"]) - set(schema["required"]) == {"auto", "off"}
    assert {*schema["$defs"]["plugin"]["properties"]} - {*schema["$defs"]["plugin"]["required"]} == {"withheld"}


def test_L15_where_auto_chose_nothing_there_is_no_loadout() -> None:
    choice = choose_loadout(None, CATALOG, REGISTRY, TOKENS)
    inspection = Inspection(REGISTRY.resolve("auto", CATALOG), TOKENS, auto=choice)
    assert (inspection_data(inspection)["loadout"], inspection_data(inspection)["auto"]["outcome"]) == (None, "unknown")
