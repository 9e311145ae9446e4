"""`toolbelt usage`."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Any

import click

from toolbelt.command.groups import examples
from toolbelt.command.options import Choice, json_option, option
from toolbelt.mcp.logs.audit import audit_folder
from toolbelt.mcp.logs.usage import Usage, UsageBy, UsageRow, find_sources, read_records, summarize_usage
from toolbelt.mcp.logs.usage_view import usage_view
from toolbelt.render.screen import notify, print_json, show_blocks
from toolbelt.text import plural

_AGO = re.compile(r"(\d{1,6})([mhdw])")
_UNITS: Mapping[str, str] = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


class Since(click.ParamType[str]):
    """A date, a time, or how long ago, as the audit log writes times."""

    name = "since"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """`7d` and `2026-11-01` alike."""
        text = str(value).strip()
        if (ago := _AGO.fullmatch(text)) is not None:
            moment = datetime.now(UTC) - timedelta(**{_UNITS[ago[2]]: int(ago[1])})
        else:
            try:
                moment = datetime.fromisoformat(text)
            except ValueError:
                self.fail(f"{text!r} is neither a date (2026-11-01) nor a time ago (30m, 12h, 7d, 2w).", param, ctx)
        return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


@click.command(epilog=examples("toolbelt usage", "toolbelt usage --since 7d --by server --json"))
@click.argument("sources", metavar="[SOURCE]...", nargs=-1)
@option("--since", type=Since(), metavar="WHEN", help="A date, or how long ago: 30m, 12h, 7d, 2w.  [default: all]")
@option(
    "--by",
    type=Choice([by.value for by in UsageBy]),
    default=UsageBy.TOOL.value,
    show_default=True,
    envvar="TOOLBELT_USAGE_BY",
    help="What the rows are.",
)
@json_option
def usage(sources: tuple[str, ...], since: str | None, by: str, as_json: bool) -> None:
    """What was called through `toolbelt serve`: calls, failures and tokens by tool, and what was never called.

    SOURCEs are audit logs or folders with them; by default the user's own, of all projects.
    """
    folder = audit_folder(os.environ)
    paths = find_sources(sources, folder)
    summary = summarize_usage(read_records(paths), since=since or "", by=UsageBy(by))
    if summary.damaged_lines:
        notify(f"{plural(summary.damaged_lines, 'line')} of the audit log cannot be read.", "warning")
    if summary.lost:
        notify(f"{plural(summary.lost, 'record')} could not be written by the gateway.", "warning")
    if as_json:
        print_json(_data(summary, by, since))
    elif not paths:
        notify(f"there is no audit log in {str(folder)!r}; toolbelt serve writes it.")
    else:
        show_blocks(usage_view(summary, UsageBy(by)))


def _data(summary: Usage, by: str, since: str | None) -> dict[str, Any]:
    def rows(usage_rows: tuple[UsageRow, ...]) -> list[dict[str, Any]]:
        return [asdict(row) for row in usage_rows]

    return {
        "by": by,
        "since": since,
        "first": summary.first or None,
        "last": summary.last or None,
        "sessions": summary.sessions,
        "calls": summary.calls,
        "failures": summary.failures,
        "answer_tokens": sum(row.answer_tokens for row in summary.rows),
        "rows": rows(summary.rows),
        "never_called": rows(summary.never_called),
        "lost": summary.lost,
        "damaged_lines": summary.damaged_lines,
    }
