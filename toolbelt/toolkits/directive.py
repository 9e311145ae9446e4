"""What a user's message narrows a request to, and the `tool_choice` that goes with it (rule K5)."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any, Generic, Self, TypeVar

from toolbelt.catalog import Tool
from toolbelt.errors import InvalidDefinitionError, NotFoundError
from toolbelt.toolkits.toolkit import Directive, Toolkit, as_names, require_choice

Item = TypeVar("Item")


@dataclass(frozen=True)
class DirectiveRule:
    """Words of a message, and the tools it is then about.

    Attributes:
        when: Words or phrases, any of which will do; compared ignoring case, as whole words. In scripts that do not
            part words by blanks (Chinese, Japanese, Thai, ...) or join particles to them (Korean), they are found
            anywhere.
        tools: Keys of members; all of the toolkit if left out.
        tool_choice: `required`, `auto`, `none` or a member's key; `None` leaves it to the caller. A key of what is not
            sent has no effect.

    Raises:
        InvalidDefinitionError: no phrase, or one that is blank; a choice that is no text.
    """

    when: tuple[str, ...]
    tools: tuple[str, ...] = ()
    tool_choice: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "when", as_names(self.when))
        object.__setattr__(self, "tools", as_names(self.tools))
        if not self.when:
            raise InvalidDefinitionError("A directive rule needs at least one word or phrase to wait for.")
        if wrong := [phrase for phrase in self.when if not isinstance(phrase, str) or not phrase.strip()]:
            raise InvalidDefinitionError(f"The words of a directive rule must not be blank, and {wrong[0]!r} is.")
        require_choice("directive rule", self.tool_choice)

    def matches(self, message: str) -> bool:
        """Whether any of the phrases is in a user's message."""
        return self.matches_plain(plain_text(message))

    def matches_plain(self, text: str) -> bool:
        """Whether any of the phrases is in a text that `plain_text` made; for many rules over one message."""
        return any(_has_phrase(text, phrase) for phrase in self._phrases)

    @cached_property
    def _phrases(self) -> tuple[str, ...]:
        return tuple(map(plain_text, self.when))


@dataclass(frozen=True)
class DirectiveRules:
    """The directive of a toolkit, as a table: every rule that matches adds its tools.

    Attributes:
        rules: In order.
    """

    rules: tuple[DirectiveRule, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "rules", tuple(self.rules))

    def __call__(self, message: str, available: Collection[str]) -> Directive | None:
        """What these rules make of a message, where these members are available; `None` if none matches."""
        text = plain_text(message)
        matching = (rule for rule in self.rules if rule.matches_plain(text))
        return _union((Directive(rule.tools or tuple(available), rule.tool_choice) for rule in matching), available)

    def expanded(self, expand: Callable[[str], Iterable[str]]) -> Self:
        """The same with the tools of each rule put through `expand`, which makes entries into keys of tools.

        A rule that has no tools left is left out: without tools, it would apply to all. A `tool_choice` that
        becomes several tools becomes `required`.
        """
        rules = (_expand(rule, expand) for rule in self.rules)
        return type(self)(tuple(rule for rule in rules if rule is not None))


@dataclass(frozen=True)
class Narrowed(Generic[Item]):
    """What one request is sent with.

    Attributes:
        tools: Of those given, in their order.
        tool_choice: `required`, `auto`, `none`, or one of `tools`: by the name it is shown under where they are
            definitions, else by its key; `None` leaves it to the caller. `tool_choice_for` makes it what is sent.
        applied: Whether a directive narrowed them; `False` where it named none of them, and so did nothing.
    """

    tools: tuple[Item, ...]
    tool_choice: str | None = None
    applied: bool = field(default=False, compare=False)

    def tool_choice_for(self, form: str, names: Mapping[str, str] | None = None) -> str | dict[str, Any] | None:
        """The choice as the request of a provider takes it; `None` where none is to be sent.

        Args:
            form: `openai`, `litellm` or `anthropic`.
            names: What the tools are shown as, by key, where `tools` are keys or `Tool`s; definitions need none.

        Raises:
            NotFoundError: another form.
        """
        are_shown = any(isinstance(tool, Mapping) for tool in self.tools)
        return format_tool_choice(self.tool_choice, form, None if are_shown else names)


