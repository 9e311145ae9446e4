"""The one way by which a tool is called, directly or through a meta-tool: checks, the server, what became of it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from mcp.shared.exceptions import MCPError
from mcp.types import CONNECTION_CLOSED, INVALID_PARAMS, REQUEST_TIMEOUT

from toolbelt.catalog.validators import SchemaValidator, make_validator
from toolbelt.mcp.client import Client
from toolbelt.mcp.connections import ServerConnection
from toolbelt.mcp.conversations import MAX_ROUNDS, Conversation, answer_questions, is_question
from toolbelt.mcp.front import Context, is_modern
from toolbelt.mcp.surface import ServedTool
from toolbelt.mcp.upstream import UpstreamError
from toolbelt.mcp.wire import Params
from toolbelt.runtime.arguments import ArgumentsError, check_schema, describe_arguments_error


@dataclass(frozen=True)
class CallRecord:
    """What became of a call.

    Attributes:
        tool: Which was called.
        params: Of the call, with its arguments.
        seconds: From its arrival to the answer.
        result: Of the tool; `None` where there is none.
        error: Why there is none.
    """

    tool: ServedTool
    params: Params
    seconds: float
    result: Mapping[str, Any] | None
    error: str = ""


class Policy(Protocol):
    """What is asked before a call and informed after it: guards, confirmation, audit."""

    async def before(self, client: Client, context: Context, tool: ServedTool, params: Params) -> str:
        """Why the call is refused, which the model reads; empty to allow it."""
        ...

    async def after(self, client: Client, record: CallRecord) -> None:
        """A call was answered, refused or failed."""
        ...


class CallRunner:
    """Runs calls.

    Args:
        timeout_seconds: Until a call is given up; its server is sent a cancellation.
        unlocked: Whether a tool is called that is not what was synced.
        log: Receives one line at a time.
        policy: Asked before each call, and informed after it.
    """

    def __init__(
        self, timeout_seconds: float, unlocked: bool, log: Callable[[str], None], policy: Policy | None = None
    ) -> None:
        self._timeout_seconds = timeout_seconds
        self._unlocked = unlocked
        self._log = log
        self._policy = policy
        self._validators: dict[str, SchemaValidator | None] = {}

    async def run(self, client: Client, context: Context, tool: ServedTool, params: Params) -> dict[str, Any]:
        """Call a tool.

        Args:
            client: Who calls.
            context: Of the client's request.
            tool: Which the client may call.
            params: Of `tools/call`; its `name` is replaced by the one that the server knows.

        Returns:
            The server's result as it is; a result with `isError` where the call is refused.

        Raises:
            MCPError: the server's, as it is; or there is no server, or it ended, or took too long.
        """
        started = time.monotonic()
        result: dict[str, Any] | None = None
        error = ""
        try:
            result = await self._run(client, context, tool, params)
        except (MCPError, asyncio.CancelledError) as failure:
            error = str(failure) or "cancelled"
            raise
        finally:
            if self._policy is not None:
                seconds = time.monotonic() - started
                await self._policy.after(client, CallRecord(tool, params, seconds, result, error))
        return result

    async def _run(self, client: Client, context: Context, tool: ServedTool, params: Params) -> dict[str, Any]:
        if (refusal := self._find_fault(tool, params)) != "":
            return refused(refusal)
        if self._policy is not None and (refusal := await self._policy.before(client, context, tool, params)):
            return refused(refusal)
        connection = client.connections.get(tool.server)
        if connection is None:
            raise MCPError(code=CONNECTION_CLOSED, message=f"There is no definition of server {tool.server!r}.")
        try:
            verification = await connection.verify()
        except UpstreamError as error:
            raise MCPError(code=CONNECTION_CLOSED, message=str(error)) from None
        reason = verification.changed.get(tool.upstream_name)
        if reason is not None and not (self._unlocked and tool.upstream_name in verification.live):
            self._log(f"call of {tool.wire_name!r} refused: {reason}")
            raise MCPError(code=INVALID_PARAMS, message=f"Unknown tool: {tool.wire_name}")
        sent = {**params, "name": tool.upstream_name}
        return await self.request(client, context, connection, "tools/call", sent, of_start=connection.verified_start)

    async def request(
        self,
        client: Client,
        context: Context,
        connection: ServerConnection,
        method: str,
        params: Params,
        *,
        of_start: int | None = None,
    ) -> dict[str, Any]:
        """Pass a request of the client on to a server, with progress, cancellation and a time limit.

        Args:
            client: Who asks.
            context: Of its request.
            connection: To the server.
            method: Of the protocol.
            params: Passed on as they are, but for a progress token that another client of a shared server may use.
            of_start: As for `Upstream.request`.

        Raises:
            MCPError: the server's, as it is; or there is no server, or it ended, or took too long.
        """
        state = params.get("requestState")
        conversation = client.conversations.pop(state, None) if isinstance(state, str) else None
        if conversation is not None:
            conversation.context = context
            conversation.answer(params.get("inputResponses") or {})
            return await self._converse(client, conversation)
        upstream = connection.upstream
        if is_modern(client.version) and upstream.is_connected and not is_modern(upstream.version):
            conversation = Conversation()
            call = self._relay(client, context, connection, method, params, of_start, conversation)
            conversation.start(call)
            return await self._converse(client, conversation)
        result = await self._relay(client, context, connection, method, params, of_start)
        rounds = 0
        while is_question(result) and not is_modern(client.version) and rounds < MAX_ROUNDS:
            rounds += 1
            again = await answer_questions(context, params, result)
            result = await self._relay(client, context, connection, method, again, of_start)
        return result

    async def _converse(self, client: Client, conversation: Conversation) -> dict[str, Any]:
        result = await conversation.next()
        if is_question(result):
            client.conversations[conversation.id] = conversation
            conversation.expire_after(self._timeout_seconds)
        return result

    async def _relay(
        self,
        client: Client,
        context: Context,
        connection: ServerConnection,
        method: str,
        params: Params,
        of_start: int | None,
        conversation: Conversation | None = None,
    ) -> dict[str, Any]:
        upstream = connection.upstream
        call = client.start_call(context, upstream.name, params, conversation)
        try:
            async with asyncio.timeout(self._timeout_seconds):
                with connection.routing(client, call, params) as sent:
                    result = await upstream.request(method, sent, of_start=of_start)
        except TimeoutError:
            message = f"Server {upstream.name!r} did not answer within {self._timeout_seconds:g} s."
            raise MCPError(code=REQUEST_TIMEOUT, message=message) from None
        except UpstreamError as error:
            raise MCPError(code=CONNECTION_CLOSED, message=str(error)) from None
        except MCPError as error:
            if error.code == CONNECTION_CLOSED and not upstream.is_connected:
                message = f"Server {upstream.name!r} ended before it answered."
                raise MCPError(code=CONNECTION_CLOSED, message=message) from None
            raise
        finally:
            client.end_call(call)
        await client.notices.flush()
        return result

    def _find_fault(self, tool: ServedTool, params: Params) -> str:
        """What is wrong with the arguments, for the model; empty if nothing is."""
        if tool.tool.id not in self._validators:
            self._validators[tool.tool.id] = make_validator(tool.tool.parameters)
        try:
            check_schema(self._validators[tool.tool.id], params.get("arguments") or {})
        except ArgumentsError as error:
            return describe_arguments_error(tool.tool, str(error))
        return ""


def refused(reason: str) -> dict[str, Any]:
    """The result of a call that was not made."""
    return {"content": [{"type": "text", "text": reason}], "isError": True}
