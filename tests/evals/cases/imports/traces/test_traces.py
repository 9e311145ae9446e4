"""Each format on a file that its real producer wrote: `record.py` says with which versions."""

from __future__ import annotations

import contextlib
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.evals.cases.imports.samples import answer, bring_in, calling, log, opened, rows, says, user, write
from toolbelt.catalog import Catalog, Plugin, Tool
from toolbelt.errors import InvalidFileError, ToolbeltError
from toolbelt.evals.cases.imports.context import ArgumentPolicy, ImportSettings
from toolbelt.evals.cases.imports.messages import MADE_AGAIN
from toolbelt.evals.cases.imports.openai_log import CORRECTED, IN_A_ROW, OWN_TOOLS_LEFT_OUT, OWN_TOOLS_ONLY
from toolbelt.evals.cases.imports.traces.trace_format import CUT, MAX_ANSWER, MAX_HISTORY, SHORTENED

FIXTURES = Path(__file__).parent / "fixtures"
NUMBER = {"type": "object", "properties": {"number": {"type": "integer"}}}
ORDERS = Catalog(
    plugins=(
        Plugin(name="shop", tools=(Tool(name="find_order", parameters=NUMBER), Tool(name="refund", parameters=NUMBER))),
    )
)
ISSUES = Catalog(
    plugins=(
        Plugin(
            name="github",
            tools=tuple(Tool(name=name) for name in ("create_issue", "search", "delete_milestone", "close_milestone")),
        ),
        Plugin(name="shop", tools=(Tool(name="search"),)),
    )
)
FIRST = "Where is order 12? I am user1@example.com"
KEEP = ImportSettings(arguments=ArgumentPolicy.KEEP)


@pytest.mark.parametrize(
    ("file", "form", "brings_tools"),
    [
        pytest.param("pydantic_ai.json", "pydantic-ai", False, id="pydantic-ai"),
        pytest.param("langchain_dict.json", "langchain", False, id="langchain-messages-to-dict"),
        pytest.param("langchain_dumps.json", "langchain", False, id="langchain-dumps"),
        pytest.param("otlp_openai_v2.jsonl", "otlp", False, id="otlp-of-opentelemetry"),
        pytest.param("otlp_pydantic_ai.jsonl", "otlp", True, id="otlp-of-pydantic-ai"),
        pytest.param("otlp_openllmetry.jsonl", "otlp", True, id="otlp-of-openllmetry"),
        pytest.param("otlp_openllmetry_0_44.jsonl", "otlp", True, id="otlp-of-openllmetry-of-2025"),
        pytest.param("otlp_events.jsonl", "otlp", False, id="otlp-events-of-2024"),
        pytest.param("gemini.jsonl", "gemini", True, id="gemini"),
        pytest.param("ai_sdk_messages.json", "ai-sdk", False, id="ai-sdk"),
        pytest.param("ai_sdk_chat.json", "ai-sdk", False, id="ai-sdk-chat"),
        pytest.param("langsmith.jsonl", "langsmith", True, id="langsmith"),
        pytest.param("langfuse.jsonl", "langfuse", True, id="langfuse"),
    ],
)
def test_V6_a_recorded_conversation_makes_a_draft_of_each_turn(
    tmp_path: Path, file: str, form: str, brings_tools: bool
) -> None:
    catalog = None if brings_tools else ORDERS
    imported = bring_in(tmp_path / "out", str(FIXTURES / file), catalog=catalog, settings=KEEP)
    prefix = "" if brings_tools else "shop/"
    first, second = rows(tmp_path / "out")
    opened(tmp_path / "out")
    assert (imported.form, imported.cases, imported.drafts, imported.tools) == (form, 2, 2, 2)
    assert MADE_AGAIN in imported.notes, "the call for order 21 failed"
    assert (first["query"], first["expected"]) == (FIRST, [{"tool": f"{prefix}find_order", "args": {"number": 12}}])
    assert "order 12 is fine" in first["results"][f"{prefix}find_order"]
    assert second["expected"] == [{"tool": f"{prefix}refund", "args": {"number": 7}}]
    assert second["messages"][-1] == {"role": "user", "content": "Pay order 7 back."}
    calls = [call["function"] for message in second["messages"] for call in message.get("tool_calls", ())]
    assert [(call["name"], json.loads(call["arguments"])["number"]) for call in calls] == [
        ("find_order", 21),
        ("find_order", 12),
    ]
    assert first["cluster"] == second["cluster"]


def test_V6_test_cases_of_deepeval_with_what_was_called(tmp_path: Path) -> None:
    imported = bring_in(tmp_path / "out", str(FIXTURES / "deepeval.json"), catalog=ORDERS, settings=KEEP)
    assert (imported.form, imported.cases, imported.left_out) == ("deepeval", 2, {})
    assert [(row["id"], row["query"], row["expected"]) for row in rows(tmp_path / "out")] == [
        ("deepeval-1", FIRST, [{"tool": "shop/find_order", "args": {"number": 12}}]),
        ("deepeval-2", "Pay order 7 back.", [{"tool": "shop/refund", "args": {"number": 7}}]),
    ]


