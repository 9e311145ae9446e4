"""Queries with the tools that are right, as people keep them: the rows of a table, or the objects of a JSON list.

A table has a column for the tool (`Tool Name`, `Expected tool(s)`) and one or several for the prompt (`Test Prompt`,
`User query`); an object has fields of such names: `{"query", "expectedTools": [names or calls], "id"?, "category"?,
"context"?}`. A document may hold its one list of such objects under any key. An empty list, or `none` in a cell, means
that no tool is right; an empty cell says nothing. A `context` is the conversation before the query: messages, or words.
Where there is a field for the answer (`answer`, `answers`, `ground_truth`), `tools` are what was offered, as xLAM and
When2Call have them: names, definitions, or JSON of these. An answer in words says nothing of calls: such a row makes no
case. Without definitions, name a catalog. Rows of deepeval, ragas and LangSmith have `input`, `user_input` or `inputs`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from toolbelt.catalog.tool_names import split_words
from toolbelt.evals.cases.fields import content_id
from toolbelt.evals.cases.imports.context import LINE, NOT_OFFERED, CaseRow, Context, kind_of, letters_of
from toolbelt.evals.cases.imports.import_report import BrokenError, UnmappedError
from toolbelt.evals.cases.imports.inspect_samples import expected_call
from toolbelt.evals.cases.imports.messages import Message, check_answers, check_messages, opening
from toolbelt.evals.cases.imports.openai_log_records import in_roles, unpacked
from toolbelt.evals.cases.imports.query_fields import (
    ANSWERS,
    MARKS,
    NO_TOOL,
    STEPS,
    definitions_in,
    find_list,
    flat,
    is_named,
    is_query,
    label_fields,
    prompt_fields,
    written_answer,
)
from toolbelt.evals.cases.imports.sources import Record
from toolbelt.evals.cases.imports.tables import SURPLUS
from toolbelt.evals.cases.imports.tool_pool import ToolPool
from toolbelt.text import plural

NO_LABEL = "it does not say which tool is right; write none where none is"
NO_PROMPT = "it has no prompt"
IN_WORDS = "its answer is in words, beside tools that were offered; call them `expected_tools` if they are right"
SEVERAL_TURNS = "one list of calls for several messages of the user"
IN_PARENTHESES = "what stands in parentheses beside a prompt or a tool"
OTHER_TABLES = "a row of a table without a column for the tool and one for the prompt"
CONTEXT_IN_WORDS = "a context in words stands as a message of the user before the query"
OPEN_CALL = "its context ends with a call that nobody answered"
_IDS = re.compile(r"((test|case|task|scenario|query|prompt) )*id")
_ARGUMENTS = re.compile(
    r"((expected|correct|tool|function|call|action) )*(args|arguments|kwargs|params|parameters|inputs?)"
)
"""Names of fields with the arguments of the one tool that another field names."""
_TAGS = ("category", "categories", "tag", "tags")
_HISTORY = ("context", "history", "messages", "conversation")
_INTERACTION = "interaction"
"""A column of Azure's MCP server: what has to happen before the tool can be called, or `none`."""
_BESIDE = re.compile(r"\([^()]*\)")
_EITHER = re.compile(r"\sor\s|\s/\s|\|")
_QUOTED = re.compile(r'["“]([^"“”]+)["”][\s/,;|·]*(?:or\s+)?')
_PREFIX = re.compile(r"[^\W_]+(?=[\W_])")
_NAMES_WITH_PREFIX = 3
"""Different names at least before what they all begin with counts as a prefix."""
_EMPTY: tuple[Any, ...] = (None, "", [])
_MOST = 1000
"""Names of tools that are looked at for a prefix, and fields left aside that are counted."""


