"""Strict YAML, JSON and JSON Lines: what is refused, where, and that nothing else ever comes out."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeVar

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from toolbelt.errors import InvalidFileError, NotFoundError
from toolbelt.findings import Finding
from toolbelt.sources import (
    Document,
    decode,
    format_yaml,
    parse_json,
    parse_json_lines,
    parse_yaml,
    read_document,
    read_text,
)
from toolbelt.sources.document import MAX_DEPTH, locate_json
from toolbelt.sources.files import MAX_BYTES

Given = TypeVar("Given")
Made = TypeVar("Made")
Parse = Callable[[str, str], Document]
BOTH = pytest.mark.parametrize("parse", [parse_json, parse_yaml])
# Without what YAML has no character for, and what it takes for the end of a line.
TEXT = st.text(st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp", "Cn", "Co"), exclude_characters="\ufeff"))
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT
JSON = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner), max_leaves=20)
YAML_BITS = [
    "- ",
    "? ",
    ": ",
    "a",
    "&a ",
    "*a",
    "!!int ",
    "!!bool ",
    "<<",
    "{",
    "}",
    "[",
    "]",
    ",",
    "\n",
    "  ",
    '"',
    "'",
    "1:1",
    "|",
    "%",
    "#",
    "---",
    "\x00",
    "\ud800",
    "\\ud800",
]


def refused(parse: Parse, text: str) -> list[tuple[str, int | None]]:
    with pytest.raises(InvalidFileError) as caught:
        parse(text, "here")
    assert {finding.file for finding in caught.value.findings} == {"here"}
    return [(finding.rule, finding.line) for finding in caught.value.findings]


def outcome(read: Callable[[Given, str], Made], given: Given) -> tuple[Made | None, tuple[Finding, ...]]:
    try:
        return read(given, "here"), ()
    except InvalidFileError as error:
        return None, error.findings


BOMB = "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("a: 1\nb: 2\na: 3\n", [("duplicate-key", 3)], id="duplicate-key"),
        pytest.param(
            "a: 1\na: 2\nb:\n  c: 1\n  c: 2\n", [("duplicate-key", 2), ("duplicate-key", 5)], id="all-of-them"
        ),
        pytest.param('a: 1\n"a": 2\n', [("duplicate-key", 2)], id="duplicate-key-though-quoted"),
        pytest.param("x: &x {a: 1}\ny:\n  <<: *x\n", [("merge-key", 3)], id="merge-key"),
        pytest.param("?\n: a\n", [("key-type", 1)], id="nothing-is-no-key"),
        pytest.param("200: a\n'200': b\nno: c\nno: d\n", [("duplicate-key", n) for n in (2, 4)], id="keys-are-text"),
        pytest.param("? [a]\n: b\n", [("key-type", 1)], id="a-list-is-no-key"),
        pytest.param("a: !!python/object:os.system x\nb: !mine [1]\n", [("tag", 1), ("tag", 2)], id="foreign-tags"),
        pytest.param("a: !!binary aGk=\nb: !!set {x}\n", [("tag", 1), ("tag", 2)], id="types-json-has-not"),
        pytest.param(
            "a: .nan\nb: -.inf\nc: 1.0e+999\n", [("not-json", n) for n in (1, 2, 3)], id="numbers-json-has-not"
        ),
        pytest.param("b: 1\na: &a\n  [*a]\n", [("alias-cycle", 2)], id="alias-cycle"),
        pytest.param("a: &a\n  b: {c: *a}\n", [("alias-cycle", 1)], id="alias-cycle-through-mappings"),
        pytest.param("a: *b\n", [("syntax", 1)], id="undefined-alias"),
        pytest.param("a: 1\n---\nb: 2\n", [("syntax", 2)], id="two-documents"),
        pytest.param("a: [1,\nb: 2\n", [("syntax", 2)], id="unclosed-bracket"),
        pytest.param("a: 1\nb: \tc: 1\n", [("syntax", 2)], id="nonsense"),
        pytest.param("a: 1\nb: \x00\n", [("bad-character", 2)], id="control-character"),
        pytest.param("a: 1\nb: \ud800\n", [("bad-character", 2)], id="lone-surrogate"),
        pytest.param('a: 1\nb: "\\ud800"\n', [("syntax", 2)], id="escaped-lone-surrogate"),
        pytest.param('a: !!int ""\nb: !!bool x\nc: !!float ""\n', [("syntax", n) for n in (1, 2, 3)], id="false-tags"),
        pytest.param("a: 0x1" + "0" * 4000, [("not-json", 1)], id="a-number-of-thousands-of-digits"),
        pytest.param("a: 1" + "0" * 5000, [("not-json", 1)], id="more-digits-than-python-reads"),
        pytest.param("a: !!bool yes\nb: !!int 1_0\n", [("syntax", 1), ("syntax", 2)], id="tags-of-yaml-1.1-values"),
    ],
)
def test_yaml_refuses(text: str, expected: list[tuple[str, int | None]]) -> None:
    assert refused(parse_yaml, text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param('{\n"a": 1,\n"a": 2\n}', [("duplicate-key", 3)], id="duplicate-key"),
        pytest.param(
            '{"a": {\n"b": 1, "b": 2},\n"c": [{"d": 1,\n"d": 2}]}',
            [("duplicate-key", 2), ("duplicate-key", 4)],
            id="all-of-them",
        ),
        pytest.param(
            '{"a": "\\ud83d\\ude00",\n\t"b": 1,\n\t"b": 2}', [("duplicate-key", 3)], id="in-what-yaml-cannot-read"
        ),
        pytest.param('{"a": 1,\n"\\u0061": 2}', [("duplicate-key", 2)], id="duplicate-key-though-escaped"),
        pytest.param(
            '{"a": NaN,\n"b": [-Infinity,\nInfinity]}', [("not-json", n) for n in (1, 2, 3)], id="NaN-and-its-like"
        ),
        pytest.param("[1,\n1e999]", [("not-json", 2)], id="a-number-too-large"),
        pytest.param('{"a": "x",\n"b": "\\ud800"}', [("bad-character", 2)], id="escaped-lone-surrogate"),
        pytest.param(
            '["x",\n"\udc00", {\n"\\udc00": 1}]', [("bad-character", 2), ("bad-character", 2)], id="lone-surrogates"
        ),
        pytest.param(
            '{"b": 1,\n"b": "\\ud800",\n"c": NaN}',
            [("duplicate-key", 2), ("bad-character", 2), ("not-json", 3)],
            id="different-mistakes-at-once",
        ),
        pytest.param("", [("syntax", 1)], id="empty"),
        pytest.param("  \n", [("syntax", 2)], id="blank"),
        pytest.param('{"a": 1,\n}', [("syntax", 2)], id="trailing-comma"),
        pytest.param("{'a': 1}", [("syntax", 1)], id="single-quotes"),
        pytest.param('{"a": 1}\n{"b": 2}', [("syntax", 2)], id="two-values"),
        pytest.param('["a\x00b"]', [("syntax", 1)], id="raw-control-character"),
        pytest.param("9" * 5000, [("syntax", None)], id="a-number-of-5000-digits"),
    ],
)
def test_json_refuses(text: str, expected: list[tuple[str, int | None]]) -> None:
    assert refused(parse_json, text) == expected


def test_a_surrogate_pair_is_one_character() -> None:
    assert parse_json('"\\ud83d\\ude00"', "here").data == "😀"


@pytest.mark.parametrize("text", [BOMB, BOMB.replace("[", "{k: ").replace(", ", ", k2: ").replace("]", "}")])
def test_yaml_bombs_do_not_go_off(text: str) -> None:
    assert refused(parse_yaml, text)[0][0] in ("alias-bomb", "duplicate-key")


def test_a_bomb_is_named_as_such() -> None:
    assert refused(parse_yaml, BOMB)[0][0] == "alias-bomb"


def test_an_honest_alias_is_read() -> None:
    assert parse_yaml("a: &x [1]\nb: *x\nc: *x\n", "here").data == {"a": [1], "b": [1], "c": [1]}


@pytest.mark.parametrize(
    ("parse", "text"),
    [
        pytest.param(parse_json, "[" * 100_000, id="json-brackets"),
        pytest.param(parse_json, "[" * 100_000 + "]" * 100_000, id="json-brackets-closed"),
        pytest.param(parse_json, '{"a":' * 100_000, id="json-braces"),
        pytest.param(parse_yaml, "[" * 100_000, id="yaml-brackets"),
        pytest.param(parse_yaml, "[" * 100_000 + "]" * 100_000, id="yaml-brackets-closed"),
        pytest.param(parse_yaml, "{a: " * 100_000, id="yaml-braces"),
        pytest.param(parse_yaml, "- " * 100_000, id="yaml-dashes"),
        pytest.param(parse_yaml, "? " * 100_000, id="yaml-question-marks"),
        pytest.param(parse_yaml, "- ? " * 100_000, id="yaml-dashes-and-question-marks"),
        pytest.param(parse_yaml, "".join("  " * n + "a:\n" for n in range(1500)), id="yaml-indentation"),
        pytest.param(parse_yaml, "".join(" " * n + "-\n" for n in range(1500)), id="yaml-lists-by-indentation"),
    ],
)
def test_nesting_that_would_end_the_process_is_refused(parse: Parse, text: str) -> None:
    assert [rule for rule, _ in refused(parse, text)] == ["too-deep"]


@BOTH
@pytest.mark.parametrize(("opened", "closed"), [("[", "]"), ('{"a": ', "}")])
def test_the_deepest_that_may_be_is_the_same_in_both(parse: Parse, opened: str, closed: str) -> None:
    def nested(levels: int) -> str:
        return opened * levels + "1" + closed * levels

    made = parse(nested(MAX_DEPTH), "here").data
    for _ in range(MAX_DEPTH):
        (made,) = made.values() if isinstance(made, dict) else made
    assert made == 1
    assert [rule for rule, _ in refused(parse, nested(MAX_DEPTH + 1))] == ["too-deep"]


@BOTH
def test_a_description_of_a_megabyte_is_read(parse: Parse) -> None:
    long = "word " * 200_000
    assert parse(json.dumps({"description": long}), "here").data == {"description": long}


@pytest.mark.parametrize("text", ["", "\n\n", "# nothing\n", "~"])
def test_an_empty_yaml_document_is_none(text: str) -> None:
    document = parse_yaml(text, "here")
    assert document.data is None
    assert document.find_line("a") == 1


@given(st.text() | st.lists(st.sampled_from(YAML_BITS), max_size=40).map("".join))
@example("\ud800")
@example('!!int ""')
@example("!!bool x")
@example("? " * 300)
def test_arbitrary_text_is_read_or_refused(text: str) -> None:
    """Whatever the text: a document of JSON values, or InvalidFileError."""
    for parse in (parse_json, parse_yaml):
        made, findings = outcome(parse, text)
        last = max(1, len(text.splitlines()), text.count("\n") + 1)
        assert [finding for finding in findings if not 1 <= (finding.line or 1) <= last] == []
        assert (made is None) == bool(findings)
        if made is not None:
            assert json.loads(json.dumps(made.data, allow_nan=False)) == made.data


@given(st.binary())
def test_arbitrary_bytes_are_text_or_refused(raw: bytes) -> None:
    text, findings = outcome(decode, raw)
    assert [finding.rule for finding in findings] == ([] if text is not None else ["not-utf8"])
    assert text is None or text.encode() == raw.removeprefix(b"\xef\xbb\xbf")


@given(JSON, st.sampled_from([None, 1, "\t"]))
@example(1e16, None)
@example([1e-7, -0.0, "1e5", "1E5", "-2.5e-3"], None)
def test_yaml_and_json_agree_on_json(value: Any, indent: int | str | None) -> None:
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    assert parse_json(text, "here").data == value
    if indent != "\t":  # with which YAML does not indent
        made = parse_yaml(text, "here").data
        assert made == value
        assert json.dumps(made) == json.dumps(value)


@given(JSON)
def test_yaml_and_json_find_the_same_lines(value: Any) -> None:
    """Two scanners that share nothing: our own of JSON, and libyaml's."""
    text = json.dumps(value, ensure_ascii=False, indent=1)
    assert locate_json(text) == (parse_yaml(text, "here").lines, [])


