"""Probes on the terminal and as Markdown: what works with a model, and several probes side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from toolbelt.console.tables import fitted_table
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
from toolbelt.render.markdown import escaped, markdown_table
from toolbelt.render.numbers import NOTHING, format_cost, format_seconds
from toolbelt.render.terminal import can_draw
from toolbelt.text import plural, visible

_SIGNS: Mapping[CheckOutcome, tuple[str, str]] = MappingProxyType(
    {
        CheckOutcome.WORKS: ("✓", "+"),
        CheckOutcome.PARTLY: ("~", "~"),
        CheckOutcome.FAILS: ("✗", "x"),
        CheckOutcome.REFUSED: ("✗", "x"),
        CheckOutcome.TOO_LARGE: ("✗", "x"),
        CheckOutcome.SKIPPED: ("-", "-"),
        CheckOutcome.TOOLS_NOT_SEEN: ("?", "?"),
        CheckOutcome.UNKNOWN: ("?", "?"),
    }
)
"""(Drawn, plain): always shown with the word, so that no reader depends on colour or shape."""
_STYLES: Mapping[CheckOutcome, str] = MappingProxyType(
    {
        CheckOutcome.WORKS: "green",
        CheckOutcome.PARTLY: "yellow",
        CheckOutcome.FAILS: "bold red",
        CheckOutcome.REFUSED: "bold red",
        CheckOutcome.TOO_LARGE: "bold red",
        CheckOutcome.SKIPPED: "bright_black",
        CheckOutcome.TOOLS_NOT_SEEN: "bold red",
        CheckOutcome.UNKNOWN: "bright_black",
    }
)
_DIM = "bright_black"
_GAP = 2
_LEAST_SENTENCE = 30
"""If a sentence gets fewer columns than this, it stands below its check instead of beside it."""
_MOST_HEADING = 26
_LEAST_HEADING = 11


def probe_view(results: Sequence[ProbeResult], screen: Console) -> RenderableType:
    """Each probe in full; several probes are also shown side by side at the end.

    Args:
        results: In the order to show them.
        screen: Gives the width; longer texts are wrapped.
    """
    parts: list[RenderableType] = []
    for result in results:
        parts += [Text()] if parts else []
        parts += _one(result, screen)
    if len(results) > 1:
        parts += [Text(), probes_view(results, screen)]
    return Group(*parts)


def _one(result: ProbeResult, screen: Console) -> Iterator[RenderableType]:
    yield from heading_lines(result)
    yield Text()
    if result.checks:
        yield from _checks(result.checks, screen)
        yield Text()
    yield Text(visible(works_line(result)), "bold")
    yield from _limit_lines(result)
    if result.reason:
        # Of an interruption the reason says so itself.
        state = result.reason if result.status == "interrupted" else f"{result.status}: {result.reason}"
        yield Text(visible(state), "yellow")
    if not (requests := total_requests(result)):
        return
    cost = total_cost(result)
    spent = "price unknown" if cost is None else format_cost(cost)
    retries = sum(check.retries for check in result.checks)
    again = f", {plural(retries, 'retry', 'retries')} among them" if retries else ""
    yield Text(f"{cache_line(result)}; {plural(requests, 'request')}{again}: {spent}", _DIM)


def heading_lines(result: ProbeResult) -> list[Text]:
    """The heading of a probe: its id, model, address and time."""
    place = f" at {visible(result.api_base)}" if result.api_base else ""
    return [
        Text.assemble(("probe ", _DIM), (visible(result.probe), "bold"), f"  {visible(result.status)}"),
        Text.assemble((visible(result.model), "bold"), f"{place}, {visible(shown_time(result.created))}"),
    ]


def mark(outcome: CheckOutcome | None, *, draw: bool) -> Text:
    """An outcome as sign and word; `–` for a check that was not made."""
    if outcome is None:
        return Text(_nothing(draw), _DIM)
    return Text(f"{_SIGNS[outcome][0 if draw else 1]} {WORDS[outcome]}", _STYLES[outcome])


def _checks(checks: Sequence[CheckResult], screen: Console) -> Iterator[RenderableType]:
    """One line for each check, with what was seen beside it, or below it if there is no room."""
    draw = can_draw(screen)
    headers = ("check", "outcome", "tokens", "time")
    rows = [
        (Text(visible(title_of(check.key))), mark(check.outcome, draw=draw), *_figures(check, draw)) for check in checks
    ]
    widths = [max([len(header), *(row[place].cell_len for row in rows)]) for place, header in enumerate(headers)]
    shown = 4 if sum(widths) + 4 * _GAP + _LEAST_SENTENCE <= screen.width else 2
    is_beside = sum(widths[:shown]) + shown * _GAP + _LEAST_SENTENCE <= screen.width
    if not is_beside:
        for row, check in zip(rows, checks, strict=True):
            yield Text.assemble(row[1], "  ", row[0])
            if check.said:
                yield Padding(Text(visible(check.said), overflow="fold"), (0, 0, 0, _GAP))
        return
    table = _table()
    for place, header in enumerate(headers[:shown]):
        table.add_column(header, no_wrap=True, width=widths[place], justify="right" if place > 1 else "left")
    table.add_column("what was seen", overflow="fold")
    for row, check in zip(rows, checks, strict=True):
        table.add_row(*row[:shown], Text(visible(check.said)))
    yield table


def _nothing(draw: bool) -> str:
    return NOTHING if draw else "-"


def _figures(check: CheckResult, draw: bool) -> tuple[Text, Text]:
    tokens = total_tokens(check)
    seconds = format_seconds(check.latency_seconds) if is_answered(check) else _nothing(draw)
    return Text(_nothing(draw) if tokens is None else f"{tokens:,}"), Text(seconds)


def probes_view(results: Sequence[ProbeResult], screen: Console) -> RenderableType:
    """Probes side by side, one line for each check and one column for each model; several tables on a narrow screen."""
    draw = can_draw(screen)
    keys = all_keys(results)
    labels = [Text("probed", _DIM), *(Text(visible(title_of(key))) for key in keys), Text("works", "bold")]
    label_width = max(label.cell_len for label in labels)
    columns = [
        (
            heading,
            [
                Text(visible(shown_day(result.created)), _DIM),
                *(mark(result.outcome(key), draw=draw) for key in keys),
                Text(works_of(result), "bold"),
            ],
        )
        for heading, result in zip(column_headings(results), results, strict=True)
    ]
    parts: list[RenderableType] = []
    for block in _blocks(columns, screen.width - label_width):
        table = _table()
        table.add_column("check", no_wrap=True, width=label_width, vertical="bottom")
        for heading, cells in block:
            width = _column_width(heading, cells, screen.width - label_width - _GAP)
            table.add_column(Text(heading), width=width, overflow="fold", vertical="bottom")
        for place, label in enumerate(labels):
            table.add_row(label, *(cells[place] for _, cells in block))
        parts += [Text()] if parts else []
        parts.append(table)
    if len({result.suite for result in results}) > 1:
        note = "These probes are of different versions of the suite: a check of the same name may ask something else."
        parts += [Text(), Text(note, "yellow")]
    return Group(*parts)


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
        headings.append(visible(heading))
    return headings


_Column = tuple[str, list[Text]]


def _blocks(columns: Sequence[_Column], available_width: int) -> list[list[_Column]]:
    """The columns of each table: as many as there is room for, at least one."""
    blocks: list[list[_Column]] = [[]]
    used = 0
    for column in columns:
        wide = _column_width(*column, available_width - _GAP) + _GAP
        if blocks[-1] and used + wide > available_width:
            blocks.append([])
            used = 0
        blocks[-1].append(column)
        used += wide
    return blocks


def _column_width(heading: str, cells: Sequence[Text], available_width: int) -> int:
    widest = max(cell.cell_len for cell in cells)
    return max(widest, min(Text(heading).cell_len, _MOST_HEADING, max(available_width, _LEAST_HEADING)))


def list_view(results: Sequence[ProbeResult], screen: Console) -> RenderableType:
    """A list of probes, one per line."""
    rows = [
        (
            Text(visible(result.probe)),
            Text(visible(shown_time(result.created))),
            Text(visible(result.status)),
            Text(works_of(result)),
            Text(visible(result.api_base or "")),
        )
        for result in results
    ]
    return fitted_table(screen, ("probe", "made", "status", "works", "at"), rows)


def inspected_view(result: ProbeResult, later: ProbeResult | None = None) -> RenderableType:
    """The probe in a few lines, to be shown below the facts of its model.

    Args:
        result: The one that stands for the model.
        later: One begun after it that is not finished; `None` if there is none.
    """
    place = f" at {visible(result.api_base)}" if result.api_base else ""
    when = Text(f"probed {visible(shown_time(result.created))}{place}  {visible(result.status)}", _DIM)
    lines = [when, Text(visible(works_line(result))), *_limit_lines(result)]
    return Group(*lines, *([] if later is None else [Text(visible(later_line(later)), "yellow")]))


def later_line(later: ProbeResult) -> str:
    """The state of a later probe that is not finished."""
    place = f" at {later.api_base}" if later.api_base else ""
    return f"a later probe{place}, {later.probe}, is {later.status}: {works_line(later)}"


def _limit_lines(result: ProbeResult) -> list[Text]:
    """How many tools the API accepts, if it refused more."""
    limit = find_limit(result)
    return [] if limit is None else [Text(f"the API {limit}", _DIM)]


def beside_view(results: Sequence[ProbeResult], later: Sequence[ProbeResult] = ()) -> RenderableType:
    """One line for each probed model, to be shown below the table of an eval.

    Args:
        results: Those that stand for the models.
        later: Those begun after them that are not finished, a line each.
    """
    lines = [Text(visible(beside_line(result))) for result in results]
    return Group(*lines, *(Text(visible(f"{probe.model}: {later_line(probe)}"), "yellow") for probe in later))


def beside_line(result: ProbeResult) -> str:
    """When a model was probed, and what works."""
    return f"probe of {result.model}, {shown_time(result.created).partition(' ')[0]}: {works_line(result)}"


def _table() -> Table:
    return Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="bold")


TITLE = "What works with each model"
_MARKDOWN_SIGNS = {
    CheckOutcome.WORKS: "✓",
    CheckOutcome.PARTLY: "~",
    CheckOutcome.SKIPPED: "–",
    CheckOutcome.TOOLS_NOT_SEEN: "?",
    CheckOutcome.UNKNOWN: "?",
}
_FAILED = "✗"
_MOST_REASONS = 40
_LONGEST = 300
"""The most characters shown of a server's message."""
_READING = (
    "Each check is a request or a few over the model's real API, made by `toolbelt model probe`: what a model cannot "
    "do there, no toolset mends. *partly* works in another way than asked for; *unknown* got no answer, and "
    "*tools not seen* one of a server that had dropped the tools, which says nothing of the model."
)


def probe_markdown(results: Sequence[ProbeResult], *, level: int = 2) -> str:
    """A section with a table of check × model and the details of what does not work; empty without probes.

    Args:
        results: In the order of the columns.
        level: Of its heading.
    """
    if not results:
        return ""
    keys = all_keys(results)
    rows = [
        ("probed", *(shown_day(result.created) for result in results)),
        *((title_of(key), *(_markdown_cell(result.outcome(key)) for result in results)) for key in keys),
        ("works", *(works_of(result) for result in results)),
    ]
    table = markdown_table(("check", *column_headings(results)), rows, right=())
    return "\n\n".join(filter(None, (f"{'#' * level} {TITLE}", table, _reasons(results), _READING)))


def _markdown_cell(outcome: CheckOutcome | None) -> str:
    return NOTHING if outcome is None else f"{_MARKDOWN_SIGNS.get(outcome, _FAILED)} {WORDS[outcome]}"


def _reasons(results: Sequence[ProbeResult]) -> str:
    """The details of every check that did not simply pass. Checks that were not made are left out: the reason follows
    from others.
    """
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


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
