"""Evals of a search that ranks by vectors of a model, over a real server (rules S2, X3, E4)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Ran, Toolbelt
from tests.servers.running import OpenAIServer
from tests.wording import mentions

TOOLS = {
    "refund": "Pay the money of an order back to the customer.",
    "parcel": "Say where a parcel is at the moment.",
    "cancel": "Cancel an order that was not sent.",
}
CASES = [
    {"id": f"{tool}-{number}", "query": f"{tool} order {number}", "expected": [{"tool": tool}]}
    for tool in TOOLS
    for number in range(4)
]
RANK = "hosted_vllm/embedder@eval-search"
COUNTED = "embedder@eval-search"


@pytest.fixture
def shop(project: Path, openai_server: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> Path:
    tools = [{"name": name, "description": text} for name, text in TOOLS.items()]
    (project / "shop").mkdir()
    (project / "shop" / "catalog.json").write_text(
        json.dumps({"name": "shop", "plugins": [{"name": "shop", "tools": tools}]})
    )
    (project / "shop" / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in CASES))
    monkeypatch.setenv("TOOLBELT_CACHE_DIR", str(project / "cache"))
    openai_server.reset()
    return project


def search(toolbelt: Toolbelt, server: OpenAIServer, *options: str, toolset: str = "search", rank: str = RANK) -> Ran:
    asked = ("-d", "shop", "-t", f"{toolset}:k=1:rank=embedding:{rank}", "--api-base", server.url)
    return toolbelt("eval", "run", *asked, "--json", *options)


@pytest.mark.parametrize("toolset", ["search", "search:rag-mcp"])
def test_S2_an_eval_announces_the_cost_asks_in_batches_and_replays_offline(
    toolbelt: Toolbelt, shop: Path, openai_server: OpenAIServer, toolset: str
) -> None:
    first = search(toolbelt, openai_server, toolset=toolset)
    (arm,) = first.json["arms"]
    assert (first.code, arm["surfaced"]["value"], arm["coverage"]["value"]) == (0, 1, 1)
    assert mentions(first.err, "3 tools", "1 request")
    sizes = [len(request["body"]["input"]) for request in openai_server.requests(COUNTED)]
    assert sizes[0] == len(TOOLS)
    if toolset == "search:rag-mcp":
        assert sizes == [len(TOOLS), len(CASES)], "the users' words are known before the first trial"
    again = search(toolbelt, openai_server, "--offline", toolset=toolset)
    assert (again.code, again.json["arms"][0]["accuracy"]) == (0, arm["accuracy"])
    assert openai_server.count(COUNTED) == len(sizes)


def test_S3_rankers_are_compared_with_texts_in_batches_and_again_offline(
    toolbelt: Toolbelt, shop: Path, openai_server: OpenAIServer
) -> None:
    asked = ("eval", "search", "-d", "shop", "--rank", f"words,embedding:{RANK}", "--api-base", openai_server.url)
    first, again = toolbelt(*asked, "--json"), toolbelt(*asked, "--json", "--offline")
    assert (first.code, again.code) == (0, 0)
    assert again.json == first.json
    assert first.json["rankers"][1]["recall_at_1"]["value"] == 1
    sizes = [len(request["body"]["input"]) for request in openai_server.requests(COUNTED)]
    assert sizes == [len(TOOLS), len(CASES)]
    one = ("catalog", "search", "where", "is", "the", "parcel", "--catalog", "shop", "--rank", f"embedding:{RANK}")
    found = toolbelt(*one, "--api-base", openai_server.url, "--json")
    assert (found.code, found.json["tools"][0]["name"]) == (0, "parcel")


def test_X3_offline_a_case_whose_vector_is_missing_is_unscored(
    toolbelt: Toolbelt, shop: Path, openai_server: OpenAIServer
) -> None:
    none = search(toolbelt, openai_server, "--offline")
    assert (none.code, mentions(none.err, "--offline", "3 texts", RANK)) == (3, True)
    search(toolbelt, openai_server, "--case", "refund-1")
    some = search(toolbelt, openai_server, "--offline")
    assert (some.code, some.json["scored"], some.json["planned"]) == (3, 1, len(CASES))


def test_E4_a_search_whose_model_fails_leaves_the_trial_unscored(
    toolbelt: Toolbelt, shop: Path, openai_server: OpenAIServer
) -> None:
    rank = "hosted_vllm/embeds-until-1@eval-search"  # the tools, and then no query
    failed = search(toolbelt, openai_server, rank=rank)
    (arm,) = failed.json["arms"]
    assert (failed.code, failed.json["scored"], failed.json["errors"]) == (3, 0, len(CASES))
    assert arm["outcomes"] == {"error": len(CASES)}


def test_S2_a_dry_run_estimates_the_vectors_and_asks_nobody(
    toolbelt: Toolbelt, shop: Path, openai_server: OpenAIServer
) -> None:
    dry = search(toolbelt, openai_server, "--dry-run")
    assert (dry.code, mentions(dry.err, "3 texts", "1 request", RANK)) == (0, True)
    assert openai_server.count(COUNTED) == 0


def test_S2_a_model_that_is_not_there_is_named_before_the_run(
    toolbelt: Toolbelt, shop: Path, openai_server: OpenAIServer
) -> None:
    wrong = toolbelt("eval", "run", "-d", "shop", "-t", "search:rank=embedding:text-embeding-3-small")
    assert (wrong.code, mentions(wrong.err, "text-embedding-3-small")) == (2, True)