def test_lines_of_json_are_found_whatever_it_is_written_with() -> None:
    text = '\n{\n\t"a\\n\\"{": [1,\n\t\t{"b": "}]\\\\"}],\n\t"😀": "\\ud83d\\ude00", "\\/": {},\n\t"d": []\n}'
    document = parse_json(text, "here")
    assert document.find_line() == 2
    assert document.find_line('a\n"{') == 3
    assert document.find_line('a\n"{', 1, "b") == 4
    assert document.find_line("😀") == document.find_line("/") == 5
    assert document.find_line("d") == 6
    assert document.find_line("d", 0, "x") == 6, "the nearest thing around what is not there"
    assert document.find_line("zzz") == 2
    finding = document.finding("rule", "M.", "d")
    assert str(finding) == "here:6: error: M. [rule]"


def test_lines_of_yaml_are_those_of_the_keys() -> None:
    document = parse_yaml("# comment\na:\n  - x: 1\n    y: |\n      long\n      text\n  - 2\nb: {c: 3}\n", "here")
    places: list[tuple[tuple[str | int, ...], int]] = [
        (("a",), 2),
        (("a", 0), 3),
        (("a", 0, "y"), 4),
        (("a", 1), 7),
        (("b", "c"), 8),
    ]
    assert [(keys, document.find_line(*keys)) for keys, _ in places] == places


