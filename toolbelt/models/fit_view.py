"""Toolsets against models, as views: a line a model, a column a toolset."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING

from toolbelt.loadouts.fit import DEGRADED_SHARE, FitVerdict
from toolbelt.loadouts.fit_text import describe_fit
from toolbelt.loadouts.inspection_view import VERDICT_TONES
from toolbelt.models.rules import LITELLM_READ, NO_LOSS, Effect, rule_name
from toolbelt.models.violation_text import describe_violation
from toolbelt.text import plural
from toolbelt.views.blocks import Block, Details, Heading, Note
from toolbelt.views.cells import Badge, Count, Span, Tone
from toolbelt.views.table import Column, Row, Table

if TYPE_CHECKING:
    from toolbelt.loadouts.fit import ModelFit
    from toolbelt.models.fit import CandidateToolset
    from toolbelt.models.rules import Fact
    from toolbelt.models.violations import Violation

_MOST_SHARE = 9.995
_MOST_DIGITS = 1_000
_MOST_REASONS = 12
_HEADING_WIDTH = 14
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
        recommended: The number of the toolset that the project gives each model; `None` if it gives none of these.
    """

    catalog: str
    toolsets: Sequence[CandidateToolset]
    fits: Sequence[Sequence[ModelFit]]
    violations: Sequence[tuple[str, Sequence[Violation]]]
    recommended: Sequence[int | None] = ()

    @property
    def by_model(self) -> list[tuple[ModelFit, ...]]:
        """A row for each model, a column for each toolset."""
        return list(zip(*self.fits, strict=True))


def largest_fitting(toolsets: Sequence[CandidateToolset], fits: Sequence[ModelFit]) -> int | None:
    """The number of the toolset with the most tools that fits a model; `None` if none does."""
    fitting = [number for number, fit in enumerate(fits) if fit.verdict is FitVerdict.FITS and fit.tools]
    return max(fitting, key=lambda number: len(toolsets[number].tools), default=None)


def fit_matrix_view(matrix: FitMatrix, *, show_all: bool) -> tuple[Block, ...]:
    """The matrix, the reasons why something does not fit, and the violations to fix."""
    return (
        _toolsets_table(matrix),
        _models_table(matrix),
        Note("; ".join(_legend(matrix)), Tone.FAINT),
        *_reasons(matrix, show_all=show_all),
        *_violations(matrix, show_all=show_all),
    )


def _toolsets_table(matrix: FitMatrix) -> Table:
    rows = []
    for toolset, fits in zip(matrix.toolsets, matrix.fits, strict=True):
        few, many = min((fit.tokens for fit in fits), default=0), max((fit.tokens for fit in fits), default=0)
        tokens = Span(f"{few:,}" if few == many else f"{few:,} to {many:,}")
        rows.append(Row(toolset.name, (Count(len(toolset.tools)), tokens)))
    return Table(f"Toolset of catalog {matrix.catalog}", (Column("tools"), Column("tokens")), tuple(rows))


def _models_table(matrix: FitMatrix) -> Table:
    headings = (
        Column(each.name, short="\n".join(textwrap.wrap(each.name, _HEADING_WIDTH))) for each in matrix.toolsets
    )
    columns = (Column("window", is_spare=True), *headings)
    rows = []
    for fits, recommended in zip_longest(matrix.by_model, matrix.recommended):
        size, largest = fits[0].context_window, largest_fitting(matrix.toolsets, fits)
        window = Span("unknown" if size is None else f"{size:,}", Tone.FAINT)
        cells = (
            Span(
                "=" * (place == recommended) + "*" * (place == largest) + "!" * bool(fit.to_repair) + _shown(fit),
                VERDICT_TONES[fit.verdict],
            )
            for place, fit in enumerate(fits)
        )
        rows.append(Row(f"{fits[0].model}{' ?' if _is_unsure(fits) else ''}", (window, *cells)))
    return Table("Model", columns, tuple(rows))


def _legend(matrix: FitMatrix) -> Iterator[str]:
    """The meanings of the marks that occur."""
    fits = [fit for fits in matrix.fits for fit in fits]
    verdicts = {fit.verdict for fit in fits}
    if any(_shows_share(fit) for fit in fits):
        yield "12% share of the window"
    if FitVerdict.FITS_DEGRADED in verdicts:
        yield f"~ over {DEGRADED_SHARE:.0%}"
    if FitVerdict.MAY_NOT_FIT in verdicts:
        yield "± may not fit"
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
    if any(fit.to_repair for fit in fits):
        yield "! tools to repair"
    if any(largest_fitting(matrix.toolsets, fits) is not None for fits in matrix.by_model):
        yield "* largest that fits"
    if any(number is not None for number in matrix.recommended):
        yield "= what toolbelt.yaml gives it"


