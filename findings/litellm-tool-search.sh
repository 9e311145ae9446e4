#!/bin/bash
# litellm 1.110.2's table of models says `supports_tool_search` for Claude on Bedrock, and for no Claude that Anthropic
# itself serves, all of which have it by Anthropic's page "Tool search tool". It says so for gpt-5.2, too, where OpenAI's
# guide "Tool search" has gpt-5.4 and later. A program that goes by the flag refuses the first and asks the second.
# Seen: "anthropic: 0 of 22; bedrock_converse: 86 of 240" and "gpt-5.2: True".
# Exits 0 while this is so, and 1 where it has changed.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps litellm==1.110.2
"$folder/venv/bin/python" - <<'PY'
import importlib.util
import json
import pathlib
import sys

package = pathlib.Path(importlib.util.find_spec("litellm").submodule_search_locations[0])
table = json.loads((package / "model_prices_and_context_window_backup.json").read_text(encoding="utf-8"))
flags: dict[str, list[bool]] = {}
for row in table.values():
    if isinstance(row, dict):
        flags.setdefault(str(row.get("litellm_provider")), []).append(row.get("supports_tool_search") is True)
anthropic, bedrock = flags["anthropic"], flags["bedrock_converse"]
print(f"anthropic: {sum(anthropic)} of {len(anthropic)}; bedrock_converse: {sum(bedrock)} of {len(bedrock)}")
print("gpt-5.2:", table["gpt-5.2"].get("supports_tool_search"))
sys.exit(not (sum(anthropic) == 0 and sum(bedrock) > 0 and table["gpt-5.2"].get("supports_tool_search") is True))
PY
