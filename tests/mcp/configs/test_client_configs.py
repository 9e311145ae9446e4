"""Rule M1: the files of MCP clients, each in its documented form."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from toolbelt.mcp.configs.client_configs import ClientForm, find_client_configs, read_client_config, starts_gateway
from toolbelt.servers import Transport

ENTRY = {"command": "npx", "args": ["-y", "server"]}


def _write(path: Path, data: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(data if isinstance(data, str) else json.dumps(data))
    return path


@pytest.mark.parametrize(
    ("data", "form"),
    [
        pytest.param({"mcpServers": {"a": ENTRY}}, ClientForm.MCP_SERVERS, id="mcpServers"),
        pytest.param({"servers": {"a": {"type": "stdio", **ENTRY}}}, ClientForm.SERVERS, id="servers"),
        pytest.param({"mcp": {"servers": {"a": ENTRY}}}, ClientForm.SERVERS, id="settings-of-VS-Code"),
        pytest.param({"a": ENTRY}, ClientForm.BARE, id="bare"),
    ],
)
def test_M1_each_form_is_read(tmp_path: Path, data: object, form: ClientForm) -> None:
    config = read_client_config(_write(tmp_path / "c.json", data), tmp_path)
    assert (config.form, config.findings) == (form, ())
    (server,) = config.servers
    assert (server.name, server.transport, server.command, server.args) == (
        "a",
        Transport.STDIO,
        "npx",
        ("-y", "server"),
    )
    assert (server.files, server.folder) == ((str(tmp_path / "c.json"),), str(tmp_path))


def test_M1_comments_and_last_commas_are_read_and_strings_kept(tmp_path: Path) -> None:
    text = """\ufeff{
  // servers
  "mcpServers": { /* two
     of them */
    "a": {"url": "http://x//y", "headers": {"A": "/* kept */ // and, ]"},},
    "b": {"command": "b", "args": ["-c", "x,]", ",}",],},
  },
}
"""
    config = read_client_config(_write(tmp_path / "c.json", text))
    assert config.findings == ()
    first, second = config.servers
    assert (first.url, first.headers) == ("http://x//y", {"A": "/* kept */ // and, ]"})
    assert second.args == ("-c", "x,]", ",}")


@pytest.mark.parametrize(
    ("text", "line", "rule"),
    [
        pytest.param('{"a": [1,,]}', 1, "syntax", id="two-commas"),
        pytest.param('{"mcpServers": {}\n/* open', 2, "syntax", id="open-comment"),
        pytest.param('{"mcpServers": {\n"a": {"command": "x"},\n"a": {}}}', 3, "duplicate-key", id="a-name-twice"),
        pytest.param('{"mcpServers": {"a": {\n"command": 3}}}', 2, "wrong-type", id="command-is-a-number"),
        pytest.param('{"mcpServers": {\n"a": {}}}', 2, "missing-key", id="nothing-to-start"),
        pytest.param('{"mcpServers": {"a": {"command": "x",\n"args": "y"}}}', 2, "wrong-type", id="args-is-a-text"),
        pytest.param('{"mcpServers": {"a": {"url": "x",\n"type": "ws"}}}', 2, "unknown-transport", id="transport"),
        pytest.param('{"mcpServers": {\n"a": {"url": "x", "command": "y"}}}', 2, "contradiction", id="both"),
        pytest.param('{"mcpServers": {\n"a": {"url": "x", "type": "stdio"}}}', 2, "missing-key", id="stdio-of-a-url"),
        pytest.param('{"mcpServers": {\n"a": {"command": "x\\u0000y"}}}', 2, "bad-character", id="nul"),
        pytest.param('{"mcpServers": {"a": {"command": "x",\n"env": {"A": true}}}}', 2, "wrong-type", id="env-value"),
        pytest.param('{"mcpServers": {\n"a": null}}', 2, "wrong-type", id="null"),
        pytest.param('{"mcpServers": {\n" ": {"command": "x"}}}', 2, "blank-name", id="blank-name"),
        pytest.param('{"mcpServers":\n[]}', 1, "wrong-type", id="servers-as-a-list"),
        pytest.param('{\n"x": 1}', 1, "no-servers", id="another-file"),
        pytest.param("[]", 1, "wrong-type", id="a-list"),
    ],
)
def test_M1_a_mistake_is_a_finding_with_its_line(tmp_path: Path, text: str, line: int, rule: str) -> None:
    config = read_client_config(_write(tmp_path / "c.json", text))
    assert [(finding.line, finding.rule) for finding in config.findings] == [(line, rule)]


def test_M1_a_wrong_entry_hides_no_other(tmp_path: Path) -> None:
    config = read_client_config(_write(tmp_path / "c.json", {"mcpServers": {"a": {}, "b": ENTRY, "c": {"args": 3}}}))
    assert [server.name for server in config.servers] == ["b"]
    assert {name: [each.rule for each in mistakes] for name, mistakes in config.mistakes.items()} == {
        "a": ["missing-key"],
        "c": ["missing-key", "wrong-type"],
    }


@pytest.mark.parametrize(
    ("entry", "transport"),
    [
        pytest.param({"command": "x"}, Transport.STDIO, id="command"),
        pytest.param({"url": "http://h/mcp"}, Transport.HTTP, id="url"),
        pytest.param({"url": "http://h/sse"}, Transport.SSE, id="path-ends-with-sse"),
        pytest.param({"url": "http://h/sse/?a=b"}, Transport.SSE, id="sse-before-a-query"),
        pytest.param({"url": "http://h/sse", "type": "http"}, Transport.HTTP, id="type-before-path"),
        pytest.param({"url": "http://h/x", "transport": "sse"}, Transport.SSE, id="transport"),
        pytest.param({"url": "http://h/x", "type": "streamable-http"}, Transport.HTTP, id="streamable-http"),
        pytest.param({"url": "http://h/x", "type": "streamableHttp"}, Transport.HTTP, id="streamableHttp"),
        pytest.param({"serverUrl": "http://h/sse"}, Transport.SSE, id="serverUrl"),
    ],
)
def test_M1_the_transport_is_chosen_by_type_or_else_by_the_url(
    tmp_path: Path, entry: dict[str, object], transport: Transport
) -> None:
    (server,) = read_client_config(_write(tmp_path / "c.json", {"mcpServers": {"a": entry}})).servers
    assert server.transport is transport


@pytest.mark.parametrize(
    ("command", "is_gateway"),
    [
        pytest.param("toolbelt serve developer", True, id="program"),
        pytest.param("/opt/venv/bin/toolbelt serve x", True, id="absolute-path"),
        pytest.param("C:\\Tools\\toolbelt.exe serve x", True, id="windows"),
        pytest.param("python -m toolbelt serve x", True, id="module"),
        pytest.param("/usr/bin/python3.12 -I -m toolbelt serve x", True, id="module-with-options"),
        pytest.param("uvx --from agent-toolbelt toolbelt serve x", True, id="uvx-from"),
        pytest.param("uvx agent-toolbelt@latest serve x", True, id="uvx"),
        pytest.param("uv run --directory /x toolbelt serve x", True, id="uv-run"),
        pytest.param("pipx run agent-toolbelt[dask]==1.2 serve", True, id="pipx"),
        pytest.param("env A=b toolbelt serve x", True, id="env"),
        pytest.param("toolbelt loadout list", False, id="another-command"),
        pytest.param("git-server --repo /src/toolbelt serve", False, id="a-folder-of-that-name"),
        pytest.param("mytoolbelt serve", False, id="another-program"),
        pytest.param("npx server", False, id="another-server"),
    ],
)
def test_M9_entries_that_start_the_gateway_are_known(command: str, is_gateway: bool) -> None:
    words = command.split()
    assert starts_gateway(words[0], words[1:]) is is_gateway


def test_M9_a_gateway_behind_a_shell_is_known() -> None:
    assert starts_gateway("sh", ["-c", "cd /x && exec toolbelt serve x"])
    assert starts_gateway("bash", ["-lc", "toolbelt serve x"])
    assert not starts_gateway("bash", ["-lc", "echo toolbelt"])
    assert starts_gateway("cmd", ["/c", "toolbelt", "serve", "x"])


def test_M9_a_gateway_is_no_server_to_read(tmp_path: Path) -> None:
    data = {"mcpServers": {"a": ENTRY, "toolbelt": {"command": "toolbelt", "args": ["serve", "x"]}}}
    config = read_client_config(_write(tmp_path / "c.json", data))
    assert ([server.name for server in config.servers], config.gateways) == (["a"], ("toolbelt",))


def test_M1_the_files_of_a_project_come_before_those_of_the_user(tmp_path: Path) -> None:
    home, project = tmp_path / "home", tmp_path / "project"
    for place in (
        project / ".vscode" / "mcp.json",
        project / ".mcp.json",
        home / ".claude.json",
        home / ".cursor" / "mcp.json",
        home / ".codeium" / "windsurf" / "mcp_config.json",
        home / ".config" / "Code" / "User" / "mcp.json",
    ):
        _write(place, {})
    found = find_client_configs(project, home, "linux")
    assert [(config.client, config.is_project) for config in found] == [
        ("Claude Code", True),
        ("VS Code", True),
        ("Claude Code", False),
        ("Cursor", False),
        ("Windsurf", False),
        ("VS Code", False),
    ]


@pytest.mark.parametrize(
    ("platform", "place"),
    [
        ("linux", ".config/Claude"),
        ("darwin", "Library/Application Support/Claude"),
        ("win32", "AppData/Roaming/Claude"),
        ("win32", "AppData/Local/Packages/Claude_pzs8sxrjxfjjc/LocalCache/Roaming/Claude"),
    ],
)
def test_M1_each_system_has_its_own_place(tmp_path: Path, platform: str, place: str) -> None:
    path = _write(tmp_path / place / "claude_desktop_config.json", {})
    (found,) = find_client_configs(tmp_path / "project", tmp_path, platform)
    assert (found.client, found.path) == ("Claude Desktop", path)


def test_M1_the_places_of_a_users_files_can_be_moved(tmp_path: Path) -> None:
    path = _write(tmp_path / "x" / "Claude" / "claude_desktop_config.json", {})
    other = _write(tmp_path / "y" / ".claude.json", {})
    environment = {"XDG_CONFIG_HOME": str(tmp_path / "x"), "CLAUDE_CONFIG_DIR": str(tmp_path / "y")}
    found = find_client_configs(tmp_path / "project", tmp_path / "home", "linux", environment)
    assert [config.path for config in found] == [other, path]


CLAUDE_CODE_USER = {
    "numStartups": 7,
    "mcpServers": {"shared": {"type": "http", "url": "https://h/mcp", "headers": {"A": "Bearer ${T}"}}, "off": ENTRY},
    "projects": {
        "/srv/app": {
            "allowedTools": [],
            "mcpServers": {"own": {"type": "stdio", "command": "node", "args": ["s.js"], "env": {}}},
            "disabledMcpServers": ["off"],
        },
        "/srv/other": {"mcpServers": {"others": ENTRY}},
    },
}


def test_M1_claude_codes_user_file_has_servers_of_the_user_and_of_each_project(tmp_path: Path) -> None:
    path = _write(tmp_path / ".claude.json", CLAUDE_CODE_USER)
    config = read_client_config(path, "/srv/app")
    assert config.findings == ()
    assert [(server.name, server.disabled) for server in config.servers] == [
        ("shared", False),
        ("off", True),
        ("own", False),
    ]
    assert [server.name for server in read_client_config(path, "/srv/third").servers] == ["shared", "off"]


def test_M1_a_users_file_without_servers_is_no_mistake(tmp_path: Path) -> None:
    for name, data in ((".claude.json", {"numStartups": 1, "projects": {}}), ("desktop.json", {"preferences": {}})):
        config = read_client_config(_write(tmp_path / name, data), tmp_path)
        assert (config.servers, config.findings, config.form) == ((), (), ClientForm.NONE)


@pytest.mark.parametrize("names", [None, True, 1.5, "off", {"off": 1}, [1, None]], ids=str)
def test_M1_settings_that_are_not_ours_to_check_do_no_harm(tmp_path: Path, names: object) -> None:
    data = {"mcpServers": {"off": ENTRY}, "projects": {str(tmp_path): {"disabledMcpServers": names}, "/x": 3}}
    config = read_client_config(_write(tmp_path / ".claude.json", {**data, "inputs": names}), tmp_path)
    assert [(server.name, server.disabled) for server in config.servers] == [("off", False)]


def test_M1_vs_code_has_inputs_and_an_env_file(tmp_path: Path) -> None:
    path = tmp_path / ".vscode" / "mcp.json"
    text = """{
  // keys
  "inputs": [
    {"type": "promptString", "id": "api-key", "description": "Key of the service", "password": true},
    {"type": "pickString", "id": "level", "options": ["a", "b"], "default": "a"},
  ],
  "servers": {
    "service": {
      "type": "stdio",
      "command": "npx",
      "args": ["-y", "service", "--level", "${input:level}"],
      "env": {"API_KEY": "${input:api-key}", "PORT": 3000, "NONE": null},
      "envFile": "${workspaceFolder}/.env",
      "dev": {"watch": "build/**/*.js"},
    },
    "remote": {"type": "http", "url": "https://api.example.com/mcp/", "headers": {"X-Version": "1.2"}},
  },
}"""
    config = read_client_config(_write(path, text))
    assert config.findings == ()
    service, remote = config.servers
    assert service.inputs == {"api-key": "Key of the service", "level": ""}
    assert service.env == {"API_KEY": "${input:api-key}", "PORT": "3000"}
    assert (service.env_file, service.folder) == ("${workspaceFolder}/.env", str(tmp_path))
    assert (remote.transport, remote.headers) == (Transport.HTTP, {"X-Version": "1.2"})


def test_M1_windsurf_has_servers_by_serverUrl_and_switched_off(tmp_path: Path) -> None:
    data = {
        "mcpServers": {
            "remote": {"serverUrl": "https://h/mcp", "headers": {"Authorization": "Bearer ${env:T}"}},
            "off": {"command": "py", "args": ["-m", "x"], "disabled": True, "disabledTools": ["a"], "env": {}},
        }
    }
    config = read_client_config(_write(tmp_path / "mcp_config.json", data))
    remote, off = config.servers
    assert (remote.url, remote.transport, remote.disabled) == ("https://h/mcp", Transport.HTTP, False)
    assert (off.disabled, off.command, config.findings) == (True, "py", ())
