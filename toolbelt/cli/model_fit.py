"""`toolbelt model fit`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from toolbelt.catalog.definitions import DEFINITION_FORMATS
from toolbelt.command.boundary import INFRASTRUCTURE, OK
from toolbelt.command.groups import EXAMPLE_MODEL, examples
from toolbelt.command.options import Choice, option
from toolbelt.command.project import ProjectOptions, project_options
from toolbelt.errors import ToolbeltError
from toolbelt.loadouts.fit import FitVerdict, ModelFit
from toolbelt.loadouts.fit_text import describe_fit
from toolbelt.loadouts.inspection_json import fit_data
from toolbelt.loadouts.loadout import AUTO
from toolbelt.models.fit import CandidateToolset, FitCalculator, ModelToFit, compare
from toolbelt.models.fit_view import FitMatrix, fit_matrix_view, largest_fitting
from toolbelt.models.provider_rules import find_rules, find_tool_rules
from toolbelt.models.recommended import RecommendedKind, RecommendedToolset, parse_recommended
from toolbelt.models.rules import Effect
from toolbelt.models.violation_text import violation_data
from toolbelt.models.violations import Violation
from toolbelt.models.wire_form import make_wire_form, wire_data
from toolbelt.patterns import fold
from toolbelt.project.models import warn_of_ends
from toolbelt.project.project import Project
from toolbelt.render.screen import notify, print_json, show_blocks
from toolbelt.stores.files import write_text
from toolbelt.text import json_text, plural

WHOLE = "the whole catalog"
_FAILED = 1
_REFUSING = (FitVerdict.REFUSES, FitVerdict.UNSUPPORTED)
_STANDARD = "-"


@click.command(
    epilog=examples(
        f"toolbelt model fit --model {EXAMPLE_MODEL} --model ollama/llama3.1",
        f"toolbelt model fit --loadout developer --model {EXAMPLE_MODEL} --check",
        f"toolbelt model fit --loadout developer --model {EXAMPLE_MODEL} --fix tools.json",
    )
)
@option("--loadout", "-l", "loadouts", multiple=True, metavar="L", help="Only this one; may be repeated.")
@option("--model", "-m", "models", multiple=True, metavar="M", help="A litellm model name; may be repeated.")
@option("--all", "show_all", is_flag=True, help="Every reason and every broken rule.")
@option("--check", is_flag=True, help="Exit with 1 where a pair does not fit, with 3 where that is unknown.")
@option(
    "--strict",
    is_flag=True,
    help="As --check, and 1 too where a tool breaks a rule as it is sent, even if only some models refuse it.",
)
@option(
    "--fix",
    "-o",
    metavar="FILE",
    help="Write the tools as the one model's API takes them, and the way back; - for standard output.",
)
@option(
    "--format",
    "form",
    type=Choice(list(DEFINITION_FORMATS)),
    default="openai",
    show_default=True,
    envvar="TOOLBELT_EXPORT_FORMAT",
    help="Of the definitions that --fix writes.",
)
@option("--force", is_flag=True, help="Replace FILE if it exists.")
@project_options
def fit(
    loadouts: tuple[str, ...],
    models: tuple[str, ...],
    show_all: bool,
    check: bool,
    strict: bool,
    fix: str | None,
    form: str,
    force: bool,
    options: ProjectOptions,
    as_json: bool,
) -> int:
    """Which toolset fits which model, and which tools break a rule of its API.

    Without --loadout: the whole catalog and every loadout that matches some of it. Without --model: those of
    toolbelt.yaml, else a few current ones.

    A pair `refuses` where definitions and the answer's reserve leave no room, or where there are more tools than a
    request may hold; it is `may_not_fit` where the error of the estimate decides, and `fits_degraded` where definitions
    take over 40% of the window.

    --fix writes definitions that break none of the API's rules: names made legal, descriptions cut, schemas rewritten
    or trimmed; with the map from what is sent back to tools and parameters, a list of all that was changed, and a JSON
    Patch for each tool that makes its own definition of it again.
    """
    project = options.open()
    toolsets = _find_toolsets(project, loadouts)
    if fix is not None and not loadouts:
        toolsets = toolsets[:1]  # the whole catalog
    models_to_fit = [project.ask(name) for name in project.model_names(models)]
    warn_of_ends(model.facts for model in models_to_fit)
    calculator = project.comparer(_all_tools(toolsets))
    if fix is not None:
        if len(toolsets) != 1 or len(models_to_fit) != 1:
            raise ToolbeltError("--fix writes the tools of one --loadout, or of the whole catalog, for one --model.")
        _warn_unknown_windows(project, models_to_fit, (*models, *project.config.models))
        model_fit = calculator.fit(toolsets[0], models_to_fit[0])
        _warn_if_refused(model_fit)
        _write_fixed(project, toolsets[0], models_to_fit[0], fix, form, force=force, as_json=as_json)
        return _exit_code([model_fit]) if check or strict else OK
    _warn_unknown_windows(project, models_to_fit, (*models, *project.config.models))
    matrix = FitMatrix(
        project.catalog.name,
        toolsets,
        compare(toolsets, models_to_fit, calculator),
        _find_violations(calculator, models_to_fit),
        [_find_recommended(toolsets, model) for model in models_to_fit],
    )
    _warn_unfit_recommendations(matrix, models_to_fit)
    if as_json:
        print_json(_data(matrix, models_to_fit))
    else:
        show_blocks(fit_matrix_view(matrix, show_all=show_all))
    fits = [pair for row in matrix.fits for pair in row]
    breaks = strict and any(map(_may_be_refused, (each for _, of_api in matrix.violations for each in of_api)))
    return _FAILED if breaks else _exit_code(fits) if check or strict else OK


def _find_toolsets(project: Project, names: Sequence[str]) -> list[CandidateToolset]:
    if any(name.casefold() == AUTO for name in names):
        raise ToolbeltError("'auto' is another loadout for each model; see: toolbelt loadout inspect auto --model M")
    if names:
        resolutions = [(name, project.resolve(name)) for name in dict.fromkeys(names)]
        for name, resolution in resolutions:
            if not resolution.active_tools:
                notify(f"loadout {name!r} matches nothing of catalog {project.catalog.name!r}.", "warning")
        return [
            CandidateToolset(resolution.loadout, resolution.active_tools, resolution.loadout)
            for _, resolution in resolutions
        ]
    project.refuse_errors()
    whole = CandidateToolset(WHOLE, project.catalog.tools)
    every = [project.registry.resolve(loadout.name, project.catalog) for loadout in project.registry.get_all()]
    return [
        whole,
        *(
            CandidateToolset(resolution.loadout, resolution.active_tools, resolution.loadout)
            for resolution in every
            if resolution.active_tools
        ),
    ]


def _all_tools(toolsets: Sequence[CandidateToolset]) -> tuple[Any, ...]:
    return tuple({tool.id: tool for toolset in toolsets for tool in toolset.tools}.values())


def _find_violations(calculator: FitCalculator, models: Sequence[ModelToFit]) -> list[tuple[str, Sequence[Violation]]]:
    """What is broken of each API's rules; models of one API may be held to different ones."""
    by_api: dict[str, dict[Any, Violation]] = {}
    for facts in {find_tool_rules(model.facts): model.facts for model in models}.values():
        rules = find_rules(facts)
        for violation in calculator.inspected.find_violations(find_tool_rules(facts)) if rules else ():
            by_api.setdefault(rules.title if rules else "", {})[violation.tool, violation.fact] = violation
    return [(api, sorted(of_api.values(), key=_weight)) for api, of_api in by_api.items()]


