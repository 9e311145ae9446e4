"""The text of a comparison, shared by the terminal and Markdown; foreign names are not escaped."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from toolbelt.evals.analysis.comparison.comparison import (
    LEVEL,
    ArmComparison,
    Comparison,
    Contrast,
    Flip,
    KindContrast,
    Measure,
)
from toolbelt.evals.analysis.comparison.comparison_text import describe_advice, short_label
from toolbelt.evals.analysis.comparison.number_format import (
    format_bounds,
    format_change,
    format_level,
    format_margin,
    format_points,
)
from toolbelt.evals.analysis.comparison.reason_text import describe_reason, name_arms
from toolbelt.evals.analysis.comparison.reasons import Reason
from toolbelt.evals.analysis.evidence.evidence import Attempt, SideInfo
from toolbelt.evals.analysis.summary.responses import join_origins
from toolbelt.evals.running.top_up import times_epochs
from toolbelt.evals.scoring.outcome import Outcome
from toolbelt.evals.statistics.verdict import Verdict
from toolbelt.evals.toolsets.spec import is_oracle
from toolbelt.evals.views.glance import TRADE_OFFS, describe_findings, held_back, trade_off_badge
from toolbelt.evals.views.recorded import describe_days
from toolbelt.render.numbers import NOTHING, format_cost, format_number, format_seconds, format_share
from toolbelt.text import plural
from toolbelt.views.cells import Badge, Tone

ARROW = "->"
_FORMATS: Mapping[Measure, tuple[str, Callable[[float | None], str]]] = MappingProxyType(
    {
        Measure.ACCURACY: ("accuracy", format_share),
        Measure.SOLVED: ("solved", format_share),
        Measure.DEFINITION_TOKENS: ("definition tokens", format_number),
        Measure.PROMPT_TOKENS: ("prompt tokens", format_number),
        Measure.REQUESTS: ("requests", format_number),
        Measure.COST_USD: ("cost", format_cost),
        Measure.LATENCY_SECONDS: ("latency", format_seconds),
    }
)
"""The name of a measure, and its format."""

_MOST_AGAINST = 6
"""The most reference arms that are named."""
VERDICTS: Mapping[Verdict, Badge] = MappingProxyType(
    {
        Verdict.REGRESSION: Badge("regression", Tone.BAD),
        Verdict.NO_REGRESSION: Badge("no regression", Tone.GOOD),
        Verdict.INSUFFICIENT_DATA: Badge("insufficient data", Tone.WARNING),
    }
)
_WITHIN: Mapping[Verdict, Badge] = MappingProxyType(
    {
        Verdict.REGRESSION: Badge("worse", Tone.WARNING),
        Verdict.NO_REGRESSION: Badge("not worse", Tone.GOOD),
        Verdict.INSUFFICIENT_DATA: Badge("undecided", Tone.PLAIN),
    }
)
"""Of arms of one run, of which none has regressed against another."""


_ORDER = tuple(badge.word for badge in (*VERDICTS.values(), *TRADE_OFFS.values()))
_OPEN = (VERDICTS[Verdict.INSUFFICIENT_DATA].word, _WITHIN[Verdict.INSUFFICIENT_DATA].word)
_MOST_NAMED = 3
"""The most arms of one finding that are named."""


def verdict_badge(contrast: Contrast, *, is_within: bool) -> Badge:
    """The verdict on a share; empty where there is none."""
    if contrast.verdict is None:
        return Badge("", Tone.PLAIN)
    if is_within and contrast.is_surely_more:
        return Badge("better", Tone.GOOD)
    badge = (_WITHIN if is_within else VERDICTS)[contrast.verdict]
    return badge._replace(word=f"{badge.word}{held_back(contrast)}")


def finding_badge(comparison: Comparison, pair: ArmComparison) -> Badge:
    """The verdict on two arms; those of one run are a trade-off. Empty where there is none."""
    if pair.verdict is None:
        return Badge("", Tone.PLAIN)
    if not comparison.is_within:
        return VERDICTS[pair.verdict]
    return trade_off_badge(pair)


def measure_name(measure: Measure) -> str:
    """A measure in words."""
    return _FORMATS[measure][0]


def format_difference(contrast: Contrast, margin: float, unit: str = " points") -> str:
    """`+1.7 points (-0.4 to +3.7)` of a share, `-56.0% (-56.4 to -55.6%)` of an amount."""
    bounds = ""
    if contrast.measure.is_share:
        if contrast.low is not None and contrast.high is not None:
            bounds = format_bounds(contrast.low, contrast.high, margin)
    elif contrast.ratio_low is not None and contrast.ratio_high is not None and not _is_unchanged(contrast):
        bounds = f"{format_change(contrast.ratio_low).removesuffix('%')} to {format_change(contrast.ratio_high)}"
    shown = format_alone(contrast, unit)
    return f"{shown} ({bounds})" if bounds and contrast.difference is not None else shown


def format_alone(contrast: Contrast, unit: str = "") -> str:
    """A difference without its interval: `+1.7` of a share, `-56.0%` of an amount."""
    if contrast.difference is None:
        return NOTHING
    if contrast.measure.is_share:
        return f"{format_points(contrast.difference)}{unit}"
    if _is_unchanged(contrast):
        return "none"
    if contrast.ratio is not None:
        return format_change(contrast.ratio)
    show = _FORMATS[contrast.measure][1]
    sign = "-" if contrast.difference < 0 else "+" if contrast.difference > 0 else ""
    return f"{sign}{show(abs(contrast.difference))}"


def _is_unchanged(contrast: Contrast) -> bool:
    return contrast.difference == 0 and (contrast.ratio is None or contrast.low == contrast.high)


def format_p(p_value: float | None) -> str:
    """`0.24`, `0.003`, `<0.001`."""
    if p_value is None:
        return NOTHING
    if p_value < 0.001:
        return "<0.001"
    # 0.0496 is not 0.05, which is a threshold.
    return f"{p_value:.3f}" if p_value < 0.1 else f"{p_value:.2f}"


def reason_lines(pair: ArmComparison) -> list[str]:
    """Why there is no better verdict or no figure. Reasons that the sentence on the first share gives are left out;
    where cases no longer fit the window, that sentence gives none.
    """
    main = Contrast(Measure.ACCURACY) if pair.newly_overflowing else pair.main_contrast
    measures: dict[Reason, list[str]] = {}
    for contrast in pair.contrasts:
        for reason in contrast.reasons:
            if reason not in main.reasons:
                measures.setdefault(reason, []).append(_FORMATS[contrast.measure][0])
    return [f"{', '.join(names)}: {describe_reason(reason)}" for reason, names in measures.items()]


def has_figures(pair: ArmComparison) -> bool:
    """Whether there is anything to put into a table."""
    return any(contrast.difference is not None for contrast in pair.contrasts)


# What is compared


def side_lines(comparison: Comparison) -> list[tuple[str, str]]:
    """The name of each side: after `run`, or `old` and `new`."""
    if comparison.is_within:
        about = comparison.old
        return [("baseline" if about.is_baseline else "run", f"{about.name}: {_of(about)}")]
    return [
        (name, f"{'baseline ' if about.is_baseline else 'run '}{about.name}: {_of(about)}")
        for name, about in (("old", comparison.old), ("new", comparison.new))
    ]


def _of(about: SideInfo) -> str:
    catalog = f", catalog {about.catalog}" if about.catalog else ""
    epochs = times_epochs(about.epochs, () if about.top_up is None else about.top_up.asked.values())
    begun = f", {about.created[:16].replace('T', ' ')} UTC" if about.created else ""
    return f"dataset {about.dataset}{catalog}, {plural(about.cases, 'case')}{epochs}{begun}{_recorded(about)}"


def _recorded(about: SideInfo) -> str:
    """How many of its responses come from a response cache, and of when; empty where none does."""
    recorded = join_origins(*(responses.recorded for responses in about.responses))
    if not recorded.responses:
        return ""
    every = recorded.responses + sum(responses.live.responses for responses in about.responses)
    count = f"{recorded.responses:,} of {plural(every, 'response')}"
    return f"; {count} recorded ({describe_days(recorded.oldest, recorded.newest)})"


def next_step(comparison: Comparison) -> str:
    """The command that goes on from here; empty where a side is a file of results, of which there is none."""
    new = comparison.new
    if new.is_baseline:
        return ""
    if comparison.is_within:
        return f"next: toolbelt eval recommend {shlex.quote(new.name)}"
    return f"next: toolbelt eval gate {shlex.quote(new.name)} --baseline {shlex.quote(comparison.old.name)}"


def pair_title(comparison: Comparison, pair: ArmComparison) -> str:
    """`loadout against full`; the name alone where the two differ only in their side."""
    old, new = (short_label(comparison, pair, is_new=is_new) for is_new in (False, True))
    return new if pair.old.key == pair.new.key and not comparison.is_within else f"{new} against {old}"


def against_line(comparison: Comparison) -> str:
    """The arm that each arm is compared with: one for all, one of its own model, or the same arm of the other side."""
    olds = {pair.old.key for pair in comparison.pairs}
    within = comparison.is_within
    if len(olds) == 1 and (within or any(pair.old.key != pair.new.key for pair in comparison.pairs)):
        of = "" if within else f" of {comparison.old.name}"
        return f"each arm against {short_label(comparison, comparison.pairs[0], is_new=False)}{of}"
    if has_own_bases(comparison):
        named = name_arms(list({pair.old.key: pair.old for pair in comparison.pairs}.values()), _MOST_AGAINST)
        return f"each arm against one of its own model: {named}"
    if within and all(pair.old.model != pair.new.model for pair in comparison.pairs):
        models = ", ".join(dict.fromkeys(pair.old.model for pair in comparison.pairs))
        return f"each arm against the same toolset of {models}"
    return f"each arm against the same of {comparison.old.name}"


def has_own_bases(comparison: Comparison) -> bool:
    """Whether arms of one run have different reference arms, each of its own model."""
    pairs = comparison.pairs
    is_several = len({pair.old.key for pair in pairs}) > 1
    # A run or a baseline may also be named twice, each arm compared with itself.
    is_own = all(pair.old.key != pair.new.key and pair.old.model == pair.new.model for pair in pairs)
    return comparison.is_within and is_several and is_own


def conclusion(comparison: Comparison) -> str:
    """`More accurate: loadout; undecided: dynamic; about 2,400 cases would decide.`, by the first share; many arms are
    counted. What nobody can take is left out, if there is anything else.
    """
    usable = [pair for pair in comparison.pairs if not (comparison.is_within and is_oracle(pair.new.toolset))]
    pairs = usable or comparison.pairs
    findings: dict[str, list[ArmComparison]] = {}
    for pair in pairs:
        if pair.verdict is not None:
            word = finding_badge(comparison, pair).word.removesuffix(held_back(pair.main_contrast))
            findings.setdefault(word, []).append(pair)
    # What is undecided stands last, before what would decide it.
    order = sorted((word for word in _ORDER if word in findings), key=lambda word: word in _OPEN)
    parts = [f"{word}: {_arms(comparison, findings[word])}" for word in order]
    # No number of cases helps an arm that no longer fits the window.
    unsure = [pair.main_contrast for pair in usable if not (pair.newly_overflowing or pair.unfit)]
    advice = describe_advice(unsure, comparison.margin, comparison.level)
    text = "; ".join(filter(None, (*parts, advice))) or "no verdict"
    return f"{text[0].upper()}{text[1:]}."


def _arms(comparison: Comparison, pairs: Sequence[ArmComparison]) -> str:
    if len(pairs) > _MOST_NAMED:
        return f"{len(pairs):,} arms"
    name = pair_title if has_own_bases(comparison) else short_label
    return ", ".join(name(comparison, pair) for pair in pairs)


def legend(comparison: Comparison) -> str:
    """How to read the figures."""
    findings = describe_findings(comparison)
    meanings = f" {findings[0].upper()}{findings[1:]}." if findings else ""
    verdicts = comparison.hypotheses
    holm = f"; p values are adjusted over {plural(verdicts, 'verdict')}" if verdicts > 1 else ""
    amounts = "" if comparison.level == LEVEL else f" ({format_level(LEVEL)} of amounts)"
    of = "of each arm less the one that it is compared with" if comparison.is_within else "new less old"
    over = "Means over the cases that both were scored on"
    if any(contrast.too_long for pair in comparison.pairs for contrast in pair.contrasts):
        over = (
            "Shares are of all asked, and what was too long for a model is not right; amounts are means over the cases "
            "that both were scored on"
        )
    return (
        f"{over}; differences are {of}, with "
        f"{format_level(comparison.level)} intervals{amounts}; {format_margin(comparison.margin)} points may be lost"
        f"{holm}.{meanings}"
    )


# What lies behind a difference


def contribution_line(pair: ArmComparison) -> str:
    """The contributions of coverage and selection to the difference; empty where there are no cases."""
    contribution = pair.contribution
    if contribution is None:
        return ""
    moved = [
        f"{plural(count, 'case')} newly {what}"
        for count, what in ((contribution.newly_uncovered, "uncovered"), (contribution.newly_covered, "covered"))
        if count
    ]
    return (
        f"To accuracy, coverage contributed {format_points(contribution.coverage)} points (a right answer could be "
        f"reached: {format_share(contribution.old_coverage)} {ARROW} {format_share(contribution.new_coverage)}), "
        f"selection {format_points(contribution.selection)} points (it was given, where it could be: "
        f"{format_share(contribution.old_selection)} {ARROW} {format_share(contribution.new_selection)})"
        f"{'; ' if moved else ''}{', '.join(moved)}."
    )


def flips_line(pair: ArmComparison) -> str:
    """`600 cases: 12 better, 9 worse, 579 alike.`; empty where there are no cases."""
    cases = pair.main_contrast.cases
    if not cases:
        return ""
    better, worse = describe_flip_counts(pair)
    return f"{plural(cases, 'case')}: {better:,} better, {worse:,} worse, {cases - better - worse:,} alike."


def describe_flip_counts(pair: ArmComparison) -> tuple[int, int]:
    """Cases that the new arm does better, and worse."""
    counts = pair.flip_counts
    return counts.better, counts.worse


def unpaired_line(pair: ArmComparison) -> str:
    """`Cases not scored: old 10 error, 10 not run; new 3 context_overflow.`; empty if all were."""
    sides: dict[str, list[str]] = {}
    for group in pair.unpaired:
        sides.setdefault("new" if group.is_new else "old", []).append(f"{group.cases:,} {group.reason}")
    shown = "; ".join(f"{side} {', '.join(counts)}".strip() for side, counts in sides.items())
    return f"Cases not scored: {shown}." if shown else ""


_MOST_OVERFLOWS = 5


def overflow_line(pair: ArmComparison) -> str:
    """Cases that no longer fit the model's window; empty if there are none."""
    if not (cases := pair.newly_overflowing):
        return ""
    more = f" and {len(cases) - _MOST_OVERFLOWS:,} more" if len(cases) > _MOST_OVERFLOWS else ""
    does = "1 case no longer fits" if len(cases) == 1 else f"{len(cases):,} cases no longer fit"
    return f"{does} the model's window: {', '.join(cases[:_MOST_OVERFLOWS])}{more}."


