"""A baseline: the results of a run, case by case, in a small file to commit. Later runs are compared with it.

The file is JSON (`baseline.schema.json` in `toolbelt.evals.exports`), made so that a difference of two reads well:

- It has a head (what was asked, of whom, with which settings), `arms` with their figures, a line each, and `cases`, a
  line each in the order asked, which is the dataset's: what stands together there stands together here.
- In a case's line `arms` has a list for each arm, and in it one attempt an epoch:
  `[outcome, definition tokens, prompt tokens estimated, prompt tokens as reported, requests, cost in USD]`,
  as `columns` says in the head. `null` is what is not known.
- A seventh element, an object, holds more where there is more: `covered` where it is false; of trials that were wrong
  `missing` and `surplus` tools, and `called` where that differs from `surplus`.
- `tools` has digests of the definition of each tool, a line each: of its description, and of the rest. It is left out
  in baselines of runs that do not keep them.
- `exchange` of an arm is a digest of all its requests and their answers: where a run has the same, nothing changed. It
  is left out in baselines of runs that do not keep it.
- `responses` in the head: of each model whose responses were recorded or reused (`--response-cache`), how many there
  are, when they were given, and by what. In a case's line, `responses` has a digest for each arm: of the requests and
  answers, and not of when they were given.
- `cluster` is left out where it is the case's id, and `filter` where every case of the dataset was asked.

No id of a run, no time, no latency and no commit is in it, so that a run with the same results gives the same bytes,
and a case that changed is a line that changed. The figures of `arms` follow from the cases; they are there to be read,
and are checked, so that a file that was merged wrongly is noticed.
"""

from __future__ import annotations

import errno
import json
import re
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import IO, Any

import numpy as np

from toolbelt.errors import InvalidFileError, NotFoundError, StorageError, ToolbeltError
from toolbelt.evals.analysis.evidence.baseline_format import (
    COLUMNS,
    FIGURES,
    SCHEMA_NAME,
    check_baseline,
    check_case,
    check_figures,
    check_head,
    parse_attempt,
)
from toolbelt.evals.analysis.evidence.case_table import CaseTable, TableBuilder
from toolbelt.evals.analysis.evidence.compressed import CompressedRows
from toolbelt.evals.analysis.evidence.evidence import ArmName, Attempt, SequentialInfo, SideInfo
from toolbelt.evals.analysis.summary.responses import AnswerOrigin, ModelResponses
from toolbelt.evals.statistics.clusters import count_different
from toolbelt.findings import Finding, Severity
from toolbelt.sources.files import decode, refuse_special
from toolbelt.sources.json_text import parse_json
from toolbelt.sources.section import Section

_MAX_BYTES = 256 << 20
"""The most that is read of a file: twenty thousand cases of a hundred arms take less."""
_END = "]}"
"""What closes the file after its last case."""
_CONFLICT = re.compile(r"^<{7} ", re.MULTILINE)
_SAYS_SO = re.compile(rf'"schema"\s*:\s*"{re.escape(SCHEMA_NAME)}/')


