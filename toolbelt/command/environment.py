"""Settings from the environment and from a `.env` in the working directory."""

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
_TYPED_OR_EXPORTED = (
    "--http", "--api-base", "--engine", "--log-arguments", "--unlocked", "--no-token", "--force", "--tools",
)  # fmt: skip
_OF_A_LISTENER = (
    "--http-token", "--token-file", "--behind-proxy", "--allow-host", "--allow-origin", "--tls-cert", "--tls-key",
)  # fmt: skip
"""Who may reach a listener; a repository whose token counts would know it."""
_NOT_OURS_TO_GIVE = frozenset(
    PREFIX + flag.strip("-").replace("-", "_").upper()
    for flag in (*FLAGS_WITHOUT_VARIABLE, *_TYPED_OR_EXPORTED, *_OF_A_LISTENER, "--state-dir", "--client-file")
)
_ADDRESS_ENDING = "_API_BASE"
_ADDRESSES = ("OPENAI_BASE_URL", "ANTHROPIC_BASE_URL")
"""With names of the ending above, what providers' clients take for the address to ask; nothing else is read, either."""
_CREDENTIAL_FILES = ("GOOGLE_APPLICATION_CREDENTIALS",)
"""Name a file that says which address to send its own key to."""
_IN_ADDRESSES = ("AWS_REGION", "AWS_REGION_NAME", "VERTEXAI_LOCATION", "VERTEXAI_PROJECT")
"""Put into a provider's address as they are: `evil.example/` would be one of its own."""
_PART_OF_ADDRESS = re.compile(r"[A-Za-z0-9_-]*")

_WRITTEN_TO = ("_STORE", "_OUTPUT", "_REPORT", "_JUNIT", "_MARKDOWN", "_PLOT", "_CACHE_DIR", "_RESPONSE_CACHE")
"""How settings end that name what is written."""
_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)


def read_dotenv(environment: MutableMapping[str, str], folder: str = "") -> tuple[str, ...]:
    """Add what is ours of `folder/.env` and the environment does not have: `TOOLBELT_…`, and keys of providers.

    Whoever clones a repository has its `.env`. So nothing in it gives consent, and no address: that would send the
    user's own key, which is in the environment, to whoever wrote the file. For the same reason `${NAME}` passes on no
    secret of the environment, and nothing outside the working directory is written to.

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
        if holds_secret or _is_for_users_alone(name, value) or _is_written_outside(name, value, folder):
            ignored.append(name)
        elif is_ours(name):
            if "\0" in value:
                raise ToolbeltError(f"{file}: the value of {name} holds a NUL character.")
            environment[name] = value
    return tuple(ignored)


def _is_for_users_alone(name: str, value: str) -> bool:
    """Whether a setting gives consent or says where to ask, so that only the user's environment may have it."""
    if name in _IN_ADDRESSES:
        return _PART_OF_ADDRESS.fullmatch(value) is None
    is_address = name in _ADDRESSES or (name.endswith(_ADDRESS_ENDING) and not name.startswith(PREFIX))
    return is_address or name in _CREDENTIAL_FILES or name in _NOT_OURS_TO_GIVE


def _is_written_outside(name: str, value: str, folder: str) -> bool:
    """Whether a setting names what is written, and a place outside the folder, links followed."""
    if not name.startswith(PREFIX) or not name.endswith(_WRITTEN_TO) or "\0" in value:
        return False
    home = os.path.realpath(folder)
    values = value.split(",") if name.endswith("_RESPONSE_CACHE") else (value,)  # which may be several
    places = [os.path.realpath(os.path.join(home, value)) for value in values]  # noqa: PTH118
    return any(place != home and not place.startswith(os.path.join(home, "")) for place in places)  # noqa: PTH118


def is_ours(name: str) -> bool:
    """Whether a variable is a setting of toolbelt's or what a provider of models asks for."""
    return name.startswith(PREFIX) or name in _PROVIDER_NAMES or name.endswith(_PROVIDER_ENDINGS)


def _name_in(line: str) -> str:
    return line.partition("=")[0].strip().removeprefix("export ").strip()
