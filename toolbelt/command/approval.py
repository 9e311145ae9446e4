"""Consent before a server of a file is started (rule M2)."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import click

from toolbelt.console.screen import notify
from toolbelt.errors import ToolbeltError
from toolbelt.mcp.approvals import Approvals, refuse_unsafe_files
from toolbelt.mcp.servers import masked_command_line, masked_data
from toolbelt.mcp.variables import input_variable
from toolbelt.servers.spec import ServerSpec
from toolbelt.stores.files import state_folder
from toolbelt.text import plural, visible


def approve(specs: Sequence[ServerSpec], *, yes: bool) -> None:
    """Return only if every server may be started: approved before, now at the terminal, or by `--yes` for this once.

    Consent comes from the terminal or the flag alone, never from a variable or a `.env`.

    Args:
        specs: What would be started.
        yes: Whether the command has `--yes`.

    Raises:
        ToolbeltError: not all are approved, with the list; a file that defines them could be somebody else's.
        StorageError: the approvals cannot be read or written.
    """
    if left := _ask_for(specs, yes=yes):
        raise ToolbeltError(_refusal(left))


def approve_some(specs: Sequence[ServerSpec], *, yes: bool) -> tuple[ServerSpec, ...]:
    """Those that may be started, of which a user at the terminal may decline some; raises as `approve`.

    Raises:
        ToolbeltError: without a terminal, if one is not approved.
    """
    left = _ask_for(specs, yes=yes)
    if left and not _is_terminal():
        raise ToolbeltError(_refusal(left))
    return tuple(spec for spec in specs if spec not in left)


def ask_input(name: str, question: str) -> str | None:
    """The answer of the user at the terminal to `${input:name}`, not echoed; `None` without a terminal."""
    if not _is_terminal():
        return None
    text = visible(question or name)
    answer: str = click.prompt(f"{text} (or export {input_variable(name)})", hide_input=True, err=True, default="")
    return answer


def _ask_for(specs: Sequence[ServerSpec], *, yes: bool) -> tuple[ServerSpec, ...]:
    """Those that are not approved in the end."""
    refuse_unsafe_files([file for spec in specs for file in spec.files])
    approvals = Approvals(state_folder(os.environ))
    missing = approvals.missing(specs, os.environ)
    if yes or not missing:
        return ()
    if not _is_terminal():
        return missing
    accepted = []
    for spec in missing:
        _show(spec)
        if click.confirm(f"Start {visible(spec.name)!r} now, and whenever it is unchanged?", err=True):
            accepted.append(spec)
    approvals.add(accepted, os.environ)
    return tuple(spec for spec in missing if spec not in accepted)


def _is_terminal() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()


def _show(spec: ServerSpec) -> None:
    """The whole definition on standard error, a part a line, secrets masked."""
    data = masked_data(spec)
    notify(f"server {data.pop('name')!r} of {data.pop('source', '')}", "")
    for key, value in data.items():
        if isinstance(value, list):
            rows = [repr(item) for item in value]
        else:
            rows = [f"{name}={part}" for name, part in value.items()] if isinstance(value, dict) else [str(value)]
        for row in rows:
            notify(f"  {key:<10} {row}", "")


def _refusal(specs: Sequence[ServerSpec]) -> str:
    listed = "; ".join(f"{spec.name} of {spec.source}: {masked_command_line(spec)}" for spec in specs)
    are = "is" if len(specs) == 1 else "are"
    return (
        f"{plural(len(specs), 'server')} {are} not approved: {listed}. "
        "Run the command at a terminal, which asks once, or add --yes to start what is listed this once."
    )
