"""The page as a whole: the frame around blocks of data, written as they are read."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import IO, Any

from toolbelt.evals.analysis.comparison.comparison import Comparison
from toolbelt.evals.analysis.gate.verdict import GateResult
from toolbelt.evals.analysis.matrix.matrix import Matrix
from toolbelt.evals.analysis.matrix.ranking import Ranking
from toolbelt.evals.analysis.result import RunResult, find_result
from toolbelt.evals.analysis.summary.run_summary import RunSummary
from toolbelt.evals.analysis.summary.summarize import read_snapshot
from toolbelt.evals.probing.results import ProbeResult
from toolbelt.evals.running.notes import read_notes
from toolbelt.evals.running.top_up import format_epochs
from toolbelt.evals.scoring.outcome import Outcome
from toolbelt.evals.toolsets.spec import is_oracle
from toolbelt.evals.viewer.arm_columns import arm_columns, toolset_meanings
from toolbelt.evals.viewer.findings import forest_values
from toolbelt.evals.viewer.packing import LONGEST_TEXT, MOST_TRIALS
from toolbelt.evals.viewer.pairs import pair_values
from toolbelt.evals.viewer.records import read_blocks
from toolbelt.evals.viewer.sections import matrix_values, outcome_row, probe_values, ranking_values
from toolbelt.evals.viewer.top import model_line, next_links, note_lines, top_values
from toolbelt.evals.views.arms import OF_ASKED, arm_names, coverage_table, outcome_columns
from toolbelt.evals.views.figures import epoch_lines
from toolbelt.evals.views.matrix_text import PICTURE, STEPS
from toolbelt.views.blocks import Picture


def write_page(
    connection: sqlite3.Connection,
    run: str,
    file: IO[str],
    *,
    summary: RunSummary,
    pictures: Sequence[Picture],
    comparison: Comparison | None = None,
    gate: GateResult | None = None,
    matrix: Matrix | None = None,
    recommendation: str = "",
    probes: Sequence[ProbeResult] = (),
    ranking: Ranking | None = None,
    advance: Callable[[int], object] | None = None,
) -> None:
    """Write a run's report as one page that needs no network: the same bytes for the same run.

    Verdict, tables and pictures are there without a script; every trial can be searched for and opened with it. The
    trials are read and written in blocks, so that memory does not grow with their number. Of a run of more than
    `MOST_TRIALS` it holds a sample, and says so; all else is of the whole run.

    Args:
        connection: To the file of runs; only read, at one moment.
        run: Its id.
        file: Where to; text in UTF-8.
        summary: Of the run.
        pictures: Of it, in order; the heat map is left out, as there is a table that is one.
        comparison: Its verdicts are on top; `None` for the gate's comparison.
        gate: Its verdict is above everything else.
        matrix: The run as models × toolsets.
        recommendation: What to paste into `toolbelt.yaml`, by that matrix.
        probes: The latest of each model.
        ranking: Of its arms, over all models.
        advance: Called with the number of trials written.
    """
    # Only what writes a page has to pay for the templates.
    from toolbelt.evals.viewer.rendering import render_frame
    from toolbelt.render.html import render_html, render_table

    comparison = comparison or (gate.comparison if gate else None)
    cases_shown = max(1, MOST_TRIALS // max(1, len(summary.arms) * summary.epochs))
    most_cases = cases_shown if summary.cases > cases_shown else None
    names = arm_names(summary)
    result = find_result(summary, comparison, matrix)
    top = top_values(summary, result, comparison, gate)
    arms = arm_columns(summary, comparison, result)
    outcomes = outcome_columns(summary.arms)
    frame = render_frame(
        {
            "summary": summary,
            "names": names,
            "facts": _facts(summary),
            "models": model_line(summary, top["lead"]),
            "top": top,
            "next": next_links(
                summary, result, comparison, has_recommendation=bool(recommendation) and _is_assigned(matrix, result)
            ),
            "notes": [*_written_notes(connection, run), *note_lines(summary, comparison)],
            "arms": arms,
            "arms_html": render_table(arms.table),
            "toolsets": toolset_meanings(summary),
            "forest": forest_values(comparison, summary),
            "coverage": render_table(coverage_table(summary)),
            "epochs": epoch_lines(summary),
            "outcomes": outcomes,
            "outcome_rows": [outcome_row(arm, outcomes) for arm in summary.arms],
            "first_pictures": [render_html([picture]) for picture in pictures if picture.name == _FIRST_PICTURE],
            "pictures": [
                render_html([picture]) for picture in pictures if picture.name not in (PICTURE, _FIRST_PICTURE)
            ],
            "matrix": None if matrix is None else matrix_values(matrix, recommendation, is_first=bool(summary.suite)),
            "ranking": None if ranking is None else ranking_values(ranking),
            "steps": STEPS,
            "probes": probe_values(probes) if probes else None,
            "comparison": comparison,
            "share": _compared_share(comparison),
            "pairs": pair_values(comparison, summary),
            "sampled_cases": most_cases,
        },
        _script_data(summary, names, result),
    )
    file.write(frame.head)
    written = 0
    with read_snapshot(connection):
        for block in read_blocks(connection, run, most_cases=most_cases):
            file.write(f'<script type="text/plain" class="index">{block.index}</script>\n')
            file.write(f'<script type="text/plain" class="details">{block.details}</script>\n')
            written += block.trials
            if advance is not None:
                advance(written)
    file.write(frame.tail)


def _written_notes(connection: sqlite3.Connection, run: str) -> list[str]:
    """What somebody wrote about the run and its cases."""
    return [f"Note on {case or 'this run'}: {text}" for case, text in read_notes(connection, run).items()]


def _compared_share(comparison: Comparison | None) -> str:
    """What differences are of: accuracy, or between arms of one run, where a prompt was too long, right of asked."""
    pairs = () if comparison is None else comparison.pairs
    return OF_ASKED.name if any(pair.main_contrast.too_long for pair in pairs) else "accuracy"


def _facts(summary: RunSummary) -> list[tuple[str, str]]:
    """The run's settings, for a user who wants to run it again."""
    settings = {key: value for key, value in summary.settings.items() if value not in (None, "", [], ())}
    rows: list[tuple[str, Any]] = [
        ("run", summary.run),
        ("begun", _moment(summary.created)),
        ("status", summary.status),
        ("dataset", summary.dataset),
        ("digest of its cases", summary.digest[:_DIGEST]),
        ("catalog", summary.catalog),
        ("cases", f"{summary.cases:,}"),
        ("epochs", format_epochs(summary.epochs, summary.arm_epochs)),
        ("seed", str(summary.seed)),
        ("trials", f"{summary.scored:,} scored of {summary.planned:,} planned, {summary.errors:,} failed"),
        *((f"tokenizer of {model}", name) for model, name in summary.tokenizers.items()),
        *((_CODE.get(key, key), value) for key, value in summary.code.items()),
        *((_setting(key), value) for key, value in settings.items() if key not in _OF_A_MACHINE),
    ]
    return [(name, _plain(value)) for name, value in rows]


