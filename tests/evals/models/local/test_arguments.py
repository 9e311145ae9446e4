"""Arguments come out of what was said, or not at all (rule E2)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.evals.models.local.asking import TEXT, schema
from toolbelt.evals.models.local.arguments import fill_arguments, fill_each

WHOLE = {"type": "integer"}
NUMBER = {"type": "number"}
FLAG = {"type": "boolean"}


def options(*values: Any) -> dict[str, Any]:
    return {"enum": list(values)}


def listed(**items: Any) -> dict[str, Any]:
    return {"type": "array", "items": items}


CASES = {
    "a-quote-for-free-text": (schema("message"), 'Commit with the message "fix: typo"', {"message": "fix: typo"}),
    "each-quote-to-its-name": (
        schema("to", "subject", "body"),
        'Send an email to ann@example.com with subject "Hi" and body "See you"',
        {"to": "ann@example.com", "subject": "Hi", "body": "See you"},
    ),
    "all-for-a-query-without-a-quote": (
        schema("query"),
        "Search for pizza in Rome",
        {"query": "Search for pizza in Rome"},
    ),
    "a-link": (schema("url"), "Fetch https://example.com/a?b=1.", {"url": "https://example.com/a?b=1"}),
    "a-path": (schema("path"), "show /etc/hosts.", {"path": "/etc/hosts"}),
    "a-file": (schema("filename"), "Open config.yaml now", {"filename": "config.yaml"}),
    "dates-in-order": (
        schema("start_date", "end_date"),
        "Events from 2024-01-05 to 2024-02-01",
        {"start_date": "2024-01-05", "end_date": "2024-02-01"},
    ),
    "a-date-in-words": (schema("date"), "Lunch on March 3rd, 2025 please", {"date": "March 3rd, 2025"}),
    "a-date-by-its-format": (
        schema(when=TEXT | {"format": "date"}) | {"required": ["when"]},
        "go tomorrow",
        {"when": "tomorrow"},
    ),
    "owner-and-repository-and-number": (
        schema("owner", "repo")
        | {
            "properties": {"owner": TEXT, "repo": TEXT, "issue_number": WHOLE},
            "required": ["owner", "repo", "issue_number"],
        },
        "Close issue #42 in acme/widgets",
        {"owner": "acme", "repo": "widgets", "issue_number": 42},
    ),
    "numbers-near-their-names": (
        {"properties": {"height": WHOLE, "base": WHOLE}, "required": ["height", "base"]},
        "A triangle with a base of 10 units and height of 5 units",
        {"height": 5, "base": 10},
    ),
    "numbers-by-equal-signs": (
        {"properties": {"a": WHOLE, "b": NUMBER}, "required": ["a", "b"]},
        "Multiply a=3 and b=-4.5",
        {"a": 3, "b": -4.5},
    ),
    "thousands": ({"properties": {"amount": NUMBER}, "required": ["amount"]}, "Pay $1,250.50", {"amount": 1250.5}),
    "a-number-in-words": ({"properties": {"count": WHOLE}, "required": ["count"]}, "Roll three dice", {"count": 3}),
    "no-fraction-for-an-integer": ({"properties": {"count": WHOLE}, "required": ["count"]}, "Take 2.5 of it", {}),
    "a-number-written-as-text": ({"properties": {"id": TEXT}, "required": ["id"]}, "Show user 77", {"id": "77"}),
    "an-option-that-is-said": (
        {"properties": {"unit": options("celsius", "fahrenheit")}, "required": []},
        "How warm is it, in Fahrenheit?",
        {"unit": "fahrenheit"},
    ),
    "an-option-of-several-words": (
        {"properties": {"kind": options("bar", "bar_chart")}, "required": ["kind"]},
        "Draw a bar chart",
        {"kind": "bar_chart"},
    ),
    "the-only-option": ({"properties": {"mode": options("x")}, "required": ["mode"]}, "Do it", {"mode": "x"}),
    "no-option-is-said": ({"properties": {"mode": options("x", "y")}, "required": ["mode"]}, "Do it", {}),
    "a-switch-that-is-on": ({"properties": {"force": FLAG}, "required": []}, "Push with force", {"force": True}),
    "a-switch-that-is-off": ({"properties": {"force": FLAG}, "required": []}, "Push without force", {"force": False}),
    "a-switch-that-is-set": ({"properties": {"force": FLAG}, "required": []}, "Push, force: false", {"force": False}),
    "numbers-in-a-list": (
        {"properties": {"numbers": listed(type="number")}, "required": ["numbers"]},
        "The mean of 1, 2, 3.5 and 4",
        {"numbers": [1, 2, 3.5, 4]},
    ),
    "texts-in-a-list": (
        {"properties": {"tags": listed(type="string")}, "required": ["tags"]},
        "Add the tags 'a', 'b'",
        {"tags": ["a", "b"]},
    ),
    "options-in-a-list": (
        {"properties": {"days": listed(enum=["mon", "tue", "wed"])}, "required": ["days"]},
        "On mon and wed",
        {"days": ["mon", "wed"]},
    ),
    "from-and-to": (
        schema("destination", "start"),
        "Drive from Paris to Lyon",
        {"destination": "Lyon", "start": "Paris"},
    ),
    "a-name-with-its-state": (schema("location"), "Weather in San Francisco, CA?", {"location": "San Francisco, CA"}),
    "the-word-behind-its-name": (schema("branch"), "Switch to branch develop", {"branch": "develop"}),
    "what-it-is-named": (schema("name"), "Create a branch named feature-x", {"name": "feature-x"}),
    "an-object-within": (
        {"properties": {"filter": schema("city")}, "required": ["filter"]},
        "Hotels in Oslo",
        {"filter": {"city": "Oslo"}},
    ),
    "an-object-as-json": (
        {"properties": {"data": {"type": "object"}}, "required": ["data"]},
        'Send {"a": [1]} there',
        {"data": {"a": [1]}},
    ),
    "a-constant": ({"properties": {"v": {"const": 2}}, "required": ["v"]}, "Go", {"v": 2}),
    "a-default": ({"properties": {"v": WHOLE | {"default": 9}}, "required": ["v"]}, "Go", {"v": 9}),
    "nothing-is-made-up": (schema("city"), "what is it like", {}),
    "optional-ones-are-left": ({"properties": {"city": TEXT}, "required": []}, "Weather in Rome", {}),
    "a-broken-schema": ({"properties": [1], "required": 3}, "Weather in Rome", {}),
}


@pytest.mark.parametrize(("parameters", "text", "expected"), CASES.values(), ids=CASES.keys())
def test_E2_arguments_are_found(parameters: dict[str, Any], text: str, expected: dict[str, Any]) -> None:
    made = fill_arguments(parameters, text)
    assert made == expected
    assert [type(value) for value in made.values()] == [type(value) for value in expected.values()]


@pytest.mark.parametrize(
    ("parameters", "text", "expected"),
    [
        pytest.param(schema("city"), "Weather in Rome and Oslo", [{"city": "Rome"}, {"city": "Oslo"}], id="names"),
        pytest.param(
            {"properties": {"years": WHOLE, "rate": NUMBER}, "required": ["years", "rate"]},
            "At a rate of 5%, for 10, 20 and 30 years",
            [{"years": years, "rate": 5} for years in (10, 20, 30)],
            id="numbers-beside-another",
        ),
        pytest.param(
            schema("origin", "destination"),
            "Between Rome and Oslo",
            [{"origin": "Rome", "destination": "Oslo"}],
            id="both-are-needed",
        ),
        pytest.param(schema("city"), "Weather in Rome", [{"city": "Rome"}], id="one"),
        pytest.param({}, "Weather in Rome and Oslo", [{}], id="takes-none"),
    ],
)
def test_E2_a_list_makes_a_call_of_each(parameters: dict[str, Any], text: str, expected: list[dict[str, Any]]) -> None:
    assert fill_each(parameters, text) == expected


def test_E2_free_text_is_not_filled_with_everything_where_that_is_not_wanted() -> None:
    assert fill_arguments(schema("query"), "Search for pizza", fallback=False) == {}
