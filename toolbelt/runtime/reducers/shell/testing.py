"""Test runs: which lines of them are about what passed."""

from __future__ import annotations

import re

from toolbelt.catalog.frozen import FrozenDict
from toolbelt.runtime.reducers.shell.installing import CARGO_STEP
from toolbelt.runtime.reducers.shell.noise import Noise, any_of

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
