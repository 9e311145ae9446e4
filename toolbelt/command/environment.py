"""Settings from the environment, and keys from a `.env` in the working directory."""

from __future__ import annotations

import os
import re
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
        "AWS_BEARER_TOKEN_BEDROCK", "AWS_REGION", "AWS_REGION_NAME", "HF_TOKEN",
        "VERTEXAI_LOCATION", "VERTEXAI_PROJECT",
    }
)  # fmt: skip
"""What providers' clients need to let one in, and no more."""
FLAGS_WITHOUT_VARIABLE = ("--yes", "--write", "--undo")
"""Flags that are only ever typed."""
_ADDRESS_ENDING = "_API_BASE"
_ADDRESSES = ("OPENAI_BASE_URL", "ANTHROPIC_BASE_URL")
"""With names of the ending above, what providers' clients take for the address to ask; nothing else is read, either."""
_CREDENTIAL_FILES = ("GOOGLE_APPLICATION_CREDENTIALS",)
"""Name a file that says which address to send its own key to."""
_IN_ADDRESSES = ("AWS_REGION", "AWS_REGION_NAME", "VERTEXAI_LOCATION", "VERTEXAI_PROJECT")
"""Put into a provider's address as they are: `evil.example/` would be one of its own."""
_PART_OF_ADDRESS = re.compile(r"[A-Za-z0-9_-]*")

_OWN_KEYS = (f"{PREFIX}CLIENT_SECRET", f"{PREFIX}INPUT_")
"""How variables of ours begin that hold what servers of MCP ask a person for."""
_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)


def read_dotenv(environment: MutableMapping[str, str], folder: str = "") -> tuple[str, ...]:
    """Add the keys of `folder/.env` that the environment does not have: of providers, and those that servers ask for.

    Whoever clones a repository has its `.env`, and a pull request may change it. So no setting in it counts: it could
    give consent, move a cache, or loosen a gate. No address counts either: that would send the user's own key, which is
    in the environment, to whoever wrote the file; nor does `${NAME}` pass on a secret of the environment.

    Args:
        environment: Added to.
        folder: The working directory if empty.

    Returns:
        Names of settings in it that count only in the environment, and were not added.

    Raises:
        InvalidFileError: it is not UTF-8.
        ToolbeltError: a value that no environment can hold.
    """
    file = os.path.join(folder, FILE_NAME)  # noqa: PTH118  pathlib takes longer to load than `--help` to print
    if not os.path.isfile(file):  # noqa: PTH113
        return ()
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
    ignored = []
    raw = dotenv_values(stream=io.StringIO(text), interpolate=False)
    secrets = [value for name, value in environment.items() if value and _SECRET_NAME.search(name)]
    for name, value in dotenv_values(stream=io.StringIO(text)).items():
        if value is None or name in environment:
            continue
        holds_secret = value != raw[name] and is_ours(name) and any(secret in value for secret in secrets)
        if holds_secret or _is_for_users_alone(name, value):
            ignored.append(name)
        elif is_ours(name):
            if "\0" in value:
                raise ToolbeltError(f"{file}: the value of {name} holds a NUL character.")
            environment[name] = value
    return tuple(ignored)


def _is_for_users_alone(name: str, value: str) -> bool:
    """Whether it decides, or says where to ask, so that only the user's environment may have it."""
    if name in _IN_ADDRESSES:
        return _PART_OF_ADDRESS.fullmatch(value) is None
    if name.startswith(PREFIX):
        return not name.startswith(_OWN_KEYS)
    return name in _ADDRESSES or name.endswith(_ADDRESS_ENDING) or name in _CREDENTIAL_FILES


def is_ours(name: str) -> bool:
    """Whether a variable is a setting of toolbelt's or what a provider of models asks for."""
    return name.startswith(PREFIX) or name in _PROVIDER_NAMES or name.endswith(_PROVIDER_ENDINGS)


def _name_in(line: str) -> str:
    return line.partition("=")[0].strip().removeprefix("export ").strip()
