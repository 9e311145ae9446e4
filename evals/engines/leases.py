"""What the chunks of a run may spend: each is lent a part of what is left of the caps, and returns what it did not use.

To ask a scheduler before each request would cost a millisecond each time, and more than all workers together can get.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from toolbelt.evals.running.client import Budget, CapReached


@dataclass(frozen=True, slots=True)
class Lease:
    """What one chunk may spend.

    Attributes:
        max_requests: Most requests; `None` for no limit.
        max_cost_usd: Most cost in USD; `None` for no limit.
        is_last: Whether it is all that is left, and nobody else has any.
    """

    max_requests: int | None = None
    max_cost_usd: float | None = None
    is_last: bool = False

    @property
    def is_limited(self) -> bool:
        """Whether there is any limit."""
        return self.max_requests is not None or self.max_cost_usd is not None


@dataclass
class Leases:
    """Lends what a run may spend.

    Attributes:
        budget: What the run may spend, and has spent.
        slots: Chunks that are under way at once.
        held: Leases that were not returned.
    """

    budget: Budget
    slots: int
    held: list[Lease] = field(default_factory=list)

    def lend(self, least_cost_usd: float = 0.0) -> Lease | None:
        """A fair part of what is left; `None` if that is too little as long as others hold leases.

        Args:
            least_cost_usd: What a chunk needs.

        Raises:
            CapReached: nothing is left, and nobody will return anything.
        """
        requests, cost = self._requests_left(), self._cost_left()
        if (requests is not None and requests <= 0) or (cost is not None and cost <= 0):
            if not self.held:
                raise CapReached(self.describe())
            return None
        free = max(1, self.slots - len(self.held))
        part = None if cost is None else max(cost / free, least_cost_usd)
        if part is not None and cost is not None and part > cost:
            if self.held:
                return None
            part = cost
        share = None if requests is None else -(-requests // free)
        is_last = not self.held and share == requests and part == cost
        lease = Lease(share, part, is_last)
        self.held.append(lease)
        return lease

    def settle(self, lease: Lease, requests: int, cost_usd: float) -> None:
        """Take a lease back, of which so much was used."""
        self.held.remove(lease)
        self.budget.requests += requests
        self.budget.cost_usd += cost_usd

    def describe(self) -> str:
        """Which cap is reached, in words."""
        try:
            self.budget.book(float("inf"))
        except CapReached as reached:
            return str(reached)
        raise AssertionError("no cap is set")

    def _requests_left(self) -> int | None:
        most = self.budget.max_requests
        return None if most is None else most - self.budget.requests - sum(each.max_requests or 0 for each in self.held)

    def _cost_left(self) -> float | None:
        most = self.budget.max_cost_usd
        return None if most is None else most - self.budget.cost_usd - sum(each.max_cost_usd or 0 for each in self.held)
