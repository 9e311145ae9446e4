"""`toolbelt mcp login` and `logout`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from toolbelt.command.groups import examples
from toolbelt.command.options import config_option, json_option, option
from toolbelt.command.project import ProjectOptions
from toolbelt.errors import NotFoundError, ToolbeltError
from toolbelt.mcp.upstreams.logins import LoginStore, canonical_url
from toolbelt.render.screen import notify, print_json
from toolbelt.text import visible

if TYPE_CHECKING:
    from toolbelt.mcp.configs.variables import ResolvedServer

SECRET_VARIABLE = "TOOLBELT_CLIENT_SECRET"  # noqa: S105  the name of a variable


@click.command(epilog=examples("toolbelt mcp login github", "toolbelt mcp login github --no-browser"))
@click.argument("name")
@option("--client-id", default="", metavar="ID", help="Of a client that you registered; else one is registered now.")
@option("--callback-port", type=click.IntRange(0, 65535), default=0, metavar="N", help="On 127.0.0.1; 0: a free one.")
@option("--no-browser", is_flag=True, help="Print the page's address, and open nothing.")
@option("--login-timeout", type=click.FloatRange(min=1), default=300.0, metavar="S", help="Seconds for you to log in.")
@option("--yes", is_flag=True, help="Ask a server that is not approved, this once.")
@config_option
@json_option
def login(
    name: str,
    client_id: str,
    callback_port: int,
    no_browser: bool,
    login_timeout: float,
    yes: bool,
    config: str | None,
    as_json: bool,
) -> None:
    """Log in at server NAME of toolbelt.yaml, in the browser, and keep what it gives for you.

    It is kept in the system's keyring, else in a file that only you may read. The secret of a client that you
    registered is read from TOOLBELT_CLIENT_SECRET.
    """
    server = _open_server(name, config, yes=yes)
    import asyncio

    from toolbelt.mcp.serving.stdio import quiet_sdk
    from toolbelt.mcp.upstreams.login import LoginSettings, log_in

    def show(page: str) -> None:
        notify(f"Open this page and log in: {visible(page)}")
        if not no_browser:
            import threading
            import webbrowser

            # Some browsers keep who opens them waiting until they are closed.
            threading.Thread(target=webbrowser.open, args=(page,), daemon=True).start()

    quiet_sdk()
    store = LoginStore(os.environ)
    settings = LoginSettings(client_id, os.environ.get(SECRET_VARIABLE, ""), callback_port, login_timeout)
    was_asked = asyncio.run(log_in(server.url, server.headers, store, show, settings))
    status = "logged_in" if was_asked else "not_needed"
    if as_json:
        print_json({"server": name, "url": canonical_url(server.url), "status": status})
    else:
        notify(f"Logged in at {visible(name)}." if was_asked else f"{visible(name)} asks for no login.")


@click.command(epilog=examples("toolbelt mcp logout github"))
@click.argument("name")
@config_option
@json_option
def logout(name: str, config: str | None, as_json: bool) -> None:
    """Forget the login at server NAME; the server is not informed."""
    server = _open_server(name, config, yes=True)  # nothing is asked of it
    was_there = LoginStore(os.environ).remove(server.url)
    if as_json:
        print_json({"server": name, "status": "logged_out" if was_there else "no_login"})
    else:
        notify(f"Logged out of {visible(name)}." if was_there else f"There was no login at {visible(name)}.")


def _open_server(name: str, config: str | None, *, yes: bool) -> ResolvedServer:
    """A server over HTTP, approved and with real values.

    Raises:
        ToolbeltError: there is none of that name, it is a process, not approved, or a variable has no value.
    """
    from toolbelt.command.approval import approve
    from toolbelt.mcp.configs.project_servers import explain_broken_servers
    from toolbelt.mcp.configs.variables import resolve

    project = ProjectOptions(config=config).open()
    specs = {spec.name: spec for spec in project.servers}
    if name not in specs:
        if (why := explain_broken_servers(project.config).get(name)) is not None:
            raise ToolbeltError(why)
        raise NotFoundError("server", name, specs)
    if not specs[name].url:
        raise ToolbeltError(f"Server {name!r} is a process, which has no login; its entry has `env` for its keys.")
    approve([specs[name]], yes=yes)
    return resolve(specs[name], os.environ)
