"""Foreign text is made safe to show."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolbelt.text import (
    json_pieces,
    json_text,
    plural,
    show_value,
    visible,
    visible_lines,
    visible_table,
    without_addresses,
)

# All of category Cc, to which Unicode promises never to add one.
CONTROLS = [chr(code) for code in (*range(0x20), *range(0x7F, 0xA0))]
# Unicode's own list of what turns text around (PropList.txt, Bidi_Control).
BIDI = [*"\u061c\u200e\u200f", *map(chr, range(0x202A, 0x202F)), *map(chr, range(0x2066, 0x206A))]
TAGS = [chr(code) for code in range(0xE0000, 0xE0080)]
INVISIBLE = [*"\u00ad\u180e\u200b\u200c\u200d\u2060\u2064\u206a\ufeff\u2028\u2029", "\U000e0100"]
DANGEROUS = [*CONTROLS, *BIDI, *TAGS, *INVISIBLE]
anything = st.text(st.characters(), max_size=60)


@pytest.mark.parametrize("show", [visible, visible_lines, lambda text: json_text({text: [text]})])
def test_no_dangerous_character_of_unicode_is_shown_raw(show: object) -> None:
    assert callable(show)
    for character in DANGEROUS:
        shown = show(f"a{character}b")
        assert character == "\n" or character not in shown, ascii(character)


@given(st.lists(st.sampled_from(DANGEROUS) | st.characters(), max_size=30).map("".join))
def test_what_is_shown_holds_nothing_dangerous(text: str) -> None:
    assert not set(visible(text)) & set(DANGEROUS)
    assert not set(visible_lines(text)) & set(DANGEROUS) - {"\n"}
    assert not set(json_text(text)) & set(DANGEROUS)


# As documented: GitHub's workflow commands, its older form, Azure Pipelines' logging commands, TeamCity's messages.
COMMANDS = (
    "::error file=a::b",
    "::add-mask::x",
    "##[warning]x",
    "##vso[task.setvariable variable=a]b",
    "##teamcity[x y='z']",
)
BEFORE = ("", " ", "\t", "\u00a0", "a\n", "a\r", "a\u2028", "a ", ":", "#", "[")


@pytest.mark.parametrize("command", COMMANDS)
def test_no_line_that_is_shown_is_a_command_of_a_CI_system(command: str) -> None:
    for text in (before + command for before in BEFORE):
        for shown in (visible(text), visible_lines(text), visible_table(text), json_text({text: [text]})):
            assert not any(line.strip().startswith("::") for line in shown.splitlines())
            assert not any(mark in shown.lower() for mark in ("##[", "##vso[", "##teamcity["))
        assert json.loads(json_text(text)) == text
        assert command[2:].partition("=")[0] in visible(text)


def test_colons_and_hashes_of_other_meanings_stay() -> None:
    for text in ("std::string", "a: b", "## Heading", "#1 [2]", "fe80::1"):
        assert visible(text) == text


@given(st.dictionaries(anything, anything | st.lists(anything) | st.integers() | st.none()), st.booleans())
def test_json_says_the_same_as_its_data(data: dict[str, object], ascii_only: bool) -> None:
    text = "".join(json_pieces(data, ascii_only=ascii_only))
    assert json.loads(text) == data
    assert not ascii_only or text.isascii()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("Größe 漢字 👍", "Größe 漢字 👍", id="letters-of-any-script-stay"),
        pytest.param("  a \t b\r\n\n c ", "a b c", id="white-space-is-folded-to-one-line"),
        pytest.param("\x1b[31mred", r"\x1b[31mred", id="escape-is-spelled-out"),
        pytest.param("\x9b31m", r"\x9b31m", id="eight-bit-escape-is-spelled-out"),
        pytest.param("gi\u202et", r"gi\u202et", id="bidi-override-is-spelled-out"),
        pytest.param("\U000e0041", r"\U000e0041", id="tag-character-is-spelled-out"),
        pytest.param("\udcff", r"\udcff", id="half-a-character-is-spelled-out"),
        pytest.param("[bold]x[/bold] :smile:", "[bold]x[/bold] :smile:", id="markup-is-plain-text"),
    ],
)
def test_visible(text: str, shown: str) -> None:
    assert visible(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("a\nb\r\nc\rd", "a\nb\nc\nd", id="every-kind-of-line-break-is-one"),
        pytest.param("a\u2028b", r"a\u2028b", id="unicode-line-separator-is-spelled-out"),
        pytest.param("\tx  \n", "    x\n", id="tabs-are-blanks-and-trailing-ones-go"),
    ],
)
def test_visible_lines(text: str, shown: str) -> None:
    assert visible_lines(text) == shown


@pytest.mark.parametrize(
    ("count", "many", "said"),
    [(0, None, "0 tools"), (1, None, "1 tool"), (2000, None, "2,000 tools"), (2, "toolses", "2 toolses")],
)
def test_plural(count: int, many: str | None, said: str) -> None:
    assert plural(count, "tool", many) == said


class Odd:
    def method(self) -> None: ...


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        pytest.param("a <b at 0x7f3c>", "'a <b at 0x7f3c>'", id="text-as-it-is"),
        pytest.param(object(), "<object object>", id="an-object"),
        pytest.param([object()], "[<object object>]", id="inside-a-list"),
        pytest.param(Odd().method, "<bound method Odd.method of <tests.test_text.Odd object>>", id="a-method"),
        pytest.param(7, "7", id="a-number"),
    ],
)
def test_a_value_is_shown_without_an_address(value: object, shown: str) -> None:
    assert show_value(value) == shown


def test_an_address_is_taken_out_of_what_others_say_and_no_number() -> None:
    said = without_addresses("no room for <Odd object at 0x7f3cdeadbeef>, as it faulted at 0xdeadbeef")
    assert said == "no room for <Odd object>, as it faulted at 0xdeadbeef"
    assert len(show_value("x" * 5000)) < 300