def message_text(message: object) -> str:
    """What a user wrote, of a message's `content` or a whole message, as providers have it.

    Args:
        message: A text; a list of parts, of which those of text are read (`{"type": "text", "text": ...}`, or
            `input_text`), a line each, and images and the like are passed over; a mapping with `content` of either;
            `None`, which is empty.

    Raises:
        InvalidDefinitionError: anything else.
    """
    if message is None or isinstance(message, str):
        return message or ""
    if isinstance(message, Mapping):
        is_part = "content" not in message
        return message_text([message] if is_part and "type" in message else message.get("content"))
    if not isinstance(message, Iterable) or isinstance(message, bytes):
        raise InvalidDefinitionError(f"A message is text or a list of parts, not of type {type(message).__name__}.")
    return "\n".join(filter(None, map(_part_text, message)))


def directive(message: object, toolkits: Iterable[Toolkit], available: Iterable[str]) -> Directive | None:
    """What a user's message narrows the next request to; `None` for nothing.

    The union of what the toolkits say, in their order, cut to what is available. A toolkit of which nothing is left
    has no say, so a `required` of its forces nothing. Of several choices, the strongest stands: `required`, a tool,
    `auto`, `none`; two that each want another tool become `required`, so that one of the tools is called and the model
    chooses which. A choice of a tool that is not sent is dropped.

    Args:
        message: What the user wrote, in any form that `message_text` reads. Without text, no toolkit is asked.
        toolkits: In registry order; those that the agent has.
        available: Keys of the tools the agent has, of any toolkit: what the members of the toolkits are. Toolkits over
            a registry are keyed by names if `expand_toolkits` was given the name as `key`, else by ids.

    Raises:
        InvalidDefinitionError: what makes a directive gave neither one nor `None`; a message that is none.
    """
    text = message_text(message)
    if not text.strip():
        return None
    there = tuple(dict.fromkeys(available))
    known = frozenset(there)
    directives = []
    for toolkit in toolkits:
        members = tuple(member for member in toolkit.member_tools if member in known)
        if toolkit.directive is None or not members:
            continue
        narrowed: Any = toolkit.directive(text, members)
        if isinstance(narrowed, Directive):
            directives.append(narrowed)
        elif narrowed is not None:
            raise InvalidDefinitionError(
                f"The directive of toolkit {toolkit.key!r} gave something of type {type(narrowed).__name__}; "
                "it must give a Directive or None."
            )
    return _union(directives, known)


def narrow(
    tools: Iterable[Item], directive: Directive | None, names: Mapping[str, str] | None = None
) -> Narrowed[Item]:
    """What one request is sent with; nothing that is given changes, and the next request starts from the whole again.

    Where none of `tools` is among the active ones, nothing is narrowed and nothing forced: all of them are sent, as
    without a directive, and `Narrowed.applied` is `False`. That is so, too, where keys and names do not go together.
    For definitions of a registry:

        names = registry.wire_names                                                       # keys are names
        names = {tool.id: registry.wire_names[tool.name] for tool in registry.catalog.tools}    # keys are ids
        narrowed = narrow(registry.to_definitions(form="litellm"), directive, names)
        request = {"tools": list(narrowed.tools), "tool_choice": narrowed.tool_choice_for("litellm")}

    Args:
        tools: Keys, definitions of any provider, or `Tool`s; their order is kept, so that a cached prefix may be.
        directive: `None` for no narrowing.
        names: What the tools are shown as, by the keys that the directive has, where that differs from the key.
    """
    items = tuple(tools)
    if directive is None:
        return Narrowed(items)
    shown = {key: (names or {}).get(key, key) for key in directive.active_tools}
    keys = {name: key for key, name in shown.items()}
    meant = [(tool, key) for tool in items if (key := _find_key(tool, shown, keys)) is not None]
    if not meant:
        return Narrowed(items)
    choice = directive.tool_choice
    if choice is not None and choice not in CHOICES:
        chosen = next((tool for tool, key in meant if key == choice), None)
        choice = None if chosen is None else shown[choice] if isinstance(chosen, Mapping) else choice
    return Narrowed(tuple(tool for tool, _ in meant), choice, applied=True)


def _part_text(part: object) -> str:
    if isinstance(part, str):
        return part
    is_text = isinstance(part, Mapping) and part.get("type", "text") in ("text", "input_text")
    text = part.get("text") if isinstance(part, Mapping) and is_text else None
    return text if isinstance(text, str) else ""


def _union(directives: Iterable[Directive], available: Collection[str]) -> Directive | None:
    active: dict[str, None] = {}
    choices: list[str] = []
    for each in directives:
        there = [key for key in each.active_tools if key in available]
        active.update(dict.fromkeys(there))
        if there and each.tool_choice is not None:
            choices.append(each.tool_choice)
    return Directive(tuple(active), _strongest(choices, active)) if active else None


