"""How a server is shown and approved: what is masked (rule M1), and what its digest covers (rule M2)."""

from __future__ import annotations

import hashlib
import json
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from toolbelt.mcp.configs.variables import expand_known, find_references, read_env_file_of
from toolbelt.servers.spec import Approvable, PythonReference, ServerSpec, Transport

__all__ = [
    "MASK",
    "ServerSpec",
    "Transport",
    "approval_digest",
    "changes_what_runs",
    "mask_arguments",
    "mask_url",
    "mask_value",
    "masked_command_line",
    "masked_command_line_now",
    "masked_data",
]

MASK = "***"
_SECRET_WORD = re.compile(r"key|token|secret|password|auth", re.IGNORECASE)
_CHANGES_WHAT_RUNS = re.compile(
    r"PATH|PATHEXT|COMSPEC|SHELL|IFS|ENV|BASH_ENV|HOME|USERPROFILE|XDG_.*|LD_.*|DYLD_.*|GCONV_PATH"
    r"|OPENSSL_(?:CONF|ENGINES|MODULES)|PYTHON.*|NODE_.*|PERL5(?:LIB|OPT|DB)|RUBY(?:LIB|OPT)"
    r"|CLASSPATH|(?:_JAVA|JDK_JAVA)_OPTIONS|JAVA_TOOL_OPTIONS|DOTNET_STARTUP_HOOKS"
    r"|GIT_.*|SSH_ASKPASS|EDITOR|VISUAL|PAGER|BROWSER|LESSOPEN"
    r"|(?:NPM_CONFIG|UV|PIP|BUN|DENO)_.*|DOCKER_HOST",
    re.IGNORECASE,
)
_SECRET_NAME = re.compile(
    r"(?:.*(?:key|token|secret|password|passwd|passphrase|auth)|(?:.*[_-])?(?:pass|pwd|pat))s?(?:_(?:id|b64|base64))?",
    re.IGNORECASE,
)
"""By its end: `PYTHON_KEYRING_BACKEND` and `GIT_CONFIG_KEY_0` name code."""
_URL = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*://[^\s\"'<>]+")
_FLAG_WITH_VALUE = re.compile(r"(-{1,2}[^=\s]+)=(.*)", re.DOTALL)
_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_.-]*)=(.*)", re.DOTALL)
_FLAG = re.compile(r"--[A-Za-z][\w-]*(=.*)?|-[A-Za-z]")
_HEADER_FLAGS = ("-H", "--header", "--headers")
_CONTAINER_PROGRAMS = ("docker", "podman", "nerdctl", "finch", "container")


def changes_what_runs(variable: str) -> bool:
    """Whether the value of a variable is known to decide which code a server runs (rule M2), and so is shown."""
    return _CHANGES_WHAT_RUNS.fullmatch(variable) is not None and _SECRET_WORD.search(variable) is None


def is_secret_name(variable: str) -> bool:
    """Whether a variable is a secret by its name, so that its value may be renewed without a new approval."""
    return _SECRET_NAME.fullmatch(variable) is not None


def mask_value(value: str) -> str:
    """A value of which only the `${…}` in it are shown: whose secret is sent matters, the secret itself is hidden."""
    if not value:
        return ""
    references = [_mask_reference(reference) for reference in find_references(value)]
    if len(references) == 1 and value.startswith("${") and value.endswith("}"):
        return references[0]
    return MASK + MASK.join(references)


def mask_url(text: str) -> str:
    """A text with the user information, query values and fragments of its URLs masked."""
    return _URL.sub(lambda match: _mask_one_url(match[0]), text)


def mask_arguments(args: Sequence[str], command: str = "") -> tuple[str, ...]:
    """Arguments with secrets masked: after flags that name a secret, of headers, and in URLs.

    Values of variables are masked only where `command` sets variables with them: elsewhere, what looks like one may be
    code, which has to be seen.
    """
    program = re.split(r"[\\/]", command)[-1].casefold().removesuffix(".exe")
    masked: list[str] = []
    before = ""
    for arg in args:
        masked.append(_mask_argument(arg, before, program))
        if program == "env" and not arg.startswith("-") and not _ASSIGNMENT.fullmatch(arg):
            program = ""  # the program that `env` starts; what follows are its arguments
        before = arg
    return tuple(masked)


def masked_command_line(spec: Approvable) -> str:
    """The command with its arguments as a shell would take them, the URL or what is imported; secrets masked."""
    if isinstance(spec, PythonReference):
        return f"import {spec.reference}"
    if spec.transport is not Transport.STDIO:
        return mask_url(spec.url)
    return shlex.join((mask_url(spec.command), *mask_arguments(spec.args, spec.command)))


def masked_data(spec: Approvable) -> dict[str, Any]:
    """A definition as plain values that may be shown; keys without a value are left out."""
    if isinstance(spec, PythonReference):
        return {"name": spec.name, "import": spec.reference, "folder": spec.folder, "source": spec.source}
    data: dict[str, Any] = {"name": spec.name, "transport": spec.transport.value}
    shown: dict[str, Any] = {
        "command": mask_url(spec.command),
        "args": list(mask_arguments(spec.args, spec.command)),
        "cwd": spec.cwd,
        "env": _mask_values(spec.env),
        "env_file": spec.env_file,
        "url": mask_url(spec.url),
        "headers": {name: mask_value(value) for name, value in spec.headers.items()},
        "disabled": spec.disabled,
        "source": spec.source,
    }
    return data | {key: value for key, value in shown.items() if value}


