"""The schemas that are published hold of what is written, and of nothing else (rule E10)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from toolbelt.evals.analysis.evidence.evidence import SideInfo
from toolbelt.evals.analysis.summary.run_summary import ArmSummary
from toolbelt.evals.exports.schemas import SCHEMAS, read_schema
from toolbelt.evals.running.plan import CaseFilter
from toolbelt.evals.scoring.outcome import Outcome
from toolbelt.evals.views.columns import AMOUNTS, RATES
from toolbelt.providers.chat import Sampling

OWN = ("run", "comparison", "compatibility", "probe", "search")


def parts(schema: Any) -> Iterator[dict[str, Any]]:
    """Every schema in a schema."""
    if isinstance(schema, dict):
        yield schema
        for value in schema.values():
            yield from parts(value)
    elif isinstance(schema, list):
        for one in schema:
            yield from parts(one)


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_is_one_and_stands_alone(name: str) -> None:
    schema = read_schema(name)
    Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["properties"]["schema"]["const"] == SCHEMAS[name] == schema["$id"]
    assert "schema" in schema["required"]
    for target in {part["$ref"] for part in parts(schema) if isinstance(part.get("$ref"), str)}:
        found = schema
        assert target.startswith("#/"), target
        for step in target.removeprefix("#/").split("/"):
            found = found[step]
        assert isinstance(found, dict)


@pytest.mark.parametrize("name", OWN)
def test_a_schema_describes_every_field_and_lets_nothing_else_in(name: str) -> None:
    objects = [part for part in parts(read_schema(name)["properties"]) if isinstance(part.get("properties"), dict)]
    objects += [
        part
        for key, one in read_schema(name)["$defs"].items()
        if key != "gate"  # which is another's
        for part in parts(one)
        if isinstance(part.get("properties"), dict)
    ]
    assert objects
    for part in objects:
        assert part["additionalProperties"] is False
        for field, of in part["properties"].items():
            assert of.get("description"), field


def test_the_arms_of_a_run_are_the_measures_there_are() -> None:
    arm = read_schema("run")["$defs"]["arm"]
    measures = {field.name for field in fields(ArmSummary)} - {"passing"}
    assert set(arm["properties"]) == set(arm["required"]) == {*measures, "pass"}
    assert measures == {*AMOUNTS, *RATES, "outcomes"}
    assert arm["properties"]["outcomes"]["propertyNames"]["enum"] == [outcome.value for outcome in Outcome]


def test_the_sides_of_a_comparison_say_what_is_known_of_them() -> None:
    [side] = [part for part in read_schema("comparison")["$defs"].values() if "is_baseline" in part["properties"]]
    assert (
        set(side["properties"])
        == set(side["required"])
        == {
            field.name
            for field in fields(SideInfo)
            if field.name != "tools"  # what changed of them is in the gate's document
        }
    )


def test_the_settings_of_a_run_are_those_there_are() -> None:
    settings = set(read_schema("run")["properties"]["settings"]["properties"])
    of_a_run = {field.name for kept in (Sampling, CaseFilter) for field in fields(kept)}
    assert settings - of_a_run == {
        *("dataset", "catalog", "config"),
        *(
            "request_limit",
            "model_params",
            "system",
            "toolset_systems",
            "tokenizer",
            "api_base",
            "without_role",
            "toolset_notes",
            "imported_from",
            "imported_answers",
            "drafts",
            "ask_anyway",
        ),
        *("shard", "merged_shards", "until_decided"),
        *("system", "toolset_systems", "model_params"),
    }
    assert of_a_run <= settings


@pytest.mark.parametrize("name", ["ratio", "ratio_low", "ratio_high"])
def test_a_ratio_of_amounts_is_never_below_nothing(name: str) -> None:
    contrast = read_schema("comparison")["$defs"]["contrast"]["properties"][name]
    check = Draft202012Validator(contrast)
    assert [check.is_valid(value) for value in (None, 0, 1.5, -0.01)] == [True, True, True, False]
