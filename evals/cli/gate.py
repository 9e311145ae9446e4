"""`toolbelt eval gate`: pass or fail, for CI."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click

from toolbelt.command.boundary import INFRASTRUCTURE, OK
from toolbelt.command.groups import examples
from toolbelt.command.options import json_option, option
from toolbelt.console.screen import make_screen, notify, print_json, progress, show_view
from toolbelt.errors import NotFoundError, StorageError, ToolbeltError
from toolbelt.evals.analysis.comparison.comparison import Measure
from toolbelt.evals.analysis.evidence.evidence import Side
from toolbelt.evals.analysis.gate.gate_json import EXIT_CODES, gate_data, summary_line
from toolbelt.evals.analysis.gate.verdict import GateResult, Limits
from toolbelt.evals.cli.files import keep_apart
from toolbelt.evals.cli.options import (
    FiniteRange,
    arms_option,
    interval_seed_option,
    margin_option,
    store_option,
    tell_environment,
)
from toolbelt.evals.cli.sides import find_arms, is_path, open_side, split_arms
from toolbelt.stores.files import make_way_for, write_text

_STEP_SUMMARY = "GITHUB_STEP_SUMMARY"
_LIMITS = ("margin", "measure", "min_accuracy", "max_token_increase", "max_cost_increase", "min_sample_size")
_SWAYING = ("baseline", *_LIMITS, "arms")
"""Flags that a verdict rests on."""


@click.command(
    epilog=examples(
        "toolbelt eval gate --baseline reports/baseline.json --margin 0.02",
        "toolbelt eval gate latest --baseline reports/baseline.json --max-token-increase 0.1 --junit gate.xml",
        "toolbelt eval gate --min-accuracy 0.9 --arm tiered",
    )
)
@click.argument("name", metavar="[RUN]", default="latest")
@option(
    "--baseline",
    metavar="FILE",
    help="What RUN is held against: what `toolbelt eval baseline save` wrote, or another run.  "
    "[default: absolute limits alone]",
)
@margin_option
@option(
    "--measure",
    type=click.Choice([measure.value for measure in Measure if measure.is_share]),
    default=Measure.ACCURACY.value,
    show_default=True,
    help="What margin and least share are of: the right tools by name, or arguments, too.",
)
@option("--min-accuracy", type=FiniteRange(min=0, max=1), metavar="X", help="Share that each arm must reach.")
@option(
    "--max-token-increase",
    type=FiniteRange(min=0),
    metavar="X",
    help="By which share of the baseline's the prompt tokens may grow: 0.1 is 10%.",
)
@option("--max-cost-increase", type=FiniteRange(min=0), metavar="X", help="By which share the cost may grow.")
@option(
    "--min-sample-size",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    metavar="N",
    help="Independent cases that a verdict takes at least.",
)
@arms_option
@interval_seed_option
@option("--junit", metavar="FILE", help="Also write JUnit XML, over that of an earlier run.")
@option(
    "--markdown",
    metavar="FILE",
    help="Also write Markdown, over that of an earlier run, such as for a comment on a pull request.",
)
@store_option
@json_option
def gate(name: str, **asked: Any) -> int:
    """Does RUN (an id, the beginning of one, or `latest`) pass? Held against a baseline, and against limits.

    Exit code 0: no_regression; 1: regression; 3: insufficient_data, which is no pass. Where GITHUB_STEP_SUMMARY is set,
    Markdown is added to that file, too.
    """
    limits = _limits(asked)
    files = {"RUN": name if is_path(name) else None, "--store": asked["store"]}
    against = asked["baseline"]
    keep_apart(files, {"--baseline": against if against and is_path(against) else None})  # held so, it always passes
    reports = {"--junit": asked["junit"], "--markdown": asked["markdown"]}
    keep_apart({**files, "--baseline": against if against and is_path(against) else None}, reports)
    for path in filter(None, (asked["junit"], asked["markdown"])):
        make_way_for(path, overwrite=True)
    tell_environment(*_SWAYING)
    with ExitStack() as stack:
        baseline = None if against is None else stack.enter_context(open_side(against, Path(asked["store"])))
        run = stack.enter_context(open_side(name, Path(asked["store"])))
        if baseline is not None and baseline.about.name == run.about.name:
            raise ToolbeltError(f"Run {run.about.name} would be held against itself, and always pass; name another.")
        result = _look(run, baseline, limits, asked["arms"], asked["seed"])
    failures = [*_show(result, as_json=asked["as_json"]), *_write_files(result, asked["junit"], asked["markdown"])]
    for failure in failures:  # the verdict is told all the same, and a regression stays one
        notify(failure, "Error")
    notify(summary_line(result), "gate")
    return EXIT_CODES[result.verdict] or (INFRASTRUCTURE if failures else OK)


def _limits(asked: dict[str, Any]) -> Limits:
    limits = Limits(
        margin=asked["margin"],
        measure=Measure(asked["measure"]),
        min_accuracy=asked["min_accuracy"],
        max_token_increase=asked["max_token_increase"],
        max_cost_increase=asked["max_cost_increase"],
        min_sample_size=asked["min_sample_size"],
    )
    if asked["baseline"] is None:
        for flag in ("max_token_increase", "max_cost_increase"):
            if asked[flag] is not None:
                raise ToolbeltError(f"--{flag.replace('_', '-')} is held against a baseline; name one with --baseline.")
        if limits.min_accuracy is None:
            raise ToolbeltError(
                "Nothing to hold the run against: name a baseline (--baseline FILE, which "
                "`toolbelt eval baseline save` writes; or another run) or an absolute limit (--min-accuracy)."
            )
    return limits


def _look(run: Side, baseline: Side | None, limits: Limits, arms: Sequence[str], seed: int) -> GateResult:
    from toolbelt.evals.analysis.gate.gate import (
        check_run,  # numpy and scipy, which a mistake in the flags need not wait for
    )

    only = {key for name in split_arms(arms) for key in _find_keys(run, baseline, name)} if arms else None
    with progress("comparing arms", len(run.arms if only is None else only)) as advance:
        return check_run(run, limits, baseline, only=only, seed=seed, advance=advance)


def _find_keys(run: Side, baseline: Side | None, name: str) -> set[tuple[str, str, str]]:
    """The arms that go by a name, of the run and of the baseline: what the run lacks is found to be missing then.

    A number is one of the run's.
    """
    found: set[tuple[str, str, str]] = set()
    failures = []
    for side in (run, baseline):
        if side is None or (found and name.strip().lstrip("#").isdigit()):
            continue
        try:
            found |= {side.arms[place].key for place in find_arms(side.arms, name)}
        except NotFoundError as error:
            failures.append(error)
    if not found:
        raise failures[0]
    return found


def _show(result: GateResult, *, as_json: bool) -> Iterator[str]:
    """Print the verdict; yields why it could not be."""
    try:
        if as_json:
            print_json(gate_data(result))
        else:
            from toolbelt.evals.views.gate_view import gate_view

            screen = make_screen()
            show_view(gate_view(result, screen), screen)
        sys.stdout.flush()
    except OSError as error:
        # What is left in the buffer must not fail once more at the exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):  # `… | head`: whoever reads has seen enough, and the verdict stands
            yield f"Cannot write to standard output: {error.strerror or error}."


def _write_files(result: GateResult, junit: str | None, markdown: str | None) -> Iterator[str]:
    """Write each that is wanted, whatever became of the others; yields why one could not be."""
    if junit is not None:
        from toolbelt.evals.views.junit import gate_junit

        yield from _written(junit, gate_junit(result))
    summary = os.environ.get(_STEP_SUMMARY)
    if markdown is None and not summary:
        return
    from toolbelt.evals.views.gate_markdown import gate_markdown

    text = gate_markdown(result)
    if markdown is not None:
        yield from _written(markdown, text)
    if summary:
        try:
            with Path(summary).open("a", encoding="utf-8") as file:
                file.write(text + "\n")
        except (OSError, ValueError) as error:
            yield f"Nothing was added to {summary!r} ({_STEP_SUMMARY}): {error}."


def _written(path: str, text: str) -> Iterator[str]:
    try:
        write_text(path, text)
    except StorageError as error:
        yield str(error)
