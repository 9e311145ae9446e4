"""Check that the calls of a case are possible: arguments, results, steps, earlier calls, the loadout of its role."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from toolbelt.catalog import Catalog, Tool
from toolbelt.catalog.definitions import sent_schema
from toolbelt.catalog.validators import SchemaValidator, make_validator
from toolbelt.errors import suggestion
from toolbelt.evals.cases.case import Answer, ArgumentRules, Case, ExpectedArguments, ExpectedCall, is_covered
from toolbelt.evals.cases.references import CatalogNames, Unresolved
from toolbelt.findings import Finding, Severity
from toolbelt.loadouts import ToolLoadoutRegistry

_INCURABLE = frozenset({"additionalProperties", "propertyNames", "maxProperties", "not", "const", "enum"})
"""Keys of a schema for which further arguments cannot repair an object."""
_LONGEST = 200
"""Characters of a validator's message that are shown."""


class CallChecker:
    """Checks calls against the schemas of a catalog's tools."""

    def __init__(self, catalog: Catalog, tools: Mapping[str, Tool]) -> None:
        self._tools = tools
        self._names = CatalogNames(catalog)
        self._validators: dict[str, SchemaValidator | None] = {}

    def check(self, case: Case) -> Iterator[Finding]:
        """Findings for everything that is impossible as written."""
        yield from self.check_labels(case)
        yield from self._history(case)
        yield from _unused_results(case)
        yield from _too_few_steps(case)

    def check_labels(self, case: Case) -> Iterator[Finding]:
        """Findings for labels that break the schemas of their tools."""
        for call in (call for answer in case.answers for call in answer):
            if call.arguments is None:
                continue
            # The leaderboard has its own rules for values, which are looser than JSON's.
            is_literal = call.arguments.rules is ArgumentRules.LITERAL
            yield from (self._expected if is_literal else self._refused)(call, call.arguments)

    def _refused(self, call: ExpectedCall, arguments: ExpectedArguments) -> Iterator[Finding]:
        tools = [self._tools[tool_id] for tool_id in call.tools]
        whys = [f"requires {', '.join(missing)}" for missing in [_unnamed(tools, arguments)] if missing]
        for name, values in arguments.accepted.items():
            may_be_left_out = "" in values or name in arguments.optional or not values
            if not may_be_left_out and all(self._fault(tool, name, _plain(each)) for tool in tools for each in values):
                whys.append(f"refuses all that is right for {name!r}: {self._fault(tools[0], name, _plain(values[0]))}")
        for why in whys:
            message = f"The schema of {' or '.join(call.tools)} {why}. A call counts as right if it equals the label."
            yield _warning("label-against-schema", message)

    def _expected(self, call: ExpectedCall, arguments: ExpectedArguments) -> Iterator[Finding]:
        tools = [self._tools[tool_id] for tool_id in call.tools]
        named = " or ".join(call.tools)
        for name, values in arguments.accepted.items():
            refused = [value for value in values if all(self._fault(tool, name, value) for tool in tools)]
            if not refused:
                continue
            why = self._fault(tools[0], name, refused[0])
            message = f"{named} cannot be given this for {name!r}: {why}"
            if len(refused) == len(values):
                yield Finding("impossible-argument", Severity.ERROR, message)
            else:
                yield _warning("impossible-value", message)
        if arguments.exact and (missing := _unnamed(tools, arguments)):
            message = f"{named} requires {', '.join(missing)}, which `args_exact` with these arguments calls wrong."
            yield Finding("impossible-argument", Severity.ERROR, message)
        elif why := self._fault_of_all(tools, arguments):
            yield Finding("impossible-argument", Severity.ERROR, f"{named} cannot be given these together: {why}")
        if needless := sorted(arguments.optional & _required_by_each(tools)):
            message = f"{named} requires {', '.join(needless)}, which `optional` says may be left out."
            yield _warning("optional-but-required", message)

    def _fault_of_all(self, tools: list[Tool], arguments: ExpectedArguments) -> str | None:
        """Why the schemas refuse the arguments together, with and without the optional ones.

        Unless the call may have no other arguments, only faults count that further arguments cannot repair.
        """
        whole = {name: values[0] for name, values in arguments.accepted.items() if values}
        least = {name: value for name, value in whole.items() if name not in arguments.optional}
        faults = [
            [self._root_fault(tool, example, exact=arguments.exact) for example in (least, whole)] for tool in tools
        ]
        return faults[0][0] if faults and all(fault for both in faults for fault in both) else None

    def _root_fault(self, tool: Tool, values: Mapping[str, Any], *, exact: bool) -> str | None:
        if (validator := self._validator(tool)) is None:
            return None
        faults = (fault for fault in validator.faults(values) if not fault.path)
        fault = next((fault for fault in faults if exact or _INCURABLE.intersection(fault.schema_path)), None)
        return None if fault is None else fault.message[:_LONGEST]

    def _fault(self, tool: Tool, name: str, value: Any) -> str | None:
        """Why the tool's schema refuses this value of one argument; `None` also for a broken schema."""
        if (validator := self._validator(tool)) is None:
            return None
        # Faults of the whole object, such as a missing required argument, do not count here.
        faults = validator.faults({name: value})
        error = next((fault for fault in faults if next(iter(fault.path), None) == name), None)
        return None if error is None else error.message[:_LONGEST]

    def _validator(self, tool: Tool) -> SchemaValidator | None:
        if tool.id not in self._validators:
            self._validators[tool.id] = make_validator(sent_schema(tool.parameters) if tool.parameters else {})
        return self._validators[tool.id]

    def _history(self, case: Case) -> Iterator[Finding]:
        for index, message in enumerate(case.messages):
            calls = message.get("tool_calls")
            for call in calls if isinstance(calls, list) else ():
                function = call.get("function") if isinstance(call, Mapping) else None
                name = function.get("name") if isinstance(function, Mapping) else None
                if isinstance(name, str) and isinstance(function, Mapping):
                    yield from self._called(f"`messages[{index}]`", name, function.get("arguments"))

    def _called(self, place: str, name: str, written: Any) -> Iterator[Finding]:
        resolved = self._names.resolve(name)
        if isinstance(resolved, Unresolved):
            if resolved.rule == "unknown-tool":
                yield _warning("unknown-tool-in-history", f"{place} calls what is in no catalog: {resolved.message}")
            return
        try:
            arguments = json.loads(written) if isinstance(written, str) else written
        except (ValueError, RecursionError):
            yield _warning("impossible-call-in-history", f"The arguments that {place} gives {name!r} are no JSON.")
            return
        if arguments is None or (validator := self._validator(self._tools[resolved])) is None:
            return
        if (fault := next(validator.faults(arguments), None)) is not None:
            message = f"{place} gives {name!r} arguments that it does not take: {fault.message[:_LONGEST]}"
            yield _warning("impossible-call-in-history", message)


