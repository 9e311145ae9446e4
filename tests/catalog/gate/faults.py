"""Faults of twelve kinds, put into catalogs to see whether the gate without a model finds them."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from toolbelt.catalog import Catalog, Tool
from toolbelt.catalog.frozen import thaw
from toolbelt.catalog.ranking.words import WordsIndex

Edit = Mapping[str, Tool | None]
"""The tools that change, by id; `None` for one that is gone, an id of no tool for one that is new."""
_VAGUE = (
    "Does it.",
    "Does what is needed.",
    "Use this tool whenever it is appropriate for the task.",
    "A helper that performs the operation and returns the result to the caller.",
    "TODO: describe this.",
    "Executes the given action with the provided input and returns its output.",
)
_PADDING = (
    "This tool follows our internal conventions. Results may vary with the environment. Always check the output before "
    "you continue. Contact the platform team if anything is unclear. Limits may apply at any time. "
)


@dataclass(frozen=True)
class Site:
    """A tool that a fault is put into.

    Attributes:
        tool: Which.
        others: All tools of the catalog; the most similar ones first, without itself.
        draw: Of what is chosen.
    """

    tool: Tool
    others: Sequence[Tool]
    draw: random.Random

    def describe(self, text: str) -> Edit:
        return {self.tool.id: replace(self.tool, description=text)}

    def argue(self, change: Callable[[dict[str, Any]], bool]) -> Edit | None:
        """With its schema changed, where it could be."""
        schema = thaw(self.tool.parameters)
        return {self.tool.id: replace(self.tool, parameters=schema)} if change(schema) else None

    def pick_argument(self, schema: dict[str, Any], fits: Callable[[dict[str, Any]], bool]) -> str | None:
        names = [name for name, part in schema.get("properties", {}).items() if isinstance(part, dict) and fits(part)]
        return self.draw.choice(names) if names else None


def _empty(site: Site) -> Edit | None:
    return site.describe("")


def _make_vague(site: Site) -> Edit | None:
    return site.describe(site.draw.choice(_VAGUE))


def _cut(site: Site) -> Edit | None:
    words = site.tool.description.split()
    return site.describe(" ".join(words[:2]) + ".") if len(words) >= 8 else None


def _drop_own_words(site: Site) -> Edit | None:
    """Only what its neighbour's description says as well is left."""
    other = set(site.others[0].description.lower().split())
    words = site.tool.description.split()
    left = [word for word in words if word.lower() in other]
    return site.describe(" ".join(left)) if 0 < len(left) <= 0.7 * len(words) and len(words) >= 5 else None


def _copy(site: Site) -> Edit | None:
    return site.describe(site.others[site.draw.randrange(3)].description)


def _swap(site: Site) -> Edit | None:
    other = site.others[site.draw.randrange(3)]
    if not other.description or other.description == site.tool.description:
        return None
    return {
        site.tool.id: replace(site.tool, description=other.description),
        other.id: replace(other, description=site.tool.description),
    }


def _add_double(site: Site) -> Edit | None:
    """A tool that does the same, under another name, with a word or two put otherwise."""
    tool = site.tool
    name = site.draw.choice(("{}_v2", "new_{}", "{}_extended", "quick_{}")).format(tool.name)
    text = site.draw.choice(("{}", "Quickly: {}", "{} Newer version.")).format(tool.description)
    return {f"{tool.id}~": replace(tool, name=name, description=text, id=f"{tool.plugin}/{name}")}


def _bloat(site: Site) -> Edit | None:
    return site.describe(f"{site.tool.description} {_PADDING * site.draw.randint(8, 16)}")


def _remove_or_rename(site: Site) -> Edit | None:
    tool = site.tool
    if site.draw.random() < 0.5:
        return {tool.id: None}
    name = f"do_{tool.name}"
    return {tool.id: None, f"{tool.id}~": replace(tool, name=name, id=f"{tool.plugin}/{name}")}


