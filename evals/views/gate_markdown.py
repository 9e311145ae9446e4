"""A gate's verdict as Markdown: the summary of a CI job, and a comment on a pull request."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

from toolbelt.evals.analysis.comparison.comparison import Comparison, Contrast, Measure
from toolbelt.evals.analysis.comparison.explanations import missing_and_surplus
from toolbelt.evals.analysis.comparison.flip_text import count_flips
from toolbelt.evals.analysis.comparison.number_format import format_bounds, format_change, format_level, format_points
from toolbelt.evals.analysis.comparison.paired_cases import is_right_by
from toolbelt.evals.analysis.comparison.reason_text import describe_differences
from toolbelt.evals.analysis.evidence.evidence import ArmName, Attempt
from toolbelt.evals.analysis.gate.changed_tools import put_first
from toolbelt.evals.analysis.gate.gate_text import (
    describe_changed,
    describe_check_reason,
    describe_further,
    describe_lost,
)
from toolbelt.evals.analysis.gate.verdict import GateCheck, GateResult
from toolbelt.evals.statistics.verdict import Verdict
from toolbelt.evals.views.gate import describe_asked, next_step, short_labels
from toolbelt.render.markdown import render_markdown
from toolbelt.render.numbers import NOTHING, format_cost, format_number, format_share
from toolbelt.text import plural
from toolbelt.views.blocks import Block, Details, Heading, Line, Listing, Note
from toolbelt.views.cells import Span, Tone
from toolbelt.views.table import Column, Row, Table

_MARKS: Mapping[Verdict, str] = MappingProxyType(
    {Verdict.NO_REGRESSION: "✅", Verdict.REGRESSION: "❌", Verdict.INSUFFICIENT_DATA: "⚠️"}
)
_TITLES: Mapping[Verdict, str] = MappingProxyType(
    {
        Verdict.NO_REGRESSION: "no regression",
        Verdict.REGRESSION: "regression",
        Verdict.INSUFFICIENT_DATA: "insufficient data",
    }
)
_MOST_CHARACTERS = 60_000
"""A comment on GitHub holds 65,536; the rest is left for the user's own words."""
_MOST_FLIPS = 100
"""Flipped cases that are listed, over all arms."""
_CUT = "… and more, which does not fit here: `toolbelt eval gate` prints it."
_MOST_LOST = 10
_MOST_CHANGED = 10
_LONGEST = 80
"""Characters shown of a name or a list of names."""


def gate_title(result: GateResult) -> str:
    """The verdict as the title of a report; names are not escaped."""
    against = "" if result.comparison is None else f" against {result.comparison.old.name}"
    return f"{result.run.dataset}{against}: {_TITLES[result.verdict]}"


def gate_markdown(result: GateResult, *, most_flips: int = _MOST_FLIPS, most_characters: int = _MOST_CHARACTERS) -> str:
    """The verdict, the arms, what did not pass, and what flipped, folded.

    Args:
        result: Of the gate.
        most_flips: Cases shown of all arms together; the rest is counted.
        most_characters: Of the whole text. The end is cut if it does not fit, with a note.
    """
    return "\n\n".join(_fitting(_comment(result, most_flips), most_characters)) + "\n"


def _comment(result: GateResult, most_flips: int) -> Iterator[Block]:
    comparison = result.comparison
    against = "" if comparison is None else f", against {comparison.old.name}"
    yield Heading(f"{_MARKS[result.verdict]} Tool selection: {_TITLES[result.verdict]}", level=3)
    yield Note(f"Run {result.run.name}{against}: {describe_asked(result)}.")
    failing = [check for check in result.checks if check.verdict is not Verdict.NO_REGRESSION]
    # What was found first explains the rest; but a regression is what the reader has to act on.
    failing.sort(key=lambda check: check.verdict is not Verdict.REGRESSION)
    label = short_labels(result.checks)
    yield _listing(_line(check, label) for check in failing)
    lost = [
        f"{_MARKS[Verdict.INSUFFICIENT_DATA]} {label(each.arm)}: {describe_lost(replace(each, tool=_cut(each.tool)))}"
        for each in result.lost
    ]
    yield _listing(lost, _MOST_LOST)
    if result.changed:
        yield Line((Span(f"{plural(len(result.changed), 'tool')} changed:", Tone.STRONG),))
        yield _listing(
            [describe_changed(replace(tool, tool=_cut(tool.tool))) for tool in result.changed], _MOST_CHANGED
        )
    if comparison is not None and comparison.pairs:
        yield _arms(result, comparison)
    if further := describe_further(result):
        yield Note(f"{further[0].upper()}{further[1:]}.")
    if step := next_step(result):
        yield Note(step)
    if comparison is not None:
        yield from _flips(result, comparison, most_flips)
    passing = [check for check in result.checks if check.verdict is Verdict.NO_REGRESSION]
    lines = [_line(check, label) for check in passing]
    lines += [] if comparison is None else describe_differences(comparison)
    if lines:
        yield Details(f"{plural(len(passing), 'check')} passed", (_listing(lines),))


