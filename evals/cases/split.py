"""Split a dataset: draw the cases that are held out.

Cases that belong together stay together: paraphrases of one task (`cluster`), or all cases that one tool is the answer
to (`tool`). Groups are drawn within each kind, by a hash of their names and the seed. Of a kind with `n` groups, the
nearest number to the share is held out, at least one and at most `n - 1`. Some groups always stay in the development
part: a group that is alone in its kind, and one that has more than the share of its kind's cases and more cases than
the median group. Otherwise one tool that most cases need would be held out with all of them. The size of a group has
no other effect. Unless these bounds apply, the number of a kind's held-out groups differs from the requested share by
less than half a group.

New cases of a group go where the group is. For each new group, at most one other group of its kind changes sides: the
one at the border of the draw. There may be more if a group becomes too large, or is so no longer. The order of the
file has no effect.
"""

from __future__ import annotations

import hashlib
import math
from array import array
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from toolbelt.errors import ToolbeltError
from toolbelt.evals.cases.case import Case
from toolbelt.evals.cases.dataset import Dataset


class SplitSide(StrEnum):
    """A side of a split; its value is the name of its folder."""

    DEVELOPMENT = "dev"
    HELD_OUT = "held-out"


class SplitGrouping(StrEnum):
    """Which cases stay on one side."""

    CLUSTER = "cluster"
    """Cases that share a `cluster`."""
    TOOL = "tool"
    """Cases that share a tool of a right answer, or a cluster, directly or through other cases."""


@dataclass(frozen=True, slots=True)
class LargeGroup:
    """A group that is too large to be held out, so it stays in the development part.

    Attributes:
        kind: The kind of most of its cases.
        cases: Number of its cases of that kind.
        of: Number of all cases of that kind.
        position: Of its first case in the dataset.
    """

    kind: str
    cases: int
    of: int
    position: int


@dataclass(frozen=True, eq=False)
class Split:
    """The side of each case.

    Attributes:
        parts: By position in the dataset, 1 for a case that is held out.
        groups: Number of groups on each side.
        single: Kinds with a single group, which stays in the development part.
        large: Groups that stay there because of their size.
    """

    parts: bytearray
    groups: Mapping[SplitSide, int]
    single: tuple[str, ...]
    large: tuple[LargeGroup, ...] = ()

    @property
    def held_out(self) -> float:
        """The share of cases that is held out, a fraction."""
        return sum(self.parts) / max(len(self.parts), 1)

    def part(self, position: int) -> SplitSide:
        """The side of the case at a position."""
        return SplitSide.HELD_OUT if self.parts[position] else SplitSide.DEVELOPMENT


def draw_split(
    dataset: Dataset,
    held_out: float,
    *,
    by: SplitGrouping = SplitGrouping.CLUSTER,
    seed: int = 0,
    progress: Callable[[int], None] | None = None,
) -> Split:
    """Draw the cases that are held out.

    Args:
        dataset: Its cases are read one at a time; a few bytes of each are stored.
        held_out: The share of groups, a fraction between 0 and 1.
        by: Which cases stay together.
        seed: Another seed draws other groups.
        progress: Called with the number of cases read so far.

    Raises:
        ToolbeltError: the share is out of range, or every kind has a single group, so that nothing can be held out.
        InvalidFileError: the file was changed since it was opened.
    """
    if not 0 < held_out < 1:
        raise ToolbeltError(f"The share held out lies between 0 and 1, and is neither; {held_out} does not.")
    groups = _Groups(seed.to_bytes(16, signed=True))
    for position in range(len(dataset)):
        groups.add(dataset.case(position), by)
        if progress is not None and position % 200 == 0:
            progress(position)
    split = groups.split(held_out)
    if not split.groups[SplitSide.HELD_OUT]:
        what = "cluster" if by is SplitGrouping.CLUSTER else "group of cases that share no tool with the others"
        raise ToolbeltError(f"Nothing can be held out: no kind of case has more than one {what}.")
    return split


