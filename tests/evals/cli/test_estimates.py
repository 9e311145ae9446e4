"""An estimate counts what arms share once, and says what that saves (rule E6)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Toolbelt
from tests.servers.running import OpenAIServer
from tests.wording import mentions

ARMS = ("--toolset", "full,loadout:garden,oracle")
MODEL = "openai/pick-first@garden"
NAMES = ("sow", "water", "harvest")


@pytest.fixture
def garden(project: Path) -> Path:
    tools = [{"name": name, "description": f"{name} something in a bed"} for name in NAMES]
    cases = [{"id": name, "query": f"{name} the beans", "expected": [{"tool": name}]} for name in NAMES]
    (project / "garden").mkdir()
    catalog = {"name": "garden", "plugins": [{"name": "beds", "tools": tools}]}
    (project / "garden" / "catalog.json").write_text(json.dumps(catalog))
    (project / "garden" / "cases.jsonl").write_text("".join(f"{json.dumps(case)}\n" for case in cases))
    models = [{"name": MODEL, "prices": {"input": 1.0, "output": 1.0}}]
    (project / "toolbelt.yaml").write_text(
        json.dumps({"models": models, "loadouts": {"garden": {"plugins": ["beds"]}}})
    )
    return project


@pytest.mark.usefixtures("garden")
def test_E6_a_dry_run_and_the_run_itself_count_what_is_shared_once(
    toolbelt: Toolbelt, openai_server: OpenAIServer
) -> None:
    command = ("eval", "run", "-d", "garden", "-m", MODEL, *ARMS, "--api-base", openai_server.url)
    data = toolbelt(*command, "--dry-run", "--json").json
    full, same, oracle = data["arms"]
    assert {key: same[key] for key in ("trials", "requests", "cost_usd")} == {
        key: full[key] for key in ("trials", "requests", "cost_usd")
    }
    assert (full["shared"]["trials"], oracle["shared"]["trials"]) == (0, 0)
    assert same["shared"] == {key: same[key] for key in same["shared"]}, "all of it"
    assert data["requests"] == full["requests"] + oracle["requests"]
    assert data["cost_usd"] == pytest.approx(full["cost_usd"] + oracle["cost_usd"])
    assert mentions(
        toolbelt(*command, "--dry-run").out, "Asked once: 3 trials of", "loadout:garden", "saves 3 requests"
    )

    openai_server.reset()
    ran = toolbelt(*command)
    assert openai_server.count("pick-first@garden") == data["requests"]
    assert mentions(ran.out, "Asked once: 3 of 9 trials", "saved", "Cost in all")
    shown = toolbelt("eval", "show", "--case", "sow", "--json").json["trials"]
    assert sorted(trial["asked_by"] is None for trial in shown) == [False, True, True]
    assert shown[0]["requests"] == shown[1]["requests"] != shown[2]["requests"]


@pytest.mark.usefixtures("garden")
def test_S1_a_dry_run_with_the_vendors_own_search_plays_it_and_says_how(toolbelt: Toolbelt) -> None:
    """Without a key, and without a request."""
    arms = ("-m", "claude-opus-5-5", "--toolset", "hosted-search,full", "--dry-run")
    ran = toolbelt("eval", "run", "-d", "garden", *arms, "--json")
    hosted, full = ran.json["arms"]
    assert (hosted["requests"], hosted["toolset"]) == (3, "hosted-search")
    assert 0 < hosted["definition_tokens"] <= full["definition_tokens"]
    assert mentions(ran.err, "hosted-search", "as if the vendor's search had found")
    refused = toolbelt("eval", "run", "-d", "garden", "-m", MODEL, *arms[2:])
    assert (refused.code, mentions(refused.err, "hosted-search", MODEL, "write search")) == (2, True)


def test_E6_the_price_of_long_prompts_is_that_of_each_trial(toolbelt: Toolbelt, garden: Path) -> None:
    """gpt-6-luna costs more above 272,000 tokens, which many short prompts come to together."""
    case = {"id": "c", "query": "sow " * 2_000, "expected": [{"tool": "sow"}]}
    rows = [{**case, "id": str(number)} for number in range(200)]
    (garden / "garden" / "cases.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    data = toolbelt("eval", "run", "-d", "garden", "-m", "gpt-6-luna", "-t", "full", "--dry-run", "--json").json
    facts = toolbelt("model", "inspect", "gpt-6-luna", "--json").json["prices"]
    assert data["prompt_tokens"] > 272_000
    usual = (data["prompt_tokens"] * facts["input"] + data["completion_tokens"] * facts["output"]) / 1e6
    assert data["cost_usd"] == pytest.approx(usual, rel=1e-3)
