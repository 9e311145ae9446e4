"""How much may be asked and spent."""

from __future__ import annotations

from dataclasses import dataclass


class CapReached(Exception):  # noqa: N818  it ends a run in order; nothing went wrong
    """The next request would go beyond what may be asked or spent."""


@dataclass
class Budget:
    """Counts what is asked and spent against what may be.

    A request is booked before it is sent, with its prompt and, where its length is bounded, its answer, so that many at
    once keep to the cap, too. Answers of no bounded length may go beyond it by what those under way cost.

    Attributes:
        max_requests: Retries and earlier sessions of the run included; `None` for any number.
        max_cost_usd: Likewise.
        requests: Made so far.
        cost_usd: Spent so far.
    """

    max_requests: int | None = None
    max_cost_usd: float | None = None
    requests: int = 0
    cost_usd: float = 0.0
    _booked: float = 0.0

    def book(self, booked_usd: float) -> None:
        """Take a request on.

        Raises:
            CapReached: it would be one too many, or too dear.
        """
        if self.max_requests is not None and self.requests >= self.max_requests:
            raise CapReached(f"the cap of {self.max_requests:,} requests is reached")
        if self.max_cost_usd is not None and self.cost_usd + self._booked + booked_usd > self.max_cost_usd:
            raise CapReached(
                f"the next request would go beyond the cap of ${self.max_cost_usd:g} (spent: ${self.cost_usd:.4f})"
            )
        self.requests += 1
        self._booked += booked_usd

    def settle(self, booked_usd: float, cost_usd: float | None) -> None:
        """Replace what was booked by what it did cost."""
        self._booked -= booked_usd
        self.cost_usd += cost_usd or 0.0
