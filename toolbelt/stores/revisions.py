"""Catalogs as they were at a revision of git."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from toolbelt.catalog.reader import CatalogFile
from toolbelt.errors import ToolbeltError
from toolbelt.stores.catalogs import open_catalog

_PATIENCE_SECONDS = 30


def open_catalog_at(revision: str, path: Path) -> CatalogFile:
    """The catalog in a file as it was at a revision.

    Args:
        revision: What git calls one: `origin/main`, `HEAD~1`, `v1.2`; or `REVISION:FILE` for another file, as seen
            from the folder of `path`.
        path: The file as it is now; it need not be there.

    Raises:
        ToolbeltError: git is missing, or knows no such revision or file.
        InvalidFileError: every mistake in the file.
    """
    name, _, other = revision.partition(":")
    file = Path(other or path.name)
    # `--end-of-options`: a name that begins with a dash is a revision that is not there.
    command = ("git", "show", "--no-textconv", "--end-of-options", f"{name}:./{file.as_posix()}")
    try:
        shown = subprocess.run(  # noqa: S603  no shell
            command,
            cwd=path.parent,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PATIENCE_SECONDS,
            check=False,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise ToolbeltError(
            f"{revision!r} is no catalog, and git cannot be asked for it as a revision: {error}."
        ) from None
    if shown.returncode:
        why = shown.stderr.decode(errors="replace").strip().removeprefix("fatal: ").splitlines()
        reason = why[0].rstrip(".") if why else "it gives no reason"
        raise ToolbeltError(
            f"{revision!r} is no catalog, and git does not find {file.as_posix()} at such a revision: {reason}. "
            "In CI, fetch it first (actions/checkout with `fetch-depth: 0`)."
        )
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / file.name
        copy.write_bytes(shown.stdout)
        return open_catalog(str(copy))