_NOT_KEPT: Mapping[Outcome, str] = MappingProxyType(
    {
        Outcome.CORRECT: "the right answer",
        Outcome.WRONG_ARGUMENTS: "the right tools, wrong arguments",
        Outcome.INVALID_ARGUMENTS: "the right tools, invalid arguments",
    }
)
"""What an outcome says about calls that a baseline does not keep."""


def flip_cells(flip: Flip) -> tuple[str, ...]:
    """Case, kind, change, outcome and what was called of a flipped case. The change is left out where it is the whole
    case. The outcome is that of the arm that does worse.
    """
    change = "" if abs(flip.change) == 1 else f"{flip.change:+.2f}"
    wrong = flip.new if flip.change < 0 else flip.old
    uncovered = "" if wrong.covered else ", uncovered"
    return (
        flip.case,
        flip.kind,
        change,
        f"{wrong.outcome.value}{uncovered}",
        f"{_called(flip.old)} {ARROW} {_called(flip.new)}",
    )


def worse_flips(pair: ArmComparison) -> Sequence[Flip]:
    """Cases that the new arm does worse."""
    return [flip for flip in pair.flips if flip.change < 0]


def better_flips(pair: ArmComparison) -> Sequence[Flip]:
    """Cases that the new arm does better."""
    return [flip for flip in pair.flips if flip.change > 0]


def _called(attempt: Attempt) -> str:
    if attempt.called is None:  # a baseline does not keep what was called where that was right
        return _NOT_KEPT.get(attempt.outcome, "not kept")
    return ", ".join(attempt.called) or "nothing"


def left_parts_line(pair: ArmComparison, most: int) -> str:
    """`And 2 kinds more; nothing changed in 5.`, of the kinds that a table leaves out; empty if it shows all."""
    if len(pair.parts) < 2:
        return ""
    changed = sum(bool(part.better or part.worse) for part in pair.parts)
    same = len(pair.parts) - changed
    parts = [f"and {plural(changed - most, 'kind')} more"] if changed > most else []
    if same and changed:
        parts.append(f"nothing changed in {plural(same, 'kind')}")
    return f"{'; '.join(parts).capitalize()}." if parts else ""


def format_part(part: KindContrast) -> str:
    """The difference that the arms show in a kind of cases."""
    return f"{format_points(part.new - part.old)} points"
