"""Parts of the page beside the arms' table: outcomes, models × toolsets, and probes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from toolbelt.evals.analysis.comparison.number_format import format_margin
from toolbelt.evals.analysis.matrix.cell import Cell
from toolbelt.evals.analysis.matrix.matrix import Matrix, ModelRow
from toolbelt.evals.analysis.matrix.note_text import describe_matrix_notes
from toolbelt.evals.analysis.matrix.pick_text import describe_pick
from toolbelt.evals.analysis.matrix.ranking import Ranking
from toolbelt.evals.analysis.summary.run_summary import ArmSummary
from toolbelt.evals.probing.checks import title_of
from toolbelt.evals.probing.results import CheckOutcome, ProbeResult
from toolbelt.evals.probing.wording import WORDS, cache_line, shown_day, works_of
from toolbelt.evals.scoring.outcome import Outcome
from toolbelt.evals.views.matrix_text import (
    SMALL_MEANING,
    UNSURE_MEANING,
    choice_meaning,
    exception,
    heat_cell,
    reason_lines,
)
from toolbelt.evals.views.ranking import conclusions, ranking_table
from toolbelt.render.html import render_table
from toolbelt.render.numbers import NOTHING, format_interval, format_number
from toolbelt.views.cells import Badge, Tone
from toolbelt.views.cells import Cell as TableCell

MOST_REASONS = 200
"""The most sentences on unscored trials; the rest are counted."""
MOST_OPEN = 8
"""With at most so many models, all their sentences are unfolded."""


def matrix_values(matrix: Matrix, recommendation: str = "", *, is_first: bool = False) -> dict[str, Any]:
    """The values of the section on models and toolsets.

    Args:
        matrix: The run.
        recommendation: What to paste into `toolbelt.yaml`; nothing if empty.
        is_first: Whether it stands above the table of arms, as what the run was made for.

    Returns:
        The table: `corner`, `columns` (name, window), `lines` (name, window, cells), with models or toolsets, whichever
        are fewer, as columns. `rows` (`model`, `window`, `choice`, `sure`, `reasons`, `cells`), `meaning` of a sure
        choice, `unsure_meaning` of another, `small_meaning`, `notes`, `unscored`: sentences on pairs of which not all
        trials were scored, `more_unscored`, `recommendation`, `exception`, `is_first`, `is_folded`.
    """
    unscored = reason_lines(matrix)
    rows = [_row(row) for row in matrix.rows]
    corner, columns = "model", [(toolset, "") for toolset in matrix.toolsets]
    lines = [(row["model"], row["window"], row["cells"]) for row in rows]
    if len(columns) > len(lines):  # as the terminal has it: a wide table is hard to read
        corner, heads = "toolset", [(model, window) for model, window, _ in lines]
        cells = zip(*(own for _, _, own in lines), strict=True)
        lines, columns = [(name, "", own) for (name, _), own in zip(columns, cells, strict=True)], heads
    return {
        "corner": corner,
        "columns": columns,
        "lines": lines,
        "rows": rows,
        "meaning": choice_meaning(matrix),
        "unsure_meaning": UNSURE_MEANING,
        "small_meaning": SMALL_MEANING,
        "notes": describe_matrix_notes(matrix),
        "unscored": unscored[:MOST_REASONS],
        "more_unscored": max(0, len(unscored) - MOST_REASONS),
        "recommendation": recommendation,
        "exception": exception(matrix),
        "is_first": is_first,
        "is_folded": len(matrix.rows) > MOST_OPEN,
    }


def ranking_values(ranking: Ranking) -> dict[str, Any]:
    """The values of the section that ranks models × toolsets.

    Returns:
        `table`, `conclusions`: sentences, `margin`: in points, in words, `has_models`: whether there are several,
        `has_ties`: whether an arm is tied with the best.
    """
    table = ranking_table(ranking)
    rows = tuple(row._replace(cells=tuple(map(_certain, row.cells))) for row in table.rows)
    return {
        "table": render_table(table._replace(rows=rows, caption="Arms by accuracy, with ties", is_numbered=True)),
        "conclusions": list(conclusions(ranking)),
        "margin": format_margin(ranking.margin),
        "has_models": len({each.arm.model for each in ranking.arms}) > 1,
        "has_ties": len(ranking.tied) > 1,
    }


def _certain(cell: TableCell) -> TableCell:
    """A badge of what is certain: the page's sign of a warning is a question mark."""
    return cell._replace(tone=Tone.BAD) if isinstance(cell, Badge) and cell.tone is Tone.WARNING else cell


