"""An eval from Python: `run_eval`, `resume_run` and `merge_runs` give a `Run`, `gate_run` a verdict; none prints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from toolbelt.errors import ToolbeltError
from toolbelt.evals.analysis.comparison.comparison import MARGIN
from toolbelt.evals.analysis.evidence.evidence import Side
from toolbelt.evals.analysis.evidence.sides import open_side
from toolbelt.evals.analysis.gate.verdict import GateResult, Limits
from toolbelt.evals.execution import (
    DEFAULT_MODELS,
    RunRequest,
    Started,
    continue_run,
    start_run,
)
from toolbelt.evals.run import Run
from toolbelt.evals.running.engine_choice import ONE_PROCESS, parse_engine
from toolbelt.evals.running.merging import merge_shards
from toolbelt.evals.running.own_thread import run_outside_loop
from toolbelt.evals.running.plan import CaseFilter, RunSettings
from toolbelt.evals.running.records import TrialRecord
from toolbelt.evals.running.rounds import Decision
from toolbelt.evals.running.run_names import LATEST
from toolbelt.evals.running.shards import parse_shard
from toolbelt.evals.running.store import find_store
from toolbelt.evals.setup.asking import ExecutionOptions
from toolbelt.evals.setup.reporting import CallbackReporter, RunNote
from toolbelt.evals.toolsets.suites import spell_suite
from toolbelt.project.project import Project
from toolbelt.providers.chat import Sampling
from toolbelt.providers.endpoints import Transport, find_transport, without_secrets
from toolbelt.stores.prompts import read_prompt


def run_eval(
    dataset: str | Path,
    models: str | Sequence[str] = DEFAULT_MODELS,
    toolsets: str | Sequence[str] = (),
    *,
    variants: str | Sequence[str] = (),
    suite: str = "",
    filter: CaseFilter = CaseFilter(),  # noqa: A002, B008  the command's word; frozen
    limit: int | None = None,
    epochs: int = 1,
    seed: int = 0,
    sampling: Sampling | None = None,
    system: str | Path | None = None,
    request_limit: int = 10,
    ask_anyway: bool = False,
    shard: str | None = None,
    until_decided: bool = False,
    baseline: str | Path | None = None,
    margin: float = MARGIN,
    catalog: str | Path | None = None,
    config: str | Path | None = None,
    tokenizer: str | None = None,
    project: Project | str | Path | None = None,
    store: str | Path | None = None,
    api_base: str | None = None,
    transport: Transport | str = Transport.AUTO,
    max_concurrency: int = 8,
    timeout_seconds: float = 120.0,
    max_retries: int = 5,
    max_cost_usd: float | None = None,
    max_requests: int | None = None,
    response_cache: str | Path | Sequence[str | Path] = (),
    offline: bool = False,
    engine: str = str(ONE_PROCESS),
    on_note: Callable[[RunNote], object] | None = None,
    on_trial: Callable[[TrialRecord], object] | None = None,
) -> Run:
    """Ask the cases of a dataset over toolsets and models, and score every answer.

    Every answer is stored when it arrives; `resume_run` continues an interrupted run. Nothing is printed. The function
    may be called where an event loop is running, such as in a notebook; the loop is blocked until the run has ended.

    Example:
        >>> import tempfile
        >>> from toolbelt.evals import run_eval
        >>> store = f"{tempfile.mkdtemp()}/runs.db"
        >>> run = run_eval("assistant", "local/bm25", ["full", "oracle+9"], limit=5, store=store)
        >>> run.end.value
        'finished'
        >>> [(arm.toolset, arm.scored) for arm in run.summary.arms]
        [('full', 5), ('oracle+9', 5)]

    Args:
        dataset: A shipped name, a folder with cases.jsonl and a catalog, or a file of cases.
        models: litellm names, `local/bm25` or `scripted/FILE`.
        toolsets: Names and patterns, as on the command line; `full`, `loadout` and `tiered` if empty.
        variants: What is changed about each toolset, such as `shuffled`; each is an arm of its own.
        suite: In place of toolsets: `compatibility`.
        filter: Which cases are asked.
        limit: So many cases, drawn with the seed; takes the place of the filter's.
        epochs: How often each case is asked.
        seed: Of everything that is drawn.
        sampling: How models are asked; the provider's defaults if `None`. Without a seed of its own it gets this one.
        system: The system prompt of cases that have none, or a file of it; that of the agent or the dataset if `None`,
            none at all if empty.
        request_limit: Requests after which a trial is given up.
        ask_anyway: Also ask what is known not to fit the model.
        shard: Only this part, such as `3/8`; `merge_runs` puts the parts together. Caps and rate limits hold for each
            part by itself.
        until_decided: Stop as soon as every comparison has a verdict; cases are asked in random order.
        baseline: With `until_decided`: the file or run that arms are compared with; with each other if `None`.
        margin: With `until_decided`: accuracy that may be lost, a fraction.
        catalog: In place of the dataset's own: a shipped name, a dataset folder, or a file.
        config: Path of a `toolbelt.yaml`; the one found from the working directory if `None`.
        tokenizer: What counts where a model's own tokenizer is not known; the project's if `None`.
        project: Whose loadouts, agents and models are used, from `open_project`, or its folder; the working directory
            if `None`. Its catalog is used where the dataset has none.
        store: The file of runs; made if need be. `TOOLBELT_STORE`, else `.toolbelt/runs.db`, if `None`, whatever the
            project.
        api_base: Where hosted models are asked; their provider's place if `None`.
        transport: `auto` asks endpoints of `api_base` and servers of one's own directly, all others through litellm;
            `litellm` asks all through litellm.
        max_concurrency: Trials under way at once.
        timeout_seconds: For one request.
        max_retries: Times that a request is asked again after a failure that may pass.
        max_cost_usd: The run stops before it costs more, but for the answers under way.
        max_requests: The run stops before it asks more often.
        response_cache: Files of recorded responses of hosted models, which are used in place of asking: exports, which
            are read, and at most one cache, where new ones are stored. Nothing is recorded if empty.
        offline: Whether no connection may be opened, so that hosted models answer with recorded responses alone.
        engine: What runs the trials: `process` (this one), or `dask`, `dask:N` or `dask:HOST:PORT`, the workers of a
            Dask cluster. Where those are started here, a script needs `if __name__ == "__main__":` around the call.
        on_note: Called with everything that should be known before the run is trusted; `Run.notes` has the same.
        on_trial: Called with each trial that is finished and stored, but for those stored while it is interrupted.

    Returns:
        The run; `end` is `incomplete` where a cap or the infrastructure ended it.

    Raises:
        NotFoundError: no such dataset, toolset, loadout, agent or suite.
        ToolbeltError: what is asked for is malformed or cannot be done; nothing was spent.
        StorageError: a trial could not be stored; the trials stored before remain.
        KeyboardInterrupt: by the user; the run can be resumed, and a note says so.
    """
    sampling = sampling or Sampling()
    settings = RunSettings(
        filter=filter if limit is None else replace(filter, limit=limit),
        epochs=epochs,
        seed=seed,
        sampling=sampling if sampling.seed is not None else replace(sampling, seed=seed),
        request_limit=request_limit,
        api_base=without_secrets(api_base),
        suite=spell_suite(suite) if suite else "",
        ask_anyway=ask_anyway,
        shard=None if shard is None else parse_shard(shard),
        decision=Decision(margin, str(baseline or "")) if until_decided else None,
        system=None if system is None else read_prompt(str(system)),
    )
    request = RunRequest(
        dataset=str(dataset),
        models=_names(models),
        toolsets=_names(toolsets),
        variants=_names(variants),
        settings=settings,
        catalog=None if catalog is None else str(catalog),
        config=None if config is None else str(config),
        tokenizer=tokenizer,
        store=find_store(store),
        project=_project(project),
    )
    options = ExecutionOptions(
        api_base,
        max_concurrency,
        timeout_seconds,
        max_retries,
        max_cost_usd,
        max_requests,
        transport=find_transport(transport),
        response_cache=_paths(response_cache),
        offline=offline,
        engine=parse_engine(engine),
    )
    reporter = CallbackReporter(on_note, on_trial)
    run = run_outside_loop(lambda started: start_run(request, options, reporter, started))
    return replace(run, notes=tuple(reporter.notes))


def resume_run(
    run: str | Run = LATEST,
    *,
    project: Project | str | Path | None = None,
    store: str | Path | None = None,
    retry_errors: bool = False,
    api_base: str | None = None,
    transport: Transport | str = Transport.AUTO,
    max_concurrency: int = 8,
    timeout_seconds: float = 120.0,
    max_retries: int = 5,
    max_cost_usd: float | None = None,
    max_requests: int | None = None,
    response_cache: str | Path | Sequence[str | Path] = (),
    offline: bool = False,
    engine: str = str(ONE_PROCESS),
    on_note: Callable[[RunNote], object] | None = None,
    on_trial: Callable[[TrialRecord], object] | None = None,
) -> Run:
    """Go on with a run: nothing that is finished is asked again.

    Example:
        >>> from toolbelt.evals import resume_run, run_eval
        >>> capped = run_eval("assistant", toolsets="full", limit=20, max_requests=5)
        >>> capped.end.value, resume_run(capped).end.value
        ('incomplete', 'finished')

    Args:
        run: A run, its id, the beginning of one, or `latest`.
        project: Takes the place of the `toolbelt.yaml` that the run began with; its loadouts must be the same.
        store: The file of runs, as for `run_eval`; that of the run if one is given.
        retry_errors: Also run again the trials that ended with an error.
        api_base: Where hosted models are asked; where they were if `None`.
        transport: As for `run_eval`.
        max_concurrency: Trials under way at once.
        timeout_seconds: For one request.
        max_retries: Times that a request is asked again after a failure that may pass.
        max_cost_usd: The run stops before it costs more, what it has cost before included.
        max_requests: The run stops before it asks more often; likewise.
        response_cache: As for `run_eval`.
        offline: As for `run_eval`.
        engine: As for `run_eval`.
        on_note: Called with each note; `Run.notes` has the same.
        on_trial: Called with each trial that is finished and stored, but for those stored while it is interrupted.

    Raises:
        NotFoundError: no such run.
        ToolbeltError: the cases, the catalog or a loadout changed since the run began, or another process works on it.
    """
    options = ExecutionOptions(
        api_base,
        max_concurrency,
        timeout_seconds,
        max_retries,
        max_cost_usd,
        max_requests,
        transport=find_transport(transport),
        response_cache=_paths(response_cache),
        offline=offline,
        engine=parse_engine(engine),
    )
    reporter = CallbackReporter(on_note, on_trial)
    path, name = (run.store, run.id) if isinstance(run, Run) else (find_store(store), run)
    around = _project(project)
    resumed = run_outside_loop(
        lambda started: continue_run(path, name, options, reporter, started, retry_errors=retry_errors, project=around)
    )
    return replace(resumed, notes=tuple(reporter.notes))


def gate_run(
    run: str | Run = LATEST,
    baseline: str | Path | Run | None = None,
    limits: Limits = Limits(),  # noqa: B008  frozen
    *,
    arms: str | Sequence[str] = (),
    seed: int = 0,
    store: str | Path | None = None,
    top_up: bool = False,
    api_base: str | None = None,
    transport: Transport | str = Transport.AUTO,
    max_concurrency: int = 8,
    timeout_seconds: float = 120.0,
    max_retries: int = 5,
    max_cost_usd: float | None = None,
    max_requests: int | None = None,
    response_cache: str | Path | Sequence[str | Path] = (),
    offline: bool = False,
    on_note: Callable[[RunNote], object] | None = None,
    on_trial: Callable[[TrialRecord], object] | None = None,
) -> GateResult:
    """Hold a run against a baseline and against limits, as `toolbelt eval gate` does.

    Example:
        >>> from toolbelt.evals import Limits, gate_run, run_eval
        >>> run = run_eval("assistant", toolsets="full", limit=20)
        >>> gate_run(run, limits=Limits(min_accuracy=0.1)).verdict.value
        'no_regression'

    Args:
        run: A run, its id, the beginning of one, or `latest`.
        baseline: A file that `toolbelt eval baseline save` wrote, another run or its id; `None` for limits alone.
        limits: What is tolerated.
        arms: Only these.
        seed: Of what is drawn for intervals.
        store: The file of runs, as for `run_eval`; that of the run if one is given.
        top_up: Ask a further epoch of the arms whose verdict is open, up to the epochs of the baseline, and look again.
            It can be called again where it was interrupted. All that follows is for this.
        api_base: As for `resume_run`; likewise the rest.

    Returns:
        Verdict and checks; with `top_up`, `further` is what was asked for it.

    Raises:
        NotFoundError: no such run, baseline or arm.
        ToolbeltError: the run cannot be asked further, or what it was asked over has changed.
    """
    # numpy and scipy
    from toolbelt.evals.analysis.gate import gate
    from toolbelt.evals.gate_and_top_up import gate_and_top_up

    options = ExecutionOptions(
        api_base,
        max_concurrency,
        timeout_seconds,
        max_retries,
        max_cost_usd,
        max_requests,
        transport=find_transport(transport),
        response_cache=_paths(response_cache),
        offline=offline,
    )
    path, name = (run.store, run.id) if isinstance(run, Run) else (find_store(store), run)

    def execute(started: Started) -> GateResult:
        with ExitStack() as stack:
            against: Side | None = None
            if baseline is not None:
                of, at = (baseline.id, baseline.store) if isinstance(baseline, Run) else (str(baseline), path)
                against = stack.enter_context(open_side(of, at))
            if not top_up:
                side = stack.enter_context(open_side(name, path))
                return gate.gate_sides(side, limits, against, arms=_names(arms), seed=seed)
            if against is None:
                raise ToolbeltError("top_up asks as many epochs as the baseline has; name one.")
            reporter = CallbackReporter(on_note, on_trial)
            return gate_and_top_up(
                path, name, against, limits, options, reporter, arms=_names(arms), seed=seed, started=started
            )

    return run_outside_loop(execute)


def merge_runs(
    stores: str | Path | Sequence[str | Path],
    *,
    store: str | Path | None = None,
    runs: str | Sequence[str] = (),
    allow_mixed: bool = False,
    on_shard: Callable[[int], object] = lambda _: None,
) -> Run:
    """Merge shards, each run with `run_eval(…, shard="I/N")`, into one run: the same trials as of a run of the whole.

    To merge again adds what was missing, and changes nothing else. A shard that is missing can be merged later;
    `resume_run` asks what is missing here.

    Example:
        >>> from toolbelt.evals import merge_runs, run_eval
        >>> for part in "12":
        ...     shard = run_eval("assistant", toolsets="full", limit=20, shard=f"{part}/2", store=f"{part}.db")
        >>> merge_runs(["1.db", "2.db"]).summary.scored
        20

    Args:
        stores: Files of runs that hold the shards.
        store: The file of runs that gets the merged one, as for `run_eval`; it may be one of `stores`.
        runs: Ids of the shards' runs, or their beginnings, where a file has several of one shard; the latest if empty.
        allow_mixed: Whether shards may be answered by models that report different names.
        on_shard: Called with the number of shards that were merged so far.

    Returns:
        The run; `end` is `incomplete` where shards or trials are missing, and `reason` says which.

    Raises:
        NotFoundError: no such file or run.
        InvalidFileError: the shards do not belong together, with every reason; nothing was merged.
        ToolbeltError: another merge into the file is under way.
        StorageError: the disk would not; the merge can be repeated.
    """
    path = find_store(store)
    merged = merge_shards(_paths(stores), path, runs=_names(runs), allow_mixed=allow_mixed, advance=on_shard)
    return Run(merged.run, path, merged.end, merged.reason)


def _project(project: Project | str | Path | None) -> Project | Path | None:
    return Path(project) if isinstance(project, str) else project


def _paths(paths: str | Path | Sequence[str | Path]) -> tuple[Path, ...]:
    return tuple(map(Path, (paths,) if isinstance(paths, str | Path) else paths))


def _names(names: str | Sequence[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)
