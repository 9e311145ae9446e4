"""`toolbelt serve`: the gateway."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from toolbelt.catalog.tokens import EstimateCounter
from toolbelt.cli.session_opening import agent_option, get_agent, require_text
from toolbelt.command.completion import complete_loadouts
from toolbelt.command.groups import examples
from toolbelt.command.http_options import HttpOptions, announce, http_options
from toolbelt.command.options import Choice, catalog_option, config_option, option
from toolbelt.command.project import ProjectOptions
from toolbelt.errors import NotFoundError, ToolbeltError
from toolbelt.mcp.gateway.discovery import DiscoverMode, Discovery, make_discovery
from toolbelt.mcp.gateway.meta_tools import cut
from toolbelt.mcp.gateway.python_tools import add_python_tools, load_registry
from toolbelt.mcp.gateway.surface import NAME_LIMIT, Surface, list_pinned, make_surface, served_names
from toolbelt.mcp.gateway.toolkit_surface import AgentSurface, make_agent_surface
from toolbelt.mcp.logs.audit import AuditLog, audit_folder
from toolbelt.mcp.serving.standard_streams import claim_standard_streams
from toolbelt.patterns import is_python_reference
from toolbelt.project.opening import examine_project, leave_out_switched_off
from toolbelt.project.rankers import open_index_store, open_project_ranker
from toolbelt.render.screen import notify
from toolbelt.search.pinned import find_pinned
from toolbelt.search.presets import parse_search
from toolbelt.servers.spec import PythonReference
from toolbelt.stores.sessions import DEFAULT_FILE, SqliteSessionStore
from toolbelt.toolkits.toolkit import MetaRole

if TYPE_CHECKING:
    from toolbelt.mcp.configs.variables import ResolvedServer
    from toolbelt.mcp.gateway.agents import AgentTurns
    from toolbelt.mcp.gateway.gateway import Gateway
    from toolbelt.mcp.gateway.searching import ServedSearch
    from toolbelt.mcp.serving.standard_streams import ProtocolStreams
    from toolbelt.project.project import Project
    from toolbelt.runtime.registry import ToolRegistry
    from toolbelt.search.settings import SearchSettings

_MAX_LINE_CHARS = 4_000
"""Characters of a line of the gateway's log."""


