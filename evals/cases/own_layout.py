"""Read a case in toolbelt's own layout (rule E3) strictly: every mistake of a line, with the nearest right name.

A line is a JSON object:

    {"id": "push-1", "query": "Send my commits to origin.", "kind": "arguments", "role": "developer",
     "expected": [{"tool": "git_push", "args": {"remote": "origin"}}],
     "accept": [[{"tool": ["exec", "run_command"], "args_any": {"command": ["git push", "git push origin"]}}],
                [{"tool": "open_pr", "args_contain": {"title": ["push"]}}]],
     "forbidden": ["git_reset"], "results": {"git_push": "Everything up-to-date"}}

Tools are named as for `Catalog.get_tool`. `results` are the results of calls: a text, any other JSON value (sent as
compact JSON), or a list of these for the first call, the second, and so on; a result that is itself a list stands in
such a list.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any

from toolbelt.catalog import Tool
from toolbelt.catalog.frozen import FrozenDict, freeze
from toolbelt.errors import suggestion
from toolbelt.evals.cases.case import Answer, Case, ExpectedArguments, ExpectedCall, Matching
from toolbelt.evals.cases.fields import (
    QUERY_KEYS,
    ParsedCase,
    default_steps,
    find_case_id,
    read_messages,
    refuse_unknown_keys,
)
from toolbelt.evals.cases.references import ToolNames, Unresolved
from toolbelt.sources.section import Section

CASE_KEYS = (
    "id",
    "query",
    "messages",
    "system",
    "expected",
    "accept",
    "forbidden",
    "allowed_extra",
    "match",
    "role",
    "kind",
    "tags",
    "cluster",
    "offered",
    "results",
    "steps",
    "draft",
    "note",
)
"""Keys of a case; `note` is for its writer alone."""
CALL_KEYS = ("tool", "args", "args_any", "args_contain", "optional", "args_exact")
_OPEN_SCHEMAS = ("$ref", "allOf", "anyOf", "oneOf", "patternProperties")
"""Keys of a schema that may add properties which are not listed at its top."""
_KNOWN_KEYS = frozenset((*CASE_KEYS, *QUERY_KEYS))
_KNOWN_CALL_KEYS = frozenset(CALL_KEYS)
_TOOL_ALONE = frozenset({"tool"})
_NOTHING: Mapping[str, tuple[str, ...]] = FrozenDict()


def parse_own_case(data: object, names: ToolNames) -> ParsedCase:
    """The case of one line, a pure function of the line and the catalog.

    Args:
        data: The JSON value of the line.
        names: Resolves the tools that the case names.
    """
    row = Section.of_row(data)
    if not isinstance(data, dict):
        row.add_error("wrong-type", f"A case is an object, not {row.describe()}.")
        return ParsedCase(None, tuple(row.findings))
    case = _OwnLayoutReader(row, names).read()
    return ParsedCase(None if row.has_errors else case, tuple(row.findings))


class _OwnLayoutReader:
    """Reads one line; a wrong value adds a finding and counts as absent."""

    def __init__(self, row: Section, names: ToolNames) -> None:
        self._row = row
        self._names = names

    def read(self) -> Case:
        row = self._row
        present = row.value.keys()
        if not present <= _KNOWN_KEYS:
            refuse_unknown_keys(row, (*CASE_KEYS, *QUERY_KEYS[1:]), "case")
        if len(asked := [key for key in (*QUERY_KEYS, "messages") if key in present]) > 1:
            row.add_error("query-and-messages", f"A case has {' or '.join(f'`{key}`' for key in asked)}, not both.")
        case_id = (row.read_text("id") if "id" in present else find_case_id(row.value)) or ""
        expected = self._expected()
        accept = self._accept(expected)
        steps = row.read_int("steps", least=1) if "steps" in present else None
        # For speed with 100,000 cases, rare keys are read only where they are present.
        case = Case(
            id=case_id,
            messages=read_messages(row, QUERY_KEYS),
            expected=expected,
            accept=accept,
            forbidden=frozenset(self._tool_ids("forbidden")),
            allowed_extra=frozenset(self._tool_ids("allowed_extra")),
            match=(row.read_choice("match", Matching, "match") if "match" in present else None) or Matching.EXACT,
            role=row.read_text("role") if "role" in present else None,
            kind=row.read_text("kind") or "",
            tags=tuple(dict.fromkeys(row.read_texts("tags"))),
            cluster=row.read_text("cluster") or "",
            offered=self._offered(),
            results=self._results(),
            steps=steps or default_steps(() if expected is None else (expected, *accept)),
            draft="draft" in present and row.read_bool("draft") is True,
        )
        self._check_forbidden(case)
        self._check_offered(case)
        return case

    def _expected(self) -> Answer | None:
        row = self._row
        if "expected" not in row.value:
            message = "A case needs `expected`: a list of calls, [] where no tool should be called, null where any may."
            row.add_error("missing-field", message)
            return ()
        return None if row.value["expected"] is None else self._answer(row.child("expected"), "a list of calls")

    def _accept(self, expected: Answer | None) -> tuple[Answer, ...]:
        if "accept" not in self._row.value:
            return ()
        answers = self._row.read_items("accept", "a list of answers, each a list of calls")
        if answers and expected is None:
            message = "Where `expected` is null any call is right, so `accept` has no effect."
            self._row.add_error("needless-accept", message)
        return tuple(self._answer(answer, "a list of calls of its own") for answer in answers)

    def _answer(self, answer: Section, wanted: str) -> Answer:
        return tuple(self._call(call) for call in answer.read_items(wanted=wanted))

    def _call(self, call: Section) -> ExpectedCall:
        if isinstance(call.value, str) and call.value.strip():
            hint = f'Write {{"tool": {json.dumps(call.value)}}}.'
            call.add_error("wrong-type", f"{call.label} must be a call with a `tool`, not {call.describe()}. {hint}")
            return ExpectedCall(tuple(self._resolved((call.value,), call)))
        if call.read_mapping(wanted="a call with a `tool`") is None:
            return ExpectedCall(())
        present = call.value.keys()
        if not present <= _KNOWN_CALL_KEYS:
            refuse_unknown_keys(call, CALL_KEYS, "call")
        tools = self._tools(call)
        return ExpectedCall(tools, None if present <= _TOOL_ALONE else self._arguments(call, tools))

    def _tools(self, call: Section) -> tuple[str, ...]:
        if "tool" not in call.value:
            call.require_keys("tool", rule="missing-field")
            return ()
        tool = call.child("tool")
        if isinstance(tool.value, str):
            reference = tool.read_text()
            references: tuple[str, ...] = () if reference is None else (reference,)
        elif tool.value == []:
            tool.add_wrong_type("a tool, or a list of tools any of which is right")
            return ()
        else:
            references = tool.read_texts()
        return tuple(dict.fromkeys(self._resolved(references, tool)))

    def _arguments(self, call: Section, tools: tuple[str, ...]) -> ExpectedArguments | None:
        args = call.read_mapping("args") or {}
        args_any = (call.read_mapping("args_any") if "args_any" in call.value else None) or {}
        contain = (call.read_mapping("args_contain") if "args_contain" in call.value else None) or {}
        by_key = {"args": args, "args_any": args_any, "args_contain": contain}
        for (key, ours), (other_key, theirs) in combinations(by_key.items(), 2) if args_any or contain else ():
            for name in sorted(ours.keys() & theirs.keys()):
                message = f"{call.label} has the argument {name!r} in both `{key}` and `{other_key}`."
                call.add_error("argument-twice", message)
        accepted = {name: (freeze(value),) for name, value in args.items()}
        for name, values in args_any.items():
            if isinstance(values, list) and values:
                accepted[name] = tuple(map(freeze, values))
            else:
                call.child("args_any").child(name).add_wrong_type("a list of the values that are right")
        contains = {name: call.child("args_contain").read_texts(name) for name in contain}
        for name in [name for name, value in contain.items() if value == []]:
            call.child("args_contain").child(name).add_wrong_type("a text, or a list of texts")
        optional = call.read_texts("optional") if "optional" in call.value else ()
        exact = "args_exact" in call.value and call.read_bool("args_exact") is True
        for name in () if exact else optional:  # beside `args_exact`, one that may be there with any value
            if name not in accepted and name not in contains:
                message = f"{call.child('optional').label} names {name!r}, which no key of the call checks."
                call.add_error("unknown-argument", f"{message}{suggestion(name, accepted.keys() | contains.keys())}")
        arguments = ExpectedArguments(
            FrozenDict(accepted), frozenset(optional), exact, contains=FrozenDict(contains) if contains else _NOTHING
        )
        self._check_described(arguments, call, tools)
        return arguments if accepted or contains or exact else None

    def _check_described(self, arguments: ExpectedArguments, call: Section, tool_ids: tuple[str, ...]) -> None:
        tools = [tool for tool in map(self._names.find_tool, tool_ids) if tool is not None]
        for name in dict.fromkeys((*arguments.accepted, *arguments.contains, *arguments.optional)) if tools else ():
            if not any(accepts_argument(tool, name) for tool in tools):
                known = dict.fromkeys(key for tool in tools for key in described_arguments(tool))
                message = f"{call.label}: {' or '.join(tool_ids)} describes no argument {name!r}."
                call.add_warning("undescribed-argument", f"{message}{suggestion(name, known)}")

    def _offered(self) -> tuple[str, ...] | None:
        if "offered" not in self._row.value:
            return None
        before = len(self._row.findings)
        offered = tuple(dict.fromkeys(self._tool_ids("offered")))
        # With a mistake in it, what is missing from it is unknown.
        return offered if len(self._row.findings) == before else None

    def _results(self) -> Mapping[str, tuple[str, ...]]:
        results: dict[str, tuple[str, ...]] = {}
        if "results" not in self._row.value:
            return FrozenDict()
        for reference, value in (self._row.read_mapping("results") or {}).items():
            section = self._row.child("results")
            for tool_id in self._resolved((reference,), section):
                if tool_id in results:
                    message = f"{section.label} has {tool_id!r} twice, under two of its names."
                    section.add_error("result-twice", message)
                results[tool_id] = tuple(map(_result_text, value if isinstance(value, list) else [value]))
            if value == []:
                section.child(reference).add_wrong_type("a result, or a list with a result for each call")
        return FrozenDict(results)

    def _tool_ids(self, key: str) -> Iterator[str]:
        if key not in self._row.value:
            return iter(())
        return self._resolved(self._row.read_texts(key), self._row.child(key))

    def _resolved(self, references: tuple[str, ...], section: Section) -> Iterator[str]:
        for reference in references:
            tool_id = self._names.resolve(reference)
            if isinstance(tool_id, Unresolved):
                section.add_error(tool_id.rule, f"{section.label}: {tool_id.message}")
            else:
                yield tool_id

    def _check_forbidden(self, case: Case) -> None:
        if not case.forbidden:
            return
        answered = {tool for answer in case.answers for call in answer for tool in call.tools}
        for tool_id in sorted(case.forbidden & answered):
            message = f"{tool_id!r} is in `forbidden` and in an answer that is right."
            self._row.add_error("forbidden-and-right", message)
        for tool_id in sorted(case.forbidden & case.allowed_extra):
            message = f"{tool_id!r} is in both `forbidden` and `allowed_extra`."
            self._row.add_error("forbidden-and-allowed", message)

    def _check_offered(self, case: Case) -> None:
        if case.offered is None:
            return
        for answer in case.answers:
            for call in answer:
                if call.tools and not set(call.tools) & set(case.offered):
                    message = f"{' or '.join(call.tools)} is in a right answer, but not in `offered`."
                    self._row.add_error("not-offered", message)


def described_arguments(tool: Tool) -> Mapping[str, Any]:
    """The schema of each argument that a tool describes, by name."""
    properties = tool.parameters.get("properties")
    return properties if isinstance(properties, Mapping) else {}


def accepts_argument(tool: Tool, argument: str) -> bool:
    """Whether a tool describes the argument, or says that it takes further ones."""
    schema = tool.parameters
    if argument in described_arguments(tool) or any(key in schema for key in _OPEN_SCHEMAS):
        return True
    return schema.get("additionalProperties", False) is not False


def _result_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
