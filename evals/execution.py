"""The execution of a run: what is asked for is planned, prepared and run, and gives a `Run`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from toolbelt.errors import InvalidFileError, ToolbeltError
from toolbelt.evals.models.hosted import PricedModel
from toolbelt.evals.models.model import WORD_MATCHING
from toolbelt.evals.models.scripted import PREFIX
from toolbelt.evals.responses.recorded import DEFAULT_CACHE
from toolbelt.evals.run import Run
from toolbelt.evals.running.client import Budget
from toolbelt.evals.running.pace import Pace
from toolbelt.evals.running.plan import Plan, RunSettings
from toolbelt.evals.running.runner import Engine, Runner, RunWatcher, run_to_end
from toolbelt.evals.running.store import DEFAULT_FILE, RunStore
from toolbelt.evals.setup.arm_notes import find_shortfalls, find_unfit
from toolbelt.evals.setup.arms import PreparedArm, list_counting, prepare_arms, refuse_unknown_choice
from toolbelt.evals.setup.asking import ExecutionOptions, open_process_engine
from toolbelt.evals.setup.default_dataset import explain_mismatch, note_other_catalog
from toolbelt.evals.setup.inputs import ChosenCases, RunInputs, open_inputs
from toolbelt.evals.setup.planning import make_plan
from toolbelt.evals.setup.probe_notes import note_probes
from toolbelt.evals.setup.reporting import EvalReporter, NoteKind, RunNote
from toolbelt.evals.setup.sendable import refuse_by_facts, refuse_by_mapping
from toolbelt.patterns import is_python_reference
from toolbelt.project.project import Project
from toolbelt.providers.chat import Usage
from toolbelt.providers.endpoints import find_origin
from toolbelt.stores.catalogs import write_catalog
from toolbelt.text import plural

if TYPE_CHECKING:
    from toolbelt.evals.setup.estimate import ArmEstimate

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
    find = inputs.project.facts
    refuse_by_mapping((arm.model, find(arm.arm.model), plan.sampling_of(arm.arm)) for arm in arms)
    if is_python_reference(plan.catalog or ""):  # so that going on, here or on another machine, imports no code
        copy = request.store.parent / "catalogs" / f"{Path(inputs.catalog.name).name}-{plan.surroundings[:8]}.json"
        copy.parent.mkdir(parents=True, exist_ok=True)
        write_catalog(inputs.catalog, str(copy))
        plan = replace(plan, catalog=str(copy.absolute()))
    with RunStore(request.store) as store:
        run = store.create(plan, list_counting(plan, arms))
        try:
            return _execute(store, run, inputs, plan, arms, options, reporter, started)
        except ToolbeltError:  # such as no scheduler, or a baseline of other cases
            with suppress(ToolbeltError):  # the disk may be what failed
                store.remove_empty(run)
            raise


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
    if not plan.ask_anyway:
        asked = ((inputs.project.facts(arm.model), plan.sampling_of(arm)) for arm in plan.arms)
        refuse_by_facts(asked, ", or send it with --ask-anyway")
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
        if plan.imported:
            raise ToolbeltError(
                f"The answers of run {row.run} were imported, so nobody is asked for more: import them again, with "
                "what is missing (toolbelt eval import)."
            )
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
    trials, total = plural(plan.size, "trial"), plan.numbers
    return (
        f"shard {plan.shard}: {plan.asked_cases:,} of {plural(plan.cases, 'case')}, {trials} of {total:,}; "
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
    paces = {arm.arm.model: Pace(arm.arm.model, options.max_concurrency) for arm in arms}
    cases = inputs.cases_of(plan)
    if plan.shard is not None:
        reporter.note(RunNote(NoteKind.SHARD, describe_shard(plan), (str(plan.shard),)))
    for note in find_unfit(arms, plan, cases, is_new=not (requests or store.get(run).finished)):
        reporter.note(note)
    is_decided = _open_looks(store, run) if plan.decision is not None else lambda _: False
    try:
        with (
            reporter.watch(run, plan, store, budget, tuple(paces.values())) as watcher,
            _open_engine(store, run, inputs, plan, arms, options, cases, budget, paces, watcher, reporter) as engine,
        ):
            runner = Runner(plan, run, store, cases, engine, is_decided)
            started(runner)
            end = run_to_end(runner)
    except KeyboardInterrupt:
        flags = f"{options.engine.as_option}{options.retries_as_option}{options.format_caps()}"
        text = f"run {run} is kept; go on with: toolbelt eval resume {run}{flags}"
        reporter.note(RunNote(NoteKind.INTERRUPTED, text, (run,)))
        raise
    if plan.decision is not None:
        from toolbelt.evals.analysis.sequential import describe_end  # numpy and scipy

        text = describe_end(store.get(run).plan)
        reporter.note(RunNote(NoteKind.DECISION, text, (run,)))
    reasons = "; ".join(runner.reasons)
    return Run(run, store.path, end, reasons, not_recorded=engine.not_recorded, models=inputs.project.models)


@contextmanager
def _open_engine(
    store: RunStore,
    run: str,
    inputs: RunInputs,
    plan: Plan,
    arms: tuple[PreparedArm, ...],
    options: ExecutionOptions,
    cases: ChosenCases,
    budget: Budget,
    paces: Mapping[str, Pace],
    watcher: RunWatcher,
    reporter: EvalReporter,
) -> Iterator[Engine]:
    """What runs the trials: this process, or the workers of a cluster."""
    cache = store.path.absolute().with_name(DEFAULT_CACHE)
    if options.engine.is_dask:
        from toolbelt.evals.engines.dask_engine import DaskEngine, make_setup  # 0.4 s, and an extra

        setup = make_setup(run, plan, options, cache)
        yield DaskEngine(options.engine, setup, store, cases, budget, watcher, reporter)
        return
    with open_process_engine(
        store, run, inputs, plan, arms, options, cases=cases, budget=budget, paces=paces, watcher=watcher, cache=cache
    ) as (engine, recorded):
        yield engine
        if recorded is not None and engine.not_recorded:
            hosted = dict.fromkeys(arm.arm.model for arm in arms if isinstance(arm.model, PricedModel))
            table = inputs.project.models
            for text in recorded.explain_misses({name: find_origin(name, options.api_base, table) for name in hosted}):
                reporter.note(RunNote(NoteKind.RECORDED, text, tuple(hosted), is_warning=True))
    if recorded is not None and recorded.added and recorded.cache_path not in options.response_cache:
        place = str(recorded.cache_path)
        added = plural(recorded.added, "response")
        text = f"recorded {added} in {place}; to commit them: toolbelt eval responses export {place}"
        reporter.note(RunNote(NoteKind.RECORDED, text, (place,)))


def _open_looks(store: RunStore, run: str) -> Callable[[int], bool]:
    """What is asked after each round of a run that stops when it is decided."""
    from toolbelt.evals.analysis.sequential import refuse_incomparable, take_look  # numpy and scipy

    try:
        refuse_incomparable(store, run)
    except ToolbeltError as error:
        store.set_status(run, "incomplete", str(error))
        raise
    return partial(take_look, store, run)


def _refuse_unpriced(arms: Sequence[PreparedArm], max_cost_usd: float | None) -> None:
    if max_cost_usd is None:
        return
    unknown = dict.fromkeys(arm.arm.model for arm in arms if arm.model.cost_usd(Usage(1, 1)) is None)
    if unknown:
        raise ToolbeltError(
            f"The cap of {max_cost_usd} USD cannot be kept, as the price of {', '.join(unknown)} is unknown: give it "
            "under `models` in toolbelt.yaml, or leave out the cap."
        )
