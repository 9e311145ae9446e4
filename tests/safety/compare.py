"""Print what differs between two recordings of `record.py`; the exit code is 1 if anything does."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

SHOWN = 20
"""Differences that are printed of each command."""


def differences(one: Any, two: Any, place: str = "") -> Iterator[str]:
    """A line for each value that differs, with its place."""
    if isinstance(one, dict) and isinstance(two, dict):
        for key in {**one, **two}:
            if key not in one or key not in two:
                where = "first" if key in one else "second"
                yield f"{place}/{key}: only in the {where}: {_short({**one, **two}[key])}"
            else:
                yield from differences(one[key], two[key], f"{place}/{key}")
    elif isinstance(one, list) and isinstance(two, list) and len(one) == len(two):
        for number, (first, second) in enumerate(zip(one, two, strict=True)):
            yield from differences(first, second, f"{place}/{number}")
    elif one != two or type(one) is not type(two):
        yield f"{place}: {_short(one)} != {_short(two)}"


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 200 else f"{text[:200]}… ({len(text)} characters)"


def _read(folder: Path) -> dict[str, Any]:
    """What is in a recording; commands by their text and the number of times that they were run before."""
    found: dict[str, Any] = {}
    for path in sorted(folder.glob("*.json")):
        data = json.loads(path.read_text(encoding="utf-8"))
        key = name = data.get("command", path.name)
        times = 1
        while key in found:
            times += 1
            key = f"{name} ({times})"
        found[key] = data
    return found


def main(one: Path, two: Path) -> int:
    """Compare two recordings."""
    first, second = _read(one), _read(two)
    total = 0
    for name in {**first, **second}:
        lines = list(differences(first.get(name), second.get(name)))
        if lines:
            click.echo("\n    ".join([f"{name}: {len(lines)} differences", *lines[:SHOWN]]))
        total += len(lines)
    click.echo(f"{len(first)} and {len(second)} entries; {total} differences")
    return bool(total)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
