"""The least that can be done with aiohttp: a loop of posts with `json=`, whose answers' arguments are parsed."""

from __future__ import annotations

import asyncio
import json
import sys
from itertools import islice
from pathlib import Path

import aiohttp

from tests.benchmarks.eval_work import ANSWER, CONCURRENCY
from tests.benchmarks.rivals.contender import serve


def main(folder: str, url: str) -> None:
    """Serve blocks of requests."""
    tools = list(json.loads((Path(folder) / "tools.json").read_text()).values())
    queries = [case["query"] for case in json.loads((Path(folder) / "queries.json").read_text())]
    loop = asyncio.new_event_loop()

    async def block(cases: int) -> None:
        left = islice(queries, cases)
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

            async def worker() -> None:
                for query in left:
                    messages = [{"role": "user", "content": query}]
                    body = {"model": "pick-first", "messages": messages, "seed": 0, "tools": tools}
                    async with session.post(f"{url}/chat/completions", json=body) as response:
                        answer = await response.json()
                    function = answer["choices"][0]["message"]["tool_calls"][0]["function"]
                    assert function["name"] == ANSWER
                    json.loads(function["arguments"])

            await asyncio.gather(*(worker() for _ in range(CONCURRENCY)))

    serve(lambda cases: loop.run_until_complete(block(cases)))


if __name__ == "__main__":
    main(*sys.argv[1:])
