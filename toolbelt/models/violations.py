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
    KnownReferences,
    LoneAnyOf,
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
    ValidSchema,
    rule_name,
)
from toolbelt.models.schema_parts import (
    Place,
    Shape,
    find_invalid,
    find_non_schemas,
    has_dangling,
    is_bare_array,
    is_crowded,
    is_empty_enum,
    is_other_enum,
    is_untyped,
    read_shape,
    subschemas,
    text_format,
    undescribed_names,
)


@dataclass(frozen=True)
class Violation:
    """A rule that a tool breaks as it is; `violation_text` puts it into words.

    Attributes:
        tool: Its id.
        fact: The rule.
        names: What is wrong by name: the tool's own name, parameters, keywords, formats, or names without a
            description; empty where the rule is about none of these.
        places: Its places in the schema of the parameters; empty if it is not about the schema.
        length: Characters of the description, where the rule is about that.
        wire_name: The name under which toolbelt sends the tool.
        is_repaired: Whether it is always repaired before it is sent, by toolbelt (the wire name, the root object) or by
            litellm.
    """

    tool: str
    fact: Fact
    names: tuple[str, ...] = ()
    places: tuple[Place, ...] = ()
    length: int = 0
    wire_name: str = ""
    is_repaired: bool = False

    @property
    def rule(self) -> str:
        """The name of the rule's kind."""
        return rule_name(self.fact)

    @property
    def is_refused(self) -> bool:
        """Whether the API certainly refuses a request with the tool as toolbelt sends it."""
        return self.fact.effect is Effect.REFUSED and not self.is_repaired


@dataclass(frozen=True, eq=False, repr=False)
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


_IN_SHAPE: Mapping[type[object], str] = {
    ValidSchema: "has_invalid",
    KnownReferences: "has_dangling",
    ArrayItems: "has_bare_array",
    SingleType: "has_type_list",
    TextEnum: "has_other_enum",
    RequiredDescribed: "has_undescribed",
    FilledEnum: "has_empty_enum",
    LoneAnyOf: "has_crowded",
    TypeGiven: "has_untyped",
    SchemaObjects: "has_loose",
}
"""Where a shape says that a rule without parameters is broken."""


def _schema_breaks(shape: Shape, rule: SchemaRule) -> bool:
    match rule:
        case RootObject():
            return not shape.is_object
        case SchemaKeywords():
            return any(map(rule.bars, shape.keywords))
        case RootKeywords():
            return any(map(rule.bars, shape.root))
        case TextFormat(allowed):
            return not shape.formats <= allowed
        case plain:
            return bool(getattr(shape, _IN_SHAPE[type(plain)]))


def explain(tool: Tool, wire_name: str, fact: Fact) -> Violation:
    """A violation that `breaks` found, in full.

    Raises:
        ValueError: the rule is about the number of tools, which is no violation of a tool.
    """
    match fact.rule:
        case ToolName(pattern):
            return Violation(tool.id, fact, (tool.name,), wire_name=wire_name, is_repaired=pattern.allows(wire_name))
        case ParameterName(pattern):
            names = tuple(name for name in _properties(tool.parameters) if not pattern.allows(name))
            return Violation(tool.id, fact, names, tuple(("properties", name) for name in names), wire_name=wire_name)
        case DescriptionLength():
            return Violation(tool.id, fact, length=len(tool.description), wire_name=wire_name)
        case MaxTools():
            raise ValueError("a number of tools is no violation of a tool")
        case rule:
            names, places = _find_in_schema(tool.parameters, rule)
            is_repaired = isinstance(rule, RootObject) or bool(fact.litellm)
            return Violation(tool.id, fact, names, places, wire_name=wire_name, is_repaired=is_repaired)


def _find_in_schema(schema: Mapping[str, Any], rule: SchemaRule) -> tuple[tuple[str, ...], tuple[Place, ...]]:
    """What breaks a rule, by name where it has one, and its places."""
    match rule:
        case RootObject():
            return (), ((),)
        case KnownReferences():
            dangling = [(place, part["$ref"]) for place, part in subschemas(schema) if has_dangling(part, schema)]
            return tuple(reference for _, reference in dangling), tuple((*place, "$ref") for place, _ in dangling)
        case SchemaKeywords():
            return _keywords([(p, k) for p, part in subschemas(schema) for k in part if rule.bars(k)])
        case RootKeywords():
            return _keywords([((), keyword) for keyword in schema if rule.bars(keyword)])
        case ArrayItems() | SingleType() | TextEnum() | FilledEnum():
            return (), tuple(place for place, part in subschemas(schema) if _WRONG_PARTS[type(rule)](part))
        case TextFormat(allowed):
            formats = [(p, f) for p, part in subschemas(schema) if (f := text_format(part)) and f not in allowed]
            return tuple(sorted({name for _, name in formats})), tuple((*place, "format") for place, _ in formats)
        case RequiredDescribed():
            gaps = [(place, names) for place, part in subschemas(schema) if (names := undescribed_names(part))]
            return tuple(n for _, names in gaps for n in names), tuple((*place, "required") for place, _ in gaps)
        case TypeGiven() | LoneAnyOf():
            is_wrong = is_crowded if isinstance(rule, LoneAnyOf) else is_untyped
            return (), tuple(place for place, part in subschemas(schema) if place and is_wrong(part))
        case SchemaObjects() | ValidSchema():
            find = find_invalid if isinstance(rule, ValidSchema) else find_non_schemas
            return (), tuple((*place, *at) for place, part in subschemas(schema) for at in find(part))
        case _ as never:
            assert_never(never)


def _has_type_list(part: Mapping[str, Any]) -> bool:
    return isinstance(part.get("type"), list)


_WRONG_PARTS: Mapping[type[object], Callable[[Mapping[str, Any]], bool]] = {
    ArrayItems: is_bare_array,
    SingleType: _has_type_list,
    TextEnum: is_other_enum,
    FilledEnum: is_empty_enum,
}


def _keywords(uses: Sequence[tuple[Place, str]]) -> tuple[tuple[str, ...], tuple[Place, ...]]:
    return tuple(dict.fromkeys(keyword for _, keyword in uses)), tuple((*place, keyword) for place, keyword in uses)


def _properties(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    properties = schema.get("properties")
    return properties if isinstance(properties, Mapping) else {}
