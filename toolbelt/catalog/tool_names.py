"""What the names of tools reveal: their words, what they are about, and a description of a group made from them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from toolbelt.catalog.tool import Tool
from toolbelt.patterns import fold

MAX_DESCRIPTION = 200
"""Characters of a description that is made from names, about: a name is never cut."""
_VERBS = """
access activate add append apply approve archive assign browse build call cancel change check clear click clone close
comment commit compare complete configure connect convert copy count create deactivate delete deploy describe diff
disable discover dismiss download drop edit enable evaluate execute explain export extract fetch fill filter find fork
generate get grep import insert inspect install invite invoke kill launch link list load lock log login lookup make
manage mark merge modify monitor move navigate notify open parse patch pause ping poll post preview print process
publish pull push put query read rebase recognize redeem refund register reject reload remove rename render replace
reply reprioritize request reset resolve restart restore resume retrieve revert revoke run save scan schedule
screenshot search see select send set share show sign sort star start stat stop submit subscribe summarize switch sync
synthesize tag test toggle track transfer translate trigger type unarchive unassign uninstall unlink unlock unresolve
unset unshare unstar unsubscribe update upload upsert use validate verify view wait watch write
"""
VERBS = frozenset(_VERBS.split())
"""First words of names that describe an action and not a subject."""
_FILLERS = frozenset("a all an and any by for from in my new of on or the to with".split())  # noqa: SIM905
_NOUNS = frozenset({("pull", "request"), ("pull", "requests")})
"""Where a verb begins a noun of two words."""
_WORD = re.compile(r"[A-Z]+(?![a-z])\d*|[A-Z]?[^\W\d_A-Z]+\d*|\d+|[^\W_]")


def split_words(name: str) -> tuple[str, ...]:
    """The words of a name, folded: `getHTTPStatus`, `get-http-status` and `get_http.status` have the same."""
    return tuple(map(fold, _WORD.findall(name)))


def find_subject(words: Sequence[str]) -> int | None:
    """The index of the first word that is neither a verb nor a filler; `None` if all are."""
    for place, word in enumerate(words):
        if (word not in VERBS and word not in _FILLERS) or tuple(words[place : place + 2]) in _NOUNS:
            return place
    return None


def singular(word: str) -> str:
    """An English word without its plural ending, where it has a regular one."""
    if word.endswith("ies") and len(word) > 4:
        return f"{word[:-3]}y"
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


def describe_tools(names: Iterable[str]) -> str:
    """What tools are about, in about 200 characters at most.

    Args:
        names: Of the tools, in their order.

    Returns:
        The names, if they are short enough or differ in what they are about. Else what they are about, each with the
        number of its tools, the most frequent first: what is cut off a list of names may be what a reader needs.
    """
    names = tuple(dict.fromkeys(names))
    if len(text := ", ".join(names)) <= MAX_DESCRIPTION:
        return text
    subjects: dict[str, list[str]] = {}
    for name in names:
        words = split_words(name)
        place = find_subject(words)
        word = words[place] if place is not None else fold(name)
        subjects.setdefault(singular(word), []).append(word)
    if 1 < len(subjects) <= len(names) / 2:
        ranked = sorted(subjects.values(), key=lambda spelled: -len(spelled))
        return _cut([f"{spelled[0]} ({len(spelled)})" for spelled in ranked])
    return _cut(names)


def _cut(items: Sequence[str]) -> str:
    length = 0
    shown: list[str] = []
    for item in items:
        length += len(item) + 2
        if shown and length > MAX_DESCRIPTION:
            return f"{', '.join(shown)} and {len(items) - len(shown)} more"
        shown.append(item)
    return ", ".join(shown)


def find_written_description(description: str, tools: Iterable[Tool]) -> str:
    """The description of a group of tools, if somebody wrote it.

    Empty where the text was made from the names of its tools: that names those, too, that are not shown.
    """
    return "" if description == describe_tools(tool.name for tool in tools) else description
