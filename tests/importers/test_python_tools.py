"""Tools from Python objects. The shapes of frameworks that are not installed here were held against their real
objects: langchain-core 1.8.3, llama-index-core 0.14.25, haystack-ai 3.4.1, smolagents 1.26.0, openai-agents 0.24.0 and
fastmcp 4.2.3.
"""

from __future__ import annotations

import asyncio
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import pydantic
import pydantic_ai
import pytest
from mcp.server import MCPServer

from toolbelt import Catalog, Plugin, Tool, ToolRegistry
from toolbelt.errors import InvalidFileError
from toolbelt.importers.python_tools import collect_tools
from toolbelt.runtime.results import ToolCall

SCHEMA = {"type": "object", "properties": {"order": {"type": "string"}}, "required": ["order"]}


def refund(order: str, reason: Literal["late", "broken"] = "late") -> str:
    """Pay an order back.

    Args:
        order: Its number.
        reason: Why.
    """
    return f"{order} {reason}"


async def track(order: str) -> str:
    """Where an order is."""
    return f"{order} is here"


class Shop:
    """Tools over one database."""

    limit = 3

    def __init__(self) -> None:
        self.name = "shop"

    def refund(self, order: str) -> str:
        """Pay an order back."""
        return f"{self.name} {order}"

    @staticmethod
    def ping(order: str) -> str:
        """Whether it is there."""
        return order

    def _connect(self) -> None: ...


class NeedsDatabase:
    def __init__(self, database: object) -> None: ...

    def refund(self, order: str) -> str:
        return order


class Refund(pydantic.BaseModel):
    """Pay an order back."""

    order: str


def _server() -> MCPServer:
    server = MCPServer("till")
    server.tool()(refund)
    server.tool()(track)
    return server


def _agent() -> pydantic_ai.Agent[None, str]:
    agent = pydantic_ai.Agent("test", tools=[refund])

    def whose(context: pydantic_ai.RunContext[None], order: str) -> str:
        """Whose order it is."""
        return f"{context}{order}"

    agent.tool(whose)
    return agent


class LangChainTool:
    """The attributes of a `StructuredTool`."""

    name, description, args_schema = "refund", "Pay an order back.", Refund
    coroutine = None

    @property
    def tool_call_schema(self) -> type[Refund]:
        return Refund

    def func(self) -> None: ...

    def invoke(self, arguments: dict[str, Any]) -> str:
        return f"{arguments['order']} invoked"


class LlamaIndexTool:
    """The attributes of a `FunctionTool`."""

    metadata = types.SimpleNamespace(name="refund", description="refund(order)\n", get_parameters_dict=lambda: SCHEMA)
    requires_context = False

    def call(self, order: str) -> str:
        return order

    async def acall(self, order: str) -> str:
        return f"{order} called"


@dataclass
class HaystackTool:
    """The attributes of a `Tool`."""

    name: str
    description: str
    parameters: dict[str, Any]
    function: Callable[..., Any]

    @property
    def tool_spec(self) -> dict[str, Any]:
        return {}

    def invoke(self, **arguments: Any) -> Any:
        return self.function(**arguments)


class SmolagentsTool:
    """The attributes of a `Tool`."""

    name, description, output_type = "refund", "Pay an order back.", "string"
    inputs = {  # noqa: RUF012
        "order": {"type": "string", "description": "Its number."},
        "reason": {"type": "string", "nullable": True},
    }

    def forward(self, order: str, reason: str | None = None) -> str:
        return f"{order} {reason}"

    def __call__(self, *args: Any, **arguments: Any) -> str:
        return self.forward(*args, **arguments)


@dataclass
class OpenAIAgentsTool:
    """The attributes of a `FunctionTool`, which needs its run's context."""

    name: str
    description: str
    params_json_schema: dict[str, Any]
    on_invoke_tool: Callable[..., Any]


class FastMCPTool:
    """The attributes of a `FunctionTool`."""

    name, description, parameters, annotations = "refund", "Pay an order back.", SCHEMA, None

    def to_mcp_tool(self) -> None: ...

    async def run(self, arguments: dict[str, Any]) -> object:
        return types.SimpleNamespace(content=[types.SimpleNamespace(text=f"{arguments['order']} ran")])


class Toolset:
    """A toolset of Haystack or pydantic-ai, or an agent: it has `tools`."""

    def __init__(self, tools: object) -> None:
        self.tools = tools


class Toolkit:
    """A toolkit of LangChain."""

    def get_tools(self) -> list[LangChainTool]:
        return [LangChainTool()]


OPENAI = {"type": "function", "function": {"name": "refund", "description": "Pay back.", "parameters": SCHEMA}}
ANTHROPIC = {"name": "refund", "description": "Pay back.", "input_schema": SCHEMA}
MCP = {"name": "refund", "description": "Pay back.", "inputSchema": SCHEMA}

