"""The result of a run as a value: which toolset to take, what it is compared with, what it saves, how sure that is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from toolbelt.evals.analysis.comparison.comparison import LEVEL, MARGIN, ArmComparison, Comparison, Contrast
from toolbelt.evals.analysis.evidence.evidence import ArmName
from toolbelt.evals.analysis.matrix.candidates import is_by_role
from toolbelt.evals.analysis.matrix.matrix import Matrix, ModelRow, Pick
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
        reference: The arm that the recommended one is held against: the best of its model as measured where that is
            another, else the one that the others are compared with. `None` where nothing was scored.
        recommended: The arm to take, as `pick` has it; `None` where there is nothing to go by.
        pick: Why, how surely, and how many cases are lacking; `toolbelt eval recommend` shows the same.
        named: The toolset that `toolbelt.yaml` can name instead, where it cannot name the recommended one; else empty.
        trade_off: Of the recommended arm against the reference; `None` where they are the same or were not compared.
        contrast: Of their accuracy; `None` likewise.
        level: Of its interval.
        tokens_saved: Share of the reference's prompt tokens that the recommended arm does without, below 0 where it
            takes more; `None` where that is not known.
        cost_saved_usd: US dollars a trial that it costs less; `None` likewise.
        others: The finding on each of the other arms that could be used against the one that it is compared with, by
            their position in `RunSummary.arms`.
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
    pick: Pick | None = None
    named: str = ""
    trade_off: TradeOff | None = None
    contrast: Contrast | None = None
    level: float = LEVEL
    tokens_saved: float | None = None
    cost_saved_usd: float | None = None
    others: tuple[tuple[int, TradeOff], ...] = ()
    is_complete: bool = True
    arm_epochs: tuple[int, ...] = ()
    lead: Lead | None = None
    outdone: ArmSummary | None = None

    @property
    def is_reference(self) -> bool:
        """Whether nothing better than the reference was found."""
        return self.recommended is not None and self.recommended is self.reference

    @property
    def is_sure(self) -> bool:
        """Whether the recommended arm is surely good enough."""
        return self.pick is not None and self.pick.sure

    @property
    def cases_wanted(self) -> int | None:
        """Cases that would settle what is open about the choice; `None` if nothing is, or no number would."""
        return None if self.pick is None else self.pick.cases_wanted


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


def find_result(summary: RunSummary, comparison: Comparison | None = None, matrix: Matrix | None = None) -> RunResult:
    """What a run comes to: of several models, for the one that is known to be right most often.

    Args:
        summary: Of the run.
        comparison: Of its own arms; any other counts as none.
        matrix: Of the run, with the toolset chosen for each model; without it none is recommended.
    """
    results = find_results(summary, comparison, matrix)
    if not results:
        return _no_choice(summary, None, _margin(comparison))
    best: dict[str, ArmSummary] = {}
    for arm in sorted(filter(_is_usable, summary.arms), key=rank_key):
        best.setdefault(arm.model, arm)
    if not best:
        return results[0]
    lead, *others = best.values()
    result = next(result for result in results if result.model == lead.model)
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


def find_results(
    summary: RunSummary, comparison: Comparison | None, matrix: Matrix | None = None
) -> tuple[RunResult, ...]:
    """What a run comes to for each of its models of which anything was scored; arguments as `find_result`."""
    places = {ArmName(arm.model, arm.toolset, arm.variant).key: place for place, arm in enumerate(summary.arms)}
    pairs: dict[str, list[ArmComparison]] = {}
    if comparison is not None and comparison.is_within and comparison.is_comparable:
        for pair in comparison.pairs:
            if pair.old.key in places and pair.new.key in places and pair.old.model == pair.new.model:
                pairs.setdefault(pair.old.model, []).append(pair)
    first: dict[str, ArmSummary] = {}
    for arm in sorted(filter(lambda arm: arm.scored, summary.arms), key=lambda arm: arm.is_for_orientation):
        first.setdefault(arm.model, arm)
    rows = {} if matrix is None else {row.model: row for row in matrix.rows}
    margin = _margin(comparison) if matrix is None else matrix.margin
    results = []
    for model, arm in first.items():
        held = pairs.get(model, [])
        plain = _no_choice(summary, summary.arms[places[held[0].old.key]] if held else arm, margin)
        plain = _with_others(plain, summary, held, places)
        row = rows.get(model)
        results.append(plain if row is None else _with_pick(plain, summary, row, held))
    return tuple(results)


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


def _with_others(
    plain: RunResult, summary: RunSummary, pairs: Sequence[ArmComparison], places: dict[tuple[str, str, str], int]
) -> RunResult:
    """With the findings on the other arms, or an arm instead of a reference that was asked less and is no better."""
    reference = plain.reference
    usable = [pair for pair in pairs if not pair.new.variant and not is_oracle(pair.new.toolset)]
    if reference is None or not usable:
        return plain
    known = [reference, *(summary.arms[places[pair.new.key]] for pair in usable)]
    if is_outdone(reference, known):
        return replace(plain, reference=min(known, key=rank_key), outdone=reference)
    return replace(plain, others=tuple((places[pair.new.key], find_trade_off(pair)) for pair in usable))


def _with_pick(plain: RunResult, summary: RunSummary, row: ModelRow, pairs: Sequence[ArmComparison]) -> RunResult:
    """With the toolset that was chosen for the model."""
    pick = row.usable
    if pick.choice is None or pick.best is None:
        return plain
    chosen, best = summary.arms[pick.choice], summary.arms[pick.best]
    named = row.pick.toolset if is_by_role(chosen) else ""
    plain = replace(plain, recommended=chosen, pick=pick, named=named, outdone=None)
    if chosen is not best:
        contrast = next(candidate.contrast for candidate in pick.candidates if candidate.arm == pick.choice)
        plain = replace(plain, reference=best, trade_off=TradeOff.NOT_WORSE, contrast=contrast, level=pick.level)
    elif (pair := next((pair for pair in pairs if pair.new.key == _key(chosen)), None)) is not None:
        old = next(arm for arm in summary.arms if _key(arm) == pair.old.key)
        plain = replace(plain, reference=old, trade_off=find_trade_off(pair), contrast=pair.main_contrast)
    else:
        return replace(plain, reference=chosen)
    reference = plain.reference
    assert reference is not None  # noqa: S101  it was just set
    is_whole = all(arm.scored == arm.planned for arm in (chosen, reference))  # else the two are over other cases
    tokens = (chosen.prompt_tokens, reference.prompt_tokens) if is_whole else (None, None)
    costs = (chosen.cost_usd, reference.cost_usd) if is_whole else (None, None)
    others = tuple(other for other in plain.others if other[0] != pick.choice)
    return replace(
        plain,
        tokens_saved=None if tokens[0] is None or not tokens[1] else 1 - tokens[0] / tokens[1],
        cost_saved_usd=None if costs[0] is None or costs[1] is None else costs[1] - costs[0],
        others=others,
    )
