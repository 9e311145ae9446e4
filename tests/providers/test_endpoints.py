"""Where a hosted model is asked (rules X1, X3)."""

from __future__ import annotations

import os

import pytest

from tests.wording import mentions
from toolbelt.errors import NotFoundError, ToolbeltError
from toolbelt.models.project_models import ProjectModel
from toolbelt.providers.endpoints import (
    OLLAMA,
    PASS_ON,
    Api,
    find_endpoint,
    find_origin,
    find_own_api,
    find_transport,
)
from toolbelt.providers.litellm_routes import find_route
from toolbelt.providers.litellm_table import ModelTable

HERE = "http://127.0.0.1:9/v1"
TABLE = ModelTable()


@pytest.fixture(autouse=True)
def _no_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.endswith(("_API_KEY", "_API_BASE", "_BASE_URL", "_ORGANIZATION", "_ORG_ID", "_PROJECT_ID")):
            monkeypatch.delenv(name)


def is_direct(name: str, api_base: str | None = HERE) -> bool:
    return find_endpoint(name, api_base, TABLE) is not None


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("openai/x", "x"),
        ("openai/org/x", "org/x"),
        ("gpt-4o", "gpt-4o"),
        ("openai/gpt-4o", "gpt-4o"),
        ("openai/gpt-oss-20b", "gpt-oss-20b"),
        ("my-own", "my-own"),
        ("meta-llama/Llama-3.1-8B-Instruct", "meta-llama/Llama-3.1-8B-Instruct"),
        *((f"{provider}/org/x", "org/x") for provider in sorted(PASS_ON)),
    ],
)
def test_X1_an_endpoint_that_is_given_is_asked_directly_as_litellm_would_ask_it(name: str, model: str) -> None:
    endpoint = find_endpoint(name, HERE, TABLE)
    assert endpoint is not None
    assert (endpoint.model, endpoint.url) == (model, f"{HERE}/chat/completions")
    route = find_route(name, HERE, TABLE)
    assert (route.model.removeprefix(f"{route.provider}/"), route.provider) == (model, endpoint.provider)
    assert route.passes_tools_on


@pytest.mark.parametrize(
    ("name", "api_base"),
    [
        pytest.param("gpt-4o", None, id="openai"),
        pytest.param("openai/x", None, id="openai-by-name"),
        pytest.param("openai/x", "https://api.openai.com/v1", id="openai-by-address"),
        pytest.param("x", "https://api.groq.com/openai/v1", id="a-provider-by-address"),
        pytest.param("command-a-03-2025", HERE, id="another-provider"),
        pytest.param("claude-newer-9", HERE, id="another-provider-by-its-look"),
        pytest.param("cohere/x", HERE, id="another-provider-by-name"),
        pytest.param("modelscope/x", HERE, id="a-provider-in-no-table"),
        pytest.param("openai/o3-mini", HERE, id="settings-that-are-renamed"),
        pytest.param("gpt-5", HERE, id="settings-that-are-renamed-for-gpt-5"),
        pytest.param("openai/responses/x", HERE, id="another-api"),
        pytest.param("text-embedding-3-small", HERE, id="does-not-chat"),
        pytest.param("hosted_vllm/x", None, id="no-address"),
    ],
)
def test_X1_all_others_are_asked_through_litellm(name: str, api_base: str | None) -> None:
    assert not is_direct(name, api_base)


VENDORS = ("https://api.anthropic.com/v1/messages", "https://api.openai.com/v1/responses")
CLAUDE, LUNA = "claude-haiku-4-5", "gpt-5"
OWN = ModelTable(
    own=(
        ProjectModel("anthropic/claude-over-chat", api="chat"),
        ProjectModel("openai/over-responses", api="responses"),
        ProjectModel("hosted_vllm/over-messages", api="messages"),
        ProjectModel("gemini/over-messages", api="messages"),
    )
)


