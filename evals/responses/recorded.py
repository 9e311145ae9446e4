"""The recorded responses of a run: exports that are read, and the cache that is read and written."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType

from toolbelt.errors import NotFoundError, StorageError, ToolbeltError
from toolbelt.evals.conversation import Reply
from toolbelt.evals.models.model import Request
from toolbelt.evals.responses.cache import ResponseCache
from toolbelt.evals.responses.export import ResponseExport
from toolbelt.evals.responses.keys import make_key
from toolbelt.evals.responses.response import Payment, RecordedResponse, ResponseMark, digest_answer, find_query
from toolbelt.providers.reply_forms import Fault, find_form
from toolbelt.sources import refuse_special
from toolbelt.stores.sqlite_files import is_sqlite_file

DEFAULT_CACHE = "responses.db"
"""Name of the cache beside the file of runs, where only exports are named and something is asked."""
_EXPORT_ENDINGS = (".jsonl", ".json")


def format_time(time: datetime) -> str:
    """ISO 8601, to the second; in one form, so that texts are in the order of times.

    Args:
        time: In UTC.
    """
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")


def now() -> str:
    """The time, as `format_time` writes it."""
    return format_time(datetime.now(UTC))


class RecordedResponses:
    """Everything that was recorded, from the files that a user names.

    Args:
        files: Exports, which are only read, and at most one cache. A cache that is not there is made.
        default_cache: Where responses are stored if no cache is among them; `None` where nothing is stored.
        is_offline: Whether nothing may be asked, so that nothing is written.

    Attributes:
        cache_path: Where responses are stored; `None` where nothing is.
        is_offline: As given.
        added: Responses stored by this process.

    Raises:
        NotFoundError: a file is not there that must be.
        InvalidFileError: an export was edited or cut.
        StorageError: the disk would not.
        ToolbeltError: two caches are named, or a file is neither.
    """

    def __init__(self, files: Sequence[Path], *, default_cache: Path | None = None, is_offline: bool = False) -> None:
        self.is_offline = is_offline
        self.added = 0
        self._added: dict[str, RecordedResponse] = {}
        self._payments: list[Payment] = []
        exports = [path for path in files if is_export(path)]
        caches = [path for path in dict.fromkeys(files) if path not in exports]
        if len(caches) > 1:
            names = " and ".join(repr(str(path)) for path in caches)
            raise ToolbeltError(
                f"Only one response cache is written, and {names} were named: export one of them "
                "(toolbelt eval responses export), and name the export."
            )
        if is_offline and caches and not caches[0].exists():
            raise NotFoundError("response cache", str(caches[0]), hint="--offline reads what was recorded before.")
        if not caches and default_cache is not None and not (is_offline and not default_cache.exists()):
            caches = [default_cache]
        self.cache_path = caches[0] if caches and not is_offline else None
        with ExitStack() as stack:
            self._exports = [stack.enter_context(ResponseExport(path)) for path in dict.fromkeys(exports)]
            opened = [stack.enter_context(ResponseCache(path, read_only=is_offline)) for path in caches]
            self._cache = opened[0] if opened else None
            self._stack = stack.pop_all()

    def __enter__(self) -> RecordedResponses:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._stack:
            self.commit()

    def find(self, key: str) -> RecordedResponse | None:
        """The response with that key: of the exports in the order named, else of the cache."""
        for source in self._exports:
            if (response := source.find(key)) is not None:
                return response
        if (response := self._added.get(key)) is not None:
            return response
        return None if self._cache is None else self._cache.find(key)

    def explain_misses(self, origins: Mapping[str, str]) -> list[str]:
        """Why nothing of a model is found: what is recorded of it is of another place; or nothing is.

        Args:
            origins: Who is asked, by the name of the model.
        """
        recorded: dict[str, set[str]] = {}
        for source in (*self._exports, *(() if self._cache is None else (self._cache,))):
            for response in source.read_all():
                recorded.setdefault(response.model, set()).add(response.origin)
        texts = []
        for model, origin in origins.items():
            if model not in recorded:
                known = f"; there are responses of {', '.join(sorted(recorded))}" if recorded else ""
                texts.append(f"nothing is recorded of {model}{known}")
            elif origin not in recorded[model]:
                places = ", ".join(sorted(recorded[model]))
                texts.append(
                    f"what is recorded of {model} was answered by {places}, and this run asks {origin}: give the same "
                    "--api-base"
                )
        return texts

    def find_payments(self, run: str) -> Mapping[tuple[int, int], Payment]:
        """What a run has paid for, by the numbers of trial and request, as the cache has it."""
        return {} if self._cache is None else self._cache.find_payments(run)

    def add(self, response: RecordedResponse, payment: Payment) -> None:
        """Take a response for the cache, if there is one; it is durable after the next `commit`."""
        if self._cache is not None and not self.is_offline:
            self._added.setdefault(response.key, response)
            self._payments.append(payment)
            self.added += 1

    def commit(self) -> None:
        """Store what was added, in one transaction.

        Raises:
            StorageError: the disk would not; what was added is lost.
        """
        if self._cache is None or not self._payments:
            return
        try:
            self._cache.add(tuple(self._added.values()), self._payments)
        except Exception:
            self._forget()
            raise
        self._forget()

    def _forget(self) -> None:
        self._added, self._payments = {}, []


@dataclass(frozen=True, eq=False)
class ModelResponses:
    """The recorded responses of one model, as it is asked in a run.

    Attributes:
        recorded: Those of all models.
        model: Its name on the command line.
        origin: Who answers: a provider's name, or scheme, host and port.
        secrets: Keys in use; a query with one of them is not kept. From answers they are removed by who asks.
        now: The time, ISO 8601 in UTC.
        run: The run that asks.
        payments: What earlier executions of it have paid for, by the numbers of trial and request.
        api: As `make_key` takes it.
    """

    recorded: RecordedResponses
    model: str
    origin: str
    secrets: Collection[str] = ()
    now: Callable[[], str] = now
    run: str = ""
    payments: Mapping[tuple[int, int], Payment] = field(default_factory=dict)
    api: str = ""

    @property
    def is_offline(self) -> bool:
        """Whether what is not recorded may not be asked."""
        return self.recorded.is_offline

    def make_key(self, request: Request) -> str:
        """The key of a request to this model."""
        return make_key(self.model, self.origin, request, self.api)

    def find(self, key: str, trial: int, request: int) -> tuple[Reply, ResponseMark] | None:
        """The recorded answer to the request with that key; its mark says whether it was this request that asked.

        Args:
            key: Of the request.
            trial: Number of the trial that wants it.
            request: 0-based number of the request within it.
        """
        response = self.recorded.find(key)
        if response is None or find_form(response.reply.finish_reason).fault is not Fault.CHOICE:
            return None  # one that is no answer was recorded before that was known
        payment = self.payments.get((trial, request))
        is_own = payment is not None and payment.key == key
        cost = payment.cost_usd if payment is not None and is_own else response.cost_usd
        return response.reply, ResponseMark(key, digest_answer(response.reply), response.recorded, not is_own, cost)

    def mark(self, key: str, reply: Reply, cost_usd: float | None) -> ResponseMark:
        """What the store of runs keeps of an answer that has just come."""
        return ResponseMark(key, digest_answer(reply), self.now(), False, cost_usd)

    def add(self, mark: ResponseMark, request: Request, reply: Reply, trial: int, number: int) -> None:
        """Take an answer that has just come, and was found to be one, for the cache.

        Args:
            mark: Of the answer.
            request: What was asked.
            reply: The answer.
            trial: Number of the trial that asked.
            number: 0-based number of the request within it.
        """
        query = find_query(request.messages)
        self.recorded.add(
            RecordedResponse(
                key=mark.key,
                model=self.model,
                origin=self.origin,
                epoch=request.epoch,
                query="" if any(secret in query for secret in self.secrets) else query,
                recorded=mark.recorded,
                reply=replace(reply, latency_seconds=0.0),
                cost_usd=mark.cost_usd,
            ),
            Payment(self.run, trial, number, mark.key, mark.cost_usd),
        )


def is_export(path: Path) -> bool:
    """Whether a file is an export, by its first byte; by its name where it is not there or empty.

    Raises:
        InvalidFileError: it is a folder, a pipe or a device.
        StorageError: the disk would not.
        ToolbeltError: it is neither an export nor a file of SQLite.
    """
    try:
        refuse_special(path)
        if is_sqlite_file(path):
            return False
        with path.open("rb") as file:
            start = file.read(1)
    except FileNotFoundError:
        start = b""
    except (OSError, ValueError) as error:
        raise StorageError(f"Cannot read {str(path)!r}: {getattr(error, 'strerror', None) or error}.") from None
    if not start:
        return path.suffix in _EXPORT_ENDINGS
    if start == b"{":
        return True
    raise ToolbeltError(
        f"{str(path)!r} is neither a response cache nor an export of one: name a new file, or one that "
        "`toolbelt eval responses export` wrote."
    )
