"""Answers, each kept before it is used: what was asked once is not asked, nor paid for, again."""

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
from toolbelt.evals.drafts.tool_drafts import Answer
from toolbelt.evals.running.records import RequestRecord
from toolbelt.providers.chat import Failure, Sampling

_FINAL = frozenset({Failure.REFUSED, Failure.CONTEXT_OVERFLOW})
"""Failures that asking again would not mend."""


class Journal:
    """A file of answers, a line each, by what was asked.

    Args:
        path: Of the file.
        file: It, open for reading and appending, or for reading alone, without a buffer.

    Attributes:
        path: As given.
        requests: Made so far, failed ones and those of earlier sessions included.
        cost_usd: Of those, as far as prices are known.
        broken: Numbers of lines that cannot be read, from 1; what they took is in neither of the two.
    """

    def __init__(self, path: Path, file: io.FileIO) -> None:
        self.requests = 0
        self.cost_usd = 0.0
        self.broken = array("L")
        self.path = path
        self._file = file
        self._found: dict[bytes, tuple[int, int]] = {}
        self._end = 0
        self._read()

    def __contains__(self, key: bytes) -> bool:
        return key in self._found

    def find(self, key: bytes) -> Answer | None:
        """What was answered; `None` if it was not asked, or nobody knows yet."""
        return self.get(key) if key in self._found else None

    def get(self, key: bytes) -> Answer:
        """What was answered; raises `KeyError` for what was not."""
        place = self._found[key]
        try:
            data = json.loads(os.pread(self._file.fileno(), place[1], place[0]))
        except OSError as error:
            raise StorageError(f"Cannot read {str(self.path)!r}: {error.strerror or error}.") from None
        return Answer(data.get("text", ""), data.get("failure", ""))

    def add(self, key: bytes, tool: str, record: RequestRecord) -> None:
        """Keep what became of a request.

        Raises:
            StorageError: the disk would not; what was kept before still is.
        """
        data: dict[str, Any] = {"key": key.hex(), "tool": tool, "cost_usd": record.cost_usd}
        if record.reply is not None:
            data |= {"text": record.reply.text, "served_by": record.reply.served_by}
        else:
            data |= {"failure": record.failure, "message": record.message}
        line = json.dumps(data).encode() + b"\n"  # ASCII: models write halves of surrogate pairs, too
        self._append(line)
        self._note(key, data, self._end - len(line), len(line))

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
        """Find every answer; what a kill left of a last line is cut off."""
        self._file.seek(0)
        with os.fdopen(os.dup(self._file.fileno()), "rb") as lines:
            for number, line in enumerate(lines, start=1):
                if not line.endswith(b"\n"):
                    if self._file.writable():
                        self._file.truncate(self._end)
                    break
                self._take(line, number)
                self._end += len(line)

    def _take(self, line: bytes, number: int) -> None:
        try:
            data = json.loads(line)
            key = bytes.fromhex(data["key"])
            cost = data["cost_usd"] or 0.0
            is_whole = isinstance(data.get("text", ""), str) and math.isfinite(cost) and cost >= 0
        except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
            is_whole = False
        if is_whole:
            self._note(key, data, self._end, len(line))
        else:
            self.broken.append(number)

    def _note(self, key: bytes, data: dict[str, Any], start: int, length: int) -> None:
        self.requests += 1
        self.cost_usd += data["cost_usd"] or 0.0
        if "text" in data or data.get("failure") in _FINAL:
            self._found[key] = (start, length)


@contextlib.contextmanager
def open_journal(folder: Path) -> Iterator[Journal]:
    """The journal of a folder of drafts, under a lock of the system, which ends with the process that holds it.

    Args:
        folder: Where it is; made if it is not there.

    Raises:
        ToolbeltError: another process holds it.
        StorageError: the disk would not.
    """
    from filelock import FileLock, Timeout

    path = folder / "answers.jsonl"
    lock = FileLock(folder / "lock")
    with contextlib.ExitStack() as held:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            lock.acquire(timeout=0)
            held.callback(lock.release)
            journal = Journal(path, held.enter_context(path.open("a+b", buffering=0)))
        except Timeout:
            raise ToolbeltError(f"Another process is drafting into {str(folder.parent)!r}.") from None
        except OSError as error:
            raise _refused(path, error) from None
        yield journal


@contextlib.contextmanager
def read_journal(folder: Path) -> Iterator[Journal | None]:
    """The journal of a folder of drafts to look things up in, nothing being changed; also while another process drafts.

    Args:
        folder: Where it is; `None` is given where there is none.

    Raises:
        StorageError: it may not be read.
    """
    path = folder / "answers.jsonl"
    with contextlib.ExitStack() as held:
        try:
            journal = Journal(path, held.enter_context(path.open("rb", buffering=0)))
        except (FileNotFoundError, NotADirectoryError):
            journal = None
        except OSError as error:
            raise StorageError(f"Cannot read {str(path)!r}: {error.strerror or error}.") from None
        yield journal


def _refused(path: Path, error: OSError) -> StorageError:
    return StorageError(f"Cannot write {str(path)!r}: {error.strerror or error}. What was kept is kept.")


def request_key(model: str, sampling: Sampling, messages: Sequence[Message], api_base: str | None = None) -> bytes:
    """What an answer is found by: who was asked what, where, and how."""
    place = [] if api_base is None else [api_base.rstrip("/")]
    asked = [model, sampling.temperature, sampling.seed, messages, *place]
    text = json.dumps(asked, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return hashlib.blake2b(text.encode(), digest_size=16).digest()
