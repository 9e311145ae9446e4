"""Lines that are known to say nothing: of a test run those on what passed, of an install those on what was fetched."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from toolbelt.catalog.frozen import FrozenDict
from toolbelt.runtime.reducers.matters import matters
from toolbelt.runtime.reducers.text import tell_count


@dataclass(frozen=True)
class Noise:
    """What one kind of output is known by, and which of its lines are noise.

    All patterns are matched from the start of a line.

    Attributes:
        name: What the reduced result calls it.
        programs: Commands that print it, as `go test`.
        shape: A line that nothing else prints, for commands that do not say what they run.
        noise: Lines that are left out; where a number of them is worth telling, `tally` counts them first.
        careful: Whether a line stays that looks like an error although it is noise.
        tally: What is counted, by what it is called.
        blocks: Lines that begin what is left out as a whole, with the line that ends it, which stays.
        repeated: Lines that are noise where there is a line like the second, which says the same again, and more.
    """

    name: str
    programs: tuple[str, ...]
    shape: re.Pattern[str]
    noise: re.Pattern[str]
    careful: bool = False
    tally: Mapping[str, re.Pattern[str]] = field(default_factory=FrozenDict)
    blocks: tuple[tuple[re.Pattern[str], re.Pattern[str]], ...] = ()
    repeated: tuple[tuple[re.Pattern[str], re.Pattern[str]], ...] = ()


_LONGEST = 1_000
"""Characters of a line that is held against patterns: noise is short, and no pattern is to run for long."""
_ENDS = 1_000
"""Lines at either end that are looked at to see what printed them."""


def any_of(*patterns: str) -> re.Pattern[str]:
    """One pattern of several."""
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns))


def has_shape(noise: Noise, lines: Sequence[str]) -> bool:
    """Whether a line at the beginning or the end is one that nothing else prints."""
    if len(lines) > 2 * _ENDS:
        lines = (*lines[:_ENDS], *lines[-_ENDS:])
    return any(len(line) <= _LONGEST and noise.shape.match(line) for line in lines)


def drop_noise(lines: Sequence[str], noises: Iterable[Noise]) -> tuple[list[str], list[int], str]:
    """What is left without the noise.

    Returns:
        The lines, their numbers among those given, from 1, and what to say of those that went.
    """
    noises = tuple(noises)
    kept: list[str] = []
    numbers: list[int] = []
    dropped = 0
    until: re.Pattern[str] | None = None
    said_again = _find_repeated(lines, noises)
    for number, line in enumerate(lines, 1):
        if until is not None and until.match(line[:_LONGEST]):
            until = None
        if until is None:
            until = next((end for noise in noises for start, end in noise.blocks if start.match(line[:_LONGEST])), None)
        if until is not None or _is_noise(line, noises) or any(said.match(line[:_LONGEST]) for said in said_again):
            dropped += 1
        elif line.strip() or (kept and kept[-1].strip()):  # of several blank lines, one
            kept.append(line)
            numbers.append(number)
    names = " and ".join(dict.fromkeys(noise.name for noise in noises))
    left_out = f", {tell_count(dropped, 'line')} without news left out" if dropped else ""
    return kept, numbers, f"{names}{left_out}{_tally(lines, noises)}"


def _find_repeated(lines: Sequence[str], noises: Iterable[Noise]) -> list[re.Pattern[str]]:
    return [
        said
        for noise in noises
        for said, again in noise.repeated
        if any(again.match(line[:_LONGEST]) for line in lines)
    ]


def _is_noise(line: str, noises: Iterable[Noise]) -> bool:
    if len(line) > _LONGEST:
        return False
    return any(noise.noise.match(line) and not (noise.careful and matters(line)) for noise in noises)


def _tally(lines: Sequence[str], noises: Iterable[Noise]) -> str:
    counts = {
        name: count
        for noise in noises
        for name, pattern in noise.tally.items()
        if (count := sum(1 for line in lines if pattern.match(line[:_LONGEST])))
    }
    return f" ({', '.join(f'{name}: {count:,}' for name, count in counts.items())})" if counts else ""
