"""Runs prepared probes one after the other, and shows progress and results."""

from __future__ import annotations

import dataclasses
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from toolbelt.command.boundary import INFRASTRUCTURE, OK
from toolbelt.evals.cli.probe_preparing import PreparedProbe, ProbeOptions
from toolbelt.evals.cli.probes import resume_command, show_news
from toolbelt.evals.models.model import Model
from toolbelt.evals.probing.learned_facts import find_news, format_entry, learned_facts, make_entry, news_data
from toolbelt.evals.probing.probe_store import ProbeStore
from toolbelt.evals.probing.results import CheckOutcome, CheckResult, ProbeResult, is_complete, probe_data
from toolbelt.evals.probing.runner import run_probe
from toolbelt.evals.probing.wording import WORDS
from toolbelt.evals.running.pauses import format_end
from toolbelt.evals.running.store import RunStore
from toolbelt.evals.views.probes import probe_view
from toolbelt.render.screen import PATIENCE_SECONDS, notify, progress, show_blocks
from toolbelt.views.blocks import Note

FAILED = 1
"""Exit code: a required check does not work, or works only partly."""
WAIT_EVERY_SECONDS = 10.0
"""Time between two messages about waiting."""


@dataclass(eq=False)
class ProbeProgress:
    """Counts the checks that ended, and notifies about waiting: at once, and then now and then.

    Attributes:
        advance: Called with the number that have ended.
        clock: Seconds, ever growing.
    """

    advance: Callable[[int], None]
    clock: Callable[[], float] = time.monotonic
    _ended: int = 0
    _next_line: float = float("-inf")

    def checked(self, result: CheckResult) -> None:  # noqa: ARG002  the protocol's
        """One more has ended."""
        self._ended += 1
        self.show()

    def show(self) -> None:
        """Say how many have ended."""
        self.advance(self._ended)

    def waiting(self, seconds: float, why: str) -> None:
        """A request got no answer, or none may be sent; the model is asked again in so long."""
        if self.clock() < self._next_line:
            return
        self._next_line = self.clock() + WAIT_EVERY_SECONDS
        if sys.stderr.isatty():
            sys.stderr.write("\r\x1b[2K")  # over what says how far it has come
        notify(
            f"{why.rstrip('.')}; it is asked again at {format_end(seconds)}, in {max(1.0, seconds):,.0f} s", "waiting"
        )


@contextmanager
def watch(model: str, checks: int) -> Iterator[ProbeProgress]:
    """A watcher that says something before long, even if nothing ends: a client may take seconds to load."""
    with progress(f"probing {model}, checks", checks) as advance:
        watcher = ProbeProgress(advance)
        soon = threading.Timer(PATIENCE_SECONDS, watcher.show)
        soon.daemon = True
        soon.start()
        try:
            yield watcher
        finally:
            soon.cancel()
            soon.join()


def probe_all(
    store: RunStore, prepared: Sequence[PreparedProbe], models: Sequence[Model], options: ProbeOptions
) -> list[ProbeResult]:
    """One model after the other, each shown as it ends; the caps are those of all together."""
    probes = ProbeStore(store)
    results: list[ProbeResult] = []
    requests, cost = options.asking.max_requests, options.asking.max_cost_usd
    for probe, model in zip(prepared, models, strict=True):
        if results and requests is not None and requests <= 0:
            notify(
                f"{probe.wanted.model} is not probed: the cap of {options.asking.max_requests:,} requests is reached",
                "warning",
            )
            break
        settings = dataclasses.replace(probe.settings, max_requests=requests, max_cost_usd=cost)
        try:
            with watch(probe.wanted.model, len(probe.left)) as watcher:
                result = run_probe(store, probe.wanted, model, settings, fresh=options.fresh, watcher=watcher)
        except KeyboardInterrupt:
            left = [other.wanted for other in prepared[len(results) :]]
            notify(f"what was answered of {probe.wanted.model} is kept; go on with: {resume_command(left, options)}")
            raise
        results.append(result)
        spent, spent_usd = probes.spent(result.probe)
        requests = None if requests is None else max(0, requests - spent)
        cost = None if cost is None else max(0.0, cost - spent_usd)
        if not options.as_json:
            show_blocks([*([Note("")] if len(results) > 1 else []), *probe_view([result])])
            show_news(result, probe.facts, probe.own)
    return results


def probe_json(result: ProbeResult, prepared: PreparedProbe) -> dict[str, Any]:
    """A probe as plain values, with what it shows that is not known of its model."""
    news = find_news(result, prepared.facts)
    entry = make_entry(result.model, news, prepared.own) if news else None
    return {
        **probe_data(result),
        "learned": learned_facts(result),
        "news": news_data(news),
        "entry": entry,
        "yaml": None if entry is None else format_entry(entry),
    }


def find_exit_code(results: Sequence[ProbeResult], prepared: Sequence[PreparedProbe], options: ProbeOptions) -> int:
    """1 if a required check is known not to work, else 3 if anything is unknown (rule E9)."""
    incomplete = [result for result in results if not is_complete(result)]
    for result in incomplete:
        reason = f": {result.reason.rstrip('.')}" if result.reason else ""
        notify(f"{result.model} is not probed to the end{reason}", "warning")
    names = {result.model for result in results if is_complete(result)}
    if left := [probe.wanted for probe in prepared if probe.wanted.model not in names]:
        notify(f"what is left: {resume_command(left, options)}")
    is_failed = False
    for result in results:
        for key in options.required:
            outcome = result.outcome(key)
            if outcome is not None and not outcome.is_open and outcome is not CheckOutcome.WORKS:
                how = "works only in another way" if outcome is CheckOutcome.PARTLY else "does not work"
                notify(f"{result.model}: {key} is required and {how} ({WORDS[outcome]})", "warning")
                is_failed = True
    return FAILED if is_failed else INFRASTRUCTURE if left else OK
