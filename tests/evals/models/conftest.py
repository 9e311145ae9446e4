"""What tests of models share."""

from __future__ import annotations

from tests.servers.running import openai_server

__all__ = ["openai_server"]
