"""How models are asked: system prompt, effort and further parameters, from the option to the request (rule V5)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.servers.running import OpenAIServer, openai_server
from tests.wording import mentions
from toolbelt.errors import NotFoundError
from toolbelt.evals import run_eval
from toolbelt.evals.run import Run
from toolbelt.evals.setup.reporting import NoteKind
from toolbelt.providers.chat import Sampling

__all__ = ["openai_server"]
CASES = [
    {"id": "plain", "query": "Where is parcel 7?", "expected": [{"tool": "shop/parcel"}]},
    {"id": "own", "system": "You are strict.", "query": "Refund order 8.", "expected": [{"tool": "shop/refund"}]},
]
CATALOG = {"plugins": [{"name": "shop", "tools": [{"name": "refund", "description": "Pay back."}, {"name": "parcel"}]}]}
CONFIG = """
models:
  - name: hosted_vllm/none@params
    params: {top_p: 0.9, chat_template_kwargs: {thinking: true}}
agents:
  clerk: {tools: [shop], system: clerk.md}
  porter: {tools: [shop]}
"""


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in CASES))
    (folder / "catalog.json").write_text(json.dumps(CATALOG))
    (folder / "card.yaml").write_text("name: shop\nsystem: Of the dataset.\n")
    (tmp_path / "toolbelt.yaml").write_text(CONFIG)
    (tmp_path / "clerk.md").write_text("Of the agent.\n")
    return tmp_path


def ask(server: OpenAIServer, model: str, **settings: Any) -> tuple[Run, list[dict[str, Any]]]:
    options = {"toolsets": "full", "api_base": server.url, "store": "runs.db"} | settings
    run = run_eval("shop", f"hosted_vllm/{model}", **options)
    return run, [request["body"] for request in server.requests(model)]


def systems(bodies: list[dict[str, Any]]) -> dict[str, set[str]]:
    """By the user's words, the system prompts that were sent with them."""
    found: dict[str, set[str]] = {}
    for body in bodies:
        systems = [message["content"] for message in body["messages"] if message["role"] == "system"]
        found.setdefault(body["messages"][-1]["content"], set()).add(" ".join(systems))
    return found


@pytest.mark.parametrize(
    ("settings", "sent"),
    [
        pytest.param({}, {"Of the dataset."}, id="of-the-dataset"),
        pytest.param({"toolsets": "dynamic:clerk"}, {"Of the agent."}, id="the-agent-beats-the-dataset"),
        pytest.param({"toolsets": "dynamic:porter"}, {"Of the dataset."}, id="an-agent-may-have-none"),
        pytest.param({"system": "Mine.", "toolsets": ["full", "dynamic:clerk"]}, {"Mine."}, id="the-option-beats-both"),
        pytest.param({"system": "clerk.md"}, {"Of the agent."}, id="the-option-may-be-a-file"),
        pytest.param({"system": "", "toolsets": "dynamic:clerk"}, {""}, id="an-empty-option-is-none"),
    ],
)
def test_V5_a_case_beats_the_option_beats_the_agent_beats_the_dataset(
    shop: Path, openai_server: OpenAIServer, settings: dict[str, Any], sent: set[str], request: pytest.FixtureRequest
) -> None:
    _, bodies = ask(openai_server, f"none@{request.node.callspec.id}", **settings)
    assert systems(bodies) == {"Where is parcel 7?": sent, "Refund order 8.": {"You are strict."}}


def test_V5_arms_and_cases_with_another_system_prompt_are_noted(shop: Path, openai_server: OpenAIServer) -> None:
    run, bodies = ask(openai_server, "none@mixed", toolsets=["full", "dynamic:clerk"])
    assert [note.about for note in run.notes if note.kind is NoteKind.SYSTEM_PROMPTS] == [("dynamic:clerk",), ("shop",)]
    assert systems(bodies)["Where is parcel 7?"] == {"Of the dataset.", "Of the agent."}
    assert run.summary.settings["system"] == "Of the dataset."
    assert run.summary.settings["toolset_systems"] == {"dynamic:clerk": "Of the agent."}


def test_V5_a_misspelt_file_of_a_system_prompt_is_no_prompt(shop: Path, openai_server: OpenAIServer) -> None:
    with pytest.raises(NotFoundError):
        ask(openai_server, "none@misspelt", system="clrk.md")
    (shop / "shop" / "card.yaml").write_text("name: shop\nsystem: clrk.md\n")
    with pytest.raises(NotFoundError):
        ask(openai_server, "none@misspelt")
    assert openai_server.requests("none@misspelt") == []


def test_V5_params_of_a_model_are_sent_and_stored(shop: Path, openai_server: OpenAIServer) -> None:
    run, bodies = ask(openai_server, "none@params")
    assert all((body["top_p"], body["chat_template_kwargs"]) == (0.9, {"thinking": True}) for body in bodies)
    assert run.summary.settings["model_params"] == {
        "hosted_vllm/none@params": {"top_p": 0.9, "chat_template_kwargs": {"thinking": True}}
    }


def test_V5_one_effort_is_a_setting_of_the_run_and_several_are_arms(shop: Path, openai_server: OpenAIServer) -> None:
    run, bodies = ask(openai_server, "none@one-effort", sampling=Sampling(effort="low"))
    assert {body["reasoning_effort"] for body in bodies} == {"low"}
    assert run.summary.settings["effort"] == "low"
    run, bodies = ask(openai_server, "none@efforts", variants=["effort:none", "undescribed+effort:high"])
    assert sorted(body["reasoning_effort"] for body in bodies) == ["high", "high", "none", "none"]
    assert [arm.variant for arm in run.summary.arms] == ["effort:none", "undescribed+effort:high"]
    assert "effort" not in run.summary.settings


@pytest.mark.parametrize("settings", [{"sampling": Sampling(effort="lo")}, {"variants": "effort:lo"}])
def test_V5_an_unknown_effort_is_refused_with_the_nearest(
    shop: Path, openai_server: OpenAIServer, settings: dict[str, Any]
) -> None:
    with pytest.raises(NotFoundError) as refused:
        ask(openai_server, "none@unknown-effort", **settings)
    assert mentions(str(refused.value), "effort", "Did you mean 'low'")
    assert openai_server.requests("none@unknown-effort") == []
