"""A pipe or a device that is given for a file is refused at once: the one would be waited for, the other never ends."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cli.conftest import Toolbelt

COMMANDS = [
    ("catalog", "stats", "--catalog", "{}"),
    ("catalog", "import", "{}"),
    ("loadout", "inspect", "full", "--config", "{}"),
    ("loadout", "lint", "{}"),
    ("dataset", "lint", "{}"),
    ("dataset", "import", "{}", "-o", "out"),
    ("eval", "run", "--dataset", "{}"),
    ("eval", "run", "--dataset", "assistant", "--model", "scripted/{}"),
    ("eval", "run", "--dataset", "assistant", "--limit", "1", "--store", "{}"),
    ("eval", "show", "--store", "{}"),
    ("eval", "compare", "{}", "./other.json"),
    ("eval", "gate", "--baseline", "{}"),
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_E9_a_device_or_pipe_is_no_file(
    toolbelt: Toolbelt, project: Path, command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project)
    os.mkfifo("pipe.json")
    for path in ("/dev/zero", "./pipe.json"):
        ran = toolbelt(*(part.format(path) for part in command))
        assert ran.code == 2, path
        assert path.removeprefix("./") in ran.out + ran.err
