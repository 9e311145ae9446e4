"""Splitting a server with many tools into several plugins (rule M4).

As one plugin, a server with 200 tools can only be switched as a whole. `servers.NAME.split` of `toolbelt.yaml` has one
of these forms. A tool's group depends on that tool alone, so that no other tool changes its plugin when one is added:

    split: {by: prefix}                                  # keyvault_secret_get is in NAME-keyvault
    split: {by: meta, field: service}                    # by a field of the tool's `_meta`
    split: {groups: {secrets: [keyvault_*, get_secret]}} # by names and patterns; the first group that matches

What is in no group is in `NAME-other`. The names at the gateway do not change.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from toolbelt.catalog.tool_names import find_subject, singular, split_words
from toolbelt.errors import InvalidDefinitionError
from toolbelt.patterns import find_name_problem, fold, has_inner_star, matches
from toolbelt.sources.keys import KeySpec, Kind
from toolbelt.sources.section import Section

MANY = 30
"""Tools of one server above which a split is proposed."""
OTHER = "other"
"""The group of what is in no other."""
_LEAST_GROUP = 2
_MOST_META_GROUPS = 60
_MOST_NAME = 40
_EVERYDAY = frozenset({"get", "list", "create", "update", "delete", "set", "add", "remove"})
"""Verbs that say nothing about a group, even where most names begin with their subject."""

ToolData = Mapping[str, Any]
SplitData = Mapping[str, Any]


class SplitBy(StrEnum):
    """What decides the group of a tool, where no groups are written."""

    PREFIX = "prefix"
    META = "meta"


SPLIT_KEYS: Mapping[str, KeySpec] = MappingProxyType(
    {
        "by": KeySpec(Kind.TEXT, "`prefix`: the first word of a tool's name; `meta`: a field of its `_meta`."),
        "field": KeySpec(Kind.TEXT, "With `by: meta`, the field; a path with dots leads into an object."),
        "groups": KeySpec(Kind.NAMES, "Tools by group: names and patterns that end in *; the first match counts."),
    }
)


def split_schema() -> dict[str, Any]:
    """The JSON Schema of `split`, for editors."""
    text = {"type": "string", "pattern": r"\S"}
    groups = {
        "type": "object",
        "minProperties": 1,
        "propertyNames": text,
        "additionalProperties": {"type": "array", "items": text, "uniqueItems": True, "minItems": 1},
    }
    properties: dict[str, dict[str, Any]] = {
        "by": {"enum": [by.value for by in SplitBy]},
        "field": text,
        "groups": groups,
    }
    return {
        "type": ["object", "null"],
        "additionalProperties": False,
        "properties": {key: {"description": SPLIT_KEYS[key].description, **properties[key]} for key in SPLIT_KEYS},
        "oneOf": [
            {"required": ["by"], "properties": {"by": {"const": "prefix"}, "field": False}},
            {"required": ["by", "field"], "properties": {"by": {"const": "meta"}}},
            {"required": ["groups"], "properties": {"field": False}},
        ],
    }


def read_split(section: Section) -> SplitData | None:
    """A `split` as it is written, checked; what is wrong with it is added to the findings.

    Returns:
        `None` where nothing is written, or something wrong.
    """
    if section.value is None or section.read_mapping() is None:
        return None
    before = len(section.findings)
    section.check_keys(SPLIT_KEYS, "split")
    by = section.read_choice("by", SplitBy, "split")
    field = section.read_text("field")
    groups = section.child("groups")
    if ("by" in section.value) == ("groups" in section.value):
        section.add_error("split", f"{section.label} needs either `by` or `groups`.")
    if by is SplitBy.META and field is None and "field" not in section.value:
        section.require_keys("field")
    if by is not SplitBy.META and field is not None:
        section.child("field").add_error("split", f"{section.child('field').label} belongs to `by: meta`.")
    for _, group in groups.read_members("group"):
        if not group.read_names():
            group.add_error("split", f"{group.label} needs the names of tools, or patterns.")
        for pattern, place in group.read_names().items():
            if has_inner_star(pattern):
                place.add_warning("inner-star", f"{place.label}: only a `*` at the end of {pattern!r} is a pattern.")
    return None if len(section.findings) > before and section.has_errors else section.value


def find_group(name: str, meta: Mapping[str, Any], split: SplitData, server: str) -> str:
    """The group of a tool.

    Args:
        name: Of the tool.
        meta: Its `_meta`.
        split: As `read_split` returns it.
        server: Its name, which counts as no prefix: `azure_sql_list` of `azure` is in `sql`.
    """
    if "groups" in split:
        for group, patterns in split["groups"].items():
            if any(matches(pattern, name) for pattern in patterns):
                return str(group)
        return OTHER
    if split.get("by") == SplitBy.META:
        return _as_group(_find_field(meta, str(split.get("field", ""))))
    words = _own_words(name, server)
    return words[0] if len(words) > 1 else OTHER


def group_tools(tools: Iterable[ToolData], split: SplitData | None, server: str) -> dict[str, list[ToolData]]:
    """Tools by the name of their plugin.

    Args:
        tools: As the server listed them, each with a `name`.
        split: `None` for one plugin.
        server: Its name.

    Returns:
        In the order written or, where groups come from the tools, by name; `NAME-other` is last. No group is empty.

    Raises:
        InvalidDefinitionError: a group cannot be the name of a plugin.
    """
    if split is None:
        return {server: listed} if (listed := [*tools]) else {}
    grouped: dict[str, list[ToolData]] = {}
    for tool in tools:
        group = find_group(tool["name"], tool.get("_meta") or {}, split, server)
        grouped.setdefault(group, []).append(tool)
    written = {group: place for place, group in enumerate(split.get("groups", ()))}
    ordered = sorted(grouped, key=lambda group: (group not in written and group == OTHER, written.get(group, 0), group))
    for group in ordered:
        if (problem := find_name_problem(group)) is not None:
            raise InvalidDefinitionError(f"The name of a group of server {server!r} {problem}.")
    return {f"{server}-{group}": grouped[group] for group in ordered}


def propose_split(tools: Sequence[ToolData], server: str) -> SplitData | None:
    """A split for a server with many tools.

    Args:
        tools: As the server listed them.
        server: Its name.

    Returns:
        Groups with the names or patterns of their tools; or the field of `_meta` that every tool has. `None` for a
        server with at most `MANY` tools, or whose names show no groups.
    """
    if len(tools) <= MANY:
        return None
    if (field := _find_meta_field(tools)) is not None:
        return {"by": SplitBy.META.value, "field": field}
    names = list(dict.fromkeys(tool["name"] for tool in tools))
    words = {name: _own_words(name, server) for name in names}
    verb_first = sum(bool(find_subject(of_name)) for of_name in words.values())  # 0: the first word is the subject
    groups = _group_by_subject(words) if verb_first > len(names) / 3 else _group_by_prefix(words)
    groups = {group: patterns for group, patterns in sorted(groups.items()) if group != OTHER}
    return {"groups": groups} if len(groups) > 1 else None


def _group_by_prefix(words: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """By the first word, and a large group by the second, too."""
    groups: dict[str, list[str]] = {}
    for prefix, members in _gather(words, 0).items():
        second = _gather({name: words[name] for name in members}, 1) if len(members) > MANY else {}
        for further, few in second.items():
            groups[f"{prefix}-{further}"] = _patterns(few, words, 2)
        if rest := [name for name in members if not any(name in few for few in second.values())]:
            groups[prefix] = rest if second else _patterns(members, words, 1)
    return groups


def _gather(words: Mapping[str, Sequence[str]], place: int) -> dict[str, list[str]]:
    """Names by their word at a place, without words of one name and without everyday verbs."""
    gathered: dict[str, list[str]] = {}
    for name, of_name in words.items():
        if len(of_name) > place and of_name[place] not in _EVERYDAY:
            gathered.setdefault(of_name[place], []).append(name)
    return {word: names for word, names in gathered.items() if len(names) >= _LEAST_GROUP}


def _patterns(names: Sequence[str], words: Mapping[str, Sequence[str]], count: int) -> list[str]:
    """The pattern of their first `count` words, if it matches all of the names and no other; else the names."""
    first = names[0]
    wanted = len(split_words(first)) - len(words[first]) + count
    ends = (match.end() for match in re.finditer(r"[\W_]+", first))
    end = next((end for end in ends if len(split_words(first[:end])) == wanted), 0)
    pattern = f"{first[:end]}*"
    is_exact = end and all(matches(pattern, name) == (name in names) for name in words)
    return [pattern] if is_exact else [*names]


def _group_by_subject(words: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """By the first word that is no verb, whatever its number, and the next where all have the same."""
    gathered: dict[str, list[str]] = {}
    following: dict[str, set[str]] = {}
    for name, of_name in words.items():
        place = find_subject(of_name)
        if place is not None:
            subject = singular(of_name[place])
            gathered.setdefault(subject, []).append(name)
            following.setdefault(subject, set()).add(singular("".join(of_name[place + 1 : place + 2])))
    groups = {}
    for subject, names in gathered.items():
        if len(names) >= _LEAST_GROUP:
            next_words = following[subject]
            groups["-".join([subject, *(next_words if len(next_words) == 1 else ())]).strip("-")] = names
    return groups


def _own_words(name: str, server: str) -> tuple[str, ...]:
    """The words of a name without those of the server's at its beginning."""
    words, of_server = split_words(name), split_words(server)
    count = len(of_server)
    return words[count:] if count and words[:count] == of_server and len(words) > count else words


def _find_field(meta: Mapping[str, Any], field: str) -> object:
    """The value of a field, else what a path with dots leads to."""
    if field in meta:
        return meta[field]
    value: object = meta
    for key in field.split("."):
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def _as_group(value: object) -> str:
    if isinstance(value, Sequence) and not isinstance(value, str):
        value = value[0] if value else None
    if not isinstance(value, str):
        return OTHER
    return re.sub(r"[^\w.]+", "-", fold(value)).strip("-.")[:_MOST_NAME].strip("-.") or OTHER


def _find_meta_field(tools: Sequence[ToolData]) -> str | None:
    """The field of `_meta` that every tool has and that makes groups; the one with the fewest groups of several."""
    fields: dict[str, int] = {}
    for field in (tools[0].get("_meta") or {}) if tools else ():
        groups = [_as_group(_find_field(tool.get("_meta") or {}, field)) for tool in tools]
        distinct = len(set(groups))
        if OTHER not in groups and 1 < distinct <= min(len(tools) / 2, _MOST_META_GROUPS):
            fields[field] = distinct
    return min(fields, key=lambda field: (fields[field], field), default=None)
