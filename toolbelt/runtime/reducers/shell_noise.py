"""Lines without information: in test runs those about passed tests, in package installs those about downloads."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from toolbelt.catalog.frozen import FrozenDict
from toolbelt.runtime.reducers.text import format_count, looks_like_error


@dataclass(frozen=True)
class OutputKind:
    """One kind of output: how to recognize it, and which of its lines are noise.

    All patterns are matched from the start of a line.

    Attributes:
        name: Its name in the note of the reduced result.
        programs: Commands that print it, such as `go test`.
        shape: A line that nothing else prints, for commands that do not state what they run.
        noise: Lines that are left out; `tally` counts the interesting ones first.
        careful: Whether a noise line stays if it looks like an error.
        tally: Counted lines, by their name in the note.
        blocks: First lines of blocks that are left out, each with the line after the block, which stays.
        repeated: Lines that are noise if there is a line like the second, which repeats them with more details.
        logs: Of tests that log before their result: the line that names the test, a line that it logs, and the line
            that names it once it has passed. What it logged is noise then, and what its subtests logged.
    """

    name: str
    programs: tuple[str, ...]
    shape: re.Pattern[str]
    noise: re.Pattern[str]
    careful: bool = False
    tally: Mapping[str, re.Pattern[str]] = field(default_factory=FrozenDict)
    blocks: tuple[tuple[re.Pattern[str], re.Pattern[str]], ...] = ()
    repeated: tuple[tuple[re.Pattern[str], re.Pattern[str]], ...] = ()
    logs: tuple[tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]], ...] = ()


_MAX_LINE_CHARS = 1_000
"""Longest line that is matched: noise is short, and no pattern may run for long."""
_ENDS = 1_000
"""Lines at either end in which shapes are looked for."""


def match_any(*patterns: str) -> re.Pattern[str]:
    """One pattern of several."""
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns))


def has_shape(kind: OutputKind, lines: Sequence[str]) -> bool:
    """Whether a line at the beginning or end has the shape of this kind of output."""
    if len(lines) > 2 * _ENDS:
        lines = (*lines[:_ENDS], *lines[-_ENDS:])
    return any(len(line) <= _MAX_LINE_CHARS and kind.shape.match(line) for line in lines)


def remove_noise(lines: Sequence[str], kinds: Iterable[OutputKind]) -> tuple[list[str], list[int], str]:
    """The lines without noise.

    Returns:
        The lines, their original numbers from 1, and a note about the others.
    """
    kinds = tuple(kinds)
    useful: list[str] = []
    numbers: list[int] = []
    dropped = 0
    until: re.Pattern[str] | None = None
    repeated = _find_repeated(lines, kinds)
    logged = _find_logged(lines, kinds)
    for number, line in enumerate(lines, 1):
        if until is not None and until.match(line[:_MAX_LINE_CHARS]):
            until = None
        if until is None:
            until = next(
                (end for kind in kinds for start, end in kind.blocks if start.match(line[:_MAX_LINE_CHARS])), None
            )
        if (
            until is not None
            or number in logged
            or _is_noise(line, kinds)
            or any(each.match(line[:_MAX_LINE_CHARS]) for each in repeated)
        ):
            dropped += 1
        elif line.strip() or (useful and useful[-1].strip()):  # of several blank lines, one
            useful.append(line)
            numbers.append(number)
    names = " and ".join(dict.fromkeys(kind.name for kind in kinds))
    left_out = f", {format_count(dropped, 'line')} without news left out" if dropped else ""
    return useful, numbers, f"{names}{left_out}{_tally(lines, kinds)}"


def _find_repeated(lines: Sequence[str], kinds: Iterable[OutputKind]) -> list[re.Pattern[str]]:
    return [
        line_pattern
        for kind in kinds
        for line_pattern, repetition in kind.repeated
        if any(repetition.match(line[:_MAX_LINE_CHARS]) for line in lines)
    ]


def _find_logged(lines: Sequence[str], kinds: Iterable[OutputKind]) -> set[int]:
    """Numbers of the lines that tests logged and then passed."""
    logged: set[int] = set()
    for start, log, passed in (each for kind in kinds for each in kind.logs):
        test, pending = "", []
        for number, line in enumerate((line[:_MAX_LINE_CHARS] for line in lines), 1):
            if test and log.match(line):
                pending.append(number)
                continue
            if (result := passed.match(line)) and f"{test}/".startswith(f"{result[1]}/"):
                logged.update(pending)
            started = start.match(line)
            test, pending = started[1] if started else "", []
    return logged


def _is_noise(line: str, kinds: Iterable[OutputKind]) -> bool:
    if len(line) > _MAX_LINE_CHARS:
        return False
    return any(kind.noise.match(line) and not (kind.careful and looks_like_error(line)) for kind in kinds)


def _tally(lines: Sequence[str], kinds: Iterable[OutputKind]) -> str:
    counts = {
        name: count
        for kind in kinds
        for name, pattern in kind.tally.items()
        if (count := sum(1 for line in lines if pattern.match(line[:_MAX_LINE_CHARS])))
    }
    return f" ({', '.join(f'{name}: {count:,}' for name, count in counts.items())})" if counts else ""


CARGO_STEP = r"\s+(?:Compiling|Downloaded|Downloading|Checking|Fresh|Updating|Locking|Blocking|Building|Dirty)\s"

INSTALLS: tuple[OutputKind, ...] = (
    OutputKind(
        "pip",
        ("pip install", "pip download", "pip wheel", "pip sync", "pipx install"),
        match_any(r"Successfully installed \S", r"Requirement already satisfied: "),
        match_any(
            r"\s*(?:Collecting|Downloading|Using cached|Obtaining|Processing|Looking in)\b",
            r"\s*(?:Building wheel|Installing build|Getting requirements|Checking if build|Created wheel) ",
            r"\s*(?:Stored in directory|Saved|Preparing metadata) ",
            r"\s*(?:Found existing installation|Attempting uninstall|Uninstalling|Successfully uninstalled)\b",
            r"Requirement already satisfied: ",
            r"Installing collected packages: ",
            r"\s*[━╸╺ ]*━[━╸╺]* ",
            r"\s+\|[█▏▎▍▌▋▊▉ ]+\|",
        ),
        careful=True,
        tally=FrozenDict({"there already": re.compile(r"Requirement already satisfied: ")}),
    ),
    OutputKind(
        "uv",
        ("uv pip", "uv sync", "uv add", "uv lock", "uv tool install"),
        match_any(r"(?:Installed|Resolved|Audited|Prepared) \d+ packages? in "),
        match_any(r"\s*(?:Downloading|Downloaded|Building|Built|Updating|Updated|Prepared|Audited) ", r" [~] "),
        careful=True,
    ),
    OutputKind(
        "npm",
        ("npm install", "npm i", "npm ci", "npm add", "npm update"),
        match_any(r"(?:added|changed|removed) \d+ packages?\b", r"up to date, audited \d+ packages"),
        match_any(
            r"npm (?:http|timing|verb|verbose|sill|silly|info|notice)\b",
            r"\s*\d+ packages? (?:is|are) looking for funding",
            r"\s+run `npm fund` for details",
        ),
        careful=True,
    ),
    OutputKind(
        "yarn",
        ("yarn install", "yarn add", "yarn upgrade"),
        match_any(r"yarn (?:install|add) v\d", r"➤ YN0000: "),
        match_any(r"\[\d/\d\] ", r"info ", r"➤ YN00(?:13|19): ", r"➤ YN0000: [┌└]"),
        careful=True,
    ),
    OutputKind(
        "pnpm",
        ("pnpm install", "pnpm i", "pnpm add", "pnpm update"),
        match_any(r"Progress: resolved \d+, reused \d+", r"Packages: \+\d+"),
        match_any(r"Progress: resolved ", r"\++-*$", r"Downloading \S+: "),
        careful=True,
    ),
    OutputKind(
        "apt",
        ("apt install", "apt-get install", "apt update", "apt-get update", "apt upgrade", "apt-get upgrade"),
        match_any(r"Reading package lists\.\.\.", r"\d+ (?:upgraded|newly installed), \d+ "),
        match_any(
            r"(?:Get|Hit|Ign):\d+ ",
            r"(?:Reading (?:package lists|state information)|Building dependency tree)",
            r"(?:Selecting previously unselected package|Preparing to unpack|Unpacking|Processing triggers for) ",
            r"\(Reading database ",
            r"(?:Extracting templates|Preconfiguring packages|Scanning )",
        ),
        careful=True,
    ),
    OutputKind(
        "cargo",
        ("cargo install", "cargo build", "cargo b", "cargo add", "cargo check", "cargo fetch", "cargo update"),
        match_any(r"\s+(?:Compiling|Downloaded) \S+ v\d"),
        match_any(
            CARGO_STEP,
            r"\s+Adding \S+ v\S+(?: \(.*\))?$",
        ),
        careful=True,
    ),
)
"""One row per package manager. Lines about installed packages, warnings and errors are never noise."""


TEST_RUNS: tuple[OutputKind, ...] = (
    OutputKind(
        "pytest",
        ("pytest", "py.test"),
        match_any(r"=+ test session starts =+$", r"=* ?\d+ (?:passed|failed|skipped|error)\b.* in \d[\d.]*s"),
        match_any(
            r"\S+\.py [.sxX]+ *(?:\[ *\d+%\])?$",
            r"[.sxX]+ *\[ *\d+%\]$",
            r"(?=\S*?::).* (?:PASSED|XFAIL|SKIPPED)(?: \([^()]*\))? *(?:\[ *\d+%\])?$",
            r"\[gw\d+\] \[ *\d+%\] (?:PASSED|SKIPPED|XFAIL) ",
            r"PASSED \S+",
            r"(?:cachedir|plugins|hypothesis profile|asyncio): ?",
        ),
        blocks=((re.compile(r"=+ PASSES =+$"), re.compile(r"=+ .* =+$")),),
        # The summary at the end names them with the reason; here they would crowd out the tracebacks.
        repeated=tuple(
            (
                re.compile(rf"(?:(?=\S*?::).* {state} *(?:\[ *\d+%\])?|\[gw\d+\] \[ *\d+%\] {state} .*)$"),
                re.compile(rf"{state} \S+::"),
            )
            for state in ("FAILED", "ERROR")
        ),
    ),
    OutputKind(
        "unittest",
        ("unittest", "trial", "manage.py test", "django-admin test"),
        re.compile(r"Ran \d+ tests? in \d[\d.]*s$"),
        match_any(r"[.sxu]+$", r".* \.\.\. (?:ok|skipped\b.*|expected failure)$"),
    ),
    OutputKind(
        "JavaScript tests",
        ("jest", "vitest", "mocha", "ava", "npm test", "npm t", "yarn test", "pnpm test", "bun test"),
        match_any(
            r"Tests: .* total$",
            r"\s*Test Files +.*\(\d+\)$",
            r"\s+\d+ passing \(",
            r"ℹ tests \d+$",
        ),
        match_any(r"\s*[✓√✔○↓]", r"\s*PASS\s"),
    ),
    OutputKind(
        "TAP",  # what node's own runner prints to a pipe
        ("tap", "prove"),
        match_any(r"TAP version \d+$", r"# tests \d+$"),
        match_any(
            r"\s*ok \d+\b",
            r"\s*# Subtest: ",
            r"\s+(?:---|\.\.\.)$",
            r"\s+duration_ms: [\d.]+$",
            r"\s+type: '(?:test|suite)'$",
        ),
    ),
    OutputKind(
        "go test",
        ("go test", "gotestsum"),
        match_any(r"(?:ok  |FAIL)\t\S+\t", r"\s*--- (?:PASS|FAIL|SKIP): \S+ \(", r"=== RUN   "),
        match_any(r"\s*=== (?:RUN|PAUSE|CONT|NAME)\b", r"\s*--- (?:PASS|SKIP): ", r"ok  \t", r"\?   \t", r"PASS$"),
        tally=FrozenDict(
            {
                "packages ok": re.compile(r"ok  \t"),
                "packages failed": re.compile(r"FAIL\t"),
                "tests passed": re.compile(r"\s*--- PASS: "),
                "tests failed": re.compile(r"\s*--- FAIL: "),
                "tests skipped": re.compile(r"\s*--- SKIP: "),
            }
        ),
        # `go test -v` prints what a test logs before its result; what a failed one logged says why.
        logs=((re.compile(r"=== (?:RUN|CONT|NAME) +(\S+)"), re.compile(r" {4,}\S"), re.compile(r"--- PASS: (\S+)")),),
    ),
    OutputKind(
        "cargo test",
        ("cargo test", "cargo t", "cargo nextest"),
        match_any(r"test result: (?:ok|FAILED)\. ", r"\s+Summary \[ *[\d.]+s\] "),
        match_any(r"test .* \.\.\. (?:ok|ignored\b.*)$", r"\s+(?:PASS|SKIP) \[", CARGO_STEP),
    ),
)
"""One row per test runner. Lines about failures are noise only if they are repeated with details; the final count never
is."""
