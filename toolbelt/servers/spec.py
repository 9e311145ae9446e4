"""What an MCP server is, as a file describes it: nothing is resolved, nothing is started."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from toolbelt.catalog.frozen import FrozenDict
from toolbelt.servers.switches import Switch


class Transport(StrEnum):
    """How a server is reached."""

    STDIO = "stdio"
    HTTP = "http"
    """Streamable HTTP."""
    SSE = "sse"


@dataclass(frozen=True)
class ServerSpec:
    """One entry of a client's configuration or of `servers:` in `toolbelt.yaml` (rules M1, M3).

    Attributes:
        name: As it is written; unique in its file.
        transport: How it is reached.
        command: For stdio, the program.
        args: For stdio, its arguments.
        cwd: For stdio, the folder in which it runs; empty for `folder`.
        env: For stdio, variables by name; values as written, with `${…}` unresolved.
        env_file: For stdio, a file of further variables; empty for none.
        url: For HTTP and SSE.
        headers: For HTTP and SSE; values as written.
        source: The file, as the user would write it.
        files: Absolute paths of the files that define it: of `toolbelt.yaml`, and of the file that `from` names.
        folder: Absolute; `${workspaceFolder}`, and what relative paths are relative to.
        switches: What files switch off of it: the whole server, or tools.
        inputs: Of each `${input:ID}` that the file describes, the question.
        split: How its tools become several plugins (rule M4), as `toolbelt.yaml` has it; `None` for one plugin.
    """

    name: str
    transport: Transport
    command: str = ""
    args: tuple[str, ...] = ()
    cwd: str = ""
    env: Mapping[str, str] = FrozenDict()
    env_file: str = ""
    url: str = ""
    headers: Mapping[str, str] = FrozenDict()
    source: str = ""
    files: tuple[str, ...] = ()
    folder: str = ""
    switches: tuple[Switch, ...] = ()
    inputs: Mapping[str, str] = FrozenDict()
    split: Mapping[str, Any] | None = None

    @property
    def off_by(self) -> Switch | None:
        """What switches the whole server off."""
        return next((switch for switch in self.switches if switch.is_whole), None)

    @property
    def disabled(self) -> bool:
        """Whether the whole server is switched off."""
        return self.off_by is not None


@dataclass(frozen=True)
class PythonReference:
    """Code that a file names, which is approved before it is imported (rule M2).

    Attributes:
        reference: `module:attribute`.
        folder: Absolute; where the module is looked for first.
        source: The file that names it, as the user would write it.
        files: Absolute paths of the files that name it.
    """

    reference: str
    folder: str
    source: str = ""
    files: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """What messages call it."""
        return self.reference


Approvable = ServerSpec | PythonReference
"""What runs code that a file names."""
