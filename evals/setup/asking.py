"""How models are asked in an execution of a run: its options, and the engine of this process that follows them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from toolbelt.errors import ToolbeltError
from toolbelt.evals.models.hosted import PricedModel
from toolbelt.evals.models.model import Model
from toolbelt.evals.models.opening import ModelOptions, open_model, open_price
from toolbelt.evals.responses.recorded import ModelResponses, RecordedResponses
from toolbelt.evals.running.client import Budget, RetryPolicy
from toolbelt.evals.running.engine_choice import ONE_PROCESS, EngineChoice, refuse_missing_extra
from toolbelt.evals.running.pace import Pace
from toolbelt.evals.running.plan import Plan
from toolbelt.evals.running.process_engine import ProcessEngine
from toolbelt.evals.running.ranges import Range, refuse_outside
from toolbelt.evals.running.runner import CaseSource, RunWatcher
from toolbelt.evals.running.store import RunStore
from toolbelt.evals.setup.arms import PreparedArm, make_trial_runners
from toolbelt.evals.setup.inputs import RunInputs
from toolbelt.providers.endpoints import Api, Transport, find_origin, find_own_api, without_secrets
from toolbelt.providers.known_keys import find_keys

if TYPE_CHECKING:
    from toolbelt.providers.litellm_table import ModelTable

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
class AskingOptions:
    """How models are asked, and how much, for a run, a probe or drafts. It does not change what they are asked.

    Attributes:
        api_base: Where hosted models are asked; their provider's place if `None`, or where a run asked before.
        max_concurrency: Trials, checks or tools at the same time.
        timeout_seconds: For one request.
        max_retries: How often a request is repeated after a failure that may pass.
        max_cost_usd: Nothing is asked that would cost more; what a run or a folder of drafts cost before is included.
        max_requests: No more is asked; likewise.
        transport: How hosted models are asked.

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

    def __post_init__(self) -> None:
        refuse_outside(EXECUTION_RANGES, self)

    def model_options(self, models: ModelTable) -> ModelOptions:
        """How models are opened."""
        return ModelOptions(self.api_base, self.timeout_seconds, models, self.transport)

    @property
    def retries_as_option(self) -> str:
        """Where it is not the usual number, which goes on otherwise, an option of a command, with a blank before it."""
        return "" if self.max_retries == AskingOptions.max_retries else f" --max-retries {self.max_retries}"

    def format_caps(self, times: int = 1) -> str:
        """So many times the caps (1 if that is 0) as options of a command, a blank before each; empty without caps."""
        caps = {"--max-cost": self.max_cost_usd, "--max-requests": self.max_requests}
        return "".join(f" {flag} {cap * times or 1:.12g}" for flag, cap in caps.items() if cap is not None)


@dataclass(frozen=True)
class ExecutionOptions(AskingOptions):
    """How models are called in one execution of a run. The options do not change which trials the run has.

    Attributes:
        response_cache: Files of recorded responses: exports, which are read, and at most one cache, which is also
            written. Without a cache, what is asked is stored beside the file of runs. Nothing is recorded if empty.
        offline: Whether nothing may be asked: hosted models answer with recorded responses alone, and no connection is
            opened.
        engine: What runs the trials.

    Raises:
        ToolbeltError: the engine is not installed, or cannot do what is asked for.
    """

    response_cache: Sequence[Path] = ()
    offline: bool = False
    engine: EngineChoice = ONE_PROCESS

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.engine.is_dask:
            self._refuse_for_dask()

    def _refuse_for_dask(self) -> None:
        refuse_missing_extra(self.engine)
        if self.offline:
            raise ToolbeltError("--offline opens no connection, and the workers of Dask are reached over some.")
        if self.engine.address is None:
            return
        if self.response_cache:
            raise ToolbeltError(
                "Workers on several machines cannot write one response cache: leave out --response-cache, or use "
                "workers of this machine (--engine dask)."
            )
        if without_secrets(self.api_base) != self.api_base:
            raise ToolbeltError(
                "The address of --api-base may hold a key, which the scheduler would see: set the key in the "
                "environment of the workers instead."
            )

    @property
    def opener(self) -> Callable[[str, ModelOptions], Model]:
        """How a model is opened: where others ask, or nobody does, only its price is, which takes no key or client."""
        return open_price if self.offline or self.engine.is_dask else open_model

    def network(self) -> AbstractContextManager[None]:
        """Refuses connections while it is open, if nothing may be asked."""
        if not self.offline:
            return nullcontext()
        from toolbelt.evals.responses.offline import no_network  # sockets

        return no_network()

    def model_options(self, models: ModelTable) -> ModelOptions:
        """How models are opened."""
        return replace(super().model_options(models), is_offline=self.offline)


@contextmanager
def open_process_engine(
    store: RunStore,
    run: str,
    inputs: RunInputs,
    plan: Plan,
    arms: Sequence[PreparedArm],
    options: ExecutionOptions,
    *,
    cases: CaseSource,
    budget: Budget,
    paces: Mapping[str, Pace],
    watcher: RunWatcher,
    cache: Path,
) -> Iterator[tuple[ProcessEngine, RecordedResponses | None]]:
    """The engine of this process, and the recorded responses it uses; `cache` gets new ones, if none is named."""
    with _open_responses(options, cache, arms) as recorded:
        responses: dict[str, ModelResponses] = {}
        if recorded is not None:
            store.writes.first = recorded.commit
            responses = _responses_by_model(recorded, run, arms, options, inputs.project.models)
        policy, keep = RetryPolicy(options.max_retries), partial(store.add_request, run)
        runners = make_trial_runners(inputs, plan, arms, budget, policy, keep, responses, paces)
        yield ProcessEngine(plan, run, store, cases, runners, watcher, options.max_concurrency), recorded


def _open_responses(
    options: ExecutionOptions, cache: Path, arms: Sequence[PreparedArm]
) -> AbstractContextManager[RecordedResponses | None]:
    """The recorded responses that an execution uses and adds to; `None` where it does neither."""
    wants = bool(options.response_cache) or options.offline
    if not wants or not any(isinstance(arm.model, PricedModel) for arm in arms):
        return nullcontext()
    files = tuple(map(Path, options.response_cache))
    return RecordedResponses(files, default_cache=cache, is_offline=options.offline)


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
    is_direct = options.transport is not Transport.LITELLM
    return {
        model: ModelResponses(
            recorded,
            model,
            find_origin(model, options.api_base, models),
            secrets,
            run=run,
            payments=paid,
            api="responses" if is_direct and find_own_api(model, options.api_base, models) is Api.RESPONSES else "",
        )
        for model in hosted
    }
