"""What the tests of toolsets are made from: real renderers, and small catalogs of which every tool is known."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from toolbelt.catalog import Catalog, Plugin, Tool
from toolbelt.catalog.tokens import EstimateCounter
from toolbelt.evals.cases.case import Case, ExpectedCall
from toolbelt.evals.conversation import Conversation, Reply, ToolUse
from toolbelt.evals.offers import ToolRenderer
from toolbelt.evals.toolsets.opening import make_toolset
from toolbelt.evals.toolsets.spec import parse_toolset
from toolbelt.evals.toolsets.toolset import Toolset, ToolsetContext
from toolbelt.evals.toolsets.variants.presentation import make_presentation
from toolbelt.evals.toolsets.variants.variant import parse_variant
from toolbelt.evals.toolsets.variants.varied import vary
from toolbelt.loadouts import Resolution, ToolLoadoutBuilder, ToolLoadoutRegistry
from toolbelt.search.presets import parse_search
from toolbelt.search.search import make_meta_tools
from toolbelt.sessions.agent import AgentSpec
from toolbelt.stores.catalogs import open_catalog
from toolbelt.tiers import MetaTools
from toolbelt.toolkits.toolkit import MetaRole, Toolkit

SMALL = Catalog(
    (
        Plugin("chat", (Tool("send", "Send a message to a channel"), Tool("read", "Read a channel"))),
        Plugin("repo", (Tool("commit", "Commit changes"), Tool("push", "Push them"), Tool("log", "Show them")), "git"),
        Plugin("disk", (Tool("open", "Open a file"), Tool("log", "Show what was written")), "files"),
        Plugin("weather.io", (Tool("get forecast", "Forecast of the weather"),)),
    ),
    name="small",
    core=("chat/send",),
)  # fmt: skip
TIERED = open_catalog("tiered").catalog
ASSISTANT = open_catalog("assistant").catalog
CATALOGS: Mapping[str, Catalog] = {"small": SMALL, "tiered": TIERED, "assistant": ASSISTANT}
BUILDER = ToolLoadoutBuilder
TOOLKITS = (
    Toolkit("versions", member_tools=("repo", "git"), description="Look into the history, and write it."),
    Toolkit("papers", member_tools=("disk", "filesystem", "files"), description="Files on a disk."),
    Toolkit("sky", member_tools=("weather.io",), description="What the weather will be."),
)
HELPER = AgentSpec("helper", ("chat/send", "core", "web"), ("versions", "papers"), ("papers",))
"""An agent that has something in each of the catalogs, and none of `sky`."""
ALWAYS = BUILDER.create("half").include_category("git").include_category("files").build()


def context(
    catalog: Catalog = SMALL, *, roles: frozenset[str] = frozenset(), seed: int = 0, **more: Any
) -> ToolsetContext:
    registry = ToolLoadoutRegistry((ALWAYS, *more.pop("loadouts", ())))
    variant = more.pop("variant", "")

    def renderer(extras: Mapping[str, Tool]) -> ToolRenderer:
        return _renderer(_Same(catalog), variant, seed, tuple(extras.items()))

    auto: Callable[[], Resolution] = lambda: registry.resolve("half", catalog)  # noqa: E731
    agents, toolkits = more.pop("agents", (HELPER,)), more.pop("toolkits", TOOLKITS)
    return ToolsetContext(catalog, registry, renderer, roles, seed, more.pop("resolve_auto", auto), agents, toolkits)


class _Same:
    """A catalog as a key: itself, not what is in it."""

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.catalog is self.catalog

    def __hash__(self) -> int:
        return id(self.catalog)


@cache
def _renderer(of: _Same, variant: str, seed: int, extras: tuple[tuple[str, Tool], ...]) -> ToolRenderer:
    """One for all toolsets that show the same tools in the same way, as in a run."""
    look = make_presentation(parse_variant(variant), of.catalog, seed)
    return ToolRenderer(of.catalog, EstimateCounter(), extras=dict(extras), presentation=look)


def toolset(name: str, catalog: Catalog = SMALL, *, variant: str = "", **settings: Any) -> Toolset:
    made, renderer = with_renderer(name, base := context(catalog, variant=variant, **settings))
    return vary(made, parse_variant(variant), base, renderer)


def with_renderer(name: str, base: ToolsetContext) -> tuple[Toolset, ToolRenderer]:
    """A toolset with the renderer that it takes its tools from."""
    used: list[ToolRenderer] = []

    def renderer(extras: Mapping[str, Tool]) -> ToolRenderer:
        used.append(base.renderer(extras))
        return used[-1]

    return make_toolset(parse_toolset(name), replace(base, renderer=renderer)), used[-1]


def meta_ids(name: str, catalog: Catalog) -> set[str]:
    """Ids of the meta-tools of a toolset that loads tools."""
    if name.startswith("dynamic"):
        return {role.value for role in MetaRole}
    if name.startswith("search"):
        return {tool.id for tool in make_meta_tools(parse_search(name.partition(":")[2]))}
    meta = MetaTools.of(catalog)
    return {meta.browse.id, meta.load.id} if name == "tiered" else set()


def case(
    expected: tuple[str | tuple[str, ...], ...] | None = (), case_id: str = "one", query: str = "hello", **more: Any
) -> Case:
    calls = None if expected is None else tuple(calls_of(*expected))
    return Case(case_id, ({"role": "user", "content": query},), calls, **more)


def calls_of(*tools: str | tuple[str, ...]) -> list[ExpectedCall]:
    return [ExpectedCall((tool,) if isinstance(tool, str) else tool) for tool in tools]


def use(name: str, text: str | None = None, /, call_id: str = "1", **arguments: Any) -> ToolUse:
    return ToolUse.from_text(call_id, name, json.dumps(arguments) if text is None else text)


def start(of: Case) -> Conversation:
    return Conversation(of.messages)


def play(toolset: Toolset, of: Case, *replies: list[ToolUse], conversation: Conversation | None = None) -> Conversation:
    """The conversation after these replies, each answered by the toolset, other calls with `ok`.

    A reply without calls is followed by what the user says then, if anything.
    """
    conversation = start(of) if conversation is None else conversation
    for calls in replies:
        answers = toolset.answer(of, conversation, calls)
        said = tuple("ok" if answer is None else answer for answer in answers)
        reply = Reply("" if calls else "Well.", tuple(calls))
        follow_up = None if calls else toolset.follow_up(of, conversation, reply)
        conversation = conversation.extended(reply, said, follow_up or "")
    return conversation


def shown(toolset: Toolset, of: Case, conversation: Conversation | None = None) -> list[str]:
    offer = toolset.offer(of, start(of) if conversation is None else conversation)
    return [offered.tool.id for offered in offer.tools]
