"""The content of a baseline's file: attempts, figures that follow from them, and the check of every value."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Any

from toolbelt.errors import InvalidFileError
from toolbelt.evals.analysis.evidence.evidence import Attempt, SequentialInfo
from toolbelt.evals.running.ranges import HIGHEST_LEVEL
from toolbelt.evals.scoring.outcome import Outcome
from toolbelt.findings import Finding, Severity
from toolbelt.sources.document import Document
from toolbelt.sources.section import Section, TooManyFindingsError

SCHEMA_NAME = "toolbelt.baseline"
SCHEMA = f"{SCHEMA_NAME}/1"
COLUMNS = ("outcome", "definition_tokens", "own_prompt_tokens", "prompt_tokens", "requests", "cost_usd")
"""The elements of an attempt, in order."""
_OUTCOMES = {outcome.value: outcome for outcome in Outcome}
_READABLE = tuple(outcome.value for outcome in Outcome if outcome is not Outcome.ERROR)
_MAY_BE_NULL = frozenset(("own_prompt_tokens", "prompt_tokens", "cost_usd"))
_MOST_FINDINGS = 20
_MOST = 10**12
"""No count of tokens and no cost in a real run is near it."""
_MOST_EPOCHS = 10_000
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
_OPTIONAL = ("filter", "tools", "responses", "sequential", "aliases", "imported")
_ORIGIN = ("model", "responses", "oldest", "newest", "served_by", "fingerprints")
_NAMES = ("model", "toolset", "variant", "tokenizer")
_AGAIN = "save the baseline again: toolbelt eval baseline save"


def parse_attempt(attempt: Sequence[Any]) -> Attempt:
    """An attempt of a baseline that was checked.

    Args:
        attempt: As in the file, see `baseline_reader`.
    """
    word, definition, own, reported, requests, cost, *rest = attempt
    more = rest[0] if rest else {}
    outcome, covered = _OUTCOMES[word], more.get("covered", True)
    surplus = tuple(more.get("surplus", ()))
    has_calls = outcome.is_scored and not (covered and outcome.is_right_by_names)
    return Attempt(
        outcome,
        covered,
        tuple(more.get("called", surplus)) if has_calls else None,
        tuple(more.get("missing", ())),
        surplus,
        definition,
        own,
        reported,
        requests,
        cost,
    )


def arm_figures(attempts: Iterable[Attempt]) -> dict[str, Any]:
    """Figures of an arm, for people who read the file.

    Args:
        attempts: All of them.

    Returns:
        `trials`, `scored`, and of the latter how many were `right` by names, `solved` and `covered`; `accuracy`, a
        fraction; and means over scored trials: `definition_tokens`, `prompt_tokens` (estimated where those of a trial
        were not reported), `requests` and `cost_usd`. `None` where nothing was scored or a figure is not known.
    """
    counts = dict.fromkeys(("trials", "scored", "right", "solved", "covered"), 0)
    known = {name: _Values() for name in _MEANS}
    for attempt in attempts:
        counts["trials"] += 1
        if not attempt.is_scored:
            continue
        counts["scored"] += 1
        counts["right"] += attempt.is_right
        counts["solved"] += attempt.is_solved
        counts["covered"] += attempt.covered
        for name, values in known.items():
            if (value := getattr(attempt, name)) is not None:
                values.add(value)
    scored = counts["scored"]
    means = {name: _mean(values, scored, _MEANS[name]) for name, values in known.items()}
    own = means.pop("own_prompt_tokens")
    means["prompt_tokens"] = own if means["prompt_tokens"] is None else means["prompt_tokens"]
    return {**counts, "accuracy": round(counts["right"] / scored, 6) if scored else None, **means}


_MEANS = MappingProxyType(
    {"definition_tokens": 1, "prompt_tokens": 1, "own_prompt_tokens": 1, "requests": 2, "cost_usd": 8}
)
"""The decimal places of each mean."""


class _Values:
    """Numbers that are added up; whole ones at once, as only others are rounded in the order in which they come."""

    def __init__(self) -> None:
        self.count = self._whole = 0
        self._others = array("d")  # not a number object for each of a million trials

    def add(self, value: float) -> None:
        self.count += 1
        if isinstance(value, int):
            self._whole += value
        else:
            self._others.append(value)

    def sum(self) -> float:
        return sum(self._others, self._whole)


def _mean(known: _Values, count: int, places: int) -> float | None:
    """Of `count` values; `None` where one of them is not known."""
    if not count or known.count < count:
        return None
    mean = round(known.sum() / count, places)
    return int(mean) if mean == int(mean) else mean


FIGURES = tuple(arm_figures(()))
"""Names of the figures, in order."""


def check_baseline(document: Document) -> None:
    """Refuse what is no baseline of this version.

    Raises:
        InvalidFileError: every mistake found, twenty at most.
    """
    top = Section.of(document, null_is_absent=False, most=_MOST_FINDINGS)
    try:
        _check(top)
    except TooManyFindingsError:
        note = "There is more that is wrong with this file; what stands above is the beginning."
        top.findings.append(Finding("more", Severity.WARNING, note, document.source))
    if top.findings:
        raise InvalidFileError(top.findings)


def _check(top: Section) -> None:
    head = check_head(top)
    if head is None:
        return
    cases = top.read_items("cases")
    known: set[str] = set()
    for case in cases:
        name = check_case(case, head)
        if name is not None and name in known:
            case.add_error("duplicate-entry", f"{case.label}: {name!r} stands here twice.")
        known.add(name or "")
    if not top.findings and head.case_count != len(cases):
        top.child("case_count").add_error(
            "case-count",
            f"`case_count` says {head.case_count:,}, but there are {len(cases):,} cases: lines were lost, perhaps in a "
            f"merge; {_AGAIN}",
        )
    if not top.findings:
        check_figures(head, lambda place: (attempt for row in top.value["cases"] for attempt in row["arms"][place]))


@dataclass(frozen=True, slots=True)
class CheckedHead:
    """What stands before the cases, as far as they are checked by it.

    Attributes:
        arms: As they stand there.
        case_count: How many cases there should be; `None` where it is wrong.
        epochs: Attempts of each case; `None` where it is wrong.
    """

    arms: Sequence[Section]
    case_count: int | None
    epochs: int | None


def check_head(top: Section) -> CheckedHead | None:
    """Check all but the cases; `None` where it is no baseline at all, or of another version."""
    schema = top.value.get("schema") if isinstance(top.value, dict) else None
    if schema != SCHEMA:
        _refuse_schema(top, schema)
        return None
    _check_keys(top, _HEAD, "baseline", optional=_OPTIONAL)
    top.read_bool("imported")
    for key in ("chosen", "catalog", "surroundings"):
        top.read_text(key, blank=True)
    case_count = top.read_int("case_count", least=1, most=_MOST)
    epochs = top.read_int("epochs", least=1, most=_MOST_EPOCHS)
    top.read_mapping("settings")
    for part in ("code", "tools", "aliases"):
        for key in top.read_mapping(part) or ():
            top.child(part).read_text(key, blank=part == "code")
    for key, check in (("dataset", _check_dataset), ("filter", _check_filter), ("sequential", _check_design)):
        if top.read_mapping(key) is not None:
            check(top.child(key))
    _check_origins(top.read_items("responses"))
    columns = top.child("columns")
    if columns.value not in (None, list(COLUMNS)):
        columns.add_error("wrong-columns", f"{columns.label} must be {', '.join(COLUMNS)}, in this order.")
    arms = top.read_items("arms")
    for key in ("arms", "cases"):
        if top.value.get(key) == []:
            top.child(key).add_error("empty", f"A baseline has one of `{key}` at least.")
    _check_arms(arms)
    return CheckedHead(arms, case_count, epochs)


def _refuse_schema(top: Section, schema: Any) -> None:
    if isinstance(schema, str) and schema.startswith(f"{SCHEMA_NAME}/"):
        message = (
            f"This baseline was written by another version of toolbelt ({schema}; this one reads {SCHEMA}); {_AGAIN}"
        )
    else:
        message = f"This is no baseline: its `schema` is not {SCHEMA!r}."
    top.child("schema").add_error("not-a-baseline", message)


def _check_keys(section: Section, keys: Sequence[str], what: str, optional: Sequence[str] = ()) -> None:
    section.check_keys((*keys, *optional), what)
    section.require_keys(*keys)


def _check_dataset(dataset: Section) -> None:
    _check_keys(dataset, ("name", "digest"), "dataset")
    dataset.read_text("name")
    dataset.read_text("digest")


def _check_filter(chosen: Section) -> None:
    chosen.check_keys(("kind", "tag", "case", "limit", "seed", "shard"), "filter")
    for key in ("kind", "tag", "case"):
        _check_texts(chosen, key)
    for key in ("limit", "seed"):
        chosen.read_int(key)
    chosen.read_text("shard")


def _check_design(design: Section) -> None:
    _check_keys(design, [field.name for field in fields(SequentialInfo)], "sequential")
    design.read_number("level", least=0, most=HIGHEST_LEVEL)
    for key in ("look", "looks", "cases"):
        design.read_int(key, least=0, most=_MOST)
    design.read_bool("is_decided")


def _check_origins(origins: Sequence[Section]) -> None:
    for origin in origins:
        if origin.read_mapping() is None:
            continue
        _check_keys(origin, _ORIGIN, "entry of `responses`")
        origin.read_int("responses", least=1, most=_MOST)
        for key in ("model", "oldest", "newest"):
            origin.read_text(key)
        for key in ("served_by", "fingerprints"):
            _check_texts(origin, key)


def _check_arms(arms: Sequence[Section]) -> None:
    known: dict[tuple[str, ...], int] = {}
    for place, arm in enumerate(arms):
        if arm.read_mapping() is None:
            continue
        _check_keys(arm, (*_NAMES, *FIGURES), "arm", optional=("exchange",))
        arm.read_text("exchange")
        names = [arm.read_text(name, blank=name in ("variant", "tokenizer")) for name in _NAMES]
        key = tuple(name for name in names[:3] if name is not None)
        if len(key) < 3:
            continue
        if key in known:
            arm.add_error("duplicate-entry", f"{arm.label} is `arms[{known[key]}]` again.")
        known.setdefault(key, place)


def check_case(case: Section, head: CheckedHead) -> str | None:
    """Check a row of `cases`; the case's id, where it has one."""
    if case.read_mapping() is None:
        return None
    arms, epochs = len(head.arms), head.epochs
    _check_keys(case, ("case", "kind", "arms"), "case", optional=("cluster", "responses"))
    name = case.read_text("case")
    case.read_text("kind", blank=True)
    case.read_text("cluster")
    _check_texts(case, "responses")
    if len(case.value.get("responses", ())) not in (0, arms):
        case.add_error("wrong-count", f"{case.label}: `responses` has a digest for each of the {arms} arms.")
    of_arms = case.read_list("arms")
    if of_arms is not None and arms and len(of_arms) != arms:
        case.add_error("wrong-count", f"{case.label}: there are {arms} arms; this case has {len(of_arms)}.")
    for attempts in case.read_items("arms"):
        items = attempts.read_items()
        if epochs is not None and isinstance(attempts.value, list) and len(items) != epochs:
            there = f"there are {epochs} epochs; here are {len(items)} attempts."
            attempts.add_error("wrong-count", f"{attempts.label}: {there}")
        for attempt in items:
            _check_attempt(attempt)
    return name


