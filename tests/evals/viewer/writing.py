"""Pages written for tests."""

from __future__ import annotations

import io
import sqlite3
from pathlib import Path
from typing import Any

from tests.evals.analysis.summary.rows import RUN
from toolbelt.evals.analysis.summary.summarize import summarize
from toolbelt.evals.viewer.page import write_page
from toolbelt.views.blocks import Picture

PICTURE = Picture(
    "dot",
    "A dot",
    "What a dot says.",
    b'<svg xmlns="http://www.w3.org/2000/svg" width="30pt" height="15pt" viewBox="0 0 30 15">'
    b'<rect width="9" height="9"/></svg>',
    b"",
)


def page_text(connection: sqlite3.Connection, **more: Any) -> str:
    """A run's page."""
    file = io.StringIO(newline="")
    write_page(connection, RUN, file, summary=summarize(connection, RUN), **{"pictures": (PICTURE,)} | more)
    return file.getvalue()


def page_file(connection: sqlite3.Connection, folder: Path, **more: Any) -> Path:
    """A run's page in a file."""
    path = folder / "report.html"
    with path.open("w", encoding="utf-8", newline="") as file:
        write_page(connection, RUN, file, summary=summarize(connection, RUN), **{"pictures": (PICTURE,)} | more)
    return path
