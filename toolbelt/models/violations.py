"""Finds the tools that break a provider's rules, with the place and a way to repair each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, assert_never

from toolbelt.catalog import Tool
from toolbelt.models.rules import (
    ArrayItems,
    DescriptionLength,
    Effect,
    Fact,
    FilledEnum,
    MaxTools,
    ParameterName,
    RequiredDescribed,
    RootKeywords,
    RootObject,
    SchemaKeywords,
    SchemaObjects,
    SchemaRule,
    SingleType,
    TextEnum,
    TextFormat,
    ToolName,
    TypeGiven,
    rule_name,
)
from toolbelt.models.schema_parts import (
    Place,
    Shape,
    find_non_schemas,
    format_place,
    is_bare_array,
    is_empty_enum,
    is_other_enum,
    is_untyped,
    read_shape,
    subschemas,
    text_format,
    undescribed_names,
)

_MOST_NAMED = 4
"""Most places or names in a message; the data has all of them."""


@dataclass(frozen=True)
class Violation:
    """A rule that a tool breaks as it is.

    Attributes:
        tool: Its id.
        fact: The rule.
        problem: The problem, in words.
        mend: A way to repair it, in words.
        places: Its places in the schema of the parameters; empty if it is not about the schema.
        is_mended: Whether toolbelt always repairs it before sending (the wire name, the root object).
    """

    tool: str
    fact: Fact
    problem: str
    mend: str
    places: tuple[Place, ...] = ()
    is_mended: bool = False

    @property
    def rule(self) -> str:
        """The name of the rule's kind."""
        return rule_name(self.fact)

    @property
    def is_refused(self) -> bool:
        """Whether the API certainly refuses a request with the tool as toolbelt sends it."""
        return self.fact.effect is Effect.REFUSED and not self.is_mended

    def __str__(self) -> str:
        return f"{self.tool}: {self.problem}; {self.mend}"


@dataclass(frozen=True, eq=False)
class InspectedTools:
    """Tools with the shapes of their schemas, read once for any number of providers.

    Attributes:
        tools: In order.
        wire_names: By tool id, as the catalog assigns them.
        shapes: By tool id.
    """

    tools: tuple[Tool, ...]
    wire_names: Mapping[str, str]
    shapes: Mapping[str, Shape]

    def breaking(self, facts: Iterable[Fact]) -> dict[str, tuple[Fact, ...]]:
        """The facts that each tool breaks, by tool id; tools that break none are left out."""
        facts = tuple(facts)
        by_tool = {tool.id: tuple(fact for fact in facts if self._breaks(tool, fact)) for tool in self.tools}
        return {tool_id: broken for tool_id, broken in by_tool.items() if broken}

    def find_violations(self, facts: Iterable[Fact]) -> tuple[Violation, ...]:
        """Every violation in full, tool by tool."""
        broken = self.breaking(facts)
        return tuple(
            explain(tool, self.wire_names[tool.id], fact) for tool in self.tools for fact in broken.get(tool.id, ())
        )

    def _breaks(self, tool: Tool, fact: Fact) -> bool:
        return breaks(tool, self.shapes[tool.id], fact)


def inspect_tools(tools: Sequence[Tool], wire_names: Mapping[str, str]) -> InspectedTools:
    """Read the shape of every schema once."""
    return InspectedTools(tuple(tools), wire_names, {tool.id: read_shape(tool.parameters) for tool in tools})


def breaks(tool: Tool, shape: Shape, fact: Fact) -> bool:
    """Whether `tool`, sent under its own name, breaks a rule."""
    match fact.rule:
        case ToolName(pattern):
            return not pattern.allows(tool.name)
        case ParameterName(pattern):
            return not all(map(pattern.allows, shape.parameters))
        case DescriptionLength(shortest, longest):
            length = len(tool.description)
            return length < shortest or (longest is not None and length > longest)
        case MaxTools():
            return False  # a matter of the toolset, not of a tool
        case rule:
            return _schema_breaks(shape, rule)


def _schema_breaks(shape: Shape, rule: SchemaRule) -> bool:
    match rule:
        case RootObject():
            return not shape.is_object
        case SchemaKeywords():
            return any(map(rule.bars, shape.keywords))
        case RootKeywords():
            return any(map(rule.bars, shape.root))
        case ArrayItems():
            return shape.has_bare_array
        case SingleType():
            return shape.has_type_list
        case TextEnum():
            return shape.has_other_enum
        case TextFormat(allowed):
            return not shape.formats <= allowed
        case RequiredDescribed():
            return shape.has_undescribed
        case FilledEnum():
            return shape.has_empty_enum
        case TypeGiven():
            return shape.has_untyped
        case SchemaObjects():
            return shape.has_loose
        case _ as never:
            assert_never(never)


