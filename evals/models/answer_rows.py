"""Reads answers that a model gave elsewhere, from the rows of files.

A row has the id of its case (`case_id`, `custom_id`, `id`), perhaps an `epoch`, and one of these:

- a line of a batch's output, of OpenAI (chat completions, Responses) and those who have its form, or of Anthropic;
- the `result` of the Berkeley leaderboard's files: calls, or a text with calls as Python has them, or words;
- `messages` that end with the model's, or any other record of a log (`openai_log_records`);
- an `answer`, also under the names in `_ANSWERS`: calls in any form, names of tools, a reply of an API, or words.

An empty answer, or `none`, calls nothing; `null` is no answer. What a row says of tokens is kept, and nothing is made
up where it says nothing.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, BinaryIO

from toolbelt.catalog.tool_names import split_words
from toolbelt.evals.cases.case import content_text
from toolbelt.evals.cases.imports.import_report import BrokenError, ImportReport, UnmappedError
from toolbelt.evals.cases.imports.inspect_samples import python_calls
from toolbelt.evals.cases.imports.messages import check_messages, openai_call
from toolbelt.evals.cases.imports.openai_log_records import unpacked
from toolbelt.evals.cases.imports.sources import Record, open_source, source_names
from toolbelt.evals.conversation import Reply
from toolbelt.evals.models.hosted import to_reply
from toolbelt.evals.models.imported import Answer
from toolbelt.findings import Finding, Severity
from toolbelt.providers.chat import Failure, ModelError
from toolbelt.providers.chat_reply import make_reply
from toolbelt.providers.direct_answers import NotAnAnswer, normalise
from toolbelt.providers.messages_api import read_message
from toolbelt.providers.provider_errors import make_answer_error
from toolbelt.providers.responses_api import read_response

_IDS = ("case id", "custom id", "case", "test id", "task id", "id")
_ANSWERS = (
    *("answer", "answers", "model answer", "prediction", "predictions", "called", "called tool", "called tools"),
    *("tool calls", "calls", "tool", "tools", "output", "response", "result", "completion"),
)
_NAMES = ("name", "tool", "tool name", "function", "function name")
_ARGUMENTS = ("arguments", "args", "input", "parameters", "params", "kwargs")
_TOKENS = {
    "prompt_tokens": ("prompt tokens", "input tokens", "input token count"),
    "completion_tokens": ("completion tokens", "output tokens", "output token count"),
}
_NOTHING = re.compile(r"[-–—]*|none|no (tool|call)s?|\[\]", re.IGNORECASE)
_BETWEEN = re.compile(r"[,;\n]|->|→")
_OFFERS = ("tool", "tools")
"""Of a record with messages, what was offered."""
_SAID = ("output", "response", "completion", "result")
"""Where a single word may be one that the model said."""
_BODIES = frozenset({"choices", "output", "content", "tool_calls"})
_FENCE = re.compile(r"^```[\w-]*\n|```$")
_NOT_GIVEN = " "
"""Arguments of a call of which only the name is known; they read as none."""
_FAILED = "Error during inference"
"""How the leaderboard's own runner begins the result of a request that failed."""
NO_ANSWER = "its answer is null"
WORDS = "an answer in words, which calls nothing"
NO_ARGUMENTS = "an answer names tools without arguments: where a case checks these, it is not solved"


@dataclass
class AnswerFiles:
    """What files hold.

    Attributes:
        answers: By the id of the case and the epoch.
        epochs: How many there are.
        report: Rows that are broken or no answer, and notes on others.
        repeated: A finding for each row of a case and epoch that another row has, too.
    """

    answers: dict[tuple[str, int], Answer] = field(default_factory=dict)
    epochs: int = 1
    report: ImportReport = field(default_factory=ImportReport)
    repeated: list[Finding] = field(default_factory=list)


IsTool = Callable[[str], bool]
"""Whether a text is the name of a tool, or of several."""


