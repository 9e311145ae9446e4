"""`toolbelt config`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from toolbelt.command.groups import examples
from toolbelt.command.options import config_option, json_option, option
from toolbelt.models.project_models import project_model_data
from toolbelt.render.screen import notify, print_json
from toolbelt.stores.config import read_config
from toolbelt.stores.config_schema import config_schema, loadout_file_schema
from toolbelt.stores.files import write_text
from toolbelt.text import json_text, visible

if TYPE_CHECKING:
    from toolbelt.servers.reader import WrittenServer
    from toolbelt.sessions.agent import AgentSpec


@click.group(epilog=examples("toolbelt config schema > toolbelt.schema.json"))
def config() -> None:
    """toolbelt.yaml: where it is, what it says, and its JSON Schema for editors."""


@config.command(epilog=examples("toolbelt config schema -o .vscode/toolbelt.schema.json"))
@option("--output", "-o", metavar="FILE", help="Write here, all or nothing, instead of to standard output.")
@option("--force", is_flag=True, help="Replace FILE if it exists.")
@option("--loadout", "of_loadout", is_flag=True, help="That of *.loadout.yaml files instead.")
@json_option
def schema(output: str | None, force: bool, of_loadout: bool, as_json: bool) -> None:
    """The JSON Schema of toolbelt.yaml; point your editor's YAML support at it."""
    json_schema = loadout_file_schema() if of_loadout else config_schema()
    if output is None:
        print_json(json_schema)
        return
    write_text(output, json_text(json_schema) + "\n", overwrite=force)
    notify(f"wrote {output}")
    if as_json:
        print_json({"output": output})


@config.command(epilog=examples("toolbelt config show"))
@config_option
@json_option
def show(config: str | None, as_json: bool) -> None:
    """What the files of the project here say, before flags and environment."""
    files = read_config(Path.cwd(), config)
    data: dict[str, Any] = {
        "file": str(files.path) if files.path else None,
        "catalog": files.catalog,
        "tokenizer": files.tokenizer,
        "models": list(files.models),
        "own_models": [project_model_data(model) for model in files.own_models],
        "loadouts": [{"name": written.loadout.name, "file": written.document.source} for written in files.loadouts],
        "toolkits": [toolkit.key for toolkit in files.toolkits],
        "agents": [_agent_data(agent) for agent in files.agents],
        "servers": [_server_data(server) for server in files.servers],
    }
    if as_json:
        print_json(data)
        return
    if files.path is None:
        click.echo("no toolbelt.yaml from here upward")
    settings = {model["name"]: model for model in data.pop("own_models")}
    data["models"] = [settings.get(name, name) for name in files.models]
    for key, value in data.items():
        rows = value if isinstance(value, list) else [value]
        texts = [_row_text(key, row) if isinstance(row, dict) else str(row) for row in rows if row]
        click.echo(f"{key:<10} {visible(', '.join(texts)) or 'not set'}")


def _agent_data(agent: AgentSpec) -> dict[str, Any]:
    """The settings of an agent itself; what it has is for `session show` and `toolkit inspect`."""
    return {
        "name": agent.name,
        "display_name": agent.display_name,
        "role": agent.role or None,
        "model": agent.model or None,
        "search": agent.search or None,
        "rooms": list(agent.rooms),
    }


def _server_data(server: WrittenServer) -> dict[str, Any]:
    """A server with its secrets masked; one of a client's file with that file."""
    if server.spec is None:
        return {"name": server.name, "from": server.from_file}
    from toolbelt.mcp.configs.servers import masked_data  # few projects have servers

    return {key: value for key, value in masked_data(server.spec).items() if key != "source"}


def _row_text(key: str, row: dict[str, Any]) -> str:
    """A loadout with its file; an agent or a model with its settings."""
    notes = _model_notes(row) if key == "models" else _server_notes(row) if key == "servers" else _agent_notes(row)
    return f"{row['name']} ({'; '.join(notes)})" if notes else row["name"]


def _agent_notes(row: dict[str, Any]) -> list[str]:
    notes = [row["file"]] if "file" in row else []
    if row.get("display_name", row["name"]) != row["name"]:
        notes.append(repr(row["display_name"]))
    notes += [f"{key} {row[key]!r}" for key in ("role", "model", "search") if row.get(key)]
    if rooms := row.get("rooms"):
        notes.append(f"rooms {', '.join(map(repr, rooms))}")
    return notes


def _server_notes(row: dict[str, Any]) -> list[str]:
    if "from" in row:
        return [f"from {row['from']}"]
    words = [row[key] for key in ("command", "url") if key in row] + row.get("args", [])
    variables = [f"{name}={value}" for key in ("env", "headers") for name, value in row.get(key, {}).items()]
    return [" ".join(words), *variables]


def _model_notes(row: dict[str, Any]) -> list[str]:
    notes = []
    for key, value in row.items():
        if isinstance(value, dict):
            prices = ", ".join(f"{name} {price:g}" for name, price in value.items() if price is not None)
            notes.append(f"{key} {prices}")
        elif key != "name":
            notes.append(f"{key} {str(value).lower() if isinstance(value, bool) else value}")
    return notes
