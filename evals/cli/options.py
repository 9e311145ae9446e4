"""Options that the commands of the harness share."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import click
from click.core import ParameterSource

from toolbelt.command.completion import completer
from toolbelt.command.options import Choice, gathered, option
from toolbelt.errors import ToolbeltError
from toolbelt.evals.analysis.comparison.comparison import MARGIN
from toolbelt.evals.running.engine_choice import ONE_PROCESS, EngineChoice, parse_engine
from toolbelt.evals.running.ranges import Range
from toolbelt.evals.running.shards import Shard, parse_shard
from toolbelt.evals.running.store import DEFAULT_FILE
from toolbelt.models.facts import EFFORTS
from toolbelt.providers.endpoints import Transport
from toolbelt.render.screen import notify

if TYPE_CHECKING:
    from toolbelt.evals.setup.asking import AskingOptions

Command = TypeVar("Command", bound=Callable[..., Any])


complete_files = completer(lambda *_: (), or_file=True)


class CommaList(click.types.StringParamType):
    """A text; in the environment, where an option cannot be repeated, several with commas between."""

    name = "text"
    envvar_list_splitter: ClassVar[str] = ","


def split_commas(values: Iterable[str]) -> tuple[str, ...]:
    """Each of what was given with commas between, once; a list of nothing is an empty name, which none has."""
    named = [part.strip() for value in values for part in value.split(",")]
    return tuple(dict.fromkeys(filter(None, named))) or tuple(named[:1])


class ShardType(click.ParamType[Shard]):
    """A shard, such as `3/8`."""

    name = "shard"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Shard:
        """As a value; fails where it is none."""
        try:
            return value if isinstance(value, Shard) else parse_shard(value)
        except ToolbeltError as error:
            self.fail(str(error), param, ctx)


class EngineType(click.ParamType[EngineChoice]):
    """An engine, such as `dask:4`."""

    name = "engine"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> EngineChoice:
        """As a value; fails where it is none."""
        try:
            return value if isinstance(value, EngineChoice) else parse_engine(value)
        except ToolbeltError as error:
            self.fail(str(error), param, ctx)


class FiniteRange(click.FloatRange):
    """A number within bounds; `nan`, which is in any range for click and would lift every cap, and `inf` are none."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """As a float; fails where it is not finite, or outside."""
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{value} is not a finite number.", param, ctx)
        return number


def range_type(allowed: Range) -> click.IntRange | FiniteRange:
    """What click checks, so that the command line refuses what the library would."""
    if allowed.is_whole:
        return click.IntRange(allowed.low, None if allowed.high is None else int(allowed.high))
    return FiniteRange(allowed.low, allowed.high, min_open=allowed.is_low_open)


dataset_option = option(
    "--dataset",
    "-d",
    default="assistant",
    show_default=True,
    metavar="D",
    help="A shipped dataset, a folder with cases.jsonl and a catalog, or a file of cases.",
)
store_option = option(
    "--store", default=str(DEFAULT_FILE), show_default=True, metavar="FILE", help="The file that stores runs."
)

arms_option = option(
    "--arm",
    "arms",
    type=CommaList(),
    multiple=True,
    metavar="ARM",
    help="Only this arm: a toolset, `model · toolset`, or #N; again or with commas for more.  [default: all]",
)
_engine_option = option(
    "--engine",
    type=EngineType(),
    default=str(ONE_PROCESS),
    show_default=True,
    metavar="E",
    help="What runs the trials: process (this one), dask (one worker per core, started here), dask:N (N of them), or "
    "dask:HOST:PORT (the workers of a running scheduler, which open the same files and have the keys). Caps and "
    "--max-concurrency hold for all workers together.",
)
_response_options = (
    option(
        "--response-cache",
        "response_cache",
        type=CommaList(),
        multiple=True,
        metavar="FILE",
        help="Reuse recorded responses of hosted models, and record what is asked: a cache, which is made if need be, "
        "or an export of one (.jsonl), which is only read; again for more.  [default: nothing is recorded]",
        shell_complete=complete_files,
    ),
    option(
        "--offline",
        is_flag=True,
        help="Open no connection: hosted models answer with recorded responses alone and need no key. What is not "
        "recorded stays unscored, and the run is incomplete.",
    ),
)
details_option = option(
    "--details", is_flag=True, help="Show every measure of each arm: outcomes, coverage, abstention, latency, tokens."
)
_EFFORT = "How much a model reasons before it answers: none, minimal, low, medium, high, xhigh or max, as it takes them"
efforts_option = option(
    "--effort",
    "efforts",
    type=CommaList(),
    multiple=True,
    metavar="E",
    help=f"{_EFFORT}; again or with commas for more, each an arm of its own.  [default: the provider's]",
)
effort_option = option("--effort", type=Choice(EFFORTS), metavar="E", help=f"{_EFFORT}.  [default: the provider's]")
system_option = option(
    "--system",
    metavar="TEXT|FILE",
    help="The system prompt of cases that have none, or a file of it; in place of that of the agent or the dataset. "
    "'' is none.  [default: of the agent, else of the dataset]",
    shell_complete=complete_files,
)
_MARGIN_HELP = "Share of cases that may be lost: 0.02 is two percentage points."
margin_option = option(
    "--margin",
    type=FiniteRange(min=0, max=1),
    default=MARGIN,
    show_default=True,
    metavar="SHARE",
    help=_MARGIN_HELP,
)
own_margin_option = option(
    "--margin",
    type=FiniteRange(min=0, max=1),
    metavar="SHARE",
    help=f"{_MARGIN_HELP}  [default: {MARGIN}, or that of the run, if it was run --until-decided]",
)
"""For commands that describe a run, and do not judge it by limits of their own."""
interval_seed_option = option(
    "--seed",
    type=click.IntRange(0, 2**63 - 1),
    default=0,
    show_default=True,
    metavar="N",
    help="Of what is drawn for intervals.",
)


def notify_environment(*names: str) -> None:
    """Print on standard error which options of the command in hand were set by the environment.

    For what a verdict rests on: such a setting is easily forgotten, and may turn every failure into a pass.

    Args:
        names: Of parameters.
    """
    context = click.get_current_context()
    for parameter in context.command.params:
        if (
            parameter.name not in names
            or context.get_parameter_source(parameter.name) is not ParameterSource.ENVIRONMENT
        ):
            continue
        value = context.params[parameter.name]
        shown = ",".join(value) if isinstance(value, tuple) else value
        notify(f"{parameter.opts[0]} {shown} from {parameter.envvar}")


def case_filter_options(command: Command) -> Command:
    """Which cases of a dataset are asked: the command gets `case_filter: CaseFilter`."""
    from toolbelt.evals.running.plan import SETTING_RANGES, CaseFilter  # with all that a plan needs

    options = (
        option(
            "--kind",
            "kinds",
            type=CommaList(),
            multiple=True,
            metavar="K",
            help="Only cases of this kind; again for more.",
        ),
        option(
            "--tag",
            "tags",
            type=CommaList(),
            multiple=True,
            metavar="T",
            help="Only cases with this tag; again for more.",
        ),
        option("--case", "ids", type=CommaList(), multiple=True, metavar="ID", help="Only this case; again for more."),
        option(
            "--limit",
            type=range_type(SETTING_RANGES["filter.limit"]),
            metavar="N",
            help="Only N cases, drawn with --seed.",
        ),
    )
    return gathered("case_filter", CaseFilter, options)(command)


def asking_options(
    *, api_base: str, max_concurrency: str, max_cost: str, max_requests: str, concurrency: int = 8
) -> Callable[[Command], Command]:
    """How models are asked, and how much: the command gets `asking: AskingOptions`.

    Args:
        api_base: Help of `--api-base`.
        max_concurrency: Help of `--max-concurrency`.
        max_cost: Help of `--max-cost`.
        max_requests: Help of `--max-requests`.
        concurrency: Default of `--max-concurrency`.
    """
    from toolbelt.evals.setup.asking import EXECUTION_RANGES, AskingOptions  # with all that a run needs

    options = (
        option("--api-base", metavar="URL", help=api_base),
        option(
            "--transport",
            type=Choice([transport.value for transport in Transport]),
            default=Transport.AUTO.value,
            show_default=True,
            help="How hosted models are asked. auto: an endpoint of --api-base, or a server of your own, directly; "
            "all others through litellm.",
        ),
        option(
            "--max-concurrency",
            type=range_type(EXECUTION_RANGES["max_concurrency"]),
            default=concurrency,
            metavar="N",
            show_default=True,
            help=max_concurrency,
        ),
        option(
            "--timeout",
            type=range_type(EXECUTION_RANGES["timeout_seconds"]),
            default=120.0,
            metavar="SECONDS",
            show_default=True,
            help="For one request.",
        ),
        option(
            "--max-retries",
            type=range_type(EXECUTION_RANGES["max_retries"]),
            default=5,
            metavar="N",
            show_default=True,
            help="Times a request is sent again after a temporary failure.",
        ),
        option("--max-cost", type=range_type(EXECUTION_RANGES["max_cost_usd"]), metavar="USD", help=max_cost),
        option("--max-requests", type=range_type(EXECUTION_RANGES["max_requests"]), metavar="N", help=max_requests),
    )

    def make(
        api_base: str | None,
        transport: str,
        max_concurrency: int,
        timeout: float,
        max_retries: int,
        max_cost: float | None,
        max_requests: int | None,
    ) -> AskingOptions:
        return AskingOptions(
            api_base, max_concurrency, timeout, max_retries, max_cost, max_requests, Transport(transport)
        )

    return gathered("asking", make, options)


def execution_options(
    *, api_base: str, max_cost: str, max_requests: str, has_engine: bool = True
) -> Callable[[Command], Command]:
    """How a run is executed: the command gets `execution: ExecutionOptions`.

    Args:
        api_base: Help of `--api-base`.
        max_cost: Help of `--max-cost`.
        max_requests: Help of `--max-requests`.
        has_engine: Whether the engine can be chosen.
    """
    from toolbelt.evals.setup.asking import ExecutionOptions

    asking_too = asking_options(
        api_base=api_base,
        max_concurrency="Trials that run at the same time.",
        max_cost=max_cost,
        max_requests=max_requests,
    )

    def make(
        asking: AskingOptions, response_cache: tuple[str, ...], offline: bool, engine: EngineChoice = ONE_PROCESS
    ) -> ExecutionOptions:
        return ExecutionOptions(
            **vars(asking), response_cache=tuple(map(Path, response_cache)), offline=offline, engine=engine
        )

    options = (*((_engine_option,) if has_engine else ()), *_response_options)
    return lambda command: asking_too(gathered("execution", make, options)(command))
