"""The `toolbelt` command."""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    import click


def main() -> NoReturn:
    """Entry point of the console script."""
    # A command builds much and drops little: looking for garbage every 700 objects costs a tenth of its time.
    gc.set_threshold(100_000, 50, 50)
    try:
        code = run(sys.argv[1:])
    except KeyboardInterrupt:  # while still loading
        code = 130
    sys.exit(code)


def run(arguments: Sequence[str]) -> int:
    """Run the command line and return its exit code; nothing is raised."""
    from toolbelt.command.boundary import run_command

    return run_command(arguments, _load_root)


def _load_root() -> click.Command:
    from toolbelt.cli.root import root

    return root