def _plain(value: Any) -> Any:
    """A value that the leaderboard accepts, as a call has it: in an object each key has a list of accepted values."""
    if isinstance(value, Mapping):
        chosen = {key: next((each for each in values if each != ""), "") for key, values in value.items()}
        return {key: each for key, each in chosen.items() if each != ""}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value


def _unnamed(tools: list[Tool], arguments: ExpectedArguments) -> list[str]:
    """Arguments that each of the tools requires, but the call does not name."""
    return sorted(_required_by_each(tools) - arguments.names)


def _required_by_each(tools: list[Tool]) -> set[str]:
    needed: list[set[str]] = []
    for tool in tools:
        required = tool.parameters.get("required")
        names = required if isinstance(required, list) else []
        needed.append({name for name in names if isinstance(name, str)})
    return set.intersection(*needed) if needed else set()


def _unused_results(case: Case) -> Iterator[Finding]:
    if case.expected is None or not (unused := sorted(case.results.keys() - case.right_ids)):
        return
    message = f"`results` has {', '.join(unused)}, which no right answer calls and `allowed_extra` does not allow."
    yield _warning("unused-result", message)


def _too_few_steps(case: Case) -> Iterator[Finding]:
    for answer in case.answers:
        if len(answer) > case.steps and not _holds_a_shorter_one(answer, case):
            message = (
                f"After {case.steps:,} `steps` the trial ends, so the answer of {len(answer):,} calls cannot be made "
                "one after the other."
            )
            yield _warning("too-few-steps", message)
            return


def _holds_a_shorter_one(answer: Answer, case: Case) -> bool:
    """Whether an agent that makes the calls of `answer` completes another, shorter answer within the steps."""
    calls = [call.tools for call in answer]
    shorter = ([call.tools for call in other] for other in case.answers if 0 < len(other) <= case.steps)
    return any(all(tools in calls for tools in other) for other in shorter)


def _warning(rule: str, message: str) -> Finding:
    return Finding(rule, Severity.WARNING, message)


OUTSIDE = "outside-role"
"""The tag of cases whose role is meant to lack the tool."""


class RoleChecker:
    """Checks answers against the loadouts of roles (coverage as in rule E5)."""

    def __init__(self, catalog: Catalog, registry: ToolLoadoutRegistry) -> None:
        self._catalog = catalog
        self._registry = registry
        self._active: dict[str, frozenset[str] | None] = {}

    def check(self, case: Case) -> Iterator[Finding]:
        """A finding where the role is unknown, lacks the tools, or has them where it should not."""
        is_outside = OUTSIDE in case.tags
        if case.role is None:
            if is_outside:
                yield _warning("role-has-tool", f"The case is tagged {OUTSIDE!r}, but names no role.")
            return
        active = self._active_of(case.role)
        if active is None:
            known = [loadout.name for loadout in self._registry.get_all()]
            message = f"The role {case.role!r} is no loadout.{suggestion(case.role, known)}"
            yield Finding("unknown-role", Severity.ERROR, message)
        elif is_outside:
            yield from self._has(case, active)
        elif case.answers and not is_covered(case, active):
            lacking = [call for call in case.answers[0] if not active.intersection(call.tools)]
            names = ", ".join(" or ".join(call.tools) for call in lacking)
            message = f"Loadout {case.role!r} does not have {names}; if that is meant, tag the case {OUTSIDE!r}."
            yield _warning("role-without-tool", message)

    def _has(self, case: Case, active: frozenset[str]) -> Iterator[Finding]:
        """Skips empty answers, because every role can give them."""
        for answer in filter(None, case.answers):
            if all(active.intersection(call.tools) for call in answer):
                names = ", ".join(" or ".join(call.tools) for call in answer)
                message = f"The case is tagged {OUTSIDE!r}, but loadout {case.role!r} has {names}."
                yield _warning("role-has-tool", message)
                return

    def _active_of(self, role: str) -> frozenset[str] | None:
        if role not in self._active:
            known = self._registry.get_loadout(role) is not None
            tools = self._registry.resolve(role, self._catalog).active_tools if known else ()
            self._active[role] = frozenset(tool.id for tool in tools) if known else None
        return self._active[role]