def approval_digest(spec: Approvable, environment: Mapping[str, str]) -> str:
    """The SHA-256 of what an approval covers, in hexadecimal: two definitions that may run different code differ.

    Covered are the definition as written, but for the values of headers and of variables that are secrets by their
    names, of which the names and the `${…}` in them count, so that a secret may be renewed; the values of all other
    variables, those in the `envFile` included; and what `${…}` stand for now in the command, its arguments, its folder
    and the URL, unless masked there as a secret.

    Args:
        spec: As the file describes it.
        environment: From which `${…}` are resolved.
    """
    if isinstance(spec, PythonReference):
        return _digest({"version": 1, "import": spec.reference, "folder": spec.folder})
    file_values = read_env_file_of(spec, environment)
    variables = {**file_values, **spec.env}
    fields: dict[str, Any] = {
        "version": 1,
        "transport": spec.transport.value,
        "command": spec.command,
        "args": list(spec.args),
        "cwd": spec.cwd,
        "folder": spec.folder if spec.transport is Transport.STDIO else "",
        "env": {name: list(find_references(value)) for name, value in sorted(variables.items())},
        "env_file": spec.env_file,
        "url": spec.url,
        "headers": {name: list(find_references(value)) for name, value in sorted(spec.headers.items())},
    }
    now = _expanded(spec, environment)
    others = (now.command, now.cwd, now.env_file, now.url)
    fields["resolved"] = [*mask_arguments(now.args, now.command), *map(mask_url, others)]
    # The values of the file are taken as they are: only those of the entry are resolved.
    fields["running"] = {
        name: _expand_unless_secret(spec.env[name], spec, environment) if name in spec.env else file_values[name]
        for name in sorted(variables)
        if not is_secret_name(name)
    }
    return _digest(fields)


def _expand_unless_secret(value: str, spec: ServerSpec, environment: Mapping[str, str]) -> str:
    names = (reference.partition(":-")[0].removeprefix("env:") for reference in find_references(value))
    return value if any(map(is_secret_name, names)) else expand_known(value, spec, environment)


def masked_command_line_now(spec: ServerSpec, environment: Mapping[str, str]) -> str:
    """As `masked_command_line`, with each `${…}` that has a value replaced; what is secret there is masked."""
    return masked_command_line(_expanded(spec, environment))


def _expanded(spec: ServerSpec, environment: Mapping[str, str]) -> ServerSpec:
    """With each `${…}` replaced that has a value, but for the values of variables and headers."""
    real = partial(expand_known, spec=spec, environment=environment)
    return replace(
        spec,
        command=real(spec.command),
        args=tuple(real(arg) for arg in spec.args),
        cwd=real(spec.cwd),
        env_file=real(spec.env_file),
        url=real(spec.url),
    )


def _digest(fields: Mapping[str, Any]) -> str:
    canonical = json.dumps(fields, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(canonical.encode()).hexdigest()


def _mask_values(values: Mapping[str, str]) -> dict[str, str]:
    return {name: _mask_variable(name, value) for name, value in values.items()}


def _mask_variable(name: str, value: str) -> str:
    return mask_url(value) if changes_what_runs(name) else mask_value(value)


def _mask_argument(arg: str, before: str, program: str) -> str:
    if program == "env" and (match := _ASSIGNMENT.fullmatch(arg)):
        return f"{match[1]}={_mask_variable(match[1], match[2])}"
    if program in _CONTAINER_PROGRAMS and (shown := _mask_container_variable(arg, before)) is not None:
        return shown
    if before in _HEADER_FLAGS:
        return _mask_header(arg)
    if _names_a_secret(before) and not _FLAG.fullmatch(arg):
        return mask_value(arg)
    if match := _FLAG_WITH_VALUE.fullmatch(arg):
        flag, value = match.groups()
        if flag in _HEADER_FLAGS:
            return f"{flag}={_mask_header(value)}"
        return f"{flag}={mask_value(value) if _names_a_secret(flag) else mask_url(value)}"
    return mask_url(arg)


def _mask_container_variable(arg: str, before: str) -> str | None:
    """`-e NAME=value` of Docker and its like; `None` for other arguments."""
    flag = next((flag for flag in ("--env=", "-e") if arg.startswith(flag)), "")
    if not flag and before not in ("-e", "--env"):
        return None
    match = _ASSIGNMENT.fullmatch(arg.removeprefix(flag))
    return None if match is None else f"{flag}{match[1]}={_mask_variable(match[1], match[2])}"


def _mask_reference(reference: str) -> str:
    name, mark, default = reference.partition(":-")
    return f"${{{name}{mark}{mask_value(default)}}}"


def _names_a_secret(flag: str) -> bool:
    return flag.startswith("-") and "=" not in flag and _SECRET_WORD.search(flag) is not None


def _mask_header(header: str) -> str:
    match = re.fullmatch(r"([\w-]+):\s*(.*)", header, re.DOTALL)
    return mask_url(header) if match is None else f"{match[1]}: {mask_value(match[2])}"


def _mask_one_url(url: str) -> str:
    scheme, _, rest = url.partition("://")
    place = re.match(r"[^/?#]*", rest)
    authority = place[0] if place else ""
    tail = rest[len(authority) :]
    user, at, host = authority.rpartition("@")
    path, mark, query = tail.partition("?")
    if not mark:
        path, mark, query = tail.partition("#")
    masked = re.sub(r"(?<==)[^&;#]*", lambda match: mask_value(match[0]), query)
    if mark and query and "=" not in query:
        masked = mask_value(query)
    return f"{scheme}://{mask_value(user)}{at}{host}{path}{mark}{masked}"
