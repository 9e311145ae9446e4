"""What a probe newly showed, on the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from toolbelt.evals.probing.learned_facts import News, format_entry
from toolbelt.text import visible, visible_lines

_REPORTED = frozenset({"context_window", "max_tools"})
"""Facts that are not tried out, but read from what the provider reports."""
_LABELS = {"max_tools": "most tools"}


def news_view(model: str, news: Sequence[News], *, replaces: bool) -> RenderableType:
    """For each fact what was known, what was seen, and where to write it down; `entry_text` follows below.

    Args:
        model: Which.
        news: At least one.
        replaces: Whether the project has an entry for the model already.
    """
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for finding in news:
        label = _LABELS.get(finding.key, finding.key.replace("_", " "))
        seen = Text(_shown(finding.seen), "bold")
        verb = "reported" if finding.key in _REPORTED and not finding.note else "seen"
        if finding.is_contradiction:
            source = f" ({visible(finding.source)})" if finding.source else ""
            line = Text.assemble(("known: ", "red"), f"{_shown(finding.known)}{source}; {verb}: ", seen)
        else:
            line = Text.assemble(("known: ", "yellow"), f"nothing; {verb}: ", seen)
        table.add_row(f"  {label}", line.append(f"; {visible(finding.note)}" if finding.note else ""))
    where = "in place of the entry of that name" if replaces else "as one more entry"
    how = "Not as it was known" if any(finding.is_contradiction for finding in news) else "Not known so far"
    return Group(
        Text(),
        Text(f"{how} of {visible(model)}:", "bold"),
        table,
        Text(f"To be written under `models` in toolbelt.yaml, {where}:"),
    )


def entry_text(entry: Mapping[str, Any]) -> Text:
    """The entry to paste, in lines that must not be folded: `show_view(..., whole_lines=True)`."""
    return Text(visible_lines(format_entry(entry)).rstrip("\n"))


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else visible(str(value))
