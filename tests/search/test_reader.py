"""Search toolsets in `toolbelt.yaml` (rules S1, L10)."""

from __future__ import annotations

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests.wording import mentions
from toolbelt.search.presets import PLAIN, PRESETS, parse_search
from toolbelt.search.reader import SEARCH_KEYS, read_searches
from toolbelt.search.settings import KEYS
from toolbelt.sources import parse_yaml
from toolbelt.stores.config_schema import config_schema

VALIDATOR = Draft202012Validator(config_schema())


def read(text: str) -> tuple[dict[str, Any], list[Any]]:
    return read_searches(parse_yaml(text, "toolbelt.yaml"), "toolsets")


@pytest.mark.parametrize(
    ("written", "means"),
    [
        ("", ""),
        ("{}", ""),
        ("{preset: fastmcp}", "fastmcp"),
        ("{preset: fastmcp, k: 3, pinned: dev}", "fastmcp:k=3:pinned=dev"),
        ("{k: 3.0, rank: 'embedding:m:x', listing: null}", "k=3:rank=embedding:m:x"),
        ("{reveal: call, returns: schemas}", "reveal=call:returns=schemas"),
    ],
)
def test_S1_what_is_written_means_what_a_command_means(written: str, means: str) -> None:
    text = f"toolsets:\n  mine: {written}\n"
    assert read(text) == ({"mine": parse_search(means)}, [])
    assert VALIDATOR.is_valid(parse_yaml(text, "x").data)


@pytest.mark.parametrize(
    ("line", "rule", "says"),
    [
        ("mine: {preset: fastmpc}", "unknown-preset", "fastmcp"),
        ("mine: {rveal: call}", "unknown-key", "reveal"),
        ("mine: {reveal: cal}", "unknown-value", "call"),
        ("mine: {k: 0}", "wrong-type", "1"),
        ("mine: {k: 1001}", "wrong-type", "1"),
        ("mine: {rank: wrds}", "unknown-ranker", "words"),
        ("mine: {pinned: ''}", "wrong-type", "text"),
        ("mine: [a]", "wrong-type", "mapping"),
        ("Fastmcp: {}", "reserved-name", "preset"),
        ("'a:b': {}", "bad-name", "search:"),
    ],
)
def test_L10_what_is_wrong_is_found_with_its_line(line: str, rule: str, says: str) -> None:
    text = f"toolsets:\n  fine: {{k: 2}}\n  {line}\n"
    _, findings = read(text)
    assert [(finding.rule, finding.line) for finding in findings] == [(rule, 3)]
    assert mentions(findings[0].message, says)
    assert not VALIDATOR.is_valid(parse_yaml(text, "x").data)


def test_S1_settings_that_contradict_each_other_are_a_finding() -> None:
    searches, findings = read("toolsets: {a: {reveal: call}, b: {preset: rag-mcp, k: 2}}")
    assert list(searches) == ["b"]
    assert [finding.rule for finding in findings] == ["contradiction"]


def test_S1_every_setting_has_a_key() -> None:
    assert set(SEARCH_KEYS) == {"preset", *KEYS}
    assert PLAIN in PRESETS
