"""A provider's answer, whichever transport it came over."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple


class Answer(NamedTuple):
    """A successful answer.

    Attributes:
        data: Its body as JSON, or what litellm made of it.
        seconds: From sending the request to having the answer, without time spent queueing here.
        keys: Keys in use; they are to be removed from what is kept.
        hold_seconds: Until there is something left of the provider's limits.
    """

    data: Any
    seconds: float
    keys: Collection[str]
    hold_seconds: float
