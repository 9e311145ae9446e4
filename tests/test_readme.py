"""The README: what it shows of the shipped cases is so, and the agent of the documentation works."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.cli.conftest import Toolbelt, project, toolbelt
from tests.documents import ROOT, blocks, read, titled
from tests.servers.running import OpenAIServer, openai_server
from toolbelt import open_project
from toolbelt.catalog.lint import lint_catalog
from toolbelt.evals.analysis.comparison.compare import compare_runs
from toolbelt.evals.analysis.comparison.comparison import ArmComparison
from toolbelt.evals.analysis.evidence.baseline_reader import Baseline, read_baseline
from toolbelt.evals.statistics.intervals import wilson_interval

__all__ = ["openai_server", "project", "toolbelt"]  # fixtures

BASELINE = ROOT / "reports" / "baseline.json"
"""What the shipped cases come to; `make gate` holds the code against it."""


@pytest.fixture(scope="module")
def baseline() -> Baseline:
    return read_baseline(BASELINE)


@pytest.fixture(scope="module")
def against_full(baseline: Baseline) -> dict[str, ArmComparison]:
    return {pair.new.toolset: pair for pair in compare_runs(baseline, against="full").pairs}


def result() -> str:
    (shown,) = blocks("README.md", "text")
    return shown.text


def test_a_newcomer_reads_it_in_two_minutes() -> None:
    assert len(read("README.md").splitlines()) <= 150


ROW = re.compile(
    r"^(\w+) +([\d.]+)% ([\d.]+)–([\d.]+) +(–|[+-][\d.]+) +([a-z ]+?) +~([\d.]+)k +([\d.]+)%$", re.MULTILINE
)
MARGIN = 0.02
"""Of `eval run`."""
FINDINGS = {"more accurate": 1, "less accurate": -1, "undecided": 0}


def test_E_the_table_is_that_of_the_committed_results(
    baseline: Baseline, against_full: dict[str, ArmComparison]
) -> None:
    rows = {row[0]: row[1:] for row in ROW.findall(result())}
    assert list(rows) == [arm.toolset for arm in baseline.arms]
    for arm, figures in zip(baseline.arms, baseline.figures, strict=True):
        shown = [figures["accuracy"], *wilson_interval(figures["right"], figures["scored"])]
        *shares, difference, finding, tokens, solved = rows[arm.toolset]
        assert shares == [f"{100 * share:.1f}" for share in shown]
        assert solved == f"{100 * figures['solved'] / figures['scored']:.1f}"
        assert tokens == f"{figures['prompt_tokens'] / 1000:.1f}"
        if arm.toolset == "full":
            assert (difference, finding) == ("–", "reference")
            continue
        contrast = against_full[arm.toolset].contrasts[0]
        assert contrast.difference is not None
        assert contrast.low is not None
        assert contrast.high is not None
        assert difference == f"{100 * contrast.difference:+.1f}"
        if finding == "not worse":
            assert contrast.low > -MARGIN
        else:
            assert FINDINGS[finding] == (contrast.low > 0) - (contrast.high < 0)


def test_E_the_sentence_is_that_of_the_committed_results(
    baseline: Baseline, against_full: dict[str, ArmComparison]
) -> None:
    sentence = " ".join(result().partition("Take ")[2].split())
    contrast = against_full["loadout"].contrasts[0]
    full, loadout = ({**figures} for figures in baseline.figures[:2])
    saved = 1 - loadout["prompt_tokens"] / full["prompt_tokens"]
    low, high = contrast.low or 0, contrast.high or 0
    assert re.findall(r"[\d.]*\d", sentence) == [
        f"{100 * loadout['accuracy']:.1f}",
        f"{100 * MARGIN:.1f}",
        f"{100 * MARGIN:.1f}",
        *(f"{100 * figures['accuracy']:.1f}" for figures in (loadout, full)),
        f"{100 * low:.2f}",
        f"{100 * high:.1f}",
        f"{100 * saved:.0f}",
        *(f"{figures['prompt_tokens'] / 1000:.1f}" for figures in (loadout, full)),
        str(baseline.about.cases),
        "25",  # bm25
    ]
    assert low > -MARGIN, "not worse"


def test_the_example_file_is_right(project: Path, toolbelt: Toolbelt) -> None:
    (text,) = (text for text in titled("docs/loadouts.md", "toolbelt.yaml") if "security-reviewer" in text)
    assert "security-reviewer" in yaml.safe_load(text)["loadouts"]
    (project / "toolbelt.yaml").write_text(text)
    done = toolbelt("loadout", "lint", "--strict")
    assert (done.code, done.out.strip()) == (0, "no findings")


def test_the_models_of_ones_own_are_right(project: Path, toolbelt: Toolbelt) -> None:
    (text,) = titled("docs/models.md", "toolbelt.yaml")
    (project / "toolbelt.yaml").write_text(text)
    [mine] = toolbelt("model", "list", "llama3.1-awq", "--json").json["models"]
    assert (mine["context_window"], mine["output_reserve"], mine["max_tools"]) == (6000, 1000, 32)
    assert (mine["mode"], mine["sources"]["mode"]) == ("chat", "litellm (ollama/llama3.1)")
    assert mine["prices"] == {"input": 0.1, "output": 0.4, "cache_read": None, "cache_write": None}


def test_the_catalog_written_by_hand_is_right(tmp_path: Path) -> None:
    (text,) = titled("docs/catalogs.md", "shop.yaml")
    (tmp_path / "shop.yaml").write_text(text)
    project = open_project(tmp_path, catalog=tmp_path / "shop.yaml")
    assert [tool.id for tool in project.resolve("cashier").active_tools] == ["till/refund"]
    assert not list(lint_catalog(project.catalog))


def test_the_cases_are_cases(tmp_path: Path) -> None:
    from toolbelt.evals.cases.dataset import open_dataset

    for name in ("catalog.yaml", "cases.jsonl"):
        (text,) = titled("docs/datasets.md", f"shop/{name}")
        (tmp_path / name).write_text(text, encoding="utf-8")
    dataset = open_dataset(str(tmp_path))
    assert [dataset.case(number).id for number in range(len(dataset))] == ["refund-1", "refund-2", "chat-1"]
    assert (dataset.warnings, dataset.excluded) == ((), {})


def deaf_to_this_machine() -> dict[str, str]:
    """An environment in which git heeds nothing that anybody has configured."""
    own = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    nobody = {f"GIT_{who}_{what}": "x@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    return {**own, **nobody, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}


def test_the_agent_loads_a_toolkit_and_uses_it_in_its_next_turn(tmp_path: Path, openai_server: OpenAIServer) -> None:
    (config,) = (text for text in titled("docs/loadouts.md", "toolbelt.yaml") if "toolkits:" in text)
    (program,) = titled("docs/runtime.md", "agent.py")
    (tmp_path / "toolbelt.yaml").write_text(config, encoding="utf-8")
    (tmp_path / "agent.py").write_text(program, encoding="utf-8")
    assert len(program.splitlines()) < 100
    deaf = deaf_to_this_machine()
    for arguments in (("init", "-q"), ("commit", "-q", "--allow-empty", "-m", "It begins")):
        subprocess.run(["git", *arguments], cwd=tmp_path, env=deaf, check=True)
    model = "dynamic@readme-agent"
    environment = {
        **deaf,
        "MODEL": f"hosted_vllm/{model}",
        "API_BASE": openai_server.url,
        "HOSTED_VLLM_API_KEY": "none",
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    }
    said = 'Who changed this last?\nTOOLKIT history\nCALL git_log {"count": 1}'
    run = "import runpy; runpy.run_path('agent.py', run_name='__main__')"
    command = [sys.executable, "-c", run, said, "Go ahead.", "And who changed it before?"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout.splitlines()) == (
        0,
        ["I have loaded history; say when to go ahead.", "That is done.", "That is done."],
    ), done.stderr
    asked = [request["body"] for request in openai_server.requests(model)]
    offered = [[tool["function"]["name"] for tool in body["tools"]] for body in asked]
    toolkits, loadout = ("list_toolkits", "load_tools", "unload_tools"), ("capability_list", "discover_tools")
    before = [*toolkits, *loadout, "activate_tool", "read_file", "list_files"]
    assert offered == [before] * 3 + [[*before, "git_log"]] * 2 + [["git_log"]]
    assert "It begins" in asked[4]["messages"][-2]["content"]
    loaded = 'Loaded now: "history".\n\nYou may look at the history with git_log, and must not change it.'
    assert [body["messages"][-1]["content"] for body in asked] == ["Loaded now: none."] * 3 + [loaded] * 3
    assert [body.get("tool_choice") for body in asked] == [None] * 5 + ["required"]
    assert ["tool_choice" in body for body in asked] == [False] * 5 + [True]
