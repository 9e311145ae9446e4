"""A baseline: what a run came to, case by case, as a small file to commit and to hold later runs against.

The file is JSON (`baseline.schema.json` in `toolbelt.evals.exports`), made so that a difference of two reads well:

- It has a head (what was asked, of whom, with which settings), `arms` with their figures, a line each, and `cases`, a
  line each in the order asked, which is the dataset's: what stands together there stands together here.
- In a case's line `arms` has a list for each arm, and in it one attempt an epoch:
  `[outcome, definition tokens, own count of prompt tokens, prompt tokens as reported, requests, cost in USD]`,
  as `columns` says in the head. `null` is what is not known.
- A seventh element, an object, tells more where there is more: `covered` where it is false; of trials that were wrong
  `missing` and `surplus` tools, and `called` where that differs from `surplus`.
- `cluster` is left out where it is the case's id, and `filter` where every case of the dataset was asked.

No id of a run, no time, no latency and no commit is in it, so that a run with the same results gives the same bytes,
and a case that changed is a line that changed. The figures of `arms` follow from the cases; they are there to be read,
and are checked, so that a file that was merged wrongly is noticed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from toolbelt.errors import InvalidFileError, NotFoundError, StorageError, ToolbeltError
from toolbelt.evals.analysis.evidence.baseline_form import (
    COLUMNS,
    FIGURES,
    MAX_BYTES,
    SCHEMA,
    SCHEMA_NAME,
    arm_figures,
    parse_attempt,
)
from toolbelt.evals.analysis.evidence.baseline_reading import check_baseline
from toolbelt.evals.analysis.evidence.evidence import ArmName, Attempt, CaseEvidence, Side, SideInfo
from toolbelt.evals.scoring.outcome import Outcome
from toolbelt.findings import Finding, Severity
from toolbelt.sources.files import decode
from toolbelt.sources.json_text import parse_json
from toolbelt.text import INVISIBLE, plural

_HIDDEN = re.compile(f"[{INVISIBLE}]")
_HALF = re.compile("[\ud800-\udfff]")
_CONFLICT = re.compile(r"^<{7} ", re.MULTILINE)
_SAYS_SO = re.compile(rf'"schema"\s*:\s*"{re.escape(SCHEMA_NAME)}/')
_LONGEST_NAME = 200
"""Characters that are kept of what a model called; names of real tools are shorter."""


class Baseline:
    """A baseline as it was read: one side of a comparison.

    Args:
        name: The file, as the user wrote it.
        data: What it holds, checked.
    """

    def __init__(self, name: str, data: Mapping[str, Any]) -> None:
        self._cases: Sequence[Mapping[str, Any]] = data["cases"]
        self._arms = tuple(
            ArmName(one["model"], one["toolset"], one["variant"], one["tokenizer"]) for one in data["arms"]
        )
        self._figures: tuple[Mapping[str, Any], ...] = tuple(
            {key: value for key, value in one.items() if key in FIGURES} for one in data["arms"]
        )
        self._about = SideInfo(
            name=name,
            is_baseline=True,
            dataset=data["dataset"]["name"],
            digest=data["dataset"]["digest"],
            chosen=data["chosen"],
            cases=data["case_count"],
            epochs=data["epochs"],
            filter=data.get("filter", {}),
            settings=data["settings"],
            catalog=data["catalog"],
            surroundings=data["surroundings"],
            code=data["code"],
        )

    @property
    def about(self) -> SideInfo:
        """What it is of."""
        return self._about

    @property
    def arms(self) -> tuple[ArmName, ...]:
        """In the order asked for."""
        return self._arms

    @property
    def figures(self) -> tuple[Mapping[str, Any], ...]:
        """By arm, what it came to: see `toolbelt.evals.analysis.evidence.baseline_form.arm_figures`."""
        return self._figures

    def read(self, arm: int) -> Mapping[str, CaseEvidence]:
        """Every case of the arm by its id, in the order asked."""
        return {
            row["case"]: CaseEvidence(
                row["case"],
                row.get("cluster", row["case"]),
                row["kind"],
                tuple(parse_attempt(attempt) for attempt in row["arms"][arm]),
            )
            for row in self._cases
        }


def is_baseline(path: Path) -> bool:
    """Whether a file says that it is a baseline, of whichever version; not whether it is a good one.

    Where it says so does not matter: `jq -S` moves it behind the cases. One that a merge or an editor has broken still
    is one, so that it can be saved anew.
    """
    try:
        text = _read(path, str(path))
    except ToolbeltError:
        return False
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return _SAYS_SO.search(text) is not None
    return isinstance(document, dict) and str(document.get("schema")).startswith(f"{SCHEMA_NAME}/")


def read_baseline(path: Path) -> Baseline:
    """A baseline from its file.

    Raises:
        NotFoundError: no such file.
        InvalidFileError: it is none, with its mistakes and their lines.
        StorageError: it may not be read.
    """
    source = str(path)
    return parse_baseline(_read(path, source), source)


def parse_baseline(text: str, source: str) -> Baseline:
    """A baseline from its text.

    Args:
        text: JSON.
        source: What to call it.

    Raises:
        InvalidFileError: it is none, with its mistakes and their lines.
    """
    if conflict := _CONFLICT.search(text):
        line = text.count("\n", 0, conflict.start()) + 1
        message = (
            "A merge left its marks here; take either side, run the cases again and save: toolbelt eval baseline save"
        )
        raise InvalidFileError([Finding("merge-conflict", Severity.ERROR, message, source, line)])
    document = parse_json(text, source)
    check_baseline(document)
    return Baseline(source, document.data)


def format_baseline(side: Side, arms: Sequence[int] | None = None) -> str:
    """The text of a baseline.

    Args:
        side: A run of which every trial has finished, none with an error: see `why_unfit`; or a baseline.
        arms: 0-based positions of the arms it is of; all if `None`.

    Raises:
        ValueError: a trial has not finished, or with an error.
    """
    chosen = range(len(side.arms)) if arms is None else arms
    about = side.about
    heads: list[dict[str, Any]] = []
    rows: dict[str, tuple[CaseEvidence, list[str]]] = {}
    for arm in chosen:
        found = side.read(arm)
        if len(found) != about.cases:
            raise ValueError(f"{about.name!r} is not finished: {len(found)} of {about.cases} cases.")
        name = side.arms[arm]
        heads.append(
            {"model": name.model, "toolset": name.toolset, "variant": name.variant, "tokenizer": name.tokenizer}
            | arm_figures(parse_attempt(_attempt(one)) for one in _finished(found))  # as they are read
        )
        for case in found.values():
            attempts = [_attempt(one) for one in case.attempts if one is not None]
            rows.setdefault(case.case, (case, []))[1].append(_json(attempts))
    head = {
        "schema": SCHEMA,
        "dataset": {"name": about.dataset, "digest": about.digest},
        "chosen": about.chosen,
        "case_count": about.cases,
        "epochs": about.epochs,
        **({"filter": dict(about.filter)} if about.filter else {}),
        "settings": dict(sorted(about.settings.items())),
        "catalog": about.catalog,
        "surroundings": about.surroundings,
        "code": {key: value for key, value in about.code.items() if key == "toolbelt"},
        "columns": list(COLUMNS),
    }
    parts = [
        "{",
        *(f"  {_json(key)}: {_json(value)}," for key, value in head.items()),
        '  "arms": [',
        *_listed(map(_json, heads)),
        "  ],",
        '  "cases": [',
        *_listed(_row(case, texts) for case, texts in rows.values()),
        "  ]",
        "}",
        "",
    ]
    return "\n".join(parts)


def why_unfit(side: Side, arms: Sequence[int] | None = None) -> tuple[str, ...]:
    """Why no baseline is to be made of a run, each with what to do about it; nothing if it may be."""
    about = side.about
    again = f"toolbelt eval resume {about.name}"
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
    errors = missing = 0
    for arm in range(len(side.arms)) if arms is None else arms:
        attempts = [attempt for case in side.read(arm).values() for attempt in case.attempts]
        errors += sum(attempt is not None and attempt.outcome is Outcome.ERROR for attempt in attempts)
        missing += about.cases * about.epochs - sum(attempt is not None for attempt in attempts)
    if missing and about.status == "finished":
        reasons.append(f"{plural(missing, 'trial')} have not finished; go on with: {again}")
    if errors:
        reasons.append(f"{plural(errors, 'trial')} ended with an error; again: {again} --retry-errors")
    return tuple(reasons)


def _read(path: Path, source: str) -> str:
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise NotFoundError("file", source, hint="Save one: toolbelt eval baseline save -o FILE") from None
    except IsADirectoryError:
        raise InvalidFileError([Finding("not-a-file", Severity.ERROR, "This is a folder.", source)]) from None
    except ValueError:  # a NUL in the name
        raise NotFoundError("file", source) from None
    except OSError as error:
        raise StorageError(f"Cannot read {source!r}: {error.strerror or error}.") from None
    if not raw.startswith((b"\xff\xfe", b"\xfe\xff")) and not raw.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
        raise _refused("This is no baseline: one begins with '{'.", source)
    if len(raw) > MAX_BYTES:
        raise _refused(f"This is no baseline: it is larger than {MAX_BYTES >> 20} MB.", source)
    return decode(raw, source)


def _refused(message: str, source: str) -> InvalidFileError:
    hint = " Save one: toolbelt eval baseline save -o FILE"
    return InvalidFileError([Finding("not-a-baseline", Severity.ERROR, message + hint, source, 1)])


def _finished(found: Mapping[str, CaseEvidence]) -> Iterator[Attempt]:
    for case in found.values():
        for attempt in case.attempts:
            if attempt is None or attempt.outcome is Outcome.ERROR:
                raise ValueError(f"A trial of case {case.case!r} has not finished, or with an error.")
            yield attempt


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


def _row(case: CaseEvidence, arms: Sequence[str]) -> str:
    head = {"case": case.case, "kind": case.kind} | ({"cluster": case.cluster} if case.cluster != case.case else {})
    return f'{_json(head)[:-1]}, "arms": [{", ".join(arms)}]}}'


def _listed(texts: Iterator[str]) -> list[str]:
    lines = [f"    {text}," for text in texts]
    return [*lines[:-1], *(line[:-1] for line in lines[-1:])]


def _json(value: Any) -> str:
    """Readable in a review, where what hides or turns text around must be seen."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    return _HIDDEN.sub(lambda match: json.dumps(match.group())[1:-1], text)
