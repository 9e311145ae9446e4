"""`toolbelt mcp approve`: approving by digest, as scripts do (rule M2)."""

from __future__ import annotations

import os
from pathlib import Path

import click

from toolbelt.command.approval import DIGEST_CHARS, show_definition
from toolbelt.command.groups import examples
from toolbelt.command.options import config_option, json_option, option
from toolbelt.errors import NotFoundError
from toolbelt.mcp.configs.approvals import Approvals, refuse_unsafe_files
from toolbelt.mcp.configs.client_configs import read_client_config
from toolbelt.mcp.configs.project_servers import examine_servers
from toolbelt.mcp.configs.servers import approval_digest, masked_data
from toolbelt.render.screen import notify, print_json
from toolbelt.stores.config import examine_config
from toolbelt.stores.files import state_folder
from toolbelt.text import plural, visible


@click.command(
    epilog=examples(
        "toolbelt mcp approve", "toolbelt mcp approve --from .mcp.json", "toolbelt mcp approve 3f9a2c51e0b7d846"
    )
)
@click.argument("digests", nargs=-1, metavar="[DIGEST]...")
@option("--from", "from_file", metavar="FILE", help="The servers of a client's file, not those of toolbelt.yaml.")
@config_option
@json_option
def approve(digests: tuple[str, ...], from_file: str | None, config: str | None, as_json: bool) -> None:
    """List the servers with the digest of what would be approved of each; or approve those with these DIGESTs.

    A digest stands for one exact definition: command, arguments, folder, URL, and variables that are no secrets. If the
    definition changes after it was listed, its digest is another one, and nothing is approved.
    """
    if from_file is not None:
        servers = read_client_config(Path(from_file).absolute(), Path.cwd()).servers
    else:
        servers, _ = examine_servers(examine_config(Path.cwd(), config))
    approvals, environment = Approvals(state_folder(os.environ)), os.environ
    refuse_unsafe_files([file for spec in servers for file in spec.files])
    by_digest = {approval_digest(spec, environment)[:DIGEST_CHARS]: spec for spec in servers if not spec.disabled}
    for digest in digests:
        if digest[:DIGEST_CHARS] not in by_digest:
            raise NotFoundError("definition of a server with the digest", digest, by_digest)
    chosen = [by_digest[digest[:DIGEST_CHARS]] for digest in dict.fromkeys(digests)]
    approvals.add(chosen, environment)
    missing = {spec.name for spec in approvals.missing(by_digest.values(), environment)}
    if as_json:
        print_json(
            [
                {"digest": digest, "is_approved": spec.name not in missing, **masked_data(spec)}
                for digest, spec in by_digest.items()
            ]
        )
    elif chosen:
        notify(f"approved {', '.join(visible(spec.name) for spec in chosen)}, while unchanged", "")
    else:
        for digest, spec in by_digest.items():
            click.echo(f"{digest}  {'not approved' if spec.name in missing else 'approved    '}  {visible(spec.name)}")
            show_definition(spec)
    if missing and not as_json:
        notify(f"{plural(len(missing), 'server')} not approved: toolbelt mcp approve DIGEST…, or catalog sync asks")
