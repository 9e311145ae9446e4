"""The matrix of models × toolsets and the recommended toolset of each model, as values (rules E4, E5 and E7)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

from toolbelt.evals.analysis.comparison.comparison import LEVEL, Contrast
from toolbelt.evals.analysis.comparison.reasons import ClusterSizes, SideNote
from toolbelt.evals.analysis.comparison.sample_size import Advice
from toolbelt.evals.analysis.matrix.cell import Cell
from toolbelt.evals.analysis.matrix.pick_reasons import PickReason
from toolbelt.evals.statistics.verdict import Verdict
from toolbelt.models.project_models import ProjectModel


@dataclass(frozen=True, slots=True)
class UnassignableToolsets:
    """Toolsets that depend on the case, so that no model can be given them."""

    toolsets: tuple[str, ...]


class ShownVariants(Enum):
    """The run has variants, which are experiments and never chosen."""

    SHOWN = "shown"


@dataclass(frozen=True, slots=True)
class FailedTrials:
    """Trials that failed and are in no figure."""

    errors: int
    planned: int
    run: str


MatrixNote = SideNote | UnassignableToolsets | ShownVariants | FailedTrials | ClusterSizes


@dataclass(frozen=True, slots=True)
class Candidate:
    """A toolset compared with the best one of its model.

    Attributes:
        arm: Its position among the run's arms.
        contrast: Of accuracy, this toolset less the best, with its interval and verdict; `None` for the best itself.
        overflowing: Cases that fit the model with the best, and do not with this one: it has regressed, whatever is
            left (rule E4).
    """

    arm: int
    contrast: Contrast | None = None
    overflowing: int = 0

    @property
    def holds(self) -> bool:
        """Whether it is not worse than the best by more than the margin, for sure."""
        return self.contrast is not None and self.contrast.verdict is Verdict.NO_REGRESSION and not self.overflowing


@dataclass(frozen=True, slots=True)
class Pick:
    """The recommended toolset of a model.

    To take a smaller toolset for the best one needs proof that it is not worse by more than the margin. To stay with
    the best as measured needs none, as nothing is given up by it; `sure` says whether that is sure.

    Attributes:
        model: Its name.
        best: The arm that answers most rightly of what it could be asked: of trials scored and of those too long for
            the model, as what leaves out hard cases is not the better for it. Of equals, the smallest. `None` where
            nothing was scored that could be chosen.
        choice: The smallest arm that is not worse than the best by more than the margin, for sure (`no_regression`);
            the best itself if no smaller one is. `None` where there is nothing to go by: nothing was scored or enough
            of it answered, cases are drafts, the best is hardly ever right, or there is nothing to choose from.
        sure: Whether no other arm is better than the choice by more than the margin, for sure: of a smaller one, the
            best is not; of the best itself, none of its rivals is, and there is no other that nothing is known of.
        candidates: Every scored arm that could be chosen, the smallest first. `oracle`, which knows the answer, and
            variants, which are experiments, are not among them, nor arms in `never_calls`.
        promising: The smallest arm that is smaller than the choice and within the margin of the best as measured, but
            not for sure. `None` if there is no such arm.
        advice: What would make sure of the choice, if it is as good as measured; of the promising one where the choice
            is sure. `None` if nothing is open.
        reasons: Why; `pick_text.describe_pick` puts them into words.
        toolset: What to write for it: the name of its toolset, or of a loadout that was the same; empty without choice.
        rivals: The candidates that may be better than the best, with the contrast of the best less that one; looked at
            where no smaller one holds, so that the best has to show that it is no chance. An arm that is too
            long for the model where the best fits is no rival, nor is the same toolset by another name.
        level: Of the intervals of `candidates`: over 95% where more than two are smaller than the best, so that the
            chance of a wrong choice stays below 5% for each model. Those of `rivals` are 95% intervals.
        never_calls: Arms with which the model called no right tool, or in no larger share than the margin of the cases
            that need a call. They are neither the best nor chosen, even if they answer many cases right that need no
            call.
    """

    model: str
    best: int | None = None
    choice: int | None = None
    candidates: tuple[Candidate, ...] = ()
    promising: int | None = None
    advice: Advice | None = None
    reasons: tuple[PickReason, ...] = ()
    toolset: str = ""
    rivals: tuple[Candidate, ...] = ()
    level: float = LEVEL
    sure: bool = False
    never_calls: tuple[int, ...] = ()
    by_role: bool = False

    @property
    def cases_wanted(self) -> int | None:
        """How many cases `advice` asks for; `None` if it asks for none, or no number would do."""
        return None if self.advice is None or self.advice.lacking else self.advice.wanted


@dataclass(frozen=True, slots=True)
class ModelRow:
    """One model over all toolsets.

    Attributes:
        model: Its name, or its label.
        cells: One a toolset, in the order of `Matrix.toolsets`; `None` where the run does not have that pair.
        pick: The recommended toolset that `toolbelt.yaml` can name.
        context_window: Tokens, as the run took it to be; `None` if unknown.
        by_role: The same with the loadout of each case's role among the candidates; `None` where it was not scored.
        asked_as: The name by which it was asked, where `model` is a label.
    """

    model: str
    cells: tuple[Cell | None, ...]
    pick: Pick
    context_window: int | None = None
    by_role: Pick | None = None
    asked_as: str = ""

    @property
    def usable(self) -> Pick:
        """The recommended toolset of all that can be used: what a run comes to for the model."""
        return self.pick if self.by_role is None else self.by_role


@dataclass(frozen=True, slots=True)
class Matrix:
    """A run as models × toolsets.

    Attributes:
        run: Its id.
        created: When it began, ISO 8601 in UTC.
        dataset: Name of its dataset.
        catalog: Name of its catalog.
        cases: Cases each arm is asked.
        epochs: How often each, at most.
        arm_epochs: How often by each arm of the run; empty where all were asked equally often.
        margin: Accuracy that may be lost for a smaller toolset, a fraction.
        toolsets: Labels, in the order asked for.
        rows: One a model, in the order asked for.
        notes: What to know before anything is read from it: drafts, errors, an unfinished run.
        own_models: What the project's `toolbelt.yaml` says of models already, which a recommendation goes on saying;
            `None` where that file is not at hand.
    """

    run: str
    dataset: str
    catalog: str
    cases: int
    margin: float
    toolsets: tuple[str, ...]
    rows: tuple[ModelRow, ...]
    notes: tuple[MatrixNote, ...] = ()
    created: str = ""
    epochs: int = 1
    arm_epochs: tuple[int, ...] = ()
    own_models: tuple[ProjectModel, ...] | None = None

    def only_sure(self) -> Matrix:
        """The same with no choice for the models of which it is not sure."""
        rows = (
            row if row.pick.sure else replace(row, pick=replace(row.pick, choice=None, toolset="")) for row in self.rows
        )
        return replace(self, rows=tuple(rows))
