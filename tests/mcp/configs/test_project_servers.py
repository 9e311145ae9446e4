"""Rule M3: the servers of `toolbelt.yaml`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator

from toolbelt.errors import InvalidFileError
from toolbelt.mcp.configs.project_servers import examine_servers, explain_broken_servers
from toolbelt.project.opening import open_project
from toolbelt.servers import Transport
from toolbelt.servers.switches import find_switch
from toolbelt.stores.config_schema import config_schema

CLIENT = {
    "mcpServers": {
        "git": {"command": "git-server", "env": {"TOKEN": "s3cret"}},
        "wrong": {"command": 3},
        "me": {"command": "toolbelt", "args": ["serve", "x"]},
    }
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "client.json").write_text(json.dumps(CLIENT))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _write(folder: Path, text: str) -> None:
    (folder / "toolbelt.yaml").write_text(text)


def test_M3_servers_are_described_or_taken_from_a_clients_file(folder: Path) -> None:
    _write(
        folder,
        "servers:\n  git: {from: client.json, split: {by: prefix}}\n"
        "  files:\n    command: run\n    args: [-x, '']\n    cwd: sub\n    env:\n      A: ${B}\n    env_file: .keys\n"
        "  web: {url: https://h/sse, headers: {A: b}, disabled: true}\n",
    )
    git, files, web = open_project().servers
    assert (git.command, git.env, git.split) == ("git-server", {"TOKEN": "s3cret"}, {"by": "prefix"})
    assert git.files == (str(folder / "toolbelt.yaml"), str(folder / "client.json"))
    assert git.folder == str(folder)
    assert (files.command, files.args, files.cwd, files.env) == ("run", ("-x", ""), "sub", {"A": "${B}"})
    assert (files.env_file, files.source) == (".keys", "toolbelt.yaml")
    assert (web.transport, web.url, web.headers, web.disabled) == (Transport.SSE, "https://h/sse", {"A": "b"}, True)


def test_M3_a_project_without_servers_has_none(folder: Path) -> None:
    assert open_project().servers == ()


@pytest.mark.parametrize(
    ("entry", "line", "rule"),
    [
        pytest.param("{comand: run}", 2, "unknown-key", id="unknown-key"),
        pytest.param("\n    envFile: x\n    command: y", 3, "unknown-key", id="spelling-of-clients"),
        pytest.param("{command: run,\n    url: x}", 2, "contradiction", id="command-and-url"),
        pytest.param("{from: client.json,\n    command: x}", 3, "contradiction", id="from-and-command"),
        pytest.param('{from: "a\\0b"}', 2, "bad-character", id="from-with-nul"),
        pytest.param("{command: run, args: x}", 2, "wrong-type", id="args"),
        pytest.param("{command: run, env: {PORT: 80}}", 2, "wrong-type", id="a-number-in-env"),
        pytest.param("{command: run, split: 3}", 2, "wrong-type", id="split"),
        pytest.param("", 2, "missing-key", id="nothing"),
        pytest.param("run", 2, "wrong-type", id="text"),
    ],
)
def test_M3_a_mistake_is_a_finding_with_its_line(folder: Path, entry: str, line: int, rule: str) -> None:
    _write(folder, f"servers:\n  git: {entry}\n")
    with pytest.raises(InvalidFileError) as caught:
        open_project()
    assert ("toolbelt.yaml", line, rule) in [(each.file, each.line, each.rule) for each in caught.value.findings]


@pytest.mark.parametrize(
    ("name", "file", "rule", "place"),
    [
        pytest.param("gti", "client.json", "unknown-server", "toolbelt.yaml", id="unknown-server"),
        pytest.param("git", "none.json", "unknown-file", "toolbelt.yaml", id="unknown-file"),
        pytest.param("me", "client.json", "own-gateway", "toolbelt.yaml", id="own-gateway"),
        pytest.param("wrong", "client.json", "wrong-type", "client.json", id="a-mistake-in-the-client-s-file"),
    ],
)
def test_M3_what_from_names_is_looked_up_when_servers_are_asked_for(
    folder: Path, name: str, file: str, rule: str, place: str
) -> None:
    _write(folder, f"servers:\n  {name}: {{from: {file}}}\n")
    project = open_project()  # the catalog can be used where the client's file is not
    assert project.servers == ()
    (finding,) = examine_servers(project.config)[1][name]
    assert (finding.rule, finding.file) == (rule, place)
    assert str(finding) in explain_broken_servers(project.config)[name]


def test_V6_a_broken_entry_costs_no_other(folder: Path) -> None:
    _write(folder, "servers:\n  wrong: {from: client.json}\n  git: {from: client.json}\n  none: {from: none.json}\n")
    project = open_project()
    assert [spec.name for spec in project.servers] == ["git"]
    assert list(explain_broken_servers(project.config)) == ["wrong", "none"]


@pytest.mark.parametrize(
    ("entry", "off", "put_off"),
    [
        pytest.param("{from: off.json}", "`disabled` in off.json", True, id="client"),
        pytest.param("{from: off.json, disabled: false}", "", True, id="overruled-but-for-its-tools"),
        pytest.param("{from: off.json, disabled: true}", "`disabled` in toolbelt.yaml", True, id="both"),
    ],
)
def test_V7_what_the_clients_file_switches_off_is_off_unless_overruled(
    folder: Path, entry: str, off: str, put_off: bool
) -> None:
    data = {"mcpServers": {"git": {"command": "x", "disabled": True, "disabledTools": ["put"]}}}
    (folder / "off.json").write_text(json.dumps(data))
    _write(folder, f"servers:\n  git: {entry}\n")
    (git,) = open_project().servers
    assert str(git.off_by or "") == off
    assert (find_switch(git.switches, "put") is not None) is put_off


SCHEMA = Draft202012Validator(config_schema())


@pytest.mark.parametrize(
    "entry",
    [
        {"from": "x"},
        {"from": "x", "split": {"by": "prefix"}, "disabled": True},
        {"command": "x", "args": [""], "env": {"A": ""}, "cwd": "x", "env_file": "x", "transport": "stdio"},
        {"url": "x", "headers": {"A": "b"}, "transport": "Streamable-HTTP"},
    ],
    ids=str,
)
def test_M3_the_schema_takes_what_the_reader_takes(entry: object) -> None:
    assert SCHEMA.is_valid({"servers": {"a": entry}})


@pytest.mark.parametrize(
    "entry",
    [
        None,
        {},
        {"from": "x", "command": "y"},
        {"command": "x", "url": "y"},
        {"command": "x", "args": [1]},
        {"command": "x", "env": {"A": 1}},
        {"url": "x", "transport": "ws"},
        {"comand": "x"},
    ],
    ids=str,
)
def test_M3_the_schema_refuses_what_the_reader_refuses(entry: object) -> None:
    assert not SCHEMA.is_valid({"servers": {"a": entry}})


def test_M3_the_example_of_the_documentation_is_right(folder: Path) -> None:
    page = (Path(__file__).parents[3] / "docs" / "mcp.md").read_text(encoding="utf-8")
    chapter = page.split("## Servers in `toolbelt.yaml`\n", maxsplit=1)[1]
    example = chapter.split("```yaml\n", maxsplit=1)[1].split("```", maxsplit=1)[0]
    assert SCHEMA.is_valid(yaml.safe_load(example))
    (folder / ".cursor").mkdir()
    (folder / ".cursor" / "mcp.json").write_text(json.dumps(CLIENT))
    _write(folder, example)
    assert [server.name for server in open_project().servers] == ["git", "files", "issues"]
