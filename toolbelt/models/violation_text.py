"""What is wrong about a tool for a provider, and a way to repair it, in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from toolbelt.models.rules import (
    ArrayItems,
    DescriptionLength,
    FilledEnum,
    KnownReferences,
    LoneAnyOf,
    ParameterName,
    RequiredDescribed,
    RootKeywords,
    RootObject,
    Rule,
    SchemaKeywords,
    SchemaObjects,
    SingleType,
    TextEnum,
    TextFormat,
    ToolName,
    TypeGiven,
    ValidSchema,
)
from toolbelt.models.schema_parts import format_place
from toolbelt.models.violations import Violation

_MOST_NAMED = 4
"""Most places or names in a message; the data has all of them."""
_PROBLEMS: Mapping[type[Rule], str] = MappingProxyType(
    {
        RootObject: "its parameters are not of type 'object'",
        ValidSchema: "no JSON Schema of draft 2020-12: {places}",
        KnownReferences: "`$ref` to what is not there: {names}",
        SchemaKeywords: "{names}",
        RootKeywords: "{names} at the root",
        ArrayItems: "arrays without items: {places}",
        SingleType: "several types at once: {places}",
        TextEnum: "enum of what is no text: {places}",
        TextFormat: "format {names}",
        RequiredDescribed: "requires {names} without describing it",
        FilledEnum: "enum that is empty or has '' in it: {places}",
        LoneAnyOf: "more beside `anyOf`: {places}",
        TypeGiven: "no type: {places}",
        SchemaObjects: "no object as a schema: {places}",
    }
)
_REPAIRS: Mapping[type[Rule], str] = MappingProxyType(
    {
        ToolName: "send it under another name",
        ParameterName: "send them under other names",
        DescriptionLength: "shorten it",
        RootObject: "sent as such",
        ValidSchema: "write it in draft 2020-12",
        KnownReferences: "add what it refers to",
        SchemaKeywords: "leave out or rewrite",
        RootKeywords: "leave out or rewrite",
        ArrayItems: "say what they hold",
        SingleType: "give one type each",
        TextEnum: "name the values in the description",
        TextFormat: "leave it out",
        RequiredDescribed: "describe it",
        FilledEnum: "name the values instead",
        LoneAnyOf: "move it into each branch",
        TypeGiven: "say what it is",
        SchemaObjects: "write {} for true",
    }
)


def describe_violation(violation: Violation) -> str:
    """The tool, what is wrong about it, and a way to repair it."""
    return f"{violation.tool}: {describe_problem(violation)}; {describe_repair(violation)}"


def describe_problem(violation: Violation) -> str:
    """The violation as a sentence."""
    names = _some(map(repr, violation.names))
    match violation.fact.rule:
        case ToolName(pattern):
            return f"the name {names} is not {pattern}"
        case ParameterName(pattern) if pattern.reserved:
            return f"parameters {names} are deleted on the way"
        case ParameterName(pattern):
            return f"parameters {names} are not named {pattern}"
        case DescriptionLength(shortest, longest):
            if violation.length < shortest:
                return "it has no description"
            return f"its description has {violation.length:,} characters, over {longest:,}"
        case rule:
            return _PROBLEMS[type(rule)].format(names=names, places=_some(map(format_place, violation.places)))


def describe_repair(violation: Violation) -> str:
    """A way to fix it."""
    match violation.fact.rule:
        case ToolName() if violation.is_repaired:
            return f"sent as {violation.wire_name!r}"
        case DescriptionLength(shortest) if violation.length < shortest:
            return "describe it"
        case rule:
            return _REPAIRS[type(rule)]


def _some(texts: Iterable[str]) -> str:
    texts = list(texts)
    more = f" and {len(texts) - _MOST_NAMED:,} more" if len(texts) > _MOST_NAMED else ""
    return ", ".join(texts[:_MOST_NAMED]) + more


def violation_data(violation: Violation) -> dict[str, Any]:
    """A violation as plain values."""
    return {
        "tool": violation.tool,
        "rule": violation.rule,
        "effect": violation.fact.effect.value,
        "problem": describe_problem(violation),
        "mend": describe_repair(violation),
        "places": [list(place) for place in violation.places],
        "mended": violation.is_repaired,
        "sources": [{"url": source.url, "read": source.read.isoformat()} for source in violation.fact.sources],
        "note": violation.fact.note or None,
        "litellm": violation.fact.litellm or None,
    }
