"""Importing, linting and splitting hold no cases: ten times as many take hardly more memory."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

from tests.servers.running import ROOT

FEW, MANY = 500, 5_000
MOST_MORE_MB = 5
"""A few dozen bytes a case are kept by the index and by what is compared; the lines alone take more than that."""
MEASURED = """
import sys
from toolbelt.cli import run
code = run(sys.argv[1:])
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(code, int(peak.split()[1]) / 1024, file=sys.stderr)
"""
WORDS = [f"{first}{second}" for first in "bdfgklmnprst" for second in ("ato", "eri", "inu", "olm", "usk", "yra")]


def log_line(chance: random.Random, number: int) -> str:
    names = [f"tool_{chance.randrange(40)}" for _ in range(2)]
    tools = [
        {"type": "function", "function": {"name": name, "description": f"Does {name}.", "parameters": {}}}
        for name in dict.fromkeys(names)
    ]
    call = {"id": "c", "type": "function", "function": {"name": names[0], "arguments": '{"x": 1}'}}
    messages = [
        {"role": "system", "content": "You are an agent. " * 20},
        {"role": "user", "content": f"{number}: {' '.join(chance.choices(WORDS, k=40))}"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
    ]
    return json.dumps({"messages": messages, "tools": tools})


def peak_mb(folder: Path, *arguments: str) -> float:
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, *arguments], cwd=ROOT, capture_output=True, text=True, check=True
    )
    code, peak = done.stderr.splitlines()[-1].split()
    assert code == "0", done.stderr
    assert folder.exists()
    return float(peak)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads the memory of the process from /proc")
def test_memory_stays_flat_however_many_cases(tmp_path: Path) -> None:
    peaks: dict[str, list[float]] = {"import": [], "lint": [], "split": []}
    for count in (FEW, MANY):
        log, folder = tmp_path / f"{count}.jsonl", tmp_path / str(count)
        chance = random.Random(7)
        with log.open("w", encoding="utf-8") as file:
            file.writelines(f"{log_line(chance, number)}\n" for number in range(count))
        made = str(folder)
        peaks["import"].append(peak_mb(folder, "dataset", "import", str(log), "-o", made, "--reviewed"))
        peaks["lint"].append(peak_mb(folder, "dataset", "lint", made))
        peaks["split"].append(peak_mb(folder, "dataset", "split", made, "-o", str(tmp_path / f"{count}-split")))
        assert len((folder / "cases.jsonl").read_text(encoding="utf-8").splitlines()) == count
    for what, (few, many) in peaks.items():
        print(f"{what}: {few:.1f} MB for {FEW:,} cases, {many:.1f} MB for {MANY:,}")
        assert many - few < MOST_MORE_MB, what
