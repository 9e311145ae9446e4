"""Whether two sides may be compared, what differs between them, and notes to read first (rule E7)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from toolbelt.evals.analysis.comparison.reasons import Aspect, Mismatch, SideNote, SideProblem
from toolbelt.evals.analysis.evidence.evidence import SideInfo

BY_NAME = ("model_params", "toolset_systems")
"""Settings that are a mapping from models or toolsets."""


def find_incomparable(old: SideInfo, new: SideInfo, shared: Collection[str] = ()) -> tuple[Mismatch, ...]:
    """Why the two cannot be compared; empty if they can.

    Cases and grading must agree (the digest of the dataset covers these alone), and which cases were asked, how often,
    and the settings models were asked with (rule V5).

    Args:
        old: One side.
        new: The other.
        shared: Models and toolsets that both have, whose own settings must agree.
    """
    return () if old == new else tuple(_find_incomparable(old, new, sorted(shared)))


def find_mismatches(old: SideInfo, new: SideInfo) -> tuple[Mismatch, ...]:
    """Differences between the two that are allowed: catalog, loadouts, code, servers."""
    return () if old == new else tuple(_find_differences(old, new))


def find_side_notes(old: SideInfo, new: SideInfo) -> tuple[SideNote, ...]:
    """Notes on unfinished runs and unreviewed cases, of both sides; of one side, if they are the same."""
    return tuple(note for side in ((old,) if old == new else (old, new)) for note in _find_side_notes(side))


def _find_incomparable(old: SideInfo, new: SideInfo, shared: Iterable[str]) -> Iterator[Mismatch]:
    if old.digest != new.digest:
        yield Mismatch(Aspect.DATASET)
    elif old.chosen != new.chosen or (old.cases != new.cases and not (old.sequential or new.sequential)):
        yield Mismatch(Aspect.SELECTION)
    if old.epochs != new.epochs and not _is_asked_further(old, new):
        yield Mismatch(Aspect.EPOCHS)
    for model in sorted(old.aliases.keys() & new.aliases.keys()):
        if old.aliases[model] != new.aliases[model]:
            yield Mismatch(Aspect.ALIAS, (model,))
    if old.is_imported or new.is_imported:
        return  # how a model was asked elsewhere is not known
    for setting in sorted(old.settings.keys() | new.settings.keys()):
        before, after = old.settings.get(setting), new.settings.get(setting)
        if setting in BY_NAME:
            pairs = ((name, (before or {}).get(name), (after or {}).get(name)) for name in shared)
            yield from (Mismatch(Aspect.SETTING, (setting, name)) for name, one, other in pairs if one != other)
        elif before != after:
            yield Mismatch(Aspect.SETTING, (setting,))


def _is_asked_further(old: SideInfo, new: SideInfo) -> bool:
    """Whether one side is a run whose arms may be asked as often as the other; as many epochs of both are compared."""
    return any(
        side.top_up is not None and side.top_up.epochs == other.epochs for side, other in ((old, new), (new, old))
    )


def _find_differences(old: SideInfo, new: SideInfo) -> Iterator[Mismatch]:
    if old.catalog != new.catalog:
        yield Mismatch(Aspect.CATALOG)
    if old.surroundings != new.surroundings:
        yield Mismatch(Aspect.SURROUNDINGS)
    for key, aspect in (("toolbelt", Aspect.VERSION), ("commit", Aspect.COMMIT)):
        before, after = old.code.get(key, ""), new.code.get(key, "")
        if before and after and before != after:  # a baseline has no commit, so that it changes with results alone
            yield Mismatch(aspect)
    if old.api_base != new.api_base and not (old.is_baseline or new.is_baseline):
        yield Mismatch(Aspect.API_BASE)
    if "yes" in (old.code.get("changed"), new.code.get("changed")):
        yield Mismatch(Aspect.UNCOMMITTED_CHANGES)


def _find_side_notes(side: SideInfo) -> Iterator[SideNote]:
    if side.status != "finished":
        yield SideNote(SideProblem.UNFINISHED, side)
    if side.sequential:
        yield SideNote(SideProblem.SEQUENTIAL, side)
    if side.top_up:
        yield SideNote(SideProblem.TOPPED_UP, side)
    if side.is_imported:
        yield SideNote(SideProblem.IMPORTED, side)
    if side.drafts:
        yield SideNote(SideProblem.DRAFTS, side)
