"""litellm is imported when it is used, in silence and without a network (rule E2)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.servers.running import OpenAIServer
from toolbelt.providers.endpoints import Transport

ASK = """
import asyncio, sys
met = []
def audit(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo"):
        met.append(str(arguments[-1] if event == "socket.connect" else arguments[0]))
sys.addaudithook(audit)
from toolbelt.evals.models.model import Request
from toolbelt.providers.chat import ModelError
from toolbelt.evals.models.opening import ModelOptions, open_model
from toolbelt.evals.offers import Offer
from toolbelt.providers.endpoints import Transport
before = "litellm" in sys.modules
async def go():
    for name in sys.argv[3:]:
        model = open_model(name, ModelOptions(sys.argv[1], transport=Transport(sys.argv[2])))
        for _ in range(3):
            try:
                await model.complete(Request(({"role": "user", "content": "x"},), Offer()))
            except ModelError:
                pass
        await model.close()
asyncio.run(go())
print(before, "litellm" in sys.modules, sorted({place for place in met if "127.0.0.1" not in place}))
"""


@pytest.mark.parametrize("transport", list(Transport), ids=str)
def test_a_whole_run_says_nothing_and_speaks_to_nobody_else(
    openai_server: OpenAIServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, transport: Transport
) -> None:
    monkeypatch.delenv("LITELLM_LOCAL_MODEL_COST_MAP", raising=False)
    monkeypatch.setenv("LITELLM_LOG", "DEBUG")  # a setting of the user's that would print the headers
    models = [
        f"{kind}@quiet-{transport}"
        for kind in ("none", "server-error-9", "rubbish", "cut", "reset", "object-arguments")
    ]
    names = [f"{provider}/{model}" for model in models for provider in ("openai", "hosted_vllm")]
    command = [sys.executable, "-W", "default::ResourceWarning", "-c", ASK, openai_server.url, transport, *names]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"False {transport is Transport.LITELLM} []\n"
    assert {openai_server.count(model) for model in models} == {6}
