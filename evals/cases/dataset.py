"""Datasets: cases over a catalog, opened by name, folder or file; each case is read when it is needed."""

from __future__ import annotations

import hashlib
import heapq
import io
import json
import os
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO, NamedTuple

from toolbelt.catalog import Catalog
from toolbelt.catalog.frozen import FrozenDict
from toolbelt.catalog.reader import CatalogFile
from toolbelt.errors import InvalidFileError, NotFoundError, StorageError, ToolbeltError, nearest
from toolbelt.evals.cases.card.card import CARD_FILE
from toolbelt.evals.cases.case import Case
from toolbelt.evals.cases.case_file import open_lines
from toolbelt.evals.cases.digests import id_digest, line_digest
from toolbelt.evals.cases.fields import find_case_id
from toolbelt.evals.cases.index import CaseIndex, Exclusion, index_cases, read_layout
from toolbelt.evals.cases.layout import LayoutKind
from toolbelt.evals.cases.loadouts_file import LOADOUTS_FILE, with_loadouts
from toolbelt.evals.cases.location import Location, find_dataset
from toolbelt.evals.cases.references import CatalogNames
from toolbelt.findings import Finding, Severity
from toolbelt.stores.catalogs import CATALOG_FILES, find_shipped_dataset, open_catalog

_MOST_COMPARED = 2000
_MOST_KEPT = 4
"""Indexes that are kept for the next time that the same cases are opened over the same catalog."""
_MOST_KEPT_BYTES = 1_000_000
"""The largest file whose index is kept: one that is read in a tenth of a second or so."""
"""Ids at most that an unknown id is compared with."""
_CACHED_CASES = 64
"""Cases cached after reading, so that the trials of one case, of all arms, read it once."""


