"""Reading a project's files strictly: every mistake of every file, with its line (rule L10)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from toolbelt.catalog.tokens import TOKENIZER_NAMES
from toolbelt.errors import InvalidFileError, NotFoundError, ToolbeltError
from toolbelt.findings import Finding, sorted_findings
from toolbelt.loadouts.reader import WrittenLoadout, read_loadout_file, read_loadouts
from toolbelt.sources import Document, examine_yaml, parse_json, parse_yaml, read_text
from toolbelt.sources.section import Section
from toolbelt.stores.catalogs import find_shipped_catalog
from toolbelt.stores.files import LOADOUT_SUFFIXES, shown_path
from toolbelt.stores.prompts import read_prompt

if TYPE_CHECKING:
    from toolbelt.models.project_models import ProjectModel
    from toolbelt.search.settings import SearchSettings
    from toolbelt.servers.reader import WrittenServer
    from toolbelt.sessions.agent import AgentSpec
    from toolbelt.toolkits.switch_decisions import WrittenSwitches
    from toolbelt.toolkits.toolkit import Toolkit

CONFIG_KEYS: Mapping[str, str] = MappingProxyType(
    {
        "catalog": "The catalog to use: a shipped one by name, or a file, relative to this one.",
        "tokenizer": "What counts tokens where no model says otherwise.",
        "models": "Models to check toolsets against: litellm names, or mappings of a name and what you know better.",
        "loadouts": "Your loadouts by name; one may shadow a built-in of that name.",
        "toolkits": "Your toolkits by name: tools granted by one switch, loaded by an agent at need, or both.",
        "agents": "Your agents by name: the tools each always has, and the toolkits it may load.",
        "toolsets": "Your search toolsets by name: how an agent finds the tools that it is not shown.",
        "servers": "Your MCP servers by name: whose tools the catalog has, and what `toolbelt serve` passes calls to.",
    }
)


def read_loadout_definitions(path: str) -> tuple[WrittenLoadout, ...]:
    """The loadouts of one file alone, be it a `toolbelt.yaml` or a `*.loadout.yaml`.

    Raises:
        NotFoundError: no such file.
        InvalidFileError: every mistake in it.
    """
    reader = ConfigReader(Path.cwd())
    document = reader.read(Path(path))
    if document is not None:
        is_config = isinstance(document.data, dict) and "loadouts" in document.data
        if is_config or not str(path).endswith(LOADOUT_SUFFIXES):
            reader.read_config_file(Path(path))
        else:
            reader.read_loadout_file(Path(path))
    reader.refuse()
    return tuple(reader.loadouts)


def read_switches_file(path: str | os.PathLike[str], shown: str | None = None) -> Document:
    """A file of switches (`tools_config`), JSON or YAML: keys of toolkits and tools, each true or false.

    Args:
        path: Of the file.
        shown: The path as messages have it; by default as given.

    Raises:
        NotFoundError: no such file.
        InvalidFileError: its mistakes; what it holds is no mapping.
    """
    source = str(path) if shown is None else shown
    try:
        return parse_switches(read_text(path), source)
    except InvalidFileError as error:
        raise InvalidFileError([replace(finding, file=source) for finding in error.findings]) from None


def parse_switches(text: str, source: str) -> Document:
    """The switches of a text, which is JSON where it looks like it; raises as `read_switches_file`."""
    document = _parse_json_or_yaml(text, source)
    if document.data is None:
        return Document({}, document.source)
    if not isinstance(document.data, dict):
        message = "A configuration of tools maps keys of toolkits and tools to true or false."
        raise InvalidFileError([document.finding("wrong-type", message)])
    return document


def _parse_json_or_yaml(text: str, source: str) -> Document:
    if source.lower().endswith(".json") and text.strip():
        return parse_json(text, source)
    if text.lstrip()[:1] in ("{", "["):
        # JSON with its tabs, which YAML does not take; and YAML's own braces, which JSON does not.
        try:
            return parse_json(text, source)
        except InvalidFileError as error:
            if any(finding.rule != "syntax" for finding in error.findings):
                raise
    return parse_yaml(text, source)


class ConfigReader:
    """Reads file after file, collecting what they say and what is wrong with them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.catalog: str | None = None
        self.tokenizer: str | None = None
        self.models: tuple[str, ...] = ()
        self.own_models: tuple[ProjectModel, ...] = ()
        self.loadouts: list[WrittenLoadout] = []
        self.toolkits: list[Toolkit] = []
        self.agents: list[AgentSpec] = []
        self.switches: dict[str, WrittenSwitches] = {}
        self.servers: tuple[WrittenServer, ...] = ()
        self.searches: dict[str, SearchSettings] = {}
        self.findings: list[Finding] = []
        self.document: Document | None = None

    def refuse(self) -> None:
        """Raise everything wrong that was found.

        Raises:
            InvalidFileError: if anything was.
        """
        if self.findings:
            raise InvalidFileError(sorted_findings(self.findings))

    def read(self, path: Path) -> Document | None:
        """The document of a file; its mistakes are kept."""
        shown = shown_path(path, self._folder)
        try:
            document, findings = examine_yaml(read_text(self._folder / path), shown)
        except InvalidFileError as error:
            self.findings.extend(replace(finding, file=shown) for finding in error.findings)
            return None
        self.findings.extend(findings)
        return document

    def read_config_file(self, path: Path) -> None:
        """Everything in a `toolbelt.yaml`."""
        document = self.read(path)
        if document is None or document.data is None:
            return
        section = Section.of(document)
        if section.read_mapping() is not None:
            self.document = document
            self._read_keys(section, document, path)
        self.findings.extend(section.findings)

    def _read_keys(self, section: Section, document: Document, path: Path) -> None:
        section.check_keys(tuple(CONFIG_KEYS), "toolbelt.yaml")
        self.catalog = section.read_text("catalog")
        if self.catalog is not None and not find_shipped_catalog(self.catalog):
            self.catalog = shown_path(path.parent / self.catalog, self._folder)
        tokenizer = section.read_text("tokenizer")
        if tokenizer and section.child("tokenizer").is_known(tokenizer, TOKENIZER_NAMES, "tokenizer"):
            self.tokenizer = tokenizer
        if document.data.get("models") is not None:
            self._read_models(document)
        if "loadouts" in document.data:
            loadouts, findings = read_loadouts(document, "loadouts")
            self.loadouts.extend(loadouts)
            self.findings.extend(findings)
        if "toolkits" in document.data or "agents" in document.data:
            self._read_agents(document, path)
        if document.data.get("toolsets") is not None:
            from toolbelt.search.reader import read_searches  # few projects have any

            self.searches, findings = read_searches(document, "toolsets")
            self.findings.extend(findings)
        self._check_searches(section.child("agents"))
        if document.data.get("servers") is not None:
            from toolbelt.servers.reader import read_servers  # few projects have servers

            self.servers = read_servers(section.child("servers"), document, self._folder / path)

    def read_loadout_file(self, path: Path) -> None:
        """The one loadout of a `*.loadout.yaml`, named by its `name` or by the file."""
        document = self.read(path)
        if document is None:
            return
        data = document.data
        if not isinstance(data, dict):
            message = "A loadout file is a mapping with keys such as `extends` and `categories`."
            self.findings.append(document.finding("wrong-type", message))
            return
        stem = path.name.removesuffix(LOADOUT_SUFFIXES[0]).removesuffix(LOADOUT_SUFFIXES[1])
        written, findings = read_loadout_file(document, stem)
        self.findings.extend(findings)
        if written is not None:
            self.loadouts.append(written)

    def _read_agents(self, document: Document, path: Path) -> None:
        from toolbelt.sessions.agent import read_agents  # most projects have loadouts alone
        from toolbelt.toolkits.reader import read_toolkits
        from toolbelt.toolkits.switch_decisions import WrittenSwitches

        toolkits, wrong_toolkits = read_toolkits(document, "toolkits")
        agents, wrong_agents = read_agents(
            document, "agents", toolkits=toolkits, read_switches=lambda section: self._read_switches(section, path)
        )
        self.toolkits.extend(toolkits)
        self.agents.extend(self._with_prompt(agent, document, path) for agent in agents)
        self.findings.extend((*wrong_toolkits, *wrong_agents))
        for agent in agents:
            if agent.tools_config:
                place = ("agents", agent.name, "tools_config")
                self.switches.setdefault(agent.name, WrittenSwitches(agent.tools_config, document, place))

    def _with_prompt(self, agent: AgentSpec, document: Document, path: Path) -> AgentSpec:
        try:
            return replace(agent, system=read_prompt(agent.system, self._folder / path.parent))
        except ToolbeltError as error:
            place = Section.of(document, "agents", agent.name, "system")
            place.add_error("unknown-file", f"{place.label}: {error}")
            self.findings.extend(place.findings)
            return agent

    def _check_searches(self, section: Section) -> None:
        """Add a finding for each agent whose `search` means nothing."""
        for agent in self.agents:
            if not agent.search:
                continue
            from toolbelt.search.presets import parse_search

            written = section.child(agent.name).child("search")
            try:
                parse_search(agent.search, self.searches)
            except ToolbeltError as error:
                written.add_error("wrong-search", f"{written.label}: {error}")

    def _read_switches(self, section: Section, beside: Path) -> dict[str, Any]:
        """The file that an agent's `tools_config` names, relative to `toolbelt.yaml`; its mistakes are kept."""
        from toolbelt.sessions.agent import check_switches
        from toolbelt.toolkits.switch_decisions import WrittenSwitches

        path = self._folder / beside.parent / section.value
        try:
            document = read_switches_file(path, shown_path(path, self._folder))
        except NotFoundError as error:
            section.add_error("unknown-file", f"{section.label}: {error}")
            return {}
        except InvalidFileError as error:
            self.findings.extend(error.findings)
            return {}
        switches = Section.of(document)
        check_switches(switches)
        self.findings.extend(switches.findings)
        self.switches[str(section.path[-2])] = WrittenSwitches(switches.value, document)
        return switches.value  # type: ignore[no-any-return]

    def _read_models(self, document: Document) -> None:
        models = document.data.get("models")
        if isinstance(models, list) and all(isinstance(model, str) and model.strip() for model in models):
            self.models = tuple(dict.fromkeys(models))
            return
        from toolbelt.loadouts.registry import BUILT_IN_LOADOUTS
        from toolbelt.models.project_models import Known, read_models  # most projects have names alone

        loadouts = [*_keys(document, "loadouts"), *(loadout.name for loadout in BUILT_IN_LOADOUTS)]
        known = Known(loadouts, _keys(document, "agents"), _keys(document, "toolsets"))
        names, own, findings = read_models(document, "models", known=known)
        self.models, self.own_models = tuple(names), tuple(own)
        self.findings.extend(findings)


def _keys(document: Document, section: str) -> tuple[str, ...]:
    """What a section names, whatever is wrong with it."""
    value = document.data.get(section)
    return tuple(value) if isinstance(value, dict) else ()
