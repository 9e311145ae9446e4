"""Chooses the tools to call: one for the whole message, or one for each request in it."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from toolbelt.catalog.ranking.text import find_stems, split_words
from toolbelt.evals.models.local.arguments import fill_arguments, fill_each, required_names
from toolbelt.evals.models.local.history import History
from toolbelt.evals.models.local.ranking import Match, Ranking, parameters_of, rank_offer
from toolbelt.evals.offers import Offer, Offered

MOST_CLAUSES = 12
"""Most clauses of one message that are read."""
_QUOTED = re.compile(r"\"[^\"\n]{1,400}\"|“[^”\n]{1,400}”|`[^`\n]{1,400}`|(?<!\w)'[^'\n]{1,400}'(?!\w)")
_HARD = re.compile(
    r"(?<=[.!?;])\s{1,9}|(?<=[。！？；])|\n+|;\s*"
    r"|[,.]?\s{1,9}(?:and\s{1,9})?(?:then|also|additionally|afterwards?|after\s+that|next|finally|secondly|lastly|plus)\b,?\s+"
    r"|\s{1,9}as\s{1,9}well\s{1,9}as\s{1,9}",
    re.IGNORECASE,
)
_SOFT = re.compile(r",?\s{1,9}and\s{1,9}|,\s{1,9}|\s{1,9}&\s{1,9}|，|、", re.IGNORECASE)
_BULLET = re.compile(r"^\s*(?:\(?\d{1,2}[.)]|[-*•])\s*")


def split_sentences(text: str) -> list[str]:
    """The sentences, list items and parts joined by `then`, `also` and their like; what is quoted stays whole."""
    return _split(_HARD, text)


def split_clauses(sentence: str) -> list[str]:
    """A sentence at its commas and `and`s; what is quoted stays whole."""
    return _split(_SOFT, sentence)


def _split(separator: re.Pattern[str], text: str) -> list[str]:
    hidden = _QUOTED.sub(lambda match: "\x00" * len(match[0]), text)
    parts: list[str] = []
    start = 0
    for cut in separator.finditer(hidden):
        parts.append(text[start : cut.start()])
        start = cut.end()
    parts.append(text[start:])
    clauses = [stripped for part in parts if (stripped := _BULLET.sub("", part).strip())]
    return clauses[:MOST_CLAUSES]


ENOUGH = 0.09
"""The least fit with which a tool is called."""
_PART_OF_ONE = 0.16
_PART_OF_TENFOLD = 0.11
FEW_WORDS = 3
"""With fewer words than this a message is read together with the one before it."""
_TELLING = re.compile(
    r"(?:i(?!(?: would|['’]d| want| need| wish)\b)|my|we|our|it|this|that|the|there|he|she|they|here)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class ChosenCall:
    """A call to be made.

    Attributes:
        offered: The tool.
        arguments: The arguments found for it.
        words: The words for which it was chosen.
        fit: Its fit to these words.
    """

    offered: Offered
    arguments: dict[str, Any]
    words: tuple[str, ...]
    fit: float


@dataclass(frozen=True, slots=True)
class CallPlan:
    """What to do with the tools at hand.

    Attributes:
        calls: In the order of the text; empty if no tool is good enough.
        unserved: Words of the parts of the text for which no tool is good enough.
    """

    calls: tuple[ChosenCall, ...]
    unserved: tuple[tuple[str, ...], ...]


def enough_for_a_part(tools: int) -> float:
    """The least fit with which a part of the text counts as a request of its own.

    It grows with the number of tools: the more there are, the likelier one of them fits by chance.
    """
    return _PART_OF_ONE + _PART_OF_TENFOLD * math.log10(max(tools, 1))


def query_words(history: History) -> list[str]:
    """The words to choose by: those of the last message, and of the one before if the last has very few."""
    words = split_words(history.query)
    return words if _has_some(words) else words + split_words(history.before)


def plan_calls(history: History, offer: Offer, among: Sequence[int], enough: float = ENOUGH) -> CallPlan:
    """Choose tools and fill their arguments.

    Args:
        history: What was said.
        offer: What is offered.
        among: Positions in `offer` of the tools that may be called.
        enough: The fit from which the best tool is called.
    """
    ranking = rank_offer(offer)
    words = query_words(history)
    best = ranking.find_best(words, among) if among else None
    parts = _parts(history.query, ranking, among)
    unserved = [tuple(part.words) for part in parts if part.fit < enough and _asks(part)] if len(parts) > 1 else []
    chosen = _separate(parts, offer)
    if len(chosen) > 1:
        return CallPlan(tuple(chosen), tuple(unserved))
    if best is None or best.fit < enough:
        return CallPlan((), (tuple(words), *unserved))
    offered = offer.tools[best.position]
    filled = fill_each(parameters_of(offered), history.query)
    calls = tuple(ChosenCall(offered, arguments, tuple(words), best.fit) for arguments in filled)
    return CallPlan(calls, tuple(unserved))


@dataclass(frozen=True, slots=True)
class _Part:
    text: str
    words: list[str]
    match: Match | None

    least: float

    @property
    def fit(self) -> float:
        return self.match.fit if self.match else 0.0

    @property
    def position(self) -> int:
        return self.match.position if self.match else -1

    @property
    def is_request(self) -> bool:
        return self.match is not None and self.match.fit >= self.least


def _parts(text: str, ranking: Ranking, among: Sequence[int]) -> list[_Part]:
    """Sentences, cut further where more than one piece is a request; the pieces between go to the one before."""
    parts: list[_Part] = []
    for sentence in split_sentences(text):
        pieces = [_part(piece, ranking, among) for piece in split_clauses(sentence)]
        if len({piece.position for piece in pieces if piece.is_request}) < 2:
            parts.append(_part(sentence, ranking, among) if len(pieces) > 1 else pieces[0])
            continue
        grouped: list[_Part] = []
        for piece in pieces:
            if grouped and not (piece.is_request and grouped[-1].is_request):
                before = grouped.pop()
                leader = piece if piece.is_request else before
                grouped.append(replace(leader, text=f"{before.text}, {piece.text}"))
            else:
                grouped.append(piece)
        parts.extend(grouped)
    return parts


def _part(text: str, ranking: Ranking, among: Sequence[int]) -> _Part:
    words = split_words(text)
    return _Part(text, words, ranking.find_best(words, among) if among else None, enough_for_a_part(len(among)))


def _asks(part: _Part) -> bool:
    """Whether a part reads like a request and not like a statement."""
    return _has_some(part.words) and _TELLING.match(part.text) is None


def _has_some(words: Sequence[str]) -> bool:
    return len(set(find_stems(words))) >= FEW_WORDS


def _separate(parts: Sequence[_Part], offer: Offer) -> list[ChosenCall]:
    """A call for each part that is a request, together with the statements after it; none if there is only one."""
    if sum(part.is_request for part in parts) < 2:
        return []
    groups: list[_Part] = []
    for part in parts:
        if groups and (not part.is_request or _continues_call(part, groups[-1], offer)):
            groups[-1] = replace(groups[-1], text=f"{groups[-1].text} {part.text}")
        elif part.is_request:
            groups.append(part)
    chosen: list[ChosenCall] = []
    for group in groups:
        offered = offer.tools[group.position]
        parameters = parameters_of(offered)
        if any(call.offered is offered for call in chosen):
            own = _complete_arguments(parameters, group.text)
            if own is None or any(call.offered is offered and call.arguments == own for call in chosen):
                continue
        filled = fill_each(parameters, group.text)
        chosen.extend(ChosenCall(offered, arguments, tuple(group.words), group.fit) for arguments in filled)
    return chosen


def _continues_call(part: _Part, before: _Part, offer: Offer) -> bool:
    """Whether a part goes on about the same call: the same tool, unless each has all its arguments, and other ones."""
    if part.position != before.position:
        return False
    parameters = parameters_of(offer.tools[part.position])
    own = _complete_arguments(parameters, part.text)
    return own is None or own == _complete_arguments(parameters, before.text) or _TELLING.match(part.text) is not None


def _complete_arguments(parameters: Mapping[str, Any], text: str) -> dict[str, Any] | None:
    """The arguments in a text; `None` if there are none, or if a required one is missing."""
    arguments = fill_arguments(parameters, text, fallback=False)
    return arguments if arguments and set(required_names(parameters)) <= arguments.keys() else None
