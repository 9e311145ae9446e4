"""Lines without information: in test runs those about passed tests, in package installs those about downloads."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from toolbelt.catalog.frozen import FrozenDict
from toolbelt.runtime.reducers.text import matters, tell_count


@dataclass(frozen=True)
class Noise:
    """What one kind of output is known by, and which of its lines are noise.

    All patterns are matched from the start of a line.

    Attributes:
        name: What the reduced result calls it.
        programs: Commands that print it, as `go test`.
        shape: A line that nothing else prints, for commands that do not say what they run.
        noise: Lines that are left out; where a number of them is worth telling, `tally` counts them first.
        careful: Whether a line stays that looks like an error although it is noise.
        tally: What is counted, by what it is called.
        blocks: Lines that begin what is left out as a whole, with the line that ends it, which stays.
        repeated: Lines that are noise where there is a line like the second, which says the same again, and more.
    """

    name: str
    programs: tuple[str, ...]
    shape: re.Pattern[str]
    noise: re.Pattern[str]
    careful: bool = False
    tally: Mapping[str, re.Pattern[str]] = field(default_factory=FrozenDict)
    blocks: tuple[tuple[re.Pattern[str], re.Pattern[str]], ...] = ()
    repeated: tuple[tuple[re.Pattern[str], re.Pattern[str]], ...] = ()


_LONGEST = 1_000
"""Characters of a line that is held against patterns: noise is short, and no pattern is to run for long."""
_ENDS = 1_000
"""Lines at either end that are looked at to see what printed them."""


def any_of(*patterns: str) -> re.Pattern[str]:
    """One pattern of several."""
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns))


def has_shape(noise: Noise, lines: Sequence[str]) -> bool:
    """Whether a line at the beginning or the end is one that nothing else prints."""
    if len(lines) > 2 * _ENDS:
        lines = (*lines[:_ENDS], *lines[-_ENDS:])
    return any(len(line) <= _LONGEST and noise.shape.match(line) for line in lines)


def drop_noise(lines: Sequence[str], noises: Iterable[Noise]) -> tuple[list[str], list[int], str]:
    """What is left without the noise.

    Returns:
        The lines, their numbers among those given, from 1, and what to say of those that went.
    """
    noises = tuple(noises)
    kept: list[str] = []
    numbers: list[int] = []
    dropped = 0
    until: re.Pattern[str] | None = None
    said_again = _find_repeated(lines, noises)
    for number, line in enumerate(lines, 1):
        if until is not None and until.match(line[:_LONGEST]):
            until = None
        if until is None:
            until = next((end for noise in noises for start, end in noise.blocks if start.match(line[:_LONGEST])), None)
        if until is not None or _is_noise(line, noises) or any(said.match(line[:_LONGEST]) for said in said_again):
            dropped += 1
        elif line.strip() or (kept and kept[-1].strip()):  # of several blank lines, one
            kept.append(line)
            numbers.append(number)
    names = " and ".join(dict.fromkeys(noise.name for noise in noises))
    left_out = f", {tell_count(dropped, 'line')} without news left out" if dropped else ""
    return kept, numbers, f"{names}{left_out}{_tally(lines, noises)}"


def _find_repeated(lines: Sequence[str], noises: Iterable[Noise]) -> list[re.Pattern[str]]:
    return [
        said
        for noise in noises
        for said, again in noise.repeated
        if any(again.match(line[:_LONGEST]) for line in lines)
    ]


def _is_noise(line: str, noises: Iterable[Noise]) -> bool:
    if len(line) > _LONGEST:
        return False
    return any(noise.noise.match(line) and not (noise.careful and matters(line)) for noise in noises)


def _tally(lines: Sequence[str], noises: Iterable[Noise]) -> str:
    counts = {
        name: count
        for noise in noises
        for name, pattern in noise.tally.items()
        if (count := sum(1 for line in lines if pattern.match(line[:_LONGEST])))
    }
    return f" ({', '.join(f'{name}: {count:,}' for name, count in counts.items())})" if counts else ""


CARGO_STEP = r"\s+(?:Compiling|Downloaded|Downloading|Checking|Fresh|Updating|Locking|Blocking|Building|Dirty)\s"

INSTALLS: tuple[Noise, ...] = (
    Noise(
        "pip",
        ("pip install", "pip download", "pip wheel", "pip sync", "pipx install"),
        any_of(r"Successfully installed \S", r"Requirement already satisfied: "),
        any_of(
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
    Noise(
        "uv",
        ("uv pip", "uv sync", "uv add", "uv lock", "uv tool install"),
        any_of(r"(?:Installed|Resolved|Audited|Prepared) \d+ packages? in "),
        any_of(r"\s*(?:Downloading|Downloaded|Building|Built|Updating|Updated|Prepared|Audited) ", r" [~] "),
        careful=True,
    ),
    Noise(
        "npm",
        ("npm install", "npm i", "npm ci", "npm add", "npm update"),
        any_of(r"(?:added|changed|removed) \d+ packages?\b", r"up to date, audited \d+ packages"),
        any_of(
            r"npm (?:http|timing|verb|verbose|sill|silly|info|notice)\b",
            r"\s*\d+ packages? (?:is|are) looking for funding",
            r"\s+run `npm fund` for details",
        ),
        careful=True,
    ),
    Noise(
        "yarn",
        ("yarn install", "yarn add", "yarn upgrade"),
        any_of(r"yarn (?:install|add) v\d", r"➤ YN0000: "),
        any_of(r"\[\d/\d\] ", r"info ", r"➤ YN00(?:13|19): ", r"➤ YN0000: [┌└]"),
        careful=True,
    ),
    Noise(
        "pnpm",
        ("pnpm install", "pnpm i", "pnpm add", "pnpm update"),
        any_of(r"Progress: resolved \d+, reused \d+", r"Packages: \+\d+"),
        any_of(r"Progress: resolved ", r"\++-*$", r"Downloading \S+: "),
        careful=True,
    ),
    Noise(
        "apt",
        ("apt install", "apt-get install", "apt update", "apt-get update", "apt upgrade", "apt-get upgrade"),
        any_of(r"Reading package lists\.\.\.", r"\d+ (?:upgraded|newly installed), \d+ "),
        any_of(
            r"(?:Get|Hit|Ign):\d+ ",
            r"(?:Reading (?:package lists|state information)|Building dependency tree)",
            r"(?:Selecting previously unselected package|Preparing to unpack|Unpacking|Processing triggers for) ",
            r"\(Reading database ",
            r"(?:Extracting templates|Preconfiguring packages|Scanning )",
        ),
        careful=True,
    ),
    Noise(
        "cargo",
        ("cargo install", "cargo build", "cargo b", "cargo add", "cargo check", "cargo fetch", "cargo update"),
        any_of(r"\s+(?:Compiling|Downloaded) \S+ v\d"),
        any_of(
            CARGO_STEP,
            r"\s+Adding \S+ v\S+(?: \(.*\))?$",
        ),
        careful=True,
    ),
)
"""One row for each package manager. What was installed, warnings and errors are noise in none."""


TEST_RUNS: tuple[Noise, ...] = (
    Noise(
        "pytest",
        ("pytest", "py.test"),
        any_of(r"=+ test session starts =+$", r"=* ?\d+ (?:passed|failed|skipped|error)\b.* in \d[\d.]*s"),
        any_of(
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
    Noise(
        "unittest",
        ("unittest", "trial", "manage.py test", "django-admin test"),
        re.compile(r"Ran \d+ tests? in \d[\d.]*s$"),
        any_of(r"[.sxu]+$", r".* \.\.\. (?:ok|skipped\b.*|expected failure)$"),
    ),
    Noise(
        "JavaScript tests",
        ("jest", "vitest", "mocha", "ava", "npm test", "npm t", "yarn test", "pnpm test", "bun test"),
        any_of(
            r"Tests: .* total$",
            r"\s*Test Files +.*\(\d+\)$",
            r"\s+\d+ passing \(",
            r"ℹ tests \d+$",
        ),
        any_of(r"\s*[✓√✔○↓]", r"\s*PASS\s"),
    ),
    Noise(
        "TAP",  # what node's own runner prints to a pipe
        ("tap", "prove"),
        any_of(r"TAP version \d+$", r"# tests \d+$"),
        any_of(
            r"\s*ok \d+\b",
            r"\s*# Subtest: ",
            r"\s+(?:---|\.\.\.)$",
            r"\s+duration_ms: [\d.]+$",
            r"\s+type: '(?:test|suite)'$",
        ),
    ),
    Noise(
        "go test",
        ("go test", "gotestsum"),
        any_of(r"(?:ok  |FAIL)\t\S+\t", r"\s*--- (?:PASS|FAIL|SKIP): \S+ \(", r"=== RUN   "),
        any_of(r"\s*=== (?:RUN|PAUSE|CONT|NAME)\b", r"\s*--- (?:PASS|SKIP): ", r"ok  \t", r"\?   \t", r"PASS$"),
        tally=FrozenDict(
            {
                "packages ok": re.compile(r"ok  \t"),
                "packages failed": re.compile(r"FAIL\t"),
                "tests passed": re.compile(r"\s*--- PASS: "),
                "tests failed": re.compile(r"\s*--- FAIL: "),
                "tests skipped": re.compile(r"\s*--- SKIP: "),
            }
        ),
    ),
    Noise(
        "cargo test",
        ("cargo test", "cargo t", "cargo nextest"),
        any_of(r"test result: (?:ok|FAILED)\. ", r"\s+Summary \[ *[\d.]+s\] "),
        any_of(r"test .* \.\.\. (?:ok|ignored\b.*)$", r"\s+(?:PASS|SKIP) \[", CARGO_STEP),
    ),
)
"""One row for each kind of test runner. What failed is noise in none unless it is said again, the last count never."""
