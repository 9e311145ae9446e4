"""What a file of recorded responses holds, by model and origin; and what must not be in it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace

from toolbelt.evals.responses.export import digest_lines
from toolbelt.evals.responses.response import RecordedResponse, format_response


@dataclass(frozen=True, slots=True)
class ModelSummary:
    """The responses of one model by one origin.

    Attributes:
        model: As named on the command line.
        origin: A provider's name, or scheme, host and port.
        responses: Their number.
        oldest: When the first was recorded, ISO 8601 in UTC.
        newest: When the last was.
        served_by: Models that answered, as the provider names them.
        fingerprints: Of builds and settings that answered, where the provider reports them.
        prompt_tokens: As reported, in all; `None` where a response reports none.
        completion_tokens: Likewise.
        cost_usd: What they cost when they were asked; `None` where a price was unknown.
    """

    model: str
    origin: str
    responses: int
    oldest: str
    newest: str
    served_by: tuple[str, ...]
    fingerprints: tuple[str, ...]
    prompt_tokens: int | None
    completion_tokens: int | None
    cost_usd: float | None


@dataclass(frozen=True, slots=True)
class FileSummary:
    """The responses of a file.

    Attributes:
        responses: Their number.
        digest: Of all of them; that of the export of the same responses. 64 hexadecimal digits.
        models: By model and origin.
    """

    responses: int
    digest: str
    models: tuple[ModelSummary, ...]


def summarize_responses(responses: Iterable[RecordedResponse]) -> FileSummary:
    """Add up the responses of a file, which are sorted."""
    models: dict[tuple[str, str], ModelSummary] = {}
    count = 0

    def read() -> Iterator[str]:
        nonlocal count
        for response in responses:
            count += 1
            place = response.model, response.origin
            summary = _summarize_one(response)
            models[place] = _add(models[place], summary) if place in models else summary
            yield format_response(response)

    digest = digest_lines(read())
    return FileSummary(count, digest, tuple(models[place] for place in sorted(models)))


def _summarize_one(response: RecordedResponse) -> ModelSummary:
    reply = response.reply
    return ModelSummary(
        model=response.model,
        origin=response.origin,
        responses=1,
        oldest=response.recorded,
        newest=response.recorded,
        served_by=(reply.served_by,) if reply.served_by else (),
        fingerprints=(reply.fingerprint,) if reply.fingerprint else (),
        prompt_tokens=reply.usage.prompt_tokens,
        completion_tokens=reply.usage.completion_tokens,
        cost_usd=response.cost_usd,
    )


def _add(left: ModelSummary, right: ModelSummary) -> ModelSummary:
    return replace(
        left,
        responses=left.responses + right.responses,
        oldest=min(left.oldest, right.oldest),
        newest=max(left.newest, right.newest),
        served_by=_join(left.served_by, right.served_by),
        fingerprints=_join(left.fingerprints, right.fingerprints),
        prompt_tokens=_plus(left.prompt_tokens, right.prompt_tokens),
        completion_tokens=_plus(left.completion_tokens, right.completion_tokens),
        cost_usd=None if left.cost_usd is None or right.cost_usd is None else left.cost_usd + right.cost_usd,
    )


def _join(left: tuple[str, ...], right: tuple[str, ...]) -> tuple[str, ...]:
    return left if set(right) <= set(left) else tuple(sorted({*left, *right}))


def _plus(left: int | None, right: int | None) -> int | None:
    return None if left is None or right is None else left + right


def find_leaks(responses: Iterable[RecordedResponse], secrets: Collection[str]) -> Iterator[tuple[int, str]]:
    """The position of each response that holds a secret, from 0, and the field that does; the secret is not repeated.

    Args:
        responses: As they are exported.
        secrets: Values of keys. Digests and dates are not searched, in which a short key may stand by chance.
    """
    for position, response in enumerate(responses):
        for name, text in _texts(response):
            if any(secret in text for secret in secrets):
                yield position, name
                break


def _texts(response: RecordedResponse) -> Iterator[tuple[str, str]]:
    reply = response.reply
    yield from (("model", response.model), ("origin", response.origin), ("query", response.query))
    yield from (("text", reply.text), ("served_by", reply.served_by), ("fingerprint", reply.fingerprint))
    yield "finish_reason", reply.finish_reason
    for call in reply.calls:
        yield from (("calls", text) for text in (call.id, call.name, call.text))