def test_V6_responses_that_go_on_from_another_have_its_conversation(tmp_path: Path) -> None:
    chain = bring_in(tmp_path / "chain", str(FIXTURES / "responses_chain.jsonl"))
    whole = bring_in(tmp_path / "whole", str(FIXTURES / "responses.jsonl"))
    assert (chain.form, chain.cases, chain.left_out, whole.cases) == ("openai", 5, {}, 5)
    without_place = [[{**row, "note": ""} for row in rows(tmp_path / name)] for name in ("chain", "whole")]
    assert [(row["expected"], len(row.get("messages", ()))) for row in without_place[0]] == [
        (row["expected"], len(row.get("messages", ()))) for row in without_place[1]
    ]


def test_V6_a_session_of_claude_code_over_the_tools_of_its_servers(tmp_path: Path) -> None:
    imported = bring_in(tmp_path / "out", str(FIXTURES / "claude_code.jsonl"), catalog=ISSUES, settings=KEEP)
    opened(tmp_path / "out")
    found = {row["id"].rpartition("/")[2]: row for row in rows(tmp_path / "out")}
    assert (imported.form, imported.left_out) == ("claude-code", {OWN_TOOLS_ONLY: 1})
    assert OWN_TOOLS_LEFT_OUT in imported.notes
    issue = {"tool": "github/create_issue", "args": {"title": "Login broken for user1@example.com", "repo": "shop"}}
    assert found["1"]["query"] == "Open an issue: the login button of user1@example.com is broken. Token REDACTED-1"
    assert found["1"]["expected"] == [issue]
    refused, corrected = found["2"], found["5"]
    assert (refused["expected"], refused["forbidden"]) == (None, ["github/delete_milestone"])
    assert (corrected["expected"], corrected["forbidden"], corrected["tags"]) == (
        None,
        ["github/search"],
        ["corrected"],
    )
    assert [call["tool"] for key in ("3", "6") for call in found[key]["expected"]] == [
        "github/close_milestone",
        "shop/search",
    ]
    called = [call["function"]["name"] for each in found["6"]["messages"] for call in each.get("tool_calls", ())]
    assert called == ["create_issue", "create_issue", "delete_milestone", "close_milestone", "github__search"]


def test_V6_a_session_of_codex_without_the_turn_that_was_taken_back(tmp_path: Path) -> None:
    imported = bring_in(tmp_path / "out", str(FIXTURES / "codex.jsonl"), catalog=ISSUES, settings=KEEP)
    first, second = rows(tmp_path / "out")
    assert (imported.form, imported.left_out) == ("codex", {})
    assert first["query"] == "Open an issue about /home/user/shop/login.py."
    assert first["expected"] == [{"tool": "github/create_issue", "args": {"title": "Login", "repo": "shop"}}]
    assert second["expected"] == [{"tool": "github/close_milestone", "args": {"number": 3}}]
    assert "Delete" not in json.dumps(second)


def test_V6_a_session_without_its_tools_names_what_has_them(tmp_path: Path) -> None:
    with pytest.raises(InvalidFileError, match=r"toolbelt catalog import \.mcp\.json"):
        bring_in(tmp_path / "out", str(FIXTURES / "claude_code.jsonl"))
    assert not (tmp_path / "out").exists()


def _event(number: int, kind: str, content: Any, **fields: Any) -> dict[str, Any]:
    message = {"role": kind, "content": content, **({"id": f"m{number}"} if kind == "assistant" else {})}
    event = {"type": kind, "sessionId": "s", "uuid": f"u{number}", "parentUuid": f"u{number - 1}", "message": message}
    return event | fields


def _use(number: int, name: str, **arguments: Any) -> list[dict[str, Any]]:
    return [{"type": "tool_use", "id": f"t{number}", "name": name, "input": arguments}]


def _result(number: int, text: str) -> list[dict[str, Any]]:
    return [{"type": "tool_result", "tool_use_id": f"t{number}", "content": text}]


def test_V6_calls_of_one_tool_in_a_row_count_once(tmp_path: Path) -> None:
    events = [_event(1, "user", "Close everything.")]
    for number, name in enumerate(["search", "search", "search", "close_milestone", "close_milestone"], start=2):
        events += [_event(2 * number, "assistant", _use(number, f"mcp__github__{name}", n=number))]
        events += [_event(2 * number + 1, "user", _result(number, "ok"))]
    imported = bring_in(tmp_path / "out", write(tmp_path / "s.jsonl", events), catalog=ISSUES)
    (row,) = rows(tmp_path / "out")
    assert [call["tool"] for call in row["expected"]] == ["github/search", "github/close_milestone"]
    assert row["match"] == "in_order"
    assert IN_A_ROW in imported.notes
    bring_in(tmp_path / "kept", write(tmp_path / "s.jsonl", events), catalog=ISSUES, settings=KEEP)
    (row,) = rows(tmp_path / "kept")
    assert (len(row["expected"]), row["match"]) == (5, "ordered")