def _weight(violation: Violation) -> int:
    return 0 if violation.is_refused else 2 if violation.is_repaired else 1


def _may_be_refused(violation: Violation) -> bool:
    return not violation.is_repaired and violation.fact.effect is not Effect.IGNORED


def _exit_code(fits: Sequence[ModelFit]) -> int:
    if any(fit.verdict in _REFUSING for fit in fits):
        return _FAILED
    unsure = (FitVerdict.UNKNOWN, FitVerdict.MAY_NOT_FIT)
    return INFRASTRUCTURE if any(fit.verdict in unsure for fit in fits) else OK


def _warn_if_refused(fit: ModelFit) -> None:
    """Warn where no other form of the same tools would be accepted."""
    if fit.verdict in _REFUSING:
        notify(f"{fit.model!r} refuses these tools in any form. {describe_fit(fit)[0]}", "warning")


def _write_fixed(
    project: Project,
    toolset: CandidateToolset,
    model: ModelToFit,
    file: str,
    form: str,
    *,
    force: bool,
    as_json: bool,
) -> None:
    facts, rules = model.facts, find_rules(model.facts)
    if rules is None:
        notify(f"no rules are known of the API of {facts.name!r}; only names are made legal.", "warning")
    wire = make_wire_form(toolset.tools, project.catalog.wire_names, find_tool_rules(facts))
    definitions = {
        "model": facts.name,
        "loadout": toolset.loadout,
        "catalog": project.catalog.name,
        "api": None if rules is None else rules.title,
        **wire_data(wire, form),
    }
    if file == _STANDARD:
        print_json(definitions)
        return
    write_text(file, json_text(definitions) + "\n", overwrite=force)
    notify(f"wrote {plural(len(wire.tools), 'tool')} to {file}, with {plural(len(wire.changes), 'change')}")
    if as_json:
        print_json({"output": file, "format": form, "tools": len(wire.tools), "changes": len(wire.changes)})


