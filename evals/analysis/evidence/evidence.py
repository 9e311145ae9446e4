"""One side of a comparison: a run, or a baseline saved from one, case by case."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from toolbelt.evals.analysis.summary.responses import ModelResponses
from toolbelt.evals.scoring.outcome import Outcome
from toolbelt.evals.toolsets.spec import shorten_toolset


@dataclass(frozen=True, slots=True)
class Attempt:
    """A finished trial, as far as comparing goes.

    Attributes:
        outcome: What became of it.
        covered: Whether a complete accepted answer could be reached.
        called: Ids of the tools called, in order; the name as written where it is of no tool. `None` where that is
            not stored, as in a baseline for trials that were right.
        missing: Ids of the tools of the nearest accepted answer that were not called.
        surplus: Ids of calls made that were neither asked for nor permitted.
        definition_tokens: Of the tools offered at the first request, estimated.
        own_prompt_tokens: Of all requests, estimated; `None` where it is not stored.
        prompt_tokens: Of all requests, as reported; `None` where the provider does not say.
        requests: Number of requests, without retries.
        cost_usd: What it cost, or would have, as reused responses count with what they cost when they were asked;
            `None` where the price is unknown.
        latency_seconds: Of all answered requests; `None` where it is not stored, as in a baseline.
    """

    outcome: Outcome
    covered: bool
    called: tuple[str, ...] | None = None
    missing: tuple[str, ...] = ()
    surplus: tuple[str, ...] = ()
    definition_tokens: int = 0
    own_prompt_tokens: int | None = None
    prompt_tokens: int | None = None
    requests: int = 1
    cost_usd: float | None = None
    latency_seconds: float | None = None

    @property
    def is_scored(self) -> bool:
        """Whether the attempt says anything about the model's choice."""
        return self.outcome.is_scored

    @property
    def is_right(self) -> bool:
        """Right by names, which an uncovered trial never is (rule E5)."""
        return self.covered and self.outcome.is_right_by_names

    @property
    def is_solved(self) -> bool:
        """Whether names and arguments are right."""
        return self.covered and self.outcome is Outcome.CORRECT


@dataclass(frozen=True, slots=True)
class CaseEvidence:
    """What became of a case in one arm.

    Attributes:
        case: Its id.
        cluster: Shared by the paraphrases of one task; its id where it stands alone.
        kind: What sort of case it is.
        attempts: One an epoch, in their order; `None` where the trial has not finished.
        responses: Digest of its recorded responses, requests and answers of all epochs; empty where there are none.
    """

    case: str
    cluster: str
    kind: str
    attempts: tuple[Attempt | None, ...]
    responses: str = ""

    @property
    def scored(self) -> tuple[Attempt, ...]:
        """The attempts that say something about the choice."""
        return tuple(attempt for attempt in self.attempts if attempt is not None and attempt.is_scored)


@dataclass(frozen=True, slots=True)
class ArmName:
    """One model × one toolset.

    Attributes:
        model: Its name.
        toolset: Its name.
        variant: What is changed about the toolset; empty if nothing.
        tokenizer: What counted the definitions.
    """

    model: str
    toolset: str
    variant: str = ""
    tokenizer: str = ""

    @property
    def key(self) -> tuple[str, str, str]:
        """The key by which the same arm is found in another run."""
        return self.model, self.toolset, self.variant

    @property
    def label(self) -> str:
        """A label that distinguishes it from other arms."""
        return " · ".join(part for part in (self.model, self.toolset_label) if part)

    @property
    def toolset_label(self) -> str:
        """A label that distinguishes it from other arms of its model."""
        return " · ".join(part for part in (shorten_toolset(self.toolset), self.variant) if part)


