"""Writes a run as a baseline, and lists the changes against the one that it replaces; see `baseline_reader`."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from toolbelt.evals.analysis.evidence.baseline_format import COLUMNS, SCHEMA, arm_figures, parse_attempt
from toolbelt.evals.analysis.evidence.case_table import CaseTable, as_table
from toolbelt.evals.analysis.evidence.compressed import CompressedRows
from toolbelt.evals.analysis.evidence.evidence import Attempt, CaseEvidence, Side, SideInfo
from toolbelt.evals.analysis.summary.responses import join_origins
from toolbelt.evals.scoring.outcome import Outcome
from toolbelt.text import INVISIBLE, plural

_HIDDEN = re.compile(f"[{INVISIBLE}]")
_HALF = re.compile("[\ud800-\udfff]")
_LONGEST_NAME = 200
"""Characters of a called name that are stored; names of real tools are shorter."""


class BaselineLines(Iterable[str]):
    """The lines of a baseline, with their ends; the arms are read one after the other, and kept compressed.

    Args:
        side: A run of which every trial has finished, none with an error: see `why_unfit`; or a baseline.
        arms: 0-based positions of the arms it is of; all if `None`.

    Raises:
        ValueError: a trial has not finished, or with an error.
    """

    def __init__(self, side: Side, arms: Sequence[int] | None = None) -> None:
        chosen = range(len(side.arms)) if arms is None else arms
        about = side.about
        heads: list[dict[str, Any]] = []
        self._cases, self._arms = CompressedRows(), list[CompressedRows]()
        self._responses: list[CompressedRows] = []
        for arm in chosen:
            cases = side.read(arm)
            if len(cases) != about.cases:
                raise ValueError(f"{about.name!r} is not finished: {len(cases)} of {about.cases} cases.")
            name = side.arms[arm]
            heads.append(
                {"model": name.model, "toolset": name.toolset, "variant": name.variant, "tokenizer": name.tokenizer}
                | arm_figures(self._add(cases))
                | ({"exchange": exchange} if (exchange := side.find_exchange(arm)) else {})
            )
        self._head = [
            "{",
            *(f"  {_json(key)}: {_json(value)}," for key, value in _head(side, chosen).items()),
            *_tool_lines(about.tools),
            '  "arms": [',
            *_listed(map(_json, heads)),
            "  ],",
            '  "cases": [',
        ]

    def _add(self, cases: Mapping[str, CaseEvidence]) -> Iterator[Attempt]:
        """Add an arm; yields the attempts as they will be read."""
        texts, responses = CompressedRows(), CompressedRows()
        if not self._arms:
            for case in cases.values():
                self._cases.append((case.case, _json(_about_case(case))[:-1]))
        self._arms.append(texts)
        self._responses.append(responses)
        for (wanted, _), here in zip(self._cases, cases.values(), strict=True):
            case = here if here.case == wanted else cases[wanted]
            written = []
            for attempt in case.attempts:
                if attempt is None or attempt.outcome is Outcome.ERROR:
                    raise ValueError(f"A trial of case {case.case!r} has not finished, or with an error.")
                written.append(_attempt(attempt))
                yield parse_attempt(written[-1])
            texts.append(_json(written))
            responses.append(case.responses)

    def __iter__(self) -> Iterator[str]:
        yield from (f"{line}\n" for line in self._head)
        last = len(self._cases)
        rows = zip(self._cases, zip(*self._arms, strict=True), zip(*self._responses, strict=True), strict=True)
        for number, ((_, about), texts, responses) in enumerate(rows, 1):
            digests = f', "responses": {_json(responses)}' if any(responses) else ""
            yield f'    {about}, "arms": [{", ".join(texts)}]{digests}}}{"," if number < last else ""}\n'
        yield "  ]\n}\n"


def _head(side: Side, arms: Sequence[int]) -> dict[str, Any]:
    about = side.about
    return {
        "schema": SCHEMA,
        "dataset": {"name": about.dataset, "digest": about.digest},
        "chosen": about.chosen,
        "case_count": about.cases,
        "epochs": about.epochs,
        **({"filter": dict(about.filter)} if about.filter else {}),
        **({"sequential": asdict(about.sequential)} if about.sequential else {}),
        **({"imported": True} if about.is_imported else {}),
        "settings": dict(sorted(about.settings.items())),
        "catalog": about.catalog,
        "surroundings": about.surroundings,
        "code": {key: value for key, value in about.code.items() if key == "toolbelt"},
        **({"aliases": dict(about.aliases)} if about.aliases else {}),
        "columns": list(COLUMNS),
        **({"responses": _response_heads(about, {side.arms[arm].model for arm in arms})} if about.responses else {}),
    }


def why_unfit(side: Side, arms: Sequence[int] | None = None) -> tuple[str, ...]:
    """Reasons against a baseline from a run, each with what to do about it; empty if there are none."""
    about = side.about
    again, failed = f"toolbelt eval resume {about.name}", " --retry-errors"
    if about.is_imported:
        again, failed = "toolbelt eval import", ""
    reasons = []
    if about.drafts:
        reasons.append(
            f"{about.drafts:,} of {plural(about.cases, 'case')} are drafts, which prove nothing until somebody "
            "has reviewed them: do, and remove their `draft`, or run the others alone"
        )
    if about.status != "finished":
        why = f" ({about.reason.rstrip('.')})" if about.reason else ""
        hint = "wait for it to end" if about.status == "running" else f"go on with: {again}"
        reasons.append(f"it is {about.status}{why}; {hint}")
    if about.top_up:
        most = about.top_up.epochs
        reasons.append(f"its arms were asked unequally often, as verdicts were open: run it with --epochs {most}")
    errors = missing = 0
    for arm in range(len(side.arms)) if arms is None else arms:
        epochs = about.epochs_of(side.arms[arm])
        missing += about.cases * epochs
        for end, count in as_table(side.read(arm), epochs).count_ends():
            missing -= count
            errors += count * (end.outcome is Outcome.ERROR)
    if missing and about.status == "finished":
        reasons.append(f"{plural(missing, 'trial')} have not finished; go on with: {again}")
    if errors:
        reasons.append(f"{plural(errors, 'trial')} ended with an error; again: {again}{failed}")
    return tuple(reasons)


def _about_case(case: CaseEvidence) -> dict[str, str]:
    about = {"case": case.case, "kind": case.kind}
    return about if case.cluster == case.case else about | {"cluster": case.cluster}


def _attempt(attempt: Attempt) -> list[Any]:
    cost = attempt.cost_usd
    figures = [
        attempt.outcome.value,
        attempt.definition_tokens,
        attempt.own_prompt_tokens,
        attempt.prompt_tokens,
        attempt.requests,
        # Ten digits: what was added up in another order is the same.
        None if cost is None else 0 if cost == 0 else float(f"{cost:.10g}"),
    ]
    more = dict(_more(attempt))
    return [*figures, more] if more else figures


def _more(attempt: Attempt) -> Iterator[tuple[str, Any]]:
    if not attempt.covered:
        yield "covered", False
    if attempt.is_right or not attempt.is_scored:
        return
    for name, tools in (("missing", attempt.missing), ("surplus", attempt.surplus)):
        if tools:
            yield name, list(map(_name, tools))
    if attempt.called is not None and attempt.called != attempt.surplus:
        yield "called", list(map(_name, attempt.called))


def _name(tool: str) -> str:
    whole = _HALF.sub("\N{REPLACEMENT CHARACTER}", tool)  # a model may write anything
    return whole if len(whole) <= _LONGEST_NAME else f"{whole[: _LONGEST_NAME - 1]}…"


def _response_heads(about: SideInfo, models: Collection[str]) -> list[dict[str, Any]]:
    """Where the answers of each model come from; for whoever compares with them, all are recorded."""
    joined = [(one.model, join_origins(one.recorded, one.live)) for one in about.responses if one.model in models]
    return [
        {
            "model": model,
            "responses": origin.responses,
            "oldest": origin.oldest,
            "newest": origin.newest,
            "served_by": list(origin.served_by),
            "fingerprints": list(origin.fingerprints),
        }
        for model, origin in joined
    ]


def _tool_lines(tools: Mapping[str, str]) -> list[str]:
    """A line for each tool, so that one that changed is a line that changed."""
    if not tools:
        return []
    return [
        '  "tools": {',
        *_listed(f"{_json(tool)}: {_json(digest)}" for tool, digest in sorted(tools.items())),
        "  },",
    ]


def _listed(texts: Iterator[str]) -> list[str]:
    lines = [f"    {text}," for text in texts]
    return [*lines[:-1], *(line[:-1] for line in lines[-1:])]


def _json(value: Any) -> str:
    """Readable in a review, where what hides or turns text around must be seen."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    return _HIDDEN.sub(lambda match: json.dumps(match.group())[1:-1], text)