class Dataset:
    """Cases over a catalog.

    Each case is read from the file when it is requested; a changed line is an error.

    Attributes:
        name: For people.
        reference: Opens it from any working directory: a shipped name, or an absolute path.
        source: The file of cases, as the user wrote it.
        system: The system prompt of cases that have none; empty for none.
        catalog_file: The catalog of the cases, with the loadouts beside them.
        catalog_is_fallback: Whether it is the fallback, because there is none beside the cases.
        layout: Of the file of cases.
        digest: Of the cases and their grading alone (rule E7), 64 hexadecimal digits.
        excluded: Number of cases that cannot be asked with this catalog, by reason.
        exclusions: The first thousand of them.
        roles: Every role that a case names.
        kinds: Number of cases by kind.
        tags: Number of cases by tag.
        clusters: Number of clusters.
        drafts: Number of cases that nobody has reviewed yet.
        answered: Ids of the tools that are in a right answer.
        notes: Notes for the user.
        warnings: Warnings about the cases.
    """

    def __init__(
        self,
        handle: BinaryIO,
        index: CaseIndex,
        names: CatalogNames,
        place: Location,
        catalog_file: CatalogFile,
        *,
        catalog_is_fallback: bool = False,
        notes: tuple[str, ...] = (),
    ) -> None:
        self.name = place.name
        self.reference = place.reference
        self.source = place.source
        self.system = place.system
        self.catalog_file = catalog_file
        self.catalog_is_fallback = catalog_is_fallback
        self.notes = notes
        self.layout: LayoutKind = index.layout.kind
        self.digest = index.digest
        self.excluded: Mapping[str, int] = FrozenDict(index.excluded)
        self.exclusions: tuple[Exclusion, ...] = tuple(index.exclusions)
        self.roles = frozenset(index.roles)
        self.kinds: Mapping[str, int] = FrozenDict(index.count_kinds())
        self.tags: Mapping[str, int] = FrozenDict(index.count_tags())
        self.clusters = len(set(index.cluster_keys))
        self.drafts = index.drafts
        self.answered = frozenset(index.answered)
        self.warnings = index.warnings
        self._index = index
        self._handle = handle
        self._lock = threading.Lock()
        self._reader = _CaseReader(handle, index, names, place.source)
        self._cached = lru_cache(_CACHED_CASES)(self._reader)
        weakref.finalize(self, handle.close)

    def __len__(self) -> int:
        return len(self._index.offsets)

    @property
    def is_shipped(self) -> bool:
        """Whether it comes with toolbelt and was opened by its name, not by a path."""
        return self.reference == self.name and find_shipped_dataset(self.reference) is not None

    def case(self, index: int) -> Case:
        """The case at 0-based `index`.

        Raises:
            InvalidFileError: the file was changed since it was opened.
        """
        if not 0 <= index < len(self):
            raise IndexError(index)
        with self._lock:
            return self._cached(index)

    def line(self, index: int) -> int:
        """Line number of the case, counted from 1."""
        return self._index.lines[index]

    def find(self, case_id: str) -> int | None:
        """Position of the case with that id; `None` if there is none."""
        try:
            return self._index.ids.index(id_digest(case_id))
        except ValueError:
            return None

    def known_ids(self, case_ids: Iterable[str]) -> frozenset[str]:
        """The ids that exist; one pass for all of them."""
        ids = {id_digest(case_id): case_id for case_id in case_ids}
        return frozenset(ids[digest] for digest in ids.keys() & set(self._index.ids)) if ids else frozenset()

    def get(self, case_id: str) -> int:
        """Position of the case with that id.

        Raises:
            NotFoundError: with the nearest ids, and why where the case was excluded.
        """
        position = self.find(case_id)
        if position is not None:
            return position
        excluded = next((exclusion for exclusion in self.exclusions if exclusion.case_id == case_id), None)
        if excluded is not None:
            hint = f"It was excluded: {excluded.reason} ({excluded.detail})."
            raise NotFoundError("case", case_id, (), hint)
        nearest_ids = self._nearest_ids(case_id)
        raise NotFoundError("case", case_id, nearest_ids, "" if nearest_ids else self._some_ids())

    def select(
        self,
        *,
        kinds: Iterable[str] = (),
        tags: Iterable[str] = (),
        ids: Iterable[str] = (),
        limit: int | None = None,
        seed: int = 0,
    ) -> Sequence[int]:
        """Positions of the selected cases, in the order of the dataset.

        Args:
            kinds: Only cases of these kinds; all if there is none.
            tags: Only cases with one of these tags; all if there is none.
            ids: Only these cases; all if there is none.
            limit: Most cases, drawn at random; a greater limit adds to the draw of a smaller one.
            seed: Of the draw.

        Raises:
            NotFoundError: an unknown kind, tag or id, with the nearest.
        """
        only_kinds, only_tags, only_ids = frozenset(kinds), frozenset(tags), tuple(ids)
        for kind, names, known in (("kind", only_kinds, self.kinds), ("tag", only_tags, self.tags)):
            for name in sorted(names):
                if name not in known:
                    raise NotFoundError(kind, name, known)
        positions: Sequence[int] = self._positions(only_ids) if only_ids else range(len(self))
        if only_kinds:
            positions = [number for number in positions if self._index.kind(number) in only_kinds]
        if only_tags:
            positions = [number for number in positions if not only_tags.isdisjoint(self._index.tags(number))]
        if limit is None or limit >= len(positions):
            return positions
        key = seed.to_bytes(16, signed=True)
        return sorted(heapq.nsmallest(limit, positions, key=lambda number: self._draw(number, key)))

    def _positions(self, case_ids: Iterable[str]) -> list[int]:
        known = {digest: number for number, digest in enumerate(self._index.ids)}
        numbers = ((known.get(id_digest(case_id)), case_id) for case_id in case_ids)
        return sorted({self.get(case_id) if number is None else number for number, case_id in numbers})

    def cluster_key(self, index: int) -> int:
        """A number that only the cases of this one's cluster have."""
        return self._index.cluster_keys[index]

    def is_draft(self, index: int) -> bool:
        """Whether nobody has reviewed the case yet."""
        return self._index.is_draft(index)

    def fingerprint(self, indices: Iterable[int]) -> str:
        """A digest of these cases and their order; 64 hexadecimal digits."""
        digest = hashlib.sha256()
        for index in indices:
            digest.update(self._index.ids[index].to_bytes(8))
        return digest.hexdigest()

    def close(self) -> None:
        """Close the file."""
        self._handle.close()

    def _draw(self, number: int, key: bytes) -> bytes:
        return hashlib.blake2b(self._index.ids[number].to_bytes(8), key=key, digest_size=16).digest()

    def _nearest_ids(self, case_id: str) -> tuple[str, ...]:
        """The nearest ids; with very many ids, compares a sample, then the neighbours of the nearest ids in it."""
        stride = max(1, -(-len(self) // _MOST_COMPARED))
        numbers = {known: number for number, known in self._ids(range(0, len(self), stride))}
        close = nearest(case_id, numbers)
        if stride == 1 or not close:
            return close
        around = {number for known in close for number in range(numbers[known] - stride, numbers[known] + stride + 1)}
        return nearest(case_id, [known for _, known in self._ids(sorted(around))])

    def _some_ids(self) -> str:
        known = [repr(case_id) for _, case_id in self._ids(range(0, len(self), max(1, len(self) // 3)))][:3]
        return f"There {'is 1 case' if len(self) == 1 else f'are {len(self):,} cases'}, such as {', '.join(known)}."

    def _ids(self, numbers: Iterable[int]) -> Iterator[tuple[int, str]]:
        for number in numbers:
            with self._lock:
                case_id = self._reader.read_id(number) if 0 <= number < len(self) else None
            if case_id is not None:
                yield number, case_id


class _CaseReader:
    """Reads cases from their place in the file; has no reference to the dataset, which could not be freed then."""

    def __init__(self, handle: BinaryIO, index: CaseIndex, names: CatalogNames, source: str) -> None:
        self._handle = handle
        self._index = index
        self._names = names
        self._source = source

    def read_id(self, number: int) -> str | None:
        """The id of a case; `None` where its line was changed."""
        raw = self._read(number)
        return None if raw is None else find_case_id(json.loads(raw))

    def _read(self, number: int) -> bytes | None:
        self._handle.seek(self._index.offsets[number])
        raw = self._handle.read(self._index.lengths[number])
        return raw if line_digest(raw) == self._index.digests[number] else None

    def __call__(self, number: int) -> Case:
        if (raw := self._read(number)) is not None:
            if number < len(self._index.remembered):
                return self._index.remembered[number]
            parsed = self._index.layout.parse(json.loads(raw), self._names)
            if parsed.case is not None:
                return parsed.case
        message = "This line was changed while the file was in use; run the command again."
        raise InvalidFileError([Finding("changed", Severity.ERROR, message, self._source, self._index.lines[number])])


class _Kept(NamedTuple):
    """The index of a file with this content, source and kind of catalog."""

    about: tuple[bytes, str, bool]
    catalog: Catalog
    cases: CaseIndex
    names: CatalogNames


_kept: tuple[_Kept, ...] = ()


def open_dataset(
    reference: str,
    *,
    catalog: CatalogFile | None = None,
    fallback_catalog: str | None = None,
    progress: Callable[[int], None] | None = None,
) -> Dataset:
    """Open a dataset.

    Args:
        reference: The name of a shipped dataset, a folder of cases with their catalog, or a file of cases.
        catalog: Replaces the catalog beside the cases.
        fallback_catalog: Opened if there is no catalog beside the cases; Python code is imported.
        progress: Called with the number of cases read so far.

    Raises:
        NotFoundError: no such dataset, with the nearest names.
        InvalidFileError: every mistake in its files, or there is no catalog.
        StorageError: a file cannot be read.
    """
    place = find_dataset(reference)
    handle = open_lines(place.source)
    try:
        catalog_file = catalog or _open_catalog(place, fallback_catalog)
        is_own = catalog is None and place.catalog is not None
        catalog_file, notes = _with_loadouts(catalog_file, place, is_own=is_own)
        index, names = _indexed(handle, place, catalog_file.catalog, progress)
    except BaseException:
        handle.close()
        raise
    is_fallback = catalog is None and not is_own
    return Dataset(handle, index, names, place, catalog_file, catalog_is_fallback=is_fallback, notes=notes)


def _indexed(
    handle: BinaryIO, place: Location, catalog: Catalog, progress: Callable[[int], None] | None
) -> tuple[CaseIndex, CatalogNames]:
    """The index of the cases; one of the last ones, where a small file holds the same again.

    So a process that opens the same cases for one run after another reads them once.
    """
    global _kept  # noqa: PLW0603  replaced as a whole, so that threads need no lock
    is_small = os.fstat(handle.fileno()).st_size <= _MOST_KEPT_BYTES
    try:
        content = handle.read() if is_small else b""
    except OSError as error:
        raise StorageError(f"Cannot read {place.source!r}: {error.strerror or error}.") from None
    about = (content, place.source, place.has_imported_catalog)
    for indexed in _kept if is_small else ():
        if indexed.catalog is catalog and indexed.about == about:
            return indexed.cases, indexed.names
    names = CatalogNames(catalog)
    lines: BinaryIO = io.BytesIO(content) if is_small else handle
    index = index_cases(lines, place.source, names, progress, has_imported_catalog=place.has_imported_catalog)
    if is_small:
        _kept = (_Kept(about, catalog, index, names), *_kept[: _MOST_KEPT - 1])
    return index, names


def detect_layout(reference: str) -> LayoutKind | None:
    """The layout of a file of cases, even if the file has mistakes and cannot be opened.

    Args:
        reference: As for `open_dataset`.

    Returns:
        `None` where there is no file of cases.
    """
    try:
        place = find_dataset(reference)
        with open_lines(place.source) as handle:
            layout, _ = read_layout(handle, place.source, has_imported_catalog=place.has_imported_catalog)
    except ToolbeltError:
        return None
    return layout.kind


def _open_catalog(place: Location, fallback: str | None) -> CatalogFile:
    reference = place.catalog or fallback
    if reference is None:
        message = (
            f"There is no catalog beside these cases ({' or '.join(CATALOG_FILES)}). Name one with --catalog or as "
            f"`catalog` in {CARD_FILE}, or put it there."
        )
        raise InvalidFileError([Finding("no-catalog", Severity.ERROR, message, place.source)])
    return open_catalog(reference, may_import=place.catalog is None)


def _with_loadouts(catalog: CatalogFile, place: Location, *, is_own: bool) -> tuple[CatalogFile, tuple[str, ...]]:
    path = Path(place.source).parent / LOADOUTS_FILE
    if not path.is_file():
        return catalog, ()
    if catalog.catalog.loadouts and not is_own:
        return catalog, (f"{path} is left aside: {catalog.source} has loadouts of its own",)
    return with_loadouts(catalog, str(path))
