"""pydantic-ai and FastMCP, installed by `make search-projects`, still find what was recorded of them (rule S1)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.search.test_projects import RECORDED, record

PYTHON = Path(__file__).parents[2] / "build" / "search" / "bin" / "python"
if not PYTHON.exists():
    pytest.skip("`make search-projects` installs both", allow_module_level=True)


def test_S1_the_projects_find_what_was_recorded() -> None:
    assert record(str(PYTHON)) == json.loads(RECORDED.read_text(encoding="utf-8"))