def explain(tool: Tool, wire_name: str, fact: Fact) -> Violation:
    """A violation that `breaks` found, in words."""
    match fact.rule:
        case ToolName(pattern):
            is_mended = pattern.allows(wire_name)
            mend = f"sent as {wire_name!r}" if is_mended else "send it under another name"
            return Violation(tool.id, fact, f"the name {tool.name!r} is not {pattern}", mend, is_mended=is_mended)
        case ParameterName(pattern):
            names = [name for name in _properties(tool.parameters) if not pattern.allows(name)]
            places: tuple[Place, ...] = tuple(("properties", name) for name in names)
            problem = f"parameters {_some(map(repr, names))} are not named {pattern}"
            return Violation(tool.id, fact, problem, "send them under other names", places)
        case DescriptionLength(shortest, longest):
            length = len(tool.description)
            if length < shortest:
                return Violation(tool.id, fact, "it has no description", "describe it")
            return Violation(
                tool.id, fact, f"its description has {length:,} characters, over {longest:,}", "shorten it"
            )
        case MaxTools():
            raise ValueError("a number of tools is no violation of a tool")
        case rule:
            wrong, mend, places = _explain_schema(tool.parameters, rule)
            return Violation(tool.id, fact, wrong, mend, places, is_mended=isinstance(rule, RootObject))


def _explain_schema(schema: Mapping[str, Any], rule: SchemaRule) -> tuple[str, str, tuple[Place, ...]]:
    """The problem, a way to repair it, and its places."""
    match rule:
        case RootObject():
            return "its parameters are not of type 'object'", "sent as such", ((),)
        case SchemaKeywords():
            return _keywords([(p, k) for p, part in subschemas(schema) for k in part if rule.bars(k)])
        case RootKeywords():
            return _keywords([((), keyword) for keyword in schema if rule.bars(keyword)], " at the root")
        case ArrayItems():
            return _with_places("arrays without items", "say what they hold", schema, is_bare_array)
        case SingleType():
            return _with_places("several types at once", "give one type each", schema, _has_type_list)
        case TextEnum():
            return _with_places("enum of what is no text", "name the values in the description", schema, is_other_enum)
        case TextFormat(allowed):
            formats = [(p, f) for p, part in subschemas(schema) if (f := text_format(part)) and f not in allowed]
            problem = f"format {_some(sorted({repr(name) for _, name in formats}))}"
            return problem, "leave it out", tuple((*place, "format") for place, _ in formats)
        case RequiredDescribed():
            gaps = [(place, names) for place, part in subschemas(schema) if (names := undescribed_names(part))]
            problem = f"requires {_some(repr(n) for _, names in gaps for n in names)} without describing it"
            return problem, "describe it", tuple((*place, "required") for place, _ in gaps)
        case FilledEnum():
            return _with_places("enum that is empty or has '' in it", "name the values instead", schema, is_empty_enum)
        case TypeGiven():
            untyped = tuple(place for place, part in subschemas(schema) if place and is_untyped(part))
            return f"no type: {_some(map(format_place, untyped))}", "say what it is", untyped
        case SchemaObjects():
            loose = tuple((*place, *at) for place, part in subschemas(schema) for at in find_non_schemas(part))
            return f"no object as a schema: {_some(map(format_place, loose))}", "write {} for true", loose
        case _ as never:
            assert_never(never)


def _with_places(
    problem: str, mend: str, schema: Mapping[str, Any], is_wrong: Callable[[Mapping[str, Any]], bool]
) -> tuple[str, str, tuple[Place, ...]]:
    places = tuple(place for place, part in subschemas(schema) if is_wrong(part))
    return f"{problem}: {_some(map(format_place, places))}", mend, places


def _has_type_list(part: Mapping[str, Any]) -> bool:
    return isinstance(part.get("type"), list)


def _keywords(uses: Sequence[tuple[Place, str]], at: str = "") -> tuple[str, str, tuple[Place, ...]]:
    names = _some(dict.fromkeys(repr(keyword) for _, keyword in uses))
    return f"{names}{at}", "leave out or rewrite", tuple((*place, keyword) for place, keyword in uses)


def _properties(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    properties = schema.get("properties")
    return properties if isinstance(properties, Mapping) else {}


def _some(texts: Iterable[str]) -> str:
    texts = list(texts)
    more = f" and {len(texts) - _MOST_NAMED:,} more" if len(texts) > _MOST_NAMED else ""
    return ", ".join(texts[:_MOST_NAMED]) + more
