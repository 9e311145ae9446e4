"""The `toolbelt` command."""

from __future__ import annotations

import sys
from typing import NoReturn


def main() -> NoReturn:
    """Entry point of the console script."""
    from toolbelt.cli.boundary import run

    sys.exit(run(sys.argv[1:]))
