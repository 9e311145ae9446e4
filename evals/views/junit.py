"""Verdicts and runs as JUnit XML, which every CI shows; the only module that imports junitparser."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal
from math import isfinite
from typing import IO, Any

from junitparser import Error, Failure, JUnitXml, Properties, Property, Skipped, TestCase, TestSuite

from toolbelt.catalog.gate.catalog_gate import CatalogComparison, CatalogFault
from toolbelt.catalog.gate.gate_views import describe_fault
from toolbelt.errors import NotFoundError
from toolbelt.evals.analysis.comparison.flip_text import describe_flip
from toolbelt.evals.analysis.gate.gate_text import describe_check_reason, describe_lost
from toolbelt.evals.analysis.gate.verdict import GateCheck, GateResult
from toolbelt.evals.analysis.summary.summarize import read_snapshot
from toolbelt.evals.scoring.outcome import Outcome
from toolbelt.evals.statistics.verdict import Verdict
from toolbelt.text import visible

_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'
_ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""Characters that XML 1.0 cannot hold, not even escaped."""
_BREAKS = re.compile(
    r"(>)(<(?:testsuite |testcase |/testsuite|properties|/properties|property |failure |error |system-out))"
)
"""Where line breaks are inserted. Only tags match: in texts and attributes these characters are escaped."""
_MOST_FLIPS = 100
_REPORT_EVERY = 200
"""Trials between two progress reports; a report for each would take longer than writing it."""
_WHOLE_RUN = "run"
"""The class of checks that belong to no arm."""
_TRIALS = """
SELECT case_id, kind, epoch, outcome, covered, reason, called, missing, surplus, requests, definition_tokens,
       latency_seconds, cost_usd
FROM trials WHERE run = ? AND arm = ? ORDER BY trial
"""


def gate_junit(result: GateResult) -> str:
    """A gate's checks as one suite: a regression is a failure, insufficient data an error, so that neither passes.

    The class of a test is the arm. The observed figure, its interval and the limit are properties of the test.
    """
    suite = TestSuite(_legal("toolbelt gate"))
    about = result.run
    facts = {
        "verdict": result.verdict.value,
        "run": about.name,
        "baseline": "" if result.comparison is None else result.comparison.old.name,
        "dataset": about.dataset,
        "digest": about.digest,
    }
    for name, value in facts.items():
        suite.add_property(name, _legal(value))
    suite.add_testcases([_check(result, check) for check in result.checks])
    whole = JUnitXml("toolbelt eval gate")
    whole.add_testsuite(suite)
    return _HEAD + _BREAKS.sub(r"\1\n\2", _text(whole)) + "\n"


def catalog_gate_junit(comparison: CatalogComparison, old: str) -> str:
    """Two versions of a catalog as one suite: a test for each tool that changed, a failure for each of its faults."""
    suite = TestSuite(_legal("toolbelt catalog gate"))
    suite.add_property("old", _legal(old))
    faults: dict[str, list[CatalogFault]] = {change.tool: [] for change in comparison.changes}
    for fault in comparison.failing:
        faults.setdefault(fault.tool, []).append(fault)
    for tool, found in faults.items():
        case = TestCase(_legal(tool or "catalog"), classname="catalog")
        case.result = [Failure(_legal(describe_fault(fault)), fault.rule.value) for fault in found]
        suite.add_testcase(case)
    whole = JUnitXml("toolbelt catalog gate")
    whole.add_testsuite(suite)
    return _HEAD + _BREAKS.sub(r"\1\n\2", _text(whole)) + "\n"


def write_run_junit(
    connection: sqlite3.Connection, run: str, file: IO[str], advance: Callable[[int], object] | None = None
) -> None:
    """A run's trials: one suite for each arm, one test for each trial; they are written as they are read, so memory
    does not grow.

    A trial that is right with its arguments passes. One that is wrong is a failure of the type of its outcome, one that
    ended with an error is an error, and one that did not fit the model's window, which is never a wrong answer, is
    skipped. The time is that of the answered requests, in seconds.

    Args:
        connection: To the file of runs.
        run: Its id.
        file: Text, to be encoded as UTF-8.
        advance: Called now and then with the number of trials written.

    Raises:
        NotFoundError: there is no such run.
    """
    written = 0
    with read_snapshot(connection):
        if connection.execute("SELECT 1 FROM runs WHERE run = ?", (run,)).fetchone() is None:
            raise NotFoundError("run", run, (row[0] for row in connection.execute("SELECT run FROM runs")))
        arms = connection.execute(
            "SELECT arm, model, toolset, variant, tokenizer FROM arms WHERE run = ? ORDER BY arm", (run,)
        ).fetchall()
        counts = {arm: _count(connection, run, arm) for arm, *_ in arms}
        total = {name: sum(count[name] for count in counts.values()) for name in _COUNTS}
        file.write(f"{_HEAD}{_opening(JUnitXml(_legal(run)), total)}\n")
        for arm, *names, tokenizer in arms:
            suite = TestSuite(_legal(" · ".join(filter(None, names))))
            file.write(f"{_opening(suite, counts[arm])}\n")
            facts = dict(zip(("model", "toolset", "variant", "tokenizer"), (*names, tokenizer), strict=True))
            file.write(f"{_text(_properties(facts))}\n")
            for row in connection.execute(_TRIALS, (run, arm)):
                file.write(f"{_text(_trial(suite.name, row))}\n")
                written += 1
                if advance is not None and written % _REPORT_EVERY == 0:
                    advance(written)
            file.write("</testsuite>\n")
        file.write("</testsuites>\n")


