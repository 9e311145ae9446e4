"""`make gate` and `make baseline`: what is committed rests on no setting of whoever made it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

MAKEFILE = Path(__file__).resolve().parents[3] / "Makefile"
SETTINGS = {"TOOLBELT_MARGIN": "1", "TOOLBELT_ARM": "full", "TOOLBELT_LIMIT": "3", "TOOLBELT_MIN_ACCURACY": "0"}

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")


@pytest.mark.parametrize("place", ["environment", ".env"])
@pytest.mark.parametrize("target", ["gate", "baseline"])
def test_no_setting_sways_them(target: str, place: str, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "constraints.txt").touch()
    bin_folder = tmp_path / ".venv" / "bin"
    bin_folder.mkdir(parents=True)
    (tmp_path / ".venv" / ".ready").touch()
    # In the place of the command line something that tells which variables click would take: those that are not empty.
    teller = """
import os, sys
from toolbelt.command.environment import read_dotenv
read_dotenv(os.environ)
given = sorted(name for name, value in os.environ.items() if name.startswith("TOOLBELT_") and value)
print(sys.argv[2], *given, file=sys.stderr)
"""
    (tmp_path / "teller.py").write_text(teller)
    (bin_folder / "toolbelt").write_text(f'#!/bin/sh\nexec {sys.executable} {tmp_path}/teller.py "$@"\n')
    (bin_folder / "toolbelt").chmod(0o755)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("TOOLBELT_")}
    environment["TOOLBELT_CACHE_DIR"] = str(tmp_path)
    if place == ".env":
        (tmp_path / ".env").write_text("".join(f"export {name}={value}\n" for name, value in SETTINGS.items()))
    else:
        environment |= SETTINGS
    made = subprocess.run(
        ["make", "-s", "-f", str(MAKEFILE), target, f"TMPDIR={tmp_path}"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (made.returncode, made.stderr) == (0, f"run TOOLBELT_CACHE_DIR\n{target} TOOLBELT_CACHE_DIR\n"), made
