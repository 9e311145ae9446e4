"""Several workers at once, none of which outlives the others."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any


async def run_workers(workers: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Run workers until all have ended; the first that raises, or a cancellation, ends the others before it is heard.

    Raises:
        Exception: what the first of them raised.
    """
    tasks = [asyncio.create_task(worker) for worker in workers]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