@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param("1e5", 100_000.0, id="an-exponent-makes-a-number-as-in-json"),
        pytest.param("1.5E-3", 0.0015, id="with-a-fraction-too"),
        pytest.param("'1e5'", "1e5", id="quotes-make-text"),
        pytest.param("1000e0a", "1000e0a", id="what-only-begins-with-a-number-is-text"),
        pytest.param("2024-01-01", "2024-01-01", id="a-date-stays-text"),
        pytest.param("2001-12-14t21:59:43.10-05:00", "2001-12-14t21:59:43.10-05:00", id="a-time-stays-text"),
        pytest.param("=", "=", id="an-equals-sign-is-text"),
        pytest.param("<<", "<<", id="a-merge-sign-alone-is-text"),
        pytest.param("'<<': 1", {"<<": 1}, id="and-so-is-a-quoted-key"),
        pytest.param("\ufeffa: 1", {"a": 1}, id="a-byte-order-mark-is-dropped"),
        pytest.param("a:\r\n  b: 1\r\n", {"a": {"b": 1}}, id="windows-lines"),
        pytest.param(
            "404: a\non: b\n1.0: c\n~: d\nTrue: e\n2024-01-01: f",
            {"404": "a", "on": "b", "1.0": "c", "~": "d", "True": "e", "2024-01-01": "f"},
            id="keys-are-their-text-as-written",
        ),
        pytest.param("a: !!float 3\nb: !!str 12\nc: !!int '012'", {"a": 3.0, "b": "12", "c": 12}, id="tags-are-kept"),
    ],
)
def test_yaml_reads(text: str, value: Any) -> None:
    assert parse_yaml(text, "here").data == value


