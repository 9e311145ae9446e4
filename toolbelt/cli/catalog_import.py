"""`toolbelt catalog import`."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import click

from toolbelt.catalog import Catalog
from toolbelt.catalog.files import catalog_data
from toolbelt.catalog.json_lines import Grouping
from toolbelt.command.approval import approve
from toolbelt.command.groups import examples
from toolbelt.command.options import Choice, json_option, option
from toolbelt.command.servers import (
    INCOMPLETE,
    ask_for_tools,
    exit_code_of,
    report_switches,
    timeout_option,
    yes_option,
)
from toolbelt.errors import InvalidFileError, ToolbeltError
from toolbelt.findings import Finding
from toolbelt.importers import import_catalog
from toolbelt.importers.formats import FORMATS, recognise
from toolbelt.importers.python_tools import LABEL as PYTHON_LABEL
from toolbelt.importers.python_tools import load_python_tools
from toolbelt.mcp.configs.client_configs import ClientForm, read_client_config
from toolbelt.mcp.configs.client_switches import parse_client_file
from toolbelt.mcp.sync.sync import Listing, sync_catalog
from toolbelt.patterns import fold, is_python_reference
from toolbelt.render.screen import notify, print_findings, print_json
from toolbelt.servers.spec import PythonReference, ServerSpec
from toolbelt.sources import decode, read_text
from toolbelt.stores.catalogs import write_catalog
from toolbelt.text import plural

CLIENT = "client"
"""The format of a file of an MCP client, whose servers are asked."""


@dataclass(frozen=True)
class Imported:
    """What one source holds.

    Attributes:
        source: As the user wrote it.
        label: Its format, in words.
        catalog: Of a file; `None` for a client's file, whose servers are asked.
        notes: What had to be understood, renamed or left out.
        servers: Of a client's file.
        left_out: Why entries could not be read.
    """

    source: str
    label: str
    catalog: Catalog | None
    notes: tuple[str, ...] = ()
    servers: tuple[ServerSpec, ...] = ()
    left_out: tuple[Finding, ...] = ()


@click.command(
    "import",
    epilog=examples(
        "toolbelt catalog import tools.json -o catalog.yaml",
        "toolbelt catalog import .mcp.json payments.json -o catalog.json",
        "toolbelt catalog import shoptools.py mypackage.tools:TOOLS -o catalog.json",
        "curl -s URL | toolbelt catalog import - --name payments -o payments.json",
    ),
)
@click.argument("sources", metavar="SOURCE...", nargs=-1, required=True)
@option(
    "--format",
    "form",
    type=Choice((*FORMATS, CLIENT)),
    envvar="TOOLBELT_IMPORT_FORMAT",
    help="What each SOURCE is.  [default: found from its content]",
)
@option(
    "--output", "-o", metavar="FILE", help="A .json or .yaml file, written all or nothing.  [default: standard output]"
)
@option("--name", metavar="N", help="Of the catalog, and of its one plugin where the format knows none.")
@option("--plugin-field", metavar="F", help="JSON Lines: the field that names a tool's plugin.")
@option("--category-field", metavar="F", help="JSON Lines: the field that names a plugin's category.")
@option("--category", metavar="C", help="The category of plugins that come without one, for loadouts to include.")
@option("--force", is_flag=True, help="Replace FILE if it exists.")
@timeout_option
@yes_option
@json_option
def import_command(
    sources: tuple[str, ...],
    form: str | None,
    output: str | None,
    name: str | None,
    plugin_field: str | None,
    category_field: str | None,
    category: str | None,
    force: bool,
    timeout: float,
    yes: bool,
    as_json: bool,
) -> int:
    """A catalog from each SOURCE, a file or `-`: an OpenAI, Anthropic or MCP tool list, JSON Lines, or OpenAPI 3.

    A SOURCE may be Python: `file.py`, `file.py:attribute` or `module:attribute` is imported, which runs it. It holds
    functions, an object with methods, a ToolRegistry, lists of definitions, or tools of LangChain, pydantic-ai,
    FastMCP, smolagents, LlamaIndex, Haystack or the OpenAI Agents SDK.

    A SOURCE may also be the file of an MCP client (`mcpServers`): its servers are started, if you agree, and asked for
    their tools. Ids and names are kept as they are. Notes on standard error describe what was renamed or left out.
    Exit code 3: an entry cannot be read, or a server did not answer; the others are written.
    """
    if output is not None and not output.lower().endswith((".json", ".yaml", ".yml")):
        raise ToolbeltError(f"The ending of {output!r} must say how to write it: .json, .yaml or .yml.")
    if sources.count("-") > 1:
        raise ToolbeltError("Standard input can be read once; name `-` once.")
    grouping = Grouping(plugin_field, category_field) if plugin_field or category_field else None
    imported = [_read(source, form, name if len(sources) == 1 else None, grouping) for source in sources]
    left_out = tuple(finding for each in imported for finding in each.left_out)
    print_findings(left_out)
    specs = _join_servers(imported)
    approve(specs, yes=yes)
    listings = ask_for_tools(specs, timeout)
    catalog, notes, unusable = _join(imported, listings, name or "imported")
    report_switches(specs, catalog, listings)
    catalog = replace(catalog, name=name) if name else catalog
    if category is not None:
        catalog = _with_category(catalog, category)
    for note in notes:
        notify(note)
    for note in unusable:
        notify(note, "warning")
    code = exit_code_of(listings, [*left_out, *unusable])
    if code and not catalog.tools:
        raise NoAnswerError("No server answered with tools, so nothing was written.")
    label = ", ".join(dict.fromkeys(each.label for each in imported))
    _report(catalog, label)
    if left_out:
        notify(f"{plural(len(left_out), 'mistake')}, as above: what has one is left out", "warning")
    if output is None:
        print_json(catalog_data(catalog))
        return code
    write_catalog(catalog, output, overwrite=force)
    notify(f"wrote {output}; look at it with: toolbelt catalog stats --catalog {output}")
    if as_json:
        counts = {"plugins": len(catalog.plugins), "tools": len(catalog.tools)}
        renamed = _renamed(catalog)
        left = {"left_out": [*map(str, left_out), *unusable]}
        print_json({"output": output, "format": label, **counts, "notes": list(notes), **left, "wire_names": renamed})
    return code


class NoAnswerError(ToolbeltError):
    """No server of a client's file answered."""

    exit_code = INCOMPLETE


