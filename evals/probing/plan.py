"""What is to be probed, as a value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from toolbelt.evals.probing.checks import EVERY, SUITE


@dataclass(frozen=True, slots=True)
class ProbePlan:
    """One probe that is wanted.

    Attributes:
        model: As the user named it.
        api_base: Where it is asked, without what may be secret in it; `None` for its provider's place.
        planned: Keys of the checks, in the order of the suite.
        tokenizer: What the own counts are by.
        code: What it is made with, as in `ProbeResult`.
        suite: Version of the checks.
    """

    model: str
    api_base: str | None = None
    planned: tuple[str, ...] = EVERY
    tokenizer: str = ""
    code: Mapping[str, str] = field(default_factory=dict)
    suite: int = SUITE
