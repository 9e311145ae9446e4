"""Search as a policy of a session (rules S1, S4, R8)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from toolbelt.catalog import Catalog, Tool
from toolbelt.catalog.ranking.ranker import Ranker
from toolbelt.errors import AmbiguousNameError, NotFoundError, ToolbeltError
from toolbelt.runtime.registry import ToolRegistry
from toolbelt.runtime.results import FailureCode, ToolResult
from toolbelt.runtime.threads import run_in_thread
from toolbelt.search.search import CalledThrough, Found, Search, SearchAnswer
from toolbelt.search.settings import Reveal, SearchSettings, Trigger
from toolbelt.sessions.policy import Selection, SessionPolicy, Stage


class SearchPolicy(SessionPolicy):
    """Pinned tools are shown; the others are found, from the next request on, for as long as the session lasts.

    What another policy disables is never found. Where found tools are called through a meta-tool, every tool can be
    called so, and also by its own name.

    Attributes:
        found: Ids of the tools that were found, in order.

    Args:
        settings: How tools are found and shown.
        ranker: Of the settings' `rank`.
        catalog: Has the descriptions of groups; the tools are those of the session. `None` for no descriptions.
        pinned: Ids of the catalog's tools that are always shown, as `find_pinned` gives them.
        ids: Of the catalog's tools that the session may have, which a listing names; `None` for all.
    """

    name = "search"
    stage = Stage.CONTEXT

    def __init__(
        self,
        settings: SearchSettings,
        ranker: Ranker,
        catalog: Catalog | None = None,
        pinned: Iterable[str] = (),
        ids: Collection[str] | None = None,
    ) -> None:
        self.found: Found = ()
        self._settings = settings
        self._ranker = ranker
        self._catalog = Catalog() if catalog is None else catalog
        self._pinned = tuple(pinned)
        self._begins = True
        self._message: str | None = None
        self._tools = ToolRegistry()
        self._whole = self._search = Search(self._catalog, settings, ranker, pinned=self._pinned, ids=ids)
        self._meta_tools = tuple(self._whole.meta_tools.values())
        self._ids: Mapping[str, str] = {}
        self._names: Mapping[str, str] = {}
        self._narrowed: tuple[frozenset[str], Search] = (frozenset(), self._whole)

    @property
    def meta_tools(self) -> Sequence[Tool]:
        """The one that searches, and the one that calls what was found."""
        return self._meta_tools

    def begin_turn(self, tools: ToolRegistry) -> Sequence[str]:
        """Take over the tools; what was found before stays."""
        if self._tools is not tools:
            registered = tools.catalog
            self._ids = {tool.name: tool.id for tool in registered.tools}
            self._names = {tool.id: tool.name for tool in registered.tools}
            names = {tool_id: tools.wire_names[name] for tool_id, name in self._names.items()}
            pinned = list(_find_registered(self._pinned, self._catalog, registered))
            catalog = Catalog(registered.plugins, core=())
            self._whole = self._search = Search(catalog, self._settings, self._ranker, pinned=pinned, names=names)
            self._narrowed = (frozenset(), self._whole)
            self.found = tuple(tool_id for tool_id in self.found if tool_id in self._names)
        self._tools = tools
        return ()

    def read_message(self, message: str) -> None:
        """Take over what the user wrote, which is searched for where no model searches."""
        self._message = message

    def select(self, given: Selection) -> Selection:
        """The pinned tools and what was found; the others wait, or can be called through the meta-tool."""
        ids = frozenset(self._ids[name] for name in given.callable)
        if self._narrowed[0] != ids:
            self._narrowed = (ids, self._whole.within(ids))
        self._search = self._narrowed[1]
        if self._settings.trigger is Trigger.REQUEST and self._message is not None:
            self.found = self._search.take(self._search.find(self._message, self.found), self.found)
            self._message = None
        self._begins = True
        shown_ids = self._search.shown(tuple(tool_id for tool_id in self.found if tool_id in ids))
        shown = dict.fromkeys(self._names[tool_id] for tool_id in shown_ids)
        shown.update(dict.fromkeys(name for name in given.shown if name in given.requested))
        rest = tuple(name for name in given.callable if name not in shown)
        if self._settings.reveal is Reveal.CALL:
            return Selection(tuple(shown), rest, given.waiting, given.requested)
        return Selection(tuple(shown), (), (*given.waiting, *rest), given.requested)

    async def answer(self, meta_tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        """What a search found; for a call that is passed on, why it is not."""
        if meta_tool != self._search.search_name:
            passed_on = self._search.call_through(arguments)
            text = passed_on if isinstance(passed_on, str) else ""
            return ToolResult.failure(FailureCode.INPUT_INVALID, text)
        try:
            answer = await search_in_turn(self._search, arguments, self.found, begins=self._begins)
        except ToolbeltError as error:
            return ToolResult.failure(FailureCode.EXECUTION_FAILED, f"Nothing was searched for: {error}")
        self.found, self._begins = answer.found, False
        return ToolResult(ok=True, value=answer.text)

    def pass_on(self, meta_tool: str, arguments: Mapping[str, Any]) -> CalledThrough | None:
        """The call that a call of a meta-tool is; `None` if it is one of its own."""
        if meta_tool != self._search.call_name:
            return None
        passed_on = self._search.call_through(arguments)
        return None if isinstance(passed_on, str) else passed_on

    def explain(self, tool: str) -> str | None:
        """How the tool can be had."""
        name, search = self._tools.wire_names[tool], self._search.search_name
        if self._ids.get(tool) in self.found:
            return f"{name} is available from your next message on; call it again then."
        return None if search is None else f"{name} is not available now. {self._search.usage}"


async def search_in_turn(
    search: Search, arguments: Mapping[str, Any] | None, found: Found, *, begins: bool = True
) -> SearchAnswer:
    """As `Search.answer`; in a thread where that waits for a model.

    Raises:
        ToolbeltError: the ranker fails.
    """
    answer = partial(search.answer, arguments, found, begins=begins)
    if not search.settings.rank.asks_model:
        return answer()
    outcome = await run_in_thread(answer)
    if outcome.error is not None:
        raise outcome.error
    returned: SearchAnswer = outcome.returned
    return returned


def _find_registered(pinned: Iterable[str], catalog: Catalog, registered: Catalog) -> Iterable[str]:
    """Ids of pinned tools as they are registered, by id, `plugin/name` or a name that only one tool has."""
    for tool_id in pinned:
        tool = catalog.get_tool(tool_id)
        for reference in (tool.id, tool.path, tool.name):
            try:
                yield registered.get_tool(reference).id
                break
            except (NotFoundError, AmbiguousNameError):
                continue
