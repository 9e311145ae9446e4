"""The `toolbelt` command."""

from __future__ import annotations

import gc
import sys
from typing import NoReturn


def main() -> NoReturn:
    """Entry point of the console script."""
    # A command builds much and drops little: looking for garbage every 700 objects costs a tenth of its time.
    gc.set_threshold(100_000, 50, 50)
    try:
        from toolbelt.cli.boundary import run

        code = run(sys.argv[1:])
    except KeyboardInterrupt:  # while still loading
        code = 130
    sys.exit(code)
