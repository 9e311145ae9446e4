"""Hand-written samples in the forms that others keep cases in."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from toolbelt.catalog import Catalog
from toolbelt.catalog.reader import CatalogFile
from toolbelt.errors import InvalidFileError
from toolbelt.evals.cases.case import Case
from toolbelt.evals.cases.dataset import Dataset, open_dataset
from toolbelt.evals.cases.imports.context import ImportSettings
from toolbelt.evals.cases.imports.importer import ImportResult, import_cases
from toolbelt.evals.cases.lint.lint import lint_dataset
from toolbelt.findings import Finding, Severity
from toolbelt.loadouts import ToolLoadoutRegistry


def tool(name: str, description: str = "", **properties: Any) -> dict[str, Any]:
    """A definition in OpenAI's form."""
    schema = {"type": "object", "properties": properties}
    function = {"name": name, "description": description or f"Does {name}.", "parameters": schema}
    return {"type": "function", "function": function}


WEATHER = tool("get_weather", "Tells the weather.", city={"type": "string"}, days={"type": "integer"})
MAIL = tool("send_mail", "Sends a letter.", to={"type": "string"})
TOOLS = [WEATHER, MAIL]


def user(text: str) -> dict[str, Any]:
    """What a user says."""
    return {"role": "user", "content": text}


def calling(*names: str, start: int = 0, **arguments: Any) -> dict[str, Any]:
    """An assistant's message with a call of each tool, the ids counted from `start`."""
    calls = [
        {"id": f"c{start + number}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        for number, name in enumerate(names)
    ]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def answer(number: int, text: str) -> dict[str, Any]:
    """What a tool answered to a call."""
    return {"role": "tool", "tool_call_id": f"c{number}", "content": text}


def says(text: str = "Done.") -> dict[str, Any]:
    """An assistant's message without a call."""
    return {"role": "assistant", "content": text}


def log(*messages: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """A record of a message log; `...` takes a field away."""
    made = {"messages": list(messages), "tools": TOOLS, **fields}
    return {key: value for key, value in made.items() if value is not ...}


MAILING = log(user("Mail Bob."), calling("send_mail", to="Bob"))
"""A record that makes a case."""


def write(path: Path, records: Iterable[Any]) -> str:
    """Records as JSON Lines; texts as they are."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = (one if isinstance(one, str) else json.dumps(one) for one in records)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return str(path)


def bring_in(
    folder: Path, *sources: str, catalog: Catalog | None = None, settings: ImportSettings | None = None, **more: Any
) -> ImportResult:
    """Import sources into `folder`."""
    given = None if catalog is None else CatalogFile(catalog, "given")
    stdin = io.BytesIO(more.pop("stdin", b""))
    return import_cases(sources, str(folder), standard_input=stdin, catalog=given, settings=settings, **more)


def mistakes(folder: Path, *sources: str, **more: Any) -> tuple[Finding, ...]:
    """What cannot be read, whether something was imported or nothing."""
    try:
        return bring_in(folder, *sources, **more).broken
    except InvalidFileError as error:
        return error.findings


def opened(folder: Path) -> Dataset:
    """The dataset that was made, without a mistake that linting finds."""
    dataset = open_dataset(str(folder))
    assert errors_of(dataset) == []
    return dataset


def errors_of(dataset: Dataset) -> list[Finding]:
    """What `toolbelt dataset lint` would refuse."""
    found = lint_dataset(dataset, ToolLoadoutRegistry())
    return [finding for finding in found if finding.severity is Severity.ERROR]


def cases(folder: Path) -> list[Case]:
    """Every case that was made."""
    dataset = opened(folder)
    return [dataset.case(index) for index in range(len(dataset))]


def rows(folder: Path) -> list[dict[str, Any]]:
    """Every line that was written."""
    return lines_of(folder / "cases.jsonl")


def lines_of(path: Path) -> list[Any]:
    """What the lines of a file hold."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def labels(case: Case) -> list[tuple[str, ...]] | None:
    """The tools of the expected calls."""
    return None if case.expected is None else [call.tools for call in case.expected]
