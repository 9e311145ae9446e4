"""A part of a written file says where it stands (rule D1)."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Any

import pytest

from toolbelt.sources import Document, parse_json, parse_yaml
from toolbelt.sources.document import Key
from toolbelt.sources.keys import KeySpec, Kind
from toolbelt.sources.section import Section, TooManyFindingsError

PATHS: dict[str, tuple[tuple[Key, ...], str]] = {
    "names": (("agents", "code", "tools"), "agents.code.tools"),
    "a-place-in-a-list": (("agents", "code", "allowed_toolkits", 0), "agents.code.allowed_toolkits[0]"),
    "a-name-with-a-blank": (("agents", "my code", "tools"), 'agents["my code"].tools'),
    "a-name-with-a-dot": (("agents", "a.b", 2), 'agents["a.b"][2]'),
    "a-name-with-a-quote": (("agents", 'a"b'), 'agents["a\\"b"]'),
    "letters-of-any-script": (("agents", "büro-2"), "agents.büro-2"),
    "the-document": ((), ""),
}


@pytest.mark.parametrize(("path", "shown"), PATHS.values(), ids=PATHS)
def test_D1_a_path_reads_as_people_write_it(path: tuple[Key, ...], shown: str) -> None:
    assert Section.of(Document({}, "x"), *path).where == shown


@pytest.mark.parametrize("text", ["", "a: {}", "a: [b]", "a: b", "[a]"])
def test_D1_what_is_not_there_is_nothing(text: str) -> None:
    assert Section.of(parse_yaml(text, "x"), "a", "b", "c").value is None


def test_D1_findings_of_all_parts_come_together_with_their_lines() -> None:
    section = Section.of(parse_yaml("a:\n  b: 1\n  c:\n    - x\n    - X\n", "f.yaml"), "a")
    known = {"b": KeySpec(Kind.TEXT, "."), "c": KeySpec(Kind.NAMES, ".")}
    parts = section.read_fields(known, "thing")
    assert parts["b"].read_text() is None
    assert list(parts["c"].read_names()) == ["x"]
    assert [(found.line, found.rule) for found in section.findings] == [(2, "wrong-type"), (5, "duplicate-entry")]
    assert parts["b"].findings is section.findings


def test_D1_an_unknown_key_of_another_spelling_is_told_how_it_is_written() -> None:
    section = Section.of(parse_yaml("a: {old: 1, nwe: 2}", "f.yaml"), "a")
    assert section.read_fields({"new": KeySpec(Kind.TEXT, ".", ("old",))}, "agent") == {}
    assert [found.message for found in section.findings] == [
        "`a.old`: an agent has no key 'old'. It is written 'new' here.",
        "`a.nwe`: an agent has no key 'nwe'. Did you mean 'new'?",
    ]


class Colour(StrEnum):
    RED = "red"
    DARK_BLUE = "dark blue"


READS: dict[str, tuple[str, Callable[[Section], Any], Any, tuple[str, ...]]] = {
    "a-text": ("a", lambda own: own.read_text("x"), "a", ()),
    "a-blank-text": ("' '", lambda own: own.read_text("x"), None, ("wrong-type",)),
    "a-blank-text-that-may-be": ("' '", lambda own: own.read_text("x", blank=True), " ", ()),
    "a-number-for-a-text": ("1", lambda own: own.read_text("x"), None, ("wrong-type",)),
    "true": ("true", lambda own: own.read_bool("x"), True, ()),
    "a-number-for-true": ("1", lambda own: own.read_bool("x"), None, ("wrong-type",)),
    "a-whole-number": ("3", lambda own: own.read_int("x", least=3, most=3), 3, ()),
    "a-number-that-is-too-low": ("2", lambda own: own.read_int("x", least=3), None, ("wrong-type",)),
    "a-number-that-is-too-high": ("4", lambda own: own.read_int("x", most=3), None, ("wrong-type",)),
    "true-for-a-number": ("true", lambda own: own.read_int("x"), None, ("wrong-type",)),
    "a-whole-float": ("3.0", lambda own: own.read_int("x"), None, ("wrong-type",)),
    "a-whole-float-that-may-be": ("3.0", lambda own: own.read_int("x", allow_float=True), 3, ()),
    "a-part": ("0.5", lambda own: own.read_number("x", least=0, most=1), 0.5, ()),
    "more-digits-than-a-float-has": ("1" + "0" * 400, lambda own: own.read_number("x"), None, ("wrong-type",)),
    "a-negative-number": ("-1", lambda own: own.read_number("x", least=0), None, ("wrong-type",)),
    "a-choice": ("dark blue", lambda own: own.read_choice("x", Colour, "colour"), Colour.DARK_BLUE, ()),
    "a-choice-of-texts": ("b", lambda own: own.read_choice("x", ("a", "b"), "letter"), "b", ()),
    "no-choice": ("rde", lambda own: own.read_choice("x", Colour, "colour"), None, ("unknown-colour",)),
    "a-list-for-a-choice": ("[red]", lambda own: own.read_choice("x", Colour, "colour"), None, ("unknown-colour",)),
    "a-mapping": ("{a: 1}", lambda own: own.read_mapping("x"), {"a": 1}, ()),
    "a-list-for-a-mapping": ("[a]", lambda own: own.read_mapping("x"), None, ("wrong-type",)),
    "a-list": ("[a, 1]", lambda own: own.read_list("x"), ["a", 1], ()),
    "a-mapping-for-a-list": ("{a: 1}", lambda own: own.read_list("x"), None, ("wrong-type",)),
    "texts": ("[a, a, '', 1]", lambda own: own.read_texts("x"), ("a", "a"), ("wrong-type", "wrong-type")),
    "names": ("[a, A, 1]", lambda own: list(own.read_names("x")), ["a"], ("duplicate-entry", "wrong-type")),
    "known-names": ("[a, b]", lambda own: list(own.read_names("x", {"a"}, "toy")), ["a"], ("unknown-toy",)),
    "no-list-of-names": ("a", lambda own: list(own.read_names("x")), [], ("wrong-type",)),
    "what-is-left-out": ("a", lambda own: own.read_text("y"), None, ()),
    "null-where-it-is-absent": ("null", lambda own: own.read_int("x"), None, ()),
}


@pytest.mark.parametrize(("text", "read", "value", "rules"), READS.values(), ids=READS)
def test_a_value_is_checked_and_a_wrong_one_is_a_finding_with_its_place(
    text: str, read: Callable[[Section], Any], value: object, rules: tuple[str, ...]
) -> None:
    section = Section.of(parse_yaml(f"\nx: {text}", "f.yaml"))
    assert read(section) == value
    assert tuple(finding.rule for finding in section.findings) == rules
    assert {finding.place for finding in section.findings} <= {"f.yaml:2"}


def test_null_is_a_wrong_value_where_it_does_not_mean_absence() -> None:
    section = Section.of(parse_json('{"x": null}', "f.json"), null_is_absent=False)
    assert section.read_text("x") is None
    assert [finding.message for finding in section.findings] == ["`x` must be text that is not blank, not null."]


def test_a_key_is_required_and_an_absent_one_is_told_by_its_rule() -> None:
    section = Section.of(parse_yaml("a: {x: null, y: 1}", "f.yaml"), "a")
    section.require_keys("x", "y", rule="missing-field")
    assert [(finding.rule, finding.message) for finding in section.findings] == [("missing-field", "`a` needs a `x`.")]


def test_findings_of_a_line_of_json_lines_have_no_place() -> None:
    section = Section.of_row({"calls": [{"tool": 5}], "nmae": ""})
    section.check_keys(frozenset({"calls", "name"}), "case")
    [call] = section.read_items("calls")
    assert call.read_text("tool") is None
    section.child("calls").add_warning("odd", "Odd.")
    assert [str(finding) for finding in section.findings] == [
        "error: `nmae`: a case has no key 'nmae'. Did you mean 'name'? [unknown-key]",
        "error: `calls[0].tool` must be text that is not blank, not 5. [wrong-type]",
        "warning: Odd. [odd]",
    ]
    assert section.has_errors


def test_a_reading_stops_at_as_many_findings_as_it_may_have() -> None:
    section = Section.of(parse_json('{"a": 1, "b": 1, "c": 1}', "f.json"), most=2)
    with pytest.raises(TooManyFindingsError):
        section.check_keys((), "thing")
    assert len(section.findings) == 2
