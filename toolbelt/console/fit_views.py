"""The picture of toolsets against models: a line a model, a column a toolset."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING

from rich.cells import cell_len, set_cell_size
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from toolbelt.console.inspection_view import VERDICT_TONES
from toolbelt.loadouts.fit import DEGRADED_SHARE, FitVerdict
from toolbelt.loadouts.fit_text import describe_fit
from toolbelt.models.rules import Effect, rule_name
from toolbelt.models.violation_text import describe_violation
from toolbelt.render.numbers import format_percent
from toolbelt.render.terminal import STYLES
from toolbelt.text import plural, visible

if TYPE_CHECKING:
    from toolbelt.loadouts.fit import ModelFit
    from toolbelt.models.fit import CandidateToolset
    from toolbelt.models.rules import Fact
    from toolbelt.models.violations import Violation

_SHARE = 6
_CELL = _SHARE + 2
_MOST_SHARE = 9.995
_MOST_DIGITS = 1_000
_WINDOW = 12
_LEAST_NAME = 16
_MOST_REASONS = 12
_MOST_HEADING = 18
_UNSURE = " ?"
_EFFECTS: Mapping[Effect, str] = {
    Effect.REFUSED: "refused",
    Effect.SOME_REFUSE: "refused by some models",
    Effect.IGNORED: "ignored",
}


@dataclass(frozen=True)
class FitMatrix:
    """Every toolset against every model.

    Attributes:
        catalog: Its name.
        toolsets: One a column.
        fits: A row a toolset, a column a model.
        violations: Rules that tools break, by the API whose rules they are.
        given: The number of the toolset that the project gives each model; `None` if it does not say, or none of these.
    """

    catalog: str
    toolsets: Sequence[CandidateToolset]
    fits: Sequence[Sequence[ModelFit]]
    violations: Sequence[tuple[str, Sequence[Violation]]]
    given: Sequence[int | None] = ()

    @property
    def by_model(self) -> list[tuple[ModelFit, ...]]:
        """A row for each model, a column for each toolset."""
        return list(zip(*self.fits, strict=True))


def largest_fitting(toolsets: Sequence[CandidateToolset], fits: Sequence[ModelFit]) -> int | None:
    """The number of the toolset with the most tools that fits a model; `None` if none does."""
    fitting = [number for number, fit in enumerate(fits) if fit.verdict is FitVerdict.FITS and fit.tools]
    return max(fitting, key=lambda number: len(toolsets[number].tools), default=None)


def fit_matrix_view(matrix: FitMatrix, screen: Console, *, show_all: bool) -> RenderableType:
    """The matrix, the reasons why something does not fit, and the violations to fix."""
    parts: list[RenderableType] = [*_toolset_lines(matrix), Text()]
    names = [_name(fits) for fits in matrix.by_model]
    longest = max(map(cell_len, names), default=0) + 2
    per_table = max(1, min(len(matrix.toolsets), (screen.width - min(longest, _LEAST_NAME)) // _CELL))
    for start in range(0, len(matrix.toolsets), per_table):
        parts += [*_table(matrix, range(len(matrix.toolsets))[start : start + per_table], longest, screen), Text()]
    parts += [Text(line, "bright_black") for line in _in_lines(_legend(matrix), screen.width)]
    parts += _reason_lines(matrix, show_all=show_all)
    parts += _violation_lines(matrix, show_all=show_all)
    return Group(*parts)


def _legend(matrix: FitMatrix) -> Iterator[str]:
    """The meanings of the marks that occur."""
    fits = [fit for fits in matrix.fits for fit in fits]
    verdicts = {fit.verdict for fit in fits}
    if any(_shows_share(fit) for fit in fits):
        yield "12% share of the window"
    if FitVerdict.FITS_DEGRADED in verdicts:
        yield f"~ over {DEGRADED_SHARE:.0%}"
    if any(fit.verdict is FitVerdict.REFUSES and not fit.surplus for fit in fits):
        yield "x no room"
    if (most := next((fit.max_tools for fit in fits if _shows_surplus(fit)), None)) is not None:
        yield f"x>{most:,} too many tools"
    if FitVerdict.UNSUPPORTED in verdicts:
        yield "- calls no tools"
    if FitVerdict.UNKNOWN in verdicts:
        yield "? unknown"
    if any(map(_is_unsure, matrix.by_model)):
        yield "model? may call no tools"
    if any(fit.to_mend for fit in fits):
        yield "! tools to mend"
    if any(largest_fitting(matrix.toolsets, fits) is not None for fits in matrix.by_model):
        yield "* largest that fits"
    if any(number is not None for number in matrix.given):
        yield "= what toolbelt.yaml gives it"


def _in_lines(parts: Iterable[str], width: int) -> list[str]:
    """`parts` side by side, each whole, in as many lines as that takes."""
    lines: list[str] = []
    for part in parts:
        if lines and len(lines[-1]) + 3 + len(part) <= width:
            lines[-1] += f"   {part}"
        else:
            lines.append(part)
    return lines


def _toolset_lines(matrix: FitMatrix) -> Iterator[Text]:
    yield Text.assemble(("Toolsets", "bold"), (f"  of catalog {visible(matrix.catalog)}", "bright_black"))
    width = min(max(cell_len(visible(toolset.name)) for toolset in matrix.toolsets), 40)
    for number, toolset in enumerate(matrix.toolsets, 1):
        name = set_cell_size(visible(toolset.name), width)
        line = Text(f"{number:>4}  {name}  {plural(len(toolset.tools), 'tool'):>12}")
        counts = [fit.tokens for fit in matrix.fits[number - 1]]
        if counts:
            few, many = min(counts), max(counts)
            line.append(f"  {few:,} tokens" if few == many else f"  {few:,} to {many:,} tokens", "bright_black")
        line.no_wrap, line.overflow = True, "ellipsis"
        yield line


def _table(matrix: FitMatrix, columns: range, longest: int, screen: Console) -> Iterator[Text]:
    left = screen.width - _CELL * len(columns)
    window = _WINDOW if left >= longest + _WINDOW else 0  # the window gives way, not a name
    name_width = max(min(longest, left - window), 1)
    headings = [visible(matrix.toolsets[number].name) for number in columns]
    spare = (left - window - name_width) // len(columns)
    widest = min(max(map(cell_len, headings)), _MOST_HEADING) + 1
    cell = _CELL + max(0, min(spare, widest - _CELL))
    share = cell - (_CELL - _SHARE)
    head = f"{'Model':<{name_width}}{'window':>{window}}" if window else f"{'Model':<{name_width}}"[:name_width]
    yield Text(head + "".join(f"{number + 1:>{share}}  " for number in columns).rstrip(), "bold")
    below = "".join(_heading(name, share, cell) for name in headings).rstrip()
    line = Text(" " * (name_width + window) + below, "bright_black")
    line.no_wrap, line.overflow = True, "crop"
    yield line
    for fits, given in zip_longest(matrix.by_model, matrix.given):
        largest = largest_fitting(matrix.toolsets, fits)
        line = Text(_fit_name(_name(fits), name_width))
        if window:
            size = fits[0].context_window
            line.append(f"{'unknown' if size is None else f'{size:,}':>{window}}", "bright_black")
        for number in columns:
            marks = ("!" if fits[number].to_mend else "") + ("*" if number == largest else "")
            shown = _cell(fits[number])
            shown = f"={shown}" if number == given and len(shown) < share else shown
            line.append(f"{shown:>{share}}{marks:<2}", STYLES[VERDICT_TONES[fits[number].verdict]])
        line.no_wrap, line.overflow = True, "crop"
        yield line


def _name(fits: Sequence[ModelFit]) -> str:
    """A model's name, marked where it may be that it calls no tools."""
    return f"{visible(fits[0].model)}{_UNSURE if _is_unsure(fits) else ''}"


