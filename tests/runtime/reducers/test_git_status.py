"""`git status`, as the git of this machine prints it (rule R5)."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from toolbelt.runtime.reducers.reducer import ReduceInfo
from toolbelt.runtime.reducers.shell import ShellReducer
from toolbelt.runtime.results import ToolResult

Git = Callable[..., str]
MANY = 60


def reduce(text: str, command: object = "git status") -> str:
    return ShellReducer().reduce(ToolResult(True, text), ReduceInfo({"command": command})).value


@pytest.fixture
def git(tmp_path: Path) -> Git:
    """Git in a repository with one commit, deaf to how this machine is set up."""
    own = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    nobody = {f"GIT_{who}_{what}": "x@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    quiet = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, "LANG": "C", "LC_ALL": "C"}

    def run(*arguments: str, check: bool = True) -> str:
        command = ["git", "-c", "protocol.file.allow=always", *arguments]
        return subprocess.run(
            command,
            cwd=tmp_path,
            env={**own, **nobody, **quiet, "GIT_EDITOR": "true"},
            check=check,
            capture_output=True,
            text=True,
        ).stdout

    run("init", "-q", "-b", "main")
    for name in ("kept.txt", "changed.txt", "gone.txt", "old name.txt", "both.txt", "späte.txt"):
        (tmp_path / name).write_text(f"{name}\n" * 5)
    run("add", ".")
    run("commit", "-q", "-m", "first")
    return run


@pytest.fixture
def dirty(git: Git, tmp_path: Path) -> Git:
    """The same with something of every kind."""
    (tmp_path / "changed.txt").write_text("other\n")
    (tmp_path / "späte.txt").write_text("other\n")
    (tmp_path / "gone.txt").unlink()
    (tmp_path / "new.txt").write_text("new\n")
    git("add", "new.txt")
    git("mv", "old name.txt", "new name.txt")
    (tmp_path / "both.txt").write_text("staged\n")
    git("add", "both.txt")
    (tmp_path / "both.txt").write_text("and again\n")
    for number in range(MANY):
        (tmp_path / f"a file that nobody added {number:02}.txt").touch()
    return git


TOLD = """\
staged, modified: 1
  both.txt
staged, renamed: 1
  old name.txt -> new name.txt
staged, new file: 1
  new.txt
not staged, modified: 3
  both.txt
  changed.txt
  späte.txt
not staged, deleted: 1
  gone.txt
