"""Rows that are handed in during one step of the event loop, stored in one transaction (rule E8)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

Row = Sequence[Any]
Rows = Mapping[str, Sequence[Row]]
"""Rows by the statement that stores them."""


class GroupedWrites:
    """Collects rows until the current step of the event loop ends, then stores them in one transaction.

    A transaction costs more than its rows, and at a concurrency of 32 up to 32 rows are handed in per step. Nobody goes
    on before the row is stored, and no transaction is open while other code runs.

    Args:
        write: Stores rows, all or none.

    Attributes:
        first: Stores elsewhere what must be durable before the rows are; called in the same step, right before.
    """

    def __init__(self, write: Callable[[Rows], None]) -> None:
        self.first: Callable[[], None] = _nothing
        self._write = write
        self._rows: dict[str, list[Row]] = {}
        self._waiters: list[asyncio.Future[None]] = []
        self._scheduled_on: asyncio.AbstractEventLoop | None = None

    async def add(self, *rows: tuple[str, Row]) -> None:
        """Store rows, each given with its statement; returns when they are durable.

        A cancellation while waiting does not take the rows back.

        Raises:
            StorageError: they could not be stored, nor could any other row of this step.
        """
        loop = asyncio.get_running_loop()
        for statement, row in rows:
            self._rows.setdefault(statement, []).append(row)
        if self._scheduled_on is not loop:  # not a flag: a loop that was interrupted may never have come to it
            self._scheduled_on = loop
            loop.call_soon(self.commit)
        waiter = loop.create_future()
        self._waiters.append(waiter)
        await waiter

    def commit(self) -> None:
        """Store what was handed in; whoever handed it in receives the error, if there is one.

        Rows stay here if an interrupt ends it, and are stored by the next commit.
        """
        self._scheduled_on = None
        if not self._rows:
            return
        failure: Exception | None = None
        try:
            self.first()
            self._write(self._rows)
        except Exception as error:  # noqa: BLE001  handed to those who wait
            failure = error
        waiters = self._waiters
        self._rows, self._waiters = {}, []
        for waiter in waiters:
            if waiter.done():  # cancelled
                continue
            if failure is None:
                waiter.set_result(None)
            else:
                waiter.set_exception(failure)


def _nothing() -> None:
    """There is nothing to store before."""
