"""A gate's verdict as views: the verdict first, then why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from operator import attrgetter
from types import MappingProxyType

from toolbelt.evals.analysis.comparison.comparison import ArmComparison
from toolbelt.evals.analysis.comparison.flip_text import count_flips, describe_flip
from toolbelt.evals.analysis.comparison.reason_text import describe_differences
from toolbelt.evals.analysis.evidence.evidence import ArmName
from toolbelt.evals.analysis.gate.changed_tools import put_first
from toolbelt.evals.analysis.gate.gate_text import (
    describe_changed,
    describe_check_reason,
    describe_further,
    describe_lost,
)
from toolbelt.evals.analysis.gate.verdict import GateCheck, GateResult, LostTool
from toolbelt.evals.statistics.verdict import Verdict
from toolbelt.evals.views.result_text import describe_model
from toolbelt.text import plural
from toolbelt.views.blocks import Block, Heading, Line, Listing, Note
from toolbelt.views.cells import Badge, Span, Tone
from toolbelt.views.table import Column, Row, Table

MARKS: Mapping[Verdict, str] = MappingProxyType(
    {Verdict.NO_REGRESSION: "pass", Verdict.REGRESSION: "FAIL", Verdict.INSUFFICIENT_DATA: "unsure"}
)
"""The mark before a check."""
_TONES: Mapping[Verdict, Tone] = MappingProxyType(
    {Verdict.NO_REGRESSION: Tone.GOOD, Verdict.REGRESSION: Tone.BAD, Verdict.INSUFFICIENT_DATA: Tone.WARNING}
)
_MOST_FLIPS = 20
_MOST_LOST = 5
_MOST_CHANGED = 10


def gate_view(result: GateResult, *, details: bool = False) -> Iterator[Block]:
    """The verdict, what did not pass, the tools that changed, the cases that got worse, and the differences that are
    allowed.

    Args:
        result: What the gate says.
        details: Whether each check that passed has a line; else one line is for all of them.
    """
    against = "" if result.comparison is None else f" against {result.comparison.old.name}"
    about = f"run {result.run.name}{against}: {describe_asked(result)}"
    yield Line((Span(result.verdict.value, _TONES[result.verdict]), Span(f"  {about}")))
    folded = () if details else tuple(check for check in result.checks if check.verdict is Verdict.NO_REGRESSION)
    if shown := tuple(check for check in result.checks if check not in folded):
        yield _checks(shown)
    if folded:
        yield Note(_passing_line(folded))
    if result.changed:
        yield Heading(f"{plural(len(result.changed), 'tool')} changed", level=2)
        yield _listing([describe_changed(tool) for tool in result.changed], _MOST_CHANGED)
    for pair in result.comparison.pairs if result.comparison else ():
        if any(flip.change < 0 for flip in pair.flips):
            lost = [tool for tool in result.lost if tool.arm.key == pair.new.key]
            yield from _flips(pair, lost, result.run.epochs_of(pair.new), {tool.tool for tool in result.changed})
    if result.comparison and result.comparison.differences:
        yield Listing(tuple(Span(line, Tone.FAINT) for line in describe_differences(result.comparison)))
    if further := describe_further(result):
        yield Note(further, Tone.FAINT)
    if step := next_step(result):
        yield Note(step, Tone.FAINT)


def describe_asked(result: GateResult) -> str:
    """How many cases of which dataset, and of which models; the word-matching baseline says what it is."""
    models = dict.fromkeys(pair.new.model for pair in result.comparison.pairs) if result.comparison else {}
    named = f"; {', '.join(map(describe_model, models))}" if models else ""
    return f"{plural(result.run.cases, 'case')} of {result.run.dataset}{named}"


def next_step(result: GateResult) -> str:
    """What to do after a regression; empty after any other verdict."""
    if result.verdict is not Verdict.REGRESSION or result.comparison is None:
        return ""
    return (
        f"What an arm was offered and called: toolbelt eval show {result.run.name} --case ID. "
        "If the change is meant: toolbelt eval baseline save, and commit the file."
    )


def _checks(checks: tuple[GateCheck, ...]) -> Table:
    label = short_labels(checks)
    has_arms = any(check.arm for check in checks)
    columns = (Column("verdict", is_text=True), *((Column("arm", is_text=True),) if has_arms else ()))
    rows = tuple(
        Row(
            check.name,
            (
                Badge(MARKS[check.verdict], _TONES[check.verdict]),
                *((Span(label(check.arm) if check.arm else ""),) if has_arms else ()),
                Span(describe_check_reason(check)),
            ),
        )
        for check in checks
    )
    return Table("check", (*columns, Column("why", is_text=True)), rows)


def _listing(lines: Sequence[str], most: int) -> Listing:
    more = [f"… and {len(lines) - most:,} more; --json has all"] if len(lines) > most else []
    return Listing(tuple(map(Span, [*lines[:most], *more])))


def short_labels(checks: Sequence[GateCheck]) -> Callable[[ArmName], str]:
    """How arms are called in a gate of these checks: without the model where all have the same."""
    models = {check.arm.model for check in checks if check.arm}
    return attrgetter("toolset_label" if len(models) == 1 else "label")


def _passing_line(checks: tuple[GateCheck, ...]) -> str:
    counts = Counter(check.name for check in checks)
    names = ", ".join(f"{name} ×{count}" if count > 1 else name for name, count in counts.items())
    return f"{MARKS[Verdict.NO_REGRESSION]}  {plural(len(checks), 'check')}: {names}"


def _flips(pair: ArmComparison, lost: Sequence[LostTool], epochs: int, changed: Collection[str]) -> Iterator[Block]:
    worse = [flip for flip in put_first(pair.flips, changed) if flip.change < 0]
    yield Heading(f"{pair.new.label}: {count_flips(pair.flips, epochs, pair.left_out)}", level=2)
    if lost:
        yield Listing(tuple(Span(describe_lost(tool), Tone.WARNING) for tool in lost[:_MOST_LOST]))
    yield _listing([f"{flip.case}: {describe_flip(flip)}" for flip in worse], _MOST_FLIPS)