def _moment(created: str) -> str:
    """A time without fractions of a second; other text is unchanged."""
    try:
        return datetime.fromisoformat(created).astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    except ValueError:
        return created


def _setting(name: str) -> str:
    return "seed of sampling" if name == "seed" else name.replace("_", " ")


def _plain(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


_FIRST_PICTURE = "tradeoff"
"""The picture that stands below the result."""
_DIGEST = 12
"""Characters of a digest that are shown, as in a comparison."""
_CODE = {"changed": "changes not committed"}
_OF_A_MACHINE = ("dataset", "catalog", "config", "drafts", "without_role", "toolset_notes")
"""Settings that are paths of one machine, or stand elsewhere in the page."""


def _script_data(summary: RunSummary, names: Sequence[str], result: RunResult) -> dict[str, Any]:
    return {
        "run": summary.run,
        "arms": list(names),
        "toolsets": [arm.toolset_label for arm in summary.arms],
        "models": [arm.model for arm in summary.arms],
        "epochs": summary.epochs,
        "longest": LONGEST_TEXT,
        "outcomes": [[outcome.value, _sort(outcome)] for outcome in Outcome],
        "oracles": [place for place, arm in enumerate(summary.arms) if is_oracle(arm.toolset)],
        "first": _first(summary, result),
    }


def _sort(outcome: Outcome) -> str:
    if not outcome.is_scored:
        return "unscored"
    return "right" if outcome.is_right_by_names else "wrong"


def _first(summary: RunSummary, result: RunResult) -> int:
    """The position of the arm whose confusions are shown first: the one to take."""
    arm = result.recommended or result.reference
    return next((place for place, other in enumerate(summary.arms) if other is arm), 0)


def _is_assigned(matrix: Matrix | None, result: RunResult) -> bool:
    """Whether the arm to take is what the lines for `toolbelt.yaml` name."""
    taken = result.recommended
    return taken is not None and matrix is not None and any(row.pick.toolset == taken.toolset for row in matrix.rows)
