"""Places labels so that none overlaps another or a mark, or lies outside."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

_DIRECTIONS = tuple(math.radians(angle) for angle in (0, 180, 90, 270, 45, 315, 135, 225, 22, 338, 158, 202, 68, 112))
_PASSES = 3
_LINE_WEIGHT = 4
_CROSSING = 1500
"""The cost of a line to a label that crosses another label, in units of distance; in a crowd some must cross."""


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle, in pixels."""

    left: float
    bottom: float
    right: float
    top: float

    def overlap(self, other: Box) -> float:
        """The area that both cover."""
        wide = min(self.right, other.right) - max(self.left, other.left)
        high = min(self.top, other.top) - max(self.bottom, other.bottom)
        return wide * high if wide > 0 and high > 0 else 0.0

    def holds(self, point: tuple[float, float]) -> bool:
        """Whether a point lies within."""
        return self.left <= point[0] <= self.right and self.bottom <= point[1] <= self.top

    def is_inside(self, other: Box) -> bool:
        """Whether all of it lies within `other`."""
        return (
            self.left >= other.left
            and self.right <= other.right
            and self.bottom >= other.bottom
            and self.top <= other.top
        )


@dataclass(frozen=True, slots=True)
class PlacedLabel:
    """Where a label is.

    Attributes:
        box: What it covers.
        is_near: Whether it stands right beside its mark, so that no line need lead there.
        leader: Points along the line that leads there from its mark; none if it is near.
    """

    box: Box
    is_near: bool
    leader: tuple[tuple[float, float], ...] = ()


def place_labels(
    marks: Sequence[tuple[float, float]],
    sizes: Sequence[tuple[float, float]],
    bounds: Box,
    radius: float,
    avoid: Sequence[Box] = (),
    reach: float = 12,
) -> list[PlacedLabel] | None:
    """A place for each label beside its mark.

    Args:
        marks: Centres of the marks.
        sizes: Width and height of each label.
        bounds: Labels stay within.
        radius: Of a mark.
        avoid: What labels had better not cover, such as lines; marks and other labels they never do.
        reach: How far away a label may go, in radii.

    Returns:
        One place a mark, or `None` where somebody finds no room.
    """
    dots = [Box(x - radius, y - radius, x + radius, y + radius) for x, y in marks]
    # The crowded ones choose first.
    near = [sum(math.dist(mark, other) < 6 * radius for other in marks) for mark in marks]
    order = sorted(range(len(marks)), key=lambda number: (-near[number], number))
    placed: dict[int, PlacedLabel] = {}
    for _ in range(_PASSES):  # later ones may have made room, or better be asked to
        for number in order:
            others = [place for other, place in placed.items() if other != number]
            candidates = _candidates(marks[number], sizes[number], radius, reach)
            inside = ((box, distance) for box, distance in candidates if box.is_inside(bounds))
            best = _best(marks[number], radius, inside, dots, others, avoid)
            if best is None:
                return None
            placed[number] = best
    return [placed[number] for number in range(len(marks))]


def _candidates(
    mark: tuple[float, float], size: tuple[float, float], radius: float, reach: float
) -> Iterator[tuple[Box, float]]:
    (x, y), (width, height) = mark, size
    distance = radius * 1.35
    while distance <= radius * reach:
        for angle in _DIRECTIONS:
            across, up = math.cos(angle), math.sin(angle)
            # The label's own extent is pushed outwards, so that its edge is at the distance.
            centre_x = x + across * (distance + width / 2)
            centre_y = y + up * (distance + height / 2)
            left, bottom = centre_x - width / 2, centre_y - height / 2
            yield Box(left, bottom, left + width, bottom + height), distance
        distance *= 1.3


def _leader(mark: tuple[float, float], box: Box, radius: float) -> tuple[tuple[float, float], ...]:
    end = (min(max(mark[0], box.left), box.right), min(max(mark[1], box.bottom), box.top))
    length = math.dist(mark, end)
    steps = max(2, round(length / radius * 2))
    shares = [radius / length + (1 - radius / length) * step / steps for step in range(steps)]
    return tuple((mark[0] + (end[0] - mark[0]) * share, mark[1] + (end[1] - mark[1]) * share) for share in shares)


def _best(
    mark: tuple[float, float],
    radius: float,
    candidates: Iterable[tuple[Box, float]],
    dots: Sequence[Box],
    others: Sequence[PlacedLabel],
    avoid: Sequence[Box],
) -> PlacedLabel | None:
    best, least = None, math.inf
    taken = [*dots, *(other.box for other in others)]
    for box, distance in candidates:  # the nearest first
        cost = distance**1.5
        if cost >= least:
            break
        if any(map(box.overlap, taken)):
            continue
        cost += _LINE_WEIGHT * sum(map(box.overlap, avoid))
        if cost >= least:
            continue
        is_near = distance <= radius * 2.2
        place = PlacedLabel(box, is_near, () if is_near else _leader(mark, box, radius))
        cost += _CROSSING * sum(_crosses(place, other) for other in others)
        if cost < least:
            best, least = place, cost
    return best


def _crosses(label: PlacedLabel, other: PlacedLabel) -> bool:
    """Whether the line that leads to one label runs over the other."""
    return any(map(other.box.holds, label.leader)) or any(map(label.box.holds, other.leader))
