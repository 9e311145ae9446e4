"""Probes as a section of the Markdown report."""

from __future__ import annotations

from collections.abc import Sequence

from toolbelt.evals.probing.checks import title_of
from toolbelt.evals.probing.results import CheckOutcome, ProbeResult
from toolbelt.evals.probing.stated_limits import find_limit
from toolbelt.evals.probing.wording import WORDS, cache_line, shown_day, works_of
from toolbelt.evals.views.figures import NOTHING
from toolbelt.evals.views.markup import escaped, markdown_table
from toolbelt.evals.views.probe_view import all_keys, column_headings

TITLE = "What works with each model"
_SIGNS = {CheckOutcome.WORKS: "✓", CheckOutcome.PARTLY: "~", CheckOutcome.SKIPPED: "–", CheckOutcome.UNKNOWN: "?"}
_FAILED = "✗"
_MOST_REASONS = 40
_LONGEST = 300
"""Characters shown of what a server said."""
_READING = (
    "Each check is a request or a few over the model's real API, made by `toolbelt model probe`: what a model cannot "
    "do there, no toolset mends. *partly* works in another way than asked for; *unknown* got no answer, which says "
    "nothing of the model."
)


def probe_markdown(results: Sequence[ProbeResult], *, level: int = 2) -> str:
    """A section with a table of check × model and what was seen where something does not work; empty without probes.

    Args:
        results: In the order of the columns.
        level: Of its heading.
    """
    if not results:
        return ""
    keys = all_keys(results)
    rows = [
        ("probed", *(shown_day(result.created) for result in results)),
        *((title_of(key), *(_cell(result.outcome(key)) for result in results)) for key in keys),
        ("works", *(works_of(result) for result in results)),
    ]
    table = markdown_table(("check", *column_headings(results)), rows, right=())
    return "\n\n".join(filter(None, (f"{'#' * level} {TITLE}", table, _reasons(results), _READING)))


def _cell(outcome: CheckOutcome | None) -> str:
    return NOTHING if outcome is None else f"{_SIGNS.get(outcome, _FAILED)} {WORDS[outcome]}"


def _reasons(results: Sequence[ProbeResult]) -> str:
    """What was seen of everything that does not simply work; what was not asked follows from that."""
    named = list(zip(column_headings(results), results, strict=True))
    lines = [
        f"- {escaped(f'{heading}, {title_of(check.key)}')}: {escaped(_cut(check.said or WORDS[check.outcome]))}"
        for heading, result in named
        for check in result.checks
        if check.outcome not in (CheckOutcome.WORKS, CheckOutcome.SKIPPED)
    ]
    hidden = len(lines) - _MOST_REASONS
    more = [f"- … and {hidden:,} more: `toolbelt model probes MODEL` shows all"] if hidden > 0 else []
    caching = [f"- {escaped(heading)}: {escaped(cache_line(result))}" for heading, result in named]
    limits = [(heading, limit) for heading, result in named if (limit := find_limit(result)) is not None]
    holding = [f"- {escaped(heading)}: the API {limit}" for heading, limit in limits]
    return "\n".join([*lines[:_MOST_REASONS], *more, *caching, *holding])


def _cut(said: str) -> str:
    return said if len(said) <= _LONGEST else f"{said[: _LONGEST - 1]}…"
