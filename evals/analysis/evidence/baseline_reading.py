"""Is this file a baseline? Every mistake, with its place."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from toolbelt.errors import InvalidFileError, nearest
from toolbelt.evals.analysis.evidence.baseline_form import (
    COLUMNS,
    FIGURES,
    SCHEMA,
    SCHEMA_NAME,
    arm_figures,
    parse_attempt,
)
from toolbelt.evals.scoring.outcome import Outcome
from toolbelt.findings import Finding, Severity
from toolbelt.sources.document import Document, Key

_MOST_FINDINGS = 20
_MOST = 10**12
"""No count of tokens and no cost in a real run is near it."""
_MOST_EPOCHS = 10_000
_OUTCOMES = frozenset(outcome.value for outcome in Outcome if outcome is not Outcome.ERROR)
_HEAD = (
    "schema",
    "dataset",
    "chosen",
    "case_count",
    "epochs",
    "settings",
    "catalog",
    "surroundings",
    "code",
    "columns",
    "arms",
    "cases",
)
_FILTER = ("kind", "tag", "case", "limit", "seed")
_NAMES = ("model", "toolset", "variant", "tokenizer")
_MORE = ("covered", "missing", "surplus", "called")
_AGAIN = "save the baseline again: toolbelt eval baseline save"


class _TooManyError(Exception):
    """More was found than anybody reads."""


def check_baseline(document: Document) -> None:
    """Refuse what is no baseline of this version.

    Raises:
        InvalidFileError: every mistake found, twenty at most.
    """
    checker = _Checker(document)
    try:
        checker.check()
    except _TooManyError:
        note = "There is more that is wrong with this file; what stands above is the beginning."
        checker.findings.append(Finding("more", Severity.WARNING, note, document.source))
    if checker.findings:
        raise InvalidFileError(checker.findings)


class _Checker:
    def __init__(self, document: Document) -> None:
        self.document = document
        self.findings: list[Finding] = []

    def check(self) -> None:
        data = self.document.data
        if not self._is_this_version(data):
            return
        self._keys(data, _HEAD, optional=("filter",))
        self._text(data, "chosen")
        self._text(data, "catalog")
        self._text(data, "surroundings")
        self._count(data, "case_count", least=1)
        self._count(data, "epochs", least=1, most=_MOST_EPOCHS)
        if "dataset" in data:
            self._dataset(data["dataset"])
        for key in ("settings", "code"):
            if key in data and not isinstance(data[key], dict):
                self._fault(f"{key!r} is an object; this is {_sort(data[key])}.", key)
        if "code" in data and isinstance(data["code"], dict):
            for key in data["code"]:
                self._text(data["code"], key, "code")
        self._filter(data.get("filter", {}))
        if "columns" in data and data["columns"] != list(COLUMNS):
            self._fault(f"'columns' are {', '.join(COLUMNS)}, in this order.", "columns")
        arms, cases = data.get("arms", []), data.get("cases", [])
        if self._is_list(arms, "arms"):
            self._arms(arms)
        if self._is_list(cases, "cases"):
            self._cases(cases, len(arms) if isinstance(arms, list) else None, data.get("epochs"))
            if data.get("case_count") != len(cases) and not self.findings:
                self._fault(
                    f"'case_count' says {data['case_count']:,}, but there are {len(cases):,} cases: lines were lost, "
                    f"perhaps in a merge; {_AGAIN}",
                    "case_count",
                )
        if not self.findings:
            self._figures(arms, cases)

    def _is_this_version(self, data: Any) -> bool:
        schema = data.get("schema") if isinstance(data, dict) else None
        if schema == SCHEMA:
            return True
        if isinstance(schema, str) and schema.startswith(f"{SCHEMA_NAME}/"):
            self._fault(
                f"This baseline was written by another version of toolbelt ({schema}; this one reads {SCHEMA}); "
                f"{_AGAIN}",
                "schema",
            )
        else:
            self._fault(f"This is no baseline: its 'schema' is not {SCHEMA!r}.", "schema")
        return False

    def _dataset(self, dataset: Any) -> None:
        if not isinstance(dataset, dict):
            self._fault(f"'dataset' is an object; this is {_sort(dataset)}.", "dataset")
            return
        self._keys(dataset, ("name", "digest"), "dataset")
        for key in ("name", "digest"):
            self._text(dataset, key, "dataset", blank=False)

    def _filter(self, chosen: Any) -> None:
        if not isinstance(chosen, dict):
            self._fault(f"'filter' is an object; this is {_sort(chosen)}.", "filter")
            return
        self._keys(chosen, (), "filter", optional=_FILTER)
        for key in _FILTER[:3]:
            texts = chosen.get(key, [])
            if self._is_list(texts, "filter", key) and not all(isinstance(text, str) for text in texts):
                self._fault(f"{key!r} is a list of texts.", "filter", key)
        for key in _FILTER[3:]:
            if not isinstance(chosen.get(key, 1), int) or isinstance(chosen.get(key), bool):
                self._fault(f"{key!r} is a whole number; this is {_shown(chosen[key])}.", "filter", key)

    def _arms(self, arms: list[Any]) -> None:
        seen: dict[tuple[Any, ...], int] = {}
        if not arms:
            self._fault("A baseline has an arm at least.", "arms")
        for place, arm in enumerate(arms):
            if not isinstance(arm, dict):
                self._fault(f"An arm is an object; this is {_sort(arm)}.", "arms", place)
                continue
            self._keys(arm, (*_NAMES, *FIGURES), "arms", place)
            before = len(self.findings)
            for name in _NAMES:
                self._text(arm, name, "arms", place, blank=name in ("variant", "tokenizer"))
            if len(self.findings) > before:
                continue
            key = tuple(arm.get(name) for name in _NAMES[:3])
            if key in seen:
                self._fault(f"This arm is arms[{seen[key]}] again.", "arms", place)
            seen.setdefault(key, place)

    def _cases(self, cases: list[Any], arms: int | None, epochs: Any) -> None:
        seen: set[str] = set()
        if not cases:
            self._fault("A baseline has a case at least.", "cases")
        for place, row in enumerate(cases):
            if not isinstance(row, dict):
                self._fault(f"A case is an object; this is {_sort(row)}.", "cases", place)
                continue
            self._keys(row, ("case", "kind", "arms"), "cases", place, optional=("cluster",))
            self._text(row, "case", "cases", place, blank=False)
            self._text(row, "kind", "cases", place)
            self._text(row, "cluster", "cases", place, blank=False)
            case = row.get("case")
            if isinstance(case, str):
                if case in seen:
                    self._fault(f"The case {case!r} stands here twice.", "cases", place)
                seen.add(case)
            found = row.get("arms", [])
            if not self._is_list(found, "cases", place, "arms"):
                continue
            if arms is not None and len(found) != arms and "arms" in row:
                self._fault(f"There are {arms} arms; this case has {len(found)}.", "cases", place, "arms")
            for arm, attempts in enumerate(found):
                self._attempts(attempts, epochs, "cases", place, "arms", arm)

    def _attempts(self, attempts: Any, epochs: Any, *place: Key) -> None:
        if not self._is_list(attempts, *place):
            return
        if isinstance(epochs, int) and len(attempts) != epochs:
            self._fault(f"There are {epochs} epochs; here are {len(attempts)} attempts.", *place)
        for number, attempt in enumerate(attempts):
            self._attempt(attempt, *place, number)

    def _attempt(self, attempt: Any, *place: Key) -> None:
        if not isinstance(attempt, list) or not len(COLUMNS) <= len(attempt) <= len(COLUMNS) + 1:
            self._fault(f"An attempt is a list of {', '.join(COLUMNS)}, and an object if need be.", *place)
            return
        word, definition, own, reported, requests, cost, *more = attempt
        if word == Outcome.ERROR.value:
            self._fault(f"A baseline holds no trial that ended with an error; {_AGAIN}", *place, 0)
        elif not isinstance(word, str) or word not in _OUTCOMES:
            near = nearest(word, _OUTCOMES, 1) if isinstance(word, str) else ()
            hint = f" Did you mean {near[0]!r}?" if near else ""
            self._fault(f"{_shown(word)} is no outcome.{hint}", *place, 0)
        numbers = ((definition, False), (own, True), (reported, True), (requests, False), (cost, True))
        for position, (value, may_lack) in enumerate(numbers, start=1):
            is_number = _is_count(value) or (COLUMNS[position] == "cost_usd" and _is_amount(value))
            if not (is_number or (may_lack and value is None)):
                kind = "an amount" if COLUMNS[position] == "cost_usd" else "a count"
                null = ", or null" if may_lack else ""
                self._fault(f"{COLUMNS[position]} is {kind}{null}; this is {_shown(value)}.", *place, position)
        if more:
            self._more(more[0], *place, len(COLUMNS))

    def _more(self, more: Any, *place: Key) -> None:
        if not isinstance(more, dict):
            self._fault(f"What follows the figures is an object; this is {_sort(more)}.", *place)
            return
        self._keys(more, (), *place, optional=_MORE)
        if "covered" in more and more["covered"] is not False:
            self._fault("'covered' is said where it is false, and left out elsewhere.", *place, "covered")
        for key in _MORE[1:]:
            tools = more.get(key, [])
            if self._is_list(tools, *place, key) and not all(isinstance(tool, str) for tool in tools):
                self._fault(f"{key!r} are names of tools.", *place, key)

    def _figures(self, arms: list[dict[str, Any]], cases: list[dict[str, Any]]) -> None:
        """Hold what the head says of the arms against the cases."""
        for place, arm in enumerate(arms):
            figures = arm_figures(parse_attempt(one) for row in cases for one in row["arms"][place])
            for name, value in figures.items():
                if not _same(arm[name], value):
                    self._fault(
                        f"{name!r} says {_shown(arm[name])}, but the cases come to {_shown(value)}: they were changed, "
                        f"perhaps in a merge; {_AGAIN}",
                        *("arms", place, name),
                    )

    # One value

    def _keys(self, data: Mapping[str, Any], wanted: Iterable[str], *place: Key, optional: Iterable[str] = ()) -> None:
        wanted = tuple(wanted)
        known = {*wanted, *optional}
        for key in data:
            if key not in known:
                near = nearest(key, known, 1)
                hint = f" Did you mean {near[0]!r}?" if near else ""
                self._fault(f"Unknown key {_shown(key)}.{hint}", *place, key)
        for key in wanted:
            if key not in data:
                self._fault(f"{key!r} is missing.", *place)

    def _text(self, data: Mapping[str, Any], key: str, *place: Key, blank: bool = True) -> None:
        value = data.get(key, "-")
        if not isinstance(value, str) or not (blank or value.strip()):
            what = "blank" if isinstance(value, str) else _sort(value)
            self._fault(f"{key!r} is a text; this is {what}.", *place, key)

    def _count(self, data: Mapping[str, Any], key: str, *, least: int = 0, most: int = _MOST) -> None:
        value = data.get(key, least)
        if not (_is_count(value) and least <= value <= most):
            self._fault(f"{key!r} is a number of {least:,} to {most:,}; this is {_shown(value)}.", key)

    def _is_list(self, value: Any, *place: Key) -> bool:
        if isinstance(value, list):
            return True
        self._fault(f"Here stands a list; this is {_sort(value)}.", *place)
        return False

    def _fault(self, message: str, *place: Key) -> None:
        if len(self.findings) >= _MOST_FINDINGS:
            raise _TooManyError
        where = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in place).lstrip(".")
        text = f"{where}: {message}" if len(place) > 1 else message
        self.findings.append(self.document.finding("bad-baseline", text, *place))


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST


def _is_amount(value: Any) -> bool:
    return isinstance(value, float) and math.isfinite(value) and 0 <= value <= _MOST


def _same(said: Any, found: float | None) -> bool:
    if found is None or isinstance(said, bool) or not isinstance(said, int | float):
        return said is None and found is None
    return math.isclose(said, found, rel_tol=1e-6, abs_tol=1e-9)


def _sort(value: Any) -> str:
    names: dict[type, str] = {
        dict: "an object",
        list: "a list",
        str: "a text",
        bool: "true or false",
        type(None): "null",
    }
    return names.get(type(value), "a number")


def _shown(value: Any) -> str:
    limit = 60
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > 200:  # more than Python prints
        return "a number beyond all bounds"
    text = repr(value) if not isinstance(value, dict | list) else _sort(value)
    return text if len(text) <= limit else f"{text[:limit]}…"
