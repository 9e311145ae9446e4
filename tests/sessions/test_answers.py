"""Answers as the model reads them: JSON, one line, nothing hidden (rule D2)."""

from __future__ import annotations

import datetime as dt
import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolbelt.sessions.answers import answer_text, make, quoted
from toolbelt.text import UNSAFE


def test_D2_keys_are_sorted_and_every_answer_says_whose_it_is() -> None:
    text = answer_text(make("ok", toolkits=[{"name": "b", "description": "a"}], aside="é"))
    assert text == (
        '{"aside": "é", "status": "ok", "tool": "dynamic_tools", "toolkits": [{"description": "a", "name": "b"}]}'
    )


@settings(deadline=None)
@given(st.text(st.characters(codec=None) | st.sampled_from("\n\x00\x1b\x7f\u2028\u202e\ud800\udfff\U000e0041")))
def test_whatever_a_name_holds_the_answer_is_one_visible_line_and_means_the_same(name: str) -> None:
    text = answer_text({"name": name, name: 1})
    assert UNSAFE.search(text) is None
    assert text.splitlines() == [text]
    text.encode()
    assert json.loads(text) == json.loads(json.dumps({"name": name, name: 1}))
    assert json.loads(quoted(name)) == json.loads(json.dumps(name))


@pytest.mark.parametrize(
    ("value", "said"),
    [
        pytest.param(dt.date(2026, 1, 2), "2026-01-02", id="a-date-of-yaml"),
        pytest.param(math.inf, "inf", id="infinity"),
        pytest.param(math.nan, "nan", id="not-a-number"),
        pytest.param({1: 2, "b": (True, None)}, {"1": 2, "b": [True, None]}, id="keys-that-are-no-text"),
        pytest.param(1.5, 1.5, id="a-number"),
    ],
)
def test_what_json_has_no_form_for_is_given_as_text(value: object, said: object) -> None:
    text = answer_text({"overrides": value})
    assert json.loads(text, parse_constant=pytest.fail) == {"overrides": said}
