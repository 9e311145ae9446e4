"""The result of a run as a value: which toolset to take, what it is compared with, what it saves, how sure that is."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from statistics import NormalDist

from toolbelt.evals.analysis.comparison.comparison import LEVEL, MARGIN, ArmComparison, Comparison, Contrast, Measure
from toolbelt.evals.analysis.comparison.sample_size import wanted_cases
from toolbelt.evals.analysis.evidence.evidence import ArmName
from toolbelt.evals.analysis.matrix.candidates import count_calls, hardly_calls
from toolbelt.evals.analysis.matrix.choose_toolsets import family_level
from toolbelt.evals.analysis.summary.run_summary import ArmSummary, RunSummary, is_outdone, rank_key
from toolbelt.evals.models.model import is_word_matching
from toolbelt.evals.statistics.verdict import Verdict
from toolbelt.evals.toolsets.spec import is_oracle

_MOST_BY_COVERAGE = 0.5
"""Share of a loss from which it counts as one of coverage: the toolset lost it, not the model."""


class TradeOff(StrEnum):
    """The finding about an arm compared with another of the same run; nothing has regressed there."""

    MORE_ACCURATE = "more_accurate"
    """For sure, by however little."""
    NOT_WORSE = "not_worse"
    """Not by more than the margin, for sure."""
    LESS_ACCURATE = "less_accurate"
    """For sure, and selection lost most of it."""
    UNREACHABLE = "unreachable"
    """For sure less accurate, mostly because the right tools are not offered."""
    TOO_LONG = "too_long"
    """Cases that fit the model's window with the other arm do not with this one."""
    UNDECIDED = "undecided"
    ORIENTATION = "orientation"
    """An oracle, which knows the answer: nobody can use it."""


@dataclass(frozen=True, slots=True)
class Lead:
    """How the most accurate model of a run stands against the others, each by the toolset with which most of what was
    planned is known to be right.

    Attributes:
        arm: Its arm.
        models: How many models were scored.
        tied: How many others are right as often.
        undecided: How many more may be right as often.
        failing: Of the others, the arm with the greatest share that is right of what was asked, if that is greater: so
            much of it failed that this says little. `None` if there is none.
    """

    arm: ArmSummary
    models: int
    tied: int
    undecided: int
    failing: ArmSummary | None = None


@dataclass(frozen=True, slots=True)
class RunResult:
    """What a run comes to for one of its models.

    Amounts of the two arms are in `recommended` and `reference`, each over its own scored trials; `contrast` and the
    savings are over the cases that both were scored on.

    Attributes:
        run: Its id.
        dataset: Name of the dataset.
        cases: Cases that each arm is asked.
        epochs: How often, at most.
        arm_epochs: How often by each arm of the run; empty where all were asked equally often.
        model: The model; of an arm compared with another model's, that of the reference.
        models: How many models the run has.
        is_word_matching: Whether it is the word-matching baseline, which is not an LLM.
        margin: Accuracy that may be lost, a fraction.
        reference: The arm that the others are compared with; `None` where nothing was scored.
        recommended: The arm to take: one that is surely more accurate than the reference by more than the margin; else
            the one with the fewest prompt tokens that is surely not worse by more than the margin; else the reference.
            `None` where there is nothing to choose between.
        trade_off: Of the recommended arm against the reference; `None` where they are the same.
        contrast: Of their accuracy; `None` likewise.
        tokens_saved: Share of the reference's prompt tokens that the recommended arm does without, below 0 where it
            takes more; `None` where that is not known.
        cost_saved_usd: US dollars a trial that it costs less; `None` likewise.
        others: The finding on each of the other arms that could be used, by their position in `RunSummary.arms`.
        cases_wanted: Cases that would decide an undecided arm with fewer tokens than the recommended one, the fewest;
            `None` if there is none, or no number would.
        is_complete: Whether the run has finished.
        lead: How the model stands against the others; `None` where it is the only one that was scored.
        outdone: The arm that the others are compared with, if `reference` is another: one that was asked more and is
            right at least as often of all asked, while nothing is sure.
    """

    run: str
    dataset: str
    cases: int
    epochs: int
    model: str
    models: int
    is_word_matching: bool
    margin: float = MARGIN
    reference: ArmSummary | None = None
    recommended: ArmSummary | None = None
    trade_off: TradeOff | None = None
    contrast: Contrast | None = None
    tokens_saved: float | None = None
    cost_saved_usd: float | None = None
    others: tuple[tuple[int, TradeOff], ...] = ()
    cases_wanted: int | None = None
    is_complete: bool = True
    arm_epochs: tuple[int, ...] = ()
    lead: Lead | None = None
    outdone: ArmSummary | None = None

    @property
    def is_reference(self) -> bool:
        """Whether nothing better than the reference was found."""
        return self.recommended is not None and self.recommended is self.reference

    def count(self, *trade_offs: TradeOff) -> int:
        """How many of the other arms have one of these trade-offs."""
        return sum(trade_off in trade_offs for _, trade_off in self.others)


