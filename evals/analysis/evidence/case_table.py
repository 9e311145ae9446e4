"""The cases of an arm in columns: some dozens of bytes a trial, where objects would take hundreds.

A table is read like a mapping of `CaseEvidence`, made when it is asked for. Statistics read the columns.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, ValuesView
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toolbelt.evals.analysis.evidence.case_names import CaseNames, NameBuilder
from toolbelt.evals.analysis.evidence.evidence import Attempt, CaseEvidence
from toolbelt.evals.analysis.evidence.temporary import TemporaryBytes

FIGURES = ("definition_tokens", "own_prompt_tokens", "prompt_tokens", "requests", "cost_usd", "latency_seconds")
"""The fields of `Attempt` that are numbers; all others are its end, of which there are few."""
_FRACTIONS = frozenset({"cost_usd", "latency_seconds"})
_NONE = -1
"""Stands for a figure that is not known; figures are never below 0."""
_MOST_WHOLE = 1 << 53
_MOST_HELD = 1 << 15
"""Trials of which figures are held in memory; those of more are in a file, as they are needed one figure at a time."""
_BATCH = 1 << 16
"""Trials that are read before their figures go to a file: an array of all would be copied each time that it grows."""
_ROWS = 1024
"""Cases whose figures are read at once where all cases are gone through."""


_PART = 1 << 16
"""Numbers that are worked on at once: numpy makes eight bytes of each index first."""


def take(values: NDArray[Any], of: NDArray[np.integer[Any]]) -> NDArray[Any]:
    """`values[of]`, in little memory beside the result."""
    taken = np.empty((*of.shape, *values.shape[1:]), values.dtype)
    step = max(1, _PART // max(1, of[:1].size))
    for start in range(0, len(of), step):
        taken[start : start + step] = values[of[start : start + step]]
    return taken


def count(values: NDArray[np.integer[Any]], kinds: int) -> list[int]:
    """How often each of the numbers below `kinds` is there, in little memory."""
    counts = np.zeros(kinds, np.int64)
    for start in range(0, len(values), _PART):
        counts += np.bincount(values[start : start + _PART], minlength=kinds)
    numbers: list[int] = counts.tolist()
    return numbers


class CaseTable(Mapping[str, CaseEvidence]):
    """The cases of an arm, by their id, in the order asked.

    Attributes:
        names: Of the cases; arms that were asked the same share them.
        ends: The different ends of trials, without figures; the first is `None`, of trials that have not finished.
        end_of: Of shape (cases, epochs), the place in `ends`.
    """

    def __init__(
        self,
        names: CaseNames,
        ends: tuple[Attempt | None, ...],
        end_of: NDArray[np.integer[Any]],
        figures: Figures,
        responses: Mapping[str, str],
    ) -> None:
        self.names, self.ends, self.end_of = names, ends, end_of
        self._figures, self._responses = figures, responses

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __contains__(self, case: object) -> bool:
        return isinstance(case, str) and self.names.find(case) is not None

    def __getitem__(self, case: str) -> CaseEvidence:
        if (place := self.names.find(case)) is None:
            raise KeyError(case)
        return self.case(place)

    def values(self) -> ValuesView[CaseEvidence]:
        """The cases in their order, each made when it is reached."""
        return _Cases(self)

    def share_names(self, other: CaseTable) -> None:
        """Take the names of another arm, if they are the same, so that they are in memory once."""
        if self.names == other.names:
            self.names = other.names

    @property
    def epochs(self) -> int:
        """How often each case was to be asked."""
        return int(self.end_of.shape[1])

    def first_epochs(self, epochs: int) -> CaseTable:
        """The same without later epochs."""
        return CaseTable(self.names, self.ends, self.end_of[:, :epochs], self._figures, self._responses)

    def case(self, place: int) -> CaseEvidence:
        """A case by its place."""
        return next(self.cases(range(place, place + 1)))

    def cases(self, places: range) -> Iterator[CaseEvidence]:
        """Cases by their places, which are consecutive."""
        names, columns = self.names, self._figures.read_rows(places)
        for row, place in enumerate(places):
            case = names.id(place)
            attempts = tuple(
                self._make_attempt(place, epoch, {name: column[row, epoch] for name, column in columns.items()})
                for epoch in range(self.epochs)
            )
            yield CaseEvidence(case, names.label(place), names.kind(place), attempts, self._responses.get(case, ""))

    def _make_attempt(self, place: int, epoch: int, values: Mapping[str, Any]) -> Attempt | None:
        if (end := self.ends[self.end_of[place, epoch]]) is None:
            return None
        figures: dict[str, Any] = {name: _plain(name, value) for name, value in values.items()}
        return Attempt(end.outcome, end.covered, end.called, end.missing, end.surplus, **figures)

    def figure(self, name: str, of: NDArray[Any]) -> NDArray[Any]:
        """A figure of each trial of some cases, of shape (cases, epochs); below 0 where it is not known."""
        column = self._figures.read(name)
        is_all = len(of) == len(column) and bool((of[1:] > of[:-1]).all())
        return (column if is_all else take(column, of))[:, : self.epochs]

    def by_end(self, value: Callable[[Attempt | None], bool], of: NDArray[Any] | None = None) -> NDArray[Any]:
        """Something of each trial that its end says, of shape (cases, epochs).

        Args:
            value: Of an attempt without figures.
            of: Places of the cases; all if `None`.
        """
        values = np.array([value(end) for end in self.ends], dtype=bool)
        return take(values, self.end_of if of is None else take(self.end_of, of))

    def count_ends(self, places: NDArray[np.integer[Any]] | None = None) -> Iterator[tuple[Attempt, int]]:
        """The different ends of finished trials, without figures, and how many trials had them.

        Args:
            places: Of the cases; all if `None`.
        """
        ends = self.end_of if places is None else take(self.end_of, places)
        counts = count(ends.ravel(), len(self.ends))
        return ((end, trials) for end, trials in zip(self.ends, counts, strict=True) if end is not None and trials)


class _Cases(ValuesView[CaseEvidence]):
    def __init__(self, table: CaseTable) -> None:
        super().__init__(table)
        self._table = table

    def __iter__(self) -> Iterator[CaseEvidence]:
        table = self._table
        for start in range(0, len(table), _ROWS):
            yield from table.cases(range(start, min(start + _ROWS, len(table))))


class Figures:
    """The figures of an arm's trials; of many trials in a file, of which one figure is in memory at a time.

    Args:
        columns: By name, each of shape (cases, epochs); those of one value take no memory.
        shape: That of all.
    """

    def __init__(self, columns: Iterable[tuple[str, NDArray[Any]]], shape: tuple[int, int]) -> None:
        self._shape, self._held = shape, dict[str, NDArray[Any]]()
        self._stored: dict[str, tuple[int, np.dtype[Any]]] = {}
        self._file = TemporaryBytes() if shape[0] * shape[1] > _MOST_HELD else None
        for name, column in columns:
            if not self._store(name, column):
                self._held[name] = column

    def _store(self, name: str, column: NDArray[Any]) -> bool:
        if self._file is None or 0 in column.strides:
            return False
        if (start := self._file.add(column.data.cast("B"))) is not None:
            self._stored[name] = start, column.dtype
        return start is not None

    def read(self, name: str) -> NDArray[Any]:
        """A figure of all trials, of shape (cases, epochs); below 0 where it is not known."""
        return self._read(name, range(self._shape[0]))

    def read_rows(self, places: range) -> dict[str, NDArray[Any]]:
        """All figures of consecutive cases."""
        return {name: self._read(name, places) for name in FIGURES}

    def _read(self, name: str, places: range) -> NDArray[Any]:
        if name in self._held:
            return self._held[name][places.start : places.stop]
        assert self._file is not None  # noqa: S101  it was stored there
        (start, type_), epochs = self._stored[name], self._shape[1]
        row = epochs * type_.itemsize
        data = self._file.read(start + places.start * row, len(places) * row)
        return np.frombuffer(data, type_).reshape(-1, epochs)


class TableBuilder:
    """Makes a table from trials, those of a case together or not.

    Args:
        epochs: How often each case is asked.
        make_end: An attempt without figures from what `add` calls its end.
        before: Of another arm; its names are taken as long as they are the same.
    """

    def __init__(self, epochs: int, make_end: Callable[[Any], Attempt], before: CaseTable | None = None) -> None:
        self._epochs, self._make_end = epochs, make_end
        self._names = NameBuilder()
        self._ends: dict[Hashable, int] = {}
        self._end_of = _Column()
        self._cells: array[int] | None = None  # `None` as long as no trial is left out and they come in their order
        self._figures = {name: _Column() for name in FIGURES}
        self._file = TemporaryBytes()
        self._last: str | None = None
        self._count = 0
        self._shared = None if before is None else before.names

    def begin(self, case: str, cluster: str, kind: str) -> None:
        """What follows is of that case."""
        if case == self._last:
            return
        self._last = case
        self._count += 1
        if self._shared is not None:
            if self._shared.is_at(self._count - 1, case, cluster, kind):
                return
            self._unshare(self._shared, self._count - 1)
        self._names.add(case, cluster, kind)

    def _unshare(self, names: CaseNames, count: int) -> None:
        self._shared = None
        for place in range(count):
            self._names.add(names.id(place), names.label(place), names.kind(place))

    def add(self, epoch: int, end: Hashable, figures: Iterable[float | None]) -> None:
        """Add a finished trial of the case.

        Args:
            epoch: 0-based.
            end: What `make_end` takes; equal for trials that ended alike.
            figures: In the order of `FIGURES`.
        """
        cell, trials = (self._count - 1) * self._epochs + epoch, len(self._end_of.values)
        if self._cells is None and cell != trials:
            self._cells = array("q", range(trials))
        if self._cells is not None:
            self._cells.append(cell)
        self._end_of.append(self._ends.setdefault(end, len(self._ends) + 1))
        for column, figure in zip(self._figures.values(), figures, strict=True):
            column.append(_NONE if figure is None else figure)
        if (trials + 1) % _BATCH == 0:
            for column in self._figures.values():
                column.store(self._file)

    def finish(self, responses: Mapping[str, str] | None = None) -> CaseTable:
        """The table.

        Args:
            responses: Digests of recorded responses by case.
        """
        if self._shared is not None and len(self._shared) != self._count:
            self._unshare(self._shared, self._count)
        names = self._shared
        if names is None:
            names, may_repeat = self._names.finish(), self._names.may_repeat
            if may_repeat and len(names) != len(set(names)):
                return self._gathered(names).finish(responses)
            self._names = NameBuilder()
        shape = self._count, self._epochs
        cells = slice(len(self._end_of.values)) if self._cells is None else np.frombuffer(self._cells, np.int64)
        end_of = np.zeros(shape, np.min_scalar_type(len(self._ends)))
        end_of.ravel()[cells] = np.asarray(self._end_of.values)
        columns = ((name, _compact(self._figures.pop(name).read(self._file), cells, shape)) for name in FIGURES)
        table_ends = (None, *map(self._make_end, self._ends))
        return CaseTable(names, table_ends, end_of, Figures(columns, shape), responses or {})

    def _gathered(self, names: CaseNames) -> TableBuilder:
        """The same trials, those of a case together, at the place of its first."""
        ids, ends = list(names), list(self._ends)
        trials: dict[str, list[int]] = {case: [] for case in ids}
        first = {case: place for place, case in reversed(list(enumerate(ids)))}
        cells = range(len(self._end_of.values)) if self._cells is None else self._cells
        for number, cell in enumerate(cells):
            trials[ids[cell // self._epochs]].append(number)
        figures = [column.read(self._file) for column in self._figures.values()]
        gathered = TableBuilder(self._epochs, self._make_end)
        for case, numbers in trials.items():
            gathered.begin(case, names.label(first[case]), names.kind(first[case]))
            for number in numbers:
                values = (None if (value := column.item(number)) == _NONE else value for column in figures)
                gathered.add(cells[number] % self._epochs, ends[self._end_of.values[number] - 1], values)
        return gathered


class _Column:
    """Numbers in the fewest bytes that hold them all."""

    def __init__(self) -> None:
        self.values: array[Any] = array("b")
        self._stored: list[tuple[int, int, str]] = []

    def append(self, value: float) -> None:
        """Add a number; all get more bytes where it does not fit."""
        try:
            self.values.append(value)
        except (OverflowError, TypeError):
            wider = "d" if isinstance(value, float) else {"b": "h", "h": "i", "i": "q"}.get(self.values.typecode, "d")
            self.values = array(wider, self.values)
            self.append(value)

    def store(self, file: TemporaryBytes) -> None:
        """Move the numbers to a file, if it has room."""
        data = memoryview(self.values).cast("B")
        if (start := file.add(data)) is not None:
            self._stored.append((start, len(data), self.values.typecode))
            self.values = array(self.values.typecode)

    def read(self, file: TemporaryBytes) -> NDArray[Any]:
        """All numbers, in their order."""
        stored = (np.frombuffer(file.read(start, size), type_) for start, size, type_ in self._stored)
        return np.concatenate([*stored, np.asarray(self.values)])


def as_table(cases: Mapping[str, CaseEvidence], epochs: int) -> CaseTable:
    """Cases in columns; those that are, as they are."""
    if isinstance(cases, CaseTable):
        return cases
    builder = TableBuilder(epochs, lambda end: end)
    for case in cases.values():
        builder.begin(case.case, case.cluster, case.kind)
        for epoch, attempt in enumerate(case.attempts):
            if attempt is not None:
                builder.add(epoch, _without_figures(attempt), [getattr(attempt, name) for name in FIGURES])
    return builder.finish(responses={case.case: case.responses for case in cases.values() if case.responses})


def _without_figures(attempt: Attempt) -> Attempt:
    return Attempt(attempt.outcome, attempt.covered, attempt.called, attempt.missing, attempt.surplus)


def _compact(
    values: NDArray[np.float64], cells: NDArray[np.int64] | slice[None, int, None], shape: tuple[int, int]
) -> NDArray[Any]:
    """A column in the fewest bytes that hold its values, of that shape."""
    if not len(values) or (values == values[0]).all():
        return np.broadcast_to(values[0] if len(values) else np.float64(_NONE), shape)
    is_whole = bool((values == np.floor(values)).all()) and float(values.max()) < _MOST_WHOLE
    column = np.full(shape, _NONE, np.min_scalar_type(-int(values.max()) - 1) if is_whole else np.float64)
    column.ravel()[cells] = values
    return column


def _plain(name: str, value: Any) -> float | None:
    if value == _NONE:
        return None
    return float(value) if name in _FRACTIONS else int(value)
