"""How a hosted model is reached through litellm, and whether it can be, before anything is spent."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any

from toolbelt.errors import NotFoundError, ToolbeltError
from toolbelt.providers.endpoints import (
    OLLAMA,
    PASS_ON,
    Api,
    check_address,
    check_name,
    describe_missing,
    is_sendable,
    refuse_unsendable,
)
from toolbelt.providers.litellm_client import Route
from toolbelt.providers.litellm_table import ModelTable
from toolbelt.text import visible

_OWN_SERVERS = PASS_ON - {"openai"}
"""Those of them that have no address of their own."""
_TRANSLATED_MODES: Mapping[Api, Collection[str]] = MappingProxyType({Api.CHAT: ("responses", "completion")})
"""Modes that litellm translates to."""
_SIGNS_IN_AS_AN_APP = frozenset({"github_copilot", "chatgpt"})
"""litellm opens a browser's log-in for these, and waits for it."""
_DROPS_TOOLS = frozenset({"replicate", "custom"})
"""Providers to which litellm sends a request without its tools, and says nothing."""
_OTHER_CREDENTIALS = frozenset(
    {"bedrock", "bedrock_converse", "sagemaker", "sagemaker_chat", "vertex_ai", "vertex_ai_beta"}
)
"""Clouds with their own kinds of credentials, in many places."""
_OTHER_NAMES: Mapping[str, str] = MappingProxyType(
    {"huggingface": "HF_TOKEN", "together_ai": "TOGETHER_API_KEY", "fireworks_ai": "FIREWORKS_API_KEY"}
)
"""Variables that litellm takes too, but does not name when asked."""
_SECRET = re.compile(r"(KEY|TOKEN)$")


def find_route(name: str, api_base: str | None, table: ModelTable, api: Api = Api.CHAT) -> Route:
    """How litellm asks a model. The first call takes seconds: it loads litellm.

    A name with a provider that litellm knows is taken as it is: a provider may have a model that is newer than the
    table. With `api_base`, a name of no known provider is one of an endpoint that speaks OpenAI's API.

    Raises:
        NotFoundError: litellm knows neither the model nor a provider of that name.
        ToolbeltError: no key is set, `api_base` is no address or is needed, the model does something else, or only a
            provider is named.
    """
    check_name(name)
    from toolbelt.providers.litellm_loading import load_litellm, silence_warnings

    if api_base is not None:
        check_address(api_base)
    if (before := name.partition("/")[0]) in _SIGNS_IN_AS_AN_APP:
        raise ToolbeltError(f"{before} models ask for a log-in in the browser, which an eval cannot wait for.")
    if before in OLLAMA and api is Api.CHAT:
        name = f"ollama_chat/{name.partition('/')[2]}"
    if before in _DROPS_TOOLS and api is Api.CHAT:
        raise ToolbeltError(
            f"{visible(name)} would be asked without its tools: litellm drops them for {before} models, in silence. "
            "Ask the model through another provider, or at an address of OpenAI's API (--api-base)."
        )
    litellm = load_litellm()
    silence_warnings()  # newer releases load a provider's types when they are first asked about it
    unfit = [name for name, value in os.environ.items() if _SECRET.search(name) and not is_sendable(value)]
    with _without(unfit):
        litellm_name, model, provider, key, place = _find_provider(litellm, name, api_base, table)
        missing = () if key else _missing_variables(litellm, model, provider, place or api_base)
    own_endpoint = provider in PASS_ON and (api_base is not None or provider != "openai")
    concerned = {*missing, f"{provider.upper()}_API_KEY", _OTHER_NAMES.get(provider)}
    unfit = [variable for variable in unfit if variable in concerned]
    refuse_unsendable(name, unfit)
    if missing and not own_endpoint:
        raise ToolbeltError(describe_missing(name, provider, missing))
    if provider in _OWN_SERVERS and not (place or api_base):
        raise ToolbeltError(
            f"{visible(name)} is a model of a server of your own: give its API base, such as http://127.0.0.1:8000/v1."
        )
    mode = _find_mode(litellm, name, model)
    if mode not in api.modes and mode not in _TRANSLATED_MODES.get(api, ()) and api_base is None:
        raise ToolbeltError(f"{visible(name)} does not {api.verb}: it is a model for {str(mode).replace('_', ' ')}.")
    passes_on = own_endpoint and mode in api.modes and not model.startswith("responses/")
    supported = litellm.get_supported_openai_params(model=model, custom_llm_provider=provider)
    return Route(
        model=litellm_name,
        provider=provider,
        api_base=api_base,
        needs_placeholder=own_endpoint and bool(missing or unfit or (provider == "custom_openai" and not key)),
        passes_tools_on=passes_on,
        takes_seed=supported is None or "seed" in supported,
    )


@contextmanager
def _without(variables: Collection[str]) -> Iterator[None]:
    """Hide some environment variables: litellm takes any that is set as a key, even a blank one."""
    taken = {name: os.environ.pop(name) for name in variables}
    try:
        yield
    finally:
        os.environ.update(taken)


def _find_mode(litellm: Any, *names: str) -> str | None:
    """What a model is for, in litellm's words; `None` if it does not say."""
    entries = (litellm.model_cost.get(name) for name in names)
    return next((entry.get("mode") for entry in entries if entry), None)


def _find_provider(
    litellm: Any, name: str, api_base: str | None, table: ModelTable
) -> tuple[str, str, str, str | None, str | None]:
    """The name for litellm, the name without provider, the provider, its key if there is one, and its address."""
    try:
        model, provider, key, place = litellm.get_llm_provider(model=name, api_base=api_base)
    except Exception:  # noqa: BLE001  litellm says so with several classes
        if api_base is not None:
            return f"openai/{name}", name, "openai", os.environ.get("OPENAI_API_KEY"), api_base
        similar = table.find_similar(name)
        hint = "" if similar else "A model of a server of your own needs an API base."
        raise NotFoundError("model", name, similar, hint) from None
    if provider in ("openai", "custom_openai"):
        key = key or os.environ.get("OPENAI_API_KEY")
    return name, model, provider, key, place


def _missing_variables(litellm: Any, model: str, provider: str, place: str | None) -> Sequence[str]:
    """Environment variables that the provider needs and that are not set."""
    if provider in _OTHER_CREDENTIALS or os.environ.get(_OTHER_NAMES.get(provider, "")):
        return ()
    missing = litellm.validate_environment(model=f"{provider}/{model}", api_base=place)["missing_keys"]
    needed = [name for name in missing if provider == "azure" or _SECRET.search(name)]
    if not missing and provider in litellm.openai_compatible_providers and place is not None:
        # litellm found no key for it, and does not say what it looked for.
        guess = f"{provider.upper()}_API_KEY"
        return () if os.environ.get(guess) else (guess,)
    return needed
