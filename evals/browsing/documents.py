"""What the page shows, read from the store at each request; nothing is kept but figures of runs that did not change."""

from __future__ import annotations

import html
import io
from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path
from threading import Lock
from typing import Any

from toolbelt.errors import ToolbeltError
from toolbelt.evals.analysis.summary.run_summary import ArmSummary
from toolbelt.evals.analysis.summary.summarize import read_snapshot, summarize
from toolbelt.evals.running.notes import read_run_notes
from toolbelt.evals.running.store import RunStore
from toolbelt.evals.views.comparison import comparison_view
from toolbelt.evals.views.result_text import describe_model
from toolbelt.evals.views.run_list import run_row_data
from toolbelt.text import visible
from toolbelt.views.blocks import Block
from toolbelt.views.json_values import to_json

_FIGURES = 1000
"""Runs whose figures are kept."""


class Documents:
    """Reads the store; may be asked by several threads.

    Args:
        path: Of the store, which must be there at each request.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._figures: dict[tuple[str, int, str], dict[str, Any]] = {}
        self._report_lock = Lock()

    def runs(self) -> dict[str, Any]:
        """Every run, the latest first."""
        with self._open() as store:
            rows = [(row, store.find_status(row)) for row in store.runs()]
            notes = read_run_notes(store.connection)
        runs = [
            {
                **run_row_data(row, status, notes.get(row.run, "")),
                "models": [*dict.fromkeys(describe_model(arm.model) for arm in row.plan.arms)],
            }
            for row, status in rows
        ]
        return {"store": str(self._path), "runs": runs}

    def figures(self, run: str) -> dict[str, Any]:
        """What a run came to, by arm, and the versions of what it was made with.

        Raises:
            ToolbeltError: there is no such run, or it is damaged.
        """
        with self._open() as store:
            row = store.get(run)
            status = store.find_status(row)
            key = (row.run, row.finished, status)
            if key not in self._figures:
                summary = summarize(store.connection, row.run, status)
                versions = {"cases": summary.digest[:12], "catalog": summary.surroundings[:12], **summary.code}
                if len(self._figures) >= _FIGURES:
                    self._figures.clear()
                self._figures[key] = {
                    "run": row.run,
                    "asked": f"{row.plan.digest} {row.plan.chosen}",  # runs over other cases are not to be joined
                    "versions": {name: str(value) for name, value in versions.items() if value},
                    "cases": summary.cases,
                    "arms": [_arm_figures(arm) for arm in summary.arms],
                }
            return self._figures[key]

    def report(self, run: str) -> str:
        """The page that `toolbelt eval report` writes of a run.

        Raises:
            ToolbeltError: there is no such run, or nothing of it has finished.
        """
        from toolbelt.evals.exports.run_report import ReportOptions, analyze_run, find_models

        page = io.StringIO()
        # One at a time: matplotlib is not to be used by two threads, and a page may take 100 MB.
        with self._report_lock, self._open() as store, read_snapshot(store.connection):
            row = store.get(run)
            findings = analyze_run(store, row, ReportOptions(models=find_models(row.plan)))
            findings.write_page(store.connection, page, findings.draw(pngs=False))
        return page.getvalue()

    def comparison(self, old: str, new: str) -> str:
        """A page on what differs between two runs: their arms of the same names.

        Raises:
            ToolbeltError: a run is not there, or no arm of one has the name of an arm of the other.
        """
        # numpy and scipy
        from toolbelt.evals.analysis.comparison.compare import compare_runs
        from toolbelt.evals.analysis.evidence.stored_run import StoredRun

        with self._open() as store:
            rows = store.get(old), store.get(new)
            if rows[0].run == rows[1].run:
                raise ToolbeltError("Choose two runs; the arms of one are compared in its report.")
            with read_snapshot(store.connection):
                comparison = compare_runs(*(StoredRun(store, row) for row in rows))
        return make_page(f"{rows[1].run} against {rows[0].run}", comparison_view(comparison))

    def _open(self) -> RunStore:
        return RunStore(self._path, must_exist=True)


def make_page(title: str, blocks: Iterable[Block]) -> str:
    """A page of its own with these blocks, which loads nothing."""
    from toolbelt.render.html import render_html

    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{html.escape(visible(title))}</title>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<style>{own_style()}</style></head>\n"
        f'<body class="comparison"><main>\n{render_html(blocks)}\n</main></body></html>\n'
    )


def read_overview(bundle: str = "") -> tuple[str, str, str]:
    """The page over all runs, its style sheet and its script.

    Args:
        bundle: An element that holds what the page otherwise asks a server for.
    """
    folder = files("toolbelt.evals.browsing")
    style, script = own_style(), folder.joinpath("view.js").read_text(encoding="utf-8")
    page = folder.joinpath("view.html").read_text(encoding="utf-8").replace("<!--bundle-->", bundle)
    return page.replace("/*style*/", style).replace("/*script*/", script), style, script


def own_style() -> str:
    """The style sheet of the report, with what this page has besides."""
    parts = (("toolbelt.evals.viewer", "page.css"), ("toolbelt.evals.browsing", "view.css"))
    return "\n".join(files(package).joinpath(name).read_text(encoding="utf-8") for package, name in parts)


def _arm_figures(arm: ArmSummary) -> dict[str, Any]:
    return {
        "model": arm.model,
        "label": arm.label,
        "scored": arm.scored,
        "is_for_orientation": arm.is_for_orientation,
        "accuracy": to_json(arm.accuracy),
        "right_of_asked": to_json(arm.right_of_asked),
        "prompt_tokens": arm.prompt_tokens,
        "cost_usd": arm.cost_usd,
    }
