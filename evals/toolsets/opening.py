"""Toolsets by the names they have on the command line (rule E1)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from toolbelt.catalog import Catalog
from toolbelt.errors import NotFoundError, ToolbeltError
from toolbelt.evals.toolsets.agents import find_agent, has_tools, match_agent
from toolbelt.evals.toolsets.context import ToolsetContext
from toolbelt.evals.toolsets.dynamic import make_agent, make_dynamic
from toolbelt.evals.toolsets.fixed import make_full, make_loadout, make_roles
from toolbelt.evals.toolsets.oracle import Oracle
from toolbelt.evals.toolsets.tiered import Tiered
from toolbelt.evals.toolsets.toolset import Toolset
from toolbelt.loadouts import ToolLoadoutRegistry
from toolbelt.loadouts.loadout import AUTO
from toolbelt.patterns import fold, is_prefix_pattern, matches
from toolbelt.sessions.agent import AgentSpec
from toolbelt.toolkits.toolkit import Toolkit

_DISTRACTORS = re.compile(r"\+([0-9]{1,6})(?::(near|random))?", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class Named:
    """What names of toolsets may speak of.

    Attributes:
        catalog: Over which they will be used.
        registry: Every loadout there is.
        agents: Of the project.
        toolkits: Of the project.
    """

    catalog: Catalog
    registry: ToolLoadoutRegistry
    agents: tuple[AgentSpec, ...] = ()
    toolkits: tuple[Toolkit, ...] = ()


@dataclass(frozen=True)
class Kind:
    """One sort of toolset.

    Attributes:
        make: Makes one from what stands after the kind's name, and the ground.
        spell: The one spelling of what stands after the kind's name; raises `ToolbeltError` where it is wrong.
        forms: How it is written.
        match: What stands after the kind's name in each toolset that a pattern stands for; `()` if it is no pattern.
    """

    make: Callable[[str, ToolsetContext], Toolset]
    spell: Callable[[str, Named], str]
    forms: tuple[str, ...]
    match: Callable[[str, Named], tuple[str, ...]] | None = None


def make_toolset(name: str, context: ToolsetContext) -> Toolset:
    """The toolset of that name.

    Args:
        name: As on the command line; one that stands for several is for `expand_toolsets`.
        ground: What it is made from.

    Raises:
        NotFoundError: no such toolset, loadout or agent.
        ToolbeltError: the name is malformed, or nothing of the catalog would ever be shown.
    """
    named = Named(context.catalog, context.registry, context.agents, context.toolkits)
    key, rest = _take_apart(name)
    kind = _find_kind(key, name, named)
    return TOOLSETS[kind].make(TOOLSETS[kind].spell(rest, named), context)


def expand_toolsets(
    names: Iterable[str],
    catalog: Catalog,
    registry: ToolLoadoutRegistry,
    agents: Iterable[AgentSpec] = (),
    toolkits: Iterable[Toolkit] = (),
) -> tuple[str, ...]:
    """The toolsets that are meant, each once, in their one spelling.

    Args:
        names: As given, each possibly several with commas between. `loadout:*` and `loadout:dev*` stand for every
            loadout of such a name (rule L4) that makes something of the catalog active, in the registry's order;
            `dynamic:*` for every agent that has something of it.
        catalog: Over which they will be used.
        registry: Every loadout there is.
        agents: Of the project.
        toolkits: Of the project.

    Raises:
        NotFoundError: no such toolset, loadout or agent.
        ToolbeltError: a name is malformed, a pattern stands for nothing, or there is no name at all.
    """
    given = [name for text in names for part in text.split(",") if (name := part.strip())]
    if not given:
        raise ToolbeltError(f"No toolset is named. There are: {', '.join(_forms())}.")
    named = Named(catalog, registry, tuple(agents), tuple(toolkits))
    return tuple(dict.fromkeys(spelled for name in given for spelled in _expand(name, named)))


def _expand(name: str, named: Named) -> tuple[str, ...]:
    key, rest = _take_apart(name)
    kind = _find_kind(key, name, named)
    sort = TOOLSETS[kind]
    several = () if sort.match is None else sort.match(rest, named)
    return tuple(f"{kind}{one}" for one in several or (sort.spell(rest, named),))


def _match_loadouts(rest: str, named: Named) -> tuple[str, ...]:
    registry = named.registry
    known = [loadout.name for loadout in registry.get_all()]
    if not is_prefix_pattern(rest) or registry.get_loadout(rest[1:].strip()) is not None:
        return ()
    return _matching(
        rest, "loadout", "loadout", known, lambda name: bool(registry.resolve(name, named.catalog).active_tools), named
    )


def _match_agents(rest: str, named: Named) -> tuple[str, ...]:
    known = {agent.name: agent for agent in named.agents}
    if not is_prefix_pattern(rest) or fold(rest[1:].strip()) in map(fold, known):
        return ()

    def is_useful(name: str) -> bool:
        return has_tools(match_agent(known[name], named.toolkits, named.catalog))

    return _matching(rest, "dynamic", "agent", known, is_useful, named)


def _matching(
    rest: str, kind: str, what: str, known: Iterable[str], is_useful: Callable[[str], bool], named: Named
) -> tuple[str, ...]:
    """What stands after the kind in each toolset whose name matches, and which shows something of the catalog."""
    pattern = rest[1:].strip()
    found = [name for name in known if matches(pattern, name)]
    if not found:
        raise NotFoundError(what, pattern, known)
    useful = [name for name in found if is_useful(name)]
    if not useful:
        raise ToolbeltError(
            f"None of the {what}s that '{kind}:{pattern}' stands for matches anything of catalog "
            f"{named.catalog.name!r}: {', '.join(found)}."
        )
    return tuple(f":{name}" for name in useful)


def _take_apart(name: str) -> tuple[str, str]:
    """The kind as it is compared, and what stands after it with the sign that parts them."""
    end = min((place for sign in ":+" if (place := name.find(sign)) >= 0), default=len(name))
    return fold(name[:end].strip()), name[end:].strip()


def _find_kind(kind: str, name: str, named: Named) -> str:
    if kind in TOOLSETS:
        return kind
    loadout = named.registry.get_loadout(name.strip())
    hint = "" if loadout is None else f"For the loadout of that name write 'loadout:{loadout.name}'."
    if loadout is None and (agent := next((one.name for one in named.agents if fold(one.name) == fold(name)), None)):
        hint = f"For the agent of that name write 'dynamic:{agent}'."
    raise NotFoundError("toolset", name, _forms(), hint)


def _spell_nothing(rest: str, named: Named) -> str:  # noqa: ARG001  the table's signature
    if rest:
        raise ToolbeltError(f"Toolsets 'full' and 'tiered' are written by their name alone, without {rest!r}.")
    return ""


def _spell_loadout(rest: str, named: Named) -> str:
    if not rest:
        return ""
    name = rest[1:].strip()
    if rest[0] != ":" or not name:
        raise ToolbeltError(f"Toolset 'loadout{rest}' is malformed; write 'loadout', 'loadout:NAME' or 'loadout:auto'.")
    return f":{AUTO}" if fold(name) == AUTO else f":{named.registry.require_loadout(name).name}"


def _spell_dynamic(rest: str, named: Named) -> str:
    if not rest:
        return ""
    name = rest[1:].strip()
    if rest[0] != ":" or not name:
        raise ToolbeltError(f"Toolset 'dynamic{rest}' is malformed; write 'dynamic' or 'dynamic:AGENT'.")
    return f":{find_agent(name, named.agents).name}"


def _spell_oracle(rest: str, named: Named) -> str:  # noqa: ARG001  the table's signature
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


def _make_oracle(rest: str, context: ToolsetContext) -> Toolset:
    count, _, kind = rest.removeprefix("+").partition(":")
    return Oracle(int(count or 0), near=kind == "near", context=context)


def _forms() -> tuple[str, ...]:
    return tuple(form for kind in TOOLSETS.values() for form in kind.forms)


TOOLSETS: Mapping[str, Kind] = MappingProxyType(
    {
        "full": Kind(lambda _, context: make_full(context), _spell_nothing, ("full",)),
        "loadout": Kind(
            lambda rest, context: make_loadout(rest[1:], context) if rest else make_roles(context),
            _spell_loadout,
            ("loadout", "loadout:NAME", "loadout:*", "loadout:auto"),
            _match_loadouts,
        ),
        "tiered": Kind(lambda _, context: Tiered(context), _spell_nothing, ("tiered",)),
        "dynamic": Kind(
            lambda rest, context: make_agent(rest[1:], context) if rest else make_dynamic(context),
            _spell_dynamic,
            ("dynamic", "dynamic:AGENT", "dynamic:*"),
            _match_agents,
        ),
        "oracle": Kind(_make_oracle, _spell_oracle, ("oracle", "oracle+N", "oracle+N:near", "oracle+N:random")),
    }
)
"""Every sort of toolset, by what its name begins with."""
