#!/bin/bash
# anthropic 2.14.0, the SDK of Claude's API, has no temperature, top_p or top_k any more, for any model:
# messages.create(temperature=0) is a TypeError before a request is made, with models, too, whose API takes it. With
# 0.125.0, the last before its version 1, the same call is sent with "temperature": 0. What reaches the API now is only
# what is in extra_body.
# Exits 0 while this is so, and 1 where it has changed.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for version in 0.125.0 2.14.0; do
    python3 -m venv "$folder/$version"
    "$folder/$version/bin/pip" install --quiet --disable-pip-version-check "anthropic==$version"
done
cat > "$folder/ask.py" <<'PY'
import http.server
import json
import sys
import threading

import anthropic

sent = []
ANSWER = {
    "id": "m", "type": "message", "role": "assistant", "model": "claude-haiku-4-5", "stop_reason": "end_turn",
    "stop_sequence": None, "content": [{"type": "text", "text": "Yes."}],
    "usage": {"input_tokens": 3, "output_tokens": 1},
}  # fmt: skip


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        sent.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        body = json.dumps(ANSWER).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
client = anthropic.Anthropic(api_key="x", base_url=f"http://127.0.0.1:{server.server_port}", max_retries=0)
wanted = dict(model="claude-haiku-4-5", max_tokens=9, messages=[{"role": "user", "content": "Hello."}])


def ask(**more):
    sent.clear()
    try:
        client.messages.create(**wanted, **more)
    except TypeError as error:
        return f"TypeError: {error}"
    return {name: value for name, value in sent[0].items() if name not in wanted}


seen = [ask(temperature=0), ask(top_p=0.9), ask(extra_body={"temperature": 0})]
print(anthropic.__version__, *seen, sep="\n  ")
is_new = anthropic.__version__ == "2.14.0"
refused = [str(each).startswith("TypeError") and "unexpected keyword" in str(each) for each in seen]
sys.exit(refused != [is_new, is_new, False] or seen[2] != {"temperature": 0})
PY
for version in 0.125.0 2.14.0; do
    "$folder/$version/bin/python" "$folder/ask.py"
done
