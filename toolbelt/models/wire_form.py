"""The form of the tools that a provider accepts (renamed, rewritten), and the way back from a call to the tool."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from toolbelt.catalog import Tool
from toolbelt.catalog.definitions import DEFINITION_FORMATS, export_definitions, openai_definition
from toolbelt.catalog.frozen import FrozenDict, freeze, thaw
from toolbelt.models.json_patches import Patch, find_differences, make_patch
from toolbelt.models.property_renaming import rename_properties
from toolbelt.models.rules import DescriptionLength, Fact, NamePattern, ParameterName, ToolName
from toolbelt.models.schema_parts import Place, format_place
from toolbelt.models.schema_rewriting import SchemaChange, SchemaRewriter

_SHORTEST_HASH = 6
_CUT = "…"
_SCHEMA_AT: Mapping[str, tuple[str, ...]] = {
    "openai": ("function", "parameters"),
    "litellm": ("function", "parameters"),
    "anthropic": ("input_schema",),
    "mcp": ("inputSchema",),
}
"""The place of the parameters' schema in a definition of each form."""


@dataclass(frozen=True)
class ToolChange:
    """A change to a tool.

    Attributes:
        tool: Its id.
        change: The part before and after.
    """

    tool: str
    change: SchemaChange


@dataclass(frozen=True)
class WireMap:
    """The way back from a call to the tool that the model means.

    Attributes:
        names: Tool id by the name under which it is sent.
        parameters: By that name, each renamed parameter's own name by the name under which it is sent.
    """

    names: Mapping[str, str]
    parameters: Mapping[str, Mapping[str, str]] = FrozenDict()

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", freeze(self.names))
        object.__setattr__(self, "parameters", freeze(self.parameters))

    def find_tool(self, name: str) -> str | None:
        """The id of the tool that a model means by `name`; `None` if it was sent none of that name."""
        return self.names.get(name)

    def restore(self, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of a call under the tool's own names of its parameters."""
        own = self.parameters.get(name, {})
        return {own.get(key, key): value for key, value in arguments.items()}

    def to_dict(self) -> dict[str, Any]:
        """The map as plain values, as the file has it under `map`."""
        return {"names": thaw(self.names), "parameters": thaw(self.parameters)}


@dataclass(frozen=True, eq=False)
class WireForm:
    """Tools as a provider takes them.

    Attributes:
        tools: The tools as they are sent, with their ids from the catalog, in order.
        map: The way back.
        changes: All differences from the original tools, tool by tool.
        own: The original tools, in the same order.
    """

    tools: tuple[Tool, ...]
    map: WireMap
    changes: tuple[ToolChange, ...]
    own: tuple[Tool, ...]

    def definitions(self, form: str) -> Any:
        """As an agent passes them to the API; `form` is a key of `DEFINITION_FORMATS`."""
        return export_definitions(self.tools, {tool.id: tool.name for tool in self.tools}, form)

    def originals(self, form: str) -> dict[str, Patch]:
        """The patches by which `restore_definition` restores each tool's own definition, by the name it is sent under.

        Tools that are sent unchanged have none. The own definition has the same form, with the tool's own name and its
        exact schema.
        """
        at = _SCHEMA_AT[form]
        patches: dict[str, Patch] = {}
        for sent, tool in zip(self.tools, self.own, strict=True):
            definition, own = (thaw(DEFINITION_FORMATS[form](variant, variant.name)) for variant in (sent, tool))
            holder = own
            for step in at[:-1]:
                holder = holder[step]
            holder[at[-1]] = thaw(tool.parameters)
            renamed = self.map.parameters.get(sent.name, {})
            moved: dict[Place, Place] = {
                (*at, "properties", now): (*at, "properties", was) for now, was in renamed.items()
            }
            if patch := make_patch(definition, own, moved):
                patches[sent.name] = patch
        return patches


def make_wire_form(tools: Sequence[Tool], wire_names: Mapping[str, str], facts: Iterable[Fact]) -> WireForm:
    """Rewrite the tools so that they break none of the rules, except a limit on the number of tools.

    Args:
        tools: With unique ids.
        wire_names: By tool id, as the catalog assigns them; used unchanged if the rules allow them.
        facts: The rules.

    Returns:
        Names that are unique and do not depend on the order of `tools`.
    """
    facts = tuple(facts)
    names = _name_all(tools, wire_names, [fact.rule.pattern for fact in facts if isinstance(fact.rule, ToolName)])
    sent_tools, changes, parameters = [], [], {}
    for tool in tools:
        sent, of_tool, renamed = _repair_tool(tool, names[tool.id], facts)
        sent_tools.append(sent)
        changes += [ToolChange(tool.id, change) for change in of_tool]
        if renamed:
            parameters[sent.name] = renamed
    way_back = WireMap({names[tool.id]: tool.id for tool in tools}, parameters)
    return WireForm(tuple(sent_tools), way_back, tuple(changes), tuple(tools))


def wire_data(form: WireForm, definition_form: str) -> dict[str, Any]:
    """A wire form as plain values: the definitions, the way back from calls and to each tool's own, and every change.

    `originals` has, by the name under which a tool is sent, a JSON Patch (RFC 6902) that turns the definition under
    `tools` into the tool's own.
    """
    return {
        "format": definition_form,
        "tools": form.definitions(definition_form),
        "map": form.map.to_dict(),
        "originals": form.originals(definition_form),
        "changes": [
            {
                "tool": tool_change.tool,
                "place": format_place(tool_change.change.place),
                "was": thaw(tool_change.change.was),
                "now": thaw(tool_change.change.now),
            }
            for tool_change in form.changes
        ],
    }


def _repair_tool(tool: Tool, name: str, facts: Sequence[Fact]) -> tuple[Tool, list[SchemaChange], dict[str, str]]:
    changes = [SchemaChange(("name",), tool.name, name)] if name != tool.name else []
    description = tool.description
    for fact in facts:
        if isinstance(fact.rule, DescriptionLength):
            description = _fit_text(description, tool.name, fact.rule)
    if description != tool.description:
        changes.append(SchemaChange(("description",), tool.description, description))
    rewriter = SchemaRewriter(facts)
    schema = rewriter.rewrite(thaw(tool.parameters))
    patterns = [fact.rule.pattern for fact in facts if isinstance(fact.rule, ParameterName)]
    new = _new_names(schema, patterns)
    # As it stands in every definition: an object that says which properties it has, if only that it has none.
    schema = thaw(openai_definition(replace(tool, parameters=rename_properties(schema, new)), name))["function"]
    sent = replace(tool, name=name, description=description, parameters=schema["parameters"], id=tool.id)
    changes += [SchemaChange(("parameters", *change.place), change.was, change.now) for change in rewriter.changes]
    changes += [SchemaChange(("parameters", "properties", own), own, now) for own, now in new.items()]
    changes += _implied_changes(tool, sent, new, changes)
    return sent, changes, {now: own for own, now in new.items()}


def _implied_changes(
    tool: Tool, sent: Tool, new: Mapping[str, str], recorded: Sequence[SchemaChange]
) -> Iterator[SchemaChange]:
    """Changes that no rule recorded: they follow from another change, or from the repairs of two rules together."""
    known = {change.place: change.was for change in recorded}
    now = thaw(sent.parameters)
    if new:
        own = {sent_as: name for name, sent_as in new.items()}
        now["properties"] = {own.get(name, name): part for name, part in now["properties"].items()}
    for difference in find_differences(thaw(tool.parameters), now, ("parameters",)):
        if difference.place not in known or (difference.in_was and known[difference.place] != difference.was):
            yield SchemaChange(difference.place, difference.was, difference.now)


def _name_all(tools: Sequence[Tool], wire_names: Mapping[str, str], patterns: Sequence[NamePattern]) -> dict[str, str]:
    names = {tool.id: wire_names[tool.id] for tool in tools if all(p.allows(wire_names[tool.id]) for p in patterns)}
    taken = set(names.values())
    # In the order of the ids, so that the order of the tools cannot matter.
    for tool_id in sorted(tool.id for tool in tools if tool.id not in names):
        names[tool_id] = _new_name(wire_names[tool_id], tool_id, patterns, taken)
        taken.add(names[tool_id])
    return {tool.id: names[tool.id] for tool in tools}


def _new_name(name: str, key: str, patterns: Sequence[NamePattern], taken: Collection[str]) -> str:
    """A free name that all patterns allow, as similar to `name` as possible."""
    for pattern in patterns:
        name = pattern.clean(name)
    if name not in taken and all(pattern.allows(name) for pattern in patterns):
        return name
    longest = min([pattern.longest for pattern in patterns if pattern.longest is not None], default=len(name) + 64)
    digest = hashlib.sha256(key.encode(errors="surrogatepass")).hexdigest()
    for length in range(_SHORTEST_HASH, len(digest)):
        candidate = f"{name[: max(longest - length - 1, 1)]}_{digest[:length]}"
        if candidate not in taken:
            return candidate
    raise AssertionError(f"no free name for {key!r}")  # needs 63 colliding digits of SHA-256


def _new_names(schema: Mapping[str, Any], patterns: Sequence[NamePattern]) -> dict[str, str]:
    """New legal names for parameters with illegal names, by old name."""
    properties = schema.get("properties")
    if not isinstance(properties, dict):
        return {}
    legal = {name for name in properties if all(pattern.allows(name) for pattern in patterns)}
    new: dict[str, str] = {}
    for name in sorted(properties.keys() - legal):
        new[name] = _new_name(name, name, patterns, legal | set(new.values()))
    return new


def _fit_text(text: str, name: str, rule: DescriptionLength) -> str:
    if len(text) < rule.shortest:
        return name  # which says a little, and what is refused says nothing
    if rule.longest is None or len(text) <= rule.longest:
        return text
    cut = text[: rule.longest - len(_CUT)]
    end = max(cut.rfind(mark) + len(mark) for mark in (". ", ".\n", "\n"))
    if end > rule.longest // 2:
        return cut[:end].rstrip() + _CUT
    return (cut.rsplit(None, 1)[0] if " " in cut[rule.longest // 2 :] else cut) + _CUT