def _data(matrix: FitMatrix, models: Sequence[ModelToFit]) -> dict[str, Any]:
    model_data = []
    for model, fits in zip(models, matrix.by_model, strict=True):
        largest = largest_fitting(matrix.toolsets, fits)
        model_data.append(
            {
                "model": model.facts.name,
                "provider": model.facts.provider,
                "api": fits[0].api,
                "context_window": model.facts.context_window,
                "output_reserve": model.facts.output_reserve,
                "max_tools": fits[0].max_tools,
                "tool_calling": model.facts.tool_calling,
                "toolset": model.facts.toolset,
                "largest_fitting": None if largest is None else matrix.toolsets[largest].name,
            }
        )
    return {
        "catalog": matrix.catalog,
        "toolsets": [
            {"toolset": toolset.name, "loadout": toolset.loadout, "tools": len(toolset.tools)}
            for toolset in matrix.toolsets
        ],
        "models": model_data,
        "fits": [
            {"toolset": toolset.name, **fit_data(fit)}
            for toolset, row in zip(matrix.toolsets, matrix.fits, strict=True)
            for fit in row
        ],
        "violations": [
            {"api": api, **violation_data(violation)} for api, of_api in matrix.violations for violation in of_api
        ],
    }


def _warn_unfit_recommendations(matrix: FitMatrix, models: Sequence[ModelToFit]) -> None:
    """Say which models toolbelt.yaml gives a toolset that they refuse."""
    for model, fits, recommended in zip(models, matrix.by_model, matrix.recommended, strict=True):
        if recommended is not None and fits[recommended].verdict in _REFUSING:
            source = f"toolbelt.yaml gives {model.facts.name!r} {str(parse_recommended(model.facts.toolset or ''))!r}"
            notify(f"{source}, which does not fit. {describe_fit(fits[recommended])[0]}", "warning")


def _find_recommended(toolsets: Sequence[CandidateToolset], model: ModelToFit) -> int | None:
    """The number of the toolset that toolbelt.yaml gives a model."""
    if model.facts.toolset is None:
        return None
    recommended = parse_recommended(model.facts.toolset)
    return next((number for number, toolset in enumerate(toolsets) if _is_recommended(toolset, recommended)), None)


def _is_recommended(toolset: CandidateToolset, recommended: RecommendedToolset) -> bool:
    if toolset.loadout is None:
        return recommended.kind is RecommendedKind.FULL
    return recommended.kind is RecommendedKind.LOADOUT and fold(recommended.name) == fold(toolset.loadout)


def _warn_unknown_windows(project: Project, models: Sequence[ModelToFit], named: Sequence[str]) -> None:
    for model in models:
        if model.facts.context_window is None and model.facts.name in named:
            similar = project.models.find_similar(model.facts.name)
            hint = f" Names like it: {', '.join(similar)}." if similar else ""
            notify(f"the context window of {model.facts.name!r} is unknown.{hint}", "warning")
