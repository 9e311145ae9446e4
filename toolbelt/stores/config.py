"""The files of a project: `toolbelt.yaml` and the `*.loadout.yaml` files beside it (rule L11)."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from toolbelt.errors import InvalidFileError, NotFoundError
from toolbelt.findings import Finding, Severity, sorted_findings
from toolbelt.stores.files import LOADOUT_SUFFIXES

if TYPE_CHECKING:
    from toolbelt.loadouts.reader import WrittenLoadout
    from toolbelt.models.project_models import ProjectModel
    from toolbelt.search.settings import SearchSettings
    from toolbelt.servers.reader import WrittenServer
    from toolbelt.sessions.agent import AgentSpec
    from toolbelt.sources import Document
    from toolbelt.toolkits.switch_decisions import WrittenSwitches
    from toolbelt.toolkits.toolkit import Toolkit

CONFIG_NAMES = ("toolbelt.yaml", "toolbelt.yml")


@dataclass(frozen=True, eq=False, repr=False)
class Config:
    """What the files of a project say.

    Attributes:
        path: Of `toolbelt.yaml`; `None` if there is none.
        catalog: The catalog to use, a shipped name or a path as seen from the working directory.
        tokenizer: Name of the tokenizer.
        models: litellm names, and names of the project's own.
        own_models: What the project says of some of them itself.
        loadouts: Every loadout written, in the order of the files.
        toolkits: In the order written.
        agents: In the order written.
        switches: By agent, its `tools_config` with the place where it is written.
        servers: MCP servers in the order written; `from` is not followed.
        findings: Everything wrong with them.
        document: `toolbelt.yaml` as it was read; `None` if there is none, or it cannot be.
        searches: Search toolsets by name.
    """

    path: Path | None = None
    catalog: str | None = None
    tokenizer: str | None = None
    models: tuple[str, ...] = ()
    own_models: tuple[ProjectModel, ...] = ()
    loadouts: tuple[WrittenLoadout, ...] = ()
    toolkits: tuple[Toolkit, ...] = ()
    agents: tuple[AgentSpec, ...] = ()
    switches: Mapping[str, WrittenSwitches] = field(default_factory=dict)
    servers: tuple[WrittenServer, ...] = ()
    findings: tuple[Finding, ...] = ()
    document: Document | None = None
    searches: Mapping[str, SearchSettings] = field(default_factory=dict)

    def refuse(self) -> None:
        """Raise everything that is wrong.

        Raises:
            InvalidFileError: if anything is.
        """
        if self.findings:
            raise InvalidFileError(self.findings)


def find_config(folder: str | os.PathLike[str]) -> Path | None:
    """The nearest `toolbelt.yaml` from `folder` upward."""
    folder = Path(folder).absolute()
    for parent in (folder, *folder.parents):
        for name in CONFIG_NAMES:
            if _is_usable(parent / name):
                return parent / name
    return None


def read_config(folder: str | os.PathLike[str] = ".", path: str | os.PathLike[str] | None = None) -> Config:
    """The configuration in force in `folder`, as `examine_config` finds it; arguments as there.

    Raises:
        NotFoundError: there is no such folder, or `path` is not there.
        InvalidFileError: every mistake in every file.
    """
    config = examine_config(folder, path)
    config.refuse()
    return config


def examine_config(folder: str | os.PathLike[str], path: str | os.PathLike[str] | None = None) -> Config:
    """The configuration in force in `folder`, with everything wrong with it.

    Args:
        folder: Where to look, and upward from there; or a `toolbelt.yaml` itself.
        path: Of a `toolbelt.yaml` or another name for one, as seen from the working directory; searched if `None`.

    Returns:
        With the loadouts of `*.loadout.yaml` files beside the file, or in `folder` where there is none.

    Raises:
        NotFoundError: there is no such folder, or `path` is not there.
    """
    folder = Path(folder)
    if path is None and folder.is_file():
        folder, path = folder.parent, folder.absolute()
    if not folder.is_dir():
        raise NotFoundError("folder", str(folder), [str(entry) for entry in folder.absolute().parent.glob("*/")])
    folder = folder.absolute()
    if path is not None and not Path(path).exists():
        raise NotFoundError("file", str(path), [str(entry) for entry in Path(path).parent.glob("*.y*ml")])
    file = find_config(folder) if path is None else Path(path) if folder == Path.cwd() else Path(path).absolute()
    unusable: list[Finding] = []
    beside = tuple(_loadout_files(file.parent if file is not None else folder, unusable))
    if file is None and not beside:
        return Config(findings=tuple(unusable))
    from toolbelt.stores.config_reader import ConfigReader  # nothing to read, nothing to load

    reader = ConfigReader(folder)
    if file is not None:
        reader.read_config_file(file)
    for other in beside:
        if file is None or other.resolve() != file.resolve():
            reader.read_loadout_file(other)
    return Config(
        file,
        reader.catalog,
        reader.tokenizer,
        reader.models,
        reader.own_models,
        tuple(reader.loadouts),
        tuple(reader.toolkits),
        tuple(reader.agents),
        reader.switches,
        reader.servers,
        sorted_findings([*reader.findings, *unusable]),
        reader.document,
        reader.searches,
    )


def _loadout_files(folder: Path, unusable: list[Finding]) -> Iterator[Path]:
    """The loadout files of a folder; what has such a name and is no file is a finding, so that it hides no other."""
    try:
        names = [name for name in os.listdir(folder) if name.endswith(LOADOUT_SUFFIXES)]  # noqa: PTH208  a folder may be large
    except OSError:
        return
    for name in sorted(names):
        try:
            if _is_usable(folder / name):
                yield folder / name
        except InvalidFileError as error:
            unusable.extend(error.findings)


def _is_usable(path: Path) -> bool:
    """Whether a file is there; a folder of that name is somebody else's.

    Raises:
        InvalidFileError: a pipe, or a link that leads nowhere, which would be missed in silence.
    """
    if os.path.isfile(path):  # noqa: PTH113  which, unlike pathlib, never raises
        return True
    if os.path.lexists(path) and not os.path.isdir(path):  # noqa: PTH112
        message = "This is no file, but a pipe, or a link that leads nowhere."
        raise InvalidFileError([Finding("not-a-file", Severity.ERROR, message, str(path))])
    return False
