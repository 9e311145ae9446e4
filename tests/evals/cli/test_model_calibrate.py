"""What a run teaches of the tokens that definitions come to in a model's prompt (rule V8)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Toolbelt
from tests.servers.running import OpenAIServer
from tests.wording import mentions
from toolbelt.providers.tokenizers import count_tokens
from toolbelt.stores.catalogs import open_catalog

MODEL = "openai/pick-first@calibrated"
"""Its server reports a quarter of a request's bytes as prompt tokens, whatever `o200k_base` counts."""
RUN = ("eval", "run", "-d", "assistant", "-m", MODEL, "-t", "full,loadout:*", "--seed", "1")


@pytest.fixture
def ran(project: Path, toolbelt: Toolbelt, openai_server: OpenAIServer) -> Path:
    openai_server.reset()
    done = toolbelt(*RUN, "--limit", "4", "--api-base", openai_server.url)
    assert done.code in (0, 3), done.err
    return project


def ratio() -> float:
    """Bytes of the definitions as sent, a quarter of them a token, for one token of our count."""
    catalog = open_catalog("assistant").catalog
    return count_tokens(catalog, "estimate", "openai").total / count_tokens(catalog, "o200k_base", "openai").total


@pytest.mark.usefixtures("ran")
def test_V8_a_run_teaches_what_its_provider_makes_of_definitions(toolbelt: Toolbelt) -> None:
    data = toolbelt("model", "calibrate", "--json").json
    [found] = data["models"]
    assert (found["model"], found["label"], found["problem"]) == (MODEL, None, None)
    assert found["lists"] >= 4
    assert found["measured"]["factor"] == pytest.approx(ratio(), rel=0.03)
    assert found["measured"]["tokenizer"] == "o200k_base"
    before, after = found["errors_before"], found["errors_after"]
    assert after["median"] < 0.02 < before["median"]
    assert after["most"] <= found["measured"]["error"] <= 0.05
    entry = found["entry"]
    assert entry.keys() == {"name", "token_rate"}
    Path("toolbelt.yaml").write_text(json.dumps({"models": [{**entry, "context_window": 400_000}]}))
    shown = toolbelt("model", "inspect", MODEL).out
    assert mentions(shown, f"×{entry['token_rate']['factor']:g}", "toolbelt.yaml")
    fit, plain = (toolbelt("model", "fit", "-m", each, "--json").json["fits"][0] for each in (MODEL, "nobody/knows"))
    assert fit["tokens"] / plain["tokens"] == pytest.approx(ratio(), rel=0.03)
    estimate = toolbelt(*RUN, "--limit", "4", "--dry-run", "--json").json["arms"][0]
    assert estimate["token_error"] == entry["token_rate"]["error"]
    assert estimate["definition_tokens"] == pytest.approx(estimate["requests"] * fit["tokens"], rel=0.01)
    again = toolbelt("model", "calibrate")
    assert mentions(again.out, "the rate that holds now misses no more: keep it")
    assert "token_rate" not in again.out


@pytest.mark.usefixtures("ran")
def test_V8_what_it_writes_can_be_pasted(toolbelt: Toolbelt) -> None:
    Path("toolbelt.yaml").write_text(json.dumps({"models": [{"name": MODEL, "label": "mine", "max_tools": 300}]}))
    ran = toolbelt("model", "calibrate")
    assert ran.code == 0, ran.err
    entry = ran.out[ran.out.index("- name:") :]
    assert mentions(entry, "label: mine", "max_tools: 300", "token_rate:")
    Path("toolbelt.yaml").write_text(f"models:\n{entry}")
    assert toolbelt("model", "inspect", "mine", "--json").json["token_rate"]["factor"] > 1.05


def test_V8_a_later_run_estimates_by_the_measured_rate(
    toolbelt: Toolbelt, ran: Path, openai_server: OpenAIServer
) -> None:
    [found] = toolbelt("model", "calibrate", "--json").json["models"]
    (ran / "toolbelt.yaml").write_text(json.dumps({"models": [found["entry"]]}))
    before = toolbelt("eval", "show", "--json").json["arms"][0]
    done = toolbelt(*RUN, "--limit", "4", "--api-base", openai_server.url)
    assert done.code in (0, 3), done.err
    after = toolbelt("eval", "show", "--json").json["arms"][0]
    assert after["prompt_tokens"] == before["prompt_tokens"], "as the provider reports them"
    assert abs(after["own_prompt_tokens"] / after["prompt_tokens"] - 1) < 0.02
    assert abs(before["own_prompt_tokens"] / before["prompt_tokens"] - 1) > 0.05
    assert after["token_error"] == found["measured"]["error"]
    assert (before["tokenizer"], after["tokenizer"][:13]) == ("o200k_base", "o200k_base × ")
    assert toolbelt("eval", "report", "-o", "report").code == 0
    assert any(f"~{after['definition_tokens']:,.0f}" in page.read_text() for page in Path("report").rglob("*.md"))


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("-t", "full,loadout:*", "--limit", "1"), ("20 are needed",)),
        (("-t", "full", "--limit", "20"), ("1 list of tools", "vary too little", "full,loadout:*")),
    ],
    ids=["too-few", "too-alike"],
)
@pytest.mark.usefixtures("project")
def test_V8_a_run_that_shows_too_little_is_refused(
    toolbelt: Toolbelt, openai_server: OpenAIServer, options: tuple[str, ...], named: tuple[str, ...]
) -> None:
    openai_server.reset()
    run = ("eval", "run", "-d", "assistant", "-m", MODEL, *options, "--api-base", openai_server.url)
    assert toolbelt(*run).code in (0, 3)
    refused = toolbelt("model", "calibrate")
    assert (refused.code, refused.out) == (2, "")
    assert mentions(refused.err, MODEL, *named)


def test_V8_answers_of_an_earlier_run_teach_nothing(
    project: Path, toolbelt: Toolbelt, openai_server: OpenAIServer
) -> None:
    openai_server.reset()
    cached = (*RUN, "--limit", "4", "--api-base", openai_server.url, "--response-cache", str(project / "cache.db"))
    assert toolbelt(*cached).code in (0, 3)
    assert toolbelt("model", "calibrate").code == 0
    assert toolbelt(*cached).code in (0, 3)
    refused = toolbelt("model", "calibrate")
    assert refused.code == 2
    assert mentions(refused.err, "recorded", "earlier run")


@pytest.mark.usefixtures("project")
def test_V8_a_run_without_a_provider_is_refused(toolbelt: Toolbelt) -> None:
    assert toolbelt("eval", "run", "-d", "assistant", "-m", "local/bm25", "-t", "full", "--limit", "2").code == 0
    refused = toolbelt("model", "calibrate")
    assert refused.code == 2
    assert mentions(refused.err, "local/bm25", "no model that a provider counts for")
    assert toolbelt("model", "calibrate", "--store", "none.db").code == 2
