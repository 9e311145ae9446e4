"""Offers and requests for the tests of the local model, and a tiered conversation played to its end."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any

from tests.evals.toolsets.samples import case, toolset
from toolbelt.catalog import Catalog, Plugin, Tool
from toolbelt.catalog.tokens import EstimateCounter
from toolbelt.evals.conversation import Conversation, Message, Reply
from toolbelt.evals.models.local.agent import LocalModel
from toolbelt.evals.models.model import Model, Request
from toolbelt.evals.offers import Offer, ToolRenderer
from toolbelt.providers.chat import Sampling

TEXT = {"type": "string"}


def schema(*required: str, **properties: Any) -> dict[str, Any]:
    """A JSON Schema; all that is required is text unless said otherwise."""
    return {"type": "object", "properties": dict.fromkeys(required, TEXT) | properties, "required": list(required)}


BROWSE = Tool("browse_tools", "List the categories of tools that can be loaded.")
LOAD = Tool("load_tools", "Load the tools of a category.", schema("category"))
TOOLS = (
    Tool("get_weather", "Get the weather forecast for a city.", schema("city")),
    Tool("send_email", "Send an email to somebody.", schema("recipient", "body")),
    Tool("git_commit", "Commit staged changes to the repository.", schema("message")),
    Tool("read_file", "Read the content of a file.", schema("path")),
    Tool("play_music", "Play a song or an album.", schema("song")),
    Tool("book_flight", "Book a flight from one airport to another.", schema("origin", "destination")),
)


def offer(*tools: Tool) -> Offer:
    """These tools on a shelf of their own."""
    given = tools or TOOLS
    renderer = ToolRenderer(Catalog(plugins=(Plugin("p", tuple(given)),)), EstimateCounter())
    return renderer.offer(tool.id for tool in renderer.catalog.tools)


def complete(model: Model, messages: str | Sequence[Message], shown: Offer, tool_choice: str | None = None) -> Reply:
    """One request, answered."""
    given = [{"role": "user", "content": messages}] if isinstance(messages, str) else messages
    return asyncio.run(model.complete(Request(given, shown, Sampling(tool_choice=tool_choice))))


def calls(messages: str | Sequence[Message], shown: Offer, tool_choice: str | None = None) -> list[tuple[str, Any]]:
    """What the local model calls, and with what."""
    made = complete(LocalModel(), messages, shown, tool_choice).calls
    return [(call.name, call.arguments) for call in made]


def play_tiers(
    query: str, categories: Mapping[str, tuple[str, Sequence[Tool]]], core: Sequence[Tool] = (), limit: int = 10
) -> list[list[tuple[str, Any]]]:
    """What the local model calls at each request while its categories load; the last request calls nothing."""
    plugins = [Plugin(name, tuple(tools)) for name, (_, tools) in categories.items()]
    catalog = Catalog(plugins=(*plugins, Plugin("core", tuple(core))))
    renderer = ToolRenderer(catalog, EstimateCounter(), extras={tool.name: tool for tool in (BROWSE, LOAD)})
    shown = [tool.id for tool in catalog.get_plugin("core").tools] + [BROWSE.id, LOAD.id]
    conversation = Conversation(({"role": "user", "content": query},))
    log: list[list[tuple[str, Any]]] = []
    for _ in range(limit):
        reply = complete(LocalModel(), conversation.to_messages(), renderer.offer(shown))
        log.append([(call.name, call.arguments) for call in reply.calls])
        if not reply.calls:
            break
        answers = []
        for call in reply.calls:
            answer: Any = {"ok": True}
            if call.name == "browse_tools":
                listed = [
                    {"name": name, "description": text, "tool_count": len(tools)}
                    for name, (text, tools) in categories.items()
                ]
                answer = {"categories": listed}
            elif call.name == "load_tools":
                assert call.arguments is not None
                added = catalog.get_plugin(call.arguments["category"]).tools
                shown += [tool.id for tool in added if tool.id not in shown]
                answer = {"loaded": call.arguments["category"], "tools_added": [tool.name for tool in added]}
            answers.append(json.dumps(answer))
        conversation = conversation.extended(reply, tuple(answers))
    return log


def play_toolkits(
    query: str,
    toolkits: Mapping[str, tuple[str, Sequence[Tool]]],
    core: Sequence[Tool] = (),
    limit: int = 10,
    tool_choice: str | None = None,
) -> tuple[list[Any], Conversation]:
    """What the local model does at each request where it has to load toolkits itself: its calls, or what it says."""
    plugins = [Plugin(name, tuple(tools), name) for name, (_, tools) in toolkits.items()]
    catalog = Catalog(
        (*plugins, Plugin("core", tuple(core))),
        categories={name: text for name, (text, _) in toolkits.items()},
        core=tuple(f"core/{tool.name}" for tool in core),
    )
    made, of = toolset("dynamic", catalog), case(query=query)
    conversation = Conversation(of.messages)
    log: list[Any] = []
    for _ in range(limit):
        reply = complete(LocalModel(), conversation.to_messages(), made.offer(of, conversation), tool_choice)
        log.append([(call.name, call.arguments) for call in reply.calls] or reply.text)
        if reply.calls:
            answers = made.answer(of, conversation, reply.calls)
            conversation = conversation.extended(
                reply, tuple('{"ok": true}' if one is None else one for one in answers)
            )
            continue
        if (said := made.follow_up(of, conversation, reply)) is None:
            break
        conversation = conversation.extended(reply, (), said)
    return log, conversation
