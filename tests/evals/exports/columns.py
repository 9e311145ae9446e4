"""The columns of the tables as Markdown, which `docs/data.md` repeats to the letter."""

from __future__ import annotations

from collections.abc import Iterable

from toolbelt.evals.views.columns import AMOUNTS, BOUNDS, OUTCOMES, PASSING, RATES, TRIAL_COLUMNS

_HEAD = ("| column | type | unit | meaning |", "|---|---|---|---|")


def trial_columns() -> str:
    """The columns of trials, in their order."""
    return _table((name, column.type, column.unit, column.meaning) for name, column in TRIAL_COLUMNS.items())


def arm_columns() -> str:
    """The columns of arms: names and counts, shares and what is beside each, outcomes, and those by K."""
    bounds = [
        (f"SHARE_{part}", "Float64" if part in ("low", "high") else "int64", _UNITS[part], f"of each share: {meaning}")
        for part, meaning in BOUNDS.items()
    ]
    groups = (AMOUNTS, RATES, OUTCOMES, {f"{name}_K": column for name, column in PASSING.items()})
    rows = [[(name, column.type, column.unit, column.meaning) for name, column in group.items()] for group in groups]
    amounts, rates, outcomes, passing = rows
    return _table([*amounts, *rates, *bounds, *outcomes, *passing])


_UNITS = {"numerator": "trials or calls", "denominator": "trials or calls", "low": "share", "high": "share"}


def _table(rows: Iterable[tuple[str, str, str, str]]) -> str:
    lines = (f"| `{name}` | {type_} | {unit or '–'} | {meaning} |" for name, type_, unit, meaning in rows)
    return "\n".join([*_HEAD, *lines])
