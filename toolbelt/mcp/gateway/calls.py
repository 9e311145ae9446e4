"""The one way by which a tool is called, directly or through a meta-tool: checks, the server, what became of it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from mcp.shared.exceptions import MCPError
from mcp.types import CONNECTION_CLOSED, INVALID_PARAMS, REQUEST_TIMEOUT

from toolbelt.catalog.validators import SchemaValidator, make_validator
from toolbelt.mcp.gateway.client import Client
from toolbelt.mcp.gateway.connections import ServerConnection
from toolbelt.mcp.gateway.conversations import MAX_ROUNDS, Conversation, answer_questions, is_question
from toolbelt.mcp.gateway.front import Context, ask_client, is_modern
from toolbelt.mcp.gateway.surface import ServedTool
from toolbelt.mcp.logs.audit import CallStatus
from toolbelt.mcp.upstreams.upstream import UpstreamError
from toolbelt.mcp.upstreams.wire import Params
from toolbelt.runtime.arguments import ArgumentsError, check_schema, describe_arguments_error


@dataclass(frozen=True)
class CallOutcome:
    """What became of a call.

    Attributes:
        name: The name that the client sees; for a tool that it may not call, as it wrote it.
        server: The server that has the tool; empty for a tool of the gateway itself.
        params: Of the call, with its arguments.
        seconds: From its arrival to the answer.
        status: How it ended.
        result: Of the tool; `None` where there is none.
        reason: Why it was refused, in a word.
        via: The meta-tool by which it was called; empty for a direct call.
    """

    name: str
    server: str
    params: Params
    seconds: float
    status: CallStatus
    result: Mapping[str, Any] | None = None
    reason: str = ""
    via: str = ""


class Policy(Protocol):
    """What is informed of clients and their calls, and may refuse them: the audit log."""

    def begin(self, client: Client) -> None:
        """A client said who it is."""
        ...

    def before(self, client: Client, name: str) -> str:
        """Why no tool may be called now, which the model reads; empty to allow it."""
        ...

    def after(self, client: Client, outcome: CallOutcome) -> None:
        """A call was answered, refused or failed."""
        ...


class RefusedError(Exception):
    """A call that is not made.

    Attributes:
        reason: In a word.
        message: For the model.
    """

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(reason, message)
        self.reason = reason
        self.message = message


class ChangedError(MCPError):
    """The tool is not what was synced; the client gets the error of a tool that it may not call."""


def find_status(error: BaseException) -> tuple[CallStatus, str]:
    """How a call ended that raised this, and why it was refused."""
    if isinstance(error, RefusedError):
        return CallStatus.REFUSED, error.reason
    if isinstance(error, ChangedError):
        return CallStatus.REFUSED, "changed"
    if isinstance(error, MCPError):
        by_code = {CONNECTION_CLOSED: CallStatus.SERVER_FAILED, REQUEST_TIMEOUT: CallStatus.TIMEOUT}
        return by_code.get(error.code, CallStatus.PROTOCOL_ERROR), ""
    return (CallStatus.CANCELLED if isinstance(error, asyncio.CancelledError) else CallStatus.SERVER_FAILED), ""


Ask = Callable[[str, Params], Awaitable[dict[str, Any]]]
"""Sends a request to the client, such as `elicitation/create`, and gives its answer; raises `MCPError`."""
RunLocal = Callable[[Client, ServedTool, Params, Ask], Coroutine[Any, Any, dict[str, Any]]]
"""Runs a tool that no server has; may raise `RefusedError`."""


class CallRunner:
    """Runs calls.

    Attributes:
        run_local: Runs the tools without server; `None` if there are none.

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
        self.run_local: RunLocal | None = None
        self._validators: dict[str, SchemaValidator | None] = {}

    async def run(
        self, client: Client, context: Context, tool: ServedTool, params: Params, *, via: str = ""
    ) -> dict[str, Any]:
        """Call a tool of a server.

        Args:
            client: Who calls.
            context: Of the client's request.
            tool: Which the client may call.
            params: Of `tools/call`; its `name` is replaced by the one that the server knows.
            via: The meta-tool by which it is called; empty for a direct call.

        Returns:
            The server's result as it is; a result with `isError` where the call is refused.

        Raises:
            MCPError: the server's, as it is; or there is no server, or it ended, or took too long.
        """
        return await self.watch(
            client, tool.wire_name, tool.server, params, lambda: self._run(client, context, tool, params), via=via
        )

    async def watch(
        self,
        client: Client,
        name: str,
        server: str,
        params: Params,
        call: Callable[[], Awaitable[dict[str, Any]]],
        *,
        via: str = "",
    ) -> dict[str, Any]:
        """Make a call of any tool, with the policy asked before it and informed after it.

        Args:
            client: Who calls.
            name: As in `CallOutcome`.
            server: As in `CallOutcome`.
            params: Of `tools/call`.
            call: Makes the call; may raise `RefusedError`.
            via: As in `CallOutcome`.

        Raises:
            MCPError: as `call`.
        """
        if self._policy is None:
            try:
                return await call()
            except RefusedError as refusal:
                return refused(refusal.message)
        started = time.monotonic()
        result: dict[str, Any] | None = None
        status, reason = CallStatus.OK, ""
        try:
            _refuse(self._policy.before(client, name))
            result = await call()
            if result.get("isError") is True:
                status = CallStatus.TOOL_ERROR
        except RefusedError as refusal:
            status, reason = find_status(refusal)
            return refused(refusal.message)
        except BaseException as error:
            status, reason = find_status(error)
            raise
        finally:
            seconds = time.monotonic() - started
            if result is None or not is_question(result):  # after which the call goes on
                self._policy.after(client, CallOutcome(name, server, params, seconds, status, result, reason, via))
        return result

    async def refuse(
        self, client: Client, name: str, params: Params, refusal: RefusedError, *, via: str
    ) -> dict[str, Any]:
        """Refuse a call that was made through a meta-tool; the arguments are those of `watch`, and the reason."""

        async def call() -> dict[str, Any]:
            raise refusal

        return await self.watch(client, name, "", params, call, via=via)

    async def _run(self, client: Client, context: Context, tool: ServedTool, params: Params) -> dict[str, Any]:
        if not tool.server and self.run_local is not None:
            self._check_arguments(tool, params)
            return await self._run_local(self.run_local, client, context, tool, params)
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
            raise ChangedError(code=INVALID_PARAMS, message=f"Unknown tool: {tool.wire_name}")
        self._check_arguments(tool, params)  # not earlier: an error about them would show that the tool exists
        sent = {**params, "name": tool.upstream_name}
        return await self.request(client, context, connection, "tools/call", sent, of_start=connection.verified_start)

    def refuse_unknown(self, client: Client, name: str, params: Params) -> MCPError:
        """The error of every tool that may not be called, whatever the reason: a client cannot tell them apart (M6)."""
        if self._policy is not None:
            outcome = CallOutcome(name, "", params, 0.0, CallStatus.REFUSED, reason="unknown")
            self._policy.after(client, outcome)
        return MCPError(code=INVALID_PARAMS, message=f"Unknown tool: {name}")

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
        if (conversation := self._resume(client, context, params)) is not None:
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

    async def _run_local(
        self, run: RunLocal, client: Client, context: Context, tool: ServedTool, params: Params
    ) -> dict[str, Any]:
        """Run a tool of the gateway itself, which may ask the client in the way of its version of the protocol."""
        if not is_modern(client.version):
            return await run(client, tool, params, partial(ask_client, context, related=True))
        if (conversation := self._resume(client, context, params)) is None:
            conversation = Conversation()
            conversation.start(run(client, tool, params, conversation.ask))
        return await self._converse(client, conversation)

    def _resume(self, client: Client, context: Context, params: Params) -> Conversation | None:
        """The conversation that the client goes on with, which gets its answers; `None` for a new call."""
        state = params.get("requestState")
        conversation = client.conversations.pop(state, None) if isinstance(state, str) else None
        if conversation is not None:
            conversation.context = context
            conversation.answer(params.get("inputResponses") or {})
        return conversation

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
        result: dict[str, Any] | None = None
        try:
            async with asyncio.timeout(self._timeout_seconds):
                with connection.routing(client, call, params) as sent:
                    result = await upstream.request(method, sent, of_start=of_start)
                await client.notices.flush(upstream.name)
        except TimeoutError:
            if result is not None:  # a client that does not read its progress still gets the answer
                return result
            message = f"Server {upstream.name!r} did not answer within {self._timeout_seconds:g} s."
            raise MCPError(code=REQUEST_TIMEOUT, message=message) from None
        except UpstreamError as error:
            raise MCPError(code=CONNECTION_CLOSED, message=str(error)) from None
        except MCPError as error:
            # The second is the SDK's own text: its requests end a little before the connection counts as ended.
            if error.code == CONNECTION_CLOSED and (not upstream.is_connected or str(error) == "Connection closed"):
                message = f"Server {upstream.name!r} ended before it answered."
                raise MCPError(code=CONNECTION_CLOSED, message=message) from None
            raise
        finally:
            client.end_call(call)
        return result

    def _check_arguments(self, tool: ServedTool, params: Params) -> None:
        if tool.tool.id not in self._validators:
            self._validators[tool.tool.id] = make_validator(tool.tool.parameters)
        try:
            check_schema(self._validators[tool.tool.id], params.get("arguments") or {})
        except ArgumentsError as error:
            raise RefusedError("invalid_arguments", describe_arguments_error(tool.tool, str(error))) from None


def _refuse(message: str) -> None:
    if message:
        raise RefusedError("not_recorded", message)


def refused(reason: str) -> dict[str, Any]:
    """The result of a call that was not made."""
    return {"content": [{"type": "text", "text": reason}], "isError": True}
