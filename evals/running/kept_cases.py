"""Cases as they are kept beside their trials, so that a run can be read without its dataset."""

from __future__ import annotations

import json
from typing import Any

from toolbelt.evals.cases.case import Answer, Case, ExpectedCall, Matching


def format_case(case: Case) -> str:
    """What was asked and what was right, as JSON."""
    data: dict[str, Any] = {"messages": case.messages}
    data["answers"] = None if case.expected is None else [_answer(answer) for answer in case.answers]
    if case.match is not Matching.EXACT:
        data["match"] = case.match.value
    for key in ("forbidden", "allowed_extra"):
        if tools := getattr(case, key):
            data[key] = sorted(tools)
    if case.role is not None:
        data["role"] = case.role
    return json.dumps(data)  # ASCII, so that half a surrogate pair can be kept


def parse_case(text: str) -> dict[str, Any]:
    """As `format_case` wrote it, plain values."""
    data: dict[str, Any] = json.loads(text)
    return data


def _answer(answer: Answer) -> list[dict[str, Any]]:
    return [_call(call) for call in answer]


def _call(call: ExpectedCall) -> dict[str, Any]:
    made: dict[str, Any] = {"tools": call.tools}
    if call.arguments is not None:
        made["args"] = call.arguments.accepted
        if call.arguments.optional:
            made["optional"] = sorted(call.arguments.optional)
    return made