@click.command(
    epilog=examples(
        "toolbelt serve developer",
        "toolbelt serve developer --http 127.0.0.1:8000 --idle-timeout 300",
        "toolbelt serve developer --search fastmcp:pinned=minimal",
        "toolbelt serve developer --tools mytools:registry",
        "toolbelt serve everything --catalog shoptools.py",
        "toolbelt serve --agent assistant",
    )
)
@click.argument("loadout", required=False, shell_complete=complete_loadouts)
@agent_option()
@option("--session", "session_id", metavar="S", help="With --agent: the session to continue.  [default: a new one]")
@option("--call-timeout", type=click.FloatRange(min=0.1), default=300.0, metavar="S", help="Seconds for one call.")
@option(
    "--start-timeout",
    type=click.FloatRange(min=0.1),
    default=10.0,
    metavar="S",
    help="Seconds that the first list waits for servers; those that are later lose nothing.",
)
@option("--name-limit", type=click.IntRange(16, 64), default=NAME_LIMIT, metavar="N", help="Characters of a name.")
@option(
    "--idle-timeout",
    type=click.FloatRange(min=0),
    default=600.0,
    metavar="S",
    help="Seconds without a request, after which a server ends until it is needed, and a client over HTTP has gone.",
)
@option("--share", multiple=True, metavar="SERVER", help="One SERVER for all clients; it cannot ask them anything.")
@option(
    "--discover",
    type=Choice([mode.value for mode in DiscoverMode]),
    default=DiscoverMode.CALL_THROUGH.value,
    show_default=True,
    help="How discoverable tools are reached: by meta-tools; by these and a list that grows; or not at all.",
)
@option(
    "--search",
    metavar="S",
    help="List the pinned tools alone; the model finds all others by search S: a preset, or as an eval has it after "
    "search:. In place of --discover.",
)
@option(
    "--tools",
    "python_tools",
    metavar="M:A",
    help="Python tools, as module:attribute or file.py: they are served beside those of servers.",
)
@option("--log-arguments", is_flag=True, help="Record the arguments of calls in the audit log.")
@option("--audit-required", is_flag=True, help="Refuse calls that the audit log cannot record.")
@option("--unlocked", is_flag=True, help="Serve also tools that changed since the last sync.")
@option("--yes", is_flag=True, help="Start servers that are not approved, this once.")
@http_options
@config_option
@catalog_option
def serve(
    loadout: str | None,
    agent: str | None,
    session_id: str | None,
    call_timeout: float,
    start_timeout: float,
    name_limit: int,
    idle_timeout: float,
    share: tuple[str, ...],
    discover: str,
    search: str | None,
    python_tools: str | None,
    log_arguments: bool,
    audit_required: bool,
    unlocked: bool,
    yes: bool,
    config: str | None,
    catalog: str | None,
    listener: HttpOptions | None,
) -> None:
    """Serve what LOADOUT makes of the catalog, or agent A, to an MCP client: over standard input and output, or HTTP.

    A client starts this command, or reaches it over HTTP with the bearer token whose place is printed. It is offered
    the active tools, under the names and with the definitions that were synced; a tool that changed since is withheld.
    Calls go to the servers of toolbelt.yaml, which must be approved. An agent has its static tools, and loads toolkits.
    """
    check_subject(loadout, agent, session_id, over_http=listener is not None)
    refuse_beside_search(search, agent)
    streams: ProtocolStreams | None = None
    if listener is None and is_python_reference(catalog or examine_project(config=config)[0].catalog or ""):
        streams = claim_standard_streams()
    project = leave_out_switched_off(ProjectOptions(catalog, config).open(yes=yes), broken_too=True)
    _report_left_out(project)
    settings = None if search is None else parse_search(search, project.config.searches)
    registry: ToolRegistry | None = None
    local: tuple[str, ...] = ()
    if python_tools is not None:
        registry, streams = open_python_tools(python_tools, project, yes=yes, streams=streams, over_http=bool(listener))
    elif is_python_reference(project.catalog_file.source):
        registry = load_registry(PythonReference(project.catalog_file.source, os.getcwd()))  # noqa: PTH109  as opened
    if registry is not None:
        project, local = add_to_project(project, registry)
    names = served_names(project.catalog, name_limit)
    surface = make_surface(project.resolve(loadout), name_limit=name_limit, local=local)
    of_agent: AgentSurface | None = None
    if agent is not None:
        spec = get_agent(project, agent)
        from toolbelt.project.sessions import find_search

        if (written := find_search(project, agent)) is not None:
            notify(f"{written[1]}: a search is for sessions; a gateway lists all tools of an agent's turn", "warning")
        of_agent = make_agent_surface(spec, project.toolkits, project.catalog, surface, names)
        surface = of_agent.whole
    elif settings is not None:
        surface = list_pinned(surface, settings, find_pinned(settings, project.catalog, project.registry), names)
    for name in share:
        if name not in surface.servers:
            raise NotFoundError("server", name, surface.servers)
    discovery = None
    if settings is None and discover != DiscoverMode.NONE:
        loader = MetaRole.LOAD if agent is not None else ""
        discovery = make_discovery(surface, project.catalog, names, loader=loader, store=open_index_store())
    servers = open_servers(project, surface, agent, yes=yes)
    audit = open_audit_log(required=audit_required, log_arguments=log_arguments)
    if listener is None and streams is None:
        # From here on, standard output belongs to the protocol; what follows may run code of others.
        streams = claim_standard_streams()
    from toolbelt.mcp.gateway.assembling import assemble_gateway
    from toolbelt.mcp.gateway.gateway import GatewayOptions
    from toolbelt.mcp.upstreams.upstream import UpstreamLimits

    served_search = None if settings is None else open_search(project, settings, surface, name_limit, yes=yes)
    gateway = assemble_gateway(
        surface,
        servers,
        GatewayOptions(
            call_timeout,
            start_timeout,
            unlocked,
            limits=UpstreamLimits(idle=idle_timeout),
            shared=share,
            announces=discover == DiscoverMode.LIST_CHANGED or (served_search is not None and served_search.announces),
        ),
        log=_log,
        counter=project.counter,
        discovery=discovery,
        audit=audit,
        python_tools=registry,
        agent=None if of_agent is None else open_turns(project, of_agent, session_id, discovery),
        search=served_search,
    )
    try:
        code = _serve(gateway, streams, listener, idle_timeout)
    finally:
        audit.close()
    click.get_current_context().exit(code)


def _report_left_out(project: Project) -> None:
    from toolbelt.command.servers import report_switches
    from toolbelt.mcp.configs.project_servers import explain_broken_servers

    for name, why in explain_broken_servers(project.config).items():
        notify(f"server {name!r} is not served: {why}", "warning")
    if project.servers:
        report_switches(project.servers, project.catalog)


def refuse_beside_search(search: str | None, agent: str | None) -> None:
    """Raise where a search is to be served with something that has its own way to other tools."""
    if search is None:
        return
    if agent is not None:
        raise click.UsageError("--search goes with a LOADOUT: an agent loads toolkits.")
    if click.get_current_context().get_parameter_source("discover") is ParameterSource.COMMANDLINE:
        raise click.UsageError("--search finds what is discoverable, too: leave out --discover.")


def check_subject(loadout: str | None, agent: str | None, session_id: str | None, *, over_http: bool) -> None:
    """Raise unless there is one thing to serve, and a session only where there is one client."""
    if loadout is None and agent is None:
        raise click.UsageError("Missing argument 'LOADOUT', or --agent.")
    if loadout is not None and agent is not None:
        raise click.UsageError("An agent has its own tools: --agent goes without a LOADOUT.")
    require_text("--session", session_id)
    if session_id is not None and (agent is None or over_http):
        raise click.UsageError("--session goes with --agent, and without --http, where each client has its own.")


