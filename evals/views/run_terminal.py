"""A run on the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from toolbelt.evals.analysis.summary.run_summary import ArmSummary, RunSummary
from toolbelt.evals.views.figures import COLUMNS, arm_labels, epoch_lines, same_model, status_lines, uncovered_line
from toolbelt.render.numbers import format_interval, format_share
from toolbelt.text import plural, visible

_Row = tuple[Text, ArmSummary | None]
"""A label, and the arm it is of; `None` for the name of a model that several arms have."""
_GAP = 2
_INDENT = "  "
_LEAST_LABEL = 14
_HEADERS = {
    "accuracy": "accuracy\n(95% interval)",
    "selection given coverage": "selection\n| coverage",
    "hallucinated": "halluci-\nnated",
    "definition tokens": "defin.\ntokens",
    "prompt tokens": "prompt\ntokens",
    "invalidated tokens": "invalid.\ntokens",
    "requests": "re-\nquests",
    "cost per trial": "cost\n/trial",
    "latency median": "latency\nmedian",
    "latency p95": "latency\np95",
    "scored / planned": "scored/\nplanned",
}

_ELSEWHERE = ("95% interval", "abstained uncovered")
"""Columns that stand beside the accuracy, and below the table."""


def summary_view(summary: RunSummary, screen: Console) -> RenderableType:
    """What a run came to: arms × measures, the outcomes, and what to know before believing it.

    A screen too narrow for all columns gets them in several tables below each other; no number is ever cut.
    """
    rows = _rows(summary)
    parts: list[RenderableType] = [*_heading(summary), Text()]
    parts += [part for table in _tables(rows, screen.width) for part in (table, Text())]
    parts.append(_outcomes(rows, screen.width))
    if epochs := epoch_lines(summary):
        parts += [Text(), *(Text(visible(line)) for line in epochs)]
    if lines := [*status_lines(summary), *filter(None, [uncovered_line(summary)])]:
        parts += [Text(), *(Text(visible(line), "yellow" if line.startswith("This run is") else "") for line in lines)]
    return Group(*parts)


def _heading(summary: RunSummary) -> list[RenderableType]:
    what = f"{plural(summary.cases, 'case')} × {plural(len(summary.arms), 'arm')}"
    epochs = f" × {plural(summary.epochs, 'epoch')}" if summary.epochs > 1 else ""
    lines = [
        Text.assemble(("run ", "bright_black"), (visible(summary.run), "bold"), f"  {visible(summary.status)}"),
        Text(f"dataset {visible(summary.dataset)}, catalog {visible(summary.catalog)}: {what}{epochs}"),
    ]
    if (model := same_model(summary)) is not None and len(summary.arms) > 1:
        lines.append(Text(f"model {visible(model)}"))
    return [*lines]


def _rows(summary: RunSummary) -> list[_Row]:
    """The arms, under the names of their models where there are several and the arms of each stand together."""
    groups = [(model, list(arms)) for model, arms in groupby(summary.arms, key=lambda arm: arm.model)]
    if len(groups) == 1 or len(groups) > len({model for model, _ in groups}):
        return [(Text(visible(label)), arm) for label, arm in zip(arm_labels(summary), summary.arms, strict=True)]
    rows: list[_Row] = []
    for model, arms in groups:
        rows.append((Text(visible(model), "bold"), None))
        rows += [(Text(f"{_INDENT}{visible(arm.toolset_label)}"), arm) for arm in arms]
    return rows


def _shown(rows: Sequence[_Row]) -> list[str]:
    """Names of the columns: what changes of the tool list cost is shown where there were any."""
    changed = any(arm.invalidated_tokens for _, arm in rows if arm)
    return [name for name in COLUMNS if name not in _ELSEWHERE and (changed or name != "invalidated tokens")]


def _cells(arm: ArmSummary, shown: Sequence[str]) -> list[Text]:
    interval = format_interval(arm.accuracy.low, arm.accuracy.high)
    accuracy = Text.assemble((format_share(arm.accuracy.value), "bold"), f" {interval}" if interval else "")
    return [accuracy, *(Text(COLUMNS[name](arm)) for name in shown if name != "accuracy")]


def _tables(rows: Sequence[_Row], width: int) -> list[Table]:
    shown = _shown(rows)
    headers = [_HEADERS.get(name, name) for name in shown]
    cells = [(label, _cells(arm, shown) if arm else [Text()] * len(headers)) for label, arm in rows]
    widths = [
        max([*map(len, header.split("\n")), *(row[place].cell_len for _, row in cells)])
        for place, header in enumerate(headers)
    ]
    label_width = _label_width(rows, width, max(widths))
    blocks: list[list[int]] = [[]]
    used = label_width
    for place, wide in enumerate(widths):
        if blocks[-1] and used + _GAP + wide > width:
            blocks.append([])
            used = label_width
        blocks[-1].append(place)
        used += _GAP + wide
    tables = []
    for block in blocks:
        table = _table(label_width)
        for place in block:
            table.add_column(headers[place], justify="right", no_wrap=True, width=widths[place], vertical="bottom")
        for label, row in cells:
            table.add_row(label, *(row[place] for place in block))
        tables.append(table)
    return tables


def _outcomes(rows: Sequence[_Row], width: int) -> Table:
    """How many trials ended how: what went wrong, arm by arm."""
    table = _table(_label_width(rows, width, 20))
    table.add_column("outcomes", overflow="fold")
    for label, arm in rows:
        counts = sorted(arm.outcomes.items(), key=lambda item: -item[1]) if arm else []
        shown = ", ".join(f"{count:,} {outcome}" for outcome, count in counts)
        table.add_row(label, Text(shown or ("nothing run yet" if arm else "")))
    return table


def _table(label_width: int) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="bold")
    table.add_column("arm", width=label_width, overflow="fold", vertical="top")
    return table


def _label_width(rows: Sequence[_Row], width: int, widest: int) -> int:
    """As wide as the longest name where there is room; a longer one is folded, as half a name may be another's."""
    longest = max((label.cell_len for label, _ in rows), default=0)
    room = max(_LEAST_LABEL, min(width // 3, width - _GAP - widest))
    return max(len("arm"), min(longest, room))
