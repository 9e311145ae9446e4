"""Settings from the environment and from a `.env` in the working directory."""

from __future__ import annotations

from collections.abc import MutableMapping
from pathlib import Path

from toolbelt.documents import decode

PREFIX = "TOOLBELT_"


def read_dotenv(environment: MutableMapping[str, str], folder: Path) -> None:
    """Add the `TOOLBELT_…` settings of `folder/.env` that the environment does not have already.

    Raises:
        InvalidFileError: it is not UTF-8.
    """
    file = folder / ".env"
    if not file.is_file():
        return
    import io

    from dotenv import dotenv_values

    text = decode(file.read_bytes(), str(file.name))
    for name, value in dotenv_values(stream=io.StringIO(text)).items():
        if name.startswith(PREFIX) and value is not None and name not in environment:
            environment[name] = value
