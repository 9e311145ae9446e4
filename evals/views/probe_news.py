"""What a probe newly showed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from toolbelt.evals.probing.learned_facts import News, format_entry
from toolbelt.views.blocks import Block, Code, Heading, Note
from toolbelt.views.cells import Span, Tone
from toolbelt.views.table import Column, Row, Table

_REPORTED = frozenset({"context_window", "max_tools"})
"""Facts that are not tried out, but read from what the provider reports."""
_LABELS = {"max_tools": "most tools"}


def news_view(model: str, news: Sequence[News], entry: Mapping[str, Any], *, replaces: bool) -> tuple[Block, ...]:
    """For each fact what was known and what was seen, and the entry to write down.

    Args:
        model: Which.
        news: At least one.
        entry: Of the model, for toolbelt.yaml.
        replaces: Whether the project has an entry for the model already.
    """
    rows = []
    for fact in news:
        verb = "reported" if fact.key in _REPORTED and not fact.note else "seen"
        source = f" ({fact.source})" if fact.is_contradiction and fact.source else ""
        known = f"{_shown(fact.known)}{source}" if fact.is_contradiction else "nothing"
        text = f"known: {known}; {verb}: {_shown(fact.seen)}{f'; {fact.note}' if fact.note else ''}"
        label = _LABELS.get(fact.key, fact.key.replace("_", " "))
        rows.append(Row(label, (Span(text, Tone.WARNING if fact.is_contradiction else Tone.PLAIN),)))
    where = "in place of the entry of that name" if replaces else "as one more entry"
    how = "Not as it was known" if any(fact.is_contradiction for fact in news) else "Not known so far"
    return (
        Heading(f"{how} of {model}:"),
        Table("", (Column("", is_text=True),), tuple(rows)),
        Note(f"To be written under `models` in toolbelt.yaml, {where}:"),
        Code(format_entry(entry).rstrip("\n")),
    )


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else str(value)
