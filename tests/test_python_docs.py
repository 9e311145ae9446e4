"""The blocks of docs/python.md, which test_docs.py runs, name everything that is public; examples of docstrings run."""

from __future__ import annotations

import doctest
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


@pytest.mark.parametrize(
    "name",
    [
        "run_eval",
        "resume_run",
        "gate_run",
        "load_run",
        "merge_runs",
        "import_answers",
        "ToolLoadoutRegistry",
        "ExecutableTool",
        "expand_toolkits",
    ],
)
def test_C_the_example_of_the_docstring_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    documented = getattr(toolbelt if name in toolbelt.__all__ else toolbelt.evals, name)
    [example] = doctest.DocTestFinder(recurse=False).find(documented, name, globs={})
    ran = doctest.DocTestRunner().run(example)
    assert (ran.failed, ran.attempted > 2) == (0, True)