def read_answers(references: Sequence[str], is_tool: IsTool, standard_input: BinaryIO) -> AnswerFiles:
    """Read files of answers. A row that cannot be read does not refuse the others (rule V6).

    Args:
        references: JSON, JSON Lines, CSV, Parquet, or tables in Markdown; `-` for the standard input.
        is_tool: Whether a text is the name of a tool, not words.
        standard_input: Read for `-`.

    Raises:
        NotFoundError: there is no such file.
        StorageError: it cannot be read.
    """
    files = AnswerFiles()
    rows: list[tuple[str, int, Answer]] = []
    with ExitStack() as stack:
        for name in source_names(references)[0]:
            records = list(open_source(name, stack, standard_input).records(lambda f: files.report.add_broken(*f)))
            # Where the leaderboard's file has calls, the model called functions, and what it said is only said.
            is_prompted = not any(isinstance(_fields(record.data).get("result"), list) for record in records)
            rows += _read_rows(records, _RowReader(is_tool, files.report, is_prompted=is_prompted))
    places = {epoch: place for place, epoch in enumerate(sorted({epoch for _, epoch, _ in rows}))}
    files.epochs = max(1, len(places))
    for case, epoch, answer in rows:
        first = files.answers.setdefault((case, places[epoch]), answer)
        if first is not answer:
            message = f"Case {case!r} has an answer already, in {first.source}:{first.line}."
            files.repeated.append(Finding("repeated-answer", Severity.ERROR, message, answer.source, answer.line))
    return files


def _read_rows(records: Iterable[Record], reader: _RowReader) -> Iterator[tuple[str, int, Answer]]:
    for record in records:
        try:
            yield reader.read(record)
        except BrokenError as error:
            reader.report.add_broken(*error.all_findings(record.source, record.line))
        except UnmappedError as reason:
            reader.report.leave_out(record.source, record.line, reason.reason, reason.detail)


@dataclass(frozen=True)
class _RowReader:
    """Reads the rows of one file.

    Attributes:
        is_tool: Whether a text is the name of a tool, not words.
        report: Gets notes.
        is_prompted: Whether a text under `result` may hold calls.
    """

    is_tool: IsTool
    report: ImportReport
    is_prompted: bool

    def read(self, record: Record) -> tuple[str, int, Answer]:
        """The case, the epoch as it is written, and the answer; raises `BrokenError` or `UnmappedError`."""
        row = _fields(record.data)
        case = next((row[name] for name in _IDS if row.get(name) not in (None, "")), None)
        if not isinstance(case, str | int):
            raise BrokenError("no-id", "This row has no id of a case: name it `case_id`, `custom_id` or `id`.")
        epoch = str(row.get("epoch", 0))
        if not epoch.isdecimal():
            raise BrokenError("wrong-type", "`epoch` must be a whole number.")
        answer = self._read_answer(row, record.data)
        return str(case).strip(), int(epoch), replace(answer, source=record.source, line=record.line)

    def _read_answer(self, row: Mapping[str, Any], data: Any) -> Answer:
        if (failed := _find_failure(row)) is not None:
            return Answer((failed,))
        name = next((each for each in _ANSWERS if each in row and not (each in _OFFERS and "messages" in row)), None)
        if name is None and "choices" in row:
            return Answer((_read_body(data),), is_reply=True)
        if name is None and isinstance(row.get("messages"), list):
            return _read_messages(row["messages"])
        if name is None:
            raise BrokenError("no-answer", "This row has no answer: name it `answer`; `none` calls nothing.")
        value = unpacked(row[name])
        if isinstance(value, Mapping) and name == "result" and value.get("type") == "succeeded":
            value = value.get("message")
        if isinstance(value, Mapping) and "body" in value:
            value = unpacked(value["body"])
        if value is None:
            raise UnmappedError(NO_ANSWER)
        if isinstance(value, str):
            return self._read_text(value, name, row)
        if isinstance(value, Mapping) and isinstance(calls := value.get("tool_calls"), list) and "choices" not in value:
            return replace(self._read_calls(calls, row, content_text(value.get("content"))), is_reply="role" in value)
        if isinstance(value, list) and value and all(map(self._is_said, value)):
            return self._read_calls([], row, "\n".join(value))
        return _read_replies(value) or self._read_calls(value if isinstance(value, list) else [value], row)

    def _is_said(self, part: Any) -> bool:
        """Whether it is words, not the name of a tool."""
        return isinstance(part, str) and len(part.split()) > 1 and not self.is_tool(part)

    def _read_calls(self, steps: Sequence[Any], row: Mapping[str, Any], text: str = "") -> Answer:
        """Calls of one reply, or a list of those of each."""
        replies = steps if steps and all(isinstance(step, list) for step in steps) else [steps]
        bodies = []
        for calls in replies:
            written = [_read_call(call, f"call_{number}") for number, call in enumerate(calls)]
            if any(call["function"]["arguments"] == _NOT_GIVEN for call in written):
                self.report.note(NO_ARGUMENTS)
            bodies.append(_make_body({"content": text, "tool_calls": written}, row if len(replies) == 1 else {}))
        return Answer(tuple(map(_read_body, bodies)))

    def _read_text(self, text: str, name: str, row: Mapping[str, Any]) -> Answer:
        bare = _FENCE.sub("", text.strip()).strip("` \n")
        if _NOTHING.fullmatch(bare):
            return self._read_calls([], row)
        if name == "result" and not self.is_tool(bare):
            return self._read_result(bare, text, row)
        parts = [part for part in map(str.strip, _BETWEEN.split(bare)) if part]
        if self.is_tool(bare) or (name not in _SAID and len(bare.split()) == 1 and "(" not in bare):
            arguments = next((row[each] for each in _ARGUMENTS if row.get(each) not in (None, "")), None)
            return self._read_calls([bare if arguments is None else {"name": bare, "arguments": arguments}], row)
        if (calls := python_calls(bare, _read_value)) is not None or all(map(self.is_tool, parts)):
            return self._read_calls(parts if calls is None else calls, row)
        self.report.note(WORDS)
        return self._read_calls([], row, text)

    def _read_result(self, bare: str, text: str, row: Mapping[str, Any]) -> Answer:
        """A text of the leaderboard's files."""
        calls: Any = None
        if self.is_prompted:
            calls = python_calls(bare, _read_value) or python_calls(f"[{bare}]", _read_value)
            if calls is None and isinstance(written := unpacked(bare), list | dict):
                calls = written.get("tool_calls", [written]) if isinstance(written, dict) else written
        if calls and all(isinstance(call, Mapping) for call in calls):
            with suppress(BrokenError):
                return self._read_calls(calls, row)
        return replace(self._read_calls([], row, text), is_prompted=self.is_prompted)


