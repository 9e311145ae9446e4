"""What a model wrote, read strictly: every draft that cannot be used is a fault with its reason."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any

from toolbelt.catalog import Catalog, Tool
from toolbelt.catalog.frozen import FrozenDict, freeze
from toolbelt.catalog.validators import SchemaValidator, make_validator
from toolbelt.errors import InvalidFileError
from toolbelt.evals.cases.fields import shown
from toolbelt.evals.cases.mentions import names_tool
from toolbelt.evals.cases.own_layout import may_take
from toolbelt.evals.cases.references import CatalogNames, Unresolved
from toolbelt.sources import parse_json

LONGEST_QUERY = 4000
"""Characters."""
_FENCED = re.compile(r"```[A-Za-z]*[ \t]*\r?\n(.*?)```", re.DOTALL)
_THOUGHTS = re.compile(r"<think>.*?</think>", re.DOTALL)
_END_OF_SENTENCE = " .,;:!?…。！？"
_NO_TOOL = ("null", "none")
_PARTS = ("tasks", "near_misses")


class Reason(StrEnum):
    """Why a draft is left out, in words that are the same for all alike."""

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
class Fault:
    """Something that cannot be used.

    Attributes:
        reason: Why.
        detail: What, in a line, as the model may be told.
        drafts: How many that are.
    """

    reason: Reason
    detail: str
    drafts: int = 1

    def __str__(self) -> str:
        return f"{self.detail}: {self.reason}" if self.detail else str(self.reason)


@dataclass(frozen=True, slots=True)
class WrittenTask:
    """A task as a model wrote it, its arguments found valid.

    Attributes:
        arguments: Of the call.
        queries: Its wordings, not yet looked at.
        of: 1-based number of an earlier task of which these are further wordings; `None` for a new one.
    """

    arguments: Mapping[str, Any]
    queries: tuple[Any, ...]
    of: int | None = None


@dataclass(frozen=True, slots=True)
class WrittenMiss:
    """A near miss as a model wrote it, its tool found.

    Attributes:
        query: Not yet looked at.
        tool: Id of the tool that is right; `None` where none is.
    """

    query: Any
    tool: str | None


class Checker:
    """Reads answers, and holds them against a catalog.

    Args:
        catalog: What there is.

    Attributes:
        names: What its tools are called.
    """

    def __init__(self, catalog: Catalog) -> None:
        self.names = CatalogNames(catalog)
        self._wire_names = catalog.wire_names
        self._validator = lru_cache(64)(_validator_of)

    def tasks(self, data: Mapping[str, Any], tool: Tool) -> Iterator[WrittenTask | Fault]:
        """The tasks of an answer, in order."""
        for number, entry in enumerate(_list(data, "tasks"), start=1):
            place = f"task {number}"
            queries = entry.get("queries") if isinstance(entry, dict) else None
            if not isinstance(queries, list):
                yield Fault(Reason.OTHER_FORM, place)
                continue
            drafts = max(len(queries), 1)
            if "task" in entry and "arguments" not in entry:
                of = entry["task"]
                # Without arguments it is about an earlier task, or about nothing that is known.
                is_number = type(of) is int
                yield (
                    WrittenTask(FrozenDict(), tuple(queries), of)
                    if is_number
                    else Fault(Reason.OTHER_FORM, place, drafts)
                )
                continue
            arguments = entry.get("arguments", {})
            if why := self._fault_of(arguments, tool):
                yield Fault(Reason.BAD_ARGUMENTS, f"{place}, {why}", drafts)
            else:
                yield WrittenTask(freeze(arguments), tuple(queries))

    def near_misses(self, data: Mapping[str, Any], tool: Tool) -> Iterator[WrittenMiss | Fault]:
        """The near misses of an answer, in order."""
        for number, entry in enumerate(_list(data, "near_misses"), start=1):
            place = f"near miss {number}"
            name = entry.get("tool", ...) if isinstance(entry, dict) else ...
            if name is None:
                yield WrittenMiss(entry.get("query"), None)
            elif not isinstance(name, str) or not name.strip():
                yield Fault(Reason.OTHER_FORM, place)
            elif isinstance(found := self.names.look_up(name.strip()), Unresolved):
                if name.strip().casefold() in _NO_TOOL and not found.candidates:  # tools may be called that, too
                    yield WrittenMiss(entry.get("query"), None)
                else:
                    yield Fault(Reason.UNKNOWN_TOOL, f"{place}, {shown(name)}")
            elif found == tool.id:
                yield Fault(Reason.SAME_TOOL, place)
            else:
                yield WrittenMiss(entry.get("query"), found)

    def fault_of_query(self, query: Any, tool_ids: Iterable[str]) -> Reason | None:
        """Why a query that must name none of these tools cannot be used, whatever others there are."""
        if not isinstance(query, str) or not query.strip():
            return Reason.NO_TEXT
        if len(query) > LONGEST_QUERY:
            return Reason.TOO_LONG
        if any(unicodedata.category(letter) == "Cc" and letter not in "\n\t\r" for letter in query):
            return Reason.UNPRINTABLE
        tools = [tool for tool in map(self.names.find_tool, tool_ids) if tool is not None]
        names = (name for tool in tools for name in (tool.name, self._wire_names[tool.id]))
        return Reason.NAMES_TOOL if any(names_tool(query, name) for name in names) else None

    def _fault_of(self, arguments: Any, tool: Tool) -> str | None:
        if not isinstance(arguments, dict):
            return f"`arguments` must be an object, not {shown(arguments)}"
        if undescribed := [name for name in arguments if not may_take(tool, name)]:
            return f"there is no argument {shown(undescribed[0])}"
        validator = self._validator(tool)
        found = None if validator is None else next(iter(validator.faults(arguments)), None)
        return None if found is None else found.message[:200]


def read_answer(text: str) -> dict[str, Any] | None:
    """The JSON object of an answer, in a fence or not, with or without words around it; `None` if there is none.

    Of several, the first that has tasks or near misses.
    """
    said = _THOUGHTS.sub("", text)
    whole = said[said.find("{") : said.rfind("}") + 1]
    first: dict[str, Any] | None = None
    for candidate in (said, *_FENCED.findall(said), whole):
        try:
            data = parse_json(candidate.strip(), "the answer").data
        except InvalidFileError:
            continue
        if isinstance(data, dict):
            if any(_list(data, part) for part in _PARTS):
                return data
            first = data if first is None else first
    return first


def alike_key(query: str) -> str:
    """What two queries share that say the same: all but case, white space, and how the sentence ends."""
    text = " ".join(unicodedata.normalize("NFC", query).casefold().split())
    return text.rstrip(_END_OF_SENTENCE) or text


def _list(data: Mapping[str, Any], key: str) -> list[Any]:
    value = data.get(key)
    return value if isinstance(value, list) else []


def _validator_of(tool: Tool) -> SchemaValidator | None:
    return make_validator(tool.parameters)
