"""Which engine runs the trials, as it is written after `--engine`: this process, or the workers of a Dask cluster."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.util import find_spec

from toolbelt.errors import NotFoundError, ToolbeltError

MOST_WORKERS = 1000
"""That are started on this machine."""
_ADDRESS = re.compile(r"(?:(?:tcp|tls|ws|wss|ucx)://)?(?:\[[0-9A-Fa-f:.]+\]|[\w.-]+):[0-9]{1,5}", re.ASCII)
_LAST_PORT = 65_535


@dataclass(frozen=True, slots=True)
class EngineChoice:
    """An engine.

    Attributes:
        is_dask: Whether the workers of a Dask cluster run the trials; else this process does.
        address: Of the scheduler of a running cluster; `None` for workers that are started here.
        workers: How many are started here; one a core if `None`.
    """

    is_dask: bool = False
    address: str | None = None
    workers: int | None = None

    def __str__(self) -> str:
        if not self.is_dask:
            return "process"
        where = self.address or self.workers
        return "dask" if where is None else f"dask:{where}"

    @property
    def as_option(self) -> str:
        """What a command needs to use it, with a blank before; empty for this process."""
        return f" --engine {self}" if self.is_dask else ""


ONE_PROCESS = EngineChoice()
_NAMES = ("process", "dask")


def parse_engine(text: str) -> EngineChoice:
    """Read an engine as it is written.

    Args:
        text: `process`, `dask`, `dask:N` or `dask:ADDRESS`.

    Raises:
        NotFoundError: no such engine.
        ToolbeltError: no number of workers, and no address.
    """
    name, colon, where = text.strip().partition(":")
    if name not in _NAMES or (colon and name == "process"):
        raise NotFoundError("engine", text, _NAMES)
    if not colon:
        return EngineChoice(is_dask=name == "dask")
    if re.fullmatch(r"[0-9]{1,9}", where, re.ASCII):
        if not 1 <= int(where) <= MOST_WORKERS:
            raise ToolbeltError(f"Dask starts 1 to {MOST_WORKERS:,} workers here, not {int(where):,}.")
        return EngineChoice(is_dask=True, workers=int(where))
    if _ADDRESS.fullmatch(where) is None or int(where.rpartition(":")[2]) > _LAST_PORT:
        raise ToolbeltError(
            f"{where!r} is no address of a scheduler: write HOST:PORT or tls://HOST:PORT after `dask:`, such as "
            "dask:10.0.0.5:8786; or the number of workers to start here, such as dask:4."
        )
    return EngineChoice(is_dask=True, address=where)


def refuse_missing_extra(choice: EngineChoice) -> None:
    """Raise `ToolbeltError` where Dask is wanted and not installed."""
    if choice.is_dask and any(find_spec(package) is None for package in ("distributed", "cryptography")):
        raise ToolbeltError(
            f"Engine {str(choice)!r} needs Dask, which is not installed: pip install distributed cryptography. That is "
            "the extra `cluster` of toolbelt."
        )
