"""Where a hosted model is asked (rules X1, X3)."""

from __future__ import annotations

import os

import pytest

from toolbelt.providers.endpoints import find_origin


@pytest.fixture(autouse=True)
def _no_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.endswith(("_API_BASE", "_BASE_URL")):
            monkeypatch.delenv(name)


@pytest.mark.parametrize(
    ("name", "api_base", "variables", "origin"),
    [
        pytest.param("gpt-4o", None, {}, "openai", id="the-provider-of-a-known-model"),
        pytest.param("openai/newer", None, {}, "openai", id="the-provider-in-the-name"),
        pytest.param("nobody-knows", None, {}, "nobody-knows", id="no-provider"),
        pytest.param("gpt-4o", "http://127.0.0.1:8000/v1", {}, "http://127.0.0.1:8000", id="an-address-comes-first"),
        pytest.param("x", "HTTPS://Api.Example.COM/v1", {}, "https://api.example.com:443", id="one-spelling"),
        pytest.param("x", "http://[::1]/v1", {}, "http://[::1]:80", id="ipv6"),
        pytest.param("x", "https://me:secret@h/v1?key=k", {}, "https://h:443", id="without-secrets"),
        pytest.param(
            "hosted_vllm/x",
            None,
            {"HOSTED_VLLM_API_BASE": "http://gpu:8000/v1"},
            "http://gpu:8000",
            id="by-variable",
        ),
        pytest.param("openai/x", None, {"OPENAI_BASE_URL": "http://gpu/v1"}, "http://gpu:80", id="openai-elsewhere"),
        pytest.param("llamafile/x", None, {}, "http://127.0.0.1:8080", id="a-default-address"),
    ],
)
def test_X3_the_origin_is_who_answers(
    name: str, api_base: str | None, variables: dict[str, str], origin: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable, value in variables.items():
        monkeypatch.setenv(variable, value)
    assert find_origin(name, api_base) == origin
