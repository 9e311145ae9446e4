"""Read and check what a model wrote: every draft that cannot be used becomes a fault with its reason."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any

from toolbelt.catalog import Catalog, Tool
from toolbelt.catalog.definitions import sent_schema
from toolbelt.catalog.frozen import FrozenDict, freeze
from toolbelt.catalog.validators import SchemaValidator, make_validator
from toolbelt.errors import InvalidFileError
from toolbelt.evals.cases.mentions import mentions_tool
from toolbelt.evals.cases.own_layout import accepts_argument
from toolbelt.evals.cases.references import CatalogNames, Unresolved
from toolbelt.sources import parse_json
from toolbelt.sources.document import describe_value

LONGEST_QUERY = 4000
"""Characters."""
_FENCED = re.compile(r"```[A-Za-z]*[ \t]*\r?\n(.*?)```", re.DOTALL)
_THOUGHTS = re.compile(r"<think>.*?</think>", re.DOTALL)
_END_OF_SENTENCE = " .,;:!?…。！？"
_NO_TOOL = ("null", "none")
_PARTS = ("tasks", "near_misses")


class FaultReason(StrEnum):
    """Why a draft is left out; the value is shown to people and stands in `--json`."""

    NO_JSON = "the answer is not JSON"
    OTHER_FORM = "not in the form asked for"
    REFUSED = "the model refused"
    OVERFLOW = "the prompt is too long for the model"
    NO_TEXT = "the query is not text"
    TOO_LONG = "the query is too long"
    UNPRINTABLE = "the query has control characters"
    REPEATED = "the query is there already"
    NAMES_TOOL = "the query names the tool"
    BAD_ARGUMENTS = "the arguments go against the schema"
    UNKNOWN_TOOL = "the near miss names an unknown tool"
    SAME_TOOL = "the near miss names the tool itself"
    SURPLUS = "more than was asked for"
    TOO_FEW = "too few in the answer"


@dataclass(frozen=True, slots=True)
class AnswerFault:
    """One or several drafts that cannot be used.

    Attributes:
        reason: Why.
        detail: Which, in one line; the model sees it when it is asked again.
        drafts: How many drafts.
    """

    reason: FaultReason
    detail: str
    drafts: int = 1

    def __str__(self) -> str:
        return f"{self.detail}: {self.reason}" if self.detail else str(self.reason)


@dataclass(frozen=True, slots=True)
class ParsedTask:
    """A task as a model wrote it, with valid arguments.

    Attributes:
        arguments: Of the call.
        queries: Its wordings, not checked yet.
        of: 1-based number of an earlier task of which these are further wordings; `None` for a new one.
    """

    arguments: Mapping[str, Any]
    queries: tuple[Any, ...]
    of: int | None = None


@dataclass(frozen=True, slots=True)
class ParsedNearMiss:
    """A near miss as a model wrote it, with a known tool.

    Attributes:
        query: Not checked yet.
        tool: Id of the tool that is right; `None` where none is.
    """

    query: Any
    tool: str | None


class DraftChecker:
    """Reads answers and checks them against a catalog.

    Args:
        catalog: The known tools.

    Attributes:
        names: Resolves the names of its tools.
    """

    def __init__(self, catalog: Catalog) -> None:
        self.names = CatalogNames(catalog)
        self._wire_names = catalog.wire_names
        self._validator = lru_cache(64)(_validator_of)

    def tasks(self, data: Mapping[str, Any], tool: Tool) -> Iterator[ParsedTask | AnswerFault]:
        """The tasks of an answer, in order."""
        for number, entry in enumerate(_list(data, "tasks"), start=1):
            place = f"task {number}"
            queries = entry.get("queries") if isinstance(entry, dict) else None
            if not isinstance(queries, list):
                yield AnswerFault(FaultReason.OTHER_FORM, place)
                continue
            drafts = max(len(queries), 1)
            if "task" in entry and "arguments" not in entry:
                of = entry["task"]
                # Without arguments, it must refer to an earlier task.
                is_number = type(of) is int
                fault = AnswerFault(FaultReason.OTHER_FORM, place, drafts)
                yield ParsedTask(FrozenDict(), tuple(queries), of) if is_number else fault
                continue
            arguments = entry.get("arguments", {})
            if why := self._argument_fault(arguments, tool):
                yield AnswerFault(FaultReason.BAD_ARGUMENTS, f"{place}, {why}", drafts)
            else:
                yield ParsedTask(freeze(arguments), tuple(queries))

    def near_misses(self, data: Mapping[str, Any], tool: Tool) -> Iterator[ParsedNearMiss | AnswerFault]:
        """The near misses of an answer, in order."""
        for number, entry in enumerate(_list(data, "near_misses"), start=1):
            place = f"near miss {number}"
            name = entry.get("tool", ...) if isinstance(entry, dict) else ...
            if name is None:
                yield ParsedNearMiss(entry.get("query"), None)
            elif not isinstance(name, str) or not name.strip():
                yield AnswerFault(FaultReason.OTHER_FORM, place)
            elif isinstance(tool_id := self.names.resolve(name.strip()), Unresolved):
                if name.strip().casefold() in _NO_TOOL and not tool_id.candidates:  # a tool may have that name
                    yield ParsedNearMiss(entry.get("query"), None)
                else:
                    yield AnswerFault(FaultReason.UNKNOWN_TOOL, f"{place}, {name!r}")
            elif tool_id == tool.id:
                yield AnswerFault(FaultReason.SAME_TOOL, place)
            else:
                yield ParsedNearMiss(entry.get("query"), tool_id)

    def query_fault(self, query: Any, tool_ids: Iterable[str]) -> FaultReason | None:
        """Why a query that must not name these tools cannot be used; repeated queries are not checked here."""
        if not isinstance(query, str) or not query.strip():
            return FaultReason.NO_TEXT
        if len(query) > LONGEST_QUERY:
            return FaultReason.TOO_LONG
        if any(unicodedata.category(letter) == "Cc" and letter not in "\n\t\r" for letter in query):
            return FaultReason.UNPRINTABLE
        tools = [tool for tool in map(self.names.find_tool, tool_ids) if tool is not None]
        names = (name for tool in tools for name in (tool.name, self._wire_names[tool.id]))
        return FaultReason.NAMES_TOOL if any(mentions_tool(query, name) for name in names) else None

    def _argument_fault(self, arguments: Any, tool: Tool) -> str | None:
        if not isinstance(arguments, dict):
            return f"`arguments` must be an object, not {describe_value(arguments, is_json=True)}"
        if undescribed := [name for name in arguments if not accepts_argument(tool, name)]:
            return f"there is no argument {undescribed[0]!r}"
        validator = self._validator(tool)
        fault = None if validator is None else next(iter(validator.faults(arguments)), None)
        return None if fault is None else fault.message[:200]


def read_answer(text: str) -> dict[str, Any] | None:
    """The JSON object of an answer, with or without a code fence and text around it; `None` if there is none.

    Of several objects, the first with tasks or near misses.
    """
    visible = _THOUGHTS.sub("", text)
    widest = visible[visible.find("{") : visible.rfind("}") + 1]
    first: dict[str, Any] | None = None
    for candidate in (visible, *_FENCED.findall(visible), widest):
        try:
            data = parse_json(candidate.strip(), "the answer").data
        except InvalidFileError:
            continue
        if isinstance(data, dict):
            if any(_list(data, part) for part in _PARTS):
                return data
            first = data if first is None else first
    return first


def normalized_query(query: str) -> str:
    """A query without irrelevant differences: case, white space, and punctuation at the end."""
    text = " ".join(unicodedata.normalize("NFC", query).casefold().split())
    return text.rstrip(_END_OF_SENTENCE) or text


def _list(data: Mapping[str, Any], key: str) -> list[Any]:
    value = data.get(key)
    return value if isinstance(value, list) else []


def _validator_of(tool: Tool) -> SchemaValidator | None:
    return make_validator(sent_schema(tool.parameters) if tool.parameters else {})
