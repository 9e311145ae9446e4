"""`toolbelt eval compare`."""

from __future__ import annotations

import contextlib
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from toolbelt.command.boundary import OK, USAGE
from toolbelt.command.groups import examples
from toolbelt.command.options import json_option, option
from toolbelt.console.screen import make_screen, notify, print_json, progress, show_view
from toolbelt.errors import ToolbeltError
from toolbelt.evals.analysis.comparison.comparison import Comparison, Measure
from toolbelt.evals.analysis.evidence.evidence import Side
from toolbelt.evals.cli.files import keep_apart
from toolbelt.evals.cli.options import CommaList, interval_seed_option, margin_option, store_option
from toolbelt.evals.cli.sides import choose_arms, find_arm, is_path, open_side
from toolbelt.stores.files import make_way_for, write_text

if TYPE_CHECKING:
    from toolbelt.evals.analysis.comparison.pairing import Pairing

_SHARES = tuple(measure.value for measure in Measure if measure.is_share)
_FLIPS = 5


@click.command(
    epilog=examples(
        "toolbelt eval compare",
        "toolbelt eval compare latest --against full --margin 0.01",
        "toolbelt eval compare reports/baseline.json latest",
        "toolbelt eval compare 20260101-120000-ab12 latest --arm loadout --flips 20 -o comparison.md",
    )
)
@click.argument("old", metavar="[A]", default="latest")
@click.argument("new", metavar="[B]", required=False)
@option(
    "--against",
    metavar="ARM",
    help="The arm of A that the others, or those of B, are held against: toolset, model, both or number, such as "
    "full, 'gpt-4o full' or 2.  [default: the first of the same model that was scored; with B, the arm of the same "
    "name]",
)
@option(
    "--arm",
    "arms",
    type=CommaList(),
    multiple=True,
    metavar="ARM",
    help="Only these arms, which are held against another; again or with commas for more.",
)
@margin_option
@option(
    "--measure",
    "measures",
    type=click.Choice(_SHARES),
    multiple=True,
    help="What gets a verdict; again for more.  [default: accuracy and solved]",
)
@option(
    "--flips",
    type=click.IntRange(min=0),
    default=_FLIPS,
    metavar="N",
    show_default=True,
    help="Cases shown, of each pair of arms, that got worse, and as many that got better; JSON has all.",
)
@option("--details", is_flag=True, help="Tell of each pair of arms in full, however many there are.")
@interval_seed_option
@option(
    "--output",
    "-o",
    metavar="FILE",
    envvar="TOOLBELT_EVAL_COMPARE_OUTPUT",
    help="Write it as Markdown, too, all or nothing; its folder is made if need be.",
)
@option("--force", is_flag=True, help="Replace FILE if it exists.")
@store_option
@json_option
def compare(
    old: str,
    new: str | None,
    against: str | None,
    arms: tuple[str, ...],
    margin: float,
    measures: tuple[str, ...],
    flips: int,
    details: bool,
    seed: int,
    output: str | None,
    force: bool,
    store: str,
    as_json: bool,
) -> int:
    """What differs between arms that were asked the same cases, how surely, and which cases flipped.

    With A alone (a run's id, its beginning, `latest` or a baseline file): the arms within it, each against the first of
    its model of which anything was scored; where each model has one arm, against the first of all.
    With A and B: the arms of B against those of A that have the same name. `toolbelt eval gate` passes or fails on it.
    """
    # numpy and scipy, which `--help` does without
    from toolbelt.evals.analysis.comparison.compare import compare as compare_sides

    if output is not None:
        sides = {"A": old if is_path(old) else None, "B": new if new and is_path(new) else None}
        keep_apart({**sides, "--store": store}, {"--output": output})
        make_way_for(output, overwrite=force or not Path(output).is_file())
    with ExitStack() as stack:
        before = stack.enter_context(open_side(old, Path(store)))
        after = before if new is None else stack.enter_context(open_side(new, Path(store)))
        pairing = _pair(before, None if new is None else after, against, arms)
        shares = measures or _SHARES
        asked = [measure for measure in Measure if not measure.is_share or measure.value in shares]
        with progress("comparing arms", len(pairing.pairs)) as advance:
            found = compare_sides(before, after, pairing, margin=margin, measures=asked, seed=seed, advance=advance)
    if found.is_comparable and not found.pairs and new is not None:
        raise ToolbeltError(_nothing_shared(before, after))
    if output is not None:
        _write(Path(output), found, force=force)
    if as_json:
        from toolbelt.evals.analysis.comparison.comparison_json import comparison_data

        print_json(comparison_data(found))
        return OK if found.is_comparable else USAGE
    if not found.is_comparable:
        notify(f"{before.about.name} and {after.about.name} cannot be compared:", "Error")
        for reason in found.reasons:
            notify(reason, "because")
        return USAGE
    from toolbelt.evals.views.contrasts import comparison_view

    screen = make_screen()
    show_view(comparison_view(found, screen, flips=flips, details=details or None), screen)
    return OK


