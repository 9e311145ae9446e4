"""Embeddings of texts by hosted models: asked directly where that is possible, else through litellm (rule X1)."""

from __future__ import annotations

import asyncio
import math
import random
from array import array
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

from toolbelt.errors import ToolbeltError
from toolbelt.providers.chat import NOTHING_REPORTED, Failure, ModelError, NotStoredError, Usage
from toolbelt.providers.chat_body import sendable
from toolbelt.providers.direct_http import DirectHttp
from toolbelt.providers.embedding_requests import DirectRequests, EmbeddingRequests, LitellmRequests
from toolbelt.providers.endpoints import Api, Transport, find_endpoint
from toolbelt.providers.litellm_table import ModelTable
from toolbelt.providers.prices import find_prices
from toolbelt.providers.tokenizers import DEFAULT_TOKENIZER, find_tokenizer, make_cached_counter
from toolbelt.reporter import Advance
from toolbelt.text import plural, visible

BATCH = 32
"""Texts of one request. Servers of Hugging Face's text-embeddings-inference take no more unless they are told to
(`--max-client-batch-size`); providers take 96 and more."""
AT_ONCE = 4
"""Requests under way at a time."""
MAX_RETRIES = 5
_LONGEST_WAIT_SECONDS = 60.0
_LONGEST_RETRY_AFTER_SECONDS = 600.0


class EmbeddingError(ToolbeltError):
    """A model made no embeddings.

    Attributes:
        model: Its name.
        failure: The reason.
    """

    exit_code: ClassVar[int] = 3

    def __init__(self, model: str, error: ModelError) -> None:
        self.model = model
        self.failure = error.failure
        super().__init__(f"{visible(model)} made no embeddings ({error.failure}): {error.message}")


@dataclass(frozen=True, slots=True)
class Embeddings:
    """What became of texts.

    Attributes:
        vectors: Of 4-byte floats, one for each text, in their order; all of one length, none of zeros alone.
        usage: Tokens of all requests; a number is `None` where one of them reports none.
        requests: That were sent, retries among them.
    """

    vectors: tuple[array[float], ...]
    usage: Usage
    requests: int


class Embedder(Protocol):
    """Makes vectors of texts."""

    @property
    def name(self) -> str:
        """Of the model, as on the command line."""
        ...

    async def embed(self, texts: Sequence[str], advance: Advance | None = None) -> Embeddings:
        """The vectors of texts, in their order.

        Args:
            texts: Blank ones are not allowed: providers refuse them.
            advance: Called with the number of texts done so far.

        Raises:
            EmbeddingError: a request failed for good, or too often.
            NotStoredError: nothing may be asked.
        """
        ...

    async def close(self) -> None:
        """Release the connections."""
        ...


@dataclass(frozen=True)
class EmbeddingOptions:
    """How embeddings are asked for.

    Attributes:
        api_base: Address of the model; its provider's if `None`.
        timeout_seconds: For one request.
        table: What is known of models.
        transport: How it is asked.
        is_offline: Refuse to ask, before any connection is opened.
    """

    api_base: str | None = None
    timeout_seconds: float = 120.0
    table: ModelTable = field(default_factory=ModelTable, compare=False)
    transport: Transport = Transport.AUTO
    is_offline: bool = False


@dataclass(frozen=True, slots=True)
class EmbeddingEstimate:
    """What embeddings will come to.

    Attributes:
        texts: How many.
        requests: Without retries.
        tokens: As counted here.
        tokenizer: What they were counted with.
        cost_usd: By toolbelt.yaml, else litellm's table; `None` where the price is unknown.
    """

    texts: int
    requests: int
    tokens: int
    tokenizer: str
    cost_usd: float | None

    def __str__(self) -> str:
        cost = "at a price that is unknown" if self.cost_usd is None else f"about ${self.cost_usd:.2g}"
        requests = plural(self.requests, "request")
        return f"{plural(self.texts, 'text')} in {requests}, {self.tokens:,} tokens ({self.tokenizer}), {cost}"


def estimate_embeddings(name: str, texts: Sequence[str], table: ModelTable | None = None) -> EmbeddingEstimate:
    """What embeddings of texts will come to; nobody is asked."""
    counter = make_cached_counter(find_tokenizer(name) or DEFAULT_TOKENIZER)
    tokens = sum(counter.count(texts))
    prices = find_prices(name, table)
    cost = None if prices is None else prices.cost_usd(tokens, 0)
    return EmbeddingEstimate(len(texts), math.ceil(len(texts) / BATCH), tokens, counter.name, cost)


