"""Rules M1 and M2: what of a definition is shown, and what an approval covers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from toolbelt.catalog.frozen import FrozenDict
from toolbelt.mcp.configs.servers import approval_digest, mask_arguments, mask_url, masked_command_line, masked_data
from toolbelt.servers import ServerSpec, Transport
from toolbelt.servers.switches import Switch

STDIO = ServerSpec("git", Transport.STDIO, command="run", args=("a", "b"), folder="/srv/app")
HTTP = ServerSpec("web", Transport.HTTP, url="https://example.com/mcp")


@pytest.mark.parametrize(
    ("args", "shown"),
    [
        pytest.param("--api-key X", "--api-key ***", id="flag-then-secret"),
        pytest.param("--api-key=X", "--api-key=***", id="flag-with-secret"),
        pytest.param("--apikey X", "--apikey ***", id="key-within-a-word"),
        pytest.param("-token X", "-token ***", id="one-hyphen"),
        pytest.param("--Access-TOKEN X", "--Access-TOKEN ***", id="any-case"),
        pytest.param("--client-secret X", "--client-secret ***", id="secret"),
        pytest.param("--db-password X", "--db-password ***", id="password"),
        pytest.param("--auth X", "--auth ***", id="auth"),
        pytest.param("--token ${T}", "--token ${T}", id="a-variable-is-no-secret"),
        pytest.param("--token ${T:-X}", "--token ${T:-***}", id="its-default-may-be"),
        pytest.param("--no-auth --port 80", "--no-auth --port 80", id="a-flag-is-no-value"),
        pytest.param("--repo /a --verbose", "--repo /a --verbose", id="everything-else-in-full"),
        pytest.param("--file token.txt", "--file token.txt", id="a-value-that-names-a-secret"),
        pytest.param("-H Authorization:X", "-H Authorization: ***", id="header"),
        pytest.param("--header=X-Any:X", "--header=X-Any: ***", id="header-with-equals-sign"),
        pytest.param("-H pattern", "-H pattern", id="a-flag-of-that-name-that-has-no-header"),
        pytest.param("-e token=require('x')", "-e token=require('x')", id="code-is-no-variable"),
        pytest.param("-c TOKEN=X;evil", "-c TOKEN=X;evil", id="code-of-a-shell"),
        pytest.param("postgres://u:X@host/db", "postgres://***@host/db", id="user-information"),
        pytest.param("--dsn=pg://u:X@h", "--dsn=pg://***@h", id="url-after-equals-sign"),
        pytest.param("https://h/p?a=X&b=Y#c", "https://h/p?a=***&b=***#c", id="query-values"),
        pytest.param("https://h/p?X", "https://h/p?***", id="a-query-without-names"),
        pytest.param("see=http://u:X@h/,http://h?k=X", "see=http://***@h/,http://h?k=***", id="several-urls"),
    ],
)
def test_M1_secrets_in_arguments_are_masked_and_nothing_else(args: str, shown: str) -> None:
    assert " ".join(mask_arguments(args.split())) == shown


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        pytest.param("docker run -e A=X -i i", "docker run -e A=*** -i i", id="docker"),
        pytest.param("/usr/bin/podman run --env=A=X", "/usr/bin/podman run --env=A=***", id="podman"),
        pytest.param("docker run -eA=X", "docker run -eA=***", id="without-a-blank"),
        pytest.param("docker run -e A", "docker run -e A", id="a-name-alone"),
        pytest.param("docker run -e LD_PRELOAD=/x", "docker run -e LD_PRELOAD=/x", id="what-runs"),
        pytest.param("env -i A=X B=${C} run D=E", "env -i A=*** B=${C} run D=E", id="env"),
        pytest.param("node -e A=X", "node -e A=X", id="another-program"),
    ],
)
def test_M1_variables_are_masked_where_a_program_sets_them(line: str, shown: str) -> None:
    command, *args = line.split()
    assert " ".join((command, *mask_arguments(args, command))) == shown


def test_M1_a_password_with_an_at_sign_is_masked_whole() -> None:
    assert mask_url("https://u:p@ss@host:1/x") == "https://***@host:1/x"


def test_M1_values_of_variables_and_headers_are_masked_unless_they_change_what_runs() -> None:
    env = FrozenDict(TOKEN="X", URL="${BASE}/x", PATH="/opt/bin", NODE_OPTIONS="-r ./a.js", PYTHONPATH="/p", EMPTY="")
    assert masked_data(replace(STDIO, env=env))["env"] == {
        "TOKEN": "***",
        "URL": "***${BASE}",
        "PATH": "/opt/bin",
        "NODE_OPTIONS": "-r ./a.js",
        "PYTHONPATH": "/p",
        "EMPTY": "",
    }
    assert masked_data(replace(HTTP, headers=FrozenDict(A="Bearer X", PATH="X")))["headers"] == {
        "A": "***",
        "PATH": "***",
    }


def test_M1_a_command_line_is_shown_as_a_shell_takes_it() -> None:
    spec = replace(STDIO, args=("--key", "X", "two words"))
    assert masked_command_line(spec) == "run --key '***' 'two words'"
    assert masked_command_line(replace(HTTP, url="https://me:X@h/?k=X")) == "https://***@h/?k=***"


def _digest(spec: ServerSpec, environment: dict[str, str] | None = None) -> str:
    return approval_digest(spec, environment or {})


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"command": "walk"}, id="command"),
        pytest.param({"args": ("a", "b", "c")}, id="arguments"),
        pytest.param({"args": ("a b",)}, id="where-arguments-end"),
        pytest.param({"args": ("b", "a")}, id="order-of-arguments"),
        pytest.param({"cwd": "sub"}, id="working-directory"),
        pytest.param({"folder": "/srv/other"}, id="the-folder-it-is-relative-to"),
        pytest.param({"env": FrozenDict(A="1")}, id="name-of-a-variable"),
        pytest.param({"env": FrozenDict(PATH="/x")}, id="path"),
        pytest.param({"env_file": "x.env"}, id="env-file"),
        pytest.param({"transport": Transport.HTTP, "url": "http://h"}, id="transport"),
    ],
)
def test_M2_a_changed_definition_needs_a_new_approval(change: dict[str, Any]) -> None:
    assert _digest(replace(STDIO, **change)) != _digest(STDIO)


@pytest.mark.parametrize(
    "name",
    [
        *("PATH", "Path", "LD_PRELOAD", "DYLD_INSERT_LIBRARIES", "PYTHONPATH", "NODE_OPTIONS"),
        *("HOME", "XDG_CONFIG_HOME", "GIT_EXTERNAL_DIFF", "GIT_CONFIG_VALUE_0", "OPENSSL_CONF", "PAGER"),
    ],
)
def test_M2_the_value_of_a_variable_that_changes_what_runs_is_approved(name: str) -> None:
    assert masked_data(replace(STDIO, env=FrozenDict({name: "/a"})))["env"] == {name: "/a"}
    one, other = (replace(STDIO, env=FrozenDict({name: value})) for value in ("/a", "/b"))
    assert _digest(one) != _digest(other)


@pytest.mark.parametrize(
    "name",
    [
        *("GOFLAGS", "MAVEN_OPTS", "LUA_INIT", "HTTPS_PROXY", "A", "PYTHON_KEYRING_BACKEND", "GIT_CONFIG_KEY_0"),
        *("TOKENIZER_PATH", "AUTHOR_COMMAND", "SUDO_ASKPASS", "KEYBOARD_HOOK", "PASSWORD_COMMAND", "R_PROFILE"),
    ],
)
def test_M2_the_value_of_every_variable_that_is_no_secret_by_its_name_is_approved(name: str) -> None:
    one, other = (replace(STDIO, env=FrozenDict({name: value})) for value in ("/a", "/b"))
    assert _digest(one) != _digest(other)
    passed_on = replace(STDIO, env=FrozenDict({name: "x${MINE}"}))
    assert _digest(passed_on, {"MINE": "a"}) != _digest(passed_on, {"MINE": "b"})
    assert "/a" not in masked_data(one)["env"][name] or name.startswith(("GIT", "PYTHON"))


@pytest.mark.parametrize(
    "name",
    [
        *("TOKEN", "OPENAI_API_KEY", "openaiKey", "GITHUB_TOKEN", "DB_PASSWORD", "DB_PASS", "MYSQL_PWD", "GH_PAT"),
        *("AWS_ACCESS_KEY_ID", "NPM_CONFIG__AUTH", "CLIENT_SECRET", "SERVICE_KEY_BASE64", "UV_PUBLISH_TOKEN"),
    ],
)
def test_M2_a_secret_may_be_renewed(name: str) -> None:
    one, other = (replace(STDIO, env=FrozenDict({name: value})) for value in ("a", "b"))
    assert _digest(one) == _digest(other)
    passed_on = replace(STDIO, env=FrozenDict(DSN=f"x${{{name}}}"))
    assert _digest(passed_on, {name: "a"}) == _digest(passed_on, {name: "b"})


def test_M2_the_value_of_a_header_may_change() -> None:
    one, other = (replace(HTTP, headers=FrozenDict(A=value)) for value in ("a", "b"))
    assert _digest(one) == _digest(other)


def test_M2_which_of_the_users_variables_is_passed_on_is_approved() -> None:
    one, other = (replace(HTTP, headers=FrozenDict(A=f"Bearer ${{{name}}}")) for name in ("MINE", "AWS_SECRET"))
    assert _digest(one) != _digest(other)
    assert _digest(replace(HTTP, url="http://a")) != _digest(replace(HTTP, url="http://b"))


def test_M2_what_a_variable_of_the_command_stands_for_is_approved() -> None:
    spec = replace(STDIO, command="${BIN}/run")
    assert _digest(spec, {"BIN": "/a"}) != _digest(spec, {"BIN": "/b"})
    url = replace(HTTP, url="https://${HOST}/?key=${KEY}")
    assert _digest(url, {"HOST": "a", "KEY": "1"}) != _digest(url, {"HOST": "b", "KEY": "1"})
    assert _digest(url, {"HOST": "a", "KEY": "1"}) == _digest(url, {"HOST": "a", "KEY": "2"})  # secrets may be renewed
    secret = replace(STDIO, args=("--token", "${T}"))
    assert _digest(secret, {"T": "1"}) == _digest(secret, {"T": "2"})


def test_M2_what_the_env_file_changes_of_what_runs_is_approved(tmp_path: Path) -> None:
    spec = replace(STDIO, folder=str(tmp_path), env_file=".env")
    digests = []
    for text in ("KEY=1\n", "KEY=2\n", "KEY=2\nB=3\n", "KEY=2\nB=4\n", "KEY=2\nB=4\nLD_PRELOAD=/y.so\n"):
        (tmp_path / ".env").write_text(text)
        digests.append(_digest(spec))
    assert digests[0] == digests[1]
    assert len(set(digests)) == 4


def test_M2_name_source_and_questions_are_no_part_of_what_runs() -> None:
    other = replace(
        STDIO, name="x", source="y", files=("/y",), inputs=FrozenDict(a="b"), switches=(Switch("disabled", "z"),)
    )
    assert _digest(other) == _digest(STDIO)
