"""The values that stand in a text: quotes, links, paths, dates, numbers, names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

_DAY = r"\d{1,2}(?:st|nd|rd|th)?(?: of)?"
_MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sep(?:t|tember)?|Oct(?:ober)?"
)
_MONTH += r"|Nov(?:ember)?|Dec(?:ember)?)\.?"
_YEAR = r"(?:,? \d{4})?"
_KINDS: tuple[tuple[str, str], ...] = (
    ("quoted", r"\"([^\"\n]{1,600})\"|“([^”\n]{1,600})”|`([^`\n]{1,600})`|(?<!\w)'([^'\n]{1,600})'(?!\w)"),
    (
        "url",
        r"\b((?:https?|ftp|file|ssh|git)://[^\s<>\"'，。]*[^\s<>\"'，。.,;:!?)\]]|www\.[^\s<>\"']*[^\s<>\"'.,;:!?)\]])",
    ),
    ("email", r"([\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64}){1,4})"),
    (
        "date",
        (
            rf"\b(\d{{4}}[-/]\d{{1,2}}[-/]\d{{1,2}}|\d{{1,2}}[/.]\d{{1,2}}[/.]\d{{4}}"
            rf"|(?:{_DAY} )?{_MONTH} {_DAY}{_YEAR}|{_DAY} {_MONTH}{_YEAR}"
            rf"|{_MONTH} \d{{4}}|today|tomorrow|yesterday|tonight)\b"
        ),
    ),
    ("time", r"\b(\d{1,2}:\d{2}(?::\d{2})?(?: ?[AaPp]\.?[Mm]\b)?|\d{1,2} ?[AaPp][Mm]\b)"),
    (
        "path",
        r"(?<![\w/])((?:~|\.{1,2})?/[\w./@+~-]*[\w/@+~-]|[A-Za-z]:\\[^\s\"']+|[\w.@+-]{1,80}(?:/[\w.@+-]{1,80})+)",
    ),
    ("file", r"\b([\w-]{1,80}(?:\.[\w-]{1,80}){0,5}\.[A-Za-z][A-Za-z0-9]{0,4})\b"),
    ("code", r"#(\d+)\b|\b([A-Z]{2,10}-\d+)\b|\b([0-9a-f]{7,40})\b(?<=[a-f\d])(?<!\b\d{7})"),
    ("number", r"(?<![\w.])([-+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:[eE][-+]?\d+)?)(?![\w]*@)"),
)
_VALUE_PATTERNS = tuple((kind, re.compile(pattern)) for kind, pattern in _KINDS)
_NUMBER_WORDS = {
    "one": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "nine": 9,
    "ten": 10,
    "eleven": 11,
    "twelve": 12,
    "fifteen": 15,
    "twenty": 20,
    "thirty": 30,
    "fifty": 50,
    "hundred": 100,
}
_NUMBER_WORD = re.compile(rf"\b({'|'.join(_NUMBER_WORDS)})\b", re.IGNORECASE)
_PROPER = re.compile(r"\b([A-Z][\w'’.&-]*[\w](?: (?:(?:of|the|de|la|van|von) )?[A-Z][\w'’&-]*)*(?:, [A-Z]{2}\b)?)")
_SENTENCE_START = re.compile(r"(?:^|[.!?:\n]\s*)$")
_HIDDEN = "\x00"
"""Replaces each character of a found value, so that no other value is found in it."""


@dataclass(frozen=True, slots=True)
class Value:
    """Something in a text that may be an argument.

    Attributes:
        kind: `quoted`, `url`, `email`, `date`, `time`, `path`, `file`, `code`, `number`, `spelled`
            (a number, as digits), `proper`.
        text: Without its quotes.
        start: Where it begins.
        end: Where it ends.
    """

    kind: str
    text: str
    start: int
    end: int


@lru_cache(maxsize=64)  # of one message, each tool asks for the same parts
def find_values(text: str) -> tuple[Value, ...]:
    """Every value of a text in order, none within another."""
    values: list[Value] = []
    hidden = text
    for kind, pattern in _VALUE_PATTERNS:
        before = len(values)
        for match in pattern.finditer(hidden):
            inner = next(group for group in match.groups() if group is not None)
            values.append(Value(kind, inner, match.start(), match.end()))
        for value in values[before:]:
            hidden = f"{hidden[: value.start]}{_HIDDEN * (value.end - value.start)}{hidden[value.end :]}"
    values.extend(_number_words(hidden))
    values.extend(_proper_names(hidden))
    return tuple(sorted(values, key=lambda value: value.start))


def _number_words(text: str) -> Iterator[Value]:
    for match in _NUMBER_WORD.finditer(text):
        yield Value("spelled", str(_NUMBER_WORDS[match[0].lower()]), match.start(), match.end())


def _proper_names(text: str) -> Iterator[Value]:
    for match in _PROPER.finditer(text):
        name, start = match[1], match.start(1)
        while name:  # a sentence's first word is written with a capital without being a name
            first, _, rest = name.partition(" ")
            if first.lower().rstrip(".") not in OPENERS:
                break
            start, name = start + len(name) - len(rest), rest
        starts = _SENTENCE_START.search(text[max(start - 4, 0) : start]) is not None
        is_distinct = " " in name or not starts or name == text.strip()
        if len(name) > 1 and is_distinct:
            yield Value("proper", name, start, start + len(name))


def read_number(text: str, whole: bool) -> int | float | None:
    """The number in a text; `None` if it is no number, or not whole where a whole one is required."""
    plain = text.replace(",", "")
    convert: Callable[[str], int | float] = int if re.fullmatch(r"[-+]?\d{1,300}", plain) else float
    try:
        number = convert(plain)
    except (ValueError, OverflowError):
        return None
    if isinstance(number, float):
        if number in (float("inf"), float("-inf")) or number != number:
            return None
        if whole:
            return int(number) if number.is_integer() else None
    return number


def as_type(value: Value, kind: str) -> Any:
    """A value as JSON Schema's type `kind`; `None` where it is none."""
    if kind in ("integer", "number"):
        is_number = value.kind in ("number", "spelled", "code", "quoted")
        return read_number(value.text, whole=kind == "integer") if is_number else None
    return value.text if kind == "string" else None


def find_row(text: str, values: Sequence[Value], member: Value) -> list[Value]:
    """The values of the same kind that stand in one list with `member`: `2, 3 and 5`, `Rome and Oslo`."""
    at = values.index(member)
    low = high = at
    while low > 0 and _are_listed(text, values[low - 1], values[low]):
        low -= 1
    while high + 1 < len(values) and _are_listed(text, values[high], values[high + 1]):
        high += 1
    return list(values[low : high + 1])


def _are_listed(text: str, first: Value, second: Value) -> bool:
    return first.kind == second.kind and _BETWEEN.fullmatch(text[first.end : second.start]) is not None


_BETWEEN = re.compile(r"(?:\s?%|\s?[a-z]{1,8})?\s*(?:,|,?\s*\band\b|&|，|、)\s*\$?\s*", re.IGNORECASE)


def word_set(words: str) -> frozenset[str]:
    """The words of a text, split at blanks."""
    return frozenset(words.split())


OPENERS = word_set(
    "a about add after all also an analyze and any are at before between book buy by calculate can check compute "
    "convert could create delete determine do does during every find for from generate get give hello help hi how i "
    "i'd i'll i'm i've identify if in is it let list look make may my near now of on one open order play please "
    "provide retrieve run schedule search send set should show since some tell the their then there these this to "
    "translate under update use we what what's when where which who why will with within would write you"
)
"""Words that begin a sentence with a capital without being a name."""
