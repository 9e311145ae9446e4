"""What a model is shown: tool definitions, made and counted once, and put together for each request."""

from __future__ import annotations

import hashlib
from collections import ChainMap
from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any

from toolbelt.catalog import Catalog, Tool
from toolbelt.catalog.definitions import assign_wire_names, openai_definition
from toolbelt.catalog.frozen import thaw
from toolbelt.catalog.tokens import TokenCounter, count_named_tools, count_tool_tokens
from toolbelt.errors import AmbiguousNameError, NotFoundError
from toolbelt.evals.conversation import Message
from toolbelt.tiers import own_meta_tools

_NARROWED_KEPT = 256
"""Universes whose names are kept: enough for all trials under way."""


@dataclass(frozen=True, eq=False, slots=True)
class Offered:
    """One tool as a model is shown it; made once per renderer, so that identity is equality.

    Attributes:
        name: The wire name.
        tool: What it is, as the catalog has it.
        definition: As it is shown, in OpenAI's form, of plain dicts and lists; shared between requests, never changed.
        tokens: What the definition costs, by the renderer's tokenizer.
    """

    name: str
    tool: Tool
    definition: Mapping[str, Any]
    tokens: int


@dataclass(frozen=True, eq=False)
class Offer:
    """What a model is shown at one request, in order. Nothing offered means no `tools` in the request.

    Attributes:
        tools: What is shown.
        beyond: What is sent, where that is more: also the vendor's own search, and tools that it may show.
        listed_tokens: Of what that search lists of them, by the renderer's tokenizer.
    """

    tools: tuple[Offered, ...] = ()
    beyond: Offer | None = None
    listed_tokens: int = 0

    @property
    def sent(self) -> Offer:
        """What the request has, as an offer."""
        return self.beyond or self

    def expanded(self, names: Iterable[str]) -> Offer:
        """With those of the tools sent that the vendor's search found, by wire name; itself where there is none."""
        if self.beyond is None:
            return self
        known = self.beyond.by_name
        found = {name: known[name] for name in names if name in known and name not in self.by_name}
        return replace(self, tools=(*self.tools, *found.values())) if found else self

    @cached_property
    def definitions(self) -> list[Mapping[str, Any]]:
        """In OpenAI's form; shared between requests and never changed."""
        return [offered.definition for offered in self.tools]

    @cached_property
    def digest(self) -> str:
        """Distinguishes it from every other list of names; 32 hexadecimal digits."""
        return hashlib.blake2b("\0".join(self.by_name).encode(), digest_size=16).hexdigest()

    @cached_property
    def tokens(self) -> int:
        """What the definitions and the list cost, by the renderer's tokenizer."""
        return sum(offered.tokens for offered in self.tools) + self.listed_tokens

    @cached_property
    def by_name(self) -> Mapping[str, Offered]:
        """By wire name."""
        return {offered.name: offered for offered in self.tools}

    @cached_property
    def ids(self) -> frozenset[str]:
        """Ids of the tools."""
        return frozenset(offered.tool.id for offered in self.tools)


@dataclass(frozen=True, eq=False)
class Presentation:
    """How tools are shown where that is not as they are.

    Attributes:
        key: Distinguishes it from other presentations.
        names: By id, the wire names of those that have another; each legal, and no name of any other tool.
        edit: What is shown of a tool of the catalog, its id unchanged.
    """

    key: str = ""
    names: Mapping[str, str] = field(default_factory=dict)
    edit: Callable[[Tool], Tool] = lambda tool: tool