# As js-yaml 5.5.0 and yaml 2.9.1 of npm read them, run on Node 20; in all but 1e400, which js-yaml takes for text, they
# agree with each other. What they read as infinite or as no number is refused here.
JAVASCRIPT: dict[str, Any] = {
    **{text: text for text in ("NO", "no", "yes", "on", "y", "off", "tRue", "nULL", "22:30", "190:20:30", "1_000")},
    **{
        text: text for text in ("0O17", "0X1F", "0x", "0b101", "-0x1F", "+0x1F", "-0o7", "0o8", "0xfFg", ".", "1e", "+")
    },
    **{
        text: text for text in ("-.nan", "2024-01-01", "2024-01-01T00:00:00Z", "=", "1.5.2", "1,000", "Infinity", "NaN")
    },
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys(("null", "Null", "NULL", "~"), None),
    "01234": 1234,
    "017": 17,
    "0o17": 15,
    "0x1F": 31,
    "+1": 1,
    "-01": -1,
    "00": 0,
    "08": 8,
    "200": 200,
    "-0": 0,
    ".5": 0.5,
    "-.5": -0.5,
    "1.": 1.0,
    "1.e3": 1000.0,
    "1e3": 1000.0,
    "1E+3": 1000.0,
    "+.5e3": 500.0,
    "1.0": 1.0,
    "12e03": 12000.0,
    "0.1e-2": 0.001,
    "0.0": 0.0,
}


