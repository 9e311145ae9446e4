"""A part of a written file says where it stands (rule D1)."""

from __future__ import annotations

import pytest

from toolbelt.sources import Document, parse_yaml
from toolbelt.sources.document import Key
from toolbelt.toolkits.section import Kind, Section, WrittenKey

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
    assert Section(Document({}, "x"), path, None).shown == shown


@pytest.mark.parametrize("text", ["", "a: {}", "a: [b]", "a: b", "[a]"])
def test_D1_what_is_not_there_is_nothing(text: str) -> None:
    assert Section.of(parse_yaml(text, "x"), "a", "b", "c").value is None


def test_D1_findings_of_all_parts_come_together_with_their_lines() -> None:
    section = Section.of(parse_yaml("a:\n  b: 1\n  c:\n    - x\n    - X\n", "f.yaml"), "a")
    known = {"b": WrittenKey(Kind.TEXT, "."), "c": WrittenKey(Kind.NAMES, ".")}
    parts = dict(section.keys(known, "thing"))
    assert parts["b"].text() == ""
    assert [name for name, _ in parts["c"].names()] == ["x"]
    assert [(found.line, found.rule) for found in section.findings] == [(2, "wrong-type"), (5, "duplicate-entry")]
    assert parts["b"].findings is section.findings


def test_D1_an_unknown_key_of_another_spelling_is_told_how_it_is_written() -> None:
    section = Section.of(parse_yaml("a: {old: 1, nwe: 2}", "f.yaml"), "a")
    assert list(section.keys({"new": WrittenKey(Kind.TEXT, ".", ("old",))}, "agent")) == []
    assert [found.message for found in section.findings] == [
        "`a.old`: an agent has no key 'old'. It is written 'new' here.",
        "`a.nwe`: an agent has no key 'nwe'. Did you mean 'new'?",
    ]
