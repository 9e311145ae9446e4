"""The loopback server's `able` model without the server, and ways to fail."""

from __future__ import annotations

import asyncio
import json
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.servers.able import NO_HANDICAP, Handicap, able
from tests.servers.replies import Asked
from toolbelt.catalog.tokens import EstimateCounter
from toolbelt.evals.conversation import Reply, ToolUse
from toolbelt.evals.models.model import Request
from toolbelt.evals.probing.checks import ProbePlan
from toolbelt.evals.probing.results import ProbeResult
from toolbelt.evals.probing.runner import ProbeSettings, ProbeWatcher, run_probe
from toolbelt.evals.running.client import RetryPolicy
from toolbelt.evals.running.store import RunStore
from toolbelt.providers.chat import TOOL_CHOICES, Failure, ModelError, Usage

Refusal = Callable[[Request], ModelError | None]


class AbleModel:
    """Does what it is told, unless `refusal` says otherwise; a dollar a token.

    Attributes:
        requests: What it was asked.
        most: Requests that were under way at once.
        closed: How often it was closed.
    """

    def __init__(self, refusal: Refusal = lambda _: None, name: str = "able", **handicaps: bool) -> None:
        self.name = name
        self.requests: list[Request] = []
        self.most = self.closed = self._now = 0
        self._refusal, self._handicap = refusal, Handicap(**handicaps)

    async def complete(self, request: Request) -> Reply:
        self.requests.append(request)
        self._now += 1
        self.most = max(self.most, self._now)
        try:
            await asyncio.sleep(0)
            if (error := self._refusal(request)) is not None:
                raise error
            return answer(request, self._handicap)
        finally:
            self._now -= 1

    def cost_usd(self, usage: Usage) -> float | None:
        return None if usage.prompt_tokens is None else float(usage.prompt_tokens + (usage.completion_tokens or 0))

    async def close(self) -> None:
        self.closed += 1


def answer(request: Request, handicap: Handicap = NO_HANDICAP) -> Reply:
    """What the server's model would say."""
    return _reply(able(Asked(_body(request), 400), handicap))


def _body(request: Request) -> dict[str, Any]:
    body: dict[str, Any] = {"model": "able", "messages": list(request.messages)}
    if request.offer.tools:
        body["tools"] = request.offer.definitions
    if (choice := request.sampling.tool_choice) is not None:
        named = {"type": "function", "function": {"name": choice}}
        body["tool_choice"] = choice if choice in TOOL_CHOICES else named
    return body


def _reply(data: dict[str, Any]) -> Reply:
    said = data["choices"][0]["message"]
    calls = [(one["id"], one["function"]["name"], one["function"]["arguments"]) for one in said.get("tool_calls", ())]
    uses = tuple(ToolUse.from_text(*one) for one in calls)
    return Reply(said["content"] or "", uses, Usage(100, 10, 0, None), latency_seconds=0.5)


class ServedModel(AbleModel):
    """Asks the loopback server itself, past the client that takes seconds to load."""

    def __init__(self, url: str, row: str) -> None:
        super().__init__(name=f"openai/{row}")
        self._url, self._row = url, row

    async def complete(self, request: Request) -> Reply:
        body = {**_body(request), "model": self._row}
        return _reply(await asyncio.to_thread(self._post, body))

    def _post(self, body: dict[str, Any]) -> dict[str, Any]:
        headers = {"Content-Type": "application/json"}
        sent = urllib.request.Request(f"{self._url}/chat/completions", json.dumps(body).encode(), headers)
        with urllib.request.urlopen(sent, timeout=30) as answered:
            said: dict[str, Any] = json.load(answered)
            return said


def fail(failure: Failure, message: str = "no", **said: Any) -> ModelError:
    """A failure."""
    return ModelError(failure, message, **said)


def settings(**changes: Any) -> ProbeSettings:
    """Settings that wait for nothing."""
    return ProbeSettings(**{"counter": EstimateCounter(), "policy": RetryPolicy(2, base_seconds=0.0), **changes})


def probe(
    path: Path,
    model: AbleModel,
    *,
    fresh: bool = False,
    watcher: ProbeWatcher | None = None,
    wanted: ProbePlan | None = None,
    **changes: Any,
) -> ProbeResult:
    """Probe it, keeping that in `path`."""
    with RunStore(path) as store:
        plan = wanted or ProbePlan(model.name, tokenizer="estimate")
        return run_probe(store, plan, model, settings(**changes), fresh=fresh, watcher=watcher)