def _check(result: GateResult, check: GateCheck) -> TestCase:
    case = TestCase(_legal(check.name), _legal(check.arm.label if check.arm else _WHOLE_RUN))
    figures = {name: getattr(check, name) for name in ("observed", "low", "high", "limit")}
    case.append(_properties({"verdict": check.verdict.value, **figures}))
    message = describe_check_reason(check)
    text = "\n".join([visible(message), *_flips(result, check)])
    if check.verdict is Verdict.NO_REGRESSION:
        case.system_out = _legal(text)  # what flipped within the margin is to be seen, too
        return case
    kind = Failure if check.verdict is Verdict.REGRESSION else Error
    element = kind(_legal(message), check.verdict.value)
    element.text = _legal(text)
    case.append(element)
    return case


def _flips(result: GateResult, check: GateCheck) -> Iterator[str]:
    if check.name != result.limits.measure.value or result.comparison is None:
        return
    for pair in result.comparison.pairs:
        if check.arm is None or pair.new.key != check.arm.key:
            continue
        yield from (visible(describe_lost(lost)) for lost in result.lost if lost.arm.key == check.arm.key)
        worse = [flip for flip in pair.flips if flip.change < 0]
        yield from (visible(f"{flip.case}: {describe_flip(flip)}") for flip in worse[:_MOST_FLIPS])
        if (more := pair.flip_counts.worse - _MOST_FLIPS) > 0:
            yield f"… and {more:,} more"


def _trial(arm: str, row: tuple[Any, ...]) -> TestCase:
    case_id, kind, epoch, word, covered, reason, called, missing, surplus, requests, tokens, latency, cost = row
    outcome = Outcome(word)
    name = case_id if not epoch else f"{case_id} (epoch {epoch + 1})"
    case = TestCase(_legal(name), _legal(f"{arm} · {kind}" if kind else arm), latency)
    facts = {
        "outcome": word,
        "covered": "yes" if covered else "no",
        "called": called,
        "missing": missing,
        "surplus": surplus,
        "requests": requests,
        "definition_tokens": tokens,
        "cost_usd": cost,
    }
    case.append(_properties(facts))
    message = _legal(reason or word)
    if outcome is Outcome.ERROR:
        case.append(Error(message, word))
    elif not outcome.is_scored:
        case.append(Skipped(message, word))
    elif outcome is Outcome.CORRECT and not covered:
        case.append(Failure("The right answer could not be reached.", "uncovered"))
    elif outcome is not Outcome.CORRECT:
        case.append(Failure(message, word))
    return case


_COUNTS: Mapping[str, str] = {
    "tests": "count(*)",
    "failures": "total(outcome NOT IN ('error', 'context_overflow') AND NOT (outcome = 'correct' AND covered))",
    "errors": "total(outcome = 'error')",
    "skipped": "total(outcome = 'context_overflow')",
    "time": "total(latency_seconds)",
}


def _count(connection: sqlite3.Connection, run: str, arm: int) -> dict[str, float]:
    # The expressions are this module's own.
    query = f"SELECT {', '.join(_COUNTS.values())} FROM trials WHERE run = ? AND arm = ?"  # noqa: S608
    row = connection.execute(query, (run, arm)).fetchone()
    return {name: value if name == "time" else int(value) for name, value in zip(_COUNTS, row, strict=True)}


def _opening(element: JUnitXml | TestSuite, counts: Mapping[str, float]) -> str:
    """The opening tag of an element whose content is written piece by piece."""
    for name, value in counts.items():
        setattr(element, name, value)
    text = _text(element)
    return f"{text[: text.index('>')].rstrip('/').rstrip()}>"


def _properties(facts: Mapping[str, object]) -> Properties:
    """The properties whose values are known."""
    properties = Properties()
    for name, value in facts.items():
        if value is not None:
            properties.add_property(Property(name, _legal(_plain(value))))
    return properties


def _plain(value: object) -> str:
    """A number as XML Schema's `decimal` has it, which has no exponent."""
    return f"{Decimal(f'{value:.10g}'):f}" if isinstance(value, float) and isfinite(value) else str(value)


def _text(element: Any) -> str:
    for each in element._elem.iter():  # noqa: SLF001  junitparser writes times as `str` does, and reads no other text
        if "e" in (time := each.get("time", "")).lower():
            each.set("time", _plain(float(time)))
    content: bytes | str = element.tostring()
    return content if isinstance(content, str) else content.decode("utf-8")


def _legal(text: str) -> str:
    """Foreign text in a form that XML can hold and a reader can see."""
    lines: Iterable[str] = (visible(line) for line in text.split("\n"))
    return _ILLEGAL.sub("\N{REPLACEMENT CHARACTER}", "\n".join(lines))
