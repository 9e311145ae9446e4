"""Fills the arguments of a call from a text by simple means: named values, values of the right kind, the rest."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence, Set
from functools import lru_cache
from typing import Any

from toolbelt.catalog.ranking.text import STOP_WORDS, split_name
from toolbelt.evals.models.local.values import Value, as_type, find_row, find_values, word_set

FREE_TEXT = word_set(
    "query queries q text message messages msg pattern prompt question search keyword keywords content "
    "body description input term terms topic task subject instruction instructions note comment "
    "sentence goal request summary title"
)
"""Words in the names of parameters that take free text."""
KINDS_OF_VALUE = (
    (word_set("url link href website webpage site endpoint uri"), ("url",)),
    (word_set("email mail recipient"), ("email",)),
    (word_set("path file filename filepath folder directory dir"), ("path", "file")),
    (word_set("date day deadline since until birthday birthdate departure"), ("date",)),
    (word_set("time hour"), ("time", "date")),
    (word_set("id sha commit hash ticket issue number key code"), ("code", "number")),
    (
        word_set(
            "location city place country state region origin destination source target name author artist user "
            "username person company brand owner team title movie song book language currency"
        ),
        ("proper",),
    ),
)
"""Words in a parameter's name, and the kinds of value that it then takes, see `values`."""
KINDS_OF_FORMAT = {
    "uri": ("url",),
    "url": ("url",),
    "email": ("email",),
    "date": ("date",),
    "date-time": ("date",),
    "time": ("time",),
}
"""The same, by JSON Schema's `format`."""
PREPOSITIONS = (
    (word_set("from origin source start departure"), word_set("from")),
    (word_set("to destination target end arrival recipient receiver"), word_set("to")),
    (word_set("author artist by"), word_set("by")),
)
"""Words in a parameter's name, and what stands before its value."""
OTHER_PREPOSITIONS = word_set("in at near around of for from to by with")
SWITCHES = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
"""Words for booleans."""


_MOST_PARAMETERS = 40
_MOST_OPTIONS = 200
_DEEPEST = 3
_LEFT_OVER_KINDS = ("quoted", "proper", "email", "code", "path", "file", "url", "date")
_NEGATION = re.compile(r"\b(?:no|not|without|don't|do not|never|disable|exclude|excluding|skip|false|off)\b")
_REPOSITORY = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
_BRACES = re.compile(r"\{[^{}]{0,2000}\}")
_LINK = r"(?:\s*(?:[:=]|\b(?:is|are|of|as|to|at|named|called|equals|being|with)\b)){0,2}\s*"
_BEHIND = re.compile(
    r"\b(?:named|called|titled|for|in|from|to|at|of|about|on|by|near)\s+((?:the\s+)?[\w'’-]+)", re.IGNORECASE
)


def fill_arguments(parameters: Mapping[str, Any], text: str, *, fallback: bool = True) -> dict[str, Any]:
    """The values that a text gives for a tool's parameters.

    A required parameter without a value is left out, so the call is clearly wrong: no value is invented.

    Args:
        parameters: JSON Schema of the arguments; it may be invalid.
        text: The user's message.
        fallback: Whether a parameter that takes free text may be given the whole of it.
    """
    return _Filling(text, fallback).fill(parameters, 0) if parameters.get("properties") else {}


def fill_each(parameters: Mapping[str, Any], text: str) -> list[dict[str, Any]]:
    """Arguments for each call of one tool that a text asks for: several if a value is in a list of similar values.

    `the weather in Rome and Oslo` gives two calls of a tool with one city, and one call of a tool with two cities.
    """
    if not parameters.get("properties"):
        return [{}]
    filling = _Filling(text, fallback=True)
    arguments = filling.fill(parameters, 0)
    for name, used in filling.used.items():
        row = find_row(text, filling.values, used)
        if name in arguments and len(row) > 1 and all(value is used or value in filling.left for value in row):
            kind = "string" if isinstance(arguments[name], str) else "number"
            options = [as_type(value, kind) for value in row]
            return [arguments | {name: option} for option in options if option is not None]
    return [arguments]


def required_names(parameters: Mapping[str, Any]) -> tuple[str, ...]:
    """The required parameters, as far as the schema is readable."""
    required = parameters.get("required")
    return tuple(name for name in required if isinstance(name, str)) if isinstance(required, list | tuple) else ()


