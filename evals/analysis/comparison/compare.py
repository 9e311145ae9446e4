"""Two sides compared arm by arm: figures, verdicts, and what lies behind them (rule E7)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from toolbelt.evals.analysis.comparison.amounts import compare_amounts
from toolbelt.evals.analysis.comparison.comparability import find_differences, find_incomparable, find_notes
from toolbelt.evals.analysis.comparison.comparison import LEVEL, MARGIN, ArmComparison, Comparison, Contrast, Measure
from toolbelt.evals.analysis.comparison.comparison_text import name_arms
from toolbelt.evals.analysis.comparison.explanations import find_confusions, find_contribution, find_flips, part_by_kind
from toolbelt.evals.analysis.comparison.paired_cases import (
    ClusterSizes,
    PairedCases,
    describe_cluster_sizes,
    measure_clusters,
    pair_cases,
)
from toolbelt.evals.analysis.comparison.pairing import Pairing
from toolbelt.evals.analysis.comparison.shares import (
    Difference,
    IntervalSettings,
    describe_incomplete,
    describe_never_fit,
    find_difference,
    give_verdicts,
)
from toolbelt.evals.analysis.evidence.evidence import ArmName, CaseEvidence, Side, SideInfo
from toolbelt.evals.statistics.paired import RESAMPLES
from toolbelt.text import plural


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
    findings: tuple[Difference, ...]
    amounts: tuple[Contrast, ...]
    incomplete: int
    never_fit: int
    clusters: ClusterSizes


def compare(
    old: Side,
    new: Side,
    pairing: Pairing,
    *,
    margin: float = MARGIN,
    measures: Sequence[Measure] = tuple(Measure),
    seed: int = 0,
    resamples: int = RESAMPLES,
    advance: Callable[[int], object] | None = None,
) -> Comparison:
    """Compare arms case by case.

    Args:
        old: What is compared with.
        new: What is judged; the same where arms of one run are compared.
        pairing: Which arms.
        margin: Share that may be lost, 0 or more.
        measures: Which; those that are shares get verdicts, with p values adjusted over all of them and all pairs.
        seed: Of resampling.
        resamples: Drawn for an interval or a test that is not exact.
        advance: Told how many of the pairs are done.

    Returns:
        The comparison; without pairs, but with the reasons, where the two cannot be compared.

    Raises:
        ValueError: the margin is out of range, or there are too few resamples.
    """
    reasons = find_incomparable(old.about, new.about)
    told = Comparison(
        old=old.about,
        new=new.about,
        reasons=reasons,
        differences=find_differences(old.about, new.about),
        notes=find_notes(old.about, new.about),
        missing=tuple(old.arms[position] for position in pairing.missing),
        added=tuple(new.arms[position] for position in pairing.added),
        unfit=tuple(new.arms[position] for position in pairing.unfit),
        alone=tuple(new.arms[position] for position in pairing.alone),
        margin=margin,
        level=LEVEL,
    )
    if reasons:
        return told
    # Each measure once, in its own order: shares come first.
    wanted = tuple(measure for measure in Measure if measure in measures)
    settings = IntervalSettings(margin, LEVEL, seed, resamples)
    findings = []
    for before, after, cases in _read_pairs(old, new, pairing):
        findings.append(_examine_pair(before, after, cases, wanted, settings, is_within=pairing.is_within))
        if advance is not None:
            advance(len(findings))
    verdicts = iter(give_verdicts([finding for one in findings for finding in one.findings], margin))
    pairs = tuple(
        replace(one.arms, contrasts=(*(next(verdicts) for _ in one.findings), *one.amounts)) for one in findings
    )
    notes = (
        *told.notes,
        *_note_same(told, pairing),
        *_note_arms(told),
        *_note_unscored(findings, old.about),
        *_note_clusters(findings),
    )
    return replace(told, pairs=pairs, notes=notes, differences=(*told.differences, *_tell_keys(pairing, pairs)))


def _read_pairs(old: Side, new: Side, pairing: Pairing) -> Iterator[tuple[ArmName, ArmName, PairedCases]]:
    """The cases of each pair; an arm that several are held against is read once."""
    about, read = old.about, -1
    before: Mapping[str, CaseEvidence] = {}
    for one, other in pairing.pairs:
        if one != read:
            before, read = old.read(one), one
        cases = pair_cases(before, new.read(other), about.cases, about.epochs)
        yield old.arms[one], new.arms[other], cases


def _examine_pair(
    old: ArmName,
    new: ArmName,
    cases: PairedCases,
    measures: Sequence[Measure],
    settings: IntervalSettings,
    *,
    is_within: bool = False,
) -> _PairFindings:
    shares = [measure for measure in measures if measure.is_share]
    amounts = [measure for measure in measures if not measure.is_share]
    told = next(iter(shares), Measure.ACCURACY)
    arms = ArmComparison(
        old,
        new,
        flips=find_flips(cases.scored, told),
        confusions=find_confusions(cases.scored),
        contribution=find_contribution(cases.scored),
        parts=part_by_kind(cases.scored, told),
        unpaired=cases.count_lost(),
        newly_overflowing=tuple(pair.case for pair in cases.pairs if pair.newly_overflows),
        fit=cases.count_fit(),
        unfit=None if is_within else cases.find_unfit(),
    )
    return _PairFindings(
        arms,
        tuple(find_difference(cases, measure, settings) for measure in shares),
        compare_amounts(old, new, cases, amounts, settings),
        cases.incomplete,
        cases.never_fit,
        measure_clusters(cases.scored),
    )


def _note_same(told: Comparison, pairing: Pairing) -> Iterator[str]:
    """That nothing is compared with anything: a run was named twice."""
    if told.old == told.new and not pairing.is_within and any(one == other for one, other in pairing.pairs):
        yield f"Both sides are {told.old.name}, whose arms are held against themselves."


def _note_arms(told: Comparison) -> Iterator[str]:
    """Arms that no verdict is on."""
    if told.missing:
        labels = ", ".join(arm.label for arm in told.missing)
        yield f"{plural(len(told.missing), 'arm')} of {told.old.name} not in {told.new.name}: {labels}."
    if told.added:
        labels = ", ".join(arm.label for arm in told.added)
        yield f"{plural(len(told.added), 'arm')} of {told.new.name} not in {told.old.name}: {labels}."
    if told.unfit:
        yield f"Not compared, as nothing fits: {name_arms(told.unfit)}."
    if told.alone:
        yield f"Not compared, as there is no other of the same model to compare with: {name_arms(told.alone)}."


def _note_unscored(findings: Sequence[_PairFindings], about: SideInfo) -> Iterator[str]:
    """Trials that no verdict may rest on, and those that could not be."""
    unscored = [one.incomplete for one in findings if one.incomplete]
    if unscored:
        told = describe_incomplete(max(unscored), about.cases, about.epochs)
        yield f"{told}{_of_comparisons(len(unscored), len(findings))}."
    too_long = [one.never_fit for one in findings if one.never_fit]
    if too_long:
        yield f"{describe_never_fit(max(too_long))}{_of_comparisons(len(too_long), len(findings))}."


def _note_clusters(findings: Sequence[_PairFindings]) -> Iterator[str]:
    """That few large clusters may carry what is found."""
    if told := describe_cluster_sizes([one.clusters for one in findings]):
        yield told


def _of_comparisons(count: int, of: int) -> str:
    return "" if of == 1 else f" ({count} of {of} comparisons; this is the worst of them)"


def _tell_keys(pairing: Pairing, pairs: Sequence[ArmComparison]) -> Iterator[str]:
    """What arms of two sides that are paired differ in."""
    if pairing.is_within:
        return
    names = ("model", "toolset", "variant")
    found = [name for name in names if any(getattr(pair.old, name) != getattr(pair.new, name) for pair in pairs)]
    if found:
        yield f"The arms compared differ in {' and '.join(found)}."
