"""How the outcome of a trial is told: one sentence that names tools and arguments."""

from __future__ import annotations

from collections.abc import Sequence

from toolbelt.evals.cases.case import ExpectedCall
from toolbelt.evals.scoring.outcome import Selection
from toolbelt.evals.scoring.wording import LONGEST_NAME, cut, show_name

_MOST = 4
NO_ANSWER = "The model did not answer."
OVERFLOW = "The request was longer than the model's context."
REFUSAL = "The model refused to answer."
NOTHING_AS_EXPECTED = "Called nothing, as expected."
NOTHING_THOUGH_ANY = "Called nothing, though any call would do."


def gave_up(selections: Sequence[Selection]) -> str:
    """The request limit was reached."""
    return f"The request limit was reached after calling {_called(selections)}."


def hallucinated(selection: Selection) -> str:
    """A tool of no catalog was called."""
    return f"Called {show_name(selection.name)}, which is in no catalog."


def unoffered(selection: Selection) -> str:
    """A known tool was called that had not been offered."""
    if selection.tool_id is not None and selection.name != selection.tool_id.rpartition("/")[2]:
        return f"Called {show_name(selection.name)}, which is no name that was offered, for {_called([selection])}."
    return f"Called {_called([selection])}, which was not offered."


def unneeded(surplus: Sequence[Selection]) -> str:
    """Something was called where nothing should be."""
    return f"Called {_called(surplus)}, though nothing should be called."


def forbidden(calls: Sequence[Selection]) -> str:
    """Tools were called that must not be."""
    return f"Called {_called(calls)}, which is forbidden."


def wrong_tool(surplus: Sequence[Selection], missing: Sequence[ExpectedCall]) -> str:
    """Something else was called than should have been."""
    return f"Called {_called(surplus)} instead of {_wanted(missing)}."


def wrong_order(selections: Sequence[Selection], wanted: Sequence[ExpectedCall]) -> str:
    """The right calls were made, in another order."""
    return f"Called {_called(selections)} in the wrong order; right is {_wanted(wanted)}."


def missing_call(missing: Sequence[ExpectedCall]) -> str:
    """A call was not made."""
    return f"Did not call {_wanted(missing)}."


def extra_call(surplus: Sequence[Selection]) -> str:
    """More was called than should have been."""
    return f"Called {_called(surplus)} beyond what was asked for."


def invalid_arguments(selection: Selection, fault: str) -> str:
    """Arguments go against the schema."""
    return f"Called {_called([selection])} with arguments that go against its schema: {fault}."


def wrong_arguments(selection: Selection, fault: str) -> str:
    """Arguments are not what the case expects."""
    return f"Called {_called([selection])} with wrong arguments: {fault}."


def correct(selections: Sequence[Selection]) -> str:
    """All is right."""
    return f"Called {_called(selections)}, as expected." if selections else NOTHING_AS_EXPECTED


def _called(selections: Sequence[Selection]) -> str:
    return _listed([_name(selection.label) for selection in selections])


def _wanted(calls: Sequence[ExpectedCall]) -> str:
    return _listed([" or ".join(_name(tool) for tool in call.tools[:_MOST]) for call in calls])


def _listed(names: list[str]) -> str:
    shown = [*names[:_MOST], f"{len(names) - _MOST} more"] if len(names) > _MOST else names
    return " and ".join(filter(None, (", ".join(shown[:-1]), *shown[-1:]))) or "nothing"


def _name(name: str) -> str:
    return cut(name, LONGEST_NAME)
