"""Where a hosted model is asked, and whether directly: read from its name and the environment, without litellm.

Endpoints that are given by an address, and servers of the user's own, are asked directly if they speak OpenAI's chat
completions. So are Anthropic over its Messages, and OpenAI over its Responses where chat completions lose what a model
reasons. Where a name leaves a doubt about what litellm would do, the answer is litellm.
"""

from __future__ import annotations

import json
import os
import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum, StrEnum
from functools import cache
from types import MappingProxyType
from urllib.parse import unquote, urlsplit

from toolbelt.errors import NotFoundError, ToolbeltError
from toolbelt.providers.known_keys import PLACEHOLDER_KEY, remember_address
from toolbelt.providers.litellm_table import ModelTable, find_litellm_file
from toolbelt.providers.model_facts import find_facts
from toolbelt.providers.provider_names import find_provider, is_provider
from toolbelt.text import visible


class Transport(StrEnum):
    """How hosted models are asked."""

    AUTO = "auto"
    """Directly where that is possible, else through litellm."""
    LITELLM = "litellm"


def find_transport(name: str) -> Transport:
    """The transport of that name.

    Raises:
        NotFoundError: there is none.
    """
    try:
        return Transport(name)
    except ValueError:
        raise NotFoundError("transport", name, tuple(Transport)) from None


PASS_ON = frozenset({"openai", "hosted_vllm", "lm_studio", "custom_openai", "litellm_proxy", "llamafile"})
"""Providers whose endpoints take OpenAI's tool definitions as they are.

`openai` only where an address is given: for OpenAI itself litellm looks at the tools to decide which of its two APIs
a model is asked over.
"""

OLLAMA = frozenset({"ollama", "ollama_chat"})
"""Names of Ollama's server, asked over its `/v1`: under the first, litellm would write the tools into the prompt."""


class Api(Enum):
    """What a model is asked for, and in which form.

    Attributes:
        word: As it is written in `toolbelt.yaml`.
        path: What is added to an address.
        modes: Modes of models that can be asked for it, in litellm's words; `None` where it names none.
        verb: What such a model does.
    """

    CHAT = ("chat", "chat/completions", frozenset({None, "chat"}), "chat")
    MESSAGES = ("messages", "messages", frozenset({None, "chat"}), "chat")
    RESPONSES = ("responses", "responses", frozenset({None, "chat", "responses"}), "chat")
    EMBEDDINGS = ("embeddings", "embeddings", frozenset({None, "embedding"}), "make embeddings")

    def __init__(self, word: str, path: str, modes: frozenset[str | None], verb: str) -> None:
        self.word = word
        self.path = path
        self.modes = modes
        self.verb = verb


