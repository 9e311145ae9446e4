"""Options that the commands of the harness share."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar, TypeVar

import click

from toolbelt.cli.options import option
from toolbelt.evals.running.store import DEFAULT_FILE

Command = TypeVar("Command", bound=Callable[..., Any])


class CommaList(click.types.StringParamType):
    """A text; in the environment, where an option cannot be repeated, several with commas between."""

    name = "text"
    envvar_list_splitter: ClassVar[str] = ","


class FiniteRange(click.FloatRange):
    """A number within bounds; `nan`, which is in any range for click and would lift every cap, and `inf` are none."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """As a float; fails where it is not finite, or outside."""
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{value} is not a finite number.", param, ctx)
        return number


dataset_option = option(
    "--dataset",
    "-d",
    default="assistant",
    show_default=True,
    metavar="D",
    help="A shipped dataset, a folder with cases.jsonl and a catalog, or a file of cases.",
)
store_option = option(
    "--store", default=str(DEFAULT_FILE), show_default=True, metavar="FILE", help="Where runs are kept."
)
_ASKING = (
    option(
        "--api-base",
        metavar="URL",
        help="Where hosted models are asked.  [default: the provider's; resume: where they were]",
    ),
    option(
        "--max-concurrency",
        type=click.IntRange(1, 1000),
        default=8,
        metavar="N",
        show_default=True,
        help="Trials under way at once.",
    ),
    option(
        "--timeout",
        type=FiniteRange(min=0, min_open=True),
        default=120.0,
        metavar="SECONDS",
        show_default=True,
        help="For one request.",
    ),
    option(
        "--max-retries",
        type=click.IntRange(min=0),
        default=5,
        metavar="N",
        show_default=True,
        help="Times a request is asked again after a failure that may pass.",
    ),
    option(
        "--max-cost",
        type=FiniteRange(min=0),
        metavar="USD",
        help="Stop before the run costs more, but for the answers under way.",
    ),
    option("--max-requests", type=click.IntRange(min=0), metavar="N", help="Stop before the run asks more often."),
)


def asking_options(command: Command) -> Command:
    """How models are asked, and how much; not part of what a run is."""
    for add in reversed(_ASKING):
        command = add(command)
    return command
