"""The long form of `git status`, as written for people (in English, as git speaks with `LANG=C`)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from toolbelt.runtime.reducers.shell.git_tree import Tree, unquote, unquote_pair

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
            _add(tree, section, line.strip())
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


def _add(tree: Tree, section: str, entry: str) -> None:
    found = _KIND.match(entry) if section in ("staged", "not staged", "unmerged") else None
    if found is None:
        tree.add(section, unquote(entry))
    elif found[1] in ("renamed", "copied"):
        tree.add(f"{section}, {found[1]}", unquote_pair(found[2]))
    else:
        tree.add(f"{section}, {found[1]}", unquote(found[2]))
