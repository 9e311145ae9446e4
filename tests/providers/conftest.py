"""What tests of providers share."""

from __future__ import annotations

from tests.servers.running import openai_server

__all__ = ["openai_server"]
