"""Reading toolbelt's own form of a case strictly (rule E3): every mistake of a line, with the nearest right name.

A line is a JSON object:

    {"id": "push-1", "query": "Send my commits to origin.", "kind": "arguments", "role": "developer",
     "expected": [{"tool": "git_push", "args": {"remote": "origin"}}],
     "accept": [[{"tool": ["exec", "run_command"], "args_any": {"command": ["git push", "git push origin"]}}]],
     "forbidden": ["git_reset"], "results": {"git_push": "Everything up-to-date"}}

A tool is named as `Catalog.get_tool` takes it. `results` are what calls are answered with: a text, any other JSON value
(sent as compact JSON), or a list of these for the first call, the second, and so on; a result that is a list itself
stands in such a list.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from toolbelt.catalog import Tool
from toolbelt.catalog.frozen import FrozenDict, freeze
from toolbelt.errors import suggestion
from toolbelt.evals.cases.case import Answer, Case, ExpectedArguments, ExpectedCall, Matching
from toolbelt.evals.cases.fields import Parsed, Row, default_steps, shown
from toolbelt.evals.cases.references import Names, Unresolved

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
"""What a line may hold; `note` is for its writer alone."""
CALL_KEYS = ("tool", "args", "args_any", "optional", "args_exact")
_ABSENT = object()
_OPEN_SCHEMAS = ("$ref", "allOf", "anyOf", "oneOf", "patternProperties")
"""Keys of a schema that may bring properties which are not listed at its top."""


def parse_case(data: object, names: Names) -> Parsed:
    """The case of one line, a pure function of the line and the catalog.

    Args:
        data: What the line holds, as JSON.
        names: What references mean.
    """
    row = _OwnRow(data if isinstance(data, dict) else {}, names)
    if not isinstance(data, dict):
        row.error("wrong-type", f"A case is an object, not {shown(data)}.")
        return Parsed(None, tuple(row.findings))
    case = row.case()
    return Parsed(None if row.is_wrong else case, tuple(row.findings))


class _OwnRow(Row):
    def __init__(self, data: Mapping[str, Any], names: Names) -> None:
        super().__init__(data)
        self._names = names

    def case(self) -> Case:
        data = self.data
        for key in sorted(data.keys() - _KNOWN):
            self.error("unknown-key", f"A case has no key {key!r}.{suggestion(key, CASE_KEYS)}")
        if "id" not in data:
            self.error("missing-field", "A case needs an `id`.")
        case_id = self.text("id") or ""
        if "query" in data and "messages" in data:
            self.error("query-and-messages", "A case has a `query` or `messages`, not both.")
        expected = self._expected()
        accept = self._accept(expected)
        answers = () if expected is None else (expected, *accept)
        case = Case(
            id=case_id,
            messages=self.messages(),
            expected=expected,
            accept=accept,
            forbidden=frozenset(self._ids("forbidden")),
            allowed_extra=frozenset(self._ids("allowed_extra")),
            match=self._match(),
            role=self.text("role"),
            kind=self.text("kind") or "",
            tags=tuple(dict.fromkeys(self.texts("tags"))),
            cluster=self.text("cluster") or "",
            offered=self._offered(),
            results=self._results(),
            steps=self._steps(answers),
            draft=self._draft(),
        )
        self._check_overlaps(case)
        self._check_offered(case)
        return case

    def _expected(self) -> Answer | None:
        value = self.data.get("expected", _ABSENT)
        if value is _ABSENT:
            message = "A case needs `expected`: a list of calls, [] where no tool should be called, null where any may."
            self.error("missing-field", message)
            return ()
        return None if value is None else self._answer(value, "expected")

    def _accept(self, expected: Answer | None) -> tuple[Answer, ...]:
        value = self.data.get("accept", ())
        if not isinstance(value, list | tuple):
            self.error("wrong-type", f"`accept` must be a list of answers, each a list of calls, not {shown(value)}.")
            return ()
        if value and expected is None:
            self.error("needless-accept", "Where `expected` is null any call will do, so `accept` says nothing.")
        return tuple(self._answer(answer, f"accept[{index}]") for index, answer in enumerate(value))

    def _answer(self, value: Any, place: str) -> Answer:
        if not isinstance(value, list):
            hint = " Each answer is a list of its own." if place.startswith("accept") else ""
            self.error("wrong-type", f"`{place}` must be a list of calls, not {shown(value)}.{hint}")
            return ()
        return tuple(self._call(call, f"{place}[{index}]") for index, call in enumerate(value))

    def _call(self, value: Any, place: str) -> ExpectedCall:
        if not isinstance(value, dict):
            hint = f' Write {{"tool": {json.dumps(value)}}}.' if isinstance(value, str) and value.strip() else ""
            self.error("wrong-type", f"`{place}` must be a call with a `tool`, not {shown(value)}.{hint}")
            return ExpectedCall(tuple(self._resolved((value,), place)) if hint else ())
        for key in sorted(value.keys() - _KNOWN_OF_CALL):
            self.error("unknown-key", f"`{place}`: a call has no key {key!r}.{suggestion(key, CALL_KEYS)}")
        tools = self._tools(value, place)
        if value.keys() <= _TOOL_ALONE:
            return ExpectedCall(tools)
        return ExpectedCall(tools, self._arguments(value, place, tools))

    def _tools(self, call: Mapping[str, Any], place: str) -> tuple[str, ...]:
        if "tool" not in call:
            self.error("missing-field", f"`{place}` needs a `tool`.")
            return ()
        value = call["tool"]
        if isinstance(value, str):
            value = [value]
        elif value == []:
            self.error(
                "wrong-type", f"`{place}.tool` is an empty list; it names a tool, or several any of which will do."
            )
        references = self.texts_of(value, f"{place}.tool")
        return tuple(dict.fromkeys(self._resolved(references, f"{place}.tool")))

    def _arguments(self, call: Mapping[str, Any], place: str, tools: tuple[str, ...]) -> ExpectedArguments | None:
        args = self.mapping(call.get("args", {}), f"{place}.args")
        args_any = self.mapping(call.get("args_any", {}), f"{place}.args_any")
        for name in sorted(args.keys() & args_any.keys()):
            self.error("argument-twice", f"`{place}` has the argument {name!r} in both `args` and `args_any`.")
        accepted = {name: (freeze(value),) for name, value in args.items()}
        for name, values in args_any.items():
            if not isinstance(values, list) or not values:
                message = f"`{place}.args_any.{name}` must list the values that are right, not be {shown(values)}."
                self.error("wrong-type", message)
                continue
            accepted[name] = tuple(map(freeze, values))
        optional = self.texts_of(call.get("optional", ()), f"{place}.optional")
        for name in optional:
            if name not in args and name not in args_any:
                message = f"`{place}.optional` names {name!r}, which is in neither `args` nor `args_any`."
                self.error("unknown-argument", f"{message}{suggestion(name, accepted)}")
        exact = call.get("args_exact", False)
        if not isinstance(exact, bool):
            self.error("wrong-type", f"`{place}.args_exact` must be true or false, not {shown(exact)}.")
        self._check_properties(accepted, place, tools)
        if not accepted and exact is not True:
            return None
        return ExpectedArguments(FrozenDict(accepted), frozenset(optional), exact is True)

    def _check_properties(self, accepted: Mapping[str, Any], place: str, tool_ids: tuple[str, ...]) -> None:
        tools = [tool for tool in map(self._names.find_tool, tool_ids) if tool is not None]
        for name in accepted if tools else ():
            if not any(may_take(tool, name) for tool in tools):
                known = dict.fromkeys(key for tool in tools for key in properties_of(tool))
                message = f"`{place}`: {' or '.join(tool_ids)} describes no argument {name!r}.{suggestion(name, known)}"
                self.warn("undescribed-argument", message)

    def _match(self) -> Matching:
        value = self.data.get("match", Matching.EXACT)
        if isinstance(value, str) and value in _MATCHINGS:
            return Matching(value)
        known = suggestion(value, _MATCHINGS) if isinstance(value, str) else f" Known: {', '.join(_MATCHINGS)}."
        self.error("unknown-match", f"`match` cannot be {shown(value)}.{known}")
        return Matching.EXACT

    def _offered(self) -> tuple[str, ...] | None:
        if "offered" not in self.data:
            return None
        before = len(self.findings)
        found = tuple(dict.fromkeys(self._ids("offered")))
        return found if len(self.findings) == before else None  # what is missing there may be what is wrong there

    def _results(self) -> Mapping[str, tuple[str, ...]]:
        made: dict[str, tuple[str, ...]] = {}
        written = self.data.get("results")
        if written is None and "results" not in self.data:
            return FrozenDict()
        for reference, value in self.mapping(written, "results").items():
            for tool_id in self._resolved((reference,), "results"):
                if tool_id in made:
                    self.error("result-twice", f"`results` has {tool_id!r} twice, under two of its names.")
                made[tool_id] = tuple(map(_result_text, value if isinstance(value, list) else [value]))
            if value == []:
                self.error(
                    "wrong-type", f"`results.{reference}` is an empty list; it needs a result for the first call."
                )
        return FrozenDict(made)

    def _steps(self, answers: tuple[Answer, ...]) -> int:
        value = self.data.get("steps", _ABSENT)
        if value is _ABSENT:
            return default_steps(answers)
        if type(value) is int and value >= 1:
            return value
        self.error("wrong-type", f"`steps` must be a number of requests, at least 1, not {shown(value)}.")
        return 1

    def _draft(self) -> bool:
        value = self.data.get("draft", False)
        if not isinstance(value, bool):
            self.error("wrong-type", f"`draft` must be true or false, not {shown(value)}.")
        return value is True

    def _ids(self, key: str) -> Iterator[str]:
        return self._resolved(self.texts(key), key)

    def _resolved(self, references: tuple[str, ...], place: str) -> Iterator[str]:
        for reference in references:
            found = self._names.look_up(reference)
            if isinstance(found, Unresolved):
                self.error(found.rule, f"`{place}`: {found.message}")
            else:
                yield found

    def _check_overlaps(self, case: Case) -> None:
        if not case.forbidden:
            return
        answered = {tool for answer in case.answers for call in answer for tool in call.tools}
        for tool_id in sorted(case.forbidden & answered):
            self.error("forbidden-and-right", f"{tool_id!r} is in `forbidden` and in an answer that is right.")
        for tool_id in sorted(case.forbidden & case.allowed_extra):
            self.error("forbidden-and-allowed", f"{tool_id!r} is in both `forbidden` and `allowed_extra`.")

    def _check_offered(self, case: Case) -> None:
        if case.offered is None:
            return
        for answer in case.answers:
            for call in answer:
                if call.tools and not set(call.tools) & set(case.offered):
                    message = f"{' or '.join(call.tools)} is in a right answer, but not in `offered`."
                    self.error("not-offered", message)


def properties_of(tool: Tool) -> Mapping[str, Any]:
    """The schema of each argument that a tool describes, by name."""
    properties = tool.parameters.get("properties")
    return properties if isinstance(properties, Mapping) else {}


def may_take(tool: Tool, argument: str) -> bool:
    """Whether a tool describes the argument, or says that it takes further ones."""
    schema = tool.parameters
    if argument in properties_of(tool) or any(key in schema for key in _OPEN_SCHEMAS):
        return True
    return schema.get("additionalProperties", False) is not False


def _result_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


_KNOWN = frozenset(CASE_KEYS)
_KNOWN_OF_CALL = frozenset(CALL_KEYS)
_TOOL_ALONE = frozenset({"tool"})
_MATCHINGS = tuple(matching.value for matching in Matching)
