"""Makes the plan of a run from the request; a wrong request is refused before anything is spent."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolbelt import __version__
from toolbelt.catalog import Catalog
from toolbelt.errors import ToolbeltError, suggestion
from toolbelt.evals.cases.dataset import Dataset
from toolbelt.evals.cases.fields import UNKNOWN_KEY
from toolbelt.evals.running.overflow import LeftOutArm, ModelLimits
from toolbelt.evals.running.plan import Arm, Plan, RunSettings
from toolbelt.evals.running.rounds import Decision, Round
from toolbelt.evals.setup.inputs import ChosenCases, RunInputs
from toolbelt.evals.setup.model_limits import (
    facts_for_auto,
    find_limits,
    find_model_facts,
    find_token_rates,
    leave_out,
)
from toolbelt.evals.setup.provenance import read_code
from toolbelt.evals.setup.reporting import EvalReporter, NoteKind, RunNote
from toolbelt.evals.toolsets.agents import find_agent, has_tools, match_agent
from toolbelt.evals.toolsets.opening import expand_toolsets
from toolbelt.evals.toolsets.oracle import TooFewDistractorsError, count_reached
from toolbelt.evals.toolsets.spec import BY_ROLE, BY_WINDOW, FULL, TIERED, ToolsetKind, ToolsetSpec
from toolbelt.evals.toolsets.suites import make_suite
from toolbelt.evals.toolsets.variants.variant import PLAIN, Variant, expand_variants
from toolbelt.models.facts import describe_end
from toolbelt.text import plural

if TYPE_CHECKING:
    from toolbelt.project.project import Project


DEFAULT_TOOLSETS = (FULL, BY_ROLE, TIERED)
MAX_TRIALS = 100_000_000
"""The most trials of a run; each takes a byte of memory while the run goes on."""


def make_plan(
    inputs: RunInputs,
    models: Sequence[str],
    toolsets: Sequence[str],
    variants: Sequence[str],
    settings: RunSettings,
    reporter: EvalReporter,
) -> Plan:
    """The plan of a run.

    Args:
        inputs: The dataset and the project.
        models: Names, in order; repeats are dropped.
        toolsets: Names and patterns, in order; the default ones if empty, those of the suite if there is one.
        variants: Of each toolset, in order; none is changed if empty.
        settings: Everything else that is decided.
        reporter: Gets notes.

    Raises:
        ToolbeltError: an unknown or malformed suite, toolset, loadout or filter; no case is left, or nothing of the
            suite can be asked; too many trials.
    """
    dataset, project = inputs.dataset, inputs.project
    models = project.models.find_labels(models)
    project.refuse_wrong_definitions()
    specs = _find_toolsets(inputs, toolsets, settings.suite, reporter)
    for spec in specs:
        if spec.loadout:
            project.get_lineage(spec.loadout)  # which says all that is wrong with it
    limits = find_limits(project, models, settings.sampling.max_tokens)
    chosen = inputs.select(settings.filter, settings.seed)
    indices = chosen.indices
    if not len(indices):
        raise ToolbeltError(f"No case of dataset {dataset.name!r} is left to ask.")
    for model in models:
        if not model.isprintable() and any("\ud800" <= letter <= "\udfff" for letter in model):
            raise ToolbeltError(f"The name of model {model!r} is not UTF-8.")
    changed: tuple[RunNote, ...] = ()
    if not settings.suite:
        specs, changed = _without_inapplicable(inputs, specs, models, limits, chosen)
    for note in changed:
        reporter.note(note)
    shown = _in_variants(specs, expand_variants(variants or (PLAIN,)), reporter)
    arms = tuple(Arm(model, str(spec), variant.name) for model in dict.fromkeys(models) for spec, variant in shown)
    left_out: tuple[LeftOutArm, ...] = ()
    if settings.suite:
        arms, left_out = leave_out(project, arms, limits, reporter, ask_anyway=settings.ask_anyway)
        specs = tuple(dict.fromkeys(arm.spec for arm in arms))
    if (size := len(indices) * len(arms) * settings.epochs) > MAX_TRIALS:
        raise ToolbeltError(f"A run has at most {MAX_TRIALS:,} trials, and this would be {size:,}.")
    drafts = _note_doubts(dataset, indices, reporter)
    asked = () if settings.imported else dict.fromkeys(models)
    for warning in filter(None, (describe_end(project.facts(model)) for model in asked)):
        reporter.note(RunNote(NoteKind.SWITCHED_OFF, warning, is_warning=True))
    reached = count_reached(inputs.catalog, specs, map(chosen.case, range(len(indices))))
    decided: dict[str, Any] = {field.name: getattr(settings, field.name) for field in fields(RunSettings)}
    decided["decision"] = _plan_rounds(settings, chosen, len(arms))
    decided["system"], systems = _choose_systems(inputs, chosen, specs, settings, reporter)
    return Plan(
        **decided,
        dataset=dataset.reference,
        dataset_name=dataset.name,
        digest=dataset.digest,
        catalog=inputs.catalog_reference and _anywhere(inputs.catalog_reference),
        catalog_name=inputs.catalog.name,
        surroundings=inputs.digest_surroundings(specs),
        chosen=dataset.fingerprint(indices),
        config=None if project.config.path is None else str(project.config.path.resolve()),
        arms=arms,
        cases=len(indices),
        shard_cases=0 if settings.shard is None else len(chosen.part(settings.shard).rounds[0]),
        excluded=dict(dataset.excluded),
        tokenizer=project.tokenizer,
        without_role=sum(dataset.case(index).role is None for index in indices) if BY_ROLE in specs else 0,
        distractors_reached=reached,
        drafts=drafts,
        code={"toolbelt": __version__, **read_code(Path())},
        limits=limits,
        toolset_systems=systems,
        token_rates=find_token_rates(project, asked),
        params={name: own.params for name in models if (own := project.models.find_project_model(name)) and own.params},
        model_facts=find_model_facts(project, dict.fromkeys(models)),
        left_out=left_out,
        toolset_notes=tuple(note.text for note in changed),
        tools=inputs.tool_digests,
        served=find_serving_digests(project, inputs.catalog, specs),
    )


def _note_doubts(dataset: Dataset, indices: Sequence[int], reporter: EvalReporter) -> int:
    """Note what is doubtful about the cases, and count the drafts among them."""
    for finding in dataset.warnings:
        if finding.rule == UNKNOWN_KEY:  # a misspelt one may be of what is right
            reporter.note(RunNote(NoteKind.FINDING, str(finding), (dataset.name,), is_warning=True))
    drafts = sum(map(dataset.is_draft, indices)) if dataset.drafts else 0
    if drafts:
        text = f"{plural(drafts, 'draft')} that nobody has reviewed: no verdict can be based on drafts"
        reporter.note(RunNote(NoteKind.DRAFTS, text, (dataset.name,), is_warning=True))
    return drafts


def _choose_systems(
    inputs: RunInputs,
    chosen: ChosenCases,
    specs: Iterable[ToolsetSpec],
    settings: RunSettings,
    reporter: EvalReporter,
) -> tuple[str | None, dict[str, str]]:
    """The system prompt of cases that have none, and that of each toolset that is an agent; an option goes before."""
    system, systems, toolsets = settings.system, dict[str, str](), set(specs)
    if system is None:
        system = inputs.dataset.system or None
        agents = {str(spec): find_agent(spec.agent, inputs.project.config.agents) for spec in toolsets if spec.agent}
        systems = {name: agent.system for name, agent in sorted(agents.items()) if agent.system}
    if systems and len(systems) < len(toolsets):
        text = f"{', '.join(systems)}: asked with the system prompt of the agent; the other toolsets are not"
        reporter.note(RunNote(NoteKind.SYSTEM_PROMPTS, f"{text}; --system gives all the same", tuple(systems)))
    if system or systems:
        own = sum(chosen.case(position).has_system for position in range(len(chosen.indices)))
        text = f"{own:,} of {plural(len(chosen.indices), 'case')} have a system prompt of their own, and keep it"
        if own:
            reporter.note(RunNote(NoteKind.SYSTEM_PROMPTS, text, (inputs.dataset.name,)))
    return system, systems


def _plan_rounds(settings: RunSettings, chosen: ChosenCases, arms: int) -> Decision | None:
    """The decision with its rounds; a request that cannot be decided is refused."""
    decision = settings.decision
    if decision is None:
        return None
    if settings.shard is not None:
        raise ToolbeltError("A shard decides nothing by itself: run all the cases here, or leave out --until-decided.")
    if arms < 2 and not decision.baseline:
        raise ToolbeltError("A single arm is compared with nothing: name a second toolset, or a --baseline.")
    from toolbelt.evals.statistics.sequential import make_looks  # numpy and scipy

    looks = make_looks(len(set(chosen.clusters)))
    rounds = chosen.in_rounds([look.clusters for look in looks], settings.seed).rounds
    totals = accumulate(map(len, rounds))
    return replace(
        decision,
        rounds=tuple(Round(look.clusters, cases, look.level) for look, cases in zip(looks, totals, strict=True)),
    )


def _find_toolsets(
    inputs: RunInputs, toolsets: Sequence[str], suite: str, reporter: EvalReporter
) -> tuple[ToolsetSpec, ...]:
    registry, config = inputs.project.registry, inputs.project.config
    if suite:
        members = make_suite(suite, inputs.catalog, registry)
        for repeat in members.repeats:
            text = f"left out: {repeat.toolset}, as it shows the same tools as {repeat.same_as}"
            reporter.note(RunNote(NoteKind.REPEATED_TOOLSET, text, (str(repeat.toolset), str(repeat.same_as))))
        return members.toolsets
    if toolsets:
        return expand_toolsets(toolsets, inputs.catalog, registry, config.agents, config.toolkits, config.searches)
    return DEFAULT_TOOLSETS


def _without_inapplicable(
    inputs: RunInputs,
    specs: Sequence[ToolsetSpec],
    models: Sequence[str],
    limits: Mapping[str, ModelLimits],
    chosen: ChosenCases,
) -> tuple[tuple[ToolsetSpec, ...], tuple[RunNote, ...]]:
    """The toolsets that can be shown, and notes on the others; `loadout` without a role is another one.

    Raises:
        ToolbeltError: none can be, with every reason.
    """
    kept: dict[ToolsetSpec, None] = {}
    notes: list[RunNote] = []
    too_many: dict[ToolsetSpec, str] = {}
    try:
        count_reached(inputs.catalog, specs, map(chosen.case, range(len(chosen.indices))))
    except TooFewDistractorsError as error:
        too_many = dict.fromkeys(error.refused, str(error).removesuffix("."))
    for spec in specs:
        if spec.is_by_role and not inputs.dataset.roles:
            instead, text = _replace_roles(inputs, specs, models, limits)
            notes.append(RunNote(NoteKind.NO_ROLES, text, (str(spec), *map(str, instead))))
            kept |= dict.fromkeys(instead)
        elif (reason := too_many.get(spec) or _find_inapplicable(inputs, spec)) is not None:
            notes.append(RunNote(NoteKind.INAPPLICABLE, f"left out {spec}: {reason}", (str(spec),), is_warning=True))
        else:
            kept[spec] = None
    if not kept:
        reasons = "; ".join(note.text for note in notes)
        raise ToolbeltError(f"No toolset is left: {reasons}. To show every tool: --toolset {FULL}")
    return tuple(kept), tuple(notes)


def _find_inapplicable(inputs: RunInputs, spec: ToolsetSpec) -> str | None:
    """Why a toolset shows nothing of this catalog, or to these cases; `None` if it shows something."""
    project, catalog = inputs.project, inputs.catalog
    known = [loadout.name for loadout in project.registry.get_all()]
    for name in sorted(inputs.dataset.roles) if spec.is_by_role else [spec.loadout] if spec.loadout else []:
        whose = f"the role {name!r} of a case" if spec.is_by_role else f"the loadout {name!r}"
        if project.registry.get_loadout(name) is None:
            return f"{whose} is no loadout.{suggestion(name, known)}"
        resolution = project.registry.resolve(name, catalog)
        if resolution.broken is None and not resolution.active_tools:
            return f"{whose} matches nothing of catalog {catalog.name!r}; see: toolbelt loadout inspect {name}"
    if spec.agent:
        agent = find_agent(spec.agent, project.config.agents)
        if not has_tools(match_agent(agent, project.config.toolkits, catalog)):
            return f"agent {agent.name!r} matches nothing of catalog {catalog.name!r}"
    return None


def _replace_roles(
    inputs: RunInputs,
    specs: Sequence[ToolsetSpec],
    models: Sequence[str],
    limits: Mapping[str, ModelLimits],
) -> tuple[tuple[ToolsetSpec, ...], str]:
    """What stands for `loadout` where no case has a role: the one loadout of the project or catalog, else what fits
    each model's window, unless that is every tool; in a sentence.
    """
    project, catalog = inputs.project, inputs.catalog
    names = dict.fromkeys([written.loadout.name for written in project.config.loadouts] + list(catalog.loadouts))
    shown = [name for name in names if project.registry.resolve(name, catalog).active_tools]
    if len(shown) == 1:
        return (ToolsetSpec(ToolsetKind.LOADOUT, shown[0]),), (
            f"no case has a role, so {str(BY_ROLE)!r} is 'loadout:{shown[0]}', the one of this project"
        )
    hint = (
        f"name one: {', '.join(f'loadout:{name}' for name in shown[:6])}"
        if shown
        else "make one: toolbelt loadout create"
    )
    begin = f"no case has a role, so {str(BY_ROLE)!r} is"
    for model in models:
        facts = facts_for_auto(project, model, limits.get(model), ask_anyway=True)
        resolution, choice = project.choose([model], facts=facts)
        if choice.loadout is None:
            why = f"'{BY_WINDOW}' cannot choose for {model}, by what is known of its window"
            return (), f"{begin} left out: {why}; {hint}"
        if FULL not in specs or len(resolution.active_tools) < len(catalog.tools):
            return (BY_WINDOW,), f"{begin} '{BY_WINDOW}', what fits the window of each model; {hint}"
    return (), f"{begin} left out: by the window of each model it would be {str(FULL)!r}; {hint}"


def _in_variants(
    specs: Sequence[ToolsetSpec], variants: Sequence[Variant], reporter: EvalReporter
) -> list[tuple[ToolsetSpec, Variant]]:
    """Every toolset in every variant, without those that would change nothing, or cannot be."""
    shown, reasons = [], dict[str, None]()
    for spec in specs:
        for variant in variants:
            if variant.distractors and spec == FULL:
                reason = f"{FULL} shows every tool already"
            elif variant.changes_offers and spec.kind is ToolsetKind.HOSTED_SEARCH:
                reason = f"of {spec} the vendor decides what is shown"
            else:
                shown.append((spec, variant))
                continue
            reasons[reason] = None
            text = f"left out: {spec} with {variant.name}, as {reason}"
            reporter.note(RunNote(NoteKind.NEEDLESS_VARIANT, text, (str(spec), variant.name)))
    if not shown:
        raise ToolbeltError(f"No variant can be run: {'; '.join(reasons)}.")
    return shown


def _anywhere(reference: str) -> str:
    return str(Path(reference).resolve()) if os.path.exists(reference) else reference  # noqa: PTH110


def find_serving_digests(project: Project, catalog: Catalog, specs: Iterable[ToolsetSpec]) -> dict[str, str]:
    """By toolset that is one loadout, the digest of the list that the gateway offers, meta-tools included.

    Empty for a catalog without tools of MCP servers: nothing of it can be served.
    """
    if not any(plugin.server for plugin in catalog.plugins):
        return {}
    from toolbelt.mcp.gateway.served_list import list_definitions
    from toolbelt.mcp.gateway.surface import make_surface, serving_digest

    digests = {}
    for spec in specs:
        if spec.kind is ToolsetKind.LOADOUT and spec.name and not spec.is_auto:
            surface = make_surface(project.registry.resolve(spec.name, catalog))
            digests[str(spec)] = serving_digest(list_definitions(surface, catalog))
    return digests
