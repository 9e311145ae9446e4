"""Sessions of Claude Code, `~/.claude/projects/PROJECT/SESSION.jsonl`, as versions 1.0 to 2.1 write them.

A line is an event with a message of Anthropic's API. An answer is written in several lines with one `message.id`.
Left aside: what a subagent did (`isSidechain`), what the program itself wrote in the user's name (`isMeta`, slash
commands and their output, summaries, reminders), and the branches that the user left by going back (`parentUuid`).
The tools of the program (`Bash`, `Read`, …) are its own; those of servers are named `mcp__SERVER__TOOL`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from toolbelt.evals.cases.case import content_text
from toolbelt.evals.cases.imports.messages import Message, check_messages
from toolbelt.evals.cases.imports.openai_log_records import LoggedExchange

_KINDS = ("user", "assistant")
_REFUSED = "The user doesn't want to"
_RAN = "Exit code "
"""How the answer of a command begins that ran and ended with another code than 0: its call did not fail."""
_OF_PROGRAM = re.compile(
    r"<(system-reminder|local-command-\w+|command-(?:name|message|args|contents)|ide_\w+|task-notification)>.*?</\1>"
    r"|\[Request interrupted by user[^\]]*\]|<(?:bash-input|bash-stdout|bash-stderr)>.*\Z",
    re.DOTALL,
)
"""What the program writes into a user's message."""
_PARTS = ("text", "tool_use", "tool_result", "image")


def recognises(data: Any) -> bool:
    """Whether a value looks like an event of a session."""
    return isinstance(data, Mapping) and data.get("type") in _KINDS and "sessionId" in data and "message" in data


def read(values: Sequence[Any]) -> Iterator[LoggedExchange]:
    """The conversation of each session in a file."""
    events = [value for value in values if recognises(value)]
    events = [each for each in events if not each.get("isSidechain") or all(e.get("isSidechain") for e in events)]
    for session, found in groupby(_on_branch(events), key=lambda event: str(event["sessionId"])):
        messages = list(_messages(list(found)))
        if messages:
            messages = check_messages(messages)
            names = {call["function"]["name"] for message in messages for call in message.get("tool_calls") or ()}
            own = frozenset(name for name in names if not name.startswith("mcp__"))
            yield LoggedExchange(messages, None, None, id=session, own_tools=own)


def _on_branch(events: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The events without those that the user went back from: of several user's words after one event, the last."""
    last: dict[Any, int] = {}
    dropped: set[Any] = set()
    for index, event in enumerate(events):
        if event["type"] == "user" and not _has_results(event) and event.get("parentUuid") is not None:
            earlier = last.get(event["parentUuid"])
            if earlier is not None:
                dropped.add(events[earlier].get("uuid"))
            last[event["parentUuid"]] = index
    kept = []
    for event in events:
        if event.get("parentUuid") in dropped:
            dropped.add(event.get("uuid"))
        if event.get("uuid") not in dropped:
            kept.append(event)
    return kept


def _has_results(event: Mapping[str, Any]) -> bool:
    content = event["message"].get("content") if isinstance(event["message"], Mapping) else None
    return isinstance(content, list) and any(_kind(part) == "tool_result" for part in content)


def _kind(part: Any) -> Any:
    return part.get("type") if isinstance(part, Mapping) else None


def _messages(events: Sequence[Mapping[str, Any]]) -> Iterator[Message]:
    seen: set[Any] = set()
    answer: Any = None
    pending: list[Any] = []
    for event in events:
        message = event["message"]
        if not isinstance(message, Mapping) or event.get("isMeta") or event.get("isCompactSummary"):
            continue
        if event.get("uuid") in seen or event.get("isApiErrorMessage"):
            continue
        seen.add(event.get("uuid", object()))
        content = message.get("content")
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else list(content or ())
        parts = [part for part in parts if _kind(part) in _PARTS]
        if event["type"] == "assistant" and pending and message.get("id") == answer:
            pending += parts
            continue
        if event["type"] == "assistant" and not parts:
            continue
        if pending:
            yield {"role": "assistant", "content": pending}
        answer, pending = (message.get("id"), parts) if event["type"] == "assistant" else (None, [])
        if event["type"] == "user":
            yield from _of_user(parts)
    if pending:
        yield {"role": "assistant", "content": pending}


def _of_user(parts: Sequence[Any]) -> Iterator[Message]:
    results = [part for part in parts if _kind(part) == "tool_result"]
    for part in results:
        text = content_text([one for one in _listed(part.get("content")) if _kind(one) == "text"])
        answer: Message = {"role": "tool", "tool_call_id": part.get("tool_use_id"), "content": text}
        if part.get("is_error") is True and not text.startswith(_RAN):
            answer["is_error"] = True
        yield answer | ({"refused": True} if text.startswith(_REFUSED) else {})
    pictures = [part for part in parts if _kind(part) == "image"]
    words = [_OF_PROGRAM.sub("", part["text"]).strip() for part in parts if _kind(part) == "text"]
    if text := "\n".join(filter(None, words)):
        yield {"role": "user", "content": [{"type": "text", "text": text}, *pictures] if pictures else text}


def _listed(content: Any) -> list[Any]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return content if isinstance(content, list) else []
