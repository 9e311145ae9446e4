"""Servers that answer without having seen the tools, or with nothing: they are never scored (rules E4 and E9)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Ran, Toolbelt
from tests.servers.running import OpenAIServer

TOOLS = [
    {"name": f"tool_{number}", "description": f"Does number {number} of the things that a shop has to do. " * 6}
    for number in range(12)
]
"""Some 700 tokens."""
CASES = [
    {"id": f"case-{number}", "query": f"Do {number}.", "expected": [{"tool": "tool_0"}] if number % 2 else []}
    for number in range(40)
]


@pytest.fixture
def shop(project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("OPENAI_API_KEY", "none-needed")
    (project / "shop").mkdir()
    catalog = {"name": "shop", "plugins": [{"name": "shop", "tools": TOOLS}]}
    (project / "shop" / "catalog.json").write_text(json.dumps(catalog))
    (project / "shop" / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in CASES))
    return project


def run(toolbelt: Toolbelt, server: OpenAIServer, model: str, *options: str) -> Ran:
    asked = ("-d", "shop", "-m", f"openai/{model}", "--api-base", server.url, *options)
    return toolbelt("eval", "run", *(asked if "-t" in options else (*asked, "-t", "full")), "--json")


def endings(data: Any) -> tuple[int, int, int]:
    return data["scored"], data["errors"], data["planned"]


def test_E4_a_server_that_drops_the_tools_is_stopped_and_nothing_of_it_is_scored(
    toolbelt: Toolbelt, shop: Path, openai_server: OpenAIServer
) -> None:
    ran = run(toolbelt, openai_server, "blind@cli")
    assert ran.code == 3
    scored, errors, planned = endings(ran.json)
    assert (scored, planned) == (0, 40)
    assert 5 <= errors <= 5 + 8, "at most those under way"
    assert openai_server.count("blind@cli") == errors, "it is not asked again"
    for said in (ran.err, toolbelt("eval", "show", "--json").json["reason"], toolbelt("eval", "show").out):
        text = " ".join(said.split())
        assert "openai/blind@cli: stopped after 5 trials: tools_not_seen" in text
        assert "--jinja" in text
        assert "num_ctx" in text
    assert "resume" in ran.err
    assert "--retry-errors" in ran.err
    [request] = toolbelt("eval", "show", "--case", "case-0", "--json").json["trials"][0]["requests"]
    assert (request["failure"], request["text"]) == ("tools_not_seen", "There is nothing to call.")
    assert toolbelt("eval", "report", "-o", "out").code == 0
    [junit] = (shop / "out").rglob("junit.xml")
    assert junit.read_text().count("<error") == errors
    assert "<failure" not in junit.read_text()


def test_E8_a_stopped_model_is_asked_what_is_missing_once_its_server_is_mended(
    toolbelt: Toolbelt, shop: Path, openai_server: OpenAIServer
) -> None:
    ran = run(toolbelt, openai_server, "blind-until-5@cli", "--max-concurrency", "1")
    assert (ran.code, endings(ran.json)) == (3, (0, 5, 40))
    gated = toolbelt("eval", "gate", "--min-accuracy", "0.1", "--json")
    assert (gated.code, gated.json["verdict"]) == (3, "insufficient_data"), gated.out
    ran = toolbelt("eval", "resume", "--json")
    assert (ran.code, endings(ran.json)) == (3, (35, 5, 40)), "what failed is still to be done"
    ran = toolbelt("eval", "resume", "--retry-errors", "--json")
    assert (ran.code, endings(ran.json)) == (0, (40, 0, 40))
    assert openai_server.count("blind-until-5@cli") == 45, "what was answered is not asked again"


def test_E4_an_empty_answer_is_sent_once_more_and_then_an_error(
    toolbelt: Toolbelt, shop: Path, openai_server: OpenAIServer
) -> None:
    ran = run(toolbelt, openai_server, "empty-after-1@cli", "--max-concurrency", "1", "--max-retries", "0")
    assert (ran.code, endings(ran.json)) == (3, (1, 5, 40))
    assert openai_server.count("empty-after-1@cli") == 1 + 5 * 2
    assert "stopped after 5 trials: broken_answer" in ran.json["reason"]
    ran = run(toolbelt, openai_server, "empty-every-2@cli", "--max-concurrency", "1")
    assert (ran.code, endings(ran.json)) == (0, (40, 0, 40))
    assert ran.json["arms"][0]["retries"] == 40, "each is answered when it is sent again"


def test_E4_an_arm_with_too_few_tools_to_tell_does_not_keep_a_blind_server_going(
    toolbelt: Toolbelt, shop: Path, openai_server: OpenAIServer
) -> None:
    ran = run(toolbelt, openai_server, "blind@few", "-t", "full,oracle", "--max-concurrency", "1")
    assert ran.code == 3
    full, oracle = ran.json["arms"]
    assert (full["scored"], full["outcomes"]) == (0, {"error": 5})
    assert oracle["finished"] <= 5


def test_E4_each_model_is_stopped_for_itself(toolbelt: Toolbelt, shop: Path, openai_server: OpenAIServer) -> None:
    ran = run(toolbelt, openai_server, "blind@two", "-m", "openai/pick-first@two")
    blind, seeing = ran.json["arms"]
    assert (ran.code, blind["scored"], seeing["scored"]) == (3, 0, 40)


@pytest.mark.parametrize("transport", ["auto", "litellm"])
@pytest.mark.parametrize("model", ["unparsed@t", "unparsed-thoughts@t"])
def test_V2_a_server_that_leaves_calls_in_the_text_is_stopped_and_nothing_of_it_is_scored(
    toolbelt: Toolbelt, shop: Path, openai_server: OpenAIServer, model: str, transport: str
) -> None:
    openai_server.reset()
    options = ("--transport", transport, "--max-concurrency", "1", "--response-cache", "recorded.db")
    ran = run(toolbelt, openai_server, model, *options)
    assert (ran.code, endings(ran.json)) == (3, (0, 5, 40))
    assert openai_server.count(model) == 5, "it is not asked again"
    assert f"openai/{model}: stopped after 5 trials: call_in_text" in ran.json["reason"]
    assert "--tool-call-parser hermes" in ran.json["reason"]
    shown = toolbelt("eval", "show", "--case", "case-0", "--json").json["trials"][0]
    assert (shown["requests"][0]["failure"], shown["outcome"]) == ("call_in_text", "error")
    recorded = toolbelt("eval", "responses", "show", "recorded.db", "--json").json
    assert recorded["responses"] == 0, "it is no answer"


def test_V2_abstentions_do_not_show_that_a_server_takes_calls_out_of_texts(
    toolbelt: Toolbelt, shop: Path, openai_server: OpenAIServer
) -> None:
    ran = run(toolbelt, openai_server, "unparsed-until-4@few", "--max-concurrency", "1")
    assert (ran.code, endings(ran.json)) == (3, (36, 4, 40)), "four are not five"
