"""How fast a model is asked: as many requests at once as its provider takes, none while it asks to wait (rule X2)."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

_LEAST = 1.0
_SHARE_AFTER_A_LIMIT = 0.5


@dataclass(eq=False)
class Pace:
    """Delays the requests to one model at one address, those of all its trials.

    The number of requests under way is halved when the provider answers that there are too many, and grows by one for
    each round of answers: additive increase, multiplicative decrease, as in TCP. Requests that were under way when it
    was halved do not halve it again.

    Attributes:
        model: Its name.
        most: Requests that may ever be under way.
        open_at: Time of `time.monotonic` before which nothing is sent.
        on_pause: Called with the pace when nothing is sent for longer than before.
    """

    model: str = ""
    most: int = 1_000_000
    open_at: float = 0.0
    on_pause: Callable[[Pace], object] | None = None
    _allowed: float = 0.0
    _under_way: int = 0
    _cuts: int = 0
    _waiting: deque[asyncio.Future[None]] = field(default_factory=deque)

    def __post_init__(self) -> None:
        self._allowed = float(self.most)

    @property
    def allowed(self) -> int:
        """Requests that may be under way now."""
        return int(self._allowed)

    @property
    def is_slowed(self) -> bool:
        """Whether fewer requests are under way than were asked for."""
        return self.allowed < self.most

    def pause_seconds(self, now: float) -> float:
        """How long nothing is sent, from `now`, a time of `time.monotonic`."""
        return max(0.0, self.open_at - now)

    async def enter(self) -> int:
        """Wait until a request may be sent; it is under way until `leave`.

        Returns:
            How often the pace was cut before, for `slow_down`.
        """
        while True:
            if (wait := self.open_at - time.monotonic()) > 0:
                await asyncio.sleep(wait)
            elif self._under_way < self.allowed:
                self._under_way += 1
                return self._cuts
            else:
                await self._turn(asyncio.get_running_loop().create_future())

    def leave(self) -> None:
        """A request is no longer under way."""
        self._under_way -= 1
        self._wake()

    def speed_up(self) -> None:
        """A request was answered."""
        if self._allowed < self.most:
            self._allowed = min(float(self.most), self._allowed + 1 / self._allowed)
            self._wake()

    def slow_down(self, cuts: int) -> None:
        """The provider answered that there are too many requests.

        Args:
            cuts: What `enter` returned for that request.
        """
        if cuts == self._cuts:
            self._cuts += 1
            at_once = min(self._allowed, self._under_way + 1)  # with the one that was refused
            self._allowed = max(_LEAST, at_once * _SHARE_AFTER_A_LIMIT)

    def close_for(self, seconds: float) -> None:
        """Send nothing for so many seconds."""
        until = time.monotonic() + seconds
        if until > self.open_at:
            self.open_at = until
            if self.on_pause is not None:
                self.on_pause(self)

    async def _turn(self, turn: asyncio.Future[None]) -> None:
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # the turn was given to who does not take it
                self._wake()
            raise

    def _wake(self) -> None:
        free = self.allowed - self._under_way
        while self._waiting and free > 0:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                free -= 1