@pytest.mark.parametrize(
    ("name", "api_base", "variables", "url"),
    [
        pytest.param(CLAUDE, None, {}, VENDORS[0], id="claude"),
        pytest.param("anthropic/newer", None, {}, VENDORS[0], id="anthropic-by-name"),
        pytest.param(CLAUDE, "http://h/", {}, "http://h/v1/messages", id="claude-at-an-address"),
        pytest.param(CLAUDE, "http://h/a/v1", {}, "http://h/a/v1/messages", id="claude-at-the-v1-of-an-address"),
        pytest.param(CLAUDE, None, {"ANTHROPIC_BASE_URL": "http://v"}, "http://v/v1/messages", id="claude-by-variable"),
        pytest.param("anthropic/claude-over-chat", None, {}, None, id="a-user-says-chat"),
        pytest.param(LUNA, None, {}, VENDORS[1], id="reasons"),
        pytest.param(f"openai/{LUNA}", None, {}, VENDORS[1], id="reasons-by-name"),
        pytest.param(
            LUNA, "https://eu.api.openai.com/v1", {}, "https://eu.api.openai.com/v1/responses", id="reasons-elsewhere"
        ),
        pytest.param(LUNA, None, {"OPENAI_BASE_URL": "http://v/v1"}, None, id="at-a-server-that-may-speak-chat-alone"),
        pytest.param("gpt-4o", None, {}, None, id="reasons-not"),
        pytest.param(f"azure/{LUNA}", None, {}, None, id="another-provider"),
        pytest.param("openai/over-responses", None, {}, VENDORS[1], id="a-user-says-responses"),
        pytest.param("openai/over-responses", "http://h/v1", {}, "http://h/v1/responses", id="so-at-an-address"),
        pytest.param("hosted_vllm/over-messages", "http://h/v1", {}, "http://h/v1/messages", id="a-user-says-messages"),
        pytest.param(CLAUDE, None, {"USE_LITELLM_PROXY": "1"}, None, id="a-proxy-for-all"),
    ],
)
def test_X1_vendors_are_asked_over_their_own_api(
    name: str, api_base: str | None, variables: dict[str, str], url: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable, value in {"ANTHROPIC_API_KEY": "k-1", "OPENAI_API_KEY": "k-2", **variables}.items():
        monkeypatch.setenv(variable, value)
    endpoint = find_endpoint(name, api_base, OWN)
    assert (endpoint and endpoint.url) == url
    if endpoint is not None:
        assert endpoint.model == name.removeprefix("anthropic/").removeprefix("openai/").removeprefix("hosted_vllm/")
        own_api = find_own_api(name, api_base, OWN)
        assert own_api is endpoint.api is not Api.CHAT


@pytest.mark.parametrize(
    ("name", "words"),
    [
        pytest.param(CLAUDE, ["ANTHROPIC_API_KEY"], id="no-key"),
        pytest.param(LUNA, ["OPENAI_API_KEY"], id="no-key-of-openai"),
        pytest.param("gemini/over-messages", ["messages", "API base"], id="no-address"),
    ],
)
def test_X1_what_a_vendor_needs_is_named(name: str, words: list[str]) -> None:
    with pytest.raises(ToolbeltError) as caught:
        find_endpoint(name, None, OWN)
    assert mentions(str(caught.value), *words)


def test_X1_no_name_of_the_table_is_asked_directly_that_litellm_asks_otherwise() -> None:
    from toolbelt.providers.litellm_loading import load_litellm

    litellm = load_litellm()
    signed_in = ("github_copilot/", "chatgpt/")  # litellm opens a browser for these
    names = [name for name in TABLE.providers if not name.startswith(signed_in)]
    direct = [name for name in names if is_direct(name)]
    assert len(direct) > 20
    for name in direct:
        try:
            provider = litellm.get_llm_provider(model=name, api_base=HERE)[1]
        except litellm.BadRequestError:
            continue  # a name of no known provider
        assert provider in PASS_ON | OLLAMA | {"anthropic"}, name


def test_X1_every_provider_and_host_that_litellm_knows_is_known_here() -> None:
    from urllib.parse import urlsplit

    from toolbelt.providers.litellm_loading import load_litellm

    litellm = load_litellm()
    providers = {str(getattr(provider, "value", provider)) for provider in litellm.provider_list} - PASS_ON
    assert [provider for provider in sorted(providers) if is_direct(f"{provider}/x")] == sorted({"anthropic", *OLLAMA})
    addresses = (end if "://" in end else f"https://{end}" for end in litellm.openai_compatible_endpoints)
    hosts = {urlsplit(address).hostname for address in addresses}
    assert len(hosts) > 40
    assert [host for host in hosts if is_direct("x", f"https://{host}/v1")] == []


@pytest.mark.parametrize("provider", sorted(PASS_ON - {"openai", "custom_openai", "llamafile"}))
def test_X1_a_server_of_ones_own_is_found_by_its_variable(provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(f"{provider.upper()}_API_BASE", HERE)
    monkeypatch.setenv(f"{provider.upper()}_API_KEY", "own-key")
    endpoint = find_endpoint(f"{provider}/x", None, TABLE)
    assert endpoint is not None
    assert (endpoint.url, endpoint.headers["Authorization"]) == (f"{HERE}/chat/completions", "Bearer own-key")
    assert "own-key" not in repr(endpoint)


@pytest.mark.parametrize("provider", sorted(OLLAMA))
@pytest.mark.parametrize(
    ("variable", "api_base", "url"),
    [
        pytest.param(None, None, "http://localhost:11434/v1/chat/completions", id="where-it-serves-by-default"),
        pytest.param("http://h:1", None, "http://h:1/v1/chat/completions", id="variable"),
        pytest.param("http://h:1", "http://h:2/", "http://h:2/v1/chat/completions", id="address"),
        pytest.param(None, "http://h:2/v1", "http://h:2/v1/chat/completions", id="address-of-its-v1"),
    ],
)
def test_X1_ollama_is_asked_over_its_v1(
    provider: str, variable: str | None, api_base: str | None, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if variable is not None:
        monkeypatch.setenv("OLLAMA_API_BASE", variable)
    for model in ("llama3", "codellama", "org/own:8b"):
        endpoint = find_endpoint(f"{provider}/{model}", api_base, TABLE)
        assert endpoint is not None
        assert (endpoint.model, endpoint.url) == (model, url)
    assert find_endpoint(f"{provider}/x", api_base, TABLE, Api.EMBEDDINGS) is None


def test_X1_litellm_never_writes_the_tools_of_ollama_into_the_prompt() -> None:
    for name in ("ollama/llama3", "ollama_chat/llama3"):
        assert find_route(name, HERE, TABLE).model == "ollama_chat/llama3"


@pytest.mark.parametrize("name", ["replicate/meta/llama", "custom/x"])
def test_X1_a_provider_to_which_litellm_sends_no_tools_is_refused(name: str) -> None:
    with pytest.raises(ToolbeltError, match="would be asked without its tools"):
        find_route(name, None, TABLE)


@pytest.mark.parametrize(
    ("address", "url", "key"),
    [
        pytest.param("http://h/v1/", "http://h/v1/chat/completions", "Bearer none-needed", id="slash-at-the-end"),
        pytest.param("http://h", "http://h/chat/completions", "Bearer none-needed", id="no-path"),
        pytest.param("http://h/v1?api=2", "http://h/v1/chat/completions?api=2", "Bearer none-needed", id="query"),
        pytest.param("http://me:a%40b@h/v1", "http://h/v1/chat/completions", "Basic bWU6YUBi", id="user-and-password"),
    ],
)
def test_X1_the_address_of_requests(address: str, url: str, key: str) -> None:
    endpoint = find_endpoint("x", address, TABLE)
    assert endpoint is not None
    assert (endpoint.url, endpoint.headers["Authorization"]) == (url, key)


def test_X1_the_account_is_named_where_it_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-1")
    endpoint = find_endpoint("openai/x", HERE, TABLE)
    assert endpoint is not None
    assert (endpoint.headers["OpenAI-Organization"], endpoint.headers["OpenAI-Project"]) == ("org-1", "proj-1")


@pytest.mark.parametrize(
    ("name", "api_base", "key"),
    [
        pytest.param("openai/", HERE, "k", id="no-model"),
        pytest.param("x", "localhost:80", "k", id="no-address"),
        pytest.param("x", HERE, "sk-\n", id="a-key-that-cannot-be-sent"),
    ],
)
def test_X1_what_cannot_be_asked_is_refused(
    name: str, api_base: str, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with pytest.raises(ToolbeltError):
        find_endpoint(name, api_base, TABLE)


def test_X1_an_unknown_transport_is_refused_with_the_nearest() -> None:
    with pytest.raises(NotFoundError) as caught:
        find_transport("lite")
    assert caught.value.known == ("auto", "litellm")


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
