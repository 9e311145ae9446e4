"""The toolset that a project recommends for a model: its name, and what `auto` chooses because of it (rule L15).

The names are those of an eval's toolsets (`full`, `loadout:NAME`, `tiered`, `search:PRESET`, ...), so that a measured
toolset can be recommended. Names that depend on a case (`loadout` alone, the oracles) and patterns are not among them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from toolbelt.catalog import Catalog, Tool
from toolbelt.errors import InvalidDefinitionError, NotFoundError, ToolbeltError, suggestion
from toolbelt.loadouts import ToolLoadout, ToolLoadoutRegistry
from toolbelt.loadouts.auto import AutoChoice, AutoOutcome, Recommendation, RecommendationOutcome
from toolbelt.loadouts.fit import FitVerdict, ModelFit
from toolbelt.loadouts.loadout import AUTO, whole_catalog
from toolbelt.patterns import fold, is_prefix_pattern

if TYPE_CHECKING:
    from toolbelt.findings import Finding
    from toolbelt.models.project_models import ProjectModel
    from toolbelt.sources import Document


def split_toolset_name(text: str) -> tuple[str, str]:
    """The kind that a toolset's name begins with, and the rest, which begins with `:` or `+` if there is any.

    The one place that knows how such names are put together. A kind is recognised by letters of ASCII alone, upper and
    lower case alike, as JSON Schema's pattern has it; blanks around the parts do not matter.
    """
    end = min((place for sign in ":+" if (place := text.find(sign)) >= 0), default=len(text))
    kind = text[:end].strip()
    return kind.lower() if kind.isascii() else kind, text[end:].strip()


def spell_loadout(name: str) -> str:
    """The name of a loadout in a toolset's name; `auto` has one spelling."""
    return AUTO if fold(name) == AUTO else name


class RecommendedKind(StrEnum):
    """Kinds of toolsets that can be recommended."""

    FULL = "full"
    LOADOUT = "loadout"
    TIERED = "tiered"
    DYNAMIC = "dynamic"
    SEARCH = "search"


FORMS = ("full", "loadout:NAME", "loadout:auto", "tiered", "dynamic", "dynamic:AGENT", "search", "search:PRESET")
"""The forms in which a recommended toolset is written."""
_NAMELESS = (RecommendedKind.FULL, RecommendedKind.TIERED)
_ANY_CASE = {kind: "".join(f"[{letter}{letter.upper()}]" for letter in kind) for kind in RecommendedKind}
_NAME = r"\s*:[\s\S]*[^\s*]"
PATTERN = (
    rf"^\s*(?:{_ANY_CASE[RecommendedKind.FULL]}|{_ANY_CASE[RecommendedKind.TIERED]}|{_ANY_CASE[RecommendedKind.LOADOUT]}{_NAME}"
    rf"|{_ANY_CASE[RecommendedKind.DYNAMIC]}(?:{_NAME})?|{_ANY_CASE[RecommendedKind.SEARCH]}(?:{_NAME}|\s*:)?)\s*$"
)
"""The pattern of such a name, for JSON Schema."""


@dataclass(frozen=True, slots=True)
class RecommendedToolset:
    """A toolset that is recommended for a model.

    Attributes:
        kind: Its kind.
        name: Of the loadout (`auto` chooses one by the window), of the agent, or what of a search differs from plain
            `search`; empty if the kind has none.
    """

    kind: RecommendedKind
    name: str = ""

    @property
    def is_auto(self) -> bool:
        """Whether it is the loadout chosen by the model's window, which is also the choice without a recommendation."""
        return self.kind is RecommendedKind.LOADOUT and self.name == AUTO

    def __str__(self) -> str:
        return f"{self.kind.value}:{self.name}" if self.name else self.kind.value


def parse_recommended(text: str, loadouts: Collection[str] = ()) -> RecommendedToolset:
    """The toolset that `text` names; the case of its kind and blanks around the parts do not matter.

    Args:
        text: As written.
        loadouts: Names of known loadouts, which may be written without `loadout:`.

    Raises:
        InvalidDefinitionError: no toolset that can be recommended has that name; the error says what to write instead.
    """
    word, rest = split_toolset_name(text)
    colon, name = rest[:1], rest[1:].strip()
    if word not in set(RecommendedKind) or colon == "+":
        raise InvalidDefinitionError(_why_unknown(text.strip(), word, loadouts))
    kind = RecommendedKind(word)
    if kind is RecommendedKind.SEARCH:
        return RecommendedToolset(kind, _spell_search(name, text.strip()))
    if kind in _NAMELESS and colon:
        raise InvalidDefinitionError(f"toolset {kind.value!r} is written by its name alone.")
    if is_prefix_pattern(name):
        raise InvalidDefinitionError(f"{text.strip()!r} may match several toolsets; a model has one.")
    if kind is RecommendedKind.LOADOUT and not name:
        raise InvalidDefinitionError(f"{text.strip()!r} does not say which loadout; write 'loadout:NAME'.")
    if kind is RecommendedKind.DYNAMIC and colon and not name:
        raise InvalidDefinitionError(f"{text.strip()!r} does not say which agent; write 'dynamic' or 'dynamic:AGENT'.")
    return RecommendedToolset(kind, spell_loadout(name) if kind is RecommendedKind.LOADOUT else name)


