"""Toolkits as people write them in `toolbelt.yaml`, read strictly (rules D1, K8)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Any

from toolbelt.findings import Finding
from toolbelt.patterns import fold
from toolbelt.sources import Document, Key
from toolbelt.sources.keys import KeySpec, Kind
from toolbelt.sources.section import Section
from toolbelt.toolkits.directive import DirectiveRule, DirectiveRules
from toolbelt.toolkits.policy import PolicyText
from toolbelt.toolkits.toolkit import RESERVED, Toolkit

_MEMBER = "member of the toolkit"
TOOLKIT_KEYS: Mapping[str, KeySpec] = MappingProxyType(
    {
        "description": KeySpec(Kind.PROSE, "What it is for; a model reads this to decide what to load."),
        "tools": KeySpec(
            Kind.ENTRIES,
            "Its members: plugins, or tools as `plugin/tool`, each a name or `name: {overrides}`.",
            ("member_tools", "memberTools", "members", "tool_names", "plugins"),
        ),
        "label": KeySpec(Kind.TEXT, "What an interface calls it; its name if left out.", ("display_name", "title")),
        "default_on": KeySpec(
            Kind.SWITCH,
            "Whether it is on where no configuration of tools says anything; false if left out.",
            ("defaultOn", "default", "enabled", "default_enabled"),
        ),
        "policy": KeySpec(
            Kind.POLICY,
            "The text that it adds to the prompt of an agent: a text, or `text`, `tools` (a line for each member) and "
            "`unavailable` (for when no member is there).",
            ("policy_section", "build_policy_section", "buildPolicySection", "prompt"),
        ),
        "directive": KeySpec(
            Kind.DIRECTIVE,
            "Rules that narrow a request to members of it where the user's message says certain words.",
            ("directives", "get_generate_text_directive", "getGenerateTextDirective"),
        ),
    }
)
POLICY_KEYS: Mapping[str, KeySpec] = MappingProxyType(
    {
        "text": KeySpec(Kind.TEXT, "Text of the prompt where any member is available."),
        "tools": KeySpec(
            Kind.LINES, "By member, text of the prompt where that member is available.", ("per_tool", "lines")
        ),
        "unavailable": KeySpec(Kind.TEXT, "Text of the prompt where no member is available."),
    }
)
RULE_KEYS: Mapping[str, KeySpec] = MappingProxyType(
    {
        "when": KeySpec(Kind.PHRASES, "Words of the user's message, any of which makes it apply."),
        "tools": KeySpec(
            Kind.NAMES, "The members the request is narrowed to; all of them if left out.", ("active_tools",)
        ),
        "tool_choice": KeySpec(
            Kind.TEXT, "`required`, `auto`, `none`, or the member that has to be called.", ("toolChoice",)
        ),
    }
)
_CHOICES = ("required", "auto", "none")


def read_toolkits(document: Document, *path: Key) -> tuple[list[Toolkit], list[Finding]]:
    """The toolkits of a mapping from name to definition, and everything wrong with them.

    Args:
        document: The file.
        path: Where in it the mapping stands; nothing there is no toolkits.

    Returns:
        The toolkits, as far as each could be read, those with a name they may not have among them; and the findings.
    """
    section = Section.of(document, *path)
    toolkits = []
    for name, member in section.read_members("toolkit"):
        _refuse_reserved(name, member)
        toolkits.append(_read_toolkit(name, member))
    return toolkits, section.findings


def read_entries(section: Section) -> tuple[tuple[str, ...], dict[str, Mapping[str, Any]]]:
    """A list of tools: their names, and by name the overrides, where there are any.

    Args:
        section: A list of names, and of mappings from one name to its overrides; what is wrong is kept there.
    """
    overrides: dict[str, Mapping[str, Any]] = {}
    earlier: dict[str, str] = {}
    for item in section.read_items(wanted=Kind.ENTRIES.value):
        entry = _read_entry(item)
        if entry is None or _refuse_reserved(entry[0], item):
            continue
        if not item.is_name(entry[0]) or not item.is_new(entry[0], earlier):
            continue
        if entry[1]:
            overrides[entry[0]] = entry[1]
    return tuple(earlier.values()), overrides


def _read_entry(item: Section) -> tuple[str, Mapping[str, Any]] | None:
    value = item.value
    if isinstance(value, str) and value.strip():
        return value, {}
    if not isinstance(value, dict):
        item.add_wrong_type("a tool's name, or one name with its overrides (`name: {key: value}`)")
        return None
    if len(value) != 1:
        keys = f"the keys {', '.join(map(repr, value))}" if value else "no key"
        message = f"{item.label} is one tool with its overrides below it (`name: {{key: value}}`), but has {keys}."
        item.add_error("wrong-type", message)
        return None
    [(name, overrides)] = value.items()
    if not name.strip():
        item.add_error("blank-name", f"{item.label}: the name of a tool may not be blank.")
        return None
    if overrides is None or isinstance(overrides, dict):
        return name, overrides or {}
    item.child(name).add_wrong_type("a mapping of overrides")
    return None


def _read_toolkit(name: str, section: Section) -> Toolkit:
    fields: dict[str, Any] = {}
    written = section.read_fields(TOOLKIT_KEYS, "toolkit")
    if "tools" in written:
        fields["member_tools"], fields["overrides"] = read_entries(written["tools"])
    members = fields.get("member_tools", ())
    for key, value in written.items():
        match TOOLKIT_KEYS[key].kind:
            case Kind.SWITCH:
                fields[key] = value.read_bool() is True
            case Kind.POLICY:
                fields[key] = _read_policy(value, members)
            case Kind.DIRECTIVE:
                fields[key] = _read_directive(value, members)
            case Kind.TEXT | Kind.PROSE as kind:
                fields[key] = value.read_text(blank=kind is Kind.PROSE) or ""
    return Toolkit(name, **fields)


def _read_policy(section: Section, members: Collection[str]) -> PolicyText:
    if not isinstance(section.value, dict):
        return PolicyText.of(section.read_text() or "")
    texts: dict[str, str] = {}
    lines: dict[str, str] = {}
    for key, value in section.read_fields(POLICY_KEYS, "policy").items():
        if POLICY_KEYS[key].kind is Kind.LINES:
            lines = _read_lines(value, members)
        else:
            texts[key] = value.read_text() or ""
    return PolicyText.of(texts.get("text", ""), lines, texts.get("unavailable", ""))


def _read_lines(section: Section, members: Collection[str]) -> dict[str, str]:
    if not isinstance(section.value, dict):
        section.add_wrong_type(Kind.LINES.value)
        return {}
    lines = {name: section.child(name) for name in section.value}
    texts = {name: line.read_text() for name, line in lines.items() if line.is_known(name, members, _MEMBER)}
    return {name: text for name, text in texts.items() if text}


def _read_directive(section: Section, members: Collection[str]) -> DirectiveRules | None:
    rules = [_read_rule(item, members) for item in section.read_items(wanted=Kind.DIRECTIVE.value)]
    complete = tuple(rule for rule in rules if rule is not None)
    return DirectiveRules(complete) if complete else None


def _read_rule(section: Section, members: Collection[str]) -> DirectiveRule | None:
    if not isinstance(section.value, dict):
        section.add_wrong_type("a mapping with `when`, `tools` and `tool_choice`")
        return None
    written = section.read_fields(RULE_KEYS, "rule of a directive")
    phrases: tuple[str, ...] = ()
    if "when" in written:
        phrases = _read_phrases(written["when"])
    else:
        section.add_error("missing-key", f"{section.label}: a rule says in `when` which words make it apply.")
    tools = _read_rule_tools(written["tools"], members) if "tools" in written else ()
    choice = None
    if "tool_choice" in written:
        choice = _read_choice(written["tool_choice"], tools or members)
    return DirectiveRule(phrases, tools, choice) if phrases else None


def _read_rule_tools(section: Section, members: Collection[str]) -> tuple[str, ...]:
    """Members, or single tools of a member that is a plugin (rule K5); whether it has them, the catalog decides."""
    names = section.read_names()
    return tuple(
        name for name, item in names.items() if _is_of_plugin(name, members) or item.is_known(name, members, _MEMBER)
    )


def _is_of_plugin(name: str, members: Collection[str]) -> bool:
    return any(fold(name).startswith(f"{fold(member)}/") and name[len(member) + 1 :].strip() for member in members)


def _read_phrases(section: Section) -> tuple[str, ...]:
    if isinstance(section.value, list):
        if not section.value:
            section.add_wrong_type("words, one or several")
        return tuple(section.read_names())
    return (text,) if (text := section.read_text()) else ()


def _read_choice(section: Section, tools: Collection[str]) -> str | None:
    choice = section.read_text()
    if not choice or _is_of_plugin(choice, tools) or section.is_known(choice, (*_CHOICES, *tools), "tool choice"):
        return choice or None
    return None


def _refuse_reserved(name: str, section: Section) -> bool:
    """Say so if a name is that of a control tool; whether it is."""
    if fold(name) not in RESERVED:
        return False
    message = f"{section.label}: {name!r} is the name of a control tool; give it another."
    section.add_error("reserved-name", message)
    return True
