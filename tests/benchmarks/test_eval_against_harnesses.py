"""Whole commands against Inspect AI and promptfoo, on the same cases over the same loopback server.

Each case has its own 30 tools out of 200, as where a set of cases, or a selection of tools, is measured. (promptfoo is
ten times faster where all cases share one list of tools.)
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tests.benchmarks.eval_work import ANSWER, CONCURRENCY, TOOLS, write_work
from tests.servers.running import ROOT, OpenAIServer, run_openai_server

RIVALS = Path(os.environ.get("TOOLBELT_TEST_RIVALS") or ROOT / "build" / "rivals")
INSPECT = RIVALS / "inspect" / "bin" / "inspect"
PROMPTFOO = RIVALS / "node_modules" / ".bin" / "promptfoo"
Command = Callable[[Path, str], tuple[list[str], Mapping[str, str]]]
"""What is run over a folder of work and a server's address, and what it wants in the environment."""


def _toolbelt(folder: Path, url: str) -> tuple[list[str], Mapping[str, str]]:
    command = [sys.executable, "-m", "toolbelt", "eval", "run", "--model", "openai/pick-first", "--api-base", url]
    more = ["--dataset", str(folder), "--toolset", "full", "--max-concurrency", str(CONCURRENCY)]
    return [*command, *more], {}


def _inspect(folder: Path, url: str) -> tuple[list[str], Mapping[str, str]]:
    shutil.copy(Path(__file__).parent / "rivals" / "inspect_task.py", folder)  # it takes no absolute path
    command = [
        str(INSPECT),
        "eval",
        "inspect_task.py",
        "--model",
        "openai-api/loopback/pick-first",
        "--model-base-url",
        url,
    ]
    more = ["--max-connections", str(CONCURRENCY), "--max-samples", str(CONCURRENCY), "--display", "none"]
    environment = {"LOOPBACK_API_KEY": "none-needed", "WORK": str(folder), "ANSWER": ANSWER}
    return [*command, *more, "--log-dir", str(folder / "logs")], environment


def _promptfoo(folder: Path, url: str) -> tuple[list[str], Mapping[str, str]]:
    settings = {"apiBaseUrl": url, "apiKey": "none-needed"}
    right = {"type": "javascript", "value": f"output[0].function.name === '{ANSWER}'"}
    tools = json.loads((folder / "tools.json").read_text())
    cases = json.loads((folder / "queries.json").read_text())
    config = {
        "prompts": ["{{query}}"],
        "providers": [{"id": "openai:chat:pick-first", "config": settings}],
        "tests": [
            {"vars": {"query": case["query"]}, "options": {"tools": [tools[name] for name in case["tools"]]}}
            for case in cases
        ],
        "defaultTest": {"assert": [right]},
    }
    (folder / "promptfooconfig.json").write_text(json.dumps(config))
    command = [str(PROMPTFOO), "eval", "--config", str(folder / "promptfooconfig.json"), "--no-cache", "--no-share"]
    quiet = ("TELEMETRY", "UPDATE", "REMOTE_GENERATION", "SHARING")
    environment = {f"PROMPTFOO_DISABLE_{word}": "1" for word in quiet}
    environment["PROMPTFOO_CONFIG_DIR"] = str(folder / "promptfoo")
    return [*command, "--no-table", "--no-progress-bar", "--max-concurrency", str(CONCURRENCY)], environment


def cases_per_second(make: Command, sizes: tuple[int, int], folder: Path, server: OpenAIServer) -> float:
    """By the difference between two sizes, so that starting is out; each must have asked once for each case."""
    seconds: list[float] = []
    for size in sizes:
        work = write_work(folder / f"{make.__name__}-{size}", size, varied=True)
        command, environment = make(work, server.url)
        server.reset()
        began = time.perf_counter()
        done = subprocess.run(
            command,
            cwd=work,
            env={**os.environ, **environment, "PYTHONPATH": str(ROOT) if make is _toolbelt else ""},
            capture_output=True,
            text=True,
        )
        seconds.append(time.perf_counter() - began)
        # On an old Node promptfoo stumbles over its own log once all is done.
        assert done.returncode == 0 or "Eval complete" in done.stdout, done.stderr[-2000:] + done.stdout[-2000:]
        assert server.count("pick-first") == size
        assert all(len(request["body"]["tools"]) == TOOLS for request in server.requests("pick-first"))
    return (sizes[1] - sizes[0]) / (seconds[1] - seconds[0])


@pytest.mark.parametrize(
    ("rival", "program", "sizes", "limit"),
    [
        pytest.param(_inspect, INSPECT, (50, 250), 30, id="30-times-the-cases-per-second-of-Inspect-AI"),
        pytest.param(_promptfoo, PROMPTFOO, (20, 120), 60, id="60-times-the-cases-per-second-of-promptfoo"),
    ],
)
def test_against_other_harnesses(
    rival: Command, program: Path, sizes: tuple[int, int], limit: float, tmp_path: Path
) -> None:
    if not program.exists():
        pytest.skip(f"{program} is not installed: make rivals")
    with run_openai_server() as server:
        first = cases_per_second(_toolbelt, (100, 700), tmp_path / "first", server)
        theirs = cases_per_second(rival, sizes, tmp_path / "rival", server)
        second = cases_per_second(_toolbelt, (100, 700), tmp_path / "second", server)
    ours = (first + second) / 2
    print(f"toolbelt {ours:.0f} cases/s, {program.name} {theirs:.1f} cases/s, {ours / theirs:.1f} times")
    assert ours / theirs >= limit
