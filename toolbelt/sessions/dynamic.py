"""Toolkits that an agent loads and unloads itself: what is loaded, what that gives, what changes it (D2 to D6)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Any, assert_never

from toolbelt.catalog.frozen import thaw
from toolbelt.errors import InvalidDefinitionError, NotFoundError, nearest, suggestion
from toolbelt.patterns import fold
from toolbelt.runtime.gates import FilterOpts
from toolbelt.sessions.agent import AgentSpec
from toolbelt.sessions.bundles import STATIC, ActiveTool, Bundle, Conflict, Expand, Expansion
from toolbelt.sessions.meta_tools import (
    ALREADY_LOADED_MESSAGE,
    CONFLICT_MESSAGE,
    CONFLICT_STAYS_MESSAGE,
    LOADED_MESSAGE,
    LOADED_NOTHING_MESSAGE,
    NEXT_REQUEST,
    NO_SESSION_MESSAGE,
    NOT_LOADED_MESSAGE,
    STICKY_MESSAGE,
    UNLOADED_MESSAGE,
    UNLOADED_NOTHING_MESSAGE,
    Answer,
    make_answer,
    make_refusal,
    make_usage_error,
)
from toolbelt.toolkits.expand import expand_toolkit
from toolbelt.toolkits.toolkit import RESERVED, MetaRole, Toolkit

Loaded = tuple[str, ...]
"""Keys of toolkits, in the order in which the agent is allowed them."""
_WITHOUT = "so this session goes on without it"


class DropKind(StrEnum):
    """Why a toolkit that was loaded is not any more."""

    UNKNOWN = "unknown"
    """There is none of that key."""
    NOT_ALLOWED = "not_allowed"
    """There is, but not for this agent."""
    CONFLICT = "conflict"
    """It has a tool that is there with other overrides."""


@dataclass(frozen=True, slots=True)
class Dropped:
    """A toolkit that was loaded and no longer can be.

    Attributes:
        toolkit: Its key, as it was kept.
        reason: Why, in a sentence.
        kind: Why, for programs.
    """

    toolkit: str
    reason: str
    kind: DropKind


@dataclass(frozen=True, slots=True)
class Restored:
    """What is left of a kept state (rule D5).

    Attributes:
        loaded: What is loaded now.
        dropped: What was kept and is not, in the order in which it was kept.
    """

    loaded: Loaded
    dropped: tuple[Dropped, ...] = ()

    @property
    def elsewhere(self) -> Loaded:
        """Keys of what this configuration does not have, in the order in which they were kept.

        Another process may have a configuration that does, as when a new one is rolled out: what it has loaded is not
        this one's to forget.
        """
        return tuple(one.toolkit for one in self.dropped if one.kind is not DropKind.CONFLICT)


class DynamicToolkits:
    """The toolkits of one agent.

    What is loaded is a `Loaded`, kept by the caller for as long as a session lasts; it begins with `initial`, and
    nothing here changes:

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
        toolkits: All of the project, so that one that is not allowed is told from one that is not there.
        expand: From an entry (a plugin, or `plugin/tool`) to the keys of its tools; `None`: an entry is its own key.
        names: What the model is shown a tool under, by key, where that is another; meta-tools by their own names. What
            is not among them is shown as `expand_over` finds it in its registry, or else under its key.

    Raises:
        InvalidDefinitionError: a toolkit twice, an allowed one that is not there, a reserved name, initial ones that
            conflict with the static tools or one another (rule D6). All that is wrong is named at once.
    """

    agent: AgentSpec
    toolkits: Mapping[str, Toolkit]
    initial: Loaded

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
        wrong = [f"Toolkit {key!r} is there twice." for key in self._known if keys.count(key) > 1]
        wrong += [
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
        wrong += [*self._find_reserved(), *self._find_conflicts()]
        if wrong:
            raise InvalidDefinitionError(
                f"The tools and toolkits of agent {agent.name!r} cannot be used. {' '.join(wrong)}"
            )

    @property
    def has_meta_tools(self) -> bool:
        """Whether the agent may load anything, and so has the meta-tools wherever there is a session (rule D2)."""
        return bool(self.toolkits)

    def find_unmatched(self, loaded: Iterable[str]) -> list[str]:
        """Entries that no tool answers to, among the static ones and those of loaded toolkits, each in a sentence."""
        found = [(entry, f"the agent's {STATIC}") for entry in self._static.unmatched]
        for key in self._ordered(loaded):
            found += [(entry, f"toolkit {key!r}") for entry in self._bundles[key].unmatched]
        return [f"{entry!r} of {where} names no tool here.{self._expansion.advise(entry)}" for entry, where in found]

    def restore(self, stored: Iterable[str] | None) -> Restored:
        """What is loaded, after what was kept and by the configuration of now (rule D5).

        Args:
            stored: Keys of the toolkits that were loaded; `None` where nothing was kept.

        Returns:
            The initial ones, and of the others what still may be; where two conflict, the earlier in allowed order.
        """
        kept = dict.fromkeys(() if stored is None else stored)
        active = self._merged(self.initial)
        dropped: dict[str, Dropped] = {}
        loaded = set(self.initial)
        for key in self.toolkits:
            if key in kept and key not in loaded:
                bundle = self._bundles[key]
                if (conflict := bundle.find_conflict(active)) is not None:
                    reason = f"Toolkit {key!r} can no longer be loaded, {_WITHOUT}: {conflict.words}."
                    dropped[key] = Dropped(key, reason, DropKind.CONFLICT)
                    continue
                loaded.add(key)
                active = {**bundle.tools, **active}
        for key in kept:
            if key not in self._known:
                near = suggestion(key, self.toolkits) if nearest(key, self.toolkits) else ""
                reason = f"Toolkit {key!r} is no longer there, {_WITHOUT}.{near}"
                dropped[key] = Dropped(key, reason, DropKind.UNKNOWN)
            elif key not in self.toolkits:
                reason = f"Toolkit {key!r} is no longer allowed to agent {self.agent.name!r}, {_WITHOUT}."
                dropped[key] = Dropped(key, reason, DropKind.NOT_ALLOWED)
        return Restored(self._ordered(loaded), tuple(dropped[key] for key in kept if key in dropped))

    def merge(self, loaded: Iterable[str]) -> tuple[ActiveTool, ...]:
        """The tools there are when that is loaded: static ones first, then by toolkit in allowed order (rule D6).

        Args:
            loaded: What `restore`, `load` or `unload` gave.

        Raises:
            NotFoundError: what the agent is not allowed.
            InvalidDefinitionError: toolkits that conflict, which `restore` never gives.
        """
        wanted = set(loaded)
        if strangers := [key for key in wanted if key not in self.toolkits]:
            raise NotFoundError("toolkit", min(strangers), self.toolkits)
        made = dict(self._static.tools)
        for key in self.toolkits:
            if key in wanted:
                if (conflict := self._bundles[key].find_conflict(made)) is not None:
                    raise InvalidDefinitionError(f"Toolkit {key!r} cannot be loaded: {conflict.words}.")
                for tool in self._bundles[key].tools.values():
                    made.setdefault(tool.key, tool)
        return tuple(made.values())

    def tool_keys(self, loaded: Iterable[str]) -> tuple[str, ...]:
        """Keys of the tools there are; in the order, and raising, as `merge`."""
        return tuple(tool.key for tool in self.merge(loaded))

    def reach(self) -> tuple[str, ...]:
        """Keys of everything the agent has or could ever load, static ones first."""
        found = dict.fromkeys(self._static.tools)
        for key in self.toolkits:
            found.update(dict.fromkeys(self._bundles[key].tools))
        return tuple(found)

    def named(self) -> frozenset[str]:
        """Keys of every tool that the agent or any toolkit of the project names, so that others go without it.

        Those that pass every allow-list are not among them: every agent has these, whoever names them.
        """
        named = frozenset(self._static.tools).union(*(bundle.tools for bundle in self._bundles.values()))
        return named - self._expansion.always

    def guests(self) -> FilterOpts:
        """What lets through the tools of servers and extensions that were there when entries were expanded.

        Others may be what an entry names, which nobody can tell any more. Without a registry to ask, all pass.
        """
        return FilterOpts() if self._expansion.guests is None else self._expansion.guests()

    def over_tools(self, loaded: Iterable[str]) -> tuple[Toolkit, ...]:
        """Loaded toolkits in allowed order, with the keys of tools as members, for their policies and directives."""
        return tuple(expand_toolkit(self.toolkits[key], self._expansion) for key in self._ordered(loaded))

    def shown_as(self, key: str) -> str:
        """What the model is shown a tool under."""
        return self._names[key] if key in self._names else self._expansion.shown(key)

    def list_toolkits(self, loaded: Iterable[str]) -> Answer:
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
        return make_answer("ok", toolkits=rows)

    def load(self, toolkit: str, loaded: Iterable[str], *, has_session: bool = True) -> tuple[Answer, Loaded]:
        """The answer to `load_tools`, and what is loaded from the next turn on (rule D3).

        Args:
            toolkit: As the model wrote it; if there is none of that name, case and blanks around it are ignored.
            loaded: What is loaded so far.
            has_session: Whether there is a session to load it for.

        Raises:
            InvalidDefinitionError: a toolkit that is no text.
        """
        now = self._ordered(loaded)
        key = self._find(toolkit)
        if key is None or key not in self.toolkits:
            return make_refusal(toolkit, key, self.toolkits), now
        if key in now:
            return make_answer("already_loaded", toolkit=key, message=ALREADY_LOADED_MESSAGE), now
        if not has_session:
            return make_answer("error", toolkit=key, message=NO_SESSION_MESSAGE), now
        bundle = self._bundles[key]
        if (conflict := bundle.find_conflict(self._merged(now))) is not None:
            return self._conflict(key, conflict), now
        tools = self._shown(bundle.tools)
        message = LOADED_MESSAGE if tools else LOADED_NOTHING_MESSAGE
        made = make_answer("loaded", toolkit=key, tools=tools, takes_effect=NEXT_REQUEST, message=message)
        return made, self._ordered((*now, key))

    def unload(self, toolkit: str, loaded: Iterable[str], *, has_session: bool = True) -> tuple[Answer, Loaded]:
        """The answer to `unload_tools`, and what is loaded from the next turn on (rule D3); else as `load`."""
        now = self._ordered(loaded)
        key = self._find(toolkit)
        if key is None or key not in self.toolkits:
            return make_refusal(toolkit, key, self.toolkits), now
        if key in self.initial:
            return make_answer("sticky", toolkit=key, message=STICKY_MESSAGE), now
        if key not in now:
            return make_answer("not_loaded", toolkit=key, message=NOT_LOADED_MESSAGE), now
        if not has_session:
            return make_answer("error", toolkit=key, message=NO_SESSION_MESSAGE), now
        after = tuple(kept for kept in now if kept != key)
        staying = self._merged(after)
        tools = self._shown(tool for tool in self._bundles[key].tools if tool not in staying)
        message = UNLOADED_MESSAGE if tools else UNLOADED_NOTHING_MESSAGE
        return make_answer("unloaded", toolkit=key, tools=tools, takes_effect=NEXT_REQUEST, message=message), after

    def call(
        self,
        role: MetaRole,
        arguments: Mapping[str, Any] | None,
        loaded: Iterable[str],
        *,
        has_session: bool = True,
    ) -> tuple[Answer, Loaded]:
        """The answer to a model's call of a meta-tool, and what is loaded from the next turn on.

        Args:
            role: Which of the three was called.
            arguments: As the model gave them; `None` if they were no JSON object. `list_toolkits` needs none.
            loaded: What is loaded so far.
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
        """The key a model means; `None` where there is none, or more than one that is as near."""
        if not isinstance(name, str):
            raise InvalidDefinitionError(f"The key of a toolkit must be text, not {name!r}.")
        if name in self._known:
            return name
        wanted = fold(name.strip())
        for keys in (self.toolkits, self._known):
            found = [key for key in keys if fold(key.strip()) == wanted]
            if found:
                return found[0] if len(found) == 1 else None
        return None

    def _conflict(self, key: str, conflict: Conflict) -> Answer:
        tool = conflict.coming.key
        stays = conflict.existing.toolkit is None or conflict.existing.toolkit in self.initial
        return make_answer(
            "conflict",
            toolkit=key,
            conflicting_tool=self.shown_as(tool),
            conflicts_with=conflict.holder,
            overrides=thaw(conflict.coming.overrides),
            existing_overrides=thaw(conflict.existing.overrides),
            message=CONFLICT_STAYS_MESSAGE if stays else CONFLICT_MESSAGE,
        )

    def _shown(self, keys: Iterable[str]) -> list[str]:
        return [self.shown_as(key) for key in keys]

    # Merging

    def _ordered(self, loaded: Iterable[str]) -> Loaded:
        wanted = set(loaded)
        return tuple(key for key in self.toolkits if key in wanted)

    def _merged(self, loaded: Iterable[str]) -> dict[str, ActiveTool]:
        return {tool.key: tool for tool in self.merge(loaded)}

    def _find_reserved(self) -> Iterator[str]:
        if not self.toolkits:
            return
        yield from (f"The name {key!r} of a toolkit is reserved." for key in self.toolkits if fold(key) in RESERVED)
        members = (member for toolkit in self.toolkits.values() for member in toolkit.member_tools)
        names = dict.fromkeys((*self.agent.tools, *members, *self.reach()))
        yield from (f"The name {name!r} of a tool is reserved." for name in names if fold(name) in RESERVED)

    def _find_conflicts(self) -> Iterator[str]:
        active = dict(self._static.tools)
        for key in self.initial:
            if (conflict := self._bundles[key].find_conflict(active)) is not None:
                yield f"Initial toolkit {key!r} conflicts: {conflict.words}."
            active = {**self._bundles[key].tools, **active}
