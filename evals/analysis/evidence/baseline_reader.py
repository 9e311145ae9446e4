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
- `responses` in the head: of each model whose responses were recorded or reused (`--response-cache`), how many there
  are, when they were given, and by what. In a case's line, `responses` has a digest for each arm: of the requests and
  answers, and not of when they were given.
- `cluster` is left out where it is the case's id, and `filter` where every case of the dataset was asked.

No id of a run, no time, no latency and no commit is in it, so that a run with the same results gives the same bytes,
and a case that changed is a line that changed. The figures of `arms` follow from the cases; they are there to be read,
and are checked, so that a file that was merged wrongly is noticed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from toolbelt.errors import InvalidFileError, NotFoundError, StorageError, ToolbeltError
from toolbelt.evals.analysis.evidence.baseline_format import FIGURES, SCHEMA_NAME, check_baseline, parse_attempt
from toolbelt.evals.analysis.evidence.evidence import ArmName, CaseEvidence, SequentialInfo, SideInfo
from toolbelt.evals.analysis.summary.responses import AnswerOrigin, ModelResponses
from toolbelt.findings import Finding, Severity
from toolbelt.sources.files import decode, refuse_special
from toolbelt.sources.json_text import parse_json

_MAX_BYTES = 256 << 20
"""The most that is read of a file: twenty thousand cases of a hundred arms take less."""
_CONFLICT = re.compile(r"^<{7} ", re.MULTILINE)
_SAYS_SO = re.compile(rf'"schema"\s*:\s*"{re.escape(SCHEMA_NAME)}/')


class Baseline:
    """A baseline as it was read: one side of a comparison.

    Args:
        name: The file, as the user wrote it.
        data: What it holds, checked.
    """

    def __init__(self, name: str, data: Mapping[str, Any]) -> None:
        self._cases: Sequence[Mapping[str, Any]] = data["cases"]
        self._arms = tuple(
            ArmName(arm["model"], arm["toolset"], arm["variant"], arm["tokenizer"]) for arm in data["arms"]
        )
        self._figures: tuple[Mapping[str, Any], ...] = tuple(
            {key: value for key, value in arm.items() if key in FIGURES} for arm in data["arms"]
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
            tools=data.get("tools", {}),
            responses=tuple(map(_read_origin, data.get("responses", ()))),
            sequential=SequentialInfo(**data["sequential"]) if "sequential" in data else None,
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

    def read(self, arm: int) -> Mapping[str, CaseEvidence]:
        """Every case of the arm by its id, in the order asked."""
        return {
            row["case"]: CaseEvidence(
                row["case"],
                row.get("cluster", row["case"]),
                row["kind"],
                tuple(parse_attempt(attempt) for attempt in row["arms"][arm]),
                row["responses"][arm] if row.get("responses") else "",
            )
            for row in self._cases
        }


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
        text = _read(path, str(path))
    except ToolbeltError:
        return False
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return _SAYS_SO.search(text) is not None
    return isinstance(document, dict) and str(document.get("schema")).startswith(f"{SCHEMA_NAME}/")


def read_baseline(path: Path) -> Baseline:
    """Read a baseline from its file.

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