def _require(site: Site) -> Edit | None:
    def change(schema: dict[str, Any]) -> bool:
        properties, required = schema.setdefault("properties", {}), schema.setdefault("required", [])
        free = [name for name in properties if name not in required]
        if free and site.draw.random() < 0.5:
            required.append(site.draw.choice(free))
        else:
            properties["request_id"] = {"type": "string", "description": "Id of the request."}
            required.append("request_id")
        return True

    return site.argue(change)


def _narrow(site: Site) -> Edit | None:
    def change(schema: dict[str, Any]) -> bool:
        name = site.pick_argument(schema, lambda part: len(part.get("enum") or ()) >= 2)
        if name is not None:
            schema["properties"][name]["enum"].pop()
            return True
        name = site.pick_argument(schema, lambda part: part.get("type") == "string" and "enum" not in part)
        if name is not None:
            schema["properties"][name]["enum"] = ["default", "other"]
        return name is not None

    return site.argue(change)


def _retype(site: Site) -> Edit | None:
    def change(schema: dict[str, Any]) -> bool:
        name = site.pick_argument(schema, lambda part: part.get("type") in ("string", "integer", "array"))
        if name is not None:
            part = schema["properties"][name]
            schema["properties"][name] = {
                "type": {"string": "object", "integer": "string", "array": "string"}[part["type"]],
                "description": part.get("description", ""),
            }
        return name is not None

    return site.argue(change)


KINDS: Mapping[str, Callable[[Site], Edit | None]] = {
    "description emptied": _empty,
    "description made vague": _make_vague,
    "description cut to two words": _cut,
    "words that set it apart removed": _drop_own_words,
    "description of a neighbour copied": _copy,
    "descriptions of two neighbours swapped": _swap,
    "a double of a tool added": _add_double,
    "description padded with 300 words and more": _bloat,
    "tool removed or renamed": _remove_or_rename,
    "argument required": _require,
    "values of an argument narrowed": _narrow,
    "type of an argument changed": _retype,
}
"""By what is done to a tool."""


@dataclass(frozen=True)
class Fault:
    """A catalog with one fault.

    Attributes:
        kind: One of `KINDS`.
        tools: Ids that the gate may name: of the tools that were changed.
        catalog: With the fault.
    """

    kind: str
    tools: frozenset[str]
    catalog: Catalog


def inject(catalog: Catalog, number: int, seed: int, kinds: Sequence[str] = tuple(KINDS)) -> Iterator[Fault]:
    """Put faults into a catalog, one at a time, each kind as often as the others.

    Args:
        catalog: Which.
        number: Of faults.
        seed: Of the draw.
        kinds: Those to draw from.
    """
    draw = random.Random(seed)
    index = WordsIndex(catalog.tools)
    for place in range(number):
        name = kinds[place % len(kinds)]
        for _ in range(500):
            tool = draw.choice(catalog.tools)
            near = [catalog.tools[i] for i in index.find_similar(tool, 6) if catalog.tools[i].id != tool.id]
            if not tool.description.strip() or len(near) < 3:
                continue
            edit = KINDS[name](Site(tool, near, draw))
            if edit:
                yield Fault(name, frozenset(key.removesuffix("~") for key in edit) | _names(edit), _edit(catalog, edit))
                break
        else:
            raise ValueError(f"no tool of {catalog.name} for: {name}")


def _names(edit: Edit) -> frozenset[str]:
    return frozenset(tool.id for tool in edit.values() if tool is not None)


def _edit(catalog: Catalog, edit: Edit) -> Catalog:
    plugins = []
    for plugin in catalog.plugins:
        tools = [edit.get(tool.id, tool) for tool in plugin.tools]
        tools += [
            tool for key, tool in edit.items() if key.endswith("~") and tool is not None and tool.plugin == plugin.name
        ]
        plugins.append(replace(plugin, tools=tuple(tool for tool in tools if tool is not None)))
    return Catalog(tuple(plugins), name=catalog.name)
