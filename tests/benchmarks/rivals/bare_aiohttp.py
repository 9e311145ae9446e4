"""The least that a plain client does: aiohttp, definitions written at each request, arguments parsed, nothing kept."""

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

    async def ask(session: aiohttp.ClientSession, query: str) -> None:
        messages = [{"role": "user", "content": query}]
        body = {"model": "pick-first", "messages": messages, "tools": tools, "seed": 0}
        async with session.post(f"{url}/chat/completions", json=body) as response:
            answer = await response.json()
        function = answer["choices"][0]["message"]["tool_calls"][0]["function"]
        assert function["name"] == ANSWER
        json.loads(function["arguments"])

    async def block(cases: int) -> None:
        left = islice(queries, cases)
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=CONCURRENCY)) as session:

            async def worker() -> None:
                for query in left:
                    await ask(session, query)

            await asyncio.gather(*(worker() for _ in range(CONCURRENCY)))

    serve(lambda cases: loop.run_until_complete(block(cases)))


if __name__ == "__main__":
    main(*sys.argv[1:])
