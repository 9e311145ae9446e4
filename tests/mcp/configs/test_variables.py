"""Rule M1: `${…}` is resolved when a server starts, and never shown."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from toolbelt.catalog.frozen import FrozenDict
from toolbelt.errors import NotFoundError
from toolbelt.mcp.configs.variables import UnresolvedVariableError, needed_variables, resolve
from toolbelt.servers import ServerSpec, Transport

ENVIRONMENT = {"TOKEN": "s3cret", "EMPTY": "", "HOME": "/home/ada", "TOOLBELT_INPUT_API_KEY": "typed"}


def _spec(**parts: object) -> ServerSpec:
    settings: dict[str, object] = {"folder": "/srv/app", "command": "run", **parts}
    return ServerSpec("git", Transport.STDIO, **settings)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param("${TOKEN}", "s3cret", id="variable"),
        pytest.param("Bearer ${TOKEN}!", "Bearer s3cret!", id="within-a-text"),
        pytest.param("${env:TOKEN}", "s3cret", id="with-env-in-front"),
        pytest.param("${TOKEN:-x}", "s3cret", id="default-not-needed"),
        pytest.param("${NONE:-x:y/z}", "x:y/z", id="default"),
        pytest.param("${env:NONE:-x}", "x", id="default-with-env-in-front"),
        pytest.param("${EMPTY:-x}", "x", id="an-empty-variable-takes-the-default"),
        pytest.param("${NONE:-}", "", id="an-empty-default"),
        pytest.param("${NONE:-${TOKEN}}", "s3cret", id="a-default-with-a-variable"),
        pytest.param("${TOKEN:-${NONE}}", "s3cret", id="a-default-that-is-not-needed"),
        pytest.param("${EMPTY}", "", id="an-empty-variable"),
        pytest.param("${workspaceFolder}/a", "/srv/app/a", id="workspace-folder"),
        pytest.param("${workspaceFolderBasename}", "app", id="its-name"),
        pytest.param("${userHome}", "/home/ada", id="home"),
        pytest.param("a${pathSeparator}b${/}c", f"a{os.sep}b{os.sep}c", id="separator"),
        pytest.param("${input:api-key}", "typed", id="input-from-the-environment"),
        pytest.param("$TOKEN $ {TOKEN} {TOKEN}", "$TOKEN $ {TOKEN} {TOKEN}", id="anything-else-is-text"),
    ],
)
def test_M1_a_variable_is_resolved(text: str, value: str) -> None:
    resolved = resolve(_spec(env=FrozenDict(A=text), args=("--x", text)), ENVIRONMENT)
    assert (resolved.env, resolved.args) == ({"A": value}, ("--x", value))


def test_M1_every_part_that_runs_is_resolved_and_no_name() -> None:
    spec = _spec(command="${userHome}/bin/git", cwd="sub/${TOKEN}", env=FrozenDict({"${TOKEN}": "1"}))
    resolved = resolve(spec, ENVIRONMENT)
    assert resolved.command == "/home/ada/bin/git"
    assert resolved.cwd == "/srv/app/sub/s3cret"
    assert resolved.env == {"${TOKEN}": "1"}
    spec = ServerSpec("a", Transport.HTTP, url="https://${TOKEN}.example", headers=FrozenDict(A="Bearer ${TOKEN}"))
    resolved = resolve(spec, ENVIRONMENT)
    assert (resolved.url, resolved.headers) == ("https://s3cret.example", {"A": "Bearer s3cret"})


def test_M1_a_value_is_not_resolved_again() -> None:
    assert resolve(_spec(args=("${A}",)), {"A": "${TOKEN}", "TOKEN": "x"}).args == ("${TOKEN}",)


@pytest.mark.parametrize(
    ("reference", "hint"),
    [
        pytest.param("NONE", "export NONE", id="variable"),
        pytest.param("env:NONE", "export NONE", id="with-env-in-front"),
        pytest.param("input:my key", "export TOOLBELT_INPUT_MY_KEY", id="input"),
        pytest.param("command:pick", "form", id="a-form-of-others"),
        pytest.param("NONE:-${OTHER}", "OTHER", id="within-a-default"),
        pytest.param("", "", id="nothing"),
    ],
)
def test_M1_a_variable_without_a_value_is_an_error_that_names_it(reference: str, hint: str) -> None:
    with pytest.raises(UnresolvedVariableError) as caught:
        resolve(_spec(args=("a", f"${{{reference}}}")), ENVIRONMENT)
    assert (caught.value.server, caught.value.variable) == ("git", "OTHER" if "OTHER" in reference else reference)
    assert "'git'" in str(caught.value)
    assert hint in str(caught.value)


def test_M1_an_input_is_asked_once_with_its_question() -> None:
    questions: list[tuple[str, str]] = []

    def ask(name: str, question: str) -> str | None:
        questions.append((name, question))
        return "answer"

    spec = _spec(args=("${input:id}", "${input:id}"), inputs=FrozenDict(id="Which key?"))
    assert resolve(spec, {}, ask).args == ("answer", "answer")
    assert questions == [("id", "Which key?")]
    with pytest.raises(UnresolvedVariableError):
        resolve(spec, {}, lambda name, question: None)


def test_M1_an_env_file_is_read_and_the_entry_takes_precedence(tmp_path: Path) -> None:
    (tmp_path / "keys.env").write_text("# keys\nA=1\nexport B='two words'\nC=${NOT_RESOLVED}\n")
    spec = _spec(folder=str(tmp_path), env_file="${X}.env", env=FrozenDict(A="9"))
    assert resolve(spec, {"X": "keys"}).env == {"A": "9", "B": "two words", "C": "${NOT_RESOLVED}"}
    with pytest.raises(NotFoundError):
        resolve(spec, {"X": "missing"})


def test_M1_resolved_values_do_not_show_in_a_repr() -> None:
    spec = _spec(args=("--token", "${TOKEN}"), env=FrozenDict(A="${TOKEN}"), command="${TOKEN}")
    assert "s3cret" not in repr(resolve(spec, ENVIRONMENT))


def test_M1_the_variables_that_a_server_needs_are_known() -> None:
    spec = _spec(
        args=("${A}", "${env:B}", "${C:-x}", "${D:-${E}}", "${workspaceFolder}", "${A}"),
        env=FrozenDict(X="${input:my-id}"),
        headers=FrozenDict(Y="${F}"),
    )
    assert needed_variables(spec) == ("A", "B", "E", "TOOLBELT_INPUT_MY_ID", "F")
