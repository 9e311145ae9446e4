"""What `git status` prints, as counts and the first paths of each kind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from toolbelt.runtime.reducers.shell.commands import Words, shows_files, starts_with
from toolbelt.runtime.reducers.shell.git_long import begins_long, read_long
from toolbelt.runtime.reducers.shell.git_short import is_short, read_short
from toolbelt.runtime.reducers.shell.git_tree import Tree

PATHS_NAMED = 20
"""Paths of a kind that are named."""
CONFLICTS_NAMED = 200
"""Likewise of those in conflict: none of them may be forgotten."""
_BEGINNINGS = frozenset("OHNir#")
"""What the long form begins with; most lines do not."""


@dataclass
class Summary:
    """What is said in place of the output of `git status`.

    Attributes:
        lines: One after the other, lines of other programs among them.
        named: Paths that are named.
        total: Paths there are.
    """

    lines: list[str] = field(default_factory=list)
    named: int = 0
    total: int = 0

    @property
    def note(self) -> str:
        """How it was reduced, and how to get the rest."""
        if self.named == self.total:
            return "git status without its hints"
        return f"git status, {self.named:,} of {self.total:,} paths named; git status -s DIR lists those of a folder"


def sum_up_status(lines: Sequence[str], commands: Sequence[Words]) -> Summary | None:
    """Output in which every `git status` is summed up; `None` where there is none.

    Args:
        lines: Without colours.
        commands: What printed them; where they name no `git status`, and are none that show files, the long form is
            known by its shape, and the short one if it is all there is.
    """
    asked = [words for words in commands if starts_with(words, "git status")]
    if not asked and shows_files(commands):
        return None
    if any("\0" in line for line in lines) or any(word.startswith("--column") for words in asked for word in words):
        return None  # several paths a line, which nothing but git can count
    summary, done = Summary(), 0
    blocks = _find_long(lines) or (_find_short(lines) if asked or is_short(lines) else ())
    for tree, start, end in blocks:
        summary.lines += lines[done:start]
        summary.lines += _tell(tree, summary)
        done = end
    summary.lines += lines[done:]
    return summary if done else None


def _find_long(lines: Sequence[str]) -> list[tuple[Tree, int, int]]:
    """The long forms among lines, and where each begins and ends."""
    found: list[tuple[Tree, int, int]] = []
    for position, line in enumerate(lines):
        if line[:1] in _BEGINNINGS and begins_long(lines, position) and not (found and position < found[-1][2]):
            tree, end = read_long(lines, position)
            found.append((tree, position, end))
    return found


def _find_short(lines: Sequence[str]) -> Iterator[tuple[Tree, int, int]]:
    """Likewise of the short ones; those after the first begin with a branch."""
    position, seen = 0, False
    while position < len(lines):
        if not seen or lines[position].startswith(("## ", "# branch.")):
            tree, end = read_short(lines, position)
            if tree is not None:
                yield tree, position, end
                position, seen = end, True
                continue
        position += 1


def _tell(tree: Tree, summary: Summary) -> Iterator[str]:
    yield from tree.said
    for kind, paths in tree.paths.items():
        named = CONFLICTS_NAMED if kind.startswith("unmerged") else PATHS_NAMED
        summary.total += len(paths)
        summary.named += min(len(paths), named)
        yield f"{kind}: {len(paths):,}"
        yield from (f"  {path}" for path in paths[:named])
        if len(paths) > named:
            yield f"  [... {len(paths) - named:,} more]"
    if tree.is_clean:
        yield "clean"