class _Filling:
    """A text whose values are assigned to parameters, each at most once.

    Attributes:
        values: Every value of the text.
        left: Values not assigned yet.
        used: The value of each parameter of the top level.
    """

    def __init__(self, text: str, fallback: bool) -> None:
        self._text = text
        self._folded = text.lower() if len(text.lower()) == len(text) else text
        self._fallback = fallback
        self.values = find_values(text)
        self.left = list(self.values)
        self.used: dict[str, Value] = {}

    def fill(self, parameters: Mapping[str, Any], depth: int) -> dict[str, Any]:
        properties = parameters.get("properties")
        if not isinstance(properties, Mapping):
            return {}
        required = set(required_names(parameters))
        known = [name for name in properties if isinstance(name, str)][:_MOST_PARAMETERS]
        schemas = {name: schema if isinstance(schema := properties[name], Mapping) else {} for name in known}
        arguments = self._repository(known)
        # What is said outright goes first, so that nothing takes it away; what is left over goes last.
        for means in (self._named, self._of_kind, self._left_over):
            for name in known:
                if name in arguments or (name not in required and means != self._named):
                    continue
                value = means(name, schemas[name], depth)
                if isinstance(value, Value):
                    self.left.remove(value)
                    if depth == 0:
                        self.used[name] = value
                    value = as_type(value, _type_of(schemas[name]))
                if value is not None:
                    arguments[name] = value
        return {name: arguments[name] for name in known if name in arguments}

    def _repository(self, known: Sequence[str]) -> dict[str, Any]:
        """`owner/repo` for a tool that takes both apart."""
        value = next((value for value in self.left if _REPOSITORY.fullmatch(value.text)), None)
        if value is None or not {"owner", "repo"} <= set(known):
            return {}
        self.left.remove(value)
        owner, _, repo = value.text.partition("/")
        return {"owner": owner, "repo": repo}

    def _named(self, name: str, schema: Mapping[str, Any], _: int) -> Any:
        """An option that is spelled out, or what stands right behind the parameter's name."""
        if (options := _options(schema)) is not None:
            return self._option(options)
        kind = _type_of(schema)
        if kind not in ("string", "integer", "number", "boolean"):
            return None
        for match in _mention(name).finditer(self._folded):
            if kind == "boolean":
                return self._switch(match)
            value = next((value for value in self.left if 0 <= value.start - match.end() <= 1), None)
            if value is not None and as_type(value, kind) is not None and (match[1].strip() or value.kind == "quoted"):
                return value
        return None

    def _switch(self, match: re.Match[str]) -> bool:
        behind = re.match(r"\W*(\w+)", self._folded[match.end() :])
        if behind is not None and behind[1] in SWITCHES:
            return SWITCHES[behind[1]]
        return not _NEGATION.search(self._folded[max(match.start() - 24, 0) : match.start()])

    def _option(self, options: Sequence[Any]) -> Any:
        """The option that comes first in the text; the longest of those that begin there."""
        candidates: list[tuple[int, int, int, Any]] = []
        for option in options[:_MOST_OPTIONS]:
            words = split_name(str(option)).lower().strip()
            if words and words in self._folded and (match := _option_pattern(words).search(self._folded)):
                candidates.append((match.start(), -len(words), len(candidates), option))
        return min(candidates, key=lambda entry: entry[:3])[3] if candidates else None

    def _of_kind(self, name: str, schema: Mapping[str, Any], depth: int) -> Any:
        """A value of the kind that type and name ask for."""
        if "const" in schema:
            return schema["const"]
        if (options := _options(schema)) is not None:
            return options[0] if len(options) == 1 else None
        kind = _type_of(schema)
        if kind == "object":
            return self._object(schema, depth)
        if kind == "array":
            return self._list(name, schema)
        if kind in ("integer", "number"):
            return self._number(name, kind)
        return self._text_of_kind(name, schema) if kind == "string" else None

    def _object(self, schema: Mapping[str, Any], depth: int) -> dict[str, Any] | None:
        for match in _BRACES.finditer(self._text):
            try:
                return dict(json.loads(match[0]))
            except ValueError:
                continue
        return (self.fill(schema, depth + 1) or None) if depth < _DEEPEST else None

    def _number(self, name: str, kind: str) -> Value | None:
        """The number nearest to a word of the parameter's name; digits before words, else the first one left."""
        places = [
            match.start()
            for word in split_name(name).lower().split()
            if word not in STOP_WORDS and len(word) > 1
            for match in _word_pattern(word).finditer(self._folded)
        ]
        return min(
            (value for value in self.left if value.kind != "quoted" and as_type(value, kind) is not None),
            key=lambda value: (
                value.kind == "spelled",
                min((abs(value.start - place) for place in places), default=0),
                value.start,
            ),
            default=None,
        )

    def _list(self, name: str, schema: Mapping[str, Any]) -> list[Any] | None:
        items = schema.get("items")
        inner = items if isinstance(items, Mapping) else {}
        if (options := _options(inner)) is not None:
            return [option for option in options[:_MOST_OPTIONS] if self._option([option]) is not None] or None
        kind = _type_of(inner)
        kinds = ("number",) if kind in ("integer", "number") else (*_kinds_of(name), "quoted", "proper")
        for value_kind in kinds:
            taken = [value for value in self.left if value.kind == value_kind and as_type(value, kind) is not None]
            if taken:
                row = find_row(self._text, self.values, taken[0])
                taken = [value for value in taken if value in row] if len(row) > 1 else taken
                self.left = [value for value in self.left if value not in taken]
                return [as_type(value, kind) for value in taken]
        return None

    def _text_of_kind(self, name: str, schema: Mapping[str, Any]) -> Value | None:
        form = schema.get("format")
        kinds = (*_kinds_of(name), *KINDS_OF_FORMAT.get(form if isinstance(form, str) else "", ()))
        words = set(split_name(name).lower().split())
        for kind in kinds:
            candidates = [value for value in self.left if value.kind == kind]
            if kind == "proper":
                candidates.sort(key=lambda value: not self._stands_behind(value, words))
            if candidates:
                return candidates[0]
        return None

    def _stands_behind(self, value: Value, words: Set[str]) -> bool:
        """Whether a name stands behind the preposition that a parameter of these words goes with."""
        before = self._folded[: value.start].rstrip().rpartition(" ")[2]
        prepositions = next((prepositions for names, prepositions in PREPOSITIONS if names & words), OTHER_PREPOSITIONS)
        return before in prepositions

    def _left_over(self, name: str, schema: Mapping[str, Any], _: int) -> Any:
        """A value that no other parameter took: a quote, a name, a word after a preposition; or all free text."""
        if schema.get("default") is not None:
            return schema["default"]
        if _type_of(schema) != "string" or _options(schema) is not None:
            return None
        is_free = not FREE_TEXT.isdisjoint(split_name(name).lower().split())
        for kind in ("quoted",) if is_free else _LEFT_OVER_KINDS:
            if (value := next((value for value in self.left if value.kind == kind), None)) is not None:
                return value
        if is_free:
            return (self._text.strip() or None) if self._fallback else None
        return self._bare_word(name)

    def _bare_word(self, name: str) -> str | None:
        """A plain word right behind the parameter's name, else the first one behind a preposition."""
        own = split_name(name).lower().split()
        behind = [re.match(r"[\w'’-]+", self._text[match.end() :]) for match in _mention(name).finditer(self._folded)]
        for match in (*behind, *_BEHIND.finditer(self._text)):
            word = match[0].split()[-1] if match else ""
            if (
                word
                and word.lower() not in (*STOP_WORDS, *own)
                and not any(word in value.text for value in self.values)
            ):
                return word
        return None


