"""Toolkits that an agent loads and unloads itself: their tools, and the answers to changes (rules D2 to D6)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, assert_never

from toolbelt.catalog import Tool
from toolbelt.catalog.frozen import FrozenDict, thaw
from toolbelt.errors import InvalidDefinitionError, NotFoundError, nearest, suggestion
from toolbelt.patterns import fold
from toolbelt.sessions.agent import AgentSpec
from toolbelt.sessions.bundles import STATIC, ActiveTool, Bundle, Conflict, Expansion
from toolbelt.sessions.meta_tools import (
    META_TOOLS,
    NO_SESSION_MESSAGE,
    AnswerStatus,
    MetaToolAnswer,
    make_answer,
    make_change_answer,
    make_conflict_answer,
    make_refusal,
    make_usage_error,
)
from toolbelt.sessions.store import DropKind, DroppedToolkit, LoadedToolkits, RestoredState
from toolbelt.text import show_value
from toolbelt.toolkits.expand import expand_toolkit
from toolbelt.toolkits.switching import SwitchedOff
from toolbelt.toolkits.toolkit import RESERVED, MetaRole, Toolkit

_GOES_ON = "so this session goes on without it"


@dataclass(frozen=True, slots=True)
class ShownTool:
    """A tool that an agent is shown.

    Attributes:
        key: Of the tool; a meta-tool's is its name.
        name: The wire name.
        tool: As it is defined.
        toolkit: The first toolkit that provides it; `None` for a meta-tool and a static tool.
        overrides: From the configuration; frozen, empty for none.
        is_meta: Whether it is one of the meta-tools.
    """

    key: str
    name: str
    tool: Tool
    toolkit: str | None = None
    overrides: Mapping[str, Any] = FrozenDict()
    is_meta: bool = False


class DynamicToolkits:
    """The toolkits of one agent.

    The caller keeps the loaded toolkits, a `LoadedToolkits`, for as long as a session lasts. They begin with `initial`,
    and this object never changes:

        toolkits, loaded = DynamicToolkits(agent, project_toolkits), None
        loaded = toolkits.restore(loaded).loaded                       # at the beginning of a turn
        tools = toolkits.shown_tools(loaded)                           # for every request of that turn
        answer, after = toolkits.load("devops", loaded)                # when the model asks; `after` is for the next

    Attributes:
        agent: Whose they are.
        toolkits: Those the agent may load, by key, in allowed order.
        initial: What a session starts with.
        granted: Keys of further toolkits that are on, by a switch or by default: they are there in every turn.

    Args:
        agent: What the configuration says of it.
        toolkits: All of the project, to distinguish one that is not allowed from one that does not exist.
        expansion: The tools of entries; by default an entry is the key of one tool.
        off: What the agent's switches take away (rule K8): neither static tools nor toolkits bring it, and a toolkit
            that is off is not allowed. What they grant the agent always has, unless it loads it itself, as part of a
            toolkit that it is allowed.

    Raises:
        InvalidDefinitionError: a duplicate toolkit, an allowed toolkit that does not exist, a reserved name, initial
            toolkits that conflict with the static tools or one another (rule D6). The message lists all problems.
    """

    agent: AgentSpec
    toolkits: Mapping[str, Toolkit]
    initial: LoadedToolkits
    granted: tuple[str, ...]

    def __init__(
        self,
        agent: AgentSpec,
        toolkits: Iterable[Toolkit],
        expansion: Expansion | None = None,
        off: SwitchedOff | None = None,
    ) -> None:
        self.agent = agent
        listed = tuple(toolkits)
        self._known = {toolkit.key: toolkit for toolkit in listed}
        self._expansion = expansion = expansion or Expansion()
        self._off = off = off or SwitchedOff()
        keys = [toolkit.key for toolkit in listed]
        problems = [f"Toolkit {key!r} is there twice." for key in self._known if keys.count(key) > 1]
        problems += [
            f"Allowed toolkit {key!r} is not there.{suggestion(key, self._known)}"
            for key in agent.allowed_toolkits
            if key not in self._known
        ]
        allowed = [key for key in agent.allowed_toolkits if key in self._known and key not in off.toolkits]
        self.toolkits = MappingProxyType({key: self._known[key] for key in allowed})
        self.initial = tuple(key for key in allowed if key in agent.initial_toolkits)
        self._static = Bundle.of(agent.tools, agent.overrides, expansion.find, None, off.tools)
        self._bundles = {
            toolkit.key: Bundle.of(toolkit.member_tools, toolkit.overrides, expansion.find, toolkit.key, off.tools)
            for toolkit in self._known.values()
        }
        self.granted = tuple(key for key in off.on_toolkits if key in self._known and key not in allowed)
        self._static = self._with_switched_on(self._static)
        problems += [*self._find_reserved(), *self._find_conflicts()]
        if problems:
            raise InvalidDefinitionError(
                f"The tools and toolkits of agent {agent.name!r} cannot be used. {' '.join(problems)}"
            )

    @property
    def has_meta_tools(self) -> bool:
        """Whether the agent has the meta-tools wherever there is a session (rule D2)."""
        return bool(self.agent.allowed_toolkits)

    def shown_tools(self, loaded: Iterable[str], *, has_session: bool = True) -> tuple[ShownTool, ...]:
        """What the agent is shown with these toolkits: meta-tools first, then as in `merge`.

        The command line, sessions and evals all take an agent's tools from here (rule D5).

        Args:
            loaded: As for `merge`, which also has the same errors.
            has_session: Whether there is a session to load anything for.
        """
        meta = (tool for tool in META_TOOLS.values() if has_session and self.has_meta_tools)
        return (
            *(ShownTool(tool.name, tool.name, tool, is_meta=True) for tool in meta),
            *(
                ShownTool(
                    active.key,
                    self._expansion.find_wire_name(active.key),
                    self._expansion.get_tool(active.key),
                    active.toolkit,
                    active.overrides,
                )
                for active in self.merge(loaded)
            ),
        )

    def unmatched_entries(self, loaded: Iterable[str]) -> tuple[str, ...]:
        """Entries of the agent and its loaded toolkits that match no tool, each once, static ones first."""
        bundles = (self._static, *(self._bundles[key] for key in (*self.granted, *self._ordered(loaded))))
        return tuple(dict.fromkeys(entry for bundle in bundles for entry in bundle.unmatched))

    def find_unmatched(self, loaded: Iterable[str]) -> list[str]:
        """`unmatched_entries`, each in a sentence with where it stands."""
        unmatched = [(entry, f"the agent's {STATIC}") for entry in self._static.unmatched]
        for key in (*self.granted, *self._ordered(loaded)):
            unmatched += [(entry, f"toolkit {key!r}") for entry in self._bundles[key].unmatched]
        return [
            f"{entry!r} of {where} names no tool here.{self._expansion.suggest(entry)}" for entry, where in unmatched
        ]

    def restore(self, stored: Iterable[str] | None) -> RestoredState:
        """The loaded toolkits, from the stored state and the current configuration (rule D5).

        Args:
            stored: Keys of the toolkits that were loaded; `None` if nothing was stored.

        Returns:
            The initial toolkits, and the stored ones that are still possible; of two that conflict, the earlier in
            allowed order.
        """
        stored_keys = dict.fromkeys(() if stored is None else stored)
        present = self._compared(self.initial)
        dropped: dict[str, DroppedToolkit] = {}
        loaded = set(self.initial)
        for key in self.toolkits:
            if key in stored_keys and key not in loaded:
                bundle = self._bundles[key]
                if (conflict := bundle.find_conflict(present)) is not None:
                    reason = f"Toolkit {key!r} can no longer be loaded, {_GOES_ON}: {conflict.description}."
                    dropped[key] = DroppedToolkit(key, reason, DropKind.CONFLICT)
                    continue
                loaded.add(key)
                present = {**bundle.compared, **present}
        for key in stored_keys:
            if key not in self._known:
                near = suggestion(key, self.toolkits) if nearest(key, self.toolkits) else ""
                reason = f"Toolkit {key!r} is no longer there, {_GOES_ON}.{near}"
                dropped[key] = DroppedToolkit(key, reason, DropKind.UNKNOWN)
            elif key in self.agent.allowed_toolkits and key in self._off.toolkits:
                reason = f"Toolkit {key!r} is switched off for agent {self.agent.name!r}, {_GOES_ON}."
                dropped[key] = DroppedToolkit(key, reason, DropKind.SWITCHED_OFF)
            elif key not in self.toolkits:
                reason = f"Toolkit {key!r} is no longer allowed to agent {self.agent.name!r}, {_GOES_ON}."
                dropped[key] = DroppedToolkit(key, reason, DropKind.NOT_ALLOWED)
        return RestoredState(self._ordered(loaded), tuple(dropped[key] for key in stored_keys if key in dropped))

    def merge(self, loaded: Iterable[str]) -> tuple[ActiveTool, ...]:
        """The agent's tools with these toolkits: static tools first, then by toolkit in allowed order (rule D6).

        Args:
            loaded: From `restore`, `load` or `unload`.

        Raises:
            NotFoundError: a toolkit that the agent is not allowed.
            InvalidDefinitionError: toolkits that conflict, which `restore` never returns.
        """
        wanted = set(loaded)
        if not_allowed := [key for key in wanted if key not in self.toolkits]:
            raise NotFoundError("toolkit", min(not_allowed), self.toolkits)
        merged, present = dict(self._static.tools), self._static.compared
        for key in (*self.granted, *self.toolkits):
            if key in wanted or key in self.granted:
                bundle = self._bundles[key]
                if (conflict := bundle.find_conflict(present)) is not None:
                    raise InvalidDefinitionError(f"Toolkit {key!r} cannot be loaded: {conflict.description}.")
                present = {**bundle.compared, **present}
                merged = {**merged, **{tool.key: tool for tool in bundle.tools.values() if tool.key not in merged}}
        return tuple(merged.values())

    def reachable_keys(self) -> tuple[str, ...]:
        """Keys of all tools that the agent has or could load, static tools first."""
        keys = dict.fromkeys(self._static.tools)
        for key in (*self.granted, *self.toolkits):
            keys.update(dict.fromkeys(self._bundles[key].tools))
        return tuple(keys)

    def named_keys(self) -> frozenset[str]:
        """Keys of all tools that the agent, any toolkit of the project or a switch that is off names."""
        return self._off.tools.union(self._static.tools, *(bundle.tools for bundle in self._bundles.values()))

    def find_toolkits_of(self, key: str) -> tuple[str, ...]:
        """Keys of the toolkits that the agent may load and that have a tool, in allowed order."""
        return tuple(toolkit for toolkit in self.toolkits if key in self._bundles[toolkit].tools)

    def expand_loaded(self, loaded: Iterable[str]) -> tuple[Toolkit, ...]:
        """Toolkits that are switched on, then loaded ones, with tool keys as members, for policies and directives."""
        keys = (*self.granted, *self._ordered(loaded))
        return tuple(expand_toolkit(self._known[key], self._expansion.find) for key in keys)

    def list_toolkits(self, loaded: Iterable[str]) -> MetaToolAnswer:
        """The answer to `list_toolkits` (rule D3)."""
        wanted = set(loaded)
        rows = [
            {
                "name": key,
                "description": toolkit.description,
                "tools": self._shown(self._bundles[key].tools),
                "loaded": key in wanted,
                "sticky": key in self.initial,
            }
            for key, toolkit in self.toolkits.items()
        ]
        return make_answer(AnswerStatus.OK, toolkits=rows)

    def load(
        self, toolkit: str, loaded: Iterable[str], *, has_session: bool = True
    ) -> tuple[MetaToolAnswer, LoadedToolkits]:
        """The answer to `load_tools`, and the toolkits that are loaded from the next turn on (rule D3).

        Args:
            toolkit: As the model wrote it; case and surrounding blanks are ignored if no toolkit has exactly that name.
            loaded: The toolkits that are loaded so far.
            has_session: Whether there is a session to load it for.

        Raises:
            InvalidDefinitionError: a toolkit that is not text.
        """
        now = self._ordered(loaded)
        key = self._find_key(toolkit)
        if key is None or key not in self.toolkits:
            return make_refusal(toolkit, key, self.toolkits), now
        if key in now:
            return make_answer(AnswerStatus.ALREADY_LOADED, toolkit=key), now
        if not has_session:
            return make_answer(AnswerStatus.ERROR, toolkit=key, message=NO_SESSION_MESSAGE), now
        bundle = self._bundles[key]
        if (conflict := bundle.find_conflict(self._compared(now))) is not None:
            return self._conflict(key, conflict), now
        tools = self._shown(bundle.tools)
        return make_change_answer(AnswerStatus.LOADED, key, tools), self._ordered((*now, key))

    def unload(
        self, toolkit: str, loaded: Iterable[str], *, has_session: bool = True
    ) -> tuple[MetaToolAnswer, LoadedToolkits]:
        """The answer to `unload_tools`, and the toolkits that are loaded from the next turn on (rule D3); as `load`."""
        now = self._ordered(loaded)
        key = self._find_key(toolkit)
        if key is None or key not in self.toolkits:
            return make_refusal(toolkit, key, self.toolkits), now
        if key in self.initial:
            return make_answer(AnswerStatus.STICKY, toolkit=key), now
        if key not in now:
            return make_answer(AnswerStatus.NOT_LOADED, toolkit=key), now
        if not has_session:
            return make_answer(AnswerStatus.ERROR, toolkit=key, message=NO_SESSION_MESSAGE), now
        after = tuple(each for each in now if each != key)
        staying = {tool.key for tool in self.merge(after)}
        tools = self._shown(tool for tool in self._bundles[key].tools if tool not in staying)
        return make_change_answer(AnswerStatus.UNLOADED, key, tools), after

    def call(
        self,
        role: MetaRole,
        arguments: Mapping[str, Any] | None,
        loaded: Iterable[str],
        *,
        has_session: bool = True,
    ) -> tuple[MetaToolAnswer, LoadedToolkits]:
        """The answer to a model's call of a meta-tool, and the toolkits that are loaded from the next turn on.

        Args:
            role: Of the meta-tool.
            arguments: As the model gave them; `None` if they were not a JSON object. `list_toolkits` needs none.
            loaded: The toolkits that are loaded so far.
            has_session: Whether there is a session to change anything for.
        """
        now = self._ordered(loaded)
        if role is MetaRole.LIST:
            return self.list_toolkits(now), now
        toolkit = arguments.get("toolkit") if isinstance(arguments, Mapping) else None
        if not isinstance(toolkit, str):
            return make_usage_error(role.value, arguments, self.toolkits), now
        if role is MetaRole.LOAD:
            return self.load(toolkit, now, has_session=has_session)
        if role is MetaRole.UNLOAD:
            return self.unload(toolkit, now, has_session=has_session)
        assert_never(role)

    # Names

    def _find_key(self, name: str) -> str | None:
        """The key that a model means; `None` if there is none, or more than one candidate."""
        if not isinstance(name, str):
            raise InvalidDefinitionError(f"The key of a toolkit must be text, not {show_value(name)}.")
        if name in self._known:
            return name
        wanted = fold(name.strip())
        for keys in (self.toolkits, self._known):
            matches = [key for key in keys if fold(key.strip()) == wanted]
            if matches:
                return matches[0] if len(matches) == 1 else None
        return None

    def _conflict(self, key: str, conflict: Conflict) -> MetaToolAnswer:
        tool = conflict.coming.key
        return make_conflict_answer(
            key,
            is_permanent=conflict.existing.toolkit in (None, *self.granted, *self.initial),
            conflicting_tool=self._shown([tool])[0],
            conflicts_with=conflict.holder,
            overrides=thaw(conflict.coming.overrides),
            existing_overrides=thaw(conflict.existing.overrides),
        )

    def _shown(self, keys: Iterable[str]) -> list[str]:
        find = self._expansion.find_answer_name or self._expansion.find_wire_name
        return [find(key) for key in keys]

    # Merging

    def _ordered(self, loaded: Iterable[str]) -> LoadedToolkits:
        wanted = set(loaded)
        return tuple(key for key in self.toolkits if key in wanted)

    def _compared(self, loaded: Iterable[str]) -> Mapping[str, ActiveTool]:
        bundles = [self._static, *(self._bundles[key] for key in (*self.granted, *self._ordered(loaded)))]
        return {key: tool for bundle in reversed(bundles) for key, tool in bundle.compared.items()}

    def _with_switched_on(self, static: Bundle) -> Bundle:
        """The static tools with those that a switch of their own turns on, and no toolkit brings."""
        brought = {key for toolkit in (*self.granted, *self.toolkits) for key in self._bundles[toolkit].tools}
        own = (key for key in self._off.on_tools if key not in brought and key in self._expansion.tools)
        added = {key: ActiveTool(key, FrozenDict()) for key in own if key not in static.tools}
        return replace(static, tools=FrozenDict({**static.tools, **added}))

    def _find_reserved(self) -> Iterator[str]:
        if not self.toolkits:
            return
        yield from (f"The name {key!r} of a toolkit is reserved." for key in self.toolkits if fold(key) in RESERVED)
        members = (member for toolkit in self.toolkits.values() for member in toolkit.member_tools)
        reachable = (self._expansion.get_tool(key).name for key in self.reachable_keys())
        names = dict.fromkeys((*self.agent.tools, *members, *reachable))
        yield from (f"The name {name!r} of a tool is reserved." for name in names if fold(name) in RESERVED)

    def _find_conflicts(self) -> Iterator[str]:
        present = self._static.compared
        for key in (*self.granted, *self.initial):
            if (conflict := self._bundles[key].find_conflict(present)) is not None:
                kind = "Initial toolkit" if key in self.initial else "Toolkit"
                yield f"{kind} {key!r} conflicts: {conflict.description}."
            present = {**self._bundles[key].compared, **present}
