"""Turn promptfoo's assertions into the label of a case, with the meaning that they have in promptfoo 0.121.20.

Each assertion about tools demands calls, or bounds how often tools are called; `Assertions` collects these demands, and
one label is made of them all. One call may meet several demands, so that a label has an answer for each way in which
calls can meet them. A test with an assertion about tools that no label expresses makes no case: a label without it
would be another test. Assertions about the words, the cost or the time of an answer are left aside and reported.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from toolbelt.evals.cases.imports.context import CaseRow, Context
from toolbelt.evals.cases.imports.import_report import BrokenError, UnmappedError
from toolbelt.evals.cases.imports.promptfoo_demands import (
    CONTRADICTING,
    MOST_TOOLS,
    NEVER_PASSES,
    DemandedCall,
    Demands,
    are_equal,
)
from toolbelt.evals.cases.imports.promptfoo_outputs import (
    LITERAL,
    NAME_TESTS,
    may_be_about_calls,
    read_literal,
    read_place,
    read_scalar,
    read_terms,
)

BY_PATTERN = "a pattern that fits no tool, or more than 50"
INVERSE = "an assertion about calls that must not be made, other than of a tool as such"
THRESHOLD = "a threshold below 1, so that a part of its assertions is enough"
NESTED_PARTS = "arguments inside of an argument, which promptfoo compares in part"
VARIABLES_INSIDE = "variables inside of an assertion's object, which promptfoo does not fill in"
UNREADABLE = "an assertion that may be about tools, in a program or of a form that is not read"
NOT_THERE = "a tool that must not be called is not offered"
_ANY_CALL = ("is-valid-openai-tools-call", "is-valid-openai-function-call", "is-valid-function-call")
_PROGRAMS = ("javascript", "python", "ruby", "webhook", "trace-span-count", "trajectory:step-count")
"""Assertions that may be about tools; the last two have objects as values."""
_JSON = ("is-json", "contains-json", "equals")  # about tools where their value is no text
_INVERTED = ("trajectory:tool-used", "trajectory:tool-sequence")


class Assertions:
    """Combines the assertions of one test into one label.

    Args:
        context: Of the import.
        offered: Ids of the tools that the test offers; `None` if they are not known.
        fill: Fills variables into a text.
        transform: What the test or its provider makes of an output before assertions read it.
    """

    def __init__(
        self,
        context: Context,
        offered: tuple[str, ...] | None,
        fill: Callable[[str], str] = str,
        transform: Any = None,
    ) -> None:
        self._context = context
        self._offered = offered
        self._fill = fill
        self._transform = transform
        self._tools = [context.catalog.get_tool(tool) for tool in offered] if offered else context.catalog.tools
        self._demands = Demands(tuple(tool.id for tool in self._tools))
        self.aside: list[str] = []  # types of assertions that are not about tools
        self._beside_calls: list[
            str
        ] = []  # that are, where the output is calls: programs, and texts with a tool's name

    def add(self, assertion: Any) -> None:
        """Add an assertion.

        Raises:
            UnmappedError: it is about tools, and a case cannot express it.
            BrokenError: it does not have the form of its type.
        """
        if not isinstance(assertion, Mapping) or not isinstance(assertion.get("type"), str):
            raise BrokenError("wrong-type", "An assertion is an object with a `type`.")
        kind, value = assertion["type"], self._filled(assertion.get("value"))
        if assertion.get("weight") == 0:  # whose result does not count
            return
        if kind == "assert-set":
            if is_below_one(assertion.get("threshold")):
                raise UnmappedError(THRESHOLD, kind)
            for part in assertion.get("assert") or ():
                self.add(part)
            return
        base, inverse = kind.removeprefix("not-"), kind.startswith("not-")
        transforms = [text for text in (self._transform, assertion.get("transform")) if text]
        readers: Mapping[str, Callable[[], object]] = {
            "tool-call-f1": lambda: self._add_f1(value, assertion.get("threshold", 1)),
            "trajectory:tool-used": lambda: self._add_used(value, inverse=inverse),
            "trajectory:tool-sequence": lambda: self._add_sequence(value, inverse=inverse),
            "trajectory:tool-args-match": lambda: self._add_arguments(value),
            **dict.fromkeys(_ANY_CALL, lambda: setattr(self._demands, "any_call", True)),
        }
        if base in readers:
            if "{{" in json.dumps(value):
                raise UnmappedError(VARIABLES_INSIDE, kind)
            if inverse and base not in _INVERTED:
                raise UnmappedError(INVERSE, kind)
            if transforms and not base.startswith("trajectory:"):
                raise UnmappedError(UNREADABLE, f"{kind} of a transformed output")
            readers[base]()
        elif not self._add_other(kind, value, transforms):
            self.aside.append(kind)
            if (base in _PROGRAMS and "output" in str(value)) or any(tool.name in str(value) for tool in self._tools):
                self._beside_calls.append(kind)

    def _add_other(self, kind: str, value: Any, transforms: Sequence[Any]) -> bool:
        """Read an assertion about an output that may be calls; returns whether it is about them."""
        if transforms and self._add_transformed(kind, value, transforms):
            return True
        if kind == "javascript" and not transforms and isinstance(value, str) and self._add_script(value):
            return True
        base = kind.removeprefix("not-")
        is_program = base in _PROGRAMS and may_be_about_calls(value)
        if (
            is_program
            or any(map(may_be_about_calls, transforms))
            or (base in _JSON and not isinstance(value, str | None))
        ):
            raise UnmappedError(UNREADABLE, kind)
        return False

    def label(self) -> CaseRow:
        """The label of the test; it has no `expected` if no assertion names the right tools.

        Raises:
            UnmappedError: no case can express the assertions together.
        """
        label = self._demands.make_label()
        if self._beside_calls and label.get("expected", ()) is None:  # a part of the calls that it would leave out
            raise UnmappedError(UNREADABLE, self._beside_calls[0])
        return label

    def _add_f1(self, value: Any, threshold: Any) -> None:
        """Sets of names are compared: these tools and no others, each any number of times."""
        value = [part.strip() for part in value.split(",")] if isinstance(value, str) else value
        names = list(dict.fromkeys(_texts(value, "tool-call-f1")))
        if not names:
            raise UnmappedError(NEVER_PASSES, "tool-call-f1 of nothing")
        # With one tool too many, it is 2n / (2n + 1); with one too few, less.
        if not isinstance(threshold, int | float) or not 2 * len(names) / (2 * len(names) + 1) < threshold <= 1:
            raise UnmappedError(THRESHOLD, f"tool-call-f1, {threshold!r}"[:100])
        only = tuple(self._named(name) for name in names)
        if self._demands.only is not None and set(self._demands.only) != set(only):
            raise UnmappedError(NEVER_PASSES)
        self._demands.only = only

    def _add_used(self, value: Any, *, inverse: bool) -> None:
        kind = "trajectory:tool-used"
        if not isinstance(value, Mapping):
            names = _texts([value] if isinstance(value, str) else value, kind)
            if not names:
                raise UnmappedError(NEVER_PASSES, f"{kind} of nothing")
            for name in names:
                if inverse:
                    self._forbid(name)
                else:
                    self._demands.add(DemandedCall(self._matching(name), {}))
            return
        name = _matcher(value, kind)
        bounds = [value.get(key) if type(value.get(key)) in (int, float) else None for key in ("min", "max")]
        least, most = 1 if bounds[0] is None else int(bounds[0]), None if bounds[1] is None else int(bounds[1])
        if inverse:
            if most is not None and least > 0:
                raise UnmappedError(INVERSE, kind)
            least, most = (0, least - 1) if most is None else (most + 1, None)
        if most is not None and most < least:
            raise UnmappedError(NEVER_PASSES, f"{kind}: at least {least} and at most {most} calls")
        if most == 0:
            self._forbid(name)
            return
        tools = self._matching(name)
        if least > 0:
            self._demands.add(*[DemandedCall(tools, {})] * least)
        if most is not None:
            if len(tools) > 1:
                raise UnmappedError(CONTRADICTING, f"{kind}: at most {most} calls of several tools")
            self._demands.most[tools[0]] = min(most, self._demands.most.get(tools[0], most))

    def _add_sequence(self, value: Any, *, inverse: bool) -> None:
        kind = "trajectory:tool-sequence"
        mode, steps = (value.get("mode"), value.get("steps")) if isinstance(value, Mapping) else (None, value)
        if not isinstance(steps, list):
            raise BrokenError("wrong-type", f"The value of `{kind}` must be a list of steps, or have one.")
        names = [_matcher(step, kind) if isinstance(step, Mapping) else step for step in steps]
        if not _texts(names, kind):
            raise UnmappedError(NEVER_PASSES, f"{kind} of nothing")
        if inverse:
            if len(names) > 1 or mode == "exact":
                raise UnmappedError(INVERSE, kind)
            self._forbid(names[0])
            return
        calls = tuple(DemandedCall(self._matching(name), {}) for name in names)
        if self._demands.sequence not in (None, calls):
            raise UnmappedError(CONTRADICTING)
        self._demands.sequence, self._demands.is_closed = calls, self._demands.is_closed or mode == "exact"

    def _add_arguments(self, value: Any) -> None:
        kind = "trajectory:tool-args-match"
        if not isinstance(value, Mapping):
            raise BrokenError("wrong-type", f"`{kind}` needs an object with a `name` and `args`.")
        tools = self._matching(_matcher(value, kind))
        expected = value["args"] if "args" in value else value.get("arguments")
        mode, ignore = value.get("mode", "partial"), value.get("ignore", [])
        ignored = _texts([ignore] if isinstance(ignore, str) else ignore, f"{kind}: ignore")
        defaults = value.get("defaults", {})
        if not isinstance(expected, Mapping) or not isinstance(defaults, Mapping) or mode not in ("partial", "exact"):
            raise UnmappedError(NEVER_PASSES, f"{kind} without a mapping of `args`, or with another `mode`")
        if not self._context.settings.keeps(recorded=False):
            self._demands.add(DemandedCall(tools, {}))
            return
        wanted = {name: given for name, given in expected.items() if not _is_ignored(name, ignored)}
        defaults = {name: given for name, given in defaults.items() if not _is_ignored(name, ignored)}
        if mode == "partial" and any(_holds_mapping(given) for given in wanted.values()):
            raise UnmappedError(NESTED_PARTS, kind)
        if any(name in defaults and are_equal(given, defaults[name]) for name, given in wanted.items()):
            # What equals its default is taken from the call, and so is missing.
            raise UnmappedError(NEVER_PASSES, f"{kind}: an argument that is expected to be its default")
        if mode == "partial":
            self._demands.add(DemandedCall(tools, {"args": wanted} if wanted else {}))
            return
        left_out = {name: [given] for name, given in defaults.items() if name not in wanted}
        described = {name: None for tool in tools for name in self._properties(tool)}
        free = [name for name in dict.fromkeys([*ignored, *described]) if _is_ignored(name, ignored)]
        free = [name for name in free if not _is_pattern(name)]
        arguments: CaseRow = {"args": wanted, "args_exact": True}
        if left_out:
            arguments["args_any"] = left_out
        if left_out or free:
            arguments["optional"] = [*left_out, *free]
        self._demands.add(DemandedCall(tools, arguments))

    def _add_transformed(self, kind: str, value: Any, transforms: Sequence[Any]) -> bool:
        """Read an assertion about a part of the first calls; returns whether it could be read."""
        script = transforms[0] if len(transforms) == 1 and isinstance(transforms[0], str) else ""
        what, index, key = read_place(script) or ("", 0, "")
        if what == "name":
            return self._add_name_test(index, kind, value)
        if kind != "equals":
            return False
        if what == "length" and str(value).isdigit():
            return self._demands.set_count(int(value))
        if what == "names" and (names := value.split(key) if isinstance(value, str) and key else value):
            for place, name in enumerate(_texts(names, kind)):
                self._set_first(place, DemandedCall((self._named(name),), {}))
            return self._demands.set_count(len(names))
        arguments: CaseRow = {}
        if what == "arguments" and isinstance(value, Mapping):
            arguments = {"args": dict(value), "args_exact": True}
        elif what == "argument" and isinstance(value, list | Mapping):
            arguments = {"args": {key: value}}
        elif what == "argument":  # compared as texts: 5 and "5" are one
            values = dict.fromkeys((str(value), read_scalar(str(value))))
            arguments = {"args_any": {key: list(values)}}
        return bool(arguments) and self._set_first(index, DemandedCall(self._demands.universe, arguments))

    def _add_name_test(self, index: int, kind: str, value: Any) -> bool:
        base, inverse = kind.removeprefix("not-"), kind.startswith("not-")
        texts = [str(part) for part in value] if isinstance(value, list) else [str(value)]
        test = NAME_TESTS.get(base)
        if test is None or (isinstance(value, list) and "any" not in base):
            return False
        tools = tuple(tool.id for tool in self._tools if test(tool.name, texts) != inverse)
        if not tools:
            raise UnmappedError(NEVER_PASSES, kind)
        return self._set_first(index, DemandedCall(tools, {}))

    def _add_script(self, script: str) -> bool:
        """Read an expression about the first calls, such as `output[0].function.name === 'x'`; as above."""
        terms = read_terms(script)
        readers = [reader for term in terms if (reader := self._read_term(term)) is not None]
        if not terms or len(readers) < len(terms):
            return False
        for reader in readers:
            reader()
        return True

    def _read_term(self, term: str) -> Callable[[], object] | None:
        if re.fullmatch(r"!\s*Array\.isArray\(output\)|typeof output === ?(['\"])string\1", term):
            return lambda: setattr(self._demands, "no_call", True)
        if found := re.fullmatch(r"output(?:\.tool_calls)?\.some\(\(?(\w+)\)? => \1(.+)\)", term):
            inner = re.fullmatch(rf"(.+?) ?===? ?({LITERAL})", found[2])
            if inner and read_place(f"output{inner[1]}") == ("name", 0, ""):
                return lambda: self._demands.add(DemandedCall((self._named(read_literal(inner[2])),), {}))
            return None
        found = re.fullmatch(rf"(.+?) ?(===?) ?({LITERAL})", term)
        if found is None:
            found = re.fullmatch(rf"({LITERAL}) ?(===?) ?(.+)", term)
            sides = (found[3], found[1]) if found else ("", "")
        else:
            sides = (found[1], found[3])
        place = read_place(sides[0])
        if found is None or place is None:
            return None
        (what, index, key), value = place, read_literal(sides[1])
        if what == "length" and type(value) is int:
            return lambda: self._demands.set_count(value)
        if what == "name" and isinstance(value, str):
            return lambda: self._set_first(index, DemandedCall((self._named(value),), {}))
        if what == "argument" and found[2] == "===":
            return lambda: self._set_first(index, DemandedCall(self._demands.universe, {"args": {key: value}}))
        return None

    def _set_first(self, place: int, call: DemandedCall) -> bool:
        keeps = self._context.settings.keeps(recorded=False)
        return self._demands.set_first(place, call if keeps else DemandedCall(call.tools, {}))

    def _filled(self, value: Any) -> Any:
        """Variables filled in where promptfoo does: in a text, and in the texts of a list."""
        if isinstance(value, list):
            return [self._filled(part) if isinstance(part, str) else part for part in value]
        return self._fill(value) if isinstance(value, str) and not value.startswith("file://") else value

    def _forbid(self, pattern: str) -> None:
        try:
            self._demands.forbidden |= dict.fromkeys(self._matching(pattern, most=len(self._demands.universe)))
        except UnmappedError:
            self._context.report.note(NOT_THERE)

    def _matching(self, pattern: str, most: int = MOST_TOOLS) -> tuple[str, ...]:
        """Ids of the tools with a name, in any case, or with one that fits a pattern with `*` and `?`."""
        escaped = re.escape(pattern).replace(r"\*", ".*").replace(r"\?", ".")
        fits = re.compile(escaped, re.IGNORECASE).fullmatch
        tools = tuple(tool.id for tool in self._tools if fits(tool.name))
        if not tools and not _is_pattern(pattern):
            return _listed(self._context.reference(pattern, self._offered))
        if not 0 < len(tools) <= most:
            raise UnmappedError(BY_PATTERN, f"{pattern}: {len(tools)}")
        return tools

    def _named(self, name: str) -> str:
        """The id of the tool with this very name, in this case."""
        tools = _listed(self._context.reference(name, self._offered))
        if len(tools) > 1:
            raise UnmappedError(CONTRADICTING, f"{name} is the name of several tools")
        if not tools[0].endswith(name) and self._context.catalog.wire_names[tools[0]] != name:
            raise UnmappedError(NEVER_PASSES, f"{name} is spelled {tools[0]}")
        return tools[0]

    def _properties(self, tool_id: str) -> Iterable[str]:
        properties = self._context.catalog.get_tool(tool_id).parameters.get("properties")
        return properties if isinstance(properties, Mapping) else ()


def is_below_one(threshold: Any) -> bool:
    """Whether a threshold lets a part of several assertions be enough."""
    return threshold is not None and not (isinstance(threshold, int | float) and threshold >= 1)


def _matcher(value: Mapping[str, Any], kind: str) -> str:
    """The pattern of an object that names a tool.

    Raises:
        UnmappedError: it names none, or something that is no tool; promptfoo finds nothing then.
    """
    types = value.get("type", "tool")
    pattern = value.get("pattern") or value.get("name")
    if not isinstance(pattern, str) or "tool" not in (types if isinstance(types, list) else [types]):
        raise UnmappedError(NEVER_PASSES, f"{kind} without the `name` or `pattern` of a tool")
    return pattern


def _texts(value: Any, kind: str) -> list[str]:
    if isinstance(value, list) and all(isinstance(text, str) and text.strip() for text in value):
        return value
    raise BrokenError("wrong-type", f"The value of `{kind}` must name tools.")


def _listed(reference: str | list[str]) -> tuple[str, ...]:
    return (reference,) if isinstance(reference, str) else tuple(reference)


def _is_pattern(text: str) -> bool:
    return "*" in text or "?" in text


def _is_ignored(name: str, ignored: Sequence[str]) -> bool:
    return any(
        name == entry
        or (
            _is_pattern(entry)
            and re.fullmatch(re.escape(entry).replace(r"\*", ".*").replace(r"\?", "."), name, re.IGNORECASE)
        )
        for entry in ignored
    )


def _holds_mapping(value: Any) -> bool:
    return isinstance(value, Mapping) or (isinstance(value, list) and any(map(_holds_mapping, value)))
