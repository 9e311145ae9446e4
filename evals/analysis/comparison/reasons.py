"""Reasons, mismatches and notes of a comparison, as data; `reason_text` puts them into words."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from toolbelt.evals.analysis.evidence.evidence import SideInfo

# Why a contrast has no better verdict, or no figures


class MissingFigures(StrEnum):
    """Why figures are missing, or are an estimate."""

    NO_SHARED_CASES = "no_shared_cases"
    SINGLE_CLUSTER = "single_cluster"
    ESTIMATED_TOKENS = "estimated_tokens"
    UNKNOWN_TOKENS = "unknown_tokens"
    UNKNOWN_COST = "unknown_cost"
    UNKNOWN_LATENCY = "unknown_latency"


@dataclass(frozen=True, slots=True)
class DifferentTokenizers:
    """Tokens of the two arms were counted by different tokenizers; an empty name is an unknown one."""

    old: str
    new: str


@dataclass(frozen=True, slots=True)
class TooFewCases:
    """The interval of the difference reaches beyond the margin.

    Attributes:
        low: Lower bound of the difference.
        high: Upper bound.
        margin: Share that may be lost.
        planned: Cases that were to be asked.
        is_unfinished: Whether many of these have no answer yet.
    """

    low: float
    high: float
    margin: float
    planned: int
    is_unfinished: bool


@dataclass(frozen=True, slots=True)
class UncertainLoss:
    """The interval lies below 0, but the p value is too large.

    Attributes:
        p_value: Of this contrast alone; `None` if unknown.
        adjusted_p: Adjusted over all verdicts.
        verdicts: Number of verdicts that it is adjusted over.
    """

    p_value: float | None
    adjusted_p: float
    verdicts: int


class CountedAs(StrEnum):
    """How unscored cases of the new arm are counted to test whether a verdict holds without them."""

    LOST = "lost"
    WON = "won"


@dataclass(frozen=True, slots=True)
class UnscoredCases:
    """The verdict would rest on cases that were not scored.

    Attributes:
        cases: Cases not scored in both arms; 0 if only other arms have such cases.
        planned: Cases that were to be asked.
        epochs: Times each case was to be asked.
        counted_as: The assumption under which the verdict does not hold.
        never_fit: Cases that fit the window in neither arm, which count for neither.
        margin: Share that may be lost.
        bound: Bound of the difference under that assumption; `None` if the p value decides.
        adjusted_p: Adjusted p value under that assumption; `None` if a bound decides.
    """

    cases: int
    planned: int
    epochs: int
    counted_as: CountedAs
    never_fit: int
    margin: float
    bound: float | None = None
    adjusted_p: float | None = None


Reason = MissingFigures | DifferentTokenizers | TooFewCases | UncertainLoss | UnscoredCases


# What differs between two sides


class Aspect(StrEnum):
    """What two sides may differ in: the first five must agree."""

    DATASET = "dataset"
    SELECTION = "selection"
    EPOCHS = "epochs"
    SETTING = "setting"
    ALIAS = "alias"
    CATALOG = "catalog"
    SURROUNDINGS = "surroundings"
    VERSION = "version"
    COMMIT = "commit"
    API_BASE = "api_base"
    UNCOMMITTED_CHANGES = "uncommitted_changes"
    ARM_NAMES = "arm_names"


@dataclass(frozen=True, slots=True)
class Mismatch:
    """One aspect in which two sides differ.

    Attributes:
        aspect: Which one.
        names: For `SETTING` the setting; for `ALIAS` the model; for `ARM_NAMES` the parts of the names that differ.
    """

    aspect: Aspect
    names: tuple[str, ...] = ()


# What to know before any verdict


class SideProblem(StrEnum):
    """What is to be known of a side."""

    UNFINISHED = "unfinished"
    DRAFTS = "drafts"
    SEQUENTIAL = "sequential"
    TOPPED_UP = "topped_up"
    IMPORTED = "imported"


@dataclass(frozen=True, slots=True)
class SideNote:
    """A side whose figures are less certain than they look."""

    problem: SideProblem
    side: SideInfo


class ArmsNote(StrEnum):
    """Arms without a verdict; which ones is in the comparison."""

    SAME_SIDES = "same_sides"
    MISSING = "missing"
    ADDED = "added"
    UNFIT = "unfit"
    ALONE = "alone"


class CasesProblem(StrEnum):
    """Why cases count for no verdict, or count only with doubt."""

    UNSCORED = "unscored"
    NEVER_FIT = "never_fit"


@dataclass(frozen=True, slots=True)
class CasesNote:
    """Cases that were not scored.

    Attributes:
        problem: Why.
        cases: How many, in the comparison with the most of them.
        comparisons: Comparisons that have any.
        of: All comparisons.
    """

    problem: CasesProblem
    cases: int
    comparisons: int
    of: int


@dataclass(frozen=True, slots=True, order=True)
class ClusterSizes:
    """How much the sizes of clusters differ.

    Attributes:
        weight: Of the largest cluster among the squares of all sizes, a fraction; 0 if it is not large.
        largest: Cases in the largest cluster.
        mean: Mean number of cases in a cluster.
    """

    weight: float = 0.0
    largest: int = 0
    mean: float = 0.0


ComparisonNote = SideNote | ArmsNote | CasesNote | ClusterSizes
