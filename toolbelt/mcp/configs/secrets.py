"""Values that look like secrets, left out of what is logged (rule M10)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

HIDDEN = "***"
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_NAMES = frozenset(
    {"password", "passwd", "passphrase", "pwd", "secret", "secrets", "token", "apikey", "credential", "credentials"}
    | {"authorization", "cookie", "bearer"}
)
"""Last words of the names of secrets; not `key`, `auth` and `tokens` alone, as in `max_tokens` or an item's key."""
_PAIRS = frozenset({("api", "key"), ("access", "key"), ("private", "key"), ("secret", "key"), ("auth", "key")})
SECRET_VALUES = re.compile(
    r"\b(?:sk-[\w-]{16,}|gh[pousr]_\w{20,}|github_pat_\w{20,}|xox[abeprs]-[\w-]{10,}|AKIA[0-9A-Z]{16}|AIza[\w-]{30,}"
    r"|glpat-[\w-]{20,}|npm_\w{30,}|hf_\w{30,}|pypi-[\w-]{40,}|[spr]k_(?:live|test)_\w{16,}|ya29\.[\w-]{20,}"
    r"|eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]+|(?:Bearer|Basic) +[\w.~+/=-]{8,})"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"
    r"|(?<=://)[^/\s:@]+:[^/\s@]+(?=@)",
    re.DOTALL,
)
"""Tokens of well-known services, headers, private keys, user and password of a URL."""


def is_secret_name(name: str) -> bool:
    """Whether a value of this name is a secret: `password`, `apiKey`, `github_token`, ..."""
    words = [word.lower() for word in _WORDS.findall(name)]
    return bool(words) and (words[-1] in _NAMES or tuple(words[-2:]) in _PAIRS)


def without_secrets(value: Any, name: str = "") -> Any:
    """JSON values with `HIDDEN` in place of everything that looks like a secret, by its name or by itself."""
    if isinstance(value, Mapping):
        return {key: without_secrets(item, str(key)) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [without_secrets(item, name) for item in value]
    if isinstance(value, str):
        return HIDDEN if value and is_secret_name(name) else SECRET_VALUES.sub(HIDDEN, value)
    return value
