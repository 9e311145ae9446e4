"""Arguments compared as the Berkeley Function Calling Leaderboard compares them (its AST checker, Python cases).

Which arguments may be there:

- Each parameter has a list of accepted values; one of them must be given. `""` among them: it may be left out.
- What the schema requires must be given even then.
- A parameter that is not in the expectation is wrong; so is it here if the expectation is `exact`, as those made of
  the leaderboard's cases are.

Which values are right, by the type that the schema declares:

- `integer`, `boolean`, `string`, `array`, `object`: the value must be of that type. `true` is no integer and 1.0 is
  none; an integer will do where a `number` is declared, but not the other way round.
- A value of another type will do if the first accepted value (`""` not counted) is of that same type: this is how the
  leaderboard lets a variable, or null, stand for a value. Wherever the first accepted value is not of the declared
  type, values are compared as they are, with nothing made alike.
- Strings are made alike before they are compared: spaces and `, . / - _ * ^` are dropped, capitals lowered and `'`
  read as `"`. Other characters count, new lines too.
- Lists are compared element by element, in order; strings in them are made alike, deeper ones are not. Elements must
  be of the type that `items` declares, or of that of the accepted list's first element: 1 is wrong in a list of
  numbers that is accepted as `[1.0, 2.0]`. The leaderboard skips this where the list may be left out, and takes `[]`
  there.
- Objects are compared key by key: each key of an accepted object has its own list of accepted values, in which `""`
  means that the key may be left out. Other keys are wrong. Strings are made alike; what is nested deeper is compared
  as it is.
- Lists of objects are compared object by object, in order.
- Tuples are lists: JSON has no others.

Where this differs, on purpose: `true` never equals 1, not even inside an object; a type that the schema does not
declare, or declares as several, is taken from the accepted values; a required parameter that the expectation does not
name need not be given; and where the list of accepted values is itself empty, `[]` is what is meant. The
leaderboard's checker fails, or calls every answer wrong, at these.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from toolbelt.evals.cases.case import ExpectedArguments
from toolbelt.evals.scoring.literal import are_equal, is_among
from toolbelt.evals.scoring.reasons import differs, missing, unexpected

_DROPPED = re.compile(r"[ ,./\-_*^]")
_TYPES = {name: name for name in ("string", "integer", "number", "boolean", "array", "object")} | {
    "float": "number",
    "tuple": "array",
    "dict": "object",
    "any": "string",
}
"""The type words of JSON Schema, and those of the leaderboard's own files."""


def check_bfcl(arguments: Mapping[str, Any], expected: ExpectedArguments, schema: Mapping[str, Any]) -> str | None:
    """What is wrong with `arguments`; `None` if they are right.

    Args:
        arguments: As the model gave them.
        expected: What is right; a name in `optional` may be left out as if `""` were among its values.
        schema: JSON Schema of the tool's arguments.
    """
    declared, required = schema.get("properties"), schema.get("required")
    properties = declared if isinstance(declared, Mapping) else {}
    for name, value in arguments.items():
        if (accepted := expected.accepted.get(name)) is None:
            if expected.exact:
                return unexpected(name)
        elif not _is_right(value, accepted, properties.get(name)):
            return differs(name, value, accepted)
    for name, accepted in expected.accepted.items():
        if name not in arguments:
            must_be = isinstance(required, list) and name in required
            if must_be or (accepted and "" not in accepted and name not in expected.optional):
                return missing(name)
    return None


def standardise(text: str) -> str:
    """`text` as it is compared."""
    return _DROPPED.sub("", text).lower().replace("'", '"')


def _is_right(value: Any, accepted: Sequence[Any], schema: Any) -> bool:
    if not accepted:
        return isinstance(value, list | tuple) and not value
    first = next((_kind(candidate) for candidate in accepted if candidate != ""), None)
    kind = _kind(value)
    declared = _declared(schema, kind) or first or "string"
    if declared == "number" and kind == "integer":
        kind = "number"
    if kind not in (declared, first):
        return False
    items = _declared_items(schema)
    if kind == declared == "array" and items and not any(_has_items(value, each, items) for each in accepted):
        return False
    if kind != declared or first not in (None, declared):
        return is_among(value, accepted)
    if declared == "string":
        return is_among(standardise(value), [standardise(text) for text in accepted if isinstance(text, str)])
    if declared == "array":
        holds_objects = (items or _kind_of_items(accepted)) == "object"
        compare = _is_right_list_of_objects if holds_objects else _is_right_list
        return any(compare(value, candidate) for candidate in accepted)
    if declared == "object":
        return any(_is_right_object(value, candidate) for candidate in accepted)
    return is_among(value, accepted)


def _is_right_list(value: Sequence[Any], accepted: Any) -> bool:
    if accepted == "":
        return not value
    return isinstance(accepted, list | tuple) and are_equal([_alike(v) for v in value], [_alike(a) for a in accepted])


def _is_right_list_of_objects(value: Sequence[Any], accepted: Any) -> bool:
    if accepted == "":
        return not value
    return (
        isinstance(accepted, list | tuple)
        and len(value) == len(accepted)
        and all(_is_right_object(one, other) for one, other in zip(value, accepted, strict=True))
    )


def _is_right_object(value: Any, accepted: Any) -> bool:
    if not isinstance(value, Mapping) or not isinstance(accepted, Mapping):
        return False
    for key, item in value.items():
        if key not in accepted or not is_among(_alike(item), [_alike(a) for a in _alternatives(accepted[key])]):
            return False
    return all(key in value or "" in _alternatives(values) for key, values in accepted.items())


def _alternatives(values: Any) -> Sequence[Any]:
    return values if isinstance(values, list | tuple) else (values,)


def _alike(value: Any) -> Any:
    return standardise(value) if isinstance(value, str) else value


def _has_items(value: Sequence[Any], accepted: Any, items: str) -> bool:
    """Whether the elements are of the declared type, or of that of the accepted list's first one."""
    if not isinstance(accepted, list | tuple):
        return True
    first = next((_kind(candidate) for candidate in accepted if candidate != ""), None)
    return all(_kind(item) in (items, first) for item in value)


def _declared_items(schema: Any) -> str | None:
    """What the elements of a list are declared to be."""
    inner = schema.get("items") if isinstance(schema, Mapping) else None
    word = inner.get("type") if isinstance(inner, Mapping) else None
    return _TYPES.get(word) if isinstance(word, str) else None


def _kind_of_items(accepted: Sequence[Any]) -> str | None:
    """What the first element of the accepted lists is."""
    lists = (candidate for candidate in accepted if isinstance(candidate, list | tuple) and candidate)
    return next((_kind(candidate[0]) for candidate in lists), None)


def _declared(schema: Any, kind: str) -> str | None:
    """The declared type; where there are several, the one given if it is among them; `None` where there is none."""
    word = schema.get("type") if isinstance(schema, Mapping) else None
    if isinstance(word, list):
        if kind == "integer" and "integer" not in word and "number" in word:
            return "number"
        return kind if kind in word else None
    return _TYPES.get(word) if isinstance(word, str) else None


def _kind(value: Any) -> str:
    """JSON Schema's word for the type of a value, as written: 1.0 is no integer."""
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "number"
    if isinstance(value, str):
        return "string"
    if value is None:
        return "null"
    return "object" if isinstance(value, Mapping) else "array"
