"""An MCP server of the standard library alone, which starts in 20 ms, and misbehaves as its tools and arguments say.

It speaks the protocol of 2025 over stdio. `--refuse-version` and `--hang` misbehave before anything is called;
`--tools TEXT` lists what stands there, as it stands there. A call with an argument `raw` is answered with that text.
"""

import json
import os
import subprocess
import sys
import threading
import time

TOOLS = ("echo", "pid", "hang", "die", "flood", "rubbish", "huge", "child", "change", "progress", "log", "ask", "storm")
SENDING = threading.Lock()
DEFINITIONS = [
    {"name": name, "description": f"Does {name}.", "inputSchema": {"type": "object"}, "annotations": {}}
    for name in TOOLS
]


def send(message: object) -> None:
    send_raw(json.dumps(message))


def send_raw(text: str) -> None:
    with SENDING:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()


def storm(size: int, last: float) -> None:
    """Send log messages for so many seconds, as fast as they are read."""
    number = 0
    while time.monotonic() < last:
        notify("notifications/message", {"level": "info", "data": {"number": number, "text": "x" * size}})
        number += 1


def notify(method: str, params: object) -> None:
    send({"jsonrpc": "2.0", "method": method, "params": params})


def misbehave(name: str, arguments: dict) -> None:  # type: ignore[type-arg]
    """What happens beside the answer, or instead of it."""
    if name == "hang":
        notify("notifications/message", {"level": "info", "data": "hanging"})
        time.sleep(600)
    elif name == "die":
        os.kill(os.getpid(), 9)
    elif name == "flood":
        sys.stderr.write("flood\n" * arguments["lines"])
    elif name == "rubbish":
        sys.stdout.write('no JSON\n{"jsonrpc": "2.0"}\n[]\n\x1b[2J\n\n' * arguments["lines"])
    elif name == "storm":
        last = time.monotonic() + arguments["seconds"]
        threading.Thread(target=storm, args=(arguments["bytes"], last), daemon=True).start()
    elif name == "child":
        subprocess.Popen(["sleep", "600"], stdin=subprocess.DEVNULL)


def call(params: dict, definitions: list) -> str:  # type: ignore[type-arg]
    """What a tool answers; some do not."""
    name: str = params["name"]
    arguments: dict = params.get("arguments") or {}  # type: ignore[type-arg]
    misbehave(name, arguments)
    if name == "pid":
        return str(os.getpid())
    if name == "huge":
        return "x" * int(arguments["bytes"])
    if name == "change":
        definitions[0]["description"] = "Does something else."
        notify("notifications/tools/list_changed", {})
    if name == "progress":
        token = params["_meta"]["progressToken"]
        for step in range(3):
            notify("notifications/progress", {"progressToken": token, "progress": step, "message": arguments["text"]})
    if name == "log":
        notify("notifications/message", {"level": "warning", "data": arguments["text"]})
    if name == "ask":
        send({"jsonrpc": "2.0", "id": "q", "method": "roots/list"})
        return json.dumps(json.loads(sys.stdin.readline()))
    return json.dumps(arguments)


def main() -> None:
    definitions = [dict(definition) for definition in DEFINITIONS]
    if "--hang" in sys.argv:
        time.sleep(600)
    for line in sys.stdin:
        request = json.loads(line)
        method, params = request.get("method"), request.get("params") or {}
        if "id" not in request or method is None:
            continue
        answer: dict = {"jsonrpc": "2.0", "id": request["id"]}  # type: ignore[type-arg]
        if method == "initialize":
            version = "1999-01-01" if "--refuse-version" in sys.argv else params["protocolVersion"]
            capabilities = {"tools": {"listChanged": True}, "logging": {}}
            info = {"name": "tiny", "version": "1"}
            answer["result"] = {"protocolVersion": version, "capabilities": capabilities, "serverInfo": info}
        elif method == "tools/list":
            answer["result"] = {"tools": definitions}
            if "--tools" in sys.argv:
                listed = sys.argv[sys.argv.index("--tools") + 1]
                send_raw(json.dumps({**answer, "result": "HERE"}).replace('"HERE"', f'{{"tools": {listed}}}'))
                continue
        elif method == "tools/call" and "raw" in (params.get("arguments") or {}):
            send_raw(params["arguments"]["raw"].replace("ID", json.dumps(request["id"])))
            continue
        elif method == "tools/call":
            text = call(params, definitions)
            answer["result"] = {"content": [{"type": "text", "text": text}]}
        elif method in ("ping", "logging/setLevel"):
            answer["result"] = {}
        else:
            answer["error"] = {"code": -32601, "message": "Method not found"}
        send(answer)


if __name__ == "__main__":
    main()
