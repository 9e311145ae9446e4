"""Drafts as lines of a case file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from toolbelt.catalog.frozen import thaw
from toolbelt.evals.drafting.drafting import Drafting

TAG = "generated"
"""The tag of every case that a model drafted."""


def case_rows(drafting: Drafting, model: str, key: bytes) -> Iterator[dict[str, Any]]:
    """The cases that were drafted for one tool, in order.

    Args:
        drafting: What came of the answers.
        model: Who wrote them.
        key: What was asked; its beginning is in the ids, so that those of other settings differ.
    """
    job = drafting.job
    stem = f"{job.name}.{key.hex()[:8]}"
    tags = [TAG] if job.language is None else [TAG, job.language]
    for number, task in enumerate(drafting.tasks, start=1):
        for wording, query in enumerate(task.queries, start=1):
            call, unstated = _call(job.tool.id, task.arguments, query)
            note = f"drafted by {model}"
            if unstated:
                note += f"; unchecked, as the query does not state them word for word: {', '.join(unstated)}"
            yield {
                "id": f"{stem}.{number}.{wording}",
                "query": query,
                "kind": "single",
                "tags": tags,
                "cluster": f"{stem}.{number}",
                "expected": [call],
                "draft": True,
                "note": note,
            }
    for number, miss in enumerate(drafting.near_misses, start=1):
        yield {
            "id": f"{stem}.near.{number}",
            "query": miss.query,
            "kind": "irrelevant" if miss.tool is None else "near-miss",
            "tags": tags,
            "expected": [] if miss.tool is None else [{"tool": miss.tool}],
            "draft": True,
            "note": f"drafted by {model} as a near miss of {job.tool.id}",
        }


def _call(tool: str, arguments: Mapping[str, Any], query: str) -> tuple[dict[str, Any], list[str]]:
    """The call that is expected, with the arguments that the query states; names of the others."""
    stated = {name: thaw(value) for name, value in arguments.items() if is_stated(value, query)}
    call: dict[str, Any] = {"tool": tool, "args": stated} if stated else {"tool": tool}
    return call, [name for name in arguments if name not in stated]


def is_stated(value: Any, query: str) -> bool:
    """Whether a query states a value so that any right call has just this one: its texts and numbers stand in it.

    Truth values and nulls are stated in other words always, and taken for granted.
    """
    if isinstance(value, str):
        return bool(value.strip()) and value.casefold() in query.casefold()
    if value is None or isinstance(value, bool):
        return True
    if isinstance(value, int | float):
        text = str(int(value)) if value == int(value) else str(value)
        return re.search(rf"(?<![\d.,]){re.escape(text)}(?![.,]?\d)", query) is not None
    items = value.values() if isinstance(value, Mapping) else value
    return all(is_stated(item, query) for item in items)
