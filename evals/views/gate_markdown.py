"""A gate's verdict as Markdown: the summary of a CI job, and a comment on a pull request."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from toolbelt.evals.analysis.comparison.comparison import Comparison, Contrast, Measure
from toolbelt.evals.analysis.comparison.explanations import missing_and_surplus
from toolbelt.evals.analysis.comparison.flip_text import count_flips
from toolbelt.evals.analysis.comparison.number_format import format_bounds, format_change, format_points
from toolbelt.evals.analysis.comparison.paired_cases import is_right_by
from toolbelt.evals.analysis.comparison.reason_text import describe_differences
from toolbelt.evals.analysis.evidence.evidence import Attempt
from toolbelt.evals.analysis.gate.changed_tools import put_first
from toolbelt.evals.analysis.gate.gate_text import describe_changed, describe_check_reason, describe_lost
from toolbelt.evals.analysis.gate.verdict import GateCheck, GateResult
from toolbelt.evals.statistics.verdict import Verdict
from toolbelt.evals.views.gate import short_labels
from toolbelt.render.markdown import escaped, escaped_html
from toolbelt.render.numbers import NOTHING, format_cost, format_number, format_share
from toolbelt.text import plural

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
    comparison = result.comparison
    against = "" if comparison is None else f", against {escaped(comparison.old.name)}"
    cases = plural(result.run.cases, "case")
    parts = [
        f"### {_MARKS[result.verdict]} Tool selection: {_TITLES[result.verdict]}",
        f"Run {escaped(result.run.name)}{against}: {cases} of {escaped(result.run.dataset)}.",
        _failing(result.checks),
        _lost(result),
        _changed(result),
    ]
    if comparison is not None and comparison.pairs:
        parts.append(_arms(result, comparison))
        parts += _flips(result, comparison, most_flips)
    parts.append(_passing(result))
    return "\n\n".join(_fitting([part for part in parts if part], most_characters)) + "\n"


class _Folded(str):
    """A part of the Markdown that can be unfolded; cut in the middle, it would never be closed."""

    __slots__ = ()


def _fitting(parts: Sequence[str], most: int) -> Iterator[str]:
    """The parts that fit. A folded part is whole or left out; other parts are cut to the lines that fit."""
    chars_left, is_whole = most - len(_CUT) - 1, True
    for part in parts:
        text = part
        if len(part) + 2 > chars_left:
            is_whole = False
            text = "" if isinstance(part, _Folded) else _first_lines(part, chars_left - 2)
        if text:
            chars_left -= len(text) + 2
            yield text
    if not is_whole:
        yield _CUT


def _first_lines(text: str, most: int) -> str:
    end = text.rfind("\n", 0, max(0, most) + 1)
    return text[:end] if end > 0 else ""


def _failing(checks: tuple[GateCheck, ...]) -> str:
    labels = short_labels(checks)
    failing = [check for check in checks if check.verdict is not Verdict.NO_REGRESSION]
    # What was found first explains the rest; but a regression is what the reader has to act on.
    failing.sort(key=lambda check: check.verdict is not Verdict.REGRESSION)
    return "\n".join(f"- {_line(check, labels)}" for check in failing)


def _lost(result: GateResult) -> str:
    labels = short_labels(result.checks)
    lines = [
        f"- {_MARKS[Verdict.INSUFFICIENT_DATA]} {escaped(labels.get(lost.arm, lost.arm))}: "
        f"{escaped(describe_lost(replace(lost, tool=_cut(lost.tool))))}"
        for lost in result.lost[:_MOST_LOST]
    ]
    if len(result.lost) > _MOST_LOST:
        lines.append(f"- … and {plural(len(result.lost) - _MOST_LOST, 'more tool')}")
    return "\n".join(lines)


def _changed(result: GateResult) -> str:
    """The tools that changed, those with cases that flipped first; long lists are cut."""
    if not result.changed:
        return ""
    lines = [f"- {escaped(describe_changed(replace(tool, tool=_cut(tool.tool))))}" for tool in result.changed]
    more = len(lines) - _MOST_CHANGED
    lines = [*lines[:_MOST_CHANGED], *([f"- … and {plural(more, 'more tool')}"] if more > 0 else [])]
    return "\n".join([f"**{plural(len(result.changed), 'tool')} changed:**", "", *lines])


def _passing(result: GateResult) -> str:
    labels = short_labels(result.checks)
    passing = [check for check in result.checks if check.verdict is Verdict.NO_REGRESSION]
    lines = [f"- {_line(check, labels)}" for check in passing]
    if result.comparison is not None:
        lines += [f"- {escaped(line)}" for line in describe_differences(result.comparison)]
    return _folded(f"{plural(len(passing), 'check')} passed", "\n".join(lines)) if lines else ""


def _line(check: GateCheck, labels: Mapping[str, str]) -> str:
    arm = f" {escaped(labels[check.arm])}:" if check.arm else ":"
    return f"{_MARKS[check.verdict]} **{check.name}**{arm} {escaped(describe_check_reason(check))}"


def _arms(result: GateResult, comparison: Comparison) -> str:
    measure = result.limits.measure
    labels = short_labels(result.checks)
    verdicts = {pair.new.label: _worst(result.checks, pair.new.label) for pair in comparison.pairs}
    has_cost = any(pair.contrast(Measure.COST_USD).new for pair in comparison.pairs)
    headers = ["arm", measure.value, "difference, points (95%)", "flipped", "prompt tokens"]
    rows = [
        [
            f"{_MARKS[verdicts[pair.new.label]]} {escaped(labels.get(pair.new.label, pair.new.label))}",
            _both(pair.contrast(measure), format_share),
            _difference(pair.contrast(measure), comparison.margin),
            count_flips(pair.flips, result.run.epochs) if pair.flips else NOTHING,
            _amount(pair.contrast(Measure.PROMPT_TOKENS)),
            *([_both(pair.contrast(Measure.COST_USD), format_cost)] if has_cost else []),
        ]
        for pair in comparison.pairs
    ]
    return _table([*headers, *(["cost a case"] if has_cost else [])], rows)


def _worst(checks: tuple[GateCheck, ...], arm: str) -> Verdict:
    verdicts = {check.verdict for check in checks if check.arm == arm}
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


def _flips(result: GateResult, comparison: Comparison, most: int) -> Iterator[str]:
    measure, epochs = result.limits.measure, result.run.epochs
    tools = {tool.tool for tool in result.changed}
    changed = [pair for pair in comparison.pairs if pair.flips]
    for pair in changed:
        rows, most_rows = [], max(3, most // len(changed))
        for flip in put_first(pair.flips, tools)[:most_rows]:
            case = [escaped(_cut(flip.case)), _attempt_text(flip.old, measure), _attempt_text(flip.new, measure)]
            rows.append([_MARKS[Verdict.REGRESSION if flip.change < 0 else Verdict.NO_REGRESSION], *case])
        text = _table(["", "case", "was", "is now"], rows)
        if len(pair.flips) > most_rows:
            text += f"\n\n… and {plural(len(pair.flips) - most_rows, 'more case')}."
        yield _folded(f"{pair.new.label}: {count_flips(pair.flips, epochs)}", text)


def _attempt_text(attempt: Attempt, measure: Measure) -> str:
    if is_right_by(measure, attempt):
        return "right"
    lacked, surplus = missing_and_surplus(attempt)
    called = surplus or attempt.called or attempt.surplus
    what = f": {', '.join(called)}" if called else ""
    missing = f", without {', '.join(lacked)}" if lacked else ""
    covered = "" if attempt.covered else ", out of reach"
    return f"{attempt.outcome.value}{escaped(_cut(what))}{escaped(_cut(missing))}{covered}"


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _table(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [headers, ["---"] * len(headers), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _folded(title: str, text: str) -> _Folded:
    return _Folded(f"<details><summary>{escaped_html(title)}</summary>\n\n{text}\n\n</details>")