def _read(source: str, form: str | None, name: str | None, grouping: Grouping | None) -> Imported:
    if source != "-" and is_python_reference(source):
        python = load_python_tools(PythonReference(source, os.getcwd(), "SOURCE"), name=name).file  # noqa: PTH109
        return Imported(source, PYTHON_LABEL, python.catalog, python.notes, left_out=python.left_out)
    text = decode(sys.stdin.buffer.read(), "standard input") if source == "-" else read_text(source)
    if source != "-" and (form == CLIENT or (form is None and _is_client_file(text, source))):
        config = read_client_config(source)
        config.refuse()
        servers = tuple(spec for spec in config.servers if not spec.disabled)
        report_switches(spec for spec in config.servers if spec.disabled)
        return Imported(source, "file of an MCP client", None, servers=servers, left_out=config.left_out)
    if source == "-":
        name = name or "imported"
    shown = source if source != "-" else "standard input"
    file, label = import_catalog(text, shown, form=form, name=name, grouping=grouping)
    return Imported(source, label, file.catalog, file.notes, left_out=file.left_out)


def _is_client_file(text: str, source: str) -> bool:
    """Whether a file has servers of an MCP client, and is none of the formats that also have a `servers`."""
    try:
        data = parse_client_file(text, source).data
    except InvalidFileError:
        return False
    if not isinstance(data, dict) or recognise(data) is not None:
        return False
    return read_client_config(source).form is not ClientForm.NONE


def _join_servers(imported: Iterable[Imported]) -> tuple[ServerSpec, ...]:
    owners: dict[str, str] = {}
    specs = []
    for each in imported:
        for spec in each.servers:
            _refuse_second(owners, "server", spec.name, each.source)
            specs.append(spec)
    return tuple(specs)


def _join(
    imported: Sequence[Imported], listings: Sequence[Listing], name: str
) -> tuple[Catalog, tuple[str, ...], tuple[str, ...]]:
    """The plugins of all sources in one catalog, those of servers last; notes, and what servers list in vain."""
    catalogs = [(each.source, each.catalog) for each in imported if each.catalog is not None]
    notes = tuple(note for each in imported for note in each.notes)
    joined = catalogs[0][1] if catalogs else Catalog(name=name)
    owners: dict[str, str] = {}
    for source, catalog in catalogs:
        for plugin in catalog.plugins:
            _refuse_second(owners, "plugin", plugin.name, source)
    for spec_source, spec in ((each.source, spec) for each in imported for spec in each.servers):
        _refuse_second(owners, "plugin", spec.name, spec_source)
    if len(catalogs) > 1:
        joined = Catalog(
            plugins=tuple(plugin for _, catalog in catalogs for plugin in catalog.plugins),
            name=name,
            categories={key: text for _, catalog in catalogs for key, text in catalog.categories.items()},
            core=tuple(tool_id for _, catalog in catalogs for tool_id in catalog.core),
            loadouts={key: value for _, catalog in catalogs for key, value in catalog.loadouts.items()},
            ladder=next((catalog.ladder for _, catalog in catalogs if catalog.ladder), ()),
            servers={key: value for _, catalog in catalogs for key, value in catalog.servers.items()},
        )
    if not listings:
        return joined, notes, ()
    switches = {spec.name: spec.switches for each in imported for spec in each.servers}
    synced = sync_catalog(joined, listings, switches=switches)
    return synced.catalog, notes, synced.notes


def _refuse_second(owners: dict[str, str], what: str, name: str, source: str) -> None:
    first = owners.setdefault(fold(name), source)
    if first != source:
        raise ToolbeltError(
            f"Two sources have a {what} named {name!r}: {first} and {source}. Import one of them alone, with another "
            "--name, or rename it in its file."
        )


def _with_category(catalog: Catalog, category: str) -> Catalog:
    plugins = tuple(
        plugin if plugin.effective_category is not None else replace(plugin, category=category)
        for plugin in catalog.plugins
    )
    return replace(catalog, plugins=plugins)


def _report(catalog: Catalog, label: str) -> None:
    counts = f"{plural(len(catalog.tools), 'tool')} in {plural(len(catalog.plugins), 'plugin')}"
    notify(f"read {label}: {counts}")
    if shared := list(catalog.shared_names):
        notify(
            f"{plural(len(shared), 'name')} shared by several tools: {', '.join(shared[:8])}{', …' * (len(shared) > 8)}"
        )
    if renamed := _renamed(catalog):
        notify(f"{plural(len(renamed), 'tool')} sent under a wire name; `toolbelt catalog lint` lists them")


def _renamed(catalog: Catalog) -> dict[str, str]:
    return {tool.id: wire for tool in catalog.tools if (wire := catalog.wire_names[tool.id]) != tool.name}
