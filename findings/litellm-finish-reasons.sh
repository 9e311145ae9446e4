#!/bin/bash
# litellm 1.105.3 reports an answer that its server ended with `error`, `network_error`, `abort` or any unknown
# finish_reason as `stop`: a program that reads finish_reason takes a failed generation for a complete answer. The word
# of the server is kept only in choices[0].provider_specific_fields["native_finish_reason"], and an `error` object of a
# choice only in provider_specific_fields["error"]. The index of choices is renumbered by their position: of choices
# that come as index 1, 0 the second is reported as 1.
# Exits 0 while this is so, and 1 where it has changed.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check litellm==1.105.3
cat > "$folder/ask.py" <<'PY'
import http.server
import json
import os
import sys
import threading

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
import litellm

litellm.suppress_debug_info = True
body: dict = {}


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        sent = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()


def ask(*choices):
    body.update(id="x", object="chat.completion", created=1, model="m", choices=choices)
    body["usage"] = {"prompt_tokens": 3, "completion_tokens": 1, "total_tokens": 4}
    return litellm.completion(
        model="openai/m", api_base=f"http://127.0.0.1:{server.server_port}/v1", api_key="x", max_retries=0,
        messages=[{"role": "user", "content": "Hello."}],
    ).choices


def choice(finish="stop", text="a", index=0, **more):
    message = {"role": "assistant", "content": text}
    return {"index": index, "message": message, "finish_reason": finish, **more}


seen = []
for word in ("error", "network_error", "abort", "cancelled", "some_new_word"):
    [got] = ask(choice(word))
    print(f"finish_reason {word}: {got.finish_reason}, {got.provider_specific_fields}")
    seen.append(got.finish_reason == "stop" and got.provider_specific_fields.get("native_finish_reason") == word)
[got] = ask(choice(error={"code": 502, "message": "down"}))
print(f"an error in a choice: {got.finish_reason}, {got.provider_specific_fields}")
seen.append(got.finish_reason == "stop" and got.provider_specific_fields["error"]["code"] == 502)
first, second = ask(choice(text="one", index=1), choice(text="zero", index=0))
print(f"index 1, 0: {[(each.index, each.message.content) for each in (first, second)]}")
seen.append((first.index, second.index, second.message.content) == (0, 1, "zero"))
sys.exit(not all(seen))
PY
"$folder/venv/bin/python" "$folder/ask.py"
