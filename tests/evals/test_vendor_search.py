"""The vendor's own tool search as an arm: what it found is stored, counted and sent back unchanged (S1, S3, V4, X3)."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Toolbelt, toolbelt
from tests.servers.vendor_search import REFERENCES, refuse, search_and_call
from tests.servers.vendors import Json, VendorServer, message, response, vendor_server
from tests.wording import mentions
from toolbelt.errors import ToolbeltError
from toolbelt.evals import load_run, run_eval
from toolbelt.evals.run import Run

__all__ = ["toolbelt"]
MODELS = {"messages": "claude-haiku-5-5", "responses": "openai/of-search"}
EARLIER = [
    {"role": "user", "content": "Where is parcel 7?"},
    {
        "role": "assistant",
        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "parcel", "arguments": "{}"}}],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "On its way."},
    {"role": "user", "content": "Then refund the order."},
]
CASES: list[Json] = [
    {"id": "found", "query": "refund an order", "expected": [{"tool": "shop/refund"}]},
    {
        "id": "missed",
        "query": "refund an order",
        "steps": 2,
        "expected": [{"tool": "shop/refund"}, {"tool": "desk/answer"}],
    },
    {"id": "nothing", "query": "zzz", "expected": [{"tool": "desk/answer"}]},
    {"id": "earlier", "messages": EARLIER, "expected": [{"tool": "shop/refund"}]},
]
CATALOG = {
    "core": ["desk/clock"],
    "plugins": [
        {"name": "shop", "description": "Orders.", "tools": [
            {"name": "refund", "description": "Refund an order."},
            {"name": "parcel", "description": "Say where a parcel of an order is."},
        ]},
        {"name": "desk", "description": "Answers.", "tools": [
            {"name": "answer", "description": "Answer somebody."},
            {"name": "clock", "description": "Tell the time."},
        ]},
    ],
}  # fmt: skip


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[VendorServer]:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-of-a-test")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-a-test")
    with vendor_server() as running:
        running.answer = search_and_call
        yield running


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in CASES))
    (folder / "catalog.json").write_text(json.dumps(CATALOG))
    models = [{"name": "openai/of-search", "provider": "openai", "api": "responses", "tool_search": True}]
    (tmp_path / "toolbelt.yaml").write_text(json.dumps({"models": models}))
    return tmp_path


def run_search(server: VendorServer, method: str, toolsets: str = "hosted-search:{}", **settings: Any) -> Run:
    api = "messages" if method in ("bm25", "regex") else "responses"
    api_base = server.url if api == "messages" else f"{server.url}/v1"
    return run_eval("shop", MODELS[api], toolsets.format(method), api_base=api_base, store="runs.db", **settings)


def turns(body: Json) -> list[Json]:
    found: list[Json] = body.get("messages") or body["input"]
    return found


METHODS = ["bm25", "regex", "namespaces", "functions"]


@pytest.mark.parametrize("method", METHODS)
def test_S1_a_run_whose_vendor_searches_is_scored_as_one_with_a_search_of_ours(
    server: VendorServer, shop: Path, method: str
) -> None:
    run = run_search(server, method)
    trials = load_run(run.store).set_index("case_id")
    assert list(trials.outcome) == ["correct", "missing_call", "missing_call", "correct"], list(trials.reason)
    assert list(trials.covered) == [True] * 4
    assert list(trials.surfaced) == [True, False, False, True]
    assert list(trials["rank"].dropna()) == [1, 1]
    assert list(trials.requests) == [1, 2, 1, 1]
    [arm] = run.summary.arms
    assert (arm.mean_rank, arm.surfaced.numerator, arm.prompt_tokens_reported) == (1.0, 2, True)


@pytest.mark.parametrize("method", METHODS)
def test_V4_what_the_search_said_goes_back_unchanged(server: VendorServer, shop: Path, method: str) -> None:
    run_search(server, method)
    [after] = [body for body in server.bodies if "refund an order" in str(body) and "ok" in str(turns(body)[-1])]
    first = next(body for body in server.bodies if turns(body) == turns(after)[:1])
    assert after["tools"] == first["tools"]
    said = search_and_call(first)
    if "messages" in after:
        assert turns(after)[1]["content"] == said["content"]
    else:
        assert turns(after)[1:-1] == said["output"]


@pytest.mark.parametrize("method", METHODS)
def test_S3_the_store_has_what_was_found_and_counts_it(server: VendorServer, shop: Path, method: str) -> None:
    run = run_search(server, method)
    with sqlite3.connect(run.store) as connection:
        [(trial,)] = connection.execute("SELECT trial FROM trials WHERE case_id = 'missed'")
        rows = connection.execute(
            "SELECT names, tools, definition_tokens FROM requests JOIN offers USING (offer) WHERE trial = ? "
            "ORDER BY request",
            (trial,),
        ).fetchall()
        [(first, total, invalidated)] = connection.execute(
            "SELECT definition_tokens, definition_tokens_total, invalidated_tokens FROM trials WHERE trial = ?",
            (trial,),
        )
        [(plan,)] = connection.execute("SELECT plan FROM runs")
    [rate] = {(each["fixed"], each["factor"]) for each in json.loads(plan)["token_rates"].values()}
    found = ["refund", "parcel"][: REFERENCES if method != "functions" else 1]
    assert [json.loads(names) for names, *_ in rows] == [["clock"], ["clock", *found]]
    assert [tools for _, tools, _ in rows] == [1, 1 + len(found)]
    alone, expanded = (tokens for *_, tokens in rows)
    assert 0 < alone < expanded
    of_alone, of_expanded = (rate[0] + rate[1] * count for count in (alone, expanded))
    assert first == pytest.approx(of_alone, abs=1)
    assert total == pytest.approx(2 * of_expanded, abs=2), "what was found counts from its request on"
    assert invalidated == 0


@pytest.mark.parametrize("method", ["bm25", "namespaces"])
def test_X3_recorded_searches_are_found_again(server: VendorServer, shop: Path, method: str) -> None:
    first = run_search(server, method, response_cache=("cache.db",))
    asked = len(server.bodies)
    again = run_search(server, method, response_cache=("cache.db",), offline=True)
    assert (len(server.bodies), again.summary.errors) == (asked, 0)
    columns = ["outcome", "surfaced", "rank", "definition_tokens_total"]
    assert load_run(again.store)[columns].equals(load_run(first.id, store=first.store)[columns])
    other = run_search(server, method, "full", response_cache=("cache.db",))
    assert (other.summary.errors, len(server.bodies) > asked) == (0, True), "another request is another key"


def _calls_unseen(body: Json) -> Json:
    """Calls a deferred tool that no search has found."""
    if "messages" in body:
        return message({"type": "tool_use", "id": "t1", "name": "refund", "input": {}}, stop_reason="tool_use")
    call = {"type": "function_call", "id": "f", "call_id": "c", "name": "refund", "arguments": "{}"}
    return response(call | {"namespace": "shop"})


def _fails(body: Json) -> Json:
    """The search of Anthropic's fails."""
    use = {"type": "server_tool_use", "id": "s1", "name": "tool_search_tool_bm25", "input": {"query": "x"}}
    failed = {"type": "tool_search_tool_result_error", "error_code": "unavailable", "error_message": None}
    result = {"type": "tool_search_tool_result", "tool_use_id": "s1", "content": failed}
    return message(use, result, {"type": "text", "text": "No.", "citations": None})


