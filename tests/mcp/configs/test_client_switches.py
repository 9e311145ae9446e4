"""Rule V7: what clients switch off in the entry of a server, elsewhere in its file, and in other files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from toolbelt.mcp.configs.client_configs import ClientConfig, ClientForm, list_client_places, read_client_config
from toolbelt.servers.switches import find_switch

TOOLS = ("get_page", "put_page", "drop_page", "find.page")
ENTRY = {"command": "pages"}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    for name in ("CLAUDE_CONFIG_DIR", "GEMINI_CLI_HOME"):
        monkeypatch.delenv(name, raising=False)
    return folder


def _write(path: Path, data: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(data if isinstance(data, str) else json.dumps(data))
    return path


def _on(config: ClientConfig, name: str = "pages") -> set[str]:
    """The tools that are on."""
    (spec,) = (spec for spec in config.servers if spec.name == name)
    return {tool for tool in TOOLS if find_switch(spec.switches, tool) is None}


def _keys(config: ClientConfig, name: str = "pages") -> set[tuple[str, str]]:
    return {(each.key, each.source) for spec in config.servers if spec.name == name for each in spec.switches}


ALL = set(TOOLS)


@pytest.mark.parametrize(
    ("extra", "on", "key"),
    [
        pytest.param({"enabled": False}, set(), "enabled", id="enabled-false"),
        pytest.param({"disabled": True}, set(), "disabled", id="disabled"),
        pytest.param({"enabled": True, "disabled": True}, set(), "disabled", id="off-wins"),
        pytest.param({"enabled": True, "disabled": False}, ALL, "", id="on"),
        pytest.param({"disabledTools": ["put_page"]}, ALL - {"put_page"}, "disabledTools", id="windsurf-roo-kiro"),
        pytest.param({"excludeTools": ["put_page(x)"]}, ALL - {"put_page"}, "excludeTools", id="gemini-exclude"),
        pytest.param({"includeTools": ["put_page"]}, {"put_page"}, "includeTools", id="gemini-include"),
        pytest.param({"includeTools": []}, set(), "includeTools", id="gemini-includes-nothing"),
        pytest.param({"includeTools": ["p*", "get_*"]}, {"put_page", "get_page"}, "includeTools", id="amp-patterns"),
        pytest.param({"enabled_tools": ["find.page"]}, {"find.page"}, "enabled_tools", id="codex-enabled"),
        pytest.param({"disabled_tools": ["find.page"]}, ALL - {"find.page"}, "disabled_tools", id="codex-disabled"),
        pytest.param({"disabled_tools": ["f*"]}, ALL, "disabled_tools", id="no-pattern-for-codex"),
        pytest.param({"available_tools": []}, ALL, "", id="goose-nothing-is-all"),
        pytest.param({"available_tools": ["put_page"]}, {"put_page"}, "available_tools", id="goose"),
        pytest.param({"tools": ["*"]}, ALL, "tools", id="copilot-all"),
        pytest.param({"tools": ["get_page"]}, {"get_page"}, "tools", id="copilot"),
        pytest.param({"tools": {"get_page": {"approval_mode": "auto"}}}, ALL, "", id="settings-of-tools-are-no-filter"),
        pytest.param(
            {"alwaysAllow": ["get_page"], "autoApprove": ["put_page"], "trust": True}, ALL, "", id="approvals"
        ),
    ],
)
def test_V7_an_entry_switches_its_server_or_tools_off(
    tmp_path: Path, extra: dict[str, Any], on: set[str], key: str
) -> None:
    path = _write(tmp_path / "p" / "x.json", {"mcpServers": {"pages": {**ENTRY, **extra}, "other": ENTRY}})
    config = read_client_config(path, tmp_path / "p")
    assert (_on(config), config.findings) == (on, ())
    assert _keys(config) == ({(key, "x.json")} if key else set())
    assert _on(config, "other") == ALL


def test_V7_exclusion_and_inclusion_compose(tmp_path: Path) -> None:
    entry = {**ENTRY, "includeTools": ["get_page", "put_page"], "excludeTools": ["put_page"]}
    config = read_client_config(_write(tmp_path / "x.json", {"mcpServers": {"pages": entry}}))
    assert _on(config) == {"get_page"}


@pytest.mark.parametrize("value", ["put_page", {"put_page": True}, [1], 3], ids=str)
def test_V7_a_filter_of_another_form_refuses_its_entry_and_no_other(tmp_path: Path, value: object) -> None:
    servers = {"pages": {**ENTRY, "disabledTools": value}, "other": ENTRY}
    config = read_client_config(_write(tmp_path / "x.json", {"mcpServers": servers}))
    assert [spec.name for spec in config.servers] == ["other"]
    assert [finding.rule for finding in config.mistakes["pages"]] == ["wrong-type"]


@pytest.mark.parametrize(
    ("document", "on", "key"),
    [
        pytest.param({"mcp": {"excluded": ["pages"]}}, set(), "mcp.excluded", id="gemini-excluded"),
        pytest.param({"mcp": {"allowed": ["other"]}}, set(), "mcp.allowed", id="gemini-allowed"),
        pytest.param({"mcp": {"allowed": ["pages"]}}, ALL, "", id="gemini-allowed-it"),
        pytest.param({"excludeMCPServers": ["pages"]}, set(), "excludeMCPServers", id="gemini-before-excluded"),
        pytest.param({"allowMCPServers": ["other"]}, set(), "allowMCPServers", id="gemini-before-allowed"),
        pytest.param({"amp.tools.disable": ["mcp__pages__put_*"]}, ALL - {"put_page"}, "amp.tools.disable", id="amp"),
        pytest.param({"tools": {"exclude": ["pages"]}, "mcp": {"excluded": []}}, ALL, "", id="nothing"),
    ],
)
def test_V7_a_file_switches_off_what_it_has(tmp_path: Path, document: dict[str, Any], on: set[str], key: str) -> None:
    path = _write(tmp_path / ".gemini" / "settings.json", {**document, "mcpServers": {"pages": ENTRY}})
    config = read_client_config(path)
    assert (_on(config), config.findings) == (on, ())
    assert _keys(config) == ({(key, ".gemini/settings.json")} if key else set())


def test_V7_gemini_keeps_what_a_command_switched_off_beside_its_settings(tmp_path: Path, home: Path) -> None:
    path = _write(tmp_path / "p" / ".gemini" / "settings.json", {"mcpServers": {"Pages": ENTRY, "other": ENTRY}})
    _write(home / ".gemini" / "mcp-server-enablement.json", {"pages": {"enabled": False}, "other": {"enabled": True}})
    config = read_client_config(path)
    assert _keys(config, "Pages") == {("enabled", "~/.gemini/mcp-server-enablement.json")}
    assert _on(config, "other") == ALL


OPENCODE = {"mcp": {"pages": {"type": "local", "command": ["pages", "-x"], "environment": {"A": "{env:B}"}}}}


@pytest.mark.parametrize(
    ("extra", "on"),
    [
        pytest.param({"tools": {"pages_*": False}}, set(), id="server"),
        pytest.param({"tools": {"*": False}}, set(), id="everything"),
        pytest.param({"tools": {"pages_*": False, "pages_get_page": True}}, {"get_page"}, id="but-one"),
        pytest.param({"tools": {"pages_put_page": False, "bash": False}}, ALL - {"put_page"}, id="tool"),
        pytest.param(
            {"permission": {"pages_p*": "deny", "edit": "deny", "bash": {"*": "ask"}}}, ALL - {"put_page"}, id="p"
        ),
        pytest.param({"tools": {"others_*": False}}, ALL, id="another-server"),
    ],
)
def test_V7_opencode_switches_tools_by_patterns(tmp_path: Path, extra: dict[str, Any], on: set[str]) -> None:
    config = read_client_config(_write(tmp_path / "opencode.jsonc", {**OPENCODE, **extra}))
    (pages,) = config.servers
    assert (pages.command, pages.args, pages.env) == ("pages", ("-x",), {"A": "${B}"})
    assert _on(config) == on


@pytest.mark.parametrize(
    ("profile", "on"),
    [
        pytest.param({"context_servers": {"pages": {"tools": {"put_page": False}}}}, ALL - {"put_page"}, id="tool-off"),
        pytest.param({"enable_all_context_servers": False, "context_servers": {}}, set(), id="none"),
        pytest.param(
            {"enable_all_context_servers": False, "context_servers": {"pages": {"tools": {"get_page": True}}}},
            {"get_page"},
            id="one",
        ),
    ],
)
def test_V7_zed_switches_tools_by_profile(tmp_path: Path, profile: dict[str, Any], on: set[str]) -> None:
    agent = {"default_profile": "mine", "profiles": {"mine": profile, "write": {"enable_all_context_servers": False}}}
    data = {"context_servers": {"pages": {"command": {"path": "pages", "args": ["a"], "env": {}}}}, "agent": agent}
    config = read_client_config(_write(tmp_path / ".zed" / "settings.json", data))
    assert (config.servers[0].command, config.servers[0].args) == ("pages", ("a",))
    assert (_on(config), _keys(config)) == (on, {("agent.profiles.mine", ".zed/settings.json")})


CLAUDE_FILES = {
    "local": ".claude/settings.local.json",
    "project": ".claude/settings.json",
    "user": "~/.claude/settings.json",
}


@pytest.mark.parametrize("place", CLAUDE_FILES)
@pytest.mark.parametrize(
    ("settings", "on", "key"),
    [
        pytest.param({"disabledMcpjsonServers": ["pages"]}, set(), "disabledMcpjsonServers", id="rejected"),
        pytest.param(
            {
                "disabledMcpjsonServers": ["pages"],
                "enableAllProjectMcpServers": True,
                "enabledMcpjsonServers": ["pages"],
            },
            set(),
            "disabledMcpjsonServers",
            id="rejected-wins-over-approved",
        ),
        pytest.param({"enabledMcpjsonServers": ["x"], "enableAllProjectMcpServers": False}, ALL, "", id="not-rejected"),
        pytest.param({"permissions": {"deny": ["mcp__pages"]}}, set(), "permissions.deny", id="server-denied"),
        pytest.param({"permissions": {"deny": ["mcp__pages__*"]}}, set(), "permissions.deny", id="all-tools-denied"),
        pytest.param({"permissions": {"deny": ["mcp__*"]}}, set(), "permissions.deny", id="every-server-denied"),
        pytest.param(
            {"permissions": {"deny": ["mcp__pages__put_page", "Bash"], "allow": ["mcp__pages__put_page"]}},
            ALL - {"put_page"},
            "permissions.deny",
            id="tool-denied",
        ),
        pytest.param(
            {"permissions": {"deny": ["mcp__page", "mcp__pagesx__a"], "ask": ["mcp__pages"]}}, ALL, "", id="others"
        ),
        pytest.param({"deniedMcpServers": [{"serverName": "pages"}]}, set(), "deniedMcpServers", id="denied-by-name"),
        pytest.param({"deniedMcpServers": [{"serverCommand": ["pages"]}]}, set(), "deniedMcpServers", id="by-command"),
        pytest.param({"allowedMcpServers": [{"serverName": "other"}]}, set(), "allowedMcpServers", id="not-allowed"),
        pytest.param({"allowedMcpServers": [{"serverName": "pages"}]}, ALL, "", id="allowed"),
        pytest.param(
            {"disabledMcpjsonServers": "pages", "permissions": [1], "deniedMcpServers": {}}, ALL, "", id="no-lists"
        ),
    ],
)
def test_V7_claude_code_rejects_servers_and_denies_tools_in_any_of_its_settings(
    tmp_path: Path, home: Path, place: str, settings: dict[str, Any], on: set[str], key: str
) -> None:
    file = CLAUDE_FILES[place]
    _write(home / file[2:] if file.startswith("~") else tmp_path / "p" / file, settings)
    config = read_client_config(_write(tmp_path / "p" / ".mcp.json", {"mcpServers": {"pages": ENTRY}}))
    assert (_on(config), _keys(config)) == (on, {(key, file)} if key else set())


def test_V7_lists_of_all_settings_count_together(tmp_path: Path, home: Path) -> None:
    _write(tmp_path / "p" / ".claude" / "settings.json", {"permissions": {"deny": ["mcp__pages__put_page"]}})
    _write(home / ".claude" / "settings.json", {"permissions": {"deny": ["mcp__pages__get_page"]}})
    config = read_client_config(_write(tmp_path / "p" / ".mcp.json", {"mcpServers": {"pages": ENTRY}}))
    assert _on(config) == {"drop_page", "find.page"}


@pytest.mark.parametrize("key", ["disabledMcpjsonServers", "disabledMcpServers"])
def test_V7_claude_codes_entry_of_the_project_rejects_a_server_of_mcp_json(
    tmp_path: Path, home: Path, key: str
) -> None:
    _write(home / ".claude.json", {"projects": {str(tmp_path / "p"): {key: ["pages"]}, "/elsewhere": {key: ["other"]}}})
    servers = {"mcpServers": {"pages": ENTRY, "other": ENTRY}}
    config = read_client_config(_write(tmp_path / "p" / ".mcp.json", servers))
    assert (_on(config), _on(config, "other")) == (set(), ALL)
    assert _keys(config) == {(key, "~/.claude.json")}


def test_V7_a_rejection_is_about_servers_of_mcp_json_and_a_denial_about_all(tmp_path: Path, home: Path) -> None:
    settings = {"disabledMcpjsonServers": ["pages"], "permissions": {"deny": ["mcp__my_tools__put_page"]}}
    _write(tmp_path / "p" / ".claude" / "settings.json", settings)
    path = _write(home / ".claude.json", {"mcpServers": {"pages": ENTRY, "my tools": ENTRY}})
    config = read_client_config(path, tmp_path / "p")
    assert (_on(config), _on(config, "my tools")) == (ALL, ALL - {"put_page"})
    cursor = _write(tmp_path / "p" / ".cursor" / "mcp.json", {"mcpServers": {"my tools": ENTRY}})
    assert _on(read_client_config(cursor), "my tools") == ALL


@pytest.mark.parametrize("text", ['{"permissions": {"deny": ["mcp__pages__put_page(a:b)"]}}', '{"permissions": '])
def test_V7_what_cannot_be_honoured_is_named(tmp_path: Path, text: str) -> None:
    _write(tmp_path / "p" / ".claude" / "settings.json", text)
    config = read_client_config(_write(tmp_path / "p" / ".mcp.json", {"mcpServers": {"pages": ENTRY}}))
    (switch,) = config.servers[0].switches
    assert (switch.source, bool(switch.problem), _on(config)) == (".claude/settings.json", True, ALL)


CODEX = """
model = "m"
[mcp_servers.pages]
command = "pages"
env_vars = ["REGION"]
enabled = false
[mcp_servers.web]
url = "https://h/mcp"
bearer_token_env_var = "WEB_TOKEN"
env_http_headers = {X-Team = "TEAM"}
disabled_tools = ["put_page"]
"""
GOOSE = """
GOOSE_MODEL: m
extensions:
  developer: {enabled: true, type: builtin, name: developer}
  pages: {enabled: false, type: stdio, cmd: pages, args: [-x], envs: {A: b}, env_keys: [KEY]}
  web: {enabled: true, type: streamable_http, uri: https://h/mcp, available_tools: [get_page]}
"""


def test_M1_codex_has_toml(tmp_path: Path) -> None:
    config = read_client_config(_write(tmp_path / ".codex" / "config.toml", CODEX))
    pages, web = config.servers
    assert (config.form, config.findings) == (ClientForm.CODEX, ())
    assert (pages.command, pages.env, pages.disabled) == ("pages", {"REGION": "${REGION:-}"}, True)
    assert (web.url, web.headers) == ("https://h/mcp", {"Authorization": "Bearer ${WEB_TOKEN}", "X-Team": "${TEAM}"})
    assert _on(config, "web") == ALL - {"put_page"}


def test_M1_goose_has_yaml_with_parts_of_its_own(tmp_path: Path) -> None:
    config = read_client_config(_write(tmp_path / "config.yaml", GOOSE))
    pages, web = config.servers
    assert config.findings == ()
    assert (pages.command, pages.args, pages.env, pages.disabled) == (
        "pages",
        ("-x",),
        {"A": "b", "KEY": "${KEY}"},
        True,
    )
    assert (web.url, _on(config, "web")) == ("https://h/mcp", {"get_page"})


def test_M1_a_broken_toml_is_a_finding(tmp_path: Path) -> None:
    (finding,) = read_client_config(_write(tmp_path / "c.toml", "[mcp_servers")).findings
    assert finding.rule == "syntax"


@pytest.mark.parametrize(
    ("folder", "written", "read"),
    [
        pytest.param("x", "$KEY", "${KEY}", id="alone"),
        pytest.param("x", "a$KEY", "a$KEY", id="within-a-value-of-others"),
        pytest.param(".gemini", "Bearer $KEY", "Bearer ${KEY}", id="within-a-value-of-gemini"),
        pytest.param("x", "Bearer {env:KEY}", "Bearer ${KEY}", id="opencode"),
        pytest.param("x", "${KEY:-b} 5$", "${KEY:-b} 5$", id="usual"),
        pytest.param("x", "Bearer ${env:KEY}", "Bearer ${env:KEY}", id="vs-code"),
        pytest.param(".gemini", "${KEY}$KEY", "${KEY}${KEY}", id="both-of-gemini"),
    ],
)
def test_M1_variables_of_clients_are_read(tmp_path: Path, folder: str, written: str, read: str) -> None:
    data = {"mcpServers": {"web": {"httpUrl": "https://h/mcp", "headers": {"A": written}}}}
    (web,) = read_client_config(_write(tmp_path / folder / "settings.json", data)).servers
    assert (web.url, web.headers) == ("https://h/mcp", {"A": read})


def test_M1_an_argument_may_look_like_a_variable(tmp_path: Path) -> None:
    data = {"mcpServers": {"pages": {"command": "pages", "args": ["$match", "{env:KEY}"]}}}
    assert read_client_config(_write(tmp_path / "x.json", data)).servers[0].args == ("$match", "${KEY}")


def test_M1_every_place_of_a_client_is_listed_once(tmp_path: Path) -> None:
    for platform in ("linux", "darwin", "win32"):
        paths = [place.path for place in list_client_places(tmp_path / "p", tmp_path, platform)]
        assert len(paths) == len(set(paths))
        assert tmp_path / ".codex" / "config.toml" in paths


def test_V7_codex_joins_the_files_of_project_and_user(tmp_path: Path, home: Path) -> None:
    text = "[mcp_servers.pages]\nenabled = false\n[mcp_servers.web]\ndisabled_tools = ['put_page']\n"
    project = _write(tmp_path / "p" / ".codex" / "config.toml", text)
    user = _write(home / ".codex" / "config.toml", CODEX.replace("enabled = false", "enabled = true"))
    config = read_client_config(user, tmp_path / "p")
    assert (_on(config), _on(config, "web")) == (set(), ALL - {"put_page"})
    assert ("enabled", ".codex/config.toml") in _keys(config)
    completing = read_client_config(project, tmp_path / "p")
    assert (completing.servers, completing.findings) == ((), ())
    assert _on(read_client_config(user, tmp_path / "other")) == ALL


def test_V7_opencode_joins_the_files_of_project_and_user(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "c"))
    _write(tmp_path / "p" / "opencode.json", {"mcp": {"pages": {"enabled": False}}, "tools": {"web_*": False}})
    servers = {**OPENCODE["mcp"], "web": {"type": "remote", "url": "https://h/mcp"}}
    config = read_client_config(_write(home / "c" / "opencode" / "opencode.jsonc", {"mcp": servers}), tmp_path / "p")
    assert (_on(config), _on(config, "web"), config.findings) == (set(), set(), ())


def test_M1_continue_has_a_list_of_named_entries(tmp_path: Path) -> None:
    text = "name: mine\nmcpServers:\n- {name: pages, command: pages, args: [-x]}\n- {name: web, url: https://h/mcp}\n"
    config = read_client_config(_write(tmp_path / ".continue" / "config.yaml", text))
    assert [(spec.name, spec.command, spec.url) for spec in config.servers] == [
        ("pages", "pages", ""),
        ("web", "", "https://h/mcp"),
    ]


@pytest.mark.parametrize("key", ["allowedTools", "blocked_tools", "toolFilter", "enabledTools", "denyTools"])
def test_V7_a_key_that_looks_like_a_filter_is_named(tmp_path: Path, key: str) -> None:
    servers = {"pages": {**ENTRY, key: ["get_page"], "alwaysAllow": ["a"], "timeout": 3, "disabledTools": []}}
    config = read_client_config(_write(tmp_path / "x.json", {"mcpServers": servers}))
    (switch,) = config.servers[0].switches
    assert (switch.key, bool(switch.problem), _on(config)) == (key, True, ALL)


@pytest.mark.parametrize(
    "data", [{"mcp": {"allowed": ["a"]}}, {"extensions": {"x.y": True}}, {"mcp": {}}, {"context_servers": {}}], ids=str
)
def test_M1_settings_without_servers_are_no_mistake_where_they_were_found(tmp_path: Path, data: object) -> None:
    path = _write(tmp_path / ".gemini" / "settings.json", data)
    assert read_client_config(path, may_have_none=True).findings == ()
