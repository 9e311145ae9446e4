"""`toolbelt dataset split`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from toolbelt.command.completion import complete_datasets
from toolbelt.command.groups import examples
from toolbelt.command.options import Choice, option
from toolbelt.command.project import ProjectOptions
from toolbelt.evals.cases.dataset import Dataset
from toolbelt.evals.cases.split import Split, SplitGrouping, SplitSide, draw_split
from toolbelt.evals.cases.split_files import WrittenPart, counts_by_kind, write_split
from toolbelt.evals.cli.dataset_opening import dataset_options, open_with_project
from toolbelt.evals.cli.options import FiniteRange
from toolbelt.render.screen import notify, print_json, progress, show_blocks
from toolbelt.text import plural
from toolbelt.views.blocks import Block, Note
from toolbelt.views.cells import Count, Percent
from toolbelt.views.table import Column, Row, Table

_MOST_LARGE = 5
"""Groups that are too large and get a note of their own."""


@click.command(
    epilog=examples(
        "toolbelt dataset split ./mine --held-out 0.2 -o ./mine-split",
        "toolbelt dataset split assistant --by tool --seed 7 -o ./by-tool",
    )
)
@click.argument("dataset", shell_complete=complete_datasets)
@option("--output", "-o", required=True, metavar="FOLDER", help="Gets dev/ and held-out/, a dataset each.")
@option(
    "--by",
    type=Choice([grouping.value for grouping in SplitGrouping]),
    default=SplitGrouping.CLUSTER.value,
    show_default=True,
    help="What stays on one side: paraphrases of one task; or all cases that one tool is the answer to.",
)
@option(
    "--held-out",
    type=FiniteRange(min=0, max=1, min_open=True, max_open=True),
    default=0.2,
    metavar="SHARE",
    show_default=True,
    help="Of the clusters of each kind.",
)
@option("--seed", type=click.IntRange(-(10**9), 10**9), default=0, metavar="N", show_default=True, help="Of the draw.")
@option("--force", is_flag=True, help="Replace parts that are there.")
@dataset_options
def split(
    dataset: str,
    output: str,
    by: str,
    held_out: float,
    seed: int,
    force: bool,
    options: ProjectOptions,
    as_json: bool,
) -> None:
    """Hold a part of DATASET, a shipped name, a folder or a file of cases, out: to tune on one, and prove on the other.

    No cluster is ever in both parts. Each kind has its share of clusters in both, to the nearest whole one, and at
    least one; a kind with a single cluster stays in dev. The draw uses a hash of the cluster's name: cases added
    to a cluster follow it, and for each new cluster at most one other of its kind changes sides. What has more than the
    share of its kind's cases, and more than most, stays in dev and is named.

    Lines are copied as they are. Nearly the same words under two clusters may still be in both parts:
    `toolbelt dataset lint` finds them, before.
    """
    opened, _ = open_with_project(dataset, options)
    with progress("drawing cases", len(opened)) as advance:
        drawn = draw_split(opened, held_out, by=SplitGrouping(by), seed=seed, progress=advance)
    with progress("writing cases", len(opened)) as advance:
        parts = write_split(opened, drawn, output, overwrite=force, progress=advance)
    if excluded := sum(opened.excluded.values()):
        notify(f"{plural(excluded, 'case')} that cannot be asked with this catalog: in neither part", "warning")
    _warn_sizes(opened, drawn, held_out)
    if drawn.single:
        named = ", ".join(kind or "(none)" for kind in drawn.single[:8]) + ", …" * (len(drawn.single) > 8)
        notify(f"kinds that cannot be divided, so in dev alone: {named}")
    if drafts := sum(written.drafts for written in parts.values()):
        notify(f"{plural(drafts, 'case')} among them drafted by a model and not reviewed: no proof before", "warning")
    if as_json:
        print_json(_data(opened, drawn, parts, by, held_out, seed))
        return
    show_blocks(_split_view(parts, drawn, by))


def _warn_sizes(dataset: Dataset, drawn: Split, share: float) -> None:
    """Warn where the split differs from the requested share."""
    for group in drawn.large[:_MOST_LARGE]:
        notify(
            f"a group of {group.cases:,} of the {plural(group.of, 'case')} of kind {group.kind or '(none)'}, that of "
            f"{dataset.case(group.position).id!r}, is too large to be held out, so in dev"
        )
    if (more := len(drawn.large) - _MOST_LARGE) > 0:
        notify(f"{plural(more, 'more group')} too large to be held out; --json lists them")
    if not share / 2 <= drawn.held_out <= 2 * share:
        notify(f"{drawn.held_out:.1%} of the cases are held out, and {share:.1%} were asked for", "warning")


def _data(
    dataset: Dataset, drawn: Split, parts: Mapping[SplitSide, WrittenPart], by: str, held_out: float, seed: int
) -> dict[str, Any]:
    return {
        "dataset": {"name": dataset.name, "digest": dataset.digest, "cases": len(dataset)},
        "by": by,
        "held_out": held_out,
        "seed": seed,
        "parts": {
            part.value: {
                "folder": written.folder,
                "digest": written.digest,
                "cases": written.cases,
                "groups": written.groups,
                "kinds": dict(written.kinds),
                "drafts": written.drafts,
            }
            for part, written in parts.items()
        },
        "excluded": dict(dataset.excluded),
        "undivided_kinds": list(drawn.single),
        "large_groups": [
            {"kind": group.kind, "cases": group.cases, "of": group.of, "case": dataset.case(group.position).id}
            for group in drawn.large
        ],
        "held_out_cases": drawn.held_out,
    }


def _split_view(parts: Mapping[SplitSide, WrittenPart], drawn: Split, by: str) -> tuple[Block, ...]:
    rows = []
    for kind, counts in counts_by_kind(parts):
        held, total = counts[SplitSide.HELD_OUT], sum(counts.values())
        rows.append(Row(kind or "(none)", (Count(counts[SplitSide.DEVELOPMENT]), Count(held), Percent(held / total))))
    group = "cluster" if by == SplitGrouping.CLUSTER else "group"
    lines = (
        Note(
            f"{written.folder}: {plural(written.cases, 'case')} in {plural(drawn.groups[part], group)}, "
            f"digest {written.digest[:16]}"
        )
        for part, written in parts.items()
    )
    return (Table("kind", (Column("dev"), Column("held out"), Column("share")), tuple(rows)), *lines)
