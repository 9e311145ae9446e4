"""What is shown while a run goes on: on standard error, alive on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sqlite3
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from rich.console import Console, Group, RenderableType
from rich.live import Live

from toolbelt.evals.running.client import Budget
from toolbelt.evals.running.pace import Pace
from toolbelt.evals.running.pauses import PauseNotices, describe_pace
from toolbelt.evals.running.plan import Plan
from toolbelt.evals.running.records import TrialRecord
from toolbelt.evals.scoring.outcome import Outcome
from toolbelt.render.screen import notify
from toolbelt.render.terminal import render_terminal
from toolbelt.text import plural
from toolbelt.views.blocks import Block, Note
from toolbelt.views.cells import Count, Span, Tone
from toolbelt.views.table import Column, Row, Table

LINE_EVERY_SECONDS = 10.0
"""How often a line is printed where there is no terminal."""
_PATIENCE_SECONDS = 1.0


@dataclass
class ArmTally:
    """How an arm stands.

    Attributes:
        finished: Trials that came to an end.
        scored: Those that say something.
        right: Those of them right by names.
        errors: Those that ended with an error.
        cost_usd: Of all, as far as prices are known.
    """

    finished: int = 0
    scored: int = 0
    right: int = 0
    errors: int = 0
    cost_usd: float = 0.0

    def add(self, outcome: Outcome, cost_usd: float | None, count: int = 1) -> None:
        """Count trials of one outcome."""
        self.finished += count
        self.scored += count * outcome.is_scored
        self.right += count * outcome.is_right_by_names
        self.errors += count * (outcome is Outcome.ERROR)
        self.cost_usd += cost_usd or 0.0

    @property
    def accuracy(self) -> str:
        """So far, as it is shown."""
        return f"{self.right / self.scored:.1%}" if self.scored else "–"


@dataclass(eq=False)
class ProgressDisplay:
    """Counts what ends, and says how far the run has come.

    Attributes:
        plan: What is run.
        run: Its id.
        budget: What was spent.
        tallies: One an arm.
        clock: Seconds, ever growing, as `time.monotonic` counts them.
        paces: How fast each model is asked.
    """

    plan: Plan
    run: str
    budget: Budget
    tallies: list[ArmTally]
    clock: Callable[[], float] = time.monotonic
    paces: Sequence[Pace] = ()
    _first: float | None = None
    _before: int = 0
    _next_line: float = field(default=float("inf"))
    _live: Live | None = None

    def start(self, console: Console) -> None:
        """Begin to show."""
        self._before = self.done
        if console.is_terminal:
            self._live = Live(
                console=console, get_renderable=lambda: self.view(console), refresh_per_second=4, transient=True
            )
            self._live.start()
        else:
            self._next_line = self.clock() + _PATIENCE_SECONDS
            notices = PauseNotices(lambda text: notify(text, "run"), self.clock)  # else nothing would be printed
            for pace in self.paces:
                pace.on_pause = notices

    def stop(self) -> None:
        """Leave the screen as it was."""
        if self._live is not None:
            self._live.stop()
            self._live = None

    def finished(self, record: TrialRecord) -> None:
        """Count a trial."""
        if self._first is None:  # from here on the rate is counted: a model client may take seconds to load
            self._first, self._before = self.clock(), self.done + 1
        self.tallies[record.arm].add(Outcome(record.outcome), record.cost_usd)
        if self._live is None and self.clock() >= self._next_line:
            self._next_line = self.clock() + LINE_EVERY_SECONDS
            notify(f"{self.line()}{self._accuracies()}", "run")

    @property
    def done(self) -> int:
        """Trials that came to an end, those of earlier sessions among them."""
        return sum(tally.finished for tally in self.tallies)

    def line(self) -> str:
        """How far the run has come, in a line."""
        seconds = 0.0 if self._first is None else self.clock() - self._first
        rate = (self.done - self._before) / seconds if seconds > 0 else 0.0
        parts = [f"{self.done:,} of {plural(self.plan.size, 'trial')}", f"{_rate(rate)}"]
        if rate > 0 and self.done < self.plan.size:
            parts.append(f"{_duration((self.plan.size - self.done) / rate)} left")
        parts.append(f"${self.budget.cost_usd:,.4f}")
        parts.append(plural(sum(tally.errors for tally in self.tallies), "error"))
        waits = (describe_pace(pace, self.clock()) for pace in self.paces)
        return "; ".join((", ".join(parts), *filter(None, waits)))

    def view(self, console: Console) -> RenderableType:
        """The line, and a row for each arm as far as the screen is high."""
        rows_shown = max(1, console.height - 5)
        columns = (
            Column("trials"),
            Column("right so far"),
            Column("errors", is_spare=True),
            Column("cost", is_spare=True),
        )
        rows = (
            Row(
                arm.label,
                (
                    Count(tally.finished, self.plan.planned_of(place)),
                    Span(tally.accuracy),
                    Count(tally.errors),
                    Span(f"${tally.cost_usd:,.4f}"),
                ),
            )
            for place, (arm, tally) in enumerate(zip(self.plan.arms[:rows_shown], self.tallies, strict=False))
        )
        hidden = len(self.plan.arms) - rows_shown
        more = [Note(f"and {plural(hidden, 'more arm')}", Tone.FAINT)] if hidden > 0 else []
        blocks: list[Block] = [Note(f"run {self.run}: {self.line()}"), Table("arm", columns, tuple(rows)), *more]
        return Group(*render_terminal(blocks, console))

    def _accuracies(self) -> str:
        if len(self.plan.arms) > 6:
            return ""
        shown = (f"{arm.label} {tally.accuracy}" for arm, tally in zip(self.plan.arms, self.tallies, strict=True))
        return f"; right so far: {', '.join(shown)}"


@contextmanager
def watch(
    plan: Plan, connection: sqlite3.Connection, run: str, budget: Budget, paces: Sequence[Pace] = ()
) -> Iterator[ProgressDisplay]:
    """A watcher that knows what earlier sessions of the run came to."""
    tallies = [ArmTally() for _ in plan.arms]
    rows = connection.execute(
        "SELECT arm, outcome, count(*), total(cost_usd) FROM trials WHERE run = ? GROUP BY arm, outcome", (run,)
    )
    for arm, outcome, count, cost in rows:
        tallies[arm].add(Outcome(outcome), cost, count)
    watcher = ProgressDisplay(plan, run, budget, tallies, paces=paces)
    watcher.start(Console(file=sys.stderr, highlight=False, markup=False, emoji=False))
    try:
        yield watcher
    finally:
        watcher.stop()


def _rate(per_second: float) -> str:
    return f"{per_second:,.0f}/s" if per_second >= 10 else f"{per_second:.1f}/s"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
