"""The command line, run in this process."""

from tests.cli.conftest import project, toolbelt
from tests.servers.running import openai_server

__all__ = ["openai_server", "project", "toolbelt"]