class ToolRenderer:
    """Every tool of a catalog, and further ones such as meta-tools, as a model is shown them.

    Attributes:
        wire_names: Every wire name by id, the catalog's and the extras'.
        within: The same for the universe of a case, see `_within`.

    Args:
        catalog: What there is.
        counter: Counts the definitions.
        form: The provider's format that is counted, a key of `DEFINITION_FORMATS`. What is sent is OpenAI's, which
            litellm translates.
        extras: Tools that are in no catalog, by the wire name each must have.
        presentation: How the catalog's tools are shown; `None` for as they are.
    """

    def __init__(
        self,
        catalog: Catalog,
        counter: TokenCounter,
        form: str = "openai",
        extras: Mapping[str, Tool] | None = None,
        presentation: Presentation | None = None,
    ) -> None:
        self.catalog = catalog
        self.tokenizer = counter.name
        self._counter = counter
        self._form = form
        self._extras = dict(extras or {})
        names = dict(assign_wire_names(catalog.tools, set(self._extras)) if self._extras else catalog.wire_names)
        if presentation is not None:
            names |= presentation.names
        self._presented_names = {} if presentation is None else presentation.names
        self._ids: MutableMapping[str, str] = {name: tool_id for tool_id, name in names.items()}
        self.wire_names: MutableMapping[str, str] = names | {tool.id: name for name, tool in self._extras.items()}
        self._own_meta = tuple(own_meta_tools(catalog))
        self._renamed_tools: dict[tuple[str, str], Offered] = {}
        self.within: Callable[[tuple[str, ...] | None], ToolRenderer] = lru_cache(_NARROWED_KEPT)(self._within)
        presented = catalog.tools if presentation is None else tuple(map(presentation.edit, catalog.tools))
        if presentation is None and names == catalog.wire_names:
            counted = count_tool_tokens(catalog, counter, form).by_id
        else:
            counts = count_named_tools(((tool, names[tool.id]) for tool in presented), counter, form)
            counted = dict(zip((tool.id for tool in catalog.tools), counts, strict=True))
        self._offered: MutableMapping[str, Offered] = {
            tool.id: _offered(tool, names[tool.id], counted[tool.id], as_shown)
            for tool, as_shown in zip(catalog.tools, presented, strict=True)
        }
        for name, tool in self._extras.items():
            self._offered[tool.id] = _offered(tool, name, self._count(tool, name), tool)

    def _within(self, universe: tuple[str, ...] | None) -> ToolRenderer:
        """The renderer whose names are distinguished among these tools alone, by id; of the whole catalog if `None`.

        A name that other tools of the catalog have, too, is a plain one here. It is the same throughout a conversation
        over these tools, whichever of them are shown, and no two of them have it.
        """
        ids = dict.fromkeys((*(universe or ()), *self._own_meta))  # those are shown beside any tools
        tools = [self._offered[each].tool for each in ids if each in self._offered]
        if universe is None or all(self._offered[tool.id].name == tool.name for tool in tools):
            return self
        names = {**assign_wire_names(tools, set(self._extras)), **self._presented_names}
        changed = {tool.id: names[tool.id] for tool in tools if names[tool.id] != self._offered[tool.id].name}
        if not changed:
            return self
        narrowed = copy(self)
        vars(narrowed).update(
            wire_names=ChainMap(changed, self.wire_names),
            _ids=ChainMap({name: tool_id for tool_id, name in changed.items()}, self._ids),
            _offered=ChainMap({each: self._rename(each, name) for each, name in changed.items()}, self._offered),
        )
        return narrowed

    def _rename(self, tool_id: str, name: str) -> Offered:
        if (renamed := self._renamed_tools.get((tool_id, name))) is None:
            offered = self._offered[tool_id]
            function = offered.definition["function"]
            shown = replace(offered.tool, description=function["description"], parameters=function["parameters"])
            renamed = self._renamed_tools[tool_id, name] = _offered(offered.tool, name, self._count(shown, name), shown)
        return renamed

    @property
    def names(self) -> tuple[str, ...]:
        """Every wire name, the catalog's and the extras'."""
        return (*self._ids, *self._extras)

    def offered(self, tool_id: str) -> Offered:
        """A tool as it is shown; raises `KeyError` for an id that is neither the catalog's nor an extra's."""
        return self._offered[tool_id]

    def offer(self, tool_ids: Iterable[str]) -> Offer:
        """Those tools, in that order."""
        return Offer(tuple(self._offered[tool_id] for tool_id in tool_ids))

    def redescribed(self, offered: Offered, description: str) -> Offered:
        """The same tool with another description, counted; a new value each time."""
        function = offered.definition["function"]
        shown = replace(offered.tool, description=description, parameters=function["parameters"])
        return _offered(offered.tool, offered.name, self._count(shown, offered.name), shown)

    def count_text(self, text: str) -> int:
        """Tokens of a text, by the renderer's tokenizer."""
        return sum(self._counter.count([text]))

    def _count(self, shown: Tool, name: str) -> int:
        return sum(count_named_tools([(shown, name)], self._counter, self._form))

    def with_wire_names(self, messages: Sequence[Message]) -> tuple[Message, ...]:
        """Messages in which the tools that were called have the names they are shown under.

        A call of what is in no catalog is left as it is.
        """
        return tuple(map(self._renamed, messages))

    def _renamed(self, message: Message) -> Message:
        if not (calls := message.get("tool_calls")) and message.get("role") not in {"tool", "function"}:
            return message
        renamed = dict(message)
        if isinstance(renamed.get("name"), str):
            renamed["name"] = self._wire_name(renamed["name"])
        if isinstance(calls, Sequence):
            renamed["tool_calls"] = [self._renamed_call(call) for call in calls]
        return renamed

    def _renamed_call(self, call: Any) -> Any:
        function = call.get("function") if isinstance(call, Mapping) else None
        if not isinstance(function, Mapping) or not isinstance(function.get("name"), str):
            return call
        return {**call, "function": {**function, "name": self._wire_name(function["name"])}}

    def _wire_name(self, name: str) -> str:
        tool_id = self.find_id(name)
        return name if tool_id is None else self._offered[tool_id].name

    def find_id(self, name: str) -> str | None:
        """The id of the catalog's tool that a model means by `name`: a wire name, else any other name it has alone.

        `None` for what is in no catalog, extras among it.
        """
        if name in self._extras:
            return None
        if (tool_id := self._ids.get(name)) is not None:
            return tool_id
        try:
            return self.catalog.get_tool(name).id
        except (NotFoundError, AmbiguousNameError):
            return None


def _offered(tool: Tool, name: str, tokens: int, shown: Tool) -> Offered:
    return Offered(name, tool, thaw(openai_definition(shown, name)), tokens)
