"""The execution of a run: what is asked for is planned, prepared and run, and gives a `Run`."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from toolbelt.errors import InvalidFileError, ToolbeltError
from toolbelt.evals.models.hosted import PricedModel
from toolbelt.evals.models.model import WORD_MATCHING, Model
from toolbelt.evals.models.opening import ModelOptions, open_model, open_price
from toolbelt.evals.models.scripted import PREFIX
from toolbelt.evals.responses.recorded import DEFAULT_CACHE, ModelResponses, RecordedResponses
from toolbelt.evals.run import Run
from toolbelt.evals.running.client import Budget, RetryPolicy
from toolbelt.evals.running.pace import Pace
from toolbelt.evals.running.plan import Plan, RunSettings
from toolbelt.evals.running.ranges import Range, refuse_outside
from toolbelt.evals.running.runner import Runner, run_to_end
from toolbelt.evals.running.store import DEFAULT_FILE, RunStore
from toolbelt.evals.setup.arm_notes import find_shortfalls, find_unfit
from toolbelt.evals.setup.arms import PreparedArm, make_trial_runners, prepare_arms, refuse_unknown_choice
from toolbelt.evals.setup.default_dataset import explain_mismatch, note_other_catalog
from toolbelt.evals.setup.inputs import RunInputs, open_inputs
from toolbelt.evals.setup.planning import make_plan
from toolbelt.evals.setup.probe_notes import note_probes
from toolbelt.evals.setup.reporting import EvalReporter, NoteKind, RunNote
from toolbelt.project.project import Project
from toolbelt.providers.chat import Usage
from toolbelt.providers.endpoints import Transport, find_origin
from toolbelt.providers.known_keys import find_keys
from toolbelt.text import plural

if TYPE_CHECKING:
    from toolbelt.evals.setup.estimate import ArmEstimate
    from toolbelt.providers.litellm_table import ModelTable

DEFAULT_MODELS = (WORD_MATCHING,)
Started = Callable[[Runner], None]
"""Called with the runner before the first trial."""


def ignore(_: Runner) -> None:
    """Nobody wants to interrupt it from another thread."""


@dataclass(frozen=True)
class RunRequest:
    """What a run is to be.

    Attributes:
        dataset: A shipped name, a folder with cases.jsonl and a catalog, or a file of cases.
        models: litellm names, `local/bm25` or `scripted/FILE`, each possibly several with commas between.
        toolsets: Names and patterns, as on the command line; `full`, `loadout` and `tiered` if empty.
        variants: Of each toolset; none is changed if empty.
        settings: Everything else that the plan holds.
        catalog: In place of the dataset's own.
        config: Path of a `toolbelt.yaml`; the one found from the working directory if `None`.
        tokenizer: What counts where a model's own tokenizer is not known.
        store: The file of runs.
        project: Whose `toolbelt.yaml` it is, or its folder; that of the working directory if `None`.
        is_default_dataset: Whether nobody named the dataset, so that it may be over others' tools.
    """

    dataset: str
    models: Sequence[str] = DEFAULT_MODELS
    toolsets: Sequence[str] = ()
    variants: Sequence[str] = ()
    settings: RunSettings = field(default_factory=RunSettings)
    catalog: str | None = None
    config: str | None = None
    tokenizer: str | None = None
    store: Path = DEFAULT_FILE
    project: Project | Path | None = None
    is_default_dataset: bool = False


EXECUTION_RANGES: Mapping[str, Range] = MappingProxyType(
    {
        "max_concurrency": Range(1, 1000),
        "timeout_seconds": Range(0, is_low_open=True, is_whole=False),
        "max_retries": Range(0),
        "max_cost_usd": Range(0, is_whole=False, is_optional=True),
        "max_requests": Range(0, is_optional=True),
    }
)
"""The numbers that are allowed, by field; the same from Python as on the command line."""


@dataclass(frozen=True)
class ExecutionOptions:
    """How models are called in one execution of a run. The options do not change which trials the run has.

    Attributes:
        api_base: Where hosted models are asked; their provider's place if `None`, or where the run asked before.
        max_concurrency: Trials that run at the same time.
        timeout_seconds: For one request.
        max_retries: How often a request is repeated after a failure that may pass.
        max_cost_usd: The run stops before it costs more; earlier executions included.
        max_requests: The run stops before it makes more requests; earlier executions included.
        transport: How hosted models are asked.
        response_cache: Files of recorded responses: exports, which are read, and at most one cache, which is also
            written. Without a cache, what is asked is stored beside the file of runs. Nothing is recorded if empty.
        offline: Whether nothing may be asked: hosted models answer with recorded responses alone, and no connection is
            opened.

    Raises:
        OutOfRangeError: a number is not allowed, see `EXECUTION_RANGES`.
    """

    api_base: str | None = None
    max_concurrency: int = 8
    timeout_seconds: float = 120.0
    max_retries: int = 5
    max_cost_usd: float | None = None
    max_requests: int | None = None
    transport: Transport = Transport.AUTO
    response_cache: Sequence[Path] = ()
    offline: bool = False

    def __post_init__(self) -> None:
        refuse_outside(EXECUTION_RANGES, self)

    @property
    def opener(self) -> Callable[[str, ModelOptions], Model]:
        """How a model is opened: offline only its price is, which takes neither key nor client."""
        return open_price if self.offline else open_model

    def network(self) -> AbstractContextManager[None]:
        """Refuses connections while it is open, if nothing may be asked."""
        if not self.offline:
            return nullcontext()
        from toolbelt.evals.responses.offline import no_network  # sockets

        return no_network()

    def model_options(self, models: ModelTable) -> ModelOptions:
        """How models are opened."""
        return ModelOptions(self.api_base, self.timeout_seconds, models, self.transport, self.offline)


def start_run(request: RunRequest, options: ExecutionOptions, reporter: EvalReporter, started: Started = ignore) -> Run:
    """Set a run up and run it; errors are those of `run_eval`."""
    with options.network():
        return _start(request, options, reporter, started)


def _start(request: RunRequest, options: ExecutionOptions, reporter: EvalReporter, started: Started) -> Run:
    inputs, plan = plan_run(request, reporter)
    arms = prepare_arms(inputs, plan, options.model_options(inputs.project.models), reporter, options.opener)
    for note in find_shortfalls(arms, inputs.cases_of(plan)):
        reporter.note(note)
    _refuse_unpriced(arms, options.max_cost_usd)
    refuse_unknown_choice(arms, plan.sampling.tool_choice)
    with RunStore(request.store) as store:
        run = store.create(plan, [arm.renderer.tokenizer for arm in arms])
        return _execute(store, run, inputs, plan, arms, options, reporter, started)


def estimate_eval(
    request: RunRequest, options: ExecutionOptions, reporter: EvalReporter
) -> tuple[Plan, tuple[ArmEstimate, ...]]:
    """Requests, tokens and dollars that a run would take. No model is called, and nothing is stored."""
    from toolbelt.evals.setup.estimate import estimate_run

    inputs, plan = plan_run(request, reporter)
    return plan, estimate_run(inputs, plan, options.model_options(inputs.project.models), reporter)


def split_models(texts: Sequence[str]) -> tuple[str, ...]:
    """The models that are named, each text possibly several with commas between, as toolsets are written.

    A comma in the name of a script that exists is part of its name.
    """
    names: list[str] = []
    for text in texts:
        is_script = text.startswith(PREFIX) and Path(text.removeprefix(PREFIX)).is_file()
        names += [text] if is_script else [name for part in text.split(",") if (name := part.strip())]
    return tuple(names)


def plan_run(request: RunRequest, reporter: EvalReporter) -> tuple[RunInputs, Plan]:
    """Open the files of a run, and make its plan; a request that is no run is refused first."""
    models = split_models(request.models)
    if not models:
        raise ToolbeltError("There is no model to ask: name at least one, such as 'local/bm25'.")
    if (suite := request.settings.suite) and request.toolsets:
        raise ToolbeltError(
            f"Suite {suite!r} says which toolsets are run, and {', '.join(map(repr, request.toolsets))} were named, "
            "too; leave out the suite or the toolsets."
        )
    try:
        inputs = open_inputs(
            request.dataset, request.catalog, request.config, request.tokenizer, reporter, request.project
        )
    except InvalidFileError as error:
        if request.catalog is None or not request.is_default_dataset:
            raise
        raise explain_mismatch(error, request.dataset, request.catalog) from None
    if request.is_default_dataset and request.catalog is None:
        note_other_catalog(inputs, reporter)
    plan = make_plan(inputs, models, request.toolsets, request.variants, request.settings, reporter)
    note_probes(request.store, plan, inputs.project, reporter)
    return inputs, plan


def continue_run(
    path: Path,
    name: str,
    options: ExecutionOptions,
    reporter: EvalReporter,
    started: Started = ignore,
    *,
    retry_errors: bool = False,
    project: Project | Path | None = None,
) -> Run:
    """Go on with a run; errors are those of `resume_run`."""
    with options.network(), RunStore(path, must_exist=True) as store:
        row = store.get(name)
        plan = row.plan
        config = plan.config if project is None else None
        inputs = open_inputs(plan.dataset, plan.catalog, config, plan.tokenizer, reporter, project)
        inputs.refuse_changes(plan)
        if options.api_base is None:  # else the rest would go to somebody else, cases, key and all
            options = replace(options, api_base=plan.api_base)
        arms = prepare_arms(inputs, plan, options.model_options(inputs.project.models), reporter, options.opener)
        for note in find_shortfalls(arms, inputs.cases_of(plan)):
            reporter.note(note)
        _refuse_unpriced(arms, options.max_cost_usd)
        if retry_errors:
            with store.locks.claim(row.run):
                text = f"{plural(store.forget_errors(row.run), 'trial')} with an error will be run again"
            reporter.note(RunNote(NoteKind.RETRIED, text, (row.run,)))
        return _execute(store, row.run, inputs, plan, arms, options, reporter, started)


def describe_shard(plan: Plan) -> str:
    """What a shard asks, and what is counted by shard; in words."""
    asked, whole = plural(plan.size, "trial"), plan.numbers
    return (
        f"shard {plan.shard}: {plan.asked_cases:,} of {plural(plan.cases, 'case')}, {asked} of {whole:,}; "
        "--max-cost, --max-requests and rate limits hold for this shard alone"
    )


def _execute(
    store: RunStore,
    run: str,
    inputs: RunInputs,
    plan: Plan,
    arms: tuple[PreparedArm, ...],
    options: ExecutionOptions,
    reporter: EvalReporter,
    started: Started,
) -> Run:
    requests, cost_usd = store.spent(run)
    budget = Budget(options.max_requests, options.max_cost_usd, requests, cost_usd)
    policy = RetryPolicy(options.max_retries)
    paces = {arm.arm.model: Pace(arm.arm.model, options.max_concurrency) for arm in arms}
    cases = inputs.cases_of(plan)
    if plan.shard is not None:
        reporter.note(RunNote(NoteKind.SHARD, describe_shard(plan), (str(plan.shard),)))
    for note in find_unfit(arms, plan, cases, is_new=not (requests or store.get(run).finished)):
        reporter.note(note)
    is_decided = _open_looks(store, run) if plan.decision is not None else lambda _: False
    try:
        with (
            _open_responses(options, store.path, arms) as recorded,
            reporter.watch(run, plan, store, budget, tuple(paces.values())) as watcher,
        ):
            responses: dict[str, ModelResponses] = {}
            if recorded is not None:
                store.writes.first = recorded.commit
                responses = _responses_by_model(recorded, run, arms, options, inputs.project.models)
            keep = partial(store.add_request, run)
            runners = make_trial_runners(inputs, plan, arms, budget, policy, keep, responses, paces)
            runner = Runner(plan, run, store, cases, runners, watcher, options.max_concurrency, is_decided)
            started(runner)
            end = run_to_end(runner)
    except KeyboardInterrupt:
        text = f"run {run} is kept; go on with: toolbelt eval resume {run}"
        reporter.note(RunNote(NoteKind.INTERRUPTED, text, (run,)))
        raise
    if recorded is not None and recorded.added and recorded.cache_path not in options.response_cache:
        place = str(recorded.cache_path)
        added = plural(recorded.added, "response")
        text = f"recorded {added} in {place}; to commit them: toolbelt eval responses export {place}"
        reporter.note(RunNote(NoteKind.RECORDED, text, (place,)))
    if plan.decision is not None:
        from toolbelt.evals.analysis.sequential import describe_end  # numpy and scipy

        text = describe_end(store.get(run).plan)
        reporter.note(RunNote(NoteKind.DECISION, text, (run,)))
    reasons = "; ".join(runner.reasons)
    return Run(run, store.path, end, reasons, not_recorded=runner.not_recorded, models=inputs.project.models)


def _open_looks(store: RunStore, run: str) -> Callable[[int], bool]:
    """What is asked after each round of a run that stops when it is decided."""
    from toolbelt.evals.analysis.sequential import refuse_incomparable, take_look  # numpy and scipy

    try:
        refuse_incomparable(store, run)
    except ToolbeltError as error:
        store.set_status(run, "incomplete", str(error))
        raise
    return partial(take_look, store, run)


def _open_responses(
    options: ExecutionOptions, store: Path, arms: Sequence[PreparedArm]
) -> AbstractContextManager[RecordedResponses | None]:
    """The recorded responses that an execution uses and adds to; `None` where it does neither."""
    wants = bool(options.response_cache) or options.offline
    if not wants or not any(isinstance(arm.model, PricedModel) for arm in arms):
        return nullcontext()
    files = tuple(map(Path, options.response_cache))
    return RecordedResponses(files, default_cache=store.with_name(DEFAULT_CACHE), is_offline=options.offline)


def _responses_by_model(
    recorded: RecordedResponses,
    run: str,
    arms: Sequence[PreparedArm],
    options: ExecutionOptions,
    models: ModelTable,
) -> dict[str, ModelResponses]:
    """Of hosted models; local and scripted ones ask nobody."""
    hosted = dict.fromkeys(arm.arm.model for arm in arms if isinstance(arm.model, PricedModel))
    secrets, paid = find_keys(os.environ), recorded.find_payments(run)
    return {
        model: ModelResponses(
            recorded, model, find_origin(model, options.api_base, models), secrets, run=run, payments=paid
        )
        for model in hosted
    }


def _refuse_unpriced(arms: Sequence[PreparedArm], max_cost_usd: float | None) -> None:
    if max_cost_usd is None:
        return
    unknown = dict.fromkeys(arm.arm.model for arm in arms if arm.model.cost_usd(Usage(1, 1)) is None)
    if unknown:
        raise ToolbeltError(
            f"The cap of {max_cost_usd} USD cannot be kept, as the price of {', '.join(unknown)} is unknown: give it "
            "under `models` in toolbelt.yaml, or leave out the cap."
        )
