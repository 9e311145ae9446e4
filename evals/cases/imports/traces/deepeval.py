"""Test cases of DeepEval with what was called: `EvaluationDataset.save_as`, and the files of its test runs.

Cases with `expected_tools` are labels that people wrote: `toolbelt.evals.cases.imports.queries` reads those.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from toolbelt.evals.cases.imports.messages import Message, openai_call
from toolbelt.evals.cases.imports.openai_log_records import LoggedExchange
from toolbelt.evals.cases.imports.traces.conversations import Attempt, as_text, attempt


def recognises(data: Any) -> bool:
    """Whether a value is a test case with its calls and without expected ones, or a run with test cases."""
    return isinstance(data, Mapping) and any(map(_is_recorded, _cases(data)))


def read(values: Sequence[Any]) -> Iterator[Attempt]:
    """Each test case as a conversation of one turn."""
    for value in values:
        for case in filter(_is_recorded, _cases(value) if isinstance(value, Mapping) else ()):
            yield attempt(partial(_exchange, case))


def _exchange(case: Mapping[str, Any]) -> LoggedExchange:
    return LoggedExchange(list(_messages(case)), None, None, id=str(case.get("name") or ""))


def _cases(data: Mapping[str, Any]) -> Sequence[Any]:
    found = data.get("testCases", data.get("test_cases"))
    return found if isinstance(found, list) else [data]


def _is_recorded(case: Any) -> bool:
    is_case = isinstance(case, Mapping) and isinstance(case.get("input"), str)
    return is_case and isinstance(_field(case, "tools_called", "toolsCalled"), list) and not _expected(case)


def _expected(case: Mapping[str, Any]) -> Any:
    return _field(case, "expected_tools", "expectedTools")


def _field(case: Mapping[str, Any], *names: str) -> Any:
    return next((case[name] for name in names if case.get(name) is not None), None)


def _messages(case: Mapping[str, Any]) -> Iterator[Message]:
    yield {"role": "user", "content": case["input"]}
    for number, call in enumerate(_field(case, "tools_called", "toolsCalled")):
        arguments = _field(call, "input_parameters", "inputParameters")
        yield {"role": "assistant", "content": None, "tool_calls": [openai_call(f"c{number}", call["name"], arguments)]}
        yield {"role": "tool", "tool_call_id": f"c{number}", "content": as_text(call.get("output"))}
    if answer := _field(case, "actual_output", "actualOutput"):
        yield {"role": "assistant", "content": answer}
