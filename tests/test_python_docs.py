"""The blocks of docs/python.md, which test_docs.py runs, name everything that is public."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import toolbelt
import toolbelt.evals

PAGE = (Path(__file__).resolve().parents[1] / "docs" / "python.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("name", [*toolbelt.__all__, *toolbelt.evals.__all__])
def test_C_every_public_name_has_an_example(name: str) -> None:
    assert re.search(rf"\b{name}\b", "\n".join(BLOCKS))
