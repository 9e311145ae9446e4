"""The only module that imports litellm. It keeps litellm quiet, offline at import, and closes its clients."""

from __future__ import annotations

import gc
import logging
import os
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from typing import Any

from toolbelt.providers.chat import Failure, ModelError
from toolbelt.providers.direct_answers import keep_one_text

_NAMES = ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy")
"""Its loggers."""
_WARNINGS: tuple[tuple[str, type[Warning]], ...] = (
    (r"Items? '.*' on TypedDict class", UserWarning),  # of pydantic, about litellm's types
    ("Pydantic serializer warnings", UserWarning),  # about odd answers of servers
    (
        r"coroutine '\w+\.(a|async_)\w*completion\w*' was never awaited",
        RuntimeWarning,
    ),  # about requests cancelled before they were sent
)


@cache
def load_litellm() -> Any:
    """litellm, set up; the first call takes seconds.

    It uses the table of prices that it ships and fetches none. It prints and logs nothing, sends no telemetry, and
    leaves retries to its caller.
    """
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # read at import, and again in the background
    with warnings.catch_warnings(), _without_dotenv(), _without_collection():
        warnings.simplefilter("ignore")
        import litellm
    litellm.suppress_debug_info = True
    litellm.set_verbose = False
    litellm.telemetry = False
    litellm.num_retries = 0
    litellm.DEFAULT_MAX_RETRIES = 0  # embeddings take the 0 that they are given for nothing said
    for name in _NAMES:  # its debug log writes requests with their headers
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.addHandler(logging.NullHandler())
        logger.propagate = False
        logger.setLevel(logging.CRITICAL + 1)
    return litellm


def map_settings(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The settings among the arguments of a completion, as the provider would get them; tools are left out.

    Raises:
        ModelError: litellm does not send them (`bad_request`).
    """
    litellm = load_litellm()
    settings = {key: value for key, value in arguments.items() if key not in _NO_SETTINGS}
    try:
        model, provider, *_ = litellm.get_llm_provider(model=arguments["model"], api_base=arguments.get("api_base"))
        mapped = litellm.utils.get_optional_params(model=model, custom_llm_provider=provider, **settings)
    except litellm.UnsupportedParamsError as error:
        raise ModelError(Failure.BAD_REQUEST, str(error)) from None
    except Exception:  # noqa: BLE001  whatever else it raises says nothing of the settings, and would be raised again
        mapped = settings
    return {key: value for key, value in mapped.items() if key != "tools"}


_NO_SETTINGS = frozenset({"model", "messages", "api_base", "api_key"})


@contextmanager
def _without_collection() -> Iterator[None]:
    """Collect no garbage meanwhile: what an import makes stays, and looking through it is a fifth of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@contextmanager
def _without_dotenv() -> Iterator[None]:
    """Keep litellm from reading a `.env` at import, with addresses in it that a key would be sent to.

    It looks for one from its own folder upward, so that it finds that of a repository with the virtual environment in
    it; in a notebook, from the working directory. `toolbelt.command.environment` reads what may be read.
    """
    before = os.environ.get("LITELLM_MODE")
    os.environ["LITELLM_MODE"] = "PRODUCTION"  # which means just that
    try:
        yield
    finally:
        if before is None:
            del os.environ["LITELLM_MODE"]
        else:
            os.environ["LITELLM_MODE"] = before


def silence_warnings() -> None:
    """Hide warnings from litellm's own code, which it loads and runs during a request."""
    for message, category in _WARNINGS:
        warnings.filterwarnings("ignore", message=message, category=category)


@cache
def _spare_odd_arguments() -> None:
    """Let calls through whose arguments litellm cannot read.

    It reads them all, to unfold what OpenAI's models once made of several calls (`multi_tool_use.parallel`), and takes
    the whole answer for broken where an integer is too long for Python, or lists are nested too deep: the model's
    mistakes, to be scored as such.
    """
    load_litellm()
    from litellm.litellm_core_utils.llm_response_utils import convert_dict_to_response as reading

    names = ("handle_invalid_parallel_tool_calls", "_handle_invalid_parallel_tool_calls")  # newer and older releases
    unfold = next((found for name in names if (found := getattr(reading, name, None)) is not None), None)
    if unfold is None:
        return

    def unfold_or_leave(calls: Any) -> Any:
        try:
            return unfold(calls)
        except Exception:  # noqa: BLE001  whatever a model may have written
            return calls

    for name in names:
        _replace(name, unfold, unfold_or_leave)


@cache
def _keep_what_litellm_drops() -> None:
    """Let litellm read the choice with index 0, its content as text, and an error where it is read in a choice.

    It numbers choices anew in whatever order they come, and of an error beside them keeps the code alone.
    """
    load_litellm()
    from litellm.litellm_core_utils.llm_response_utils import convert_dict_to_response as reading

    name = "convert_to_model_response_object"
    convert = getattr(reading, name, None)
    if convert is None:
        return

    def convert_one_choice(response_object: Any = None, *more: Any, **named: Any) -> Any:
        if isinstance(response_object, dict) and named.get("response_type", "completion") == "completion":
            response_object = dict(response_object)
            keep_one_text(response_object)
        return convert(response_object, *more, **named)

    _replace(name, convert, convert_one_choice)


def _replace(name: str, old: Any, new: Any) -> None:
    """Put a function in the place of one of litellm's wherever it was imported."""
    for module in list(sys.modules.values()):
        if getattr(module, "__name__", "").startswith("litellm.") and vars(module).get(name) is old:
            setattr(module, name, new)


async def complete(arguments: dict[str, Any]) -> Any:
    """Ask, once."""
    _spare_odd_arguments()
    _keep_what_litellm_drops()
    return await load_litellm().acompletion(**arguments)


async def embed(arguments: dict[str, Any]) -> Any:
    """Ask for embeddings, once."""
    return await load_litellm().aembedding(**arguments)


async def forget_clients() -> None:
    """Close the clients that litellm keeps, and end its background task of this event loop."""
    litellm = load_litellm()
    from litellm.litellm_core_utils.logging_worker import GLOBAL_LOGGING_WORKER

    with suppress(Exception):  # whatever its cleaning up does, the run is over
        await GLOBAL_LOGGING_WORKER.flush()
        await GLOBAL_LOGGING_WORKER.stop()
    with suppress(Exception):
        await litellm.close_litellm_async_clients()
        litellm.in_memory_llm_clients_cache.flush_cache()
