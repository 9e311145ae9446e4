"""What a function states about itself: name, docstring, and the schema of its arguments (rule R1)."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import re
import sys
import types
import typing
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Annotated, Any, get_args, get_origin

from toolbelt.errors import InvalidDefinitionError
from toolbelt.runtime.arguments import Parameter, Parse
from toolbelt.runtime.context import ToolContext
from toolbelt.text import show_value

_EMPTY = inspect.Parameter.empty


@dataclass(frozen=True)
class Signature:
    """What a function states about itself.

    Attributes:
        name: Empty for a lambda.
        description: The docstring up to its section on arguments or results.
        parameters: JSON Schema of the arguments; empty unless it was derived.
        context_parameter: The parameter that takes the `ToolContext`; `None` if none does.
        parse: Turns arguments into annotated values; `None` unless the schema was derived.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    context_parameter: str | None
    parse: Parse | None


def read_signature(function: Callable[..., Any], *, derive: bool, given: Collection[str] = ()) -> Signature:
    """Read a function, a method, a `functools.partial`, a class, or an object that can be called.

    The model does not see what a `partial` has bound. A default of `None` makes `None` a value of the parameter. A
    parameter takes the `ToolContext` if it is annotated so, or if it is called `ctx` and has no annotation.

    Args:
        function: The function of the tool.
        derive: Whether to derive the schema, for which pydantic is loaded.
        given: Names of arguments in the schema, where it is not derived: none of them takes the context by its name.

    Raises:
        InvalidDefinitionError: it cannot be called by the names of its arguments, an annotation has no schema or
            cannot be resolved, or two parameters take the `ToolContext`.
    """
    if not callable(function):
        raise InvalidDefinitionError(f"{show_value(function)} is no function, so it cannot be a tool.")
    name = _find_name(function)
    docstring = Docstring(_find_docstring(function))
    reader = _Reader(function, name or "the lambda")
    open_parameters = reader.open_parameters(strict=derive)
    hints = reader.hints(open_parameters, strict=derive)
    context_parameter = reader.find_context_parameter(hints) or next(
        (each.name for each in open_parameters if _is_bare_context(each) and each.name not in given), None
    )
    if not derive:
        return Signature(name, docstring.description, {}, context_parameter, None)
    from toolbelt.runtime.annotations import derive as derive_schema  # and with it pydantic

    parameters = {}
    for parameter in open_parameters:
        if parameter.name != context_parameter:
            stars = "**" if parameter.kind is inspect.Parameter.VAR_KEYWORD else ""
            text = docstring.parameters.get(parameter.name, "")
            parameters[stars + parameter.name] = Parameter(hints.get(parameter.name, Any), parameter.default, text)
    schema, parse = derive_schema(reader.label, parameters, _own_names(function).difference(parameters))
    return Signature(name, docstring.description, schema, context_parameter, parse)


def _is_bare_context(parameter: inspect.Parameter) -> bool:
    by_name = (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
    return parameter.name == "ctx" and parameter.annotation is _EMPTY and parameter.kind in by_name


def find_misfit(
    function: Callable[..., Any], parameters: Mapping[str, Any], context_parameter: str | None
) -> str | None:
    """Why a function cannot take the arguments that a schema lists, to follow its name; `None` if it can.

    Args:
        function: Called with the arguments by name.
        parameters: JSON Schema of the arguments; one without `properties` says nothing.
        context_parameter: The parameter that takes the `ToolContext`; `None` if none does.
    """
    listed = parameters.get("properties")
    try:
        signature = inspect.signature(function).parameters.values()
    except (ValueError, TypeError):  # some of what is written in C has none
        return None
    if not isinstance(listed, Mapping):
        return None
    by_name = {each.name: each for each in signature if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)}
    takes_any = any(each.kind is each.VAR_KEYWORD for each in signature)
    if not takes_any and (unknown := [name for name in listed if name not in by_name or name == context_parameter]):
        return f"does not take {', '.join(map(repr, unknown))}, which its parameters list"
    needed = [
        each.name
        for each in signature
        if each.default is _EMPTY
        and each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)
        and each.name not in (*listed, context_parameter)
    ]
    if needed and not (parameters.get("additionalProperties") or "patternProperties" in parameters):
        return f"needs {', '.join(map(repr, needed))}, which its parameters do not list"
    return None