@lru_cache(maxsize=5_000)
def _mention(name: str) -> re.Pattern[str]:
    pattern = r"[\s_-]+".join(map(re.escape, split_name(name).lower().split()))
    return re.compile(rf"(?<![\w-]){pattern}(?!\w)({_LINK})" if pattern else r"(?!)")


@lru_cache(maxsize=5_000)
def _option_pattern(option: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(option)}(?:s|es)?(?!\w)")


@lru_cache(maxsize=5_000)
def _word_pattern(word: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(word)}")


def _kinds_of(name: str) -> tuple[str, ...]:
    """The kinds of value that a parameter's name asks for, singular or plural."""
    words = split_name(name).lower().split()
    singular = {*words, *(word.removesuffix("s") for word in words)}
    return tuple(kind for names, kinds in KINDS_OF_VALUE if not names.isdisjoint(singular) for kind in kinds)


def _type_of(schema: Mapping[str, Any]) -> str:
    """The first of its types that is not null; `string` where none can be read."""
    kind = schema.get("type")
    if isinstance(kind, list | tuple):
        kind = next((option for option in kind if isinstance(option, str) and option != "null"), None)
    if not isinstance(kind, str):
        if isinstance(schema.get("properties"), Mapping):
            return "object"
        choices = schema.get("anyOf") or schema.get("oneOf")
        inner = (
            [option for option in choices if isinstance(option, Mapping)] if isinstance(choices, list | tuple) else []
        )
        return next((_type_of(option) for option in inner if option.get("type") not in (None, "null")), "string")
    return kind


def _options(schema: Mapping[str, Any]) -> list[Any] | None:
    options = schema.get("enum")
    if not isinstance(options, list | tuple):
        return None
    return [option for option in options if option is not None and not isinstance(option, dict | list)]