def open_embedder(name: str, options: EmbeddingOptions | None = None) -> Embedder:
    """What makes embeddings by the model of that name. Offline, it refuses to.

    Raises:
        NotFoundError: no such model.
        ToolbeltError: it cannot be asked: no key is set, `api_base` is no address, or it makes no embeddings.
    """
    options = options or EmbeddingOptions()
    if not name.strip():
        raise ToolbeltError("An embedding model needs a name, such as text-embedding-3-small.")
    if options.is_offline:
        return _Offline(name)
    if options.transport is not Transport.LITELLM:
        endpoint = find_endpoint(name, options.api_base, options.table, Api.EMBEDDINGS)
        if endpoint is not None:
            return BatchedEmbedder(name, DirectRequests(endpoint.model, DirectHttp(endpoint, options.timeout_seconds)))
    from toolbelt.providers.litellm_routes import find_route

    route = find_route(name, options.api_base, options.table, Api.EMBEDDINGS)
    return BatchedEmbedder(name, LitellmRequests(route, options.timeout_seconds))


def embed_texts(
    name: str, texts: Sequence[str], options: EmbeddingOptions | None, advance: Advance | None = None
) -> Embeddings:
    """As `Embedder.embed`, for callers that cannot wait; also where an event loop is running.

    Raises:
        EmbeddingError: a request failed for good, or too often.
        NotStoredError: nothing may be asked.
        ToolbeltError: as `open_embedder`.
    """
    embedder = open_embedder(name, options)

    async def embed() -> Embeddings:
        try:
            return await embedder.embed(texts, advance)
        finally:
            await embedder.close()

    return _run_anywhere(embed)


class _Offline:
    def __init__(self, name: str) -> None:
        self.name = name

    async def embed(self, texts: Sequence[str], advance: Advance | None = None) -> Embeddings:  # noqa: ARG002
        if not texts:
            return Embeddings((), NOTHING_REPORTED, 0)
        raise NotStoredError(self.name, len(texts))

    async def close(self) -> None:
        """Nothing was opened."""


class BatchedEmbedder:
    """Asks in batches, some at a time, and retries what may pass.

    Args:
        name: Of the model, as on the command line.
        requests: How it is asked.
        sleep: How to wait.
    """

    def __init__(
        self, name: str, requests: EmbeddingRequests, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    ) -> None:
        self.name = name
        self._requests = requests
        self._sleep = sleep
        self._draw = random.uniform

    async def embed(self, texts: Sequence[str], advance: Advance | None = None) -> Embeddings:
        """The vectors of texts, in their order."""
        if any(not text.strip() for text in texts):
            raise ValueError("a text without words has no embedding")
        batches = [[sendable(text) for text in texts[start : start + BATCH]] for start in range(0, len(texts), BATCH)]
        vectors: dict[int, list[array[float]]] = {}
        usages: list[Usage] = []
        waiting = list(enumerate(batches))[::-1]
        sent = done = 0

        async def work() -> None:
            nonlocal sent, done
            while waiting:
                number, batch = waiting.pop()
                vectors[number], usage, tries = await self._ask(batch)
                usages.append(usage)
                sent += tries
                done += len(batch)
                if advance is not None:
                    advance(done)

        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(min(AT_ONCE, len(batches))):
                    group.create_task(work())
        except BaseExceptionGroup as failures:
            first = failures.exceptions[0]
            raise (EmbeddingError(self.name, first) if isinstance(first, ModelError) else first) from None
        ordered = tuple(vector for number in range(len(batches)) for vector in vectors[number])
        if len({len(vector) for vector in ordered}) > 1:
            error = ModelError(Failure.BROKEN_ANSWER, "Its embeddings differ in length from request to request.")
            raise EmbeddingError(self.name, error)
        return Embeddings(ordered, _add(usages), sent)

    async def close(self) -> None:
        """Release the connections."""
        await self._requests.close()

    async def _ask(self, batch: Sequence[str]) -> tuple[list[array[float]], Usage, int]:
        for tries in range(1, MAX_RETRIES + 2):
            try:
                return *await self._requests.ask(batch), tries
            except ModelError as error:
                wait = error.retry_after_seconds
                may_pass = error.failure.is_passing if error.may_pass is None else error.may_pass
                if not may_pass or tries > MAX_RETRIES or (wait or 0.0) > _LONGEST_RETRY_AFTER_SECONDS:
                    raise
                own = min(_LONGEST_WAIT_SECONDS, 2.0 ** (tries - 1))
                await self._sleep(own * self._draw(0.5, 1.0) if wait is None else wait + self._draw(0.0, 0.2))
        raise AssertionError("the last attempt returns or raises")


def _add(usages: Sequence[Usage]) -> Usage:
    prompts = [usage.prompt_tokens for usage in usages]
    known = [tokens for tokens in prompts if tokens is not None]
    return Usage(prompt_tokens=sum(known), completion_tokens=0) if known and len(known) == len(prompts) else Usage()


def _run_anywhere(make: Callable[[], Coroutine[Any, Any, Embeddings]]) -> Embeddings:
    """Run to the end, in a thread of its own where this one has an event loop already."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(make())
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: asyncio.run(make())).result()
