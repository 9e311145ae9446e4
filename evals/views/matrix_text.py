"""Texts and colours of the cells of models × toolsets, shared by terminal, Markdown, page and picture."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType

from toolbelt.evals.analysis.matrix.cell import Cell, CellState
from toolbelt.evals.analysis.matrix.matrix import Matrix, ModelRow, Pick, UnassignableToolsets
from toolbelt.evals.analysis.matrix.note_text import describe_cell
from toolbelt.evals.analysis.matrix.pick_text import describe_pick, format_accuracy
from toolbelt.evals.running.top_up import times_epochs
from toolbelt.evals.toolsets.spec import ToolsetKind, is_oracle
from toolbelt.loadouts.fit import FitVerdict
from toolbelt.render.numbers import format_share
from toolbelt.text import plural

STEPS = 20
"""Steps between 0 and 1, each 5 points."""
_POINTS = ((0.9727, -0.0055, 0.0325), (0.6562, -0.0752, -0.0591), (0.3169, -0.0184, -0.1030))
"""Pale yellow, teal and navy in OKLab (Ottosson 2020), at equal distances, with straight lines between them. The steps
look equal and the lightness falls throughout, so that grey keeps the order.
"""


def heat_step(share: float) -> int:
    """The step of the scale, 0 to `STEPS`; the two ends are for exactly 0 and exactly 1.

    Args:
        share: A fraction in 0..1.
    """
    if share in (0, 1):
        return round(share) * STEPS
    return min(STEPS - 1, max(1, round(share * STEPS)))


def heat_colour(step: int) -> str:
    """The colour of a step, as `#rrggbb`."""
    part = min(len(_POINTS) - 2, int(place := step / STEPS * (len(_POINTS) - 1)))
    lightness, a, b = (x + (y - x) * (place - part) for x, y in zip(_POINTS[part], _POINTS[part + 1], strict=True))
    long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    middle = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3
    linear = (
        4.0767416621 * long - 3.3077115913 * middle + 0.2309699292 * short,
        -1.2684380046 * long + 2.6097574011 * middle - 0.3413193965 * short,
        -0.0041960863 * long - 0.7034186147 * middle + 1.7076147010 * short,
    )
    return "#" + "".join(f"{round(255 * _encoded(part)):02x}" for part in linear)


def ink_on(colour: str) -> str:
    """Black or white, whichever has more contrast: at least 4.5 to 1 on any background.

    Args:
        colour: Of the ground, as `#rrggbb`.
    """
    red, green, blue = (_decoded(int(colour[at : at + 2], 16) / 255) for at in (1, 3, 5))
    luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    return "#000000" if (luminance + 0.05) ** 2 > 0.05 * 1.05 else "#ffffff"


def _encoded(linear: float) -> float:
    held = min(1.0, max(0.0, linear))
    return 12.92 * held if held <= 0.0031308 else 1.055 * held ** (1 / 2.4) - 0.055


def _decoded(encoded: float) -> float:
    return encoded / 12.92 if encoded <= 0.04045 else ((encoded + 0.055) / 1.055) ** 2.4


PICTURE = "compatibility"
"""Name of the heat map's files."""
NOT_RUN = "not run"
"""The text of a pair that the run does not have."""
NO_WINDOW = "window unknown"
"""The text of `loadout:auto` that could not choose, as the limit to choose by is unknown."""


class OverflowKind(StrEnum):
    """Why trials did not fit the model: their length, or more tools than a request may hold."""

    TOO_LONG = "too long"
    TOO_MANY = "too many"