_ADDRESSES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "openai": ("OPENAI_BASE_URL", "OPENAI_API_BASE"),
        "anthropic": ("ANTHROPIC_API_BASE", "ANTHROPIC_BASE_URL"),
        "ollama_chat": ("OLLAMA_API_BASE",),
    }
)
"""Variables with the address of a provider, where they are not `PROVIDER_API_BASE` alone; the first that is set."""
_DEFAULT_ADDRESSES: Mapping[str, str] = MappingProxyType(
    {"llamafile": "http://127.0.0.1:8080/v1", **dict.fromkeys(OLLAMA, "http://localhost:11434")}
)
_OWN_ADDRESSES: Mapping[str, str] = MappingProxyType(
    {"openai": "https://api.openai.com/v1", "anthropic": "https://api.anthropic.com"}
)
"""Of vendors that are asked directly over an API of theirs."""
_ANTHROPIC_VERSION = "2023-06-01"
_KEYS: Mapping[str, str] = MappingProxyType({"custom_openai": "OPENAI_API_KEY", "ollama_chat": "OLLAMA_API_KEY"})
"""Variables with the key of a provider, where that is not `PROVIDER_API_KEY`."""
_ACCOUNT_HEADERS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "OpenAI-Organization": ("OPENAI_ORGANIZATION", "OPENAI_ORG_ID"),
        "OpenAI-Project": ("OPENAI_PROJECT_ID",),
    }
)
"""What litellm's client of OpenAI's API sends where it is set."""
_ANY_ONE_WILL_DO = frozenset({"gemini"})
"""Providers that need only one of their variables."""
_PORTS: Mapping[str, int] = MappingProxyType({"http": 80, "https": 443})
_TRANSLATED = re.compile(r"(^|/)(o\d|gpt-?([5-9]|\d\d)|gpt-[\w.-]*(audio|search))", re.IGNORECASE)
"""Models of OpenAI's whose settings litellm renames or refuses, such as `max_tokens`."""
_OTHERS_NAMES = re.compile(r"claude-|^amazon_nova|^gpt-image|:.{60}")
"""Names without a provider that litellm takes for one's models, though its table does not have them."""
_FURTHER_PROVIDERS = frozenset(
    {
        *(
            "a2a_agent",
            "aiohttp_openai",
            "aws_textract",
            "azure_speech",
            "databricks_agent",
            "dotprompt",
            "gdc",
            "humanloop",
            "langflow",
        ),
        *("langfuse", "litellm_agent", "modelscope", "mongodb", "nadir", "nvidia_riva", "sagemaker_nova", "valkey"),
        "vertex_ai_beta",
    }
)
"""Providers that litellm knows, but does not name in its tables."""
_PUBLIC_HOSTS = frozenset(
    {
        *("ai-gateway.helicone.ai", "ai-gateway.vercel.sh", "api-inference.modelscope.cn", "api.clarifai.com"),
        *("api.cognition.ai", "api.cortecs.ai", "api.deepinfra.com", "api.deepseek.com", "api.edenai.run"),
        *("api.endpoints.anyscale.com", "api.featherless.ai", "api.friendli.ai", "api.galadriel.ai", "api.groq.com"),
        *("api.getnadir.com", "api.hyperbolic.xyz", "api.inceptionlabs.ai", "api.inference.wandb.ai", "api.lambda.ai"),
        *("api.libertai.io", "api.llama.com", "api.meta.ai", "api.mistral.ai", "api.moonshot.ai", "api.morphllm.com"),
        *("api.openai.com", "api.perplexity.ai", "api.poe.com", "api.prisminference.com", "api.publicai.co"),
        *("api.sailresearch.com", "api.sambanova.ai", "api.scx.ai", "api.stima.tech", "api.studio.nebius.ai"),
        *("api.synthetic.new", "api.together.ai", "api.together.xyz", "api.v0.dev", "api.x.ai", "app.empower.dev"),
        *("codestral.mistral.ai", "dashscope-intl.aliyuncs.com", "dashscope.aliyuncs.com", "llm.chutes.ai"),
        *("gigachat.devices.sberbank.ru", "inference.api.nscale.com", "integrate.api.nvidia.com", "nano-gpt.com"),
        *("ollama.com", "pinstripes.io", "serverless.tensormesh.ai", "api.aiand.com", "api.clfaigateway.dev"),
        *("api.openinfer.ai", "api.reka.ai", "inference.coralbricks.ai", "inference.runanywhere.ai"),
        "vanchin.streamlake.ai",
    }
)
"""Hosts by which litellm finds a provider and its key; and OpenAI's own, which is asked through litellm."""


@dataclass(frozen=True)
class Endpoint:
    """An address that is asked directly.

    Attributes:
        model: As the endpoint knows it.
        provider: litellm's name of it.
        url: Where requests are posted, without user name and password.
        headers: Sent with every request; the key is among them.
        api: In which form it is asked.
        output_limit: Tokens of the model's longest answer; `None` if unknown.
        reasons: Whether the model is known to reason.
        has_budgets: Whether it is given a budget of tokens for its reasoning, and no effort.
    """

    model: str
    provider: str
    url: str
    headers: Mapping[str, str] = field(repr=False)
    api: Api = Api.CHAT
    output_limit: int | None = None
    reasons: bool = False
    has_budgets: bool = False


