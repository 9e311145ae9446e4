"""Opens a Dask cluster: workers of this machine, or those of a running scheduler."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import warnings
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import dask.config
from dask.system import CPU_COUNT
from distributed import Client, LocalCluster
from distributed.security import Security
from distributed.versions import VersionMismatchWarning

from toolbelt.errors import ToolbeltError, UnreachableError
from toolbelt.evals.engines import parts
from toolbelt.evals.running.engine_choice import EngineChoice
from toolbelt.text import plural

_TLS = (
    "Set `ca-file`, and `cert` and `key` of `client`, below `distributed.comm.tls` "
    "(DASK_DISTRIBUTED__COMM__TLS__CA_FILE, …__CLIENT__CERT, …__CLIENT__KEY)."
)
WAIT_SECONDS = 30
"""How long a scheduler, and then its first worker, are waited for."""
_UNWATCHED = {"distributed.worker.profile.enabled": False, "distributed.admin.tick.interval": "1s"}
"""What Dask measures of its own processes a hundred and fifty times a second would take a tenth of the run."""


@contextlib.asynccontextmanager
async def open_client(choice: EngineChoice, scratch: Path) -> AsyncIterator[Client]:
    """A client of the cluster, with at least one worker.

    Args:
        choice: Which cluster; workers that are started here end with it.
        scratch: Where these keep files.

    Raises:
        UnreachableError: no scheduler answers, or no worker comes.
    """
    with _quiet():
        async with contextlib.AsyncExitStack() as stack:
            if choice.address is None:
                started = await _start_workers(stack, choice.workers, scratch)
                client, workers = Client(started, asynchronous=True), len(started.workers)
            else:
                security = _read_security(choice.address)
                await _refuse_closed_port(choice.address)
                client = Client(choice.address, asynchronous=True, timeout=WAIT_SECONDS, security=security)
                workers = 1
            where = choice.address or "this machine"
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", VersionMismatchWarning)  # what matters is compared at each worker
                    await stack.enter_async_context(client)
            except (OSError, TimeoutError, ValueError, RuntimeError) as error:
                with contextlib.suppress(OSError, TimeoutError):
                    await client.close()  # else it warns when it is freed
                raise UnreachableError(_describe_silence(where, error)) from None
            try:
                await client.wait_for_workers(workers, timeout=WAIT_SECONDS)
            except TimeoutError:
                raise UnreachableError(
                    f"No worker joined the scheduler at {where} within {WAIT_SECONDS} seconds. Start some: "
                    f"dask worker {where}"
                ) from None
            yield client


def _read_security(address: str) -> Security:
    """What Dask's configuration and environment say of TLS.

    Raises:
        ToolbeltError: it lacks what the address needs, or names a file that cannot be read.
    """
    security = Security()
    is_tls = address.startswith("tls://")
    if security.require_encryption and not is_tls:
        raise ToolbeltError(
            f"Dask's configuration requires encryption, and {address} is not encrypted: --engine dask:tls://HOST:PORT"
        )
    try:
        context = security.get_connection_args("client").get("ssl_context")
    except (OSError, ValueError) as error:  # ssl.SSLError among them
        raise ToolbeltError(f"The TLS settings in Dask's configuration cannot be used: {error}. {_TLS}") from None
    if is_tls and context is None:
        raise ToolbeltError(f"Dask's configuration lacks the certificates for {address}. {_TLS}")
    return security


async def _refuse_closed_port(address: str) -> None:
    """Raise `UnreachableError` at once where nothing listens: Dask would try again for half a minute."""
    host, _, port = address.rpartition("://")[2].rpartition(":")
    try:
        async with asyncio.timeout(WAIT_SECONDS):
            _, writer = await asyncio.open_connection(host.strip("[]"), int(port))
    except (OSError, OverflowError, TimeoutError, UnicodeError) as error:
        raise UnreachableError(_describe_silence(address, error)) from None
    writer.close()


def _describe_silence(where: str, error: Exception) -> str:
    return (
        f"No Dask scheduler answers at {where} ({str(error).partition(chr(10))[0] or 'in time'}). Is one started there "
        "(`dask scheduler`), and does it want TLS (a tls:// address, and `distributed.comm` in Dask's configuration)?"
    )


async def _start_workers(stack: contextlib.AsyncExitStack, count: int | None, scratch: Path) -> LocalCluster:
    """Workers of this machine: a process a core, connected by TLS with a key of their own."""
    with dask.config.set(_UNWATCHED):
        cluster = LocalCluster(
            n_workers=count or CPU_COUNT,
            threads_per_worker=1,
            asynchronous=True,
            security=Security.temporary(),  # else whoever has an account here could have code run
            dashboard_address="127.0.0.1:0",
            silence_logs=logging.CRITICAL,
            local_directory=str(scratch),
            preload=parts.__name__,
        )
        return await stack.enter_async_context(cluster)


def describe_cluster(client: Client, choice: EngineChoice, workers: int) -> str:
    """Which workers there are, and where they can be watched; in words."""
    where = f"of the scheduler at {choice.address}" if choice.address else "on this machine"
    watched = f"; dashboard: {client.dashboard_link}" if client.dashboard_link else ""
    return f"{plural(workers, 'Dask worker')} {where}{watched}"


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep Dask from logging what the run reports itself."""
    logger = logging.getLogger("distributed")
    before = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        logger.setLevel(before)