class Baseline:
    """A baseline as it was read: one side of a comparison.

    Args:
        name: The file, as the user wrote it.
        head: What it holds beside the cases, checked.
        cases: Its cases, checked.
    """

    def __init__(self, name: str, head: Mapping[str, Any], cases: _Cases) -> None:
        self._cases = cases
        self._last: tuple[int, CaseTable] | None = None
        self._arms = tuple(
            ArmName(arm["model"], arm["toolset"], arm["variant"], arm["tokenizer"]) for arm in head["arms"]
        )
        self._exchanges: tuple[str, ...] = tuple(arm.get("exchange", "") for arm in head["arms"])
        self._figures: tuple[Mapping[str, Any], ...] = tuple(
            {key: value for key, value in arm.items() if key in FIGURES} for arm in head["arms"]
        )
        self._about = SideInfo(
            name=name,
            is_baseline=True,
            dataset=head["dataset"]["name"],
            digest=head["dataset"]["digest"],
            chosen=head["chosen"],
            cases=head["case_count"],
            epochs=head["epochs"],
            filter=head.get("filter", {}),
            settings=head["settings"],
            catalog=head["catalog"],
            surroundings=head["surroundings"],
            code=head["code"],
            aliases=head.get("aliases", {}),
            tools=head.get("tools", {}),
            responses=tuple(map(_read_origin, head.get("responses", ()))),
            is_imported=head.get("imported", False),
            sequential=SequentialInfo(**head["sequential"]) if "sequential" in head else None,
        )

    @property
    def about(self) -> SideInfo:
        """Dataset, run and settings of this side."""
        return self._about

    @property
    def arms(self) -> tuple[ArmName, ...]:
        """The arms, in the order of the command."""
        return self._arms

    @property
    def figures(self) -> tuple[Mapping[str, Any], ...]:
        """The figures of each arm, see `baseline_format.arm_figures`."""
        return self._figures

    def find_exchange(self, arm: int) -> str:
        """Digest of the requests and the answers of all trials of an arm; empty where one is not known (rule V3)."""
        return self._exchanges[arm]

    def read(self, arm: int) -> CaseTable:
        """Every case of the arm by its id, in the order asked; that of the last arm is kept."""
        if self._last is None or self._last[0] != arm:
            before = None if self._last is None else self._last[1]
            self._last = arm, self._cases.read(arm, self._about.epochs, before)
        return self._last[1]


class _Cases:
    """The rows of `cases`, of each arm apart, as arms are read one at a time.

    Args:
        arms: How many there are.
    """

    def __init__(self, arms: int) -> None:
        self._names = CompressedRows()
        self._responses = CompressedRows()
        self._attempts = tuple(CompressedRows() for _ in range(arms))

    def add(self, row: Mapping[str, Any]) -> None:
        """Add a row that was checked."""
        self._names.append((row["case"], row.get("cluster", row["case"]), row["kind"]))
        if row.get("responses"):
            self._responses.append((row["case"], row["responses"]))
        for attempts, of_arm in zip(self._attempts, row["arms"], strict=True):
            attempts.append(of_arm)

    def __len__(self) -> int:
        return len(self._names)

    def attempts_of(self, arm: int) -> Iterator[Sequence[Any]]:
        """All attempts of an arm, as they stand in the file."""
        return chain.from_iterable(self._attempts[arm])

    def read(self, arm: int, epochs: int, before: CaseTable | None) -> CaseTable:
        """The cases of an arm; their names are those of the arm before, if they are the same."""
        builder = TableBuilder(epochs, _make_end, before)
        for names, attempts in zip(self._names, self._attempts[arm], strict=True):
            builder.begin(*names)
            for epoch, (outcome, *figures) in enumerate(attempts):
                more = figures.pop() if len(figures) == len(COLUMNS) else {}
                end = tuple((key, tuple(value) if isinstance(value, list) else value) for key, value in more.items())
                builder.add(epoch, (outcome, end), (*figures, None))
        return builder.finish({case: digests[arm] for case, digests in self._responses})


def _make_end(end: tuple[str, tuple[tuple[str, Any], ...]]) -> Attempt:
    outcome, more = end
    return parse_attempt((outcome, 0, None, None, 1, None, dict(more)))


def _read_origin(data: Mapping[str, Any]) -> ModelResponses:
    origin = AnswerOrigin(
        data["responses"],
        data["oldest"],
        data["newest"],
        tuple(data["served_by"]),
        tuple(data["fingerprints"]),
    )
    return ModelResponses(data["model"], origin)


def is_baseline(path: Path) -> bool:
    """Whether a file states that it is a baseline, of any version; its content may be wrong.

    Where it says so does not matter: `jq -S` moves it behind the cases. One that a merge or an editor has broken still
    is one, so that it can be saved anew.
    """
    try:
        with _open(path) as lines:
            if _is_said(json.loads("".join(_read_head(lines)) + _END)):
                return True
    except (ToolbeltError, OSError, ValueError, RecursionError):
        pass  # it may be in another layout, and is read whole
    try:
        text = _read(path, str(path))
    except ToolbeltError:
        return False
    try:
        return _is_said(json.loads(text))
    except (ValueError, RecursionError):
        return _SAYS_SO.search(text) is not None