class _Groups:
    """Groups of cases (a disjoint-set forest): names are 64-bit hashes, and the names of one case are linked."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._numbers: dict[int, int] = {}
        self._links = array("I")
        self._hashes = array("Q")
        self._is_tool = bytearray()
        self._cases = array("I")
        self._kinds: dict[str, int] = {}
        self._kind_of_case = array("I")

    def add(self, case: Case, by: SplitGrouping) -> None:
        """Add a case."""
        first = self._number("c", case.cluster)
        if by is SplitGrouping.TOOL:
            for tool in sorted({tool for answer in case.answers for call in answer for tool in call.tools}):
                self._link(first, self._number("t", tool))
        self._cases.append(first)
        self._kind_of_case.append(self._kinds.setdefault(case.kind, len(self._kinds)))

    def split(self, share: float) -> Split:
        """Draw within each kind; a group of several kinds belongs to the kind of most of its cases."""
        counted: dict[int, Counter[int]] = {}
        firsts: dict[int, int] = {}
        for position, (name, kind) in enumerate(zip(self._cases, self._kind_of_case, strict=True)):
            root = self._root(name)
            counted.setdefault(root, Counter())[kind] += 1
            firsts.setdefault(root, position)
        draws = self._draws()
        by_kind: dict[int, list[tuple[int, int]]] = {}
        names = list(self._kinds)
        for root, kinds in counted.items():
            most = min(kinds, key=lambda kind: (-kinds[kind], names[kind]))
            by_kind.setdefault(most, []).append((draws[root], root))
        held: set[int] = set()
        large: list[LargeGroup] = []
        for kind, drawn in by_kind.items():
            sizes = [counted[root][kind] for _, root in drawn]
            most_cases = _most_cases(sizes, share)
            too_large = {root for (_, root), size in zip(drawn, sizes, strict=True) if size > most_cases}
            large += (LargeGroup(names[kind], counted[root][kind], sum(sizes), firsts[root]) for root in too_large)
            count = _nearest_count(len(drawn), share)
            held.update([root for _, root in sorted(drawn) if root not in too_large][:count])
        parts = bytearray(self._root(name) in held for name in self._cases)
        single = tuple(names[kind] for kind, drawn in by_kind.items() if len(drawn) == 1)
        sides = {SplitSide.DEVELOPMENT: len(counted) - len(held), SplitSide.HELD_OUT: len(held)}
        return Split(parts, sides, single, tuple(sorted(large, key=lambda group: group.position)))

    def _draws(self) -> dict[int, int]:
        """The draw key of each group: a hash of the least hash of its tools; without tools, that of its cluster."""
        draws: dict[int, tuple[bool, int]] = {}
        for number, hashed in enumerate(self._hashes):
            root, draw = self._root(number), (not self._is_tool[number], hashed)
            draws[root] = min(draws.get(root, draw), draw)
        # The least of many hashes is small, so without a second hash the largest groups would come first.
        return {
            root: hashed if of_cluster else self._hash_again(hashed) for root, (of_cluster, hashed) in draws.items()
        }

    def _hash_again(self, hashed: int) -> int:
        return int.from_bytes(hashlib.blake2b(hashed.to_bytes(8), key=self._key, digest_size=8).digest())

    def _number(self, sort: str, name: str) -> int:
        digest = hashlib.blake2b(f"{sort}{name}".encode(errors="surrogatepass"), key=self._key, digest_size=8).digest()
        hashed = int.from_bytes(digest)
        if (number := self._numbers.get(hashed)) is None:
            number = self._numbers[hashed] = len(self._links)
            self._links.append(number)
            self._hashes.append(hashed)
            self._is_tool.append(sort == "t")
        return number

    def _root(self, number: int) -> int:
        while (above := self._links[number]) != number:
            self._links[number] = number = self._links[above]
        return number

    def _link(self, left: int, right: int) -> None:
        self._links[self._root(right)] = self._root(left)


def _nearest_count(groups: int, share: float) -> int:
    """Number of groups to hold out."""
    return 0 if groups < 2 else min(max(math.floor(groups * share + 0.5), 1), groups - 1)


def _most_cases(sizes: Sequence[int], share: float) -> float:
    """Most cases of a group that can be held out: the share of the kind's cases, or the median group, if larger."""
    return max(share * sum(sizes), sorted(sizes)[(len(sizes) - 1) // 2])