def _check_attempt(attempt: Section) -> None:
    values = attempt.value
    if not isinstance(values, list) or not len(COLUMNS) <= len(values) <= len(COLUMNS) + 1:
        attempt.add_wrong_type(f"a list of {', '.join(COLUMNS)}, and an object if need be")
        return
    if values[0] == Outcome.ERROR.value:
        attempt.child(0).add_error(
            "error-outcome", f"{attempt.label}: a baseline holds no trial that ended with an error; {_AGAIN}"
        )
    else:
        attempt.read_choice(0, _READABLE, "outcome")
    for place, column in enumerate(COLUMNS[1:], start=1):
        if values[place] is None and column in _MAY_BE_NULL:
            continue
        if column == "cost_usd":
            attempt.read_number(place, least=0, most=_MOST)
        else:
            attempt.read_int(place, least=0, most=_MOST)
    if len(values) > len(COLUMNS) and attempt.read_mapping(len(COLUMNS)) is not None:
        more = attempt.child(len(COLUMNS))
        more.check_keys(("covered", "missing", "surplus", "called"), "attempt")
        if more.value.get("covered", False) is not False:
            more.add_error("wrong-type", f"{more.label}: `covered` is written if it is false, and left out elsewhere.")
        for key in ("missing", "surplus", "called"):
            _check_texts(more, key)


def _check_texts(section: Section, key: str) -> None:
    for item in section.read_items(key, "a list of texts"):
        item.read_text(blank=True)


def check_figures(head: CheckedHead, attempts_of: Callable[[int], Iterable[Sequence[Any]]]) -> None:
    """Compare what the head says of the arms with the cases.

    Args:
        head: Without a mistake.
        attempts_of: All attempts of an arm, by its place, as they stand in the file.
    """
    for place, arm in enumerate(head.arms):
        for name, value in arm_figures(map(parse_attempt, attempts_of(place))).items():
            if not _is_same(arm.value[name], value):
                written = arm.child(name)
                written.add_error(
                    "wrong-figure",
                    f"{written.label} says {written.describe()}, but the cases give {value}: they were changed, "
                    f"perhaps in a merge; {_AGAIN}",
                )


def _is_same(written: Any, figure: float | None) -> bool:
    if figure is None or isinstance(written, bool) or not isinstance(written, int | float):
        return written is None and figure is None
    return math.isclose(written, figure, rel_tol=1e-6, abs_tol=1e-9)
