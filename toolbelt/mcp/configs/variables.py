"""`${…}` in the definitions of servers: resolved when a server starts, and never written (rule M1)."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from toolbelt.catalog.frozen import FrozenDict
from toolbelt.errors import ToolbeltError
from toolbelt.servers.spec import ServerSpec, Transport
from toolbelt.sources import read_text

INPUT_PREFIX = "TOOLBELT_INPUT_"
"""What variables begin with that answer `${input:ID}`."""
AskInput = Callable[[str, str], str | None]
"""Asks the user: `(id, question) -> answer`; `None` where nobody can be asked. The answer may be a secret."""
_REFERENCE = re.compile(r"\$\{((?:[^{}]|\$\{[^{}]*\})*)\}")
"""A default may hold a reference: `${A:-${B}}`."""


class UnresolvedVariableError(ToolbeltError):
    """A `${…}` of a server that has no value.

    Attributes:
        server: Name of the server.
        variable: As it is written between the braces.
    """

    def __init__(self, server: str, variable: str, reason: str) -> None:
        self.server = server
        self.variable = variable
        self.reason = reason
        super().__init__(f"Server {server!r}: ${{{variable}}} {reason}")

    def __reduce__(self) -> tuple[type[UnresolvedVariableError], tuple[str, str, str]]:
        return type(self), (self.server, self.variable, self.reason)


@dataclass(frozen=True)
class ResolvedServer:
    """A server with real values, ready to be started; they may be secrets, and never show in a `repr`.

    Attributes:
        name: As in the file.
        transport: How it is reached.
        command: For stdio, the program.
        args: For stdio, its arguments.
        cwd: For stdio, absolute.
        env: For stdio, variables to add to the environment; those of `envFile` are among them.
        url: For HTTP and SSE.
        headers: For HTTP and SSE.
        spec: What was resolved.
    """

    name: str
    transport: Transport
    command: str = field(default="", repr=False)
    args: tuple[str, ...] = field(default=(), repr=False)
    cwd: str = field(default="", repr=False)
    env: Mapping[str, str] = field(default=FrozenDict(), repr=False)
    url: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(default=FrozenDict(), repr=False)
    spec: ServerSpec | None = field(default=None, repr=False)


def resolve(spec: ServerSpec, environment: Mapping[str, str], ask_input: AskInput | None = None) -> ResolvedServer:
    """The server with real values.

    Args:
        spec: As a file describes it.
        environment: Where `${VAR}` and `TOOLBELT_INPUT_ID` are looked up.
        ask_input: Answers `${input:ID}` that the environment does not; each is asked once.

    Raises:
        UnresolvedVariableError: a variable has no value.
        ToolbeltError: the `envFile` cannot be read.
    """
    lookup = _Lookup(spec, environment, ask_input)

    real = lookup.expand
    is_stdio = spec.transport is Transport.STDIO
    file_values = _read_env_file(Path(spec.folder, _with_home(real(spec.env_file)))) if spec.env_file else {}
    return ResolvedServer(
        spec.name,
        spec.transport,
        command=_with_home(real(spec.command)),
        args=tuple(real(arg) for arg in spec.args),
        cwd=str(Path(spec.folder, _with_home(real(spec.cwd)))) if is_stdio else "",
        env=FrozenDict({**file_values, **{name: real(value) for name, value in spec.env.items()}}),
        url=real(spec.url),
        headers=FrozenDict({name: real(value) for name, value in spec.headers.items()}),
        spec=spec,
    )


def needed_variables(spec: ServerSpec) -> tuple[str, ...]:
    """The variables of the environment without which the server cannot be started, in order, each once."""
    lookup = _Lookup(spec, {}, None)
    texts = (spec.command, *spec.args, spec.cwd, *spec.env.values(), spec.env_file, spec.url, *spec.headers.values())
    names: dict[str, None] = {}
    for reference in (each for text in texts for each in find_references(text)):
        try:
            lookup.require(reference)
        except UnresolvedVariableError as error:
            kind, colon, rest = error.variable.partition(":")
            names[input_variable(rest) if kind == "input" and colon else rest or kind] = None
    return tuple(names)


def find_references(text: str) -> Iterator[str]:
    """What stands between the braces of each `${…}`, in order."""
    return (match[1] for match in _REFERENCE.finditer(text))


def expand_known(text: str, spec: ServerSpec, environment: Mapping[str, str]) -> str:
    """`text` with each `${…}` that has a value now replaced; the others stay as they are."""
    lookup = _Lookup(spec, environment, None)

    def real(match: re.Match[str]) -> str:
        try:
            return lookup.require(match[1])
        except UnresolvedVariableError:
            return match[0]

    return _REFERENCE.sub(real, text)


def find_env_file(spec: ServerSpec, environment: Mapping[str, str]) -> Path | None:
    """The path of the server's `envFile` as it is now; `None` where it has none."""
    if not spec.env_file:
        return None
    return Path(spec.folder, _with_home(expand_known(spec.env_file, spec, environment)))


