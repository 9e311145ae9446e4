"""The limits of each model of a run, and the pairs of a suite that cannot be run (rules E4 and L15)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from toolbelt.errors import ToolbeltError
from toolbelt.evals.running.overflow import LeftOutArm, ModelLimits
from toolbelt.evals.running.plan import Arm
from toolbelt.evals.setup.reporting import EvalReporter, NoteKind, RunNote
from toolbelt.evals.toolsets.spec import BY_WINDOW, ToolsetSpec
from toolbelt.loadouts.auto import AutoOutcome
from toolbelt.loadouts.fit import FitVerdict
from toolbelt.loadouts.reason_text import describe_choice
from toolbelt.models.facts import ModelFacts
from toolbelt.models.token_rates import AS_COUNTED, IN_PROCESS, TokenRate, find_model_rate
from toolbelt.project.project import Project
from toolbelt.providers.tokenizers import find_tokenizer, make_counter
from toolbelt.text import plural


def find_limits(project: Project, models: Iterable[str], max_tokens: int | None = None) -> dict[str, ModelLimits]:
    """The limits of each model, as far as they are known.

    A model that runs in this process accepts any prompt, unless `toolbelt.yaml` gives it a limit. The number of tools
    that a request may hold is known by the model's name and also applies at other addresses: a service under a
    provider's model name mostly forwards to that provider.

    Args:
        project: Where facts of models are.
        models: Names.
        max_tokens: The longest answer, if the user gave one; so many tokens are then reserved.
    """
    limits = {}
    for model in dict.fromkeys(models):
        if model.startswith(IN_PROCESS) and project.models.find_project_model(model) is None:
            continue
        facts = project.facts(model)
        if (facts.context_window, facts.max_tools, facts.tool_calling) != (None, None, None):
            reserve = max_tokens or facts.output_reserve
            limits[model] = ModelLimits(facts.context_window, reserve, facts.max_tools, facts.tool_calling)
    return limits


def find_token_rates(project: Project, models: Iterable[str]) -> dict[str, TokenRate]:
    """By hosted model, what our count of definitions comes to in its prompt, by the tokenizer that counts for it."""
    rates = {model: find_model_rate(project.facts(model)) for model in models}
    return {
        model: rate.counted_by(make_counter(find_tokenizer(model, project.models) or project.tokenizer).name)
        for model, rate in rates.items()
        if rate != AS_COUNTED
    }


def find_model_facts(project: Project, models: Iterable[str]) -> dict[str, dict[str, str]]:
    """By model, what its name stands for, a label or an alias, and when it is switched off."""
    keys = ("asked_as", "alias_of", "deprecation_date", "successor")
    facts = {model: project.facts(model) for model in models}
    found = {model: {key: getattr(of, key) for key in keys if getattr(of, key)} for model, of in facts.items()}
    return {model: known for model, known in found.items() if known}


def facts_for_auto(project: Project, model: str, limits: ModelLimits | None, *, ask_anyway: bool = False) -> ModelFacts:
    """The limits by which `loadout:auto` chooses for a model: those known when the run began, so that a resumed run
    does the same.

    Args:
        project: Where facts of models are.
        model: Its name.
        limits: What was known; without them, only the window counts, as in runs that an earlier version began.
        ask_anyway: Whether a model that is known to call no tools is asked, too.
    """
    facts = project.facts(model)
    limits = limits or ModelLimits(facts.context_window)
    return replace(
        facts,
        context_window=limits.context_window,
        output_reserve=limits.output_reserve,
        max_tools=limits.max_tools,
        tool_calling=None if ask_anyway else limits.tool_calling,
    )


def leave_out(
    project: Project,
    arms: Sequence[Arm],
    limits: Mapping[str, ModelLimits],
    reporter: EvalReporter,
    *,
    ask_anyway: bool = False,
) -> tuple[tuple[Arm, ...], tuple[LeftOutArm, ...]]:
    """The arms of a suite that can be run, and the pairs that cannot.

    Args:
        project: Where loadouts and facts of models are.
        arms: All of the suite.
        limits: Of each model.
        reporter: Gets a note for each reason.
        ask_anyway: Whether models that are known to call no tools are asked, too.

    Raises:
        ToolbeltError: nothing is left to ask, with all reasons.
    """
    left_out: dict[tuple[str, str], LeftOutArm] = {}
    for model in dict.fromkeys(arm.model for arm in arms):
        toolsets = tuple(dict.fromkeys(arm.spec for arm in arms if arm.model == model))
        facts = facts_for_auto(project, model, limits.get(model), ask_anyway=ask_anyway)
        left_out |= {(model, pair.toolset): pair for pair in _cannot_be_asked(project, facts, toolsets)}
    askable = tuple(arm for arm in arms if (arm.model, arm.toolset) not in left_out)
    notes = _notes(tuple(left_out.values()))
    if not askable:
        raise ToolbeltError(" ".join(("Nothing of the suite can be asked.", *(text for text, _ in notes))))
    for text, models in notes:
        reporter.note(RunNote(NoteKind.LEFT_OUT, f"left out: {text}", models))
    return askable, tuple(left_out.values())


def _cannot_be_asked(project: Project, facts: ModelFacts, toolsets: Sequence[ToolsetSpec]) -> tuple[LeftOutArm, ...]:
    model = facts.name
    if facts.tool_calling is False:
        reason = f"It calls no tools, says {facts.sources.get('tool_calling', 'toolbelt')}."
        return tuple(LeftOutArm(model, str(toolset), FitVerdict.UNSUPPORTED, reason) for toolset in toolsets)
    if BY_WINDOW not in toolsets:
        return ()
    _, choice = project.choose([model], facts=facts)
    if choice.loadout is not None:
        return ()
    if choice.outcome is AutoOutcome.UNKNOWN:
        reason = " ".join((*describe_choice(choice), "It can be given under `models` in toolbelt.yaml."))
        return (LeftOutArm(model, str(BY_WINDOW), FitVerdict.UNKNOWN, reason),)
    return (LeftOutArm(model, str(BY_WINDOW), FitVerdict.REFUSES, " ".join(describe_choice(choice))),)


def _notes(left_out: Sequence[LeftOutArm]) -> list[tuple[str, tuple[str, ...]]]:
    """One sentence for each reason: for all toolsets of a model, or for all models with the same toolsets."""
    toolsets: dict[tuple[str, str], list[str]] = {}
    for pair in left_out:
        toolsets.setdefault((pair.model, pair.reason), []).append(pair.toolset)
    models: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for (model, reason), names in toolsets.items():
        models.setdefault((reason, tuple(names)), []).append(model)
    notes = []
    for (reason, shown), alike in models.items():
        who = f"{', '.join(alike)}{', each' if len(alike) > 1 else ''}"
        what = shown[0] if len(shown) == 1 else plural(len(shown), "toolset")
        notes.append((f"{who} with {what}: {reason}", tuple(alike)))
    return notes