def _strongest(choices: Sequence[str], active: Collection[str]) -> str | None:
    if REQUIRED in choices:
        return REQUIRED
    single = dict.fromkeys(choice for choice in choices if choice in active)
    if single:
        return next(iter(single)) if len(single) == 1 else REQUIRED
    return next((choice for choice in (AUTO, NONE) if choice in choices), None)


def _expand(rule: DirectiveRule, expand: Callable[[str], Iterable[str]]) -> DirectiveRule | None:
    tools = tuple(dict.fromkeys(tool_key for key in rule.tools for tool_key in expand(key)))
    if rule.tools and not tools:
        return None
    choice = rule.tool_choice
    if choice is not None and choice not in CHOICES:
        chosen = tuple(expand(choice))
        choice = chosen[0] if len(chosen) == 1 else REQUIRED if chosen else None
    return DirectiveRule(rule.when, tools, choice)


def _find_key(tool: object, shown: Collection[str], keys: Mapping[str, str]) -> str | None:
    """The key among `shown` that a tool has; a definition is known by the name it is shown under."""
    if isinstance(tool, Tool):
        return next((key for key in (tool.id, tool.name) if key in shown), None)
    if isinstance(tool, Mapping):
        function = tool.get("function")
        name = function.get("name") if isinstance(function, Mapping) else tool.get("name")
        return keys.get(name) if isinstance(name, str) else None
    return tool if isinstance(tool, str) and tool in shown else None


def plain_text(text: str) -> str:
    """As texts are compared: no case, no ligatures or wide forms, one kind of apostrophe, one blank between words."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return " ".join(folded.replace("\u2019", "'").split())


def _has_phrase(text: str, phrase: str) -> bool:
    start = text.find(phrase)
    while start >= 0:
        end = start + len(phrase)
        before, after = text[start - 1 : start] if start else "", text[end : end + 1]
        if not _goes_on(before, phrase[0]) and not _goes_on(phrase[-1], after):
            return True
        start = text.find(phrase, start + 1)
    return False


def _goes_on(left: str, right: str) -> bool:
    """Whether two characters that stand side by side are of one word."""
    return _in_word(left) and _in_word(right) and not (_stands_alone(left) or _stands_alone(right))


def _in_word(character: str) -> bool:
    # Letters, digits and underscores; and marks, which many scripts write vowels with.
    return character == "_" or character.isalnum() or (character != "" and unicodedata.category(character)[0] == "M")


_UNSPACED = ("CJK", "HIRAGANA", "KATAKANA", "HANGUL", "THAI", "LAO", "KHMER", "MYANMAR", "TIBETAN")
"""How Unicode's names of letters begin, in scripts that set no blanks between words, or join particles to them."""


def _stands_alone(character: str) -> bool:
    return character > "\u0dff" and unicodedata.name(character, "").startswith(_UNSPACED)


REQUIRED = "required"
"""The `tool_choice` that makes a model call something; it wins over every other."""
AUTO = "auto"
"""The `tool_choice` that lets a model call something or not."""
NONE = "none"
"""The `tool_choice` that keeps a model from calling anything."""
CHOICES = (REQUIRED, AUTO, NONE)
"""Those that are words; every other is a tool."""


def format_tool_choice(
    choice: str | None, form: str, names: Mapping[str, str] | None = None
) -> str | dict[str, Any] | None:
    """A `tool_choice` as the request of a provider takes it.

        format_tool_choice("search", "litellm")       # {"type": "function", "function": {"name": "search"}}
        format_tool_choice("search", "anthropic")     # {"type": "tool", "name": "search"}
        format_tool_choice("required", "anthropic")   # {"type": "any"}

    Args:
        choice: `required`, `auto`, `none`, or a tool; `None` is `None`, and then nothing is to be sent.
        form: `openai`, `litellm` or `anthropic`, as for definitions; what lists tools without asking a model takes no
            choice.
        names: What tools are shown as, where `choice` is a key that differs from it.

    Raises:
        NotFoundError: another form, with the nearest.
    """
    if form not in _FORMS:
        raise NotFoundError("form of a tool choice", form, _FORMS)
    if choice is None:
        return None
    return _FORMS[form](choice, choice if choice in CHOICES else (names or {}).get(choice, choice))


def _openai(choice: str, name: str) -> str | dict[str, Any]:
    return choice if choice in CHOICES else {"type": "function", "function": {"name": name}}


def _anthropic(choice: str, name: str) -> dict[str, Any]:
    if choice in CHOICES:
        return {"type": "any" if choice == REQUIRED else choice}
    return {"type": "tool", "name": name}


_FORMS: Mapping[str, Callable[[str, str], str | dict[str, Any]]] = MappingProxyType(
    {"openai": _openai, "litellm": _openai, "anthropic": _anthropic}
)
