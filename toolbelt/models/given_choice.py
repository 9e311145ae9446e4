"""What `auto` makes of a toolset that the project gives to a model (rule L15)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from toolbelt.catalog import Catalog, Tool
from toolbelt.errors import NotFoundError, suggestion
from toolbelt.findings import Finding
from toolbelt.loadouts import ToolLoadout, ToolLoadoutRegistry
from toolbelt.loadouts.auto import AutoChoice, AutoOutcome
from toolbelt.loadouts.fit import ModelFit, Verdict
from toolbelt.loadouts.loadout import whole_catalog
from toolbelt.models.given import GivenKind, parse_given
from toolbelt.models.own import OwnModel
from toolbelt.sources import Document

GIVEN = "toolbelt.yaml gives it to this model"
_NO_LOADOUT = "toolbelt.yaml gives this model "


def choose_given(
    toolset: str,
    catalog: Catalog,
    registry: ToolLoadoutRegistry,
    measure: Callable[[Sequence[Tool]], ModelFit],
    step_down: Callable[[], AutoChoice],
) -> AutoChoice:
    """The loadout for a model to which the project gives a toolset.

    A loadout, or the whole catalog, is taken as it is given, over half of the window as well and where the window is
    unknown; not if it cannot fit. Of a toolset that is no loadout it is only said that there is one.

    Args:
        toolset: Its name.
        catalog: Whose tools they are.
        registry: Every loadout there is.
        measure: Holds tools against the model.
        step_down: What is chosen where nothing is given.

    Raises:
        NotFoundError: a loadout that is not there.
        InvalidDefinitionError: no name of a toolset.
    """
    given = parse_given(toolset)
    if given.is_auto:
        return step_down()
    if given.kind not in (GivenKind.FULL, GivenKind.LOADOUT):
        said = f"{_NO_LOADOUT}{str(given)!r}, which is no loadout: the ladder decides."
        return _after(said, step_down())
    loadout = _find_loadout(given.name, catalog, registry)
    whole = given.kind is GivenKind.FULL
    tools = catalog.tools if whole else registry.resolve(loadout.name, catalog).active_tools
    name = "The whole catalog" if whole else loadout.name
    if not tools:
        return _after(f"{name}: {GIVEN}, but it matches nothing of this catalog.", step_down())
    fit = measure(tools)
    if fit.verdict in (Verdict.REFUSES, Verdict.UNSUPPORTED):
        return _after(f"{name}: {GIVEN}, but it cannot be. {fit.reasons[0]}", step_down())
    outcome = AutoOutcome.CATALOG if whole else AutoOutcome.LOADOUT
    return AutoChoice(outcome, loadout, fit.tokens, fit.context_window, (f"{name}: {GIVEN}.", _measured(name, fit)))


def find_unmet(choice: AutoChoice) -> str:
    """Why a choice is not what the project gives the model, in a sentence; empty where it is, or nothing is given."""
    first = next(iter(choice.reasons), "")
    return first if first.startswith(_NO_LOADOUT) or f": {GIVEN}, but " in first else ""


def lint_given(document: Document, own: Sequence[OwnModel], registry: ToolLoadoutRegistry) -> Iterator[Finding]:
    """Loadouts that are given to a model and are not there.

    Args:
        document: The `toolbelt.yaml` that `own` was read from.
        own: What it says of models.
        registry: Every loadout there is.
    """
    given = {one.name: parse_given(one.toolset) for one in own if one.toolset is not None}
    known = [loadout.name for loadout in registry.get_all()]
    for number, item in enumerate(document.data["models"] if given else ()):
        one = given.get(str(item.get("name"))) if isinstance(item, dict) else None
        if one is None or one.kind is not GivenKind.LOADOUT or one.is_auto or registry.get_loadout(one.name):
            continue
        message = f"`models[{number}].toolset`: no loadout is named {one.name!r}.{suggestion(one.name, known)}"
        yield document.finding("unknown-loadout", message, "models", number, "toolset")


def _find_loadout(name: str, catalog: Catalog, registry: ToolLoadoutRegistry) -> ToolLoadout:
    """The loadout of that name; of no name, one of all there is."""
    if not name:
        return whole_catalog(catalog)
    if (found := registry.get_loadout(name)) is None:
        known = [loadout.name for loadout in registry.get_all()]
        raise NotFoundError("loadout", name, known, "toolbelt.yaml gives it to this model, under `toolset`.")
    return found


def _after(reason: str, choice: AutoChoice) -> AutoChoice:
    """A choice with a reason before its own."""
    return AutoChoice(choice.outcome, choice.loadout, choice.tokens, choice.window, (reason, *choice.reasons))


def _measured(name: str, fit: ModelFit) -> str:
    if fit.context_window is None or fit.fraction is None:
        return f"{name} takes {fit.tokens:,} tokens; the context window is unknown, and so is whether it fits."
    taken = f"{name} takes {fit.tokens:,} of {fit.context_window:,} tokens ({fit.fraction:.0%})"
    return f"{taken}: it fits, with little room." if fit.verdict is Verdict.FITS_DEGRADED else f"{taken}: it fits."
