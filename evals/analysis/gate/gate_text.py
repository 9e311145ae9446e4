"""The result of a gate, in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import assert_never

from toolbelt.evals.analysis.comparison.comparison import FitCounts, Measure, count_changes
from toolbelt.evals.analysis.comparison.comparison_text import count_fitting, describe_advice
from toolbelt.evals.analysis.comparison.flip_text import count_flips, describe_flips
from toolbelt.evals.analysis.comparison.number_format import format_bounds, format_change, format_margin, format_points
from toolbelt.evals.analysis.comparison.reason_text import describe_mismatch, describe_reason, name_arms
from toolbelt.evals.analysis.comparison.reasons import Reason
from toolbelt.evals.analysis.comparison.sample_size import cannot_pass
from toolbelt.evals.analysis.gate.changed_tools import ChangedTool, ToolChange
from toolbelt.evals.analysis.gate.check_reasons import (
    AmountChange,
    ArmReason,
    CheckedArms,
    DraftCases,
    FinishedTrials,
    LostCases,
    MinimumShare,
    NewOverflows,
    NotComparable,
    PlainReason,
    RunReason,
    SameSetup,
    SampleSize,
    ShareChange,
    UnfinishedBaseline,
    UnfinishedRun,
    UnfitBefore,
)
from toolbelt.evals.analysis.gate.recorded import MixedResponses, MixKind, RecordedUse
from toolbelt.evals.analysis.gate.verdict import GateCheck, GateResult, LostTool
from toolbelt.evals.statistics.verdict import Verdict
from toolbelt.text import plural

_MOST_ARMS = 3
"""Arms whose flips are in the summary line."""
_MOST_CASES = 3
"""Cases that are named; more of them are counted."""
_AMOUNTS = MappingProxyType({Measure.PROMPT_TOKENS: "prompt tokens", Measure.COST_USD: "costs"})
_PLAIN = MappingProxyType(
    {
        PlainReason.NO_DRAFTS: "no case is a draft",
        PlainReason.NO_TRIALS: "there is not a single trial to look at: ask cases, and name arms that the run has",
        PlainReason.MISSING_ARM: (
            "the baseline has this arm, the run lacks it: run it too, or save the baseline without it"
        ),
        PlainReason.ADDED_ARM: (
            "the baseline lacks this arm, so there is nothing to compare it with: save the baseline again"
        ),
    }
)


def summary_line(result: GateResult) -> str:
    """The verdict and the check that decided it, in one line: the first one, which explains the others."""
    against = "" if result.comparison is None else f" against {result.comparison.old.name}"
    head = f"{result.verdict.value}: run {result.run.name}{against}"
    deciding = [check for check in result.checks if check.verdict is result.verdict]
    if result.verdict is Verdict.NO_REGRESSION:
        return f"{head}: all {len(result.checks)} checks passed{_flipped(result)}"
    if not deciding:
        return f"{head}: there was nothing to check"
    more = f"; {len(deciding) - 1:,} more" if len(deciding) > 1 else ""
    return f"{head}: {describe_check(deciding[0])}{more}"


def describe_further(result: GateResult) -> str:
    """What was asked in addition, and what that saved; empty where nothing was to be."""
    further, top_up = result.further, result.run.top_up
    if further is None or top_up is None:
        return ""
    asked = ", ".join(f"{arm} ×{epochs}" for arm, epochs in top_up.asked.items())
    cost = f", ${further.cost_usd:,.4f}" if further.cost_usd else ""
    why = f"; stopped: {further.reason.rstrip('.')}" if further.reason else ""
    if further.reason and result.run.status == "finished":
        why += "; to go on: the same command, with a higher cap if that is what stopped it"
    elif further.reason:
        asked += ", the last of them not to its end"
    pairs = () if result.comparison is None else result.comparison.pairs
    if any(cannot_pass(pair.contrast(result.limits.measure), result.limits.margin) for pair in pairs):
        why += "; no further epoch could make it pass: it takes more cases, or a wider margin"
    trials = (
        f"{plural(further.trials, 'trial')}, {plural(further.requests, 'request')}" if further.trials else "nothing"
    )
    spared = f"; {top_up.epochs} epochs of every arm would have taken {further.spared:,} more" if further.spared else ""
    return f"asked in addition, where the verdict was open: {trials}{cost} (epochs: {asked}){spared}{why}"


def verdict_line(result: GateResult) -> str:
    """The verdict and the checks that made it, for below a table that gives their reasons."""
    deciding = dict.fromkeys(check.name for check in result.checks if check.verdict is result.verdict)
    if result.verdict is Verdict.NO_REGRESSION or not deciding:
        return summary_line(result)
    return f"{result.verdict.value}, for {', '.join(deciding)}"


def _flipped(result: GateResult) -> str:
    """What got worse although the run passes as a whole, and which arms fit now."""
    pairs = () if result.comparison is None else result.comparison.pairs
    fitting = [pair.new for pair in pairs if pair.unfit is not None and pair.unfit.now]
    fits = f"; newly fitting: {name_arms(fitting, _MOST_ARMS)}" if fitting else ""
    worse = [pair for pair in pairs if any(flip.change < 0 for flip in pair.flips)]
    flips = [
        f"; {pair.new.label}: {count_flips(pair.flips, result.run.epochs_of(pair.new), pair.left_out)}"
        for pair in worse[:_MOST_ARMS]
    ]
    more = f"; {plural(len(worse) - _MOST_ARMS, 'more arm')}" if len(worse) > _MOST_ARMS else ""
    return "".join(flips) + more + fits


def describe_check(check: GateCheck) -> str:
    """`accuracy: mine · tiered: 90.0% → 80.0%`."""
    return ": ".join(filter(None, (check.name, check.arm.label if check.arm else "", describe_check_reason(check))))


def describe_lost(lost: LostTool) -> str:
    """`no case of web/search is right any more; 3 were`."""
    return f"no case of {lost.tool} is right any more; {lost.cases:,} were"


_CHANGES: Mapping[ToolChange, str] = MappingProxyType(
    {
        ToolChange.DESCRIPTION: "its description changed",
        ToolChange.SCHEMA: "its schema changed",
        ToolChange.BOTH: "its description and schema changed",
        ToolChange.ADDED: "it is new",
        ToolChange.REMOVED: "it is gone",
    }
)


def describe_changed(tool: ChangedTool) -> str:
    """`git/log: its description changed; 3 cases with it got worse, 1 better`."""
    cases = f"{plural(tool.worse, 'case')} with it got worse, {tool.better:,} better"
    return f"{tool.tool}: {_CHANGES[tool.change]}; {cases if tool.worse or tool.better else 'no case with it flipped'}"


def describe_check_reason(check: GateCheck) -> str:
    """Why a check has its verdict, in one line with the figures; names in it are not made safe to show."""
    if isinstance(check.reason, RunReason):
        return _describe_run_reason(check.reason)
    return _describe_arm_reason(check.reason, check.verdict)


def _describe_run_reason(reason: RunReason) -> str:
    match reason:
        case PlainReason():
            return _PLAIN[reason]
        case NotComparable():
            return describe_mismatch(reason.mismatch, reason.old, reason.new)
        case SameSetup():
            cases = plural(reason.baseline.cases, "case")
            return f"{reason.baseline.name} is of the same {cases}, grading and settings"
        case DraftCases():
            return (
                f"{reason.drafts:,} of {plural(reason.cases, 'case')} of the {reason.role.value} are drafts that "
                "nobody has reviewed, and prove nothing: review them, remove their `draft`, and run again"
            )
        case UnfinishedBaseline():
            baseline = reason.baseline
            return f"{baseline.name}, which it is compared with, is {baseline.status}: not all of it is there"
        case UnfinishedRun():
            return _unfinished(reason)
        case FinishedTrials():
            return _finished(reason)
        case RecordedUse():
            return describe_recorded(reason)
        case CheckedArms():
            arms = "some of the arms alone"
            if reason.same is not None:
                arms = f"the same {plural(reason.same, 'arm')} as in the baseline"
            others = f"; {plural(reason.left_out, 'other')} excluded by --arm" if reason.left_out else ""
            return f"{arms}{others}"
        case _:
            assert_never(reason)


def describe_recorded(use: RecordedUse) -> str:
    """How many responses were reused and asked, with their digest, what changed, and why they should not be mixed."""
    first, last = use.oldest[:10], use.newest[:10]
    days = "" if not use.reused else f" of {first}" if first == last else f" of {first} to {last}"
    parts = [f"{plural(use.reused, 'recorded response')}{days}, {use.asked:,} asked by the run; digest {use.digest}"]
    if use.digest == use.baseline_digest:
        parts.append("the baseline has the same")
    elif use.baseline_digest:
        counts = f"{use.same:,} cases the same, {use.changed:,} changed, {use.added:,} added"
        parts.append(f"against the baseline's ({use.baseline_digest}): {counts}")
    if use.mixed:
        hint = "allowed" if use.is_allowed else "record all of them again, or allow it with --allow-mixed"
        parts += [*map(_describe_mixed, use.mixed), hint]
    return "; ".join(parts)


def _describe_mixed(mixed: MixedResponses) -> str:
    before, now = (", ".join(names) or "nothing" for names in (mixed.recorded, mixed.live))
    match mixed.kind:
        case MixKind.MODEL:
            return f"recorded responses of {mixed.model} are by {before}, live ones by {now}"
        case MixKind.FINGERPRINT:
            return f"recorded responses of {mixed.model} have the fingerprint {before}, live ones {now}"
        case MixKind.AGE:
            apart = f"{mixed.days:,.0f} days apart"
            return f"recorded responses of {mixed.model} are from {before} on, live ones up to {now}: {apart}"
        case _:
            assert_never(mixed.kind)


def _describe_arm_reason(reason: ArmReason, verdict: Verdict) -> str:
    match reason:
        case SampleSize():
            hint = "" if reason.clusters >= reason.wanted else ": ask more cases, or lower --min-sample-size"
            return f"{plural(reason.clusters, 'independent case')}, {reason.wanted:,} are wanted{hint}"
        case NewOverflows():
            count = len(reason.cases)
            no_longer = "case no longer fits" if count == 1 else "cases no longer fit"
            return f"{count:,} {no_longer} the model's window: {_name_cases(reason.cases)}"
        case FitCounts():
            return _fitting(reason)
        case UnfitBefore():
            return _unfit_before(reason)
        case ShareChange():
            return _share_change(reason)
        case LostCases():
            return _lost_cases(reason)
        case MinimumShare():
            return _minimum(reason, verdict)
        case AmountChange():
            return _amount_change(reason, verdict)
        case _:
            assert_never(reason)


def _unfinished(reason: UnfinishedRun) -> str:
    run, left = reason.run, reason.planned - reason.finished
    why = f" ({run.reason.rstrip('.')})" if run.reason else ""
    trials = (
        f": {left:,} of {plural(reason.planned, 'trial')} have not been run" if left > 0 else ", after its last trial"
    )
    # One that another process works on cannot be resumed, and need not.
    again = "eval import, with the answers that are missing" if run.is_imported else f"eval resume {run.name}"
    if run.top_up is not None:
        again = f"eval gate {run.name} --top-up, the same baseline, and a higher cap if that is what stopped it"
    hint = "wait for it to end" if run.status == "running" else f"go on with: toolbelt {again}"
    return f"the run is {run.status}{why}{trials}; {hint}"


def _finished(reason: FinishedTrials) -> str:
    trials = plural(reason.planned, "trial")
    if reason.errors:
        return (
            f"{reason.errors:,} of {trials} ended with an error and are unscored; what follows holds "
            "whatever their outcome, but for tokens and cost, which are of the others alone. "
            f"Again: toolbelt eval resume {reason.run} --retry-errors"
        )
    unscored = f"; {reason.overflows:,} did not fit the model's window and are unscored" if reason.overflows else ""
    return f"all of {trials} came to an end{unscored}"


def _name_cases(cases: tuple[str, ...]) -> str:
    more = f" and {len(cases) - _MOST_CASES:,} more" if len(cases) > _MOST_CASES else ""
    return f"{', '.join(cases[:_MOST_CASES])}{more}"


def _fitting(fit: FitCounts) -> str:
    if not fit.answered:
        fitted = plural(fit.before, "case")
        if fit.unrun:
            return _undecided((), f"of the {fitted} that fitted, {fit.unrun:,} have trials that have not been run")
        return _undecided((), f"none of the {fitted} that fitted was answered" if fit.before else "no case fitted")
    left = fit.before - fit.answered
    if not left:
        return "every case that fitted the model's window still does"
    return (
        f"of the {plural(fit.answered, 'case')} that were answered, none has outgrown the model's window; "
        f"{left:,} more that fitted it {'was' if left == 1 else 'were'} not"
    )


def _unfit_before(reason: UnfitBefore) -> str:
    if not reason.unfit.now:
        return "nothing fits, as before"  # what could not be asked then and cannot be asked now has not changed
    if reason.measure is None:
        return f"improved: {count_fitting(reason.unfit)}"
    if reason.measure.is_share:
        return "nothing fitted before, so nothing is lost"
    return f"nothing fitted before, so no {_AMOUNTS[reason.measure]} are there to have grown"


def _share_change(reason: ShareChange) -> str:
    contrast, margin = reason.contrast, reason.margin
    difference, low, high = contrast.difference, contrast.low, contrast.high
    if difference is None or low is None or high is None or contrast.old is None or contrast.new is None:
        return _undecided(contrast.reasons, "nothing was scored in both")
    shares = f"{contrast.old:.1%} → {contrast.new:.1%}, {format_points(difference)} points"
    over = f", over {contrast.cases:,} of {contrast.planned:,} cases" if contrast.cases < contrast.planned else ""
    parts = [
        f"{shares} ({format_bounds(low, high, margin)}{over}), margin {format_margin(margin)}",
        describe_flips(reason.flips, reason.epochs, reason.left_out),
    ]
    if contrast.is_same:
        parts.append("requests and answers are those of the baseline, so nothing is worse, however few the cases")
    elif contrast.verdict not in (Verdict.NO_REGRESSION, Verdict.REGRESSION):
        if reason.max_lost is not None:
            return "; ".join(filter(None, [*parts, "the interval leaves it open, and --max-lost decides"]))
        parts += map(_clause, contrast.reasons)
        if reason.is_run:
            parts += [describe_advice([contrast], margin), _other_ways(reason)]
    return "; ".join(filter(None, parts))


def _other_ways(reason: ShareChange) -> str:
    """What would decide without more cases; empty where answers are missing, which come first."""
    contrast = reason.contrast
    if contrast.unanswered:
        return ""
    lost = count_changes(reason.flips, reason.left_out).worse
    decides = f"without more cases: --max-lost {lost} passes as long as no {'other ' if lost else ''}case is lost"
    if not contrast.differing or cannot_pass(contrast, reason.margin):
        return decides
    return f"{decides}; or, if the model answers now one way, now another, a baseline of more epochs and --top-up"


def _lost_cases(reason: LostCases) -> str:
    lost = f"{plural(reason.lost, 'case')} lost, {reason.tolerated:,} may be"
    if not reason.in_doubt or reason.lost > reason.tolerated:
        return lost
    return f"{lost}; {reason.in_doubt:,} more were not scored in both"


def _minimum(reason: MinimumShare, verdict: Verdict) -> str:
    arm, share, least = reason.figures, reason.figures.share, reason.least
    if share is None:
        nothing = _undecided((), "nothing was scored")
        if 0 < arm.overflows == arm.finished:
            return f"{nothing}, as nothing fits the model's window; name with --arm those that must reach it"
        return nothing
    unscored = arm.planned - arm.scored - arm.overflows
    asked = f"{arm.scored + arm.overflows:,}"
    asked += f" asked, {arm.overflows:,} of them too long" if arm.overflows else ""
    figures = f"{share:.1%} of {asked} ({100 * arm.low:.1f} to {100 * arm.high:.1f}), {least:.1%} is the least"
    bounded = f"; {unscored:,} unscored may have gone either way" if unscored else ""
    is_unsure = verdict is Verdict.INSUFFICIENT_DATA
    return f"{figures}{bounded}{'; too few cases to tell which side of it the truth is' if is_unsure else ''}"


def _amount_change(reason: AmountChange, verdict: Verdict) -> str:
    contrast = reason.contrast
    old, new, words = contrast.old, contrast.new, _AMOUNTS[contrast.measure]
    if old is None or new is None:
        return _undecided(contrast.reasons, f"the {words} are not known for every case")
    amounts = f"{words} {_amount(old, contrast.measure)} → {_amount(new, contrast.measure)} a case"
    if not old:
        return f"{amounts}, where nothing was before" if new else amounts
    ratio, low, high = contrast.ratio, contrast.ratio_low, contrast.ratio_high
    if ratio is None or low is None or high is None:
        return f"{amounts}; {_undecided(contrast.reasons, 'there is no interval')}"
    interval = f"{format_change(low)} to {format_change(high)}"
    is_unsure = verdict is Verdict.INSUFFICIENT_DATA
    few = "; too few cases to tell" if is_unsure else ""
    return f"{amounts}, {format_change(ratio)} ({interval}), {100 * reason.tolerated:+.4g}% tolerated{few}"


def _amount(value: float, measure: Measure) -> str:
    return f"${value:.4g}" if measure is Measure.COST_USD else f"{value:,.0f}"


def _undecided(reasons: Iterable[Reason], otherwise: str) -> str:
    return f"cannot be decided: {'; '.join(map(_clause, reasons)) or otherwise}"


def _clause(reason: Reason) -> str:
    """A reason as part of another sentence."""
    sentence = describe_reason(reason)
    return f"{sentence[:1].lower()}{sentence[1:].rstrip('.')}"
