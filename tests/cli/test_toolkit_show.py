"""`toolbelt toolkit list` and `inspect` (rule K8)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Toolbelt
from tests.cli.test_hostile_input import FILES
from tests.wording import each_mentions, mentions

TOOLKITS = """\
toolkits:
  ops:
    label: Operations
    description: Containers and version control
    default_on: true
    tools: [docker, git/push: {remote: origin}, dokcer]
    policy:
      text: Look before you act with {tools}.
      tools: {git/push: Never push to main.}
      unavailable: No operations here.
    directive:
      - {when: [deploy, ship it], tools: [docker], tool_choice: required}
      - {when: commit}
  money:
    description: Paying people
    tools: [payments]
  bare:
agents:
  clerk: {tools: [file], allowed_toolkits: [money, ops], initial_toolkits: [money]}
  guard: {allowed_toolkits: [ops]}
"""


@pytest.fixture
def kits(small: Path) -> Path:
    """A project with toolkits and agents."""
    (small / "toolbelt.yaml").write_text(f"catalog: small.yaml\n{TOOLKITS}")
    return small


WARNED = "warning: toolkit 'ops': No plugin or tool is named 'dokcer'. Did you mean 'docker'?\n"


def test_the_list(toolbelt: Toolbelt, kits: Path, expected: Callable[[str], str]) -> None:
    ran = toolbelt("toolkit", "list")
    assert (ran.code, ran.out) == (0, expected("toolkit_list.txt"))
    assert ran.err == f"{WARNED}warning: toolkit 'bare' names no tools.\n"


def test_D6_members_that_disagree_are_warned_of(toolbelt: Toolbelt, small: Path) -> None:
    (small / "toolbelt.yaml").write_text(
        "catalog: small.yaml\ntoolkits: {ops: {tools: [push: {a: 1}, git/push: {a: 2}]}}\n"
    )
    for command in (("list",), ("inspect", "ops")):
        message = "'push' and 'git/push' both mean 'git/push' with other overrides; 'git/push' applies. Keep one."
        assert toolbelt("toolkit", *command).err == f"warning: toolkit 'ops': {message}\n"


def test_the_list_as_json(toolbelt: Toolbelt, kits: Path) -> None:
    data = toolbelt("toolkit", "list", "--json").json
    assert data["catalog"] == "small"
    assert data["tokens"]["full"] == toolbelt("catalog", "stats", "--json").json["tokens"]
    ops, money, bare = data["toolkits"]
    assert ops == {
        "toolkit": "ops",
        "label": "Operations",
        "description": "Containers and version control",
        "default_on": True,
        "members": ["docker", "git/push", "dokcer"],
        "tools": 3,
        "tokens": ops["tokens"],
        "unmatched": ["dokcer"],
        "agents": ["clerk", "guard"],
    }
    tools = {row["id"]: row["tokens"] for row in toolbelt("catalog", "list", "--json").json["tools"]}
    assert ops["tokens"] == tools["docker/run.container"] + tools["docker/status"] + tools["git/push"]
    assert (money["tokens"], money["agents"]) == (tools["payments/pay"], ["clerk"])
    assert (bare["tools"], bare["tokens"], bare["members"]) == (0, 0, [])


def test_one(toolbelt: Toolbelt, kits: Path, expected: Callable[[str], str]) -> None:
    ran = toolbelt("toolkit", "inspect", "ops")
    assert (ran.code, ran.out, ran.err) == (0, expected("toolkit_inspect.txt"), WARNED)


def test_one_as_json(toolbelt: Toolbelt, kits: Path) -> None:
    data = toolbelt("toolkit", "inspect", "ops", "--json").json
    assert [(row["entry"], [tool["id"] for tool in row["tools"]], row["overrides"]) for row in data["members"]] == [
        ("docker", ["docker/run.container", "docker/status"], {}),
        ("git/push", ["git/push"], {"remote": "origin"}),
        ("dokcer", [], {}),
    ]
    assert sum(row["tokens"] for row in data["members"]) == data["tokens"]["toolkit"]
    assert mentions(data["members"][2]["message"], "dokcer", "docker")
    assert data["policy"] == {
        "text": "Look before you act with run_container, docker__status, push.\nNever push to main.",
        "unavailable": "No operations here.",
    }
    assert data["directive"] == [
        {
            "when": ["deploy", "ship it"],
            "members": ["docker"],
            "tools": ["docker/run.container", "docker/status"],
            "tool_choice": "required",
        },
        {
            "when": ["commit"],
            "members": ["docker", "git/push", "dokcer"],
            "tools": ["docker/run.container", "docker/status", "git/push"],
            "tool_choice": None,
        },
    ]
    assert data["agents"] == [{"agent": "clerk", "initial": False}, {"agent": "guard", "initial": False}]
    assert toolbelt("toolkit", "inspect", "money", "--json").json["agents"] == [{"agent": "clerk", "initial": True}]


def test_one_that_says_nothing(toolbelt: Toolbelt, kits: Path) -> None:
    ran = toolbelt("toolkit", "inspect", "bare")
    assert (ran.code, ran.err) == (0, "warning: toolkit 'bare' names no tools.\n")
    assert mentions(ran.out.splitlines()[-1], "no agent")


def test_K4_a_policy_that_names_a_member_outright_is_doubtful(toolbelt: Toolbelt, kits: Path) -> None:
    (kits / "toolbelt.yaml").write_text(
        "catalog: small.yaml\ntoolkits: {a: {tools: [git], policy: 'Call `git/push`.'}}"
    )
    assert mentions(toolbelt("toolkit", "inspect", "a").err, "warning", "git/push")


@pytest.mark.parametrize(("name", "nearest"), [("opss", "'ops'"), ("Ops", "'ops'"), ("x", "Known: ops, money, bare")])
def test_an_unknown_toolkit_names_the_nearest(toolbelt: Toolbelt, kits: Path, name: str, nearest: str) -> None:
    ran = toolbelt("toolkit", "inspect", name)
    assert (ran.code, ran.out) == (2, "")
    assert f"No toolkit named {name!r}." in ran.err
    assert nearest in ran.err


def test_where_nothing_is_near_the_command_that_lists_them_is_named(toolbelt: Toolbelt, small: Path) -> None:
    kits = ", ".join(f"kit-{n}" for n in range(20))
    agents = ", ".join(f"agent-{n}: {{}}" for n in range(20))
    (small / "toolbelt.yaml").write_text(f"toolkits: {{{kits.replace(',', ': {},')}: {{}}}}\nagents: {{{agents}}}\n")
    assert "See: toolbelt toolkit list" in toolbelt("toolkit", "inspect", "zzz").err
    assert "See: toolbelt config show" in toolbelt("session", "show", "--agent", "zzz").err


COMMANDS = [["toolkit", "list"], ["toolkit", "inspect", "a"], ["toolkit", "resolve", "--tools-config", "toolbelt.yaml"]]


@pytest.mark.parametrize("text", [None, "", "catalog: small.yaml\n", "toolkits: {}\n"])
@pytest.mark.parametrize("arguments", COMMANDS)
def test_without_toolkits_there_is_one_to_paste(
    toolbelt: Toolbelt, small: Path, arguments: list[str], text: str | None
) -> None:
    (small / "toolbelt.yaml").unlink()
    if text is not None:
        (small / "toolbelt.yaml").write_text(text)
    ran = toolbelt(*arguments, "-c", "small.yaml")
    lists = arguments[1] == "list"  # and nothing is a list as well
    assert (ran.code, ran.out) == (0 if lists else 2, "")
    assert "There are no toolkits" in ran.err
    if lists:
        assert toolbelt(*arguments, "-c", "small.yaml", "--json").json["toolkits"] == []
    pasted = ran.err.split("For example: ")[1]
    (small / "toolbelt.yaml").write_text(pasted)
    rows = toolbelt("toolkit", "list", "-c", "small.yaml", "--json").json["toolkits"]
    assert [(row["toolkit"], row["tools"]) for row in rows] == [("first", 3)]


@pytest.mark.parametrize("arguments", COMMANDS)
def test_D1_every_mistake_of_the_file_is_told_with_line_and_path(
    toolbelt: Toolbelt, small: Path, arguments: list[str]
) -> None:
    (small / "toolbelt.yaml").write_text(
        "toolkits:\n  a: {tols: [x]}\nagents:\n  b:\n    allowed_toolkits:\n      - c\n      - a\n      - a\n"
    )
    ran = toolbelt(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert each_mentions(
        ran.err.splitlines(),
        ("toolbelt.yaml:2: error", "`toolkits.a.tols`", "tols", "tools", "[unknown-key]"),
        ("toolbelt.yaml:6: error", "`agents.b.allowed_toolkits[0]`", "c", "[unknown-toolkit]"),
        ("toolbelt.yaml:8: error", "`agents.b.allowed_toolkits[2]`", "a", "[duplicate-entry]"),
        ("Error", "3 findings"),
    )


@pytest.mark.parametrize("content", FILES.values(), ids=FILES)
def test_E9_a_bad_toolbelt_yaml_is_2(toolbelt: Toolbelt, project: Path, content: bytes) -> None:
    (project / "toolbelt.yaml").write_bytes(content)
    for arguments in (["toolkit", "inspect", "a"], ["session", "show", "--agent", "a", "--session", "s"]):
        ran = toolbelt(*arguments)
        assert (ran.code, ran.out) == (2, "")
        assert ran.err.splitlines()[-1].startswith("Error: ")


def test_K8_a_toolkit_with_the_id_of_a_tool_is_refused_without_a_traceback(toolbelt: Toolbelt, small: Path) -> None:
    (small / "toolbelt.yaml").write_text("catalog: small.yaml\ntoolkits: {git/push: {tools: [git]}}\n")
    ran = toolbelt("toolkit", "list")
    assert (ran.code, ran.out) == (2, "")
    assert mentions(ran.err, "git/push")


def test_at_80_columns_nothing_is_wider(toolbelt: Toolbelt, kits: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    for arguments in (["toolkit", "list"], ["toolkit", "inspect", "ops"]):
        assert max(map(len, toolbelt(*arguments).out.splitlines())) <= 80
