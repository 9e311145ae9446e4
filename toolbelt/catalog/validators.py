"""Validates values against a JSON Schema from anyone: in bounded time, without ever raising or fetching (rule R7).

The one door to `jsonschema-rs`, whose regular expressions run in linear time, or give up after a number of steps. What
cannot be judged counts as right: a call is never refused because of a schema that nobody can check.

| in a schema | message |
| --- | --- |
| `$schema` names draft 4, 6, 7, 2019-09, 2020-12 | it is read in that dialect |
| another `$schema`, or none | read as 2020-12; draft 3, which nothing here reads, is not checked |
| no valid schema (`exclusiveMinimum: true` without draft 4, ...) | nothing |
| a pattern that the engine refuses (Python's `\\Z`, a broken or an enormous one) | the rest is checked |
| a pattern that needs too many steps for a text, or a text too long for patterns | the rest is checked |
| a reference to what is not in the schema | the rest is checked; nothing is fetched |
| references that multiply beyond `MAX_EVALUATIONS` | nothing |
| `format` | nothing, in any dialect |

Patterns are ECMAScript's: `\\d` and `\\w` are ASCII, `$` is the end of the text, `\\p{L}` works.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from toolbelt.catalog.schema_outline import (
    REFERENCES,
    Cost,
    References,
    TooCostlyError,
    find_cost,
    find_patterns,
    find_references,
    has_inner_ids,
    has_references,
    without,
)
from toolbelt.text import whole

if TYPE_CHECKING:
    import jsonschema_rs

BACKTRACK_LIMIT = 10_000
"""Steps that a pattern with look-around or backreferences may take for one text."""
PATTERN_BYTES = 200_000
"""Size of a compiled pattern; a larger one takes longer than 50 ms for some texts."""
MATCHED_CHARS = 10_000
"""Characters, of all texts in a value together, that patterns are checked against; see `BACKTRACKED_CHARS`."""
BACKTRACKED_CHARS = 2_000
"""The same where a pattern has look-around or backreferences, whose time is quadratic."""
MAX_PATTERNS = 100
"""Patterns of one schema; of more, none is judged."""
_LISTED_WORK = 5_000
"""Subschemas times parts of a value up to which all faults are listed, not the first alone. Each takes about 30 µs."""
_SMALL_COST = 100
"""Subschemas up to which a value is not measured first."""
_DRAFT_3 = "http://json-schema.org/draft-03/schema"
_DIALECTS = ("draft-04/", "draft-06/", "draft-07/", "draft/2019-09/", "draft/2020-12/")
_UNDER_ALL = frozenset({"allOf", "prefixItems", "items", *REFERENCES})
"""Keywords whose parts all have to be right, whatever else there is."""
_BY_THEMSELVES = frozenset(
    {
        *("type", "enum", "const", "required", "dependentRequired", "multipleOf", "uniqueItems"),
        *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
        *("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"),
    }
)
"""Keywords that no pattern has a say in."""


@dataclass(frozen=True, slots=True)
class SchemaFault:
    """Where a value goes against a schema.

    Attributes:
        message: A clause, with values as JSON: `"x" is not of type "integer"`.
        path: From the value to the part of it.
        schema_path: From the schema to the keyword, references followed.
        keyword: The keyword; empty for a schema that is `false`.
        listed: The values of `enum` or `const`.
        value: The part of the value.
        context: For `anyOf` and `oneOf`, the faults of each alternative.
    """

    message: str
    path: tuple[str | int, ...]
    schema_path: tuple[str | int, ...]
    keyword: str
    listed: tuple[Any, ...] = ()
    value: Any = None
    context: tuple[SchemaFault, ...] = ()


class SchemaValidator:
    """Holds values against one schema, as `make_validator` makes it.

    Args:
        schema: Of plain values.
        patterns: Those of the schema.
        cost: How much work a value makes.
        is_partial: Whether something of the original schema was left out because it cannot be judged.

    Raises:
        jsonschema_rs.ValidationError: it is no schema.
    """

    def __init__(self, schema: dict[str, Any], patterns: Sequence[str], cost: Cost, *, is_partial: bool) -> None:
        self._engine = _make_engine(schema)
        self._cost = cost
        self._is_partial = is_partial
        self._schema = schema
        self._patterns = patterns
        self._backtracking = _find_backtracking(patterns)
        max_chars = BACKTRACKED_CHARS if self._backtracking else MATCHED_CHARS
        self._max_chars = max_chars if len(patterns) <= MAX_PATTERNS else -1
        self._without_patterns: jsonschema_rs.Validator | None = None

    def faults(self, value: Any) -> Iterator[SchemaFault]:
        """Where a value goes against the schema; nothing where that cannot be judged."""
        for read in (_as_it_is, _make_plain):
            try:
                return iter(self._find(read(value)))
            except BaseException as error:  # noqa: BLE001  no JSON, or nested too deep
                _raise_unless_of_engine(error)
        return iter(())

    def _find(self, value: Any) -> Sequence[SchemaFault]:
        if (self._cost.evaluations > _SMALL_COST or self._cost.growth > 1) and not self._cost.is_affordable(
            *_measure(value)
        ):
            return ()
        engine, is_partial = self._engine, self._is_partial
        if self._patterns and _has_more_text(value, self._max_chars):
            engine, is_partial = self._engine_without_patterns(), True
        if engine.is_valid(value):
            return ()
        parts, _ = _measure(value)
        faults = _list_faults(engine, value, first_only=parts * self._cost.evaluations > _LISTED_WORK)
        if is_partial or (self._backtracking is not None and _gives_up(self._backtracking, value)):
            return [fault for fault in faults if _is_certain(fault.schema_path)]
        return faults

    def _engine_without_patterns(self) -> jsonschema_rs.Validator:
        if self._without_patterns is None:
            self._without_patterns = _make_engine(without(self._schema, pattern=lambda _: True))
        return self._without_patterns


def make_validator(schema: Mapping[str, Any]) -> SchemaValidator | None:
    """What values are checked against; `None` where nothing can be: an empty schema, or what is none.

    Args:
        schema: JSON Schema, from anywhere.
    """
    return _read(schema)[0] if schema else None


def find_schema_fault(schema: Mapping[str, Any]) -> SchemaFault | None:
    """Why something is no JSON Schema; `None` if it is one, or if that cannot be judged."""
    return _read(schema)[1]


def find_unknown_references(schema: Mapping[str, Any]) -> tuple[str, ...]:
    """References to what is not in the schema, each once; with ids of inner parts, none is judged."""
    plain = _make_plain(schema)
    if has_inner_ids(plain):
        return ()
    references = References(plain)
    return tuple(ref for ref in dict.fromkeys(find_references(plain)) if not references.is_known(ref))


def _read(schema: Mapping[str, Any]) -> tuple[SchemaValidator | None, SchemaFault | None]:
    import jsonschema_rs  # for those who check values alone

    fault = None
    try:
        plain = _in_known_dialect(_make_plain(schema))
        if plain is None or (has_references(plain) and has_inner_ids(plain)):
            return None, None  # references that count from inner ids are rare, and cannot be counted here
        references = References(plain)
        checked = without(plain, reference=lambda reference: not references.is_known(reference))
        is_partial = checked != plain
        cost = find_cost(checked, References(checked))
        patterns = find_patterns(checked)
        try:
            return SchemaValidator(checked, patterns, cost, is_partial=is_partial), None
        except jsonschema_rs.ValidationError as error:
            fault = _make_fault(error, checked)
            if not isinstance(error.kind, jsonschema_rs.ValidationErrorKind.Format) or len(patterns) > MAX_PATTERNS:
                return None, fault
        refused = {pattern for pattern in patterns if not _is_known_pattern(pattern)}
        checked = without(checked, pattern=lambda pattern: pattern in refused)
        validator = SchemaValidator(checked, find_patterns(checked), cost, is_partial=True)
        return validator, None if all(map(_is_pythons, refused)) else fault
    except TooCostlyError:
        return None, None
    except BaseException as error:  # noqa: BLE001  a schema from anyone: if it is wrong, nothing is checked
        _raise_unless_of_engine(error)
        return None, fault


def _in_known_dialect(schema: dict[str, Any]) -> dict[str, Any] | None:
    """The schema without a `$schema` that nobody knows; `None` for draft 3."""
    dialect = schema.get("$schema")
    if not isinstance(dialect, str) or any(known in dialect for known in _DIALECTS):
        return schema
    if dialect.startswith(_DRAFT_3):
        return None
    return {key: value for key, value in schema.items() if key != "$schema"}


def _refuse_to_fetch(uri: str) -> NoReturn:
    raise LookupError(f"nothing is fetched: {uri}")


def _make_engine(schema: Mapping[str, Any], *, linear: bool = False) -> jsonschema_rs.Validator:
    import jsonschema_rs

    options = (
        jsonschema_rs.RegexOptions(size_limit=PATTERN_BYTES)
        if linear
        else jsonschema_rs.FancyRegexOptions(backtrack_limit=BACKTRACK_LIMIT, size_limit=PATTERN_BYTES)
    )
    return jsonschema_rs.validator_for(
        dict(schema), retriever=_refuse_to_fetch, validate_formats=False, pattern_options=options
    )


def _is_known_pattern(pattern: str, *, linear: bool = False) -> bool:
    try:
        _make_engine({"pattern": pattern}, linear=linear)
    except ValueError:
        return False
    return True


def _is_pythons(pattern: str) -> bool:
    try:
        with warnings.catch_warnings(action="ignore"):
            re.compile(pattern)
    except Exception:  # noqa: BLE001  too deep, too large
        return False
    return True


def _find_backtracking(patterns: Sequence[str]) -> jsonschema_rs.Validator | None:
    """What holds a text against the patterns that need look-around or backreferences; `None` where none does."""
    unknown = [{"pattern": pattern} for pattern in patterns if not _is_known_pattern(pattern, linear=True)]
    return _make_engine({"allOf": unknown}) if unknown else None


def _gives_up(backtracking: jsonschema_rs.Validator, value: Any) -> bool:
    """Whether a pattern takes too many steps for a text of the value; keywords like `not` do not say so themselves."""
    from jsonschema_rs import ValidationErrorKind as Kind

    return any(
        isinstance(error.kind, Kind.BacktrackLimitExceeded)
        for part in _parts(value)
        for text in ((part,) if isinstance(part, str) else part if isinstance(part, dict) else ())
        for error in backtracking.iter_errors(text)
    )


def _list_faults(engine: jsonschema_rs.Validator, value: Any, *, first_only: bool) -> list[SchemaFault]:
    import jsonschema_rs

    if not first_only:
        return [_make_fault(error, value) for error in engine.iter_errors(value)]
    try:
        engine.validate(value)
    except jsonschema_rs.ValidationError as error:
        return [_make_fault(error, value)]
    return []


def _make_fault(error: jsonschema_rs.ValidationError, whole: Any) -> SchemaFault:
    from jsonschema_rs import ValidationErrorKind as Kind

    kind, message = error.kind, error.message
    listed: tuple[Any, ...] = ()
    context: tuple[SchemaFault, ...] = ()
    if isinstance(kind, Kind.Enum):
        listed = tuple(kind.options)
        message = f"{_json(error.instance)} is not one of {_json(kind.options)}"  # all of them: a model has to choose
    elif isinstance(kind, Kind.Constant):
        listed = (kind.expected_value,)
    elif isinstance(kind, Kind.AnyOf | Kind.OneOfNotValid | Kind.OneOfMultipleValid):
        context = tuple(_make_fault(each, whole) for alternative in kind.context for each in alternative)
    return SchemaFault(
        message,
        tuple(_steps(error.instance_path, whole)),
        tuple(error.evaluation_path),
        kind.name,
        listed,
        error.instance,
        context,
    )


def _steps(path: Sequence[Any], value: Any) -> Iterator[str | int]:
    """The path with names as text; the engine gives the name "0" as the number 0."""
    for step in path:
        is_name = isinstance(value, dict)
        yield str(step) if is_name else step
        value = value.get(str(step)) if is_name else value[step] if isinstance(value, list | tuple) else None


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _is_certain(schema_path: Sequence[str | int]) -> bool:
    """Whether a fault stands whatever the patterns and references say that were left out."""
    steps = iter(schema_path)
    for step in steps:
        if step == "properties":
            next(steps, None)  # a name
        elif isinstance(step, str) and step not in _UNDER_ALL:
            return step in _BY_THEMSELVES and next(steps, None) is None
    return False


def _parts(value: Any) -> Iterator[Any]:
    waiting = [value]
    while waiting:
        part = waiting.pop()
        yield part
        if isinstance(part, dict):
            waiting += part.values()
        elif isinstance(part, list | tuple):
            waiting += part


def _measure(value: Any) -> tuple[int, int]:
    """The parts of a value, itself included, and how deep they are nested."""
    count, depth, level = 0, 0, [value]
    while level:
        count += len(level)
        depth += 1
        level = [
            item
            for part in level
            if isinstance(part, dict | list | tuple)
            for item in (part.values() if isinstance(part, dict) else part)
        ]
    return count, depth


def _has_more_text(value: Any, chars: int) -> bool:
    """Whether the texts of a value, keys included, have more characters than that."""
    for part in _parts(value):
        if isinstance(part, str):
            chars -= len(part)
        elif isinstance(part, dict):
            chars -= sum(map(len, part))
        if chars < 0:
            return True
    return False


def _as_it_is(value: Any) -> Any:
    return value


def _make_plain(value: Any) -> Any:
    """A copy without frozen values, subclasses of text, names that are no text, half surrogates."""
    if isinstance(value, dict):
        return {_make_plain(str(key)): _make_plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_make_plain(item) for item in value]
    if isinstance(value, str):
        return whole(str.__str__(value))
    return value


def _raise_unless_of_engine(error: BaseException) -> None:
    """Raise what ends the program; the engine, written in Rust, may panic where Python's stack is at its end."""
    if not isinstance(error, Exception) and type(error).__module__ != "pyo3_runtime":
        raise error
