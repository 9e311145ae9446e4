"""promptfoo's prompts, and the variables in them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from toolbelt.evals.cases.imports.context import CaseRow
from toolbelt.evals.cases.imports.ledger import BrokenError, Ledger, UnmappedError
from toolbelt.evals.cases.imports.messages import check_messages, opening
from toolbelt.evals.cases.imports.promptfoo_files import Files

PROMPT_ELSEWHERE = "a prompt that a program makes, or a pattern of file names"
_VARIABLE = re.compile(r"\{\{-?\s*([A-Za-z_][\w.\[\]]*)\s*-?\}\}")
ONE_VARIABLE: tuple[str, Any] = ("vars", None)
"""In place of a prompt: the one variable that a test has."""
Prompts = list[tuple[str, Any]]
"""Each with the label or id that tests name it by, or its place: a text, or a list of messages."""


def read_prompts(written: Any, files: Files, ledger: Ledger) -> Prompts:
    """The prompts that are texts; those that a program makes are left out.

    Args:
        written: As the configuration has it.
        files: Beside it.
        ledger: Told of what is left out.
    """
    made: Prompts = []
    for index, entry in enumerate(written if isinstance(written, list) else [written]):
        raw = entry.get("raw", entry.get("id")) if isinstance(entry, Mapping) else entry
        name = (
            next((entry[key] for key in ("label", "id") if key in entry), None) if isinstance(entry, Mapping) else raw
        )
        try:
            text = files.resolve(raw)
        except BrokenError as error:
            ledger.add_broken(*error.all_findings(files.source, files.line("prompts", index)))
            continue
        place = name if isinstance(name, str) else f"prompts[{index}]"
        if isinstance(text, str) and text.strip():
            made.append((place, _as_chat(text)))
        elif isinstance(text, list) and text:
            made.append((place, text))
        else:
            ledger.leave_out(files.source, files.line("prompts", index), PROMPT_ELSEWHERE, str(raw)[:100])
    return made


def among(prompts: Prompts, names: Any) -> Prompts:
    """Those that a test's own `prompts` name, by label or id, or by what a label begins with before `:`.

    Raises:
        UnmappedError: it names none of them.
    """
    if names is None:
        return prompts
    wanted = [name for name in (names if isinstance(names, list) else [names]) if isinstance(name, str)]
    found = [(place, text) for place, text in prompts if any(_is_named(place, name) for name in wanted)]
    if not found:
        raise UnmappedError("its own `prompts` name none that is read", ", ".join(wanted)[:100])
    return found


def _is_named(place: str, name: str) -> bool:
    return place == name or place.startswith(f"{name.removesuffix('*').removesuffix(':')}:")


def fill(prompt: Any, variables: Mapping[str, Any], prefix: str = "", suffix: str = "") -> CaseRow:
    """What opens a case: the prompt with its variables put in, between a prefix and a suffix.

    Raises:
        UnmappedError: a variable has no single value, or the prompt has logic in it.
        BrokenError: a prompt of messages that are none.
    """
    if prompt is None:
        if len(variables) != 1:
            raise UnmappedError("there is no prompt, and not just one variable")
        return {"query": _value(next(iter(variables)), variables)}
    if isinstance(prompt, str):
        return {"query": _filled(f"{prefix}{prompt}{suffix}", variables)}
    if prefix or suffix:
        raise UnmappedError("`prefix` or `suffix` around a prompt of messages")
    return opening(check_messages(_deep(prompt, variables), "prompt"))


def _as_chat(text: str) -> Any:
    """The messages that a prompt in JSON holds; the text itself where it is none."""
    if not text.lstrip().startswith("["):
        return text
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return found if isinstance(found, list) and all(isinstance(one, dict) and "role" in one for one in found) else text


def _deep(value: Any, variables: Mapping[str, Any]) -> Any:
    if isinstance(value, str):
        return _filled(value, variables)
    if isinstance(value, list):
        return [_deep(one, variables) for one in value]
    return {key: _deep(one, variables) for key, one in value.items()} if isinstance(value, dict) else value


def _filled(text: str, variables: Mapping[str, Any]) -> str:
    filled = _VARIABLE.sub(lambda match: _value(match[1], variables), text)
    # What a variable holds may look like a template, too, so that the prompt itself is looked at.
    if (rest := _VARIABLE.sub("", text)) and ("{%" in rest or "{{" in rest):
        raise UnmappedError("a prompt with logic in its template")
    return filled


def _value(name: str, variables: Mapping[str, Any]) -> str:
    value: Any = variables
    for part in name.split("."):
        if not isinstance(value, Mapping) or part not in value:
            raise UnmappedError("a prompt with a variable that the test does not give", name)
        value = value[part]
    if isinstance(value, list):
        raise UnmappedError("a variable with several values, which promptfoo combines", name)
    if isinstance(value, str) and value.startswith("file://"):
        raise UnmappedError("a variable that stands in another file", name)
    if isinstance(value, bool) or value is None or isinstance(value, Mapping):
        return json.dumps(value)
    return str(value)
