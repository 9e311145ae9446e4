"""What tests of models share."""

from __future__ import annotations

from tests.servers.asking import each_transport
from tests.servers.running import openai_server

__all__ = ["each_transport", "openai_server"]