def _read_replies(value: Mapping[str, Any] | list[Any]) -> Answer | None:
    """Replies of an API, messages, or the items of one; `None` for a call, or a list of calls."""
    if isinstance(value, Mapping) and not _BODIES.isdisjoint(value):
        return (
            _read_messages([value])
            if "role" in value and "type" not in value
            else Answer((_read_body(value),), is_reply=True)
        )
    parts = [part for part in value if isinstance(part, Mapping)] if isinstance(value, list) else []
    kinds = {part.get("type") for part in parts}
    if "message" not in kinds and any("role" in part for part in parts):
        return _read_messages(list(value))
    if kinds & {"function_call", "message", "reasoning"}:
        return Answer((_read_body({"output": value}),), is_reply=True)
    if kinds & {"tool_use", "text", "thinking"}:
        return Answer((_read_body({"content": value}),), is_reply=True)
    return None


def _read_value(node: ast.expr) -> Any:
    """A value of an argument; what JSON has no literal for is its own text, as the leaderboard has it."""
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        return [_read_value(each) for each in node.elts]
    if isinstance(node, ast.Dict):
        pairs = zip(node.keys, node.values, strict=True)
        return {"" if key is None else str(_read_value(key)): _read_value(value) for key, value in pairs}
    with suppress(ValueError):
        value = ast.literal_eval(node)
        if value is None or isinstance(value, str | int | float):
            return value
    return ast.unparse(node)


def _fields(data: Any) -> dict[str, Any]:
    """A row by the words of its keys: `customId` and `custom_id` are alike."""
    if not isinstance(data, Mapping):
        raise BrokenError("wrong-type", "A row is an object, with the id of a case and an answer.")
    return {_words(key): value for key, value in data.items()}


@lru_cache(maxsize=4096)
def _words(key: str) -> str:
    return " ".join(split_words(key))


