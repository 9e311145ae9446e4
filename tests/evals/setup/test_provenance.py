"""Which code a run was made with, asked of a real git."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from toolbelt.evals.setup.provenance import read_code

GIT = shutil.which("git")
needs_git = pytest.mark.skipif(GIT is None, reason="git is not installed")


@pytest.fixture(autouse=True)
def of_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No setting of whoever runs the tests, and no repository around the folders of the tests."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))


def git(folder: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=Somebody", "-c", "user.email=somebody@example.org", "-c", "commit.gpgsign=false")
    done = subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "deep").mkdir(parents=True)
    git(folder, "init", "--quiet")
    (folder / "deep" / "tools.py").write_text("one\n")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message", "one")
    return folder


@needs_git
def test_the_commit_that_is_checked_out_and_whether_anything_changed_since(project: Path) -> None:
    head = git(project, "rev-parse", "HEAD")
    assert read_code(project) == read_code(project / "deep") == {"commit": head, "changed": "no"}
    (project / "notes.txt").write_text("git does not know this file")
    assert read_code(project) == {"commit": head, "changed": "no"}
    (project / "deep" / "tools.py").write_text("two\n")
    assert read_code(project) == read_code(project / "deep") == {"commit": head, "changed": "yes"}
    git(project, "commit", "--quiet", "--all", "--message", "two")
    code = read_code(project)
    assert code["commit"] not in ("", head)
    assert code["changed"] == "no"
    git(project, "checkout", "--quiet", "--detach", head)
    assert read_code(project) == {"commit": head, "changed": "no"}


@needs_git
def test_the_environment_does_what_it_does_for_git(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    assert read_code(elsewhere) == {}
    monkeypatch.setenv("GIT_DIR", str(project / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(project))
    assert read_code(elsewhere) == {"commit": git(project, "rev-parse", "HEAD"), "changed": "no"}


@needs_git
def test_where_there_is_no_commit_nothing_is_told(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")
    assert read_code(tmp_path) == {}
    assert read_code(tmp_path / "no-such-folder") == {}


@needs_git
def test_no_program_of_the_repository_is_run(project: Path) -> None:
    program = project / ".git" / "spy"
    program.write_text(f"#!/bin/sh\ntouch {project.parent}/ran\n")
    program.chmod(0o755)
    git(project, "config", "core.fsmonitor", str(program))
    assert read_code(project)["changed"] == "no"
    assert not (project.parent / "ran").exists()


@pytest.mark.parametrize(
    "script",
    [
        pytest.param("exec sleep 60", id="slow"),
        pytest.param("exit 1", id="failing"),
        pytest.param("echo '# branch.oid (initial)'", id="nothing-committed"),
        pytest.param("printf '\\377\\376'", id="not-text"),
        pytest.param(None, id="missing"),
    ],
)
def test_git_that_does_not_answer_is_no_error(
    script: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if script is not None:
        (tmp_path / "git").write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / "git").chmod(0o755)
    beside = [] if script is None else os.environ["PATH"].split(os.pathsep)
    monkeypatch.setenv("PATH", os.pathsep.join([str(tmp_path), *beside]))
    began = time.monotonic()
    assert read_code(tmp_path, patience_seconds=0.2) == {}
    assert time.monotonic() - began < 10
