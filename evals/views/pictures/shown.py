"""A picture, and what pictures of arms have in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from toolbelt.evals.analysis.summary.run_summary import ArmSummary, RunSummary
from toolbelt.evals.views.pictures.canvas import Style, distinct, drawable, style

MOST_ARMS = 60
"""The most arms in a picture; of more, it shows the first ones and says so."""
_MOST_LETTERS, _MOST_OF_MODELS = 44, 64
_MOST_NAMED = 12
"""The most arms without anything to draw that a note names."""


@dataclass(frozen=True, slots=True)
class Shown:
    """An arm as pictures show it.

    Attributes:
        number: From 1, its row in the report's table.
        label: What distinguishes it from the other arms of its model.
        model: Its model, to show.
        style: Of its model.
        arm: Its measures.
    """

    number: int
    label: str
    model: str
    style: Style
    arm: ArmSummary


def shown_arms(summary: RunSummary) -> list[Shown]:
    """The arms in their order, at most `MOST_ARMS`, with unique names that can be drawn."""
    arms = summary.arms[:MOST_ARMS]
    models = list(dict.fromkeys(arm.model for arm in summary.arms))
    model_names = dict(zip(models, distinct(models, _MOST_OF_MODELS), strict=True))
    labels = [drawable(arm.toolset_label, _MOST_LETTERS) for arm in arms]
    return [
        Shown(
            number,
            f"#{number} {label}" if _is_shared(arms, labels, number - 1) else label,
            model_names[arm.model],
            style(models.index(arm.model)),
            arm,
        )
        for number, (arm, label) in enumerate(zip(arms, labels, strict=True), start=1)
    ]


def by_model(shown: Sequence[Shown]) -> Mapping[str, list[Shown]]:
    """The arms of each model, in their order."""
    groups: dict[str, list[Shown]] = {}
    for item in shown:
        groups.setdefault(item.model, []).append(item)
    return groups


def left_out(summary: RunSummary, missing: Mapping[str, Sequence[Shown]] = MappingProxyType({})) -> str:
    """What a picture does not show, in words; empty if it shows all.

    Args:
        summary: Of the run.
        missing: Arms that have nothing to draw, by the reason.
    """
    parts = []
    if len(summary.arms) > MOST_ARMS:
        parts.append(f"The first {MOST_ARMS} of {len(summary.arms)} arms.")
    has_models = len({arm.model for arm in summary.arms}) > 1
    for reason, shown in missing.items():
        groups = by_model(shown[:_MOST_NAMED])
        of = {model: f"{model} · " if has_models else "" for model in groups}
        names = [of[model] + ", ".join(item.label for item in members) for model, members in groups.items()]
        more = f" and {len(shown) - _MOST_NAMED} more" if len(shown) > _MOST_NAMED else ""
        parts.append(f"{reason[0].upper()}{reason[1:]}: {'; '.join(names)}{more}.")
    return " ".join(parts)


def by_reason(shown: Sequence[Shown], why: Callable[[Shown], str]) -> dict[str, list[Shown]]:
    """The arms that have nothing to draw, by the reason, and under an empty one those that have."""
    groups: dict[str, list[Shown]] = {"": []}
    for item in shown:
        groups.setdefault(why(item), []).append(item)
    return groups


def _is_shared(arms: Sequence[ArmSummary], labels: Sequence[str], place: int) -> bool:
    """Whether another arm of the same model looks the same, its name being cut."""
    same = [n for n, arm in enumerate(arms) if arm.model == arms[place].model and labels[n] == labels[place]]
    return len(same) > 1
