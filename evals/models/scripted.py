"""A model whose replies are written down beforehand, for tests and demonstrations.

`scripted/PATH` reads them from a file: a list in YAML (or JSON, if it ends in `.json`), or one entry a line in
`.jsonl`. The first entry whose `when` stands in the last user message, whatever its case, is taken; `*` stands for
any message. Its replies are given in order, one for each request since that message:

    - when: commit
      replies:
        - calls: [{tool: git_status}]
        - calls: [{tool: git_commit, args: {message: "fix: typo"}}]
        - text: Committed.
    - when: "*"
      replies:
        - error: rate_limit
          retry_after_seconds: 2

A reply is `text` and `calls`, either or both, and optionally `usage` (fields of `Usage`); or an `error` (a value of
`Failure`) with an optional `retry_after_seconds`. `args` that are text go out as they are, be they JSON or not. Past
its last reply, and where no entry fits, the model says a few words and calls nothing.

Which reply comes next follows from the conversation alone: trials at the same time cannot mix their scripts, and a
request that is asked again gets the same reply again.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from toolbelt.errors import InvalidFileError, suggestion
from toolbelt.evals.conversation import Reply, ToolUse
from toolbelt.evals.models.model import Model, Request
from toolbelt.findings import Finding, Severity, sorted_findings
from toolbelt.providers.chat import Failure, ModelError, Usage
from toolbelt.sources import Document, Key, parse_json_lines, read_document, read_text

Scripted = Reply | ModelError
Script = Sequence[Scripted] | Callable[[Request], Scripted | Awaitable[Scripted]]
ANY = "*"
PREFIX = "scripted/"
"""What names of scripted models on the command line begin with."""


class ScriptedModel:
    """Replies as its script says.

    Args:
        replies: In order, one for each request since the last user message; or a function of the request, which may be
            a coroutine. A `ModelError` among them is raised.
        name: What it calls itself.
        usd_per_token: Price of each token, prompt or completion; `None` for an unknown one.
    """

    def __init__(self, replies: Script, name: str = "scripted", usd_per_token: float | None = 0.0) -> None:
        self._replies = replies
        self._name = name
        self._usd_per_token = usd_per_token
        self.is_closed = False

    @property
    def name(self) -> str:
        """As given."""
        return self._name

    async def complete(self, request: Request) -> Reply:
        """The next reply of the script.

        Raises:
            ModelError: where the script has one.
        """
        if callable(self._replies):
            returned = self._replies(request)
            reply = await returned if inspect.isawaitable(returned) else returned
        else:
            number = count_replies(request)
            reply = self._replies[number] if number < len(self._replies) else _FINISHED
        if isinstance(reply, ModelError):
            # A fresh one each time, so that trials at the same time do not share a traceback.
            raise ModelError(reply.failure, reply.message, reply.retry_after_seconds, reply.latency_seconds)
        return reply

    def cost_usd(self, usage: Usage) -> float | None:
        """Tokens times the price; `None` where either is unknown."""
        if self._usd_per_token == 0:
            return 0.0
        if self._usd_per_token is None or usage.prompt_tokens is None or usage.completion_tokens is None:
            return None
        return self._usd_per_token * (usage.prompt_tokens + usage.completion_tokens)

    async def close(self) -> None:
        """Remember that it was closed, for a test to see."""
        self.is_closed = True


def count_replies(request: Request) -> int:
    """How many replies were given since the last user message."""
    count = 0
    for message in reversed(request.messages):
        if message.get("role") == "user":
            break
        count += message.get("role") == "assistant"
    return count


def make_scripted_model(path: str) -> Model:
    """The model whose script is in a file.

    Raises:
        NotFoundError: no such file.
        InvalidFileError: every mistake in it.
    """
    entries = _read_entries(path)

    def reply(request: Request) -> Scripted:
        user_text = _last_user_text(request).casefold()
        for entry in entries:
            if entry.when == ANY or entry.when.casefold() in user_text:
                number = count_replies(request)
                return entry.replies[number] if number < len(entry.replies) else _FINISHED
        return _UNSCRIPTED

    return ScriptedModel(reply, f"{PREFIX}{path}")


@dataclass(frozen=True, slots=True)
class _Entry:
    when: str
    replies: tuple[Scripted, ...]


_FINISHED = Reply(text="That is all.", finish_reason="stop", served_by="scripted")
_UNSCRIPTED = Reply(text="Nothing is scripted for this.", finish_reason="stop", served_by="scripted")


def _last_user_text(request: Request) -> str:
    for message in reversed(request.messages):
        if message.get("role") == "user":
            content = message.get("content")
            parts = content if isinstance(content, list | tuple) else ()
            texts = [str(part.get("text", "")) for part in parts if isinstance(part, Mapping)]
            return content if isinstance(content, str) else "\n".join(texts)
    return ""


def _read_entries(path: str) -> tuple[_Entry, ...]:
    findings: list[Finding] = []
    entries: list[_Entry] = []
    for document, place, data in _raw_entries(path, findings):
        entries.append(_EntryReader(document, findings).read(data, *place))
    if not entries and not findings:
        findings.append(Finding("empty", Severity.ERROR, "There is no reply in this file.", path))
    if findings:
        raise InvalidFileError(sorted_findings(findings))
    return tuple(entries)


def _raw_entries(path: str, findings: list[Finding]) -> Iterator[tuple[Document, tuple[Key, ...], Any]]:
    """Each entry with the document it is in and its place there."""
    if path.lower().endswith(".jsonl"):
        for number, data, finding in parse_json_lines(read_text(path), path):
            if finding is None:
                yield Document(data, path, "", {(): number}), (), data
            else:
                findings.append(finding)
        return
    document = read_document(path)
    if document.data is not None and not isinstance(document.data, list):
        findings.append(document.finding("wrong-type", "A script is a list of entries with `when` and `replies`."))
    for index, data in enumerate(document.data if isinstance(document.data, list) else ()):
        yield document, (index,), data


_REPLY_KEYS = ("text", "calls", "usage", "error", "retry_after_seconds")
_MOST_TOKENS = 10**12
_USAGE_KEYS = tuple(field.name for field in fields(Usage))


class _EntryReader:
    """Reads one entry, collecting all that is wrong with it; what it makes of a wrong one is never used."""

    def __init__(self, document: Document, findings: list[Finding]) -> None:
        self._document = document
        self._findings = findings

    def read(self, data: Any, *place: Key) -> _Entry:
        self._check_keys(data, ("when", "replies"), "an entry", *place)
        when = self._typed(data, "when", str, "text that is not blank", *place)
        if when is not None and not when.strip():
            self._add("wrong-type", "`when` must be text that is not blank; `*` matches any message.", *place)
        replies = self._typed(data, "replies", list, "a list", *place)
        for key, value in (("when", when), ("replies", replies)):
            if value is None and isinstance(data, dict) and key not in data:
                self._add("missing-key", f"An entry must have {key!r}.", *place)
        parsed = [self._reply(reply, *place, "replies", number) for number, reply in enumerate(replies or ())]
        return _Entry(when or "", tuple(parsed))

    def _reply(self, data: Any, *place: Key) -> Scripted:
        self._check_keys(data, _REPLY_KEYS, "a reply", *place)
        if isinstance(data, dict) and "error" in data:
            return self._error(data, *place)
        text = self._typed(data, "text", str, "text", *place) or ""
        raw = self._typed(data, "calls", list, "a list", *place)
        request = place[-1]
        calls = tuple(
            self._call(call, f"call_{request}_{number}", *place, "calls", number)
            for number, call in enumerate(raw or ())
        )
        if isinstance(data, dict) and not data.keys() & {"text", "calls"}:
            self._add("missing-key", "A reply must have `text`, `calls` or `error`.", *place)
        reason = "tool_calls" if calls else "stop"
        return Reply(text, calls, self._usage(data, *place), finish_reason=reason, served_by="scripted")

    def _error(self, data: dict[str, Any], *place: Key) -> Scripted:
        known = [failure.value for failure in Failure]
        name = data["error"]
        if beside := sorted(data.keys() & {"text", "calls", "usage"}):
            self._add("wrong-key", f"An error has no {' and no '.join(map(repr, beside))}.", *place)
        wait = self._typed(data, "retry_after_seconds", (int, float), "a number of seconds", *place)
        if name not in known:
            message = f"No such error: {name!r}.{suggestion(str(name), known)} One of: {', '.join(known)}."
            self._add("unknown-error", message, *place, "error")
            name = Failure.BAD_REQUEST
        return ModelError(Failure(name), "as scripted", None if wait is None else float(wait))

    def _call(self, data: Any, call_id: str, *place: Key) -> ToolUse:
        self._check_keys(data, ("tool", "args"), "a call", *place)
        tool = self._typed(data, "tool", str, "a tool's name", *place)
        args = self._typed(data, "args", (dict, str), "a mapping, or the text to send", *place)
        if tool is None and isinstance(data, dict) and "tool" not in data:
            self._add("missing-key", "A call must have 'tool'.", *place)
        text = args if isinstance(args, str) else json.dumps(args or {}, ensure_ascii=False)
        return ToolUse.from_text(call_id, tool or "", text)

    def _usage(self, data: Any, *place: Key) -> Usage:
        usage = self._typed(data, "usage", dict, "a mapping", *place)
        if usage is None:
            return Usage()
        self._check_keys(usage, _USAGE_KEYS, "usage", *place, "usage")
        counts = {key: self._typed(usage, key, int, "a number of tokens", *place, "usage") for key in _USAGE_KEYS}
        for key, count in counts.items():
            if count is not None and not 0 <= count <= _MOST_TOKENS:
                message = f"`{key}` must be a number of tokens from 0 to {_MOST_TOKENS:,}."
                self._add("wrong-value", message, *place, "usage", key)
        return Usage(**counts)

    def _check_keys(self, data: Any, known: Sequence[str], kind: str, *place: Key) -> None:
        if not isinstance(data, dict):
            self._add("wrong-type", f"Not {kind}: it must be a mapping with {', '.join(known)}.", *place)
            return
        for key in data:
            if key not in known:
                article = kind[:1].upper() + kind[1:]
                self._add("unknown-key", f"{article} has no key {key!r}.{suggestion(key, known)}", *place, key)

    def _typed(self, data: Any, key: str, kind: type | tuple[type, ...], expected: str, *place: Key) -> Any:
        value = data.get(key) if isinstance(data, dict) else None
        if value is None or (isinstance(value, kind) and not isinstance(value, bool)):
            return value
        self._add("wrong-type", f"`{key}` must be {expected}.", *place, key)
        return None

    def _add(self, rule: str, message: str, *place: Key) -> None:
        self._findings.append(self._document.finding(rule, message, *place))
