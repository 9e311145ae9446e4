"""Drafts as lines of a case file."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any

from toolbelt.catalog.frozen import thaw
from toolbelt.evals.drafts.drafting import Drafting

TAG = "generated"
"""The tag of every case that a model drafted."""
_NUMBER = re.compile(r"-?\d+(?:[.,]\d+)*")
_THAI, _LAO_END = "\u0e00", "\u0eff"


def draft_stem(name: str, key: bytes) -> str:
    """What the ids of all drafts for one tool by the same settings begin with.

    Args:
        name: The tool's wire name.
        key: What was asked first.
    """
    return f"{name}.{key.hex()[:8]}"


def stem_of(case_id: str) -> str:
    """What the id of a draft begins with."""
    return case_id.rsplit(".", 2)[0]


def case_rows(drafting: Drafting, model: str, key: bytes) -> Iterator[dict[str, Any]]:
    """The cases that were drafted for one tool, in order.

    Args:
        drafting: What came of the answers.
        model: Who wrote them.
        key: What was asked; its beginning is in the ids, so that those of other settings differ.
    """
    job = drafting.job
    stem = draft_stem(job.name, key)
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

    They stand as words and numbers of their own: no "a" in "cat", no 7 in "17", no 5 in "-5". Truth values and nulls
    are stated in other words always, and taken for granted. What is empty cannot be stated.
    """
    if isinstance(value, str):
        return _stands_in(value, query)
    if value is None or isinstance(value, bool):
        return True
    if isinstance(value, int | float):
        if not math.isfinite(value):
            return False
        return _stands_in(str(int(value)) if value == int(value) else str(value), query)
    items = list(value.values() if isinstance(value, Mapping) else value)
    return bool(items) and all(is_stated(item, query) for item in items)


def _stands_in(text: str, query: str) -> bool:
    """Whether a text, or the digits of a number, stand in a query by themselves."""
    text, query = (" ".join(one.casefold().replace("\u2212", "-").split()) for one in (text, query))
    if not text:
        return False
    if _NUMBER.fullmatch(text):
        # A minus sign is one that follows no word: that in "10-5" is none.
        found = rf"(?<![\d.,a-z_])(?<!(?<!\w)-){re.escape(text)}(?![.,]?\d)"
        return re.search(found, query) is not None
    around = f" {query} "
    return any(
        not _is_one_word(around[one.start() - 1], text[0]) and not _is_one_word(text[-1], around[one.end()])
        for one in re.finditer(re.escape(text), around)
        if one.start() and one.end() < len(around)
    )


def _is_one_word(left: str, right: str) -> bool:
    """Whether two letters, side by side, belong to one word; not so in writing without blanks."""
    return all(
        (letter.isalnum() or letter == "_" or unicodedata.category(letter).startswith("M"))
        and unicodedata.east_asian_width(letter) not in "WF"
        and not _THAI <= letter <= _LAO_END
        for letter in (left, right)
    )
