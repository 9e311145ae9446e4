"""The cases of an arm in columns: some dozens of bytes a trial, where objects would take hundreds.

A table is read like a mapping of `CaseEvidence`, made when it is asked for. Statistics read the columns.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, ValuesView
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from toolbelt.evals.analysis.evidence.evidence import Attempt, CaseEvidence

FIGURES = ("definition_tokens", "own_prompt_tokens", "prompt_tokens", "requests", "cost_usd", "latency_seconds")
"""The fields of `Attempt` that are numbers; all others are its end, of which there are few."""
_FRACTIONS = frozenset({"cost_usd", "latency_seconds"})
_NONE = -1
"""Stands for a figure that is not known; figures are never below 0."""
_MOST_WHOLE = 1 << 53
_NOT_FINISHED = 0


class CaseNames:
    """Ids, clusters and kinds of cases, in their order.

    Attributes:
        clusters: A number for each case, the same for the cases of a cluster.
        kinds: A number for each case, its place in `kind_names`.
        kind_names: The kinds.
    """

    def __init__(
        self,
        ids: bytes | bytearray,
        ends: NDArray[np.int64],
        hashes: NDArray[np.int64],
        of: Mapping[int, str],
        kinds: array[int],
    ) -> None:
        self._ids, self._ends, self._hashes = ids, ends, hashes
        self._order = np.argsort(hashes, kind="stable").astype(np.int32)
        self.kinds: NDArray[np.int32] = np.frombuffer(kinds, np.int32)
        self.kind_names: tuple[str, ...] = ()
        self.clusters: NDArray[np.int32] = np.arange(len(ends), dtype=np.int32)
        self._labels: list[str] = []
        numbers: dict[str, int] = {}
        for place, label in of.items():
            if label not in numbers:
                namesake = self.find(label)
                if namesake is None or namesake in of:  # else it is the cluster of the case of that id
                    namesake = len(ends) + len(self._labels)
                    self._labels.append(label)
                numbers[label] = namesake
            self.clusters[place] = numbers[label]

    def __len__(self) -> int:
        return len(self._ends)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, CaseNames)
            and np.array_equal(self._ends, other._ends)
            and self._ids == other._ids
            and np.array_equal(self.clusters, other.clusters)
            and self._labels == other._labels
            and np.array_equal(self.kinds, other.kinds)
            and self.kind_names == other.kind_names
        )

    __hash__ = None  # type: ignore[assignment]  # compared alone

    def id(self, place: int) -> str:
        """The id of a case."""
        start = 0 if place == 0 else int(self._ends[place - 1])
        return self._ids[start : int(self._ends[place])].decode(errors="surrogatepass")

    def label(self, place: int) -> str:
        """The cluster of a case."""
        number = int(self.clusters[place])
        return self.id(number) if number < len(self) else self._labels[number - len(self)]

    def kind(self, place: int) -> str:
        """The kind of a case."""
        return self.kind_names[int(self.kinds[place])]

    def find(self, case: str) -> int | None:
        """The place of a case; `None` if it is not there."""
        wanted = hash(case)
        at = int(np.searchsorted(self._hashes, wanted, sorter=self._order))
        while at < len(self) and self._hashes[self._order[at]] == wanted:
            if self.id(place := int(self._order[at])) == case:
                return place
            at += 1
        return None


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
        figures: Mapping[str, NDArray[Any]],
        responses: Mapping[str, str],
    ) -> None:
        self.names, self.ends, self.end_of = names, ends, end_of
        self._figures, self._responses = figures, responses

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[str]:
        return map(self.names.id, range(len(self)))

    def __contains__(self, case: object) -> bool:
        return isinstance(case, str) and self.names.find(case) is not None

    def __getitem__(self, case: str) -> CaseEvidence:
        if (place := self.names.find(case)) is None:
            raise KeyError(case)
        return self.case(place)

    def values(self) -> ValuesView[CaseEvidence]:
        """The cases in their order, each made when it is reached."""
        return _Cases(self)

    @property
    def epochs(self) -> int:
        """How often each case was to be asked."""
        return int(self.end_of.shape[1])

    def first_epochs(self, epochs: int) -> CaseTable:
        """The same without later epochs."""
        figures = {name: column[:, :epochs] for name, column in self._figures.items()}
        return CaseTable(self.names, self.ends, self.end_of[:, :epochs], figures, self._responses)

    def case(self, place: int) -> CaseEvidence:
        """A case by its place."""
        names, case = self.names, self.names.id(place)
        attempts = tuple(self.attempt(place, epoch) for epoch in range(self.epochs))
        return CaseEvidence(case, names.label(place), names.kind(place), attempts, self._responses.get(case, ""))

    def attempt(self, place: int, epoch: int) -> Attempt | None:
        """A trial; `None` where it has not finished."""
        if (end := self.ends[self.end_of[place, epoch]]) is None:
            return None
        figures: dict[str, Any] = {name: _plain(name, column[place, epoch]) for name, column in self._figures.items()}
        return Attempt(end.outcome, end.covered, end.called, end.missing, end.surplus, **figures)

    def figure(self, name: str, of: NDArray[Any]) -> NDArray[Any]:
        """A figure of each trial of some cases, of shape (cases, epochs); below 0 where it is not known."""
        found: NDArray[Any] = self._figures[name][of]
        return found

    def by_end(
        self, value: Callable[[Attempt | None], Any], type_: DTypeLike = bool, of: NDArray[Any] | None = None
    ) -> NDArray[Any]:
        """Something of each trial that its end says, of shape (cases, epochs).

        Args:
            value: Of an attempt without figures.
            type_: Of the array.
            of: Places of the cases; all if `None`.
        """
        values = np.array([value(end) for end in self.ends], dtype=type_)
        found: NDArray[Any] = values[self.end_of if of is None else self.end_of[of]]
        return found

    def count_ends(self, places: NDArray[np.integer[Any]] | None = None) -> Iterator[tuple[Attempt, int]]:
        """The different ends of finished trials, without figures, and how many trials had them.

        Args:
            places: Of the cases; all if `None`.
        """
        ends = self.end_of if places is None else self.end_of[places]
        counts = np.bincount(ends.ravel(), minlength=len(self.ends)).tolist()
        return ((end, count) for end, count in zip(self.ends, counts, strict=True) if end is not None and count)


class _Cases(ValuesView[CaseEvidence]):
    def __init__(self, table: CaseTable) -> None:
        super().__init__(table)
        self._table = table

    def __iter__(self) -> Iterator[CaseEvidence]:
        return map(self._table.case, range(len(self._table)))


class TableBuilder:
    """Makes a table from trials, those of a case together or not.

    Args:
        epochs: How often each case is asked.
        make_end: An attempt without figures from what `add` calls its end.
    """

    def __init__(self, epochs: int, make_end: Callable[[Any], Attempt]) -> None:
        self._epochs, self._make_end = epochs, make_end
        self._ids, self._lengths, self._hashes = bytearray(), array("q"), array("q")
        self._clusters: dict[int, str] = {}
        self._kinds, self._kind_of = array("i"), dict[str, int]()
        self._ends: dict[Hashable, int] = {}
        self._cells, self._end_of = array("q"), array("i")
        self._figures = {name: _Column() for name in FIGURES}
        self._last: str | None = None
        self._is_gathered = False

    def begin(self, case: str, cluster: str, kind: str) -> None:
        """What follows is of that case."""
        if case == self._last:
            return
        self._last = case
        if cluster != case:
            self._clusters[len(self._lengths)] = cluster
        self._ids += case.encode(errors="surrogatepass")
        self._lengths.append(len(self._ids))
        self._hashes.append(hash(case))
        self._kinds.append(self._kind_of.setdefault(kind, len(self._kind_of)))

    def add(self, epoch: int, end: Hashable, figures: Iterable[float | None]) -> None:
        """Add a finished trial of the case.

        Args:
            epoch: 0-based.
            end: What `make_end` takes; equal for trials that ended alike.
            figures: In the order of `FIGURES`.
        """
        self._cells.append((len(self._lengths) - 1) * self._epochs + epoch)
        self._end_of.append(self._ends.setdefault(end, len(self._ends) + 1))
        for column, figure in zip(self._figures.values(), figures, strict=True):
            column.append(_NONE if figure is None else figure)

    def finish(self, before: CaseTable | None = None, responses: Mapping[str, str] | None = None) -> CaseTable:
        """The table.

        Args:
            before: Of another arm; its names are taken if they are the same.
            responses: Digests of recorded responses by case.
        """
        hashes = np.frombuffer(self._hashes, np.int64)
        _, firsts = np.unique(hashes, return_index=True)
        if len(firsts) < len(hashes) and not self._is_gathered:
            return self._gathered().finish(before, responses)
        names = CaseNames(self._ids, np.frombuffer(self._lengths, np.int64), hashes, self._clusters, self._kinds)
        names.kind_names = tuple(self._kind_of)
        if before is not None and before.names == names:
            names = before.names
        shape, cells = (len(hashes), self._epochs), np.frombuffer(self._cells, np.int64)
        end_of = np.zeros(shape, np.min_scalar_type(len(self._ends)))
        end_of.ravel()[cells] = np.frombuffer(self._end_of, np.int32)
        figures = {}
        for name in FIGURES:
            figures[name] = _compact(np.asarray(self._figures.pop(name).values), cells, shape)
        ends = (None, *map(self._make_end, self._ends))
        return CaseTable(names, ends, end_of, figures, responses or {})

    def _gathered(self) -> TableBuilder:
        """The same trials, those of a case together, at the place of its first."""
        starts = [0, *self._lengths]
        ids = [
            self._ids[start:end].decode(errors="surrogatepass")
            for start, end in zip(starts, self._lengths, strict=False)
        ]
        kinds, ends = list(self._kind_of), list(self._ends)
        trials: dict[str, list[int]] = {case: [] for case in ids}
        first = {case: place for place, case in reversed(list(enumerate(ids)))}
        for number, cell in enumerate(self._cells):
            trials[ids[cell // self._epochs]].append(number)
        gathered = TableBuilder(self._epochs, self._make_end)
        gathered._is_gathered = True
        for case, numbers in trials.items():
            gathered.begin(case, self._clusters.get(first[case], case), kinds[self._kinds[first[case]]])
            for number in numbers:
                figures = (
                    None if (value := column.values[number]) == _NONE else value for column in self._figures.values()
                )
                gathered.add(self._cells[number] % self._epochs, ends[self._end_of[number] - 1], figures)
        return gathered


class _Column:
    """Numbers in the fewest bytes that hold them all."""

    def __init__(self) -> None:
        self.values: array[Any] = array("b")

    def append(self, value: float) -> None:
        """Add a number; all get more bytes where it does not fit."""
        try:
            self.values.append(value)
        except (OverflowError, TypeError):
            wider = "d" if isinstance(value, float) else {"b": "h", "h": "i", "i": "q"}.get(self.values.typecode, "d")
            self.values = array(wider, self.values)
            self.append(value)


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


def _compact(values: NDArray[np.float64], cells: NDArray[np.int64], shape: tuple[int, int]) -> NDArray[Any]:
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
