"""Lists of records (rule R5)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from toolbelt.runtime.reducers.records import RecordsReducer
from toolbelt.runtime.reducers.reducer import ReduceInfo
from toolbelt.runtime.results import ToolResult


def ticket(number: int, **parts: Any) -> dict[str, Any]:
    return {"id": number, "title": f"Ticket {number}", "body": "x" * 200, **parts}


def reduce(value: Any, structured: Any = None) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return RecordsReducer().reduce(ToolResult(True, text, structured=structured), ReduceInfo({})).value


def read(value: Any, structured: Any = None) -> Any:
    note, _, document = reduce(value, structured).partition("\n")
    assert note.startswith("[reduced: ")
    return json.loads(document)


def test_R5_a_long_list_becomes_counts_and_five_that_are_open() -> None:
    records = [ticket(n, status=("done", "todo", "doing")[n % 3], assignee="ada") for n in range(30)]
    note, _, document = reduce(records).partition("\n")
    assert note == (
        "[reduced: 30 records, with counts by status, the first 5 of 20 open ones; ask for one by its id, or "
        "filter, for more]"
    )
    made = json.loads(document)
    assert (made["count"], made["open"]) == (30, 20)
    assert made["by_status"] == {"done": 10, "todo": 10, "doing": 10}
    assert [record["id"] for record in made["top_open"]] == [1, 2, 4, 5, 7]
    assert made["top_open"][0] == {"id": 1, "title": "Ticket 1", "status": "todo", "assignee": "ada"}


@pytest.mark.parametrize(("count", "stays"), [(10, True), (11, False)])
def test_R5_ten_stay_and_eleven_do_not(count: int, stays: bool) -> None:
    text = json.dumps([ticket(n, status="todo") for n in range(count)])
    assert (reduce(text) == text) == stays


def test_R5_the_list_may_be_in_an_object_whose_other_keys_stay() -> None:
    made = read({"board": "b", "tickets": [ticket(n, status="todo") for n in range(12)], "labels": ["x"], "next": None})
    assert list(made) == ["board", "tickets", "labels", "next"]
    assert made["tickets"]["by_status"] == {"todo": 12}
    assert (made["board"], made["labels"], made["next"]) == ("b", ["x"], None)


def test_R5_a_short_list_beside_the_long_one_stays_as_it_is() -> None:
    members = [{"name": "ada"}]
    made = read({"tickets": [ticket(number) for number in range(30)], "members": members})
    assert (made["tickets"]["count"], made["members"]) == (30, members)


@pytest.mark.parametrize(
    "status",
    ["done", "DONE", "Closed", "resolved", "Cancelled", "canceled", "archived", "merged", "Won't fix", "wont_fix"],
)
def test_R5_what_is_closed_is_not_among_the_open(status: str) -> None:
    made = read([ticket(n, state=status) for n in range(11)] + [ticket(99, state="Review")])
    assert [record["id"] for record in made["top_open"]] == [99]
    assert made["by_status"] == {status: 11, "Review": 1}


@pytest.mark.parametrize(
    ("parts", "counts"),
    [
        pytest.param({}, {"(no status)": 12}, id="none-has-one"),
        pytest.param({"status": None}, {"(no status)": 12}, id="null"),
        pytest.param({"Status": {"name": "Doing"}}, {"Doing": 12}, id="an-object-by-its-name"),
        pytest.param({"column": "Doing"}, {"Doing": 12}, id="column"),
        pytest.param({"done": False}, {"open": 12}, id="yes-or-no"),
        pytest.param({"status": 3}, {"3": 12}, id="number"),
    ],
)
def test_R5_status_goes_by_several_names_and_what_has_none_is_counted_and_open(
    parts: dict[str, Any], counts: dict[str, int]
) -> None:
    made = read([ticket(n, **parts) for n in range(12)])
    assert made["by_status"] == counts
    assert made["open"] == 12


def test_R5_statuses_that_differ_in_case_are_one() -> None:
    assert read([ticket(n, status="To do" if n % 2 else "to Do") for n in range(12)])["by_status"] == {"to Do": 12}


def test_R5_the_pressing_come_first_where_priorities_are_words() -> None:
    words = ["low", None, "P0", "Medium", "high", "critical"] * 2
    made = read([ticket(n, status="todo", priority=word) for n, word in enumerate(words)])
    assert [record["id"] for record in made["top_open"]] == [2, 5, 8, 11, 4]


def test_R5_numbers_do_not_say_which_end_is_pressing() -> None:
    made = read([ticket(n, status="todo", priority=12 - n) for n in range(12)])
    assert [record["id"] for record in made["top_open"]] == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    "value",
    [
        pytest.param("not JSON" * 99, id="not-json"),
        pytest.param(list(range(50)), id="no-objects"),
        pytest.param([[{"id": 1}] * 20], id="nested"),
        pytest.param({"data": {"tickets": [ticket(n) for n in range(20)]}}, id="deeper"),
        pytest.param({"a": [ticket(1)] * 20, "b": [ticket(2)] * 20}, id="two-lists"),
        pytest.param([*([{"id": 1}] * 20), 3], id="mixed"),
        pytest.param([{}] * 20, id="shorter-as-it-is"),
        pytest.param("[" * 100_000, id="beyond-reading"),
    ],
)
def test_R5_anything_else_stays(value: Any) -> None:
    text = value if isinstance(value, str) else json.dumps(value)
    assert reduce(text) == text


def test_R5_records_that_only_the_program_gets_are_summed_up_too() -> None:
    table = "\n".join(f"| {n} | a row of a table for people to read |" for n in range(40))
    assert read(table, [ticket(n, status="todo") for n in range(40)])["count"] == 40