class _Reader:
    """Reads the parameters of one function."""

    def __init__(self, function: Callable[..., Any], label: str) -> None:
        self.label = label
        self._function = function
        self._home = _find_home(function)
        try:
            self.signature: inspect.Signature | None = inspect.signature(function)
        except (ValueError, TypeError):  # some of what is written in C has none
            self.signature = None

    def open_parameters(self, *, strict: bool) -> list[inspect.Parameter]:
        """The parameters that are not bound yet; if strict, one that a call by name cannot fill is an error."""
        if self.signature is None:
            if strict:
                raise InvalidDefinitionError(
                    f"The signature of {self.label} cannot be read; give the `parameters` of the tool."
                )
            return []
        parameters = [each for each in self.signature.parameters.values() if each.name not in _bound(self._function)]
        if strict:
            for number, parameter in enumerate(parameters):
                self._refuse_unfillable(parameter, first=number == 0)
        return parameters

    def _refuse_unfillable(self, parameter: inspect.Parameter, *, first: bool) -> None:
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            reason = f"takes *{parameter.name}, but a model gives arguments by name; take a list instead"
        elif parameter.kind is inspect.Parameter.POSITIONAL_ONLY:
            reason = f"takes {parameter.name!r} by position only, but a model gives arguments by name; drop the `/`"
            if not isinstance(self._home, types.FunctionType | type):
                reason = f"{reason.rpartition(';')[0]}; wrap it in a function"
        elif first and parameter.name in ("self", "cls") and parameter.annotation is _EMPTY:
            reason = f"takes {parameter.name!r}, so it is a method without its object; hand over `object.method`"
        else:
            return
        raise InvalidDefinitionError(f"{self.label} {reason}.")

    def hints(self, parameters: list[inspect.Parameter], *, strict: bool) -> dict[str, Any]:
        """Annotations by name, with strings resolved; one that cannot be is left out, or an error if strict."""
        written = {each.name: each.annotation for each in parameters if each.annotation is not _EMPTY}
        namespace = self._namespace
        try:
            return _resolve(written, namespace, {})
        except Exception:  # noqa: BLE001, S110  a string may contain anything; now one by one, with more names
            pass
        further = {"ToolContext": ToolContext, **self._enclosing_names()}
        further = {name: value for name, value in further.items() if name not in namespace}
        hints: dict[str, Any] = {}
        for name, annotation in written.items():
            try:
                hints |= _resolve({name: annotation}, namespace, further)
            except Exception as error:  # noqa: BLE001  as above
                if strict:
                    raise InvalidDefinitionError(
                        f"The annotation {annotation!r} of parameter {name!r} of {self.label} cannot be resolved "
                        f"({error}). Import what it names where the function is, and not for type checkers alone, "
                        "or give the `parameters` of the tool."
                    ) from None
        return hints

    def find_context_parameter(self, hints: Mapping[str, Any]) -> str | None:
        parameters = [name for name, hint in hints.items() if self._takes_context(name, hint)]
        if len(parameters) > 1:
            names = " and ".join(map(repr, parameters))
            raise InvalidDefinitionError(f"{self.label} takes the ToolContext twice, as {names}; once will do.")
        return parameters[0] if parameters else None

    def _takes_context(self, name: str, hint: Any) -> bool:
        members = _members(hint)
        contexts = [each for each in members if isinstance(each, type) and issubclass(each, ToolContext)]
        if contexts and len(contexts) < len(members):
            raise InvalidDefinitionError(
                f"Parameter {name!r} of {self.label} takes the ToolContext or an argument; make two parameters of it."
            )
        return bool(contexts)

    @property
    def _namespace(self) -> dict[str, Any]:
        """The names of the module that defines the function."""
        if isinstance(self._home, type):
            return vars(sys.modules[self._home.__module__]) if self._home.__module__ in sys.modules else {}
        namespace = getattr(self._home, "__globals__", {})
        return namespace if isinstance(namespace, dict) else {}

    def _enclosing_names(self) -> dict[str, Any]:
        """The names that an inner function can use while its outer function runs."""
        outer = getattr(self._home, "__qualname__", "").rpartition(".<locals>.")[0]
        frame = inspect.currentframe() if outer else None
        names: dict[str, Any] = {}
        while frame is not None:
            if frame.f_code.co_qualname == outer and frame.f_globals is self._namespace:
                names = dict(frame.f_locals)
                break
            frame = frame.f_back
        if isinstance(self._home, types.FunctionType) and self._home.__closure__:
            for name, cell in zip(self._home.__code__.co_freevars, self._home.__closure__, strict=True):
                try:
                    names[name] = cell.cell_contents
                except ValueError:  # not assigned yet
                    continue
        return names


def _resolve(annotations: Mapping[str, Any], namespace: dict[str, Any], further: Mapping[str, Any]) -> dict[str, Any]:
    def carrier() -> None: ...

    carrier.__annotations__ = dict(annotations)
    return typing.get_type_hints(carrier, namespace, dict(further), include_extras=True)


def _members(hint: Any) -> tuple[Any, ...]:
    """The members of a union without `None`; the type itself if it is no union."""
    if get_origin(hint) is Annotated:
        return _members(get_args(hint)[0])
    if get_origin(hint) in (typing.Union, types.UnionType):
        return tuple(member for each in get_args(hint) for member in _members(each) if member is not type(None))
    return (hint,)


def _bound(function: Callable[..., Any]) -> set[str]:
    return set(function.keywords) if isinstance(function, functools.partial) else set()


