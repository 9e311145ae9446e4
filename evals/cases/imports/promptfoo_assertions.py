"""Turn promptfoo's assertions into the label of a case: which tools are right."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolbelt.evals.cases.imports.context import CaseRow, Context
from toolbelt.evals.cases.imports.import_report import BrokenError, UnmappedError

CONTRADICTING = "an assertion about tools that does not go with another one of the same test"
BY_PATTERN = "an assertion about tools whose names fit a pattern"
_ANY_CALL = ("is-valid-openai-tools-call", "is-valid-openai-function-call", "is-valid-function-call")


class Assertions:
    """Combines the assertions of one test into one label.

    Args:
        context: Of the import.
        offered: Ids of the tools that the test offers; `None` if they are not known.
    """

    def __init__(self, context: Context, offered: tuple[str, ...] | None) -> None:
        self._context = context
        self._offered = offered
        self._expected: list[CaseRow] | None = None
        self._match = ""
        self._any_call = False
        self._forbidden: list[str] = []

    def add(self, assertion: Any) -> None:
        """Add an assertion.

        Raises:
            UnmappedError: a case cannot express it.
            BrokenError: it does not have the form of its type.
        """
        if not isinstance(assertion, Mapping) or not isinstance(assertion.get("type"), str):
            raise BrokenError("wrong-type", "An assertion is an object with a `type`.")
        kind, value = assertion["type"], assertion.get("value")
        match kind:
            case "assert-set":
                raise UnmappedError("an assertion of the type 'assert-set', of which any part may do")
            case "tool-call-f1":
                self._expect([{"tool": self._tool(name)} for name in _names(value, kind)], "")
                if assertion.get("threshold", 1) not in (1, 1.0):
                    self._context.report.note("a threshold of `tool-call-f1` below 1 is read as 1: the tools, exactly")
            case "trajectory:tool-used":
                self._tool_used(value)
            case "not-trajectory:tool-used":
                self._forbidden += [self._single_tool(name) for name in _names(_used_name(value)[0], kind)]
            case "trajectory:tool-sequence":
                mode = value.get("mode") if isinstance(value, Mapping) else None
                steps = value.get("steps") if isinstance(value, Mapping) else value
                calls = [{"tool": self._tool(name)} for name in _names(steps, kind)]
                self._expect(calls, "superset" if mode == "in_order" else "ordered")
            case "trajectory:tool-args-match":
                self._args_match(value)
            case _ if kind in _ANY_CALL:
                self._any_call = True
            case _:
                raise UnmappedError(f"an assertion of the type {kind!r}")

    def label(self) -> CaseRow:
        """The label of the test; it has no `expected` if no assertion names the right tools."""
        row: CaseRow = {}
        if self._expected is not None:
            row["expected"] = self._expected
            if self._match:
                row["match"] = self._match
        elif self._any_call:
            row["expected"] = None
        if self._forbidden and row:
            row["forbidden"] = list(dict.fromkeys(self._forbidden))
        return row

    def _tool_used(self, value: Any) -> None:
        names, least, most = _used_name(value)
        if most is not None and most == 0:
            self._forbidden += [self._single_tool(name) for name in _names(names, "trajectory:tool-used")]
            return
        calls = [{"tool": self._tool(name)} for name in _names(names, "trajectory:tool-used")] * max(1, least)
        self._expect(calls, "superset")
        if most is not None:
            self._context.report.note("`max` of `trajectory:tool-used` is not kept")

    def _args_match(self, value: Any) -> None:
        if not isinstance(value, Mapping):
            raise BrokenError("wrong-type", "`trajectory:tool-args-match` needs an object with a `name` and `args`.")
        call: CaseRow = {"tool": self._tool(_names(value.get("name"), "trajectory:tool-args-match")[0])}
        arguments = value.get("args", value.get("arguments"))
        if isinstance(arguments, Mapping) and self._context.settings.keeps(recorded=False):
            call["args"] = dict(arguments)
            if value.get("mode") == "exact":
                call["args_exact"] = True
        for known in self._expected or ():
            if known["tool"] == call["tool"] and known.keys() == {"tool"}:
                known.update(call)  # the same call, which another assertion named
                return
        if self._expected is not None and self._match != "superset":
            raise UnmappedError("an assertion about arguments of a call that another assertion rules out")
        self._expect([call], "superset")

    def _expect(self, calls: list[CaseRow], match: str) -> None:
        if self._expected is None:
            self._expected, self._match = [dict(call) for call in calls], match
            return
        if match == self._match == "superset":
            self._expected += [dict(call) for call in calls if call not in self._expected]
        elif match == "superset" and _contains(self._expected, calls):
            return
        elif self._match == "superset" and _contains(calls, self._expected):
            previous = {str(call["tool"]): call for call in self._expected}
            self._expected, self._match = [previous.pop(str(call["tool"]), dict(call)) for call in calls], match
        elif [call["tool"] for call in self._expected] != [call["tool"] for call in calls]:
            raise UnmappedError(CONTRADICTING)
        else:
            self._match = match or self._match

    def _tool(self, name: str) -> str | list[str]:
        return self._context.reference(name, self._offered)

    def _single_tool(self, name: str) -> str:
        tool_id = self._tool(name)
        if isinstance(tool_id, str):
            return tool_id
        raise UnmappedError("a forbidden tool may be any of several", name)


def _contains(calls: list[CaseRow], part: list[CaseRow]) -> bool:
    left = [call["tool"] for call in calls]
    for call in part:
        if call["tool"] not in left:
            return False
        left.remove(call["tool"])
    return True


def _used_name(value: Any) -> tuple[Any, int, int | None]:
    """The names, and the least and greatest number of calls; `None` for no upper limit."""
    if not isinstance(value, Mapping):
        return value, 1, None
    if "pattern" in value and "name" not in value:
        raise UnmappedError(BY_PATTERN)
    least, most = value.get("min", 1), value.get("max")
    return value.get("name"), least if type(least) is int else 1, most if type(most) is int else None


def _names(value: Any, kind: str) -> list[str]:
    if isinstance(value, str):
        value = [part.strip() for part in value.split(",")] if kind == "tool-call-f1" else [value]
    if isinstance(value, list):
        names = [entry.get("name") if isinstance(entry, Mapping) else entry for entry in value]
        texts = [name for name in names if isinstance(name, str) and name.strip()]
        if len(texts) == len(names):
            if any("{{" in entry for entry in texts):
                raise UnmappedError("an assertion with variables in its value")
            return texts
    raise BrokenError("wrong-type", f"The value of `{kind}` must name tools.")
