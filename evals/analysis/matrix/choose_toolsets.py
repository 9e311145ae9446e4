"""Chooses the toolset of each model: the smallest that is surely good enough, else the best (rule E7)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from toolbelt.evals.analysis.comparison.comparison import LEVEL, Measure
from toolbelt.evals.analysis.comparison.sample_size import find_advice
from toolbelt.evals.analysis.evidence.evidence import CaseEvidence, Side
from toolbelt.evals.analysis.matrix.candidates import (
    count_calls,
    hardly_calls,
    is_answered,
    is_assignable,
    is_by_role,
    is_same_toolset,
    may_suit,
    other_cells,
    size_key,
)
from toolbelt.evals.analysis.matrix.cell import Cell
from toolbelt.evals.analysis.matrix.explain_pick import find_pick_reasons
from toolbelt.evals.analysis.matrix.matrix import Candidate, Pick
from toolbelt.evals.analysis.summary.run_summary import ArmSummary, RunSummary, is_outdone, rank_key
from toolbelt.evals.statistics.verdict import Verdict
from toolbelt.evals.toolsets.spec import parse_toolset, shorten_toolset


@dataclass(frozen=True)
class _ModelCandidates:
    """The arms of a model that may be chosen.

    Attributes:
        model: Its name.
        arms: Positions of those scored that it can call with, as far as is known, the smallest first.
        answered: Those of them that enough is known of.
        best: Of these, the one that answers best; `None` if there is none.
        level: Level of the intervals that compare the smaller ones with it.
        never_calls: Positions of those that enough is known of, and that it hardly ever calls a right tool with.
        outdone: Positions of those that another arm, which was asked more, is right as often as.
    """

    model: str
    arms: tuple[int, ...]
    answered: tuple[int, ...]
    best: int | None
    level: float = LEVEL
    never_calls: tuple[int, ...] = ()
    outdone: frozenset[int] = frozenset()
    by_role: bool = False


@dataclass(frozen=True)
class _ContrastRequest:
    """Two arms to compare, with an interval of that level."""

    old: int
    new: int
    level: float = LEVEL


def choose_toolsets(
    summary: RunSummary,
    side: Side,
    cells: Mapping[tuple[str, str], Cell],
    margin: float,
    advance: Callable[[int], object] | None,
    *,
    by_role: bool = False,
) -> dict[str, Pick]:
    """The recommended toolset of each model.

    Every candidate is compared with the best of its model. The smaller ones are a family, of which the smallest that
    does is taken: intervals are as wide as it takes for the chance of a wrong choice to stay below 5% for each model,
    however many they are (Bonferroni). Where none does, the model stays with the best as measured, which is held
    against every other to tell whether that is sure: it may look best by chance. All of these have to speak for it, so
    that nothing is to be adjusted there.

    Args:
        summary: Of the run.
        side: The same run, case by case.
        cells: Of every model and toolset, those left out among them.
        margin: Accuracy that may be lost, a fraction.
        advance: Called with the number of pairs of arms compared.
        by_role: Whether the loadout of each case's role may be chosen, too; then only for models that have it.

    Raises:
        ValueError: the margin is out of range.
    """
    having = {arm.model for arm in summary.arms if arm.scored and is_by_role(arm)}
    models = dict.fromkeys(model for model, _ in cells if model in having or not by_role)
    fields = [_find_candidates(model, summary.arms, margin, by_role=by_role) for model in models]
    against = [
        _ContrastRequest(group.best, arm, group.level)
        for group in fields
        if group.best is not None
        for arm in group.arms
        if arm != group.best
    ]
    held = _contrast_arms(side, against, margin, advance)
    drafts = _candidates_of(fields, held)
    back = [
        _ContrastRequest(arm, group.best)
        for group in fields
        if group.best is not None and _smaller(group, drafts[group.model], summary.arms) is None
        for arm in _rivals(group, drafts[group.model], summary.arms)
    ]
    returned = _contrast_arms(
        side, back, margin, None if advance is None else lambda count: advance(len(against) + count)
    )
    picks = {}
    for group in fields:
        candidates = drafts[group.model]
        rivals = tuple(
            replace(returned[arm, group.best], arm=arm) for arm in group.arms if (arm, group.best) in returned
        )
        pick = _pick(group, candidates, rivals, summary, side, cells, margin)
        picks[group.model] = replace(pick, reasons=find_pick_reasons(pick, summary, side.about, cells, margin))
    return picks


def _find_candidates(model: str, arms: Sequence[ArmSummary], margin: float, *, by_role: bool) -> _ModelCandidates:
    assignable = [
        place
        for place, arm in enumerate(arms)
        if arm.model == model and arm.scored and is_assignable(arm, by_role=by_role)
    ]
    assignable.sort(key=lambda place: size_key(arms[place]))
    needs_calls = any(count_calls(arm)[1] for arm in arms)
    never_calls = {
        place
        for place in assignable
        if is_answered(arms[place]) and hardly_calls(arms[place], margin, needs_calls=needs_calls)
    }
    able = [place for place in assignable if place not in never_calls]
    answered = [place for place in able if is_answered(arms[place])]
    # The first of equals is the smallest.
    known = [arms[place] for place in assignable]
    best = min(answered, key=lambda place: _order_answered(arms[place]), default=None)
    best = min(able, key=lambda place: rank_key(arms[place])[:2], default=None) if best is None else best
    if best is not None and is_outdone(arms[best], known):  # by one of which too little is known
        answered, best = [], min(able, key=lambda place: rank_key(arms[place])[:2])
    # What turned out to be idle might have been chosen, too.
    smaller = 0 if best is None else assignable.index(best)
    return _ModelCandidates(
        model,
        tuple(able),
        tuple(answered),
        best,
        family_level(smaller),
        tuple(sorted(never_calls)),
        frozenset(place for place in able if is_outdone(arms[place], known)),
        by_role=by_role,
    )


def _order_answered(arm: ArmSummary) -> tuple[float, float]:
    """The best first, of arms of which so little failed that it is left out: it may have been right."""
    return -(arm.right_of_asked.value or 0.0), arm.share_too_long


def family_level(size_key: int) -> float:
    """Of intervals of which any may lead to a choice, and of which one bound matters: 95%, or more where they are more
    than two.

    Args:
        size: How many they are.
    """
    return max(LEVEL, 1 - 2 * (1 - LEVEL) / max(1, size_key))


def _contrast_arms(
    side: Side, pairs: Sequence[_ContrastRequest], margin: float, advance: Callable[[int], object] | None
) -> dict[tuple[int | None, int | None], Candidate]:
    """Each new arm against its old one, verdicts given over all of them together, as `compare` does.

    Arms that sent the same requests have the same answers, and neither is worse (rule V3).
    """
    # numpy and scipy, which a run that has nothing to compare does without
    from toolbelt.evals.analysis.comparison.paired_cases import pair_cases
    from toolbelt.evals.analysis.comparison.shares import IntervalSettings, find_difference, give_verdicts
    from toolbelt.evals.analysis.evidence.stored_run import StoredRun
    from toolbelt.evals.statistics.paired import RESAMPLES

    about = side.about
    findings, overflowing = [], []
    evidence: dict[int, Mapping[str, CaseEvidence]] = {}
    for number, pair in enumerate(pairs):
        # What is in the pair before, too, as the best of a model is in all of its pairs, is read once.
        evidence = {arm: evidence[arm] if arm in evidence else side.read(arm) for arm in (pair.old, pair.new)}
        cases = pair_cases(evidence[pair.old], evidence[pair.new], about.cases, about.epochs, of_asked=True)
        finding = find_difference(cases, Measure.ACCURACY, IntervalSettings(margin, pair.level, 0, RESAMPLES))
        is_same = isinstance(side, StoredRun) and side.has_same_requests(pair.old, pair.new)
        findings.append(replace(finding, is_same=is_same))
        overflowing.append(cases.count(lambda group: group.newly_overflows))
        if advance is not None:
            advance(number + 1)
    verdicts = give_verdicts(findings, margin)
    return {
        (pair.old, pair.new): Candidate(pair.new, contrast, cases)
        for pair, contrast, cases in zip(pairs, verdicts, overflowing, strict=True)
    }


def _candidates_of(
    fields: Iterable[_ModelCandidates], held: Mapping[tuple[int | None, int | None], Candidate]
) -> dict[str, tuple[Candidate, ...]]:
    return {field.model: tuple(held.get((field.best, arm), Candidate(arm)) for arm in field.arms) for field in fields}


def _smaller(group: _ModelCandidates, candidates: Sequence[Candidate], arms: Sequence[ArmSummary]) -> int | None:
    """The smallest arm that surely does as well as the best; `None` if that is none but the best, by whatever name."""
    for candidate in candidates:
        if candidate.arm == group.best:
            return None
        if candidate.holds and candidate.arm not in group.outdone and candidate.arm in _others(group, arms):
            return candidate.arm
    return None


def _others(group: _ModelCandidates, arms: Sequence[ArmSummary]) -> tuple[int, ...]:
    """The arms that enough is known of and that are not the best, by whatever name."""
    best = group.best
    return tuple(
        arm for arm in group.answered if best is not None and arm != best and not is_same_toolset(arms[arm], arms[best])
    )


def _pick(
    group: _ModelCandidates,
    candidates: tuple[Candidate, ...],
    rivals: tuple[Candidate, ...],
    summary: RunSummary,
    side: Side,
    cells: Mapping[tuple[str, str], Cell],
    margin: float,
) -> Pick:
    arms, best = summary.arms, group.best
    pick = Pick(
        group.model,
        best,
        candidates=candidates,
        rivals=rivals,
        level=group.level,
        never_calls=group.never_calls,
        by_role=group.by_role,
    )
    if best is None or not group.answered or side.about.drafts or (arms[best].right_of_asked.value or 0.0) <= margin:
        return pick
    others = other_cells(pick, arms, [cell for (model, _), cell in cells.items() if model == group.model])
    if not others:
        return pick
    smaller = _smaller(group, candidates, arms)
    if smaller is None:
        known = {rival.arm for rival in rivals}
        is_known = all(cell.arm in known or not may_suit(cell, pick) for cell in others)
        pick = replace(pick, choice=best, sure=is_known and all(rival.holds for rival in rivals))
    else:
        pick = replace(pick, choice=smaller, sure=True)
    return _find_open(replace(pick, toolset=_concrete(pick, arms)), _others(group, arms), margin)


def _rivals(group: _ModelCandidates, candidates: Sequence[Candidate], arms: Sequence[ArmSummary]) -> list[int]:
    """The arms that may be better than the best. An arm that is too long, or has the same tools, is not one."""
    others = _others(group, arms)
    return [rival.arm for rival in candidates if rival.arm in others and not rival.overflowing]


def _concrete(pick: Pick, arms: Sequence[ArmSummary]) -> str:
    """The name of the chosen toolset; for `loadout:auto`, the name of the equal arm of the run, if there is one."""
    assert pick.choice is not None  # noqa: S101  it was just chosen
    chosen = arms[pick.choice]
    if not parse_toolset(chosen.toolset).is_auto:
        return shorten_toolset(chosen.toolset)
    same = (
        arm.toolset for arm in arms if arm is not chosen and arm.model == chosen.model and is_same_toolset(arm, chosen)
    )
    return next(same, chosen.toolset)


def _find_open(pick: Pick, others: Sequence[int], margin: float) -> Pick:
    """With what looks good and is smaller, and how many cases would decide."""
    promising = next((each for each in _before(pick) if each.arm in others and _looks_good(each, margin)), None)
    if promising is not None:
        pick = replace(pick, promising=promising.arm)
        if pick.sure and promising.contrast is not None:
            return replace(pick, advice=find_advice([promising.contrast], margin, pick.level))
    if pick.sure or any(rival.overflowing for rival in pick.rivals):
        return pick
    doubtful = [rival.contrast for rival in pick.rivals if not rival.holds and rival.contrast is not None]
    return replace(pick, advice=find_advice(doubtful, margin))


def _before(pick: Pick) -> Iterator[Candidate]:
    """The candidates that are smaller than the choice."""
    return takewhile(lambda candidate: candidate.arm != pick.choice, pick.candidates)


def _looks_good(candidate: Candidate, margin: float) -> bool:
    contrast = candidate.contrast
    if contrast is None or contrast.difference is None or candidate.overflowing:
        return False
    return contrast.difference > -margin and contrast.verdict is Verdict.INSUFFICIENT_DATA
