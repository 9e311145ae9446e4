"""The arms of a run at a glance: accuracy, the finding against the reference, tokens and cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from toolbelt.evals.analysis.comparison.comparison import ArmComparison, Comparison, Contrast
from toolbelt.evals.analysis.comparison.number_format import format_margin, format_points
from toolbelt.evals.analysis.result import TradeOff, find_trade_off
from toolbelt.evals.analysis.summary.run_summary import ArmSummary, RunSummary
from toolbelt.evals.statistics.verdict import SIGNIFICANT, Verdict
from toolbelt.evals.toolsets.spec import is_oracle
from toolbelt.evals.views.arms import OF_ASKED, SCORED, proportion
from toolbelt.render.numbers import ESTIMATED, NOTHING, format_glance
from toolbelt.views.cells import Badge, Cell, Count, Dollars, Span, Tone
from toolbelt.views.table import Column, Row, Table

TRADE_OFFS = {
    TradeOff.MORE_ACCURATE: Badge("more accurate", Tone.GOOD),
    TradeOff.NOT_WORSE: Badge("not worse", Tone.GOOD),
    TradeOff.LESS_ACCURATE: Badge("less accurate", Tone.WARNING),
    TradeOff.UNREACHABLE: Badge("cannot reach", Tone.WARNING),
    TradeOff.TOO_LONG: Badge("too long", Tone.WARNING),
    TradeOff.UNDECIDED: Badge("undecided", Tone.PLAIN),
    TradeOff.ORIENTATION: Badge("orientation", Tone.FAINT),
}
"""As short as a narrow table takes; `glance_legend` says what they mean."""
_MEANINGS = {
    TradeOff.NOT_WORSE: "not worse: surely by no more than {margin} points",
    TradeOff.UNREACHABLE: "cannot reach: the answer, as its tools are not offered (coverage)",
    TradeOff.TOO_LONG: "too long: for the model's window, in cases that fit with the other",
    TradeOff.ORIENTATION: "orientation: an oracle knows the answer",
}


_HELD_BACK = "undecided, p: the interval is below 0, but p, adjusted over all verdicts, is not below 0.05"


def glance_table(summary: RunSummary, comparison: Comparison | None) -> Table:
    """Arms × a few columns, which fit 80 characters; what is the same for all arms is left out.

    Args:
        summary: Of the run.
        comparison: Of its own arms; any other counts as none.
    """
    pairs = _pairs(comparison)
    columns: list[tuple[Column, list[Cell]]] = [
        (
            Column(
                "accuracy", "Right tools called, by name, of the scored trials.", "accuracy\n(95% interval)",
                has_interval=True,
            ),
            [proportion(arm.accuracy) for arm in summary.arms],
        )
    ]  # fmt: skip
    if any(arm.too_long for arm in summary.arms):
        columns.append((OF_ASKED, [proportion(arm.right_of_asked) for arm in summary.arms]))
    if pairs:
        references = {pair.old.toolset_label for pair in pairs.values()}
        against = f"against {references.pop()}" if len(references) == 1 else "against reference"
        columns += [
            (
                Column(
                    "points",
                    f"Difference in what is right of all asked {against}, in percentage points.",
                    f"{_short(against)}\npoints",
                ),
                [_points(arm, pairs) for arm in summary.arms],
            ),
            (
                Column("finding", "What may be said of the difference.", is_text=True),
                [_finding(arm, pairs) for arm in summary.arms],
            ),
        ]
    columns.append(
        (
            Column("prompt tokens", "Whole prompts over all requests, a trial; ~ estimated.", "prompt\ntokens"),
            [_tokens(arm) for arm in summary.arms],
        )
    )
    columns += list(_varying(summary.arms))
    cells = list(zip(*(values for _, values in columns), strict=True))
    has_models = len(summary.arms) == 1 or len({arm.model for arm in summary.arms}) > 1
    rows = tuple(
        Row(arm.toolset_label, row, arm.model if has_models else "")
        for arm, row in zip(summary.arms, cells, strict=True)
    )
    return Table("arm", tuple(column for column, _ in columns), rows, "model", name="glance", caption="The arms")


def trade_off_badge(pair: ArmComparison) -> Badge:
    """The finding on two arms of one run; with the p value it goes by, where the interval alone says otherwise."""
    badge, contrast = TRADE_OFFS[find_trade_off(pair)], pair.main_contrast
    return badge._replace(word=f"{badge.word}{held_back(contrast)}")


def held_back(contrast: Contrast) -> str:
    """`, p 0.094` where the interval alone shows a loss, but not the p value adjusted over all verdicts, by which the
    verdict goes; else empty.
    """
    high, p = contrast.high, contrast.adjusted_p
    if contrast.verdict is not Verdict.INSUFFICIENT_DATA or high is None or high >= 0 or p is None or p < SIGNIFICANT:
        return ""
    return f", p {p:.2g}"


def describe_findings(comparison: Comparison | None) -> str:
    """What the words of the table mean; empty where they say it."""
    present = {find_trade_off(pair) for pair in _pairs(comparison).values()}
    margin = "" if comparison is None else format_margin(comparison.margin)
    meanings = [text.format(margin=margin) for trade_off, text in _MEANINGS.items() if trade_off in present]
    if any(held_back(pair.main_contrast) for pair in _pairs(comparison).values()):
        meanings.append(_HELD_BACK)
    return "; ".join(meanings)


def _pairs(comparison: Comparison | None) -> dict[tuple[str, str, str], ArmComparison]:
    if comparison is None or not comparison.is_within or not comparison.is_comparable:
        return {}
    return {pair.new.key: pair for pair in comparison.pairs}


_MOST_HEADING = 16


def _short(heading: str) -> str:
    return heading if len(heading) <= _MOST_HEADING else "against first"


def _key(arm: ArmSummary) -> tuple[str, str, str]:
    return arm.model, arm.toolset, arm.variant


def _points(arm: ArmSummary, pairs: dict[tuple[str, str, str], ArmComparison]) -> Cell:
    pair = pairs.get(_key(arm))
    difference = None if pair is None else pair.main_contrast.difference
    return Span(NOTHING if difference is None else format_points(difference))


def _finding(arm: ArmSummary, pairs: dict[tuple[str, str, str], ArmComparison]) -> Cell:
    pair = pairs.get(_key(arm))
    if pair is not None:
        return trade_off_badge(pair)
    if is_oracle(arm.toolset):
        return TRADE_OFFS[TradeOff.ORIENTATION]
    is_reference = any(_key(arm) == pair.old.key for pair in pairs.values())
    return Span("reference" if is_reference else "not compared", Tone.FAINT)


def _tokens(arm: ArmSummary) -> Cell:
    mark = "" if arm.prompt_tokens_reported or arm.prompt_tokens is None else ESTIMATED
    return Span(mark + format_glance(arm.prompt_tokens))


def _varying(arms: Sequence[ArmSummary]) -> Iterator[tuple[Column, list[Cell]]]:
    """Columns that are there only where they say something."""
    if any(arm.solved.numerator != arm.accuracy.numerator for arm in arms):
        yield (
            Column("solved", "Right tools called with right arguments, of the scored trials.", is_spare=True),
            [proportion(arm.solved) for arm in arms],
        )
    if any(arm.cost_usd for arm in arms):
        yield (
            Column("cost per trial", "In US dollars, retries included; mean.", "cost\n/trial"),
            [Dollars(arm.cost_usd) for arm in arms],
        )
    if any(arm.scored != arm.planned for arm in arms):
        yield (
            SCORED,
            [Count(arm.scored, arm.planned) for arm in arms],
        )
