"""Reasons, mismatches and notes of a comparison, in words."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, assert_never

from toolbelt.evals.analysis.comparison.comparison import Comparison
from toolbelt.evals.analysis.comparison.number_format import format_bound, format_bounds
from toolbelt.evals.analysis.comparison.reasons import (
    ArmsNote,
    Aspect,
    CasesNote,
    CasesProblem,
    ClusterSizes,
    ComparisonNote,
    DifferentTokenizers,
    Mismatch,
    MissingFigures,
    Reason,
    SideNote,
    SideProblem,
    TooFewCases,
    UncertainLoss,
    UnscoredCases,
)
from toolbelt.evals.analysis.evidence.evidence import ArmName, SideInfo
from toolbelt.evals.scoring.reasons import cut
from toolbelt.evals.statistics.verdict import SIGNIFICANT
from toolbelt.text import plural

_LONGEST_SETTING = 80
"""Characters that are shown of a setting, such as a system prompt."""
_DIGEST_LENGTH = 12
"""Characters of a digest or a commit that are shown."""
_MOST_VALUES = 8
"""Cases, kinds or tags that a command to repeat is shown with."""
_MISSING_FIGURES: Mapping[MissingFigures, str] = MappingProxyType(
    {
        MissingFigures.NO_SHARED_CASES: "No case was scored in both arms.",
        MissingFigures.SINGLE_CLUSTER: "A single cluster of cases has no interval.",
        MissingFigures.ESTIMATED_TOKENS: "Counted by us: not every trial has the provider's count.",
        MissingFigures.UNKNOWN_TOKENS: "Prompt tokens are neither reported nor counted by us in every trial.",
        MissingFigures.UNKNOWN_COST: "The price is not known of every trial.",
        MissingFigures.UNKNOWN_LATENCY: "The latency was not kept of every trial, as in a baseline.",
    }
)


def describe_reason(reason: Reason) -> str:
    """Why a contrast has no better verdict, or no figures, in a sentence."""
    match reason:
        case MissingFigures():
            return _MISSING_FIGURES[reason]
        case DifferentTokenizers():
            return f"Counted by different tokenizers: {reason.old or 'unknown'} and {reason.new or 'unknown'}."
        case TooFewCases():
            few = f"Too few of {reason.planned:,} cases are answered yet" if reason.is_unfinished else "Too few cases"
            return f"{few}: {format_bounds(reason.low, reason.high, reason.margin)} points are possible."
        case UncertainLoss():
            return f"A loss is likely but not certain: {_p_values(reason)}."
        case UnscoredCases():
            return _unscored_cases(reason)
        case _:
            assert_never(reason)


def _p_values(reason: UncertainLoss) -> str:
    alone, adjusted, verdicts = reason.p_value, reason.adjusted_p, reason.verdicts
    if verdicts == 1 or alone is None:
        return f"the p value is {adjusted:.2g}"
    if alone < SIGNIFICANT:
        chance = f"among {verdicts} verdicts it may be chance (adjusted: {adjusted:.2g})"
        return f"alone its p value would be {alone:.2g}; {chance}"
    return f"the p value is {alone:.2g} (adjusted over {verdicts} verdicts: {adjusted:.2g})"


def _unscored_cases(reason: UnscoredCases) -> str:
    if not reason.cases and reason.never_fit and reason.bound is not None:
        fit = "fits" if reason.never_fit == 1 else "fit"
        without = f"Without the {plural(reason.never_fit, 'case')} that {fit} the window in neither arm"
        return f"{without}, the lower bound is {format_bound(reason.bound, reason.margin)} points."
    who = "Not all cases of other arms are scored"
    if reason.cases:
        who = describe_incomplete(reason.cases, reason.planned, reason.epochs)
    never_fit = f"; {describe_never_fit(reason.never_fit, is_more=True)}" if reason.never_fit else ""
    if reason.bound is None:
        then = f"the adjusted p value is {reason.adjusted_p:.2g}"
    else:
        which = "lower" if reason.counted_as == "lost" else "upper"
        then = f"the {which} bound is {format_bound(reason.bound, reason.margin)} points"
    return f"{who}; counted as {reason.counted_as.value}, {then}{never_fit}."


def describe_incomplete(incomplete: int, planned: int, epochs: int) -> str:
    """`12 of 724 cases are not scored in both arms`."""
    how = "not scored in both arms" if epochs == 1 else "not scored at every epoch in both arms"
    return f"{incomplete:,} of {plural(planned, 'case')} {'is' if incomplete == 1 else 'are'} {how}"


def describe_never_fit(count: int, *, is_more: bool = False, are_wrong: bool = False) -> str:
    """`13 cases fit the window in neither arm and count for neither`.

    Args:
        count: How many, 1 or more.
        is_more: Whether other cases were mentioned before.
        are_wrong: Whether they count as not right in both.
    """
    cases = f"{count:,} more" if is_more else plural(count, "case")
    fit, counts = ("fits", "counts") if count == 1 else ("fit", "count")
    return (
        f"{cases} {fit} the window in neither arm and {counts} {'as not right in both' if are_wrong else 'for neither'}"
    )


# What differs between two sides


def describe_reasons(comparison: Comparison) -> list[str]:
    """Why the two sides cannot be compared, a sentence each with what to do next."""
    return [describe_mismatch(reason, comparison.old, comparison.new) for reason in comparison.reasons]


def describe_differences(comparison: Comparison) -> list[str]:
    """What differs between the two sides and may, a sentence each."""
    return [describe_mismatch(difference, comparison.old, comparison.new) for difference in comparison.differences]


def describe_mismatch(mismatch: Mismatch, old: SideInfo, new: SideInfo) -> str:
    """One aspect in which two sides differ, in a sentence."""
    old_name, new_name = _name(old), _name(new)
    match mismatch.aspect:
        case Aspect.DATASET | Aspect.SELECTION | Aspect.EPOCHS | Aspect.SETTING | Aspect.ALIAS:
            return _must_agree(mismatch, old, new)
        case Aspect.CATALOG:
            return f"The catalog is {old.catalog or 'unnamed'} in {old_name}, {new.catalog or 'unnamed'} in {new_name}."
        case Aspect.SURROUNDINGS:
            return (
                f"Tools of the catalog, or loadouts, are not the same: their digest is {_short(old.surroundings)} in "
                f"{old_name}, {_short(new.surroundings)} in {new_name}."
            )
        case Aspect.VERSION:
            return f"toolbelt is version {old.code['toolbelt']} in {old_name}, {new.code['toolbelt']} in {new_name}."
        case Aspect.COMMIT:
            return (
                f"The commit is {_short(old.code['commit'])} in {old_name}, {_short(new.code['commit'])} in {new_name}."
            )
        case Aspect.API_BASE:
            places = [side.api_base or "their providers" for side in (old, new)]
            return f"Hosted models were asked at {places[0]} in {old_name}, at {places[1]} in {new_name}."
        case Aspect.UNCOMMITTED_CHANGES:
            changed = [_name(side) for side in (old, new) if side.code.get("changed") == "yes"]
            were = "was" if len(changed) == 1 else "were"
            return f"Files were changed and not committed when {' and '.join(changed)} {were} begun."
        case Aspect.ARM_NAMES:
            return f"The arms compared differ in {' and '.join(mismatch.names)}."
        case _:
            assert_never(mismatch.aspect)


def _must_agree(mismatch: Mismatch, old: SideInfo, new: SideInfo) -> str:
    old_name, new_name = _name(old), _name(new)
    # All advice is for one side: the old one where the dataset has changed, which nobody wants to change back.
    is_old = old.digest != new.digest or (new.is_baseline and not old.is_baseline)
    again, like = (old, new) if is_old else (new, old)
    if mismatch.aspect is Aspect.DATASET:
        return (
            f"The cases or their grading differ: {old_name} is of {_dataset(old)}, {new_name} of {_dataset(new)}; "
            f"{_repeat(again)} on the dataset that {_name(like)} was made with."
        )
    if mismatch.aspect is Aspect.SELECTION:
        how = ", but others or in another order" if old.cases == new.cases else ""
        return (
            f"Not the same cases were asked: {plural(old.cases, 'case')} in {old_name}, "
            f"{new.cases:,} in {new_name}{how}; "
            f"{_repeat_selection(again, like)}."
        )
    if mismatch.aspect is Aspect.EPOCHS:
        return (
            f"Cases were not asked equally often: --epochs is {old.epochs} in {old_name}, {new.epochs} in {new_name}; "
            f"{_repeat(again)} with --epochs {like.epochs}"
            f"{', or gate it with --top-up' if new.epochs < old.epochs and not new.is_baseline else ''}."
        )
    setting, *of = mismatch.names
    if mismatch.aspect is Aspect.ALIAS:
        return (
            f"Not the same model was asked: {setting} stands for {old.aliases[setting]} in {old_name}, "
            f"{new.aliases[setting]} in {new_name}; {_repeat(again)}, and name the model itself in both."
        )
    before, after, expected = (side.settings.get(setting) for side in (old, new, like))
    if of:
        before, after = ((value or {}).get(of[0]) for value in (before, after))
        what, are, those = ("params", "are", "those") if setting == "model_params" else ("system prompt", "is", "that")
        return (
            f"Models were not asked alike: the {what} of {of[0]} {are} {_setting(before)} in {old_name}, "
            f"{_setting(after)} in {new_name}; {_repeat(again)} with {those} of {_name(like)} in toolbelt.yaml."
        )
    flag = "--" + setting.replace("_", "-")
    shown = _setting(expected)
    with_flag = f"without {flag}" if expected is None else f"with {flag} {shown}"
    if "…" in shown:
        with_flag = f"with the {flag} of {_name(like)}"
    return (
        f"Models were not asked alike: {flag} is {_setting(before)} in {old_name}, {_setting(after)} in {new_name}; "
        f"{_repeat(again)} {with_flag}."
    )


def _name(side: SideInfo) -> str:
    return f"baseline {side.name}" if side.is_baseline else f"run {side.name}"


def _dataset(side: SideInfo) -> str:
    return f"{side.dataset} (digest {_short(side.digest)})"


def _repeat(side: SideInfo) -> str:
    return "save a new baseline from a run" if side.is_baseline else f"repeat {_name(side)}"


def _repeat_selection(again: SideInfo, like: SideInfo) -> str:
    """What to do so that one side is run on the cases of the other."""
    flags = _flags(like.filter)
    surplus = [f"--{key}" for key in again.filter if key not in like.filter and key != "seed"]
    if again.filter == like.filter:
        # A catalog that lacks a tool leaves out what asks for it.
        return (
            f"both were chosen alike, so that another catalog left others out, or the dataset is in another order; "
            f"{_repeat(again)} with the catalog and the dataset of {_name(like)}"
        )
    without = f"without {' and '.join(surplus)}" if surplus else ""
    return f"{_repeat(again)} {' and '.join(filter(None, (flags and f'with {flags}', without)))}"


def _flags(chosen: Mapping[str, Any]) -> str:
    """`--kind single --limit 120 --seed 0`, to be pasted; many cases are not listed."""
    words = []
    for key, value in chosen.items():
        if isinstance(value, list | tuple) and len(value) > _MOST_VALUES:
            words.append(f"--{key} for each of its {len(value):,}")
        elif isinstance(value, list | tuple):
            words += [f"--{key} {shlex.quote(part)}" for part in value]
        else:
            words.append(f"--{key} {value}")
    return " ".join(words)


def _short(text: str) -> str:
    return text[:_DIGEST_LENGTH]


def _setting(value: Any) -> str:
    text = cut(" ".join(str(value).split()), _LONGEST_SETTING)
    return "not set" if value is None else repr(text) if isinstance(value, str) and " " in text else text


# What to know before any verdict


def describe_notes(comparison: Comparison) -> list[str]:
    """Notes to read before any verdict, one sentence each."""
    return [_describe_note(note, comparison) for note in comparison.notes]


def _describe_note(note: ComparisonNote, comparison: Comparison) -> str:
    match note:
        case SideNote():
            return describe_side_note(note)
        case ArmsNote():
            return _arms_note(note, comparison)
        case CasesNote():
            old = comparison.old
            cases = (
                describe_never_fit(note.cases, are_wrong=comparison.is_within)
                if note.problem is CasesProblem.NEVER_FIT
                else describe_incomplete(note.cases, old.cases, old.epochs)
            )
            which = f" ({note.comparisons} of {note.of} comparisons; this is the worst of them)" if note.of > 1 else ""
            return f"{cases}{which}."
        case ClusterSizes():
            return describe_cluster_sizes(note)
        case _:
            assert_never(note)


def describe_side_note(note: SideNote) -> str:
    """An unfinished run, or cases that nobody has reviewed, in a sentence."""
    side, name = note.side, _name(note.side)
    if note.problem is SideProblem.DRAFTS:
        are = "is a draft" if side.drafts == 1 else "are drafts"
        return f"{plural(side.drafts, 'case')} of the {side.cases} in {name} {are} that nobody has reviewed."
    if note.problem is SideProblem.SEQUENTIAL:
        return _describe_looks(side, name)
    if note.problem is SideProblem.TOPPED_UP:
        return _describe_top_up(side, name)
    if note.problem is SideProblem.IMPORTED:
        return (
            f"The answers of {name} were imported: how the model was asked is not known, so settings are not compared; "
            "nor is what it cost."
        )
    why = f": {side.reason.rstrip('.')}" if side.reason else ""
    # A running one goes on by itself; a baseline and an imported one cannot.
    goes_on = side.status == "running" or side.is_baseline or side.is_imported
    hint = "" if goes_on else f"; what is left: toolbelt eval resume {side.name}"
    return f"{name[0].upper()}{name[1:]} is not finished ({side.status}{why}){hint}."


def _describe_looks(side: SideInfo, name: str) -> str:
    design = side.sequential
    assert design is not None  # noqa: S101  what the note is of
    when = f"after {side.cases:,} of {plural(design.cases, 'case')}" if design.is_decided else "not decided"
    margin = "" if side.margin is None else f" by a margin of {100 * side.margin:g} points"
    return (
        f"{name[0].upper()}{name[1:]} is run until it is decided{margin}: {when}, "
        f"look {design.look} of {design.looks}. "
        f"Intervals are of {design.level:.2%} here, so that all looks together err as a single one of 95%."
    )


def _describe_top_up(side: SideInfo, name: str) -> str:
    top_up = side.top_up
    assert top_up is not None  # noqa: S101  what the note is of
    asked = ", ".join(f"{arm} ×{epochs}" for arm, epochs in top_up.asked.items())
    return (
        f"{name[0].upper()}{name[1:]} is asked further where verdicts are open, up to {top_up.epochs} epochs: {asked}. "
        f"Intervals are of {top_up.level:.2%} here, so that all looks together err as a single one of 95%."
    )


def describe_cluster_sizes(sizes: ClusterSizes) -> str:
    """That few large clusters may carry a difference, in a sentence."""
    return (
        f"Cases come in clusters of very different sizes (largest {sizes.largest:,}, mean {sizes.mean:.1f}): "
        "intervals may be too narrow."
    )


def _arms_note(note: ArmsNote, comparison: Comparison) -> str:
    old, new = comparison.old, comparison.new
    match note:
        case ArmsNote.SAME_SIDES:
            return f"Both sides are {old.name}, whose arms are compared with themselves."
        case ArmsNote.MISSING:
            return f"{_labelled(comparison.missing, old)} not in {new.name}: {_labels(comparison.missing)}."
        case ArmsNote.ADDED:
            return f"{_labelled(comparison.added, new)} not in {old.name}: {_labels(comparison.added)}."
        case ArmsNote.UNFIT:
            return f"Not compared, as nothing fits: {name_arms(comparison.unfit)}."
        case ArmsNote.ALONE:
            which = "as there is no arm of the same model to compare with"
            return f"Not compared, {which}: {name_arms(comparison.alone)}."
        case _:
            assert_never(note)


def _labelled(arms: tuple[ArmName, ...], side: SideInfo) -> str:
    return f"{plural(len(arms), 'arm')} of {side.name}"


def _labels(arms: tuple[ArmName, ...]) -> str:
    return ", ".join(arm.label for arm in arms)


def name_arms(arms: tuple[ArmName, ...] | list[ArmName], most: int = 12) -> str:
    """`mine with full, tiered; m with full and 3 others`: by model, in their order, at most so many by name."""
    models: dict[str, list[str]] = {}
    for arm in arms[:most]:
        models.setdefault(arm.model, []).append(arm.toolset_label)
    named = "; ".join(f"{model} with {', '.join(toolsets)}" for model, toolsets in models.items())
    others = len(arms) - most
    return f"{named} and {plural(others, 'other')}" if others > 0 else named
