"""Running the command, here and in a process of its own."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from toolbelt.cli import run

SMALL = """\
name: small
description: A few tools.
plugins:
  - name: git
    description: Version control.
    tools:
      - name: status
        description: Shows what changed.
        parameters: {type: object, properties: {path: {type: string, description: Where.}}}
      - name: push
        description: Sends commits.
        parameters: {type: object, properties: {}}
  - name: file
    tools:
      - {name: read, description: Reads a file., parameters: {type: object, properties: {}}}
  - name: docker
    tools:
      - {name: run.container, description: Starts a container., parameters: {type: object, properties: {}}}
      - {name: status, description: Lists containers., parameters: {type: object, properties: {}}}
  - name: payments
    category: money
    tools:
      - {name: pay, description: Sends money., parameters: {type: object, properties: {}}}
categories:
  money: Moving money.
"""


PROGRESS = re.compile(r"^(?:run: [\d,]+ of .*|[^:\n]+: [\d,]+(?: of [\d,]+)?)\n", re.MULTILINE)
"""Lines of progress, which there are where a machine is slow."""


@dataclass(frozen=True)
class Ran:
    """What came of a command.

    Attributes:
        code: Its exit code.
        out: Standard output.
        err: Standard error, without progress.
    """

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one document on standard output."""
        return json.loads(self.out)


Toolbelt = Callable[..., Ran]


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder to work in, whose `.env` and settings end with the test."""
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    before = dict(os.environ)
    yield folder
    os.environ.clear()
    os.environ.update(before)


@pytest.fixture
def small(project: Path) -> Path:
    """A small catalog, in use by a `toolbelt.yaml`."""
    (project / "small.yaml").write_text(SMALL)
    (project / "toolbelt.yaml").write_text("catalog: small.yaml\nmodels: [gpt-4o]\n")
    return project


@pytest.fixture
def toolbelt(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Toolbelt:
    """Run the command in this process."""

    def call(*arguments: str | Path, stdin: bytes = b"") -> Ran:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
        capsys.readouterr()
        code = run([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        assert "Traceback" not in captured.out + captured.err
        return Ran(code, captured.out, PROGRESS.sub("", captured.err))

    return call


@pytest.fixture
def spawn() -> Toolbelt:
    """Run the command in a process of its own."""

    def call(*arguments: str, stdin: bytes = b"", **environment: str) -> Ran:
        done = subprocess.run(
            [sys.executable, "-m", "toolbelt", *arguments],
            input=stdin,
            capture_output=True,
            timeout=60,
            check=False,
            env={**os.environ, **environment},
        )
        return Ran(done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8"))

    return call


@pytest.fixture
def expected(request: pytest.FixtureRequest) -> Callable[[str], str]:
    """The text of a file in `expected/`."""
    folder = Path(__file__).parent / "expected"
    return lambda name: (folder / name).read_text(encoding="utf-8")
