"""Probes as views: what works with a model, and several probes side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from toolbelt.evals.probing.checks import title_of
from toolbelt.evals.probing.results import (
    CheckOutcome,
    CheckResult,
    ProbeResult,
    is_answered,
    keys_left,
    total_cost,
    total_requests,
    total_tokens,
)
from toolbelt.evals.probing.stated_limits import find_limit
from toolbelt.evals.probing.wording import WORDS, cache_line, shown_day, shown_time, works_line, works_of
from toolbelt.evals.views.matrix_text import in_lines
from toolbelt.render.markdown import render_markdown
from toolbelt.render.numbers import NOTHING, format_cost
from toolbelt.text import plural
from toolbelt.views.blocks import Block, Heading, Line, Listing, Note
from toolbelt.views.cells import Seconds, Span, Tokens, Tone
from toolbelt.views.table import Column, Row, Table

_SIGNS: Mapping[CheckOutcome, tuple[str, Tone]] = MappingProxyType(
    {
        CheckOutcome.WORKS: ("✓", Tone.GOOD),
        CheckOutcome.PARTLY: ("~", Tone.WARNING),
        CheckOutcome.FAILS: ("✗", Tone.BAD),
        CheckOutcome.REFUSED: ("✗", Tone.BAD),
        CheckOutcome.TOO_LARGE: ("✗", Tone.BAD),
        CheckOutcome.SKIPPED: (NOTHING, Tone.FAINT),
        CheckOutcome.TOOLS_NOT_SEEN: ("?", Tone.BAD),
        CheckOutcome.UNKNOWN: ("?", Tone.FAINT),
    }
)
"""Always shown with the word, so that no reader depends on colour or shape."""
_MOST_HEADING = 26
"""Characters of a model's name above a column; a longer one is broken into lines."""


def probe_view(results: Sequence[ProbeResult]) -> Iterator[Block]:
    """Each probe in full; several probes are also shown side by side at the end.

    Args:
        results: In the order to show them.
    """
    for result in results:
        yield from _one(result)
    if len(results) > 1:
        yield from probes_view(results)


def _one(result: ProbeResult) -> Iterator[Block]:
    place = f" at {result.api_base}" if result.api_base else ""
    yield Heading(f"probe {result.probe}", result.status, level=2)
    yield Line((Span(result.model, Tone.STRONG), Span(f"{place}, {shown_time(result.created)}")))
    if result.checks:
        yield _checks(result.checks)
    yield Line((Span(works_line(result), Tone.STRONG),))
    yield from _limit_notes(result)
    if result.reason:
        # Of an interruption the reason says so itself.
        state = result.reason if result.status == "interrupted" else f"{result.status}: {result.reason}"
        yield Note(state, Tone.WARNING)
    if not (requests := total_requests(result)):
        return
    cost = total_cost(result)
    spent = "price unknown" if cost is None else format_cost(cost)
    retries = sum(check.retries for check in result.checks)
    again = f", {plural(retries, 'retry', 'retries')} among them" if retries else ""
    yield Note(f"{cache_line(result)}; {plural(requests, 'request')}{again}: {spent}", Tone.FAINT)


def mark(outcome: CheckOutcome | None) -> Span:
    """An outcome as sign and word; `–` for a check that was not made."""
    if outcome is None:
        return Span(NOTHING, Tone.FAINT)
    sign, tone = _SIGNS[outcome]
    return Span(f"{sign} {WORDS[outcome]}", tone)


def _checks(checks: Sequence[CheckResult]) -> Table:
    """One line for each check, with what was seen beside it."""
    columns = (
        Column("outcome", is_text=True),
        Column("tokens", is_spare=True),
        Column("time", is_spare=True),
        Column("what was seen", is_text=True),
    )
    rows = tuple(
        Row(
            title_of(check.key),
            (
                mark(check.outcome),
                Tokens(total_tokens(check)),
                Seconds(check.latency_seconds if is_answered(check) else None),
                Span(check.said),
            ),
        )
        for check in checks
    )
    return Table("check", columns, rows)


def probes_view(results: Sequence[ProbeResult]) -> Iterator[Block]:
    """Probes side by side, one line for each check and one column for each model."""
    keys = all_keys(results)
    columns = tuple(
        Column(heading, short="\n".join(in_lines(heading, _MOST_HEADING)), is_text=True)
        for heading in column_headings(results)
    )
    rows = (
        Row("probed", tuple(Span(shown_day(result.created), Tone.FAINT) for result in results)),
        *(Row(title_of(key), tuple(mark(result.outcome(key)) for result in results)) for key in keys),
        Row("works", tuple(Span(works_of(result), Tone.STRONG) for result in results)),
    )
    yield Table("check", columns, rows)
    if len({result.suite for result in results}) > 1:
        yield Note(
            "These probes are of different versions of the suite: a check of the same name may ask something else.",
            Tone.WARNING,
        )


