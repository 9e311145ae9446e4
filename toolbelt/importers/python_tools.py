"""Tools from Python objects: functions, methods of an object, a `ToolRegistry`, definitions, and the tools, toolsets,
agents and servers of other frameworks.

A framework's objects are recognised by their attributes, and no framework is imported here: whoever has such an object
has imported it. What is shown is what the framework itself sends to a model.
"""

from __future__ import annotations

import asyncio
import inspect
import types
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any

from toolbelt.catalog import Catalog, Plugin, Tool
from toolbelt.catalog.reader import CatalogFile
from toolbelt.errors import InvalidDefinitionError, InvalidFileError
from toolbelt.findings import Finding, Severity
from toolbelt.importers.tool_lists import read_definition
from toolbelt.runtime.executable import ExecutableTool
from toolbelt.runtime.registry import ToolRegistry
from toolbelt.servers.importing import import_reference
from toolbelt.servers.spec import PythonReference

LABEL = "Python tools"
_CONVENTIONAL = ("TOOLS", "tools", "registry", "REGISTRY", "toolset")
"""Attributes of a module that hold its tools, where no attribute is named; the first that is there counts."""
_ABSENT = object()
_DEPTH = 20


@dataclass(frozen=True)
class PythonTools:
    """What a reference to Python code comes to.

    Attributes:
        file: The tools as a catalog; those that cannot be tools are among its findings.
        registry: The same, to be run; without those that have nothing to run, such as bare definitions.
    """

    file: CatalogFile
    registry: ToolRegistry


def load_python_tools(reference: PythonReference, *, name: str | None = None) -> PythonTools:
    """The tools that a reference names. Its module is imported, and so runs: whoever calls this has the user's consent.

    Args:
        reference: `module:attribute`, `file.py` or `file.py:attribute`.
        name: Of the catalog, and of the plugin of tools that are in none; the module's name if `None`.

    Raises:
        ToolbeltError: the module cannot be imported.
        NotFoundError: no such file or attribute.
        InvalidFileError: there is no tool in it, with why each object is none.
    """
    value = import_reference(reference)
    module = reference.reference.rpartition("/")[2].partition(":")[0].removesuffix(".py").rpartition(".")[2]
    return collect_tools(value, reference.reference, name or module)


def collect_tools(value: object, source: str, name: str) -> PythonTools:
    """The tools that an object is or holds; as `load_python_tools`.

    Args:
        value: Any of what this module reads.
        source: As the user named it, for messages.
        name: Of the catalog, and of the plugin of tools that are in none.
    """
    collector = _Collector(source)
    collector.add(value, name)
    if isinstance(value, Catalog):
        return PythonTools(CatalogFile(value, source), ToolRegistry())
    if not collector.tools:
        raise InvalidFileError(collector.findings or [_finding(source, "There is no tool in it.")])
    by_plugin: dict[str, list[Tool]] = {}
    for tool in collector.tools.values():
        by_plugin.setdefault(str(tool.plugin), []).append(tool)
    plugins = [collector.plugins.get(key) or Plugin(key) for key in by_plugin]
    plugins = [replace(plugin, tools=tuple(by_plugin[plugin.name])) for plugin in plugins]
    catalog = Catalog(plugins=tuple(plugins), name=name)
    registry = value if isinstance(value, ToolRegistry) else ToolRegistry()
    for plugin in plugins if registry is not value else ():
        runnable = tuple(tool for tool in plugin.tools if isinstance(tool, ExecutableTool))
        registry.register_all(replace(plugin, tools=runnable))
    notes = tuple(dict.fromkeys(collector.notes))
    return PythonTools(CatalogFile(catalog, source, notes, findings=tuple(collector.findings)), registry)


def _finding(source: str, message: str, line: int | None = None) -> Finding:
    return Finding("no-tool", Severity.ERROR, message, source, line)


