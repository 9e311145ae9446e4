"""From annotations to JSON Schema, and from JSON to annotated values: the only module that needs pydantic.

pydantic gets one `TypedDict` per function, whose keys are the parameters. A key may have any name, and an argument that
the model leaves out stays out, so that the function applies its own default.
"""

from __future__ import annotations

import inspect
import json
import re
import sys
import types
import typing
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property
from typing import Annotated, Any, NotRequired, Required, get_args, get_origin, get_type_hints

import typing_extensions
from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic.errors import PydanticUserError
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaWarningKind
from pydantic_core import PydanticSerializationError, from_json, to_json, to_jsonable_python

from toolbelt.catalog.validators import SchemaFault, SchemaValidator, make_validator
from toolbelt.errors import InvalidDefinitionError
from toolbelt.runtime.arguments import ArgumentsError, Parameter, Parse, describe_faults

_REST = "**"
"""Key of the `TypedDict` for `**kwargs`; no parameter can have that name."""
_make_typed_dict: Any = typing_extensions.TypedDict  # called at run time, which type checkers do not support
_NEEDS_OWN_TYPED_DICT = sys.version_info < (3, 12)
_CONFIG = {"extra": "forbid"}


def derive(
    function: str, parameters: Mapping[str, Parameter], hidden: Iterable[str] = ()
) -> tuple[dict[str, Any], Parse]:
    """The schema of the arguments, and a parser from arguments to annotated values.

    Args:
        function: Its name, for messages.
        parameters: By name, in order; that of `**kwargs` has its stars.
        hidden: Names of parameters that the model must not fill, also not through `**kwargs`.

    Raises:
        InvalidDefinitionError: an annotation that has no schema.
    """
    try:
        hints = {key: hint for name, parameter in parameters.items() for key, hint in _fields(name, parameter)}
        adapter = _adapter(hints)
        schema = adapter.json_schema(schema_generator=_PlainSchema)
        keys = dict(zip(hints, schema["properties"], strict=True))
    except Exception as error:  # an annotation may raise anything when it is asked for a schema
        raise _make_error(function, parameters, error) from error
    properties = schema["properties"]
    for name, parameter in parameters.items():
        if name in keys:
            _describe(properties[keys[name]], parameter)
    additional = properties.pop(_REST)["additionalProperties"] if _REST in keys else False
    required = [key for key in schema.get("required", ()) if key in properties]
    parameters_schema = {"type": "object", "properties": properties}
    parameters_schema |= {"required": required} if required else {}
    parameters_schema["additionalProperties"] = additional
    if "$defs" in schema:
        parameters_schema["$defs"] = {key: _untitled(key, each) for key, each in schema["$defs"].items()}
    return parameters_schema, _Parser(
        adapter,
        names=tuple(properties),
        taken=frozenset({*hidden, *keys}.difference(properties)),
        defaults={name: keys[name] for name, parameter in parameters.items() if _has_default(parameter)},
        accepts_rest=_REST in keys,
        schema=parameters_schema if _lists_look_alikes(parameters_schema) else None,
    )


@dataclass(frozen=True)
class _Parser:
    """Checks arguments against the schema that the model was shown, and turns them into annotated values.

    Types are JSON's: `"3"` is no integer and `1` no boolean, but `1.0` is an integer, as in JSON Schema, and a date is
    a string.

    Attributes:
        adapter: Validates all arguments together.
        names: The arguments that the schema lists.
        taken: Names that are no arguments, and that `**kwargs` must not accept either.
        defaults: Parameters whose default the function applies: the name in the schema by the function's name.
        accepts_rest: Whether there is `**kwargs`.
        schema: For a second check where `true` could be taken for 1; `None` where it could not.
    """

    adapter: TypeAdapter[Any]
    names: tuple[str, ...]
    taken: frozenset[str]
    defaults: Mapping[str, str]
    accepts_rest: bool
    schema: Mapping[str, Any] | None

    @cached_property
    def _validator(self) -> SchemaValidator | None:
        return None if self.schema is None else make_validator(self.schema)

    def __call__(self, args: Mapping[str, Any]) -> dict[str, Any]:
        known = {name: value for name, value in args.items() if name in self.names}
        rest = {name: value for name, value in args.items() if name not in known}
        unknown = [name for name in rest if not self.accepts_rest or name in self.taken]
        if self.accepts_rest:
            known[_REST] = {name: value for name, value in rest.items() if name not in unknown}
        try:
            values = self._validated(known)
        except ValidationError as error:
            faults = error.errors(include_url=False, include_context=False)
            raise ArgumentsError(describe_faults(known, faults, unknown, self.names, extra_key=_REST)) from None
        if unknown:
            raise ArgumentsError(describe_faults(known, (), unknown, self.names))
        if self._validator is not None and (alike := list(_find_look_alikes(self._validator.faults(args)))):
            raise ArgumentsError(describe_faults(args, alike, (), self.names))
        extra: dict[str, Any] = values.pop(_REST, {})
        return {name: value for name, value in values.items() if self._is_given(name, known)} | extra

    def _is_given(self, name: str, arguments: Mapping[str, Any]) -> bool:
        return name not in self.defaults or self.defaults[name] in arguments

    def _validated(self, args: dict[str, Any]) -> dict[str, Any]:
        try:
            text = to_json(args)
        except (PydanticSerializationError, ValueError) as error:
            message = str(error).removeprefix("Error serializing to JSON: ").rstrip(".")
            reason = "half a surrogate pair is no character" if "surrogates not allowed" in message else message
            raise ArgumentsError(f"they cannot be written as JSON: {reason}.") from None
        try:
            values: dict[str, Any] = self.adapter.validate_json(text, strict=True)
        except ValidationError as error:
            if not any(fault["type"] == "int_type" for fault in error.errors(include_url=False)):
                raise
            values = self.adapter.validate_json(to_json(_with_integers(from_json(text))), strict=True)
        return values