def _is_unsure(fits: Sequence[ModelFit]) -> bool:
    # Where the window is unknown, too, the cells say enough.
    return any(fit.tool_calling is None and fit.verdict is not FitVerdict.UNKNOWN for fit in fits)


def _heading(name: str, share: int, cell: int) -> str:
    """`name` above the figures, to their right edge, or one further where that saves cutting it."""
    if cell_len(name) > cell - 1:
        name = f"{set_cell_size(name, cell - 2).rstrip()}…"
    return set_cell_size(" " * (share - cell_len(name)) + name, cell)


def _fit_name(name: str, width: int) -> str:
    """`name` cut in front, where models of one provider are alike."""
    while cell_len(name) > width - 1 and len(name) > 1:
        name = f"…{name[2:]}" if name.startswith("…") else f"…{name[1:]}"
    return set_cell_size(name, width)


def _shows_surplus(fit: ModelFit) -> bool:
    return bool(fit.surplus) and fit.verdict is not FitVerdict.UNSUPPORTED


def _shows_share(fit: ModelFit) -> bool:
    return fit.fraction is not None and not fit.surplus and fit.verdict is not FitVerdict.UNSUPPORTED


def _cell(fit: ModelFit) -> str:
    if fit.verdict is FitVerdict.UNSUPPORTED:
        return "-"
    if _shows_surplus(fit):
        return f"x>{_few_digits(fit.max_tools or 0)}"
    if fit.fraction is None:
        return "?"
    mark = {FitVerdict.REFUSES: "x", FitVerdict.FITS_DEGRADED: "~"}.get(fit.verdict, "")
    return (
        f"{mark}{format_percent(fit.fraction)}"
        if fit.fraction < _MOST_SHARE
        else f"{mark}{min(fit.fraction, 999):.0f}x"
    )


