"""A server that only lists tools, without the SDK, so that it starts in no time: `python mcp_listing.py FILE.json`.

The file holds `pages` (lists of tools) and, where it is to misbehave: `noise` (a line that is no JSON), `loop` (the
last page points at the first), `exit` (a line for standard error, then the end), `hang` (no answer).
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any


def _answer(method: str, params: dict[str, Any], script: dict[str, Any]) -> dict[str, Any] | None:
    if method == "initialize":
        facts = {"name": "listing", "version": script.get("version", "1.0")}
        return {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": facts}
    if method == "tools/list":
        pages = script["pages"]
        number = int(params.get("cursor", 0))
        more = number + 1 < len(pages)
        cursor = {"nextCursor": str(number + 1)} if more else {"nextCursor": "0"} if script.get("loop") else {}
        return {"tools": pages[number] if pages else [], **cursor}
    return None


def main() -> None:
    """Serve until standard input ends."""
    script = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    if "exit" in script:
        sys.exit(script["exit"])
    if "hang" in script:
        time.sleep(60)
    if "noise" in script:
        print(script["noise"], flush=True)  # noqa: T201 - as some servers do
    for line in sys.stdin:
        request = json.loads(line)
        if "id" not in request:
            continue
        result = _answer(request["method"], request.get("params") or {}, script)
        answer = (
            {"result": result} if result is not None else {"error": {"code": -32601, "message": "Method not found"}}
        )
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **answer}), flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
