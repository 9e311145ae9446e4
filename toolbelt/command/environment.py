"""Settings from the environment and from a `.env` in the working directory."""

from __future__ import annotations

import os
from collections.abc import MutableMapping

from toolbelt.errors import ToolbeltError

PREFIX = "TOOLBELT_"
FILE_NAME = ".env"
_PROVIDER_ENDINGS = (
    "_API_KEY", "_APIKEY", "_API_TOKEN", "_AUTH_TOKEN", "_API_VERSION",
    "_ACCESS_KEY_ID", "_SECRET_ACCESS_KEY", "_SESSION_TOKEN",
)  # fmt: skip
_PROVIDER_NAMES = frozenset(
    {
        "AWS_BEARER_TOKEN_BEDROCK", "AWS_REGION", "AWS_REGION_NAME", "AZURE_API_BASE", "DATABRICKS_API_BASE",
        "GOOGLE_APPLICATION_CREDENTIALS", "HF_TOKEN", "VERTEXAI_LOCATION", "VERTEXAI_PROJECT",
    }
)  # fmt: skip
"""What providers' clients need to let one in, and no more: an address here could send a key elsewhere, so that only
those are taken which a provider cannot be asked without."""


def read_dotenv(environment: MutableMapping[str, str], folder: str = "") -> None:
    """Add what is ours of `folder/.env` and the environment does not have: `TOOLBELT_…`, and keys of providers.

    Args:
        environment: Added to.
        folder: The working directory if empty.

    Raises:
        InvalidFileError: it is not UTF-8.
        ToolbeltError: a value that no environment can hold.
    """
    file = os.path.join(folder, FILE_NAME)  # noqa: PTH118  pathlib takes longer to load than `--help` to print
    if not os.path.isfile(file):  # noqa: PTH113
        return
    import io

    from dotenv import dotenv_values
    from dotenv.parser import parse_stream

    from toolbelt.sources import read_text

    text = read_text(file)
    for binding in parse_stream(io.StringIO(text)):
        # What is wrong with others' settings is theirs; what stands there is not shown, for it may be a key.
        if binding.error and (PREFIX in binding.original.string or is_ours(_name_in(binding.original.string))):
            place = f"{file}:{binding.original.line}"
            raise ToolbeltError(f"{place}: this is no NAME=value; a quote may be left open.")
    for name, value in dotenv_values(stream=io.StringIO(text)).items():
        if is_ours(name) and value is not None and name not in environment:
            if "\0" in value:
                raise ToolbeltError(f"{file}: the value of {name} holds a NUL character.")
            environment[name] = value


def is_ours(name: str) -> bool:
    """Whether a variable is a setting of toolbelt's or what a provider of models asks for."""
    return name.startswith(PREFIX) or name in _PROVIDER_NAMES or name.endswith(_PROVIDER_ENDINGS)


def _name_in(line: str) -> str:
    return line.partition("=")[0].strip().removeprefix("export ").strip()
