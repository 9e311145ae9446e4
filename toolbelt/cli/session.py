"""`toolbelt session`: what agents have loaded, shown and changed by hand."""

from __future__ import annotations

import click

from toolbelt.command.groups import LazyGroup, examples


@click.group(
    cls=LazyGroup,
    entries={
        "show": ("toolbelt.cli.session_show:show", "What an agent has in a session, and why; or the stored sessions."),
        "load": ("toolbelt.cli.session_change:load", "Load a toolkit, as the agent itself would."),
        "unload": ("toolbelt.cli.session_change:unload", "Unload a toolkit, as the agent itself would."),
        "reset": ("toolbelt.cli.session_change:reset", "Unload everything that was loaded."),
    },
    epilog=examples("toolbelt session show --agent assistant --session 4711"),
)
def session() -> None:
    """What agents have loaded, by session: `agents` and `toolkits` of toolbelt.yaml, and the stored sessions."""
