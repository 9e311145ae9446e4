"""Keys that are set in the environment: what is sent where none is, and which texts must not be shown or stored."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

PLACEHOLDER_KEY = "none-needed"
"""Sent to the user's own endpoint if no key is set, as the client requires a key."""
_SECRET_NAME = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|CREDENTIALS)")
_KEY_NAME = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD)$|BEARER_TOKEN")
_PROVIDERS_KEY_NAME = re.compile(
    r"_(API_?KEY|API_TOKEN|AUTH_TOKEN|ACCESS_KEY_ID|SECRET_ACCESS_KEY|SESSION_TOKEN)$"
    r"|^(HF_TOKEN|AWS_BEARER_TOKEN_BEDROCK)$"
)
"""Names of the keys that are sent to providers, so that a server can echo them."""
_SHORTEST_KEY = 4
"""Characters; what is shorter protects nothing, and occurs in every answer."""
_NO_KEYS = frozenset(
    {
        PLACEHOLDER_KEY, "anything", "changeme", "default", "dummy", "empty", "false", "key", "lm-studio", "local",
        "no-key", "none", "not-needed", "null", "ollama", "placeholder", "sk-no-key-required", "test", "token", "true",
        "vllm",
    }
)  # fmt: skip
"""What people set for a server that wants no key: words of answers, whose removal would change scores."""


def find_secrets(environment: Mapping[str, str]) -> list[str]:
    """Values that must not be shown."""
    values = [value for name, value in environment.items() if _SECRET_NAME.search(name.upper()) and len(value) >= 8]
    return [*values, *_providers_keys(environment)]


def _providers_keys(environment: Mapping[str, str]) -> list[str]:
    """Keys of providers, whatever they look like, but for the words that stand for none."""
    values = (value for name, value in environment.items() if _PROVIDERS_KEY_NAME.search(name.upper()))
    keys = [value for value in values if len(value) >= _SHORTEST_KEY and value.casefold() not in _NO_KEYS]
    return [*keys, *(escaped for key in keys if (escaped := json.dumps(key)[1:-1]) != key)]


def find_keys(environment: Mapping[str, str]) -> list[str]:
    """Values that are removed from answers: every key of a provider, and of other programs what looks like a key.

    The latter are fewer than those of `find_secrets`. An answer is scored by its words, and variables of other programs
    may hold common words, such as `standard`; a server is sent none of them.
    """
    values = (value for name, value in environment.items() if _KEY_NAME.search(name.upper()))
    others = [value for value in values if len(value) >= 8 and (len(value) >= 20 or re.search(r"\d", value))]
    return [*others, *_providers_keys(environment)]
