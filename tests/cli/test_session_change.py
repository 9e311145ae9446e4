"""`toolbelt session load`, `unload` and `reset` (rules D3, D5)."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Ran, Toolbelt
from tests.cli.test_session_show import AGENTS, STORE, keep
from tests.wording import mentions
from toolbelt.stores.sessions import SqliteSessionStore

CLERK = ("--agent", "clerk", "--session", "s")


@pytest.fixture(autouse=True)
def _project(small: Path) -> None:
    (small / "toolbelt.yaml").write_text(AGENTS)


def kept(agent: str = "clerk", session: str = "s") -> tuple[str, ...] | None:
    state = SqliteSessionStore(STORE).read(agent, session)
    return None if state is None else state.loaded


def test_D3_what_is_loaded_is_kept_and_said(toolbelt: Toolbelt) -> None:
    ran = toolbelt("session", "load", "vcs", *CLERK)
    assert (ran.code, ran.err) == (0, "")
    assert mentions(ran.out, "loaded", "vcs", "clerk", "s", "next turn", "git/status, git/push")
    assert kept() == ("vcs", "money")
    ran = toolbelt("session", "load", "vcs", *CLERK)
    assert ran.code == 0
    assert mentions(ran.out, "vcs", "clerk", "s", "already", "nothing was changed")
    ran = toolbelt("session", "unload", "vcs", *CLERK)
    assert mentions(ran.out, "unloaded", "vcs", "clerk", "s", "next turn", "git/status, git/push")
    assert kept() == ("money",)
    ran = toolbelt("session", "unload", "vcs", *CLERK)
    assert ran.code == 0
    assert mentions(ran.out, "vcs", "not loaded", "clerk", "s", "nothing was changed")


ANSWERS: dict[str, tuple[list[str], int, str, tuple[str, ...] | None]] = {
    "loaded": (["load", "boxes"], 0, "loaded", ("money", "boxes")),
    "already-loaded": (["load", "money"], 0, "already_loaded", None),
    "unloaded-nothing": (["unload", "boxes"], 0, "not_loaded", None),
    "sticky": (["unload", "money"], 2, "sticky", None),
    "unknown": (["load", "boxs"], 2, "unknown", None),
    "unknown-to-unload": (["unload", "zap"], 2, "unknown", None),
}


@pytest.mark.parametrize(("arguments", "code", "status", "after"), ANSWERS.values(), ids=ANSWERS)
def test_D3_the_answer_is_that_of_the_meta_tool(
    toolbelt: Toolbelt, arguments: list[str], code: int, status: str, after: tuple[str, ...] | None
) -> None:
    ran = toolbelt("session", *arguments, *CLERK, "--json")
    assert (ran.code, ran.json["status"], ran.json["tool"]) == (code, status, "dynamic_tools")
    assert list(ran.json) == sorted(ran.json)
    assert kept() == after
    assert bool(ran.err) is (code != 0)
    if status == "loaded":
        assert ran.json["takes_effect"] == "next_request"


REFUSED: dict[str, tuple[list[str], str]] = {
    "unknown-names-the-nearest": (["load", "boxs", *CLERK], "No toolkit named 'boxs'. Did you mean 'boxes'?"),
    "not-allowed": (
        ["load", "vcs", "--agent", "guard", "--session", "s"],
        "Toolkit 'vcs' is not among the allowed_toolkits of agent 'guard'. It may load none.",
    ),
    "sticky": (
        ["unload", "money", *CLERK],
        "'money' is among the initial_toolkits of agent 'clerk', so it",
    ),
    "conflict": (
        ["load", "other", *CLERK],
        """'vcs' and it give 'git/push' different overrides: {"remote": "origin"} there, {"remote": "fork"} here.""",
    ),
    "no-session": (["load", "boxes", "--agent", "clerk", "--session", " "], "--session may not be blank."),
    "no-such-agent": (["load", "vcs", "--agent", "guards", "--session", "s"], "Did you mean 'guard'?"),
    "no-such-agent-to-reset": (["reset", "--agent", "guards", "--session", "s"], "Did you mean 'guard'?"),
}


@pytest.mark.parametrize(("arguments", "message"), REFUSED.values(), ids=REFUSED)
def test_D3_what_changes_nothing_by_a_mistake_is_2(toolbelt: Toolbelt, arguments: list[str], message: str) -> None:
    keep("clerk", "s", "vcs")
    ran = toolbelt("session", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err
    assert kept() == ("vcs",)
    assert SqliteSessionStore(STORE).sessions() == [("clerk", "s")]


@pytest.mark.parametrize("command", ["load", "unload", "reset"])
def test_agent_and_session_have_to_be_said(toolbelt: Toolbelt, command: str) -> None:
    toolkit = [] if command == "reset" else ["vcs"]
    for missing in (CLERK[:2], CLERK[2:]):
        ran = toolbelt("session", command, *toolkit, *missing)
        assert (ran.code, ran.out) == (2, "")
        assert "Missing option" in ran.err
    assert not STORE.exists()


def test_D5_what_is_dropped_is_warned_of_and_forgotten(toolbelt: Toolbelt) -> None:
    keep("clerk", "s", "vcs", "zap", "other")
    ran = toolbelt("session", "load", "boxes", *CLERK)
    assert ran.code == 0
    assert [line.split(":")[0] for line in ran.err.splitlines()] == ["warning", "warning"]
    assert "'zap' is no longer there" in ran.err
    assert kept() == ("vcs", "money", "boxes")
    data = toolbelt("session", "show", *CLERK, "--json").json
    assert data["stored"] == ["vcs", "money", "boxes"]
    assert [row["toolkit"] for row in data["loaded"]] == ["vcs", "money", "boxes"]
    assert data["dropped"] == []
    assert toolbelt("session", "reset", *CLERK).code == 0
    assert kept() is None


def test_D5_reset_says_whether_there_was_anything(toolbelt: Toolbelt) -> None:
    assert mentions(toolbelt("session", "reset", *CLERK).out, "nothing", "clerk", "s")
    assert not STORE.exists()
    keep("clerk", "s", "vcs")
    keep("clerk", "t", "vcs")
    ran = toolbelt("session", "reset", *CLERK)
    assert (ran.code, ran.err) == (0, "")
    assert mentions(ran.out, "forgot", "clerk", "s", "money")
    assert (kept(), kept(session="t")) == (None, ("vcs",))
    again = toolbelt("session", "reset", *CLERK, "--json")
    assert (again.code, again.json) == (0, {"agent": "clerk", "session": "s", "reset": False})


def test_C_a_reset_by_the_environment_names_what_it_forgot(toolbelt: Toolbelt, monkeypatch: pytest.MonkeyPatch) -> None:
    keep("clerk", "s", "vcs")
    monkeypatch.setenv("TOOLBELT_AGENT", "clerk")
    monkeypatch.setenv("TOOLBELT_SESSION", "s")
    assert "environment" in toolbelt("session", "reset", "--help").out
    assert mentions(toolbelt("session", "reset").out, "forgot", "clerk", "s")
    assert kept() is None
    assert toolbelt("session", "reset", "--json").json == {"agent": "clerk", "session": "s", "reset": False}


def test_D5_what_an_agent_left_behind_that_is_there_no_more_can_be_reset(toolbelt: Toolbelt) -> None:
    keep("old", "s", "vcs")
    assert toolbelt("session", "reset", "--agent", "old", "--session", "s", "--json").json["reset"] is True
    assert toolbelt("session", "reset", "--agent", "old", "--session", "s").code == 2


def test_many_tools_are_counted_rather_than_named(toolbelt: Toolbelt, small: Path) -> None:
    (small / "toolbelt.yaml").write_text(
        "catalog: tiered\ntoolkits: {much: {tools: [system]}}\nagents: {clerk: {allowed_toolkits: [much]}}\n"
    )
    assert mentions(toolbelt("session", "load", "much", *CLERK).out, "28 tools")
    assert len(toolbelt("session", "unload", "much", *CLERK, "--json").json["tools"]) == 28


def test_D6_entries_that_the_catalog_does_not_have_are_told_and_conflict_all_the_same(
    toolbelt: Toolbelt, small: Path
) -> None:
    (small / "toolbelt.yaml").write_text(
        "toolkits: {one: {tools: [own]}, two: {tools: [own: {x: 1}]}}\n"
        "agents: {clerk: {allowed_toolkits: [one, two]}}\n"
    )
    ran = toolbelt("session", "load", "one", *CLERK)
    assert mentions(ran.out, "no tools")
    assert mentions(ran.err, "warning", "not in catalog", "own")
    ran = toolbelt("session", "load", "two", *CLERK)
    assert (ran.code, kept()) == (2, ("one",))
    assert mentions(ran.err, "'own'", "different overrides")


def test_K8_what_is_switched_off_is_refused_and_shown_nowhere(toolbelt: Toolbelt, small: Path) -> None:
    (small / "toolbelt.yaml").write_text(AGENTS.replace("[money]\n", "[money]\n    tools_config: {vcs: false}\n", 1))
    keep("clerk", "s", "vcs")
    data = toolbelt("session", "show", *CLERK, "--json").json
    assert [row["toolkit"] for row in data["dropped"]] == ["vcs"]
    assert not {"vcs"} & {row["toolkit"] for row in (*data["loaded"], *data["not_loaded"], *data["tools"])}
    ran = toolbelt("session", "load", "vcs", *CLERK)
    assert ran.code == 2
    assert mentions(ran.err, "'vcs'", "switched off", "tools_config", "'clerk'", "money")


def test_K8_what_is_switched_on_is_shown_by_every_command(toolbelt: Toolbelt, small: Path) -> None:
    (small / "toolbelt.yaml").write_text(
        "catalog: small.yaml\ntoolkits: {vcs: {description: Git., tools: [git]}}\n"
        "agents: {clerk: {tools_config: {vcs: true, git/push: false, payments/pay: true}}}\n"
    )
    data = toolbelt("session", "show", *CLERK, "--json").json
    assert [(row["tool"], row["toolkit"]) for row in data["tools"]] == [("payments/pay", None), ("git/status", "vcs")]
    resolved = toolbelt("toolkit", "resolve", "--agent", "clerk", "--json").json["tools"]
    assert [row["id"] for row in resolved if row["enabled"]] == ["git/status"], "of the toolkits"


def _spawned(*arguments: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "toolbelt", "session", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def _ended(process: subprocess.Popen[bytes]) -> Ran:
    out, err = process.communicate(timeout=60)
    return Ran(process.returncode, out.decode(), err.decode())


def test_D5_processes_that_load_at_once_lose_nothing() -> None:
    started = [_spawned("load", name, *CLERK) for name in ("vcs", "boxes", "vcs")]
    ended = [_ended(process) for process in started]
    assert [(ran.code, ran.err) for ran in ended] == [(0, "")] * 3
    assert kept() == ("vcs", "money", "boxes")


def test_D6_of_two_processes_that_collide_exactly_one_wins() -> None:
    started = [_spawned("load", name, *CLERK, "--json") for name in ("vcs", "other")]
    ended = [_ended(process) for process in started]
    assert sorted((ran.code, ran.json["status"]) for ran in ended) == [(0, "loaded"), (2, "conflict")]
    assert kept() in (("vcs", "money"), ("money", "other"))


def test_E9_a_store_that_cannot_be_made_is_3(toolbelt: Toolbelt, small: Path) -> None:
    ran = toolbelt("session", "load", "vcs", *CLERK, "--session-store", "small.yaml/sessions.db")
    assert (ran.code, ran.out) == (3, "")
    assert "cannot be used" in ran.err


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_E9_a_folder_that_may_not_be_written_to_is_3(toolbelt: Toolbelt, small: Path) -> None:
    (small / "ro").mkdir()
    (small / "ro").chmod(stat.S_IRUSR | stat.S_IXUSR)
    ran = toolbelt("session", "load", "vcs", *CLERK, "--session-store", "ro/sessions.db")
    assert (ran.code, ran.out) == (3, "")
    assert "cannot be used" in ran.err


EVIL = "\x1b[31m\x9b2J\u202e\u200b"


def test_escapes_in_names_are_made_visible(toolbelt: Toolbelt, small: Path) -> None:
    agent, toolkit, tool = (f"{name}{EVIL}" for name in ("agent", "kit", "tool"))
    (small / "toolbelt.yaml").write_text(
        json.dumps(
            {
                "catalog": "small.yaml",
                "toolkits": {
                    toolkit: {
                        "description": EVIL,
                        "label": EVIL,
                        "tools": [{tool: {"k": EVIL}}],
                        "policy": {"text": f"p{EVIL}", "tools": {tool: EVIL}},
                        "directive": [{"when": f"w{EVIL}", "tool_choice": tool}],
                    },
                    f"{toolkit}2": {"tools": [{tool: {"k": "v"}}]},
                },
                "agents": {agent: {"tools": ["git"], "allowed_toolkits": [toolkit, f"{toolkit}2"]}},
            }
        )
    )
    (small / "c.json").write_text(json.dumps({toolkit: True, f"x{EVIL}": True}))
    who = ["--agent", agent, "--session", f"s{EVIL}"]
    commands = [
        ["session", "load", toolkit, *who],
        ["session", "load", f"{toolkit}2", *who],
        ["session", "load", f"{toolkit}3", *who],
        ["session", "show"],
        ["session", "show", *who],
        ["session", "unload", toolkit, *who],
        ["session", "reset", *who],
        ["session", "show", "--agent", f"x{EVIL}"],
        ["toolkit", "list"],
        ["toolkit", "inspect", toolkit],
        ["toolkit", "resolve", "--tools-config", "c.json", "--message", f"w{EVIL}"],
    ]
    for arguments in commands:
        for flags in ([], ["--json"]):
            ran = toolbelt(*arguments, *flags)
            assert ran.code in (0, 2), ran.err
            assert ran.out + ran.err
            assert not set("\x1b\x9b\u202e\u200b") & set(ran.out + ran.err), arguments