@dataclass(frozen=True, slots=True)
class SequentialInfo:
    """What is known of a side that stopped, or may stop, when its comparison is decided (rule X6).

    Attributes:
        level: Of the intervals at the last look, a fraction; of the first look, if none was taken yet.
        look: How many looks were taken.
        looks: How many there are at most.
        cases: How many cases there are.
        is_decided: Whether it stopped because all was decided.
    """

    level: float
    look: int
    looks: int
    cases: int
    is_decided: bool


@dataclass(frozen=True, slots=True)
class TopUpInfo:
    """What is known of a run whose arms were asked further where their verdict was open.

    Attributes:
        epochs: The most epochs of an arm.
        level: Of the intervals at every look, a fraction.
        asked: Epochs of each arm, by its label.
    """

    epochs: int
    level: float
    asked: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class SideInfo:
    """What a side is of.

    Attributes:
        name: The run's id, or the file of a baseline.
        is_baseline: Whether it was read from a baseline.
        dataset: Name of the dataset.
        digest: Of its cases and grading.
        chosen: Digest of which cases were asked, in which order.
        cases: How many each arm is asked.
        epochs: How often.
        filter: With which flags of `toolbelt eval run` they were chosen, as far as given: `kind`, `tag` and `case`,
            lists of texts, `limit`, and with it `seed`.
        settings: How models were asked and judged: sampling and request limit; what must agree.
        catalog: Name of the catalog.
        surroundings: Digest of the catalog and the loadouts.
        code: `toolbelt` (version), `commit`, `changed`, as far as known.
        aliases: By model whose name is an alias, what it stood for; must agree where both sides have it.
        status: `finished`, `incomplete`, `interrupted`, `running` or `killed`.
        reason: Why it is not finished.
        drafts: Cases that nobody has reviewed.
        api_base: Where hosted models were asked; `None` for their provider's place, or in a baseline.
        created: When it began, ISO 8601 in UTC; empty in a baseline.
        tools: By the id of each tool of the catalog, `DESCRIPTION:REST`, digests of its definition; empty where they
            are not kept, as in runs and baselines of earlier versions.
        responses: Of each model that is asked over a response cache, which answers were recorded and which asked; in a
            baseline all count as recorded.
        top_up: Set where arms were asked further than others; `epochs` is the most of them.
        is_imported: Whether the answers were given elsewhere, so that `settings` says nothing of how.
        sequential: Set where the cases are those of a run that may stop early, whose bounds hold for comparisons.
        margin: What such a run is decided by, a fraction; `None` of other runs, and in a baseline.
    """

    name: str
    dataset: str
    digest: str
    chosen: str
    cases: int
    epochs: int = 1
    filter: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    catalog: str = ""
    surroundings: str = ""
    code: Mapping[str, str] = field(default_factory=dict)
    aliases: Mapping[str, str] = field(default_factory=dict)
    status: str = "finished"
    reason: str = ""
    drafts: int = 0
    api_base: str | None = None
    created: str = ""
    is_baseline: bool = False
    tools: Mapping[str, str] = field(default_factory=dict)
    responses: tuple[ModelResponses, ...] = ()
    sequential: SequentialInfo | None = None
    margin: float | None = None
    top_up: TopUpInfo | None = None
    is_imported: bool = False

    def epochs_of(self, arm: ArmName) -> int:
        """How often an arm is asked each case."""
        return self.epochs if self.top_up is None else self.top_up.asked[arm.label]


class Side(Protocol):
    """What a comparison needs of a run or a baseline; two arms are in memory at a time."""

    @property
    def about(self) -> SideInfo:
        """Dataset, run and settings of this side."""
        ...

    @property
    def arms(self) -> tuple[ArmName, ...]:
        """The arms, in the order of the command."""
        ...

    def read(self, arm: int) -> Mapping[str, CaseEvidence]:
        """Every case of which a trial of the arm has finished, by its id, in the order asked.

        Args:
            arm: 0-based position among `arms`.
        """
        ...

    def find_exchange(self, arm: int) -> str:
        """Digest of the requests and the answers of all trials of an arm; empty where one is not known (rule V3)."""
        ...