@dataclass
class _Collector:
    """Walks through objects; what is no tool becomes a finding, and does not refuse the others (rule V6)."""

    source: str
    tools: dict[tuple[str, str], Tool] = field(default_factory=dict)
    plugins: dict[str, Plugin] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, value: Any, plugin: str, name: str | None = None, depth: int = 0) -> None:
        """Add every tool of an object.

        Args:
            value: The object.
            plugin: Of tools that are in none.
            name: Of a function, where it stands under a name.
            depth: How many objects it is inside of.
        """
        if depth > _DEPTH:
            return
        try:
            self._add(value, plugin, name, depth)
        except (InvalidDefinitionError, ValueError, TypeError) as error:
            what = name or getattr(value, "__name__", None) or type(value).__name__
            self.findings.append(_finding(self.source, f"{what}: {error}", _line_of(value)))

    def _add(self, value: Any, plugin: str, name: str | None, depth: int) -> None:
        if isinstance(value, types.ModuleType):
            self._add_module(value, plugin, depth)
        elif isinstance(value, Mapping):
            self._add_mapping(value, plugin, depth)
        elif isinstance(value, list | tuple | set | frozenset):
            for entry in value:
                self.add(entry, plugin, depth=depth + 1)
        elif not self._add_known(value, plugin, depth):
            if isinstance(value, type):
                self._add_class(value, plugin, depth)
            elif callable(value):
                self._keep(ExecutableTool.of(value, name=name, plugin=plugin))
            else:
                self._add_methods(value)

    def _add_known(self, value: Any, plugin: str, depth: int) -> bool:
        """Add what is a tool, or holds tools, of toolbelt or of a framework; whether it does."""
        if isinstance(value, Tool):
            self._keep(_in_plugin(value, plugin))
        elif isinstance(value, Plugin | Catalog | ToolRegistry):
            for one in [value] if isinstance(value, Plugin) else _plugins_of(value):
                self.plugins.setdefault(one.name, one)
                for tool in one.tools:
                    self._keep(tool)
        elif (definition := _read_shape(value)) is not None:
            self._keep(definition.make(plugin))
        elif (parts := _parts_of(value)) is not None:
            for inner, entry in parts:
                self.add(entry, inner or plugin, depth=depth + 1)
        else:
            return False
        return True

    def _keep(self, tool: Tool) -> None:
        if self.tools.setdefault((str(tool.plugin), tool.name), tool) != tool:
            message = f"The tool {tool.name!r} stands here again, with another definition; the first counts."
            self.findings.append(_finding(self.source, message))

    def _add_module(self, module: types.ModuleType, plugin: str, depth: int) -> None:
        values = vars(module)
        for name in _CONVENTIONAL:
            if isinstance(values.get(name), list | tuple | set | Mapping | ToolRegistry) and values[name]:
                self.notes.append(f"read {name} of {self.source}")
                self.add(values[name], plugin, depth=depth + 1)
                return
        public = getattr(module, "__all__", None) or [name for name in values if not name.startswith("_")]
        objects = {name: values[name] for name in public if name in values}
        of_frameworks = [
            value
            for value in objects.values()
            if not isinstance(value, type) and (_read_shape(value) or _parts_of(value) or isinstance(value, Tool))
        ]
        own = {name: value for name, value in objects.items() if _is_own(value, module) and name != "main"}
        for value in of_frameworks or own.values():
            self.add(value, plugin, depth=depth + 1)
        if of_frameworks and own:
            self.notes.append(f"left out, as only what a framework made counts: {', '.join(list(own)[:8])}")
        if not of_frameworks and not own:
            known = ", ".join(list(objects)[:12]) or "nothing public"
            hint = f"name what holds the tools: {self.source}:NAME"
            self.findings.append(_finding(self.source, f"No function is defined in it; it has {known}; {hint}"))

    def _add_mapping(self, value: Mapping[Any, Any], plugin: str, depth: int) -> None:
        if isinstance(value.get("tools"), list):
            self.add(value["tools"], plugin, depth=depth + 1)
        elif isinstance(value.get("name", value.get("function")), str | Mapping):
            read = read_definition(value)
            if isinstance(read, str):
                self.notes.append(read)
            else:
                self._keep(_in_plugin(read, plugin))
        else:
            for name, entry in value.items():
                self.add(entry, plugin, str(name), depth + 1)

    def _add_class(self, kind: type, plugin: str, depth: int) -> None:
        if callable(getattr(kind, "model_json_schema", None)):  # a pydantic model, as LangChain and instructor take it
            schema = dict(kind.model_json_schema())  # type: ignore[attr-defined]
            text = schema.pop("description", "")
            self._keep(Tool(kind.__name__, text, _without_titles(schema), plugin=plugin))
            return
        try:
            value = kind()
        except TypeError as error:
            hint = f"Name an object of it instead of the class: {self.source.partition(':')[0]}:object"
            raise InvalidDefinitionError(f"It cannot be made without arguments ({error}). {hint}.") from None
        self.add(value, plugin, depth=depth + 1) if _read_shape(value) else self._add_methods(value)

    def _add_methods(self, value: object) -> None:
        """The public methods of an object, as a plugin that has the name of its class."""
        kind = type(value)
        names = dict.fromkeys(name for base in reversed(kind.__mro__[:-1]) for name in vars(base))
        routines = (types.FunctionType, staticmethod, classmethod)
        found = [name for name in names if isinstance(inspect.getattr_static(kind, name), routines) and name[0] != "_"]
        if kind.__module__ == "builtins" or not found:
            raise InvalidDefinitionError("It is neither a function nor a tool, and has no public methods.")
        for name in found:
            self.add(getattr(value, name), kind.__name__, name, _DEPTH)