def find_trade_off(pair: ArmComparison) -> TradeOff:
    """The finding about the new arm of a pair, both of one run."""
    if is_oracle(pair.new.toolset):
        return TradeOff.ORIENTATION
    contrast = pair.main_contrast
    if contrast.is_surely_more:
        return TradeOff.MORE_ACCURATE
    if len(pair.newly_overflowing) > pair.fit.gained:
        return TradeOff.TOO_LONG
    if contrast.verdict is Verdict.NO_REGRESSION:
        return TradeOff.NOT_WORSE
    if contrast.verdict is Verdict.REGRESSION:
        parts = pair.contribution
        lost = contrast.difference or 0.0
        is_coverage = parts is not None and lost < 0 and parts.coverage <= _MOST_BY_COVERAGE * lost
        return TradeOff.UNREACHABLE if is_coverage else TradeOff.LESS_ACCURATE
    return TradeOff.UNDECIDED


def find_result(summary: RunSummary, comparison: Comparison | None = None) -> RunResult:
    """What a run comes to: of several models, for the one that is known to be right most often.

    Args:
        summary: Of the run.
        comparison: Of its own arms; any other counts as none.
    """
    results = find_results(summary, comparison)
    if not results:
        return _no_choice(summary, None, _margin(comparison))
    best: dict[str, ArmSummary] = {}
    for arm in sorted(filter(_is_usable, summary.arms), key=rank_key):
        best.setdefault(arm.model, arm)
    if not best:
        return results[0]
    lead, *others = best.values()
    result = next((result for result in results if result.model == lead.model), None)
    result = result or _no_choice(summary, lead, _margin(comparison))
    if not others:
        return result
    tied = [arm for arm in others if arm.known_right == lead.known_right]
    open_ = [arm for arm in others if arm not in tied and not _is_surely_less(arm, lead, comparison)]
    failing = max(others, key=_right_of_asked)
    shown = failing if _right_of_asked(failing) > _right_of_asked(lead) else None
    return replace(result, lead=Lead(lead, len(best), len(tied), len(open_), shown))


def _right_of_asked(arm: ArmSummary) -> float:
    return arm.right_of_asked.value or 0.0


def _is_usable(arm: ArmSummary) -> bool:
    return bool(arm.scored) and not arm.is_for_orientation


def _is_surely_less(arm: ArmSummary, lead: ArmSummary, comparison: Comparison | None) -> bool:
    """Whether an arm of another model is surely right less often: by their pair, else if every trial of both has an
    answer and their intervals do not overlap.
    """
    for pair in () if comparison is None or not comparison.is_within else comparison.pairs:
        contrast = pair.main_contrast
        if (pair.new.key, pair.old.key) == (_key(lead), _key(arm)):
            return contrast.is_surely_more
        if (pair.new.key, pair.old.key) == (_key(arm), _key(lead)):
            return contrast.verdict is Verdict.REGRESSION
    high, low = arm.right_of_asked.high, lead.right_of_asked.low
    is_answered = all(each.right_of_asked.denominator == each.planned for each in (arm, lead))
    return is_answered and high is not None and low is not None and high < low


def _key(arm: ArmSummary) -> tuple[str, str, str]:
    return arm.model, arm.toolset, arm.variant


def find_results(summary: RunSummary, comparison: Comparison | None) -> tuple[RunResult, ...]:
    """What a run comes to for each arm that others are compared with, which is one of each model.

    Args:
        summary: Of the run.
        comparison: Of its own arms; any other counts as none.

    Returns:
        The results in the order of the arms; where no arms of one model are compared, one for each model, of its first
        scored arm.
    """
    places = {ArmName(arm.model, arm.toolset, arm.variant).key: place for place, arm in enumerate(summary.arms)}
    pairs: dict[int, list[ArmComparison]] = {}
    if comparison is not None and comparison.is_within and comparison.is_comparable:
        for pair in comparison.pairs:
            if pair.old.key in places and pair.new.key in places and pair.old.model == pair.new.model:
                pairs.setdefault(places[pair.old.key], []).append(pair)
    if not pairs:
        first: dict[str, ArmSummary] = {}
        for arm in sorted(filter(lambda arm: arm.scored, summary.arms), key=lambda arm: arm.is_for_orientation):
            first.setdefault(arm.model, arm)
        return tuple(_no_choice(summary, arm, _margin(comparison)) for arm in first.values())
    assert comparison is not None  # noqa: S101  it has pairs
    return tuple(
        _choose(summary, summary.arms[old], held, places, comparison.margin) for old, held in sorted(pairs.items())
    )


def _margin(comparison: Comparison | None) -> float:
    return MARGIN if comparison is None else comparison.margin