def _row(row: ModelRow) -> dict[str, Any]:
    return {
        "model": row.model,
        "window": "" if row.context_window is None else f"{row.context_window:,} tokens",
        "choice": row.pick.toolset,
        "sure": row.pick.sure,
        "reasons": describe_pick(row.pick),
        "cells": [_cell(row, cell) for cell in row.cells],
    }


def _cell(row: ModelRow, cell: Cell | None) -> dict[str, Any]:
    shown = heat_cell(row, cell)
    counts = interval = tokens = ""
    if cell is not None:
        tokens = "" if cell.definition_tokens is None else f"{format_number(cell.definition_tokens)} tokens"
        if shown.step is not None:
            counts, interval = (
                f"{cell.right_of_asked.numerator:,}/{cell.right_of_asked.denominator:,}",
                format_interval(cell.right_of_asked.low, cell.right_of_asked.high),
            )
    return {
        "text": shown.text,
        "step": shown.step,
        "state": "not_run" if cell is None else cell.state.value,
        "overflow": shown.overflow,
        "chosen": shown.is_chosen,
        "best": shown.is_best,
        "unsure": shown.is_unsure,
        "counts": counts,
        "interval": interval,
        "tokens": tokens,
    }


_MARKS = {
    CheckOutcome.WORKS: "✓",
    CheckOutcome.PARTLY: "~",
    CheckOutcome.SKIPPED: "–",
    CheckOutcome.TOOLS_NOT_SEEN: "?",
    CheckOutcome.UNKNOWN: "?",
}
_FAILED = "✕"
_LOOKS = {
    CheckOutcome.WORKS: "good",
    CheckOutcome.PARTLY: "warning",
    CheckOutcome.SKIPPED: "faint",
    CheckOutcome.TOOLS_NOT_SEEN: "warning",
    CheckOutcome.UNKNOWN: "faint",
}
"""The badge of each outcome of a check, by the names of tones."""
_LONGEST = 300
"""The most characters shown of a server's message."""


def probe_values(results: Sequence[ProbeResult]) -> dict[str, Any]:
    """The values of the section on probes.

    Returns:
        `models` (`model`, `where`, `day`, `works`, `caching`), `rows` (`title`; `cells`: `mark`, `word`, `tone`),
        `reasons` (`model`, `title`, `word`, `said` of what does not simply work).
    """
    keys = dict.fromkeys(key for result in results for key in (*result.planned, *(each.key for each in result.checks)))
    return {
        "models": [
            {
                "model": result.model,
                "where": result.api_base or "",
                "day": shown_day(result.created),
                "works": works_of(result),
                "caching": cache_line(result),
            }
            for result in results
        ],
        "rows": [
            {"title": title_of(key), "cells": [_probe_cell(result.outcome(key)) for result in results]} for key in keys
        ],
        "reasons": [
            {
                "model": result.model,
                "title": title_of(check.key),
                "word": WORDS[check.outcome],
                "said": check.said if len(check.said) <= _LONGEST else f"{check.said[: _LONGEST - 1]}…",
            }
            for result in results
            for check in result.checks
            if check.outcome not in (CheckOutcome.WORKS, CheckOutcome.SKIPPED)
        ],
    }


def _probe_cell(outcome: CheckOutcome | None) -> dict[str, str]:
    if outcome is None:
        return {"mark": NOTHING, "word": "not made", "tone": "faint"}
    return {
        "mark": _MARKS.get(outcome, _FAILED),
        "word": WORDS[outcome],
        "tone": _LOOKS.get(outcome, "bad"),
    }


def outcome_row(arm: ArmSummary, names: Sequence[Outcome]) -> dict[str, Any]:
    """An arm's trials by outcome.

    Returns:
        `counts` in the order of `names`, and `parts`: (`name`, `start`, `width`) of a bar from 0 to 100.
    """
    counts = [arm.outcomes.get(name, 0) for name in names]
    total = sum(counts)
    parts, start = [], 0.0
    for name, count in zip(names, counts, strict=True):
        width = 100 * count / total if total else 0.0
        if count:
            parts.append((name, round(start, 3), round(width, 3)))
        start += width
    return {"counts": counts, "parts": parts, "finished": total}