untracked: 60
"""


def test_R5_the_long_form_of_a_dirty_tree_is_told_by_kind(dirty: Git) -> None:
    lines = reduce(dirty("status")).split("\n")
    assert lines[0] == "[reduced: git status, 27 of 67 paths named; git status -s DIR lists those of a folder]"
    assert lines[1] == "On branch main"
    assert "\n".join(lines[2:15]) + "\n" == TOLD
    assert lines[15:35] == [f"  a file that nobody added {number:02}.txt" for number in range(20)]
    assert lines[35:] == ["  [... 40 more]"]


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(["-s"], id="short"),
        pytest.param(["--porcelain=v1", "-b"], id="porcelain-with-branch"),
        pytest.param(["--porcelain=v2", "-b"], id="second-version"),
        pytest.param(["--porcelain=v2"], id="second-version-without-branch"),
        pytest.param(["-s", "--no-renames"], id="no-renames"),
    ],
)
def test_R5_every_short_form_tells_the_same_as_the_long_one(dirty: Git, arguments: list[str]) -> None:
    def told(text: str) -> dict[str, set[str]]:
        kinds: dict[str, set[str]] = {}
        kind = ""
        for line in text.split("\n")[1:]:
            if line.startswith("  "):
                kinds[kind].add(line)
            else:
                kind = line
                kinds[kind] = set()
        return {kind: paths for kind, paths in kinds.items() if not kind.startswith("On branch")}

    renames = ["--no-renames"] if "--no-renames" in arguments else []
    made = reduce(dirty("status", *arguments), f"cd x && git -C y status {' '.join(arguments)}")
    assert told(made) == told(reduce(dirty("status", *renames)))
    assert ("On branch main" in made) == ("-b" in arguments)


@pytest.mark.parametrize(
    "command",
    [
        pytest.param("cd /repo && git status", id="after-cd"),
        pytest.param("git -C /repo -c a=b status", id="options-before"),
        pytest.param("LANG=C sudo git status", id="environment"),
        pytest.param(["git", "status"], id="words"),
        pytest.param(["bash", "-lc", "git status"], id="a-shell-in-words"),
        pytest.param("/usr/bin/git status | head -500", id="path-and-pipe"),
        pytest.param("make what", id="command-that-does-not-tell"),
        pytest.param("", id="no-command"),
        pytest.param(None, id="null"),
    ],
)
def test_R5_the_long_form_is_known_whatever_the_command(dirty: Git, command: object) -> None:
    text = dirty("status")
    assert reduce(text, command) == reduce(text, "git status")
    assert reduce(text.replace("\n", "\r\n"), command) == reduce(text, "git status")
    assert reduce(text.expandtabs(8).rstrip(), command) == reduce(text, "git status")


def test_R5_a_file_that_shows_a_status_is_no_status(dirty: Git) -> None:
    assert reduce(dirty("status"), "cat notes.txt") == dirty("status")


def test_R5_a_clean_tree_is_short_already(git: Git) -> None:
    for arguments in ([], ["-s"], ["-sb"], ["--porcelain=v2", "-b"]):
        text = git("status", *arguments)
        made = reduce(text, f"git status {' '.join(arguments)}")
        assert made == text or "clean" in made


def test_R5_colours_do_not_hide_it(dirty: Git) -> None:
    coloured = dirty("-c", "color.status=always", "status")
    assert "\x1b[" in coloured
    assert reduce(coloured) == reduce(dirty("status"))


def test_R5_a_blank_stripped_off_the_first_line_is_known(dirty: Git) -> None:
    text = "\n".join(line for line in dirty("status", "-s").split("\n") if line.startswith((" M", "??")))
    assert text.startswith(" M")
    assert reduce(text.strip(), "git status -s") == reduce(text, "git status -s")
    assert "not staged, modified: 2\n  changed.txt\n" in reduce(text, "git status -s")


def test_R5_conflicts_and_what_is_under_way_stay(git: Git, tmp_path: Path) -> None:
    git("checkout", "-q", "-b", "other")
    (tmp_path / "both.txt").write_text("theirs\n")
    git("commit", "-q", "-am", "theirs")
    git("checkout", "-q", "main")
    (tmp_path / "both.txt").write_text("ours\n")
    git("rm", "-q", "gone.txt")
    git("commit", "-q", "-am", "ours")
    git("merge", "other", check=False)
    merging = reduce(git("status"))
    assert "You have unmerged paths." in merging
    assert "unmerged, both modified: 1\n  both.txt" in merging
    git("merge", "--abort")
    git("rebase", "other", check=False)
    rebasing = reduce(git("status"))
    assert "rebase in progress; onto " in rebasing
    assert "You are currently rebasing branch 'main' on '" in rebasing
    assert "unmerged, both modified: 1\n  both.txt" in rebasing
    assert "(use" not in merging + rebasing
    short = reduce(git("status", "-s") + "?? long name of a file\n" * 40, "git status -s")
    assert "unmerged, both modified: 1\n  both.txt" in short


def test_R5_branches_are_told(dirty: Git, tmp_path: Path) -> None:
    dirty("clone", "-q", ".", "copy")
    copy = ("-C", "copy")
    dirty(*copy, "commit", "-q", "--allow-empty", "-m", "ahead")
    for number in range(30):
        (tmp_path / "copy" / f"a file that nobody added {number:02}.txt").touch()
    assert "Your branch is ahead of 'origin/main' by 1 commit." in reduce(dirty(*copy, "status"))
    assert "On branch main, tracking origin/main, ahead 1\n" in reduce(dirty(*copy, "status", "-sb"), "git status -sb")
    second = reduce(dirty(*copy, "status", "--porcelain=v2", "-b"), "git status --porcelain=v2 -b")
    assert "On branch main, tracking origin/main, ahead 1, behind 0\n" in second
    dirty(*copy, "checkout", "-q", "--detach")
    assert "HEAD detached at " in reduce(dirty(*copy, "status"))
    assert "HEAD detached\n" in reduce(dirty(*copy, "status", "-sb"), "git status -sb")


def test_R5_a_repository_without_commits_says_so(git: Git, tmp_path: Path) -> None:
    git("init", "-q", "-b", "trunk", "empty")
    for number in range(30):
        (tmp_path / "empty" / f"a file that nobody added {number:02}.txt").touch()
    for arguments in ([], ["-sb"], ["--porcelain=v2", "-b"]):
        made = reduce(git("-C", "empty", "status", *arguments), f"git status {' '.join(arguments)}")
        assert "On branch trunk" in made
        assert "No commits yet" in made
        assert "untracked: 30" in made


def test_R5_a_changed_submodule_says_what_changed(dirty: Git, tmp_path: Path) -> None:
    dirty("clone", "-q", ".", "part")
    dirty("submodule", "--quiet", "add", "./part", "sub")
    (tmp_path / "sub" / "kept.txt").write_text("other\n")
    assert "  sub (modified content)" in reduce(dirty("status"))
    assert "modified in a submodule: 1\n  sub" in reduce(dirty("status", "-s"), "git status -s")


def test_R5_what_other_commands_print_stays(dirty: Git) -> None:
    text = f"before\n{dirty('status')}commit 1234\n M not a file\nexit code: 1"
    made = reduce(text, "make; git status; git log -1")
    assert made.split("\n")[1] == "before"
    assert made.endswith("\ncommit 1234\n M not a file\nexit code: 1")


def test_R5_a_diff_after_the_short_form_is_none_of_it(dirty: Git) -> None:
    text = f"{dirty('status', '-s')}diff --git a/x b/x\n M not a file\n"
    assert reduce(text, "git status -s && git diff").endswith("\ndiff --git a/x b/x\n M not a file")
    twice = f"{dirty('status', '-sb')}{dirty('status', '-sb')}"
    assert reduce(twice, "for r in a b; do git -C $r status -sb; done").count("On branch main") == 2


OTHERS = "".join(f"   what another program printed under three blanks, {number}\n" for number in range(40))


@pytest.mark.parametrize(
    ("arguments", "others"),
    [
        pytest.param(["-s"], f"Checks:\n{OTHERS}", id="indented-before-the-short-form"),
        pytest.param(["-s"], "! it went wrong\n? what now\n", id="signs-before-the-short-form"),
        pytest.param(["-s"], "? what now\n", id="a-question-before-the-short-form"),
        pytest.param(["-s"], "A new release is out\n", id="a-letter-before-the-short-form"),
        pytest.param(["-s"], "MM is what it prints\nA  thing or two\n", id="two-letters-before-the-short-form"),
        pytest.param(["--porcelain=v2"], "? what now\n", id="a-question-before-the-second-version"),
        pytest.param([], f"Checks:\n{OTHERS}", id="indented-before-the-long-form"),
    ],
)
def test_R5_what_others_print_before_stays_line_by_line(dirty: Git, arguments: list[str], others: str) -> None:
    status = dirty("status", *arguments)
    command = f"./check && git status {' '.join(arguments)}"
    said, _, told = reduce(status, command).partition("\n")
    assert reduce(others + status, command) == f"{said}\n{others}{told}"


@pytest.mark.parametrize("others", ["    four blanks\n", "\ta tab\n", "  (in brackets)\n"])
def test_R5_what_others_print_under_blanks_after_it_is_none_of_it(git: Git, tmp_path: Path, others: str) -> None:
    for number in range(30):
        (tmp_path / f"a file that somebody added {number:02}.txt").touch()
    git("add", ".")
    made = reduce(f"{git('status')}{others}", "git status; ./next")  # nothing is said after its last section
    assert "staged, new file: 30\n" in made
    assert made.endswith(f"\n{others}".rstrip("\n"))


@pytest.mark.parametrize("arguments", [["-z"], ["--column=always"], ["-s", "-z"]])
def test_R5_where_a_line_is_several_paths_none_is_counted(dirty: Git, arguments: list[str]) -> None:
    made = reduce(dirty("status", *arguments) * 9, f"git status {' '.join(arguments)}")
    assert "git status" not in made
    assert "modified: 1" not in made


def test_R5_names_that_git_quotes_are_told_as_they_are(git: Git, tmp_path: Path) -> None:
    names = ["ü.txt", 'a "quoted" name', "back\\slash", "arrow -> name", "(use this)"]
    for name in [*names, "line\nbreak", *(f"a file that nobody added {number}" for number in range(10))]:
        (tmp_path / name).touch()
    for arguments in ([], ["-s"], ["--porcelain=v2"]):
        lines = reduce(git("status", *arguments), f"git status {' '.join(arguments)}").split("\n")
        if lines[0].startswith("[reduced"):
            assert {f"  {name}" for name in names} <= set(lines)
            assert '  "line\\nbreak"' in lines
        else:
            assert arguments  # the short forms may be as short as it gets
