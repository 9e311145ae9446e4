"""Shortens the output of `git status`, in its long and short forms, to counts and the first paths of each kind."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from toolbelt.runtime.reducers.shell_commands import Words, prints_files, starts_with

_QUOTED = re.compile(rb"\\([0-7]{3}|.)", re.DOTALL)
_ESCAPES = {b"a": b"\a", b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"}


@dataclass
class StatusReport:
    """The content of one `git status`.

    Attributes:
        messages: On branch and operation, in the words of git.
        paths: By kind (`staged, modified`), in their order.
        is_clean: Whether to state that nothing changed, which the short form states by printing nothing.
    """

    messages: list[str] = field(default_factory=list)
    paths: dict[str, list[str]] = field(default_factory=dict)
    is_clean: bool = False

    def add(self, kind: str, path: str) -> None:
        """Count a path."""
        self.paths.setdefault(kind, []).append(path)


def unquote(path: str) -> str:
    """A path without quotes: git quotes paths that are not plain ASCII, as C does.

    A path with unprintable characters stays quoted.
    """
    if len(path) < 2 or not path.startswith('"') or not path.endswith('"'):
        return path
    try:
        plain = _QUOTED.sub(_unescape, path[1:-1].encode()).decode()
    except ValueError:
        return path
    return plain if plain.isprintable() else path


def unquote_pair(path: str) -> str:
    """The two paths of a rename, `old -> new`, without quotes."""
    match = re.fullmatch(r'("(?:[^"\\]|\\.)*"|.*?) -> ("(?:[^"\\]|\\.)*"|.*)', path)
    return path if match is None else f"{unquote(match[1])} -> {unquote(match[2])}"


def _unescape(match: re.Match[bytes]) -> bytes:
    code = match[1]
    return bytes([int(code, 8)]) if len(code) == 3 else _ESCAPES.get(code, code)


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
_LONG_ENTRY = re.compile(
    r"(new file|modified|deleted|renamed|copied|typechange|unknown|both modified|both added|both deleted|added by us"
    r"|added by them|deleted by us|deleted by them): +(.*)$"
)
_LONG_BEGIN = re.compile(
    r"On branch \S|HEAD detached (?:at|from) \S|Not currently on any branch\.|(?:interactive )?rebase in progress; "
    r"|# On branch \S|# Not currently on any branch\."
)
_LONG_END = re.compile(r"nothing to commit|no changes added to commit|nothing added to commit|No changes$")
_LONG_STATE = re.compile(
    r"On branch |HEAD detached |Not currently on|Your (?:branch|stash) |and have \d+ and \d+ different"
    r"|You (?:are|have) |All conflicts|No commits yet|Initial commit|Last commands? done|Next commands? to do"
    r"|No commands |It took |Untracked files not|interactive rebase|rebase in progress|The current patch"
    r"|   |\(|See |but "
)
"""Beginnings of other lines before and between the sections."""
_LONG_HINT = re.compile(r" {1,3}\(.*\)?$")
_LOOK_AHEAD = 60
"""Lines after a possible beginning in which a section or an end must follow."""


def starts_long(lines: Sequence[str], position: int) -> bool:
    """Whether the long form begins at a line."""
    if not _LONG_BEGIN.match(lines[position]):
        return False
    for ahead in lines[position + 1 : position + _LOOK_AHEAD]:
        line = _plain(ahead)
        if line in _SECTIONS or _LONG_END.match(line):
            return True
        if line.startswith(("On branch ", "HEAD detached ")):
            return False  # that begins another
    return False


def parse_long(lines: Sequence[str], position: int) -> tuple[StatusReport, int]:
    """The report that begins at a line, and the position after it."""
    report = StatusReport()
    commented = lines[position].startswith("# ")
    section: str | None = None
    begun = False
    while position < len(lines):
        line = _plain(lines[position]) if commented else lines[position].rstrip()
        if line in _SECTIONS:
            section, begun = _SECTIONS[line], False
        elif section is not None and _is_entry(line):
            _add_long(report, section, line.strip())
            begun = True
        elif begun and not line:
            section = None  # the blank line after its entries; old releases print one before them, too
        elif begun and section is None and line.startswith(" "):
            return report, position  # another program's
        elif _LONG_END.match(line):
            report.messages.append(re.sub(r" \((?:use|create).*\)$", "", line))
            return report, position + 1
        elif line and not _LONG_HINT.match(line):
            if not _LONG_STATE.match(line):
                return report, position  # another program's
            report.messages.append(line)
            section = None
        position += 1
    return report, position


def _plain(line: str) -> str:
    """Without the comment sign of old git releases."""
    return (line[2:] if line.startswith("# ") else line.removeprefix("#")).rstrip()


def _is_entry(line: str) -> bool:
    """Entries begin with a tab, hints with two spaces; some terminals turn tabs into spaces."""
    return line.startswith(("\t", "    ")) and bool(line.strip())


def _add_long(report: StatusReport, section: str, entry: str) -> None:
    match = _LONG_ENTRY.match(entry) if section in ("staged", "not staged", "unmerged") else None
    if match is None:
        report.add(section, unquote(entry))
    elif match[1] in ("renamed", "copied"):
        report.add(f"{section}, {match[1]}", unquote_pair(match[2]))
    else:
        report.add(f"{section}, {match[1]}", unquote(match[2]))


_KINDS_BY_LETTER: Mapping[str, str] = MappingProxyType(
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


def parse_short(lines: Sequence[str], position: int) -> tuple[StatusReport | None, int]:
    """The report in short form that begins at a line, if any, and the position after it."""
    report, start = StatusReport(), position
    begins = any(pattern.match(lines[position]) for pattern in (_HEADER, _CHANGED, _MOVED, _UNMERGED))
    # `? ` and `! ` begin many a line: they are no beginning unless all there is begins so.
    if begins or (position == 0 and all(not line or _OTHER.match(line) for line in lines)):
        position = _parse_version_2(report, lines, position)
        has_content = position > start
    else:
        first = _STRIPPED.match(lines[0]) if position == 0 and not _is_part(lines[0]) else None
        if first is not None and all(map(_is_part, lines[1:2])):
            _add_short(report, f" {first[1]}", first[2])  # the blank it began with was stripped off with the output's
            position = 1
        while position < len(lines) and _is_part(lines[position]):
            if _BRANCH.match(lines[position]):
                if report.messages or report.paths:
                    break  # the next repository
                report.messages = list(_describe_branch(lines[position][3:]))
            elif (entry := _ENTRY.match(lines[position])) is not None:
                _add_short(report, entry[1], entry[2])
            position += 1
        has_content = position > start
    report.is_clean = not report.paths
    return (report, position) if has_content else (None, start)


def _is_part(line: str) -> bool:
    return _ENTRY.match(line) is not None or _BRANCH.match(line) is not None


def _add_short(report: StatusReport, code: str, path: str) -> None:
    if code in ("??", "!!"):
        report.add("untracked" if code == "??" else "ignored", unquote(path))
    elif code in _CONFLICTS:
        report.add(f"unmerged, {_CONFLICTS[code]}", unquote(path))
    else:
        for side, letter in zip(("staged", "not staged"), code, strict=True):
            if letter != " ":
                path_or_pair = unquote_pair(path) if "R" in code or "C" in code else unquote(path)
                report.add(f"{side}, {_KINDS_BY_LETTER[letter]}", path_or_pair)


def _describe_branch(line: str) -> Iterator[str]:
    if line == "HEAD (no branch)":
        yield "HEAD detached"
        return
    for beginning in ("No commits yet on ", "Initial commit on "):
        if line.startswith(beginning):
            line = line.removeprefix(beginning)
            yield "No commits yet"
    branch, dots, upstream = line.partition("...")
    if not dots:
        yield f"On branch {branch}"
        return
    name, bracket, distance = upstream.removesuffix("]").partition(" [")
    yield f"On branch {branch}, tracking {name}{', ' if bracket else ''}{distance}"


def _parse_version_2(report: StatusReport, lines: Sequence[str], position: int) -> int:
    """Version 2 of the short form, in columns."""
    headers: dict[str, str] = {}
    while position < len(lines):
        line = lines[position]
        if (match := _HEADER.match(line)) is not None and match[1] not in headers:
            headers[match[1]] = match[2]
        elif (match := _CHANGED.match(line)) is not None:
            _add_short(report, match[1].replace(".", " "), match[3])
        elif (match := _MOVED.match(line)) is not None:
            _add_short(report, match[1].replace(".", " "), f"{match[4]} -> {match[3]}")
        elif (match := _UNMERGED.match(line)) is not None:
            _add_short(report, match[1], match[2])
        elif (match := _OTHER.match(line)) is not None:
            _add_short(report, match[1] * 2, match[2])
        else:
            break
        position += 1
    report.messages = list(_describe_headers(headers))
    return position


def _describe_headers(headers: Mapping[str, str]) -> Iterator[str]:
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
"""Paths of each kind that are listed."""
CONFLICTS_NAMED = 200
"""Paths in conflict that are listed: none may be forgotten."""
_BEGINNINGS = frozenset("OHNir#")
"""First characters of the long form; most lines begin with others."""


@dataclass
class Summary:
    """The replacement for the output of `git status`.

    Attributes:
        lines: Also those of other programs.
        named: Number of listed paths.
        total: Number of all paths.
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


