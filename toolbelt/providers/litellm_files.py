"""Files that litellm brings along, found without importing it (which takes seconds)."""

from __future__ import annotations

from importlib.machinery import PathFinder
from pathlib import Path

PRICE_TABLE = "model_prices_and_context_window_backup.json"
TOKENIZERS = "litellm_core_utils/tokenizers"
PROVIDERS = "provider_endpoints_support_backup.json"


def find_litellm_file(name: str) -> Path | None:
    """A file or folder inside the installed litellm package; `None` if it is not there."""
    spec = PathFinder.find_spec("litellm")
    if spec is None or spec.origin is None:
        return None
    path = Path(spec.origin).parent / name
    return path if path.exists() else None
