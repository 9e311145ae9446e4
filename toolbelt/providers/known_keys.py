"""Keys of the environment and of addresses: what is sent where none is set, and which texts must not be shown."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Mapping
from urllib.parse import parse_qsl, quote, urlsplit

PLACEHOLDER_KEY = "none-needed"
"""Sent to the user's own endpoint if no key is set, as the client requires a key."""
_SECRET_NAME = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|CREDENTIALS)")
_KEY_NAME = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD)$|BEARER_TOKEN")
_PROVIDERS_KEY_NAME = re.compile(
    r"_(API_?KEY|API_TOKEN|AUTH_TOKEN|ACCESS_KEY_ID|SECRET_ACCESS_KEY|SESSION_TOKEN)$"
    r"|^(HF_TOKEN|AWS_BEARER_TOKEN_BEDROCK)$"
)
"""Names of the keys that are sent to providers, so that a server can echo them."""
_KEY_IN_QUERY = re.compile(r"key|token|secret|passw|auth|sig|code|credential", re.IGNORECASE)
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


_of_addresses: dict[str, bool] = {}
"""Values of queries, users and passwords of addresses that were asked; whether each is a key by its name."""


def remember_address(address: str) -> None:
    """What an address holds that may be a key must not be shown from now on, whoever repeats it."""
    try:
        parts = urlsplit(address)
        user, password = parts.username or "", parts.password or ""
    except ValueError:  # reported where it is checked
        return
    found = [(value, bool(_KEY_IN_QUERY.search(name))) for name, value in parse_qsl(parts.query)]
    found += [(password, True), (user, not password), (f"{user}:{password}", bool(password))]
    _of_addresses.update((value, is_key) for value, is_key in found if len(value) >= 8)


def secret_forms(value: str) -> Iterator[str]:
    """A secret as a server may repeat it."""
    encoded = value.encode(errors="surrogateescape")
    yield from dict.fromkeys(
        (
            value,
            quote(encoded, safe=""),
            json.dumps(value)[1:-1],
            *(text.decode().rstrip("=") for text in (base64.b64encode(encoded), base64.urlsafe_b64encode(encoded))),
            encoded.hex(),
        )
    )


def find_secrets(environment: Mapping[str, str]) -> list[str]:
    """Values that must not be shown, as they are and as a server may repeat them."""
    values = [value for name, value in environment.items() if _SECRET_NAME.search(name.upper()) and len(value) >= 8]
    long = [form for value in (*values, *_of_addresses) for form in secret_forms(value)]
    return [*long, *_providers_keys(environment)]


def _providers_keys(environment: Mapping[str, str]) -> list[str]:
    """Keys of providers, whatever they look like, but for the words that stand for none."""
    values = (value for name, value in environment.items() if _PROVIDERS_KEY_NAME.search(name.upper()))
    keys = [value for value in values if len(value) >= _SHORTEST_KEY and value.casefold() not in _NO_KEYS]
    return [form for key in keys for form in ((key, json.dumps(key)[1:-1]) if len(key) < 8 else secret_forms(key))]


def find_keys(environment: Mapping[str, str]) -> list[str]:
    """Values that are removed from answers: every key of a provider, and of other programs what looks like a key.

    The latter are fewer than those of `find_secrets`. An answer is scored by its words, and variables of other programs
    may hold common words, such as `standard`; a server is sent none of them.
    """
    values = (value for name, value in environment.items() if _KEY_NAME.search(name.upper()))
    others = [value for value in values if _looks_random(value)]
    of_addresses = [value for value, is_key in _of_addresses.items() if is_key and _looks_random(value)]
    return [*others, *(form for value in of_addresses for form in secret_forms(value)), *_providers_keys(environment)]


def _looks_random(value: str) -> bool:
    return len(value) >= 8 and (len(value) >= 20 or re.search(r"\d", value) is not None)
