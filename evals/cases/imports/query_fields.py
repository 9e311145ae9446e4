"""Which field of a row is the prompt, which the right tools, which what was offered: by the names that people give."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from toolbelt.catalog.tool_names import split_words
from toolbelt.evals.cases.imports.inspect_samples import python_calls
from toolbelt.evals.cases.imports.openai_log_records import unpacked

_TOOLS = re.compile(
    r"((expected|correct|right|target|reference) )*((mcp )?(tool|function)s?( calls?| names?| ids?)?( s)?)"
)
_PROMPTS = re.compile(r"((test|example|sample|user) )*(prompt|query|queries|question|utterance)s?( s)?( \d+)?")
_INPUTS = re.compile(r"(user )?(input|message|request|text)|user")
"""Names of fields with the prompt, where no other field has it."""
_EXPECTED = re.compile(r"expected( calls?)?|labels?|target|ground truth|gold")
"""Names of fields with the right tools, where no field is named after tools and nothing was offered."""
_OWN_KEYS = frozenset(("accept", "forbidden", "allowed_extra", "match", "args_any"))
"""Keys of a case of toolbelt's own: such a file needs no import, which would lose what they say."""
ANSWERS = re.compile(
    r"((expected|correct|right|target|gold|golden|reference) )*(answers?|calls?|labels?|outputs?)"
    r"|ground truth|gold|expected|target"
)
_OFFERS = re.compile(r"((available|offered|candidate|all|given) )*(tool|function|api)s( list| available)?|tool list")
"""Names of fields that hold what was offered, where another field has the answer or they hold definitions."""
_NO_CALL_ANSWERS = ("direct", "request_for_info", "cannot_answer")
"""Values of When2Call's `correct_answer` that mean that no tool is called."""
NO_TOOL = re.compile(
    r"[-–—]+|\(?(none|n/a|nothing|no (tools?|calls?)( calls?)?)\)?((\s*[(:]|\s+[—–-]).*)?", re.IGNORECASE | re.DOTALL
)
STEPS = re.compile(r"[,;\n]|\s\+\s|->|→|\sand\s")
MARKS = " \t`*#\"'“”"
_CALL_MARKS = re.compile(r"</?(tool_?calls?|function_?call)>|```(json)?", re.IGNORECASE)


@lru_cache(maxsize=4096)
def is_named(name: Any, pattern: re.Pattern[str]) -> bool:
    """Whether a field has a name of a pattern, which is written as words: `expectedTools` is `expected tools`."""
    return isinstance(name, str) and len(name) < 100 and pattern.fullmatch(" ".join(split_words(name))) is not None


def _field(entry: Mapping[str, Any], pattern: re.Pattern[str]) -> str | None:
    """The field of that name; of several, the longest name, such as `Expected tool` beside `Tool`."""
    return max((name for name in entry if is_named(name, pattern)), key=len, default=None)


def prompt_fields(entry: Mapping[str, Any]) -> list[str]:
    """The fields with what the user says."""
    named = [name for name in entry if is_named(name, _PROMPTS)]
    return named or [name for name in entry if is_named(name, _INPUTS) and isinstance(entry[name], str | list)]


def flat(data: Any) -> Any:
    """An example of LangSmith's as one object."""
    inputs, outputs = (data.get("inputs"), data.get("outputs")) if isinstance(data, Mapping) else (None, None)
    if not isinstance(inputs, Mapping) or not isinstance(outputs, Mapping):
        return data
    return {**({"id": data["id"]} if "id" in data else {}), **inputs, **outputs}


def is_query(data: Any) -> bool:
    """Whether a row has a prompt, and says which tools are right or were offered."""
    data = flat(data)
    return isinstance(data, Mapping) and bool(prompt_fields(data)) and any(label_fields(data))


def label_fields(entry: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """The field with the right tools, and the one with the tools that were offered; `None` without one.

    What may be offered is the label itself where it holds names and no other field has calls, or the name of one.
    """
    offers = next((name for name in entry if is_named(name, _OFFERS) and entry[name]), None)
    labels = [name for name in entry if is_named(name, _TOOLS) and name != offers]
    if offers and _is_choice(entry):
        return "answers", offers
    if labels:
        return max(labels, key=len), offers
    answers = [name for name in entry if is_named(name, ANSWERS) and entry[name] not in (None, "")]
    if offers is not None and (answers or definitions_in(entry[offers])):
        return next((name for name in answers if written_answer(entry, name, offers) is not None), None), offers
    if (field := _field(entry, _TOOLS)) is None and _OWN_KEYS.isdisjoint(entry):
        field = _field(entry, _EXPECTED)
    return field, None


def written_answer(entry: Mapping[str, Any], field: str, offers: str | None) -> Any:
    """The right calls in a field beside the tools that were offered; `None` if it holds words."""
    value = entry[field]
    if offers is None or not is_named(field, ANSWERS):
        return value
    if _is_choice(entry):
        chosen = entry["correct_answer"]
        value = [] if chosen in _NO_CALL_ANSWERS else entry["answers"].get(chosen)
    if isinstance(value, str):
        text = _CALL_MARKS.sub("", value).strip()
        if (calls := unpacked(text)) is not text:
            return calls
        if (calls := python_calls(text)) is not None:
            return calls
        names = _names_of(entry[offers])
        parts = [part.strip(MARKS) for part in STEPS.split(text)]
        return value if all(part in names for part in parts) or NO_TOOL.fullmatch(text) else None
    return value if isinstance(value, list | Mapping) else None


def _is_choice(entry: Mapping[str, Any]) -> bool:
    """Whether one of several answers is said to be right, as in When2Call, whose `target_tool` is a definition."""
    return isinstance(entry.get("answers"), Mapping) and isinstance(entry.get("correct_answer"), str)


def definitions_in(value: Any) -> list[Any]:
    """The definitions of tools in a field, or in the JSON that it holds; empty where it holds names."""
    value = unpacked(value)
    entries = [unpacked(entry) for entry in (value if isinstance(value, list) else [value])]
    return entries if entries and all(isinstance(entry, dict) for entry in entries) else []


def _names_of(value: Any) -> frozenset[str]:
    """The names of the tools that were offered."""
    if definitions := definitions_in(value):
        parts = [entry.get("function", entry) for entry in definitions]
        return frozenset(str(part.get("name")) for part in parts if isinstance(part, Mapping))
    names = STEPS.split(value) if isinstance(value, str) else value if isinstance(value, list) else ()
    return frozenset(name.strip(MARKS) for name in names if isinstance(name, str))


def find_list(data: Any) -> tuple[str, ...] | None:
    """The place of the one list of queries in a document: empty if it is the document, `None` if there is none."""
    if isinstance(data, list):
        return () if any(map(is_query, data)) else None
    if not isinstance(data, Mapping) or is_query(data):
        return None
    places = [key for key, value in data.items() if isinstance(value, list) and any(map(is_query, value))]
    return (places[0],) if len(places) == 1 else None
