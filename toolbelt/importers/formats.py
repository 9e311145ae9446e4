"""The table of formats that can be imported, and telling them apart."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from toolbelt.catalog import Catalog
from toolbelt.catalog.json_lines import Grouping, parse_catalog_lines
from toolbelt.catalog.reader import CatalogFile, parse_catalog
from toolbelt.errors import InvalidFileError, NotFoundError
from toolbelt.findings import Finding, Severity
from toolbelt.importers.openapi import convert_openapi, is_openapi
from toolbelt.importers.tool_lists import (
    convert_anthropic,
    convert_mcp,
    convert_openai,
    is_anthropic,
    is_mcp,
    is_openai,
)
from toolbelt.sources import Document, examine_json, examine_yaml

JSON_LINES = "jsonl"
LINES_LABEL = "JSON Lines"


@dataclass(frozen=True)
class Importer:
    """A format of one document.

    Attributes:
        label: What it is, in words.
        recognises: Whether parsed data looks like it.
        convert: From the document and the name of the catalog to the catalog; raises InvalidFileError. Of a foreign
            format, an entry that cannot be read is a finding; if none can be, that is raised.
    """

    label: str
    recognises: Callable[[object], bool]
    convert: Callable[[Document, str], CatalogFile]


def _is_own(data: object) -> bool:
    return isinstance(data, dict) and "plugins" in data


IMPORTERS: Mapping[str, Importer] = MappingProxyType(
    {
        "toolbelt": Importer("toolbelt catalog", _is_own, lambda document, _: parse_catalog(document, Catalog)),
        "openapi": Importer("OpenAPI document", is_openapi, convert_openapi),
        "mcp": Importer("MCP tools/list result", is_mcp, convert_mcp),
        "anthropic": Importer("Anthropic tool list", is_anthropic, convert_anthropic),
        "openai": Importer("OpenAI tool list", is_openai, convert_openai),
    }
)
"""In the order in which they are tried."""
FORMATS = (*IMPORTERS, JSON_LINES)


def recognise(data: object) -> str | None:
    """The first format that `data` looks like; `None` if none."""
    return next((name for name, importer in IMPORTERS.items() if importer.recognises(data)), None)


def import_catalog(
    text: str, source: str, *, form: str | None = None, name: str | None = None, grouping: Grouping | None = None
) -> tuple[CatalogFile, str]:
    """A catalog from the text of a file.

    Args:
        text: The whole text.
        source: The path as the user wrote it.
        form: One of `FORMATS`; found from the data if `None`.
        name: Of the catalog, and of its plugin where the format knows none; from `source` if `None`.
        grouping: For JSON Lines, the fields to group by; found if `None`.

    Returns:
        The catalog, and the format in words.

    Raises:
        NotFoundError: no such format.
        InvalidFileError: every mistake in the text, where no tool can be read or it is of our own form; or no format
            is known.
    """
    if form is not None and form not in FORMATS:
        raise NotFoundError("format", form, FORMATS)
    name = name or _name_of(source)
    if form == JSON_LINES or (form is None and _looks_like_lines(text, source)):
        return parse_catalog_lines(text, source, name, Catalog, grouping), LINES_LABEL
    document, mistakes = _parse(text, source)
    form = form or recognise(document.data)
    if mistakes and form in (None, "toolbelt"):
        raise InvalidFileError(mistakes)
    if mistakes and not document.is_json:
        document, mistakes = examine_yaml(text, source, merges=True)
    if form is None:
        known = ", ".join([importer.label for importer in IMPORTERS.values()])
        message = (
            f"This looks like none of what can be read: {known}, or JSON Lines; name its format with `import --format`."
        )
        raise InvalidFileError([Finding("unknown-format", Severity.ERROR, message, source)])
    importer = IMPORTERS[form]
    try:
        made = importer.convert(document, name)
    except InvalidFileError as error:
        raise InvalidFileError([*mistakes, *error.findings]) from None
    return replace(made, findings=(*mistakes, *made.findings)) if mistakes else made, importer.label


def _parse(text: str, source: str) -> tuple[Document, list[Finding]]:
    """What is in a file, by the rules of our own form, and the mistakes of its syntax."""
    named = Path(source).suffix.lower()
    if named == ".json" or (named not in (".yaml", ".yml") and text.lstrip()[:1] in ("{", "[")):
        return examine_json(text, source)
    return examine_yaml(text, source)


def _looks_like_lines(text: str, source: str) -> bool:
    if source.lower().endswith((".jsonl", ".ndjson")):
        return True
    first, _, rest = text.lstrip().partition("\n")
    return first.startswith("{") and first.rstrip().endswith("}") and rest.lstrip().startswith("{")


def _name_of(source: str) -> str:
    stem = Path(source).name.split(".")[0]
    # A file called catalog, tools or the like is named after its folder.
    if stem in ("catalog", "tools", "openapi", "index", ""):
        stem = Path(source).resolve().parent.name
    return re.sub(r"\s+", "-", stem.strip("-")) or "imported"
