"""Find literals of a query that no check of a right answer covers, though an argument of the answer could hold them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from toolbelt.catalog import Tool
from toolbelt.catalog.frozen import thaw
from toolbelt.catalog.ranking.text import split_name
from toolbelt.evals.cases.case import Case
from toolbelt.evals.cases.lint.literals import Literal, LiteralKind, find_literals
from toolbelt.findings import Finding, Severity

LONG_QUERY = 1000
"""Characters of a query above which it is a story or a document, most literals of which are no arguments."""
_MOST_SHOWN = 3


def _words(words: str) -> frozenset[str]:
    return frozenset(words.split())


_PLACES = _words(
    "path file filename dir directory folder source destination dest target workspace cwd root image dockerfile "
    "notebook branch ref repo repository base head left right"
)
_NAMES = _words(
    "id name ref number branch tag version sha commit revision host image model selector query pattern label point"
)
_TEXTS = _words(
    "text query pattern message body title content description comment reason note prompt command label tag name "
    "search filter selector value subject term keyword source code feedback"
)
_LAST_WORDS: Mapping[LiteralKind, frozenset[str]] = MappingProxyType(
    {
        LiteralKind.QUOTED: _TEXTS,
        LiteralKind.URL: _words("url uri link address page target source"),
        LiteralKind.PATH: _PLACES,
        LiteralKind.DATE: _words("since until before after start end date time from to at due when expires"),
        LiteralKind.ID: _NAMES,
    }
)
"""The last words of names of optional arguments that may hold a literal of a kind."""
_COUNTS = _words("limit count max top lines tail number")
_COUNTED = _words("first last latest next top most max limit only")
_PERIODS = _words("second minute hour day week month year")


@dataclass(frozen=True)
class _Argument:
    """An argument of an expected call that no check names."""

    tool: str
    name: str
    types: frozenset[str]
    is_required: bool

    def can_hold(self, literal: Literal) -> bool:
        """Whether a user may mean this argument by the literal; of optional ones, the name has to suit it."""
        is_number = literal.kind is LiteralKind.NUMBER
        if self.types.isdisjoint(("integer", "number") if is_number else ("string",)):
            return False
        if self.is_required:
            return True
        words = _singular(split_name(self.name).casefold().split())
        if not is_number:
            return not _LAST_WORDS[literal.kind].isdisjoint(words[-1:])
        near = frozenset(_singular(literal.neighbours))
        is_counted = not _COUNTED.isdisjoint(near) and _PERIODS.isdisjoint(near)
        return not near.isdisjoint(words) or (is_counted and not _COUNTS.isdisjoint(words))


class UncheckedLiterals:
    """Collects the literals that nothing checks.

    A dataset without a single check of an argument is about the choice of tools alone, so that nothing is found there.

    Args:
        tools: Those of the catalog, by id.
    """

    def __init__(self, tools: Mapping[str, Tool]) -> None:
        self._tools = tools
        self._findings: list[Finding] = []
        self._checks_arguments = False

    def add(self, case: Case, line: int) -> None:
        """Add a case and the line of it."""
        checked = list(_checked_texts(case))
        self._checks_arguments |= bool(checked)
        arguments = sorted(self._unchecked_arguments(case), key=lambda argument: not argument.is_required)
        # What is pasted is full of quotes and ids, and a text with several lines is at least in part.
        is_pasted = "\n" in case.query.strip() or len(case.query) > LONG_QUERY
        results = "\n".join(text for texts in case.results.values() for text in texts)
        literals: dict[str, None] = {}
        holders: dict[str, None] = {}
        for literal in find_literals(case.query) if arguments else ():
            if is_pasted and literal.kind is LiteralKind.QUOTED:
                continue
            # By what is in a result, a user may mean what to look for there.
            needs_required = is_pasted or literal.text in results
            able = [each for each in arguments if each.can_hold(literal) and (each.is_required or not needs_required)]
            if able and not _is_covered(literal, checked):
                literals[f"`{literal.text}`"] = None
                holders |= {f"`{each.name}` of {each.tool}": None for each in able}
        if literals:
            message = (
                f"No check covers {_some(literals)}, which the query states and {_some(holders)} could hold. "
                "Use `args`, `args_any` or `args_contain`."
            )
            self._findings.append(Finding("unchecked-literal", Severity.WARNING, message, line=line))

    def findings(self) -> Iterator[Finding]:
        """A finding for each case with such literals."""
        if self._checks_arguments:
            yield from self._findings

    def _unchecked_arguments(self, case: Case) -> Iterator[_Argument]:
        for call in case.expected or ():
            names = frozenset() if call.arguments is None else call.arguments.names
            if call.arguments is not None and call.arguments.exact:
                continue
            parameters = self._tools[call.tools[0]].parameters
            properties, required = parameters.get("properties"), parameters.get("required") or ()
            for name, schema in properties.items() if isinstance(properties, Mapping) else ():
                if name not in names:
                    yield _Argument(call.tools[0], name, _free_types(schema), name in required)


def _checked_texts(case: Case) -> Iterator[str]:
    """Every checked value of every right answer, ignoring case."""
    for answer in case.answers:
        for call in answer:
            if call.arguments is not None:
                values = (*call.arguments.accepted.values(), *call.arguments.contains.values())
                yield from (_as_text(value).casefold() for accepted in values for value in accepted)


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(thaw(value), ensure_ascii=False)


def _is_covered(literal: Literal, checked: Iterable[str]) -> bool:
    """Whether a checked text contains the literal or is most of it, or its words are checked (of a quote, half)."""
    wanted = literal.text.casefold().lstrip("#@")
    if literal.kind is not LiteralKind.NUMBER:
        for text in checked:
            if wanted in text or (text in wanted and 2 * len(text) >= len(wanted)):
                return True
    words = re.findall(r"\w+", wanted)
    covered = sum(any(_has_word(text, word) for text in checked) for word in words)
    return covered >= max(1, len(words) / 2 if literal.kind is LiteralKind.QUOTED else len(words))


def _has_word(text: str, word: str) -> bool:
    """Whether a word occurs; of a number, neither more digits before nor after it."""
    edge = r"\d" if word.isdigit() else r"\w"
    return re.search(rf"(?<!{edge}){re.escape(word)}(?!{edge})", text) is not None


def _free_types(schema: Any) -> frozenset[str]:
    """The types of values that a schema leaves free; all where it does not say."""
    if not isinstance(schema, Mapping) or "enum" in schema or "const" in schema:
        return frozenset()
    inner = [*(schema.get("anyOf") or ()), *(schema.get("oneOf") or ())]
    if isinstance(schema.get("items"), Mapping):
        inner.append(schema["items"])
    if isinstance(schema.get("properties"), Mapping):
        inner += schema["properties"].values()
    if inner:
        return frozenset().union(*map(_free_types, inner))
    types = schema.get("type", ("string", "integer"))
    return frozenset([types] if isinstance(types, str) else types)


def _singular(words: Iterable[str]) -> list[str]:
    return [word.rstrip("s") for word in words]


def _some(names: Mapping[str, None]) -> str:
    shown, more = list(names)[:_MOST_SHOWN], len(names) - _MOST_SHOWN
    return ", ".join(shown) + (f" and {more:,} more" if more > 0 else "")
