"""A stranger's JSON Schema made into what values are held against, without ever raising or fetching."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError
    from jsonschema.protocols import Validator


class SchemaValidator:
    """Holds values against one schema. A schema that turns out to be broken says nothing, from then on.

    Args:
        validator: As `make_validator` makes it.
    """

    def __init__(self, validator: Validator) -> None:
        self._validator = validator
        self.is_broken = False

    def faults(self, value: Any) -> Iterator[ValidationError]:
        """Where a value goes against the schema, one by one; none once the schema proves broken."""
        if self.is_broken:
            return
        try:
            yield from self._validator.iter_errors(value)
        except Exception:  # noqa: BLE001  a stranger's schema: endless references, patterns of another language, ...
            self.is_broken = True


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
