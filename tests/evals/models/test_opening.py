"""Models by name, and everything that is refused before anything is spent (rule E2)."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from tests.servers.running import OpenAIServer
from toolbelt.errors import NotFoundError, ToolbeltError
from toolbelt.evals.models.model import Request
from toolbelt.evals.models.opening import ModelOptions, open_model
from toolbelt.evals.offers import Offer
from toolbelt.providers.endpoints import check_address


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.endswith(("_API_KEY", "_TOKEN", "_API_BASE", "_BASE_URL")):
            monkeypatch.delenv(name)


@pytest.mark.parametrize(
    ("name", "variables"),
    [
        ("gpt-4o", ["OPENAI_API_KEY"]),
        ("openai/gpt-4o", ["OPENAI_API_KEY"]),
        ("openai/newer-than-the-table", ["OPENAI_API_KEY"]),
        ("claude-sonnet-4-5", ["ANTHROPIC_API_KEY"]),
        ("gemini/gemini-2.5-flash", ["GEMINI_API_KEY", "GOOGLE_API_KEY", " or "]),
        ("mistral/mistral-large-latest", ["MISTRAL_API_KEY"]),
        ("groq/llama-3.1-8b-instant", ["GROQ_API_KEY"]),
        ("openrouter/openai/gpt-4o", ["OPENROUTER_API_KEY"]),
        ("azure/mine", ["AZURE_API_KEY", "AZURE_API_BASE", "AZURE_API_VERSION", " and "]),
        ("sambanova/x", ["SAMBANOVA_API_KEY"]),
        ("deepseek/deepseek-chat", ["DEEPSEEK_API_KEY"]),
    ],
)
def test_E2_a_missing_key_is_one_line_that_names_the_variable(name: str, variables: list[str]) -> None:
    with pytest.raises(ToolbeltError) as caught:
        open_model(name)
    message = str(caught.value)
    assert caught.value.exit_code == 2
    assert all(variable in message for variable in variables)
    assert name in message
    assert "\n" not in message


@pytest.mark.parametrize(
    ("name", "variable"),
    [
        ("gpt-4o", "OPENAI_API_KEY"),
        ("claude-sonnet-4-5", "ANTHROPIC_API_KEY"),
        ("gemini/gemini-2.5-flash", "GEMINI_API_KEY"),
        ("gemini/gemini-2.5-flash", "GOOGLE_API_KEY"),
        ("together_ai/x", "TOGETHER_API_KEY"),
        ("huggingface/x/y", "HF_TOKEN"),
        ("sambanova/x", "SAMBANOVA_API_KEY"),
    ],
)
def test_E2_with_its_key_a_model_opens(name: str, variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(variable, "some-key")
    model = open_model(name)
    assert model.name == name
    assert "some-key" not in repr(vars(model))
    asyncio.run(model.close())


@pytest.mark.parametrize("name", ["ollama/llama3", "bedrock/anthropic.claude-x", "llamafile/x"])
def test_E2_what_needs_no_key_opens_without(name: str) -> None:
    assert open_model(name).name == name


@pytest.mark.parametrize(
    ("name", "near"),
    [
        pytest.param("gpt-4o-minni", "gpt-4o-mini", id="a-slip"),
        pytest.param("GPT-4o-mini-x", "gpt-4o-mini", id="another"),
        pytest.param("nobody/knows-this-one", "API base", id="a-provider-nobody-knows"),
        pytest.param("xyzzy", "xyzzy", id="nothing-like-it"),
    ],
)
def test_E2_an_unknown_model_is_refused_with_the_nearest_names(name: str, near: str) -> None:
    with pytest.raises(NotFoundError) as caught:
        open_model(name)
    assert near in str(caught.value)
    assert caught.value.kind == "model"
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("provider", ["hosted_vllm", "lm_studio", "litellm_proxy"])
def test_E2_a_server_of_ones_own_needs_its_address(provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ToolbeltError, match="API base"):
        open_model(f"{provider}/x")
    monkeypatch.setenv(f"{provider.upper()}_API_BASE", "http://127.0.0.1:9/v1")
    assert open_model(f"{provider}/x").name == f"{provider}/x"


@pytest.mark.parametrize(
    ("name", "purpose"), [("text-embedding-3-small", "embedding"), ("openai/gpt-image-1", "image generation")]
)
def test_E2_a_model_that_does_not_chat_is_refused(name: str, purpose: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "some-key")
    with pytest.raises(ToolbeltError, match=purpose):
        open_model(name)


@pytest.mark.parametrize("name", ["", "  "])
def test_E2_a_model_needs_a_name(name: str) -> None:
    with pytest.raises(ToolbeltError, match="needs a name"):
        open_model(name)


@pytest.mark.parametrize("name", ["github_copilot/gpt-4o", "chatgpt/gpt-5"])
def test_E2_what_would_wait_for_a_log_in_is_refused(name: str) -> None:
    with pytest.raises(ToolbeltError, match="log-in"):
        open_model(name)


@pytest.mark.parametrize(
    ("name", "sent"),
    [
        ("gpt-4o", "gpt-4o"),
        ("openai/gpt-4o", "gpt-4o"),
        ("my-own", "my-own"),
        ("some-org/some-model", "some-org/some-model"),
        ("openai/some-org/some-model", "some-org/some-model"),
        ("hosted_vllm/some-org/some-model", "some-org/some-model"),
    ],
)
def test_E2_with_an_address_any_name_is_asked_there_and_no_key_is_needed(
    openai_server: OpenAIServer, name: str, sent: str
) -> None:
    openai_server.reset()
    model = open_model(name, ModelOptions(openai_server.url))

    async def go() -> None:
        await model.complete(Request(({"role": "user", "content": "x"},), Offer()))
        await model.close()

    asyncio.run(go())
    assert openai_server.count(sent) == 1


@pytest.mark.parametrize(
    "address",
    [
        "",
        "localhost:8000",
        "127.0.0.1",
        "ftp://127.0.0.1/v1",
        "http://",
        "http:///v1",
        "http://[::1/v1",
        "http://host:99999/v1",
        "http://ho st/v1",
        "http://127.0.0.1:8000/v1/chat/completions",
        "file:///etc/passwd",
        "\x1b[31mhttp",
    ],
)
def test_E2_an_address_that_is_none_is_refused(address: str) -> None:
    with pytest.raises(ToolbeltError, match="API base") as caught:
        open_model("gpt-4o", ModelOptions(address))
    assert "\x1b" not in str(caught.value)


@pytest.mark.parametrize(
    "address", ["http://127.0.0.1:8000/v1", "https://host.example/", "http://[::1]:80", "http://h"]
)
def test_E2_an_address_is_taken(address: str) -> None:
    check_address(address)


def test_the_address_says_nothing_to_models_that_run_here() -> None:
    model = open_model("local/bm25", ModelOptions("no address at all"))
    assert model.name == "local/bm25"


@pytest.mark.cold
def test_opening_a_local_model_loads_no_litellm(tmp_path: Path) -> None:
    import subprocess
    import sys

    code = (
        "import sys; from toolbelt.evals.models.opening import open_model; open_model('local/bm25');"
        "import toolbelt.evals.models.hosted, toolbelt.providers.litellm_routes;"
        "print(sorted({'litellm', 'openai', 'aiohttp', 'pydantic'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path)
    assert (done.stdout, done.stderr) == ("[]\n", "")


KEYS = [
    ("gpt-4o", "OPENAI_API_KEY"),
    ("claude-sonnet-4-5", "ANTHROPIC_API_KEY"),
    ("gemini/gemini-2.5-flash", "GEMINI_API_KEY"),
    ("together_ai/x", "TOGETHER_API_KEY"),
    ("sambanova/x", "SAMBANOVA_API_KEY"),
    ("mistral/m", "MISTRAL_API_KEY"),
    ("huggingface/x/y", "HF_TOKEN"),
]


@pytest.mark.parametrize(("name", "variable"), KEYS)
@pytest.mark.parametrize("blank", ["", "  ", "\n"], ids=["empty", "blanks", "line-break"])
def test_E2_a_blank_key_is_none(name: str, variable: str, blank: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(variable, blank)
    with pytest.raises(ToolbeltError, match=rf"{name} needs \w+") as caught:
        open_model(name)
    assert caught.value.exit_code == 2
    assert os.environ[variable] == blank  # it is looked away from, and left


@pytest.mark.parametrize(("name", "variable"), KEYS)
@pytest.mark.parametrize("flaw", ["\n", "\r\n", "\x1b", "ä"], ids=["lf", "crlf", "escape", "umlaut"])
@pytest.mark.parametrize("place", [None, "http://127.0.0.1:9/v1"], ids=["at-its-provider", "at-an-address"])
def test_E2_a_key_that_no_header_can_hold_is_refused_by_the_name_of_its_variable(
    name: str, variable: str, flaw: str, place: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, f"sk-abcdef{flaw}")
    with pytest.raises(ToolbeltError) as caught:
        open_model(name, ModelOptions(place))
    message = str(caught.value)
    assert caught.value.exit_code == 2
    assert variable in message
    assert "abcdef" not in message
    assert "\n" not in message


@pytest.mark.parametrize(("name", "variable"), [("x", "OPENAI_API_KEY"), ("hosted_vllm/x", "HOSTED_VLLM_API_KEY")])
def test_E2_with_an_address_a_blank_key_is_none_and_none_is_needed(
    openai_server: OpenAIServer, name: str, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, " ")
    openai_server.reset()
    model = open_model(name, ModelOptions(openai_server.url))

    async def go() -> None:
        await model.complete(Request(({"role": "user", "content": "x"},), Offer()))
        await model.close()

    asyncio.run(go())
    assert openai_server.requests("x")[-1]["headers"]["Authorization"] == "Bearer none-needed"


def test_E2_a_flaw_in_the_key_of_another_provider_does_no_harm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "some-key")
    monkeypatch.setenv("MISTRAL_API_KEY", "some\nkey")
    assert open_model("gpt-4o").name == "gpt-4o"
