"""Files of the Berkeley Function Calling Leaderboard as they are downloaded, single turns of them.

A question is `{"id", "question": [[messages]], "function": [definitions]}`, its answer, in a file of the same name in
`possible_answer/`, `{"id", "ground_truth": [{name: {argument: [accepted values]}}]}`. Cases are written in the
imported layout, whose arguments are compared by the leaderboard's rules; what was offered is each case's universe.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping
from typing import Any

from toolbelt.catalog.definitions import convert_types
from toolbelt.evals.cases.imports.context import CaseRow, Context
from toolbelt.evals.cases.imports.import_report import BrokenError, UnmappedError
from toolbelt.evals.cases.imports.messages import check_messages, opening
from toolbelt.evals.cases.imports.sources import Record, RecordsById
from toolbelt.evals.cases.imports.tool_pool import ToolPool

_TYPES = {"any": "string", "Any": "string"}
"""Type words that the leaderboard's own table translates otherwise than they mean."""
_CATEGORY = re.compile(r"(.+?)_\d")
_OTHER_LANGUAGES = ("java", "javascript")
_SEVERAL_TURNS = ("involved_classes", "initial_config", "path")
NO_GROUND_TRUTH = "there is no ground truth for it in any source"
SEVERAL_TURNS = "several turns, graded by the state they leave"
OTHER_LANGUAGE = "its values are written in Java or JavaScript"
NO_QUESTION = "ground truth of a question that is in no source"


class Bfcl:
    """Reads questions and answers of the leaderboard."""

    label = "Berkeley Function Calling Leaderboard"

    def __init__(self) -> None:
        self._answers = RecordsById()

    @staticmethod
    def recognises(data: Any) -> bool:
        """Whether a record looks like a question or an answer."""
        if not isinstance(data, Mapping) or "id" not in data:
            return False
        return "ground_truth" in data or ("question" in data and ("function" in data or _has_several_turns(data)))

    def collect_tools(self, record: Record, pool: ToolPool) -> None:
        """Collect the tools of a question, or store an answer for its question."""
        data = record.data
        if _is_answer(data):
            self._answers.add(str(data["id"]), data["ground_truth"])
        elif isinstance(data, Mapping):
            with contextlib.suppress(UnmappedError):  # `rows` reports it
                _refuse_unmappable(data, _category(str(data.get("id"))))
                pool.add_list(_definitions(data))

    def rows(self, record: Record, context: Context) -> Iterator[CaseRow]:
        """The case of a question."""
        data = record.data
        if _is_answer(data):
            return
        if not isinstance(data, Mapping) or not isinstance(data.get("id"), str) or "question" not in data:
            raise BrokenError("wrong-type", "A question has an `id`, a `question` and a `function`.")
        category = _category(data["id"])
        _refuse_unmappable(data, category)
        offered = context.offered(_definitions(data))
        row: CaseRow = {"id": data["id"], **opening(_messages(data["question"]))}
        row |= self._label(data["id"], category, offered, context)
        row["offered"] = list(offered or ())
        yield row | context.common(tags=[category], kind=_kind(category))

    def finish(self, context: Context) -> None:
        """Count answers without a question, and second answers."""
        if count := self._answers.unclaimed:
            context.report.count(NO_QUESTION, count)
        if count := self._answers.repeated:
            context.report.count("a second ground truth of one question", count)

    def _label(self, case_id: str, category: str, offered: tuple[str, ...] | None, context: Context) -> CaseRow:
        answer = self._answers.find(case_id)
        if answer is None:
            if "irrelevance" in category:
                return {"expected": []}
            if "relevance" in category:
                return {"expected": None}
            raise UnmappedError(NO_GROUND_TRUTH)
        calls = [_read_call(call) for call in _listed(answer[0], case_id)]
        labels = []
        for name, _ in calls:
            tool = context.reference(name, offered)
            if not isinstance(tool, str):
                raise BrokenError("ambiguous-tool", f"{name!r} may be any of {', '.join(tool)}.")
            labels.append(tool)
        row: CaseRow = {"expected": labels}
        if calls and context.settings.keeps(recorded=False):
            row["expected_args"] = [arguments for _, arguments in calls]
        elif calls:
            row["expected_args"] = [None] * len(calls)
        return row


def _definitions(data: Mapping[str, Any]) -> list[Any]:
    written = data.get("function", [])
    entries = written if isinstance(written, list) else [written]
    return [
        {**entry, "parameters": convert_types(entry.get("parameters") or {}, _TYPES)}
        if isinstance(entry, dict)
        else entry
        for entry in entries
    ]


def _refuse_unmappable(data: Mapping[str, Any], category: str) -> None:
    if _has_several_turns(data):
        raise UnmappedError(SEVERAL_TURNS, category)
    if category.removeprefix("simple_") in _OTHER_LANGUAGES:
        raise UnmappedError(OTHER_LANGUAGE, category)
    if "function" not in data:
        raise UnmappedError("it names no functions", category)


def _has_several_turns(data: Mapping[str, Any]) -> bool:
    question = data.get("question")
    is_long = isinstance(question, list) and len(question) > 1 and all(isinstance(turn, list) for turn in question)
    return is_long or any(key in data for key in _SEVERAL_TURNS)


def _messages(question: Any) -> list[dict[str, Any]]:
    if isinstance(question, str):  # the first version of the leaderboard
        return [{"role": "user", "content": question}]
    if isinstance(question, list) and len(question) == 1 and isinstance(question[0], list):
        question = question[0]
    return check_messages(question, "question")


def _is_answer(data: Any) -> bool:
    return isinstance(data, Mapping) and "ground_truth" in data and "id" in data and "question" not in data


def _listed(value: Any, case_id: str) -> list[Any]:
    if not isinstance(value, list):
        raise BrokenError("wrong-type", f"The `ground_truth` of {case_id!r} must be a list of calls.")
    return value


def _read_call(value: Any) -> tuple[str, dict[str, Any]]:
    if not isinstance(value, dict) or len(value) != 1:
        raise BrokenError("wrong-type", "A call in `ground_truth` is an object with the one name of its function.")
    ((name, arguments),) = value.items()
    if not isinstance(arguments, dict) or not all(isinstance(values, list) for values in arguments.values()):
        raise BrokenError("wrong-type", f"The arguments of {name!r} in `ground_truth` must list accepted values each.")
    return name, arguments


def _category(case_id: str) -> str:
    match = _CATEGORY.match(case_id)
    return match[1] if match else case_id


def _kind(category: str) -> str:
    """The kind of a category, the same as in data sets that were converted before."""
    if "irrelevance" in category:
        return "irrelevant"
    if "relevance" in category:
        return "relevant_any"
    bare = category.removeprefix("live_")
    return bare if bare in ("parallel", "parallel_multiple") else "single"
