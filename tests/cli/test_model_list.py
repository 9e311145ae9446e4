"""`toolbelt model list`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Toolbelt
from tests.wording import mentions
from toolbelt.providers.litellm_table import ModelTable
from toolbelt.providers.model_facts import list_current_names

MODELS = """\
models:
  - gpt-6-luna
  - name: hosted_vllm/mine
    base: ollama/llama3.1
    context_window: 6000
    parallel_calls: false
    prices: {input: 0.1, output: 0.25, cache_read: 0.05}
  - nobody/knows
"""


@pytest.fixture
def mine(project: Path) -> Path:
    (project / "toolbelt.yaml").write_text(MODELS)
    return project


def test_the_projects_models_come_first(toolbelt: Toolbelt, mine: Path) -> None:
    ran = toolbelt("model", "list")
    assert ran.code == 0
    lines = [line.split() for line in ran.out.splitlines()]
    assert lines[0][:4] == ["model", "window", "answer", "tools"]
    assert " ".join(lines[1]) == "gpt-6-luna 922,000 128,000 yes 4,096 yes yes yes 0.1 0.5 0.01 0.125 openai"
    assert (
        " ".join(lines[2])
        == "hosted_vllm/mine 6,000 8,192 yes 1,500 no unknown unknown 0.1 0.25 0.05 unknown hosted_vllm"
    )
    assert lines[3] == ["nobody/knows", *["unknown"] * 3, "4,096", *["unknown"] * 8]
    assert [line[0] for line in lines[4:]] == [
        name for name in list_current_names(ModelTable()) if name != "gpt-6-luna"
    ]
    assert mentions(ran.err, "toolbelt model list --all")


def test_json_has_every_fact_with_its_source(toolbelt: Toolbelt, mine: Path) -> None:
    data = toolbelt("model", "list", "--json").json
    assert list(data) == ["models", "known"]
    by_name = {row["name"]: row for row in data["models"]}
    row = by_name["hosted_vllm/mine"]
    assert (row["context_window"], row["sources"]["context_window"]) == (6000, "toolbelt.yaml")
    assert (row["tool_calling"], row["sources"]["tool_calling"]) == (True, "litellm (ollama/llama3.1)")
    assert (row["output_reserve"], row["sources"]["output_reserve"]) == (1500, "default")
    assert row["prices"] == {"input": 0.1, "output": 0.25, "cache_read": 0.05, "cache_write": None}
    assert by_name["nobody/knows"]["tool_calling"] is None
    assert data["known"] > 2000


@pytest.mark.parametrize(
    ("arguments", "least", "most"),
    [
        pytest.param(["--all"], 2000, 9999, id="all"),
        pytest.param(["claude", "--tool-calling"], 20, 500, id="a-pattern-among-those-that-call-tools"),
        pytest.param(["gemini/*", "--min-window", "500000"], 5, 100, id="a-pattern-and-a-window"),
        pytest.param(["--provider", "ollama"], 5, 100, id="a-provider"),
        pytest.param(["--min-window", "999999999"], 0, 0, id="nothing-is-that-large"),
    ],
)
def test_narrowed_and_widened(toolbelt: Toolbelt, mine: Path, arguments: list[str], least: int, most: int) -> None:
    ran = toolbelt("model", "list", *arguments, "--json")
    assert (ran.code, ran.err) == (0, "")
    assert least <= len(ran.json["models"]) <= most


def test_nothing_left_is_said(toolbelt: Toolbelt, mine: Path) -> None:
    ran = toolbelt("model", "list", "gpt-4o", "--min-window", "999999999")
    assert (ran.code, ran.out) == (0, "")
    assert "no model is left" in ran.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param(["gpt-4o-minni"], "Did you mean 'gpt-4o-mini'", id="the-nearest-name"),
        pytest.param(["--provider", "opnai"], "Did you mean 'openai'", id="the-nearest-provider"),
        pytest.param(["--min-window", "0"], "not in the range", id="a-window-of-nothing"),
        pytest.param(["\x1b[31m"], "\\x1b[31m", id="a-pattern-that-would-colour-the-screen"),
        pytest.param(["--config", "toolbet.yaml"], "Did you mean 'toolbelt.yaml'", id="another-file"),
    ],
)
def test_what_is_not_there_exits_2(toolbelt: Toolbelt, mine: Path, arguments: list[str], said: str) -> None:
    ran = toolbelt("model", "list", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err


def test_L10_mistakes_of_the_file_are_told_with_their_lines(toolbelt: Toolbelt, project: Path) -> None:
    (project / "toolbelt.yaml").write_text("models:\n- name: a\n  window: 5\n- 7\n")
    ran = toolbelt("model", "list")
    assert ran.code == 2
    assert "toolbelt.yaml:3" in ran.err
    assert "toolbelt.yaml:4" in ran.err
    assert "It is written 'context_window' here" in ran.err


def test_a_base_that_nobody_knows_is_told(toolbelt: Toolbelt, project: Path) -> None:
    (project / "toolbelt.yaml").write_text("models:\n- {name: a, base: gpt-4oo}\n")
    assert mentions(toolbelt("model", "list").err, "base of 'a'", "gpt-4oo", "gpt-4o")


def test_C_flags_come_from_the_environment_too(toolbelt: Toolbelt, mine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLBELT_PROVIDER", "ollama")
    monkeypatch.setenv("TOOLBELT_TOOL_CALLING", "1")
    rows = toolbelt("model", "list", "--json").json["models"]
    assert {(row["provider"], row["tool_calling"]) for row in rows} == {("ollama", True)}


def test_a_narrow_terminal_keeps_names_and_numbers_whole(
    toolbelt: Toolbelt, mine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    lines = toolbelt("model", "list").out.splitlines()
    assert max(map(len, lines)) <= 60
    assert lines[1].split()[:2] == ["gpt-6-luna", "922,000"]
    said = " ".join(" ".join(lines).split())
    assert mentions(said, "parallel, choice, caching, $/M in, $/M out, $/M read, $/M write, provider")
    monkeypatch.setenv("COLUMNS", "200")
    assert "no room for" not in toolbelt("model", "list").out


def test_a_foreign_name_cannot_move_the_cursor(toolbelt: Toolbelt, project: Path) -> None:
    (project / "toolbelt.yaml").write_text('models:\n- name: "a\\e[2J"\n  provider: "p\\u202e"\n')
    out = toolbelt("model", "list").out
    assert "a\\x1b[2J" in out
    assert "p\\u202e" in out


@pytest.mark.cold
def test_listing_loads_no_client(mine: Path) -> None:
    code = (
        "import sys; from toolbelt.cli import run; run(['model', 'list', '--json']);"
        "print(sorted({'litellm', 'tiktoken', 'jsonschema', 'pandas', 'pydantic'} & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == "[]\n"


def test_what_a_model_is_given_is_shown_where_any_is(toolbelt: Toolbelt, project: Path) -> None:
    (project / "toolbelt.yaml").write_text(
        "models:\n- {name: gpt-4o, toolset: tiered}\n- {name: mine, base: gpt-4o}\n- gpt-4\n"
    )
    header, first, second, third, *_ = (line.split() for line in toolbelt("model", "list").out.splitlines())
    assert (header[-1], first[-1], second[-1], third[-1]) == ("toolset", "tiered", "tiered", "openai")
    rows = toolbelt("model", "list", "--json").json["models"]
    assert [(row["toolset"], row["sources"].get("toolset")) for row in rows[:3]] == [
        ("tiered", "toolbelt.yaml"),
        ("tiered", "toolbelt.yaml (gpt-4o)"),
        (None, None),
    ]
    lines = [line.split() for line in toolbelt("model", "inspect", "mine").out.splitlines()]
    assert ["toolset", "tiered", "toolbelt.yaml", "(gpt-4o)"] in lines
    assert "toolset" not in toolbelt("model", "inspect", "gpt-4").out
