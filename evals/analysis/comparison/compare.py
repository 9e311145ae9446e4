"""Compares two sides arm by arm: figures, verdicts, and their causes (rule E7)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace

from toolbelt.errors import ToolbeltError
from toolbelt.evals.analysis.comparison.amounts import compare_amounts
from toolbelt.evals.analysis.comparison.comparability import find_incomparable, find_mismatches, find_side_notes
from toolbelt.evals.analysis.comparison.comparison import (
    LEVEL,
    ArmComparison,
    Comparison,
    Contrast,
    Measure,
    find_margin,
)
from toolbelt.evals.analysis.comparison.explanations import (
    MOST_FLIPS,
    find_confusions,
    find_contribution,
    find_flips,
    part_by_kind,
)
from toolbelt.evals.analysis.comparison.paired_cases import (
    PairedCases,
    find_uneven_clusters,
    measure_clusters,
    pair_cases,
)
from toolbelt.evals.analysis.comparison.pairing import Contrasted, Pairing, pair_by_names
from toolbelt.evals.analysis.comparison.reasons import (
    ArmsNote,
    Aspect,
    CasesNote,
    CasesProblem,
    ClusterSizes,
    ComparisonNote,
    Mismatch,
)
from toolbelt.evals.analysis.comparison.shares import (
    IntervalSettings,
    UnjudgedContrast,
    find_differences,
    give_verdicts,
)
from toolbelt.evals.analysis.evidence.case_table import as_table
from toolbelt.evals.analysis.evidence.evidence import ArmName, CaseEvidence, Side
from toolbelt.evals.analysis.evidence.stored_run import StoredRun
from toolbelt.evals.statistics.paired import RESAMPLES
from toolbelt.evals.statistics.verdict import SIGNIFICANT


@dataclass(frozen=True, slots=True)
class _PairFindings:
    """Two arms before verdicts.

    Attributes:
        arms: Without contrasts.
        findings: Of shares, in the order of the measures.
        amounts: Contrasts of amounts, in their order.
        incomplete: Cases of which not every epoch was scored in both arms, though they fitted in one.
        never_fit: Cases that fitted the window in neither.
        clusters: Weight and sizes of clusters, see `toolbelt.evals.analysis.comparison.paired_cases`.
    """

    arms: ArmComparison
    findings: tuple[UnjudgedContrast, ...]
    amounts: tuple[Contrast, ...]
    incomplete: int
    never_fit: int
    clusters: ClusterSizes


Progress = Callable[[str, int | None], AbstractContextManager[Callable[[int], object]]]
"""Shows how far work is: takes a label and the number of steps, gives a function that takes the steps done."""


def no_progress(*_: object) -> AbstractContextManager[Callable[[int], object]]:
    """Ignores progress."""
    return nullcontext(lambda _: None)


def compare_runs(
    old: Side,
    new: Side | None = None,
    *,
    against: str | None = None,
    arms: Sequence[str] = (),
    by: Contrasted = Contrasted.TOOLSET,
    margin: float | None = None,
    measures: Sequence[Measure] = tuple(Measure),
    seed: int = 0,
    progress: Progress = no_progress,
) -> Comparison:
    """Compare two runs or baselines arm by arm, or the arms of one of them.

    Args:
        old: What is compared with.
        new: What is judged; `None` to compare the arms of `old`.
        against: Name of the old arm that all others are compared with, see `pair_by_names`.
        arms: Names of the arms that are judged; all if empty.
        by: Within one side and without `against`: whether toolsets or models are compared.
        margin: Share that may be lost, 0 or more; see `find_margin`.
        measures: See `compare_arms`.
        seed: Of resampling.
        progress: Shows how many pairs are compared.

    Raises:
        NotFoundError: no arm has one of the names.
        ToolbeltError: there is nothing to compare with.
        ValueError: the margin is out of range.
    """
    pairing = pair_by_names(old, new, against, arms, by)
    with progress("comparing arms", len(pairing.pairs)) as advance:
        comparison = compare_arms(
            old, old if new is None else new, pairing, margin=margin, measures=measures, seed=seed, advance=advance
        )
    if new is not None and comparison.is_comparable and not comparison.pairs:
        here, there = (_first_labels(side) for side in (new, old))
        raise ToolbeltError(
            f"No arm of {new.about.name} ({here}) has an arm of the same name in {old.about.name} ({there}); "
            "name with `against` the one to compare them with."
        )
    return comparison


def _first_labels(side: Side) -> str:
    return ", ".join(arm.label for arm in side.arms[:5]) + (", …" if side.arms[5:] else "")


def compare_arms(
    old: Side,
    new: Side,
    pairing: Pairing,
    *,
    margin: float | None = None,
    measures: Sequence[Measure] = tuple(Measure),
    seed: int = 0,
    resamples: int = RESAMPLES,
    most_flips: int = MOST_FLIPS,
    advance: Callable[[int], object] | None = None,
) -> Comparison:
    """Compare arms case by case.

    Args:
        old: What is compared with.
        new: What is judged; the same where arms of one run are compared.
        pairing: Which arms.
        margin: Share that may be lost, 0 or more; see `find_margin`.
        measures: Which; those that are shares get verdicts, with p values adjusted over all of them and all pairs.
        seed: Of resampling.
        resamples: Drawn for an interval or a test that is not exact.
        most_flips: Flipped cases that are kept, see `find_flips`.
        advance: Called with the number of pairs that are done.

    Returns:
        The comparison; without pairs, but with the reasons, where the two cannot be compared.

    Raises:
        ValueError: the margin is out of range, or there are too few resamples.
    """
    margin = find_margin(new.about, margin)
    old_names, new_names = ({name for arm in side.arms for name in (arm.model, arm.toolset)} for side in (old, new))
    reasons = find_incomparable(old.about, new.about, old_names & new_names)
    designs = [
        design for about in (old.about, new.about) for design in (about.sequential, about.top_up) if design is not None
    ]
    level = max((design.level for design in designs), default=LEVEL)
    comparison = Comparison(
        old=old.about,
        new=new.about,
        reasons=reasons,
        differences=find_mismatches(old.about, new.about),
        notes=find_side_notes(old.about, new.about),
        missing=tuple(old.arms[position] for position in pairing.missing),
        added=tuple(new.arms[position] for position in pairing.added),
        unfit=tuple(new.arms[position] for position in pairing.unfit),
        alone=tuple(new.arms[position] for position in pairing.alone),
        margin=margin,
        level=level,
    )
    if reasons:
        return comparison
    # Each measure once, in its own order: shares come first.
    chosen = tuple(measure for measure in Measure if measure in measures)
    settings = IntervalSettings(margin, level, seed, resamples)
    findings = []
    for arms, (before, after, cases) in zip(pairing.pairs, _read_pairs(old, new, pairing), strict=True):
        if pairing.is_within:
            is_same = isinstance(old, StoredRun) and old.has_same_requests(*arms)
        else:
            exchange = old.find_exchange(arms[0])
            is_same = bool(exchange) and exchange == new.find_exchange(arms[1])
        findings.append(
            _examine_pair(
                before,
                after,
                cases,
                chosen,
                settings,
                most_flips,
                of=len(pairing.pairs),
                is_within=pairing.is_within,
                is_same=is_same,
            )
        )
        if advance is not None:
            advance(len(findings))
    significant = 1 - level if designs else SIGNIFICANT
    verdicts = iter(give_verdicts([finding for pair in findings for finding in pair.findings], margin, significant))
    pairs = tuple(
        replace(pair.arms, contrasts=(*(next(verdicts) for _ in pair.findings), *pair.amounts)) for pair in findings
    )
    return replace(
        comparison,
        pairs=pairs,
        notes=(*comparison.notes, *_find_notes(comparison, pairing, findings)),
        differences=(*comparison.differences, *_find_name_differences(pairing, pairs)),
    )


def _read_pairs(old: Side, new: Side, pairing: Pairing) -> Iterator[tuple[ArmName, ArmName, PairedCases]]:
    """The cases of each pair; an arm that is in several pairs is read once."""
    read = -1
    before: Mapping[str, CaseEvidence] = {}
    for old_arm, new_arm in pairing.pairs:
        if old_arm != read:
            before, read = old.read(old_arm), old_arm
        after, asked = new.read(new_arm), min(old.about.cases, new.about.cases)
        epochs = min(old.about.epochs_of(old.arms[old_arm]), new.about.epochs_of(new.arms[new_arm]))
        shown, judged = _asked_in_both(old, new, before, after)
        shown, judged = _first_epochs(old, old_arm, shown, epochs), _first_epochs(new, new_arm, judged, epochs)
        cases = pair_cases(shown, judged, asked, epochs, of_asked=pairing.is_within)
        yield old.arms[old_arm], new.arms[new_arm], cases


def _first_epochs(side: Side, arm: int, cases: Mapping[str, CaseEvidence], epochs: int) -> Mapping[str, CaseEvidence]:
    """The cases of an arm with as many epochs as the other has, so that both are compared over equally many."""
    own = side.about.epochs_of(side.arms[arm])
    return cases if own == epochs else as_table(cases, own).first_epochs(epochs)


def _asked_in_both(
    old: Side, new: Side, before: Mapping[str, CaseEvidence], after: Mapping[str, CaseEvidence]
) -> tuple[Mapping[str, CaseEvidence], Mapping[str, CaseEvidence]]:
    """The cases of two arms, without those that a run which stopped early was not to ask: they are not missing."""
    if old.about.sequential:
        after = {case: evidence for case, evidence in after.items() if case in before}
    if new.about.sequential:
        before = {case: evidence for case, evidence in before.items() if case in after}
    return before, after


def _examine_pair(
    old: ArmName,
    new: ArmName,
    cases: PairedCases,
    measures: Sequence[Measure],
    settings: IntervalSettings,
    most_flips: int,
    *,
    of: int,
    is_within: bool,
    is_same: bool,
) -> _PairFindings:
    shares = [measure for measure in measures if measure.is_share]
    amounts = [measure for measure in measures if not measure.is_share]
    main = next(iter(shares), Measure.ACCURACY)
    flips, left_out = find_flips(cases, main, of, most_flips)
    arms = ArmComparison(
        old,
        new,
        flips=flips,
        left_out=left_out,
        confusions=find_confusions(cases),
        contribution=find_contribution(cases),
        parts=part_by_kind(cases, main),
        unpaired=cases.count_unpaired(),
        newly_overflowing=cases.newly_overflowing,
        fit=cases.count_fit(),
        unfit=None if is_within else cases.find_unfit(),
    )
    return _PairFindings(
        arms,
        tuple(replace(each, is_same=is_same) for each in find_differences(cases, shares, settings)),
        compare_amounts(old, new, cases, amounts, replace(settings, level=LEVEL)),  # they get no verdict
        cases.incomplete,
        cases.never_fit,
        measure_clusters(cases),
    )


def _find_notes(
    comparison: Comparison, pairing: Pairing, findings: Sequence[_PairFindings]
) -> Iterator[ComparisonNote]:
    """Notes to read before any verdict, without those on one side alone."""
    arms = (
        (
            ArmsNote.SAME_SIDES,
            comparison.old == comparison.new
            and not pairing.is_within
            and any(old == new for old, new in pairing.pairs),
        ),
        (ArmsNote.MISSING, comparison.missing),
        (ArmsNote.ADDED, comparison.added),
        (ArmsNote.UNFIT, comparison.unfit),
        (ArmsNote.ALONE, comparison.alone),
    )
    yield from (note for note, applies in arms if applies)
    # Trials that no verdict may rest on, and those that could not be scored.
    incomplete = [finding.incomplete for finding in findings if finding.incomplete]
    never_fit = [finding.never_fit for finding in findings if finding.never_fit]
    for problem, cases in ((CasesProblem.UNSCORED, incomplete), (CasesProblem.NEVER_FIT, never_fit)):
        if cases:
            yield CasesNote(problem, max(cases), comparisons=len(cases), of=len(findings))
    if uneven := find_uneven_clusters([finding.clusters for finding in findings]):
        yield uneven


def _find_name_differences(pairing: Pairing, pairs: Sequence[ArmComparison]) -> Iterator[Mismatch]:
    """Differences between the names of paired arms of two sides."""
    names = () if pairing.is_within else ("model", "toolset", "variant")
    different = tuple(name for name in names if any(getattr(p.old, name) != getattr(p.new, name) for p in pairs))
    if different:
        yield Mismatch(Aspect.ARM_NAMES, different)
