"""A prompt as people give it: its text, or a file of it."""

from __future__ import annotations

import os
import re
from pathlib import Path

from toolbelt.sources import read_text

_NAMES_A_FILE = re.compile(r"\S+\.[A-Za-z][A-Za-z0-9]{0,9}|\S*[/\\]\S*")
"""One word that ends like a file, or has a folder: a misspelt file must not be sent to a model as its prompt."""


def read_prompt(written: str, folder: Path = Path()) -> str:
    """The text of the file that is named, relative to `folder`; else what was written.

    Raises:
        NotFoundError: what is written can only be a file, and is not there.
        InvalidFileError: the file is not UTF-8, or no file.
        StorageError: it may not be read.
    """
    path = folder / written
    # os.path rather than pathlib: a text that the system refuses as a path is no file.
    if os.path.isfile(path) or _NAMES_A_FILE.fullmatch(written):  # noqa: PTH113
        return read_text(path).rstrip("\r\n")
    return written
