"""A small catalog and cases over it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from tests.conftest import SHARED_DATA
from toolbelt.catalog import Catalog, Plugin, Tool
from toolbelt.evals.cases.dataset import Dataset, open_dataset
from toolbelt.evals.cases.references import CatalogNames


def _tool(name: str, *, tool_id: str = "", more: bool = False, **properties: Any) -> Tool:
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    if more:
        schema["additionalProperties"] = True
    return Tool(
        name=name, description=f"Does {name} with {', '.join(properties) or 'nothing'}.", parameters=schema, id=tool_id
    )


CATALOG = Catalog(
    plugins=(
        Plugin("git", (_tool("git_push", remote={"type": "string"}, force={"type": "boolean"}), _tool("git_log"))),
        Plugin("file", (_tool("read", path={"type": "string"}, lines={"type": "integer", "minimum": 1}),)),
        Plugin("web", (_tool("read", url={"type": "string"}), _tool("search", query={"type": "string"}, more=True))),
    ),
    name="small",
)
NAMES = CatalogNames(CATALOG)


def case(**fields: Any) -> dict[str, Any]:
    """A right line with these fields changed or added; `...` takes one away."""
    made = {"id": "a", "query": "Send it off.", "expected": [{"tool": "git_push"}], **fields}
    return {key: value for key, value in made.items() if value is not ...}


def public(**fields: Any) -> dict[str, Any]:
    """Likewise, in the layout of public data sets."""
    return case(**{"expected": ["git_push"], "kind": "single", **fields})


@cache
def open_public(name: str) -> Dataset:
    """A public data set, which no test changes: opening the largest means to read 22,055 lines."""
    return open_dataset(str(SHARED_DATA / name))


def write_lines(path: Path, rows: Iterable[Any]) -> Path:
    """A file of JSON Lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows), encoding="utf-8")
    return path


def write_dataset(folder: Path, rows: Iterable[Any], catalog: Catalog = CATALOG) -> Path:
    """A folder with cases and their catalog."""
    from toolbelt.catalog.files import format_catalog

    write_lines(folder / "cases.jsonl", rows)
    (folder / "catalog.json").write_text(format_catalog(catalog, "json"), encoding="utf-8")
    return folder


def write_imported(folder: Path, rows: Iterable[Any], catalog: Catalog = CATALOG) -> Path:
    """A folder as public data sets are converted to: cases with a `catalog.jsonl`."""
    write_lines(folder / "cases.jsonl", rows)
    tools = [
        {
            "id": tool.id,
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.parameters,
            "source": "theirs",
            "server": plugin.name,
        }
        for plugin in catalog.plugins
        for tool in plugin.tools
    ]
    write_lines(folder / "catalog.jsonl", tools)
    return folder
