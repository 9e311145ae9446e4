"""The meta-tools of each project: their definitions, how their arguments are read, and what they answer (rule S1).

Names, arguments and answers are those of the project; the descriptions are our own words for the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from toolbelt.catalog.definitions import definition_text, mcp_definition, openai_definition
from toolbelt.catalog.frozen import thaw
from toolbelt.catalog.ranking.ranker import QueryError, QueryProblem
from toolbelt.catalog.ranking.spec import RankKind
from toolbelt.catalog.tool import Tool
from toolbelt.search.settings import Returns, Reveal, SearchSettings

READS = {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False}
ACTS = {"readOnlyHint": False, "destructiveHint": True, "idempotentHint": False, "openWorldHint": True}


def _parameters(properties: Mapping[str, Any], *required: str) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(required) or list(properties),
        "additionalProperties": False,
    }


def _text(description: str) -> dict[str, Any]:
    return {"type": "string", "description": description}


def _texts(description: str) -> dict[str, Any]:
    return {"type": "array", "items": {"type": "string"}, "description": description}


PATTERN = _text(
    "A regular expression in Python's syntax, 200 characters at most; upper and lower case are the same. It is looked "
    "for in names, descriptions and arguments."
)
_ANY_ARGUMENTS = {"type": "object", "description": "The arguments of that tool, as its definition describes them."}
CALL_TOOL = Tool(
    "call_tool",
    "Call a tool that a search found, by its name and with its arguments.",
    _parameters({"name": _text("The name of the tool, as it was found."), "arguments": _ANY_ARGUMENTS}, "name"),
    ACTS,
)


@dataclass(frozen=True, slots=True)
class Answer:
    """What an answer is made of.

    Attributes:
        settings: Of the search.
        found: The tools that were found, the best first, each with its wire name.
        error: Why nothing could be searched for.
        searched: All tools that can be found, with their wire names.
    """

    settings: SearchSettings
    found: tuple[tuple[Tool, str], ...]
    error: QueryError | None
    searched: Sequence[tuple[Tool, str]]

    @property
    def names(self) -> list[str]:
        """Wire names of the tools that were found."""
        return [name for _, name in self.found]

    @property
    def has_schemas(self) -> bool:
        """Whether the answer holds whole definitions."""
        return self.settings.returns is Returns.SCHEMAS

    def mcp_tools(self) -> list[dict[str, Any]]:
        """The tools as an MCP server lists them, or their names alone."""
        return [mcp_tool(tool, name) if self.has_schemas else {"name": name} for tool, name in self.found]


@dataclass(frozen=True, slots=True)
class Shape:
    """The meta-tools of one project.

    Attributes:
        search: The tool that searches.
        argument: Which of its arguments is searched for.
        answer: Makes what it answers: text, or values for JSON.
        more_argument: A second argument, whose words are added to those of the first.
        pattern_argument: What `argument` is called where `rank=regex`.
        call: The tool that calls what was found, for `reveal=call`.
        call_name: Which of its arguments is the name of a tool.
        call_arguments: Which are the tool's own arguments.
        takes_groups: Whether a text that is the name of a group, or of a tool, finds just that.
        unseen_first: Whether what was found before comes after everything else.
        accumulates: Whether what was found before stays, whatever is found now, also where the list is replaced.
    """

    search: Tool
    argument: str
    answer: Callable[[Answer], Any]
    more_argument: str = ""
    pattern_argument: str = "pattern"
    call: Tool = CALL_TOOL
    call_name: str = "name"
    call_arguments: str = "arguments"
    takes_groups: bool = False
    unseen_first: bool = False
    accumulates: bool = False

    def argument_for(self, settings: SearchSettings) -> str:
        """What the argument that is searched for is called."""
        return self.pattern_argument if settings.rank.kind is RankKind.REGEX else self.argument

    def search_tool(self, settings: SearchSettings) -> Tool:
        """The definition of the tool that searches; without a listing."""
        argument = self.argument_for(settings)
        if argument == self.argument:
            return self.search
        return replace(self.search, parameters=_parameters({argument: PATTERN}))

    def read_query(self, arguments: Mapping[str, Any] | None, settings: SearchSettings) -> str:
        """The text to search for.

        Raises:
            ValueError: the arguments cannot be used; the message is for the model.
        """
        argument = self.argument_for(settings)
        if arguments is None:
            raise ValueError("The arguments are no JSON object.")
        texts = _read_texts(arguments, argument)
        if self.more_argument and arguments.get(self.more_argument) is not None:
            texts += _read_texts(arguments, self.more_argument)
        if not any(map(str.strip, texts)):
            raise ValueError(f"The argument {argument!r} is empty.")
        return "\n".join(texts) if self.takes_groups else " ".join(texts)


def mcp_tool(tool: Tool, name: str) -> dict[str, Any]:
    """A tool as an MCP server lists it."""
    definition: dict[str, Any] = thaw(mcp_definition(tool, name))
    return definition


def _read_texts(arguments: Mapping[str, Any], key: str) -> list[str]:
    value = arguments.get(key)
    if value is None:
        raise ValueError(f"The argument {key!r} is missing.")
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list | tuple) or not all(isinstance(text, str) for text in texts):
        raise ValueError(f"The argument {key!r} must be text.")
    return list(texts)


def _answer_toolbelt(answer: Answer) -> Any:
    if answer.error is not None:
        return {"error": str(answer.error)}
    if not answer.found:
        count = len(answer.searched)
        return {
            "tools": [],
            "message": f"None of the {count} further tools matches. Try once more with other words for what the tool "
            "should do; if that finds nothing either, there is no such tool.",
        }
    if answer.settings.reveal is Reveal.CALL:
        message = f"Call them with {CALL_TOOL.name}."
    else:
        message = "From your next message on you can call them like any other tool."
    if answer.has_schemas:
        return {"tools": answer.mcp_tools(), "message": message}
    tools = [{"name": name, "description": _first_line(tool.description)} for tool, name in answer.found]
    return {"tools": tools, "message": message}


def _first_line(text: str) -> str:
    line = text.strip().partition("\n")[0].strip()
    return line if len(line) <= _MAX_LINE_CHARS else f"{line[: _MAX_LINE_CHARS - 1].rstrip()}…"


_MAX_LINE_CHARS = 160


def _answer_anthropic(answer: Answer) -> Any:
    if answer.error is not None:
        code = "execution_time_exceeded" if answer.error.problem is QueryProblem.TIMEOUT else "invalid_tool_input"
        return {"type": "tool_search_tool_result_error", "error_code": code, "error_message": str(answer.error)}
    references: list[dict[str, Any]] = [{"type": "tool_reference", "tool_name": name} for name in answer.names]
    if answer.has_schemas:
        pairs = zip(references, answer.mcp_tools(), strict=True)
        references = [{**reference, "tool": tool} for reference, tool in pairs]
    return {"type": "tool_search_tool_search_result", "tool_references": references}


def _answer_openai(answer: Answer) -> Any:
    tools: list[dict[str, Any]] = []
    for tool, name in answer.found:
        whole = {"type": "function", "name": name, "defer_loading": True}
        tools.append(whole | thaw(openai_definition(tool, name))["function"] if answer.has_schemas else whole)
    output = {"type": "tool_search_output", "execution": "server", "status": "completed", "tools": tools}
    return output if answer.error is None else {**output, "status": "incomplete", "error": str(answer.error)}


def _answer_pydantic_ai(answer: Answer) -> Any:
    if answer.error is not None:
        return {"discovered_tools": [], "message": str(answer.error)}
    if not answer.found:
        return {
            "discovered_tools": [],
            "message": "No matching tools found. The tools you need may not be available.",
        }
    return {"discovered_tools": answer.mcp_tools()}


def _answer_fastmcp(answer: Answer) -> Any:
    return answer.mcp_tools()


def _answer_bigtool(answer: Answer) -> Any:
    if answer.has_schemas:
        return answer.mcp_tools()
    return f"Available tools: {answer.names}"


def _answer_toolhive(answer: Answer) -> Any:
    baseline, returned = _count_bytes(answer.searched), _count_bytes(answer.found)
    saved = (baseline - returned) / baseline * 100 if baseline else 0.0
    metrics = {"baseline_tokens": baseline, "returned_tokens": returned, "savings_percent": saved}
    return {"tools": answer.mcp_tools(), "token_metrics": metrics}


def _count_bytes(tools: Sequence[tuple[Tool, str]]) -> int:
    """Tokens as ToolHive estimates them: a quarter of the bytes of the JSON, for each tool."""
    return sum(len(definition_text(mcp_tool(tool, name)).encode(errors="replace")) // 4 for tool, name in tools)


_MORE = "You have more tools than those in your list. "
TOOLBELT = Shape(
    Tool(
        "search_tools",
        f"{_MORE}This finds them by words. Call it whenever none of the tools in your list does what is asked; once "
        "for each thing that you need.",
        _parameters({"query": _text("Words for what the tool should do, as its description would have them.")}),
        READS,
    ),
    "query",
    _answer_toolbelt,
)
ANTHROPIC_REGEX = Shape(
    Tool(
        "tool_search_tool_regex",
        f"{_MORE}This finds them by a regular expression, and makes up to 5 of them available.",
        _parameters({"pattern": PATTERN}),
        READS,
    ),
    "pattern",
    _answer_anthropic,
)
ANTHROPIC_BM25 = Shape(
    Tool(
        "tool_search_tool_bm25",
        f"{_MORE}This finds them by words, and makes up to 5 of them available.",
        _parameters({"query": _text("What the tool should do, in 500 characters at most.")}),
        READS,
    ),
    "query",
    _answer_anthropic,
)
OPENAI = Shape(
    Tool(
        "tool_search",
        "Load tools that are deferred. Each group below has tools that you can load by its name.",
        _parameters({"paths": _texts("Names of groups or tools to load, as they are listed.")}),
        READS,
    ),
    "paths",
    _answer_openai,
    takes_groups=True,
)
PYDANTIC_AI = Shape(
    Tool(
        "search_tools",
        f"{_MORE}This finds them by the words of their names and descriptions. If nothing is found, do not search "
        "again.",
        _parameters(
            {"queries": _texts("Specific words that are likely to stand in the name or description of the tool.")}
        ),
        READS,
    ),
    "queries",
    _answer_pydantic_ai,
    unseen_first=True,
)
FASTMCP = Shape(
    Tool(
        "search_tools",
        "Search for tools in natural language. Answers with their definitions, the best first.",
        _parameters({"query": _text("What to search for, in natural language.")}),
        READS,
    ),
    "query",
    _answer_fastmcp,
    call=replace(CALL_TOOL, description="Call a tool that search_tools found, by its name and with its arguments."),
)
BIGTOOL = Shape(
    Tool(
        "retrieve_tools",
        "Retrieve a tool to use, given a search query.",
        _parameters({"query": _text("What the tool should do.")}),
        READS,
    ),
    "query",
    _answer_bigtool,
    accumulates=True,
)
TOOLHIVE = Shape(
    Tool(
        "find_tool",
        "Find tools that can help with what the user asked for. Answers with names, descriptions and schemas, the best "
        "first, and with what this saves in tokens. Always call this before call_tool.",
        _parameters(
            {
                "tool_description": _text("The task or the ability that is needed, such as 'send an email'."),
                "tool_keywords": _texts("Keywords, such as ['list', 'issues', 'github']."),
            },
            "tool_description",
        ),
        READS,
    ),
    "tool_description",
    _answer_toolhive,
    more_argument="tool_keywords",
    call=Tool(
        "call_tool",
        "Call a tool that find_tool found, with its arguments.",
        _parameters({"tool_name": _text("The name of the tool, as find_tool gives it."), "parameters": _ANY_ARGUMENTS}),
        ACTS,
    ),
    call_name="tool_name",
    call_arguments="parameters",
)
