"""What the commands about toolkits work on."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from toolbelt.catalog import Catalog
from toolbelt.command.project import ProjectOptions
from toolbelt.errors import NotFoundError, ToolbeltError
from toolbelt.project.project import Project
from toolbelt.render.screen import notify
from toolbelt.sources import Document, decode
from toolbelt.stores.config_reader import parse_switches, read_switches_file
from toolbelt.toolkits.inspection import ToolkitInspection
from toolbelt.toolkits.switch_decisions import WrittenSwitches
from toolbelt.toolkits.switching import find_switched_off

STANDARD_INPUT = "standard input"


def open_toolkits(options: ProjectOptions, *, required: bool = True) -> tuple[Project, ToolkitInspection]:
    """The project and its toolkits over the catalog.

    Args:
        options: Which project.
        required: Whether there must be any; if not, a note says that there are none, with an example.

    Raises:
        ToolbeltError: there are none; else as `open_project`.
    """
    project = options.open(read_loadouts_too=False)
    if not project.config.toolkits:
        advice = f"{_missing(project.config.path)} For example: {_example(project.catalog)}"
        if required:
            raise ToolbeltError(advice)
        notify(advice)
    return project, ToolkitInspection.of(project.config.toolkits, project.catalog, project.tokens())


def loading_agents(project: Project) -> dict[str, list[str]]:
    """By toolkit, the names of the agents that may load it: what its own switches take away, an agent may not."""
    agents_by_toolkit: dict[str, list[str]] = {}
    for agent in project.config.agents:
        off = find_switched_off(project.toolkits, project.catalog, agent.tools_config).toolkits
        for key in agent.allowed_toolkits:
            if key not in off:
                agents_by_toolkit.setdefault(key, []).append(agent.name)
    return agents_by_toolkit


def find_switches(project: Project, path: str | None, agent: str | None) -> WrittenSwitches:
    """The switches of a file in JSON or YAML (`-` is the standard input), or those of an agent.

    Raises:
        ToolbeltError: neither is given, or both.
        NotFoundError: no such file or agent.
        InvalidFileError: the file's mistakes; what it holds is no mapping.
    """
    if path is not None and agent is None:
        standard_input = path == "-"
        text = decode(sys.stdin.buffer.read(), STANDARD_INPUT) if standard_input else ""
        document = parse_switches(text, STANDARD_INPUT) if standard_input else read_switches_file(path)
        return WrittenSwitches(document.data, document)
    if path is not None or agent is None:
        raise ToolbeltError("Give --tools-config FILE, or --agent NAME for the switches that toolbelt.yaml gives it.")
    if agent not in project.agents:
        raise NotFoundError("agent", agent, project.agents)
    written = project.config.switches.get(agent)
    return WrittenSwitches({}, Document({}, str(project.config.path))) if written is None else written


def _missing(path: Path | None) -> str:
    if path is None:
        return "There are no toolkits: there is no toolbelt.yaml from here upward. Write one with `toolkits`."
    return f"There are no toolkits in {str(path)!r}."


def _example(catalog: Catalog) -> str:
    """A line to paste; JSON's quotes keep a name of any kind one text."""
    members = [plugin.name for plugin in catalog.plugins[:2]] or ["websearch"]
    listed = ", ".join(json.dumps(name, ensure_ascii=False) for name in members)
    return f"toolkits: {{first: {{description: What it is for, tools: [{listed}]}}}}"