@pytest.mark.parametrize(("text", "value"), JAVASCRIPT.items())
def test_V6_plain_scalars_are_what_readers_of_yaml_1_2_take_them_for(text: str, value: Any) -> None:
    made = parse_yaml(f"a: {text}", "here").data["a"]
    assert (type(made), made) == (type(value), value)


DIGITS = st.text("0123456789", min_size=1, max_size=12)
SIGN = st.sampled_from(["", "-", "+"])
EXPONENT = st.tuples(st.sampled_from("eE"), SIGN, st.integers(0, 99)).map(lambda parts: "".join(map(str, parts)))
# The expressions of section 10.3.2 of the specification, with its number signs taken literally.
CORE_10_3_2 = (
    r"null|Null|NULL|~",
    r"true|True|TRUE|false|False|FALSE",
    r"[-+]?[0-9]+",
    r"0o[0-7]+",
    r"0x[0-9a-fA-F]+",
    r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?",
    r"[-+]?(\.inf|\.Inf|\.INF)",
    r"\.nan|\.NaN|\.NAN",
)


@given(SIGN, DIGITS, DIGITS | st.just(""), EXPONENT | st.just(""))
def test_V6_numbers_are_decimal_octal_and_hexadecimal_as_the_core_schema_has_them(
    sign: str, whole: str, fraction: str, exponent: str
) -> None:
    number = Decimal(f"{sign}{whole}.{fraction or 0}{exponent}")
    texts: dict[str, Any] = {
        f"{sign}{whole}": int(Decimal(f"{sign}{whole}")),
        f"{sign}{whole}.{fraction}{exponent}": float(number),
        f"{sign}.{whole}{exponent}": float(Decimal(f"{sign}0.{whole}{exponent}")),
        f"0x{whole}": sum(int(digit) * 16**place for place, digit in enumerate(reversed(whole))),
    }
    for text, value in texts.items():
        made = parse_yaml(f"- {text}", "here").data[0]
        assert (type(made), made) == (type(value), value)


@given(st.text("0123456789abcdefxoXOeEtTrRuUnNlLyYsSfF.:_+-~", min_size=1, max_size=9))
def test_V6_whatever_the_core_schema_does_not_name_is_text(text: str) -> None:
    named = any(re.fullmatch(pattern, text) for pattern in CORE_10_3_2)
    made, findings = outcome(parse_yaml, f"{{a: {text} }}")
    if named or findings or text.startswith("- ") or ":" in (text[-1], text[0]) or text[0] == "-" == text[-1]:
        return
    assert made is not None
    assert made.data == {"a": text}


@given(st.text("0123456789abxoXeEtruenoysNO.:_+-~ ", max_size=9) | TEXT)
def test_V6_what_is_written_reads_the_same_by_1_1_and_by_1_2(text: str) -> None:
    written = format_yaml({"a": text, text: [text]})
    assert parse_yaml(written, "here").data == {"a": text, text: [text]} == yaml.safe_load(written)


def test_V6_merge_keys_are_applied_where_they_are_wanted() -> None:
    text = "x: &x {a: 1, b: 2}\ny: &y {b: 3, c: 4}\nz:\n  <<: [*x, *y]\n  a: 0\n"
    document = parse_yaml(text, "here", merges=True)
    assert list(document.data["z"].items()) == [("a", 0), ("b", 2), ("c", 4)]
    assert document.find_line("z", "c") == 4
    with pytest.raises(InvalidFileError, match="mappings alone"):
        parse_yaml("a: {<<: 1}", "here", merges=True)


