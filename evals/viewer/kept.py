"""What is kept of a case and of its requests, as texts that a page shows."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from toolbelt.evals.running.records import parse_case
from toolbelt.evals.toolsets.toolset import GO_AHEAD
from toolbelt.evals.viewer.packing import cut, number

LONGEST_SNIPPET = 400
"""Characters of what was asked that a list shows of a case, and that searching looks at."""

Row = Mapping[str, Any]


def case_texts(content: str) -> dict[str, Any]:
    """A kept case; every leaf is a text, so that no number is changed by a browser.

    Returns:
        `messages` (`role`, `text`, `calls` as pairs of name and arguments), `answers` (`None` where any call will do;
        else lists of calls: `tools`, `args` as pairs of name and accepted values, `optional`), `match`, `forbidden`,
        `allowed_extra`, `role`.
    """
    case = parse_case(content)
    answers = case.get("answers")
    return {
        "messages": [_message(message) for message in case.get("messages", ())],
        "answers": None if answers is None else [[_expected(call) for call in answer] for answer in answers],
        "match": case.get("match", "exact"),
        "forbidden": case.get("forbidden", []),
        "allowed_extra": case.get("allowed_extra", []),
        "role": case.get("role") or "",
    }


def snippet(case: Row) -> str:
    """The beginning of what was asked last, on one line."""
    asked = [message["text"] for message in case["messages"] if message["role"] == "user"]
    said = asked or [message["text"] for message in case["messages"]]
    return " ".join(said[-1].split())[:LONGEST_SNIPPET] if said else ""


def wanted_tools(case: Row) -> list[str]:
    """Ids of the tools in any accepted answer, each once."""
    found = [tool for answer in case["answers"] or () for call in answer for tool in call["tools"]]
    return list(dict.fromkeys(found))


def request_texts(rows: Iterable[Row], offers: Mapping[str, int]) -> list[dict[str, Any]]:
    """The requests of a trial, retries among them.

    Args:
        rows: In order; `request`, `attempt` and the other columns of the table.
        offers: Number of each list of names that is kept.

    Returns:
        Of each: `request`, `attempt`, `turn` (1-based), `offer` (`None` where it is not kept), `tools`,
        `definition_tokens`, `failure`, `message`, `text`, `calls` (pairs of name and arguments, as written),
        `finish_reason`, `served_by`, `follow_up`, tokens, `latency_seconds`, `cost_usd`.
    """
    made = []
    for row in rows:
        reply = json.loads(row["reply"]) if row["reply"] else {}
        made.append(
            {
                "request": row["request"],
                "attempt": row["attempt"],
                "offer": offers.get(row["offer"]),
                "tools": row["tools"],
                "failure": row["failure"],
                "message": cut(row["message"]),
                "text": cut(reply.get("text", "")),
                "calls": [[cut(name), cut(text)] for _, name, text in reply.get("calls", ())],
                "finish_reason": reply.get("finish_reason", ""),
                "served_by": reply.get("served_by", ""),
                **{name: number(row[name]) for name in REQUEST_FIGURES},
            }
        )
    _part_turns(made)
    return made


REQUEST_FIGURES = (
    "definition_tokens",
    "prompt_tokens",
    "completion_tokens",
    "cached_read_tokens",
    "cached_write_tokens",
    "latency_seconds",
    "cost_usd",
)


def _part_turns(requests: Sequence[dict[str, Any]]) -> None:
    """What the user said after a reply is not kept; a trial goes on after one without calls only where it was that."""
    turn, last = 1, max((one["request"] for one in requests), default=0)
    for one in requests:
        ends = one["failure"] is None and not one["calls"] and one["request"] < last
        one["turn"], one["follow_up"] = turn, GO_AHEAD if ends else ""
        turn += ends


def _message(message: Row) -> dict[str, Any]:
    content = message.get("content")
    text = content if isinstance(content, str) else "" if content is None else _json(content)
    calls = [_call(call) for call in message.get("tool_calls") or ()]
    return {"role": str(message.get("role", "")), "text": cut(text), "calls": calls}


def _call(call: Any) -> list[str]:
    function = call.get("function") if isinstance(call, Mapping) else None
    if not isinstance(function, Mapping):
        return [_json(call), ""]
    arguments = function.get("arguments", "")
    return [str(function.get("name", "")), cut(arguments if isinstance(arguments, str) else _json(arguments))]


def _expected(call: Row) -> dict[str, Any]:
    arguments = call.get("args")
    return {
        "tools": list(call["tools"]),
        "args": None
        if arguments is None
        else [[name, [cut(_json(value)) for value in values]] for name, values in arguments.items()],
        "optional": call.get("optional", []),
    }


def _json(value: Any) -> str:
    return cut(json.dumps(value, ensure_ascii=False))
