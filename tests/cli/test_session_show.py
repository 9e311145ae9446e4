"""`toolbelt session show` (rules D5, D6)."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Toolbelt
from tests.wording import mentions
from toolbelt.stores.sessions import DEFAULT_FILE, SqliteSessionStore

STORE = DEFAULT_FILE
AGENTS = """\
catalog: small.yaml
toolkits:
  vcs: {description: Version control, tools: [git: {remote: origin}]}
  money: {description: Paying people, tools: [payments, bank]}
  boxes: {description: Containers, tools: [docker]}
  other: {description: Version control elsewhere, tools: [git/push: {remote: fork}]}
agents:
  clerk:
    tools: [file]
    allowed_toolkits: [vcs, money, boxes, other]
    initial_toolkits: [money]
  guard: {tools: [docker/status]}
"""


@pytest.fixture(autouse=True)
def _project(small: Path) -> None:
    (small / "toolbelt.yaml").write_text(AGENTS)


def keep(agent: str, session: str, *loaded: str) -> None:
    assert SqliteSessionStore(STORE).write(agent, session, loaded, None)


UNCOUNTED = "warning: not in catalog 'small', so not counted: bank\n"


def test_D5_what_an_agent_has(toolbelt: Toolbelt, expected: Callable[[str], str]) -> None:
    keep("clerk", "s", "vcs", "zap", "other", "money")
    ran = toolbelt("session", "show", "--agent", "clerk", "--session", "s")
    assert (ran.code, ran.out, ran.err) == (0, expected("session_show.txt"), UNCOUNTED)


def test_D5_the_same_as_json(toolbelt: Toolbelt) -> None:
    keep("clerk", "s", "vcs", "zap", "other")
    data = toolbelt("session", "show", "--agent", "clerk", "--session", "s", "--json").json
    tokens = {row["id"]: row["tokens"] for row in toolbelt("catalog", "list", "--json").json["tools"]}
    assert {key: data[key] for key in ("agent", "session", "store", "catalog", "stored")} == {
        "agent": "clerk",
        "session": "s",
        "store": str(STORE),
        "catalog": "small",
        "stored": ["vcs", "zap", "other"],
    }
    assert data["loaded"] == [
        {
            "toolkit": "vcs",
            "sticky": False,
            "stored": True,
            "tools": ["git/status", "git/push"],
            "tokens": tokens["git/status"] + tokens["git/push"],
        },
        {
            "toolkit": "money",
            "sticky": True,
            "stored": False,
            "tools": ["payments/pay"],
            "tokens": tokens["payments/pay"],
        },
    ]
    assert [row["toolkit"] for row in data["dropped"]] == ["zap", "other"]
    assert "no longer there" in data["dropped"][0]["reason"]
    assert "'git/push' with other overrides" in data["dropped"][1]["reason"]
    boxes, other = data["not_loaded"]
    assert boxes == {
        "toolkit": "boxes",
        "description": "Containers",
        "status": "loadable",
        "conflict": None,
        "tools": ["docker/run.container", "docker/status"],
        "tokens": tokens["docker/run.container"] + tokens["docker/status"],
    }
    assert (other["status"], other["tools"], other["tokens"]) == ("conflict", [], 0)
    assert "toolkit 'vcs'" in other["conflict"]
    assert '{"remote": "origin"} there, {"remote": "fork"} here' in other["conflict"]
    meta, rows = data["tools"][:3], data["tools"][3:]
    assert [(row["tool"], row["meta"], row["tokens"] > 0) for row in meta] == [
        (name, True, True) for name in ("list_toolkits", "load_tools", "unload_tools")
    ]
    assert [(row["tool"], row["name"], row["toolkit"], row["overrides"], row["tokens"]) for row in rows] == [
        ("file/read", "read", None, {}, tokens["file/read"]),
        ("git/status", "git__status", "vcs", {"remote": "origin"}, tokens["git/status"]),
        ("git/push", "push", "vcs", {"remote": "origin"}, tokens["git/push"]),
        ("payments/pay", "pay", "money", {}, tokens["payments/pay"]),
    ]
    assert data["tokens"]["tools"] == sum(row["tokens"] for row in data["tools"])
    assert data["unmatched"] == ["bank"]
    assert data["tokens"]["uncounted"] == 1


def test_D5_a_session_of_which_nothing_is_kept_starts_with_the_initial_toolkits(
    toolbelt: Toolbelt, small: Path
) -> None:
    ran = toolbelt("session", "show", "--agent", "clerk", "--session", "new")
    assert (ran.code, ran.err) == (0, UNCOUNTED)
    assert ran.out.startswith("clerk in session new")
    data = toolbelt("session", "show", "--agent", "clerk", "--session", "new", "--json").json
    assert (data["stored"], [row["toolkit"] for row in data["loaded"]]) == (None, ["money"])
    assert sorted(entry.name for entry in small.iterdir()) == ["small.yaml", "toolbelt.yaml"]


def test_D2_an_agent_without_toolkits(toolbelt: Toolbelt) -> None:
    ran = toolbelt("session", "show", "--agent", "guard", "--session", "s")
    assert (ran.code, ran.err) == (0, "")
    assert "no toolkit is loaded" in ran.out
    assert "docker/status" in ran.out


def test_what_is_kept(toolbelt: Toolbelt, expected: Callable[[str], str]) -> None:
    keep("clerk", "b", "money")
    keep("clerk", "a", "vcs", "money")
    keep("old", "a", "vcs")
    keep("guard", "a")
    ran = toolbelt("session", "show")
    assert (ran.code, ran.out, ran.err) == (0, expected("session_list.txt"), "")


def test_what_is_kept_of_one_agent_or_session(toolbelt: Toolbelt) -> None:
    keep("clerk", "b", "money")
    keep("clerk", "a", "vcs")
    keep("old", "a", "vcs")

    def kept(*arguments: str) -> list[tuple[str, str]]:
        data = toolbelt("session", "show", *arguments, "--json").json
        return [(row["agent"], row["session"]) for row in data["sessions"]]

    assert kept() == [("clerk", "a"), ("clerk", "b"), ("old", "a")]
    assert kept("--agent", "clerk") == [("clerk", "a"), ("clerk", "b")]
    assert kept("--agent", "old") == [("old", "a")]
    assert kept("--session", "a") == [("clerk", "a"), ("old", "a")]
    assert kept("--session", "c") == kept("--agent", "guard") == []


def test_nothing_kept_is_said_and_makes_no_file(toolbelt: Toolbelt, small: Path) -> None:
    ran = toolbelt("session", "show")
    assert (ran.code, ran.out, ran.err) == (0, "", f"note: nothing is kept in '{STORE}'.\n")
    assert toolbelt("session", "show", "--json").json == {"store": str(STORE), "sessions": []}
    assert not STORE.parent.exists()


def test_a_damaged_state_does_not_hide_the_others(toolbelt: Toolbelt) -> None:
    keep("clerk", "a", "vcs")
    keep("clerk", "b", "vcs")
    with sqlite3.connect(STORE) as connection:
        connection.execute("UPDATE states SET loaded = 'nonsense' WHERE session = 'a'")
    connection.close()
    rows = toolbelt("session", "show", "--json").json["sessions"]
    assert [row["stored"] for row in rows] == [[], ["vcs"]]
    assert "reset that session" in rows[0]["problem"]
    assert rows[1]["problem"] is None
    ran = toolbelt("session", "show", "--agent", "clerk", "--session", "a")
    assert (ran.code, ran.out) == (3, "")
    assert "reset that session" in ran.err
    assert toolbelt("session", "reset", "--agent", "clerk", "--session", "a").code == 0
    assert toolbelt("session", "show", "--agent", "clerk", "--session", "a").code == 0


@pytest.mark.parametrize("more", [[], ["--session", "s"]])
def test_an_unknown_agent_names_the_nearest(toolbelt: Toolbelt, more: list[str]) -> None:
    ran = toolbelt("session", "show", "--agent", "clrek", *more)
    assert (ran.code, ran.out) == (2, "")
    assert mentions(ran.err, "clrek", "clerk")


@pytest.mark.parametrize("arguments", [["--agent", " "], ["--agent", "clerk", "--session", ""]])
def test_a_blank_name_is_refused(toolbelt: Toolbelt, arguments: list[str]) -> None:
    ran = toolbelt("session", "show", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert "may not be blank" in ran.err


@pytest.mark.parametrize("arguments", [[], ["--agent", "clerk", "--session", "s"]])
def test_E9_a_store_that_is_none_is_3_and_left_as_it_was(toolbelt: Toolbelt, arguments: list[str], small: Path) -> None:
    (small / "x.db").write_text("precious")
    ran = toolbelt("session", "show", "--session-store", "x.db", *arguments)
    assert (ran.code, ran.out) == (3, "")
    assert "'x.db' cannot be used" in ran.err
    assert (small / "x.db").read_text() == "precious"


def test_the_store_is_named_by_flag_or_environment(
    toolbelt: Toolbelt, small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    SqliteSessionStore("mine.db").write("clerk", "s", ["vcs"], None)
    rows = toolbelt("session", "show", "--session-store", "mine.db", "--json").json["sessions"]
    monkeypatch.setenv("TOOLBELT_SESSION_STORE", "mine.db")
    assert toolbelt("session", "show", "--json").json["sessions"] == rows
    assert [row["session"] for row in rows] == ["s"]


def test_without_a_project_what_is_kept_is_still_shown(toolbelt: Toolbelt, small: Path) -> None:
    keep("clerk", "a", "vcs")
    (small / "toolbelt.yaml").unlink()
    ran = toolbelt("session", "show")
    assert (ran.code, ran.err) == (0, "")
    assert "no agent of this name" in ran.out
    ran = toolbelt("session", "show", "--agent", "clerk", "--session", "a")
    assert (ran.code, ran.out) == (2, "")
    assert mentions(ran.err, "toolbelt.yaml")


def test_D6_toolkits_that_no_session_could_start_with_over_this_catalog_are_refused(
    toolbelt: Toolbelt, small: Path
) -> None:
    (small / "toolbelt.yaml").write_text(AGENTS.replace("tools: [file]", "tools: [payments/pay: {most: 5}]"))
    ran = toolbelt("session", "show", "--agent", "clerk", "--session", "s")
    assert (ran.code, ran.out) == (2, "")
    assert "'payments/pay' with other overrides" in ran.err
    assert toolbelt("session", "show", "--agent", "guard", "--session", "s").code == 0


def test_at_80_columns_nothing_is_wider(toolbelt: Toolbelt, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    keep("clerk", "s", "vcs", "zap", "other", "money")
    for arguments in ([], ["--agent", "clerk", "--session", "s"]):
        assert max(map(len, toolbelt("session", "show", *arguments).out.splitlines())) <= 80


def test_S4_what_an_agent_is_shown_with_a_search(toolbelt: Toolbelt, small: Path) -> None:
    (small / "toolbelt.yaml").write_text(AGENTS.replace("guard: {", "guard: {search: 'openai:k=2', "))
    about = ("session", "show", "--session", "s", "--agent")
    assert toolbelt(*about, "clerk", "--json").json["search"] is None
    own, given = (toolbelt(*about, "guard", *more, "--json").json["search"] for more in ((), ("--search", "fastmcp")))
    assert (own["source"], own["settings"][:27]) == ("agents.guard.search", "openai:trigger=model:k=2:re")
    assert (own["shown"], own["found"]) == (["tool_search"], ["docker/status"])
    assert (given["source"], given["shown"]) == ("--search", ["search_tools", "call_tool"])
    assert mentions(toolbelt(*about, "guard").out, "tool_search", f"{own['tokens']} tokens", "agents.guard.search")
    clerk = toolbelt(*about, "clerk", "--search", "fastmcp", "--json").json["search"]
    assert clerk["shown"] == ["list_toolkits", "load_tools", "unload_tools", "search_tools", "call_tool"]


def test_S4_a_search_that_does_not_exist_is_refused_with_the_nearest(toolbelt: Toolbelt, small: Path) -> None:
    ran = toolbelt("session", "show", "--session", "s", "--agent", "guard", "--search", "fastmpc")
    assert (ran.code, mentions(ran.err, "'fastmpc'", "'fastmcp'")) == (2, True)
    (small / "toolbelt.yaml").write_text(AGENTS.replace("guard: {", "guard: {search: fastmpc, "))
    ran = toolbelt("session", "show", "--session", "s", "--agent", "guard")
    assert ran.code == 2
    assert mentions(ran.err, "toolbelt.yaml:12", "`agents.guard.search`", "'fastmcp'")
