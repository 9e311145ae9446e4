"""What is left out of logged arguments (rule M10)."""

from __future__ import annotations

import pytest

from toolbelt.mcp.configs.secrets import is_secret_name, without_secrets


@pytest.mark.parametrize(
    "name",
    ["password", "API_KEY", "apiKey", "openai-api-key", "githubToken", "client_secret", "Authorization", "db.passwd"],
)
def test_M10_names_of_secrets_are_known(name: str) -> None:
    assert is_secret_name(name)


@pytest.mark.parametrize("name", ["author", "key", "keys", "max_tokens", "keyword", "tokenizer", "primary_key", ""])
def test_M10_names_that_only_look_alike_are_kept(name: str) -> None:
    assert not is_secret_name(name)


@pytest.mark.parametrize(
    "secret",
    [
        "sk-proj-abcdefghij0123456789",
        "ghp_abcdefghij0123456789abcd",
        "AKIAIOSFODNN7EXAMPLE",
        "eyJhbGciOiJIUzI1.eyJzdWIiOiIxMjM0.SflKxwRJSMeKKF2QT4",
        "-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----",
    ],
)
def test_M10_a_secret_within_a_text_is_left_out(secret: str) -> None:
    (kept,) = without_secrets([f"curl -H x {secret} end"])
    assert kept == "curl -H x *** end"


def test_M10_the_rest_of_a_value_stays() -> None:
    value = {"url": "https://me:pw@example.org/a?b=c", "n": 3, "header": "Bearer abcdefgh12", "deep": {"token": "x"}}
    assert without_secrets(value) == {
        "url": "https://***@example.org/a?b=c",
        "n": 3,
        "header": "***",
        "deep": {"token": "***"},
    }
