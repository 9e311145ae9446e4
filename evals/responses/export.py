"""An export of recorded responses: sorted JSON Lines, made to be committed and read in a pull request.

The first line is a header with format, version, number and digest; then one response a line. Each line carries a check
of itself and the header one of them all, so that an edited, cut or badly merged file is an error, not another result.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from toolbelt.errors import InvalidFileError, NotFoundError, StorageError
from toolbelt.evals.responses.response import RecordedResponse, format_response, parse_response
from toolbelt.findings import Finding, Severity
from toolbelt.sources import refuse_special

FORMAT = "toolbelt.responses"
VERSION = 1
_LONGEST_LINE = 32 * 2**20
"""Bytes; no provider sends a longer answer, and a file without line ends must not fill the memory."""
_MOST_FINDINGS = 20
_AGAIN = "restore the file, or write it again with `toolbelt eval responses export`"


@dataclass(frozen=True, slots=True)
class ExportText:
    """An export before it is written.

    Attributes:
        responses: Sorted, one for each key.
        lines: The header, and a line for each response, without line ends.
        digest: Of the responses; the same responses give the same digest.
    """

    responses: tuple[RecordedResponse, ...]
    lines: tuple[str, ...]
    digest: str


def order_key(response: RecordedResponse) -> tuple[str, str, str]:
    """By model, origin and key, so that the same responses are always in the same order."""
    return response.model, response.origin, response.key


def format_export(responses: Iterable[RecordedResponse]) -> ExportText:
    """The lines of an export; of several responses to one request, the one recorded first is kept."""
    first: dict[str, RecordedResponse] = {}
    for response in responses:
        known = first.setdefault(response.key, response)
        if (response.recorded, format_response(response)) < (known.recorded, format_response(known)):
            first[response.key] = response
    ordered = tuple(sorted(first.values(), key=order_key))
    lines = [format_response(response) for response in ordered]
    digest = digest_lines(lines)
    header = {"format": FORMAT, "version": VERSION, "count": len(lines), "digest": digest}
    return ExportText(ordered, (json.dumps(header), *lines), digest)


def digest_lines(lines: Iterable[str]) -> str:
    """SHA-256 of the lines of the responses, each with its line end; 64 hexadecimal digits."""
    digest = hashlib.sha256()
    for line in lines:
        digest.update(line.encode(errors="surrogatepass") + b"\n")
    return digest.hexdigest()


class ResponseExport:
    """An export that is read. Every line is checked when it is opened; responses stay on the disk until they are used.

    Args:
        path: The file.

    Raises:
        NotFoundError: it is not there.
        InvalidFileError: it was edited or cut, is of another version, or is something else; with each wrong line.
        StorageError: the disk would not.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            refuse_special(path)
            self._file: IO[bytes] = path.open("rb")
        except FileNotFoundError:
            hint = "`toolbelt eval responses export` writes one."
            raise NotFoundError("response export", str(path), hint=hint) from None
        except (OSError, ValueError) as error:
            raise StorageError(f"Cannot read {str(path)!r}: {getattr(error, 'strerror', None) or error}.") from None
        try:
            self._places, self.digest = self._check()
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> ResponseExport:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __len__(self) -> int:
        return len(self._places)

    def find(self, key: str) -> RecordedResponse | None:
        """The response with that key.

        Raises:
            InvalidFileError: the file was changed since it was opened.
        """
        place = self._places.get(bytes.fromhex(key))
        return None if place is None else self._read(place)

    def read_all(self) -> Iterator[RecordedResponse]:
        """Every response, by model, origin and key."""
        return map(self._read, self._places.values())

    def _read(self, place: int) -> RecordedResponse:
        self._file.seek(place)
        try:
            return parse_response(self._file.readline(_LONGEST_LINE).decode().rstrip("\r\n"))
        except ValueError as error:
            message = f"A response was changed while the file was in use: {error}."
            raise InvalidFileError([Finding("changed", Severity.ERROR, message, str(self.path))]) from None

    def _check(self) -> tuple[dict[bytes, int], str]:
        source = str(self.path)
        header = self._read_header(source)
        places: dict[bytes, int] = {}
        digest = hashlib.sha256()
        findings: list[Finding] = []
        before, number = ("", "", ""), 1
        while len(findings) < _MOST_FINDINGS:
            place = self._file.tell()
            if not (line := self._file.readline(_LONGEST_LINE)):
                break
            number += 1
            digest.update(line.rstrip(b"\r\n") + b"\n")
            try:
                response = _parse_line(line, before)
            except ValueError as error:
                what = "it is not UTF-8" if isinstance(error, UnicodeDecodeError) else str(error)
                message = f"This recorded response cannot be used: {what}; {_AGAIN}."
                findings.append(Finding("invalid-response", Severity.ERROR, message, source, number))
                continue
            before = order_key(response)
            places[bytes.fromhex(response.key)] = place
        if not findings:
            findings.extend(_compare(header, len(places), digest.hexdigest(), source, number))
        if findings:
            raise InvalidFileError(findings)
        return places, digest.hexdigest()

    def _read_header(self, source: str) -> dict[str, Any]:
        line = self._file.readline(_LONGEST_LINE)
        try:
            header = json.loads(line)
        except (ValueError, RecursionError):
            header = None
        if not isinstance(header, dict) or header.get("format") != FORMAT:
            what = "It is empty" if not line else "Its first line is not the header of one"
            message = f"This is no export of recorded responses. {what}; {_AGAIN}."
            raise InvalidFileError([Finding("no-export", Severity.ERROR, message, source, 1)])
        if header.get("version") != VERSION:
            message = (
                f"This export is of version {header.get('version')!r}, and this toolbelt reads version {VERSION}; "
                "write it again with `toolbelt eval responses export`."
            )
            raise InvalidFileError([Finding("other-version", Severity.ERROR, message, source, 1)])
        return header


def _parse_line(line: bytes, before: tuple[str, str, str]) -> RecordedResponse:
    """A response of an export; raises `ValueError` for one that is cut, changed or not after the one before."""
    if not line.endswith(b"\n"):
        raise ValueError("the file is cut, or a line is longer than any answer")
    response = parse_response(line.decode().rstrip("\r\n"))
    if order_key(response) <= before:
        raise ValueError("it stands twice, or not in its place")
    return response


def _compare(header: dict[str, Any], count: int, digest: str, source: str, last: int) -> Iterator[Finding]:
    """What the header promises and the lines do not hold."""
    if header.get("count") != count:
        counts = f"The header counts {header.get('count')} responses, and {count} follow"
        message = f"{counts}: lines were lost or added; {_AGAIN}."
        yield Finding("wrong-count", Severity.ERROR, message, source, last)
    elif header.get("digest") != digest:
        message = f"The digest of the header is not that of the responses: a line was replaced; {_AGAIN}."
        yield Finding("wrong-digest", Severity.ERROR, message, source, 1)
