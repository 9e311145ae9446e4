"""Calls during which a server asks the client, where the two differ in how that is done.

Up to 2025-11-25 a server sends a request of its own while it works on a call. From 2026-07-28 on it answers the call
with what it needs to know, and the client makes the call again with the answers.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Coroutine, Mapping
from typing import Any

from mcp.shared.exceptions import MCPError
from mcp.types import INVALID_PARAMS

from toolbelt.mcp.gateway.front import Context, ask_client
from toolbelt.mcp.upstreams.wire import Params

MAX_ROUNDS = 10
"""How often a server may answer one call with questions, before it is given up."""
Asked = tuple[str, Params, "asyncio.Future[dict[str, Any]]"]


class Conversation:
    """A call of a 2026 client to a server that asks as in 2025: it goes on while the client is asked."""

    def __init__(self) -> None:
        self.id = secrets.token_urlsafe(24)
        self.context: Context | None = None
        self._asked: asyncio.Queue[Asked] = asyncio.Queue()
        self._open: dict[str, asyncio.Future[dict[str, Any]]] = {}
        self._task: asyncio.Task[dict[str, Any]] | None = None
        self._expiry: asyncio.TimerHandle | None = None

    def start(self, call: Coroutine[Any, Any, dict[str, Any]]) -> None:
        """Begin the call."""
        self._task = asyncio.create_task(call, name="call with questions")

    def cancel(self) -> None:
        """Give the call up; its server is sent a cancellation."""
        if self._task is not None:
            self._task.cancel()

    def expire_after(self, seconds: float) -> None:
        """Give the call up if the client does not come back within that time."""
        self._expiry = asyncio.get_running_loop().call_later(seconds, self.cancel)

    async def ask(self, method: str, params: Params) -> dict[str, Any]:
        """Ask the client on behalf of the server; returns its answer."""
        answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._asked.put_nowait((method, params, answer))
        return await answer

    def answer(self, responses: Mapping[str, Any]) -> None:
        """Give the server the answers of the client.

        Raises:
            MCPError: one is missing.
        """
        if missing := [key for key in self._open if not isinstance(responses.get(key), dict)]:
            raise MCPError(code=INVALID_PARAMS, message=f"inputResponses lacks {', '.join(missing)}")
        if self._expiry is not None:
            self._expiry.cancel()
        for key, future in self._open.items():
            if not future.done():
                future.set_result(responses[key])
        self._open = {}

    async def next(self) -> dict[str, Any]:
        """The result of the call, or what its server asks before it can give one.

        Raises:
            MCPError: as of the call.
        """
        assert self._task is not None  # noqa: S101
        question = asyncio.create_task(self._asked.get())
        try:
            await asyncio.wait({self._task, question}, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            self.cancel()
            raise
        finally:
            if not question.done():
                question.cancel()
        if self._task.done():
            return await self._task
        questions = [await question]
        while not self._asked.empty():
            questions.append(self._asked.get_nowait())
        requests = {}
        for number, (method, params, answer) in enumerate(questions, 1):
            self._open[f"q{number}"] = answer
            requests[f"q{number}"] = {"method": method, **({"params": dict(params)} if params else {})}
        return {"resultType": "input_required", "inputRequests": requests, "requestState": self.id}


def is_question(result: Mapping[str, Any]) -> bool:
    """Whether a result is what a server has to know first, as from 2026 on."""
    return result.get("resultType") == "input_required"


async def answer_questions(context: Context, params: Params, result: Mapping[str, Any]) -> dict[str, Any]:
    """Ask a client of 2025 what a server of 2026 wants to know.

    Args:
        context: Of the client's request.
        params: Of that request.
        result: The server's questions.

    Returns:
        The params with which the call is made again.

    Raises:
        MCPError: the client refused, or cannot be asked.
    """
    responses = {
        key: await ask_client(context, request["method"], request.get("params") or {}, related=True)
        for key, request in (result.get("inputRequests") or {}).items()
    }
    state = {"requestState": result["requestState"]} if "requestState" in result else {}
    return {**params, "inputResponses": responses, **state}
