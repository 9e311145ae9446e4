"""Settings from the environment and from a `.env` in the working directory."""

from __future__ import annotations

import os
from collections.abc import MutableMapping

from toolbelt.errors import ToolbeltError

PREFIX = "TOOLBELT_"
FILE_NAME = ".env"


def read_dotenv(environment: MutableMapping[str, str], folder: str = "") -> None:
    """Add the `TOOLBELT_…` settings of `folder/.env` that the environment does not have already.

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

    from toolbelt.documents import read_text

    text = read_text(file)
    for binding in parse_stream(io.StringIO(text)):
        if binding.error and PREFIX in binding.original.string:  # what is wrong with others' settings is theirs
            place = f"{file}:{binding.original.line}"
            raise ToolbeltError(f"{place}: this is no NAME=value; a quote may be left open.")
    for name, value in dotenv_values(stream=io.StringIO(text)).items():
        if name.startswith(PREFIX) and value is not None and name not in environment:
            if "\0" in value:
                raise ToolbeltError(f"{file}: the value of {name} holds a NUL character.")
            environment[name] = value
