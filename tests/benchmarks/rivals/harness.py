"""The harness itself, from the plan to the last row of the store, on the same work as the others."""

from __future__ import annotations

import gc
import sys
from pathlib import Path

from tests.benchmarks.eval_work import Harness
from tests.benchmarks.rivals.contender import serve
from toolbelt.providers.endpoints import Transport


def main(folder: str, url: str, store: str, transport: str = Transport.AUTO) -> None:
    """Serve blocks of trials, each a run of its own."""
    harness = Harness(folder, "openai/pick-first", "full", Path(store), url, transport=Transport(transport))

    def block(cases: int) -> None:
        gc.freeze()  # a command reads its files before litellm is there, so that no collection meanwhile walks it
        harness.run(limit=cases)

    serve(block)


if __name__ == "__main__":
    main(*sys.argv[1:])