def open_python_tools(
    reference: str, project: Project, *, yes: bool, streams: ProtocolStreams | None, over_http: bool
) -> tuple[ToolRegistry, ProtocolStreams | None]:
    """Python tools, approved and imported, and the descriptors of the protocol, which no print of theirs reaches.

    Args:
        reference: `module:attribute`, `file.py` or `file.py:attribute`.
        project: Whose folder has the module.
        yes: Whether the command has `--yes`.
        streams: The descriptors, where they are claimed already.
        over_http: Whether the protocol does without them.

    Raises:
        ToolbeltError: it is not approved, or cannot be imported.
    """
    from toolbelt.command.approval import approve

    spec = PythonReference(reference, str(project.folder.absolute()), source="--tools")
    approve([spec], yes=yes)
    if streams is None and not over_http:
        streams = claim_standard_streams()
    return load_registry(spec), streams


def add_to_project(project: Project, registry: ToolRegistry) -> tuple[Project, tuple[str, ...]]:
    """The project with Python tools in its catalog, and the names of their plugins there."""
    catalog = add_python_tools(project.catalog, registry)
    own = {plugin.key for plugin in registry.catalog.plugins}
    names = tuple(plugin.name for plugin in catalog.plugins if plugin.key in own)
    return replace(project, catalog_file=replace(project.catalog_file, catalog=catalog, is_shipped=False)), names


def open_search(
    project: Project, settings: SearchSettings, surface: Surface, name_limit: int, *, yes: bool
) -> ServedSearch:
    """The search over a surface that lists its pinned tools alone.

    Raises:
        ToolbeltError: its ranker is not approved, or cannot be opened.
    """
    from toolbelt.command.approval import approve
    from toolbelt.mcp.gateway.searching import ServedSearch
    from toolbelt.mcp.gateway.served_list import make_served_search

    ranker = open_project_ranker(project, settings.rank, approve=partial(approve, yes=yes))
    return ServedSearch(make_served_search(settings, ranker, surface, project.catalog, name_limit), project.catalog)


def open_turns(
    project: Project, agent: AgentSurface, session_id: str | None, discovery: Discovery | None
) -> AgentTurns:
    """The turns of an agent's clients, stored in the project's folder."""
    from toolbelt.mcp.gateway.agents import AgentTurns

    store = SqliteSessionStore(str(project.folder / DEFAULT_FILE))
    return AgentTurns(agent, store, _log, session_id, discovery=discovery)


def _serve(gateway: Gateway, streams: ProtocolStreams | None, listener: HttpOptions | None, idle_seconds: float) -> int:
    if listener is not None:
        from toolbelt.mcp.serving.http_serving import serve_over_http

        started = partial(announce, listener)
        return serve_over_http(gateway, listener.rules, listener.tokens, started=started, idle_seconds=idle_seconds)
    from toolbelt.mcp.serving.stdio import serve_stdio

    assert streams is not None  # noqa: S101
    return serve_stdio(gateway, streams)


def open_audit_log(*, required: bool, log_arguments: bool) -> AuditLog:
    """The user's audit log, opened (rule M10).

    Raises:
        StorageError: it is required, and cannot be written.
    """
    # Tokens of answers are estimated: a vocabulary would take more memory than the rest of the gateway.
    folder, count = audit_folder(os.environ), EstimateCounter()
    audit = AuditLog(folder, report=_log, count=count, required=required, log_arguments=log_arguments)
    audit.start()
    return audit


def open_servers(project: Project, surface: Surface, agent: str | None, *, yes: bool) -> Mapping[str, ResolvedServer]:
    """The servers of a surface, approved and with real values.

    Raises:
        ToolbeltError: there is nothing to serve, a server is not defined or not approved, or a variable has no value.
    """
    from toolbelt.command.approval import approve
    from toolbelt.mcp.configs.variables import resolve

    if not surface.offered and not surface.discoverable:
        hint = " None of its tools belongs to a server." if surface.without_server else ""
        subject = f"Loadout {surface.loadout!r}" if agent is None else f"Agent {agent!r}"
        if agent is None and (servers := [plugin.name for plugin in project.catalog.plugins if plugin.server]):
            hint = (
                f" It includes none of its plugins: {', '.join(servers[:8])}{', …' * (len(servers) > 8)}. To serve "
                "all: toolbelt loadout create everything --plugin '*', then toolbelt serve everything."
            )
        raise ToolbeltError(f"{subject} serves nothing of this catalog.{hint}")
    if surface.without_server:
        notify(f"not served, as no server has them: {', '.join(surface.without_server[:10])}", "warning")
    defined = {spec.name: spec for spec in project.servers if not spec.disabled}
    if missing := [name for name in surface.servers if name not in defined]:
        raise ToolbeltError(
            f"The catalog has tools of servers that toolbelt.yaml does not define, or disables: {', '.join(missing)}."
        )
    specs = [defined[name] for name in surface.servers]
    approve(specs, yes=yes)
    return {spec.name: resolve(spec, os.environ) for spec in specs}


def _log(line: str) -> None:
    notify(cut(line, _MAX_LINE_CHARS), "toolbelt")  # a client may write any name
