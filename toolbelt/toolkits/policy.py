"""What an agent's prompt says of the tools it has (rules K4, K7)."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from toolbelt.errors import InvalidDefinitionError
from toolbelt.toolkits.switches import ToolkitCatalog
from toolbelt.toolkits.toolkit import Toolkit, as_names

if TYPE_CHECKING:
    from toolbelt.runtime.executable import ExecutableTool

_SENTENCE_END = re.compile(r"((?<=[.!?。！？])\s+|\n+)")
_PLACE = re.compile(r"\{\{tools\}\}|\{tools\}")


@dataclass(frozen=True)
class PolicyLine:
    """A line of the prompt that appears only if one of its tools is available.

    Attributes:
        tools: Keys of the members it is about; at least one.
        text: The line; `{tools}` stands for the available ones of its tools.
    """

    tools: tuple[str, ...]
    text: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "tools", as_names(self.tools))
        _require_text("A line of a policy", self.text)


@dataclass(frozen=True)
class PolicyText:
    """The prompt text of a toolkit, as a table: it depends only on which members are available.

        PolicyText.of(
            "To look at the repository, use {tools}.",
            per_tool={"git_push": "Never push to main."},
            unavailable="No access to the repository is available.",
        )

    In every text, `{tools}` stands for the tools that are available, separated by commas, and `{{tools}}` for the
    literal `{tools}`. All other braces are themselves.

    Attributes:
        text: The text if any member is available.
        lines: What is added for single ones, in order.
        unavailable: The text if no member is available.
    """

    text: str = ""
    lines: tuple[PolicyLine, ...] = ()
    unavailable: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "lines", tuple(self.lines))
        _require_text("The text of a policy", self.text)
        _require_text("What a policy says where no tool is available", self.unavailable)

    @classmethod
    def of(cls, text: str = "", per_tool: Mapping[str, str] | None = None, unavailable: str = "") -> Self:
        """As it is written in `toolbelt.yaml`: `per_tool` maps members to their lines."""
        return cls(text, tuple(PolicyLine((key,), line) for key, line in (per_tool or {}).items()), unavailable)

    def __call__(self, available: Sequence[str]) -> str | None:
        """The text for these available members; `None` for none."""
        return self.render(available)

    def render(self, available: Iterable[str], names: Mapping[str, str] | None = None) -> str | None:
        """The text for these available members; `None` for none.

        Args:
            available: Keys of members, in order.
            names: What the model is shown for a key, where that differs from it.
        """
        shown = {key: (names or {}).get(key, key) for key in available}
        if not shown:
            return _fill(self.unavailable, ()).strip() or None
        parts = [(self.text, list(shown.values()))]
        parts += ((line.text, [shown[key] for key in dict.fromkeys(line.tools) if key in shown]) for line in self.lines)
        filled = (_fill(text, there).strip() for text, there in parts if there)
        return "\n".join(part for part in filled if part) or None

    def without(self, gone: Sequence[str], there: Iterable[str]) -> Self:
        """The same without the sentences that name a member which is not available (rule K4).

        Args:
            gone: Keys of members that are not available.
            there: Keys of those that are; a name that one of them has, too, is theirs.
        """
        names = {name for key in gone for name in (key, _bare(key))}
        names -= {name for key in there for name in (key, _bare(key))}
        lines = (PolicyLine(line.tools, _without_sentences(line.text, names)) for line in self.lines)
        return type(self)(_without_sentences(self.text, names), tuple(lines), self.unavailable)

    def expanded(self, expand: Callable[[str], Iterable[str]]) -> Self:
        """The same with the tools of each line put through `expand`, which makes entries into keys of tools."""
        lines = (PolicyLine(_expanded(line.tools, expand), line.text) for line in self.lines)
        return type(self)(self.text, tuple(lines), self.unavailable)


@dataclass(frozen=True, slots=True)
class PolicySection:
    """A part of the prompt, with where it comes from.

    Attributes:
        kind: `toolkit` or `tool`.
        key: Of the toolkit or tool.
        text: The text; not blank.
    """

    kind: str
    key: str
    text: str


def build_policy_section(
    toolkit: Toolkit, available: Iterable[str], names: Mapping[str, str] | None = None
) -> str | None:
    """The prompt text of a toolkit, naming only members that are available (rule K4); `None` for none.

    A sentence of a plain text that names another member is left out; lint warns of it.

    Args:
        toolkit: Whose policy it is. One that is a function gets the keys of the members that are available, whatever
            `names` says, and is relied on.
        available: Keys of the tools the agent has, of any toolkit.
        names: What the model is shown for a key, where that differs from it.

    Raises:
        InvalidDefinitionError: what makes the policy gave neither a text nor `None`.
    """
    there = frozenset(as_names(available))
    members = tuple(member for member in toolkit.member_tools if member in there)
    policy = PolicyText(toolkit.policy) if isinstance(toolkit.policy, str) else toolkit.policy
    if policy is None:
        return None
    if isinstance(policy, PolicyText):
        gone = [member for member in toolkit.member_tools if member not in there]
        text: Any = (policy.without(gone, members) if gone and members else policy).render(members, names)
    else:
        text = policy(members)
    if text is None:
        return None
    _require_text(f"The policy of toolkit {toolkit.key!r}", text)
    return str(text).strip() or None


def policy_sections(
    catalog: ToolkitCatalog,
    available: Iterable[str],
    tools: Iterable[ExecutableTool],
    names: Mapping[str, str] | None = None,
) -> tuple[PolicySection, ...]:
    """The prompt's sections about the tools: toolkits in registry order, then single tools, then other tools.

    Args:
        catalog: Where the toolkits come from, and the policies of single tools.
        available: Keys of the tools the agent has, as the catalog has them.
        tools: Tools that may bring a policy of their own, in order, such as all of a `ToolRegistry`. The policy of
            one that is in the catalog has its place there, if the catalog has no policy for it.
        names: What the model is shown for a key, where that differs from it, such as the `wire_names` of a registry
            or catalog; for the texts of toolkits that are no functions. The policy of a single tool stays as it is
            written, `{tools}` too.

    Raises:
        InvalidDefinitionError: as `build_policy_section`; names of which none is of a tool of the catalog.
    """
    there = frozenset(as_names(available))
    if isinstance(tools, Mapping):
        raise InvalidDefinitionError("The tools of a policy are a list; give what the model is shown as names=...")
    brought = tuple(tools)
    by_key = {} if names is None else _names_by_key(names, catalog, there, brought)
    return tuple(_without_repeats(_sections(catalog, there, brought, by_key)))


def build_policy(
    catalog: ToolkitCatalog,
    available: Iterable[str],
    tools: Iterable[ExecutableTool] = (),
    names: Mapping[str, str] | None = None,
) -> str:
    """`policy_sections` as one text, with an empty line between two; empty for none. Same arguments and errors."""
    return "\n\n".join(section.text for section in policy_sections(catalog, available, tools, names))


def find_named_members(text: str, members: Iterable[str]) -> tuple[str, ...]:
    """The members that a text names outright, and so would name where they are missing, too; in order.

    For lint. A name that might be a plain word counts only in code marks or quotes, or before a parenthesis: "search"
    in prose is seldom the tool.

    Args:
        text: Of a policy.
        members: Keys; of `plugin/tool`, the part behind the last stroke is looked for as well.
    """
    return tuple(member for member in members if any(_names(text, name) for name in {member, _bare(member)}))


def _sections(
    catalog: ToolkitCatalog,
    there: Collection[str],
    tools: Iterable[ExecutableTool],
    names: Mapping[str, str] | None,
) -> Iterator[PolicySection]:
    for toolkit in catalog.toolkits:
        if text := build_policy_section(toolkit, there, names):
            yield PolicySection("toolkit", toolkit.key, text)
    brought = {key: tool.policy for tool in tools for key in _keys_of(tool) if key in there}
    own = {tool.key: tool.policy or brought.get(tool.key, "") for tool in catalog.tools if tool.key in there}
    for key, text in (own | {name: policy for name, policy in brought.items() if name not in own}).items():
        if text.strip():
            yield PolicySection("tool", key, text.strip())


def _names_by_key(
    names: Mapping[str, str], catalog: ToolkitCatalog, there: Collection[str], tools: Iterable[ExecutableTool]
) -> dict[str, str]:
    """Names by the keys of the catalog, whether they are given by name or by id, which is `plugin/name`.

    Raises:
        InvalidDefinitionError: none of them is of a tool of the catalog.
    """
    by_key = dict(names)
    for keys in map(_keys_of, tools):
        if (shown := next((names[key] for key in keys if key in names), None)) is not None:
            by_key.update((key, shown) for key in keys if key not in names)
    of_bare: dict[str, set[str]] = {}
    for key, shown in names.items():
        of_bare.setdefault(_bare(key), set()).add(shown)
    for key in there:
        # A name alone means the one tool that has it; `a/x` and `b/x` are two tools.
        bare = _bare(key)
        shown_as = of_bare.get(key, ()) if bare == key else [names[bare]] if bare in names else ()
        if key not in by_key and len(shown_as) == 1:
            (by_key[key],) = shown_as
    known = [tool.key for tool in catalog.tools]
    if names and there and known and by_key.keys().isdisjoint((*known, *there)):
        raise InvalidDefinitionError(
            f"None of the names is of a tool here: they are given for keys like {next(iter(names))!r}, and the keys "
            f"are like {known[0]!r}."
        )
    return by_key


def _keys_of(tool: ExecutableTool) -> tuple[str, ...]:
    """What a tool may be available as: its name, its id, or what is its id in the catalog of a registry."""
    return tuple(dict.fromkeys((tool.name, tool.id, f"{tool.plugin or tool.name}/{tool.name}")))


def _without_repeats(sections: Iterable[PolicySection]) -> Iterator[PolicySection]:
    """Each text once, where it comes first: tools that share a rule need it said once."""
    texts: set[str] = set()
    for section in sections:
        if section.text not in texts:
            texts.add(section.text)
            yield section


def _fill(text: str, shown: Iterable[str]) -> str:
    """Replaces in one pass, so that inserted text is not replaced again; other braces stay."""
    listed = ", ".join(shown)
    return _PLACE.sub(lambda match: "{tools}" if match[0] == "{{tools}}" else listed, text)


def _expanded(keys: Iterable[str], expand: Callable[[str], Iterable[str]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(tool_key for key in keys for tool_key in expand(key)))


def _without_sentences(text: str, names: Collection[str]) -> str:
    """A text without the sentences, and lines, that have one of the names."""
    parts = _SENTENCE_END.split(text)
    pairs = zip(parts[::2], (*parts[1::2], ""), strict=True)
    return "".join(f"{part}{gap}" for part, gap in pairs if not any(_names(part, name) for name in names))


def _bare(member: str) -> str:
    return member.rpartition("/")[2]


def _names(text: str, name: str) -> bool:
    if not name or "*" in name:
        return False
    pattern = rf"(?<![\w/-]){re.escape(name)}(?![\w/-])"
    if name.isalpha() and name[1:] == name[1:].lower():
        pattern = rf"[`'\"“‘]{re.escape(name)}[`'\"”’]|(?<![\w/-]){re.escape(name)}\("
    return re.search(pattern, text) is not None


def _require_text(what: str, text: object) -> None:
    if not isinstance(text, str):
        raise InvalidDefinitionError(f"{what} must be text, not of type {type(text).__name__}.")
