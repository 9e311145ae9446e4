"""What cannot be sent is refused before the first request, by what litellm makes of it (rule V5)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.cli.conftest import Toolbelt, project, toolbelt
from tests.servers.running import OpenAIServer, openai_server
from tests.wording import mentions
from toolbelt.errors import ToolbeltError
from toolbelt.evals import run_eval
from toolbelt.evals.models.opening import ModelOptions, open_model
from toolbelt.evals.setup.sendable import choose_search, refuse_by_mapping
from toolbelt.providers.chat import Sampling
from toolbelt.providers.endpoints import Transport
from toolbelt.providers.litellm_table import ModelTable
from toolbelt.providers.model_facts import find_facts

__all__ = ["openai_server", "project", "toolbelt"]
UNREACHABLE = "http://127.0.0.1:1"


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for provider in ("ANTHROPIC", "OPENAI", "GEMINI", "MISTRAL", "DEEPSEEK"):
        monkeypatch.setenv(f"{provider}_API_KEY", "sk-none")


def refuse(name: str, *samplings: Sampling, transport: Transport = Transport.LITELLM) -> str | None:
    """Why it cannot be sent; `None` if it can."""
    model = open_model(name, ModelOptions(transport=transport))
    try:
        refuse_by_mapping((model, find_facts(name, ModelTable()), sampling) for sampling in samplings)
    except ToolbeltError as error:
        return str(error)
    return None


@pytest.mark.parametrize(
    ("name", "sampling", "options"),
    [
        pytest.param("gpt-4.1", Sampling(effort="low", max_tokens=9), ["--effort low"], id="an-effort"),
        pytest.param("o3", Sampling(0.5), ["--temperature 0.5"], id="a-temperature"),
        pytest.param("gemini/gemini-2.5-flash", Sampling(effort="xhigh", seed=1), ["--effort xhigh"], id="a-level"),
        pytest.param(
            "gpt-5-mini", Sampling(0.0, effort="none"), ["--temperature 0", "--effort none"], id="two-at-once"
        ),
        pytest.param("claude-opus-5-5", Sampling(params={"top_p": 0.5}), ["`params`"], id="a-parameter-of-the-project"),
    ],
)
def test_V5_what_litellm_refuses_is_named_by_its_option(name: str, sampling: Sampling, options: list[str]) -> None:
    said = refuse(name, sampling) or ""
    assert mentions(said, name, *options)
    assert "drop_params" not in said


@pytest.mark.parametrize(
    ("name", "efforts", "is_refused"),
    [
        pytest.param("claude-haiku-4-5", ("none", "high"), False, id="none-is-the-default"),
        pytest.param("claude-haiku-4-5", ("minimal", "low"), True, id="two-names-of-one-budget"),
        pytest.param("gemini/gemini-2.5-flash", ("none", "low", "high"), False, id="budgets"),
        pytest.param("ollama_chat/qwen3", ("max",), True, id="the-most-is-sent-as-none"),
        pytest.param("ollama_chat/qwen3", ("none", "high"), False, id="on-and-off"),
    ],
)
def test_V5_efforts_that_are_one_request_are_no_two_arms(name: str, efforts: tuple[str, ...], is_refused: bool) -> None:
    said = refuse(name, *(Sampling(effort=effort) for effort in efforts))
    assert (said is not None) == is_refused
    assert said is None or mentions(said, name, f"--effort {efforts[-1]}")


@pytest.mark.parametrize("transport", list(Transport), ids=str)
def test_V5_an_answer_needs_more_tokens_than_reasoning_may_take(transport: Transport) -> None:
    said = refuse("claude-haiku-4-5", Sampling(max_tokens=2000, effort="high"), transport=transport) or ""
    assert mentions(said, "claude-haiku-4-5", "4,096 tokens", "--effort high", "--max-tokens 2000")
    assert refuse("claude-haiku-4-5", Sampling(max_tokens=5000, effort="high"), transport=transport) is None


@pytest.mark.parametrize(
    ("name", "efforts", "is_refused"),
    [
        pytest.param("claude-haiku-4-5", ("minimal", "low"), True, id="two-names-of-one-budget"),
        pytest.param("claude-haiku-4-5", ("none", "high"), False, id="none-is-the-default"),
        pytest.param("claude-opus-5", ("none", "low", "max"), False, id="none-is-sent"),
        pytest.param("gpt-5", ("minimal", "low", "high"), False, id="over-responses"),
    ],
)
def test_V5_efforts_over_a_vendors_own_api(name: str, efforts: tuple[str, ...], is_refused: bool) -> None:
    said = refuse(name, *(Sampling(effort=effort) for effort in efforts), transport=Transport.AUTO)
    assert (said is not None) == is_refused
    assert said is None or mentions(said, name, f"--effort {efforts[-1]}")


@pytest.mark.parametrize(
    "sampling", [Sampling(0.0), Sampling(tool_choice="required"), Sampling(effort="none")], ids=repr
)
def test_V5_a_run_that_every_request_of_would_be_refused_does_not_begin(
    sampling: Sampling, tmp_path_factory: pytest.TempPathFactory
) -> None:
    store = tmp_path_factory.mktemp("runs") / "runs.db"
    settings = {"toolsets": "oracle", "limit": 2, "store": store, "api_base": UNREACHABLE}
    with pytest.raises(ToolbeltError, match=r"leave|it takes"):
        run_eval("assistant", "claude-opus-5-5", sampling=sampling, **settings)  # type: ignore[arg-type]
    assert not store.exists()


@pytest.mark.parametrize("command", [("model", "probe"), ("dataset", "generate", "--output", "drafts")])
def test_V5_probes_and_drafts_refuse_an_effort_too(toolbelt: Toolbelt, project: Path, command: tuple[str, ...]) -> None:
    ran = toolbelt(*command, "--model", "claude-opus-5-5", "--effort", "none", "--dry-run")
    assert (ran.code, ran.out) == (2, "")
    assert mentions(ran.err, "claude-opus-5-5", "--effort none", "low, medium")


def test_V5_a_probe_with_another_effort_is_another_probe(
    toolbelt: Toolbelt, project: Path, openai_server: OpenAIServer
) -> None:
    model = "none@probe-effort"
    asked = ("--model", f"hosted_vllm/{model}", "--api-base", openai_server.url, "--check", "one_tool", "--json")
    for effort in ("low", "high"):
        [probe] = toolbelt("model", "probe", *asked, "--effort", effort).json["probes"]
        assert probe["code"]["effort"] == effort
    efforts = [request["body"]["reasoning_effort"] for request in openai_server.requests(model)]
    assert set(efforts) == {"low", "high"}


@pytest.mark.parametrize(
    ("name", "method", "transport", "said"),
    [
        pytest.param("claude-opus-5-5", "", "auto", "bm25", id="anthropic"),
        pytest.param("claude-opus-5-5", "regex", "auto", "regex", id="the-other"),
        pytest.param("gpt-6-sol", "", "auto", "namespaces", id="openai"),
        pytest.param("gpt-6-sol", "bm25", "auto", ["hosted-search:namespaces"], id="of-another-vendor"),
        pytest.param("claude-opus-5-5", "", "litellm", ["--transport litellm"], id="through-litellm"),
        pytest.param("local/bm25", "", "auto", ["search", "local/bm25"], id="in-this-process"),
        pytest.param("gpt-4.1", "", "auto", ["search", "gpt-4.1"], id="over-chat"),
        pytest.param("bedrock/anthropic.claude-opus-5-5", "", "auto", ["search"], id="by-another-provider"),
        pytest.param("gpt-5-mini", "", "auto", ["tool_search: true", "--ask-anyway"], id="nobody-says-so"),
    ],
)
def test_S1_a_model_without_a_search_of_its_own_is_refused_with_what_to_write(
    name: str, method: str, transport: str, said: str | list[str]
) -> None:
    table = ModelTable()
    facts, options = find_facts(name, table), ModelOptions(table=table, transport=Transport(transport))
    if isinstance(said, str):
        assert choose_search(facts, options, method) == said
        return
    with pytest.raises(ToolbeltError) as caught:
        choose_search(facts, options, method)
    assert mentions(str(caught.value), *said)


@pytest.mark.parametrize("stated", [None, False])
def test_S1_who_knows_better_sends_it_anyway(stated: bool | None) -> None:
    facts = replace(find_facts("gpt-5-mini", ModelTable()), tool_search=stated)
    with pytest.raises(ToolbeltError, match="tool search of its own"):
        choose_search(facts, ModelOptions())
    assert choose_search(facts, ModelOptions(), ask_anyway=True) == "namespaces"
