"""The least that can be done with litellm: a loop of `acompletion`, with the arguments that the harness gives it."""

from __future__ import annotations

import asyncio
import json
import sys
from itertools import islice
from pathlib import Path
from typing import Any

from tests.benchmarks.eval_work import ANSWER, CONCURRENCY
from tests.benchmarks.rivals.contender import serve
from toolbelt.providers.litellm_loading import load_litellm


def main(folder: str, url: str) -> None:
    """Serve blocks of requests."""
    litellm = load_litellm()  # offline and quiet
    tools = list(json.loads((Path(folder) / "tools.json").read_text()).values())
    queries = [case["query"] for case in json.loads((Path(folder) / "queries.json").read_text())]
    loop = asyncio.new_event_loop()

    async def ask(query: str) -> Any:
        return await litellm.acompletion(
            model="openai/pick-first",
            messages=[{"role": "user", "content": query}],
            api_base=url,
            api_key="none-needed",
            seed=0,
            timeout=120.0,
            max_retries=0,
            num_retries=0,
            extra_body={"tools": tools},
        )

    async def block(cases: int) -> None:
        left = islice(queries, cases)

        async def worker() -> None:
            for query in left:
                response = await ask(query)
                assert response.choices[0].message.tool_calls[0].function.name == ANSWER

        await asyncio.gather(*(worker() for _ in range(CONCURRENCY)))

    serve(lambda cases: loop.run_until_complete(block(cases)))


if __name__ == "__main__":
    main(*sys.argv[1:])