def _in_plugin(tool: Tool, plugin: str) -> Tool:
    return tool if tool.plugin else replace(tool, plugin=plugin, id=tool.id if tool.has_own_id else "")


def _plugins_of(value: Catalog | ToolRegistry) -> Iterable[Plugin]:
    if isinstance(value, Catalog):
        return value.plugins
    runnable = {tool.name: tool for tool in value.get_all()}
    return [
        replace(plugin, tools=tuple(runnable.get(tool.name, tool) for tool in plugin.tools))
        for plugin in value.catalog.plugins
    ]


def _is_own(value: object, module: types.ModuleType) -> bool:
    return isinstance(value, types.FunctionType) and value.__module__ == module.__name__


def _line_of(value: object) -> int | None:
    code = getattr(inspect.unwrap(value), "__code__", None) if callable(value) else None
    return code.co_firstlineno if isinstance(code, types.CodeType) else None


@dataclass(frozen=True)
class _Definition:
    """What a framework's tool shows to a model, and how it is called with arguments by name; `None` if it cannot be
    without the framework's run.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    call: Callable[..., Any] | None
    annotations: Mapping[str, Any] = field(default_factory=dict)

    def make(self, plugin: str) -> Tool:
        shown: dict[str, Any] = {"name": self.name, "description": self.description or "", "plugin": plugin}
        shown |= {"parameters": dict(self.parameters), "annotations": dict(self.annotations)}
        return Tool(**shown) if self.call is None else ExecutableTool.of(self.call, **shown)


def _has(value: object, *names: str) -> bool:
    """Whether an object has attributes, without running code of its own: a `Mock` has every one."""
    return all(inspect.getattr_static(value, name, _ABSENT) is not _ABSENT for name in names)


def _read_shape(value: Any) -> _Definition | None:
    """The tool of a framework; `None` if it is none."""
    return next((read(value) for needed, read in _SHAPES.items() if _has(value, *needed)), None)


def _pydantic_ai(tool: Any) -> _Definition:
    shown = tool.tool_def
    call = None if tool.takes_ctx else tool.function
    return _Definition(shown.name, shown.description, shown.parameters_json_schema, call)


def _langchain(tool: Any) -> _Definition:
    schema = tool.tool_call_schema
    schema = dict(schema if isinstance(schema, Mapping) else schema.model_json_schema())
    parameters = _without_titles({key: value for key, value in schema.items() if key != "description"})
    is_async = getattr(tool, "coroutine", None) is not None and getattr(tool, "func", None) is None

    async def call_later(**arguments: Any) -> Any:
        return await tool.ainvoke(arguments)

    def call(**arguments: Any) -> Any:
        return tool.invoke(arguments)

    return _Definition(tool.name, tool.description, parameters, call_later if is_async else call)


def _llama_index(tool: Any) -> _Definition:
    shown = tool.metadata

    async def call(**arguments: Any) -> str:
        return str(await tool.acall(**arguments))

    needs_context = getattr(tool, "requires_context", False)
    return _Definition(shown.name, shown.description, shown.get_parameters_dict(), None if needs_context else call)


def _haystack(tool: Any) -> _Definition:
    return _Definition(tool.name, tool.description, tool.parameters, tool.invoke)


def _smolagents(tool: Any) -> _Definition:
    shown = read_definition({"name": tool.name, "description": tool.description, "inputs": tool.inputs})
    assert isinstance(shown, Tool)  # noqa: S101
    return _Definition(tool.name, tool.description, shown.parameters, tool)


def _openai_agents(tool: Any) -> _Definition:
    return _Definition(tool.name, tool.description, tool.params_json_schema, None)


def _fastmcp(tool: Any) -> _Definition:
    async def call(**arguments: Any) -> str:
        return _text_of(await tool.run(arguments))

    return _Definition(tool.name, tool.description, tool.parameters, call, _plain(tool.annotations))


def _mcp(tool: Any) -> _Definition:
    schema = tool.input_schema if _has(tool, "input_schema") else tool.inputSchema
    return _Definition(tool.name, tool.description, schema, None, _plain(tool.annotations))


_SHAPES: Mapping[tuple[str, ...], Callable[[Any], _Definition]] = {
    ("tool_def", "function_schema", "takes_ctx"): _pydantic_ai,
    ("tool_call_schema", "invoke", "args_schema"): _langchain,
    ("metadata", "call", "acall"): _llama_index,
    ("tool_spec", "invoke", "parameters"): _haystack,
    ("inputs", "output_type", "forward"): _smolagents,
    ("params_json_schema", "on_invoke_tool"): _openai_agents,
    ("parameters", "run", "to_mcp_tool"): _fastmcp,
    ("name", "annotations", "input_schema", "output_schema"): _mcp,
    ("name", "annotations", "inputSchema"): _mcp,
}
"""By the attributes that a framework's tools have; tried in order with pydantic-ai 2.68, langchain-core 1.8,
llama-index-core 0.14, haystack-ai 3.4, smolagents 1.26, openai-agents 0.24, fastmcp 4.2 and mcp 2.3 (and 1)."""


def _parts_of(value: Any) -> Iterator[tuple[str, Any]] | None:
    """The tools of a framework's server, toolset or agent, each with the plugin it is in; `None` if it is none."""
    if _has(value, "list_tools", "call_tool"):
        return _tools_of_server(value)
    for name in ("toolsets", "tools"):
        if _has(value, name) and isinstance(tools := getattr(value, name), list | tuple | Mapping):
            return iter([("", tool) for tool in (tools.values() if isinstance(tools, Mapping) else tools)])
    for name in ("to_tool_list", "get_tools"):  # LlamaIndex's and LangChain's
        if _has(value, name) and not inspect.iscoroutinefunction(make := getattr(value, name)):
            return iter([("", tool) for tool in make()])
    return None


