"""Consent before a server of a file is started, or code that it names is imported (rule M2)."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

import click

from toolbelt.errors import ToolbeltError
from toolbelt.mcp.configs.approvals import Approvals, refuse_unsafe_files
from toolbelt.mcp.configs.servers import (
    approval_digest,
    masked_command_line,
    masked_command_line_now,
    masked_data,
)
from toolbelt.mcp.configs.variables import find_env_file, input_variable, read_env_file_of
from toolbelt.render.screen import notify
from toolbelt.servers.spec import Approvable, ServerSpec, Transport
from toolbelt.stores.files import state_folder
from toolbelt.text import plural, visible

_Kind = TypeVar("_Kind", bound=Approvable)
_MOST_WRITTEN_OUT = 2
"""Definitions whose commands stand in a refusal."""
DIGEST_CHARS = 16
"""Of a digest, that are shown and taken."""


def approve(specs: Sequence[Approvable], *, yes: bool) -> None:
    """Return only if every definition may run: approved before, now at the terminal, or by `--yes` for this once.

    Consent comes from the terminal or the flag alone, never from a variable or a `.env`.

    Args:
        specs: Servers that would be started, and code that would be imported.
        yes: Whether the command has `--yes`.

    Raises:
        ToolbeltError: not all are approved, with the list; a file that defines them could be somebody else's.
        StorageError: the approvals cannot be read or written.
    """
    if left := _ask_for(specs, yes=yes):
        raise ToolbeltError(_refusal(left))


def approve_some(specs: Sequence[_Kind], *, yes: bool) -> tuple[_Kind, ...]:
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


def _ask_for(specs: Sequence[_Kind], *, yes: bool) -> tuple[_Kind, ...]:
    """Those that are not approved in the end."""
    refuse_unsafe_files([file for spec in specs for file in spec.files])
    env_files = [find_env_file(spec, os.environ) for spec in specs if isinstance(spec, ServerSpec)]
    refuse_unsafe_files([file for file in env_files if file is not None])
    approvals = Approvals(state_folder(os.environ))
    missing = approvals.missing(specs, os.environ)
    if yes or not missing:
        return ()
    if not _is_terminal():
        return missing
    if len(missing) > 1 and (is_all := _answer_for_all(missing, approvals)) is not None:
        return () if is_all else missing
    return tuple(spec for spec in missing if not _is_accepted(spec, approvals))


def _answer_for_all(specs: Sequence[Approvable], approvals: Approvals) -> bool | None:
    """Whether all were accepted in one answer, after the whole list; `None` to be asked for each.

    Raises:
        ToolbeltError: one of them changed while the user read the list.
    """
    digests = [approval_digest(spec, os.environ) for spec in specs]
    for spec in specs:
        show_definition(spec)
    question = f"Run all {len(specs)} of these now, and whenever they are unchanged?"
    answer = click.prompt(question, type=click.Choice(["all", "each", "none"]), default="each", err=True)
    if answer == "all":
        if digests != [approval_digest(spec, os.environ) for spec in specs]:
            raise ToolbeltError("A definition changed while you were asked; run the command again.")
        approvals.add(specs, os.environ)
    return None if answer == "each" else answer == "all"


def _is_accepted(spec: Approvable, approvals: Approvals) -> bool:
    """Ask for one definition, and keep the answer at once.

    Raises:
        ToolbeltError: it changed while the user read it, as the file of variables may.
    """
    digest = approval_digest(spec, os.environ)
    show_definition(spec)
    verb = "Start" if isinstance(spec, ServerSpec) else "Import"
    if not click.confirm(f"{verb} {visible(spec.name)!r} now, and whenever it is unchanged?", err=True):
        return False
    if approval_digest(spec, os.environ) != digest:
        raise ToolbeltError(f"{spec.name!r} changed while you were asked; run the command again.")
    approvals.add([spec], os.environ)
    return True


def _is_terminal() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()


def show_definition(spec: Approvable) -> None:
    """The whole definition on standard error, a part a line, secrets masked."""
    data = masked_data(spec)
    kind = "server" if isinstance(spec, ServerSpec) else "Python code"
    notify(f"{kind} {data.pop('name')!r} of {data.pop('source', '')}", "")
    if isinstance(spec, ServerSpec):
        data |= _context(spec)
    for key, value in data.items():
        if isinstance(value, list):
            rows = [repr(item) for item in value]
        else:
            rows = [f"{name}={part}" for name, part in value.items()] if isinstance(value, dict) else [str(value)]
        for row in rows:
            notify(f"  {key:<10} {row}", "")


def _context(spec: ServerSpec) -> dict[str, Any]:
    """What else decides what runs: the folder, what `${…}` stand for now, and the variables of the `envFile`."""
    context: dict[str, Any] = {"folder": spec.folder} if spec.transport is Transport.STDIO else {}
    if (now := masked_command_line_now(spec, os.environ)) != masked_command_line(spec):
        context["now"] = now
    values = read_env_file_of(spec, os.environ)
    if values:
        context["from file"] = masked_data(replace(spec, env=values))["env"]
    return context


def _refusal(specs: Sequence[Approvable]) -> str:
    lines = [f"{masked_command_line(spec)}; " if len(specs) <= _MOST_WRITTEN_OUT else "" for spec in specs]
    digests = [approval_digest(spec, os.environ)[:DIGEST_CHARS] for spec in specs]
    listed = ", ".join(
        f"{visible(spec.name)} ({line}{digest})" for spec, line, digest in zip(specs, lines, digests, strict=True)
    )
    sources = ", ".join(dict.fromkeys(spec.source for spec in specs))
    are = "is" if len(specs) == 1 else "are"
    if all(isinstance(spec, ServerSpec) for spec in specs):
        what = "server"
        see = "`toolbelt mcp approve` (--from FILE: of a client's file) shows what they would run, and takes digests"
    else:
        what, see = "definition", "a terminal shows what they would run"
    return (
        f"{plural(len(specs), what)} of {sources} {are} not approved: {listed}. {see[0].upper()}{see[1:]}. "
        "Or run the command at a terminal, which asks once, or add --yes to start what is listed this once."
    )