OVERFLOW_MEANINGS: Mapping[OverflowKind, str] = MappingProxyType(
    {
        OverflowKind.TOO_LONG: "trials that do not fit into the model's context window, and count as not right",
        OverflowKind.TOO_MANY: "trials that hold more tools than a request may, and count as not right",
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
"""The texts of the states without accuracy; none of them is a score of 0."""


@dataclass(frozen=True, slots=True)
class HeatCell:
    """What a cell shows of a model with a toolset.

    Attributes:
        text: The accuracy, or words that say why there is none.
        step: Of its colour; `None` where there is no accuracy, which has no colour.
        overflow: The share of its trials that were too long, or held too many tools: `12% too long`, `12% too many`;
            empty where none was.
        overflow_kind: Which of the two; `None` where none was.
        is_chosen: Whether this toolset is recommended for the model, and surely.
        is_unsure: Whether it is recommended as measured, without being sure.
        is_best: Whether it has the model's highest accuracy.
    """

    text: str
    step: int | None = None
    overflow: str = ""
    overflow_kind: OverflowKind | None = None
    is_chosen: bool = False
    is_unsure: bool = False
    is_best: bool = False


def heat_cell(row: ModelRow, cell: Cell | None) -> HeatCell:
    """A cell of a row."""
    if cell is None:
        return HeatCell(NOT_RUN)
    share = cell.right_of_asked.value
    if cell.state is CellState.NO_CHOICE and cell.verdict is FitVerdict.UNKNOWN:
        return HeatCell(NO_WINDOW)
    if cell.state in STATE_WORDS or share is None:
        return HeatCell(STATE_WORDS.get(cell.state, STATE_WORDS[CellState.UNSCORED]))
    kind = overflow_kind(cell) if cell.state is CellState.PARTLY else None
    return HeatCell(
        format_share(share),
        heat_step(share),
        f"{_whole_percent(cell.overflowed, cell.planned)} {kind}" if kind else "",
        kind,
        is_chosen=row.pick.sure and _is(cell, row.pick.choice),
        is_unsure=not row.pick.sure and _is(cell, row.pick.choice),
        is_best=_is(cell, row.pick.best),
    )


def choice_meaning(matrix: Matrix) -> str:
    """The meaning of a recommended toolset that is surely good enough, in words."""
    return f"the smallest that is surely not worse than the best by more than {100 * matrix.margin:g} points"


def best_meaning(matrix: Matrix) -> str:
    """The meaning of "best", in words."""
    named = ", of those that toolbelt.yaml can name" if exception(matrix) else ""
    return f"best: the model's most accurate as measured{named}"


def exception(matrix: Matrix) -> str:
    """What `toolbelt.yaml` cannot name although it may be the best, to stand after "for toolbelt.yaml"; often empty."""
    by_case = [name for note in matrix.notes if isinstance(note, UnassignableToolsets) for name in note.toolsets]
    by_role = [name for name in by_case if not is_oracle(name)]
    depends = "depends on the role" if by_role == [ToolsetKind.LOADOUT] else "depend on the case"
    return f", without {', '.join(by_role)}, which {depends}" if by_role else ""


def overflow_kind(cell: Cell) -> OverflowKind:
    """Why trials of a cell did not fit."""
    return OverflowKind.TOO_MANY if cell.too_many_tools else OverflowKind.TOO_LONG


SMALL_MEANING = "the fewest tokens of definitions over all requests of a trial"
"""The meaning of "smallest"; shown wherever a toolset is called the smallest."""
UNSURE_MEANING = "the best as measured, though another may be better"
"""The meaning of a recommended toolset that is not surely good enough."""


def _is(cell: Cell, arm: int | None) -> bool:
    return arm is not None and cell.arm == arm


def _whole_percent(part: int, whole: int) -> str:
    """`12%`; never 0% or 100% where it is neither."""
    if not 0 < part < whole:
        return f"{100 * part // whole if whole else 0}%"
    share = 100 * part / whole
    return "<1%" if share < 1 else ">99%" if share > 99 else f"{share:.0f}%"


_NUMBERS = re.compile(r"\d+(?:,\d{3})*")


def grid(matrix: Matrix) -> list[list[HeatCell]]:
    """One row for each model, one column for each toolset."""
    return [[heat_cell(row, cell) for cell in row.cells] for row in matrix.rows]


CHOSEN, UNSURE, BEST = "chosen", "unsure", "best"
"""The word beside a cell's figure."""


def cell_word(cell: HeatCell) -> str:
    """Whether a toolset is the recommended one, surely or not, or else the best; empty where it is neither."""
    return CHOSEN if cell.is_chosen else UNSURE if cell.is_unsure else BEST if cell.is_best else ""


def title_line(matrix: Matrix) -> str:
    """Dataset, catalog and size of the matrix."""
    size = f"{plural(len(matrix.rows), 'model')} × {plural(len(matrix.toolsets), 'toolset')}"
    epochs = times_epochs(matrix.epochs, matrix.arm_epochs)
    return f"dataset {matrix.dataset}, catalog {matrix.catalog}: {plural(matrix.cases, 'case')}{epochs}, {size}"


def legend_lines(matrix: Matrix) -> Iterator[str]:
    """The meanings of the words that occur."""
    cells = [cell for row in grid(matrix) for cell in row]
    words = {cell_word(cell) for cell in cells}
    if any(cell.step is not None for cell in cells):
        yield "Figures are shares of trials that are right by names; those too long for the model are not right."
    if CHOSEN in words:
        yield f"{CHOSEN}: for toolbelt.yaml, {choice_meaning(matrix)}"
        yield f"small: {SMALL_MEANING}"
    if UNSURE in words:
        yield f"{UNSURE}: for toolbelt.yaml, but not sure: {UNSURE_MEANING}"
    if BEST in words:
        yield f"{BEST}: the most accurate as measured, of those that a model can be given, where another is chosen"
    kinds = {cell.overflow_kind for cell in cells}
    if OverflowKind.TOO_LONG in kinds:
        yield "too long: of its trials, that did not fit the model"
    if OverflowKind.TOO_MANY in kinds:
        yield "too many: of its trials, that held more tools than a request may"


def pick_reasons(row: ModelRow) -> str:
    """All reasons for a model's recommended toolset."""
    return " ".join(describe_pick(row.pick)) or "nothing is known."


def pick_summary(row: ModelRow, matrix: Matrix) -> str:
    """The same in a line or two: the recommended toolset and how good it is, or why there is none."""
    which = "the best that toolbelt.yaml can name" if exception(matrix) else "the best"
    pick, usable = row.pick, row.usable
    labels = {cell.arm: cell.toolset for cell in row.cells if cell is not None and cell.arm is not None}
    if usable is not pick and usable.choice is not None and labels[usable.choice] == ToolsetKind.LOADOUT:
        plain = pick_summary(replace(row, by_role=None), matrix)
        return f"{_describe_choice(row, usable, 'the best')} Serve each role its own. For toolbelt.yaml: {plain}"
    return _describe_choice(row, pick, which)


def _describe_choice(row: ModelRow, pick: Pick, which: str) -> str:
    """A choice of a model with its figures; `which` says what its best is the best of."""
    if pick.choice is None:
        return f"nothing. {next(iter(describe_pick(pick)), 'Nothing is known.')}"
    rates = {cell.arm: cell for cell in row.cells if cell is not None and cell.arm is not None}
    chosen, best = rates[pick.choice], None if pick.best is None else rates[pick.best]
    summary = f"{pick.toolset}, {format_accuracy(chosen.right_of_asked)}"
    if best is None or best is chosen:
        summary += f", {which}" if pick.sure else f", {which} as measured"
    else:
        summary += f" against {format_accuracy(best.right_of_asked)} of {which}, {best.toolset}"
    if pick.sure:
        return f"{summary}; sure."
    more = f" with fewer than {_about(pick.cases_wanted):,} cases" if pick.cases_wanted is not None else ""
    return f"{summary}; not sure{more}."


def _about(cases: int) -> int:
    """A number rounded up to two significant digits, like all advice."""
    unit = int(10 ** max(0, len(str(cases)) - 2))
    return -(-cases // unit) * unit


def reason_lines(matrix: Matrix) -> list[str]:
    """Why cells are not scored, or only in part; the same reasons of one model stand together."""
    lines = []
    for row in matrix.rows:
        alike: dict[tuple[CellState, str], list[tuple[str, str]]] = {}
        for cell, shown in zip(row.cells, (heat_cell(row, each) for each in row.cells), strict=True):
            if cell is not None and (reason := describe_cell(cell)):
                score = "" if cell.state is CellState.SCORED or shown.overflow else f"{shown.text}: "
                # Of what was not even asked the words are our own, and differ by figures alone.
                is_own = not cell.errors and 0 < cell.turned_away == cell.overflowed
                key = _NUMBERS.sub("0", reason) if is_own else reason
                alike.setdefault((cell.state, key), []).append((cell.toolset, f"{score}{reason}"))
        for group in alike.values():
            names = ", ".join(toolset for toolset, _ in group)
            lines.append(f"{row.model} with {names}: {_in_one([why for _, why in group])}")
    return lines


def _in_one(sentences: Sequence[str]) -> str:
    """One sentence for sentences that differ only in their numbers, with ranges: `6,370 to 37,596 tokens`."""
    places = iter(zip(*(_NUMBERS.findall(sentence) for sentence in sentences), strict=True))

    def number_range(_: re.Match[str]) -> str:
        numbers = sorted(next(places), key=_size)
        return numbers[0] if numbers[0] == numbers[-1] else f"{numbers[0]} to {numbers[-1]}"

    return _NUMBERS.sub(number_range, sentences[0])


def _size(number: str) -> int:
    return int(number.replace(",", ""))


_BREAKS = re.compile(r"(?<=[:/])(?=.)|(?<= · )")
"""Characters after which a name may be broken."""
_WEAK_BREAKS = re.compile(r"(?<=[-_.])(?=.)")
"""The same, of a piece that is too long."""


def in_lines(name: str, most: int) -> list[str]:
    """A name broken as seldom as possible, into lines of about so many characters."""
    lines: list[str] = []
    pieces = [_WEAK_BREAKS.split(piece) if len(piece) > most else [piece] for piece in _BREAKS.split(name)]
    for piece in itertools.chain(*pieces):
        if lines and len(lines[-1] + piece.rstrip()) <= most:
            lines[-1] += piece
        else:
            lines.append(piece)
    return [line.rstrip() for line in lines]