def _pair(old: Side, new: Side | None, against: str | None, names: tuple[str, ...]) -> Pairing:
    """Which arms are held against which; those of the old side against each other, if there is no new one."""
    from toolbelt.evals.analysis.comparison.pairing import Pairing, pair_arms

    if new is None:
        if len(old.arms) < 2:
            label = old.arms[0].label if old.arms else "none"
            raise ToolbeltError(
                f"{old.about.name} has a single arm, {label}, and nothing to compare it with; name a second run: "
                f"toolbelt eval compare {old.about.name} B"
            )
        return _pair_within(old, against, names)
    chosen = choose_arms(new.arms, names) if names else tuple(range(len(new.arms)))
    if against is not None:
        reference = find_arm(old.arms, against)
        return Pairing(tuple((reference, place) for place in chosen))
    keys = {new.arms[place].key for place in chosen}
    kept = [place for place, arm in enumerate(old.arms) if not names or arm.key in keys] or range(len(old.arms))
    paired = pair_arms([old.arms[place] for place in kept], [new.arms[place] for place in chosen])
    return Pairing(
        tuple((kept[one], chosen[other]) for one, other in paired.pairs),
        missing=tuple(kept[place] for place in paired.missing),
        added=tuple(chosen[place] for place in paired.added),
    )


def _pair_within(side: Side, against: str | None, names: tuple[str, ...]) -> Pairing:
    """Which arms of one run or baseline are held against which."""
    from toolbelt.evals.analysis.comparison.pairing import Pairing, pair_by_model, pair_within

    within = pair_by_model(side) if against is None else pair_within(side.arms, find_arm(side.arms, against))
    if not names:
        return within
    wanted = choose_arms(side.arms, names)
    pairs = tuple(pair for pair in within.pairs if pair[1] in wanted)
    unfit, alone = (tuple(place for place in some if place in wanted) for some in (within.unfit, within.alone))
    if not pairs:
        why = "is what the others are held against"
        if wanted[0] in unfit:
            why = "does not fit its model, so that nothing of it was scored"
        elif wanted[0] in alone:
            why = "has no other of its model to be held against"
        label = side.arms[wanted[0]].label
        raise ToolbeltError(f"{label!r} {why}; say with --against which other arm it is to be held against.")
    return Pairing(pairs, is_within=True, unfit=unfit, alone=alone)


def _nothing_shared(old: Side, new: Side) -> str:
    there, here = (
        ", ".join(arm.label for arm in side.arms[:5]) + (", …" if side.arms[5:] else "") for side in (old, new)
    )
    return (
        f"No arm of {new.about.name} ({here}) has a namesake in {old.about.name} ({there}); "
        f"say with --against which one they are to be held against."
    )


def _write(path: Path, found: Comparison, *, force: bool) -> None:
    from toolbelt.evals.views.contrast_markdown import comparison_markdown

    with contextlib.suppress(OSError):  # else the file cannot be written either, which is told then
        path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, comparison_markdown(found), overwrite=force)
    notify(f"wrote {path}")