def test_V6_an_answer_without_its_call_and_a_call_without_an_answer_lose_no_turn(tmp_path: Path) -> None:
    events = [
        _event(1, "user", _result(9, "the call was before the summary")),
        _event(2, "user", "Search it."),
        _event(3, "assistant", _use(1, "mcp__shop__search")),
        _event(4, "user", "Are you there? Open an issue."),
        _event(5, "assistant", _use(2, "mcp__github__create_issue")),
        _event(6, "user", _result(2, "done")),
    ]
    imported = bring_in(tmp_path / "out", write(tmp_path / "s.jsonl", events), catalog=ISSUES)
    expected = [[call["tool"] for call in row["expected"]] for row in rows(tmp_path / "out")]
    assert (expected, imported.left_out) == ([["shop/search"], ["github/create_issue"]], {})


def test_V6_a_record_of_another_shape_does_not_refuse_the_others(tmp_path: Path) -> None:
    lines = (FIXTURES / "gemini.jsonl").read_text(encoding="utf-8").splitlines()
    broken = json.loads(lines[0])
    broken["contents"] = [{"role": "user", "parts": [5]}]
    imported = bring_in(tmp_path / "out", write(tmp_path / "g.jsonl", [json.dumps(broken), *lines]))
    assert (imported.cases, [finding.rule for finding in imported.broken]) == (2, ["wrong-type"])


def test_V6_a_long_history_and_a_long_answer_are_cut(tmp_path: Path) -> None:
    events = []
    for number in range(1, 30):
        events.append(_event(10 * number, "user", f"Search {number}. {'x' * 2000}"))
        events.append(_event(10 * number + 1, "assistant", _use(number, "mcp__shop__search")))
        events.append(_event(10 * number + 2, "user", _result(number, "y" * 9000)))
        events.append(_event(10 * number + 3, "assistant", [{"type": "text", "text": "Found."}]))
    imported = bring_in(tmp_path / "out", write(tmp_path / "s.jsonl", events), catalog=ISSUES)
    last = rows(tmp_path / "out")[-1]
    assert {note.partition(" (")[0] for note in imported.notes[1:]} == {SHORTENED, CUT}
    assert len(json.dumps(last["messages"])) <= MAX_HISTORY + 1000
    assert last["messages"][0]["role"] == "user"
    assert last["messages"][-1]["content"].startswith("Search 29.")
    assert last["results"]["shop/search"] == "y" * MAX_ANSWER + "\n[truncated — 9000 chars total]"


@pytest.mark.parametrize(
    ("words", "is_correction"),
    [
        ("No, I meant the orders.", True),
        ("no not that one", True),
        ("That's wrong, search orders", True),
        ("I didn't ask for issues", True),
        ("Wrong repository", True),
        ("Stop.", True),
        ("Nein, die Bestellungen", True),
        ("No problem, thanks!", False),
        ("no thanks", False),
        ("Not bad! Next: orders", False),
        ("Now search orders", False),
        ("Stop the server", False),
        ("Note that I like it", False),
    ],
)
def test_E3_a_correction_by_the_user_makes_a_negative(tmp_path: Path, words: str, is_correction: bool) -> None:
    record = log(
        user("Weather in Oslo?"),
        calling("get_weather"),
        answer(0, "4"),
        says(),
        user(words),
        calling("send_mail", start=1),
    )
    bring_in(tmp_path / "out", write(tmp_path / "log.jsonl", [record]))
    first, second = rows(tmp_path / "out")
    assert first["expected"] == (None if is_correction else [{"tool": "get_weather"}])
    assert first.get("forbidden") == (["get_weather"] if is_correction else None)
    assert second["expected"] == [{"tool": "send_mail"}]


def test_E3_a_correction_of_no_call_or_of_arguments_drops_the_case(tmp_path: Path) -> None:
    silent = log(user("Weather in Oslo?"), says("Fine."), user("No, look it up!"), calling("get_weather", city="Oslo"))
    first_turn = [user("Mail Bob."), calling("send_mail", to="Bo"), answer(0, "ok"), says()]
    again = log(*first_turn, user("No, to Bob!"), calling("send_mail", start=1))
    imported = bring_in(tmp_path / "out", write(tmp_path / "log.jsonl", [silent, again]))
    assert imported.left_out == {CORRECTED: 2}
    assert [row["expected"] for row in rows(tmp_path / "out")] == [[{"tool": "get_weather"}], [{"tool": "send_mail"}]]


@pytest.mark.parametrize("file", sorted(path.name for path in FIXTURES.iterdir()))
def test_V6_a_file_that_ends_early_ends_the_import_in_order(tmp_path: Path, file: str) -> None:
    """Whatever is cut off: cases, or a message on what is wrong."""
    text = (FIXTURES / file).read_text(encoding="utf-8")
    for share in (0.2, 0.5, 0.8):
        source = tmp_path / file
        source.write_text(text[: int(len(text) * share)], encoding="utf-8")
        shutil.rmtree(tmp_path / "out", ignore_errors=True)
        catalog = ISSUES if file in ("claude_code.jsonl", "codex.jsonl") else ORDERS
        with contextlib.suppress(ToolbeltError):
            bring_in(tmp_path / "out", str(source), catalog=catalog)