def all_keys(results: Sequence[ProbeResult]) -> tuple[str, ...]:
    """The checks of all probes, in the order of the suite as far as there is one."""
    longest = sorted(results, key=lambda result: -len(result.planned))
    return tuple(
        dict.fromkeys(key for result in longest for key in (*(c.key for c in result.checks), *keys_left(result)))
    )


def column_headings(results: Sequence[ProbeResult]) -> list[str]:
    """The headings of the columns: the models; if one has several probes, with its address or the probe's id."""
    models = [result.model for result in results]
    places = [(result.model, result.api_base) for result in results]
    headings = []
    for result in results:
        heading = result.model
        if models.count(result.model) > 1 and result.api_base:
            heading += f" at {result.api_base}"
        if places.count((result.model, result.api_base)) > 1:
            heading += f" ({result.probe})"
        headings.append(heading)
    return headings


def list_view(results: Sequence[ProbeResult]) -> Iterator[Block]:
    """A list of probes, one per line."""
    columns = tuple(Column(name, is_text=True, is_cut=name == "at") for name in ("made", "status", "works", "at"))
    rows = tuple(
        Row(
            result.probe,
            (
                Span(shown_time(result.created)),
                Span(result.status),
                Span(works_of(result)),
                Span(result.api_base or ""),
            ),
        )
        for result in results
    )
    yield Table("probe", columns, rows)


def inspected_view(result: ProbeResult, later: ProbeResult | None = None) -> Iterator[Block]:
    """The probe in a few lines, to be shown below the facts of its model.

    Args:
        result: The one that stands for the model.
        later: One begun after it that is not finished; `None` if there is none.
    """
    place = f" at {result.api_base}" if result.api_base else ""
    yield Note(f"probed {shown_time(result.created)}{place}  {result.status}", Tone.FAINT)
    yield Note(works_line(result))
    yield from _limit_notes(result)
    if later is not None:
        yield Note(later_line(later), Tone.WARNING)


def later_line(later: ProbeResult) -> str:
    """The state of a later probe that is not finished."""
    place = f" at {later.api_base}" if later.api_base else ""
    return f"a later probe{place}, {later.probe}, is {later.status}: {works_line(later)}"


def _limit_notes(result: ProbeResult) -> Iterator[Block]:
    """How many tools the API accepts, if it refused more."""
    if (limit := find_limit(result)) is not None:
        yield Note(f"the API {limit}", Tone.FAINT)


def beside_view(results: Sequence[ProbeResult], later: Sequence[ProbeResult] = ()) -> Iterator[Block]:
    """One line for each probed model, to be shown below the table of an eval.

    Args:
        results: Those that stand for the models.
        later: Those begun after them that are not finished, a line each.
    """
    yield from (Note(beside_line(result)) for result in results)
    yield from (Note(f"{probe.model}: {later_line(probe)}", Tone.WARNING) for probe in later)


def beside_line(result: ProbeResult) -> str:
    """When a model was probed, and what works."""
    return f"probe of {result.model}, {shown_time(result.created).partition(' ')[0]}: {works_line(result)}"


TITLE = "What works with each model"
_MOST_REASONS = 40
_LONGEST = 300
"""The most characters shown of a server's message."""
_READING = (
    "Each check is a request or a few over the model's real API, made by `toolbelt model probe`; no toolset makes up "
    "for what does not work. *partly* works in another way than asked for; *unknown* got no answer, and *tools not "
    "seen* one of a server that had dropped the tools: neither shows anything about the model."
)


def probe_markdown(results: Sequence[ProbeResult]) -> str:
    """A section with a table of check × model and the details of what does not work; empty without probes.

    Args:
        results: In the order of the columns.
    """
    if not results:
        return ""
    blocks = (Heading(TITLE, level=2), *probes_view(results), _reasons(results))
    return f"{render_markdown(blocks, level=1)}\n\n{_READING}"


def _reasons(results: Sequence[ProbeResult]) -> Listing:
    """The details of every check that did not simply pass. Checks that were not made are left out: the reason follows
    from others.
    """
    named = list(zip(column_headings(results), results, strict=True))
    lines = [
        f"{heading}, {title_of(check.key)}: {_cut(check.said or WORDS[check.outcome])}"
        for heading, result in named
        for check in result.checks
        if check.outcome not in (CheckOutcome.WORKS, CheckOutcome.SKIPPED)
    ]
    hidden = len(lines) - _MOST_REASONS
    more = [f"… and {hidden:,} more: toolbelt model probes MODEL shows all"] if hidden > 0 else []
    caching = [f"{heading}: {cache_line(result)}" for heading, result in named]
    limits = [(heading, limit) for heading, result in named if (limit := find_limit(result)) is not None]
    holding = [f"{heading}: the API {limit}" for heading, limit in limits]
    return Listing(tuple(map(Span, [*lines[:_MOST_REASONS], *more, *caching, *holding])))


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
