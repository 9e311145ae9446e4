"""What tool definitions cost in tokens.

A definition is counted as the compact JSON that is sent, so that a count means the same for every model. Providers
bill what they make of it: `toolbelt.models.token_rates` knows how much that is, by family of models.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from toolbelt.catalog.catalog import Catalog
from toolbelt.catalog.definitions import DEFINITION_FORMATS, definition_text, sent_schema
from toolbelt.catalog.frozen import thaw
from toolbelt.catalog.tool import Tool

NAMESPACE = "namespace"
"""Counted as OpenAI's models are shown it, not as it is sent."""
Schema = Mapping[str, Any]
_DEEPEST = 40
"""Levels of a schema that are written; recursive ones have no end."""
TOKENIZER_NAMES = ("o200k_base", "cl100k_base", "estimate")
"""What can count: two real tokenizers that can be had offline, and a rule of thumb."""


class TokenCounter(Protocol):
    """Counts the tokens of texts.

    Attributes:
        name: The tokenizer a number comes from, as shown to users.
        exact: Whether that is a real tokenizer, not a rule of thumb.
    """

    @property
    def name(self) -> str:
        """The tokenizer a number comes from."""
        ...

    @property
    def exact(self) -> bool:
        """Whether that is a real tokenizer."""
        ...

    def count(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, in order."""
        ...


@dataclass(frozen=True)
class EstimateCounter:
    """A rule of thumb for where no tokenizer can be had: four UTF-8 bytes a token."""

    name: str = "estimate"
    exact: bool = False

    def count(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, in order."""
        return [(len(text.encode(errors="replace")) + 3) // 4 for text in texts]


@dataclass(frozen=True)
class ToolTokens:
    """The cost of every tool of a catalog.

    Attributes:
        by_id: Tokens by tool id.
        tokenizer: What counted.
        exact: Whether that is a real tokenizer.
        form: The provider's format that was counted, a key of `DEFINITION_FORMATS`.
    """

    by_id: Mapping[str, int]
    tokenizer: str
    exact: bool
    form: str = "openai"

    @property
    def total(self) -> int:
        """Tokens of the whole catalog."""
        return sum(self.by_id.values())

    def of(self, tool_ids: Sequence[str]) -> int:
        """Tokens of those tools together."""
        return sum(self.by_id[tool_id] for tool_id in tool_ids)


def count_named_tools(tools: Iterable[tuple[Tool, str]], counter: TokenCounter, form: str = "openai") -> list[int]:
    """Tokens of the definition of each tool, which is shown under the name beside it, in order.

    Args:
        tools: Each with its wire name.
        counter: What counts.
        form: Format of the definitions, a key of `DEFINITION_FORMATS`, or `NAMESPACE`.
    """
    if form == NAMESPACE:
        return counter.count([namespace_text(tool, name) for tool, name in tools])
    render = DEFINITION_FORMATS[form]
    return counter.count([definition_text(render(tool, name)) for tool, name in tools])


def count_tool_tokens(
    catalog: Catalog, counter: TokenCounter, form: str = "openai", *, tools: Sequence[Tool] | None = None
) -> ToolTokens:
    """Count the tools of a catalog.

    Args:
        catalog: Gives the wire names.
        counter: What counts.
        form: Format of the definitions, a key of `DEFINITION_FORMATS`.
        tools: Those to count; all of the catalog's if `None`.
    """
    counted = catalog.tools if tools is None else tools
    counts = count_named_tools(((tool, catalog.wire_names[tool.id]) for tool in counted), counter, form)
    by_id = {tool.id: count for tool, count in zip(counted, counts, strict=True)}
    return ToolTokens(by_id, counter.name, counter.exact, form)


def namespace_text(tool: Tool, wire_name: str) -> str:
    """A definition as OpenAI's models are shown it: a function of a namespace, written like TypeScript.

    The form is that of OpenAI's published prompt format (harmony). Its hosted models are billed by it as well: with the
    fixed parts of `toolbelt.models.token_rates` it gives the prompt tokens of recorded answers to within a few.
    """
    root = thaw(sent_schema(tool.parameters))
    members = "\n".join(_members(root, root, 0))
    lines = [f"// {tool.description}"] if tool.description else []
    lines.append(f"type {wire_name} = (_: {{\n{members}\n}}) => any;" if members else f"type {wire_name} = () => any;")
    return "\n".join(lines) + "\n\n"


def _members(schema: Schema, root: Schema, depth: int) -> Iterator[str]:
    properties, required = schema.get("properties"), schema.get("required")
    for name, value in properties.items() if isinstance(properties, dict) else ():
        part = value if isinstance(value, dict) else {}
        if text := part.get("description"):
            yield f"// {text}"
        mark = "" if isinstance(required, list) and name in required else "?"
        default = f" // default: {json.dumps(part['default'], ensure_ascii=False)}" if "default" in part else ""
        yield f"{name}{mark}: {_type(part, root, depth)},{default}"


def _type(schema: object, root: Schema, depth: int) -> str:
    if not isinstance(schema, dict) or depth > _DEEPEST:
        return "any"
    if isinstance(target := schema.get("$ref"), str):
        return _type(_find(target, root), root, depth + 1)
    if isinstance(values := schema.get("enum"), list):
        return " | ".join(json.dumps(value, ensure_ascii=False) for value in values)
    for key in ("anyOf", "oneOf", "allOf"):
        if isinstance(parts := schema.get(key), list):
            return " | ".join(_type(part, root, depth + 1) for part in parts)
    kind = schema.get("type")
    if isinstance(kind, list):
        return " | ".join(_type({**schema, "type": word}, root, depth + 1) for word in kind)
    if kind == "array":
        return f"{_type(schema.get('items'), root, depth + 1)}[]"
    if isinstance(schema.get("properties"), dict):
        members = "\n".join(_members(schema, root, depth + 1))
        return f"{{\n{members}\n}}"
    return "number" if kind in ("integer", "number") else kind if isinstance(kind, str) else "any"


def _find(target: str, root: Schema) -> object:
    """What a reference within the schema points at; `None` where it points elsewhere, or at nothing."""
    place: object = root if target.startswith("#") else None
    for step in target.removeprefix("#").strip("/").split("/"):
        if step:
            place = place.get(step) if isinstance(place, dict) else None
    return place