def summarize_status(lines: Sequence[str], commands: Sequence[Words]) -> Summary | None:
    """The output with every `git status` summarized; `None` if there is none.

    Args:
        lines: Without colours.
        commands: They printed the lines. If none is `git status` and none prints files, the long form is recognized
            by its shape, and the short form if there is nothing else.
    """
    statuses = [words for words in commands if starts_with(words, "git status")]
    if not statuses and prints_files(commands):
        return None
    if any("\0" in line for line in lines) or any(word.startswith("--column") for words in statuses for word in words):
        return None  # several paths a line, which nothing but git can count
    summary, done = Summary(), 0
    blocks = _find_long(lines) or (_find_short(lines) if statuses or is_short(lines) else ())
    for report, start, end in blocks:
        summary.lines += lines[done:start]
        summary.lines += _format_report(report, summary)
        done = end
    summary.lines += lines[done:]
    return summary if done else None


def _find_long(lines: Sequence[str]) -> list[tuple[StatusReport, int, int]]:
    """The reports in long form among the lines, each with its start and end."""
    reports: list[tuple[StatusReport, int, int]] = []
    for position, line in enumerate(lines):
        if line[:1] in _BEGINNINGS and starts_long(lines, position) and not (reports and position < reports[-1][2]):
            report, end = parse_long(lines, position)
            reports.append((report, position, end))
    return reports


def _find_short(lines: Sequence[str]) -> Iterator[tuple[StatusReport, int, int]]:
    """The reports in short form; those after the first begin with a branch."""
    position, seen = 0, False
    while position < len(lines):
        if not seen or lines[position].startswith(("## ", "# branch.")):
            report, end = parse_short(lines, position)
            if report is not None:
                yield report, position, end
                position, seen = end, True
                continue
        position += 1


def _format_report(report: StatusReport, summary: Summary) -> Iterator[str]:
    yield from report.messages
    for kind, paths in report.paths.items():
        named = CONFLICTS_NAMED if kind.startswith("unmerged") else PATHS_NAMED
        summary.total += len(paths)
        summary.named += min(len(paths), named)
        yield f"{kind}: {len(paths):,}"
        yield from (f"  {path}" for path in paths[:named])
        if len(paths) > named:
            yield f"  [... {len(paths) - named:,} more]"
    if report.is_clean:
        yield "clean"
