"""`toolbelt eval plan`."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import click

from toolbelt.command.groups import examples
from toolbelt.command.options import json_option, option
from toolbelt.evals.cli.options import FiniteRange
from toolbelt.render.screen import print_json, show_blocks
from toolbelt.views.blocks import Note
from toolbelt.views.cells import Span, Tone
from toolbelt.views.table import Column, Row, Table

DISCORDANCES = (0.02, 0.05, 0.1, 0.2, 0.3)
"""Shares of cases that differ, for a plan where the user gives none."""
MOST_CASES = 1_000_000
_FINEST = 0.001
"""The smallest difference or margin taken; below it lie millions of cases."""


@click.command(
    "plan",
    epilog=examples(
        "toolbelt eval plan --effect 0.03",
        "toolbelt eval plan --effect 0.03 --discordance 0.2 --margin 0.02 --cases 724",
        "toolbelt eval plan --effect 0.03 --cluster-size 3 --correlation 0.4",
    ),
)
@option(
    "--effect",
    type=FiniteRange(min=_FINEST, max=1),
    metavar="X",
    help="The difference in accuracy to detect, such as 0.03.",
)
@option(
    "--margin",
    type=FiniteRange(min=_FINEST, max=1, max_open=True),
    metavar="M",
    help="A loss in accuracy to rule out where there is none, as a gate does.",
)
@option("--cases", type=click.IntRange(1, MOST_CASES), metavar="N", help="Report what N cases can show.")
@option(
    "--discordance",
    type=FiniteRange(min=0, max=1, min_open=True),
    metavar="SHARE",
    help="Share of cases that just one of the two arms answers rightly.  [default: a table of several]",
)
@option(
    "--power",
    type=FiniteRange(min=0, max=1, min_open=True, max_open=True),
    default=0.8,
    show_default=True,
    metavar="SHARE",
    help="The chance to detect it.",
)
@option(
    "--cluster-size",
    type=FiniteRange(min=1, max=MOST_CASES),
    default=1.0,
    show_default=True,
    metavar="N",
    help="Cases of a cluster, such as the paraphrases of a task: the mean, over cases, of the size of their own.",
)
@option(
    "--correlation",
    type=FiniteRange(min=0, max=1),
    default=1.0,
    show_default=True,
    metavar="SHARE",
    help="How alike the cases of a cluster change: 1 if all together, 0 if each by itself.",
)
@json_option
def plan(
    effect: float | None,
    margin: float | None,
    cases: int | None,
    discordance: float | None,
    power: float,
    cluster_size: float,
    correlation: float,
    as_json: bool,
) -> None:
    """How many cases it takes to see a difference between two arms that are asked the same, or what N cases show."""
    if effect is None and margin is None and cases is None:
        raise click.UsageError("Say what is wanted: --effect, --margin or --cases.")
    if effect is not None and discordance is not None and effect > discordance:
        raise click.UsageError(
            f"Arms that differ in {discordance:g} of the cases cannot be {effect:g} apart: "
            "--discordance is at least --effect."
        )
    if discordance is not None:
        shares: tuple[float, ...] = (discordance,)
    else:
        shares = tuple(share for share in DISCORDANCES if share >= (effect or 0)) or (effect or 1.0,)
    question = {"effect": effect, "margin": margin, "cases": cases, "power": power, "level": 0.95}
    clustered = {"cluster_size": cluster_size, "correlation": correlation}
    rows = [_row(effect, margin, cases, share, power, **clustered) for share in shares]
    data = {**question, **clustered, "rows": rows}
    if as_json:
        print_json(data)
        return
    keys = [key for key in rows[0] if key in _COLUMNS]
    columns = tuple(Column(_COLUMNS[key][0].format(**data)) for key in keys)
    lines = (
        Row(f"{100 * row['discordance']:g}%", tuple(Span(_COLUMNS[key][1](row[key])) for key in keys)) for row in rows
    )
    table = Table("discordance", columns, tuple(lines))
    show_blocks([table, Note(_explain(power, cluster_size, correlation), Tone.FAINT)])


def _row(
    effect: float | None,
    margin: float | None,
    cases: int | None,
    share: float,
    power: float,
    *,
    cluster_size: float,
    correlation: float,
) -> dict[str, Any]:
    # scipy and numpy, which `--help` does without
    from toolbelt.evals.statistics import planning

    each = planning.design_effect(cluster_size, correlation)
    row: dict[str, Any] = {"discordance": share}
    if effect is not None:
        row["cases_for_effect"] = _in_clusters(planning.cases_for_difference(effect, share, power), each)
    if margin is not None:
        row["cases_for_margin"] = _in_clusters(planning.cases_for_margin(margin, share, power=power), each)
    if cases is not None:
        worth = max(1, math.floor(cases / each))
        row["least_effect"] = planning.least_difference(worth, share, power)
        row["least_margin"] = planning.least_margin(worth, share, power)
        if effect is not None:
            row["power_for_effect"] = planning.power_of_difference(worth, effect, share)
        if margin is not None:
            row["power_for_margin"] = planning.power_of_margin(worth, margin, share)
    return row


def _in_clusters(cases: int | None, each: float) -> int | None:
    """As many as are worth so many that stand alone; rounding must not ask for one more."""
    return None if cases is None else math.ceil(cases * each - 1e-9)


def _cases(count: int | None) -> str:
    return "over ten million" if count is None else f"{count:,}"


def _share(places: int) -> Callable[[float | None], str]:
    return lambda share: "nothing" if share is None else f"{share:.{places}%}"


_COLUMNS: Mapping[str, tuple[str, Callable[[Any], str]]] = MappingProxyType(
    {
        "cases_for_effect": ("cases to see {effect:.1%}", _cases),
        "cases_for_margin": ("cases to rule out {margin:.1%}", _cases),
        "least_effect": ("{cases:,} cases see", _share(2)),
        "least_margin": ("{cases:,} rule out", _share(2)),
        "power_for_effect": ("power for {effect:.1%}", _share(0)),
        "power_for_margin": ("power for margin", _share(0)),
    }
)
"""Columns of the table by the keys of a row: the header, and the format of a cell."""


def _explain(power: float, cluster_size: float, correlation: float) -> str:
    text = (
        f"At a power of {power:.0%} and a level of 95%, two-sided, by the tests of verdicts. The discordance "
        "is the share of cases that just one of the two arms answers rightly."
    )
    if cluster_size == 1:
        return text + (
            " A case here stands alone and is asked once: paraphrases of one task count for less (--cluster-size), "
            "and epochs for less than as many cases."
        )
    return text + (
        f" Cases come in clusters of {cluster_size:g} that change alike by {correlation:g}, and each is asked once: "
        "epochs count for less than as many cases."
    )