def _is_unsure(fits: Sequence[ModelFit]) -> bool:
    # Where the window is unknown, too, the cells say enough.
    return any(fit.tool_calling is None and fit.verdict is not FitVerdict.UNKNOWN for fit in fits)


def _shows_surplus(fit: ModelFit) -> bool:
    return bool(fit.surplus) and fit.verdict is not FitVerdict.UNSUPPORTED


def _shows_share(fit: ModelFit) -> bool:
    return fit.fraction is not None and not fit.surplus and fit.verdict is not FitVerdict.UNSUPPORTED


def _shown(fit: ModelFit) -> str:
    if fit.verdict is FitVerdict.UNSUPPORTED:
        return "-"
    if _shows_surplus(fit):
        return f"x>{_few_digits(fit.max_tools or 0)}"
    if fit.fraction is None:
        return "?"
    mark = {FitVerdict.REFUSES: "x", FitVerdict.FITS_DEGRADED: "~", FitVerdict.MAY_NOT_FIT: "±"}.get(fit.verdict, "")
    if fit.fraction >= _MOST_SHARE:
        return f"{mark}{min(fit.fraction, 999):.0f}x"
    return f"{mark}{fit.fraction:.1%}" if 0 < fit.fraction < 0.1 else f"{mark}{fit.fraction:.0%}"


def _few_digits(number: int) -> str:
    """A number in four characters at most; there are no such limits above a thousand, but for one's own."""
    return str(number) if number < _MOST_DIGITS else f"{min(number // _MOST_DIGITS, _MOST_DIGITS - 1)}k"


def _reasons(matrix: FitMatrix, *, show_all: bool) -> Iterator[Block]:
    reasons = [
        (fit, toolset)
        for fits in matrix.by_model
        for toolset, fit in zip(matrix.toolsets, fits, strict=True)
        if fit.verdict not in (FitVerdict.FITS, FitVerdict.UNKNOWN)
    ]
    if not reasons:
        return
    shown = reasons if show_all else reasons[:_MOST_REASONS]
    rows = tuple(
        Row(
            f"{fit.model} with {toolset.name}",
            (Badge(fit.verdict.value.replace("_", " "), VERDICT_TONES[fit.verdict]),),
            notes=describe_fit(fit)[:1],
        )
        for fit, toolset in shown
    )
    yield Table("What does not fit", (Column("", is_text=True),), rows)
    if len(shown) < len(reasons):
        yield Note(f"… and {plural(len(reasons) - len(shown), 'more pair')} (--all)", Tone.FAINT)


def _violations(matrix: FitMatrix, *, show_all: bool) -> Iterator[Block]:
    for api, violations in matrix.violations:
        tools = len({violation.tool for violation in violations})
        yield Heading(f"Rules of {api}", f"broken by {plural(tools, 'tool')} as they are", level=2)
        by_fact: dict[Fact, list[Violation]] = {}
        for violation in violations:
            by_fact.setdefault(violation.fact, []).append(violation)
        for fact, broken in by_fact.items():
            if fact.litellm == NO_LOSS and not show_all:
                continue
            shown = broken if show_all else broken[:1]
            blocks = [Note(describe_violation(each)) for each in shown]
            if len(shown) < len(broken):
                blocks.append(Note(f"… and {plural(len(broken) - 1, 'more tool')} (--all)", Tone.FAINT))
            if fact.litellm:
                blocks.append(Note(f"what the model sees: litellm {fact.litellm} ({', '.join(LITELLM_READ)})"))
            source = fact.sources[0]
            blocks.append(Note(f"{source.url} ({source.read.isoformat()})", Tone.FAINT))
            effect, tone = _describe_effect(fact, broken)
            yield Details(f"{rule_name(fact)}: {effect}", tuple(blocks), fact.note, tone)


def _describe_effect(fact: Fact, broken: Sequence[Violation]) -> tuple[str, Tone]:
    if fact.litellm:
        return "sent changed by litellm", Tone.GOOD if fact.litellm == NO_LOSS else Tone.WARNING
    if all(violation.is_repaired for violation in broken):
        return "repaired in what toolbelt sends", Tone.GOOD
    return _EFFECTS[fact.effect], Tone.BAD if fact.effect is Effect.REFUSED else Tone.WARNING
