"""What is wrong or doubtful about a catalog's tools, for the models that will read them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from toolbelt.catalog.catalog import Catalog
from toolbelt.catalog.definitions import is_legal_wire_name
from toolbelt.catalog.schema_outline import has_keyword
from toolbelt.catalog.tool import Plugin, Tool
from toolbelt.catalog.twins import TWINS_RULE, describe_twins, find_twins
from toolbelt.catalog.validators import find_schema_fault, find_unknown_references
from toolbelt.findings import Finding, Severity
from toolbelt.text import CONTROL, INVISIBLE, visible

_INVISIBLE = re.compile(f"[{INVISIBLE}]")
_JOINERS = "\u200c\u200d"
_BLACK_FLAG = "\U0001f3f4"
_MAX_SHOWN_CHARS = 80


class Steering(StrEnum):
    """How a text addresses the model; the value is for the message."""

    OVERRIDES = "asks it to disregard its instructions"
    CONCEALS = "asks it to keep something from the user"
    IMITATES = "imitates the markup of a prompt"
    REDIRECTS = "asks for something before other tools are used"
    READS_SECRETS = "names files with secrets"
    HIDES = "has a comment that a page would not show"


_PATTERNS: Mapping[Steering, re.Pattern[str]] = MappingProxyType(
    {
        kind: re.compile(pattern, re.IGNORECASE)
        for kind, pattern in {
            Steering.OVERRIDES: r"\b(?:ignore|disregard|forget|override)\b[^.\n]{0,30}"
            r"\b(?:previous|prior|earlier|above|preceding|other|all|any|your|system)\b[^.\n]{0,20}"
            r"\b(?:instructions?|prompts?|rules|guidelines|directions)\b",
            Steering.CONCEALS: r"\b(?:do not|don't|never|must not)\s+(?:ever\s+)?"
            r"(?:tell|mention|inform|reveal|disclose)\b[^.\n]{0,30}\b(?:the|to|your) users?\b",
            Steering.IMITATES: r"<\s*/?\s*(?:important|system|instructions?|secret|hidden|assistant|admin|critical)\s*>"
            r"|\[/?(?:INST|SYSTEM|IMPORTANT)\]|<\|[a-z_]{2,20}\|>",
            Steering.REDIRECTS: r"\b(?:before|whenever you|instead of)\s+(?:using|calling|use|call|invoking)\s+"
            r"(?:any|every|all|another)\s+(?:other\s+)?tools?\b",
            Steering.READS_SECRETS: r"\.ssh/(?:id_|config|authorized)|\bid_(?:rsa|ed25519)\b|\.aws/credentials"
            r"|\.cursor/mcp\.json|claude_desktop_config\.json|/etc/(?:passwd|shadow)\b",
            Steering.HIDES: r"<!--",
        }.items()
    }
)


def find_steering(texts: Sequence[str]) -> Iterator[tuple[Steering, str]]:
    """The ways in which texts address the model, each with the words that do, once."""
    for kind, pattern in _PATTERNS.items():
        for text in texts:
            if (match := pattern.search(text)) is not None:
                words = visible(match.group())
                yield kind, words if len(words) <= _MAX_SHOWN_CHARS else f"{words[:_MAX_SHOWN_CHARS]}…"
                break


def find_invisible(texts: Sequence[str]) -> dict[str, str]:
    """The invisible characters of texts, as `U+200B`, with their names.

    Joiners within scripts that need them, and the tags of flags, are no finding: they change what is seen.
    """
    characters: dict[str, str] = {}
    for text in texts:
        for match in _INVISIBLE.finditer(text):
            character, position = match.group(), match.start()
            if not _is_needed(text, position):
                name = unicodedata.name(character, "").lower() or "without a name"
                characters.setdefault(f"U+{ord(character):04X}", name)
    return characters


def _is_needed(text: str, position: int) -> bool:
    character, before, after = text[position], text[position - 1 : position], text[position + 1 : position + 2]
    if character in _JOINERS:
        return not (before.isascii() or after.isascii())
    if "\U000e0020" <= character <= "\U000e007f":
        start = position
        while start > 0 and "\U000e0020" <= text[start] <= "\U000e007f":
            start -= 1
        return text[start] == _BLACK_FLAG and position - start <= 7
    return False


Subject = Tool | Plugin
MAX_DESCRIPTION = 1024
"""Characters; OpenAI's chat API refuses longer ones."""
_CONTROL = re.compile(f"[{CONTROL}]")
_CONTROL_IN_TEXT = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
"""Line breaks and tabs are common in descriptions and harmless."""
_MAX_CHARACTERS = 5


def lint_catalog(catalog: Catalog, progress: Callable[[int], None] | None = None) -> Iterator[tuple[Subject, Finding]]:
    """Each finding with the tool or plugin it is about; file and line are the caller's to add.

    Args:
        catalog: Looked at whole.
        progress: Called with the number of tools looked at so far.
    """
    done = 0
    for plugin in catalog.plugins:
        if not plugin.tools:
            yield plugin, _warning("empty-plugin", f"Plugin {plugin.name!r} has no tools.")
        for finding in _lint_hidden_text(f"Plugin {plugin.name!r}", (plugin.description,)):
            yield plugin, finding
        for tool in plugin.tools:
            done += 1
            if progress is not None and done % 50 == 0:
                progress(done)
            for finding in _lint_tool(tool, catalog.wire_names[tool.id]):
                yield tool, finding
    yield from _shared_names(catalog)
    for twins in find_twins(catalog.tools):
        yield twins.tools[0], _warning(TWINS_RULE, describe_twins(twins))