OBJECTS = {
    "a-function": (refund, {"own/refund": "17 late"}),
    "a-list-of-functions": ([refund, track], {"own/refund": "17 late", "own/track": "17 is here"}),
    "functions-by-name": ({"pay_back": refund}, {"own/pay_back": "17 late"}),
    "an-object-with-methods": (Shop(), {"Shop/refund": "shop 17", "Shop/ping": "17"}),
    "a-class-that-needs-nothing": (Shop, {"Shop/refund": "shop 17", "Shop/ping": "17"}),
    "a-registry": (ToolRegistry([refund]), {"refund/refund": "17 late"}),
    "a-catalog": (Catalog((Plugin("p", (Tool("t"),)),)), {"p/t": None}),
    "a-plugin": (Plugin("p", (Tool("t"),)), {"p/t": None}),
    "openai-definitions": ([OPENAI], {"own/refund": None}),
    "anthropic-definitions": ([ANTHROPIC], {"own/refund": None}),
    "mcp-definitions": ({"tools": [MCP]}, {"own/refund": None}),
    "a-pydantic-model": (Refund, {"own/Refund": None}),
    "pydantic-ai-tools": ([pydantic_ai.Tool(refund)], {"own/refund": "17 late"}),
    "a-pydantic-ai-toolset": (pydantic_ai.FunctionToolset([track]), {"own/track": "17 is here"}),
    "a-pydantic-ai-agent": (_agent(), {"own/refund": "17 late", "own/whose": None}),
    "an-mcp-server": (_server(), {"till/refund": "17 late", "till/track": "17 is here"}),
    "langchain": ([LangChainTool()], {"own/refund": "17 invoked"}),
    "a-langchain-toolkit": (Toolkit(), {"own/refund": "17 invoked"}),
    "llama-index": ([LlamaIndexTool()], {"own/refund": "17 called"}),
    "haystack": (Toolset([HaystackTool("refund", "Pay.", SCHEMA, refund)]), {"own/refund": "17 late"}),
    "smolagents": ((SmolagentsTool(),), {"own/refund": "17 None"}),
    "openai-agents": (Toolset([OpenAIAgentsTool("refund", "Pay.", SCHEMA, print)]), {"own/refund": None}),
    "fastmcp": ([FastMCPTool()], {"own/refund": "17 ran"}),
}


@pytest.mark.parametrize(("value", "wanted"), OBJECTS.values(), ids=OBJECTS)
def test_tools_of_an_object_are_shown_and_can_be_called(value: object, wanted: dict[str, str | None]) -> None:
    found = collect_tools(value, "tools.py", "own")
    shown = {tool.id: tool for tool in found.file.catalog.tools}
    assert shown.keys() == wanted.keys()
    assert not found.file.findings
    calls = [ToolCall(name, name, {"order": "17"}) for name in (tool.name for tool in found.registry.get_all())]
    results = asyncio.run(found.registry.execute_parallel(calls))
    by_name = {call.name: result.result.text for call, result in zip(calls, results, strict=True)}
    assert {shown[key].name: text for key, text in wanted.items() if text is not None} == by_name


@pytest.mark.parametrize(
    "value",
    [refund, pydantic_ai.Tool(refund), SmolagentsTool(), LangChainTool()],
    ids=lambda value: type(value).__name__,
)
def test_arguments_have_types_and_what_must_be_given(value: object) -> None:
    (tool,) = collect_tools(value, "tools.py", "own").file.catalog.tools
    assert tool.parameters["properties"]["order"]["type"] == "string"
    assert list(tool.parameters["required"]) == ["order"]
    assert "title" not in tool.parameters["properties"]["order"]


def test_V6_one_object_that_is_no_tool_does_not_refuse_the_others() -> None:
    def anything(*values: str) -> None: ...

    found = collect_tools([refund, anything, 7], "tools.py", "own")
    assert [tool.id for tool in found.file.catalog.tools] == ["own/refund"]
    first, second = found.file.findings
    assert "takes *values" in first.message
    assert "neither a function nor a tool" in second.message


@pytest.mark.parametrize(
    ("value", "hint"),
    [
        (NeedsDatabase, "Name an object of it instead of the class: tools.py:object"),
        ([], "There is no tool in it"),
        (types.ModuleType("empty"), "name what holds the tools: tools.py:NAME"),
    ],
    ids=["a-class-that-needs-arguments", "an-empty-list", "a-module-without-functions"],
)
def test_what_has_no_tool_is_refused_with_what_works(value: object, hint: str) -> None:
    with pytest.raises(InvalidFileError, match=hint):
        collect_tools(value, "tools.py", "own")


def test_a_module_has_its_own_public_functions_unless_it_lists_its_tools() -> None:
    module = types.ModuleType("shop")
    exec("from os.path import join\ndef refund(order: str): ...\ndef _helper(): ...\ndef main(): ...", vars(module))
    assert [tool.id for tool in collect_tools(module, "shop.py", "shop").file.catalog.tools] == ["shop/refund"]
    vars(module)["TOOLS"] = [track]
    found = collect_tools(module, "shop.py", "shop").file
    assert [tool.id for tool in found.catalog.tools] == ["shop/track"]
    assert found.notes == ("read TOOLS of shop.py",)
    del vars(module)["TOOLS"]
    vars(module)["server"] = _server()
    found = collect_tools(module, "shop.py", "shop").file
    assert [tool.id for tool in found.catalog.tools] == ["till/refund", "till/track"]
    assert found.notes == ("left out, as only what a framework made counts: refund",)