def _few_digits(number: int) -> str:
    """A number in four characters at most; there are no such limits above a thousand, but for one's own."""
    return str(number) if number < _MOST_DIGITS else f"{min(number // _MOST_DIGITS, _MOST_DIGITS - 1)}k"


def _reason_lines(matrix: FitMatrix, *, show_all: bool) -> list[RenderableType]:
    reasons = [
        (fit, toolset)
        for fits in matrix.by_model
        for toolset, fit in zip(matrix.toolsets, fits, strict=True)
        if fit.verdict not in (FitVerdict.FITS, FitVerdict.UNKNOWN)
    ]
    if not reasons:
        return []
    shown = reasons if show_all else reasons[:_MOST_REASONS]
    lines: list[RenderableType] = [Text(), Text("What does not fit", "bold")]
    for fit, toolset in shown:
        line = Text(f"{visible(fit.model)} with {visible(toolset.name)}: ")
        line.append(fit.verdict.value.replace("_", " "), STYLES[VERDICT_TONES[fit.verdict]])
        lines.append(_indented(line.append(f". {visible(describe_fit(fit)[0])}", "bright_black"), 2))
    if len(shown) < len(reasons):
        lines.append(Text(f"  … and {plural(len(reasons) - len(shown), 'more pair')} (--all)", "bright_black"))
    return lines


def _violation_lines(matrix: FitMatrix, *, show_all: bool) -> list[RenderableType]:
    lines: list[RenderableType] = []
    for api, violations in matrix.violations:
        tools = len({violation.tool for violation in violations})
        heading = (f"Rules of {visible(api)}", "bold")
        lines += [Text(), Text.assemble(heading, f"  broken by {plural(tools, 'tool')} as they are")]
        by_fact: dict[Fact, list[Violation]] = {}
        for violation in violations:
            by_fact.setdefault(violation.fact, []).append(violation)
        for fact, broken in by_fact.items():
            lines.append(_indented(_fact_line(fact, broken), 2))
            lines += [
                _indented(Text(visible(describe_violation(each))), 4) for each in (broken if show_all else broken[:1])
            ]
            if not show_all and len(broken) > 1:
                lines.append(Text(f"    … and {plural(len(broken) - 1, 'more tool')} (--all)", "bright_black"))
            source = fact.sources[0]
            lines.append(_indented(Text(f"{source.url} ({source.read.isoformat()})", "bright_black"), 4))
    return lines


def _fact_line(fact: Fact, broken: Sequence[Violation]) -> Text:
    line = Text(f"{rule_name(fact)}: ")
    if all(violation.is_mended for violation in broken):
        line.append("mended in what toolbelt sends", "green")
    else:
        line.append(_EFFECTS[fact.effect], "bold red" if fact.effect is Effect.REFUSED else "yellow")
    return line.append(f"; {fact.note}" if fact.note else "", "bright_black")


def _indented(line: Text, columns: int) -> Padding:
    return Padding(line, (0, 0, 0, columns))
