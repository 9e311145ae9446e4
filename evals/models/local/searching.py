"""Search meta-tools: what to search for, and the tools that an answer describes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from toolbelt.catalog import Tool
from toolbelt.catalog.definitions import openai_definition
from toolbelt.catalog.frozen import thaw
from toolbelt.catalog.ranking.regex import join_pattern
from toolbelt.catalog.ranking.text import STOP_WORDS, split_as_written
from toolbelt.errors import ToolbeltError
from toolbelt.evals.models.local.history import History
from toolbelt.evals.models.local.ranking import Ranking, parameters_of, words_of_group
from toolbelt.evals.offers import Offer, Offered
from toolbelt.search.presets import PRESETS

MOST_SEARCHES = 3
"""Searches that are made for one message at the most."""
_GROUP = re.compile(r"^- (.+?): (.*)$", re.MULTILINE)
_Call = tuple[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class KnownSearch:
    """A search that is offered.

    Attributes:
        name: Of the meta-tool that searches.
        argument: Which of its arguments is searched for.
        is_list: Whether that is a list of texts.
        is_pattern: Whether it is a regular expression.
        groups: What it lists of groups of tools, if it loads these by name: their names and descriptions.
        call: Name of the meta-tool that calls what was found; empty where found tools are offered.
        call_name: Which argument of that is the name of the tool.
        call_arguments: Which are the tool's own arguments.
    """

    name: str
    argument: str
    is_list: bool
    is_pattern: bool
    groups: tuple[tuple[str, str], ...] = ()
    call: str = ""
    call_name: str = ""
    call_arguments: str = ""

    @property
    def names(self) -> frozenset[str]:
        """Of the meta-tools."""
        return frozenset(filter(None, (self.name, self.call)))


def find_search(offer: Offer) -> KnownSearch | None:
    """The search that is offered; what it is called and takes shows whose it is."""
    for shape in (preset.shape for preset in PRESETS.values()):
        if (offered := offer.by_name.get(shape.search.name)) is None:
            continue
        properties = parameters_of(offered).get("properties")
        for argument in (shape.argument, shape.pattern_argument):
            schema = properties.get(argument) if isinstance(properties, Mapping) else None
            if not isinstance(schema, Mapping):
                continue
            called = offer.by_name.get(shape.call.name)
            if called is not None and shape.call_name not in (parameters_of(called).get("properties") or {}):
                continue
            call = ("", "", "") if called is None else (called.name, shape.call_name, shape.call_arguments)
            is_pattern = argument == shape.pattern_argument
            description = str(offered.definition["function"].get("description"))
            groups = tuple(_GROUP.findall(description)) if shape.takes_groups and not is_pattern else ()
            return KnownSearch(shape.search.name, argument, schema.get("type") == "array", is_pattern, groups, *call)
    return None


def find_searches(history: History, wanted_tools: Sequence[Sequence[str]], search: KnownSearch) -> list[_Call]:
    """The next calls of the search, one for each wanted tool not searched for yet; none where nothing is left.

    Args:
        history: The conversation.
        wanted_tools: The words of each, as `split_words` gives them.
        search: The search that is offered.
    """
    tried = {json.dumps(arguments.get(search.argument)) for name, arguments in history.calls if name == search.name}
    texts = (
        _choose_group(wanted, search, tried) if search.groups else _write(wanted, history, search)
        for wanted in wanted_tools
    )
    arguments = dict.fromkeys(json.dumps([text] if search.is_list else text) for text in texts if text)
    left = [text for text in arguments if text not in tried]
    return [(search.name, {search.argument: json.loads(text)}) for text in left[: MOST_SEARCHES - len(tried)]]


def _write(wanted: Sequence[str], history: History, search: KnownSearch) -> str:
    """The words of a wanted tool as the user wrote them, as words or as a pattern."""
    words = dict(split_as_written(f"{history.query}\n{history.before}"))
    written = [word for word, (form, *_) in words.items() if form in wanted and form not in STOP_WORDS]
    return join_pattern(written) if search.is_pattern else " ".join(written)


def _choose_group(wanted: Sequence[str], search: KnownSearch, tried: set[str]) -> str:
    """The group that fits a wanted tool best, of those that are not loaded; empty for none."""
    ranking = Ranking([words_of_group(name, text) for name, text in search.groups])
    left = [place for place, (name, _) in enumerate(search.groups) if json.dumps([name]) not in tried]
    best = ranking.find_best(wanted, left) if left else None
    return "" if best is None else search.groups[best.position][0]


def with_found(offer: Offer, history: History, search: KnownSearch) -> Offer:
    """What is offered, and behind it the tools that can be called through, as answers of the search describe them."""
    by_name: dict[str, Offered] = {}
    for (name, _), answer in zip(history.calls, history.answers, strict=True):
        if name == search.name:
            by_name |= {each.name: each for each in _read_tools(answer) if each.name not in offer.by_name}
    return Offer((*offer.tools, *by_name.values())) if by_name else offer


def call_through(call: _Call, offer: Offer, search: KnownSearch) -> _Call:
    """The call as it is to be made: through the meta-tool, where the tool itself is not offered."""
    name, arguments = call
    if name in offer.by_name:
        return call
    return search.call, {search.call_name: name, search.call_arguments: arguments}


def _read_tools(answer: str) -> Iterator[Offered]:
    try:
        data = json.loads(answer)
    except (ValueError, RecursionError):
        return
    entries = data.get("tools") if isinstance(data, dict) else data
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict) and isinstance(entry.get("inputSchema"), dict):
            parts = (entry.get("name"), entry.get("description") or "", entry["inputSchema"])
            if (offered := _make_offered(json.dumps(parts))) is not None:
                yield offered


@lru_cache(maxsize=2_000)
def _make_offered(text: str) -> Offered | None:
    name, description, parameters = json.loads(text)
    try:
        tool = Tool(name, description, parameters)
    except ToolbeltError:
        return None
    return Offered(name, tool, thaw(openai_definition(tool, name)), 0)
