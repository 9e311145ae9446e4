"""Answers that the token limit cut, from a real server: from the run to every report (rule E4)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Toolbelt
from tests.servers.running import OpenAIServer

TOOLS = [
    {
        "name": "refund",
        "description": "Pay back.",
        "parameters": {"type": "object", "properties": {"order": {"type": "string"}}, "required": ["order"]},
    },
    {"name": "parcel", "description": "Say where a parcel is."},
]
LIMIT = 64


def reply(
    *arguments: str, text: str | None = None, finish: str = "length", tokens: int = 20, tool: str = "refund"
) -> dict[str, Any]:
    """An answer with a call for each of `arguments`."""
    calls = [
        {"id": f"call_{n}", "type": "function", "function": {"name": tool, "arguments": written}}
        for n, written in enumerate(arguments)
    ]
    message = {"role": "assistant", "content": text, **({"tool_calls": calls} if calls else {})}
    usage = {"prompt_tokens": 300, "completion_tokens": tokens, "total_tokens": 300 + tokens}
    choice = {"index": 0, "message": message, "finish_reason": finish}
    return {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}


WHOLE, UNFINISHED = '{"order": "A-1"}', '{"order": "A-'
CASES: dict[str, tuple[dict[str, Any], list[dict[str, Any]], str]] = {
    "text-cut-where-nothing-was-right": (reply(text="Let me think about"), [], "truncated"),
    "nothing-came-of-a-long-thought": (reply(tokens=LIMIT), [{"tool": "refund"}], "truncated"),
    "the-server-dropped-the-call": (reply(text="<tool_call>{"), [{"tool": "refund"}], "truncated"),
    "a-call-that-is-no-json": (reply(UNFINISHED), [{"tool": "refund"}], "truncated"),
    "a-call-that-the-server-closed": (reply("{}"), [{"tool": "refund"}], "truncated"),
    "another-reason-is-given": (
        reply(UNFINISHED, finish="tool_calls", tokens=LIMIT),
        [{"tool": "refund"}],
        "truncated",
    ),
    "the-second-of-two": (reply(WHOLE, UNFINISHED), [{"tool": "refund"}, {"tool": "refund"}], "truncated"),
    "an-invented-tool-before": (reply(UNFINISHED, tool="nonsense"), [{"tool": "refund"}], "truncated"),
    "a-whole-call": (reply(WHOLE), [{"tool": "refund"}], "correct"),
    "a-whole-call-without-arguments": (reply("", tool="parcel"), [{"tool": "parcel"}], "correct"),
    "no-json-though-there-was-room": (
        reply(UNFINISHED, finish="tool_calls"),
        [{"tool": "refund"}],
        "invalid_arguments",
    ),
    "a-whole-text-of-just-as-many-tokens": (reply(text="Nothing to do.", finish="stop", tokens=LIMIT), [], "correct"),
}
CUT = sum(outcome == "truncated" for *_, outcome in CASES.values())


@pytest.fixture
def shop(project: Path) -> Path:
    (project / "shop").mkdir()
    catalog = {"name": "shop", "plugins": [{"name": "shop", "tools": TOOLS}]}
    (project / "shop" / "catalog.json").write_text(json.dumps(catalog))
    cases = [
        {"id": name, "query": json.dumps({"body": body}), "expected": expected}
        for name, (body, expected, _) in CASES.items()
    ]
    (project / "shop" / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))
    return project


def test_E4_an_answer_cut_before_its_calls_were_complete_is_truncated_and_reported(
    toolbelt: Toolbelt, shop: Path, openai_server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none-needed")
    asked = ("-d", "shop", "-t", "full", "-m", "openai/raw@cut", "--api-base", openai_server.url)
    ran = toolbelt("eval", "run", *asked, "--max-tokens", str(LIMIT), "--json", "--report", "out")
    assert ran.code == 0, ran.err
    shown = {
        name: [trial["outcome"] for trial in toolbelt("eval", "show", "--case", name, "--json").json["trials"]]
        for name in CASES
    }
    assert shown == {name: [outcome] for name, (*_, outcome) in CASES.items()}
    [arm] = ran.json["arms"]
    assert (arm["truncated"]["numerator"], arm["truncated"]["denominator"]) == (CUT, len(CASES))
    assert arm["abstention"]["numerator"] == 1, "a cut text is never a correct abstention"
    assert arm["scored"] == len(CASES)
    count = f"{CUT} of {len(CASES)} trials of openai/raw@cut · full. Raise --max-tokens above {LIMIT}."
    [folder] = (shop / "out").iterdir()
    for text in (
        " ".join(toolbelt("eval", "show").out.split()),
        (folder / "report.html").read_text(),
        (folder / "report.md").read_text().replace("\\", ""),
    ):
        assert count in text
