"""Why a trial has its outcome: one sentence each, short whatever the model wrote."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from toolbelt.evals.cases.case import ExpectedCall
from toolbelt.evals.scoring.outcome import SelectedTool

LONGEST_VALUE = 80
"""Characters of a value that are shown."""
LONGEST_NAME = 60
"""Characters of a name that are shown."""
MOST_VALUES = 3
"""Accepted values that are shown."""


def missing(name: str) -> str:
    """An argument that should be there is not."""
    return f"argument {show_name(name)} is missing"


def unexpected(name: str) -> str:
    """An argument is there that should not be."""
    return f"argument {show_name(name)} is not expected"


def differs(name: str, given: Any, accepted: Sequence[Any]) -> str:
    """An argument has none of the accepted values."""
    shown = [show_value(value) for value in accepted[:MOST_VALUES]]
    if more := len(accepted) - len(shown):
        shown.append(f"{more} more")
    if not shown:
        return f"argument {show_name(name)} is {show_value(given)}, and no value is accepted"
    listed = shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} or {shown[-1]}"
    return f"argument {show_name(name)} is {show_value(given)}, not {listed}"


def lacks(name: str, value: Any, text: str) -> str:
    """An argument does not contain a text."""
    return f"argument {show_name(name)} is {show_value(value)}, which does not contain {show_value(text)}"


def show_value(value: Any) -> str:
    """As JSON on one line, cut."""
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        text = type(value).__name__
    return cut(text, LONGEST_VALUE)


def show_name(name: str) -> str:
    """In quotes, on one line, cut."""
    return repr(cut(name, LONGEST_NAME))


def cut(text: str, longest: int) -> str:
    """At most `longest` characters, with an ellipsis where some were left out."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


_MOST = 4
NO_ANSWER = "The model did not answer."
OVERFLOW = "The request was longer than the model's context."
REFUSAL = "The model refused to answer."
BROKEN_CALL = "The server could not read the model's call."
TRUNCATED = "The token limit cut the answer before its calls were complete."
NOTHING_AS_EXPECTED = "Called nothing, as expected."
NOTHING_THOUGH_ANY = "Called nothing, though any call would do."


def gave_up(selections: Sequence[SelectedTool]) -> str:
    """The request limit was reached."""
    return f"The request limit was reached after calling {_called(selections)}."


def hallucinated(selection: SelectedTool) -> str:
    """A tool of no catalog was called."""
    return f"Called {show_name(selection.name)}, which is in no catalog."


def unoffered(selection: SelectedTool) -> str:
    """A known tool was called that had not been offered."""
    if selection.tool_id is not None and selection.name != selection.tool_id.rpartition("/")[2]:
        return f"Called {show_name(selection.name)}, which is no name that was offered, for {_called([selection])}."
    return f"Called {_called([selection])}, which was not offered."


def unneeded(surplus: Sequence[SelectedTool]) -> str:
    """Something was called where nothing should be."""
    return f"Called {_called(surplus)}, though nothing should be called."


def forbidden(calls: Sequence[SelectedTool]) -> str:
    """Tools were called that must not be."""
    return f"Called {_called(calls)}, which is forbidden."


def wrong_tool(surplus: Sequence[SelectedTool], missing: Sequence[ExpectedCall]) -> str:
    """Something else was called than should have been."""
    return f"Called {_called(surplus)} instead of {_wanted(missing)}."


def wrong_order(selections: Sequence[SelectedTool], wanted: Sequence[ExpectedCall]) -> str:
    """The right calls were made, in another order."""
    return f"Called {_called(selections)} in the wrong order; right is {_wanted(wanted)}."


def missing_call(missing: Sequence[ExpectedCall]) -> str:
    """A call was not made."""
    return f"Did not call {_wanted(missing)}."


def extra_call(surplus: Sequence[SelectedTool]) -> str:
    """More was called than should have been."""
    return f"Called {_called(surplus)} beyond what was asked for."


def invalid_arguments(selection: SelectedTool, fault: str) -> str:
    """Arguments go against the schema."""
    return f"Called {_called([selection])} with arguments that go against its schema: {fault}."


def wrong_arguments(selection: SelectedTool, fault: str) -> str:
    """Arguments are not what the case expects."""
    return f"Called {_called([selection])} with wrong arguments: {fault}."


def correct(selections: Sequence[SelectedTool]) -> str:
    """All is right."""
    return f"Called {_called(selections)}, as expected." if selections else NOTHING_AS_EXPECTED


def _called(selections: Sequence[SelectedTool]) -> str:
    return _listed([_name(selection.label) for selection in selections])


def _wanted(calls: Sequence[ExpectedCall]) -> str:
    return _listed([" or ".join(_name(tool) for tool in call.tools[:_MOST]) for call in calls])


def _listed(names: list[str]) -> str:
    shown = [*names[:_MOST], f"{len(names) - _MOST} more"] if len(names) > _MOST else names
    return " and ".join(filter(None, (", ".join(shown[:-1]), *shown[-1:]))) or "nothing"


def _name(name: str) -> str:
    return cut(name, LONGEST_NAME)
