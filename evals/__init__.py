"""The harness: the same cases over several toolsets and models, scored, counted and priced.

`run_eval` runs an eval, `resume_run` goes on with one, `merge_runs` puts shards together, `import_answers` makes a run
of answers that a model gave elsewhere, `gate_run` holds one against a baseline, and `load_run` reads the trials of one
as a `pandas.DataFrame`.

Installed as `toolbelt.evals`; see CONTRIBUTING.md for why the folder is at the top of the repository. The names are
loaded when first used, so that importing a part of the harness does not import all of it.
"""

from __future__ import annotations

import importlib
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from toolbelt.evals.analysis.gate.verdict import Limits
    from toolbelt.evals.evaluate import gate_run, merge_runs, resume_run, run_eval
    from toolbelt.evals.exports.loading import load_run
    from toolbelt.evals.imported_run import import_answers
    from toolbelt.evals.run import Run
    from toolbelt.evals.running.plan import CaseFilter

__all__ = [
    "CaseFilter",
    "Limits",
    "Run",
    "gate_run",
    "import_answers",
    "load_run",
    "merge_runs",
    "resume_run",
    "run_eval",
]
_MODULES = MappingProxyType(
    {
        "CaseFilter": "toolbelt.evals.running.plan",
        "Limits": "toolbelt.evals.analysis.gate.verdict",
        "Run": "toolbelt.evals.run",
        "gate_run": "toolbelt.evals.evaluate",
        "import_answers": "toolbelt.evals.imported_run",
        "load_run": "toolbelt.evals.exports.loading",
        "merge_runs": "toolbelt.evals.evaluate",
        "resume_run": "toolbelt.evals.evaluate",
        "run_eval": "toolbelt.evals.evaluate",
    }
)


def __getattr__(name: str) -> Any:
    if (module := _MODULES.get(name)) is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(module), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