class Queries:
    """Reads tables and lists of queries with their tools."""

    label = "tables or lists of prompts with their tools"

    def __init__(self) -> None:
        self._names: set[str] = set()
        self._prefix: str | None = None
        self._ignored: Counter[str] = Counter()
        self._other_tables = 0
        self._universe: tuple[str, ...] | None = None
        self._read_as: dict[str, None] = {}

    @staticmethod
    def recognises(data: Any) -> bool:
        """Whether a record looks like a query with its tools, or a document like one with a list of them."""
        return is_query(data) or find_list(data) is not None

    def collect_tools(self, record: Record, pool: ToolPool) -> None:
        """Collect definitions that were offered; remember the names of tools: what all begin with may be a prefix."""
        for _, entry in self._entries(record):
            if not isinstance(entry, Mapping):
                continue
            field, offers = label_fields(entry)
            if offers and (definitions := definitions_in(entry[offers])):
                pool.add_list(definitions)
            tools = None if offers or field is None else entry[field]
            for name in tools if isinstance(tools, list) else STEPS.split(tools) if isinstance(tools, str) else ():
                if isinstance(name, str) and not NO_TOOL.fullmatch(name.strip()) and len(self._names) < _MOST:
                    self._names.add(name.strip(MARKS))

    def rows(self, record: Record, context: Context) -> Iterator[CaseRow]:
        """The cases of a row, or of all objects in a document."""
        if self._prefix is None:
            self._prefix = _shared_prefix(self._names)
        for line, entry in self._entries(record):
            if record.heading is not None and not is_query(entry):
                self._other_tables += 1
                continue
            try:
                for row in self._cases(entry, record.heading, context, record.stem):
                    yield row | {LINE: line}
            except UnmappedError as reason:
                context.report.leave_out(record.source, line, reason.reason, reason.detail)
            except BrokenError as error:
                context.report.add_broken(*error.all_findings(record.source, line))

    def finish(self, context: Context) -> None:
        """Report what of the sources is in no case."""
        if self._read_as:
            context.report.note(f"fields: {'; '.join(list(self._read_as)[:12])}")
        if self._other_tables:
            context.report.count(OTHER_TABLES, self._other_tables)
        if self._ignored:
            fields = ", ".join(f"{name} ({count:,})" for name, count in self._ignored.most_common(20))
            context.report.note(f"left aside, as no case holds it: {fields}")

    def _entries(self, record: Record) -> Iterator[tuple[int, Any]]:
        data, place = record.data, find_list(record.data)
        if place is None:
            yield record.line, flat(data)
            return
        for index, entry in enumerate(data[place[0]] if place else data):
            line = record.document.find_line(*place, index) if record.document else None
            yield line or record.line, flat(entry)

    def _cases(self, entry: Any, heading: str | None, context: Context, source: str) -> Iterator[CaseRow]:
        if not is_query(entry):
            wanted = "one for the tool (Tool, expectedTools) and one for the prompt (Prompt, query)"
            raise BrokenError("no-query", f"It needs two fields or columns: {wanted}.")
        field, offers = label_fields(entry)
        if field is None:
            has_words = any(is_named(name, ANSWERS) and value not in _EMPTY for name, value in entry.items())
            raise UnmappedError(IN_WORDS if has_words else NO_LABEL, f"beside {offers}")
        fields = prompt_fields(entry)
        prompts = [
            text for name in fields for text in self._prompts(entry[name], name, in_markdown=heading is not None)
        ]
        if not prompts:
            raise UnmappedError(NO_PROMPT)
        self._read_as |= dict.fromkeys(
            [f"{', '.join(fields)} → query", f"{field} → expected", *([f"{offers} → offered"] if offers else [])]
        )
        row: CaseRow = {"id": ""} | self._label(entry, field, offers, context)
        tags, history = [heading] if heading else [], []
        for name, value in entry.items():
            word = " ".join(split_words(str(name)))
            if name in (field, offers, *fields) or value in _EMPTY:
                continue
            if word in _HISTORY and not (isinstance(value, list) and isinstance(value[0], str)):
                history = _history(value, context)
            elif word in _TAGS:
                tags += [tag for tag in (value if isinstance(value, list) else [value]) if isinstance(tag, str)]
            elif word == _INTERACTION and value != "none":  # the prompt does not lead to the tool at once
                tags.append(str(value))
                row["draft"] = True
            elif _take_arguments(row, word, value):
                self._read_as[f"{name} → arguments"] = None
            elif word != _INTERACTION:
                self._add_other(row, name, word, value)
        tags = [tag for tag in tags if tag.strip()]
        row |= context.common(tags=tags, kind=kind_of([[call] for call in row["expected"]]))
        for prompt in prompts:
            case = row | opening([*history, {"role": "user", "content": prompt}])
            yield case if case["id"] else case | {"id": f"{source}-{content_id(case)}"}

    def _add_other(self, row: CaseRow, name: Any, word: str, value: Any) -> None:
        if name == SURPLUS:  # a `|` that is not escaped may have cut the prompt
            self._count_ignored("cells beyond the last column")
            row["draft"] = True
        elif _IDS.fullmatch(word) and isinstance(value, str | int):
            row["id"] = str(value)
        else:
            self._count_ignored(str(name)[:60])

    def _label(self, entry: Mapping[str, Any], field: str, offers: str | None, context: Context) -> CaseRow:
        """What is expected, of what was offered where that is said."""
        self._universe = None
        offered = self._offered(entry[offers], context) if offers else None
        expected = self._expected(written_answer(entry, field, offers), field, context)
        if offered is None:
            return {"expected": expected}
        for call in expected:
            if set(offered).isdisjoint([call["tool"]] if isinstance(call["tool"], str) else call["tool"]):
                raise UnmappedError(NOT_OFFERED, str(call["tool"]))
        return {"expected": expected} | context.universe(offered)

    def _prompts(self, value: Any, place: str, *, in_markdown: bool) -> list[str]:
        """The prompts of a field; in a cell of Markdown, each line is one, and each of several in quotes."""
        texts = [value] if isinstance(value, str) else [] if value is None else value
        if isinstance(texts, list) and texts and all(isinstance(text, Mapping) for text in texts):  # ragas
            texts = [text.get("content") for text in texts if text.get("type") == "human"]
            if len(texts) != 1:
                raise UnmappedError(SEVERAL_TURNS)
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise BrokenError("wrong-type", f"`{place}` must be a text, or a list of texts.")
        prompts: list[str] = []
        for line in [line.strip() for text in texts for line in text.split("\n")] if in_markdown else texts:
            beside = _QUOTED.sub("", line).strip() if in_markdown else line
            if beside and _BESIDE.sub("", beside).strip():
                prompts.append(line)
            else:
                prompts += _QUOTED.findall(line)
                if beside:
                    self._count_ignored(IN_PARENTHESES)
        return [text for text in prompts if text.strip()]

    def _offered(self, value: Any, context: Context) -> tuple[str, ...]:
        """Ids of the tools that were offered."""
        if definitions := definitions_in(value):
            self._universe = context.offered(definitions)
            return self._universe or ()
        if not isinstance(value, str | list):
            raise BrokenError("wrong-type", "What was offered must be names or definitions of tools.")
        names = STEPS.split(value) if isinstance(value, str) else value
        found = [self._find(name.strip(MARKS), context) for name in names if isinstance(name, str) and name.strip()]
        return tuple(dict.fromkeys(tool for one in found for tool in ([one] if isinstance(one, str) else one)))

    def _count_ignored(self, what: str) -> None:
        if what in self._ignored or len(self._ignored) < _MOST:
            self._ignored[what] += 1

    def _expected(self, value: Any, place: str, context: Context) -> list[CaseRow]:
        if isinstance(value := unpacked(value), str):
            return self._written(value, context)
        if value is None or not isinstance(value, list | Mapping):
            raise UnmappedError(NO_LABEL)
        calls = []
        for index, entry in enumerate([value] if isinstance(value, Mapping) else value):
            if isinstance(entry, Mapping):
                calls.append(expected_call(entry, f"{place}[{index}]", context, self._find))
            elif isinstance(entry, str) and entry.strip():
                calls.append({"tool": self._find(entry.strip(), context)})
            else:
                raise BrokenError("wrong-type", f"`{place}[{index}]` must be the name of a tool, or a call.")
        return calls

    def _written(self, text: str, context: Context) -> list[CaseRow]:
        """The calls that a cell names: one name, several to be called, or several of which any is right."""
        if not text.strip():
            raise UnmappedError(NO_LABEL)
        try:
            return [{"tool": self._find(text.strip(MARKS), context)}]
        except UnmappedError:
            if NO_TOOL.fullmatch(text.strip(MARKS)):
                return []
            bare, calls = _BESIDE.sub("", text), []
            for step in filter(str.strip, STEPS.split(bare)):
                names = [self._find(name.strip(MARKS), context) for name in _EITHER.split(step)]
                tools = [tool for name in names for tool in ([name] if isinstance(name, str) else name)]
                calls.append({"tool": tools[0] if len(tools) == 1 else list(dict.fromkeys(tools))})
            if not calls:
                raise
            if bare != text:
                self._count_ignored(IN_PARENTHESES)
            return calls

    def _find(self, name: str, context: Context) -> str | list[str]:
        if self._universe is not None and context.names.within(self._universe, name):
            return context.reference(name, self._universe)
        return context.spelled_reference(name, self._prefix or "")


