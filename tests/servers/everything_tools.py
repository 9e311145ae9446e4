"""What the tools of `mcp_everything` do."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

import anyio
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from tests.servers.everything_definitions import CONTENT, Json
from tests.servers.everything_state import State

LEVELS: tuple[types.LoggingLevel, ...] = (
    "debug",
    "info",
    "notice",
    "warning",
    "error",
    "critical",
    "alert",
    "emergency",
)


@dataclass(frozen=True)
class Call:
    """One call of a tool.

    Attributes:
        ctx: What the SDK knows of the request.
        params: As they came.
        arguments: Of the tool; empty if there are none.
        state: Of the server.
    """

    ctx: ServerRequestContext[Any]
    params: types.CallToolRequestParams
    arguments: Mapping[str, Any]
    state: State

    @property
    def modern(self) -> bool:
        """Whether the client speaks 2026-07-28, where a server sends no requests."""
        return self.ctx.protocol_version in MODERN_PROTOCOL_VERSIONS


Answer = Json | types.InputRequiredResult
Behaviour = Callable[[Call], Awaitable[Answer]]


def text(value: str, **further: Any) -> Json:
    """A result of one text."""
    return {"content": [{"type": "text", "text": value}], **further}


async def _echo(call: Call) -> Json:
    meta = {key: value for key, value in (call.ctx.meta or {}).items() if "modelcontextprotocol" not in key}
    meta.pop("progress_token", None)
    meta.pop("progressToken", None)
    return text(call.arguments["message"], _meta={"echoed": meta, "example.org/kept": {"n": None}})


async def _add(call: Call) -> Json:
    total = call.arguments["a"] + call.arguments["b"]
    return text(str(total), structuredContent={"sum": total})


async def _add_wrongly(call: Call) -> Json:
    return text("five", structuredContent={"sum": "five", "more": None})


async def _mixed(call: Call) -> Json:
    return {"content": CONTENT["mixed"], "structuredContent": {"b": [1, {"a": None}], "a": 1.0}, "_meta": {"k": "ü"}}


async def _fail(call: Call) -> Json:
    return text(call.arguments.get("text", "It failed."), isError=True, structuredContent={"reason": "on purpose"})


async def _refuse(call: Call) -> Json:
    asked = call.arguments
    raise MCPError(asked.get("code", -32050), asked.get("message", "Refused – ü"), asked.get("data", {"why": [None]}))


async def _crash(call: Call) -> Json:
    raise RuntimeError("a secret of the server")


async def _count(call: Call) -> Json:
    steps = call.arguments.get("steps", 3)
    for step in range(1, steps + 1):
        total = None if step == 1 else float(steps)
        await call.ctx.session.report_progress(float(step), total, f"step {step} – ü")
    return text(str(steps))


async def _wait(call: Call) -> Json:
    call.state.write("waiting", tool="wait")
    try:
        await anyio.sleep(call.arguments.get("seconds", 3600))
    except BaseException:
        call.state.write("cancelled", tool="wait")
        raise
    return text("waited")


async def _log(call: Call) -> Json:
    for level in LEVELS:
        params = types.LoggingMessageNotificationParams(
            level=level, logger=call.arguments.get("logger"), data={"level": level, "text": "ü", "none": None}
        )
        # The session's own method is deprecated, and drops what a 2026-07-28 client did not ask for.
        if not call.modern or _wants(call, level):
            notification = types.LoggingMessageNotification(params=params)
            await call.ctx.session.send_notification(notification, related_request_id=call.ctx.request_id)
    return text("logged")


def _wants(call: Call, level: types.LoggingLevel) -> bool:
    wanted = (call.ctx.meta or {}).get(types.LOG_LEVEL_META_KEY)
    return wanted in LEVELS and LEVELS.index(level) >= LEVELS.index(wanted)


async def _ask(call: Call, request: types.InputRequest, number: int = 1) -> Json | types.InputRequiredResult:
    """What the client answers, as JSON; or, for 2026-07-28, what it has to be asked first."""
    if call.modern:
        key, responses = f"question-{number}", call.params.input_responses or {}
        if key not in responses:
            return types.InputRequiredResult(input_requests={key: request}, request_state=f"state-{number}")
        if call.params.request_state != f"state-{number}":
            raise MCPError(types.INVALID_PARAMS, "The request state is another one", call.params.request_state)
        answer: Any = responses[key]
    else:
        kind: Any = {
            "elicitation/create": types.ElicitResult,
            "sampling/createMessage": types.CreateMessageResult,
            "roots/list": types.ListRootsResult,
        }[request.method]
        related = ServerMessageMetadata(related_request_id=call.ctx.request_id)
        answer = await call.ctx.session.send_request(request, kind, metadata=related)
    dumped: Json = answer.model_dump(by_alias=True, mode="json", exclude_none=True)
    return dumped


async def _ask_user(call: Call) -> Answer:
    params: types.ElicitRequestParams
    answers = []
    asked_before = int((call.params.request_state or "state-0").rpartition("-")[2]) if call.modern else 0
    for number in range(max(1, asked_before), call.arguments.get("times", 1) + 1):
        message = f"Question {number} – wie heißt du?"
        if url := call.arguments.get("url"):
            params = types.ElicitRequestURLParams(message=message, url=url, elicitation_id=f"id-{number}")
        else:
            schema = {"type": "object", "properties": {"name": {"type": "string", "title": "Name"}}}
            params = types.ElicitRequestFormParams(message=message, requested_schema=schema | {"required": ["name"]})
        answer = await _ask(call, types.ElicitRequest(params=params), number)
        if isinstance(answer, types.InputRequiredResult):
            return answer
        answers.append(answer)
    return text("answered", structuredContent={"last": answers[-1]})


async def _ask_model(call: Call) -> Answer:
    content = types.TextContent(text=call.arguments.get("prompt", "Hello – ü"))
    params = types.CreateMessageRequestParams(
        messages=[types.SamplingMessage(role="user", content=content)],
        max_tokens=50,
        system_prompt="Be brief.",
        temperature=0.5,
        stop_sequences=["\n"],
    )
    answer = await _ask(call, types.CreateMessageRequest(params=params))
    return answer if isinstance(answer, types.InputRequiredResult) else text("asked", structuredContent=answer)


async def _ask_roots(call: Call) -> Answer:
    answer = await _ask(call, types.ListRootsRequest())
    return answer if isinstance(answer, types.InputRequiredResult) else text("asked", structuredContent=answer)


async def _destroy(call: Call) -> Json:
    call.state.write("destroyed", what=call.arguments.get("what"))
    return text("destroyed")


async def _whoami(call: Call) -> Json:
    client = call.ctx.session.client_params
    headers = dict(call.ctx.request.headers) if call.ctx.request is not None else {}
    return text(
        "me",
        structuredContent={
            "pid": os.getpid(),
            "cwd": os.getcwd(),  # noqa: PTH109 - what a server calls
            "arguments": sys.argv[1:],
            "variables": {name: os.environ.get(name) for name in call.arguments.get("variables", [])},
            "headers": {name: value for name, value in headers.items() if name.startswith(("auth", "x-"))},
            "protocol": call.ctx.protocol_version,
            "client": client.client_info.name if client else None,
            "modern": call.modern,
        },
    )


async def _huge(call: Call) -> Json:
    return text("0123456789abcdef" * (call.arguments["bytes"] // 16))


async def _change_tools(call: Call) -> Json:
    await call.state.change(call.arguments["patch"], call.ctx)
    return text("changed")


async def _touch(call: Call) -> Json:
    await call.state.update(call.arguments["uri"], call.ctx)
    return text("touched")


async def _flood_stderr(call: Call) -> Json:
    line = "flood " * 100 + "\n"
    await anyio.to_thread.run_sync(lambda: sys.stderr.write(line * (call.arguments["bytes"] // len(line))))
    return text("flooded")


async def _print_rubbish(call: Call) -> Json:
    call.state.print_raw(call.arguments.get("line", "this is {no JSON"))
    return text("printed")


async def _die(call: Call) -> Json:
    call.state.write("died")
    if "code" in call.arguments:
        os._exit(call.arguments["code"])
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


async def _plain(call: Call) -> Json:
    return text(f"{call.params.name} was called", structuredContent={"arguments": dict(call.arguments)})


BEHAVIOURS: Mapping[str, Behaviour] = {
    "echo": _echo,
    "add": _add,
    "add_wrongly": _add_wrongly,
    "mixed": _mixed,
    "fail": _fail,
    "refuse": _refuse,
    "crash": _crash,
    "count": _count,
    "wait": _wait,
    "log": _log,
    "ask_user": _ask_user,
    "ask_model": _ask_model,
    "ask_roots": _ask_roots,
    "destroy": _destroy,
    "whoami": _whoami,
    "huge": _huge,
    "change_tools": _change_tools,
    "touch": _touch,
    "flood_stderr": _flood_stderr,
    "print_rubbish": _print_rubbish,
    "die": _die,
}


async def call_tool(call: Call) -> Answer:
    """The result of one call; an unknown tool is a protocol error, as with most servers."""
    if call.params.name not in call.state.tools:
        raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {call.params.name}")
    call.state.write("called", tool=call.params.name)
    if call.params.name in CONTENT and call.params.name not in BEHAVIOURS:
        return {"content": CONTENT[call.params.name]}
    return await BEHAVIOURS.get(call.params.name, _plain)(call)
