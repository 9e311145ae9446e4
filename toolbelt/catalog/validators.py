"""A stranger's JSON Schema made into what values are held against, without ever raising or fetching."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError
    from jsonschema.protocols import Validator


_ORDINARY_DEPTH = 20
_ORDINARY_BITS = 64
_SHARE_OF_STACK = 2
"""Of the recursion limit, the part (a half) that may be used up before what is too deep is the caller's doing."""


class SchemaValidator:
    """Holds values against one schema. A schema that turns out to be broken says nothing, from then on.

    Broken is one that cannot deal with an ordinary value. Of a value that is none (a number of 400 digits, lists 50
    deep, an object of Python's) nothing is said if it cannot be dealt with, and the next is held against it as ever.

    Args:
        validator: As `make_validator` makes it.
    """

    def __init__(self, validator: Validator) -> None:
        self._validator = validator
        self.is_broken = False

    def faults(self, value: Any) -> Iterator[ValidationError]:
        """Where a value goes against the schema, one by one; none more once that cannot be told."""
        if self.is_broken:
            return
        try:
            yield from self._validator.iter_errors(value)
        except BaseException as error:  # a stranger's schema: endless references, patterns of another language, ...
            if not isinstance(error, Exception) and type(error).__module__ != "pyo3_runtime":
                raise  # what looks references up is written in Rust, and panics where Python's stack is at its end
            self.is_broken = _is_ordinary(value) and not _is_stack_deep()


def _is_ordinary(value: Any, depth: int = _ORDINARY_DEPTH) -> bool:
    """Whether a value is JSON that nothing could choke on."""
    if isinstance(value, dict | list):
        items = value.values() if isinstance(value, dict) else value
        return depth > 0 and all(_is_ordinary(item, depth - 1) for item in items)
    if isinstance(value, int):
        return value.bit_length() <= _ORDINARY_BITS
    return value is None or isinstance(value, str) or (isinstance(value, float) and abs(value) < 1e300)  # nor NaN


def _is_stack_deep() -> bool:
    frame, depth = inspect.currentframe(), 0
    while frame is not None:
        frame, depth = frame.f_back, depth + 1
    return depth * _SHARE_OF_STACK > sys.getrecursionlimit()


def make_validator(schema: Mapping[str, Any]) -> SchemaValidator | None:
    """What values are held against; `None` for a schema that is empty or broken, which nothing can be held against.

    A schema is read in the dialect that its `$schema` names, else in that of 2020-12. Nothing is ever fetched: a
    reference to what is not in the schema is found broken when it is met.

    Args:
        schema: JSON Schema, from anywhere.
    """
    if not schema:
        return None
    from jsonschema import Draft202012Validator  # a tenth of a second, for those who check values alone
    from jsonschema.validators import validator_for
    from referencing import Registry  # what jsonschema itself looks references up with

    dialect = schema if isinstance(schema.get("$schema"), str) else {}
    kind = validator_for(dialect, default=Draft202012Validator)
    try:
        kind.check_schema(dict(schema))
        return SchemaValidator(kind(dict(schema), registry=Registry()))  # an empty one: without it, things are fetched
    except Exception:  # noqa: BLE001  a stranger's schema: whatever is wrong with it, it cannot be held against a value
        return None