def find_endpoint(name: str, api_base: str | None, table: ModelTable, api: Api = Api.CHAT) -> Endpoint | None:
    """Where a model is asked directly; `None` for what is asked through litellm.

    Args:
        name: As on the command line.
        api_base: Its address as on the command line.
        table: What is known of models.
        api: What it is asked for.

    Raises:
        ToolbeltError: `api_base` is no address, or the key cannot be sent.
    """
    check_name(name)
    if api_base is not None:
        check_address(api_base)
    facts = find_facts(name, table)
    own_api = find_own_api(name, api_base, table) if api is Api.CHAT else None
    if own_api is not None:
        provider = facts.provider or name.partition("/")[0]
        own_address = _OWN_ADDRESSES.get(provider)
        address = api_base or find_address(provider) or own_address
        if address is None:
            raise ToolbeltError(
                f"{visible(name)} is to be asked over {own_api.word}, and has no address: give its API base, such as "
                "http://127.0.0.1:8000/v1."
            )
        check_address(address)
        variable = f"{provider.upper()}_API_KEY"
        key = _find_key(name, variable)
        if not key and address == own_address and not _find_token(provider):
            raise ToolbeltError(describe_missing(name, provider, (variable,)))
        made = _make_endpoint(name.removeprefix(f"{provider}/"), provider, address, key, own_api)
        has_budgets = provider == "anthropic" and facts.default_effort == "none"  # an older Claude
        reasons = bool(facts.reasoning)
        return replace(made, output_limit=facts.output_limit, reasons=reasons, has_budgets=has_budgets)
    served = _find_served(name, api_base, table, api)
    if served is None:
        return None
    provider, model = served
    address = api_base or find_address(provider)
    if address is None or model.startswith("responses/") or os.environ.get("USE_LITELLM_PROXY", "").strip():
        return None
    if _is_public(address) or (provider in ("openai", "custom_openai") and _TRANSLATED.search(model)):
        return None
    modes = api.modes | {"completion"} if provider in OLLAMA else api.modes  # any of its models chats
    if any(known.mode not in modes for known in (facts, find_facts(model, table))):
        return None
    check_address(address)
    key = _find_key(name, _KEYS.get(provider, f"{provider.upper()}_API_KEY"))
    return _make_endpoint(model, provider, address, key, api)


def find_own_api(name: str, api_base: str | None, table: ModelTable) -> Api | None:
    """Messages or Responses where a model is asked directly over it; `None` for chat completions and litellm.

    Args:
        name: Of the model, as on the command line.
        api_base: Its address as on the command line.
        table: What is known of models.
    """
    facts = find_facts(name, table)
    api = {each.word: each for each in (Api.MESSAGES, Api.RESPONSES)}.get(facts.api or "")
    if api is None or os.environ.get("USE_LITELLM_PROXY", "").strip() or facts.mode not in api.modes:
        return None
    if facts.sources.get("api", "").startswith("toolbelt.yaml") or api is Api.MESSAGES:
        return api
    # A server of the user's may be asked for a model of that name, and speak chat completions alone.
    address = api_base or find_address(facts.provider or "") or _OWN_ADDRESSES["openai"]
    host = (urlsplit(address).hostname or "").lower()
    return api if host == "api.openai.com" or host.endswith(".api.openai.com") else None


def _find_key(name: str, variable: str) -> str:
    key = os.environ.get(variable, "").strip()
    if key and not is_sendable(os.environ[variable]):
        refuse_unsendable(name, [variable])
    return key


def _find_token(provider: str) -> str:
    """A token that Anthropic takes in place of a key."""
    token = os.environ.get("ANTHROPIC_AUTH_TOKEN", "").strip() if provider == "anthropic" else ""
    return token if is_sendable(token) else ""


def _make_endpoint(model: str, provider: str, address: str, key: str, api: Api) -> Endpoint:
    parts = urlsplit(address)
    headers = {"Authorization": f"Bearer {key or PLACEHOLDER_KEY}", "Content-Type": "application/json"}
    if api is Api.MESSAGES:
        headers = {"anthropic-version": _ANTHROPIC_VERSION, "Content-Type": "application/json"}
        token = "" if key else _find_token(provider)
        headers |= {"Authorization": f"Bearer {token}"} if token else {"x-api-key": key or PLACEHOLDER_KEY}
    account, at_sign, host = parts.netloc.rpartition("@")
    if at_sign:
        headers["Authorization"] = f"Basic {b64encode(unquote(account).encode()).decode()}"
    for header, variables in _ACCOUNT_HEADERS.items():
        stated = (value for variable in variables if is_sendable(value := os.environ.get(variable, "")))
        if provider == "openai" and (value := next(stated, "")):
            headers[header] = value
    path = parts.path.rstrip("/")
    if (provider in OLLAMA or api is Api.MESSAGES) and not path.endswith("/v1"):
        path += "/v1"
    path = f"{path}/{api.path}"
    return Endpoint(model, provider, parts._replace(netloc=host, path=path, fragment="").geturl(), headers, api)