@pytest.mark.parametrize(
    ("method", "answer", "outcome", "dispatched"),
    [
        pytest.param("bm25", _calls_unseen, "unoffered_tool", True, id="messages-unseen"),
        pytest.param("namespaces", _calls_unseen, "unoffered_tool", True, id="responses-unseen"),
        pytest.param("bm25", _fails, "missing_call", False, id="failed"),
        pytest.param("bm25", lambda body: refuse("no"), "error", False, id="refused"),
    ],
)
def test_E4_a_tool_that_no_search_found_was_not_offered(
    server: VendorServer, shop: Path, method: str, answer: Callable[[Json], Json], outcome: str, dispatched: bool
) -> None:
    server.answer = answer
    run = run_search(server, method, limit=1)
    [trial] = load_run(run.store).itertuples()
    assert (trial.outcome, trial.would_dispatch, trial.surfaced) == (outcome, dispatched, False)


def test_S1_one_run_compares_both_vendors_searches_with_ours(server: VendorServer, shop: Path) -> None:
    with pytest.raises(ToolbeltError, match="another vendor's search: for claude-haiku-5-5 write"):
        run_search(server, "bm25", "search,hosted-search:namespaces")
    assert server.bodies == []
    run = run_search(server, "bm25", "search,hosted-search")
    assert [arm.toolset for arm in run.summary.arms][1] == "hosted-search"


@pytest.mark.parametrize("method", ["bm25", "namespaces"])
def test_S3_a_trial_shows_what_each_search_of_the_vendor_found(
    server: VendorServer, shop: Path, method: str, toolbelt: Toolbelt
) -> None:
    run_search(server, method)
    [trial] = toolbelt("eval", "show", "--store", "runs.db", "--case", "missed", "--json").json["trials"]
    assert [request["searches"] for request in trial["requests"]] == [[["refund", "parcel"]], []]
    assert mentions(
        toolbelt("eval", "show", "--store", "runs.db", "--case", "nothing").out, "the vendor's search found nothing"
    )