def read_env_file_of(spec: ServerSpec, environment: Mapping[str, str]) -> dict[str, str]:
    """The variables of the server's `envFile` as it is now; none where it has none, or it cannot be read."""
    path = find_env_file(spec, environment)
    try:
        return {} if path is None else _read_env_file(path)
    except ToolbeltError:  # whoever starts the server reports it
        return {}


def _read_env_file(path: Path) -> dict[str, str]:
    from dotenv import dotenv_values  # few servers have such a file

    values = dotenv_values(stream=io.StringIO(read_text(path)), interpolate=False)
    return {name: value for name, value in values.items() if value is not None}


def _with_home(path: str) -> str:
    return os.path.expanduser(path) if path.startswith("~") else path  # noqa: PTH111  the text may be no path at all


class _Lookup:
    """Values of variables for one server."""

    def __init__(self, spec: ServerSpec, environment: Mapping[str, str], ask_input: AskInput | None) -> None:
        self._spec = spec
        self._environment = environment
        self._ask = ask_input
        self._answers: dict[str, str] = {}

    def expand(self, text: str) -> str:
        return _REFERENCE.sub(lambda match: self.require(match[1]), text)

    def require(self, reference: str) -> str:
        value = self._find(reference)
        if value is None:
            raise UnresolvedVariableError(self._spec.name, reference, self._reason(reference))
        return value

    def _find(self, reference: str) -> str | None:
        kind, colon, rest = reference.partition(":")
        if kind == "input" and colon:
            return self._find_input(rest)
        if kind == "env" and colon:
            kind, colon, rest = rest.partition(":")
        if colon:
            # Only `:-` gives a default; another word before a colon is a form that is not known.
            return (self._environment.get(kind) or self.expand(rest[1:])) if rest.startswith("-") else None
        folder = self._spec.folder
        special = {
            "workspaceFolder": folder,
            "workspaceFolderBasename": Path(folder).name,
            "userHome": self._environment.get("HOME") or str(Path.home()),
            "pathSeparator": os.sep,
            "/": os.sep,
        }
        return special[kind] if kind in special else self._environment.get(kind)

    def _find_input(self, name: str) -> str | None:
        variable = input_variable(name)
        if variable in self._environment:
            return self._environment[variable]
        if name not in self._answers and self._ask is not None:
            answer = self._ask(name, self._spec.inputs.get(name, ""))
            if answer is not None:
                self._answers[name] = answer
        return self._answers.get(name)

    def _reason(self, reference: str) -> str:
        kind, colon, rest = reference.partition(":")
        if kind == "input" and colon:
            return f"has no value; export {input_variable(rest)}, or run the command at a terminal."
        if colon and kind != "env" and not rest.startswith("-"):
            return "is a form that toolbelt does not know."
        name = rest if kind == "env" and colon else kind
        return f"has no value; export {name.partition(':')[0]}."


def input_variable(name: str) -> str:
    """The variable that answers `${input:name}`."""
    return INPUT_PREFIX + re.sub(r"[^A-Za-z0-9]", "_", name).upper()