def _own_names(function: Callable[..., Any]) -> set[str]:
    """All parameter names, bound ones included; a call by name cannot use them for anything else."""
    while isinstance(function, functools.partial):
        function = function.func
    parameters = inspect.signature(function).parameters.values()
    return {each.name for each in parameters if each.kind is not inspect.Parameter.VAR_KEYWORD}


def _find_home(function: Any) -> Any:
    """The function, class or C object inside its wrappers."""
    for _ in range(100):  # wrappers may form a ring
        if isinstance(function, functools.partial):
            function = function.func
        elif inspect.ismethod(function):
            function = function.__func__
        elif isinstance(function, type):
            return function
        elif hasattr(function, "__wrapped__"):
            function = function.__wrapped__
        elif hasattr(function, "__globals__") or not hasattr(type(function).__call__, "__globals__"):
            return function
        else:
            function = type(function).__call__
    return function


def _find_name(function: Any) -> str:
    name = getattr(function, "__name__", None)
    if not isinstance(name, str):
        name = _find_name(function.func) if isinstance(function, functools.partial) else type(function).__name__
    return "" if name == "<lambda>" else name


def _find_docstring(function: Any) -> str | None:
    if isinstance(function, functools.partial):
        own = vars(function).get("__doc__")
        return own if isinstance(own, str) else _find_docstring(function.func)
    if dataclasses.is_dataclass(function) and isinstance(function, type) and _is_generated(function):
        return None
    if inspect.isroutine(function) or isinstance(function, type) or "__doc__" in getattr(function, "__dict__", {}):
        return inspect.getdoc(function)
    call = type(function).__call__
    return inspect.getdoc(call) if getattr(call, "__doc__", None) else inspect.getdoc(function)


def _is_generated(dataclass_type: type) -> bool:
    """Whether `dataclass` generated the docstring from the signature."""
    return (dataclass_type.__doc__ or "").startswith(f"{dataclass_type.__name__}(")


_TAGS = "param|parameter|arg|argument|key|keyword|type|kwparam|returns?|rtype|yields?|raises?|except|exception"
_GOOGLE = "Args|Arguments|Params|Parameters|Keyword Args|Keyword Arguments|Other Parameters|Returns?|Yields?|Raises?"
_NUMPY = "Parameters|Params|Arguments|Other Parameters|Returns?|Yields?|Receives?|Raises|Warns"


class _Style(Enum):
    """A docstring style, with the pattern that begins its first section on arguments or results."""

    GOOGLE = re.compile(rf"^(?:{_GOOGLE}):[ \t]*\n+(?=[ \t]+\S)", re.MULTILINE)
    NUMPY = re.compile(rf"^(?:{_NUMPY})[ \t]*\n-{{3,}}[ \t]*$", re.MULTILINE)
    SPHINX = re.compile(rf"^:(?:{_TAGS})\b[^:\n]*:", re.MULTILINE)
    EPYDOC = re.compile(rf"^@(?:{_TAGS})\b[^:\n]*:", re.MULTILINE)


class Docstring:
    """A docstring, in Google's, numpy's, Sphinx's or Epydoc's style, or in none.

    Args:
        text: As `__doc__` has it; `None` for none.
    """

    def __init__(self, text: str | None) -> None:
        self._text = inspect.cleandoc(text or "").strip()
        sections = [(match.start(), style) for style in _Style if (match := style.value.search(self._text))]
        none: tuple[int, _Style | None] = len(self._text), None
        self._start, self._style = min(sections, key=lambda place: place[0], default=none)

    @property
    def description(self) -> str:
        """The text before the first section on arguments or results."""
        return self._text[: self._start].rstrip()

    @cached_property
    def parameters(self) -> Mapping[str, str]:
        """The description of each described parameter, by name without stars; a line break becomes a blank."""
        if self._style is None:
            return {}
        described: dict[str, str] = {}
        for entry in _read_parameters(self._text[self._start :], self._style):
            for name in str(entry.arg_name).split(","):
                described.setdefault(name.strip().lstrip("*\\"), _WRAP.sub(" ", (entry.description or "").strip()))
        return {name: text for name, text in described.items() if name and text}


_WRAP = re.compile(r"(?<!\n)[ \t]*\n[ \t]*(?![\s*•-]|\d+[.)])")
"""A line break that only wraps a line, and begins no paragraph or list item."""


def _read_parameters(sections: str, style: _Style) -> list[Any]:
    import docstring_parser  # needed only where a schema is derived

    parsers = {
        _Style.GOOGLE: docstring_parser.google.parse,
        _Style.NUMPY: docstring_parser.numpydoc.parse,
        _Style.SPHINX: docstring_parser.rest.parse,
        _Style.EPYDOC: docstring_parser.epydoc.parse,
    }
    try:
        return parsers[style](f"_\n\n{sections}").params  # the parsers expect a summary first
    except Exception:  # noqa: BLE001  its ParseError and others: a docstring may contain anything
        return []