def _with_integers(value: Any) -> Any:
    """The value with 1.0 as 1; JSON Schema does not distinguish them."""
    if isinstance(value, dict):
        return {key: _with_integers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_integers(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _lists_look_alikes(schema: Any) -> bool:
    """Whether a schema lists `true` or 1, `false` or 0, which are equal in Python and not in JSON."""
    if isinstance(schema, Mapping):
        listed = [*_listed_in(schema)]
        return any(value in (0, 1) for value in listed) or any(map(_lists_look_alikes, schema.values()))
    return isinstance(schema, list) and any(map(_lists_look_alikes, schema))


def _listed_in(schema: Mapping[str, Any]) -> list[Any]:
    values = schema.get("enum")
    return [*(values if isinstance(values, list) else ()), *([schema["const"]] if "const" in schema else ())]


def _find_look_alikes(faults: Iterable[SchemaFault]) -> Iterable[dict[str, Any]]:
    """Faults, in pydantic's form, of values that pydantic takes for one that is listed; it goes by `==` and `hash`."""
    for fault in faults:
        if fault.value in fault.listed:
            allowed = " or ".join(json.dumps(value, ensure_ascii=False) for value in fault.listed)
            yield {"type": fault.keyword, "loc": fault.path, "msg": f"should be {allowed}"}
        yield from _find_look_alikes(fault.context)


class _PlainSchema(GenerateJsonSchema):
    """JSON Schema without titles that only repeat names; a type without a schema is an error."""

    ignored_warning_kinds: set[JsonSchemaWarningKind] = {"non-serializable-default"}  # noqa: RUF012  as pydantic's

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002
        return False

    def emit_warning(self, kind: JsonSchemaWarningKind, detail: str) -> None:
        if kind not in self.ignored_warning_kinds:
            raise PydanticUserError(detail, code="invalid-for-json-schema")

    def is_subclass_schema(self, schema: Any) -> dict[str, Any]:
        return self.handle_invalid_for_json_schema(schema, "a class")

    def encode_default(self, dft: Any) -> Any:
        return _as_json(dft)


def _adapter(hints: Mapping[str, Any]) -> TypeAdapter[Any]:
    shape = _make_typed_dict("arguments", dict(hints))
    shape.__pydantic_config__ = _CONFIG
    return TypeAdapter(shape)


def _fields(name: str, parameter: Parameter) -> Iterable[tuple[str, Any]]:
    """Keys of the `TypedDict` that a parameter makes: one, or those of `**kwargs: Unpack[...]`."""
    if not name.startswith("**"):
        return [(name, _field(parameter))]
    if get_origin(parameter.annotation) in (typing.Unpack, typing_extensions.Unpack):
        return _fields_of(get_args(parameter.annotation)[0]).items()
    rest = types.GenericAlias(dict, (str, _supported(parameter.annotation)))
    return [(_REST, NotRequired[rest])]


def _field(parameter: Parameter) -> Any:
    annotation = _supported(parameter.annotation)
    default = parameter.default
    value = default.default if isinstance(default, FieldInfo) else default
    if value is None:  # a function with the default None accepts None
        annotation = _optional(annotation)
    if isinstance(default, FieldInfo):
        return Annotated[annotation, default]
    return NotRequired[annotation] if _has_default(parameter) else Required[annotation]


def _has_default(parameter: Parameter) -> bool:
    """Whether the function applies its own default; it cannot do so for `limit: int = Field(default=3)`."""
    return parameter.default is not inspect.Parameter.empty and not isinstance(parameter.default, FieldInfo)


def _optional(annotation: Any) -> Any:
    if get_origin(annotation) is Annotated:
        return Annotated[(_optional(get_args(annotation)[0]), *annotation.__metadata__)]
    return Any if annotation is Any else typing.Optional[annotation]  # noqa: UP045  not everything has a `|`


def _supported(annotation: Any, within: tuple[Any, ...] = ()) -> Any:
    """The annotation in the form that pydantic needs.

    An `Iterable` becomes a list, because pydantic would check its items only when the function reads them. A
    `typing.TypedDict` becomes one of `typing_extensions` where pydantic accepts no other.
    """
    if annotation is Iterable or get_origin(annotation) is Iterable:
        annotation = types.GenericAlias(list, get_args(annotation) or (Any,))
    if _NEEDS_OWN_TYPED_DICT and type(annotation).__module__ == "typing" and typing.is_typeddict(annotation):
        return _own_typed_dict(annotation, within)
    arguments = get_args(annotation)
    if not arguments or get_origin(annotation) is typing.Literal:
        return annotation
    if get_origin(annotation) is Annotated:
        return Annotated[(_supported(arguments[0], within), *annotation.__metadata__)]
    changed = tuple(_supported(argument, within) for argument in arguments)
    if all(new is old for new, old in zip(changed, arguments, strict=True)):
        return annotation
    return typing.Union[changed] if _is_union(annotation) else get_origin(annotation)[changed]  # noqa: UP007


def _own_typed_dict(annotation: Any, within: tuple[Any, ...]) -> Any:
    if annotation in within:
        raise TypeError("A TypedDict that contains itself has to be of typing_extensions before Python 3.12")
    typed_dict = _make_typed_dict(annotation.__name__, _fields_of(annotation, (*within, annotation)))
    for name in ("__doc__", "__module__", "__qualname__", "__pydantic_config__"):
        if (value := vars(annotation).get(name)) is not None:
            setattr(typed_dict, name, value)
    return typed_dict


def _is_union(annotation: Any) -> bool:
    return get_origin(annotation) in (typing.Union, type(int | str))


def _fields_of(typed_dict: Any, within: tuple[Any, ...] = ()) -> dict[str, Any]:
    hints = get_type_hints(typed_dict, include_extras=True)
    field_types = {}
    for name, hint in hints.items():
        marked = get_origin(hint) if get_origin(hint) in (Required, NotRequired) else None
        wanted = marked or (Required if name in typed_dict.__required_keys__ else NotRequired)
        field_types[name] = wanted[_supported(get_args(hint)[0] if marked else hint, within)]
    return field_types


def _untitled(key: str, schema: dict[str, Any]) -> dict[str, Any]:
    """Without a title that only repeats the name: `M`, `package__M` where two have it, `M_int_` for `M[int]`."""
    if re.sub(r"[^a-zA-Z0-9.\-_]", "_", str(schema.get("title"))) in (key, key.rpartition("__")[2]):
        del schema["title"]
    return schema


def _describe(schema: dict[str, Any], parameter: Parameter) -> None:
    """Add what the signature and the docstring state and pydantic does not: the default and the description."""
    metadata = getattr(parameter.annotation, "__metadata__", ())
    texts = [getattr(each, "documentation", each) for each in metadata]  # a `Doc`, or the text itself
    text = next((text for text in reversed(texts) if isinstance(text, str)), parameter.description)
    if text and "description" not in schema:
        schema["description"] = text
    if _has_default(parameter):
        schema.pop("default", None)
        try:
            schema["default"] = _as_json(parameter.default)
        except PydanticSerializationError:
            return  # a model could not write it


def _as_json(value: Any) -> Any:
    """A default in JSON, with sets in the same order in every process.

    Raises:
        PydanticSerializationError: there is no JSON for it.
    """
    plain = to_jsonable_python(_ordered(value))
    try:
        json.dumps(plain, allow_nan=False)
    except ValueError as error:
        raise PydanticSerializationError(str(error)) from error
    return plain


def _ordered(value: Any) -> Any:
    if isinstance(value, BaseModel):
        value = value.model_dump(by_alias=True)
    elif is_dataclass(value) and not isinstance(value, type):
        value = {each.name: getattr(value, each.name) for each in fields(value)}
    if isinstance(value, set | frozenset):
        return sorted((_ordered(item) for item in value), key=lambda item: json.dumps(to_jsonable_python(item)))
    if type(value) is dict:
        return {key: _ordered(item) for key, item in value.items()}
    return [_ordered(item) for item in value] if type(value) in (list, tuple) else value


def _make_error(function: str, parameters: Mapping[str, Parameter], error: Exception) -> InvalidDefinitionError:
    """The error, with the parameter that causes it: each is tried alone."""
    for name, parameter in parameters.items():
        try:
            _adapter(dict(_fields(name, parameter))).json_schema(schema_generator=_PlainSchema)
        except Exception as own:  # noqa: BLE001  as in `derive`
            shown = inspect.formatannotation(parameter.annotation)
            return InvalidDefinitionError(
                f"Parameter {name!r} of {function} is annotated {shown}, which has no JSON Schema{_reason(own)}. "
                "Annotate it with what JSON can hold, or give the `parameters` of the tool."
            )
    return InvalidDefinitionError(f"No JSON Schema can be made of the parameters of {function}{_reason(error)}.")


def _reason(error: Exception) -> str:
    message = error.message if isinstance(error, PydanticUserError) else str(error)
    first = message.strip().partition("\n")[0].partition(". ")[0].rstrip(".")
    return f" ({first})" if first else f" ({type(error).__name__})"
