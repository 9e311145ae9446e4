"""Where a hosted model is asked, read from its name and the environment, without litellm."""

from __future__ import annotations

import os
from collections.abc import Mapping
from types import MappingProxyType
from urllib.parse import urlsplit

from toolbelt.providers.litellm_table import ModelTable
from toolbelt.providers.provider_names import find_provider

_ADDRESSES: Mapping[str, tuple[str, ...]] = MappingProxyType({"openai": ("OPENAI_BASE_URL", "OPENAI_API_BASE")})
"""Variables with the address of a provider, where they are not `PROVIDER_API_BASE` alone; the first that is set."""
_DEFAULT_ADDRESSES: Mapping[str, str] = MappingProxyType({"llamafile": "http://127.0.0.1:8080/v1"})
_PORTS: Mapping[str, int] = MappingProxyType({"http": 80, "https": 443})


def find_address(provider: str) -> str | None:
    """The address that the environment gives for a provider, as litellm reads it; `None` for the provider's own."""
    names = _ADDRESSES.get(provider, (f"{provider.upper()}_API_BASE",))
    stated = (os.environ.get(name, "").strip() for name in names)
    return next(filter(None, stated), _DEFAULT_ADDRESSES.get(provider))


def find_origin(name: str, api_base: str | None, table: ModelTable | None = None) -> str:
    """Who answers for a hosted model: scheme, host and port of an address, else the provider's name.

    The path is not part of it, and neither are user names, passwords and query values.

    Args:
        name: Of the model, as on the command line.
        api_base: As given on the command line; `None` for none.
        table: What is known of models.
    """
    found = find_provider(name, table or ModelTable())
    provider = name.partition("/")[0] if found is None else found[0]
    address = api_base or find_address(provider)
    if address is None:
        return provider
    parts = urlsplit(address)
    host = (parts.hostname or "").lower()
    host = f"[{host}]" if ":" in host else host
    return f"{parts.scheme.lower()}://{host}:{parts.port or _PORTS.get(parts.scheme.lower(), 0)}"
