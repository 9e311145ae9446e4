"""Models by the names they have on the command line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from toolbelt.errors import NotFoundError, ToolbeltError
from toolbelt.evals.models.hosted import HostedModel, PricedModel
from toolbelt.evals.models.model import Model
from toolbelt.providers.chat import ChatClient
from toolbelt.providers.endpoints import Transport, find_endpoint
from toolbelt.providers.litellm_table import ModelTable
from toolbelt.providers.model_facts import is_known


@dataclass(frozen=True)
class ModelOptions:
    """How models are opened and called.

    Attributes:
        api_base: Address of hosted models; their provider's if `None`. Other models ignore it.
        timeout_seconds: For one request.
        table: What is known of hosted models.
        transport: How hosted models are asked.
        is_offline: Whether no model may be asked.
    """

    api_base: str | None = None
    timeout_seconds: float = 120.0
    table: ModelTable = field(default_factory=ModelTable, compare=False)
    transport: Transport = Transport.AUTO
    is_offline: bool = False


def _open_local(name: str) -> Model:
    from toolbelt.evals.models.local import make_local_model

    return make_local_model(name)


def _open_scripted(name: str) -> Model:
    from toolbelt.evals.models.scripted import make_scripted_model

    return make_scripted_model(name.removeprefix("scripted/"))


def _open_hosted(name: str, options: ModelOptions) -> Model:
    return HostedModel(name, options.table, client=_open_client(name, options))


def _open_client(name: str, options: ModelOptions) -> ChatClient:
    if options.transport is not Transport.LITELLM:
        endpoint = find_endpoint(name, options.api_base, options.table)
        if endpoint is not None:
            from toolbelt.providers.direct_client import DirectClient

            return DirectClient(endpoint, options.timeout_seconds)
    from toolbelt.providers.litellm_client import LitellmClient
    from toolbelt.providers.litellm_routes import find_route

    return LitellmClient(find_route(name, options.api_base, options.table), options.timeout_seconds)


OPENERS: Mapping[str, Callable[[str], Model]] = MappingProxyType({"local/": _open_local, "scripted/": _open_scripted})
"""By what the name begins with; all others are hosted."""


def open_model(name: str, options: ModelOptions | None = None) -> Model:
    """The model of that name.

    Args:
        name: `local/bm25`, `scripted/FILE`, or any name of litellm's.
        options: How it is asked.

    Raises:
        NotFoundError: no such model.
        ToolbeltError: it cannot be asked: no key is set, or `api_base` is no address.
    """
    options = options or ModelOptions()
    name = options.table.find_asked(name)
    if not name.strip():
        raise ToolbeltError("A model needs a name: local/bm25, or any that litellm knows; see: toolbelt model list")
    for prefix, opener in OPENERS.items():
        if name.startswith(prefix):
            return opener(name)
    return _open_hosted(name, options)


def open_price(name: str, options: ModelOptions) -> Model:
    """The model of that name where it asks nobody, else its price; needs no key and loads no client.

    Raises:
        NotFoundError: a name without a provider that no known model has, with the nearest.
    """
    name = options.table.find_asked(name)
    if not name.strip() or name.startswith(tuple(OPENERS)):
        return open_model(name, options)
    if "/" not in name and options.api_base is None and not is_known(name, options.table):
        raise NotFoundError("model", name, options.table.find_similar(name))
    return PricedModel(name, options.table)