def _no_choice(summary: RunSummary, reference: ArmSummary | None, margin: float) -> RunResult:
    model = reference.model if reference is not None else next((arm.model for arm in summary.arms), "")
    return RunResult(
        run=summary.run,
        dataset=summary.dataset,
        cases=summary.cases,
        epochs=summary.epochs,
        arm_epochs=summary.arm_epochs,
        model=model,
        models=len({arm.model for arm in summary.arms}),
        is_word_matching=is_word_matching(model),
        margin=margin,
        reference=reference,
        is_complete=summary.status == "finished",
    )


def _choose(
    summary: RunSummary,
    reference: ArmSummary,
    pairs: Sequence[ArmComparison],
    places: dict[tuple[str, str, str], int],
    margin: float,
) -> RunResult:
    plain = _no_choice(summary, reference, margin)
    usable = [pair for pair in pairs if not pair.new.variant and not is_oracle(pair.new.toolset)]
    others = tuple((places[pair.new.key], find_trade_off(pair)) for pair in usable)
    arms = {pair.new.key: summary.arms[places[pair.new.key]] for pair in usable}
    known = [reference, *arms.values()]
    if is_outdone(reference, known):
        plain = replace(plain, reference=min(known, key=rank_key), outdone=reference)
    else:
        plain = replace(plain, others=others)
    if not usable or reference.is_for_orientation or _is_hopeless(reference, margin):
        return plain
    able = [pair for pair in usable if not hardly_calls(arms[pair.new.key], margin, needs_calls=_needs_calls(summary))]
    fair = [pair for pair in able if not is_outdone(arms[pair.new.key], known)]
    chosen = _best(fair, arms, len(usable), margin) or _smallest(fair, arms, reference, len(usable), margin)
    wanted = _cases_wanted(able, arms, reference if chosen is None else arms[chosen.new.key], margin)
    if chosen is None:
        return plain if plain.outdone else replace(plain, recommended=reference, cases_wanted=wanted)
    tokens, cost = chosen.contrast(Measure.PROMPT_TOKENS), chosen.contrast(Measure.COST_USD)
    place = places[chosen.new.key]
    return replace(
        plain,
        reference=reference,
        outdone=None,
        recommended=arms[chosen.new.key],
        trade_off=find_trade_off(chosen),
        contrast=chosen.main_contrast,
        tokens_saved=None if tokens.ratio is None else 1 - tokens.ratio,
        cost_saved_usd=None if cost.difference is None else 0.0 - cost.difference,
        others=tuple(other for other in others if other[0] != place),
        cases_wanted=wanted,
    )


def _needs_calls(summary: RunSummary) -> bool:
    return any(count_calls(arm)[1] for arm in summary.arms)


def _is_hopeless(reference: ArmSummary, margin: float) -> bool:
    """Whether so little is right that nothing could be lost by more than the margin."""
    return (reference.right_of_asked.value or 0.0) <= margin


def _best(
    pairs: Sequence[ArmComparison], arms: dict[tuple[str, str, str], ArmSummary], family: int, margin: float
) -> ArmComparison | None:
    """The most accurate arm of those that surely gain more than the margin."""
    gains = [pair for pair in pairs if _holds(pair) and _low(pair.main_contrast, family) > margin]
    return min(gains, key=lambda pair: rank_key(arms[pair.new.key]), default=None)


def _smallest(
    pairs: Sequence[ArmComparison],
    arms: dict[tuple[str, str, str], ArmSummary],
    reference: ArmSummary,
    family: int,
    margin: float,
) -> ArmComparison | None:
    """The arm with the fewest prompt tokens, fewer than the reference, that surely loses no more than the margin."""
    fits = [
        pair
        for pair in pairs
        if _holds(pair)
        and _low(pair.main_contrast, family) > -margin
        and _tokens(arms[pair.new.key]) < _tokens(reference)
    ]
    return min(fits, key=lambda pair: _tokens(arms[pair.new.key]), default=None)


def _holds(pair: ArmComparison) -> bool:
    return find_trade_off(pair) in (TradeOff.NOT_WORSE, TradeOff.MORE_ACCURATE)


def _low(contrast: Contrast, family: int) -> float:
    """The lower bound of a difference, at a level that keeps the chance of a wrong choice among so many below 5%.

    The interval at hand is widened as a normal one would be.
    """
    if contrast.difference is None or contrast.low is None:
        return -math.inf
    quantiles = [NormalDist().inv_cdf(0.5 + level / 2) for level in (LEVEL, family_level(family))]
    return contrast.difference - (contrast.difference - contrast.low) * quantiles[1] / quantiles[0]


def _tokens(arm: ArmSummary) -> float:
    return math.inf if arm.prompt_tokens is None else arm.prompt_tokens


def _cases_wanted(
    pairs: Sequence[ArmComparison], arms: dict[tuple[str, str, str], ArmSummary], chosen: ArmSummary, margin: float
) -> int | None:
    def numbers() -> Iterator[int]:
        for pair in pairs:
            if find_trade_off(pair) is TradeOff.UNDECIDED and _tokens(arms[pair.new.key]) < _tokens(chosen):
                cases = wanted_cases(pair.main_contrast, margin)
                if cases is not None:
                    yield cases

    return min(numbers(), default=None)
