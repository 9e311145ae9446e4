"""The table of `docs/ci.md` on what the gate without a model finds: `make gate-page`.

Faults are put into the shipped catalogs, and into those of `TOOLBELT_TEST_DATA` where they are; the counts of real
changes are those of `releases.json`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path

from tests.catalog.gate.faults import KINDS, inject
from tests.catalog.gate.releases import read_pairs
from tests.conftest import SHARED_DATA
from toolbelt.catalog import Catalog
from toolbelt.catalog.gate.catalog_gate import compare_catalogs
from toolbelt.catalog.tokens import EstimateCounter, count_named_tools
from toolbelt.stores.catalogs import open_catalog

PAGE = Path(__file__).parents[3] / "docs" / "ci.md"
FAULTS = 204
"""In each catalog: 17 of each kind."""
_MOST_TOOLS = 600
"""Of a larger catalog, the first plugins up to so many tools are taken: every fault is compared with all of them."""
SEED = 20261129
"""Thresholds were chosen with others, on `assistant` and the tools of GitHub's server."""
_MARK = "<!-- catalog-gate: made by `make gate-page` -->"


def find_catalogs() -> Iterator[tuple[str, Catalog]]:
    """The catalogs that are here, by name."""
    shared = ((name, str(SHARED_DATA / name)) for name in ("livemcpbench", "seal_tools"))
    for name, place in (("assistant", "assistant"), ("tiered", "tiered"), *shared):
        if name == place or (SHARED_DATA / name).is_dir():
            plugins = open_catalog(place).catalog.plugins
            sizes = accumulate(len(plugin.tools) for plugin in plugins)
            few = (plugin for plugin, size in zip(plugins, sizes, strict=True) if size <= _MOST_TOOLS)
            yield name, Catalog(tuple(few), name=name)


def count_found(catalog: Catalog) -> Counter[str]:
    """Of each kind, how many faults the gate finds, and names a tool of."""
    found: Counter[str] = Counter()
    for fault in inject(catalog, FAULTS, SEED):
        comparison = compare_catalogs(catalog, fault.catalog, lambda tools: count_named_tools(tools, EstimateCounter()))
        found[fault.kind] += any({each.tool, *each.others} & fault.tools for each in comparison.failing)
    return found


def make_table() -> Iterator[str]:
    """The lines of the page."""
    columns = [(name, len(catalog.tools), count_found(catalog)) for name, catalog in find_catalogs()]
    yield f"| fault | {' | '.join(f'{name}, {tools:,} tools' for name, tools, _ in columns)} |"
    yield f"| --- |{' ---: |' * len(columns)}"
    each = FAULTS // len(KINDS)
    for kind in KINDS:
        yield f"| {kind} | {' | '.join(f'{found[kind]} of {each}' for _, _, found in columns)} |"
    totals = (f"{found.total() / FAULTS:.1%} of {FAULTS}" for _, _, found in columns)
    yield f"| **all** | {' | '.join(f'**{total}**' for total in totals)} |"
    yield ""
    heads = ("servers", "pairs of releases", "tools changed", "false alarms", "pairs with one", "tools with lost calls")
    yield f"| real changes | {' | '.join(heads)} |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: | ---: |"
    yield from (describe_pairs(is_held_out=is_held_out) for is_held_out in (False, True))


def describe_pairs(*, is_held_out: bool) -> str:
    """The row of one part of the real changes."""
    pairs = [pair for pair in read_pairs() if pair.is_held_out is is_held_out and (pair.changed or pair.failing)]
    changed, alarmed = sum(pair.changed for pair in pairs), sum(pair.alarmed for pair in pairs)
    with_alarm = sum(bool(pair.alarmed) for pair in pairs)
    figures = (
        f"{len({pair.package for pair in pairs})}",
        f"{len(pairs)}",
        f"{changed:,}",
        f"{alarmed} ({alarmed / max(changed, 1):.1%})",
        f"{with_alarm} ({with_alarm / max(len(pairs), 1):.0%})",
        f"{sum(pair.failing for pair in pairs):,}",
    )
    return f"| {'held out' if is_held_out else 'tuning'} | {' | '.join(figures)} |"


def main() -> None:
    text = "\n".join(make_table())
    page = PAGE.read_text(encoding="utf-8")
    pattern = re.compile(f"{re.escape(_MARK)}\n.*?<!-- end of catalog-gate -->", re.DOTALL)
    PAGE.write_text(pattern.sub(lambda _: f"{_MARK}\n\n{text}\n\n<!-- end of catalog-gate -->", page), encoding="utf-8")


if __name__ == "__main__":
    main()