def _find_served(name: str, api_base: str | None, table: ModelTable, api: Api) -> tuple[str, str] | None:
    """The provider and the name at its server, where that takes OpenAI's form."""
    before, slash, model = name.partition("/")
    if before in OLLAMA and api is Api.CHAT:
        return before, model
    if slash and before in PASS_ON:
        return None if before == "openai" and api_base is None else (before, model)
    if api_base is None or (slash and _is_route(before, table)) or _OTHERS_NAMES.search(name):
        return None
    known = table.providers.get(name) if name in table.providers else "openai"
    return ("openai", name) if known == "openai" else None


def _is_route(before: str, table: ModelTable) -> bool:
    """Whether litellm takes the start of a name for a provider."""
    known = before in _FURTHER_PROVIDERS or before in _configured_providers() or is_provider(before)
    return known or before in table.providers.values()


@cache
def _configured_providers() -> frozenset[str]:
    """Providers that litellm has in a file of their own."""
    path = find_litellm_file("llms/openai_like/providers.json")
    try:
        return frozenset(json.loads(path.read_text(encoding="utf-8")) if path else {})
    except (OSError, ValueError, TypeError):
        return frozenset()


def _is_public(address: str) -> bool:
    return (urlsplit(address).hostname or "").lower() in _PUBLIC_HOSTS


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


def check_name(name: str) -> None:
    """Raises `ToolbeltError` for the name of a provider with no model behind it."""
    provider, slash, model = name.strip().rpartition("/")
    if slash and not model:
        raise ToolbeltError(
            f"{visible(name.strip())!r} names no model: after the provider comes the model, as in "
            f"{visible(provider.strip('/ ')) or 'openai'}/NAME."
        )


def check_address(api_base: str) -> None:
    """Raises `ToolbeltError` for what cannot be the address of an API."""
    remember_address(api_base)
    shown = visible(without_secrets(api_base) or "")
    try:
        parts = urlsplit(api_base)
        sound = parts.scheme in ("http", "https") and bool(parts.hostname) and not re.search(r"\s", api_base)
        sound = sound and parts.port != 0
    except ValueError:
        sound = False
    if not sound:
        raise ToolbeltError(f"API base {shown!r} is no address. It looks like http://127.0.0.1:8000/v1.")
    for api in Api:
        if parts.path.rstrip("/").endswith(f"/{api.path}"):
            raise ToolbeltError(f"API base {shown!r}: leave out /{api.path}, which is added to it.")


def describe_missing(name: str, provider: str, missing: Sequence[str]) -> str:
    """The sentence for keys that are not set."""
    names = (" or " if provider in _ANY_ONE_WILL_DO else " and ").join(missing)
    blank = [variable for variable in missing if variable in os.environ and not os.environ[variable].strip()]
    note = f" Set, but blank: {', '.join(blank)}." if blank else ""
    return f"{visible(name)} needs {names}, in the environment or in a .env here.{note}"


def is_sendable(key: str) -> bool:
    """Whether a key can stand in a header of a request."""
    return bool(key.strip()) and key.isascii() and key.isprintable()


def refuse_unsendable(name: str, variables: Sequence[str]) -> None:
    """Raises `ToolbeltError` for keys that cannot be sent; a blank key counts as unset."""
    if broken := [variable for variable in variables if os.environ[variable].strip()]:
        raise ToolbeltError(
            f"{visible(name)} needs {' and '.join(broken)}, which cannot be sent as set: a line break, or another "
            "character that is not printable ASCII, is in it. Set it again, without."
        )


def without_secrets(address: str | None) -> str | None:
    """An address without user, password, query and fragment, as these may hold a key."""
    if address is None:
        return None
    head, slashes, rest = address.partition("?")[0].partition("#")[0].rpartition("//")
    host, slash, path = rest.partition("/")
    return f"{head}{slashes}{host.rpartition('@')[2]}{slash}{path}"
