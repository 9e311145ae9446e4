"""What a new baseline changes against the one it replaces."""

from __future__ import annotations

from collections.abc import Mapping

from toolbelt.evals.analysis.evidence.evidence import CaseEvidence, Side
from toolbelt.text import plural


def describe_changes(old: Side, new: Side) -> str:
    """In one line: what it is of, and how many cases' results are not what they were.

    Args:
        old: The baseline that is replaced.
        new: Its successor.

    Returns:
        Such as `full: 3 cases now wrong, 1 now right`; `nothing changed` where they are alike in all they hold.
    """
    parts = [f"{words} changed" for words, before, after in _heads(old, new) if before != after]
    places = {arm.key: place for place, arm in enumerate(old.arms)}
    same_model = len({arm.model for arm in (*old.arms, *new.arms)}) == 1
    for place, arm in enumerate(new.arms):
        label = " · ".join(filter(None, (arm.toolset, arm.variant))) if same_model else arm.label
        if arm.key not in places:
            parts.append(f"{label} is new")
        elif told := _of_cases(old.read(places[arm.key]), new.read(place)):
            parts.append(f"{label}: {told}")
    known = {arm.key for arm in new.arms}
    gone = [arm.label for arm in old.arms if arm.key not in known]
    parts += [f"without {', '.join(gone)}"] if gone else []
    return "; ".join(parts) or "nothing changed"


def _heads(old: Side, new: Side) -> list[tuple[str, object, object]]:
    before, after = old.about, new.about
    cases = "the dataset" if before.dataset == after.dataset else f"the dataset (now {after.dataset})"
    return [
        (cases, (before.dataset, before.digest), (after.dataset, after.digest)),
        ("which cases were asked", (before.chosen, before.cases), (after.chosen, after.cases)),
        ("how often they were asked", before.epochs, after.epochs),
        ("the settings", dict(before.settings), dict(after.settings)),
        ("the catalog or the loadouts", before.surroundings, after.surroundings),
        ("the version of toolbelt", before.code.get("toolbelt"), after.code.get("toolbelt")),
    ]


def _of_cases(before: Mapping[str, CaseEvidence], after: Mapping[str, CaseEvidence]) -> str:
    """How many cases of an arm went how; empty where all are as they were."""
    both = [case for case in after if case in before]
    shares = [(_right(before[case]), _right(after[case])) for case in both]
    otherwise = sum(
        was == now and before[case].attempts != after[case].attempts
        for case, (was, now) in zip(both, shares, strict=True)
    )
    counts = (
        (sum(now < was for was, now in shares), "now wrong"),
        (sum(now > was for was, now in shares), "now right"),
        (otherwise, "otherwise changed"),
        (len(after) - len(both), "new"),
        (len(before) - len(both), "gone"),
    )
    told = [(count, words) for count, words in counts if count]
    return ", ".join(
        f"{plural(count, 'case') if place == 0 else f'{count:,}'} {words}" for place, (count, words) in enumerate(told)
    )


def _right(case: CaseEvidence) -> int:
    return sum(attempt is not None and attempt.is_right for attempt in case.attempts)
