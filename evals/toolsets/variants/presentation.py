"""Tools under names that say nothing, or without descriptions."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from toolbelt.catalog import Catalog, Tool
from toolbelt.catalog.frozen import thaw
from toolbelt.evals.offers import Presentation
from toolbelt.evals.toolsets.variants.variant import Variant
from toolbelt.tiers import own_meta_tools

_STEMS = ("tool", "function", "capability")
_COMPOUND = re.compile(r"[a-z0-9][A-Z]|[^A-Za-z0-9]")
"""In names that are no words of prose: `git_push`, `getWeather`; unlike `search`."""
_SUBSCHEMAS = ("properties", "$defs", "definitions", "patternProperties", "dependentSchemas", "dependencies")
"""Keys of a schema whose value maps names to schemas, so that `description` among them is an argument's name."""
_EXPLANATIONS = ("description", "title", "$comment", "markdownDescription", "enumDescriptions", "examples")
"""Keys of a schema that are for readers alone."""
_LITERALS = ("const", "enum", "default", "required", "dependentRequired")
"""Keys of a schema that hold values, not schemas."""


def make_presentation(variant: Variant, catalog: Catalog, seed: int) -> Presentation | None:
    """How a variant shows tools; `None` where it shows them as they are.

    Meta-tools stay as they are: what they are called and what they do is how tools are got at, not a tool.

    Args:
        variant: What is changed.
        catalog: Every tool there is.
        seed: Of the names' numbers.
    """
    if not variant.changes_definitions:
        return None
    meta_ids = frozenset(own_meta_tools(catalog))
    names = _anonymous_names(catalog, meta_ids, seed) if variant.anonymous else None
    edits: list[Callable[[Tool], Tool]] = []
    if names is not None:
        edits.append(_Renaming(catalog, names, meta_ids))
    if variant.undescribed:
        edits.append(lambda tool: tool if tool.id in meta_ids else without_descriptions(tool))
    key = Variant(anonymous=variant.anonymous, undescribed=variant.undescribed).name
    return Presentation(key, names or {}, lambda tool: _all(edits, tool))


def without_descriptions(tool: Tool) -> Tool:
    """The tool with its name, its arguments' names and types, and not a word about them."""
    return replace(tool, description="", parameters=_bare(thaw(tool.parameters)))


def _all(edits: list[Callable[[Tool], Tool]], tool: Tool) -> Tool:
    for edit in edits:
        tool = edit(tool)
    return tool


def _bare(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_bare(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    bare = {}
    for key, value in schema.items():
        if key in _EXPLANATIONS:
            continue
        if key in _SUBSCHEMAS and isinstance(value, dict):
            bare[key] = {name: _bare(inner) for name, inner in value.items()}
        else:
            bare[key] = value if key in _LITERALS else _bare(value)
    return bare


def _anonymous_names(catalog: Catalog, meta_ids: Collection[str], seed: int) -> Mapping[str, str]:
    """A random number for each tool, so that it does not show the tool's position in the catalog."""
    ids = [tool.id for tool in catalog.tools if tool.id not in meta_ids]
    numbers = list(range(1, len(ids) + 1))
    random.Random(f"{seed}\0names").shuffle(numbers)  # noqa: S311  no secret
    width = max(3, len(str(len(ids))))
    taken = {*catalog.wire_names.values(), *(tool.name for tool in catalog.tools)}
    for stem in (*_STEMS, *(f"tool{index}" for index in range(len(taken) + 1))):
        names = {tool_id: f"{stem}_{number:0{width}}" for tool_id, number in zip(ids, numbers, strict=True)}
        if taken.isdisjoint(names.values()):
            break
    return names


class _Renaming:
    """Descriptions that speak of tools by the names these have now.

    A name that is a word of prose, such as `search`, is renamed in backticks or quotes alone. One that several tools
    bear means the one of the describing tool's own plugin; where there is none, it becomes `another tool`. What is an
    argument of the described tool is taken to mean that.
    """

    def __init__(self, catalog: Catalog, names: Mapping[str, str], meta_ids: Collection[str]) -> None:
        self._names = names
        self._meant: dict[str, list[Tool]] = {}
        for tool in catalog.tools:
            for known in () if tool.id in meta_ids else {tool.id, catalog.wire_names[tool.id], tool.name}:
                self._meant.setdefault(known, []).append(tool)
        ranked = sorted(self._meant, key=len, reverse=True)
        compound = [re.escape(name) for name in ranked if _COMPOUND.search(name)]
        plain = [re.escape(name) for name in ranked if not _COMPOUND.search(name)]
        patterns = []
        if compound:
            patterns.append(rf"(?<![\w/]){_either(compound)}(?![\w/])")
        if plain:
            patterns.append(rf"(?<=[`'\"]){_either(plain)}(?=[`'\"(])")
        self._pattern = re.compile("|".join(patterns)) if patterns else None

    def __call__(self, tool: Tool) -> Tool:
        if self._pattern is None:
            return tool
        properties = tool.parameters.get("properties")
        arguments = properties if isinstance(properties, Mapping) else {}

        def renamed(match: re.Match[str]) -> str:
            return match[0] if match[0] in arguments else self._name(match[0], tool)

        text = partial(self._pattern.sub, renamed)
        return replace(tool, description=text(tool.description), parameters=_rewritten(thaw(tool.parameters), text))

    def _name(self, known: str, tool: Tool) -> str:
        meant = self._meant[known]
        if len(meant) > 1:
            meant = [other for other in meant if other.plugin == tool.plugin]
        return self._names[meant[0].id] if len(meant) == 1 else "another tool"


def _rewritten(schema: Any, text: Callable[[str], str]) -> Any:
    """The schema with what explains it rewritten."""
    if isinstance(schema, list):
        return [_rewritten(item, text) for item in schema]
    if not isinstance(schema, dict):
        return schema
    rewritten: dict[str, Any] = {}
    for key, value in schema.items():
        if key in _EXPLANATIONS:
            rewritten[key] = text(value) if isinstance(value, str) else value
        elif key in _SUBSCHEMAS and isinstance(value, dict):
            rewritten[key] = {name: _rewritten(inner, text) for name, inner in value.items()}
        else:
            rewritten[key] = value if key in _LITERALS else _rewritten(value, text)
    return rewritten


def _either(names: list[str]) -> str:
    return f"(?:{'|'.join(names)})"
