"""Toolsets by the names they have on the command line (rule E1)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from toolbelt.catalog import Catalog
from toolbelt.errors import NotFoundError, ToolbeltError
from toolbelt.evals.toolsets.fixed import make_full, make_loadout, make_roles
from toolbelt.evals.toolsets.ground import Ground
from toolbelt.evals.toolsets.oracle import Oracle
from toolbelt.evals.toolsets.tiered import Tiered
from toolbelt.evals.toolsets.toolset import Toolset
from toolbelt.loadouts import ToolLoadoutRegistry
from toolbelt.loadouts.loadout import AUTO
from toolbelt.patterns import fold, is_prefix_pattern, matches

_DISTRACTORS = re.compile(r"\+([0-9]{1,6})(?::(near|random))?", re.IGNORECASE)


@dataclass(frozen=True)
class Kind:
    """One sort of toolset.

    Attributes:
        make: Makes one from what stands after the kind's name, and the ground.
        spell: The one spelling of what stands after the kind's name; raises `ToolbeltError` where it is wrong.
        forms: How it is written.
    """

    make: Callable[[str, Ground], Toolset]
    spell: Callable[[str, ToolLoadoutRegistry], str]
    forms: tuple[str, ...]


def make_toolset(name: str, ground: Ground) -> Toolset:
    """The toolset of that name.

    Args:
        name: As on the command line; one that stands for several is for `expand_toolsets`.
        ground: What it is made from.

    Raises:
        NotFoundError: no such toolset, or no such loadout.
        ToolbeltError: the name is malformed, or nothing of the catalog would ever be shown.
    """
    key, rest = _take_apart(name)
    kind = _find_kind(key, name, ground.registry)
    return TOOLSETS[kind].make(TOOLSETS[kind].spell(rest, ground.registry), ground)


def expand_toolsets(names: Iterable[str], catalog: Catalog, registry: ToolLoadoutRegistry) -> tuple[str, ...]:
    """The toolsets that are meant, each once, in their one spelling.

    Args:
        names: As given, each possibly several with commas between. `loadout:*` and `loadout:dev*` stand for every
            loadout of such a name (rule L4) that makes something of the catalog active, in the registry's order.
        catalog: Over which they will be used.
        registry: Every loadout there is.

    Raises:
        NotFoundError: no such toolset, or no such loadout.
        ToolbeltError: a name is malformed, a pattern stands for nothing, or there is no name at all.
    """
    given = [name for text in names for part in text.split(",") if (name := part.strip())]
    if not given:
        raise ToolbeltError(f"No toolset is named. There are: {', '.join(_forms())}.")
    return tuple(dict.fromkeys(spelled for name in given for spelled in _expand(name, catalog, registry)))


def _expand(name: str, catalog: Catalog, registry: ToolLoadoutRegistry) -> tuple[str, ...]:
    key, rest = _take_apart(name)
    kind = _find_kind(key, name, registry)
    pattern = rest[1:].strip()
    if kind == "loadout" and is_prefix_pattern(pattern) and registry.get_loadout(pattern) is None:
        return _matching_loadouts(pattern, catalog, registry)
    return (f"{kind}{TOOLSETS[kind].spell(rest, registry)}",)


def _matching_loadouts(pattern: str, catalog: Catalog, registry: ToolLoadoutRegistry) -> tuple[str, ...]:
    named = [loadout.name for loadout in registry.get_all() if matches(pattern, loadout.name)]
    if not named:
        raise NotFoundError("loadout", pattern, [loadout.name for loadout in registry.get_all()])
    useful = [name for name in named if registry.resolve(name, catalog).active_tools]
    if not useful:
        raise ToolbeltError(
            f"None of the loadouts that 'loadout:{pattern}' stands for matches anything of catalog {catalog.name!r}: "
            f"{', '.join(named)}."
        )
    return tuple(f"loadout:{name}" for name in useful)


def _take_apart(name: str) -> tuple[str, str]:
    """The kind as it is compared, and what stands after it with the sign that parts them."""
    end = min((place for sign in ":+" if (place := name.find(sign)) >= 0), default=len(name))
    return fold(name[:end].strip()), name[end:].strip()


def _find_kind(kind: str, name: str, registry: ToolLoadoutRegistry) -> str:
    if kind in TOOLSETS:
        return kind
    loadout = registry.get_loadout(name.strip())
    hint = "" if loadout is None else f"For the loadout of that name write 'loadout:{loadout.name}'."
    raise NotFoundError("toolset", name, _forms(), hint)


def _spell_nothing(rest: str, registry: ToolLoadoutRegistry) -> str:  # noqa: ARG001  the table's signature
    if rest:
        raise ToolbeltError(f"Toolsets 'full' and 'tiered' are written by their name alone, without {rest!r}.")
    return ""


def _spell_loadout(rest: str, registry: ToolLoadoutRegistry) -> str:
    if not rest:
        return ""
    name = rest[1:].strip()
    if rest[0] != ":" or not name:
        raise ToolbeltError(f"Toolset 'loadout{rest}' is malformed; write 'loadout', 'loadout:NAME' or 'loadout:auto'.")
    return f":{AUTO}" if fold(name) == AUTO else f":{registry.require_loadout(name).name}"


def _spell_oracle(rest: str, registry: ToolLoadoutRegistry) -> str:  # noqa: ARG001  the table's signature
    if not rest:
        return ""
    found = _DISTRACTORS.fullmatch(rest)
    if found is None:
        raise ToolbeltError(
            f"Toolset 'oracle{rest}' is malformed; write 'oracle', or with a number of distractors 'oracle+9', "
            "'oracle+9:near' or 'oracle+9:random'."
        )
    count, near = int(found[1]), fold(found[2] or "") == "near"
    return f"+{count}{':near' if near else ''}" if count else ""


def _make_oracle(rest: str, ground: Ground) -> Toolset:
    count, _, kind = rest.removeprefix("+").partition(":")
    return Oracle(int(count or 0), near=kind == "near", ground=ground)


def _forms() -> tuple[str, ...]:
    return tuple(form for kind in TOOLSETS.values() for form in kind.forms)


TOOLSETS: Mapping[str, Kind] = MappingProxyType(
    {
        "full": Kind(lambda _, ground: make_full(ground), _spell_nothing, ("full",)),
        "loadout": Kind(
            lambda rest, ground: make_loadout(rest[1:], ground) if rest else make_roles(ground),
            _spell_loadout,
            ("loadout", "loadout:NAME", "loadout:auto"),
        ),
        "tiered": Kind(lambda _, ground: Tiered(ground), _spell_nothing, ("tiered",)),
        "oracle": Kind(_make_oracle, _spell_oracle, ("oracle", "oracle+N", "oracle+N:near", "oracle+N:random")),
    }
)
"""Every sort of toolset, by what its name begins with."""
