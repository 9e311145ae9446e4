"""JSON Patches (RFC 6902) that rebuild a tool's own definition from the one that is sent."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolbelt.errors import InvalidDefinitionError
from toolbelt.models.schema_parts import Place, Steps, format_pointer, parse_pointer

Patch = list[dict[str, Any]]


@dataclass(frozen=True)
class DocumentDifference:
    """A place where two documents differ.

    Attributes:
        place: The keys that lead there.
        was: The value in the first document; `None` also if there is none.
        now: The value in the second document, in the same form as `was`.
        in_was: Whether the first document has a value there.
        in_now: Whether the second document has one.
    """

    place: Place
    was: Any
    now: Any
    in_was: bool = True
    in_now: bool = True


def find_differences(was: Any, now: Any, place: Place = ()) -> Iterator[DocumentDifference]:
    """The places where two documents differ, as deep as possible; lists of different lengths differ as a whole."""
    if isinstance(was, dict) and isinstance(now, dict):
        for key in (*was, *(key for key in now if key not in was)):
            at = (*place, key)
            if key in was and key in now:
                yield from find_differences(was[key], now[key], at)
            else:
                yield DocumentDifference(at, was.get(key), now.get(key), key in was, key in now)
    elif isinstance(was, list) and isinstance(now, list) and len(was) == len(now):
        for number, pair in enumerate(zip(was, now, strict=True)):
            yield from find_differences(*pair, (*place, number))
    elif type(was) is not type(now) or was != now:  # 1, 1.0 and true are three things
        yield DocumentDifference(place, was, now)


def make_patch(sent: Any, own: Any, moved: Mapping[Place, Place]) -> Patch:
    """The patch that turns `sent` into `own`.

    Args:
        sent: The definition as it is sent.
        own: The original definition.
        moved: The old place of each moved key, by its new place; the patch moves these first.
    """
    moves: Patch = [
        {"op": "move", "from": format_pointer(now), "path": format_pointer(was)} for now, was in moved.items()
    ]
    patch = list(moves)
    for difference in find_differences(restore_definition(sent, moves), own):
        path = format_pointer(difference.place)
        if not difference.in_now:
            patch.append({"op": "remove", "path": path})
        else:
            patch.append({"op": "replace" if difference.in_was else "add", "path": path, "value": difference.now})
    return patch


def restore_definition(sent: Any, patch: Sequence[Mapping[str, Any]]) -> Any:
    """The original definition of one that is sent; `sent` is not changed.

    Args:
        sent: As the file has it under `tools`.
        patch: As the file has it under `originals`, by the name the tool is sent under; an empty one changes nothing.

    Raises:
        InvalidDefinitionError: the patch is invalid, or belongs to another definition.
    """
    definition = copy.deepcopy(sent)
    try:
        for step in patch:
            definition = _take_step(definition, step)
    except (LookupError, ValueError, TypeError, AttributeError) as error:
        raise InvalidDefinitionError("That does not lead from this definition to the one it was made of.") from error
    return definition


def _take_step(definition: Any, step: Mapping[str, Any]) -> Any:
    kind, path = step["op"], parse_pointer(step["path"])
    match kind:
        case "remove":
            _take(definition, path)
        case "move":
            _put(definition, path, _take(definition, parse_pointer(step["from"])))
        case "replace" if not path:
            return copy.deepcopy(step["value"])
        case "add" | "replace":
            _put(definition, path, copy.deepcopy(step["value"]))
        case _:
            raise ValueError(f"there is no {kind!r} here")
    return definition


def _holder(root: Any, path: Steps) -> tuple[Any, Any]:
    for step in path[:-1]:
        root = root[int(step)] if isinstance(root, list) else root[step]
    return root, int(path[-1]) if isinstance(root, list) else path[-1]


def _take(root: Any, path: Steps) -> Any:
    holder, key = _holder(root, path)
    return holder.pop(key)


def _put(root: Any, path: Steps, value: Any) -> None:
    holder, key = _holder(root, path)
    holder[key] = value
