"""`toolbelt model inspect`."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Toolbelt
from tests.cli.test_model_list import MODELS
from tests.evals.probing.probes import SAID
from tests.wording import mentions
from toolbelt.cli.model_inspect import DEFAULT_STORE
from toolbelt.evals.probing.checks import ProbePlan
from toolbelt.evals.probing.probe_store import ProbeStore
from toolbelt.evals.running.store import DEFAULT_FILE, RunStore

MINE = """\
hosted_vllm/mine  litellm's ollama/llama3.1
provider                      hosted_vllm  name
for                                  chat  litellm (ollama/llama3.1)
context window                      6,000  toolbelt.yaml
longest answer                      8,192  litellm (ollama/llama3.1)
output reserve                      1,500  default
tool calling                          yes  litellm (ollama/llama3.1)
parallel calls                         no  toolbelt.yaml
tool choice                       unknown
most tools                        unknown
reasoning                         unknown
efforts                           unknown
temperature                       unknown
caching                           unknown
own tool search                   unknown
definitions               ×1.42 + 58 ±25%  Llama 3: its tokenizer and template
$/M tokens of a prompt                0.1  toolbelt.yaml
$/M read from the cache              0.05  toolbelt.yaml
$/M written to the cache          unknown
$/M tokens of an answer              0.25  toolbelt.yaml
"""


def test_every_fact_with_its_source(toolbelt: Toolbelt, project: Path) -> None:
    (project / "toolbelt.yaml").write_text(MODELS)
    ran = toolbelt("model", "inspect", "hosted_vllm/mine")
    assert (ran.code, ran.out, ran.err) == (0, MINE, "")


def test_what_is_unknown_says_so(toolbelt: Toolbelt, project: Path) -> None:
    (project / "toolbelt.yaml").write_text(MODELS)
    lines = toolbelt("model", "inspect", "nobody/knows").out.splitlines()
    assert [line.split()[-1] for line in lines[1:]].count("unknown") == len(lines) - 2
    assert "output reserve     4,096  default" in lines


def test_prices_that_rise_with_the_prompt(toolbelt: Toolbelt) -> None:
    ran = toolbelt("model", "inspect", "gemini/gemini-2.5-pro")
    assert mentions(ran.out.splitlines()[-1], "200,000 tokens", "$/M", "input 2.5", "output 15", "cache read 0.25")
    [step] = toolbelt("model", "inspect", "gemini/gemini-2.5-pro", "--json").json["price_steps"]
    assert step == {"above_tokens": 200_000, "input": 2.5, "output": 15.0, "cache_read": 0.25, "cache_write": None}


def test_json(toolbelt: Toolbelt) -> None:
    data = toolbelt("model", "inspect", "openai/gpt-4o", "--json").json
    assert (data["name"], data["known_as"], data["provider"]) == ("openai/gpt-4o", "gpt-4o", "openai")
    assert (data["context_window"], data["output_limit"], data["output_reserve"]) == (128_000, 16_384, 4_096)
    assert data["max_tools"] == 128
    assert data["prices"] == {"input": 2.5, "output": 10.0, "cache_read": 1.25, "cache_write": None}
    assert set(data["sources"].values()) == {"litellm", "provider rules", "default"}


@pytest.mark.parametrize(
    ("name", "named"),
    [
        pytest.param("gpt-4oo", "Did you mean 'gpt-4o'", id="nearest"),
        pytest.param("mine/of-my-own", ("`models`", "toolbelt.yaml"), id="what-to-do"),
        pytest.param("", "No model named ''", id="blank"),
        pytest.param("sample_spec", "No model named", id="the-tables-own-explanation"),
    ],
)
def test_a_wrong_name_exits_2(toolbelt: Toolbelt, name: str, named: object) -> None:
    ran = toolbelt("model", "inspect", name)
    assert (ran.code, ran.out) == (2, "")
    assert mentions(ran.err, named)


def test_L15_a_window_of_ones_own_is_what_loadouts_are_held_against(toolbelt: Toolbelt, project: Path) -> None:
    (project / "toolbelt.yaml").write_text("models:\n- {name: mine, context_window: 20000}\n- gpt-4o\n")
    rows = toolbelt("loadout", "inspect", "minimal", "--json").json["models"]
    assert [(row["model"], row["context_window"]) for row in rows] == [("mine", 20_000), ("gpt-4o", 128_000)]
    chosen = toolbelt("loadout", "inspect", "auto", "--model", "mine", "--json").json
    assert chosen["loadout"] == "minimal"
    (project / "toolbelt.yaml").write_text("models:\n- {name: mine, base: gpt-4o}\n")
    assert toolbelt("loadout", "inspect", "auto", "--model", "mine", "--json").json["loadout"] != "minimal"


def _keep_probe(model: str) -> None:
    with RunStore(DEFAULT_FILE) as store:
        kept = ProbeStore(store)
        probe = kept.create(ProbePlan(model, planned=tuple(SAID)))
        for check in SAID.values():
            asyncio.run(kept.add_check(probe, check))
        kept.set_status(probe, "finished")


def test_what_a_probe_showed_stands_beside_what_is_known(toolbelt: Toolbelt) -> None:
    assert toolbelt("model", "inspect", "gpt-6-luna", "--json").json["probe"] is None
    _keep_probe("gpt-6-luna")
    ran = toolbelt("model", "inspect", "gpt-6-luna")
    assert (ran.code, ran.err) == (0, "")
    lines = [" ".join(line.split()) for line in ran.out.splitlines()]
    assert {"tool calling yes litellm probe: yes", "parallel calls yes litellm probe: no"} <= set(lines)
    *_, when, works = ran.out.splitlines()
    assert (when[:9], when.split()[-1]) == ("probed 20", "finished")
    assert mentions(works, "1 of 6 works", "parallel_calls", "choice_named")
    probe = toolbelt("model", "inspect", "gpt-6-luna", "--json").json["probe"]
    assert probe["learned"] == {"tool_calling": True, "parallel_calls": False}
    assert probe["news"] == [
        {"fact": "parallel_calls", "known": True, "source": "litellm", "seen": False, "contradicts": True, "note": None}
    ]
    assert toolbelt("model", "inspect", "gpt-6-luna", "--store", "other.db", "--json").json["probe"] is None


def test_a_model_nobody_knows_is_known_once_it_was_probed(toolbelt: Toolbelt) -> None:
    assert toolbelt("model", "inspect", "mine/of-my-own").code == 2
    _keep_probe("mine/of-my-own")
    ran = toolbelt("model", "inspect", "mine/of-my-own")
    assert ran.code == 0
    lines = [line.split() for line in ran.out.splitlines()]
    assert ["tool", "calling", "unknown", "probe:", "yes"] in lines


def test_without_a_store_nothing_of_the_harness_is_loaded(project: Path) -> None:
    assert str(DEFAULT_FILE) == DEFAULT_STORE
    command = [sys.executable, "-X", "importtime", "-m", "toolbelt", "model", "inspect", "gpt-4o"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert done.returncode == 0
    assert "toolbelt.providers.model_facts" in loaded
    assert not [name for name in loaded if name.startswith(("toolbelt.evals", "sqlite3", "litellm", "pandas"))]
    assert list(project.iterdir()) == []
