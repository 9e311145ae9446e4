"""The blocks of docs/python.md run, and name everything that is public."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import toolbelt
import toolbelt.evals

PAGE = (Path(__file__).resolve().parents[1] / "docs" / "python.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def test_the_examples_run_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": "docs"}
    for block in BLOCKS:
        exec(compile(block, "docs/python.md", "exec"), namespace)


@pytest.mark.parametrize("name", [*toolbelt.__all__, *toolbelt.evals.__all__])
def test_C_every_public_name_has_an_example(name: str) -> None:
    assert re.search(rf"\b{name}\b", "\n".join(BLOCKS))