def describe_changes(old: Side, new: Side) -> str:
    """In one line: what it is of, and how many cases' results are not what they were.

    Args:
        old: The baseline that is replaced.
        new: Its successor.

    Returns:
        Such as `full: 3 cases now wrong, 1 now right`; `nothing changed` where they are alike in all they hold.
    """
    parts = [f"{words} changed" for words, before, after in _heads(old, new) if before != after]
    places = {arm.key: place for place, arm in enumerate(old.arms)}
    same_model = len({arm.model for arm in (*old.arms, *new.arms)}) == 1
    for place, arm in enumerate(new.arms):
        label = " · ".join(filter(None, (arm.toolset, arm.variant))) if same_model else arm.label
        if arm.key not in places:
            parts.append(f"{label} is new")
        elif changes := _of_cases(
            as_table(old.read(places[arm.key]), old.about.epochs), as_table(new.read(place), new.about.epochs)
        ):
            parts.append(f"{label}: {changes}")
    known = {arm.key for arm in new.arms}
    gone = [arm.label for arm in old.arms if arm.key not in known]
    parts += [f"without {', '.join(gone)}"] if gone else []
    return "; ".join(parts) or "nothing changed"


def _heads(old: Side, new: Side) -> list[tuple[str, object, object]]:
    before, after = old.about, new.about
    cases = "the dataset" if before.dataset == after.dataset else f"the dataset (now {after.dataset})"
    return [
        (cases, (before.dataset, before.digest), (after.dataset, after.digest)),
        ("which cases were asked", (before.chosen, before.cases), (after.chosen, after.cases)),
        ("how often they were asked", before.epochs, after.epochs),
        ("the settings", dict(before.settings), dict(after.settings)),
        ("the catalog or the loadouts", before.surroundings, after.surroundings),
        ("the version of toolbelt", before.code.get("toolbelt"), after.code.get("toolbelt")),
    ]


def _of_cases(before: CaseTable, after: CaseTable) -> str:
    """How many cases of an arm changed, and how; empty if none did."""
    counts = dict.fromkeys(("now wrong", "now right", "otherwise changed", "new"), 0)
    both = 0
    after.share_names(before)
    olds = before.values() if after.names is before.names else map(before.get, after)
    for old, new in zip(olds, after.values(), strict=True):
        if old is None:
            counts["new"] += 1
            continue
        both += 1
        was, now = _right(old), _right(new)
        counts["now wrong"] += now < was
        counts["now right"] += now > was
        counts["otherwise changed"] += was == now and old.attempts != new.attempts
    counts["gone"] = len(before) - both
    parts = [(count, words) for words, count in counts.items() if count]
    return ", ".join(
        f"{plural(count, 'case') if place == 0 else f'{count:,}'} {words}" for place, (count, words) in enumerate(parts)
    )


def _right(case: CaseEvidence) -> int:
    return sum(attempt is not None and attempt.is_right for attempt in case.attempts)
