"""A client of the Model Context Protocol that adds and drops nothing: what it sends and receives is JSON as it travels.

It speaks 2025-11-25 with its handshake, or 2026-07-28, over standard input and output or streamable HTTP. Questions of
the server are answered from a table, in both ways that the protocol has.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import itertools
import json
import os
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

import aiohttp

Json = dict[str, Any]
VERSIONS = {"2025": "2025-11-25", "2026": "2026-07-28"}
CAPABILITIES: Json = {"elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {"listChanged": True}}
INFO = {"name": "raw", "version": "1"}
ANSWERS: Mapping[str, Json] = {
    "elicitation/create": {"action": "accept", "content": {"name": "Ä"}},
    "sampling/createMessage": {"role": "assistant", "content": {"type": "text", "text": "Hi – ü"}, "model": "m"},
    "roots/list": {"roots": [{"uri": "file:///tmp/%C3%BC", "name": "ü"}]},
    "ping": {},
}
LONGEST_LINE = 1 << 28


class RawClient:
    """One connection.

    Args:
        era: `2025` or `2026`.
        answers: Results by method, for what the server asks.

    Attributes:
        notifications: What came that wants no answer, in order.
        questions: What the server asked, in order.
        opening: The result of the handshake; for 2026 of `server/discover`.
        pid: Of the process, where the client has started one.
    """

    pid = 0

    def __init__(self, era: str, answers: Mapping[str, Json] = ANSWERS) -> None:
        self.era = era
        self.answers = answers
        self.notifications: list[Json] = []
        self.questions: list[Json] = []
        self.opening: Json = {}
        self._ids = itertools.count(1)

    async def open(self) -> None:
        """Agree on the version."""
        if self.era == "2026":
            self.opening = (await self.request("server/discover"))["result"]
            return
        params = {"protocolVersion": VERSIONS["2025"], "capabilities": CAPABILITIES, "clientInfo": INFO}
        self.opening = (await self.request("initialize", params))["result"]
        await self.notify("notifications/initialized")

    async def request(self, method: str, params: Json | None = None) -> Json:
        """Send a request; the answer, with `result` or `error`. Cancelling this cancels the request."""
        message = {"jsonrpc": "2.0", "id": next(self._ids), "method": method}
        if self.era == "2026":
            params = {**(params or {}), "_meta": {**(params or {}).get("_meta", {}), **self._envelope()}}
        return await self._exchange(message | ({} if params is None else {"params": params}))

    async def ask(self, method: str, params: Json) -> Json:
        """As `request`, with the questions answered that the server has first (2026)."""
        answer = await self.request(method, params)
        while self.era == "2026" and (result := answer.get("result", {})).get("resultType") == "input_required":
            responses = {key: self._answer(question) for key, question in result.get("inputRequests", {}).items()}
            again = {"inputResponses": responses, "requestState": result.get("requestState")}
            answer = await self.request(method, params | {key: value for key, value in again.items() if value})
        return answer

    async def list_all(self, method: str, key: str) -> list[Json]:
        """The entries of all pages; the error, where there is one."""
        entries: list[Json] = []
        cursor: Json = {}
        while True:
            answer = await self.request(method, cursor)
            if "error" in answer:
                return [answer["error"]]
            result = answer["result"]
            entries += result[key]
            if "nextCursor" not in result:
                return entries
            cursor = {"cursor": result["nextCursor"]}

    async def notify(self, method: str, params: Json | None = None) -> None:
        """Send a notification."""
        await self._send({"jsonrpc": "2.0", "method": method} | ({} if params is None else {"params": params}))

    def _envelope(self) -> Json:
        values = {"protocolVersion": VERSIONS["2026"], "clientInfo": INFO, "clientCapabilities": CAPABILITIES}
        return {f"io.modelcontextprotocol/{key}": value for key, value in values.items()}

    def _answer(self, question: Json) -> Json:
        self.questions.append({"method": question["method"], "params": question.get("params")})
        return dict(self.answers[question["method"]])

    async def _take(self, message: Json) -> None:
        """Take what is no answer."""
        if "id" not in message:
            self.notifications.append({"method": message["method"], "params": message.get("params")})
        elif message["method"] in self.answers:
            await self._send({"jsonrpc": "2.0", "id": message["id"], "result": self._answer(message)})
        else:
            error = {"code": -32601, "message": "Method not found"}
            await self._send({"jsonrpc": "2.0", "id": message["id"], "error": error})

    async def _exchange(self, message: Json) -> Json:
        raise NotImplementedError

    async def _send(self, message: Json) -> None:
        raise NotImplementedError


class _StdioClient(RawClient):
    def __init__(self, process: asyncio.subprocess.Process, era: str, answers: Mapping[str, Json]) -> None:
        super().__init__(era, answers)
        self._process = process
        self.pid = process.pid
        self._waiting: dict[int, asyncio.Future[Json]] = {}

    async def _exchange(self, message: Json) -> Json:
        number = message["id"]
        self._waiting[number] = asyncio.get_running_loop().create_future()
        await self._send(message)
        try:
            return await self._waiting[number]
        except asyncio.CancelledError:
            await self.notify("notifications/cancelled", {"requestId": number})
            raise
        finally:
            del self._waiting[number]

    async def _send(self, message: Json) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        await self._process.stdin.drain()

    async def read(self) -> None:
        """Take everything that comes; what is no JSON is left out."""
        assert self._process.stdout is not None
        while line := await self._process.stdout.readline():
            try:
                message = json.loads(line)
            except ValueError:
                continue
            if "method" in message:
                await self._take(message)
            elif (waiting := self._waiting.get(message["id"])) is not None and not waiting.done():
                waiting.set_result(message)
        for waiting in self._waiting.values():
            waiting.cancel()


@contextlib.asynccontextmanager
async def open_stdio(
    command: Sequence[str], era: str, env: Mapping[str, str] | None = None, answers: Mapping[str, Json] = ANSWERS
) -> AsyncIterator[RawClient]:
    """Start a server and talk to it; it ends with its standard input, or is killed.

    Args:
        command: Program and arguments.
        era: `2025` or `2026`.
        env: Further variables.
        answers: Results by method, for what the server asks.
    """
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env=os.environ | (env or {}),
        limit=LONGEST_LINE,
    )
    client = _StdioClient(process, era, answers)
    reading = asyncio.create_task(client.read())
    try:
        await client.open()
        yield client
    finally:
        assert process.stdin is not None
        process.stdin.close()
        try:
            await asyncio.wait_for(process.wait(), 10)
        except TimeoutError:
            process.kill()
            await process.wait()
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)


class _HttpClient(RawClient):
    def __init__(
        self, session: aiohttp.ClientSession, url: str, era: str, token: str, answers: Mapping[str, Json]
    ) -> None:
        super().__init__(era, answers)
        self._session = session
        self._url = url
        self.headers = {"Accept": "application/json, text/event-stream"}
        if token:
            self.headers["Authorization"] = f"Bearer {token}"

    async def _exchange(self, message: Json) -> Json:
        try:
            return await self._post(message)
        except asyncio.CancelledError:
            if self.era == "2025":  # 2026 cancels by leaving
                await self.notify("notifications/cancelled", {"requestId": message["id"]})
            raise

    async def _send(self, message: Json) -> None:
        async with self._session.post(self._url, json=message, headers=self.headers) as response:
            await response.read()

    async def _post(self, message: Json) -> Json:
        headers = self.headers | (self._routing(message) if self.era == "2026" else {})
        async with self._session.post(self._url, json=message, headers=headers) as response:
            if "Mcp-Session-Id" in response.headers:
                self.headers["Mcp-Session-Id"] = response.headers["Mcp-Session-Id"]
                self.headers["MCP-Protocol-Version"] = VERSIONS["2025"]
            if response.content_type != "text/event-stream":
                answer: Json = json.loads(await response.read())
                return answer
            async for event in _events(response):
                if "method" not in event:
                    return event
                await self._take(event)
        raise ConnectionError("the stream ended without an answer")

    def _routing(self, message: Json) -> dict[str, str]:
        params = message.get("params", {})
        name = params.get({"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}.get(message["method"]))
        headers = {"MCP-Protocol-Version": VERSIONS["2026"], "Mcp-Method": message["method"]}
        if name is not None:
            plain = name.isascii() and name.isprintable()
            headers["Mcp-Name"] = name if plain else f"=?base64?{base64.b64encode(name.encode()).decode()}?="
        return headers

    async def listen(self) -> None:
        """Take what the server sends by itself (2025)."""
        async with self._session.get(self._url, headers=self.headers) as response:
            async for event in _events(response):
                await self._take(event)


async def _events(response: aiohttp.ClientResponse) -> AsyncIterator[Json]:
    data = b""
    async for chunk in response.content.iter_any():
        data += chunk
        while (end := data.replace(b"\r\n", b"\n").find(b"\n\n")) >= 0:
            data = data.replace(b"\r\n", b"\n")
            event, data = data[:end], data[end + 2 :]
            lines = [line[5:].strip() for line in event.split(b"\n") if line.startswith(b"data:")]
            if any(lines):
                yield json.loads(b"\n".join(lines))


@contextlib.asynccontextmanager
async def open_http(
    url: str, era: str, token: str = "", answers: Mapping[str, Json] = ANSWERS
) -> AsyncIterator[RawClient]:
    """Talk to a server over streamable HTTP.

    Args:
        url: Of its endpoint.
        era: `2025` or `2026`.
        token: Sent as a bearer token, if there is one.
        answers: Results by method, for what the server asks.
    """
    timeout = aiohttp.ClientTimeout(total=60)
    async with aiohttp.ClientSession(timeout=timeout, read_bufsize=1 << 20) as session:
        client = _HttpClient(session, url, era, token, answers)
        await client.open()
        listening = asyncio.create_task(client.listen()) if era == "2025" else None
        try:
            yield client
        finally:
            if listening is not None:
                listening.cancel()
                await asyncio.gather(listening, return_exceptions=True)
                with contextlib.suppress(aiohttp.ClientError):
                    await session.delete(url, headers=client.headers)