def _lint_tool(tool: Tool, wire_name: str) -> Iterator[Finding]:
    if not tool.description.strip():
        yield _warning("no-description", f"Tool {tool.id!r} has no description; a model can only guess by its name.")
    if len(tool.description) > MAX_DESCRIPTION:
        message = (
            f"The description of {tool.id!r} has {len(tool.description):,} characters; some take {MAX_DESCRIPTION:,}."
        )
        yield _warning("long-description", message)
    texts = (tool.description, *_texts(tool.parameters), *_texts(tool.annotations), *_texts(tool.extra))
    if _CONTROL.search(tool.name) or any(map(_CONTROL_IN_TEXT.search, texts)):
        message = f"Tool {tool.id!r} has control characters in its name or what describes it."
        yield _warning("control-character", message)
    yield from _lint_hidden_text(f"Tool {tool.id!r}", (tool.name, *texts))
    if not is_legal_wire_name(tool.name):
        yield _warning(
            "illegal-name", f"Providers refuse the name {tool.name!r} (of {tool.id}); it is sent as {wire_name!r}."
        )
    yield from _lint_parameters(tool)


def _lint_hidden_text(subject: str, texts: Sequence[str]) -> Iterator[Finding]:
    """What a reader of the catalog does not see, or what is written for the model alone (rule M10)."""
    if invisible := find_invisible(texts):
        shown = ", ".join(f"{code} ({name})" for code, name in list(invisible.items())[:_MAX_CHARACTERS])
        more = f" and {len(invisible) - _MAX_CHARACTERS} others" if len(invisible) > _MAX_CHARACTERS else ""
        yield _warning(
            "invisible-character", f"{subject} has invisible characters, which a model reads: {shown}{more}."
        )
    for kind, words in find_steering(texts):
        yield _warning("addresses-model", f"{subject} addresses the model: a text of it {kind.value} ({words!r}).")


def _texts(value: Any) -> Iterator[str]:
    """Every text in a schema, keys among them: a model reads them all."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield key
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)


def _lint_parameters(tool: Tool) -> Iterator[Finding]:
    if not tool.parameters:
        return
    if (fault := find_schema_fault(tool.parameters)) is not None:
        place = "/".join(map(str, fault.path)) or "its root"
        message = f"The parameters of {tool.id!r} are no JSON Schema, at {place}: {fault.message[:200]}"
        yield Finding("invalid-schema", Severity.ERROR, message)
        return
    if has_keyword(tool.parameters, "$recursiveRef") and "2019-09" not in str(tool.parameters.get("$schema")):
        message = f"`$recursiveRef` in the parameters of {tool.id!r} is of draft 2019-09, and nothing in 2020-12"
        yield _warning("older-draft", f"{message}; write `$ref`.")
    for reference in find_unknown_references(tool.parameters):
        message = f"The `$ref` {visible(reference)!r} in the parameters of {tool.id!r}"
        if reference.startswith("#"):
            yield Finding("dangling-ref", Severity.ERROR, f"{message} leads to nothing there.")
        else:
            advice = "put what it refers to under `$defs`"
            yield _warning("remote-ref", f"{message} is to another document, which nothing fetches; {advice}.")
    if tool.parameters.get("type") != "object":
        message = f"The parameters of {tool.id!r} should be of type 'object'; they are sent as such."
        yield _warning("not-an-object", message)
    properties = tool.parameters.get("properties", {})
    required = tool.parameters.get("required")
    if missing := [name for name in required if name not in properties] if isinstance(required, list) else []:
        message = f"Tool {tool.id!r} requires {', '.join(map(repr, missing))}, which it does not describe."
        yield _warning("undescribed-requirement", message)
    if bare := [name for name, schema in properties.items() if _lacks_description(schema)]:
        message = f"Parameters of {tool.id!r} without a description: {', '.join(bare)}."
        yield _warning("undescribed-parameter", message)


def _lacks_description(schema: Any) -> bool:
    return isinstance(schema, Mapping) and not schema.get("description") and "$ref" not in schema


def _shared_names(catalog: Catalog) -> Iterator[tuple[Subject, Finding]]:
    by_id = {tool.id: tool for tool in catalog.tools}
    for name, tool_ids in catalog.shared_names.items():
        wire_names = ", ".join(catalog.wire_names[tool_id] for tool_id in tool_ids)
        message = f"{len(tool_ids)} tools are named {name!r} ({', '.join(tool_ids)}); they are sent as {wire_names}."
        yield by_id[tool_ids[0]], _warning("shared-name", message)


def _warning(rule: str, message: str) -> Finding:
    return Finding(rule, Severity.WARNING, message)
