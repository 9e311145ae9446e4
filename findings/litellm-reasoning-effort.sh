#!/bin/bash
# litellm 1.110.2 takes `reasoning_effort` for every provider and maps it without an error, so that what is asked for
# need not be what is sent:
# - Ollama: "xhigh" and "max" are sent as `think: false`, as "none" is: who asks for the most reasoning turns it off;
#   "low" and "high" are one and the same request. Only a warning in the log says so.
# - Claude with budgets (claude-haiku-4-5): "minimal" and "low" are one budget, and max_tokens=500 is sent beside a
#   budget of 4,096 tokens, which the API refuses: max_tokens must be greater than the budget.
# Exits 0 while this is so, and 1 where it has changed.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check litellm==1.110.2
cat > "$folder/ask.py" <<'PY'
import http.server
import json
import os
import sys
import threading

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
os.environ["ANTHROPIC_API_KEY"] = "none"
import litellm

litellm.suppress_debug_info = True
received: list[dict] = []


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        received.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(400)
        self.end_headers()

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()


def send(model, **settings):
    """What reaches the server of the settings."""
    received.clear()
    try:
        litellm.completion(
            model=model,
            messages=[{"role": "user", "content": "Hello."}],
            api_base=f"http://127.0.0.1:{server.server_port}",
            max_retries=0,
            **settings,
        )
    except Exception:
        pass
    [body] = received
    return {key: body.get(key) for key in ("think", "thinking", "output_config", "max_tokens") if key in body}


sent = {
    **{f"ollama {effort}": send("ollama_chat/qwen3", reasoning_effort=effort) for effort in ("none", "low", "high", "xhigh", "max")},
    "haiku minimal": send("claude-haiku-4-5", reasoning_effort="minimal"),
    "haiku low": send("claude-haiku-4-5", reasoning_effort="low"),
    "haiku 500": send("claude-haiku-4-5", reasoning_effort="high", max_tokens=500),
}
for name, fields in sent.items():
    print(f"{name:14} {json.dumps(fields)}")
holds = (
    sent["ollama max"] == sent["ollama xhigh"] == sent["ollama none"] == {"think": False}
    and sent["ollama low"] == sent["ollama high"] == {"think": True}
    and sent["haiku minimal"] == sent["haiku low"]
    and sent["haiku 500"]["thinking"]["budget_tokens"] > sent["haiku 500"]["max_tokens"] == 500
)
sys.exit(0 if holds else 1)
PY
"$folder/venv/bin/python" "$folder/ask.py"
# Seen:
# ollama none    {"think": false}
# ollama low     {"think": true}
# ollama high    {"think": true}
# ollama xhigh   {"think": false}
# ollama max     {"think": false}
# haiku minimal  {"thinking": {"type": "enabled", "budget_tokens": 1024}, "max_tokens": 5120}
# haiku low      {"thinking": {"type": "enabled", "budget_tokens": 1024}, "max_tokens": 5120}
# haiku 500      {"thinking": {"type": "enabled", "budget_tokens": 4096}, "max_tokens": 500}
