"""The plan of a run, as a value; resuming is subtraction (rule E8)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from types import MappingProxyType
from typing import Any

from toolbelt.errors import NotFoundError
from toolbelt.evals.models.imported import ImportedFrom, read_imported
from toolbelt.evals.running.overflow import FitGuard, LeftOutArm, ModelLimits, read_known_limits
from toolbelt.evals.running.ranges import Range, refuse_outside
from toolbelt.evals.running.rounds import Decision, read_decision
from toolbelt.evals.running.shards import Shard
from toolbelt.evals.running.top_up import TopUp, read_top_up
from toolbelt.evals.toolsets.spec import ToolsetSpec, parse_toolset, shorten_toolset
from toolbelt.evals.toolsets.variants.variant import Variant, parse_variant
from toolbelt.models.facts import EFFORTS
from toolbelt.models.token_rates import TokenRate
from toolbelt.providers.chat import Sampling


@dataclass(frozen=True, slots=True)
class Arm:
    """One model × one toolset.

    Attributes:
        model: Its name.
        toolset: Its name.
        variant: What is changed about the toolset; empty if nothing.
    """

    model: str
    toolset: str
    variant: str = ""

    @property
    def spec(self) -> ToolsetSpec:
        """The toolset, parsed from its name."""
        return parse_toolset(self.toolset)

    @property
    def changes(self) -> Variant:
        """The variant, parsed from its name."""
        return parse_variant(self.variant)

    @property
    def label(self) -> str:
        """A label that distinguishes it from the other arms."""
        return " · ".join(part for part in (self.model, self.shown) if part)

    @property
    def shown(self) -> str:
        """A label that distinguishes it from the other arms of its model."""
        return " · ".join(part for part in (shorten_toolset(self.toolset), self.variant) if part)


@dataclass(frozen=True, slots=True)
class Trial:
    """One case × one arm × one epoch.

    Attributes:
        number: 0-based and stable, whatever the order in which trials are run.
        case: 0-based position among the cases of the plan.
        arm: 0-based position among the arms.
        epoch: 0-based.
    """

    number: int
    case: int
    arm: int
    epoch: int


@dataclass(frozen=True, slots=True)
class CaseFilter:
    """Selects the cases of a dataset.

    Attributes:
        kinds: Of these kinds; any if empty.
        tags: With at least one of these tags; any if empty.
        ids: These alone; all if empty.
        limit: So many of them, drawn with the run's seed; all if `None`.
    """

    kinds: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    limit: int | None = None


SETTING_RANGES: Mapping[str, Range] = MappingProxyType(
    {
        "filter.limit": Range(1, is_optional=True),
        "epochs": Range(1),
        "seed": Range(-(2**63), 2**63 - 1),
        "sampling.temperature": Range(0, is_whole=False, is_optional=True),
        "sampling.max_tokens": Range(1, is_optional=True),
        "request_limit": Range(1),
    }
)
"""The numbers that are allowed, by the path of the field; the same from Python as on the command line."""


@dataclass(frozen=True, kw_only=True)
class RunSettings:
    """The settings of a run that the user decides, beyond dataset, models and toolsets.

    Attributes:
        filter: Which cases are asked.
        epochs: How often each case is asked.
        seed: Of everything that is drawn.
        sampling: How models are asked.
        request_limit: Requests after which a trial is given up.
        api_base: Where hosted models are asked, without what may be secret in it; `None` for their provider's place.
        suite: The suite that says which toolsets are run; empty if they are named one by one.
        ask_anyway: Whether requests that are known not to fit the model are sent anyway.
        shard: The part that is run; `None` for the whole.
        decision: What is to be decided, so that the run may stop early; `None` to ask everything.
        system: The system prompt of cases that have none of their own; empty for none, and `None` for that of the
            agent or the dataset.
        imported: Where the answers come from; `None` where models are asked.

    Raises:
        OutOfRangeError: a number is not allowed, see `SETTING_RANGES`.
        NotFoundError: no provider knows that effort.
    """

    filter: CaseFilter = CaseFilter()
    epochs: int = 1
    seed: int = 0
    sampling: Sampling = field(default_factory=Sampling)
    request_limit: int = 10
    api_base: str | None = None
    suite: str = ""
    ask_anyway: bool = False
    shard: Shard | None = None
    decision: Decision | None = None
    system: str | None = None
    imported: ImportedFrom | None = None

    def __post_init__(self) -> None:
        refuse_outside(SETTING_RANGES, self)
        if (effort := self.sampling.effort) is not None and effort not in EFFORTS:
            raise NotFoundError("effort", effort, EFFORTS)


_STORED_TYPES: Mapping[str, type] = {
    "dataset": dict,
    "arms": list,
    "cases": int,
    "epochs": int,
    "seed": int,
    "request_limit": int,
    "excluded": dict,
    "settings": dict,
}
"""Keys of a stored plan that are read without `Plan`, too, or are counted with."""
_LEFT_OUT_IF_EMPTY = (
    *("params", "token_rates", "model_facts", "toolset_notes", "toolset_systems", "system", "served", "tools"),
    *("shard", "shard_cases", "merged", "decision", "top_up", "imported"),
)


@dataclass(frozen=True)
class Plan(RunSettings):
    """Everything that defines a run; its trials are generated, never held in memory.

    Attributes:
        dataset: As it can be opened from anywhere: a shipped name, or an absolute path.
        dataset_name: For people.
        digest: Of the cases and their grading.
        catalog: As it can be opened from anywhere; `None` where it is the dataset's own.
        catalog_name: For people.
        surroundings: A digest of the catalog, the loadouts and, where a toolset goes by one, the agents with their
            toolkits, which must not change while a run is under way.
        chosen: A digest of which cases are asked, in which order.
        config: Absolute path of the `toolbelt.yaml` used; `None` if there is none.
        arms: In the order asked for.
        cases: How many are asked, after filtering; of a shard, by all shards together.
        shard_cases: How many of them the shard asks; 0 in a whole plan.
        top_up: How far each arm is asked, where some were asked further than others; `epochs` is the most of them.
        merged: Of a run that shards were merged into: by shard, such as `3/8`, the run that it was.
        excluded: Cases of the dataset that cannot be asked, by reason.
        tokenizer: What counts where a model's own tokenizer is not known.
        without_role: Cases that have no role, which `loadout` shows the whole catalog; 0 where that is not among the
            toolsets.
        distractors_reached: By the name of each `oracle+N`, the cases that show N distractors; the others have fewer.
        drafts: Cases among them that nobody has reviewed yet, so that nothing may be proved by the run.
        code: What it was begun with: `toolbelt`, its version; where the working directory is in a git repository, also
            `commit` and `changed`, see `toolbelt.evals.setup.provenance`. A run may go on with other code.
        limits: Of each model, by its name, as known when the run began; what cannot fit is not asked.
            A model that is not in it is asked whatever is offered.
        token_rates: By model, what our count of definitions comes to in its prompt; without one it stays as it is.
        params: By model, further fields of its requests, as the project states them.
        toolset_systems: By toolset that is an agent with a system prompt, that prompt, unless one was asked for.
        model_facts: By model, what is known of its name since the run began: `asked_as` where it is a label of the
            project's; of the table `alias_of`, `deprecation_date`, `successor`.
        left_out: Pairs of the suite that are no arms, as there is nothing to ask.
        toolset_notes: Sentences on toolsets that were named and are no arms, or others in their place.
        served: By toolset that is one loadout over tools of MCP servers, the digest of the list that `toolbelt serve`
            offers with that loadout (rule M5).
        tools: By the id of each tool of the catalog, `DESCRIPTION:REST`, digests of its definition, so that a later run
            can name those that changed; empty in runs of earlier versions.
    """

    dataset: str
    dataset_name: str
    digest: str
    catalog_name: str
    surroundings: str
    chosen: str
    arms: tuple[Arm, ...]
    cases: int
    catalog: str | None = None
    config: str | None = None
    excluded: Mapping[str, int] = field(default_factory=dict)
    tokenizer: str = "o200k_base"
    without_role: int = 0
    distractors_reached: Mapping[str, int] = field(default_factory=dict)
    drafts: int = 0
    code: Mapping[str, str] = field(default_factory=dict)
    limits: Mapping[str, ModelLimits] = field(default_factory=dict)
    token_rates: Mapping[str, TokenRate] = field(default_factory=dict)
    params: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    toolset_systems: Mapping[str, str] = field(default_factory=dict)
    model_facts: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    left_out: tuple[LeftOutArm, ...] = ()
    toolset_notes: tuple[str, ...] = ()
    served: Mapping[str, str] = field(default_factory=dict)
    tools: Mapping[str, str] = field(default_factory=dict)
    shard_cases: int = 0
    merged: Mapping[str, str] = field(default_factory=dict)
    top_up: TopUp | None = None

    def __post_init__(self) -> None:
        """A stored plan is read as it was written; `RunSettings` refused what must not be asked for."""

    def fit_guard(self, model: str) -> FitGuard | None:
        """The guard that refuses offers that do not fit the model; `None` where everything is sent."""
        limits = None if self.ask_anyway or self.imported else self.limits.get(model)
        return None if limits is None else FitGuard(model, limits, self.token_rates.get(model))

    @property
    def size(self) -> int:
        """The number of trials."""
        return sum(map(self.planned_of, range(len(self.arms))))

    @property
    def numbers(self) -> int:
        """Numbers of trials lie below this. A shard's trials have the numbers that they have in the whole plan."""
        return self.epochs * self.cases * len(self.arms)

    @property
    def asked_cases(self) -> int:
        """How many cases this run asks; where it was decided early, how many it asked."""
        if self.decision is not None and self.decision.end is not None:
            return self.decision.end.cases
        return self.cases if self.shard is None else self.shard_cases

    @property
    def per_arm(self) -> int:
        """The number of trials of each arm."""
        return self.epochs * self.asked_cases

    @property
    def stated(self) -> dict[str, Any]:
        """How models are asked, as far as it is not left to their providers."""
        more = {"system": self.system, "toolset_systems": self.toolset_systems, "model_params": self.params}
        return {**self.sampling.stated, **{key: value for key, value in more.items() if value}}

    def find_asked(self, model: str) -> str:
        """The name by which a model is asked, where `model` may be its label."""
        return self.model_facts.get(model, {}).get("asked_as", model)

    def sampling_of(self, arm: Arm) -> Sampling:
        """How an arm's model is asked."""
        params = {**self.params.get(arm.model, {}), **(self.sampling.params or {})}
        return replace(self.sampling, effort=arm.changes.effort or self.sampling.effort, params=params or None)

    def system_of(self, arm: Arm) -> str:
        """The system prompt of an arm's cases that have none of their own; empty for none."""
        return self.toolset_systems.get(arm.toolset, self.system or "")

    def planned_of(self, arm: int) -> int:
        """The number of trials of an arm, by its place; that of each, but where some were asked further."""
        return self.per_arm if self.top_up is None else self.top_up.asked[arm] * self.asked_cases

    @property
    def selection(self) -> str:
        """A digest of which cases this run asks, in which order."""
        if self.shard is None:
            return self.chosen
        return hashlib.sha256(f"{self.chosen} {self.shard}".encode()).hexdigest()

    def trials(self, done: Collection[int] = frozenset(), positions: Sequence[int] | None = None) -> Iterator[Trial]:
        """Every trial that is not done, in the order in which they are run.

        Arms are interleaved, and each case begins with another arm, so that changes over time affect all arms alike.

        Args:
            done: Numbers to leave out.
            positions: Of the cases that are asked, in order; all if `None`.
        """
        arms = len(self.arms)
        epochs = (self.epochs,) * arms if self.top_up is None else self.top_up.asked
        for epoch in range(self.epochs):
            for case in range(self.cases) if positions is None else positions:
                first = (epoch * self.cases + case) * arms
                for slot in range(arms):
                    arm = (slot + case + epoch) % arms
                    if epoch < epochs[arm] and first + arm not in done:
                        yield Trial(first + arm, case, arm, epoch)

    def to_json(self) -> str:
        """As JSON, for the store."""
        data = asdict(self)
        data["dataset"] = {"name": self.dataset_name, "reference": self.dataset, "digest": self.digest}
        data["catalog"], data["catalog_reference"] = self.catalog_name, self.catalog
        data["rooms"] = data.pop("limits")  # as the store calls it
        for key in ("model", "toolset", "variant"):
            data[f"{key}s"] = list(dict.fromkeys(getattr(arm, key) for arm in self.arms))
        data["settings"] = {
            **self.stated,
            "request_limit": self.request_limit,
            "tokenizer": self.tokenizer,
            **({"api_base": self.api_base} if self.api_base else {}),
            **({"without_role": self.without_role} if self.without_role else {}),
            **({"drafts": self.drafts} if self.drafts else {}),
            **({"toolset_notes": list(self.toolset_notes)} if self.toolset_notes else {}),
            **({"ask_anyway": True} if self.ask_anyway else {}),
            **({"shard": str(self.shard)} if self.shard else {}),
            **({"until_decided": self.decision.describe(self.cases)} if self.decision else {}),
            **({"top_up": {"epochs": self.top_up.epochs, "level": self.top_up.level}} if self.top_up else {}),
            **({"merged_shards": len(self.merged)} if self.merged else {}),
            **(self.imported.stated if self.imported else {}),
            **{key: value for key, value in asdict(self.filter).items() if value not in (None, ())},
        }
        if self.asked_cases != self.cases:
            data["asked_cases"] = self.asked_cases
        empty = (key for key in _LEFT_OUT_IF_EMPTY if not getattr(self, key))
        for key in ("dataset_name", "digest", "catalog_name", *empty):
            del data[key]
        return json.dumps(data)  # ASCII, so that a path that is no UTF-8 can be kept

    @classmethod
    def from_json(cls, text: str) -> Plan:
        """Read a plan that `to_json` wrote.

        Raises:
            KeyError, TypeError, ValueError: what was written is no plan of this version.
        """
        data: dict[str, Any] = json.loads(text)
        for key, type_ in _STORED_TYPES.items():
            if not isinstance(data[key], type_):
                raise TypeError(key)
        dataset, chosen = data["dataset"], data["filter"]
        return cls(
            dataset=dataset["reference"],
            dataset_name=dataset["name"],
            digest=dataset["digest"],
            catalog_name=data["catalog"],
            surroundings=data["surroundings"],
            chosen=data["chosen"],
            arms=tuple(Arm(**arm) for arm in data["arms"]),
            cases=data["cases"],
            catalog=data["catalog_reference"],
            config=data["config"],
            filter=CaseFilter(tuple(chosen["kinds"]), tuple(chosen["tags"]), tuple(chosen["ids"]), chosen["limit"]),
            excluded=data["excluded"],
            epochs=data["epochs"],
            seed=data["seed"],
            sampling=Sampling(**data["sampling"]),
            request_limit=data["request_limit"],
            tokenizer=data["tokenizer"],
            without_role=data["without_role"],
            api_base=data["api_base"],
            distractors_reached=data.get("distractors_reached", {}),
            drafts=data.get("drafts", 0),
            code=data.get("code", {}),
            suite=data.get("suite", ""),
            params=data.get("params", {}),
            toolset_systems=data.get("toolset_systems", {}),
            system=data.get("system"),
            model_facts=data.get("model_facts", {}),
            **read_known_limits(data),
            toolset_notes=tuple(data.get("toolset_notes", ())),
            ask_anyway=data.get("ask_anyway", False),
            served=data.get("served", {}),
            tools=data.get("tools", {}),
            shard=Shard(**data["shard"]) if data.get("shard") else None,
            shard_cases=data.get("shard_cases", 0),
            merged=data.get("merged", {}),
            decision=read_decision(data.get("decision")),
            top_up=read_top_up(data.get("top_up")),
            imported=read_imported(data.get("imported")),
        )
