"""Options that the commands about sessions share."""

from __future__ import annotations

from collections.abc import Callable

from toolbelt.command.options import Command, option
from toolbelt.stores.sessions import DEFAULT_FILE

session_store_option = option(
    "--session-store",
    metavar="FILE",
    default=str(DEFAULT_FILE),
    show_default=True,
    help="Where what agents have loaded is kept.",
)
required_session_option = option("--session", "session_id", metavar="S", required=True, help="A session's id.")


def agent_option(*, required: bool = False) -> Callable[[Command], Command]:
    """`--agent`, for what is about one agent."""
    return option("--agent", metavar="A", required=required, help="An agent of toolbelt.yaml.")
