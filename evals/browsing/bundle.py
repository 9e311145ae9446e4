"""The pages of `toolbelt view` as files, to share or to keep: they need no server and load nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from itertools import combinations
from pathlib import Path
from typing import Any
from urllib.parse import quote

from toolbelt.errors import ToolbeltError
from toolbelt.evals.browsing.documents import Documents, read_overview

MOST_COMPARED = 8
"""The newest runs of a dataset that are compared, each with each."""
Progress = Callable[[str, int | None], AbstractContextManager[Callable[[int], object]]]


def write_bundle(documents: Documents, folder: Path, progress: Progress) -> tuple[int, list[str]]:
    """Write `index.html`, a report of each run with a finished trial, and comparisons of runs over the same cases.

    Args:
        documents: Of the store.
        folder: Where to; made if need be. Files of these names are replaced.
        progress: Shows how far the work is.

    Returns:
        How many reports and comparisons there are, and why others are not.

    Raises:
        ToolbeltError: the store cannot be read.
        OSError: a file cannot be written.
    """
    listed = documents.runs()
    listed["store"] = Path(listed["store"]).name  # where it lies is nobody else's business
    answers: dict[str, Any] = {"/runs": listed}
    problems: list[str] = []
    cases: dict[str, list[str]] = {}
    runs = [run for run in listed["runs"] if run["finished"]]
    with progress("writing reports", len(runs)) as advance:
        for done, run in enumerate(runs, start=1):
            name = run["run"]
            try:
                answers[f"/runs/{quote(name, safe='')}"] = documents.figures(name)
                _write(folder / "reports" / f"{name}.html", documents.report(name))
                cases.setdefault(run["dataset"]["digest"], []).append(name)
            except ToolbeltError as error:
                problems.append(f"{name} has no report: {error}")
                run["finished"] = 0  # so that nothing leads to it
            advance(done)
    pairs = [pair for names in cases.values() for pair in combinations(names[:MOST_COMPARED], 2)]
    compared = []
    with progress("comparing runs", len(pairs)) as advance:
        for done, (new, old) in enumerate(pairs, start=1):
            try:
                _write(folder / "comparisons" / f"{old}..{new}.html", documents.comparison(old, new))
                compared.append(f"{old}..{new}")
            except ToolbeltError as error:
                problems.append(f"{new} is not compared with {old}: {error}")
            advance(done)
    text = json.dumps({"answers": answers, "comparisons": compared}).replace("<", "\\u003c")
    page, _, _ = read_overview(f'<script type="application/json" id="bundle">{text}</script>')
    _write(folder / "index.html", page)
    return len(answers) - 1 + len(compared), problems


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
