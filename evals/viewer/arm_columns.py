"""The table of the arms in a page: six columns at first, the others one choice away."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from toolbelt.evals.analysis.comparison.comparison import ArmComparison, Comparison
from toolbelt.evals.analysis.comparison.comparison_text import pair_names
from toolbelt.evals.analysis.comparison.number_format import format_points
from toolbelt.evals.analysis.result import RunResult, TradeOff
from toolbelt.evals.analysis.summary.run_summary import ArmSummary, RunSummary
from toolbelt.evals.toolsets.spec import TOOLSETS, ToolsetKind, find_toolset, is_oracle
from toolbelt.evals.viewer.findings import find_badge
from toolbelt.evals.views.arms import OF_ASKED, arms_table
from toolbelt.evals.views.result_text import describe_trade_off
from toolbelt.render.numbers import NOTHING
from toolbelt.views.cells import Badge, Cell, Span, Tone
from toolbelt.views.table import Column, Row, Table

_AT_FIRST = 5
"""Beside the names of the arms."""
_LEFT_OUT = ("abstained uncovered",)  # which a note says, with its counts


@dataclass(frozen=True, slots=True)
class ArmColumns:
    """The table, and what is seen of it at first.

    Attributes:
        table: Every column.
        shown: Which of its columns are seen at first, by position.
        against: What the differences are compared with; empty where there are none.
    """

    table: Table
    shown: frozenset[int]
    against: str = ""


def toolset_meanings(summary: RunSummary) -> list[tuple[str, str]]:
    """The toolsets of a run by kind, and what a model is offered with each."""
    labels: dict[ToolsetKind, dict[str, None]] = {}
    for arm in summary.arms:
        if (spec := find_toolset(arm.toolset)) is not None:
            labels.setdefault(spec.kind, {})[arm.toolset_label] = None
    return [(", ".join(named), TOOLSETS[kind].about) for kind, named in labels.items() if TOOLSETS[kind].about]


def arm_columns(summary: RunSummary, comparison: Comparison | None, result: RunResult) -> ArmColumns:
    """Arms × all measures, with the finding on each arm where a comparison has one."""
    table = arms_table(summary).without(*_LEFT_OUT)
    pairs = _pairs(summary, comparison)
    columns, cells = list(table.columns), [list(row.cells) for row in table.rows]
    against = ""
    if comparison is not None and pairs:
        names = {pair_names(comparison, pair)[0] for pair in pairs.values()}
        against = names.pop() if len(names) == 1 else "the arm that each is compared with"
        columns[1:1] = [
            Column("difference", f"Less the share of {against}, in percentage points."),
            Column("finding", "What the difference shows, at 95%.", is_text=True),
        ]
        for place, (arm, row) in enumerate(zip(summary.arms, cells, strict=True)):
            row[1:1] = _finding(arm, pairs.get(place), comparison)
    has_costs = any(arm.cost_usd for arm in summary.arms)
    wanted = ["accuracy", OF_ASKED.name, "difference", "finding", "prompt tokens"]
    wanted += ["cost per trial", "coverage", "latency median"] if has_costs else ["coverage", "latency median"]
    names_of = [column.name for column in columns]
    shown = [names_of.index(name) for name in wanted if name in names_of][:_AT_FIRST]
    has_models = len({arm.model for arm in summary.arms}) > 1
    rows = tuple(
        Row(
            row.label,
            tuple(own),
            row.group if has_models else "",
            ("the one to take",) if _is_taken(arm, result) else (),
        )
        for arm, row, own in zip(summary.arms, table.rows, cells, strict=True)
    )
    table = table._replace(columns=tuple(columns), rows=rows, is_numbered=False)
    return ArmColumns(table, frozenset(shown), against)


def _pairs(summary: RunSummary, comparison: Comparison | None) -> dict[int, ArmComparison]:
    """The pair that each arm of the run is the new one of, by its position."""
    if comparison is None or not comparison.is_comparable or comparison.new.name != summary.run:
        return {}
    by_key = {pair.new.key: pair for pair in comparison.pairs}
    keys = [(arm.model, arm.toolset, arm.variant) for arm in summary.arms]
    return {place: by_key[key] for place, key in enumerate(keys) if key in by_key}


def _finding(arm: ArmSummary, pair: ArmComparison | None, comparison: Comparison) -> Sequence[Cell]:
    if pair is not None:
        difference = pair.main_contrast.difference
        points = NOTHING if difference is None else format_points(difference)
        return Span(points), find_badge(comparison, pair)
    if comparison.is_within and is_oracle(arm.toolset):
        return Span(NOTHING), Badge(describe_trade_off(TradeOff.ORIENTATION, comparison.margin), Tone.FAINT)
    key = arm.model, arm.toolset, arm.variant
    is_reference = comparison.is_within and any(pair.old.key == key for pair in comparison.pairs)
    return Span(NOTHING), Span("reference" if is_reference else "not compared", Tone.FAINT)


def _is_taken(arm: ArmSummary, result: RunResult) -> bool:
    return result.recommended is not None and arm is result.recommended
