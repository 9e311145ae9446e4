#!/bin/bash
# litellm: under `ollama/NAME` a request's tools are written into the prompt of /api/generate, in JSON mode, without a word;
# under `ollama_chat/NAME` they are sent as tools to /api/chat. And `custom/NAME` is sent no tools at all.
# Seen with litellm 1.105.3 and 1.110.2. Exits non-zero if that changes.
set -euo pipefail
W=$(mktemp -d); trap 'rm -rf "$W"' EXIT; cd "$W"
python3 -m venv v; v/bin/pip install -q --disable-pip-version-check "litellm==1.105.3"
cat > run.py <<'PY'
import asyncio, http.server, json, logging, os, threading
asked = []
class Server(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if "show" not in self.path: asked.append((self.path, body))
        own = {"model": "m", "done": True, "done_reason": "stop", "prompt_eval_count": 9, "eval_count": 1}
        text = json.dumps(own | ({"response": "{}"} if "generate" in self.path else {"message": {"role": "assistant", "content": "Hello."}})).encode()
        self.send_response(200); self.send_header("Content-Type", "application/json"); self.send_header("Content-Length", str(len(text)))
        self.end_headers(); self.wfile.write(text)
    def log_message(self, *_): pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
threading.Thread(target=server.serve_forever, daemon=True).start()
import litellm
litellm.suppress_debug_info = True
logging.disable(50)
tools = [{"type": "function", "function": {"name": "feed_cat", "description": "Feeds it.", "parameters": {"type": "object", "properties": {}}}}]
async def main():
    for model in ("ollama/m", "ollama_chat/m", "custom/m"):
        asked.clear()
        try:
            await litellm.acompletion(model=model, messages=[{"role": "user", "content": "It is hungry."}], tools=tools, api_base=f"http://127.0.0.1:{server.server_port}", max_retries=0)
        except Exception as error:
            print(model, "ended with", type(error).__name__)
        path, body = asked[0]
        print(model, path, sorted(key for key, value in body.items() if "feed_cat" in json.dumps(value)), "format:", body.get("format"))
asyncio.run(main()); os._exit(0)
PY
v/bin/python run.py 2>/dev/null | tee out
grep -q "^ollama/m /api/generate \['prompt'\] format: json" out
grep -q "^ollama_chat/m /api/chat \['tools'\] format: None" out
grep -q "^custom/m / \[\] format: None" out