def _tools_of_server(server: Any) -> Iterator[tuple[str, Any]]:
    """The tools of a FastMCP or MCPServer, which calls them itself."""
    with ThreadPoolExecutor(1) as pool:  # in a thread, as an event loop may be running here
        tools = pool.submit(asyncio.run, server.list_tools()).result()
    for tool in tools:
        schema = getattr(tool, "parameters", None) or getattr(tool, "input_schema", None) or tool.inputSchema
        shown = _Definition(tool.name, tool.description, schema, _bind(server, tool.name), _plain(tool.annotations))
        yield str(server.name), shown.make(str(server.name))


def _bind(server: Any, name: str) -> Callable[..., Awaitable[str]]:
    async def call(**arguments: Any) -> str:
        return _text_of(await server.call_tool(name, arguments))

    return call


def _text_of(result: Any) -> str:
    """The texts of what an MCP tool returned: of version 1 of the SDK, a pair with the content first."""
    content: Any = getattr(result, "content", result[0] if isinstance(result, tuple) else result)
    return "\n".join(str(getattr(part, "text", part)) for part in content)


def _plain(annotations: Any) -> Mapping[str, Any]:
    return annotations.model_dump(by_alias=True, exclude_none=True) if annotations is not None else {}


def _without_titles(schema: Any) -> Any:
    """Without the titles that pydantic gives, as LangChain sends it; an argument may be called `title`."""
    if isinstance(schema, list):
        return [_without_titles(part) for part in schema]
    if not isinstance(schema, Mapping):
        return schema
    return {
        key: {name: _without_titles(part) for name, part in value.items()}
        if key == "properties" and isinstance(value, Mapping)
        else _without_titles(value)
        for key, value in schema.items()
        if key != "title" or not isinstance(value, str)
    }