def _fitting(blocks: Iterable[Block], most: int) -> Iterator[str]:
    """The blocks that fit. A folded one is whole or left out, as it would never be closed; others are cut to lines."""
    chars_left, is_whole = most - len(_CUT) - 1, True
    for block in blocks:
        text = part = render_markdown((block,))
        if len(part) + 2 > chars_left:
            is_whole = False
            text = "" if isinstance(block, Details) else _first_lines(part, chars_left - 2)
        if text:
            chars_left -= len(text) + 2
            yield text
    if not is_whole:
        yield _CUT


def _first_lines(text: str, most: int) -> str:
    end = text.rfind("\n", 0, max(0, most) + 1)
    return text[:end] if end > 0 else ""


def _listing(lines: Iterable[str], most: int | None = None) -> Listing:
    """The first lines, and how many tools the others are about."""
    given = list(lines)
    more = 0 if most is None else max(0, len(given) - most)
    return Listing(tuple(map(Span, [*given[:most], *([f"… and {plural(more, 'more tool')}"] if more else [])])))


def _line(check: GateCheck, label: Callable[[ArmName], str]) -> str:
    arm = f", {label(check.arm)}" if check.arm else ""
    return f"{_MARKS[check.verdict]} {check.name}{arm}: {describe_check_reason(check)}"


def _arms(result: GateResult, comparison: Comparison) -> Table:
    measure = result.limits.measure
    label = short_labels(result.checks)
    has_cost = any(pair.contrast(Measure.COST_USD).new for pair in comparison.pairs)
    difference = f"difference, points ({format_level(comparison.level)})"
    names = (measure.value, difference, "flipped", "prompt tokens", *(["cost a case"] * has_cost))
    rows = tuple(
        Row(
            f"{_MARKS[_worst(result.checks, pair.new)]} {label(pair.new)}",
            (
                Span(_both(pair.contrast(measure), format_share)),
                Span(_difference(pair.contrast(measure), comparison.margin)),
                Span(count_flips(pair.flips, result.run.epochs_of(pair.new), pair.left_out) if pair.flips else NOTHING),
                Span(_amount(pair.contrast(Measure.PROMPT_TOKENS))),
                *([Span(_both(pair.contrast(Measure.COST_USD), format_cost))] * has_cost),
            ),
        )
        for pair in comparison.pairs
    )
    return Table("arm", tuple(Column(name) for name in names), rows)


def _worst(checks: tuple[GateCheck, ...], arm: ArmName) -> Verdict:
    verdicts = {check.verdict for check in checks if check.arm and check.arm.key == arm.key}
    order = (Verdict.REGRESSION, Verdict.INSUFFICIENT_DATA)
    return next((verdict for verdict in order if verdict in verdicts), Verdict.NO_REGRESSION)


def _both(contrast: Contrast, show: Callable[[float | None], str]) -> str:
    if contrast.old == contrast.new:
        return show(contrast.new)
    return f"{show(contrast.old)} → {show(contrast.new)}"


def _difference(contrast: Contrast, margin: float) -> str:
    if contrast.difference is None or contrast.low is None or contrast.high is None:
        return NOTHING
    return f"{format_points(contrast.difference)} ({format_bounds(contrast.low, contrast.high, margin)})"


def _amount(contrast: Contrast) -> str:
    if contrast.old == contrast.new or contrast.ratio is None:
        return _both(contrast, format_number)
    return f"{_both(contrast, format_number)} ({format_change(contrast.ratio)})"


def _flips(result: GateResult, comparison: Comparison, most: int) -> Iterator[Details]:
    measure = result.limits.measure
    tools = {tool.tool for tool in result.changed}
    changed = [pair for pair in comparison.pairs if pair.flips]
    columns = (Column("was", is_text=True), Column("is now", is_text=True))
    for pair in changed:
        most_rows = max(3, most // len(changed))
        rows = tuple(
            Row(
                f"{_MARKS[Verdict.REGRESSION if flip.change < 0 else Verdict.NO_REGRESSION]} {_cut(flip.case)}",
                (Span(_attempt_text(flip.old, measure)), Span(_attempt_text(flip.new, measure))),
            )
            for flip in put_first(pair.flips, tools)[:most_rows]
        )
        more = pair.flip_counts.total - most_rows
        note = (Note(f"… and {plural(more, 'more case')}."),) if more > 0 else ()
        yield Details(
            f"{pair.new.label}: {count_flips(pair.flips, result.run.epochs_of(pair.new), pair.left_out)}",
            (Table("case", columns, rows), *note),
        )


def _attempt_text(attempt: Attempt, measure: Measure) -> str:
    if is_right_by(measure, attempt):
        return "right"
    lacked, surplus = missing_and_surplus(attempt)
    called = surplus or attempt.called or attempt.surplus
    what = f": {', '.join(called)}" if called else ""
    missing = f", without {', '.join(lacked)}" if lacked else ""
    covered = "" if attempt.covered else ", out of reach"
    return f"{attempt.outcome.value}{_cut(what)}{_cut(missing)}{covered}"


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
