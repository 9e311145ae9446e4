"""The answers of a model, each stored before it is used, so that nothing is asked or paid for twice."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import math
import os
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from toolbelt.errors import StorageError, ToolbeltError
from toolbelt.evals.conversation import Message
from toolbelt.evals.drafts.tool_drafts import ModelAnswer
from toolbelt.evals.running.records import RequestRecord
from toolbelt.providers.chat import Failure, Sampling

_FINAL = frozenset({Failure.REFUSED, Failure.CONTEXT_OVERFLOW})
"""Failures that would occur again."""


class AnswerStore:
    """A file of answers, one line for each request, found by what was asked.

    Args:
        path: Of the file.
        file: The file, unbuffered, open for reading and appending or for reading alone.

    Attributes:
        path: As given.
        requests: Requests so far, with failed ones and those of earlier sessions.
        cost_usd: Their cost, as far as prices are known.
        unreadable: Numbers of lines that cannot be read, from 1; `requests` and `cost_usd` do not count them.
    """

    def __init__(self, path: Path, file: io.FileIO) -> None:
        self.requests = 0
        self.cost_usd = 0.0
        self.unreadable = array("L")
        self.path = path
        self._file = file
        self._places: dict[bytes, tuple[int, int]] = {}
        self._end = 0
        self._read()

    def __contains__(self, key: bytes) -> bool:
        return key in self._places

    def find(self, key: bytes) -> ModelAnswer | None:
        """The answer; `None` if there is none yet."""
        return self.get(key) if key in self._places else None

    def get(self, key: bytes) -> ModelAnswer:
        """The answer; raises `KeyError` if there is none."""
        start, length = self._places[key]
        try:
            data = json.loads(os.pread(self._file.fileno(), length, start))
        except OSError as error:
            raise StorageError(f"Cannot read {str(self.path)!r}: {error.strerror or error}.") from None
        return ModelAnswer(data.get("text", ""), data.get("failure", ""))

    def add(self, key: bytes, tool: str, record: RequestRecord) -> None:
        """Store the outcome of a request.

        Raises:
            StorageError: the disk fails; earlier answers are still stored.
        """
        data: dict[str, Any] = {"key": key.hex(), "tool": tool, "cost_usd": record.cost_usd}
        if record.reply is not None:
            data |= {"text": record.reply.text, "served_by": record.reply.served_by}
        else:
            data |= {"failure": record.failure, "message": record.message}
        line = json.dumps(data).encode() + b"\n"  # ASCII: models also write halves of surrogate pairs
        self._append(line)
        self._count(key, data, self._end - len(line), len(line))

    def _append(self, line: bytes) -> None:
        try:
            written = self._file.write(line)
            while written < len(line):
                written += self._file.write(line[written:])
        except OSError as error:
            with contextlib.suppress(OSError):
                self._file.truncate(self._end)
            raise _refused(self.path, error) from None
        self._end += len(line)

    def _read(self) -> None:
        """Find every answer; a last line that a kill left incomplete is cut off."""
        self._file.seek(0)
        with os.fdopen(os.dup(self._file.fileno()), "rb") as lines:
            for number, line in enumerate(lines, start=1):
                if not line.endswith(b"\n"):
                    if self._file.writable():
                        self._file.truncate(self._end)
                    break
                self._index_line(line, number)
                self._end += len(line)

    def _index_line(self, line: bytes, number: int) -> None:
        try:
            data = json.loads(line)
            key = bytes.fromhex(data["key"])
            cost = data["cost_usd"] or 0.0
            is_valid = isinstance(data.get("text", ""), str) and math.isfinite(cost) and cost >= 0
        except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
            is_valid = False
        if is_valid:
            self._count(key, data, self._end, len(line))
        else:
            self.unreadable.append(number)

    def _count(self, key: bytes, data: dict[str, Any], start: int, length: int) -> None:
        self.requests += 1
        self.cost_usd += data["cost_usd"] or 0.0
        if "text" in data or data.get("failure") in _FINAL:
            self._places[key] = (start, length)


@contextlib.contextmanager
def open_answers(folder: Path) -> Iterator[AnswerStore]:
    """The answers in a folder, locked for this process; the system releases the lock when the process ends.

    Args:
        folder: Created if it is not there.

    Raises:
        ToolbeltError: another process uses the folder.
        StorageError: the disk fails.
    """
    from filelock import FileLock, Timeout

    path = folder / "answers.jsonl"
    lock = FileLock(folder / "lock")
    with contextlib.ExitStack() as stack:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            lock.acquire(timeout=0)
            stack.callback(lock.release)
            store = AnswerStore(path, stack.enter_context(path.open("a+b", buffering=0)))
        except Timeout:
            raise ToolbeltError(f"Another process is drafting into {str(folder.parent)!r}.") from None
        except OSError as error:
            raise _refused(path, error) from None
        yield store


@contextlib.contextmanager
def read_answers(folder: Path) -> Iterator[AnswerStore | None]:
    """Open the answers in a folder for reading only, also while another process drafts; `None` if there are none.

    Raises:
        StorageError: the file cannot be read.
    """
    path = folder / "answers.jsonl"
    with contextlib.ExitStack() as stack:
        try:
            store = AnswerStore(path, stack.enter_context(path.open("rb", buffering=0)))
        except (FileNotFoundError, NotADirectoryError):
            store = None
        except OSError as error:
            raise StorageError(f"Cannot read {str(path)!r}: {error.strerror or error}.") from None
        yield store


def _refused(path: Path, error: OSError) -> StorageError:
    return StorageError(f"Cannot write {str(path)!r}: {error.strerror or error}. What was stored is still there.")


def request_key(model: str, sampling: Sampling, messages: Sequence[Message], api_base: str | None = None) -> bytes:
    """The key of an answer: a digest of model, messages, address and sampling."""
    address = [] if api_base is None else [api_base.rstrip("/")]
    effort = [] if sampling.effort is None else [{"effort": sampling.effort}]
    request = [model, sampling.temperature, sampling.seed, messages, *address, *effort]
    text = json.dumps(request, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return hashlib.blake2b(text.encode(), digest_size=16).digest()
