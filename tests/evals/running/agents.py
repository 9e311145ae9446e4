"""Players over a small catalog, with a model that does what a test tells it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from toolbelt.catalog import Catalog, Plugin, Tool
from toolbelt.catalog.tokens import EstimateCounter
from toolbelt.evals.cases.case import Case, ExpectedCall
from toolbelt.evals.conversation import Reply, ToolUse
from toolbelt.evals.models.model import Request
from toolbelt.evals.offers import ToolRenderer
from toolbelt.evals.running.client import Budget, RetryingClient, RetryPolicy
from toolbelt.evals.running.prompt_tokens import PromptCounter
from toolbelt.evals.running.records import RequestRecord
from toolbelt.evals.running.trial import TrialRunner
from toolbelt.evals.scoring.schemas import ArgumentSchemas
from toolbelt.evals.scoring.scoring import Scorer
from toolbelt.evals.toolsets.opening import make_toolset
from toolbelt.evals.toolsets.spec import parse_toolset
from toolbelt.evals.toolsets.toolset import ToolsetContext
from toolbelt.evals.toolsets.variants.presentation import make_presentation
from toolbelt.evals.toolsets.variants.variant import parse_variant
from toolbelt.evals.toolsets.variants.varied import vary
from toolbelt.loadouts import ToolLoadoutRegistry
from toolbelt.providers.chat import ModelError, Usage

PATH = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
CATALOG = Catalog(
    plugins=(
        Plugin("files", (Tool("read", "Read a file.", PATH), Tool("list", "List files.")), category="files"),
        Plugin("net", (Tool("ping", "Ping a host."),), category="network"),
    )
)
Behaviour = Callable[[Request], Reply | ModelError]


class Agent:
    """A model that answers by a function of the request, at a dollar a token."""

    def __init__(self, behaviour: Behaviour, name: str = "agent") -> None:
        self.behaviour = behaviour
        self.name = name
        self.requests: list[Request] = []
        self.closed = 0

    async def complete(self, request: Request) -> Reply:
        self.requests.append(request)
        answer = self.behaviour(request)
        if isinstance(answer, ModelError):
            raise answer
        return answer

    def cost_usd(self, usage: Usage) -> float | None:
        return float((usage.prompt_tokens or 0) + (usage.completion_tokens or 0))

    async def close(self) -> None:
        self.closed += 1


def calls(*named: str | tuple[str, Mapping[str, Any]], prompt_tokens: int | None = 10) -> Reply:
    """A reply that calls tools, by name or with arguments."""
    import json

    made = [(one, {}) if isinstance(one, str) else one for one in named]
    uses = tuple(
        ToolUse.from_text(f"call-{number}", name, json.dumps(arguments))
        for number, (name, arguments) in enumerate(made)
    )
    return Reply(calls=uses, usage=Usage(prompt_tokens, 2, 4, None), latency_seconds=0.5)


def in_turn(*replies: Reply | ModelError) -> Behaviour:
    """Those replies by how often the assistant has spoken; then nothing more is called."""

    def behave(request: Request) -> Reply | ModelError:
        turn = sum(message["role"] == "assistant" for message in request.messages)
        return replies[turn] if turn < len(replies) else Reply("done", usage=Usage(10, 1))

    return behave


def make_case(*tools: str, **settings: Any) -> Case:
    """A case that expects those tools, by id."""
    expected = tuple(ExpectedCall((tool,)) for tool in tools)
    defaults = {"id": "case", "messages": ({"role": "user", "content": "Do it."},), "expected": expected}
    return Case(**{**defaults, "steps": max(1, len(tools)), **settings})


def make_trial_runner(
    agent: Agent,
    toolset: str = "full",
    kept: list[RequestRecord] | None = None,
    request_limit: int = 10,
    catalog: Catalog = CATALOG,
    budget: Budget | None = None,
    variant: str = "",
) -> TrialRunner:
    """A player of one arm, which waits for nothing between attempts."""
    renderers: list[ToolRenderer] = []
    changed = parse_variant(variant)

    def renderer(extras: Mapping[str, Tool]) -> ToolRenderer:
        renderers.append(
            ToolRenderer(catalog, EstimateCounter(), extras=extras, presentation=make_presentation(changed, catalog, 0))
        )
        return renderers[-1]

    ground = ToolsetContext(catalog, ToolLoadoutRegistry(), renderer)
    made = vary(make_toolset(parse_toolset(toolset), ground), changed, ground, renderers[-1])

    async def keep(record: RequestRecord) -> None:
        if kept is not None:
            kept.append(record)

    client = RetryingClient(agent, budget or Budget(), RetryPolicy(2, base_seconds=0.0), keep)
    scorer = Scorer(ArgumentSchemas(catalog))
    counter = PromptCounter(EstimateCounter())
    return TrialRunner(
        made,
        renderers[-1],
        client,
        scorer,
        counter,
        request_limit=request_limit,
        now=lambda: "2026-01-01T00:00:00+00:00",
    )
