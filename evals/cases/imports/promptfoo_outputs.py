"""What a script of promptfoo takes from an output that is a list of calls: `output[0].function.name` and its like."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

NAME_TESTS: Mapping[str, Callable[[str, Sequence[str]], bool]] = {
    "equals": lambda name, texts: name == texts[0],
    "contains": lambda name, texts: texts[0] in name,
    "icontains": lambda name, texts: texts[0].lower() in name.lower(),
    "starts-with": lambda name, texts: name.startswith(texts[0]),
    "contains-any": lambda name, texts: any(text in name for text in texts),
    "icontains-any": lambda name, texts: any(text.lower() in name.lower() for text in texts),
}
"""Assertions about a text that are read where the text is the name of the tool that was called."""
_CALL = r"(?:output|JSON\.parse\(output\))(?:\.tool_calls)?(?:\[(\d+)\])?"
_NAME = re.compile(rf"{_CALL}(?:\.function|\.functionCall)?\.name")
_ARGUMENTS = re.compile(
    rf"(?:JSON\.parse\({_CALL}(?:\.function)?\.arguments\)|{_CALL}\.(?:input|args|functionCall\.args))(?:\.(\w+))?"
)
_LENGTH = re.compile(r"output(?:\.tool_calls)?\.length")
_NAMES = re.compile(
    r"output(?:\.tool_calls)?\.map\(\(?(\w+)\)? => \1(?:\.function)?\.name\)(?:\.join\((['\"])(.*?)\2\))?"
)
LITERAL = r"'[^'\\]*'|\"[^\"\\]*\"|-?\d+(?:\.\d+)?|true|false"


def read_place(script: str) -> tuple[str, int, str] | None:
    """What a script takes from an output: a kind of thing, of which call, and a key or what joins names."""
    text = _in_one_line(script)
    if found := _NAME.fullmatch(text):
        return "name", int(found[1] or 0), ""
    if found := _ARGUMENTS.fullmatch(text):
        return "argument" if found[3] else "arguments", int(found[1] or found[2] or 0), found[3] or ""
    if _LENGTH.fullmatch(text):
        return "length", 0, ""
    if found := _NAMES.fullmatch(text):
        return "names", 0, found[3] or ""
    return None


def _in_one_line(script: str) -> str:
    """A script without line breaks and optional chaining; the body of a function without its `return`."""
    text = re.sub(r"\s+", " ", script.strip()).removesuffix(";").replace("?.[", "[").replace("?.", ".")
    # A script of one line is an expression, before which promptfoo itself writes `return`.
    return text.removeprefix("return ") if "\n" in script.strip() else text


def may_be_about_calls(script: Any) -> bool:
    """Whether a program may look at the calls of an answer: it says so, or is not here."""
    is_here = isinstance(script, str) and not script.startswith("file://")
    return not is_here or re.search(r"(?i)function|tool|call|name|arg|input|trace|\[\d|metadata", script) is not None


def read_terms(script: str) -> list[str]:
    """The parts of an expression that must all be true; empty where quotes hold what joins them."""
    text = _in_one_line(script)
    return [] if re.search(r"(['\"])[^'\"]*&&[^'\"]*\1", text) else [term.strip() for term in text.split("&&")]


def read_literal(text: str) -> Any:
    """The value of a literal of a script."""
    return text[1:-1] if text[0] in "'\"" else json.loads(text)


def read_scalar(text: str) -> Any:
    """The value that is written as this text; the text itself if none is."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if json.dumps(value) == text else text
