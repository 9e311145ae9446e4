"""Options of every command that listens on HTTP, and what they come to (rule M8)."""

from __future__ import annotations

import os
from dataclasses import dataclass

from toolbelt.command.options import gathered, option
from toolbelt.errors import ToolbeltError
from toolbelt.mcp.serving.http_access import HttpRules, Tokens, open_tokens, parse_address
from toolbelt.render.screen import notify

_OPTIONS = (
    option("--http", metavar="HOST:PORT", help="Serve over streamable HTTP; port 0 is any that is free."),
    option("--token-file", metavar="FILE", help="Bearer tokens, one a line, mode 0600; else TOOLBELT_HTTP_TOKEN."),
    option("--no-token", is_flag=True, help="Let in everybody on this machine; on loopback alone."),
    option("--tls-cert", metavar="FILE", help="Certificate, in PEM."),
    option("--tls-key", metavar="FILE", help="Its key, in PEM."),
    option("--behind-proxy", is_flag=True, help="A proxy in front has TLS."),
    option("--allow-host", multiple=True, metavar="HOST[:PORT]", help="A further name by which clients reach it."),
    option("--allow-origin", multiple=True, metavar="URL", help="A web page that may ask."),
)


@dataclass(frozen=True)
class HttpOptions:
    """A listener that was asked for.

    Attributes:
        rules: Checked.
        tokens: `None` to let everybody in.
    """

    rules: HttpRules
    tokens: Tokens | None


def read_http_options(
    http: str | None,
    token_file: str | None,
    no_token: bool,
    tls_cert: str | None,
    tls_key: str | None,
    behind_proxy: bool,
    allow_host: tuple[str, ...],
    allow_origin: tuple[str, ...],
) -> HttpOptions | None:
    """What the options come to; `None` without `--http`.

    Raises:
        ToolbeltError: they do not fit together, or would let in more people than the user may think.
    """
    if http is None:
        flags = {
            "--token-file": token_file,
            "--no-token": no_token,
            "--tls-cert": tls_cert,
            "--tls-key": tls_key,
            "--behind-proxy": behind_proxy,
            "--allow-host": allow_host,
            "--allow-origin": allow_origin,
        }
        if alone := [name for name, value in flags.items() if value]:
            raise ToolbeltError(f"{', '.join(alone)} belongs to --http HOST:PORT.")
        return None
    if no_token and token_file:
        raise ToolbeltError("--no-token and --token-file contradict each other.")
    rules = HttpRules(
        parse_address(http),
        without_token=no_token,
        tls_certificate=tls_cert or "",
        tls_key=tls_key or "",
        is_behind_proxy=behind_proxy,
        hosts=allow_host,
        origins=allow_origin,
    )
    rules.check()
    return HttpOptions(rules, None if no_token else open_tokens(os.environ, token_file or ""))


http_options = gathered("listener", read_http_options, _OPTIONS)
"""`--http` and what belongs to it: the command gets `listener: HttpOptions | None`."""


def announce(options: HttpOptions, url: str) -> None:
    """Where the listener is, and where its token is, which is never shown."""
    notify(f"listening on {url}", "toolbelt")
    if options.tokens is None:
        notify("everybody on this machine is let in (--no-token)", "toolbelt")
    else:
        notify(f"the bearer token is that of {options.tokens.source}", "toolbelt")
