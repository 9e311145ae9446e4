"""Checks the arguments of calls against the schemas of a catalog's tools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolbelt.catalog import Catalog
from toolbelt.catalog.definitions import sent_schema
from toolbelt.catalog.validators import SchemaFault, SchemaValidator, make_validator
from toolbelt.evals.cases.case import ExpectedArguments
from toolbelt.evals.scoring.reasons import cut, show_name

_NOT_AN_OBJECT = "the arguments are no JSON object"
_LONGEST_FAULT = 240


class ArgumentSchemas:
    """What each tool of a catalog takes. The schema that is sent is read when its tool is first called, and once.

    A schema is read in the dialect that its `$schema` names, else in that of 2020-12. One that is broken, or refers to
    what is not in it, says nothing about arguments: they go unchecked, and nothing is ever fetched.

    Args:
        catalog: The tools.
    """

    def __init__(self, catalog: Catalog) -> None:
        self._schemas = {tool.id: sent_schema(tool.parameters) if tool.parameters else {} for tool in catalog.tools}
        self._validators: dict[str, SchemaValidator | None] = {}

    def get_schema(self, tool_id: str) -> Mapping[str, Any]:
        """The schema of a tool's arguments; empty where it has none, or where there is no such tool."""
        return self._schemas.get(tool_id, {})

    def can_check(self, tool_id: str) -> bool:
        """Whether there is a schema that says anything."""
        return self._validator(tool_id) is not None

    def find_fault(
        self, tool_id: str, arguments: Mapping[str, Any] | None, label: ExpectedArguments | None = None
    ) -> str | None:
        """Where the arguments go against the tool's schema, as a short clause; `None` if they do not.

        Args:
            tool_id: The tool that is called.
            arguments: As the model gave them; `None`, for what is no JSON object, is always a fault.
            label: What was expected, where the arguments are right by it: what the label itself breaks is no fault.
        """
        if arguments is None:
            return _NOT_AN_OBJECT
        if (validator := self._validator(tool_id)) is None:
            return None
        instance = arguments if isinstance(arguments, dict) else dict(arguments)
        faults = (fault for fault in validator.faults(instance) if not (label and _is_of_label(fault, instance, label)))
        error = next(faults, None)
        if error is None:
            return None
        place = ".".join(map(str, error.path))
        return cut(f"argument {show_name(place)}: {error.message}" if place else error.message, _LONGEST_FAULT)

    def _validator(self, tool_id: str) -> SchemaValidator | None:
        try:
            return self._validators[tool_id]
        except KeyError:
            validator = self._validators[tool_id] = make_validator(self.get_schema(tool_id))
            return validator


def _is_of_label(fault: SchemaFault, arguments: Mapping[str, Any], label: ExpectedArguments) -> bool:
    """Whether every call that is right by a label has this fault, too, as far as the label says."""
    if fault.path:
        return fault.path[0] in label.names
    return label.exact or (fault.keyword != "required" and arguments.keys() <= label.names)
