"""The harness: the same cases over several toolsets and models, scored, counted and priced.

Installed as `toolbelt.evals`; see CONTRIBUTING.md for why the folder is at the top of the repository. `load_run` is
loaded when first used, as it brings pandas along.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from toolbelt.evals.exports.loading import load_run

__all__ = ["load_run"]


def __getattr__(name: str) -> Any:
    if name != "load_run":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from toolbelt.evals.exports.loading import load_run

    return load_run


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
