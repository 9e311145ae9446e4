"""Definitions of the three meta-tools (rule D2)."""

from __future__ import annotations

import datetime as dt
import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from toolbelt.catalog.definitions import is_legal_wire_name
from toolbelt.sessions.meta_tools import META_TOOLS, AnswerStatus, answer_text, make_answer, quoted
from toolbelt.text import UNSAFE
from toolbelt.toolkits.toolkit import RESERVED, MetaRole


def test_D2_there_are_three_by_the_names_of_the_rule() -> None:
    assert [tool.name for tool in META_TOOLS.values()] == ["list_toolkits", "load_tools", "unload_tools"]
    assert list(META_TOOLS) == list(MetaRole)
    assert {"dynamic_tools", *(tool.name for tool in META_TOOLS.values())} == RESERVED


def test_definitions_are_such_that_a_provider_takes_them() -> None:
    for tool in META_TOOLS.values():
        Draft202012Validator.check_schema(tool.parameters)
        assert is_legal_wire_name(tool.name)
    for role in (MetaRole.LOAD, MetaRole.UNLOAD):
        check = Draft202012Validator(META_TOOLS[role].parameters)
        assert check.is_valid({"toolkit": "devops"})
        assert not check.is_valid({})
        assert not check.is_valid({"toolkit": 3})


def test_D4_the_model_is_told_when_a_change_takes_effect() -> None:
    for role in (MetaRole.LOAD, MetaRole.UNLOAD):
        assert "user's next message" in META_TOOLS[role].description


def test_D2_keys_are_sorted_and_every_answer_says_whose_it_is() -> None:
    text = answer_text(make_answer(AnswerStatus.OK, toolkits=[{"name": "b", "description": "a"}], aside="é"))
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
