"""What each model of a run has room for, and which pairs of a suite cannot be asked at all (rules E4 and L15)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from toolbelt.console.screen import notify
from toolbelt.errors import ToolbeltError
from toolbelt.evals.running.limits import LeftOut, ModelLimits
from toolbelt.evals.running.plan import Arm
from toolbelt.evals.toolsets.spec import BY_WINDOW, ToolsetSpec
from toolbelt.loadouts.auto import AutoOutcome
from toolbelt.loadouts.fit import Verdict
from toolbelt.models.facts import ModelFacts
from toolbelt.project.workspace import Workspace
from toolbelt.text import plural

_OURS = ("local/", "scripted/")
"""What the names of models begin with that are asked nothing over a network."""


def find_rooms(workspace: Workspace, models: Iterable[str], max_tokens: int | None = None) -> dict[str, ModelLimits]:
    """What each model has room for, as far as anything is known of it.

    What runs in this process takes whatever it is given, unless `toolbelt.yaml` gives it a limit. How many tools a
    request may hold is known by the model's name, and so holds at another address, too: whoever calls a model by the
    name of a provider's mostly passes on to that provider.

    Args:
        workspace: Where facts of models are.
        models: Names.
        max_tokens: The longest answer, where it was given; it is what is kept free then.
    """
    rooms = {}
    for model in dict.fromkeys(models):
        if model.startswith(_OURS) and workspace.models.find_project_model(model) is None:
            continue
        facts = workspace.facts(model)
        if (facts.context_window, facts.max_tools, facts.tool_calling) != (None, None, None):
            reserve = max_tokens or facts.output_reserve
            rooms[model] = ModelLimits(facts.context_window, reserve, facts.max_tools, facts.tool_calling)
    return rooms


def facts_for_auto(
    workspace: Workspace, model: str, room: ModelLimits | None, *, ask_anyway: bool = False
) -> ModelFacts:
    """By what `loadout:auto` chooses for a model: by what was known when the run began, so that a resume does alike.

    Args:
        workspace: Where facts of models are.
        model: Its name.
        room: What was known; without one, only the window counts, as it did before there were rooms.
        ask_anyway: Whether a model that is known to call no tools is asked, too.
    """
    facts = workspace.facts(model)
    room = room or ModelLimits(facts.context_window)
    return replace(
        facts,
        context_window=room.context_window,
        output_reserve=room.output_reserve,
        max_tools=room.max_tools,
        tool_calling=None if ask_anyway else room.tool_calling,
    )


def leave_out(
    workspace: Workspace, arms: Sequence[Arm], rooms: Mapping[str, ModelLimits], *, ask_anyway: bool = False
) -> tuple[tuple[Arm, ...], tuple[LeftOut, ...]]:
    """The arms of a suite that can be asked, and the pairs that cannot, which is told.

    Args:
        workspace: Where loadouts and facts of models are.
        arms: All of the suite.
        rooms: What each model has room for.
        ask_anyway: Whether models that are known to call no tools are asked, too.

    Raises:
        ToolbeltError: nothing is left to ask, with all reasons.
    """
    found: dict[tuple[str, str], LeftOut] = {}
    for model in dict.fromkeys(arm.model for arm in arms):
        toolsets = tuple(dict.fromkeys(arm.spec for arm in arms if arm.model == model))
        facts = facts_for_auto(workspace, model, rooms.get(model), ask_anyway=ask_anyway)
        found |= {(model, one.toolset): one for one in _of_model(workspace, facts, toolsets)}
    kept = tuple(arm for arm in arms if (arm.model, arm.toolset) not in found)
    said = _in_words(tuple(found.values()))
    if not kept:
        raise ToolbeltError(" ".join(("Nothing of the suite can be asked.", *said)))
    for one in said:
        notify(f"left out: {one}")
    return kept, tuple(found.values())


def _of_model(workspace: Workspace, facts: ModelFacts, toolsets: Sequence[ToolsetSpec]) -> tuple[LeftOut, ...]:
    model = facts.name
    if facts.tool_calling is False:
        reason = f"It calls no tools, says {facts.sources.get('tool_calling', 'toolbelt')}."
        return tuple(LeftOut(model, str(toolset), Verdict.UNSUPPORTED, reason) for toolset in toolsets)
    if BY_WINDOW not in toolsets:
        return ()
    _, choice = workspace.choose([model], facts=facts)
    if choice.loadout is not None:
        return ()
    if choice.outcome is AutoOutcome.UNKNOWN:
        reason = " ".join((*choice.reasons, "It can be given under `models` in toolbelt.yaml."))
        return (LeftOut(model, str(BY_WINDOW), Verdict.UNKNOWN, reason),)
    return (LeftOut(model, str(BY_WINDOW), Verdict.REFUSES, " ".join(choice.reasons)),)


def _in_words(left_out: Sequence[LeftOut]) -> tuple[str, ...]:
    """A sentence for each reason: of all toolsets of a model, and of all models with the same toolsets."""
    toolsets: dict[tuple[str, str], list[str]] = {}
    for one in left_out:
        toolsets.setdefault((one.model, one.reason), []).append(one.toolset)
    models: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for (model, reason), names in toolsets.items():
        models.setdefault((reason, tuple(names)), []).append(model)
    return tuple(
        f"{', '.join(alike)}{', each' if len(alike) > 1 else ''} with "
        f"{names[0] if len(names) == 1 else plural(len(names), 'toolset')}: {reason}"
        for (reason, names), alike in models.items()
    )