def _spell_search(name: str, shown: str) -> str:
    """The settings of a search, as short as they can be written; the name itself if it is of no preset."""
    from toolbelt.search.presets import PRESET_KIND, parse_search, shorten_search  # few projects have a search

    try:
        return shorten_search(str(parse_search(name)))
    except NotFoundError as error:
        if error.kind != PRESET_KIND:
            raise InvalidDefinitionError(f"{shown!r}: {error}") from error
        if is_prefix_pattern(name):
            raise InvalidDefinitionError(f"{shown!r} may match several toolsets; a model has one.") from error
        return name
    except ToolbeltError as error:
        raise InvalidDefinitionError(f"{shown!r}: {error}") from error


def _why_unknown(shown: str, word: str, loadouts: Collection[str]) -> str:
    if fold(word).startswith("oracle"):
        return f"toolset {shown!r} knows the expected answers, so it is for evals only."
    if (loadout := next((name for name in loadouts if fold(name) == fold(shown)), None)) is not None:
        return f"no toolset is named {shown!r}; for the loadout of that name write 'loadout:{loadout}'."
    return f"no toolset is named {shown!r}.{suggestion(word, FORMS)}"


def choose_recommended(
    toolset: str,
    catalog: Catalog,
    registry: ToolLoadoutRegistry,
    measure: Callable[[Sequence[Tool]], ModelFit],
    step_down: Callable[[], AutoChoice],
) -> AutoChoice:
    """The loadout for a model for which the project recommends a toolset.

    A loadout, or the whole catalog, is chosen as recommended, also if it takes over half of the window and if the
    window is unknown; but not if it cannot fit. Any other toolset is only mentioned.

    Args:
        toolset: Its name.
        catalog: The catalog of the tools.
        registry: Every loadout there is.
        measure: Measures tools against the model.
        step_down: The choice without a recommendation.

    Raises:
        NotFoundError: no loadout has that name.
        InvalidDefinitionError: no toolset has that name.
    """
    recommended = parse_recommended(toolset)
    if recommended.is_auto:
        return step_down()
    if recommended.kind not in (RecommendedKind.FULL, RecommendedKind.LOADOUT):
        return _decline(Recommendation(RecommendationOutcome.NOT_A_LOADOUT, str(recommended)), step_down())
    is_whole = recommended.kind is RecommendedKind.FULL
    loadout = whole_catalog(catalog) if is_whole else _get_loadout(recommended.name, registry)
    tools = catalog.tools if is_whole else registry.resolve(loadout.name, catalog).active_tools
    if not tools:
        return _decline(Recommendation(RecommendationOutcome.MATCHES_NOTHING, loadout.name), step_down())
    fit = measure(tools)
    if fit.verdict in (FitVerdict.REFUSES, FitVerdict.UNSUPPORTED):
        return _decline(Recommendation(RecommendationOutcome.DOES_NOT_FIT, loadout.name, fit), step_down())
    return AutoChoice(
        AutoOutcome.CATALOG if is_whole else AutoOutcome.LOADOUT,
        loadout,
        fit.tokens,
        fit.context_window,
        recommendation=Recommendation(RecommendationOutcome.TAKEN, loadout.name, fit),
    )


def _get_loadout(name: str, registry: ToolLoadoutRegistry) -> ToolLoadout:
    if (loadout := registry.get_loadout(name)) is None:
        known = [loadout.name for loadout in registry.get_all()]
        raise NotFoundError("loadout", name, known, "toolbelt.yaml gives it to this model, under `toolset`.")
    return loadout


def _decline(recommendation: Recommendation, choice: AutoChoice) -> AutoChoice:
    """Another choice than the recommended one."""
    return replace(choice, recommendation=recommendation)


def lint_recommended(
    document: Document, own: Sequence[ProjectModel], registry: ToolLoadoutRegistry
) -> Iterator[Finding]:
    """Findings for recommended loadouts that do not exist.

    Args:
        document: The `toolbelt.yaml` that `own` was read from.
        own: Its entries for models.
        registry: Every loadout there is.
    """
    by_model = {model.name: parse_recommended(model.toolset) for model in own if model.toolset is not None}
    known = [loadout.name for loadout in registry.get_all()]
    for number, item in enumerate(document.data["models"] if by_model else ()):
        toolset = by_model.get(str(item.get("name"))) if isinstance(item, dict) else None
        if toolset is None or toolset.kind is not RecommendedKind.LOADOUT or toolset.is_auto:
            continue
        if registry.get_loadout(toolset.name) is None:
            hint = suggestion(toolset.name, known)
            message = f"`models[{number}].toolset`: no loadout is named {toolset.name!r}.{hint}"
            yield document.finding("unknown-loadout", message, "models", number, "toolset")
