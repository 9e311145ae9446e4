"""Shortens the output of `git status`, in its long and short forms, to counts and the first paths of each kind."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from toolbelt.runtime.reducers.shell_commands import Words, shows_files, starts_with

_QUOTED = re.compile(rb"\\([0-7]{3}|.)", re.DOTALL)
_ESCAPES = {b"a": b"\a", b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"}


@dataclass
class Tree:
    """What one `git status` says.

    Attributes:
        said: What it says of branch and operation, in its words.
        paths: By kind (`staged, modified`), in the order they are told.
        is_clean: Whether it ought to be said that nothing changed, as the short form says by saying nothing.
    """

    said: list[str] = field(default_factory=list)
    paths: dict[str, list[str]] = field(default_factory=dict)
    is_clean: bool = False

    def add(self, kind: str, path: str) -> None:
        """Count a path."""
        self.paths.setdefault(kind, []).append(path)


def unquote(path: str) -> str:
    """A path as it is called: git writes what is not plain ASCII in quotes, as C does.

    One with characters that cannot be shown stays quoted.
    """
    if len(path) < 2 or not path.startswith('"') or not path.endswith('"'):
        return path
    try:
        made = _QUOTED.sub(_unescape, path[1:-1].encode()).decode()
    except ValueError:
        return path
    return made if made.isprintable() else path


def unquote_pair(path: str) -> str:
    """The two paths of a rename, `old -> new`, each as it is called."""
    found = re.fullmatch(r'("(?:[^"\\]|\\.)*"|.*?) -> ("(?:[^"\\]|\\.)*"|.*)', path)
    return path if found is None else f"{unquote(found[1])} -> {unquote(found[2])}"


def _unescape(found: re.Match[bytes]) -> bytes:
    what = found[1]
    return bytes([int(what, 8)]) if len(what) == 3 else _ESCAPES.get(what, what)


_SECTIONS: Mapping[str, str] = MappingProxyType(
    {
        "Changes to be committed:": "staged",
        "Changes not staged for commit:": "not staged",
        "Changed but not updated:": "not staged",
        "Unmerged paths:": "unmerged",
        "Untracked files:": "untracked",
        "Ignored files:": "ignored",
        "Submodule changes to be committed:": "staged submodule changes",
        "Submodules changed but not updated:": "submodule changes not staged",
    }
)
_KIND = re.compile(
    r"(new file|modified|deleted|renamed|copied|typechange|unknown|both modified|both added|both deleted|added by us"
    r"|added by them|deleted by us|deleted by them): +(.*)$"
)
_BEGIN = re.compile(
    r"On branch \S|HEAD detached (?:at|from) \S|Not currently on any branch\.|(?:interactive )?rebase in progress; "
    r"|# On branch \S|# Not currently on any branch\."
)
_LAST = re.compile(r"nothing to commit|no changes added to commit|nothing added to commit|No changes$")
_STATE = re.compile(
    r"On branch |HEAD detached |Not currently on|Your (?:branch|stash) |and have \d+ and \d+ different"
    r"|You (?:are|have) |All conflicts|No commits yet|Initial commit|Last commands? done|Next commands? to do"
    r"|No commands |It took |Untracked files not|interactive rebase|rebase in progress|The current patch"
    r"|   |\(|See |but "
)
"""What else it says at the start of a line, before and between its sections."""
_HINT = re.compile(r" {1,3}\(.*\)?$")
_LOOK_AHEAD = 60
"""Lines in which a section or an end has to follow what looks like a beginning."""


def begins_long(lines: Sequence[str], position: int) -> bool:
    """Whether the long form begins at a line."""
    if not _BEGIN.match(lines[position]):
        return False
    for ahead in lines[position + 1 : position + _LOOK_AHEAD]:
        line = _plain(ahead)
        if line in _SECTIONS or _LAST.match(line):
            return True
        if line.startswith(("On branch ", "HEAD detached ")):
            return False  # that begins another
    return False


def read_long(lines: Sequence[str], position: int) -> tuple[Tree, int]:
    """What is said from a line on, and the position after it."""
    tree = Tree()
    commented = lines[position].startswith("# ")
    section: str | None = None
    begun = False
    while position < len(lines):
        line = _plain(lines[position]) if commented else lines[position].rstrip()
        if line in _SECTIONS:
            section, begun = _SECTIONS[line], False
        elif section is not None and _is_entry(line):
            _add_long(tree, section, line.strip())
            begun = True
        elif begun and not line:
            section = None  # the blank line after its entries; old releases print one before them, too
        elif begun and section is None and line.startswith(" "):
            return tree, position  # another program's
        elif _LAST.match(line):
            tree.said.append(re.sub(r" \((?:use|create).*\)$", "", line))
            return tree, position + 1
        elif line and not _HINT.match(line):
            if not _STATE.match(line):
                return tree, position  # another program's
            tree.said.append(line)
            section = None
        position += 1
    return tree, position


def _plain(line: str) -> str:
    """Without the comment sign that old releases begin each line with."""
    return (line[2:] if line.startswith("# ") else line.removeprefix("#")).rstrip()


def _is_entry(line: str) -> bool:
    """Entries are under a tab, hints under two spaces; some terminals make spaces of tabs."""
    return line.startswith(("\t", "    ")) and bool(line.strip())


def _add_long(tree: Tree, section: str, entry: str) -> None:
    found = _KIND.match(entry) if section in ("staged", "not staged", "unmerged") else None
    if found is None:
        tree.add(section, unquote(entry))
    elif found[1] in ("renamed", "copied"):
        tree.add(f"{section}, {found[1]}", unquote_pair(found[2]))
    else:
        tree.add(f"{section}, {found[1]}", unquote(found[2]))


_KINDS: Mapping[str, str] = MappingProxyType(
    {
        "M": "modified",
        "T": "typechange",
        "A": "new file",
        "D": "deleted",
        "R": "renamed",
        "C": "copied",
        "m": "modified in a submodule",
        "?": "untracked in a submodule",
    }
)
_CONFLICTS: Mapping[str, str] = MappingProxyType(
    {
        "DD": "both deleted",
        "AU": "added by us",
        "UD": "deleted by them",
        "UA": "added by them",
        "DU": "deleted by us",
        "AA": "both added",
        "UU": "both modified",
    }
)
"""In the words of the long form."""
_BRANCH = re.compile(r"## (?:(?:No commits yet|Initial commit) on )?\S|## HEAD \(no branch\)")
_PATH = r'(?:"(?:[^"\\]|\\.)*"|[^\s"]\S*)'
"""One with blanks is in quotes, except that old releases do not quote what is untracked."""
_CODE = r"DD|AU|UD|UA|DU|AA|UU|(?!  )[MTADRC ][MTDRCAm? ]"
_ENTRY = re.compile(rf"(\?\?|!!|(?:{_CODE})(?= {_PATH}(?: -> {_PATH})?$)) (\S.*)$")
_STRIPPED = re.compile(rf"([MTDRCAm?]) ({_PATH})$")
_HEADER = re.compile(r"# (branch\.(?:oid|head|upstream|ab)|stash) (.+)$")
_CHANGED = re.compile(r"1 (\S\S) (\S{4}) (?:\d{6} ){3}[0-9a-f]+ [0-9a-f]+ (.+)$")
_MOVED = re.compile(r"2 (\S\S) (\S{4}) (?:\d{6} ){3}[0-9a-f]+ [0-9a-f]+ [RC]\d+ ([^\t]+)\t(.+)$")
_UNMERGED = re.compile(r"u (\S\S) \S{4} (?:\d{6} ){4}(?:[0-9a-f]+ ){3}(.+)$")
_OTHER = re.compile(r"([?!]) (.+)$")


def is_short(lines: Sequence[str]) -> bool:
    """Whether lines are the short form and nothing else."""
    if lines and lines[0].startswith("# branch.oid "):
        return True
    return any(lines) and all(not line or _is_part(line) for line in lines)


def read_short(lines: Sequence[str], position: int) -> tuple[Tree | None, int]:
    """What is said from a line on, and the position after it; `None` where it says nothing of the kind."""
    tree, start = Tree(), position
    begins = any(pattern.match(lines[position]) for pattern in (_HEADER, _CHANGED, _MOVED, _UNMERGED))
    # `? ` and `! ` begin many a line: they are no beginning unless all there is begins so.
    if begins or (position == 0 and all(not line or _OTHER.match(line) for line in lines)):
        position = _read_second(tree, lines, position)
        says_it = position > start
    else:
        first = _STRIPPED.match(lines[0]) if position == 0 and not _is_part(lines[0]) else None
        if first is not None and all(map(_is_part, lines[1:2])):
            _add_short(tree, f" {first[1]}", first[2])  # the blank it began with was stripped off with the output's
            position = 1
        while position < len(lines) and _is_part(lines[position]):
            if _BRANCH.match(lines[position]):
                if tree.said or tree.paths:
                    break  # the next repository
                tree.said = list(_tell_branch(lines[position][3:]))
            elif (entry := _ENTRY.match(lines[position])) is not None:
                _add_short(tree, entry[1], entry[2])
            position += 1
        says_it = position > start
    tree.is_clean = not tree.paths
    return (tree, position) if says_it else (None, start)


def _is_part(line: str) -> bool:
    return _ENTRY.match(line) is not None or _BRANCH.match(line) is not None


def _add_short(tree: Tree, code: str, path: str) -> None:
    if code in ("??", "!!"):
        tree.add("untracked" if code == "??" else "ignored", unquote(path))
    elif code in _CONFLICTS:
        tree.add(f"unmerged, {_CONFLICTS[code]}", unquote(path))
    else:
        for side, letter in zip(("staged", "not staged"), code, strict=True):
            if letter != " ":
                made = unquote_pair(path) if "R" in code or "C" in code else unquote(path)
                tree.add(f"{side}, {_KINDS[letter]}", made)


def _tell_branch(told: str) -> Iterator[str]:
    if told == "HEAD (no branch)":
        yield "HEAD detached"
        return
    for beginning in ("No commits yet on ", "Initial commit on "):
        if told.startswith(beginning):
            told = told.removeprefix(beginning)
            yield "No commits yet"
    branch, dots, upstream = told.partition("...")
    if not dots:
        yield f"On branch {branch}"
        return
    name, bracket, distance = upstream.removesuffix("]").partition(" [")
    yield f"On branch {branch}, tracking {name}{', ' if bracket else ''}{distance}"


def _read_second(tree: Tree, lines: Sequence[str], position: int) -> int:
    """Version 2, which says each thing once, in columns."""
    headers: dict[str, str] = {}
    while position < len(lines):
        line = lines[position]
        if (found := _HEADER.match(line)) is not None and found[1] not in headers:
            headers[found[1]] = found[2]
        elif (found := _CHANGED.match(line)) is not None:
            _add_short(tree, found[1].replace(".", " "), found[3])
        elif (found := _MOVED.match(line)) is not None:
            _add_short(tree, found[1].replace(".", " "), f"{found[4]} -> {found[3]}")
        elif (found := _UNMERGED.match(line)) is not None:
            _add_short(tree, found[1], found[2])
        elif (found := _OTHER.match(line)) is not None:
            _add_short(tree, found[1] * 2, found[2])
        else:
            break
        position += 1
    tree.said = list(_tell_headers(headers))
    return position


def _tell_headers(headers: Mapping[str, str]) -> Iterator[str]:
    if headers.get("branch.oid") == "(initial)":
        yield "No commits yet"
    head = headers.get("branch.head")
    if head == "(detached)":
        yield f"HEAD detached at {headers.get('branch.oid', '?')[:12]}"
    elif head is not None:
        upstream = f", tracking {headers['branch.upstream']}" if "branch.upstream" in headers else ""
        ahead, _, behind = headers.get("branch.ab", "+0 -0").partition(" ")
        distance = f", ahead {ahead[1:]}, behind {behind[1:]}" if (ahead, behind) != ("+0", "-0") else ""
        yield f"On branch {head}{upstream}{distance}"
    if "stash" in headers:
        yield f"Stashes: {headers['stash']}"


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
