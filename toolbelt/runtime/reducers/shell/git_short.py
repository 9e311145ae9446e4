"""The short forms of `git status`: `-s`, `--porcelain`, and version 2 of that."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from toolbelt.runtime.reducers.shell.git_tree import Tree, unquote, unquote_pair

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
            _add(tree, f" {first[1]}", first[2])  # the blank it began with was stripped off with the output's
            position = 1
        while position < len(lines) and _is_part(lines[position]):
            if _BRANCH.match(lines[position]):
                if tree.said or tree.paths:
                    break  # the next repository
                tree.said = list(_tell_branch(lines[position][3:]))
            elif (entry := _ENTRY.match(lines[position])) is not None:
                _add(tree, entry[1], entry[2])
            position += 1
        says_it = position > start
    tree.is_clean = not tree.paths
    return (tree, position) if says_it else (None, start)


def _is_part(line: str) -> bool:
    return _ENTRY.match(line) is not None or _BRANCH.match(line) is not None


def _add(tree: Tree, code: str, path: str) -> None:
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
            _add(tree, found[1].replace(".", " "), found[3])
        elif (found := _MOVED.match(line)) is not None:
            _add(tree, found[1].replace(".", " "), f"{found[4]} -> {found[3]}")
        elif (found := _UNMERGED.match(line)) is not None:
            _add(tree, found[1], found[2])
        elif (found := _OTHER.match(line)) is not None:
            _add(tree, found[1] * 2, found[2])
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
