"""`toolbelt eval run --toolset dynamic`: what is loaded comes with the user's next message (rules D4, E1, E6, E8)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Toolbelt
from tests.evals.cli.test_eval_run import CASES, RUN, write_dataset
from tests.servers.running import OpenAIServer
from tests.wording import mentions

CONFIG = """\
toolkits:
  payments:
    description: Paying and being paid.
    tools: [till]
  letters:
    description: Letters and parcels by post.
    tools: [mail, fax]
agents:
  clerk:
    tools: [till/invoice]
    allowed_toolkits: [payments, letters]
    initial_toolkits: [payments]
  guard:
    tools: [gate]
"""
ASKING = "CALL send_letter {}\nTOOLKIT post\nPlease do what is said above."


@pytest.fixture
def office(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_dataset(tmp_path / "office", CASES)
    (tmp_path / "toolbelt.yaml").write_text(CONFIG)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_E1_the_baseline_completes_it_and_pays_for_both_turns(toolbelt: Toolbelt, office: Path) -> None:
    ran = toolbelt(*RUN, "--toolset", "full,tiered,dynamic")
    assert ran.code == 0, ran.err
    full, tiered, dynamic = ran.json["arms"]
    assert dynamic["accuracy"]["numerator"] == tiered["accuracy"]["numerator"] == 3
    assert dynamic["coverage"]["value"] == 1.0
    assert dynamic["requests"] > tiered["requests"] > full["requests"], "the turn's end is a request of its own"
    assert ran.json["errors"] == 0


def test_D1_an_agent_of_the_project_is_an_arm(toolbelt: Toolbelt, office: Path) -> None:
    ran = toolbelt(*RUN, "--toolset", "dynamic:Clerk")
    assert ran.code == 0, ran.err
    [arm] = ran.json["arms"]
    assert (arm["toolset"], arm["accuracy"]["numerator"]) == ("dynamic:clerk", 3)
    assert mentions(ran.err, "dynamic:clerk", "fax", "letters")
    both = toolbelt(*RUN, "--toolset", "dynamic:*", "--variant", "plain,shuffled")
    assert [one["toolset"] for one in both.json["arms"]] == ["dynamic:clerk"] * 2
    assert both.err.count("'fax' of toolkit 'letters'") == 1, "what is of both arms is told once"


@pytest.mark.parametrize(
    ("toolset", "named"),
    [
        ("dynamic:clark", "Did you mean 'clerk'"),
        ("dynamic:guard", ("guard", "office")),
        ("clerk", "write 'dynamic:clerk'"),
        ("dynamic:", "write 'dynamic' or 'dynamic:AGENT'"),
    ],
)
def test_E9_what_cannot_be_used_is_told(toolset: str, named: object, toolbelt: Toolbelt, office: Path) -> None:
    ran = toolbelt(*RUN, "--toolset", toolset)
    assert (ran.code, ran.out) == (2, "")
    assert mentions(ran.err, named)


@pytest.mark.parametrize(
    ("choice", "toolset", "told"),
    [("required", "dynamic", True), ("refund", "dynamic:clerk", True), ("auto", "dynamic", False),
     ("none", "dynamic", False), ("required", "tiered", False)],
)  # fmt: skip
def test_D4_a_tool_choice_under_which_no_turn_ends_is_told(
    choice: str, toolset: str, told: bool, toolbelt: Toolbelt, office: Path
) -> None:
    ran = toolbelt(*RUN, "--toolset", toolset, "--tool-choice", choice)
    assert ran.code == 0, ran.err
    assert (mentions(ran.err, toolset, choice)) is told


def test_E6_a_dry_run_counts_the_second_turn(toolbelt: Toolbelt, office: Path) -> None:
    ran = toolbelt(*RUN, "--model", "gpt-4o-mini", "--toolset", "full,dynamic,dynamic:clerk", "--dry-run")
    assert ran.code == 0, ran.err
    full, dynamic, clerk = ran.json["arms"]
    assert dynamic["requests"] > clerk["requests"] >= full["requests"] >= 3


def test_E6_a_dry_run_counts_the_words_that_end_a_turn(toolbelt: Toolbelt, office: Path) -> None:
    [arm] = toolbelt(*RUN, "--toolset", "oracle", "--case", "chat-1", "--dry-run").json["arms"]
    assert arm["requests"] == 1
    assert arm["completion_tokens"] > 5, "'I have no tool for that.'"


@pytest.mark.parametrize(
    ("toolset", "code"),
    [pytest.param("dynamic:clerk", 2, id="its-agent"), pytest.param("dynamic", 0, id="of-no-agent")],
)
def test_E8_a_run_is_not_taken_up_with_other_toolkits(
    toolset: str, code: int, toolbelt: Toolbelt, office: Path
) -> None:
    assert toolbelt(*RUN, "--toolset", toolset, "--max-requests", "1").code == 3
    (office / "toolbelt.yaml").write_text(CONFIG.replace("[mail, fax]", "[mail]"))
    ran = toolbelt("eval", "resume", "--max-requests", "100")
    assert ran.code == code, ran.err
    assert ("agent or toolkit, changed since" in ran.err) == (code == 2)


def test_E8_a_run_cut_off_anywhere_ends_as_one_that_was_not(toolbelt: Toolbelt, office: Path) -> None:
    whole = toolbelt(*RUN, "--toolset", "dynamic", "--case", "parcel-1").json["arms"][0]
    assert whole["requests"] == 4
    toolbelt(*RUN, "--toolset", "dynamic", "--case", "parcel-1", "--max-requests", "1")
    for most in "234":
        last = toolbelt("eval", "resume", "--max-requests", most, "--json")
        assert (last.code == 0) == (most == "4")
    [arm] = last.json["arms"]
    assert (last.code, arm["requests"], arm["accuracy"]["numerator"]) == (0, 4, 1)
    assert arm["definition_tokens"] == whole["definition_tokens"]


def test_D4_over_the_wire_the_user_says_go_ahead_and_only_then_there_are_the_tools(
    toolbelt: Toolbelt, office: Path, openai_server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    case: dict[str, Any] = {"id": "letter-1", "query": ASKING, "expected": [{"tool": "send_letter"}], "kind": "single"}
    (office / "office" / "cases.jsonl").write_text(json.dumps(case) + "\n")
    model = "openai/dynamic@eval-dynamic"
    ran = toolbelt(*RUN, "--model", model, "--toolset", "dynamic", "--api-base", openai_server.url)
    assert ran.code == 0, ran.err
    [arm] = ran.json["arms"]
    assert (arm["accuracy"]["numerator"], arm["requests"]) == (1, 4)
    bodies = [request["body"] for request in openai_server.requests("dynamic@eval-dynamic")]
    tools = [[tool["function"]["name"] for tool in body["tools"]] for body in bodies]
    meta = ["list_toolkits", "load_tools", "unload_tools"]
    assert tools == [meta, meta, meta, [*meta, "send_letter", "track_parcel"]]
    assert [body["messages"][-1]["role"] for body in bodies] == ["user", "tool", "tool", "user"]
    assert bodies[-1]["messages"][-1]["content"] == "Go ahead."
    assert bodies[-1]["messages"][-2]["content"].startswith("I have loaded post")


def test_D4_what_is_shown_of_a_case_tells_the_turns_apart(toolbelt: Toolbelt, office: Path) -> None:
    toolbelt(*RUN, "--toolset", "full,dynamic", "--case", "parcel-1")
    shown = toolbelt("eval", "show", "--case", "parcel-1").out
    _, _, dynamic = shown.partition("local/bm25 · dynamic\n")
    lines = [line for line in dynamic.splitlines() if line]
    assert [line.partition(" ")[0] for line in lines] == ["1.", "2.", "3.", "user:", "4.", "correct:"]
    assert lines[3] == "user: Go ahead. (turn 2)"
    full, dynamic_data = toolbelt("eval", "show", "--case", "parcel-1", "--json").json["trials"]
    assert [(one["turn"], one["follow_up"]) for one in full["requests"]] == [(1, "")]
    assert [(one["turn"], one["follow_up"]) for one in dynamic_data["requests"]] == [
        (1, ""),
        (1, ""),
        (1, "Go ahead."),
        (2, ""),
    ]