def _is_said(document: object) -> bool:
    return isinstance(document, dict) and str(document.get("schema")).startswith(f"{SCHEMA_NAME}/")


def read_baseline(path: Path) -> Baseline:
    """Read a baseline from its file.

    Raises:
        NotFoundError: no such file.
        InvalidFileError: it is none, with its mistakes and their lines.
        StorageError: it may not be read.
    """
    source = str(path)
    try:
        with _open(path) as lines:
            baseline = parse_lines(lines, source)
    except (ToolbeltError, OSError, ValueError):  # found again by whoever reads all of it
        baseline = None
    return baseline or parse_baseline(_read(path, source), source)


def parse_baseline(text: str, source: str) -> Baseline:
    """A baseline from its text, in any layout.

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
    cases = _Cases(len(document.data["arms"]))
    for row in document.data["cases"]:
        cases.add(row)
    return Baseline(source, document.data, cases)


def parse_lines(lines: Iterable[str], source: str) -> Baseline | None:
    """A baseline from its lines, one at a time, in the layout of `format_baseline`.

    Args:
        lines: With their ends.
        source: What to call it.

    Returns:
        `None` where it is in another layout, or anything is wrong with it: `parse_baseline` finds out what.
    """
    rest = iter(lines)
    try:
        head = _read_head(rest)
        first = next(rest, "")
        document = parse_json(f"{''.join(head)}{first.rstrip().rstrip(',')}{_END}", source)
        top = Section.of(document, null_is_absent=False)
        checked = check_head(top)
        if checked is None or top.findings:
            return None
        cases, hashes = _Cases(len(checked.arms)), array("q")
        for row in _read_rows(chain((first,), rest), source):
            name = check_case(row, checked)
            if row.findings:
                return None
            hashes.append(hash(name))
            cases.add(row.value)
    except (InvalidFileError, _OtherLayoutError):
        return None
    is_whole = checked.case_count == len(cases) == count_different(np.frombuffer(hashes, np.int64))
    check_figures(checked, cases.attempts_of)
    return Baseline(source, document.data, cases) if is_whole and not top.findings else None


class _OtherLayoutError(ValueError):
    """The file is not in the layout of `format_baseline`."""


def _read_head(lines: Iterator[str]) -> list[str]:
    """The lines before the first case."""
    head: list[str] = []
    for line in lines:
        head.append(line)
        if line.strip() == '"cases": [':
            return head
    raise _OtherLayoutError


def _read_rows(lines: Iterator[str], source: str) -> Iterator[Section]:
    """The cases, a line each, and the end of the file after them."""
    for line in lines:
        text = line.strip()
        yield Section.of(parse_json(text.removesuffix(","), source), null_is_absent=False)
        if not text.endswith(","):
            break
    if "".join(lines).split() != list(_END):
        raise _OtherLayoutError


def _open(path: Path) -> IO[str]:
    """A file whose lines are read one at a time; raises as `open`, and for what is no file or too large."""
    refuse_special(path)
    if path.stat().st_size > _MAX_BYTES:
        raise OSError(errno.EFBIG, "too large")
    return path.open(encoding="utf-8-sig", newline="\n")


def _read(path: Path, source: str) -> str:
    try:
        refuse_special(path)
        with path.open("rb") as file:
            raw = file.read(_MAX_BYTES + 1)
    except FileNotFoundError:
        raise NotFoundError("file", source, hint="Save one: toolbelt eval baseline save -o FILE") from None
    except ValueError:  # a NUL in the name
        raise NotFoundError("file", source) from None
    except OSError as error:
        raise StorageError(f"Cannot read {source!r}: {error.strerror or error}.") from None
    if not raw.startswith((b"\xff\xfe", b"\xfe\xff")) and not raw.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
        raise _refused("This is no baseline: one begins with '{'.", source)
    if len(raw) > _MAX_BYTES:
        raise _refused(f"This is no baseline: it is larger than {_MAX_BYTES >> 20} MB.", source)
    return decode(raw, source)


def _refused(message: str, source: str) -> InvalidFileError:
    hint = " Save one: toolbelt eval baseline save -o FILE"
    return InvalidFileError([Finding("not-a-baseline", Severity.ERROR, message + hint, source, 1)])