def _take_arguments(row: CaseRow, word: str, value: Any) -> bool:
    """Whether a field has the arguments of the call, or a list with those of each call, which they get.

    Raises:
        BrokenError: it is named `arguments` or `args`, and holds no arguments.
    """
    calls, value = row["expected"], unpacked(value)
    if not _ARGUMENTS.fullmatch(word) or any("args" in call for call in calls):
        return False
    given = [value] if isinstance(value, Mapping) else value
    if isinstance(given, list) and all(isinstance(one, Mapping) and "properties" not in one for one in given):
        if len(given) == len(calls):
            for call, arguments in zip(calls, given, strict=True):
                call.update({"args": dict(arguments)} if arguments else {})
            return True
        wanted = f"one for each of {plural(len(calls), 'call')}"
    else:
        wanted = 'JSON of an object, such as {"city": "Oslo"}'
    if word.endswith(("args", "arguments")):
        raise BrokenError("arguments", f"The arguments must be {wanted}, not {str(value)[:60]!r}.")
    return False


def _history(value: Any, context: Context) -> list[Message]:
    """The messages before the query.

    Raises:
        BrokenError: they are no messages.
        UnmappedError: no provider would take them.
    """
    if isinstance(value, str):
        context.report.note(CONTEXT_IN_WORDS)
        return [{"role": "user", "content": value}]
    messages = check_messages(in_roles(value), "context")
    if check_answers([*messages, {"role": "user"}], "context") <= len(messages):
        raise UnmappedError(OPEN_CALL)
    return messages


def _shared_prefix(names: set[str]) -> str:
    firsts = {match[0] if (match := _PREFIX.match(name)) else "" for name in names}
    return letters_of(firsts.pop()) if len(firsts) == 1 and len(names) >= _NAMES_WITH_PREFIX else ""