def test_json_lines_report_every_mistake_with_its_line() -> None:
    text = '{"a": 1}\n\n{"a": \n  \r\n[1\u2028]\n{"b": 1, "b": NaN}\n"\u2028"'
    found = list(parse_json_lines(text, "here"))
    assert [(number, value) for number, value, finding in found if finding is None] == [(1, {"a": 1}), (7, "\u2028")]
    assert [(f.rule, f.line, f.file) for _, _, f in found if f is not None] == [
        ("syntax", 3, "here"),
        ("syntax", 5, "here"),
        ("duplicate-key", 6, "here"),
        ("not-json", 6, "here"),
    ]


@pytest.mark.parametrize("name", ["a.json", "a.yaml", "a.txt", "A.JSON"])
def test_a_byte_order_mark_does_no_harm(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b'\xef\xbb\xbf{"a": 1}')
    assert read_document(tmp_path / name).data == {"a": 1}


def test_only_json_is_read_as_json(tmp_path: Path) -> None:
    for name in ("a.json", "a.yaml"):
        (tmp_path / name).write_text("{a: 1}")
    assert read_document(tmp_path / "a.yaml").data == {"a": 1}
    with pytest.raises(InvalidFileError, match="Not JSON"):
        read_document(tmp_path / "a.json")


@pytest.mark.parametrize(
    ("raw", "line", "hint"),
    [
        pytest.param(b"a: 1\nb: \xff\n", 2, "byte 0xff at offset 8", id="latin-1"),
        pytest.param("a: 1".encode("utf-16"), 1, "UTF-16", id="utf-16"),
        pytest.param("a: 1".encode("utf-16-be"), None, "control|may not stand", id="utf-16-without-a-mark"),
        pytest.param(b"\xed\xa0\x80", 1, "Not UTF-8", id="an-encoded-surrogate"),
        pytest.param(b"a: \xc0\xaf", 1, "Not UTF-8", id="an-overlong-form"),
    ],
)
def test_what_is_not_utf8_is_refused(tmp_path: Path, raw: bytes, line: int | None, hint: str) -> None:
    path = tmp_path / "a.yaml"
    path.write_bytes(raw)
    with pytest.raises(InvalidFileError, match=hint) as caught:
        read_document(path)
    (finding,) = caught.value.findings
    assert finding.file == str(path)
    assert line is None or finding.line == line


def test_a_missing_file_names_its_neighbours(tmp_path: Path) -> None:
    (tmp_path / "catalog.yaml").touch()
    with pytest.raises(NotFoundError, match=r"Did you mean .*catalog\.yaml"):
        read_text(tmp_path / "catalogue.yaml")
    with pytest.raises(NotFoundError, match="No file named"):
        read_text(tmp_path / "no" / "such" / "folder.yaml")


def test_a_device_or_a_pipe_is_refused_unread(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.json")
    for path in ("/dev/zero", "/dev/null", str(tmp_path / "pipe.json")):
        for read in (read_text, read_document):
            with pytest.raises(InvalidFileError) as caught:
                read(path)
            assert [finding.rule for finding in caught.value.findings] == ["not-a-file"]


def test_what_is_too_large_to_be_read_whole_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "large.json"
    with path.open("wb") as file:
        file.truncate(MAX_BYTES + 1)  # without a block on the disk
    with pytest.raises(InvalidFileError) as caught:
        read_text(path)
    assert [finding.rule for finding in caught.value.findings] == ["too-long"]


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(InvalidFileError, match="This is a folder"):
        read_text(tmp_path)


@pytest.mark.parametrize("name", ["a\x00b", "x" * 5000, "file/inside"])
def test_a_path_at_which_nothing_can_be_is_not_found(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(NotFoundError):
        read_text(f"{tmp_path}/{name}")
