"""The bills of arms as a section of the Markdown report."""

from __future__ import annotations

from collections.abc import Sequence

from toolbelt.evals.analysis.economics import ArmEconomics, has_savings
from toolbelt.evals.views.economics_figures import READING, economics_lines, price_lines
from toolbelt.evals.views.economics_table import TITLE, economics_columns, unit_text
from toolbelt.evals.views.markup import escaped, markdown_table


def economics_markdown(economics: Sequence[ArmEconomics]) -> str:
    """A section with the table, what it says and how to read it; empty where caching says nothing."""
    if not has_savings(economics):
        return ""
    columns = economics_columns(economics)
    headers = ("#", "model", "toolset", *columns)
    rows = [
        (str(number), one.arm.model, one.arm.toolset_label, *(show(one) for show in columns.values()))
        for number, one in enumerate(economics, start=1)
    ]
    said = "\n".join(f"- {escaped(line)}" for line in (*economics_lines(economics), *price_lines(economics)))
    table = markdown_table(headers, rows, right=(0, *range(3, len(headers))))
    return "\n\n".join(filter(None, (f"## {TITLE}", f"In {unit_text(economics)}.", table, said, READING)))
