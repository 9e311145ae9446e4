"""`toolbelt toolkit resolve` (rules K2, K3, K5)."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Toolbelt
from tests.cli.test_toolkit_show import TOOLKITS
from tests.wording import mentions


@pytest.fixture(autouse=True)
def _kits(small: Path) -> None:
    (small / "toolbelt.yaml").write_text("catalog: small.yaml\n" + TOOLKITS.replace(", dokcer", ""))


@pytest.fixture
def resolve(toolbelt: Toolbelt, project: Path) -> Callable[..., Any]:
    """The document that `resolve` prints for a configuration."""

    def call(config: Any, *arguments: str) -> Any:
        (project / "c.json").write_text(json.dumps(config))
        ran = toolbelt("toolkit", "resolve", "--tools-config", "c.json", "--json", *arguments)
        assert ran.code == 0, ran.err
        return ran.json

    return call


CONFIG = "ops: true\npush: false\nmoney: perhaps\ngit: true\npyments: true\n"


def test_the_table(toolbelt: Toolbelt, project: Path, expected: Callable[[str], str]) -> None:
    (project / "agent.yaml").write_text(CONFIG)
    ran = toolbelt("toolkit", "resolve", "--tools-config", "agent.yaml", "--all", "--message", "Please ship it!")
    assert (ran.code, ran.out) == (0, expected("toolkit_resolve.txt"))
    places = sorted(line.split(": ")[0] for line in ran.err.splitlines() if ": warning: " in line)
    assert places == [f"agent.yaml:{line}" for line in (3, 4, 5)]


DECISIONS: dict[str, tuple[dict[str, Any], bool, str, str | None, bool | None]] = {
    "nothing-said-is-the-default": ({}, True, "default", None, None),
    "a-toolkit-that-is-off": ({"ops": False}, False, "toolkit_off", "ops", False),
    "a-toolkit-that-is-off-beats-its-member": ({"ops": False, "git/push": True}, False, "toolkit_off", "ops", False),
    "a-toolkit-that-is-on": ({"ops": True}, True, "toolkit_on", "ops", True),
    "a-member-opts-out": ({"ops": True, "git/push": False}, False, "toolkit_on", "git/push", False),
    "a-member-alone": ({"git/push": False}, False, "own", "git/push", False),
    "a-member-by-its-bare-name": ({"push": False}, False, "own", "git/push", False),
    "what-is-no-boolean-counts-as-absent": ({"ops": 1, "git/push": "false"}, True, "default", None, None),
}


@pytest.mark.parametrize(("config", "enabled", "rule", "key", "value"), DECISIONS.values(), ids=DECISIONS)
def test_K2_which_switch_decided(
    resolve: Callable[..., Any],
    config: dict[str, Any],
    enabled: bool,
    rule: str,
    key: str | None,
    value: bool | None,
) -> None:
    row = next(row for row in resolve(config)["tools"] if row["id"] == "git/push")
    assert (row["enabled"], row["rule"], row["key"], row["value"]) == (enabled, rule, key, value)
    assert row["toolkits"] == ["ops"]
    assert row["reason"]


def test_K3_the_switch_of_a_toolkit(resolve: Callable[..., Any]) -> None:
    def switch(config: dict[str, Any]) -> tuple[bool, bool | None, int]:
        row = resolve(config)["toolkits"][0]
        return row["on"], row["value"], row["enabled"]

    assert switch({"ops": True}) == (True, True, 3)
    assert switch({"git/push": True}) == (True, None, 3)
    assert switch({"ops": False, "git/push": True}) == (False, False, 0)
    assert switch({}) == (True, None, 3)  # another toolkit of the three is on by default


def test_K8_a_switch_says_which_agents_may_load_the_toolkit_whatever_it_says(resolve: Callable[..., Any]) -> None:
    rows = {row["toolkit"]: row["agents"] for row in resolve({"ops": False})["toolkits"]}
    assert rows == {"ops": ["clerk", "guard"], "money": ["clerk"], "bare": []}


def test_K2_a_switch_that_is_null_is_told_as_files_have_it(toolbelt: Toolbelt) -> None:
    ran = toolbelt("toolkit", "resolve", "--tools-config", "-", stdin=b"ops: null")
    assert mentions(ran.err, "'ops'", "null")


def test_K2_the_switch_that_decided_outlives_all_but_the_state_on_a_narrow_screen(
    toolbelt: Toolbelt, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "48")
    out = toolbelt("toolkit", "resolve", "--tools-config", "-", stdin=b"ops: true").out
    assert "docker/status         on   ops: true" in out


def test_tools_in_no_toolkit_are_shown_when_asked_for(resolve: Callable[..., Any]) -> None:
    few, all_ = resolve({}), resolve({}, "--all")
    assert [row["id"] for row in few["tools"]] == ["docker/run.container", "docker/status", "git/push", "payments/pay"]
    assert [row["id"] for row in all_["tools"]][4:] == ["git/status", "file/read"]
    for data in (few, all_):
        on, off = ([row["tokens"] for row in data["tools"] if row["enabled"] is state] for state in (True, False))
        assert (data["tokens"]["on"], data["tokens"]["off"]) == (sum(on), sum(off))
    assert all_["tokens"]["on"] + all_["tokens"]["off"] == all_["tokens"]["full"]


@pytest.mark.parametrize(("variable", "many"), [("TOOLBELT_RESOLVE_ALL", True), ("TOOLBELT_ALL", False)])
def test_C_which_tools_there_are_is_a_setting_of_its_own(
    resolve: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, variable: str, many: bool
) -> None:
    few, every = resolve({}), resolve({}, "--all")
    monkeypatch.setenv(variable, "1")
    assert resolve({}) == (every if many else few)


def test_keys_that_mean_nothing_are_warned_of_with_the_nearest(toolbelt: Toolbelt) -> None:
    config = b'{\n"opps": true,\n"git": true,\n"status": true,\n"money": "on"}'
    ran = toolbelt("toolkit", "resolve", "--tools-config", "-", "--json", stdin=config)
    assert ran.code == 0
    lines = sorted(ran.err.splitlines())
    assert mentions(lines[0], "standard input:2: warning", "opps")
    assert "Did you mean 'ops'" in lines[0]
    assert "'git' is a plugin" in lines[1]
    assert "2 tools are named 'status'" in lines[2]
    assert mentions(lines[3], "standard input:5: warning", "money")
    assert {(note["key"], note["rule"]) for note in ran.json["notes"]} == {
        ("opps", "unknown-key"),
        ("git", "unknown-key"),
        ("status", "ambiguous-key"),
        ("money", "not-a-boolean"),
    }


@pytest.mark.parametrize(
    ("message", "applies", "active", "choice"),
    [
        ("Deploy it now", True, ["docker/run.container", "docker/status"], "required"),
        ("commit this", True, ["docker/run.container", "docker/status", "git/push"], None),
        ("hello", False, ["docker/run.container", "docker/status", "git/push"], None),
    ],
)
def test_K5_what_a_message_narrows_the_request_to(
    resolve: Callable[..., Any], message: str, applies: bool, active: list[str], choice: str | None
) -> None:
    directive = resolve({"ops": True}, "--message", message)["directive"]
    tokens = directive.pop("tokens")
    assert directive == {"message": message, "applies": applies, "active_tools": active, "tool_choice": choice}
    assert 0 < tokens <= resolve({"ops": True})["tokens"]["on"]


def test_K5_what_is_off_is_in_no_directive(resolve: Callable[..., Any]) -> None:
    assert resolve({"ops": False}, "--message", "deploy")["directive"]["applies"] is False
    narrowed = resolve({"ops": True, "docker/status": False}, "--message", "deploy")["directive"]
    assert narrowed["active_tools"] == ["docker/run.container"]
    assert resolve({})["directive"] is None


READ: dict[str, bytes] = {
    "yaml": b"ops: true  # all of it\n",
    "json": b'{"ops": true}',
    "json-with-tabs": b'{\n\t"ops": true\n}',
    "yaml-in-braces": b"{ops: true}",
    "with-a-byte-order-mark": b'\xef\xbb\xbf{"ops": true}',
}


@pytest.mark.parametrize("text", READ.values(), ids=READ)
@pytest.mark.parametrize("name", ["-", "c.yaml", "c"])
def test_json_and_yaml_are_read_from_files_and_standard_input(
    toolbelt: Toolbelt, project: Path, text: bytes, name: str
) -> None:
    if name != "-":
        (project / name).write_bytes(text)
    ran = toolbelt("toolkit", "resolve", "--tools-config", name, "--json", stdin=text)
    assert (ran.code, ran.err) == (0, "")
    assert ran.json["toolkits"][0]["value"] is True


@pytest.mark.parametrize("name", ["c.json", "c.yaml", "-"])
def test_an_empty_file_says_nothing(toolbelt: Toolbelt, project: Path, name: str) -> None:
    if name != "-":
        (project / name).write_text("")
    ran = toolbelt("toolkit", "resolve", "--tools-config", name, "--json")
    assert (ran.code, ran.err) == (0, "")
    assert {row["rule"] for row in ran.json["tools"]} == {"default"}


REFUSED: dict[str, tuple[bytes, str]] = {
    "broken-json": (b'{"ops": true', "c.json:1: error: Not JSON"),
    "broken-anything": (b"{ops: [", "c.yaml:1: error: Not YAML"),
    "a-key-twice": (b'{"ops": true,\n"ops": false}', "c.json:2: error: The key 'ops' stands here twice."),
    "a-key-twice-in-yaml": (b"ops: true\nops: false\n", "c.yaml:2: error: The key 'ops' stands here twice."),
    "a-list": (b"[ops]", "c.yaml:1: error: A configuration of tools maps keys"),
    "a-text": (b"ops", "c.yaml:1: error: A configuration of tools maps keys"),
    "not-utf8": (b"\xff\xfe", "error: Not UTF-8"),
    "too-deep": (b"[" * 100_000, "levels deep"),
}


@pytest.mark.parametrize(("content", "message"), REFUSED.values(), ids=REFUSED)
def test_E9_a_bad_file_is_2(toolbelt: Toolbelt, project: Path, content: bytes, message: str) -> None:
    name = "c.json" if "c.json" in message else "c.yaml"
    (project / name).write_bytes(content)
    ran = toolbelt("toolkit", "resolve", "--tools-config", name)
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err


def test_E9_no_file_is_2_with_the_nearest(toolbelt: Toolbelt, project: Path) -> None:
    (project / "agent.json").write_text("{}")
    ran = toolbelt("toolkit", "resolve", "--tools-config", "agnt.json")
    assert (ran.code, ran.out) == (2, "")
    assert "Did you mean 'agent.json'?" in ran.err


def test_a_reader_that_leaves_is_no_failure(project: Path) -> None:
    (project / "c.json").write_text("{}")
    command = [sys.executable, "-m", "toolbelt", "toolkit", "resolve", "--tools-config", "c.json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(30) == 0


def test_K2_a_misspelt_member_of_a_toolkit_that_is_off_stops_and_is_told(toolbelt: Toolbelt, small: Path) -> None:
    (small / "toolbelt.yaml").write_text("catalog: small.yaml\ntoolkits:\n  ops:\n    tools: [gti]\n")
    (small / "c.yaml").write_text("ops: false\n")
    refused = toolbelt("toolkit", "resolve", "--tools-config", "c.yaml")
    assert refused.code == 2
    assert mentions(refused.err, ("toolbelt.yaml:4", "error", "'gti'", "misspelt-member"))
    (small / "c.yaml").write_text("ops: true\n")
    doubted = toolbelt("toolkit", "resolve", "--tools-config", "c.yaml")
    assert doubted.code == 0
    assert mentions(doubted.err, ("toolbelt.yaml:4", "warning", "misspelt-member"))
    assert toolbelt("loadout", "lint").code == 2


def test_K8_resolve_takes_the_switches_of_an_agent(toolbelt: Toolbelt, small: Path) -> None:
    agents = "agents:\n  a: {allowed_toolkits: [ops], tools_config: {ops: false}}\n  b: {allowed_toolkits: [ops]}\n"
    (small / "toolbelt.yaml").write_text(
        f"catalog: small.yaml\n{TOOLKITS.split('agents:')[0].replace(', dokcer', '')}{agents}"
    )
    document = toolbelt("toolkit", "resolve", "--agent", "a", "--json").json
    assert document["toolkits"][0]["value"] is False
    assert document["toolkits"][0]["agents"] == ["b"]  # what is off cannot be loaded
    assert toolbelt("toolkit", "resolve", "--agent", "b", "--json").json["toolkits"][0]["value"] is None
    for wrong in ([], ["--agent", "c"], ["--agent", "a", "--tools-config", "x"]):
        assert toolbelt("toolkit", "resolve", *wrong).code == 2
