"""Whether two sides may be compared, what differs between them, and what must be said first (rule E7)."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from toolbelt.evals.analysis.evidence.evidence import SideInfo
from toolbelt.text import plural

_SHOWN = 12
"""Characters of a digest or a commit that are told."""
_MOST_NAMED = 8
"""Cases, kinds or tags that a command to repeat is told with."""


def find_incomparable(old: SideInfo, new: SideInfo) -> tuple[str, ...]:
    """Why the two cannot be compared, a sentence each with what to do next; empty if they can.

    Cases and grading must agree (the digest of the dataset covers these alone), and which cases were asked, how often,
    and the settings models were asked with.
    """
    if _are_one(old, new):
        return ()
    one, other = _name(old), _name(new)
    # All advice is for one side: the old one where the dataset has changed, which nobody wants to change back.
    is_old = old.digest != new.digest or (new.is_baseline and not old.is_baseline)
    again, as_in = (old, new) if is_old else (new, old)
    found = []
    if old.digest != new.digest:
        found.append(
            f"The cases or their grading differ: {one} is of {_dataset(old)}, {other} of {_dataset(new)}; "
            f"{_repeat(again)} on the dataset that {_name(as_in)} was made with."
        )
    elif (old.chosen, old.cases) != (new.chosen, new.cases):
        how = ", but others or in another order" if old.cases == new.cases else ""
        found.append(
            f"Not the same cases were asked: {plural(old.cases, 'case')} in {one}, {new.cases:,} in {other}{how}; "
            f"{_choose(again, as_in)}."
        )
    if old.epochs != new.epochs:
        found.append(
            f"Cases were not asked equally often: --epochs is {old.epochs} in {one}, {new.epochs} in {other}; "
            f"{_repeat(again)} with --epochs {as_in.epochs}."
        )
    for key in sorted(old.settings.keys() | new.settings.keys()):
        before, after = old.settings.get(key), new.settings.get(key)
        if before != after:
            flag = "--" + key.replace("_", "-")
            found.append(
                f"Models were not asked alike: {flag} is {_setting(before)} in {one}, {_setting(after)} in {other}; "
                f"{_repeat(again)} {_with(flag, as_in.settings.get(key))}."
            )
    return tuple(found)


def find_differences(old: SideInfo, new: SideInfo) -> tuple[str, ...]:
    """What differs between the two and may, a sentence each: catalog, loadouts, code, servers."""
    if _are_one(old, new):
        return ()
    one, other = _name(old), _name(new)
    found = []
    if old.catalog != new.catalog:
        found.append(f"The catalog is {old.catalog or 'unnamed'} in {one}, {new.catalog or 'unnamed'} in {other}.")
    if old.surroundings != new.surroundings:
        found.append(
            f"Tools of the catalog, or loadouts, are not the same: their digest is {_short(old.surroundings)} in "
            f"{one}, {_short(new.surroundings)} in {other}."
        )
    for key, words in (("toolbelt", "toolbelt is version"), ("commit", "The commit is")):
        before, after = old.code.get(key, ""), new.code.get(key, "")
        if before and after and before != after:  # a baseline has no commit, so that it changes with results alone
            shorten = _short if key == "commit" else str
            found.append(f"{words} {shorten(before)} in {one}, {shorten(after)} in {other}.")
    if old.api_base != new.api_base and not (old.is_baseline or new.is_baseline):
        places = [about.api_base or "their providers" for about in (old, new)]
        found.append(f"Hosted models were asked at {places[0]} in {one}, at {places[1]} in {other}.")
    changed = [_name(about) for about in (old, new) if about.code.get("changed") == "yes"]
    if changed:
        found.append(f"Files were changed and not committed when {' and '.join(changed)} {_were(changed)} begun.")
    return tuple(found)


def find_notes(old: SideInfo, new: SideInfo) -> tuple[str, ...]:
    """What must be known before any verdict, a sentence each: unfinished runs, cases that nobody has reviewed."""
    found = []
    for about in (old,) if _are_one(old, new) else (old, new):
        name = _name(about)
        if about.status != "finished":
            why = f": {about.reason.rstrip('.')}" if about.reason else ""
            # One that is running goes on by itself, and a baseline cannot.
            goes_on = about.status == "running" or about.is_baseline
            hint = "" if goes_on else f"; what is left: toolbelt eval resume {about.name}"
            found.append(f"{name[0].upper()}{name[1:]} is not finished ({about.status}{why}){hint}.")
        if about.drafts:
            found.append(
                f"{plural(about.drafts, 'case')} of the {about.cases} in {name} "
                f"{'is a draft' if about.drafts == 1 else 'are drafts'} that nobody has reviewed."
            )
    return tuple(found)


def _are_one(old: SideInfo, new: SideInfo) -> bool:
    return old is new or old == new


def _name(about: SideInfo) -> str:
    return f"baseline {about.name}" if about.is_baseline else f"run {about.name}"


def _dataset(about: SideInfo) -> str:
    return f"{about.dataset} (digest {_short(about.digest)})"


def _repeat(about: SideInfo) -> str:
    if about.is_baseline:
        return "save a new baseline from a run"
    return f"repeat {_name(about)}"


def _choose(again: SideInfo, as_in: SideInfo) -> str:
    """What to do so that one is asked the cases of the other."""
    wanted = _flags(as_in.filter)
    surplus = [f"--{key}" for key in again.filter if key not in as_in.filter and key != "seed"]
    if again.filter == as_in.filter:
        # A catalog that lacks a tool leaves out what asks for it.
        return (
            f"both were chosen alike, so that another catalog left others out, or the dataset is in another order; "
            f"{_repeat(again)} with the catalog and the dataset of {_name(as_in)}"
        )
    without = f"without {' and '.join(surplus)}" if surplus else ""
    return f"{_repeat(again)} {' and '.join(filter(None, (wanted and f'with {wanted}', without)))}"


def _flags(chosen: Mapping[str, Any]) -> str:
    """`--kind single --limit 120 --seed 0`, to be pasted; many cases are not listed."""
    words = []
    for key, value in chosen.items():
        if isinstance(value, list | tuple) and len(value) > _MOST_NAMED:
            words.append(f"--{key} for each of its {len(value):,}")
        elif isinstance(value, list | tuple):
            words += [f"--{key} {shlex.quote(one)}" for one in value]
        else:
            words.append(f"--{key} {value}")
    return " ".join(words)


def _with(flag: str, value: Any) -> str:
    return f"without {flag}" if value is None else f"with {flag} {value}"


def _short(text: str) -> str:
    return text[:_SHOWN]


def _setting(value: Any) -> str:
    return "not set" if value is None else str(value)


def _were(names: list[str]) -> str:
    return "was" if len(names) == 1 else "were"
