"""What a run reports during its set-up and its work: notes as values, progress, and every finished trial."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from toolbelt.reporter import Reporter

if TYPE_CHECKING:
    from toolbelt.evals.running.client import Budget
    from toolbelt.evals.running.pace import Pace
    from toolbelt.evals.running.plan import Plan
    from toolbelt.evals.running.records import TrialRecord
    from toolbelt.evals.running.runner import RunWatcher
    from toolbelt.evals.running.store import RunStore
    from toolbelt.findings import Finding


class NoteKind(StrEnum):
    """What a note is about."""

    DATASET = "dataset"
    """Something about the files of the dataset or the catalog."""
    DEFAULT_DATASET = "default_dataset"
    """No dataset was named, and the default one is over another catalog than the project's."""
    FINDING = "finding"
    """Something is doubtful in a file of the project; the text names file and line."""
    REPEATED_TOOLSET = "repeated_toolset"
    """A toolset of a suite shows the same tools as another one, and is left out."""
    NEEDLESS_VARIANT = "needless_variant"
    """A variant would change nothing about a toolset, and is left out."""
    LEFT_OUT = "left_out"
    """Pairs of a suite cannot be run at all."""
    NO_ROLES = "no_roles"
    """No case has a role, so that toolset `loadout` is another one, or left out."""
    INAPPLICABLE = "inapplicable"
    """A toolset shows nothing of the catalog, or cannot be made for these cases, and is left out."""
    DRAFTS = "drafts"
    """Nobody has reviewed some of the cases."""
    PROBE = "probe"
    """A probe of the model contradicts what is known of it."""
    SWITCHED_OFF = "switched_off"
    """A model is gone, or is switched off within 90 days."""
    UNMET = "unmet"
    """The toolset that the project gives to a model cannot be what `loadout:auto` chooses."""
    UNMATCHED = "unmatched"
    """An agent or toolkit names something that the catalog does not have."""
    NO_TURN_ENDS = "no_turn_ends"
    """With the tool choice of this run, a tool that a model loads is never shown."""
    EMBEDDINGS = "embeddings"
    """What the vectors of a search would come to."""
    HOSTED_SEARCH = "hosted_search"
    """How an arm whose vendor searches is estimated."""
    UNPADDED = "unpadded"
    """In some cases the definitions are already longer than the length to pad to."""
    FEW_DISTRACTORS = "few_distractors"
    """In some cases there are fewer distractors than wanted."""
    PARTLY_NOT_ASKED = "partly_not_asked"
    """An arm does not fit its model in some of the cases tried."""
    NOT_ASKED = "not_asked"
    """Arms never fit their model."""
    NO_TOOL_CALLING = "no_tool_calling"
    """A model is reported to call no tools, and is run all the same."""
    SYSTEM_PROMPTS = "system_prompts"
    """Cases or arms of the run do not all have the same system prompt."""
    SHARD = "shard"
    """A part of the plan is run, and what that means for caps."""
    CLUSTER = "cluster"
    """Which workers run the trials, and where they can be watched."""
    DECISION = "decision"
    """What a run that stops when it is decided came to, and what that saved."""
    TOP_UP = "top_up"
    """A gate asks a further epoch of arms whose verdict is open."""
    RETRIED = "retried"
    """Trials that failed are run again."""
    RECORDED = "recorded"
    """Responses were stored in a cache that nobody named."""
    IMPORTED = "imported"
    """What was read of files of answers, and what was not."""
    INTERRUPTED = "interrupted"
    """The user interrupted the run, which can be resumed."""


@dataclass(frozen=True, slots=True)
class RunNote:
    """Something that the user who starts a run should know.

    Attributes:
        kind: What sort of thing.
        text: In words.
        about: What it is about: names of toolsets or models, labels of arms, the run's id or a file.
        is_warning: Whether a result should not be trusted without a look at it.
    """

    kind: NoteKind
    text: str
    about: tuple[str, ...] = ()
    is_warning: bool = False

    def __str__(self) -> str:
        return self.text


class EvalReporter(Protocol):
    """Gets what a run reports."""

    def note(self, note: RunNote) -> None:
        """Report something that the user who starts the run should know."""
        ...

    def progress(self, label: str, total: int | None) -> AbstractContextManager[Callable[[int], None]]:
        """Report work that may take a while; yields a function that takes the number done so far."""
        ...

    def watch(
        self, run: str, plan: Plan, store: RunStore, budget: Budget, paces: Sequence[Pace] = ()
    ) -> AbstractContextManager[RunWatcher]:
        """Report an execution of a run; yields a watcher that gets every trial that is finished and stored."""
        ...


class ProjectNotes(Reporter):
    """Passes on what a project reports, as notes of the run."""

    def __init__(self, reporter: EvalReporter) -> None:
        self._reporter = reporter

    def note(self, message: str) -> None:
        """Something worth knowing."""
        self._reporter.note(RunNote(NoteKind.DATASET, message))

    def warn(self, message: str) -> None:
        """Something that may be a mistake."""
        self._reporter.note(RunNote(NoteKind.DATASET, message, is_warning=True))

    def findings(self, findings: Sequence[Finding]) -> None:
        """A note for each."""
        for finding in findings:
            self._reporter.note(RunNote(NoteKind.FINDING, str(finding), is_warning=True))

    def progress(self, label: str, total: int | None) -> AbstractContextManager[Callable[[int], None]]:
        """As the run shows it."""
        return self._reporter.progress(label, total)


def _ignore(_: int) -> None:
    """Progress that nobody looks at."""


@dataclass(eq=False)
class CallbackReporter:
    """Collects the notes and calls functions; prints nothing.

    Attributes:
        on_note: Called with each note.
        on_trial: Called with each finished trial, which is in the store by then.
        notes: All so far.
    """

    on_note: Callable[[RunNote], object] | None = None
    on_trial: Callable[[TrialRecord], object] | None = None
    notes: list[RunNote] = field(default_factory=list)

    def note(self, note: RunNote) -> None:
        """Collect the note and pass it on."""
        self.notes.append(note)
        if self.on_note is not None:
            self.on_note(note)

    @contextlib.contextmanager
    def progress(self, label: str, total: int | None) -> Iterator[Callable[[int], None]]:  # noqa: ARG002  the protocol's
        """Progress that nobody looks at."""
        yield _ignore

    @contextlib.contextmanager
    def watch(
        self,
        run: str,  # noqa: ARG002
        plan: Plan,  # noqa: ARG002
        store: RunStore,  # noqa: ARG002
        budget: Budget,  # noqa: ARG002
        paces: Sequence[Pace] = (),  # noqa: ARG002
    ) -> Iterator[RunWatcher]:
        """A watcher that passes each trial on."""
        yield self

    def finished(self, record: TrialRecord) -> None:
        """A trial is finished."""
        if self.on_trial is not None:
            self.on_trial(record)