def _find_failure(row: Mapping[str, Any]) -> ModelError | None:
    """What a row says of a request that failed."""
    result, response = row.get("result"), row.get("response")
    if isinstance(result, Mapping) and "type" in result and "message" not in result:
        return _make_failure(200, result.get("error") or f"The request of the batch is {result['type']}.")
    if isinstance(response, Mapping) and (status := response.get("status_code")) not in (None, 200):
        return _make_failure(status if isinstance(status, int) else 500, response.get("body"))
    if isinstance(result, str) and result.startswith(_FAILED):
        return _make_failure(200, result)
    return _make_failure(200, row["error"]) if row.get("error") else None


def _make_failure(status: int, error: Any) -> ModelError:
    body = error if isinstance(error, Mapping) and "error" in error else {"error": error}
    if isinstance(error, str):
        body = {"error": {"message": error}}
    failed = make_answer_error(status, {}, json.dumps(body).encode(), (), 0.0)
    return _as_stored(failed)


def _as_stored(failed: ModelError) -> ModelError:
    """Of one that no other request would be spared, only this one failed here."""
    failure = Failure.BAD_REQUEST if failed.failure.is_for_good else failed.failure
    return ModelError(failure, failed.message, usage=failed.usage)


def _read_messages(messages: list[Any]) -> Answer:
    """The replies since the last message of the user."""
    read = check_messages(messages)
    start = max((place for place, each in enumerate(read) if each["role"] == "user"), default=-1)
    said = [each for each in read[start + 1 :] if each["role"] == "assistant"]
    if not said:
        raise UnmappedError("its conversation ends before the model's answer")
    replies = tuple(_read_body(_make_body(each, {})) for each in said)
    return Answer(replies, is_reply=True)


def _make_body(message: Mapping[str, Any], row: Mapping[str, Any]) -> dict[str, Any]:
    """An answer in the form of chat completions, with what a row says beside the calls."""
    given = {**row, **_fields(row["usage"])} if isinstance(row.get("usage"), Mapping) else row
    counts = {name: _find_count(given, words) for name, words in _TOKENS.items()}
    usage = {name: count for name, count in counts.items() if count is not None}
    choice = {"message": dict(message), "finish_reason": row.get("finish reason") or ""}
    return {"choices": [choice], "usage": usage, "model": row.get("model")}


def _find_count(given: Mapping[str, Any], names: Sequence[str]) -> int | None:
    """Tokens, where a row has a number of them; 0 is what is written where nobody counted."""
    texts = (str(given[name]) for name in names if given.get(name) is not None)
    return next((int(text) for text in texts if text.isdecimal() and int(text)), None)


def _read_body(body: Any) -> Reply | ModelError:
    """A reply of one of the three APIs; the error that it comes to by its form.

    Raises:
        BrokenError: it is of none of them.
    """
    if not isinstance(body, Mapping):
        raise BrokenError("wrong-type", "The reply is no object.")
    try:
        turn, reported = None, body["usage"] if isinstance(body.get("usage"), Mapping) else {}
        if isinstance(body.get("choices"), list):
            data = normalise({**body, "usage": dict(reported)})
            data["usage"] = {name: count for name, count in data["usage"].items() if count or name in reported}
        elif isinstance(body.get("output"), list):
            data, turn = read_response(body)
        elif isinstance(body.get("content"), list):
            data, turn = read_message(body)
        else:
            raise BrokenError("wrong-type", "The reply is none of chat completions, Responses or Messages.")
        return to_reply(make_reply(data, 0.0, (), 0.0, turn))
    except NotAnAnswer as error:
        raise BrokenError("wrong-type", str(error)) from None
    except ModelError as error:
        return _as_stored(error)


def _read_call(entry: Any, call_id: str) -> dict[str, Any]:
    if isinstance(entry, str):
        return openai_call(call_id, entry.strip(), _NOT_GIVEN)
    if not isinstance(entry, Mapping):
        raise BrokenError("wrong-type", "A call is the name of a tool, or an object.")
    inner = entry["function"] if isinstance(entry.get("function"), Mapping) else entry
    fields = _fields(inner)
    name = next((fields[each] for each in _NAMES if isinstance(fields.get(each), str)), None)
    arguments = next((fields[each] for each in _ARGUMENTS if fields.get(each) is not None), None)
    if name is None and len(inner) == 1:
        ((name, arguments),) = inner.items()
    return openai_call(call_id, name, arguments)
