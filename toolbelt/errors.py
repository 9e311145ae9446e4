"""Everything toolbelt raises on purpose.

    ToolbeltError                 a user can correct it: one message, exit code 2
    ├── InvalidDefinitionError    a value that may not exist: blank name, duplicate id (also a ValueError)
    ├── OutOfRangeError           a number that is not allowed, with those that are (also a ValueError)
    ├── NotFoundError             no such plugin, tool, loadout, file, ... with the nearest names (also a LookupError)
    ├── AmbiguousNameError        a bare name that several tools have, with the candidates (also a LookupError)
    ├── InvalidFileError          a file's mistakes, all of them, each a Finding
    ├── StorageError              the disk would not: full, read-only, ... exit code 3
    └── UnreachableError          what the work needs does not answer, or has no workers; exit code 3

Errors carry data, so that a caller need not read the message.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

if TYPE_CHECKING:
    from toolbelt.findings import Finding

MAX_SUGGESTIONS = 50
"""Mistakes of one reading that get a suggestion."""


class ToolbeltError(Exception):
    """Base of everything toolbelt raises on purpose."""

    exit_code: ClassVar[int] = 2


class InvalidDefinitionError(ToolbeltError, ValueError):
    """A tool, plugin, catalog or loadout that may not exist.

    Attributes:
        problems: What is wrong with it, a sentence each.
    """

    def __init__(self, *problems: str) -> None:
        self.problems = problems
        super().__init__(*problems)

    def __str__(self) -> str:
        return "\n".join(self.problems)


class OutOfRangeError(ToolbeltError, ValueError):
    """A number that is not allowed.

    Attributes:
        name: What the number is for, such as `epochs`.
        value: As given.
        limit: Which are allowed; its `str` describes them.
    """

    def __init__(self, name: str, value: object, limit: object) -> None:
        self.name = name
        self.value = value
        self.limit = limit
        super().__init__(f"{name} must be {limit}, not {_shown(value)}.")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.name, self.value, self.limit)


class NotFoundError(ToolbeltError, LookupError):
    """An unknown name.

    Attributes:
        kind: What was looked for: `loadout`, `plugin`, `tool`, ...
        name: The name as given.
        known: The names there are.
    """

    def __init__(self, kind: str, name: str, known: Iterable[str] = (), hint: str = "") -> None:
        self.kind = kind
        self.name = name
        self.known = tuple(known)
        self.hint = hint
        super().__init__(kind, name)

    def __str__(self) -> str:  # only when it is read: whoever looks a name up to see whether it is there never does
        article = "file or catalog" if self.kind == "catalog" else self.kind
        near = suggestion(self.name, self.known) if isinstance(self.name, str) else ""  # None, of what was not set
        return f"No {article} named {self.name!r}.{near} {self.hint}".rstrip()

    def __reduce__(self) -> tuple[Any, ...]:  # an error may have to travel between processes
        return type(self), (self.kind, self.name, self.known, self.hint)


class AmbiguousNameError(ToolbeltError, LookupError):
    """A bare tool name that several tools have.

    Attributes:
        name: The name as given.
        candidates: Ids of the tools that have it.
    """

    def __init__(self, name: str, candidates: Iterable[str]) -> None:
        self.name = name
        self.candidates = tuple(candidates)
        super().__init__(f"{len(self.candidates)} tools are named {name!r}; say which: {', '.join(self.candidates)}.")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.name, self.candidates)


class InvalidFileError(ToolbeltError):
    """A file that cannot be used, with every mistake found in it.

    Attributes:
        findings: In the order of their lines; at least one is an error.
    """

    def __init__(self, findings: Sequence[Finding]) -> None:
        self.findings = tuple(findings)
        super().__init__("\n".join(str(finding) for finding in self.findings))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.findings,)


class StorageError(ToolbeltError):
    """The file system refused: full, read-only, no permission."""

    exit_code: ClassVar[int] = 3


class UnreachableError(ToolbeltError):
    """What the work needs does not answer: no scheduler at the address, no worker of it."""

    exit_code: ClassVar[int] = 3


_Kind = TypeVar("_Kind")


def require_items(what: str, value: object, kind: type[_Kind]) -> tuple[_Kind, ...]:
    """What is given as a list, if it is one and each item is of a kind; a lone text would be read letter by letter.

    Raises:
        InvalidDefinitionError: it is not, with what to write instead.
    """
    if isinstance(value, kind | str | Mapping) or not isinstance(value, Iterable):
        hint = " Put it in a list." if isinstance(value, kind | str) else ""
        raise InvalidDefinitionError(f"{what} must be a list of {kind.__name__}, not {_shown(value)}.{hint}")
    items = tuple(value)
    if wrong := [item for item in items if not isinstance(item, kind)]:
        raise InvalidDefinitionError(f"{what} must be a list of {kind.__name__}; {_shown(wrong[0])} is in it.")
    return items


def _shown(value: object) -> str:
    return repr(value) if isinstance(value, str | int | float | None) else f"something of type {type(value).__name__}"


def nearest(name: str, known: Iterable[str], count: int = 3) -> tuple[str, ...]:
    """The names of `known` most like `name`, best first; ignores case."""
    import difflib  # only ever needed on the way to an error message

    spelled = {known_name.casefold(): known_name for known_name in known}
    wanted = name.casefold()
    close = difflib.get_close_matches(wanted, spelled, n=count, cutoff=0.6)
    if not close and len(wanted) >= 3:
        close = [key for key in spelled if key.startswith(wanted) or wanted.startswith(key)][:count]
    return tuple(spelled[key] for key in close)


def find_misspelt(name: str, known: Iterable[str]) -> str | None:
    """The name of `known` of which `name` is a slip of the hand; `None` if there is none; ignores case.

    Stricter than `nearest`, for what is refused: a letter more, less, other, or two exchanged; in names of eight
    letters or more, two of these. So `shel` is `shell`, while `github` is not `git`.
    """
    wanted = name.casefold()
    most = 0 if len(wanted) < 3 else 1 if len(wanted) < 8 else 2
    near = (other for other in known if abs(len(other) - len(wanted)) <= most)
    return next((other for other in near if _count_slips(wanted, other.casefold()) <= most), None)


def _count_slips(left: str, right: str) -> int:
    """The optimal string alignment distance (Damerau-Levenshtein without overlaps)."""
    before: list[int] = []
    row = list(range(len(right) + 1))
    for i, a in enumerate(left, start=1):
        last, row, older = row, [i], before
        for j, b in enumerate(right, start=1):
            slips = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (a != b))
            if i > 1 and j > 1 and a == right[j - 2] and left[i - 2] == b:
                slips = min(slips, older[j - 2] + 1)
            row.append(slips)
        before = last
    return row[-1]


def suggestion(name: str, known: Iterable[str]) -> str:
    """` Did you mean 'developer'?`, or what there is when it is little, or nothing; begins with a blank."""
    names = tuple(known)
    close = nearest(name, names)
    if close:
        return f" Did you mean {' or '.join(repr(candidate) for candidate in close)}?"
    if 0 < len(names) <= 15:
        return f" Known: {', '.join(names)}."
    return ""


class Suggester:
    """`suggestion` for the first mistakes of one reading, and nothing for those that follow.

    Each suggestion costs a comparison with every name there is, and nobody reads thousands of them.
    """

    __slots__ = ("_left",)

    def __init__(self) -> None:
        self._left = MAX_SUGGESTIONS

    def __call__(self, name: str, known: Iterable[str]) -> str:
        """What `suggestion` says, or empty text after `MAX_SUGGESTIONS` of them."""
        if self._left == 0:
            return ""
        self._left -= 1
        return suggestion(name, known)
