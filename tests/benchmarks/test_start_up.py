"""Whole processes against a bare `python -c "import click, yaml"`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.benchmarks.comparison import fastest_in_turn, process

RIVAL = [sys.executable, "-c", "import click, yaml"]


@pytest.mark.parametrize(
    ("arguments", "limit"),
    [
        pytest.param(["--help"], 1.5, id="help-takes-at-most-1.5-times"),
        pytest.param(["loadout", "inspect", "developer", "--json"], 2.3, id="json-takes-at-most-2.3-times"),
        pytest.param(["loadout", "inspect", "developer"], 2.8, id="inspect-with-filled-caches-takes-at-most-2.8-times"),
    ],
)
def test_start_up(arguments: list[str], limit: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # As installed, where the rival's modules and ours alike are compiled but once.
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    monkeypatch.setenv("PYTHONPYCACHEPREFIX", str(tmp_path / "compiled"))
    command = [sys.executable, "-m", "toolbelt", *arguments]
    subprocess.run(command, cwd=tmp_path, check=True, stdout=subprocess.DEVNULL)  # fills the caches
    subprocess.run(RIVAL, cwd=tmp_path, check=True)
    works = process(command, tmp_path), process(RIVAL, tmp_path)
    ours, bare = fastest_in_turn(*works, rounds=12, enough=lambda ours, bare: ours / bare <= limit)
    print(f"toolbelt {' '.join(arguments)}: {ours * 1e3:.0f} ms, {ours / bare:.2f} times `import click, yaml`")
    assert ours / bare <= limit
