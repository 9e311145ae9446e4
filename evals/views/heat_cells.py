"""What a cell of a heat map says, in a picture and in a page alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from toolbelt.evals.analysis.matrix.matrix import Cell, CellState, Matrix, Row
from toolbelt.evals.views.figures import format_share
from toolbelt.evals.views.heat_scale import heat_step
from toolbelt.loadouts.fit import Verdict

PICTURE = "compatibility"
"""Name of the heat map's files."""
NOT_RUN = "not run"
"""Of a pair that the run does not have."""
NO_WINDOW = "window unknown"
"""Of `loadout:auto` that could not choose, as it did not know by what."""
TOO_LONG, TOO_MANY = "too long", "too many"
"""Of trials that did not fit the model for their length, or for more tools than a request may hold."""
OVERFLOW_MEANINGS: Mapping[str, str] = MappingProxyType(
    {
        TOO_LONG: "trials that do not fit into the model's context window, of which nothing was scored",
        TOO_MANY: "trials that hold more tools than a request may, of which nothing was scored",
    }
)
STATE_WORDS: Mapping[CellState, str] = MappingProxyType(
    {
        CellState.CANNOT_FIT: "cannot fit",
        CellState.UNSUPPORTED: "no tool calls",
        CellState.NO_CHOICE: "nothing fits",
        CellState.UNSCORED: "not scored",
    }
)
"""Of the states that have no accuracy; none of them is a score of 0."""


@dataclass(frozen=True, slots=True)
class HeatCell:
    """A model with a toolset, to show.

    Attributes:
        text: The accuracy, or words that say why there is none.
        step: Of its colour; `None` where there is no accuracy, which has no colour.
        overflow: The share of its trials that were too long, or held too many tools: `12% too long`, `12% too many`;
            empty where none was.
        is_chosen: Whether the model is to be given this toolset, and surely.
        is_unsure: Whether it is to be given as measured, without being sure.
        is_best: Whether it has the model's highest accuracy.
    """

    text: str
    step: int | None = None
    overflow: str = ""
    is_chosen: bool = False
    is_unsure: bool = False
    is_best: bool = False


def heat_cell(row: Row, cell: Cell | None) -> HeatCell:
    """A cell of a row."""
    if cell is None:
        return HeatCell(NOT_RUN)
    share = cell.accuracy.value
    if cell.state is CellState.NO_CHOICE and cell.verdict is Verdict.UNKNOWN:
        return HeatCell(NO_WINDOW)
    if cell.state in STATE_WORDS or share is None:
        return HeatCell(STATE_WORDS.get(cell.state, STATE_WORDS[CellState.UNSCORED]))
    return HeatCell(
        format_share(share),
        heat_step(share),
        f"{_whole_percent(cell.overflowed, cell.planned)} {overflow_word(cell)}"
        if cell.state is CellState.PARTLY
        else "",
        is_chosen=row.pick.sure and _is(cell, row.pick.choice),
        is_unsure=not row.pick.sure and _is(cell, row.pick.choice),
        is_best=_is(cell, row.pick.best),
    )


def choice_meaning(matrix: Matrix) -> str:
    """What a toolset is that is to be given, surely, in words."""
    return f"the smallest that is surely not worse than the best by more than {100 * matrix.margin:g} points"


def overflow_word(cell: Cell) -> str:
    """Why trials did not fit, in a cell."""
    return TOO_MANY if cell.too_many_tools else TOO_LONG


SMALL_MEANING = "the fewest tokens of definitions over all requests of a trial"
"""What makes a toolset small; said once wherever one is called the smallest."""
UNSURE_MEANING = "the best as measured, though another may be better"
"""What a toolset is that is to be given without being sure."""


def _is(cell: Cell, arm: int | None) -> bool:
    return arm is not None and cell.arm == arm


def _whole_percent(part: int, whole: int) -> str:
    """`12%`; never 0% or 100% where it is neither."""
    if not 0 < part < whole:
        return f"{100 * part // whole if whole else 0}%"
    share = 100 * part / whole
    return "<1%" if share < 1 else ">99%" if share > 99 else f"{share:.0f}%"
