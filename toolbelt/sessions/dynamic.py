"""Toolkits that an agent loads and unloads itself: their tools, and the answers to changes (rules D2 to D6)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, assert_never

from toolbelt.catalog.frozen import thaw
from toolbelt.errors import InvalidDefinitionError, NotFoundError, nearest, suggestion
from toolbelt.patterns import fold
from toolbelt.runtime.gates import FilterOpts
from toolbelt.sessions.agent import AgentSpec
from toolbelt.sessions.bundles import STATIC, ActiveTool, Bundle, Conflict, Expand, Expansion
from toolbelt.sessions.meta_tools import (
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
from toolbelt.toolkits.toolkit import RESERVED, MetaRole, Toolkit

_GOES_ON = "so this session goes on without it"


class DynamicToolkits:
    """The toolkits of one agent.

    The caller keeps the loaded toolkits, a `LoadedToolkits`, for as long as a session lasts. They begin with `initial`,
    and this object never changes:

        toolkits, loaded = DynamicToolkits(agent, project_toolkits), None
        loaded = toolkits.restore(loaded).loaded                       # at the beginning of a turn
        keys = toolkits.tool_keys(loaded)                              # for every request of that turn
        answer, after = toolkits.load("devops", loaded)                # when the model asks; `after` is for the next

    Attributes:
        agent: Whose they are.
        toolkits: Those the agent is allowed, by key, in allowed order.
        initial: What a session starts with.

    Args:
        agent: What the configuration says of it.
        toolkits: All of the project, to distinguish one that is not allowed from one that does not exist.
        expand: From an entry (a plugin, or `plugin/tool`) to the keys of its tools; `None`: an entry is its own key.
        names: Names that the model is shown, by tool key; meta-tools by their own names. A tool that is not listed is
            shown under its name in the registry of `expand_over`, or else under its key.

    Raises:
        InvalidDefinitionError: a duplicate toolkit, an allowed toolkit that does not exist, a reserved name, initial
            toolkits that conflict with the static tools or one another (rule D6). The message lists all problems.
    """

    agent: AgentSpec
    toolkits: Mapping[str, Toolkit]
    initial: LoadedToolkits

    def __init__(
        self,
        agent: AgentSpec,
        toolkits: Iterable[Toolkit],
        expand: Expand | None = None,
        names: Mapping[str, str] | None = None,
    ) -> None:
        self.agent = agent
        given = tuple(toolkits)
        self._known = {toolkit.key: toolkit for toolkit in given}
        self._names = {} if names is None else names
        if not isinstance(expand, Expansion):
            expand = Expansion() if expand is None else Expansion(expand)
        self._expansion = expand
        keys = [toolkit.key for toolkit in given]
        problems = [f"Toolkit {key!r} is there twice." for key in self._known if keys.count(key) > 1]
        problems += [
            f"Allowed toolkit {key!r} is not there.{suggestion(key, self._known)}"
            for key in agent.allowed_toolkits
            if key not in self._known
        ]
        allowed = [key for key in agent.allowed_toolkits if key in self._known]
        self.toolkits = MappingProxyType({key: self._known[key] for key in allowed})
        self.initial = tuple(key for key in allowed if key in agent.initial_toolkits)
        self._static = Bundle.of(agent.tools, agent.overrides, expand, None)
        self._bundles = {
            toolkit.key: Bundle.of(toolkit.member_tools, toolkit.overrides, expand, toolkit.key)
            for toolkit in self._known.values()
        }
        problems += [*self._find_reserved(), *self._find_conflicts()]
        if problems:
            raise InvalidDefinitionError(
                f"The tools and toolkits of agent {agent.name!r} cannot be used. {' '.join(problems)}"
            )

    @property
    def has_meta_tools(self) -> bool:
        """Whether the agent may load anything, and so has the meta-tools wherever there is a session (rule D2)."""
        return bool(self.toolkits)

    def find_unmatched(self, loaded: Iterable[str]) -> list[str]:
        """Entries of the agent and its loaded toolkits that match no tool, each in a sentence."""
        unmatched = [(entry, f"the agent's {STATIC}") for entry in self._static.unmatched]
        for key in self._ordered(loaded):
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
        active = self._merged(self.initial)
        dropped: dict[str, DroppedToolkit] = {}
        loaded = set(self.initial)
        for key in self.toolkits:
            if key in stored_keys and key not in loaded:
                bundle = self._bundles[key]
                if (conflict := bundle.find_conflict(active)) is not None:
                    reason = f"Toolkit {key!r} can no longer be loaded, {_GOES_ON}: {conflict.description}."
                    dropped[key] = DroppedToolkit(key, reason, DropKind.CONFLICT)
                    continue
                loaded.add(key)
                active = {**bundle.tools, **active}
        for key in stored_keys:
            if key not in self._known:
                near = suggestion(key, self.toolkits) if nearest(key, self.toolkits) else ""
                reason = f"Toolkit {key!r} is no longer there, {_GOES_ON}.{near}"
                dropped[key] = DroppedToolkit(key, reason, DropKind.UNKNOWN)
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
        merged = dict(self._static.tools)
        for key in self.toolkits:
            if key in wanted:
                if (conflict := self._bundles[key].find_conflict(merged)) is not None:
                    raise InvalidDefinitionError(f"Toolkit {key!r} cannot be loaded: {conflict.description}.")
                for tool in self._bundles[key].tools.values():
                    merged.setdefault(tool.key, tool)
        return tuple(merged.values())

    def tool_keys(self, loaded: Iterable[str]) -> tuple[str, ...]:
        """Keys of the tools; order and errors as in `merge`."""
        return tuple(tool.key for tool in self.merge(loaded))

    def reachable_keys(self) -> tuple[str, ...]:
        """Keys of all tools that the agent has or could load, static tools first."""
        keys = dict.fromkeys(self._static.tools)
        for key in self.toolkits:
            keys.update(dict.fromkeys(self._bundles[key].tools))
        return tuple(keys)

    def named_keys(self) -> frozenset[str]:
        """Keys of all tools that the agent or any toolkit of the project names, so that other agents do not get them.

        Without tools that pass every allow-list: each agent has these.
        """
        named = frozenset(self._static.tools).union(*(bundle.tools for bundle in self._bundles.values()))
        return named - self._expansion.always_included

    def find_allowed_extensions(self) -> FilterOpts:
        """A filter for the tools of servers and extensions that were registered when entries were expanded.

        An entry may name a tool that was registered later, and it is unknown which one. Without a registry, all pass.
        """
        return (
            FilterOpts()
            if self._expansion.find_allowed_extensions is None
            else self._expansion.find_allowed_extensions()
        )

    def expand_loaded(self, loaded: Iterable[str]) -> tuple[Toolkit, ...]:
        """Loaded toolkits in allowed order, with tool keys as members, for their policies and directives."""
        return tuple(expand_toolkit(self.toolkits[key], self._expansion) for key in self._ordered(loaded))

    def shown_as(self, key: str) -> str:
        """The name under which the model is shown a tool."""
        return self._names[key] if key in self._names else self._expansion.shown(key)

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
        key = self._find(toolkit)
        if key is None or key not in self.toolkits:
            return make_refusal(toolkit, key, self.toolkits), now
        if key in now:
            return make_answer(AnswerStatus.ALREADY_LOADED, toolkit=key), now
        if not has_session:
            return make_answer(AnswerStatus.ERROR, toolkit=key, message=NO_SESSION_MESSAGE), now
        bundle = self._bundles[key]
        if (conflict := bundle.find_conflict(self._merged(now))) is not None:
            return self._conflict(key, conflict), now
        tools = self._shown(bundle.tools)
        return make_change_answer(AnswerStatus.LOADED, key, tools), self._ordered((*now, key))

    def unload(
        self, toolkit: str, loaded: Iterable[str], *, has_session: bool = True
    ) -> tuple[MetaToolAnswer, LoadedToolkits]:
        """The answer to `unload_tools`, and the toolkits that are loaded from the next turn on (rule D3); as `load`."""
        now = self._ordered(loaded)
        key = self._find(toolkit)
        if key is None or key not in self.toolkits:
            return make_refusal(toolkit, key, self.toolkits), now
        if key in self.initial:
            return make_answer(AnswerStatus.STICKY, toolkit=key), now
        if key not in now:
            return make_answer(AnswerStatus.NOT_LOADED, toolkit=key), now
        if not has_session:
            return make_answer(AnswerStatus.ERROR, toolkit=key, message=NO_SESSION_MESSAGE), now
        after = tuple(each for each in now if each != key)
        staying = self._merged(after)
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
            name = self.shown_as(role.value)
            return make_usage_error(name, arguments, self.toolkits), now
        if role is MetaRole.LOAD:
            return self.load(toolkit, now, has_session=has_session)
        if role is MetaRole.UNLOAD:
            return self.unload(toolkit, now, has_session=has_session)
        assert_never(role)

    # Names

    def _find(self, name: str) -> str | None:
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
        is_permanent = conflict.existing.toolkit is None or conflict.existing.toolkit in self.initial
        return make_conflict_answer(
            key,
            is_permanent=is_permanent,
            conflicting_tool=self.shown_as(tool),
            conflicts_with=conflict.holder,
            overrides=thaw(conflict.coming.overrides),
            existing_overrides=thaw(conflict.existing.overrides),
        )

    def _shown(self, keys: Iterable[str]) -> list[str]:
        return [self.shown_as(key) for key in keys]

    # Merging

    def _ordered(self, loaded: Iterable[str]) -> LoadedToolkits:
        wanted = set(loaded)
        return tuple(key for key in self.toolkits if key in wanted)

    def _merged(self, loaded: Iterable[str]) -> dict[str, ActiveTool]:
        return {tool.key: tool for tool in self.merge(loaded)}

    def _find_reserved(self) -> Iterator[str]:
        if not self.toolkits:
            return
        yield from (f"The name {key!r} of a toolkit is reserved." for key in self.toolkits if fold(key) in RESERVED)
        members = (member for toolkit in self.toolkits.values() for member in toolkit.member_tools)
        names = dict.fromkeys((*self.agent.tools, *members, *self.reachable_keys()))
        yield from (f"The name {name!r} of a tool is reserved." for name in names if fold(name) in RESERVED)

    def _find_conflicts(self) -> Iterator[str]:
        active = dict(self._static.tools)
        for key in self.initial:
            if (conflict := self._bundles[key].find_conflict(active)) is not None:
                yield f"Initial toolkit {key!r} conflicts: {conflict.description}."
            active = {**self._bundles[key].tools, **active}
