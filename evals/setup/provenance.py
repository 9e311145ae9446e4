"""The state of the project's code that a run was made with, from git."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

_COMMIT = re.compile(r"# branch\.oid ([0-9a-f]{40}|[0-9a-f]{64})")
_COMMAND = (
    "git",
    "--no-optional-locks",  # only looks: what else is done in the folder at the time is not to wait for it
    "-c",
    "core.fsmonitor=false",  # else a program of the repository's choice would be run
    "status",
    "--porcelain=v2",
    "--branch",
    "--no-ahead-behind",
    "--untracked-files=no",
)


def read_code(folder: Path, *, patience_seconds: float = 2.0) -> dict[str, str]:
    """The commit that is checked out, and whether files it knows were changed since.

    Args:
        folder: Somewhere in the repository. Environment variables such as `GIT_DIR` do what they do for git.
        patience_seconds: How long git may take.

    Returns:
        `commit`, 40 hexadecimal digits (64 where the repository counts so), and `changed`, `yes` or `no`; nothing
        where there is no repository or no commit in it, and where git is missing, fails or takes too long.
    """
    try:
        output = subprocess.run(  # noqa: S603  no shell, and no foreign text in it
            _COMMAND, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=patience_seconds, check=True
        ).stdout.decode(errors="replace")
    except (OSError, subprocess.SubprocessError):
        return {}
    lines = output.splitlines()
    commit = next((match[1] for line in lines if (match := _COMMIT.fullmatch(line))), None)
    if commit is None:
        return {}
    return {"commit": commit, "changed": "no" if all(line.startswith("#") for line in lines) else "yes"}
