#!/bin/bash
# litellm, of definitions for `gemini/NAME`: a text that only lists its values ({"enum": [...]}) is sent as an object, and so is
# each branch of an `anyOf` beside `type: string`; alternatives at the root take all parameters with them; a parameter named
# `strict` is deleted (also for `xai/` and `hosted_vllm/`), and one named `$schema` for `mistral/`: both stay under `required`.
# Seen with litellm 1.105.3 and 1.110.2. Exits non-zero if that changes.
set -euo pipefail
W=$(mktemp -d); trap 'rm -rf "$W"' EXIT; cd "$W"
python3 -m venv v; v/bin/pip install -q --disable-pip-version-check "litellm==1.110.2"
cat > run.py <<'PY'
import http.server, json, logging, os, threading
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
asked = []
class Server(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(400); self.send_header("Content-Length", "2"); self.end_headers(); self.wfile.write(b"{}")
    def log_message(self, *_): pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
threading.Thread(target=server.serve_forever, daemon=True).start()
import litellm
litellm.suppress_debug_info = True
logging.disable(50)
def sent(model, parameters):
    try:
        litellm.completion(model=model, messages=[{"role": "user", "content": "Hi."}], api_key="k", max_retries=0,
            api_base=f"http://127.0.0.1:{server.server_port}/v1",
            tools=[{"type": "function", "function": {"name": "f", "description": "d", "parameters": parameters}}])
    except litellm.exceptions.APIError: pass
    except Exception as error: assert "400" in str(error) or "{}" in str(error), error
    tool = asked[-1]["tools"][0]
    return tool["function_declarations"][0]["parameters"] if "function_declarations" in tool else tool["function"]["parameters"]
text, number = {"type": "string"}, {"type": "integer"}
part = {"mode": {"enum": ["fast", "slow"]}, "unit": {"type": "string", "anyOf": [{"enum": ["m"]}, {"pattern": "^k"}]}}
print("parts:", json.dumps(sent("gemini/gemini-2.5-flash", {"type": "object", "properties": part})["properties"]))
print("root:", json.dumps(sent("gemini/gemini-2.5-flash", {"type": "object", "properties": {"id": text, "url": text}, "anyOf": [{"required": ["id"]}, {"required": ["url"]}]})))
for model, name in (("gemini/gemini-2.5-flash", "strict"), ("xai/grok-4", "strict"), ("hosted_vllm/m", "strict"), ("mistral/mistral-large-latest", "$schema")):
    schema = sent(model, {"type": "object", "properties": {name: text, "n": number}, "required": [name]})
    print(model.partition("/")[0], name, sorted(schema["properties"]), schema["required"])
os._exit(0)
PY
v/bin/python run.py 2>err | tee out || { tail -5 err; exit 1; }
grep -qF 'parts: {"mode": {"type": "object"}, "unit": {"anyOf": [{"type": "object"}, {"pattern": "^k", "type": "object"}]}}' out
grep -qF 'root: {"anyOf": [{"required": ["id"], "type": "object"}, {"required": ["url"], "type": "object"}]}' out
grep -qF "gemini strict ['n'] ['strict']" out
grep -qF "xai strict ['n'] ['strict']" out
grep -qF "hosted_vllm strict ['n'] ['strict']" out
grep -qF "mistral \$schema ['n'] ['\$schema']" out
