"""The command line, run in this process."""

from tests.cli.conftest import project, toolbelt

__all__ = ["project", "toolbelt"]
