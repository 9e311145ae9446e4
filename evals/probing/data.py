"""A probe as JSON, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

from toolbelt.evals.probing.probe import CheckOutcome, CheckResult, ProbeResult
from toolbelt.evals.probing.wording import reports_cache, title_of, total_cost, total_requests

SCHEMA = "toolbelt.probe/1"
_CHECK_FIELDS = tuple(field.name for field in fields(CheckResult))
_FIELDS = tuple(field.name for field in fields(ProbeResult))


def probe_data(result: ProbeResult) -> dict[str, Any]:
    """A probe as plain values: what it holds, and what follows from that.

    `works` counts the checks that do, of `planned`; `outcomes` counts all by outcome. `cached_tokens_reported` is
    whether the provider ever said how much it read from its cache, `null` where it answered nothing. `requests` are
    all that were made, retries and those of checks that did not come to an end among them, and `cost_usd` is what they
    cost, `null` where a price is unknown.
    """
    outcomes = [check.outcome for check in result.checks]
    return {
        "schema": SCHEMA,
        "probe": result.probe,
        "created": result.created,
        "model": result.model,
        "api_base": result.api_base,
        "status": result.status,
        "reason": result.reason,
        "suite": result.suite,
        "tokenizer": result.tokenizer,
        "code": dict(result.code),
        "planned": list(result.planned),
        "works": outcomes.count(CheckOutcome.WORKS),
        "outcomes": {one.value: outcomes.count(one) for one in CheckOutcome if one in outcomes},
        "cached_tokens_reported": reports_cache(result),
        "requests": total_requests(result),
        "cost_usd": total_cost(result),
        "open_requests": result.open_requests,
        "open_cost_usd": result.open_cost_usd,
        "checks": [_check_data(check) for check in result.checks],
    }


def _check_data(check: CheckResult) -> dict[str, Any]:
    data = asdict(check)
    return {"key": data.pop("key"), "title": title_of(check.key), **data, "outcome": check.outcome.value}


def read(data: Mapping[str, Any]) -> ProbeResult:
    """The probe of which `probe_data` made plain values.

    Raises:
        KeyError: something is missing.
        ValueError: an outcome that there is none of.
    """
    checks = tuple(
        CheckResult(**{name: one[name] for name in _CHECK_FIELDS} | {"outcome": CheckOutcome(one["outcome"])})
        for one in data["checks"]
    )
    kept = {name: data[name] for name in _FIELDS}
    return ProbeResult(**kept | {"checks": checks, "planned": tuple(kept["planned"]), "code": dict(kept["code"])})
